// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <string.h>

#include "engine/model/explainer-features.h"
#include "engine/model/explainer-grad-eclip.h"
#include "engine/model/explainer-private.h"

// u = x + v Wo + b, y = u + mlp(LN2(u)) for the patches; y [rows, C] replaces x's copy.
static gboolean
run_values(LimnJob *job, LimnChain *chain, const LimnBlockTrace *trace, float *y,
           GError **error)
{
    const LimnTower *tower = chain->pass->tower;
    const LimnBlock *block = &tower->blocks[tower->config.layers - 1];
    gsize width = (gsize) tower->config.width, mlp = (gsize) tower->config.mlp;
    gsize n = trace->rows - 1;
    const float *v = trace->v + width, *x = trace->x + width;
    g_autoptr(LimnFloats) a = limn_floats_new(n, width, error);
    g_autoptr(LimnFloats) u = limn_floats_new(n, width, error);
    g_autoptr(LimnFloats) h = limn_floats_new(n, mlp, error);
    if (a == NULL || u == NULL || h == NULL) {
        return FALSE;
    }
    limn_kernel_linear(job, n, width, width, v, block->out.weight, block->out.bias, u);
    limn_kernel_add(job, n * width, x, u);
    limn_kernel_layer_norm(job, n, width, u, block->norm2.gain, block->norm2.offset,
                           tower->config.eps, a);
    limn_kernel_linear(job, n, width, mlp, a, block->fc1.weight, block->fc1.bias, h);
    limn_kernel_activation(job, tower->config.activation, n * mlp, h, h);
    limn_kernel_linear(job, n, mlp, width, h, block->fc2.weight, block->fc2.bias, y);
    limn_kernel_add(job, n * width, u, y);
    return limn_job_check(job, error);
}

gboolean
limn_maskclip_features(LimnJob *job, LimnChain *chain, float *features,
                       float *key_cosines, GError **error)
{
    const LimnTower *tower = chain->pass->tower;
    const LimnBlock *block = &tower->blocks[tower->config.layers - 1];
    const LimnBlockTrace *trace = chain->traces[chain->n - 1];
    gsize width = (gsize) tower->config.width, p = (gsize) tower->embedding;
    gsize rows = trace->rows;
    g_autoptr(LimnFloats) y = limn_floats_new(rows, width, error);
    if (y == NULL || !run_values(job, chain, trace, y, error) ||
        !limn_tower_project(job, tower, rows - 1, y, features, error)) {
        return FALSE;
    }
    for (gsize i = 0; i + 1 < rows; i++) {
        limn_unit_vector(features + i * p, p, features + i * p);
    }
    // y now takes the keys after the output projection.
    limn_kernel_linear(job, rows, width, width, trace->k, block->out.weight,
                       block->out.bias, y);
    double norm = sqrt(limn_kernel_dot(y, y, width));
    for (gsize i = 1; i < rows; i++) {
        const float *k = y + i * width;
        double length = norm * sqrt(limn_kernel_dot(k, k, width));
        key_cosines[i - 1] =
            length > 0 ? (float) (limn_kernel_dot(y, k, width) / length) : 0;
    }
    return limn_job_check(job, error);
}

static gboolean
fill_cache(const LimnExplainContext *context, LimnPictureCache *cache, GError **error)
{
    LimnPass *pass = context->explainer->pass;
    LimnChain *chain = limn_explain_get_chain(context, pass, FALSE, 1, error);
    g_autoptr(LimnFloats) features =
        limn_floats_new(context->n, (gsize) pass->tower->embedding, error);
    g_autoptr(LimnFloats) keys = limn_floats_new(context->n, 1, error);
    if (chain == NULL || features == NULL || keys == NULL ||
        !limn_maskclip_features(context->job, chain, features, keys, error)) {
        return FALSE;
    }
    cache->maskclip = g_steal_pointer(&features);
    cache->maskclip_key = g_steal_pointer(&keys);
    return TRUE;
}

gboolean
limn_explain_maskclip(const LimnExplainContext *context, LimnExplanation *explanation,
                      GError **error)
{
    LimnPictureCache *cache = &context->explainer->cache;
    gsize p = (gsize) context->explainer->clip->config.projection;
    g_autoptr(LimnFloats) map = limn_floats_new(context->n, 1, error);
    if (map == NULL || (cache->maskclip == NULL && !fill_cache(context, cache, error))) {
        return FALSE;
    }
    for (gsize i = 0; i < context->n; i++) {
        map[i] = (float) (limn_kernel_dot(cache->maskclip + i * p, context->text, p) *
                          (double) cache->maskclip_key[i]);
    }
    return limn_explanation_set_map(context, explanation, map, FALSE, error) &&
           limn_explanation_set_map(context, explanation, map, TRUE, error);
}
