// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/study-inputs.h"

#include "engine/base/error.h"
#include "engine/io/npy.h"
#include "engine/io/picture.h"
#include "engine/text/prompts.h"

#include <string.h>

#define MOST_IGNORED_NAMED 8

static gboolean
has_parameter(LimnRun *run, const char *name)
{
    const LimnOperation *operation = limn_run_get_study(run)->operation;
    return limn_operation_find_parameter(operation, name) != NULL;
}

static const char *
get_input(LimnRun *run, const char *name)
{
    const LimnOperation *operation = limn_run_get_study(run)->operation;
    return limn_operation_find_input(operation, name) != NULL
               ? limn_run_get_input(run, name)
               : NULL;
}

// ---- the model

static void
report_ignored(LimnRun *run, LimnClip *clip)
{
    const LimnLoadReport *report = limn_clip_get_report(clip);
    if (report->ignored == NULL || report->ignored->len == 0) {
        return;
    }
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < report->ignored->len && i < MOST_IGNORED_NAMED; i++) {
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "",
                               (const char *) g_ptr_array_index(report->ignored, i));
    }
    limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_NOTE,
                      limn_clip_get_name(clip), "%u tensors were ignored: %s%s",
                      report->ignored->len, names->str,
                      report->ignored->len > MOST_IGNORED_NAMED ? ", ..." : "");
}

LimnClip *
limn_study_open_clip(LimnRun *run, GError **error)
{
    LimnJob *job = limn_run_get_job(run);
    int heads = has_parameter(run, "heads") ? (int) limn_run_get_int(run, "heads") : 0;
    gint64 start = g_get_monotonic_time();
    limn_job_report(job, "open", 0, "%s", "model");
    LimnClip *clip = limn_clip_open(limn_run_get_input(run, "model"), heads, job, error);
    limn_job_add_time(job, "open", (double) (g_get_monotonic_time() - start) * 1e-6);
    if (clip != NULL) {
        report_ignored(run, clip);
    }
    return clip;
}

// ---- names

GStrv
limn_study_make_unique(const char *const *names)
{
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GStrvBuilder) unique = g_strv_builder_new();
    for (const char *const *at = names; *at != NULL; at++) {
        g_autofree char *name = g_strdup(*at);
        for (guint i = 2; g_hash_table_contains(seen, name); i++) {
            g_free(name);
            name = g_strdup_printf("%s (%u)", *at, i);
        }
        g_strv_builder_add(unique, name);
        g_hash_table_add(seen, g_steal_pointer(&name));
    }
    return g_strv_builder_end(unique);
}

// ---- sentences

void
limn_sentences_free(LimnSentences *sentences)
{
    if (sentences == NULL) {
        return;
    }
    g_strfreev(sentences->texts);
    g_strfreev(sentences->labels);
    g_free(sentences->ids);
    g_free(sentences);
}

static gboolean
check_ids_shape(const LimnArray *array, const char *path, GError **error)
{
    gint64 n = array->rank == 2 ? array->shape[0] : 1;
    gint64 length = array->rank > 0 ? array->shape[array->rank - 1] : 0;
    if ((array->rank == 1 || array->rank == 2) && n >= 1 && length >= 1 &&
        n <= G_MAXINT32 && length <= G_MAXINT32) {
        return TRUE;
    }
    g_autofree char *shape = limn_array_describe_shape(array);
    return limn_error_set_file(
        error, LIMN_ERROR_MISMATCH, path,
        "the tokens have the wrong shape (found %s, expected [sentences, tokens])",
        shape);
}

static char *
describe_ids(LimnClip *clip, const gint32 *ids, int n, guint i)
{
    LimnTokenizer *tokenizer = limn_clip_get_tokenizer(clip);
    if (tokenizer == NULL) {
        return g_strdup_printf("sentence %u", i + 1);
    }
    // Start, end and padding are no words.
    gint32 start = limn_tokenizer_get_start(tokenizer);
    gint32 end = limn_tokenizer_get_end(tokenizer);
    int first = ids[0] == start ? 1 : 0, last = first;
    while (last < n && ids[last] != end) {
        last++;
    }
    char *text = limn_tokenizer_decode(tokenizer, ids + first, (gsize) (last - first));
    return g_strstrip(text);
}

// .npy ids [T,ctx] or [ctx].
static gboolean
load_tokens(LimnSentences *sentences, LimnClip *clip, const char *path, GError **error)
{
    g_autoptr(LimnArray) raw = limn_npy_load(path, error);
    if (raw == NULL || !check_ids_shape(raw, path, error)) {
        return FALSE;
    }
    GError *local = NULL;
    g_autoptr(LimnArray) ids = limn_array_to_i64(raw, &local);
    if (ids == NULL) {
        g_autofree char *shown = limn_display_path(path);
        g_propagate_prefixed_error(error, local, "%s: ", shown);
        return FALSE;
    }
    sentences->n_ids = (int) ids->shape[ids->rank - 1];
    sentences->n = ids->rank == 2 ? (guint) ids->shape[0] : 1;
    sentences->ids = g_new(gint32, ids->length);
    for (gint64 i = 0; i < ids->length; i++) {
        gint64 id = limn_array_i64(ids)[i];
        if (id < 0 || id > G_MAXINT32) {
            return limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                                       "token %" G_GINT64_FORMAT " is %" G_GINT64_FORMAT
                                       " (expected an id from 0 to %d)",
                                       i, id, limn_clip_get_config(clip)->vocab - 1);
        }
        sentences->ids[i] = (gint32) id;
    }
    g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
    for (guint i = 0; i < sentences->n; i++) {
        g_autofree char *text =
            describe_ids(clip, sentences->ids + (gsize) i * (gsize) sentences->n_ids,
                         sentences->n_ids, i);
        g_strv_builder_add(texts, text);
    }
    sentences->texts = g_strv_builder_end(texts);
    return TRUE;
}

static void
warn_empty(LimnRun *run, const LimnSentences *sentences)
{
    for (guint i = 0; sentences->ids == NULL && i < sentences->n; i++) {
        g_autofree char *text = g_strstrip(g_strdup(sentences->texts[i]));
        if (text[0] == '\0') {
            limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_WARNING, "text",
                              "sentence %u is empty: what is explained is the model's "
                              "answer to no words at all",
                              i + 1);
        }
    }
}

LimnSentences *
limn_study_load_sentences(LimnRun *run, LimnClip *clip, GError **error)
{
    g_autoptr(LimnSentences) sentences = g_new0(LimnSentences, 1);
    const char *const *given = limn_run_get_input_list(run, "text");
    const char *texts = get_input(run, "texts"), *tokens = get_input(run, "tokens");
    if (texts != NULL) {
        sentences->texts = limn_prompts_load(texts, error);
    } else if (tokens != NULL) {
        if (!load_tokens(sentences, clip, tokens, error)) {
            return NULL;
        }
    } else {
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        for (const char *const *at = given; *at != NULL; at++) {
            g_strv_builder_add(builder, *at);
        }
        sentences->texts = g_strv_builder_end(builder);
    }
    if (sentences->texts == NULL) {
        return NULL;
    }
    sentences->n = g_strv_length(sentences->texts);
    sentences->labels = limn_study_make_unique((const char *const *) sentences->texts);
    warn_empty(run, sentences);
    return g_steal_pointer(&sentences);
}

// ---- pictures

void
limn_picture_items_free(LimnPictureItems *items)
{
    if (items == NULL) {
        return;
    }
    g_strfreev(items->paths);
    g_strfreev(items->names);
    g_clear_pointer(&items->pixels, limn_array_unref);
    g_free(items);
}

static gboolean
load_pixels(LimnPictureItems *items, const char *path, GError **error)
{
    g_autoptr(LimnArray) raw = limn_npy_load(path, error);
    if (raw == NULL) {
        return FALSE;
    }
    int rank = raw->rank;
    if ((rank != 3 && rank != 4) || raw->shape[rank - 3] != 3 || raw->length == 0) {
        g_autofree char *shape = limn_array_describe_shape(raw);
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                                   "the pixels have the wrong shape (found %s, expected "
                                   "[3, height, width] or [B, 3, height, width])",
                                   shape);
    }
    g_autoptr(LimnArray) values = limn_array_to_f32(raw, error);
    if (values == NULL) {
        return FALSE;
    }
    const gint64 *size = values->shape + rank - 3;
    gint64 shape[4] = {rank == 4 ? values->shape[0] : 1, 3, size[1], size[2]};
    items->pixels = limn_array_new(LIMN_DTYPE_F32, 4, shape, error);
    if (items->pixels == NULL) {
        return FALSE;
    }
    memcpy(items->pixels->data, values->data, (gsize) values->length * sizeof(float));
    items->n = (guint64) shape[0];
    items->many = items->n > 1;
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    for (guint64 i = 0; i < items->n; i++) {
        g_autofree char *name = g_strdup_printf("pixels %" G_GUINT64_FORMAT, i);
        g_strv_builder_add(names, name);
    }
    items->names = g_strv_builder_end(names);
    return TRUE;
}

// NAME_labels.EXT or NAME_mask.EXT where a picture NAME.* is in the list.
static gboolean
is_label_map(const char *path, GHashTable *stems)
{
    static const char *const endings[] = {"_labels", "_mask"};
    const char *dot = strrchr(path, '.');
    gsize length = dot != NULL ? (gsize) (dot - path) : strlen(path);
    for (guint i = 0; i < G_N_ELEMENTS(endings); i++) {
        gsize tail = strlen(endings[i]);
        if (length > tail && strncmp(path + length - tail, endings[i], tail) == 0) {
            g_autofree char *stem = g_strndup(path, length - tail);
            if (g_hash_table_contains(stems, stem)) {
                return TRUE;
            }
        }
    }
    return FALSE;
}

static GStrv
list_pictures(LimnRun *run, const char *folder, GError **error)
{
    g_auto(GStrv) all = limn_picture_list_folder(folder, error);
    if (all == NULL) {
        return NULL;
    }
    g_autoptr(GHashTable) stems =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (char **at = all; *at != NULL; at++) {
        const char *dot = strrchr(*at, '.');
        g_hash_table_add(stems,
                         g_strndup(*at, dot != NULL ? (gsize) (dot - *at) : strlen(*at)));
    }
    g_autoptr(GStrvBuilder) pictures = g_strv_builder_new();
    guint n = 0, n_labels = 0;
    for (char **at = all; *at != NULL; at++) {
        if (is_label_map(*at, stems)) {
            n_labels++;
        } else {
            g_strv_builder_add(pictures, *at);
            n++;
        }
    }
    if (n_labels > 0) {
        limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_NOTE, NULL,
                          "%u label maps that lie beside their pictures were not taken "
                          "for pictures",
                          n_labels);
    }
    if (n == 0) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, folder,
                            "the folder holds no pictures (expected PNG, JPEG, TIFF or "
                            "WebP files)");
        return NULL;
    }
    return g_strv_builder_end(pictures);
}

static GStrv
make_names(GStrv paths)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (char **at = paths; *at != NULL; at++) {
        g_autofree char *base = g_path_get_basename(*at);
        g_autofree char *shown = limn_display_path(base);
        g_strv_builder_add(builder, shown);
    }
    g_auto(GStrv) names = g_strv_builder_end(builder);
    return limn_study_make_unique((const char *const *) names);
}

LimnPictureItems *
limn_study_load_items(LimnRun *run, GError **error)
{
    g_autoptr(LimnPictureItems) items = g_new0(LimnPictureItems, 1);
    const char *image = get_input(run, "image"), *pixels = get_input(run, "pixels");
    if (pixels != NULL) {
        if (!load_pixels(items, pixels, error)) {
            return NULL;
        }
    } else if (g_file_test(image, G_FILE_TEST_IS_DIR)) {
        items->paths = list_pictures(run, image, error);
        items->many = items->folder = TRUE;
    } else {
        const char *const one[] = {image, NULL};
        items->paths = g_strdupv((char **) (gintptr) one);
    }
    if (items->pixels == NULL) {
        if (items->paths == NULL) {
            return NULL;
        }
        items->n = g_strv_length(items->paths);
        items->names = make_names(items->paths);
    }
    limn_run_set_n_items(run, items->n);
    return g_steal_pointer(&items);
}

static gboolean
concerns_item(const GError *error)
{
    return error->domain == LIMN_ERROR &&
           (error->code == LIMN_ERROR_IO || error->code == LIMN_ERROR_FORMAT ||
            error->code == LIMN_ERROR_UNSUPPORTED || error->code == LIMN_ERROR_MISMATCH ||
            error->code == LIMN_ERROR_MEMORY);
}

gboolean
limn_study_item_failed(LimnRun *run, const LimnPictureItems *items, guint64 index,
                       GError *local, GError **error)
{
    if (!items->many || !concerns_item(local)) {
        g_propagate_error(error, local);
        return FALSE;
    }
    limn_run_skip_item(run, items->names[index], local);
    g_error_free(local);
    return TRUE;
}

gboolean
limn_study_check_any_item(LimnRun *run, const LimnPictureItems *items, GError **error)
{
    guint index, count;
    GPtrArray *skipped = limn_run_get_skipped(run);
    limn_run_get_shard(run, &index, &count);
    if (count > 1 || items->n == 0 || skipped->len < items->n) {
        return TRUE;
    }
    const LimnSkipped *first = g_ptr_array_index(skipped, 0);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                "none of the %" G_GUINT64_FORMAT " items could be used; the first: %s",
                items->n, first->reason);
    return FALSE;
}
