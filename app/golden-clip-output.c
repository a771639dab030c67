// SPDX-License-Identifier: GPL-3.0-or-later

// Keys of a model case that no explanation has to do with: embeddings, scores, hidden
// states, CLIP Surgery, RISE.

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/image/resample.h"
#include "engine/model/clip-private.h"
#include "engine/model/explainer-features.h"
#include "engine/model/explainer-rise.h"
#include "golden-clip-case.h"

static void
normalise_rows(LimnArray *f)
{
    gsize p = (gsize) f->shape[1];
    for (gint64 i = 0; i < f->shape[0]; i++) {
        float *row = limn_array_f32(f) + (gsize) i * p;
        limn_unit_vector(row, p, row);
    }
}

// Image or text embeddings of the whole batch, of unit length on request.
static LimnArray *
embed(LimnClipCase *c, LimnClip *clip, gboolean text, gboolean unit, GError **error)
{
    LimnArray *f = text ? limn_clip_encode_ids(clip, c->ids, c->job, error)
                        : limn_clip_encode_pixels(clip, c->pixels, c->job, error);
    if (f != NULL && unit) {
        normalise_rows(f);
    }
    return f;
}

static void
softmax(double *row, gsize n)
{
    double top = -INFINITY, sum = 0;
    for (gsize j = 0; j < n; j++) {
        top = MAX(top, row[j]);
    }
    for (gsize j = 0; j < n; j++) {
        sum += row[j] = exp(row[j] - top);
    }
    for (gsize j = 0; j < n; j++) {
        row[j] /= sum;
    }
}

// Cosines, logits or probabilities of every picture over the texts.
static LimnArray *
score(LimnClipCase *c, const char *key, GError **error)
{
    g_autoptr(LimnArray) images = embed(c, c->clip, FALSE, TRUE, error);
    g_autoptr(LimnArray) texts =
        images != NULL ? embed(c, c->clip, TRUE, TRUE, error) : NULL;
    g_autoptr(LimnArray) out =
        texts != NULL ? limn_array_new_f32_2d(images->shape[0], texts->shape[0], error)
                      : NULL;
    if (out == NULL) {
        return NULL;
    }
    gsize n = (gsize) texts->shape[0], p = (gsize) texts->shape[1];
    gboolean scaled = strcmp(key, "cosine") != 0;
    g_autofree double *row = g_new(double, n);
    for (gsize i = 0; i < (gsize) images->shape[0]; i++) {
        for (gsize j = 0; j < n; j++) {
            row[j] = limn_kernel_dot(limn_array_f32(images) + i * p,
                                     limn_array_f32(texts) + j * p, p);
            if (scaled) {
                row[j] = (double) limn_clip_get_logit_scale(c->clip) * row[j] +
                         (double) limn_clip_get_logit_bias(c->clip);
            }
        }
        if (strcmp(key, "probs_per_image") == 0) {
            softmax(row, n);
        }
        for (gsize j = 0; j < n; j++) {
            limn_array_f32(out)[i * n + j] = (float) row[j];
        }
    }
    return g_steal_pointer(&out);
}

static LimnArray *
keep_output(LimnClipCase *c, const char *key, GError **error)
{
    LimnClip *clip = c->clip;
    int gh, gw;
    if (strcmp(key, "keep.image_features") == 0) {
        LimnPass *pass = limn_clip_case_get_pass(c, "keep", error);
        LimnArray *f =
            pass != NULL ? limn_array_new_f32_1d(clip->config.projection, error) : NULL;
        if (f != NULL) {
            memcpy(f->data, limn_pass_get_embedding(pass),
                   (gsize) f->length * sizeof(float));
        }
        return f;
    }
    if (strcmp(key, "keep.positional_embedding") != 0) {
        return limn_clip_case_unknown(key, error);
    }
    if (!limn_clip_check_size(clip, c->pixels_keep->shape[2], c->pixels_keep->shape[3],
                              &gh, &gw, error)) {
        return NULL;
    }
    gsize width = (gsize) clip->config.vision.width;
    LimnArray *table = limn_array_new_f32_2d(1 + (gint64) gh * gw, (gint64) width, error);
    if (table != NULL) {
        memcpy(table->data, clip->vision_positions, width * sizeof(float));
        limn_resize_positions(clip->vision_positions + width, clip->config.grid,
                              (int) width, limn_array_f32(table) + width, gh, gw, FALSE);
    }
    return table;
}

// Runs a whole tower and stops at block `layer`: its input (hidden) or its attention
// probabilities.
static LimnArray *
inspect(LimnClipCase *c, LimnPass *pass, int layer, gboolean attention, GError **error)
{
    const LimnTower *tower = pass->tower;
    LimnAttention shape = limn_pass_get_shape(pass, FALSE, FALSE);
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &shape, error);
    g_autoptr(LimnArray) x =
        limn_array_new_f32_2d((gint64) pass->rows, (gint64) shape.width, error);
    if (trace == NULL || x == NULL ||
        !limn_block_scratch_init(&scratch, tower, &shape, error)) {
        return NULL;
    }
    memcpy(x->data, pass->inputs[0], (gsize) x->length * sizeof(float));
    if (!limn_tower_run(c->job, tower, layer, &shape, limn_array_f32(x), error)) {
        return NULL;
    }
    if (!attention) {
        return g_steal_pointer(&x);
    }
    limn_block_forward(c->job, tower, layer, &shape, limn_array_f32(x), trace, &scratch,
                       NULL);
    LimnArray *out = limn_array_new_f32_3d((gint64) shape.heads, (gint64) pass->rows,
                                           (gint64) pass->rows, error);
    if (out != NULL) {
        limn_attention_probabilities(c->job, &shape, trace->q, trace->k,
                                     limn_array_f32(out));
    }
    return out;
}

// vision.hidden.L, vision.attn.L, textT.hidden.L, textT.attn.L
static LimnArray *
hidden_output(LimnClipCase *c, const char *key, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(key, ".", 0);
    g_autofree char *text = g_strdup_printf("text%d", c->hidden_text);
    gboolean vision = g_strcmp0(parts[0], "vision") == 0; // NULL for an empty key
    if (g_strv_length(parts) != 3 || (!vision && strcmp(parts[0], text) != 0)) {
        return limn_clip_case_unknown(key, error);
    }
    gboolean attention = strcmp(parts[1], "attn") == 0;
    guint64 layer;
    int layers = vision ? c->clip->config.vision.layers : c->clip->config.text.layers;
    if ((!attention && strcmp(parts[1], "hidden") != 0) ||
        !g_ascii_string_to_unsigned(parts[2], 10, 0, (guint64) layers - attention, &layer,
                                    NULL)) {
        return limn_clip_case_unknown(key, error);
    }
    g_autofree char *name = vision ? g_strdup_printf("img%d", c->hidden_image)
                                   : g_strdup_printf("t%d", c->hidden_text);
    LimnPass *pass = limn_clip_case_get_pass(c, name, error);
    return pass != NULL ? inspect(c, pass, (int) layer, attention, error) : NULL;
}

static LimnArray *
half_output(LimnClipCase *c, const char *key, GError **error)
{
    gboolean text = strcmp(key, "f16.text_features") == 0;
    if (!text && strcmp(key, "f16.image_features") != 0) {
        return limn_clip_case_unknown(key, error);
    }
    g_autofree char *path =
        g_build_filename(c->folder, "hf", "model_f16.safetensors", NULL);
    g_autoptr(LimnClip) half = limn_clip_open(path, 0, c->job, error);
    return half != NULL ? embed(c, half, text, FALSE, error) : NULL;
}

LimnArray *
limn_clip_case_compute_output(LimnClipCase *c, const char *key, GError **error)
{
    static const char *const scores[] = {"cosine", "logits_per_image", "probs_per_image",
                                         NULL};
    static const char *const embeddings[] = {"image_features", "text_features",
                                             "image_embeds", "text_embeds", NULL};
    if (g_strv_contains(embeddings, key)) {
        return embed(c, c->clip, g_str_has_prefix(key, "text"),
                     g_str_has_suffix(key, "embeds"), error);
    }
    if (g_strv_contains(scores, key)) {
        return score(c, key, error);
    }
    if (g_str_has_prefix(key, "keep.")) {
        return keep_output(c, key, error);
    }
    if (g_str_has_prefix(key, "f16.")) {
        return half_output(c, key, error);
    }
    return hidden_output(c, key, error);
}

// Features before normalisation, [1 + n, P].
static LimnArray *
surgery_features(LimnClipCase *c, GError **error)
{
    LimnClip *clip = c->clip;
    int layers = clip->config.vision.layers;
    g_autofree char *name = g_strdup_printf("img%d", c->surgery_image);
    LimnPass *pass = limn_clip_case_get_pass(c, name, error);
    if (pass == NULL) {
        return NULL;
    }
    if (c->surgery_depth < 1 || c->surgery_depth > layers) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "surgery_depth is %d (expected 1 to %d)", c->surgery_depth, layers);
        return NULL;
    }
    gsize width = (gsize) clip->config.vision.width;
    g_autoptr(LimnFloats) x = limn_floats_new(pass->rows, width, error);
    g_autoptr(LimnArray) f =
        limn_array_new_f32_2d((gint64) pass->rows, clip->config.projection, error);
    if (x == NULL || f == NULL) {
        return NULL;
    }
    memcpy(x, pass->inputs[layers - c->surgery_depth], pass->rows * width * sizeof *x);
    if (!limn_surgery_features(c->job, pass, c->surgery_depth, x, limn_array_f32(f),
                               error)) {
        return NULL;
    }
    return g_steal_pointer(&f);
}

// Patches of the similarity [1 + n, T], min-max per prompt -> [T, gh, gw].
static LimnArray *
surgery_maps(LimnClipCase *c, const LimnArray *similarity, GError **error)
{
    gsize n = (gsize) similarity->shape[0] - 1, t = (gsize) similarity->shape[1];
    gint64 side = c->clip->config.grid;
    LimnArray *maps = limn_array_new_f32_3d((gint64) t, side, side, error);
    g_autofree float *map = g_new(float, n + 1);
    LimnRect rect = {0, 0, (double) side, (double) side};
    for (gsize j = 0; maps != NULL && j < t; j++) {
        for (gsize i = 0; i < n; i++) {
            map[i] = limn_array_f32(similarity)[(i + 1) * t + j];
        }
        limn_display_map(map, (int) side, (int) side, &rect, limn_array_f32(maps) + j * n,
                         (int) side, (int) side);
    }
    return maps;
}

LimnArray *
limn_clip_case_compute_surgery(LimnClipCase *c, const char *key, GError **error)
{
    g_autofree char *prefix = g_strdup_printf("surgery.img%d.", c->surgery_image);
    if (!g_str_has_prefix(key, prefix)) {
        return limn_clip_case_unknown(key, error);
    }
    const char *rest = key + strlen(prefix);
    g_autoptr(LimnArray) f = surgery_features(c, error);
    g_autoptr(LimnArray) texts = f != NULL ? embed(c, c->clip, TRUE, TRUE, error) : NULL;
    if (texts == NULL) {
        return NULL;
    }
    if (strcmp(rest, "features_raw") == 0) {
        return g_steal_pointer(&f);
    }
    gboolean tokens = g_str_has_prefix(rest, "toknorm.");
    if (!tokens && !g_str_has_prefix(rest, "chnorm.")) {
        return limn_clip_case_unknown(key, error);
    }
    rest = strchr(rest, '.') + 1;
    gsize rows = (gsize) f->shape[0], p = (gsize) f->shape[1];
    limn_surgery_normalise(limn_array_f32(f), rows, p, tokens);
    if (strcmp(rest, "single_minus_redundant") == 0) {
        LimnArray *single = limn_array_new_f32_1d((gint64) rows, error);
        if (single != NULL) {
            limn_surgery_single(limn_array_f32(f), rows, p, limn_array_f32(texts),
                                limn_array_f32(texts) + (gsize) c->surgery_redundant * p,
                                limn_array_f32(single));
        }
        return single;
    }
    g_autoptr(LimnArray) similarity =
        limn_array_new_f32_2d((gint64) rows, (gint64) c->n_texts, error);
    if (similarity == NULL) {
        return NULL;
    }
    limn_surgery_similarity(limn_array_f32(f), rows, p, limn_array_f32(texts), c->n_texts,
                            limn_array_f32(similarity));
    if (strcmp(rest, "similarity") == 0) {
        return g_steal_pointer(&similarity);
    }
    return strcmp(rest, "maps_norm") == 0 ? surgery_maps(c, similarity, error)
                                          : limn_clip_case_unknown(key, error);
}

static gboolean
given_mask(int index, int height, int width, float *mask, gpointer data, GError **error)
{
    const LimnArray *masks = data;
    gsize plane = (gsize) height * (gsize) width;
    memcpy(mask, limn_array_f32(masks) + (gsize) index * plane, plane * sizeof *mask);
    return TRUE;
}

static LimnArray *
rise_masks(LimnClipCase *c, GError **error)
{
    g_autoptr(LimnArray) masks = limn_safetensors_get(c->expected, "rise.masks", error);
    if (masks == NULL) {
        return NULL;
    }
    if (masks->dtype != LIMN_DTYPE_F32 || masks->rank != 3 || masks->shape[0] < 1 ||
        masks->shape[0] > 1 << 20 || masks->shape[1] != c->pixels->shape[2] ||
        masks->shape[2] != c->pixels->shape[3]) {
        g_autofree char *shape = limn_array_describe_shape(masks);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "rise.masks is wrong (found %s %s, expected f32 [masks, %d, %d])",
                    limn_dtype_name(masks->dtype), shape, (int) c->pixels->shape[2],
                    (int) c->pixels->shape[3]);
        return NULL;
    }
    return g_steal_pointer(&masks);
}

static gboolean
rise_scores(LimnClipCase *c, LimnArray *masks, double *scores, GError **error)
{
    gsize p = (gsize) c->clip->config.projection, n = (gsize) masks->shape[0];
    g_autofree char *name = g_strdup_printf("t%d", c->rise_text);
    LimnPass *pass = limn_clip_case_get_pass(c, name, error);
    g_autoptr(LimnFloats) text =
        pass != NULL ? limn_clip_case_dup_unit(c, pass, error) : NULL;
    g_autoptr(LimnFloats) embeddings = limn_floats_new(n, p, error);
    g_autoptr(LimnArray) pixels =
        limn_array_new(LIMN_DTYPE_F32, 3, &c->pixels->shape[1], error);
    if (text == NULL || embeddings == NULL || pixels == NULL) {
        return FALSE;
    }
    memcpy(pixels->data,
           limn_array_f32(c->pixels) + (gsize) c->rise_image * (gsize) pixels->length,
           (gsize) pixels->length * sizeof(float));
    if (!limn_rise_encode(c->clip, pixels, (int) n, given_mask, masks, embeddings, c->job,
                          error)) {
        return FALSE;
    }
    for (gsize i = 0; i < n; i++) {
        scores[i] = limn_kernel_dot(embeddings + i * p, text, p);
    }
    return TRUE;
}

LimnArray *
limn_clip_case_compute_rise(LimnClipCase *c, const char *key, GError **error)
{
    gboolean cosine = strcmp(key, "rise.cosine") == 0;
    if (!cosine && strcmp(key, "rise.map") != 0) {
        return limn_clip_case_unknown(key, error);
    }
    g_autoptr(LimnArray) masks = rise_masks(c, error);
    g_autofree double *scores =
        masks != NULL ? g_new0(double, (gsize) masks->shape[0]) : NULL;
    if (masks == NULL || !rise_scores(c, masks, scores, error)) {
        return NULL;
    }
    int n = (int) masks->shape[0], height = (int) masks->shape[1];
    int width = (int) masks->shape[2];
    g_autoptr(LimnArray) out = cosine ? limn_array_new_f32_1d(n, error)
                                      : limn_array_new_f32_2d(height, width, error);
    for (int i = 0; out != NULL && cosine && i < n; i++) {
        limn_array_f32(out)[i] = (float) scores[i];
    }
    if (out == NULL ||
        (!cosine && !limn_rise_map(scores, n, c->rise_keep, given_mask, masks, height,
                                   width, limn_array_f32(out), c->job, error))) {
        return NULL;
    }
    return g_steal_pointer(&out);
}
