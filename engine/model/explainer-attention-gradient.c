// SPDX-License-Identifier: GPL-3.0-or-later

// Attention times its gradient in the last block: sum over heads of A_0i dS/dA_0i, the
// exact first order of the score in the patches' shares of attention.

#include "engine/model/explainer-attention.h"
#include "engine/model/explainer-private.h"

static gboolean
multiply(LimnJob *job, const LimnBackStep *step, gpointer data, GError **error)
{
    const LimnBlockTrace *trace = step->trace;
    const float one = 1;
    limn_attention_push(job, &step->shape, LIMN_ATTENTION_GRADIENT, trace->q, trace->k,
                        trace->v, step->go, &one, data);
    return limn_job_check(job, error);
}

gboolean
limn_attention_gradient(LimnJob *job, LimnChain *chain, const float *target,
                        float *product, GError **error)
{
    gsize p = (gsize) chain->pass->tower->embedding;
    g_return_val_if_fail(chain->n == 1, FALSE);
    g_autoptr(LimnFloats) gf = limn_floats_new(p, 1, error);
    if (gf == NULL) {
        return FALSE;
    }
    limn_cosine_gradient(chain->f, target, p, gf);
    return limn_chain_backward(job, chain, gf, multiply, product, NULL, error);
}

gboolean
limn_explain_attention_gradient(const LimnExplainContext *context,
                                LimnExplanation *explanation, GError **error)
{
    LimnPass *pass = context->explainer->pass;
    LimnChain *chain = limn_explain_get_chain(
        context, pass, context->options->mode == LIMN_MODE_AUTHORS, 1, error);
    g_autoptr(LimnFloats) product =
        chain != NULL ? limn_floats_new(pass->rows, 1, error) : NULL;
    if (product == NULL ||
        !limn_attention_gradient(context->job, chain, context->text, product, error)) {
        return FALSE;
    }
    limn_explanation_set_score(context, explanation, chain);
    return limn_explanation_set_rectified(context, explanation, product + 1, error);
}
