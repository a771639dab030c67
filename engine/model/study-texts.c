// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/study-texts.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/io/npy.h"
#include "engine/model/clip-private.h"

// Fewer texts are not worth a file.
#define LEAST_CACHED 256

static GStrv
fill_pattern(const char *const *texts, const char *pattern)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    g_auto(GStrv) parts = g_strsplit(pattern, "{}", -1);
    for (gsize i = 0; texts[i] != NULL; i++) {
        g_autofree char *text = g_strjoinv(texts[i], parts);
        g_strv_builder_add(builder, text);
    }
    return g_strv_builder_end(builder);
}

// Everything that decides the embeddings: weights, configuration, vocabulary, texts. NULL
// when that cannot be told (weights in several files).
static char *
cache_path(LimnClip *clip, const char *const *texts, LimnJob *job)
{
    static const char *const companions[] = {"config.json", "open_clip_config.json",
                                             "tokenizer.json", "vocab.json",
                                             "merges.txt"};
    guint64 size = 0;
    g_autofree char *model = g_str_has_suffix(clip->path, ".json")
                                 ? NULL
                                 : limn_sha256_file(clip->path, &size, job, NULL);
    if (model == NULL) {
        return NULL;
    }
    g_autoptr(GString) key = g_string_new(model);
    for (gsize i = 0; i < G_N_ELEMENTS(companions); i++) {
        g_autofree char *path = g_build_filename(clip->folder, companions[i], NULL);
        g_autofree char *digest = g_file_test(path, G_FILE_TEST_IS_REGULAR)
                                      ? limn_sha256_file(path, &size, job, NULL)
                                      : NULL;
        g_string_append_printf(key, "\n%s", digest != NULL ? digest : "-");
    }
    for (gsize i = 0; texts[i] != NULL; i++) {
        g_string_append_printf(key, "\n%s", texts[i]);
    }
    g_autofree char *digest = limn_sha256_bytes(key->str, key->len);
    g_autofree char *name = g_strconcat(digest, ".npy", NULL);
    return g_build_filename(g_get_user_cache_dir(), "limn", "texts", name, NULL);
}

static LimnArray *
load_cached(const char *path, gint64 n, gint64 width)
{
    g_autoptr(LimnArray) array = path != NULL && g_file_test(path, G_FILE_TEST_IS_REGULAR)
                                     ? limn_npy_load(path, NULL)
                                     : NULL;
    gboolean right = array != NULL && array->dtype == LIMN_DTYPE_F32 &&
                     array->rank == 2 && array->shape[0] == n && array->shape[1] == width;
    return right ? g_steal_pointer(&array) : NULL;
}

static void
save_cached(const char *path, const LimnArray *array)
{
    g_autofree char *folder = path != NULL ? g_path_get_dirname(path) : NULL;
    if (folder != NULL && limn_make_directory(folder, NULL)) {
        (void) limn_npy_save(array, path, NULL);
    }
}

static guint
n_diagnostics(LimnJob *job)
{
    g_autoptr(GPtrArray) list = job != NULL ? limn_job_dup_diagnostics(job) : NULL;
    return list != NULL ? list->len : 0;
}

LimnArray *
limn_study_encode_texts(LimnClip *clip, const char *const *texts, const char *pattern,
                        LimnJob *job, GError **error)
{
    if (pattern == NULL || strstr(pattern, "{}") == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "template=%s: there is no {} for the name of the concept",
                    pattern != NULL ? pattern : "");
        return NULL;
    }
    g_auto(GStrv) filled = fill_pattern(texts, pattern);
    const char *const *sentences = (const char *const *) filled;
    gint64 n = (gint64) limn_clip_count_texts(sentences);
    g_autofree char *path = n >= LEAST_CACHED ? cache_path(clip, sentences, job) : NULL;
    LimnArray *known = load_cached(path, n, limn_clip_get_config(clip)->projection);
    if (known != NULL) {
        return known;
    }
    guint before = n_diagnostics(job);
    limn_job_report(job, "encode", 0, "%" G_GINT64_FORMAT " concepts", n);
    LimnArray *made = limn_clip_encode_texts(clip, sentences, job, error);
    if (made != NULL && n_diagnostics(job) == before) { // else it would go unsaid later
        save_cached(path, made);
    }
    return made;
}
