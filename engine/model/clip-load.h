// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Tensors of a checkpoint by their meaning, whatever the layout calls them.
//
//     layout        vision tower                text tower
//     Hugging Face  PREFIX vision_model.*       PREFIX text_model.*     (or bare names)
//     OpenCLIP      PREFIX visual.*             PREFIX [text.]*
//     OpenAI        the same, with the scalars input_resolution, context_length,
//     vocab_size
//
// PREFIX is anything, "module." and "model." mostly; it is found from a tensor that
// every layout has.

#include "engine/io/safetensors.h"
#include "engine/model/clip-private.h"

typedef struct {
    LimnSafetensors *weights;
    const char *file;    // display path
    gboolean hf;         // else OpenCLIP / OpenAI
    char *vision, *text; // prefixes of the towers' tensors; text NULL: no text tower
    char *root;          // prefix of projections and logit_scale
    const char *layout;
    GHashTable *used;  // names of tensors that were asked for
    LimnClip *clip;    // gets tensors and report
    GArray *wanted;    // what is to be loaded
    gboolean text_now; // tensors asked for from here on belong to the text tower
} LimnClipLoader;

// Finds layout and prefixes. LIMN_ERROR_UNSUPPORTED for other architectures, named.
gboolean limn_clip_loader_init(LimnClipLoader *loader, LimnSafetensors *weights,
                               const char *file, LimnClip *clip, GError **error);
void limn_clip_loader_clear(LimnClipLoader *loader);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimnClipLoader, limn_clip_loader_clear)

// PREFIX + name as the file spells it, or NULL when it has no such tensor.
const LimnTensorInfo *limn_clip_loader_find(LimnClipLoader *loader, const char *prefix,
                                            const char *name);
// The number of blocks, counted from the tensors' names.
int limn_clip_loader_count_blocks(LimnClipLoader *loader, gboolean text);

// Ask for a tensor of that shape. A missing one goes to the report (TRUE). FALSE with
// LIMN_ERROR_MISMATCH when the shape is another (both are named).
gboolean limn_clip_loader_want(LimnClipLoader *loader, const char *prefix,
                               const char *name, int rank, const gint64 *shape,
                               const float **place, GError **error);
// All tensors of the blocks.
gboolean limn_clip_loader_want_blocks(LimnClipLoader *loader, gboolean text,
                                      LimnTower *tower, GError **error);
// Loads what was asked for: float32 as views, other types widened in parallel. Fails when
// something is missing.
gboolean limn_clip_loader_load(LimnClipLoader *loader, LimnJob *job, GError **error);
// The tensors that nobody asked for go to the report; a diagnostic names them.
void limn_clip_loader_finish(LimnClipLoader *loader, LimnJob *job);
