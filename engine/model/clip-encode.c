// SPDX-License-Identifier: GPL-3.0-or-later

// Embeddings of pictures and sentences. Many are encoded together, in groups of bounded
// memory; sentences skip the rows behind their end token.

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/math/gemm.h"
#include "engine/model/clip-private.h"

// Rows of a group of pictures or sentences, about.
#define GROUP_ROWS ((gsize) 2048)
// Largest number of patches of one picture: attention is quadratic.
#define MAX_PATCHES 32768

gboolean
limn_clip_check_size(LimnClip *clip, gint64 height, gint64 width, int *gh, int *gw,
                     GError **error)
{
    int patch = clip->config.patch;
    if (height < patch || width < patch || height % patch != 0 || width % patch != 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "pictures of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                    " pixels do not fit %s (expected multiples of its patch, %d)",
                    width, height, clip->name, patch);
        return FALSE;
    }
    gint64 rows = height / patch, columns = width / patch;
    if (rows > MAX_PATCHES || columns > MAX_PATCHES || rows * columns > MAX_PATCHES) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "a picture of %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                    " patches is too large for %s (expected at most %d patches; "
                    "preprocess=clip or a smaller keep-limit makes it smaller)",
                    columns, rows, clip->name, MAX_PATCHES);
        return FALSE;
    }
    *gh = (int) rows;
    *gw = (int) columns;
    return TRUE;
}

// Patches of one picture as rows [gh*gw, 3*p*p].
typedef struct {
    const float *pixels;
    int height, width, patch;
    float *rows;
} Patches;

static void
gather_patch_row(gsize chunk, gpointer data)
{
    const Patches *p = data;
    int columns = p->width / p->patch;
    gsize plane = (gsize) p->height * (gsize) p->width, side = (gsize) p->patch;
    for (int column = 0; column < columns; column++) {
        float *to =
            p->rows + (chunk * (gsize) columns + (gsize) column) * 3 * side * side;
        for (gsize line = 0; line < 3 * side; line++) {
            gsize y = chunk * side + line % side;
            memcpy(to + line * side,
                   p->pixels + line / side * plane + y * (gsize) p->width +
                       (gsize) column * side,
                   side * sizeof *to);
        }
    }
}

// Adds the position table, resampled where the grid is another than the trained one.
static gboolean
add_positions(LimnClip *clip, int gh, int gw, gboolean bilinear, float *x, LimnJob *job,
              GError **error)
{
    gsize width = (gsize) clip->config.vision.width;
    gsize patches = (gsize) gh * (gsize) gw;
    const float *table = clip->vision_positions + width;
    g_autoptr(LimnFloats) resampled = NULL;
    limn_kernel_add(job, width, clip->vision_positions, x);
    if (gh != clip->config.grid || gw != clip->config.grid) {
        resampled = limn_floats_new(patches, width, error);
        if (resampled == NULL) {
            return FALSE;
        }
        limn_resize_positions(table, clip->config.grid, (int) width, resampled, gh, gw,
                              bilinear);
        table = resampled;
    }
    limn_kernel_add(job, patches * width, table, x + width);
    return TRUE;
}

gboolean
limn_clip_embed_pixels(LimnClip *clip, const float *pixels, int height, int width,
                       gboolean bilinear, float *x, LimnJob *job, GError **error)
{
    int gh, gw;
    if (!limn_clip_check_size(clip, height, width, &gh, &gw, error)) {
        return FALSE;
    }
    gsize n = (gsize) gh * (gsize) gw, columns = (gsize) clip->config.vision.width;
    gsize inputs = 3 * (gsize) clip->config.patch * (gsize) clip->config.patch;
    g_autoptr(LimnFloats) rows = limn_floats_new(n, inputs, error);
    if (rows == NULL) {
        return FALSE;
    }
    Patches patches = {pixels, height, width, clip->config.patch, rows};
    limn_parallel_for(job, (gsize) gh, gather_patch_row, &patches);
    memcpy(x, clip->class_token, columns * sizeof *x);
    limn_kernel_linear(job, n, inputs, columns, rows, clip->patches, NULL, x + columns);
    if (!add_positions(clip, gh, gw, bilinear, x, job, error)) {
        return FALSE;
    }
    limn_kernel_layer_norm(job, n + 1, columns, x, clip->vision_start.gain,
                           clip->vision_start.offset, clip->config.vision.eps, x);
    return limn_job_check(job, error);
}

void
limn_clip_embed_ids(LimnClip *clip, const gint32 *ids, gsize n, float *x)
{
    gsize width = (gsize) clip->config.text.width;
    for (gsize i = 0; i < n; i++) {
        const float *token = clip->token_table + (gsize) ids[i] * width;
        const float *position = clip->text_positions + i * width;
        for (gsize j = 0; j < width; j++) {
            x[i * width + j] = token[j] + position[j];
        }
    }
}

static void
shape_of_pictures(LimnAttention *shape, gsize n, gsize rows, const LimnTower *tower,
                  gsize *begin)
{
    for (gsize i = 0; i <= n; i++) {
        begin[i] = i * rows;
    }
    *shape = (LimnAttention){
        .n = n,
        .begin = begin,
        .heads = (gsize) tower->config.heads,
        .width = (gsize) tower->config.width,
        .pool = begin, // the class token is each picture's first row
    };
}

static gboolean
encode_pictures(LimnClip *clip, const float *pixels, gsize n, int height, int width,
                float *f, LimnJob *job, GError **error)
{
    gsize rows =
        1 + (gsize) (height / clip->config.patch) * (gsize) (width / clip->config.patch);
    gsize columns = (gsize) clip->config.vision.width;
    gsize plane = 3 * (gsize) height * (gsize) width;
    g_autofree gsize *begin = g_new(gsize, n + 1);
    g_autoptr(LimnFloats) x = limn_floats_new(n * rows, columns, error);
    LimnAttention shape;
    if (x == NULL) {
        return FALSE;
    }
    for (gsize i = 0; i < n; i++) {
        if (!limn_clip_embed_pixels(clip, pixels + i * plane, height, width, FALSE,
                                    x + i * rows * columns, job, error)) {
            return FALSE;
        }
    }
    shape_of_pictures(&shape, n, rows, &clip->vision, begin);
    return limn_tower_encode(job, &clip->vision, &shape, x, f, error) &&
           limn_clip_check_finite(clip, FALSE, f, n * (gsize) clip->config.projection,
                                  job, error);
}

LimnArray *
limn_clip_encode_pixels(LimnClip *clip, const LimnArray *pixels, LimnJob *job,
                        GError **error)
{
    if (pixels->dtype != LIMN_DTYPE_F32 || pixels->rank != 4 || pixels->shape[1] != 3) {
        g_autofree char *shape = limn_array_describe_shape(pixels);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "pixels have the wrong shape or type (found %s %s, expected f32 [B, "
                    "3, height, width])",
                    limn_dtype_name(pixels->dtype), shape);
        return NULL;
    }
    int gh, gw;
    gint64 height = pixels->shape[2], width = pixels->shape[3];
    if (!limn_clip_check_size(clip, height, width, &gh, &gw, error)) {
        return NULL;
    }
    gsize n = (gsize) pixels->shape[0], p = (gsize) clip->config.projection;
    gsize plane = 3 * (gsize) height * (gsize) width;
    gsize group = MAX(GROUP_ROWS / ((gsize) gh * (gsize) gw + 1), 1);
    g_autoptr(LimnArray) f =
        limn_array_new_f32_2d(pixels->shape[0], clip->config.projection, error);
    for (gsize i = 0; f != NULL && i < n; i += group) {
        if (!encode_pictures(clip, limn_array_f32(pixels) + i * plane, MIN(group, n - i),
                             (int) height, (int) width, limn_array_f32(f) + i * p, job,
                             error)) {
            return NULL;
        }
    }
    return g_steal_pointer(&f);
}

LimnArray *
limn_clip_encode_image(LimnClip *clip, LimnImage *image, LimnJob *job, GError **error)
{
    g_autoptr(LimnPreprocessed) seen =
        limn_preprocess(image, &clip->preprocess, job, error);
    g_autoptr(LimnArray) f =
        seen != NULL ? limn_array_new_f32_1d(clip->config.projection, error) : NULL;
    if (f == NULL ||
        !encode_pictures(clip, limn_array_f32(seen->tensor), 1,
                         (int) seen->tensor->shape[1], (int) seen->tensor->shape[2],
                         limn_array_f32(f), job, error)) {
        return NULL;
    }
    return g_steal_pointer(&f);
}

// Sentences of a group, one behind the other, each up to its end token.
typedef struct {
    GArray *ids;   // gint32
    GArray *begin; // gsize, [n + 1]
    GArray *pool;  // gsize, [n]
} Group;

static void
group_init(Group *group)
{
    gsize zero = 0;
    group->ids = g_array_new(FALSE, FALSE, sizeof(gint32));
    group->begin = g_array_new(FALSE, FALSE, sizeof(gsize));
    group->pool = g_array_new(FALSE, FALSE, sizeof(gsize));
    g_array_append_val(group->begin, zero);
}

static void
group_clear(Group *group)
{
    g_array_unref(group->ids);
    g_array_unref(group->begin);
    g_array_unref(group->pool);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Group, group_clear)

static void
group_add(Group *group, const gint32 *ids, gsize pool)
{
    gsize row = group->ids->len + pool, end = row + 1;
    g_array_append_vals(group->ids, ids, (guint) pool + 1);
    g_array_append_val(group->pool, row);
    g_array_append_val(group->begin, end);
}

static gboolean
encode_group(LimnClip *clip, Group *group, float *f, LimnJob *job, GError **error)
{
    gsize n = group->pool->len, width = (gsize) clip->config.text.width;
    const gsize *begin = (const gsize *) (gpointer) group->begin->data;
    g_autoptr(LimnFloats) x = limn_floats_new(group->ids->len, width, error);
    if (x == NULL) {
        return FALSE;
    }
    for (gsize i = 0; i < n; i++) {
        limn_clip_embed_ids(clip, &g_array_index(group->ids, gint32, begin[i]),
                            begin[i + 1] - begin[i], x + begin[i] * width);
    }
    LimnAttention shape = {
        .n = n,
        .begin = begin,
        .heads = (gsize) clip->config.text.heads,
        .width = width,
        .causal = TRUE,
        .pool = (const gsize *) (gpointer) group->pool->data,
    };
    gboolean done = limn_tower_encode(job, &clip->text, &shape, x, f, error) &&
                    limn_clip_check_finite(
                        clip, TRUE, f, n * (gsize) clip->config.projection, job, error);
    g_array_set_size(group->ids, 0);
    g_array_set_size(group->pool, 0);
    g_array_set_size(group->begin, 1);
    return done;
}

gboolean
limn_clip_check_ids(LimnClip *clip, const gint32 *ids, gsize n, gsize *pool,
                    GError **error)
{
    const LimnClipConfig *config = &clip->config;
    if (!config->has_text) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_MISMATCH, clip->missing_text);
        return FALSE;
    }
    if (n < 1 || n > (gsize) config->context) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "a sentence of %" G_GSIZE_FORMAT
                    " tokens does not fit %s (expected 1 to %d)",
                    n, clip->name, config->context);
        return FALSE;
    }
    gsize best = 0;
    for (gsize i = 0; i < n; i++) {
        if (ids[i] < 0 || ids[i] >= config->vocab) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                        "token %" G_GSIZE_FORMAT " is %d, outside the token table of %s "
                        "(expected 0 to %d)",
                        i, ids[i], clip->name, config->vocab - 1);
            return FALSE;
        }
        gboolean better = config->pool_first_end
                              ? ids[best] != config->end && ids[i] == config->end
                              : ids[i] > ids[best];
        best = better ? i : best;
    }
    if (config->pool_first_end && ids[best] != config->end) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "the tokens hold no end token (expected id %d of %s among them)",
                    config->end, clip->name);
        return FALSE;
    }
    *pool = best;
    return TRUE;
}

static gboolean
begin_texts(LimnClip *clip, LimnJob *job, GError **error)
{
    if (!clip->config.has_text) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_MISMATCH, clip->missing_text);
        return FALSE;
    }
    return limn_clip_check_tables(clip, job, error);
}

// Adds a sentence; the group is encoded when it is full. *done: sentences encoded so far.
static gboolean
add_sentence(LimnClip *clip, Group *group, const gint32 *ids, gsize n, LimnArray *f,
             gsize *done, LimnJob *job, GError **error)
{
    gsize pool, p = (gsize) clip->config.projection;
    if (!limn_clip_check_ids(clip, ids, n, &pool, error)) {
        return FALSE;
    }
    group_add(group, ids, pool);
    if (group->ids->len < GROUP_ROWS) {
        return TRUE;
    }
    gsize count = group->pool->len;
    if (!encode_group(clip, group, limn_array_f32(f) + *done * p, job, error)) {
        return FALSE;
    }
    *done += count;
    return TRUE;
}

static gboolean
finish_sentences(LimnClip *clip, Group *group, LimnArray *f, gsize done, LimnJob *job,
                 GError **error)
{
    return group->pool->len == 0 ||
           encode_group(clip, group,
                        limn_array_f32(f) + done * (gsize) clip->config.projection, job,
                        error);
}

LimnArray *
limn_clip_encode_ids(LimnClip *clip, const LimnArray *ids, LimnJob *job, GError **error)
{
    if (ids->dtype != LIMN_DTYPE_I64 || ids->rank != 2) {
        g_autofree char *shape = limn_array_describe_shape(ids);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "tokens have the wrong shape or type (found %s %s, expected i64 "
                    "[sentences, tokens])",
                    limn_dtype_name(ids->dtype), shape);
        return NULL;
    }
    if (!begin_texts(clip, job, error)) {
        return NULL;
    }
    gsize n = (gsize) ids->shape[0], length = (gsize) ids->shape[1], done = 0;
    g_auto(Group) group = {NULL, NULL, NULL};
    group_init(&group);
    g_autofree gint32 *row = g_new(gint32, MAX(length, 1));
    g_autoptr(LimnArray) f =
        limn_array_new_f32_2d(ids->shape[0], clip->config.projection, error);
    for (gsize i = 0; f != NULL && i < n; i++) {
        for (gsize j = 0; j < length; j++) {
            row[j] = (gint32) CLAMP(limn_array_i64(ids)[i * length + j], -1, G_MAXINT32);
        }
        if (!add_sentence(clip, &group, row, length, f, &done, job, error)) {
            return NULL;
        }
    }
    if (f == NULL || !finish_sentences(clip, &group, f, done, job, error)) {
        return NULL;
    }
    return g_steal_pointer(&f);
}

gboolean
limn_clip_tokenize(LimnClip *clip, const char *text, LimnTokens **tokens, gint32 **ids,
                   LimnJob *job, GError **error)
{
    LimnTokenizer *tokenizer = limn_clip_need_tokenizer(clip, error);
    g_autoptr(LimnTokens) made =
        tokenizer != NULL
            ? limn_tokenizer_encode(tokenizer, text, clip->config.context, error)
            : NULL;
    if (made == NULL) {
        return FALSE;
    }
    if (made->truncated) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_WARNING, text,
                          "the sentence is longer than the model's %d tokens; what "
                          "follows byte %" G_GSIZE_FORMAT " was not used",
                          clip->config.context, made->used_bytes);
    }
    *ids = g_new(gint32, made->tokens->len);
    for (guint i = 0; i < made->tokens->len; i++) {
        (*ids)[i] = g_array_index(made->tokens, LimnToken, i).id;
    }
    *tokens = g_steal_pointer(&made);
    return TRUE;
}

gsize
limn_clip_count_texts(const char *const *texts)
{
    gsize n = 0;
    while (texts[n] != NULL) {
        n++;
    }
    return n;
}

LimnArray *
limn_clip_encode_texts(LimnClip *clip, const char *const *texts, LimnJob *job,
                       GError **error)
{
    gsize n = limn_clip_count_texts(texts), done = 0;
    if (!begin_texts(clip, job, error)) {
        return NULL;
    }
    g_auto(Group) group = {NULL, NULL, NULL};
    group_init(&group);
    g_autoptr(LimnArray) f =
        limn_array_new_f32_2d((gint64) n, clip->config.projection, error);
    for (gsize i = 0; f != NULL && i < n; i++) {
        g_autoptr(LimnTokens) tokens = NULL;
        g_autofree gint32 *ids = NULL;
        if (!limn_clip_tokenize(clip, texts[i], &tokens, &ids, job, error) ||
            !add_sentence(clip, &group, ids, tokens->tokens->len, f, &done, job, error)) {
            return NULL;
        }
    }
    if (f == NULL || !finish_sentences(clip, &group, f, done, job, error)) {
        return NULL;
    }
    return g_steal_pointer(&f);
}
