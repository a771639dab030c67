// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/io/fetch.h"

#include <glib/gstdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/fetch-file.h"
#include "engine/io/json.h"
#include "limn-config.h"

#define DEFAULT_TIMEOUT 30
#define SMALL_FILE ((guint64) 256 << 20) // configurations, tokenizers, the index
#define MAX_SHARDS 1000
#define WATCH_INTERVAL (50 * G_TIME_SPAN_MILLISECOND)
// Share of the progress that the small files have together.
#define SMALL_SHARE 0.03

static const char *const config_files[] = {"config.json", "open_clip_config.json"};
static const char *const other_files[] = {
    "preprocessor_config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.json",
    "merges.txt",
    "tokenizer.json",
};

// Turns the cancellation of a job into that of a GCancellable while a request blocks.
typedef struct {
    LimnJob *job;
    GCancellable *cancellable;
    GThread *thread;
    GMutex mutex;
    GCond cond;
    gboolean done;
} Watcher;

static gpointer
watch(gpointer data)
{
    Watcher *watcher = data;
    g_mutex_lock(&watcher->mutex);
    while (!watcher->done) {
        if (limn_job_is_cancelled(watcher->job)) {
            g_cancellable_cancel(watcher->cancellable);
            break;
        }
        g_cond_wait_until(&watcher->cond, &watcher->mutex,
                          g_get_monotonic_time() + WATCH_INTERVAL);
    }
    g_mutex_unlock(&watcher->mutex);
    return NULL;
}

static void
watcher_start(Watcher *watcher, LimnJob *job)
{
    watcher->job = job;
    watcher->cancellable = g_cancellable_new();
    g_mutex_init(&watcher->mutex);
    g_cond_init(&watcher->cond);
    watcher->thread = g_thread_new("limn-fetch-watch", watch, watcher);
}

static void
watcher_stop(Watcher *watcher)
{
    g_mutex_lock(&watcher->mutex);
    watcher->done = TRUE;
    g_cond_signal(&watcher->cond);
    g_mutex_unlock(&watcher->mutex);
    g_thread_join(watcher->thread);
    g_mutex_clear(&watcher->mutex);
    g_cond_clear(&watcher->cond);
    g_object_unref(watcher->cancellable);
}

// One step of a path or a plain file name: letters, digits, "-", "_", ".", none that is
// hidden or leads elsewhere.
static gboolean
is_plain_name(const char *text)
{
    gsize length = strlen(text);
    if (length == 0 || length > 200 || text[0] == '.' || text[0] == '-') {
        return FALSE;
    }
    for (gsize i = 0; i < length; i++) {
        if (!g_ascii_isalnum(text[i]) && strchr("-_.", text[i]) == NULL) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
check_name(const char *name, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(name, "/", 3);
    guint n = g_strv_length(parts);
    if ((n == 1 || n == 2) && is_plain_name(parts[0]) &&
        (n == 1 || is_plain_name(parts[1]))) {
        return TRUE;
    }
    return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, name,
                               "not the name of a checkpoint (expected OWNER/NAME of "
                               "letters, digits, \"-\", \"_\" and \".\")");
}

static gboolean
check_revision(const char *revision, GError **error)
{
    g_auto(GStrv) parts = g_strsplit(revision, "/", -1);
    gboolean ok = parts[0] != NULL && strlen(revision) <= 200;
    for (guint i = 0; ok && parts[i] != NULL; i++) {
        ok = is_plain_name(parts[i]);
    }
    return ok || limn_error_set_file(error, LIMN_ERROR_ARGUMENT, revision,
                                     "not a revision (expected a branch, tag or commit)");
}

static GUri *
parse_base(const char *base, GError **error)
{
    g_autoptr(GUri) uri = g_uri_parse(base, SOUP_HTTP_URI_FLAGS, NULL);
    const char *scheme = uri != NULL ? g_uri_get_scheme(uri) : "";
    if (uri == NULL || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) ||
        g_uri_get_host(uri) == NULL || g_uri_get_host(uri)[0] == '\0' ||
        g_uri_get_userinfo(uri) != NULL || g_uri_get_query(uri) != NULL ||
        g_uri_get_fragment(uri) != NULL) {
        limn_error_set_file(error, LIMN_ERROR_ARGUMENT, base,
                            "not the address of a hub (expected http://HOST or "
                            "https://HOST, with or without a path)");
        return NULL;
    }
    return g_steal_pointer(&uri);
}

// A token with anything but printable characters would change the request.
static char *
find_token(void)
{
    const char *const variables[] = {"LIMN_HUB_TOKEN", "HF_TOKEN"};
    for (guint i = 0; i < G_N_ELEMENTS(variables); i++) {
        g_autofree char *token = g_strdup(g_getenv(variables[i]));
        gboolean ok = token != NULL && g_strstrip(token)[0] != '\0';
        for (const char *at = token; ok && *at != '\0'; at++) {
            ok = g_ascii_isgraph(*at);
        }
        if (ok) {
            return g_steal_pointer(&token);
        }
    }
    return NULL;
}

static gboolean
fetcher_init(LimnFetcher *fetcher, const LimnFetchOptions *options, GError **error)
{
    const char *base = options->base != NULL ? options->base : LIMN_FETCH_DEFAULT_BASE;
    const char *revision = options->revision != NULL ? options->revision : "main";
    if (!check_name(options->name, error) || !check_revision(revision, error)) {
        return FALSE;
    }
    fetcher->base = parse_base(base, error);
    if (fetcher->base == NULL) {
        return FALSE;
    }
    gsize length = strlen(base);
    while (base[length - 1] == '/') {
        length--;
    }
    g_autofree char *escaped = g_uri_escape_string(revision, NULL, FALSE);
    fetcher->prefix = g_strdup_printf("%.*s/%s/resolve/%s/", (int) length, base,
                                      options->name, escaped);
    fetcher->directory = options->directory;
    fetcher->timeout = options->timeout > 0 ? options->timeout : DEFAULT_TIMEOUT;
    fetcher->token = find_token();
    fetcher->session = soup_session_new_with_options(
        "timeout", fetcher->timeout, "user-agent", "Limn/" LIMN_VERSION, NULL);
    // Bodies are taken as they are, and 401 is an answer, not a question.
    soup_session_remove_feature_by_type(fetcher->session, SOUP_TYPE_CONTENT_DECODER);
    soup_session_remove_feature_by_type(fetcher->session, SOUP_TYPE_AUTH_MANAGER);
    return TRUE;
}

static void
fetcher_clear(LimnFetcher *fetcher)
{
    g_clear_object(&fetcher->session);
    g_clear_pointer(&fetcher->base, g_uri_unref);
    g_free(fetcher->prefix);
    g_free(fetcher->token);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimnFetcher, fetcher_clear)

static LimnFetchResult
fetch_within(LimnFetcher *fetcher, const char *name, guint64 max_size, double begin,
             double end, GError **error)
{
    if (!limn_job_check(fetcher->job, error)) {
        return LIMN_FETCH_FAILED;
    }
    limn_job_push_range(fetcher->job, begin, end);
    LimnFetchResult result = limn_fetch_file(fetcher, name, max_size, error);
    limn_job_pop_range(fetcher->job);
    return result;
}

// The configuration first: without one there is no checkpoint. Then what may be absent.
static gboolean
fetch_small_files(LimnFetcher *fetcher, GError **error)
{
    const gsize n_configs = G_N_ELEMENTS(config_files);
    const gsize n = n_configs + G_N_ELEMENTS(other_files);
    gboolean configured = FALSE;
    for (gsize i = 0; i < n; i++) {
        const char *name = i < n_configs ? config_files[i] : other_files[i - n_configs];
        double begin = SMALL_SHARE * (double) i / (double) n;
        double end = SMALL_SHARE * (double) (i + 1) / (double) n;
        LimnFetchResult result =
            fetch_within(fetcher, name, SMALL_FILE, begin, end, error);
        if (result == LIMN_FETCH_FAILED) {
            return FALSE;
        }
        configured |= result == LIMN_FETCH_DONE && i < n_configs;
        if (i + 1 == n_configs && !configured) {
            return limn_error_set_file(
                error, LIMN_ERROR_FAILED, fetcher->prefix,
                "no such checkpoint (status 404 for config.json and "
                "open_clip_config.json)");
        }
    }
    return TRUE;
}

static gboolean
add_shard(const char *index, json_t *value, GHashTable *seen, GPtrArray *shards,
          GError **error)
{
    const char *name = json_string_value(value);
    if (name == NULL || !is_plain_name(name) || !g_str_has_suffix(name, ".safetensors")) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, index,
                                   "weight_map names no plain file (found %s, expected "
                                   "NAME.safetensors)",
                                   name != NULL ? name : "something else than a text");
    }
    if (g_hash_table_add(seen, g_strdup(name))) {
        g_ptr_array_add(shards, g_strdup(name));
    }
    return shards->len <= MAX_SHARDS ||
           limn_error_set_file(error, LIMN_ERROR_FORMAT, index,
                               "names more than %d shards", MAX_SHARDS);
}

// Names of the shards in the order in which the index first has them.
static GPtrArray *
list_shards(LimnFetcher *fetcher, const char *index_name, GError **error)
{
    g_autofree char *index = g_build_filename(fetcher->directory, index_name, NULL);
    json_t *root = limn_json_load_object(index, error);
    if (root == NULL) {
        return NULL;
    }
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) shards = g_ptr_array_new_with_free_func(g_free);
    const char *key;
    json_t *value, *map = json_object_get(root, "weight_map");
    gboolean ok = TRUE;
    json_object_foreach(map, key, value)
    {
        ok = ok && add_shard(index, value, seen, shards, error);
    }
    json_decref(root);
    if (ok && shards->len == 0) {
        ok = limn_error_set_file(error, LIMN_ERROR_FORMAT, index,
                                 "weight_map names no file");
    }
    return ok ? g_steal_pointer(&shards) : NULL;
}

static gboolean
fetch_shards(LimnFetcher *fetcher, const char *index, GError **error)
{
    g_autoptr(GPtrArray) shards = list_shards(fetcher, index, error);
    for (guint i = 0; shards != NULL && i < shards->len; i++) {
        const char *name = g_ptr_array_index(shards, i);
        double step = (1 - SMALL_SHARE) / shards->len;
        LimnFetchResult result = fetch_within(fetcher, name, 0, SMALL_SHARE + i * step,
                                              SMALL_SHARE + (i + 1) * step, error);
        if (result == LIMN_FETCH_ABSENT) {
            limn_error_set_file(error, LIMN_ERROR_FAILED, fetcher->prefix,
                                "%s is missing (status 404), although %s names it", name,
                                index);
        }
        if (result != LIMN_FETCH_DONE) {
            return FALSE;
        }
    }
    return shards != NULL;
}

static gboolean
fetch_weights(LimnFetcher *fetcher, GError **error)
{
    static const struct {
        const char *name;
        gboolean is_index;
    } kinds[] = {
        {"model.safetensors", FALSE},
        {"model.safetensors.index.json", TRUE},
        {"open_clip_model.safetensors", FALSE},
    };
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        double end = kinds[i].is_index ? SMALL_SHARE : 1;
        LimnFetchResult result =
            fetch_within(fetcher, kinds[i].name, kinds[i].is_index ? SMALL_FILE : 0,
                         SMALL_SHARE, end, error);
        if (result == LIMN_FETCH_DONE) {
            return !kinds[i].is_index || fetch_shards(fetcher, kinds[i].name, error);
        }
        if (result == LIMN_FETCH_FAILED) {
            return FALSE;
        }
    }
    return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, fetcher->prefix,
                               "has no weights in the safetensors format (status 404 for "
                               "model.safetensors, model.safetensors.index.json and "
                               "open_clip_model.safetensors)");
}

static gboolean
fetch_all(const LimnFetchOptions *options, LimnJob *job, GCancellable *cancellable,
          GError **error)
{
    g_auto(LimnFetcher) fetcher = {.job = job, .cancellable = cancellable};
    gboolean made = !g_file_test(options->directory, G_FILE_TEST_EXISTS);
    if (!fetcher_init(&fetcher, options, error) ||
        !limn_make_directory(options->directory, error)) {
        return FALSE;
    }
    gboolean ok = fetch_small_files(&fetcher, error) && fetch_weights(&fetcher, error);
    if (!ok && made) {
        g_rmdir(options->directory); // when it is still empty
    }
    return ok;
}

gboolean
limn_fetch_checkpoint(const LimnFetchOptions *options, LimnJob *job, GError **error)
{
    g_return_val_if_fail(options->name != NULL && options->directory != NULL, FALSE);
    Watcher watcher = {.done = FALSE};
    watcher_start(&watcher, job);
    g_autoptr(GMainContext) context = g_main_context_new();
    g_main_context_push_thread_default(context); // that of the session
    gboolean ok = fetch_all(options, job, watcher.cancellable, error);
    g_main_context_pop_thread_default(context);
    watcher_stop(&watcher);
    if (ok) {
        limn_job_report(job, "fetch", 1, "%s", options->name);
    }
    return ok;
}

char *
limn_fetch_default_directory(const char *name, GError **error)
{
    if (!check_name(name, error)) {
        return NULL;
    }
    g_auto(GStrv) parts = g_strsplit(name, "/", 2);
    g_autofree char *folder = g_strjoinv("--", parts);
    return g_build_filename(g_get_user_data_dir(), "limn", "models", folder, NULL);
}
