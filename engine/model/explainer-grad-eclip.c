// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/explainer-grad-eclip.h"

#include <math.h>
#include <string.h>

#include "engine/base/parallel.h"
#include "engine/model/explainer-private.h"

#define MIN_NORM 1e-12
#define ROWS_PER_CHUNK ((gsize) 64)

void
limn_grad_eclip_clear(LimnGradEclip *result)
{
    g_clear_pointer(&result->gradient, free);
    g_clear_pointer(&result->cosines, free);
    g_clear_pointer(&result->weights, free);
    g_clear_pointer(&result->signed_sum, free);
    g_clear_pointer(&result->positive, free);
}

// out[row] = the dot product of a vector with each row of a matrix, or its cosine.
typedef struct {
    const float *vector, *rows;
    gsize n, width;
    double norm; // of the vector; 0: plain dot products
    float *out;
} RowProducts;

static void
row_products_chunk(gsize chunk, gpointer data)
{
    const RowProducts *p = data;
    gsize end = MIN((chunk + 1) * ROWS_PER_CHUNK, p->n);
    for (gsize row = chunk * ROWS_PER_CHUNK; row < end; row++) {
        const float *x = p->rows + row * p->width;
        double dot = limn_kernel_dot(p->vector, x, p->width);
        if (p->norm > 0) {
            double norm = sqrt(limn_kernel_dot(x, x, p->width));
            dot /= p->norm * MAX(norm, MIN_NORM);
        }
        p->out[row] = (float) dot;
    }
}

static void
row_products(LimnJob *job, RowProducts p)
{
    limn_parallel_for(job, (p.n + ROWS_PER_CHUNK - 1) / ROWS_PER_CHUNK,
                      row_products_chunk, &p);
}

// q and keys through the output projection, bias included.
static gboolean
project_out(LimnJob *job, LimnChain *chain, int i, const float *q, const float *k,
            float **q_out, float **k_out, GError **error)
{
    const LimnTower *tower = chain->pass->tower;
    const LimnAffine *out = &tower->blocks[chain->first + i].out;
    gsize width = (gsize) tower->config.width, rows = chain->pass->rows;
    *q_out = limn_floats_new(1, width, error);
    *k_out = *q_out != NULL ? limn_floats_new(rows, width, error) : NULL;
    if (*k_out == NULL) {
        return FALSE;
    }
    limn_kernel_linear(job, 1, width, width, q, out->weight, out->bias, *q_out);
    limn_kernel_linear(job, rows, width, width, k, out->weight, out->bias, *k_out);
    return limn_job_check(job, error);
}

const float *
limn_chain_get_cosines(LimnJob *job, LimnChain *chain, int i, LimnSimilarity similarity,
                       GError **error)
{
    float **place = &chain->cosines[similarity == LIMN_SIMILARITY_OUT][i];
    LimnPass *pass = chain->pass;
    gsize width = (gsize) pass->tower->config.width;
    if (*place != NULL) {
        return *place;
    }
    g_autoptr(LimnBlockTrace) temporary = NULL;
    const LimnBlockTrace *trace = limn_chain_get_trace(job, chain, i, &temporary, error);
    g_autoptr(LimnFloats) q_out = NULL;
    g_autoptr(LimnFloats) k_out = NULL;
    g_autoptr(LimnFloats) cosines = limn_floats_new(pass->rows, 1, error);
    if (trace == NULL || cosines == NULL) {
        return NULL;
    }
    const float *q = trace->q + (trace->asking == 1 ? 0 : pass->pool * width);
    const float *k = trace->k;
    if (similarity == LIMN_SIMILARITY_OUT) {
        if (!project_out(job, chain, i, q, k, &q_out, &k_out, error)) {
            return NULL;
        }
        q = q_out;
        k = k_out;
    }
    double norm = MAX(sqrt(limn_kernel_dot(q, q, width)), MIN_NORM);
    row_products(job, (RowProducts){q, k, pass->rows, width, norm, cosines});
    *place = g_steal_pointer(&cosines);
    return *place;
}

// w = (c - min) / (max - min) over rows first ..; TRUE when all are equal (then zeros).
static gboolean
loosen(const float *cosines, gsize n, float *weights)
{
    float low = INFINITY, high = -INFINITY;
    for (gsize i = 0; i < n; i++) {
        low = MIN(low, cosines[i]);
        high = MAX(high, cosines[i]);
    }
    for (gsize i = 0; i < n; i++) {
        weights[i] = high > low ? (cosines[i] - low) / (high - low) : 0;
    }
    return !(high > low);
}

typedef struct {
    LimnSimilarity similarity;
    LimnGradEclip *result;
    float *products; // [rows] <g, v_j>
    float *weights;  // [n] of the block at hand
} Explaining;

// The last block's similarity is part of the result.
static gboolean
keep_similarity(const Explaining *e, const float *cosines, GError **error)
{
    LimnGradEclip *result = e->result;
    result->cosines = limn_floats_new(result->n, 1, error);
    result->weights = limn_floats_new(result->n, 1, error);
    if (result->cosines == NULL || result->weights == NULL) {
        return FALSE;
    }
    memcpy(result->cosines, cosines, result->n * sizeof *cosines);
    memcpy(result->weights, e->weights, result->n * sizeof *e->weights);
    return TRUE;
}

static gboolean
set_weights(LimnJob *job, const LimnBackStep *step, Explaining *e, GError **error)
{
    LimnGradEclip *result = e->result;
    if (e->similarity == LIMN_SIMILARITY_NONE) {
        for (gsize j = 0; j < result->n; j++) {
            e->weights[j] = 1;
        }
        return TRUE;
    }
    const float *cosines =
        limn_chain_get_cosines(job, step->chain, step->i, e->similarity, error);
    if (cosines == NULL) {
        return FALSE;
    }
    if (loosen(cosines + result->first, result->n, e->weights)) {
        result->flat = TRUE;
    }
    return step->i + 1 < step->chain->n ||
           keep_similarity(e, cosines + result->first, error);
}

static gboolean
add_block(LimnJob *job, const LimnBackStep *step, gpointer data, GError **error)
{
    Explaining *e = data;
    LimnGradEclip *result = e->result;
    gsize width = step->shape.width, rows = step->chain->pass->rows;
    const float *g = step->go + step->row * width;
    if (!set_weights(job, step, e, error)) {
        return FALSE;
    }
    if (step->i + 1 == step->chain->n) {
        memcpy(result->gradient, g, width * sizeof *g);
    }
    row_products(job, (RowProducts){g, step->trace->v, rows, width, 0, e->products});
    for (gsize j = 0; j < result->n; j++) {
        float value = e->products[result->first + j] * e->weights[j];
        result->signed_sum[j] += value;
        result->positive[j] += MAX(value, 0);
    }
    return TRUE;
}

gboolean
limn_grad_eclip(LimnJob *job, LimnChain *chain, const float *target,
                LimnSimilarity similarity, gsize first, LimnGradEclip *result,
                GError **error)
{
    LimnPass *pass = chain->pass;
    gsize p = (gsize) pass->tower->embedding;
    memset(result, 0, sizeof *result);
    result->first = first;
    result->n = pass->rows - first;
    g_autoptr(LimnFloats) gf = limn_floats_new(p, 1, error);
    g_autoptr(LimnFloats) products = limn_floats_new(pass->rows, 1, error);
    g_autoptr(LimnFloats) weights = limn_floats_new(result->n, 1, error);
    result->gradient = limn_floats_new((gsize) pass->tower->config.width, 1, error);
    result->signed_sum = limn_floats_new(result->n, 1, error);
    result->positive = limn_floats_new(result->n, 1, error);
    if (gf == NULL || products == NULL || weights == NULL || result->gradient == NULL ||
        result->signed_sum == NULL || result->positive == NULL) {
        return FALSE;
    }
    memset(result->signed_sum, 0, result->n * sizeof(float));
    memset(result->positive, 0, result->n * sizeof(float));
    result->score = limn_cosine_gradient(chain->f, target, p, gf);
    Explaining e = {similarity, result, products, weights};
    return limn_chain_backward(job, chain, gf, add_block, &e, NULL, error);
}

double
limn_grad_eclip_tokens(const LimnGradEclip *result, gsize end, float *tokens)
{
    double sum = 0;
    for (gsize j = 1; j < end; j++) {
        float value = result->signed_sum[j - result->first];
        tokens[j - 1] = MAX(value, 0);
        sum += (double) tokens[j - 1];
    }
    for (gsize j = 1; j < end && sum > 0; j++) {
        tokens[j - 1] = (float) ((double) tokens[j - 1] / sum);
    }
    return sum;
}

gboolean
limn_explain_grad_eclip(const LimnExplainContext *context, LimnExplanation *explanation,
                        GError **error)
{
    const LimnExplainOptions *options = context->options;
    LimnChain *chain = limn_explain_get_chain(context, context->explainer->pass,
                                              options->mode == LIMN_MODE_AUTHORS,
                                              options->layers, error);
    g_auto(LimnGradEclip) result = {0};
    if (chain == NULL || !limn_grad_eclip(context->job, chain, context->text,
                                          options->similarity, 1, &result, error)) {
        return FALSE;
    }
    explanation->mode_score = result.score;
    return limn_explanation_set_map(context, explanation, result.positive, FALSE,
                                    error) &&
           limn_explanation_set_map(context, explanation, result.signed_sum, TRUE, error);
}

gboolean
limn_explain_grad_eclip_text(const LimnExplainContext *context,
                             LimnExplanation *explanation, GError **error)
{
    const LimnExplainOptions *options = context->options;
    LimnChain *chain = limn_explain_get_chain(context, context->text_pass,
                                              options->mode == LIMN_MODE_AUTHORS,
                                              options->text_layers, error);
    g_auto(LimnGradEclip) result = {0};
    if (chain == NULL || !limn_grad_eclip(context->job, chain, context->image,
                                          options->similarity, 0, &result, error)) {
        return FALSE;
    }
    if (explanation->map == NULL) {
        explanation->mode_score = result.score;
    }
    g_autoptr(LimnFloats) tokens = limn_floats_new(MAX(context->end, 1), 1, error);
    if (tokens == NULL) {
        return FALSE;
    }
    limn_grad_eclip_tokens(&result, context->end, tokens);
    return limn_explanation_set_tokens(context, explanation, tokens, FALSE, error);
}
