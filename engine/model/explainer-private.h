// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The inside of an explainer, for the methods (one file each).

#include "engine/model/clip-private.h"
#include "engine/model/explainer.h"
#include "engine/model/pass.h"

// What methods keep per picture beyond the pass; freed when the picture changes.
typedef struct {
    float *maskclip;     // [n, P] unit features of the patches
    float *maskclip_key; // [n] cosine of each patch's key with the class token's
    float *patches[2];   // [n, P] unit features in mode faithful, authors
    float *surgery;      // [1 + n, P] features, not normalised
    int surgery_depth;
    float *masked; // [masks, P] unit embeddings of the masked pictures (RISE)
    int n_masked;
    double masked_keep;
    guint64 masked_seed;
} LimnPictureCache;

struct LimnExplainer {
    LimnClip *clip;
    // the picture
    LimnImage *image; // NULL: pixels were given
    LimnPreprocessMode mode;
    int keep_limit;
    LimnArray *pixels; // [3,h,w] that are explained
    int gh, gw;
    LimnRect rect;
    LimnPass *pass;   // of these pixels
    float *embedding; // [P] true picture embedding (CLIP preprocessing)
    LimnPictureCache cache;
    guint n_encodings;
    // the sentence that was last asked for
    LimnPass *text;
    GArray *text_ids; // gint32, of that pass
};

// What a method works on.
typedef struct {
    LimnExplainer *explainer;
    const LimnExplainOptions *options;
    LimnJob *job;
    gsize n;                // patches
    const float *text;      // [P] unit embedding of the sentence
    const float *image;     // [P] unit true embedding of the picture
    LimnPass *text_pass;    // for the text side
    const gint32 *ids;      // of that pass
    gsize end;              // row of the end token
    const float *all_texts; // [n_texts, P] unit embeddings of all prompts; this is one
    gsize n_texts, this_text;
} LimnExplainContext;

// Image side: fills map (and signed_map), mode_score.
typedef gboolean (*LimnExplainFunc)(const LimnExplainContext *context,
                                    LimnExplanation *explanation, GError **error);

gboolean limn_explain_grad_eclip(const LimnExplainContext *context,
                                 LimnExplanation *explanation, GError **error);
gboolean limn_explain_self_attention(const LimnExplainContext *context,
                                     LimnExplanation *explanation, GError **error);
gboolean limn_explain_rollout(const LimnExplainContext *context,
                              LimnExplanation *explanation, GError **error);
gboolean limn_explain_game(const LimnExplainContext *context,
                           LimnExplanation *explanation, GError **error);
gboolean limn_explain_grad_cam(const LimnExplainContext *context,
                               LimnExplanation *explanation, GError **error);
gboolean limn_explain_maskclip(const LimnExplainContext *context,
                               LimnExplanation *explanation, GError **error);
gboolean limn_explain_patch_cosine(const LimnExplainContext *context,
                                   LimnExplanation *explanation, GError **error);
gboolean limn_explain_surgery(const LimnExplainContext *context,
                              LimnExplanation *explanation, GError **error);
gboolean limn_explain_attention_gradient(const LimnExplainContext *context,
                                         LimnExplanation *explanation, GError **error);
gboolean limn_explain_rise(const LimnExplainContext *context,
                           LimnExplanation *explanation, GError **error);
gboolean limn_explain_m2ib(const LimnExplainContext *context,
                           LimnExplanation *explanation, GError **error);
gboolean limn_explain_grad_eclip_text(const LimnExplainContext *context,
                                      LimnExplanation *explanation, GError **error);
gboolean limn_explain_self_attention_text(const LimnExplainContext *context,
                                          LimnExplanation *explanation, GError **error);
gboolean limn_explain_game_text(const LimnExplainContext *context,
                                LimnExplanation *explanation, GError **error);

// A sentence (rows up to its end token) through the text tower; the last one is kept.
LimnPass *limn_explainer_record_text(LimnExplainer *explainer, const char *text,
                                     LimnJob *job, GError **error);

// explanation->map (or signed_map) = a copy of values [n] as [gh, gw].
gboolean limn_explanation_set_map(const LimnExplainContext *context,
                                  LimnExplanation *explanation, const float *values,
                                  gboolean is_signed, GError **error);
// signed_map = values, map = their positive part.
gboolean limn_explanation_set_rectified(const LimnExplainContext *context,
                                        LimnExplanation *explanation, const float *values,
                                        GError **error);
// Weights of the tokens 1 .. end - 1; divided by their sum when `divide`.
gboolean limn_explanation_set_tokens(const LimnExplainContext *context,
                                     LimnExplanation *explanation, const float *weights,
                                     gboolean divide, GError **error);
// The score of a chain of the picture goes to mode_score.
void limn_explanation_set_score(const LimnExplainContext *context,
                                LimnExplanation *explanation, const LimnChain *chain);
// The chain of the picture that a method explains: `layers` of 0 means all.
LimnChain *limn_explain_get_chain(const LimnExplainContext *context, LimnPass *pass,
                                  gboolean authors, int layers, GError **error);
