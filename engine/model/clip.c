// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/clip.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/model/clip-private.h"

// Floats searched by one chunk.
#define SEARCH_CHUNK ((gsize) 1 << 20)

static void
clear_tensor(gpointer data)
{
    LimnClipTensor *tensor = data;
    g_free(tensor->name);
    limn_array_unref(tensor->array);
}

LimnClip *
limn_clip_new(const char *file, const char *name)
{
    LimnClip *clip = g_new0(LimnClip, 1);
    g_atomic_ref_count_init(&clip->refs);
    clip->path = g_strdup(file);
    clip->folder = g_path_get_dirname(file);
    g_autofree char *base = g_path_get_basename(name);
    clip->name = limn_display_path(base);
    clip->tensors = g_array_new(FALSE, FALSE, sizeof(LimnClipTensor));
    g_array_set_clear_func(clip->tensors, clear_tensor);
    clip->report.used = g_ptr_array_new_with_free_func(g_free);
    clip->report.ignored = g_ptr_array_new_with_free_func(g_free);
    clip->report.missing = g_ptr_array_new_with_free_func(g_free);
    g_mutex_init(&clip->mutex);
    return clip;
}

LimnClip *
limn_clip_ref(LimnClip *clip)
{
    g_return_val_if_fail(clip != NULL, NULL);
    g_atomic_ref_count_inc(&clip->refs);
    return clip;
}

void
limn_clip_unref(LimnClip *clip)
{
    if (clip == NULL || !g_atomic_ref_count_dec(&clip->refs)) {
        return;
    }
    g_array_unref(clip->tensors);
    g_ptr_array_unref(clip->report.used);
    g_ptr_array_unref(clip->report.ignored);
    g_ptr_array_unref(clip->report.missing);
    g_free(clip->vision.blocks);
    g_free(clip->text.blocks);
    g_free(clip->path);
    g_free(clip->folder);
    g_free(clip->name);
    g_free(clip->missing_text);
    g_clear_pointer(&clip->tokenizer, limn_tokenizer_unref);
    g_clear_error(&clip->tokenizer_error);
    g_mutex_clear(&clip->mutex);
    g_free(clip);
}

const LimnClipConfig *
limn_clip_get_config(LimnClip *clip)
{
    return &clip->config;
}

const LimnLoadReport *
limn_clip_get_report(LimnClip *clip)
{
    return &clip->report;
}

const LimnPreprocess *
limn_clip_get_preprocess(LimnClip *clip)
{
    return &clip->preprocess;
}

const char *
limn_clip_get_name(LimnClip *clip)
{
    return clip->name;
}

float
limn_clip_get_logit_scale(LimnClip *clip)
{
    return clip->logit_scale;
}

float
limn_clip_get_logit_bias(LimnClip *clip)
{
    return clip->logit_bias;
}

static LimnTokenizer *
load_tokenizer(LimnClip *clip, GError **error)
{
    if (!clip->config.has_text) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_MISMATCH, clip->missing_text);
        return NULL;
    }
    gboolean builtin = FALSE;
    g_autoptr(LimnTokenizer) tokenizer =
        limn_tokenizer_new_for_folder(clip->folder, &builtin, error);
    if (tokenizer == NULL) {
        return NULL;
    }
    int size = limn_tokenizer_get_size(tokenizer);
    if (size != clip->config.vocab) {
        limn_error_set_file(
            error, LIMN_ERROR_MISMATCH, clip->path,
            "the %s has %d entries, the model's token table %d (expected equal "
            "numbers%s)",
            builtin ? "built-in tokenizer" : "tokenizer beside the weights", size,
            clip->config.vocab,
            builtin ? "; put the model's tokenizer.json, or vocab.json and merges.txt, "
                      "beside the weights"
                    : "");
        return NULL;
    }
    return g_steal_pointer(&tokenizer);
}

LimnTokenizer *
limn_clip_need_tokenizer(LimnClip *clip, GError **error)
{
    g_mutex_lock(&clip->mutex);
    if (!clip->tokenizer_tried) {
        clip->tokenizer_tried = TRUE;
        clip->tokenizer = load_tokenizer(clip, &clip->tokenizer_error);
    }
    LimnTokenizer *tokenizer = clip->tokenizer;
    if (tokenizer == NULL && error != NULL) {
        *error = g_error_copy(clip->tokenizer_error);
    }
    g_mutex_unlock(&clip->mutex);
    return tokenizer;
}

LimnTokenizer *
limn_clip_get_tokenizer(LimnClip *clip)
{
    return limn_clip_need_tokenizer(clip, NULL);
}

// One search: stretches of all tensors, the first bad one wins.
typedef struct {
    LimnClip *clip;
    GArray *stretches; // Stretch
    int first_bad;     // atomic: lowest tensor number found bad
} Search;

typedef struct {
    guint tensor;
    gsize begin, end;
} Stretch;

static void
search_chunk(gsize chunk, gpointer data)
{
    Search *search = data;
    const Stretch *s = &g_array_index(search->stretches, Stretch, chunk);
    const LimnClipTensor *tensor =
        &g_array_index(search->clip->tensors, LimnClipTensor, s->tensor);
    if (limn_kernel_is_finite(limn_array_f32(tensor->array) + s->begin,
                              s->end - s->begin)) {
        return;
    }
    for (;;) {
        int known = g_atomic_int_get(&search->first_bad);
        if (known <= (int) s->tensor || g_atomic_int_compare_and_exchange(
                                            &search->first_bad, known, (int) s->tensor)) {
            return;
        }
    }
}

static void
add_stretches(GArray *stretches, LimnClip *clip, guint i)
{
    const LimnClipTensor *tensor = &g_array_index(clip->tensors, LimnClipTensor, i);
    gsize length = (gsize) tensor->array->length;
    for (gsize begin = 0; begin < length; begin += SEARCH_CHUNK) {
        Stretch s = {i, begin, MIN(begin + SEARCH_CHUNK, length)};
        g_array_append_val(stretches, s);
    }
}

static void
name_bad(LimnClip *clip, const LimnClipTensor *tensor, GError **error)
{
    const float *data = limn_array_f32(tensor->array);
    gint64 first = -1, count = 0;
    for (gint64 i = 0; i < tensor->array->length; i++) {
        if (!isfinite(data[i])) {
            first = first < 0 ? i : first;
            count++;
        }
    }
    limn_error_set_file(error, LIMN_ERROR_FORMAT, clip->path,
                        "tensor %s is not finite (found %s at element %" G_GINT64_FORMAT
                        " and %" G_GINT64_FORMAT " more, expected numbers)",
                        tensor->name, isnan(data[first]) ? "NaN" : "Inf", first,
                        count - 1);
}

// Searches the tensors for which `wanted` holds.
static gboolean
search_weights(LimnClip *clip, gboolean (*wanted)(LimnClip *, const LimnClipTensor *),
               LimnJob *job, GError **error)
{
    Search search = {clip, g_array_new(FALSE, FALSE, sizeof(Stretch)), G_MAXINT};
    for (guint i = 0; i < clip->tensors->len; i++) {
        if (wanted(clip, &g_array_index(clip->tensors, LimnClipTensor, i))) {
            add_stretches(search.stretches, clip, i);
        }
    }
    limn_parallel_for(job, search.stretches->len, search_chunk, &search);
    g_array_unref(search.stretches);
    if (!limn_job_check(job, error)) {
        return FALSE;
    }
    if (search.first_bad == G_MAXINT) {
        return TRUE;
    }
    name_bad(clip,
             &g_array_index(clip->tensors, LimnClipTensor, (guint) search.first_bad),
             error);
    return FALSE;
}

static gboolean
is_any(LimnClip *clip, const LimnClipTensor *tensor)
{
    return TRUE;
}

static gboolean
is_vision(LimnClip *clip, const LimnClipTensor *tensor)
{
    return !tensor->text;
}

static gboolean
is_text(LimnClip *clip, const LimnClipTensor *tensor)
{
    return tensor->text;
}

static gboolean
is_table(LimnClip *clip, const LimnClipTensor *tensor)
{
    const float *data = limn_array_f32(tensor->array);
    return data == clip->token_table || data == clip->text_positions;
}

gboolean
limn_clip_check_weights(LimnClip *clip, LimnJob *job, GError **error)
{
    return search_weights(clip, is_any, job, error);
}

gboolean
limn_clip_check_tables(LimnClip *clip, LimnJob *job, GError **error)
{
    g_mutex_lock(&clip->mutex);
    gboolean done = clip->tables_checked;
    g_mutex_unlock(&clip->mutex);
    if (done) {
        return TRUE;
    }
    if (!search_weights(clip, is_table, job, error)) {
        return FALSE;
    }
    g_mutex_lock(&clip->mutex);
    clip->tables_checked = TRUE;
    g_mutex_unlock(&clip->mutex);
    return TRUE;
}

gboolean
limn_clip_check_finite(LimnClip *clip, gboolean text, const float *values, gsize n,
                       LimnJob *job, GError **error)
{
    if (limn_kernel_is_finite(values, n)) {
        return TRUE;
    }
    if (search_weights(clip, text ? is_text : is_vision, job, error)) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, clip->path,
                            text ? "the sentence's embedding is not finite although the "
                                   "weights are (they overflow float32)"
                                 : "the picture's embedding is not finite although the "
                                   "weights are (the pixels are not, or the weights "
                                   "overflow float32)");
    }
    return FALSE;
}
