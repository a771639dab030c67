// SPDX-License-Identifier: GPL-3.0-or-later

// Keys image.I.tJ.MODE.nK.WHAT and text[_PADDING].tI.imgJ.MODE.nK.WHAT of a model case,
// and the scalars with the same beginnings.

#include <string.h>

#include "engine/base/error.h"
#include "engine/image/resample.h"
#include "engine/model/clip-private.h"
#include "engine/model/explainer-attention.h"
#include "engine/model/explainer-features.h"
#include "engine/model/explainer-grad-eclip.h"
#include "golden-clip-case.h"

// A key taken apart.
typedef struct {
    gboolean image; // else text side
    gboolean authors;
    int layers;
    char *what; // "raw.map"
    LimnPass *pass;
    LimnChain *chain;
    float *target;             // unit embedding of the other side
    gsize end;                 // text side: row of the end token
    gsize columns;             // text side: length of cos_qk, w_spatial, signed
    int gh, gw, height, width; // image side
} Key;

static void
key_clear(Key *k)
{
    g_clear_pointer(&k->what, g_free);
    g_clear_pointer(&k->target, free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Key, key_clear)

static gboolean
unknown(const char *key, GError **error)
{
    limn_clip_case_unknown(key, error);
    return FALSE;
}

static gboolean
set_image(LimnClipCase *c, Key *k, const char *name, GError **error)
{
    const LimnArray *pixels = strcmp(name, "keep") == 0 ? c->pixels_keep : c->pixels;
    k->height = (int) pixels->shape[2];
    k->width = (int) pixels->shape[3];
    return limn_clip_check_size(c->clip, k->height, k->width, &k->gh, &k->gw, error);
}

// parts: image, I, tJ, MODE, nK, WHAT
static gboolean
set_passes(LimnClipCase *c, Key *k, char **parts, const char *key, GError **error)
{
    const char *padding = strcmp(parts[0], "text_eotpad") == 0      ? " end"
                          : strcmp(parts[0], "text_validonly") == 0 ? " valid"
                                                                    : "";
    const char *text = k->image ? parts[2] : parts[1];
    const char *image = k->image ? parts[1] : parts[2];
    gboolean pictures = g_str_has_prefix(image, "img") || strcmp(image, "keep") == 0;
    if (!pictures || text[0] != 't' || strchr(text, ' ') != NULL) {
        return unknown(key, error);
    }
    g_autofree char *sentence = g_strconcat(text, padding, NULL);
    LimnPass *texts = limn_clip_case_get_pass(c, sentence, error);
    LimnPass *images = texts != NULL ? limn_clip_case_get_pass(c, image, error) : NULL;
    if (images == NULL) {
        return FALSE;
    }
    k->pass = k->image ? images : texts;
    k->end = texts->pool;
    k->columns = texts->rows;
    k->target = limn_clip_case_dup_unit(c, k->image ? texts : images, error);
    return k->target != NULL && set_image(c, k, image, error);
}

static gboolean
parse_key(LimnClipCase *c, const char *key, Key *k, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(key, ".", 6);
    memset(k, 0, sizeof *k);
    if (g_strv_length(parts) != 6 ||
        (strcmp(parts[3], "mh") != 0 && strcmp(parts[3], "sh") != 0) ||
        parts[4][0] != 'n') {
        return unknown(key, error);
    }
    k->image = strcmp(parts[0], "image") == 0;
    k->authors = strcmp(parts[3], "sh") == 0;
    k->what = g_strdup(parts[5]);
    if (!set_passes(c, k, parts, key, error)) {
        return FALSE;
    }
    guint64 layers;
    if (!g_ascii_string_to_unsigned(parts[4] + 1, 10, 1,
                                    (guint64) k->pass->tower->config.layers, &layers,
                                    NULL)) {
        return unknown(key, error);
    }
    k->layers = (int) layers;
    k->chain = limn_pass_get_chain(c->job, k->pass, k->authors, k->layers, error);
    return k->chain != NULL;
}

static LimnArray *
vector_of(const float *values, gsize n, GError **error)
{
    LimnArray *out = limn_array_new_f32_1d((gint64) n, error);
    if (out != NULL) {
        memcpy(out->data, values, n * sizeof *values);
    }
    return out;
}

static LimnArray *
grid_of(const Key *k, const float *values, GError **error)
{
    LimnArray *out = limn_array_new_f32_2d(k->gh, k->gw, error);
    if (out != NULL) {
        memcpy(out->data, values, (gsize) out->length * sizeof *values);
    }
    return out;
}

// Min-max of the map, at the grid's size or at the picture's.
static LimnArray *
display_of(const Key *k, const float *map, gboolean enlarged, GError **error)
{
    int height = enlarged ? k->height : k->gh, width = enlarged ? k->width : k->gw;
    LimnRect rect = {0, 0, (double) width, (double) height};
    LimnArray *out = limn_array_new_f32_2d(height, width, error);
    if (out != NULL) {
        limn_display_map(map, k->gh, k->gw, &rect, limn_array_f32(out), height, width);
    }
    return out;
}

static LimnArray *
token_map(const Key *k, const LimnGradEclip *result, GError **error)
{
    LimnArray *out = limn_array_new_f32_1d((gint64) k->end - 1, error);
    if (out != NULL) {
        limn_grad_eclip_tokens(result, k->end, limn_array_f32(out));
    }
    return out;
}

static gboolean
run_grad_eclip(LimnClipCase *c, const Key *k, LimnSimilarity similarity,
               LimnGradEclip *result, GError **error)
{
    return limn_grad_eclip(c->job, k->chain, k->target, similarity, k->image ? 1 : 0,
                           result, error);
}

// WHAT behind raw. or out.
static LimnArray *
eclip_part(const Key *k, const char *key, const char *part, const LimnGradEclip *r,
           GError **error)
{
    gboolean one = k->layers == 1;
    if (one && strcmp(part, "cos_qk") == 0) {
        return vector_of(r->cosines, r->n, error);
    }
    if (strcmp(part, "w_spatial") == 0 && one) {
        return vector_of(r->weights, r->n, error);
    }
    if (strcmp(part, "signed") == 0 && one) {
        return k->image ? grid_of(k, r->signed_sum, error)
                        : vector_of(r->signed_sum, r->n, error);
    }
    if (strcmp(part, "map") == 0 && k->image) {
        return grid_of(k, r->positive, error);
    }
    if (k->image && one && (strcmp(part, "norm") == 0 || strcmp(part, "resized") == 0)) {
        return display_of(k, r->positive, part[0] == 'r', error);
    }
    if (strcmp(part, "token_map") == 0 && !k->image) {
        return token_map(k, r, error);
    }
    return limn_clip_case_unknown(key, error);
}

static LimnArray *
compute_eclip(LimnClipCase *c, const Key *k, const char *key, GError **error)
{
    g_auto(LimnGradEclip) result = {0};
    gboolean raw = g_str_has_prefix(k->what, "raw.");
    gboolean similar = raw || g_str_has_prefix(k->what, "out.");
    gboolean gradient =
        k->layers == 1 && strcmp(k->what, k->image ? "grad_cls" : "grad_eos") == 0;
    gboolean plain = k->image && k->layers == 1 && strcmp(k->what, "noksim.map") == 0;
    if (!similar && !gradient && !plain) {
        return limn_clip_case_unknown(key, error);
    }
    LimnSimilarity similarity = raw       ? LIMN_SIMILARITY_RAW
                                : similar ? LIMN_SIMILARITY_OUT
                                          : LIMN_SIMILARITY_NONE;
    if (!run_grad_eclip(c, k, similarity, &result, error)) {
        return NULL;
    }
    if (similar) {
        return eclip_part(k, key, k->what + 4, &result, error);
    }
    return plain
               ? grid_of(k, result.positive, error)
               : vector_of(result.gradient, (gsize) k->pass->tower->config.width, error);
}

static LimnArray *
compute_maskclip(LimnClipCase *c, const Key *k, GError **error)
{
    gsize n = (gsize) k->gh * (gsize) k->gw, p = (gsize) c->clip->config.projection;
    g_autoptr(LimnFloats) features = limn_floats_new(n, p, error);
    g_autoptr(LimnFloats) keys = limn_floats_new(n, 1, error);
    if (features == NULL || keys == NULL ||
        !limn_maskclip_features(c->job, k->chain, features, keys, error)) {
        return NULL;
    }
    for (gsize i = 0; i < n; i++) {
        keys[i] *= (float) limn_kernel_dot(features + i * p, k->target, p);
    }
    return grid_of(k, keys, error);
}

// GAME and rollout over the last block (the chain at hand) or all blocks.
static gboolean
compute_relevance(LimnClipCase *c, const Key *k, gboolean game, gboolean all, float *out,
                  GError **error)
{
    LimnChain *chain = all ? limn_pass_get_chain(c->job, k->pass, FALSE,
                                                 k->pass->tower->config.layers, error)
                           : k->chain;
    if (chain == NULL) {
        return FALSE;
    }
    return game ? limn_game(c->job, chain, k->target,
                            (double) limn_clip_get_logit_scale(c->clip), out, error)
                : limn_rollout(c->job, chain, out, error);
}

static gboolean
is_relevance(const Key *k, gboolean *game, gboolean *all)
{
    const char *end = k->image ? ".map" : ".row";
    *game = g_str_has_prefix(k->what, "game_");
    if (!*game && !(k->image && g_str_has_prefix(k->what, "rollout_"))) {
        return FALSE;
    }
    const char *rest = strchr(k->what, '_') + 1;
    *all = g_str_has_prefix(rest, "all");
    return (*all || g_str_has_prefix(rest, "last")) &&
           strcmp(rest + (*all ? 3 : 4), end) == 0;
}

// Comparison methods, of the last block only.
static LimnArray *
compute_method(LimnClipCase *c, const Key *k, gboolean *known, GError **error)
{
    g_autoptr(LimnFloats) rows = limn_floats_new(k->pass->rows, 1, error);
    gboolean game, all, done = FALSE;
    *known = TRUE;
    if (rows == NULL) {
        return NULL;
    }
    if (strcmp(k->what, k->image ? "selfattn.map" : "selfattn.token_map") == 0) {
        done = limn_chain_get_attention(c->job, k->chain, rows, error);
    } else if (k->image && strcmp(k->what, "gradcam.map") == 0) {
        done = limn_grad_cam(c->job, k->chain, k->target, rows, error);
        for (gsize i = 0; i < k->pass->rows; i++) {
            rows[i] = MAX(rows[i], 0);
        }
    } else if (k->image && strcmp(k->what, "maskclip.map") == 0) {
        return compute_maskclip(c, k, error);
    } else if (!k->authors && is_relevance(k, &game, &all)) {
        done = compute_relevance(c, k, game, all, rows, error);
        if (done && !k->image) {
            return vector_of(rows, k->columns, error);
        }
    } else {
        *known = FALSE;
    }
    if (!done) {
        return NULL;
    }
    return k->image ? grid_of(k, rows + 1, error)
                    : vector_of(rows + 1, k->end - 1, error);
}

LimnArray *
limn_clip_case_compute_explanation(LimnClipCase *c, const char *key, GError **error)
{
    g_auto(Key) k = {0};
    gboolean known = FALSE;
    if (!parse_key(c, key, &k, error)) {
        return NULL;
    }
    if (k.layers == 1) {
        LimnArray *out = compute_method(c, &k, &known, error);
        if (known) {
            return out;
        }
    }
    return compute_eclip(c, &k, key, error);
}

gboolean
limn_clip_case_compute_scalar(LimnClipCase *c, const char *key, double *value,
                              GError **error)
{
    g_auto(Key) k = {0};
    g_auto(LimnGradEclip) result = {0};
    if (!parse_key(c, key, &k, error)) {
        return FALSE;
    }
    gboolean sum = strcmp(k.what, "raw.sum") == 0 || strcmp(k.what, "out.sum") == 0;
    if (!(sum && !k.image) && strcmp(k.what, "score") != 0) {
        return unknown(key, error);
    }
    if (!run_grad_eclip(c, &k,
                        k.what[0] == 'o' ? LIMN_SIMILARITY_OUT : LIMN_SIMILARITY_RAW,
                        &result, error)) {
        return FALSE;
    }
    *value = result.score;
    if (sum) {
        g_autoptr(LimnFloats) tokens = limn_floats_new(k.end, 1, error);
        if (tokens == NULL) {
            return FALSE;
        }
        *value = limn_grad_eclip_tokens(&result, k.end, tokens);
    }
    return TRUE;
}
