// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Blocks of a tower written out in double precision with plain loops, for numerical
// derivatives of the score.

#include "engine/model/pass.h"

typedef struct {
    const LimnTower *tower;
    gsize rows, pool;
    gboolean causal, authors; // authors: one head in every block that runs
    int first;                // blocks first .. layers - 1 run
    const double *target;     // unit vector [P]
    // added to the attention output o of block `layer` at the pool row (-1: nowhere)
    int layer;
    gsize channel;
    double step;
} Reference;

// The score for x [rows, C], the input of block `first`.
double reference_score(const Reference *r, const double *x);
