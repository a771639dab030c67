// SPDX-License-Identifier: GPL-3.0-or-later

// Raw self-attention of the last block, mean over heads: what the pool row looks at. The
// same for every sentence (picture) or picture (sentence).

#include "engine/model/explainer-attention.h"
#include "engine/model/explainer-private.h"

gboolean
limn_chain_get_attention(LimnJob *job, LimnChain *chain, float *attention, GError **error)
{
    const LimnBlockTrace *trace = chain->traces[chain->n - 1];
    LimnAttention shape = limn_pass_get_shape(chain->pass, chain->authors, TRUE);
    const float one = 1;
    limn_attention_push(job, &shape, LIMN_ATTENTION_MEAN, trace->q, trace->k, NULL, NULL,
                        &one, attention);
    return limn_job_check(job, error);
}

// The attention of the last block of a pass, all rows.
static LimnFloats *
get_attention(const LimnExplainContext *context, LimnPass *pass, LimnChain **chain,
              GError **error)
{
    *chain = limn_explain_get_chain(
        context, pass, context->options->mode == LIMN_MODE_AUTHORS, 1, error);
    g_autoptr(LimnFloats) attention =
        *chain != NULL ? limn_floats_new(pass->rows, 1, error) : NULL;
    if (attention == NULL ||
        !limn_chain_get_attention(context->job, *chain, attention, error)) {
        return NULL;
    }
    return g_steal_pointer(&attention);
}

gboolean
limn_explain_self_attention(const LimnExplainContext *context,
                            LimnExplanation *explanation, GError **error)
{
    LimnChain *chain;
    g_autoptr(LimnFloats) attention =
        get_attention(context, context->explainer->pass, &chain, error);
    if (attention == NULL) {
        return FALSE;
    }
    limn_explanation_set_score(context, explanation, chain);
    return limn_explanation_set_map(context, explanation, attention + 1, FALSE, error);
}

gboolean
limn_explain_self_attention_text(const LimnExplainContext *context,
                                 LimnExplanation *explanation, GError **error)
{
    LimnChain *chain;
    g_autoptr(LimnFloats) attention =
        get_attention(context, context->text_pass, &chain, error);
    return attention != NULL &&
           limn_explanation_set_tokens(context, explanation, attention + 1, FALSE, error);
}
