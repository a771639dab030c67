// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Grad-ECLIP (Zhao et al., ICML 2024; specification: Grad-ECLIP, sections 6 and 7) on a
// pass: with g the gradient of the score at the pool row of the attention output o, v the
// values and w the loosened weights (cosines of the pool row's query with the keys,
// min-max normalised), row j contributes sum_c g_c v_jc w_j. Several blocks add up.

#include "engine/model/explainer.h"
#include "engine/model/pass.h"

typedef struct {
    gsize first;  // contributions of rows first .. rows - 1: 1 leaves the class token out
    gsize n;      // rows - first
    double score; // cosine in the chain's mode
    float *gradient;   // [C] g of the last block
    float *cosines;    // [n] of the last block; NULL without similarity
    float *weights;    // [n] likewise
    float *signed_sum; // [n] summed over the blocks
    float *positive;   // [n] sum over the blocks of the positive part
    gboolean flat;     // all cosines of a block were equal: its weights are 0
} LimnGradEclip;

void limn_grad_eclip_clear(LimnGradEclip *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimnGradEclip, limn_grad_eclip_clear)

// target [P]: unit vector of the other side. The result's first is given.
gboolean limn_grad_eclip(LimnJob *job, LimnChain *chain, const float *target,
                         LimnSimilarity similarity, gsize first, LimnGradEclip *result,
                         GError **error);

// Text side, section 7: positive part of signed_sum at rows 1 .. E - 1 divided by their
// sum. tokens [E - 1]; all zero when nothing is positive. Returns the sum before
// division.
double limn_grad_eclip_tokens(const LimnGradEclip *result, gsize end, float *tokens);

// Cosines [rows] of the pool row's query with all keys, RAW or OUT (after the output
// projection with its bias). Borrowed from the chain.
const float *limn_chain_get_cosines(LimnJob *job, LimnChain *chain, int i,
                                    LimnSimilarity similarity, GError **error);
