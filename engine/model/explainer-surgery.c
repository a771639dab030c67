// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <string.h>

#include "engine/model/explainer-features.h"
#include "engine/model/explainer-private.h"

// One block of both paths: o becomes the block's output, x gets the attention of the
// block's values to themselves added.
static void
run_block(LimnJob *job, const LimnTower *tower, int layer, const LimnAttention *shape,
          float *o, float *x, LimnBlockTrace *trace, LimnBlockScratch *scratch,
          float *space)
{
    const LimnBlock *block = &tower->blocks[layer];
    gsize rows = trace->rows, width = shape->width;
    limn_block_forward(job, tower, layer, shape, o, trace, scratch, o);
    limn_attention_forward(job, shape, trace->v, trace->v, trace->v, space);
    limn_kernel_linear(job, rows, width, width, space, block->out.weight, block->out.bias,
                       scratch->a);
    limn_kernel_add(job, rows * width, scratch->a, x);
}

gboolean
limn_surgery_features(LimnJob *job, LimnPass *pass, int depth, float *x, float *features,
                      GError **error)
{
    const LimnTower *tower = pass->tower;
    LimnAttention shape = limn_pass_get_shape(pass, FALSE, FALSE);
    gsize width = shape.width, n = pass->rows * width;
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &shape, error);
    g_autoptr(LimnFloats) o = limn_floats_new(n, 1, error);
    g_autoptr(LimnFloats) space = limn_floats_new(n, 1, error);
    if (trace == NULL || o == NULL || space == NULL ||
        !limn_block_scratch_init(&scratch, tower, &shape, error)) {
        return FALSE;
    }
    memcpy(o, x, n * sizeof *o);
    for (int layer = tower->config.layers - depth; layer < tower->config.layers;
         layer++) {
        run_block(job, tower, layer, &shape, o, x, trace, &scratch, space);
        if (!limn_job_check(job, error)) {
            return FALSE;
        }
    }
    memcpy(x, o, width * sizeof *x);
    return limn_tower_project(job, tower, pass->rows, x, features, error);
}

void
limn_surgery_normalise(float *features, gsize rows, gsize p, gboolean token_axis)
{
    if (!token_axis) {
        for (gsize i = 0; i < rows; i++) {
            limn_unit_vector(features + i * p, p, features + i * p);
        }
        return;
    }
    for (gsize c = 0; c < p; c++) {
        double sum = 0;
        for (gsize i = 0; i < rows; i++) {
            double value = (double) features[i * p + c];
            sum += value * value;
        }
        double length = sqrt(sum);
        for (gsize i = 0; i < rows; i++) {
            float *value = &features[i * p + c];
            *value = length > 0 ? (float) ((double) *value / length) : 0;
        }
    }
}

// w_j = prob_j / mean(prob), prob = softmax_j(2 F_0 . t_j); in place of the scores.
static void
weigh_prompts(double *weights, gsize n)
{
    double top = -INFINITY, sum = 0;
    for (gsize j = 0; j < n; j++) {
        top = MAX(top, weights[j]);
    }
    for (gsize j = 0; j < n; j++) {
        weights[j] = exp(2 * (weights[j] - top));
        sum += weights[j];
    }
    for (gsize j = 0; j < n; j++) {
        weights[j] *= (double) n / sum;
    }
}

void
limn_surgery_similarity(const float *features, gsize rows, gsize p, const float *texts,
                        gsize n, float *similarity)
{
    g_autofree double *weights = g_new(double, n);
    for (gsize j = 0; j < n; j++) {
        weights[j] = limn_kernel_dot(features, texts + j * p, p);
    }
    weigh_prompts(weights, n);
    g_autofree double *row = g_new(double, n);
    for (gsize i = 0; i < rows; i++) {
        double mean = 0;
        for (gsize j = 0; j < n; j++) {
            row[j] = weights[j] * limn_kernel_dot(features + i * p, texts + j * p, p);
            mean += row[j] / (double) n;
        }
        for (gsize j = 0; j < n; j++) {
            similarity[i * n + j] = (float) (row[j] - mean);
        }
    }
}

void
limn_surgery_single(const float *features, gsize rows, gsize p, const float *text,
                    const float *redundant, float *similarity)
{
    for (gsize i = 0; i < rows; i++) {
        const float *f = features + i * p;
        similarity[i] =
            (float) (limn_kernel_dot(f, text, p) - limn_kernel_dot(f, redundant, p));
    }
}

// The input of block layers - depth. At sizes other than the trained one this method
// resamples positions bilinearly, so that the tower has to run again.
static float *
begin_surgery(const LimnExplainContext *context, int depth, GError **error)
{
    LimnExplainer *explainer = context->explainer;
    LimnClip *clip = explainer->clip;
    LimnPass *pass = explainer->pass;
    gsize rows = pass->rows, width = (gsize) clip->config.vision.width;
    int first = clip->config.vision.layers - depth, grid = clip->config.grid;
    g_autoptr(LimnFloats) x = limn_floats_new(rows, width, error);
    if (x == NULL) {
        return NULL;
    }
    if (explainer->gh == grid && explainer->gw == grid) {
        g_autoptr(LimnFloats) temporary = NULL;
        const float *input =
            limn_pass_get_input(context->job, pass, first, &temporary, error);
        if (input == NULL) {
            return NULL;
        }
        memcpy(x, input, rows * width * sizeof *x);
        return g_steal_pointer(&x);
    }
    explainer->n_encodings++;
    if (!limn_clip_embed_pixels(
            clip, limn_array_f32(explainer->pixels), (int) explainer->pixels->shape[1],
            (int) explainer->pixels->shape[2], TRUE, x, context->job, error)) {
        return NULL;
    }
    LimnAttention shape = limn_pass_get_shape(pass, FALSE, FALSE);
    if (!limn_tower_run(context->job, &clip->vision, first, &shape, x, error)) {
        return NULL;
    }
    return g_steal_pointer(&x);
}

static const float *
surgery_features(const LimnExplainContext *context, GError **error)
{
    LimnExplainer *explainer = context->explainer;
    LimnPictureCache *cache = &explainer->cache;
    int layers = explainer->clip->config.vision.layers;
    int depth = CLAMP(context->options->surgery_depth, 1, layers);
    if (cache->surgery != NULL && cache->surgery_depth == depth) {
        return cache->surgery;
    }
    gsize p = (gsize) explainer->clip->config.projection;
    g_autoptr(LimnFloats) x = begin_surgery(context, depth, error);
    g_autoptr(LimnFloats) features =
        x != NULL ? limn_floats_new(context->n + 1, p, error) : NULL;
    if (features == NULL || !limn_surgery_features(context->job, explainer->pass, depth,
                                                   x, features, error)) {
        return NULL;
    }
    free(cache->surgery);
    cache->surgery = g_steal_pointer(&features);
    cache->surgery_depth = depth;
    return cache->surgery;
}

// The unit embedding of the empty sentence: start and end token of the one at hand.
static gboolean
embed_empty(const LimnExplainContext *context, float *out, GError **error)
{
    LimnClip *clip = context->explainer->clip;
    g_autoptr(LimnArray) ids = limn_array_new(LIMN_DTYPE_I64, 2, (gint64[]){1, 2}, error);
    if (ids == NULL) {
        return FALSE;
    }
    limn_array_i64(ids)[0] = context->ids[0];
    limn_array_i64(ids)[1] = context->ids[context->end];
    g_autoptr(LimnArray) f = limn_clip_encode_ids(clip, ids, context->job, error);
    if (f == NULL) {
        return FALSE;
    }
    limn_unit_vector(limn_array_f32(f), (gsize) clip->config.projection, out);
    return TRUE;
}

static gboolean
compare(const LimnExplainContext *context, const float *features, float *similarity,
        GError **error)
{
    gsize rows = context->n + 1, n = context->n_texts;
    gsize p = (gsize) context->explainer->clip->config.projection;
    if (n > 1) {
        limn_surgery_similarity(features, rows, p, context->all_texts, n, similarity);
        for (gsize i = 0; i < rows; i++) {
            similarity[i] = similarity[i * n + context->this_text];
        }
        return TRUE;
    }
    g_autoptr(LimnFloats) empty = limn_floats_new(p, 1, error);
    if (empty == NULL || !embed_empty(context, empty, error)) {
        return FALSE;
    }
    limn_surgery_single(features, rows, p, context->text, empty, similarity);
    return TRUE;
}

gboolean
limn_explain_surgery(const LimnExplainContext *context, LimnExplanation *explanation,
                     GError **error)
{
    gsize rows = context->n + 1;
    gsize p = (gsize) context->explainer->clip->config.projection;
    const float *stored = surgery_features(context, error);
    g_autoptr(LimnFloats) features =
        stored != NULL ? limn_floats_new(rows, p, error) : NULL;
    g_autoptr(LimnFloats) similarity =
        features != NULL ? limn_floats_new(rows, context->n_texts, error) : NULL;
    if (similarity == NULL) {
        return FALSE;
    }
    memcpy(features, stored, rows * p * sizeof *features);
    limn_surgery_normalise(features, rows, p, context->options->surgery_token_norm);
    return compare(context, features, similarity, error) &&
           limn_explanation_set_map(context, explanation, similarity + 1, FALSE, error) &&
           limn_explanation_set_map(context, explanation, similarity + 1, TRUE, error);
}
