// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small arithmetic on the maps that a window compares.

#include "engine/base/array.h"

// a - b, element by element; both [gh,gw] f32 of one shape (LIMN_ERROR_MISMATCH naming
// both otherwise). NaN where either is NaN.
LimnArray *limn_map_difference(const LimnArray *a, const LimnArray *b, GError **error);

// Probabilities over a list of sentences: softmax of their logits (stable; entries that
// are NaN stay NaN and are left out).
void limn_softmax(const double *logits, guint n, double *probabilities);
