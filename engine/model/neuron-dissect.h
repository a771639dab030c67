// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CLIP-Dissect (Oikarinen and Weng, ICLR 2023) as the baseline beside linear explanations
// (specification: neuron explanations, section 6): how similar every concept is to every
// neuron of a layer. A neuron's description is its most similar concept.

#include "engine/base/array.h"
#include "engine/base/job.h"

typedef enum {
    LIMN_DISSECT_SOFT_WPMI,
    LIMN_DISSECT_WPMI,
    LIMN_DISSECT_COSINE_CUBED,
    LIMN_DISSECT_COSINE,
} LimnDissectKind;

typedef struct {
    LimnDissectKind kind;
    int top;         // pictures per neuron: 100 (soft WPMI), 28 (WPMI)
    double scale;    // of the similarities in the softmax over concepts, 10 (WPMI: 2)
    double p_first;  // soft WPMI: 0.998
    double p_drop;   // 0.028
    double lambda;   // of the last term: 1, WPMI 0.6
    double eps;      // 1e-7
    double smallest; // cosines: least norm, 1e-3
} LimnDissectOptions;
void limn_dissect_options_init(LimnDissectOptions *options, LimnDissectKind kind);

// f64 [m,K]. similarities f32 [n,K] (cosines; any concept matrix does), activations f32
// [n,m]. The last term of (soft) WPMI is over all neurons of the layer.
LimnArray *limn_dissect(const LimnArray *similarities, const LimnArray *activations,
                        const LimnDissectOptions *options, LimnJob *job, GError **error);
