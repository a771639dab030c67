// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Slope and offset that turn a cosine into the probability that a concept is in a
// picture: P = sigmoid(a (cosine + b)) (specification: neuron explanations, section 3.2).
// Found on a labelled set by minimising the mean binary cross-entropy over all pairs of
// picture and concept: by the authors' grid, and from there by Newton's method (it is a
// logistic regression, which is convex).

#include "engine/base/array.h"
#include "engine/base/job.h"

typedef struct {
    double a, b;
    double loss;        // mean over pairs, in nats
    gboolean converged; // Newton; FALSE: the labels separate the cosines perfectly
} LimnCalibration;

// Published values.
typedef struct {
    const char *model;
    double a, b;
} LimnCalibrationKnown;
extern const LimnCalibrationKnown limn_calibrations_known[]; // ends with a NULL model

// cosines, truth f32 [n,K], truth 0 or 1; skipped u8 [K] or NULL: columns left out.
// a in {0.1, 0.25, 0.5, 0.75, 1, 0, 2, 4, ..., 150}, b in {-1, -0.99, ..., 1}; cosines
// are counted in 8192 bins that keep their means. LIMN_ERROR_MISMATCH when the sizes
// differ or no pair is left.
gboolean limn_calibrate_grid(const LimnArray *cosines, const LimnArray *truth,
                             const guint8 *skipped, LimnCalibration *calibration,
                             LimnJob *job, GError **error);
// Refines *calibration.
gboolean limn_calibrate_newton(const LimnArray *cosines, const LimnArray *truth,
                               const guint8 *skipped, LimnCalibration *calibration,
                               LimnJob *job, GError **error);
// The loss of *calibration over all pairs, exactly.
double limn_calibration_loss(const LimnArray *cosines, const LimnArray *truth,
                             const guint8 *skipped, double a, double b, LimnJob *job);
