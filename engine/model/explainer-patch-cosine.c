// SPDX-License-Identifier: GPL-3.0-or-later

// Cosine of every patch's final feature with the sentence. Famous for inverted maps.

#include <string.h>

#include "engine/model/explainer-features.h"
#include "engine/model/explainer-private.h"

gboolean
limn_patch_features(LimnJob *job, LimnChain *chain, float *features, GError **error)
{
    LimnPass *pass = chain->pass;
    const LimnTower *tower = pass->tower;
    LimnAttention shape = limn_pass_get_shape(pass, chain->authors, FALSE);
    gsize p = (gsize) tower->embedding, width = shape.width;
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &shape, error);
    g_autoptr(LimnFloats) y = limn_floats_new(pass->rows, width, error);
    if (trace == NULL || y == NULL ||
        !limn_block_scratch_init(&scratch, tower, &shape, error)) {
        return FALSE;
    }
    limn_block_forward(job, tower, tower->config.layers - 1, &shape,
                       chain->x[chain->n - 1], trace, &scratch, y);
    if (!limn_tower_project(job, tower, pass->rows - 1, y + width, features, error)) {
        return FALSE;
    }
    for (gsize i = 0; i + 1 < pass->rows; i++) {
        limn_unit_vector(features + i * p, p, features + i * p);
    }
    return limn_job_check(job, error);
}

gboolean
limn_explain_patch_cosine(const LimnExplainContext *context, LimnExplanation *explanation,
                          GError **error)
{
    LimnExplainer *explainer = context->explainer;
    gboolean authors = context->options->mode == LIMN_MODE_AUTHORS;
    float **features = &explainer->cache.patches[authors];
    gsize p = (gsize) explainer->clip->config.projection;
    LimnChain *chain =
        limn_explain_get_chain(context, explainer->pass, authors, 1, error);
    g_autoptr(LimnFloats) map = limn_floats_new(context->n, 1, error);
    if (chain == NULL || map == NULL) {
        return FALSE;
    }
    if (*features == NULL) {
        g_autoptr(LimnFloats) made = limn_floats_new(context->n, p, error);
        if (made == NULL || !limn_patch_features(context->job, chain, made, error)) {
            return FALSE;
        }
        *features = g_steal_pointer(&made);
    }
    for (gsize i = 0; i < context->n; i++) {
        map[i] = (float) limn_kernel_dot(*features + i * p, context->text, p);
    }
    limn_explanation_set_score(context, explanation, chain);
    return limn_explanation_set_map(context, explanation, map, FALSE, error) &&
           limn_explanation_set_map(context, explanation, map, TRUE, error);
}
