// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/explainer-rise.h"

#include <string.h>

#include "engine/base/rng.h"
#include "engine/model/explainer-private.h"

#define CELLS 8
#define STREAM ((guint64) 0x52 << 40)
// Masked pictures encoded together.
#define GROUP 16

gboolean
limn_rise_mask(guint64 seed, int index, double keep, int height, int width, float *mask,
               GError **error)
{
    LimnRng rng = limn_rng_make(seed, STREAM | (guint64) index << 8);
    int cell_height = (height + CELLS - 1) / CELLS;
    int cell_width = (width + CELLS - 1) / CELLS;
    int full_height = (CELLS + 1) * cell_height, full_width = (CELLS + 1) * cell_width;
    float cells[CELLS * CELLS];
    for (int i = 0; i < CELLS * CELLS; i++) {
        cells[i] = (double) limn_rng_uniform(&rng) < keep ? 1 : 0;
    }
    int top = (int) limn_rng_below(&rng, (guint32) cell_height);
    int left = (int) limn_rng_below(&rng, (guint32) cell_width);
    g_autoptr(LimnFloats) full =
        limn_floats_new((gsize) full_height, (gsize) full_width, error);
    if (full == NULL) {
        return FALSE;
    }
    limn_resize_map(cells, CELLS, CELLS, full, full_height, full_width);
    for (int y = 0; y < height; y++) {
        memcpy(mask + (gsize) y * (gsize) width,
               full + (gsize) (y + top) * (gsize) full_width + left,
               (gsize) width * sizeof *mask);
    }
    return TRUE;
}

static void
multiply_mask(const float *pixels, const float *mask, gsize plane, float *out)
{
    for (gsize c = 0; c < 3; c++) {
        for (gsize i = 0; i < plane; i++) {
            out[c * plane + i] = pixels[c * plane + i] * mask[i];
        }
    }
}

static gboolean
encode_masked(LimnClip *clip, const LimnArray *pixels, int first, int n,
              LimnRiseMaskFunc masks, gpointer data, float *embeddings, LimnJob *job,
              GError **error)
{
    int height = (int) pixels->shape[1], width = (int) pixels->shape[2];
    gsize plane = (gsize) height * (gsize) width, p = (gsize) clip->config.projection;
    g_autoptr(LimnFloats) mask = limn_floats_new(plane, 1, error);
    g_autoptr(LimnArray) batch =
        mask != NULL
            ? limn_array_new(LIMN_DTYPE_F32, 4, (gint64[]){n, 3, height, width}, error)
            : NULL;
    if (batch == NULL) {
        return FALSE;
    }
    for (int i = 0; i < n; i++) {
        if (!masks(first + i, height, width, mask, data, error)) {
            return FALSE;
        }
        multiply_mask(limn_array_f32(pixels), mask, plane,
                      limn_array_f32(batch) + (gsize) i * 3 * plane);
    }
    g_autoptr(LimnArray) f = limn_clip_encode_pixels(clip, batch, job, error);
    if (f == NULL) {
        return FALSE;
    }
    for (int i = 0; i < n; i++) {
        limn_unit_vector(limn_array_f32(f) + (gsize) i * p, p,
                         embeddings + (gsize) i * p);
    }
    return TRUE;
}

gboolean
limn_rise_encode(LimnClip *clip, const LimnArray *pixels, int n, LimnRiseMaskFunc masks,
                 gpointer data, float *embeddings, LimnJob *job, GError **error)
{
    gsize p = (gsize) clip->config.projection;
    for (int first = 0; first < n; first += GROUP) {
        limn_job_report(job, "rise", (double) first / n, "%d of %d masks", first, n);
        if (!encode_masked(clip, pixels, first, MIN(GROUP, n - first), masks, data,
                           embeddings + (gsize) first * p, job, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

gboolean
limn_rise_map(const double *scores, int n, double keep, LimnRiseMaskFunc masks,
              gpointer data, int height, int width, float *map, LimnJob *job,
              GError **error)
{
    gsize plane = (gsize) height * (gsize) width;
    g_autoptr(LimnFloats) mask = limn_floats_new(plane, 1, error);
    g_autofree double *sum = g_try_new0(double, plane);
    if (mask == NULL || sum == NULL) {
        return FALSE;
    }
    for (int i = 0; i < n; i++) {
        if (!masks(i, height, width, mask, data, error) || !limn_job_check(job, error)) {
            return FALSE;
        }
        for (gsize j = 0; j < plane; j++) {
            sum[j] += scores[i] * (double) mask[j];
        }
    }
    for (gsize j = 0; j < plane; j++) {
        map[j] = (float) (sum[j] / ((double) n * keep));
    }
    return TRUE;
}

static gboolean
seeded_mask(int index, int height, int width, float *mask, gpointer data, GError **error)
{
    const LimnExplainOptions *options = data;
    return limn_rise_mask(options->seed, index, options->rise_keep, height, width, mask,
                          error);
}

// Embeddings of the masked pictures do not depend on the sentence; they are kept.
static gboolean
encode_once(const LimnExplainContext *context, LimnExplainOptions *options,
            GError **error)
{
    LimnExplainer *explainer = context->explainer;
    LimnPictureCache *cache = &explainer->cache;
    int n = options->rise_masks;
    if (cache->masked != NULL && cache->n_masked == n &&
        cache->masked_keep == options->rise_keep && cache->masked_seed == options->seed) {
        return TRUE;
    }
    g_autoptr(LimnFloats) embeddings =
        limn_floats_new((gsize) n, (gsize) explainer->clip->config.projection, error);
    if (embeddings == NULL ||
        !limn_rise_encode(explainer->clip, explainer->pixels, n, seeded_mask, options,
                          embeddings, context->job, error)) {
        return FALSE;
    }
    free(cache->masked);
    cache->masked = g_steal_pointer(&embeddings);
    cache->n_masked = n;
    cache->masked_keep = options->rise_keep;
    cache->masked_seed = options->seed;
    return TRUE;
}

// Mean over the pixels of each patch.
static void
pool_patches(const float *pixels, int gh, int gw, int patch, float *out)
{
    for (int row = 0; row < gh; row++) {
        for (int column = 0; column < gw; column++) {
            double sum = 0;
            for (int y = 0; y < patch; y++) {
                for (int x = 0; x < patch; x++) {
                    sum +=
                        (double) pixels[(gsize) (row * patch + y) * (gsize) (gw * patch) +
                                        (gsize) (column * patch + x)];
                }
            }
            out[row * gw + column] = (float) (sum / ((double) patch * patch));
        }
    }
}

gboolean
limn_explain_rise(const LimnExplainContext *context, LimnExplanation *explanation,
                  GError **error)
{
    LimnExplainer *explainer = context->explainer;
    LimnExplainOptions options = *context->options;
    options.rise_masks = CLAMP(options.rise_masks, 1, 1 << 20);
    options.rise_keep = CLAMP(options.rise_keep, 1e-3, 1);
    if (!encode_once(context, &options, error)) {
        return FALSE;
    }
    int height = (int) explainer->pixels->shape[1];
    int width = (int) explainer->pixels->shape[2], n = options.rise_masks;
    gsize p = (gsize) explainer->clip->config.projection;
    g_autofree double *scores = g_new(double, n);
    for (int i = 0; i < n; i++) {
        scores[i] =
            limn_kernel_dot(explainer->cache.masked + (gsize) i * p, context->text, p);
    }
    g_autoptr(LimnFloats) map = limn_floats_new((gsize) height, (gsize) width, error);
    g_autoptr(LimnFloats) grid = limn_floats_new(context->n, 1, error);
    if (map == NULL || grid == NULL ||
        !limn_rise_map(scores, n, options.rise_keep, seeded_mask, &options, height, width,
                       map, context->job, error)) {
        return FALSE;
    }
    pool_patches(map, explainer->gh, explainer->gw, explainer->clip->config.patch, grid);
    return limn_explanation_set_map(context, explanation, grid, FALSE, error);
}
