// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The inside of a model, for the files of engine/model.

#include "engine/model/clip.h"
#include "engine/model/tower.h"

// A tensor in use, kept for the search for values that are not finite.
typedef struct {
    char *name;
    LimnArray *array; // float32
    gboolean text;    // belongs to the text tower
} LimnClipTensor;

struct LimnClip {
    gatomicrefcount refs;
    LimnClipConfig config;
    LimnLoadReport report;
    LimnPreprocess preprocess;
    char *path; // the checkpoint's file, for messages
    char *name; // for people
    char *folder;
    GArray *tensors; // LimnClipTensor
    LimnTower vision, text;
    const float *patches;          // [C,3,p,p]
    const float *class_token;      // [C]
    const float *vision_positions; // [1 + g*g, C]
    LimnNorm vision_start;         // before the blocks
    const float *token_table;      // [V, Ct]
    const float *text_positions;   // [ctx, Ct]
    float logit_scale, logit_bias; // scale: exp applied
    char *missing_text;            // why there is no text tower, or NULL
    // Loaded when first needed; guarded by the mutex.
    GMutex mutex;
    LimnTokenizer *tokenizer;
    GError *tokenizer_error;
    gboolean tokenizer_tried;
    gboolean tables_checked; // token table and text positions searched for NaN
};

// A picture as rows of the vision tower before block 0, class token first.
// pixels [3, h, w] -> x [1 + gh*gw, C]; bilinear: position table (CLIP Surgery).
gboolean limn_clip_embed_pixels(LimnClip *clip, const float *pixels, int height,
                                int width, gboolean bilinear, float *x, LimnJob *job,
                                GError **error);
// Ids of one sentence -> x [n, Ct]; ids have been checked.
void limn_clip_embed_ids(LimnClip *clip, const gint32 *ids, gsize n, float *x);

// Sides are multiples of the patch and the number of rows is within bounds; *gh, *gw.
gboolean limn_clip_check_size(LimnClip *clip, gint64 height, gint64 width, int *gh,
                              int *gw, GError **error);
// Length of a NULL-terminated list.
gsize limn_clip_count_texts(const char *const *texts);
// A sentence as tokens and ids (free with g_free), truncated to the context (a diagnostic
// says so).
gboolean limn_clip_tokenize(LimnClip *clip, const char *text, LimnTokens **tokens,
                            gint32 **ids, LimnJob *job, GError **error);
// Ids lie in the table, n within the context; *pool: the row of the end token.
gboolean limn_clip_check_ids(LimnClip *clip, const gint32 *ids, gsize n, gsize *pool,
                             GError **error);
// A model without content. file: the checkpoint; name: file or folder, as people know it.
LimnClip *limn_clip_new(const char *file, const char *name);
// Searches all weights: FALSE with LIMN_ERROR_FORMAT naming the tensor that holds a value
// that is not finite.
gboolean limn_clip_check_weights(LimnClip *clip, LimnJob *job, GError **error);
// Models of at most this many bytes are searched for NaN on opening (64 MiB; for tests).
void limn_clip_set_check_limit(guint64 bytes);
// Called with results: TRUE when all are finite. Otherwise names the tensor of the model
// (or says that the pixels are at fault) that made them so.
gboolean limn_clip_check_finite(LimnClip *clip, gboolean text, const float *values,
                                gsize n, LimnJob *job, GError **error);
// The tables of the text tower are used in part only, so that a result does not show
// whether all of them is finite; searched once.
gboolean limn_clip_check_tables(LimnClip *clip, LimnJob *job, GError **error);
