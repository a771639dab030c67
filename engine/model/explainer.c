// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/explainer.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/model/explainer-grad-eclip.h"
#include "engine/model/explainer-private.h"

// In the order of LimnExplainMethod.
static const struct {
    const char *id, *title;
    gboolean text_dependent, slow;
    LimnExplainFunc image, text;
} METHODS[LIMN_EXPLAIN_N_METHODS] = {
    {"grad-eclip", "Grad-ECLIP", TRUE, FALSE, limn_explain_grad_eclip,
     limn_explain_grad_eclip_text},
    {"self-attention", "Self-attention", FALSE, FALSE, limn_explain_self_attention,
     limn_explain_self_attention_text},
    {"rollout", "Rollout", FALSE, FALSE, limn_explain_rollout, NULL},
    {"game", "GAME", TRUE, FALSE, limn_explain_game, limn_explain_game_text},
    {"grad-cam", "Grad-CAM", TRUE, FALSE, limn_explain_grad_cam, NULL},
    {"maskclip", "MaskCLIP", TRUE, FALSE, limn_explain_maskclip, NULL},
    {"patch-cosine", "Patch cosine", TRUE, FALSE, limn_explain_patch_cosine, NULL},
    {"clip-surgery", "CLIP Surgery", TRUE, FALSE, limn_explain_surgery, NULL},
    {"attention-gradient", "Attention × gradient", TRUE, FALSE,
     limn_explain_attention_gradient, NULL},
    {"rise", "RISE", TRUE, TRUE, limn_explain_rise, NULL},
    {"m2ib", "M2IB", TRUE, TRUE, limn_explain_m2ib, NULL},
};

const char *
limn_explain_method_id(LimnExplainMethod method)
{
    g_return_val_if_fail((guint) method < LIMN_EXPLAIN_N_METHODS, "");
    return METHODS[method].id;
}

const char *
limn_explain_method_title(LimnExplainMethod method)
{
    g_return_val_if_fail((guint) method < LIMN_EXPLAIN_N_METHODS, "");
    return METHODS[method].title;
}

gboolean
limn_explain_method_is_text_dependent(LimnExplainMethod method)
{
    g_return_val_if_fail((guint) method < LIMN_EXPLAIN_N_METHODS, FALSE);
    return METHODS[method].text_dependent;
}

gboolean
limn_explain_method_has_words(LimnExplainMethod method)
{
    g_return_val_if_fail((guint) method < LIMN_EXPLAIN_N_METHODS, FALSE);
    return METHODS[method].text != NULL;
}

gboolean
limn_explain_method_is_slow(LimnExplainMethod method)
{
    g_return_val_if_fail((guint) method < LIMN_EXPLAIN_N_METHODS, FALSE);
    return METHODS[method].slow;
}

void
limn_explain_options_init(LimnExplainOptions *options)
{
    *options = (LimnExplainOptions){
        .layers = 1,
        .text_layers = 1,
        .surgery_depth = 6,
        .surgery_token_norm = TRUE,
        .rise_masks = 2000,
        .rise_keep = 0.5,
        .m2ib_layer = -1,
        .m2ib_steps = 10,
        .m2ib_beta = 0.1,
    };
}

LimnExplainer *
limn_explainer_new(LimnClip *clip)
{
    LimnExplainer *explainer = g_new0(LimnExplainer, 1);
    explainer->clip = limn_clip_ref(clip);
    explainer->text_ids = g_array_new(FALSE, FALSE, sizeof(gint32));
    return explainer;
}

static void
clear_cache(LimnPictureCache *cache)
{
    g_clear_pointer(&cache->maskclip, free);
    g_clear_pointer(&cache->maskclip_key, free);
    g_clear_pointer(&cache->patches[0], free);
    g_clear_pointer(&cache->patches[1], free);
    g_clear_pointer(&cache->surgery, free);
    g_clear_pointer(&cache->masked, free);
}

static void
clear_picture(LimnExplainer *explainer)
{
    clear_cache(&explainer->cache);
    g_clear_pointer(&explainer->image, limn_image_unref);
    g_clear_pointer(&explainer->pixels, limn_array_unref);
    g_clear_pointer(&explainer->pass, limn_pass_free);
    g_clear_pointer(&explainer->embedding, free);
}

void
limn_explainer_free(LimnExplainer *explainer)
{
    if (explainer != NULL) {
        clear_picture(explainer);
        g_clear_pointer(&explainer->text, limn_pass_free);
        g_array_unref(explainer->text_ids);
        limn_clip_unref(explainer->clip);
        g_free(explainer);
    }
}

LimnClip *
limn_explainer_get_clip(LimnExplainer *explainer)
{
    return explainer->clip;
}

gboolean
limn_explainer_has_image(LimnExplainer *explainer)
{
    return explainer->pass != NULL;
}

guint
limn_explainer_get_n_encodings(LimnExplainer *explainer)
{
    return explainer->n_encodings;
}

void
limn_explainer_get_grid(LimnExplainer *explainer, int *gh, int *gw, LimnRect *rect)
{
    *gh = explainer->gh;
    *gw = explainer->gw;
    if (rect != NULL) {
        *rect = explainer->rect;
    }
}

static void
note_grid(const LimnClip *clip, int gh, int gw, LimnJob *job)
{
    int grid = clip->config.grid;
    if (gh != grid || gw != grid) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, clip->name,
                          "the picture has %d x %d patches, the model was trained with "
                          "%d x %d: positions are resampled (bicubic)",
                          gw, gh, grid, grid);
    }
}

// Runs the vision tower on pixels [3,h,w], recording what explanations need.
static LimnPass *
record_pixels(LimnExplainer *explainer, const LimnArray *pixels, LimnJob *job,
              GError **error)
{
    LimnClip *clip = explainer->clip;
    int gh, gw, height = (int) pixels->shape[1], width = (int) pixels->shape[2];
    if (!limn_clip_check_size(clip, pixels->shape[1], pixels->shape[2], &gh, &gw,
                              error)) {
        return NULL;
    }
    gsize rows = 1 + (gsize) gh * (gsize) gw;
    g_autoptr(LimnFloats) x =
        limn_floats_new(rows, (gsize) clip->config.vision.width, error);
    if (x == NULL || !limn_clip_embed_pixels(clip, limn_array_f32(pixels), height, width,
                                             FALSE, x, job, error)) {
        return NULL;
    }
    explainer->n_encodings++;
    note_grid(clip, gh, gw, job);
    g_autoptr(LimnPass) pass =
        limn_pass_new(job, &clip->vision, rows, 0, FALSE, g_steal_pointer(&x), error);
    if (pass == NULL ||
        !limn_clip_check_finite(clip, FALSE, limn_pass_get_embedding(pass),
                                (gsize) clip->config.projection, job, error)) {
        return NULL;
    }
    return g_steal_pointer(&pass);
}

static float *
copy_embedding(LimnExplainer *explainer, const float *f, GError **error)
{
    gsize p = (gsize) explainer->clip->config.projection;
    float *copy = limn_floats_new(p, 1, error);
    if (copy != NULL) {
        memcpy(copy, f, p * sizeof *copy);
    }
    return copy;
}

// The pass becomes the explainer's; embedding NULL: that of the pass.
static gboolean
take_pass(LimnExplainer *explainer, LimnArray *pixels, const LimnRect *rect,
          LimnPass *pass, float *embedding, GError **error)
{
    int patch = explainer->clip->config.patch;
    if (embedding == NULL) {
        embedding = copy_embedding(explainer, limn_pass_get_embedding(pass), error);
    }
    clear_picture(explainer);
    if (embedding == NULL) {
        limn_pass_free(pass);
        return FALSE;
    }
    explainer->pixels = limn_array_ref(pixels);
    explainer->gh = (int) pixels->shape[1] / patch;
    explainer->gw = (int) pixels->shape[2] / patch;
    explainer->rect = *rect;
    explainer->pass = pass;
    explainer->embedding = embedding;
    return TRUE;
}

// The embedding of the picture with the model's own preprocessing.
static float *
encode_true(LimnExplainer *explainer, LimnImage *image, LimnJob *job, GError **error)
{
    if (explainer->image == image && explainer->embedding != NULL) {
        return copy_embedding(explainer, explainer->embedding, error);
    }
    g_autoptr(LimnArray) f = limn_clip_encode_image(explainer->clip, image, job, error);
    if (f == NULL) {
        return NULL;
    }
    explainer->n_encodings++;
    return copy_embedding(explainer, limn_array_f32(f), error);
}

gboolean
limn_explainer_set_image(LimnExplainer *explainer, LimnImage *image,
                         LimnPreprocessMode mode, int keep_limit, LimnJob *job,
                         GError **error)
{
    gboolean keep = mode == LIMN_PREPROCESS_KEEP;
    if (explainer->pass != NULL && explainer->image == image && explainer->mode == mode &&
        (!keep || explainer->keep_limit == keep_limit)) {
        return TRUE;
    }
    LimnPreprocess options = explainer->clip->preprocess;
    options.mode = mode;
    options.keep_limit = keep_limit;
    g_autoptr(LimnPreprocessed) seen = limn_preprocess(image, &options, job, error);
    if (seen == NULL) {
        return FALSE;
    }
    g_autoptr(LimnPass) pass = record_pixels(explainer, seen->tensor, job, error);
    g_autoptr(LimnFloats) embedding =
        pass != NULL && keep ? encode_true(explainer, image, job, error) : NULL;
    if (pass == NULL || (keep && embedding == NULL)) {
        return FALSE;
    }
    g_autoptr(LimnImage) held = limn_image_ref(image);
    if (!take_pass(explainer, seen->tensor, &seen->rect, g_steal_pointer(&pass),
                   g_steal_pointer(&embedding), error)) {
        return FALSE;
    }
    explainer->image = g_steal_pointer(&held);
    explainer->mode = mode;
    explainer->keep_limit = keep_limit;
    return TRUE;
}

gboolean
limn_explainer_set_pixels(LimnExplainer *explainer, const LimnArray *pixels, LimnJob *job,
                          GError **error)
{
    if (pixels->dtype != LIMN_DTYPE_F32 || pixels->rank != 3 || pixels->shape[0] != 3) {
        g_autofree char *shape = limn_array_describe_shape(pixels);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "pixels have the wrong shape or type (found %s %s, expected f32 [3, "
                    "height, width])",
                    limn_dtype_name(pixels->dtype), shape);
        return FALSE;
    }
    g_autoptr(LimnPass) pass = record_pixels(explainer, pixels, job, error);
    g_autoptr(LimnArray) copy =
        pass != NULL ? limn_array_new(LIMN_DTYPE_F32, 3, pixels->shape, error) : NULL;
    if (copy == NULL) {
        return FALSE;
    }
    memcpy(copy->data, pixels->data, (gsize) pixels->length * sizeof(float));
    LimnRect rect = {0, 0, (double) pixels->shape[2], (double) pixels->shape[1]};
    return take_pass(explainer, copy, &rect, g_steal_pointer(&pass), NULL, error);
}

void
limn_explanation_free(LimnExplanation *explanation)
{
    if (explanation == NULL) {
        return;
    }
    g_clear_pointer(&explanation->map, limn_array_unref);
    g_clear_pointer(&explanation->signed_map, limn_array_unref);
    g_clear_pointer(&explanation->tokens, limn_tokens_free);
    g_clear_pointer(&explanation->token_weights, limn_array_unref);
    g_clear_pointer(&explanation->word_weights, g_array_unref);
    g_free(explanation);
}

void
limn_explanation_set_score(const LimnExplainContext *context,
                           LimnExplanation *explanation, const LimnChain *chain)
{
    explanation->mode_score = limn_cosine_gradient(
        chain->f, context->text, (gsize) chain->pass->tower->embedding, NULL);
}

gboolean
limn_explanation_set_map(const LimnExplainContext *context, LimnExplanation *explanation,
                         const float *values, gboolean is_signed, GError **error)
{
    LimnArray *map =
        limn_array_new_f32_2d(context->explainer->gh, context->explainer->gw, error);
    if (map == NULL) {
        return FALSE;
    }
    memcpy(map->data, values, context->n * sizeof *values);
    if (is_signed) {
        explanation->signed_map = map;
        return TRUE;
    }
    explanation->map = map;
    explanation->constant = TRUE;
    for (gsize i = 1; i < context->n; i++) {
        explanation->constant = explanation->constant && values[i] == values[0];
    }
    return TRUE;
}

gboolean
limn_explanation_set_rectified(const LimnExplainContext *context,
                               LimnExplanation *explanation, const float *values,
                               GError **error)
{
    g_autoptr(LimnFloats) positive = limn_floats_new(context->n, 1, error);
    if (positive == NULL) {
        return FALSE;
    }
    for (gsize i = 0; i < context->n; i++) {
        positive[i] = MAX(values[i], 0);
    }
    return limn_explanation_set_map(context, explanation, positive, FALSE, error) &&
           limn_explanation_set_map(context, explanation, values, TRUE, error);
}

gboolean
limn_explanation_set_tokens(const LimnExplainContext *context,
                            LimnExplanation *explanation, const float *weights,
                            gboolean divide, GError **error)
{
    gsize n = MAX(context->end, 1) - 1;
    double sum = 0;
    explanation->token_weights = limn_array_new_f32_1d((gint64) n, error);
    if (explanation->token_weights == NULL) {
        return FALSE;
    }
    float *out = limn_array_f32(explanation->token_weights);
    for (gsize i = 0; i < n; i++) {
        sum += (double) weights[i];
    }
    for (gsize i = 0; i < n; i++) {
        out[i] = divide && sum > 0 ? (float) ((double) weights[i] / sum) : weights[i];
    }
    explanation->no_positive_token = !(sum > 0);
    return TRUE;
}

LimnChain *
limn_explain_get_chain(const LimnExplainContext *context, LimnPass *pass,
                       gboolean authors, int layers, GError **error)
{
    int all = pass->tower->config.layers;
    if (layers < 0 || layers > all) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "the last %d blocks cannot be explained (%s has %d in this tower, "
                    "expected 1 to %d, or 0 for all)",
                    layers, context->explainer->clip->name, all, all);
        return NULL;
    }
    return limn_pass_get_chain(context->job, pass, authors, layers == 0 ? all : layers,
                               error);
}

// A sentence being explained: ids up to the end token, and with padding to the context.
typedef struct {
    const gint32 *ids; // as given
    gsize n, end;
    LimnTokens *tokens; // NULL: ids were given
} Sentence;

// The rows that go through the text tower.
static GArray *
padded_ids(LimnExplainer *explainer, const Sentence *sentence, LimnPadding padding)
{
    GArray *ids = g_array_new(FALSE, FALSE, sizeof(gint32));
    gsize rows = padding == LIMN_PADDING_VALID ? sentence->end + 1 : sentence->n;
    g_array_append_vals(ids, sentence->ids, (guint) rows);
    if (padding != LIMN_PADDING_VALID) {
        gint32 fill = padding == LIMN_PADDING_END ? sentence->ids[sentence->end] : 0;
        while (ids->len < (guint) explainer->clip->config.context) {
            g_array_append_val(ids, fill);
        }
    }
    return ids;
}

static gboolean
same_ids(const GArray *a, const GArray *b)
{
    return a->len == b->len && memcmp(a->data, b->data, a->len * sizeof(gint32)) == 0;
}

// The sentence through the text tower; the last one is kept.
static LimnPass *
record_sentence(LimnExplainer *explainer, const Sentence *sentence, LimnPadding padding,
                LimnJob *job, GError **error)
{
    LimnClip *clip = explainer->clip;
    g_autoptr(GArray) ids = padded_ids(explainer, sentence, padding);
    if (explainer->text != NULL && same_ids(ids, explainer->text_ids)) {
        return explainer->text;
    }
    g_clear_pointer(&explainer->text, limn_pass_free);
    g_autoptr(LimnFloats) x =
        limn_floats_new(ids->len, (gsize) clip->config.text.width, error);
    if (x == NULL || !limn_clip_check_tables(clip, job, error)) {
        return NULL;
    }
    limn_clip_embed_ids(clip, &g_array_index(ids, gint32, 0), ids->len, x);
    g_autoptr(LimnPass) pass = limn_pass_new(job, &clip->text, ids->len, sentence->end,
                                             TRUE, g_steal_pointer(&x), error);
    if (pass == NULL ||
        !limn_clip_check_finite(clip, TRUE, limn_pass_get_embedding(pass),
                                (gsize) clip->config.projection, job, error)) {
        return NULL;
    }
    explainer->text = g_steal_pointer(&pass);
    g_array_unref(explainer->text_ids);
    explainer->text_ids = g_steal_pointer(&ids);
    return explainer->text;
}

LimnPass *
limn_explainer_record_text(LimnExplainer *explainer, const char *text, LimnJob *job,
                           GError **error)
{
    g_autoptr(LimnTokens) tokens = NULL;
    g_autofree gint32 *ids = NULL;
    if (!limn_clip_tokenize(explainer->clip, text, &tokens, &ids, job, error)) {
        return NULL;
    }
    Sentence sentence = {.ids = ids, .n = tokens->tokens->len};
    if (!limn_clip_check_ids(explainer->clip, ids, sentence.n, &sentence.end, error)) {
        return NULL;
    }
    return record_sentence(explainer, &sentence, LIMN_PADDING_VALID, job, error);
}

static void
set_words(LimnExplanation *explanation)
{
    const float *weights = limn_array_f32(explanation->token_weights);
    const GArray *words = explanation->tokens->words;
    explanation->word_weights =
        g_array_sized_new(FALSE, TRUE, sizeof(double), words->len);
    for (guint i = 0; i < words->len; i++) {
        const LimnTokenWord *word = &g_array_index(words, LimnTokenWord, i);
        double sum = 0;
        for (int t = MAX(word->first, 1); t <= word->last; t++) {
            sum +=
                t - 1 < explanation->token_weights->length ? (double) weights[t - 1] : 0;
        }
        g_array_append_val(explanation->word_weights, sum);
    }
}

static gboolean
check_options(const LimnExplainer *explainer, const LimnExplainOptions *options,
              LimnSide side, GError **error)
{
    if (explainer->pass == NULL) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                            "there is no picture to explain");
        return FALSE;
    }
    g_return_val_if_fail((guint) options->method < LIMN_EXPLAIN_N_METHODS, FALSE);
    if (side == LIMN_SIDE_TEXT && METHODS[options->method].text == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s has no text side (expected side=image or side=both)",
                    limn_explain_method_title(options->method));
        return FALSE;
    }
    return TRUE;
}

// True score of the unit vectors, computed in double.
static void
set_scores(const LimnExplainContext *context, LimnExplanation *explanation)
{
    LimnClip *clip = context->explainer->clip;
    explanation->cosine =
        limn_kernel_dot(context->text, context->image, (gsize) clip->config.projection);
    explanation->logit =
        (double) clip->logit_scale * explanation->cosine + (double) clip->logit_bias;
    explanation->mode_score = explanation->cosine;
}

static LimnExplanation *
explain_context(LimnExplainContext *context, LimnSide side, Sentence *sentence,
                GError **error)
{
    LimnExplainMethod method = context->options->method;
    g_autoptr(LimnExplanation) explanation = g_new0(LimnExplanation, 1);
    explanation->tokens = g_steal_pointer(&sentence->tokens);
    set_scores(context, explanation);
    if (side != LIMN_SIDE_TEXT && !METHODS[method].image(context, explanation, error)) {
        return NULL;
    }
    if (side != LIMN_SIDE_IMAGE && METHODS[method].text != NULL) {
        if (!METHODS[method].text(context, explanation, error)) {
            return NULL;
        }
        if (explanation->tokens != NULL) {
            set_words(explanation);
        }
    }
    return limn_job_check(context->job, error) ? g_steal_pointer(&explanation) : NULL;
}

// all_texts: NULL, or unit embeddings of all prompts of which this is number `index`.
static LimnExplanation *
explain_sentence(LimnExplainer *explainer, const LimnExplainOptions *options,
                 LimnSide side, Sentence *sentence, const LimnArray *all_texts,
                 gsize index, LimnJob *job, GError **error)
{
    gsize p = (gsize) explainer->clip->config.projection;
    gboolean words = side != LIMN_SIDE_IMAGE && METHODS[options->method].text != NULL;
    if (!limn_clip_check_ids(explainer->clip, sentence->ids, sentence->n, &sentence->end,
                             error)) {
        return NULL;
    }
    LimnPass *pass = record_sentence(
        explainer, sentence, words ? options->padding : LIMN_PADDING_VALID, job, error);
    g_autoptr(LimnFloats) text = pass != NULL ? limn_floats_new(p, 1, error) : NULL;
    g_autoptr(LimnFloats) image = text != NULL ? limn_floats_new(p, 1, error) : NULL;
    if (image == NULL) {
        return NULL;
    }
    limn_unit_vector(limn_pass_get_embedding(pass), p, text);
    limn_unit_vector(explainer->embedding, p, image);
    LimnExplainContext context = {
        .explainer = explainer,
        .options = options,
        .job = job,
        .n = (gsize) explainer->gh * (gsize) explainer->gw,
        .text = text,
        .image = image,
        .text_pass = pass,
        .ids = sentence->ids,
        .end = sentence->end,
        .all_texts = all_texts != NULL ? limn_array_f32(all_texts) : text,
        .n_texts = all_texts != NULL ? (gsize) all_texts->shape[0] : 1,
        .this_text = index,
    };
    return explain_context(&context, side, sentence, error);
}

static LimnExplanation *
explain_text(LimnExplainer *explainer, const LimnExplainOptions *options, LimnSide side,
             const char *text, const LimnArray *all_texts, gsize index, LimnJob *job,
             GError **error)
{
    g_autoptr(LimnTokens) tokens = NULL;
    g_autofree gint32 *ids = NULL;
    if (!limn_clip_tokenize(explainer->clip, text, &tokens, &ids, job, error)) {
        return NULL;
    }
    Sentence sentence = {.ids = ids, .n = tokens->tokens->len};
    sentence.tokens = g_steal_pointer(&tokens);
    LimnExplanation *explanation = explain_sentence(explainer, options, side, &sentence,
                                                    all_texts, index, job, error);
    limn_tokens_free(sentence.tokens);
    return explanation;
}

LimnExplanation *
limn_explainer_explain(LimnExplainer *explainer, const LimnExplainOptions *options,
                       LimnSide side, const char *text, LimnJob *job, GError **error)
{
    if (!check_options(explainer, options, side, error)) {
        return NULL;
    }
    return explain_text(explainer, options, side, text, NULL, 0, job, error);
}

LimnExplanation *
limn_explainer_explain_picture(LimnExplainer *explainer,
                               const LimnExplainOptions *options, LimnJob *job,
                               GError **error)
{
    if (!check_options(explainer, options, LIMN_SIDE_IMAGE, error)) {
        return NULL;
    }
    g_return_val_if_fail(!METHODS[options->method].text_dependent, NULL);
    gsize p = (gsize) explainer->clip->config.projection;
    g_autoptr(LimnFloats) text = limn_floats_new(p, 1, error);
    g_autoptr(LimnFloats) image = text != NULL ? limn_floats_new(p, 1, error) : NULL;
    if (image == NULL) {
        return NULL;
    }
    memset(text, 0, p * sizeof *text);
    limn_unit_vector(explainer->embedding, p, image);
    LimnExplainContext context = {
        .explainer = explainer,
        .options = options,
        .job = job,
        .n = (gsize) explainer->gh * (gsize) explainer->gw,
        .text = text,
        .image = image,
        .all_texts = text,
        .n_texts = 1,
    };
    Sentence none = {0};
    return explain_context(&context, LIMN_SIDE_IMAGE, &none, error);
}

LimnExplanation *
limn_explainer_explain_ids(LimnExplainer *explainer, const LimnExplainOptions *options,
                           LimnSide side, const gint32 *ids, int n_ids, LimnJob *job,
                           GError **error)
{
    if (!check_options(explainer, options, side, error)) {
        return NULL;
    }
    Sentence sentence = {.ids = ids, .n = (gsize) MAX(n_ids, 0)};
    return explain_sentence(explainer, options, side, &sentence, NULL, 0, job, error);
}

GPtrArray *
limn_explainer_explain_all(LimnExplainer *explainer, const LimnExplainOptions *options,
                           LimnSide side, const char *const *texts, LimnJob *job,
                           GError **error)
{
    gsize n = limn_clip_count_texts(texts),
          p = (gsize) explainer->clip->config.projection;
    if (!check_options(explainer, options, side, error)) {
        return NULL;
    }
    // Only CLIP Surgery looks at the other prompts.
    g_autoptr(LimnArray) all = NULL;
    if (options->method == LIMN_EXPLAIN_CLIP_SURGERY) {
        all = limn_clip_encode_texts(explainer->clip, texts, job, error);
        if (all == NULL) {
            return NULL;
        }
        for (gsize i = 0; i < n; i++) {
            float *row = limn_array_f32(all) + i * p;
            limn_unit_vector(row, p, row);
        }
    }
    g_autoptr(GPtrArray) list =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_explanation_free);
    for (gsize i = 0; i < n; i++) {
        limn_job_push_range(job, (double) i / (double) n, (double) (i + 1) / (double) n);
        limn_job_report(job, "explain", 0, "%s", texts[i]);
        LimnExplanation *one =
            explain_text(explainer, options, side, texts[i], all, i, job, error);
        limn_job_pop_range(job);
        if (one == NULL) {
            return NULL;
        }
        g_ptr_array_add(list, one);
    }
    return g_steal_pointer(&list);
}
