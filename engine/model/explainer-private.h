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
    gsize end;              // row of the end token
    const float *all_texts; // [n_texts, P] unit embeddings of all prompts; this is one
    gsize n_texts, this_text;
} LimnExplainContext;

// Image side: fills map (and signed_map), mode_score.
typedef gboolean (*LimnExplainFunc)(const LimnExplainContext *context,
                                    LimnExplanation *explanation, GError **error);

gboolean limn_explain_grad_eclip(const LimnExplainContext *context,
                                 LimnExplanation *explanation, GError **error);
gboolean limn_explain_grad_eclip_text(const LimnExplainContext *context,
                                      LimnExplanation *explanation, GError **error);

// explanation->map (or signed_map) = a copy of values [n] as [gh, gw].
gboolean limn_explanation_set_map(const LimnExplainContext *context,
                                  LimnExplanation *explanation, const float *values,
                                  gboolean is_signed, GError **error);
// Weights of the tokens 1 .. end - 1; divided by their sum when `divide`.
gboolean limn_explanation_set_tokens(const LimnExplainContext *context,
                                     LimnExplanation *explanation, const float *weights,
                                     gboolean divide, GError **error);
// The chain of the picture that a method explains: `layers` of 0 means all.
LimnChain *limn_explain_get_chain(const LimnExplainContext *context, LimnPass *pass,
                                  gboolean authors, int layers, GError **error);
