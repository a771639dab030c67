// SPDX-License-Identifier: GPL-3.0-or-later

// Attention rollout. Only the pool row of the product is wanted: a row vector goes
// through the matrices from the last block to the first. Always the model's own heads.

#include <string.h>

#include "engine/model/explainer-attention.h"
#include "engine/model/explainer-private.h"

gboolean
limn_rollout(LimnJob *job, LimnChain *chain, float *relevance, GError **error)
{
    LimnPass *pass = chain->pass;
    gsize rows = pass->rows;
    const float one = 1;
    g_autoptr(LimnFloats) pushed = limn_floats_new(rows, 1, error);
    if (pushed == NULL) {
        return FALSE;
    }
    memset(relevance, 0, rows * sizeof *relevance);
    relevance[pass->pool] = 1;
    for (int i = chain->n - 1; i >= 0; i--) {
        LimnQueries queries;
        if (!limn_chain_get_queries(job, chain, i, &queries, error)) {
            free(queries.memory);
            return FALSE;
        }
        limn_attention_push(job, &queries.shape, LIMN_ATTENTION_MEAN, queries.q,
                            queries.k, NULL, NULL,
                            queries.shape.pool != NULL ? &one : relevance, pushed);
        free(queries.memory);
        for (gsize j = 0; j < rows; j++) {
            relevance[j] = 0.5f * (relevance[j] + pushed[j]);
        }
        if (!limn_job_check(job, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
limn_explain_rollout(const LimnExplainContext *context, LimnExplanation *explanation,
                     GError **error)
{
    LimnPass *pass = context->explainer->pass;
    LimnChain *chain =
        limn_explain_get_chain(context, pass, FALSE, context->options->layers, error);
    g_autoptr(LimnFloats) relevance =
        chain != NULL ? limn_floats_new(pass->rows, 1, error) : NULL;
    return relevance != NULL && limn_rollout(context->job, chain, relevance, error) &&
           limn_explanation_set_map(context, explanation, relevance + 1, FALSE, error);
}
