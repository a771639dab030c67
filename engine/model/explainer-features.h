// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Methods that compare features of the patches with the sentence (specification:
// Grad-ECLIP, section 8). They depend on the picture alone and are computed once.

#include "engine/model/pass.h"

// MaskCLIP as in the repository: values through the output projection, residual, MLP,
// norm and projection, unit length -> features [rows - 1, P]; key_cosines [rows - 1] of
// the keys after the output projection with the class token's.
gboolean limn_maskclip_features(LimnJob *job, LimnChain *chain, float *features,
                                float *key_cosines, GError **error);

// The last block's output at every patch, norm and projection, unit length -> [rows - 1,
// P].
gboolean limn_patch_features(LimnJob *job, LimnChain *chain, float *features,
                             GError **error);

// CLIP Surgery (Li et al. 2023): the last `depth` blocks with a path in which values
// attend to values and no MLP acts. x [rows, C] (overwritten) is the input of block
// layers - depth -> features [rows, P], not normalised; row 0 comes from the model.
gboolean limn_surgery_features(LimnJob *job, LimnPass *pass, int depth, float *x,
                               float *features, GError **error);
// Unit length along the tokens of each channel (the official call sites), or of each
// token.
void limn_surgery_normalise(float *features, gsize rows, gsize p, gboolean token_axis);
// Feature surgery: similarity [rows, n] of normalised features with n unit prompts, what
// is common to the prompts removed.
void limn_surgery_similarity(const float *features, gsize rows, gsize p,
                             const float *texts, gsize n, float *similarity);
// One prompt t against a redundant one: F . (t - redundant), [rows].
void limn_surgery_single(const float *features, gsize rows, gsize p, const float *text,
                         const float *redundant, float *similarity);
