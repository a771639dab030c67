// SPDX-License-Identifier: GPL-3.0-or-later

// What one patch contributes, for the pointer over a map. The sentence that was explained
// last is not encoded again.

#include "engine/base/error.h"
#include "engine/model/explainer-attention.h"
#include "engine/model/explainer-grad-eclip.h"
#include "engine/model/explainer-private.h"

static gboolean
check_patch(const LimnExplainer *explainer, int row, int col, GError **error)
{
    if (explainer->pass == NULL) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                            "there is no picture to explain");
        return FALSE;
    }
    if (row < 0 || col < 0 || row >= explainer->gh || col >= explainer->gw) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "there is no patch at row %d, column %d (expected up to %d, %d)", row,
                    col, explainer->gh - 1, explainer->gw - 1);
        return FALSE;
    }
    return TRUE;
}

// Unit embedding [P] of a sentence.
static float *
embed_text(LimnExplainer *explainer, const char *text, GError **error)
{
    gsize p = (gsize) explainer->clip->config.projection;
    LimnPass *pass = limn_explainer_record_text(explainer, text, NULL, error);
    float *unit = pass != NULL ? limn_floats_new(p, 1, error) : NULL;
    if (unit != NULL) {
        limn_unit_vector(limn_pass_get_embedding(pass), p, unit);
    }
    return unit;
}

gboolean
limn_explainer_query_patch(LimnExplainer *explainer, const LimnExplainOptions *options,
                           const char *text, int row, int col, LimnPatchInfo *info,
                           GError **error)
{
    if (!check_patch(explainer, row, col, error)) {
        return FALSE;
    }
    LimnPass *pass = explainer->pass;
    LimnExplainContext context = {.explainer = explainer, .options = options};
    g_autoptr(LimnFloats) unit = embed_text(explainer, text, error);
    LimnChain *chain =
        unit != NULL
            ? limn_explain_get_chain(&context, pass, options->mode == LIMN_MODE_AUTHORS,
                                     options->layers, error)
            : NULL;
    g_autoptr(LimnFloats) attention =
        chain != NULL ? limn_floats_new(pass->rows, 1, error) : NULL;
    g_auto(LimnGradEclip) result = {0};
    if (attention == NULL ||
        !limn_grad_eclip(NULL, chain, unit, options->similarity, 1, &result, error) ||
        !limn_chain_get_attention(NULL, chain, attention, error)) {
        return FALSE;
    }
    gsize i = (gsize) row * (gsize) explainer->gw + (gsize) col;
    LimnSimilarity similarity = options->similarity == LIMN_SIMILARITY_OUT
                                    ? LIMN_SIMILARITY_OUT
                                    : LIMN_SIMILARITY_RAW;
    const float *cosines =
        limn_chain_get_cosines(NULL, chain, chain->n - 1, similarity, error);
    if (cosines == NULL) {
        return FALSE;
    }
    info->contribution = (double) result.signed_sum[i];
    info->weight = result.weights != NULL ? (double) result.weights[i] : 1;
    info->cosine = (double) cosines[i + 1];
    info->attention = (double) attention[i + 1];
    return TRUE;
}
