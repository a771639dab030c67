// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Methods that read the attention matrices (specification: Grad-ECLIP, section 8), on any
// pass. Rows are those of the pass.

#include "engine/model/pass.h"

// The pool row of the last block's attention, mean over heads: [rows].
gboolean limn_chain_get_attention(LimnJob *job, LimnChain *chain, float *attention,
                                  GError **error);

// Rollout over the chain's blocks (Abnar and Zuidema 2020): the pool row of the product
// of (mean over heads of A + I) / 2: [rows]. One block: `rollout_last` of the evaluation
// script.
gboolean limn_rollout(LimnJob *job, LimnChain *chain, float *relevance, GError **error);

// GAME (Chefer et al. 2021): the pool row of R, R = I, then per block of the chain
// R += mean over heads of ReLU(A dZ/dA) R, Z = scale * cosine with the unit vector
// target.
gboolean limn_game(LimnJob *job, LimnChain *chain, const float *target, double scale,
                   float *relevance, GError **error);

// Attention times its gradient in the last block, pool row, summed over heads: [rows].
gboolean limn_attention_gradient(LimnJob *job, LimnChain *chain, const float *target,
                                 float *product, GError **error);

// Grad-CAM on the input F of the chain's first block: F_i . mean over rows of dS/dF,
// before the ReLU: [rows].
gboolean limn_grad_cam(LimnJob *job, LimnChain *chain, const float *target, float *cam,
                       GError **error);
