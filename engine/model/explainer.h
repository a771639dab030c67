// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The long-lived explainer: encodes a picture once and keeps what the methods need, so
// that a new sentence costs the text tower and the last block only. One explainer is
// used by one thread at a time. Methods: Grad-ECLIP (Zhao et al., ICML 2024) and the
// comparison methods of the specification, section 8.

#include "engine/model/clip.h"

typedef enum {
    LIMN_EXPLAIN_GRAD_ECLIP,
    LIMN_EXPLAIN_SELF_ATTENTION,
    LIMN_EXPLAIN_ROLLOUT,
    LIMN_EXPLAIN_GAME,
    LIMN_EXPLAIN_GRAD_CAM,
    LIMN_EXPLAIN_MASKCLIP,
    LIMN_EXPLAIN_PATCH_COSINE,
    LIMN_EXPLAIN_CLIP_SURGERY,
    LIMN_EXPLAIN_ATTENTION_GRADIENT,
    LIMN_EXPLAIN_RISE,
    LIMN_EXPLAIN_M2IB,
    LIMN_EXPLAIN_N_METHODS,
} LimnExplainMethod;

const char *
limn_explain_method_id(LimnExplainMethod method); // "grad-eclip", "self-attention"
const char *limn_explain_method_title(LimnExplainMethod method); // "Grad-ECLIP"
gboolean limn_explain_method_is_text_dependent(LimnExplainMethod method);
gboolean limn_explain_method_has_words(LimnExplainMethod method); // has a text side
gboolean limn_explain_method_is_slow(LimnExplainMethod method);   // RISE, M2IB

typedef enum { LIMN_MODE_FAITHFUL, LIMN_MODE_AUTHORS } LimnExplainMode;
typedef enum {
    LIMN_SIMILARITY_RAW,
    LIMN_SIMILARITY_OUT,
    LIMN_SIMILARITY_NONE
} LimnSimilarity;
typedef enum { LIMN_PADDING_VALID, LIMN_PADDING_ZERO, LIMN_PADDING_END } LimnPadding;

typedef struct {
    LimnExplainMethod method;
    LimnExplainMode mode;
    LimnSimilarity similarity;
    int layers; // last n vision blocks (Grad-ECLIP; rollout and GAME: 0 = all)
    int text_layers;
    LimnPadding padding;
    int surgery_depth; // CLIP Surgery, default 6 clamped to the number of blocks
    gboolean surgery_token_norm; // norm along the token axis as the official call sites
    int rise_masks;              // RISE, default 2000
    double rise_keep;            // 0.5
    int m2ib_layer;              // 0-based; -1: layers - 3 (9 of 12)
    int m2ib_steps;              // 10
    double m2ib_beta;            // 0.1
    guint64 seed;
} LimnExplainOptions;
void limn_explain_options_init(LimnExplainOptions *options);

typedef struct LimnExplainer LimnExplainer;
LimnExplainer *limn_explainer_new(LimnClip *clip);
void limn_explainer_free(LimnExplainer *explainer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnExplainer, limn_explainer_free)
LimnClip *limn_explainer_get_clip(LimnExplainer *explainer);

// Set the picture. mode CLIP or KEEP decides the pixels that are explained; the true
// cosine always comes from the model's own (CLIP) preprocessing. Encoding happens here;
// a picture that is already set with the same mode and limit is not encoded again.
gboolean limn_explainer_set_image(LimnExplainer *explainer, LimnImage *image,
                                  LimnPreprocessMode mode, int keep_limit, LimnJob *job,
                                  GError **error);
// Normalised pixels [3,h,w] instead of a picture; score and map use the same pixels.
gboolean limn_explainer_set_pixels(LimnExplainer *explainer, const LimnArray *pixels,
                                   LimnJob *job, GError **error);
gboolean limn_explainer_has_image(LimnExplainer *explainer);
// How often a picture went through the vision tower (tests: typing must not raise it).
guint limn_explainer_get_n_encodings(LimnExplainer *explainer);
// Grid and the rectangle of the upright picture that it covers.
void limn_explainer_get_grid(LimnExplainer *explainer, int *gh, int *gw, LimnRect *rect);

typedef struct {
    // [gh,gw] after the ReLU where the method has one; RISE: means over the patches
    LimnArray *map;
    LimnArray *signed_map; // [gh,gw] before the ReLU, or NULL
    double cosine;         // true score
    double logit;          // exp(scale) * cosine + bias
    double mode_score;     // score in the explaining mode (differs in `authors`)
    gboolean constant;     // map is constant or all zero
    // text side, NULL when the method has none or was not asked for
    LimnTokens *tokens;
    // [E-1] f32, tokens 1..E-1, sum 1 or all zero (self-attention: shares of its row)
    LimnArray *token_weights;
    GArray *word_weights; // double, one per tokens->words
    gboolean no_positive_token;
} LimnExplanation;
void limn_explanation_free(LimnExplanation *explanation);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnExplanation, limn_explanation_free)

typedef enum { LIMN_SIDE_BOTH, LIMN_SIDE_IMAGE, LIMN_SIDE_TEXT } LimnSide;

// One sentence on the current picture.
LimnExplanation *limn_explainer_explain(LimnExplainer *explainer,
                                        const LimnExplainOptions *options, LimnSide side,
                                        const char *text, LimnJob *job, GError **error);
// Without a sentence, for methods that do not depend on it: also works for a checkpoint
// that has no text tower. The scores of the explanation are 0.
LimnExplanation *limn_explainer_explain_picture(LimnExplainer *explainer,
                                                const LimnExplainOptions *options,
                                                LimnJob *job, GError **error);
// Ids as given (padding included when it matters) instead of a sentence.
LimnExplanation *limn_explainer_explain_ids(LimnExplainer *explainer,
                                            const LimnExplainOptions *options,
                                            LimnSide side, const gint32 *ids, int n_ids,
                                            LimnJob *job, GError **error);
// Several sentences: shares the image side; CLIP Surgery needs all prompts at once.
// Returns: (transfer full) (element-type LimnExplanation)
GPtrArray *limn_explainer_explain_all(LimnExplainer *explainer,
                                      const LimnExplainOptions *options, LimnSide side,
                                      const char *const *texts, LimnJob *job,
                                      GError **error);

// What one patch contributes: signed contribution, loosened weight w, cosine to the class
// token, attention of the class token (last block, current sentence).
typedef struct {
    double contribution, weight, cosine, attention;
} LimnPatchInfo;
gboolean limn_explainer_query_patch(LimnExplainer *explainer,
                                    const LimnExplainOptions *options, const char *text,
                                    int row, int col, LimnPatchInfo *info,
                                    GError **error);
