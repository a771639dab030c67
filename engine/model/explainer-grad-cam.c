// SPDX-License-Identifier: GPL-3.0-or-later

// Grad-CAM on the input of the last block. The class token takes part in the channel
// weights (a mean over all rows), never in the map.

#include "engine/model/explainer-attention.h"
#include "engine/model/explainer-private.h"

static gboolean
pass_by(LimnJob *job, const LimnBackStep *step, gpointer data, GError **error)
{
    return TRUE;
}

// cam[i] = F_i . mean over rows of gx
static gboolean
weigh_channels(const float *features, const float *gx, gsize rows, gsize width,
               float *cam, GError **error)
{
    g_autoptr(LimnFloats) weights = limn_floats_new(width, 1, error);
    if (weights == NULL) {
        return FALSE;
    }
    for (gsize c = 0; c < width; c++) {
        double sum = 0;
        for (gsize i = 0; i < rows; i++) {
            sum += (double) gx[i * width + c];
        }
        weights[c] = (float) (sum / (double) rows);
    }
    for (gsize i = 0; i < rows; i++) {
        cam[i] = (float) limn_kernel_dot(features + i * width, weights, width);
    }
    return TRUE;
}

gboolean
limn_grad_cam(LimnJob *job, LimnChain *chain, const float *target, float *cam,
              GError **error)
{
    LimnPass *pass = chain->pass;
    gsize p = (gsize) pass->tower->embedding, width = (gsize) pass->tower->config.width;
    g_autoptr(LimnFloats) gf = limn_floats_new(p, 1, error);
    g_autoptr(LimnFloats) gx = limn_floats_new(pass->rows, width, error);
    if (gf == NULL || gx == NULL) {
        return FALSE;
    }
    limn_cosine_gradient(chain->f, target, p, gf);
    return limn_chain_backward(job, chain, gf, pass_by, NULL, gx, error) &&
           weigh_channels(chain->x[0], gx, pass->rows, width, cam, error);
}

gboolean
limn_explain_grad_cam(const LimnExplainContext *context, LimnExplanation *explanation,
                      GError **error)
{
    LimnPass *pass = context->explainer->pass;
    LimnChain *chain = limn_explain_get_chain(
        context, pass, context->options->mode == LIMN_MODE_AUTHORS, 1, error);
    g_autoptr(LimnFloats) cam =
        chain != NULL ? limn_floats_new(pass->rows, 1, error) : NULL;
    if (cam == NULL || !limn_grad_cam(context->job, chain, context->text, cam, error)) {
        return FALSE;
    }
    limn_explanation_set_score(context, explanation, chain);
    return limn_explanation_set_rectified(context, explanation, cam + 1, error);
}
