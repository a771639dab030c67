// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The parts of the operation explain-evaluate, for its own files only: the two tables
// that its items fill, and what is summarised from them.

#include "engine/image/map-metrics.h"
#include "engine/model/map-curves.h"
#include "engine/study/run.h"

// One row per picture and target.
typedef struct {
    LimnTable *table;
    LimnColumn *picture, *target, *value, *cosine, *object, *pointing, *energy, *iou,
        *iou_mean, *accuracy, *precision, *deletion, *insertion;
} LimnEvaluateScores;

// One row per picture, target, kind of curve and point.
typedef struct {
    LimnTable *table;
    LimnColumn *picture, *target, *curve, *point, *fraction, *cosine, *probability, *top1,
        *top5, *top10;
} LimnEvaluateCurves;

void limn_evaluate_scores_init(LimnEvaluateScores *scores);
void limn_evaluate_curves_init(LimnEvaluateCurves *curves);

// `map` NULL: nothing was measured against a mask; areas NaN: no curves.
void limn_evaluate_scores_add(LimnEvaluateScores *scores, const char *picture,
                              const char *target, gint64 value, double cosine,
                              const LimnMapScores *map, double deletion,
                              double insertion);
void limn_evaluate_curves_add(LimnEvaluateCurves *curves, const char *picture,
                              const char *target, const char *curve,
                              const LimnCurvePoint *points, int n);

// Means over all rows of the artifacts `scores` and `curves` of the run: scalars, and the
// series `deletion` and `insertion`.
gboolean limn_evaluate_summarise(LimnRun *run, GError **error);
