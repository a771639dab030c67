// SPDX-License-Identifier: GPL-3.0-or-later

// Downloads from servers that the test starts on the loopback interface.

#include <glib/gstdio.h>
#include <libsoup/soup.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/io/fetch.h"

#define WEIGHTS_SIZE ((gsize) 3000000)
#define NAME "some-lab/clip-tiny"

typedef enum {
    SERVE_PLAIN,
    SERVE_LINKED,   // redirects to the second server, states size and digest
    SERVE_CUT,      // ends the connection after half of the bytes that were asked for
    SERVE_STALL,    // never answers
    SERVE_TRICKLE,  // sends a beginning and then nothing
    SERVE_OVERLONG, // states less than it sends, without a length on the connection
    SERVE_LOOP,     // redirects to itself
    SERVE_TO_FILE,  // redirects to a local file
} Manner;

typedef struct {
    GBytes *data;
    char *etag; // NULL: none
    Manner manner;
    guint status; // 0: as the content says
    gboolean no_range;
    gboolean wrong_digest;
} Resource;

typedef struct {
    GMutex mutex;
    GMainContext *context;
    GMainLoop *loop;
    GThread *thread;
    SoupServer *hub, *store; // two origins
    char *hub_url, *store_url;
    GHashTable *files;    // name -> Resource
    GPtrArray *kept;      // connections held open
    GHashTable *requests; // name -> count
    guint64 weight_bytes; // bytes of bodies of *.safetensors that were sent
    gboolean token_at_hub, token_at_store;
    char *last_range, *last_if_range, *last_path;
    int cuts; // how often SERVE_CUT cuts before it serves whole
} Hub;

typedef struct {
    Hub hub;
    char *folder;
    GBytes *weights;
} Fixture;

static void
resource_free(gpointer data)
{
    Resource *resource = data;
    g_bytes_unref(resource->data);
    g_free(resource->etag);
    g_free(resource);
}

static Resource *
add_file(Hub *hub, const char *name, GBytes *data)
{
    Resource *resource = g_new0(Resource, 1);
    resource->data = g_bytes_ref(data);
    resource->etag = g_strdup("\"abc\"");
    g_hash_table_insert(hub->files, g_strdup(name), resource);
    return resource;
}

static Resource *
add_text(Hub *hub, const char *name, const char *text)
{
    g_autoptr(GBytes) bytes = g_bytes_new(text, strlen(text));
    return add_file(hub, name, bytes);
}

static void
send_raw(Hub *hub, SoupServerMessage *message, const char *head, const void *data,
         gsize size, gboolean keep)
{
    GIOStream *stream = soup_server_message_steal_connection(message);
    GOutputStream *out = g_io_stream_get_output_stream(stream);
    g_output_stream_write_all(out, head, strlen(head), NULL, NULL, NULL);
    g_output_stream_write_all(out, data, size, NULL, NULL, NULL);
    if (keep) {
        g_ptr_array_add(hub->kept, stream);
    } else {
        g_io_stream_close(stream, NULL, NULL);
        g_object_unref(stream);
    }
}

// First byte of "bytes=N-", 0 without a range.
static gsize
range_start(const char *range)
{
    return range != NULL && g_str_has_prefix(range, "bytes=")
               ? (gsize) g_ascii_strtoull(range + 6, NULL, 10)
               : 0;
}

static void
send_cut(Hub *hub, SoupServerMessage *message, Resource *resource, const char *range)
{
    gsize size = g_bytes_get_size(resource->data), start = range_start(range);
    gsize half = (size - start) / 2;
    g_autofree char *head =
        start > 0
            ? g_strdup_printf("HTTP/1.1 206 Partial\r\nContent-Length: %zu\r\n"
                              "Content-Range: bytes %zu-%zu/%zu\r\nETag: %s\r\n\r\n",
                              size - start, start, size - 1, size, resource->etag)
            : g_strdup_printf("HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n"
                              "ETag: %s\r\n\r\n",
                              size, resource->etag);
    hub->weight_bytes += half;
    send_raw(hub, message, head,
             (const guint8 *) g_bytes_get_data(resource->data, NULL) + start, half,
             FALSE);
}

static void
send_whole(Hub *hub, SoupServerMessage *message, Resource *resource, const char *name)
{
    SoupMessageHeaders *request = soup_server_message_get_request_headers(message);
    SoupMessageHeaders *response = soup_server_message_get_response_headers(message);
    const char *if_range = soup_message_headers_get_one(request, "If-Range");
    if (resource->no_range ||
        (if_range != NULL && g_strcmp0(if_range, resource->etag) != 0)) {
        soup_message_headers_remove(request, "Range"); // the server library answers it
    }
    if (resource->etag != NULL) {
        soup_message_headers_replace(response, "ETag", resource->etag);
    }
    gsize size = g_bytes_get_size(resource->data);
    gsize start = range_start(soup_message_headers_get_one(request, "Range"));
    if (g_str_has_suffix(name, ".safetensors")) {
        hub->weight_bytes += size - MIN(start, size);
    }
    soup_server_message_set_status(message, SOUP_STATUS_OK, NULL);
    soup_server_message_set_response(message, "application/octet-stream",
                                     SOUP_MEMORY_COPY,
                                     g_bytes_get_data(resource->data, NULL), size);
}

static void
send_linked(Hub *hub, SoupServerMessage *message, Resource *resource, const char *name)
{
    SoupMessageHeaders *response = soup_server_message_get_response_headers(message);
    g_autofree char *digest = limn_sha256_bytes(g_bytes_get_data(resource->data, NULL),
                                                g_bytes_get_size(resource->data));
    if (resource->wrong_digest) {
        digest[0] = digest[0] == '0' ? '1' : '0';
    }
    g_autofree char *etag = g_strdup_printf("\"%s\"", digest);
    g_autofree char *size = g_strdup_printf("%zu", g_bytes_get_size(resource->data));
    g_autofree char *location =
        g_strdup_printf("%s/blob/%s?signature=secret", hub->store_url, name);
    soup_message_headers_replace(response, "X-Linked-ETag", etag);
    soup_message_headers_replace(response, "X-Linked-Size", size);
    soup_message_headers_replace(response, "Location", location);
    soup_server_message_set_status(message, SOUP_STATUS_FOUND, NULL);
}

static void
send_redirect(SoupServerMessage *message, const char *location)
{
    soup_message_headers_replace(soup_server_message_get_response_headers(message),
                                 "Location", location);
    soup_server_message_set_status(message, SOUP_STATUS_FOUND, NULL);
}

static void
answer(Hub *hub, SoupServerMessage *message, Resource *resource, const char *name,
       gboolean at_store, const char *range)
{
    const char *chunk = "HTTP/1.1 200 OK\r\nX-Linked-Size: 100\r\n\r\n";
    const void *data = g_bytes_get_data(resource->data, NULL);
    gsize size = g_bytes_get_size(resource->data);
    switch (resource->manner) {
    case SERVE_CUT:
        if (hub->cuts-- > 0) {
            send_cut(hub, message, resource, range);
        } else {
            send_whole(hub, message, resource, name);
        }
        break;
    case SERVE_STALL:
        send_raw(hub, message, "", NULL, 0, TRUE);
        break;
    case SERVE_TRICKLE:
        send_raw(hub, message, "HTTP/1.1 200 OK\r\nContent-Length: 3000000\r\n\r\n", data,
                 1000, TRUE);
        break;
    case SERVE_OVERLONG:
        send_raw(hub, message, chunk, data, size, FALSE);
        break;
    case SERVE_LOOP:
        send_redirect(message, "?again");
        break;
    case SERVE_TO_FILE:
        send_redirect(message, "file:///etc/passwd");
        break;
    case SERVE_LINKED:
        if (!at_store) {
            send_linked(hub, message, resource, name);
            break;
        }
        send_whole(hub, message, resource, name);
        break;
    case SERVE_PLAIN:
        send_whole(hub, message, resource, name);
        break;
    }
}

static void
handle(SoupServer *server, SoupServerMessage *message, const char *path,
       GHashTable *query, gpointer data)
{
    Hub *hub = data;
    const char *name = strrchr(path, '/') + 1;
    SoupMessageHeaders *request = soup_server_message_get_request_headers(message);
    gboolean token = soup_message_headers_get_one(request, "Authorization") != NULL;
    gboolean at_store = server == hub->store;
    g_mutex_lock(&hub->mutex);
    Resource *resource = g_hash_table_lookup(hub->files, name);
    guint count = GPOINTER_TO_UINT(g_hash_table_lookup(hub->requests, name));
    g_hash_table_insert(hub->requests, g_strdup(name), GUINT_TO_POINTER(count + 1));
    hub->token_at_hub |= token && !at_store;
    hub->token_at_store |= token && at_store;
    const char *range = soup_message_headers_get_one(request, "Range");
    if (g_str_has_suffix(name, ".safetensors")) {
        g_free(hub->last_range);
        g_free(hub->last_if_range);
        g_free(hub->last_path);
        hub->last_range = g_strdup(range);
        hub->last_if_range = g_strdup(soup_message_headers_get_one(request, "If-Range"));
        hub->last_path = g_strdup(path);
    }
    if (resource == NULL) {
        soup_server_message_set_status(message, SOUP_STATUS_NOT_FOUND, NULL);
    } else if (resource->status != 0) {
        SoupMessageHeaders *response = soup_server_message_get_response_headers(message);
        soup_message_headers_replace(response, "Retry-After", "17");
        soup_message_headers_replace(response, "X-Error-Message", "said the hub");
        soup_server_message_set_status(message, resource->status, NULL);
    } else {
        answer(hub, message, resource, name, at_store, range);
    }
    g_mutex_unlock(&hub->mutex);
}

static SoupServer *
start_server(Hub *hub, char **url)
{
    g_autoptr(GError) error = NULL;
    SoupServer *server = soup_server_new(NULL, NULL);
    soup_server_add_handler(server, NULL, handle, hub, NULL);
    g_assert_true(
        soup_server_listen_local(server, 0, SOUP_SERVER_LISTEN_IPV4_ONLY, &error));
    g_assert_no_error(error);
    GSList *uris = soup_server_get_uris(server);
    g_autofree char *text = g_uri_to_string(uris->data);
    text[strlen(text) - 1] = '\0'; // the slash
    *url = g_steal_pointer(&text);
    g_slist_free_full(uris, (GDestroyNotify) g_uri_unref);
    return server;
}

static gpointer
run_server(gpointer data)
{
    Hub *hub = data;
    g_main_context_push_thread_default(hub->context);
    hub->hub = start_server(hub, &hub->hub_url);
    hub->store = start_server(hub, &hub->store_url);
    g_main_loop_run(hub->loop);
    g_clear_object(&hub->hub);
    g_clear_object(&hub->store);
    while (g_main_context_iteration(hub->context, FALSE)) {
    }
    g_main_context_pop_thread_default(hub->context);
    return NULL;
}

static void
set_up(Fixture *fixture, gconstpointer data)
{
    Hub *hub = &fixture->hub;
    g_unsetenv("HF_TOKEN");
    g_unsetenv("LIMN_HUB_TOKEN");
    fixture->folder = g_dir_make_tmp("limn-fetch-XXXXXX", NULL);
    guint8 *bytes = g_malloc(WEIGHTS_SIZE);
    for (gsize i = 0; i < WEIGHTS_SIZE; i++) {
        bytes[i] = (guint8) (i * 2654435761u >> 13);
    }
    fixture->weights = g_bytes_new_take(bytes, WEIGHTS_SIZE);
    g_mutex_init(&hub->mutex);
    hub->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, resource_free);
    hub->requests = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    hub->kept = g_ptr_array_new_with_free_func(g_object_unref);
    hub->context = g_main_context_new();
    hub->loop = g_main_loop_new(hub->context, FALSE);
    hub->thread = g_thread_new("server", run_server, hub);
    while (!g_main_loop_is_running(hub->loop)) {
        g_usleep(1000);
    }
    add_text(hub, "config.json", "{\"model_type\": \"clip\"}");
    add_text(hub, "vocab.json", "{}");
    add_file(hub, "model.safetensors", fixture->weights);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    Hub *hub = &fixture->hub;
    g_main_loop_quit(hub->loop);
    g_thread_join(hub->thread);
    g_main_loop_unref(hub->loop);
    g_main_context_unref(hub->context);
    g_hash_table_unref(hub->files);
    g_hash_table_unref(hub->requests);
    g_ptr_array_unref(hub->kept);
    g_mutex_clear(&hub->mutex);
    g_free(hub->hub_url);
    g_free(hub->store_url);
    g_free(hub->last_range);
    g_free(hub->last_if_range);
    g_free(hub->last_path);
    g_bytes_unref(fixture->weights);
    g_assert_true(limn_remove_tree(fixture->folder, NULL));
    g_free(fixture->folder);
}

static Resource *
weights_of(Fixture *fixture)
{
    return g_hash_table_lookup(fixture->hub.files, "model.safetensors");
}

static gboolean
fetch_full(Fixture *fixture, LimnJob *job, guint timeout, GError **error)
{
    const LimnFetchOptions options = {
        .name = NAME,
        .directory = fixture->folder,
        .base = fixture->hub.hub_url,
        .timeout = timeout,
    };
    return limn_fetch_checkpoint(&options, job, error);
}

static gboolean
fetch(Fixture *fixture, GError **error)
{
    return fetch_full(fixture, NULL, 20, error);
}

static gboolean
exists(Fixture *fixture, const char *name)
{
    g_autofree char *path = g_build_filename(fixture->folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static void
assert_weights(Fixture *fixture, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(fixture->folder, name, NULL);
    g_autoptr(GBytes) bytes = limn_file_map(path, 0, &error);
    g_assert_no_error(error);
    g_assert_true(g_bytes_equal(bytes, fixture->weights));
    g_assert_false(exists(fixture, "model.safetensors.part"));
    g_assert_false(exists(fixture, "model.safetensors.part-state"));
}

static void
assert_failed(Fixture *fixture, GError *error, LimnErrorCode code, const char *part)
{
    g_assert_error(error, LIMN_ERROR, (int) code);
    g_assert_nonnull(strstr(error->message, part));
    g_assert_false(exists(fixture, "model.safetensors"));
}

// A part as an earlier attempt leaves it.
static void
make_part(Fixture *fixture, gsize size, const char *etag, const char *sha256)
{
    g_autofree char *part =
        g_build_filename(fixture->folder, "model.safetensors.part", NULL);
    g_autofree char *state =
        g_build_filename(fixture->folder, "model.safetensors.part-state", NULL);
    g_autofree char *text = g_strdup_printf("etag %s\nsha256 %s\n", etag, sha256);
    g_assert_true(g_file_set_contents(part, g_bytes_get_data(fixture->weights, NULL),
                                      (gssize) size, NULL));
    g_assert_true(g_file_set_contents(state, text, -1, NULL));
}

static guint
count_requests(Fixture *fixture, const char *name)
{
    return GPOINTER_TO_UINT(g_hash_table_lookup(fixture->hub.requests, name));
}

static void
test_complete(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(fetch(fixture, &error));
    g_assert_no_error(error);
    assert_weights(fixture, "model.safetensors");
    g_assert_true(exists(fixture, "config.json"));
    g_assert_true(exists(fixture, "vocab.json"));
    g_assert_false(exists(fixture, "tokenizer.json")); // the hub has none
    g_assert_false(exists(fixture, "tokenizer.json.part"));
    g_assert_cmpstr(fixture->hub.last_path, ==,
                    "/" NAME "/resolve/main/model.safetensors");
    g_assert_cmpuint(count_requests(fixture, "open_clip_model.safetensors"), ==, 0);
    // A second time there is nothing to do.
    guint64 sent = fixture->hub.weight_bytes;
    g_assert_cmpuint(sent, ==, WEIGHTS_SIZE);
    g_assert_true(fetch(fixture, &error));
    assert_weights(fixture, "model.safetensors");
}

static void
test_linked(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    weights_of(fixture)->manner = SERVE_LINKED;
    g_setenv("HF_TOKEN", "hf_secret", TRUE);
    g_assert_true(fetch(fixture, &error));
    g_assert_no_error(error);
    assert_weights(fixture, "model.safetensors");
    g_assert_true(fixture->hub.token_at_hub);
    g_assert_false(fixture->hub.token_at_store); // never to another host
    // The redirection alone tells that the file is there.
    g_assert_cmpuint(count_requests(fixture, "model.safetensors"), ==, 2);
    g_assert_true(fetch(fixture, &error));
    g_assert_cmpuint(count_requests(fixture, "model.safetensors"), ==, 3);
    g_assert_cmpuint(fixture->hub.weight_bytes, ==, WEIGHTS_SIZE);

    // Damaged on disk, size unchanged: the digest tells.
    g_autofree char *path = g_build_filename(fixture->folder, "model.safetensors", NULL);
    g_autofree char *damaged = g_malloc0(WEIGHTS_SIZE);
    g_assert_true(g_file_set_contents(path, damaged, WEIGHTS_SIZE, NULL));
    g_assert_true(fetch(fixture, &error));
    assert_weights(fixture, "model.safetensors");
}

static void
test_resume_etag(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    make_part(fixture, 1000000, "abc", "");
    g_assert_true(fetch(fixture, &error));
    g_assert_no_error(error);
    assert_weights(fixture, "model.safetensors");
    g_assert_cmpstr(fixture->hub.last_range, ==, "bytes=1000000-");
    g_assert_cmpstr(fixture->hub.last_if_range, ==, "\"abc\"");
    g_assert_cmpuint(fixture->hub.weight_bytes, ==, WEIGHTS_SIZE - 1000000);
}

static void
test_resume_digest(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    gsize size;
    const void *bytes = g_bytes_get_data(fixture->weights, &size);
    g_autofree char *digest = limn_sha256_bytes(bytes, size);
    weights_of(fixture)->manner = SERVE_LINKED;
    make_part(fixture, 2000000, "old", digest);
    g_assert_true(fetch(fixture, &error));
    g_assert_no_error(error);
    assert_weights(fixture, "model.safetensors");
    g_assert_null(fixture->hub.last_if_range);
    g_assert_cmpuint(fixture->hub.weight_bytes, ==, 1000000);
}

static void
test_resume_not_possible(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    // The file on the server is another one now.
    make_part(fixture, 1000000, "other", "");
    g_assert_true(fetch(fixture, &error));
    assert_weights(fixture, "model.safetensors");
    g_assert_cmpuint(fixture->hub.weight_bytes, ==, WEIGHTS_SIZE);
    // The server does not know ranges.
    g_autofree char *path = g_build_filename(fixture->folder, "model.safetensors", NULL);
    g_unlink(path);
    weights_of(fixture)->no_range = TRUE;
    make_part(fixture, 1000000, "abc", "");
    g_assert_true(fetch(fixture, &error));
    assert_weights(fixture, "model.safetensors");
    // Nothing says what the part is of.
    g_unlink(path);
    weights_of(fixture)->no_range = FALSE;
    make_part(fixture, 1000000, "", "");
    fixture->hub.weight_bytes = 0;
    g_assert_true(fetch(fixture, &error));
    assert_weights(fixture, "model.safetensors");
    g_assert_cmpuint(fixture->hub.weight_bytes, ==, WEIGHTS_SIZE);
    // The part is as long as the file: the range cannot be satisfied.
    g_unlink(path);
    make_part(fixture, WEIGHTS_SIZE, "abc", "");
    g_assert_true(fetch(fixture, &error));
    assert_weights(fixture, "model.safetensors");
    g_assert_no_error(error);
}

static void
test_wrong_part(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    gsize size;
    const void *bytes = g_bytes_get_data(fixture->weights, &size);
    g_autofree char *digest = limn_sha256_bytes(bytes, size);
    weights_of(fixture)->manner = SERVE_LINKED;
    make_part(fixture, 2000000, "old", digest);
    g_autofree char *part =
        g_build_filename(fixture->folder, "model.safetensors.part", NULL);
    g_autofree char *zeros = g_malloc0(2000000);
    g_assert_true(g_file_set_contents(part, zeros, 2000000, NULL));
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "wrong content");
    g_clear_error(&error);
    g_assert_false(exists(fixture, "model.safetensors.part")); // of no use to go on with
    g_assert_true(fetch(fixture, &error));
    assert_weights(fixture, "model.safetensors");
}

static void
test_wrong_digest(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    weights_of(fixture)->manner = SERVE_LINKED;
    weights_of(fixture)->wrong_digest = TRUE;
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "wrong content");
    g_assert_null(strstr(error->message, "secret")); // signatures are not shown
    g_assert_false(exists(fixture, "model.safetensors.part"));
}

static void
test_digest_as_etag(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    Resource *weights = weights_of(fixture);
    gsize size;
    const void *bytes = g_bytes_get_data(fixture->weights, &size);
    g_autofree char *digest = limn_sha256_bytes(bytes, size);
    g_free(weights->etag);
    weights->etag = g_strdup_printf("\"%s\"", digest);
    g_assert_true(fetch(fixture, &error));
    assert_weights(fixture, "model.safetensors");
    g_autofree char *path = g_build_filename(fixture->folder, "model.safetensors", NULL);
    g_unlink(path);
    weights->etag[5] = weights->etag[5] == '0' ? '1' : '0';
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "wrong content");
}

static void
test_status(Fixture *fixture, gconstpointer data)
{
    const struct {
        guint status;
        const char *part;
    } cases[] = {
        {401, "HF_TOKEN"},   {403, "said the hub"}, {429, "try again in 17 seconds"},
        {500, "status 500"}, {503, "status 503"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        weights_of(fixture)->status = cases[i].status;
        g_assert_false(fetch(fixture, &error));
        assert_failed(fixture, error, LIMN_ERROR_FAILED, cases[i].part);
        g_assert_nonnull(strstr(error->message, "model.safetensors"));
        g_assert_false(exists(fixture, "model.safetensors.part"));
    }
    g_autoptr(GError) error = NULL;
    g_setenv("LIMN_HUB_TOKEN", "x", TRUE);
    weights_of(fixture)->status = 401;
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "the token that was sent");
}

static void
test_missing(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_hash_table_remove(fixture->hub.files, "model.safetensors");
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_UNSUPPORTED, "404");
    g_clear_error(&error);
    g_hash_table_remove(fixture->hub.files, "config.json");
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "no such checkpoint");
    g_clear_error(&error);
    // A folder that was made for nothing does not stay.
    g_autofree char *folder = g_build_filename(fixture->folder, "new", NULL);
    const LimnFetchOptions options = {
        .name = NAME, .directory = folder, .base = fixture->hub.hub_url};
    g_assert_false(limn_fetch_checkpoint(&options, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FAILED);
    g_assert_false(exists(fixture, "new"));
}

static void
test_open_clip(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_hash_table_remove(fixture->hub.files, "model.safetensors");
    g_hash_table_remove(fixture->hub.files, "config.json");
    add_text(&fixture->hub, "open_clip_config.json", "{}");
    add_file(&fixture->hub, "open_clip_model.safetensors", fixture->weights);
    g_assert_true(fetch(fixture, &error));
    g_assert_no_error(error);
    assert_weights(fixture, "open_clip_model.safetensors");
}

static void
test_shards(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_hash_table_remove(fixture->hub.files, "model.safetensors");
    add_text(&fixture->hub, "model.safetensors.index.json",
             "{\"weight_map\": {\"a\": \"one.safetensors\", \"b\": \"two.safetensors\","
             " \"c\": \"one.safetensors\"}}");
    add_file(&fixture->hub, "one.safetensors", fixture->weights);
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "two.safetensors is missing");
    g_clear_error(&error);
    add_file(&fixture->hub, "two.safetensors", fixture->weights);
    g_assert_true(fetch(fixture, &error));
    g_assert_no_error(error);
    assert_weights(fixture, "one.safetensors");
    assert_weights(fixture, "two.safetensors");
}

static void
test_index_malformed(Fixture *fixture, gconstpointer data)
{
    const char *const indices[] = {
        "{\"weight_map\": {\"a\": \"../../evil.safetensors\"}}",
        "{\"weight_map\": {\"a\": \"/evil.safetensors\"}}",
        "{\"weight_map\": {\"a\": \".hidden.safetensors\"}}",
        "{\"weight_map\": {\"a\": \"model.bin\"}}",
        "{\"weight_map\": {\"a\": 5}}",
        "{\"weight_map\": {}}",
        "{}",
        "{\"weight_map\"",
    };
    g_hash_table_remove(fixture->hub.files, "model.safetensors");
    for (guint i = 0; i < G_N_ELEMENTS(indices); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *index =
            g_build_filename(fixture->folder, "model.safetensors.index.json", NULL);
        g_unlink(index);
        add_text(&fixture->hub, "model.safetensors.index.json", indices[i]);
        g_assert_false(fetch(fixture, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
    }
}

static void
test_cut(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    weights_of(fixture)->manner = SERVE_CUT;
    fixture->hub.cuts = 100;
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "model.safetensors");
    g_clear_error(&error);
    // It went on from where it broke off, a few times; the part stays for the next try.
    g_assert_cmpuint(count_requests(fixture, "model.safetensors"), ==, 4);
    g_assert_true(exists(fixture, "model.safetensors.part"));
    fixture->hub.cuts = 1;
    g_assert_true(fetch(fixture, &error));
    g_assert_no_error(error);
    assert_weights(fixture, "model.safetensors");
    g_assert_cmpuint(fixture->hub.weight_bytes, ==, WEIGHTS_SIZE);
}

static void
test_timeout(Fixture *fixture, gconstpointer data)
{
    const Manner manners[] = {SERVE_STALL, SERVE_TRICKLE};
    for (guint i = 0; i < G_N_ELEMENTS(manners); i++) {
        g_autoptr(GError) error = NULL;
        weights_of(fixture)->manner = manners[i];
        weights_of(fixture)->no_range = TRUE;
        g_assert_false(fetch_full(fixture, NULL, 1, &error));
        assert_failed(fixture, error, LIMN_ERROR_FAILED, "timed out");
    }
}

static gpointer
cancel_soon(gpointer data)
{
    g_usleep(300000);
    limn_job_cancel(data);
    return NULL;
}

static void
test_cancel(Fixture *fixture, gconstpointer data)
{
    const Manner manners[] = {SERVE_STALL, SERVE_TRICKLE};
    for (guint i = 0; i < G_N_ELEMENTS(manners); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnJob) job = limn_job_new();
        weights_of(fixture)->manner = manners[i];
        GThread *thread = g_thread_new("cancel", cancel_soon, job);
        g_assert_false(fetch_full(fixture, job, 600, &error));
        assert_failed(fixture, error, LIMN_ERROR_CANCELLED, "cancelled");
        g_thread_join(thread);
    }
    g_assert_true(exists(fixture, "model.safetensors.part"));
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_false(fetch_full(fixture, job, 600, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

static void
test_bad_redirections(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    weights_of(fixture)->manner = SERVE_LOOP;
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "redirections");
    g_clear_error(&error);
    weights_of(fixture)->manner = SERVE_TO_FILE;
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "no usable address");
}

static void
test_overlong(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    weights_of(fixture)->manner = SERVE_OVERLONG;
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_FAILED, "more than it stated");
    g_assert_false(exists(fixture, "model.safetensors.part"));
}

static void
test_unreachable(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    const LimnFetchOptions options = {
        .name = NAME, .directory = fixture->folder, .base = "http://127.0.0.1:1"};
    g_assert_false(limn_fetch_checkpoint(&options, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FAILED);
    g_assert_true(g_str_has_prefix(error->message, "http://127.0.0.1:1/"));
}

static void
test_arguments(Fixture *fixture, gconstpointer data)
{
    const struct {
        const char *name, *base, *revision;
    } cases[] = {
        {"", NULL, NULL},
        {"a/b/c", NULL, NULL},
        {"../x", NULL, NULL},
        {"a/..", NULL, NULL},
        {"a b", NULL, NULL},
        {"a/b?x", NULL, NULL},
        {"/a", NULL, NULL},
        {"a/", NULL, NULL},
        {"-a/b", NULL, NULL},
        {NAME, "ftp://host", NULL},
        {NAME, "host", NULL},
        {NAME, "http://user:pw@host", NULL},
        {NAME, "http://host/?q=1", NULL},
        {NAME, "", NULL},
        {NAME, NULL, ""},
        {NAME, NULL, "a/../b"},
        {NAME, NULL, "a b"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        const LimnFetchOptions options = {.name = cases[i].name,
                                          .directory = fixture->folder,
                                          .base = cases[i].base,
                                          .revision = cases[i].revision};
        g_assert_false(limn_fetch_checkpoint(&options, NULL, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    }
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = limn_fetch_default_directory(NAME, &error);
    g_assert_true(g_str_has_suffix(folder, "/limn/models/some-lab--clip-tiny"));
    g_assert_null(limn_fetch_default_directory("../x", &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
}

static void
test_base_path(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *base = g_strconcat(fixture->hub.hub_url, "/mirror//", NULL);
    const LimnFetchOptions options = {.name = NAME,
                                      .directory = fixture->folder,
                                      .base = base,
                                      .revision = "refs/pr/1"};
    g_assert_true(limn_fetch_checkpoint(&options, NULL, &error));
    g_assert_no_error(error);
    g_assert_cmpstr(fixture->hub.last_path, ==,
                    "/mirror/" NAME "/resolve/refs/pr/1/model.safetensors");
}

static void
test_not_writable(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_build_filename(fixture->folder, "file", NULL);
    g_autofree char *below = g_build_filename(file, "x", NULL);
    g_assert_true(g_file_set_contents(file, "x", 1, NULL));
    const LimnFetchOptions options = {
        .name = NAME, .directory = below, .base = fixture->hub.hub_url};
    g_assert_false(limn_fetch_checkpoint(&options, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_clear_error(&error);
    // A folder where the part should be.
    g_autofree char *part =
        g_build_filename(fixture->folder, "model.safetensors.part", NULL);
    g_assert_cmpint(g_mkdir(part, 0777), ==, 0);
    g_assert_false(fetch(fixture, &error));
    assert_failed(fixture, error, LIMN_ERROR_OUTPUT, "model.safetensors.part");
}

static void
test_no_room(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    Resource *weights = weights_of(fixture);
    weights->manner = SERVE_LINKED;
    // The write itself fails when a file may not grow further.
    weights->manner = SERVE_PLAIN;
    g_setenv("LIMN_TEST_FULL_AFTER", "1000000", TRUE);
    g_assert_false(fetch(fixture, &error));
    g_unsetenv("LIMN_TEST_FULL_AFTER");
    assert_failed(fixture, error, LIMN_ERROR_OUTPUT, fixture->folder);
    g_assert_nonnull(strstr(error->message, "No space left"));
    g_clear_error(&error);
    g_assert_true(exists(fixture, "model.safetensors.part"));
    g_assert_true(fetch(fixture, &error)); // with room again it goes on
    assert_weights(fixture, "model.safetensors");
    g_assert_cmpstr(fixture->hub.last_if_range, ==, "\"abc\"");
}

typedef struct {
    double last;
    gboolean fell;
    int calls;
} Heard;

static void
hear(LimnJob *job, const LimnProgress *progress, gpointer data)
{
    Heard *heard = data;
    heard->calls++;
    heard->fell |= progress->fraction < heard->last;
    heard->last = progress->fraction;
}

static void
test_progress(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) job = limn_job_new();
    Heard heard = {0};
    limn_job_set_progress(job, hear, &heard, NULL);
    g_assert_true(fetch_full(fixture, job, 20, &error));
    g_assert_cmpfloat(heard.last, ==, 1);
    g_assert_false(heard.fell);
    g_assert_cmpint(heard.calls, >=, 1);
}

// A disk that is full after a number of bytes of one file.
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

ssize_t
__wrap_write(int fd, const void *data, size_t size)
{
    static gint64 written;
    const char *limit = g_getenv("LIMN_TEST_FULL_AFTER");
    if (limit == NULL) {
        written = 0;
    } else if ((written += (gint64) size) > g_ascii_strtoll(limit, NULL, 10)) {
        errno = ENOSPC;
        return -1;
    }
    return __real_write(fd, data, size);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_unsetenv("http_proxy");
    g_unsetenv("HTTP_PROXY");
    const struct {
        const char *name;
        void (*func)(Fixture *fixture, gconstpointer data);
    } tests[] = {
        {"/fetch/complete", test_complete},
        {"/fetch/linked", test_linked},
        {"/fetch/resume-etag", test_resume_etag},
        {"/fetch/resume-digest", test_resume_digest},
        {"/fetch/resume-not-possible", test_resume_not_possible},
        {"/fetch/wrong-part", test_wrong_part},
        {"/fetch/wrong-digest", test_wrong_digest},
        {"/fetch/digest-as-etag", test_digest_as_etag},
        {"/fetch/status", test_status},
        {"/fetch/missing", test_missing},
        {"/fetch/open-clip", test_open_clip},
        {"/fetch/shards", test_shards},
        {"/fetch/index-malformed", test_index_malformed},
        {"/fetch/cut", test_cut},
        {"/fetch/timeout", test_timeout},
        {"/fetch/cancel", test_cancel},
        {"/fetch/bad-redirections", test_bad_redirections},
        {"/fetch/overlong", test_overlong},
        {"/fetch/unreachable", test_unreachable},
        {"/fetch/arguments", test_arguments},
        {"/fetch/base-path", test_base_path},
        {"/fetch/not-writable", test_not_writable},
        {"/fetch/no-room", test_no_room},
        {"/fetch/progress", test_progress},
    };
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_test_add(tests[i].name, Fixture, NULL, set_up, tests[i].func, tear_down);
    }
    return g_test_run();
}
