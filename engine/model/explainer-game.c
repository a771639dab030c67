// SPDX-License-Identifier: GPL-3.0-or-later

// GAME. The pool row of R is enough: r = e (I + C_last) ... (I + C_first), taken along on
// the way back through the blocks. Always the model's own heads.

#include <string.h>

#include "engine/model/explainer-attention.h"
#include "engine/model/explainer-private.h"

typedef struct {
    float *relevance, *pushed; // [rows]
} Game;

static gboolean
push_block(LimnJob *job, const LimnBackStep *step, gpointer data, GError **error)
{
    Game *game = data;
    const LimnBlockTrace *trace = step->trace;
    const float one = 1;
    limn_attention_push(job, &step->shape, LIMN_ATTENTION_RELEVANT, trace->q, trace->k,
                        trace->v, step->go,
                        step->shape.pool != NULL ? &one : game->relevance, game->pushed);
    limn_kernel_add(NULL, trace->rows, game->pushed, game->relevance);
    return limn_job_check(job, error);
}

gboolean
limn_game(LimnJob *job, LimnChain *chain, const float *target, double scale,
          float *relevance, GError **error)
{
    LimnPass *pass = chain->pass;
    gsize p = (gsize) pass->tower->embedding;
    g_autoptr(LimnFloats) gf = limn_floats_new(p, 1, error);
    g_autoptr(LimnFloats) pushed = limn_floats_new(pass->rows, 1, error);
    if (gf == NULL || pushed == NULL) {
        return FALSE;
    }
    memset(relevance, 0, pass->rows * sizeof *relevance);
    relevance[pass->pool] = 1;
    limn_cosine_gradient(chain->f, target, p, gf);
    for (gsize i = 0; i < p; i++) {
        gf[i] = (float) ((double) gf[i] * scale);
    }
    Game game = {relevance, pushed};
    return limn_chain_backward(job, chain, gf, push_block, &game, NULL, error);
}

static LimnFloats *
run_game(const LimnExplainContext *context, LimnPass *pass, int layers,
         const float *target, GError **error)
{
    LimnChain *chain = limn_explain_get_chain(context, pass, FALSE, layers, error);
    g_autoptr(LimnFloats) relevance =
        chain != NULL ? limn_floats_new(pass->rows, 1, error) : NULL;
    if (relevance == NULL ||
        !limn_game(context->job, chain, target,
                   (double) context->explainer->clip->logit_scale, relevance, error)) {
        return NULL;
    }
    return g_steal_pointer(&relevance);
}

gboolean
limn_explain_game(const LimnExplainContext *context, LimnExplanation *explanation,
                  GError **error)
{
    g_autoptr(LimnFloats) relevance =
        run_game(context, context->explainer->pass, context->options->layers,
                 context->text, error);
    return relevance != NULL &&
           limn_explanation_set_map(context, explanation, relevance + 1, FALSE, error);
}

gboolean
limn_explain_game_text(const LimnExplainContext *context, LimnExplanation *explanation,
                       GError **error)
{
    g_autoptr(LimnFloats) relevance =
        run_game(context, context->text_pass, context->options->text_layers,
                 context->image, error);
    return relevance != NULL &&
           limn_explanation_set_tokens(context, explanation, relevance + 1, TRUE, error);
}
