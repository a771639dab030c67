// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Deletion and insertion curves (specification: Grad-ECLIP, section 9; Petsiuk et al.
// 2018): how the model's answer changes while the pixels that the map ranks highest are
// replaced by random colours, or while they appear on black.

#include "engine/model/study-classes.h"

typedef struct {
    int steps;      // 100; all steps together change half of the picture
    int gap;        // measured before the first step and after every `gap` of them
    guint64 seed;   // of the random colours
    guint64 stream; // number of the picture: its colours
} LimnCurveOptions;

typedef struct {
    double fraction; // of the pixels changed
    double cosine, probability;
    guint rank; // of the target among the classes, 0: best
} LimnCurvePoint;

// limn_map_n_measured(steps, gap) points of the target class. `map` is the display map
// [height*width] of the picture (NaN last). The last insertion point is the whole
// picture. One encoding of the picture per point.
gboolean limn_map_deletion_curve(LimnClip *clip, const LimnStudyClasses *classes,
                                 guint target, LimnImage *image, const float *map,
                                 const LimnCurveOptions *options, LimnCurvePoint *points,
                                 LimnJob *job, GError **error);
gboolean limn_map_insertion_curve(LimnClip *clip, const LimnStudyClasses *classes,
                                  guint target, LimnImage *image, const float *map,
                                  const LimnCurveOptions *options, LimnCurvePoint *points,
                                  LimnJob *job, GError **error);
