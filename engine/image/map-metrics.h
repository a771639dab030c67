// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How well a display map agrees with an object mask, and the order in which the deletion
// and insertion curves change pixels (specification: Grad-ECLIP, section 9; pointing
// game: Zhang et al. 2018; deletion and insertion: Petsiuk et al. 2018).
//
// A map is a float field of n pixels in row-major order. NaN is where the map says
// nothing (outside the model's crop): such pixels come last in the order and are left out
// of every score, as are pixels whose mask value is LIMN_MASK_LEFT_OUT. Sums run in
// double.

#include "engine/base/types.h"

typedef enum {
    LIMN_MASK_BACKGROUND = 0,
    LIMN_MASK_OBJECT = 1,
    LIMN_MASK_LEFT_OUT = 2, // "ignore" in the label map
} LimnMaskValue;

typedef struct {
    gint64 n_counted;         // pixels that are neither NaN nor left out
    gint64 n_object;          // of these, in the object
    gint64 argmax;            // flat index of the first largest value, -1: all are NaN
    gboolean pointing_hit;    // it lies in the object
    double mean;              // of the map over the counted pixels
    double energy;            // sum inside the object / total sum
    double pixel_accuracy;    // of "map >= threshold" against the mask
    double iou_threshold;     // intersection over union of "map >= threshold"
    double iou_mean;          // of "map > mean"
    double average_precision; // sum over (R_k - R_k-1) P_k, equal values in one step
} LimnMapScores;

// All scores at once; one that is not defined (0/0, no object) is NaN. O(n). Fails with
// LIMN_ERROR_MEMORY only.
gboolean limn_map_score(const float *map, const guint8 *mask, gint64 n, double threshold,
                        LimnMapScores *scores, GError **error);

// Flat indices in decreasing order of value, equal values (-0 and 0 too) by index, NaN
// last. Returns: (transfer full) n indices (g_free), or NULL with LIMN_ERROR_MEMORY.
gint64 *limn_map_order(const float *map, gint64 n, GError **error);

// Pixels that one of `steps` steps changes: n / (2 steps), at least 1, so that all steps
// change half of the picture.
gint64 limn_map_pixels_per_step(gint64 n, int steps);
// Pixels of the order that are changed after `step` steps (0 ... steps).
gint64 limn_map_pixels_deleted(gint64 n, int steps, int step);
// As above; the last point of the insertion curve is the whole picture.
gint64 limn_map_pixels_inserted(gint64 n, int steps, int step);
// Points of a curve that is measured before the first step and after every `gap` steps.
int limn_map_n_measured(int steps, int gap);

// Area below a curve by the trapezoid rule, its x from 0 to 1 in equal distances; one
// point: its value; none: NaN. And the plain mean of its points.
double limn_curve_area(const double *y, gsize n);
double limn_curve_mean(const double *y, gsize n);
