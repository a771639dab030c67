// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A CLIP that can be trained: the two towers on the tape of the training engine, with
// parameters named as in Hugging Face's CLIPModel, so that a saved folder opens anywhere.
// Pre-norm blocks, quick-GELU, end token pooled at its first position (Radford et al.
// 2021; shapes as in clip.h).

#include "engine/nn/parameters.h"

typedef struct {
    int image_size, patch;
    int vision_width, vision_layers, vision_heads, vision_mlp;
    int vocab, context;
    int text_width, text_layers, text_heads, text_mlp;
    int projection;
} LimnClipShape;

typedef struct LimnClipNetwork LimnClipNetwork;

// LIMN_ERROR_ARGUMENT when sizes do not divide. Weights are drawn from the seed.
LimnClipNetwork *limn_clip_network_new(const LimnClipShape *shape, guint64 seed,
                                       GError **error);
void limn_clip_network_free(LimnClipNetwork *network);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnClipNetwork, limn_clip_network_free)

const LimnClipShape *limn_clip_network_get_shape(LimnClipNetwork *network);
LimnParameters *limn_clip_network_get_parameters(LimnClipNetwork *network);
// Natural logarithm of the temperature, kept at most ln 100 by clamp().
void limn_clip_network_clamp_scale(LimnClipNetwork *network);
void limn_clip_network_freeze_scale(LimnClipNetwork *network, gboolean frozen);

// pixels [B,3,n,n] normalised -> unit embeddings [B,P].
LimnTensor *limn_clip_network_images(LimnClipNetwork *network, LimnTape *tape,
                                     LimnTensor *pixels);
// ids [T,L] INT32 with L <= context (padding after the end token), `ends` the pooling
// rows
// -> unit embeddings [T,P].
LimnTensor *limn_clip_network_texts(LimnClipNetwork *network, LimnTape *tape, int n_texts,
                                    int length, const gint32 *ids, const gint32 *ends);
// exp(logit_scale) a b^T -> [B,T].
LimnTensor *limn_clip_network_logits(LimnClipNetwork *network, LimnTape *tape,
                                     LimnTensor *images, LimnTensor *texts);

// Weights from a model folder of the same widths; a position table of another grid is
// enlarged (bicubic). LIMN_ERROR_MISMATCH names the tensor.
gboolean limn_clip_network_load(LimnClipNetwork *network, const char *folder,
                                LimnJob *job, GError **error);

typedef struct {
    float mean[3], std[3];
    GBytes *vocab, *merges;
    gboolean half; // matrices as float16
} LimnClipFiles;
// Hugging Face layout: model.safetensors, config.json, preprocessor_config.json,
// vocab.json, merges.txt, tokenizer_config.json. Every file is written atomically.
gboolean limn_clip_network_save(LimnClipNetwork *network, const LimnClipFiles *files,
                                const char *folder, GError **error);
