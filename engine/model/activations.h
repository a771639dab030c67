// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Activations of the layers of a CLIP, one number per neuron and input. A layer is named
// TOWER.BLOCK.PART: "vision.4.mlp". Blocks count from 0. Parts of a block, one row per
// token (specification: Grad-ECLIP, section 3.2):
//
//     residual   y, the residual stream behind the block             width of the tower
//     attention  o Wo + bo, what its attention adds to the stream    width of the tower
//     mlp        act(z), its hidden units after the activation       hidden units
//
// Pooling over tokens: first (the class token; of sentences the end token, which become
// the embedding), avg (mean over all tokens, the class token too; of sentences those up
// to the end token), max. Linear explanations of ViT use `mlp` of the last block with
// `first`, of the block before with `avg`.
//
// A study of the operation `activations` holds, for n inputs, m neurons, C concepts (the
// first dimension of the arrays is that of the table `index`):
//
// | artifact    | kind          | content                                               |
// |-------------|---------------|-------------------------------------------------------|
// | layers      | table         | layer, tower, block, part, neurons: all of the model  |
// | activations | array [n,m]   | f32; its title is "vision.4.mlp, first"               |
// | embeddings  | array [n,P]   | f32, the model's embeddings, not normalised           |
// | index       | table, n rows | item (number in the folder or of the scene), name     |
// |             |               | (file, "scene 12", sentence), caption (may be missing)|
// | presence    | array [n,C]   | u8, 1 where a concept is in the picture; scenes and   |
// |             |               | folders with captions.jsonl                           |
// | concepts    | table, C rows | concept, group, subgroup                              |
// | maps        | heatmap       | [n,1,gh,gw] one unit before pooling (map-unit)        |
// | pictures    | pictures      | the composed scenes, in the order of index            |

#include "engine/model/clip.h"

typedef enum {
    LIMN_LAYER_RESIDUAL,
    LIMN_LAYER_ATTENTION,
    LIMN_LAYER_MLP,
} LimnLayerPart;

typedef struct {
    gboolean text; // of the text tower
    int block;
    LimnLayerPart part;
} LimnLayer;

typedef enum { LIMN_POOL_FIRST, LIMN_POOL_AVG, LIMN_POOL_MAX } LimnPooling;

// All layers of both towers, in order. Returns: (element-type LimnLayer)
GArray *limn_clip_list_layers(LimnClip *clip);
char *limn_layer_dup_name(const LimnLayer *layer);
const char *limn_layer_part_name(LimnLayerPart part);            // "mlp"
gint64 limn_layer_width(LimnClip *clip, const LimnLayer *layer); // neurons
// LIMN_ERROR_ARGUMENT naming `key` and what there is. NULL or "": the hidden units of the
// last block of the vision tower.
gboolean limn_layer_parse(LimnClip *clip, const char *key, const char *name,
                          LimnLayer *layer, GError **error);

// What is recorded of n inputs; NULL: not wanted. Every input goes through the tower
// alone, several at a time on the job's threads: its numbers do not depend on the others.
typedef struct {
    float *pooled;     // [n, width of the layer]
    float *embeddings; // [n, P], as the model makes them (not normalised)
    float *map;        // [n, gh*gw] unit `map_unit` at every patch; pictures only
    gint64 map_unit;
} LimnRecord;

// pixels f32 [n,3,h,w], normalised as the model wants them.
gboolean limn_layer_record_pixels(LimnClip *clip, const LimnLayer *layer,
                                  LimnPooling pooling, const LimnArray *pixels,
                                  const LimnRecord *record, LimnJob *job, GError **error);
// Sentences [n]; truncations are diagnostics.
gboolean limn_layer_record_texts(LimnClip *clip, const LimnLayer *layer,
                                 LimnPooling pooling, const char *const *texts, gsize n,
                                 const LimnRecord *record, LimnJob *job, GError **error);
