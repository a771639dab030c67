// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CLIP: two towers of pre-norm transformer blocks (specification: Grad-ECLIP, section 3;
// Radford et al. 2021). Opens checkpoints in the layouts of Hugging Face, OpenCLIP and
// OpenAI where they lie: float32 weights are used from the mapping, others are widened.
// Immutable after opening: any number of threads may use one model.

#include "engine/base/array.h"
#include "engine/base/job.h"
#include "engine/image/resample.h"
#include "engine/model/tower.h"
#include "engine/text/tokenizer.h"

typedef struct LimnClip LimnClip;

typedef struct {
    LimnTowerConfig vision, text;
    int image_size, patch, grid; // grid = image_size / patch
    int vocab, context;
    int projection;
    gboolean has_text; // FALSE: only the vision tower is there
    gboolean has_logit_bias;
    gboolean activation_assumed; // quick GELU, because no configuration says which
    gboolean pool_first_end;     // text row: first `end` token; else the highest id
    int end;                     // id of the end token where pool_first_end
    const char *layout;          // "Hugging Face", "OpenCLIP", "OpenAI"
} LimnClipConfig;

typedef struct {
    GPtrArray *used, *ignored, *missing; // char *, tensor names
    gboolean builtin_tokenizer;
    gboolean heads_assumed; // width / 64, no config said so
    guint64 mapped_bytes, owned_bytes;
} LimnLoadReport;

// A folder (model.safetensors, model.safetensors.index.json, open_clip_model.safetensors,
// with their configuration) or a .safetensors file. `heads` > 0 gives the vision head
// count where it cannot be derived (0: derive). NULL path: the built-in model.
// Refuses with a sentence that says what to do instead: pickles, ONNX, GGUF, ResNet and
// timm towers, SigLIP, CoCa, text-only checkpoints.
LimnClip *limn_clip_open(const char *path, int heads, LimnJob *job, GError **error);
LimnClip *limn_clip_ref(LimnClip *clip);
void limn_clip_unref(LimnClip *clip);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnClip, limn_clip_unref)

const LimnClipConfig *limn_clip_get_config(LimnClip *clip);
const LimnLoadReport *limn_clip_get_report(LimnClip *clip);
const LimnPreprocess *limn_clip_get_preprocess(LimnClip *clip); // mode CLIP
// Loaded when it is first asked for. NULL when there is none that fits the token table
// (limn_clip_need_tokenizer says why).
LimnTokenizer *limn_clip_get_tokenizer(LimnClip *clip);
// LIMN_ERROR_MISMATCH with both sizes when the tokenizer does not fit the token table, or
// when there is no text tower; other codes when its files cannot be read.
LimnTokenizer *limn_clip_need_tokenizer(LimnClip *clip, GError **error);
const char *limn_clip_get_name(LimnClip *clip);  // for people: folder or file name
float limn_clip_get_logit_scale(LimnClip *clip); // exp already applied
float limn_clip_get_logit_bias(LimnClip *clip);  // 0 when there is none

// Embeddings (not normalised). pixels [B,3,h,w] f32 normalised -> [B,P].
LimnArray *limn_clip_encode_pixels(LimnClip *clip, const LimnArray *pixels, LimnJob *job,
                                   GError **error);
// One upright picture with the model's own preprocessing -> [P].
LimnArray *limn_clip_encode_image(LimnClip *clip, LimnImage *image, LimnJob *job,
                                  GError **error);
// Texts -> [T,P]. Truncations are reported to the job's diagnostics.
LimnArray *limn_clip_encode_texts(LimnClip *clip, const char *const *texts, LimnJob *job,
                                  GError **error);
// ids [T,ctx'] i64 -> [T,P]; ctx' <= context; ids outside the table: LIMN_ERROR_MISMATCH.
LimnArray *limn_clip_encode_ids(LimnClip *clip, const LimnArray *ids, LimnJob *job,
                                GError **error);
// Zero-shot classifier: mean of the unit embeddings over templates ("a photo of a {}.";
// every
// "{}" becomes the name; NULL or none: the name alone), normalised again -> [classes,P].
LimnArray *limn_clip_encode_classes(LimnClip *clip, const char *const *names,
                                    const char *const *templates, LimnJob *job,
                                    GError **error);
