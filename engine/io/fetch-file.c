// SPDX-License-Identifier: GPL-3.0-or-later

// Two files lie beside NAME while it is fetched: NAME.part with what has arrived, and
// NAME.part-state with two lines that say what it is a part of:
//   "etag VALUE\n" (strong ETag of the answer that sent the bytes; may be empty)
//   "sha256 DIGEST\n" (as stated by the hub; may be empty)
// The part is continued when the hub still states the same digest (it is checked at the
// end), else by If-Range with the ETag; without either it is fetched anew.

#include "engine/io/fetch-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/path.h"

#define MAX_REDIRECTS 10
#define MAX_ATTEMPTS 4 // as long as each brings new bytes
#define BLOCK_SIZE ((gsize) 256 << 10)

// One file on its way.
typedef struct {
    LimnFetcher *fetcher;
    const char *name;
    char *path, *part, *state; // final name, part, what the part is of
    char *url;                 // of the answer at hand
    guint64 max_size;

    // What the server said.
    gint64 size;  // -1: not stated
    char *sha256; // NULL: not stated
    char *etag;   // strong, NULL: none
    gboolean linked_size, linked_sha256;
    guint status;
    guint64 first; // offset at which the body begins

    // What the part on disk holds.
    guint64 have;
    char *have_etag, *have_sha256;
    int fd;
    GChecksum *checksum;
    gboolean broken_off; // the error is of the kind that another attempt may mend
} Transfer;

static void
transfer_clear(Transfer *t)
{
    if (t->fd >= 0) {
        close(t->fd);
    }
    if (t->checksum != NULL) {
        g_checksum_free(t->checksum);
    }
    g_free(t->path);
    g_free(t->part);
    g_free(t->state);
    g_free(t->url);
    g_free(t->sha256);
    g_free(t->etag);
    g_free(t->have_etag);
    g_free(t->have_sha256);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Transfer, transfer_clear)

static gboolean set_failed(Transfer *t, GError **error, const char *format, ...)
    G_GNUC_PRINTF(3, 4);

static gboolean
set_failed(Transfer *t, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return limn_error_set_file(error, LIMN_ERROR_FAILED, t->url, "%s", message);
}

// An error of the connection in our words.
static gboolean
set_connection_error(Transfer *t, const GError *cause, GError **error)
{
    if (limn_job_is_cancelled(t->fetcher->job)) {
        return limn_job_check(t->fetcher->job, error);
    }
    if (g_error_matches(cause, G_IO_ERROR, G_IO_ERROR_TIMED_OUT)) {
        t->broken_off = TRUE;
        return set_failed(t, error, "timed out (nothing arrived for %u seconds)",
                          t->fetcher->timeout);
    }
    t->broken_off = g_error_matches(cause, G_IO_ERROR, G_IO_ERROR_PARTIAL_INPUT) ||
                    g_error_matches(cause, G_IO_ERROR, G_IO_ERROR_CONNECTION_CLOSED);
    return set_failed(t, error, "the connection failed (%s)", cause->message);
}

static gboolean
is_sha256(const char *text)
{
    return strlen(text) == 64 && strspn(text, "0123456789abcdefABCDEF") == 64;
}

// The text between the quotes of a strong ETag, NULL when it is weak or not one.
static char *
strong_etag(const char *header)
{
    gsize length = header != NULL ? strlen(header) : 0;
    if (length < 2 || header[0] != '"' || header[length - 1] != '"' || length > 1000) {
        return NULL;
    }
    return g_strndup(header + 1, length - 2);
}

static gboolean
same_origin(GUri *a, GUri *b)
{
    return strcmp(g_uri_get_scheme(a), g_uri_get_scheme(b)) == 0 &&
           g_ascii_strcasecmp(g_uri_get_host(a), g_uri_get_host(b)) == 0 &&
           g_uri_get_port(a) == g_uri_get_port(b);
}

// Keeps size and digest that the hub states for a file that it stores elsewhere (on the
// redirection), or, if it sends the file itself, with the file. What other hosts call
// ETag may be a digest of another kind.
static void
note_headers(Transfer *t, SoupMessage *message, gboolean from_hub)
{
    SoupMessageHeaders *headers = soup_message_get_response_headers(message);
    const char *size = soup_message_headers_get_one(headers, "X-Linked-Size");
    g_autofree char *linked =
        strong_etag(soup_message_headers_get_one(headers, "X-Linked-ETag"));
    guint64 value;
    if (from_hub && size != NULL &&
        g_ascii_string_to_unsigned(size, 10, 0, G_MAXINT64, &value, NULL)) {
        t->size = (gint64) value;
        t->linked_size = TRUE;
    }
    if (from_hub && linked != NULL && is_sha256(linked)) {
        g_free(t->sha256);
        t->sha256 = g_ascii_strdown(linked, -1);
        t->linked_sha256 = TRUE;
    }
    g_free(t->etag);
    t->etag = strong_etag(soup_message_headers_get_one(headers, "ETag"));
    if (from_hub && !t->linked_sha256 && t->etag != NULL && is_sha256(t->etag) &&
        (t->status == SOUP_STATUS_OK || t->status == SOUP_STATUS_PARTIAL_CONTENT)) {
        g_free(t->sha256);
        t->sha256 = g_ascii_strdown(t->etag, -1);
    }
}

static void
set_range(Transfer *t, SoupMessageHeaders *headers)
{
    gboolean same_digest = t->linked_sha256 && t->have_sha256 != NULL &&
                           strcmp(t->sha256, t->have_sha256) == 0;
    gboolean other_digest = t->linked_sha256 && !same_digest;
    if (t->have == 0 || other_digest || (!same_digest && t->have_etag == NULL)) {
        return;
    }
    soup_message_headers_set_range(headers, (goffset) t->have, -1);
    if (!same_digest) {
        g_autofree char *quoted = g_strdup_printf("\"%s\"", t->have_etag);
        soup_message_headers_replace(headers, "If-Range", quoted);
    }
}

static gboolean
may_send_token(Transfer *t, GUri *uri)
{
    const char *host = g_uri_get_host(uri);
    gboolean loopback = strcmp(host, "localhost") == 0 ||
                        strcmp(host, "127.0.0.1") == 0 || strcmp(host, "::1") == 0;
    return t->fetcher->token != NULL && same_origin(uri, t->fetcher->base) &&
           (loopback || strcmp(g_uri_get_scheme(uri), "https") == 0);
}

static SoupMessage *
make_request(Transfer *t, GUri *uri)
{
    SoupMessage *message = soup_message_new_from_uri("GET", uri);
    SoupMessageHeaders *headers = soup_message_get_request_headers(message);
    soup_message_add_flags(message, SOUP_MESSAGE_NO_REDIRECT);
    soup_message_headers_replace(headers, "Accept-Encoding", "identity");
    if (may_send_token(t, uri)) {
        g_autofree char *value = g_strconcat("Bearer ", t->fetcher->token, NULL);
        soup_message_headers_replace(headers, "Authorization", value);
    }
    set_range(t, headers);
    return message;
}

// The address of a redirection; NULL with error when it may not be followed.
static GUri *
redirected(Transfer *t, GUri *from, SoupMessage *message, GError **error)
{
    const char *location = soup_message_headers_get_one(
        soup_message_get_response_headers(message), "Location");
    g_autoptr(GUri) to =
        location != NULL ? g_uri_parse_relative(from, location, SOUP_HTTP_URI_FLAGS, NULL)
                         : NULL;
    const char *scheme = to != NULL ? g_uri_get_scheme(to) : "";
    gboolean plain = strcmp(scheme, "http") == 0;
    if (to == NULL || g_uri_get_host(to) == NULL || g_uri_get_host(to)[0] == '\0' ||
        (!plain && strcmp(scheme, "https") != 0)) {
        set_failed(t, error, "the server redirects to no usable address (%s)",
                   location != NULL ? location : "none");
        return NULL;
    }
    if (plain && strcmp(g_uri_get_scheme(from), "https") == 0) {
        set_failed(t, error, "the server redirects to an unprotected address (%s)",
                   location);
        return NULL;
    }
    return g_steal_pointer(&to);
}

static gboolean
is_there_already(Transfer *t)
{
    struct stat info;
    if (t->size < 0 || lstat(t->path, &info) != 0 || !S_ISREG(info.st_mode) ||
        (gint64) info.st_size != t->size) {
        return FALSE;
    }
    if (t->sha256 == NULL) {
        return TRUE;
    }
    g_autofree char *digest = limn_sha256_file(t->path, NULL, t->fetcher->job, NULL);
    return digest != NULL && strcmp(digest, t->sha256) == 0;
}

static gboolean
is_redirection(guint status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 ||
           status == 308;
}

// Sends the request and follows redirections. Returns: (transfer full) the body, or NULL
// with error; *message is the answer.
static GInputStream *
send_request(Transfer *t, SoupMessage **answer, gboolean *there, GError **error)
{
    g_autofree char *address = g_strconcat(t->fetcher->prefix, t->name, NULL);
    g_autoptr(GUri) uri = g_uri_parse(address, SOUP_HTTP_URI_FLAGS, NULL);
    t->size = -1;
    t->linked_size = t->linked_sha256 = FALSE;
    g_clear_pointer(&t->sha256, g_free);
    for (int hop = 0; hop <= MAX_REDIRECTS; hop++) {
        g_free(t->url);
        // Without the query: it may hold a signature.
        t->url = g_uri_to_string_partial(uri, G_URI_HIDE_QUERY | G_URI_HIDE_PASSWORD);
        g_autoptr(GError) cause = NULL;
        g_autoptr(SoupMessage) message = make_request(t, uri);
        g_autoptr(GInputStream) body = soup_session_send(t->fetcher->session, message,
                                                         t->fetcher->cancellable, &cause);
        if (body == NULL) {
            set_connection_error(t, cause, error);
            return NULL;
        }
        t->status = soup_message_get_status(message);
        note_headers(t, message, same_origin(uri, t->fetcher->base));
        if (!is_redirection(t->status)) {
            *answer = g_steal_pointer(&message);
            return g_steal_pointer(&body);
        }
        *there = (t->linked_size || t->linked_sha256) && is_there_already(t);
        if (*there) {
            return g_steal_pointer(&body);
        }
        GUri *next = redirected(t, uri, message, error);
        if (next == NULL) {
            return NULL;
        }
        g_uri_unref(uri);
        uri = next;
    }
    set_failed(t, error, "more than %d redirections", MAX_REDIRECTS);
    return NULL;
}

static gboolean
set_status_error(Transfer *t, SoupMessage *message, GError **error)
{
    SoupMessageHeaders *headers = soup_message_get_response_headers(message);
    const char *said = soup_message_headers_get_one(headers, "X-Error-Message");
    const char *retry = soup_message_headers_get_one(headers, "Retry-After");
    g_autofree char *shown = limn_display_path(said != NULL ? said : "");
    const char *colon = shown[0] != '\0' ? ": " : "";
    const char *token = t->fetcher->token != NULL
                            ? "the token that was sent does not allow it"
                            : "set HF_TOKEN if it is not public";
    switch (t->status) {
    case SOUP_STATUS_UNAUTHORIZED:
    case SOUP_STATUS_FORBIDDEN:
        return set_failed(t, error,
                          "the server refuses access or has no such checkpoint "
                          "(status %u%s%s; %s)",
                          t->status, colon, shown, token);
    case 429:
        return set_failed(t, error, "too many requests (status 429); try again %s%s%s",
                          retry != NULL ? "in " : "later", retry != NULL ? retry : "",
                          retry != NULL ? " seconds" : "");
    default:
        return set_failed(t, error, "the server answered with status %u (%s%s%s)",
                          t->status, soup_status_get_phrase(t->status), colon, shown);
    }
}

// Takes size and first byte from the answer. FALSE when a partial answer does not
// continue the part.
static gboolean
read_extent(Transfer *t, SoupMessage *message)
{
    SoupMessageHeaders *headers = soup_message_get_response_headers(message);
    gint64 stated = -1;
    t->first = 0;
    if (t->status == SOUP_STATUS_PARTIAL_CONTENT) {
        goffset first, last, total = -1;
        if (!soup_message_headers_get_content_range(headers, &first, &last, &total) ||
            (guint64) first != t->have || (total >= 0 && last + 1 != total)) {
            return FALSE;
        }
        stated = total;
        t->first = t->have;
    } else if (soup_message_headers_get_encoding(headers) ==
               SOUP_ENCODING_CONTENT_LENGTH) {
        stated = soup_message_headers_get_content_length(headers);
    }
    if (!t->linked_size) {
        t->size = stated;
    }
    return TRUE;
}

static gboolean
check_room(Transfer *t, GError **error)
{
    struct statvfs info;
    if (t->max_size > 0 && t->size > 0 && (guint64) t->size > t->max_size) {
        return set_failed(t, error,
                          "larger than expected (found %" G_GINT64_FORMAT
                          " bytes, at most %" G_GUINT64_FORMAT ")",
                          t->size, t->max_size);
    }
    if (t->size < 0 || statvfs(t->fetcher->directory, &info) != 0) {
        return TRUE;
    }
    guint64 room = (guint64) info.f_bavail * info.f_frsize;
    guint64 needed = (guint64) t->size - MIN((guint64) t->size, t->first);
    if (needed <= room) {
        return TRUE;
    }
    return limn_error_set_file(error, LIMN_ERROR_OUTPUT, t->fetcher->directory,
                               "no room for %s (%" G_GUINT64_FORMAT
                               " bytes needed, %" G_GUINT64_FORMAT " free)",
                               t->name, needed, room);
}

static void
load_part(Transfer *t)
{
    struct stat info;
    g_autoptr(GBytes) bytes = limn_file_read(t->state, 4096, NULL);
    t->have = 0;
    g_clear_pointer(&t->have_etag, g_free);
    g_clear_pointer(&t->have_sha256, g_free);
    if (bytes == NULL || lstat(t->part, &info) != 0 || !S_ISREG(info.st_mode)) {
        return;
    }
    g_autofree char *text =
        g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    g_auto(GStrv) lines = g_strsplit(text, "\n", 3);
    if (g_strv_length(lines) < 3 || !g_str_has_prefix(lines[0], "etag ") ||
        !g_str_has_prefix(lines[1], "sha256 ")) {
        return;
    }
    t->have = (guint64) info.st_size;
    t->have_etag = lines[0][5] != '\0' ? g_strdup(lines[0] + 5) : NULL;
    t->have_sha256 = is_sha256(lines[1] + 7) ? g_strdup(lines[1] + 7) : NULL;
}

static void
drop_part(Transfer *t)
{
    unlink(t->part);
    unlink(t->state);
}

static gboolean
save_state(Transfer *t, GError **error)
{
    const char *etag = t->etag != NULL ? t->etag : "";
    g_autofree char *text =
        g_strdup_printf("etag %s\nsha256 %s\n", etag, t->sha256 != NULL ? t->sha256 : "");
    return limn_file_write(t->state, text, strlen(text), error);
}

// Opens the part for what follows at t->first and takes what it holds into the digest.
static gboolean
open_part(Transfer *t, GError **error)
{
    t->fd = open(t->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0666);
    if (t->fd < 0) {
        return limn_file_set_output_error(error, t->part, "cannot create", errno);
    }
    if (flock(t->fd, LOCK_EX | LOCK_NB) != 0) {
        return limn_error_set_file(error, LIMN_ERROR_OUTPUT, t->part,
                                   "in use by another download");
    }
    if (ftruncate(t->fd, (off_t) t->first) != 0) {
        return limn_file_set_output_error(error, t->part, "cannot write", errno);
    }
    t->checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autofree guint8 *block = g_malloc(BLOCK_SIZE);
    guint64 done = 0;
    while (done < t->first) {
        gssize n = read(t->fd, block, BLOCK_SIZE);
        if (n <= 0) {
            return limn_file_set_output_error(error, t->part, "cannot read back",
                                              n < 0 ? errno : EIO);
        }
        g_checksum_update(t->checksum, block, n);
        done += (guint64) n;
        if (!limn_job_check(t->fetcher->job, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static void
report(Transfer *t)
{
    double fraction = t->size > 0 ? (double) t->have / (double) t->size : 0;
    g_autofree char *have = g_format_size(t->have);
    g_autofree char *size = t->size >= 0 ? g_format_size((guint64) t->size) : NULL;
    limn_job_report(t->fetcher->job, "fetch", MIN(fraction, 1), "%s: %s%s%s", t->name,
                    have, size != NULL ? " of " : "", size != NULL ? size : "");
}

static gboolean
copy_body(Transfer *t, GInputStream *body, GError **error)
{
    g_autofree guint8 *block = g_malloc(BLOCK_SIZE);
    t->have = t->first;
    for (;;) {
        g_autoptr(GError) cause = NULL;
        gssize n =
            g_input_stream_read(body, block, BLOCK_SIZE, t->fetcher->cancellable, &cause);
        if (n < 0) {
            return set_connection_error(t, cause, error);
        }
        if (n == 0) {
            return TRUE;
        }
        guint64 bound = t->size >= 0 ? (guint64) t->size : t->max_size;
        if ((t->size >= 0 || t->max_size > 0) &&
            (guint64) n > bound - MIN(bound, t->have)) {
            drop_part(t);
            return set_failed(
                t, error,
                "the server sends more than it stated (expected %" G_GUINT64_FORMAT
                " bytes)",
                bound);
        }
        int errnum = limn_file_write_all(t->fd, block, (gsize) n);
        if (errnum != 0) {
            return limn_file_set_output_error(error, t->part, "cannot write", errnum);
        }
        g_checksum_update(t->checksum, block, n);
        t->have += (guint64) n;
        report(t);
        if (!limn_job_check(t->fetcher->job, error)) {
            return FALSE;
        }
    }
}

// Checks size and digest and gives the part its final name.
static gboolean
finish(Transfer *t, GError **error)
{
    if (t->size >= 0 && t->have != (guint64) t->size) {
        t->broken_off = TRUE;
        return set_failed(t, error,
                          "broken off (found %" G_GUINT64_FORMAT
                          " bytes, expected %" G_GINT64_FORMAT ")",
                          t->have, t->size);
    }
    const char *digest = g_checksum_get_string(t->checksum);
    if (t->sha256 != NULL && strcmp(digest, t->sha256) != 0) {
        drop_part(t);
        return set_failed(t, error, "wrong content (SHA-256 found %s, expected %s)",
                          digest, t->sha256);
    }
    if (fsync(t->fd) != 0 && errno != EINVAL && errno != EROFS) {
        return limn_file_set_output_error(error, t->part, "cannot write", errno);
    }
    if (rename(t->part, t->path) != 0) {
        return limn_file_set_output_error(error, t->path, "cannot rename to this name",
                                          errno);
    }
    unlink(t->state);
    limn_file_sync_directory(t->fetcher->directory);
    return TRUE;
}

static gboolean
take_body(Transfer *t, GInputStream *body, GError **error)
{
    gboolean ok = check_room(t, error) && open_part(t, error) && save_state(t, error) &&
                  copy_body(t, body, error) && finish(t, error);
    g_clear_pointer(&t->checksum, g_checksum_free);
    if (t->fd >= 0) {
        close(t->fd);
        t->fd = -1;
    }
    return ok;
}

// One request. *again: the part is of no use, a second request without it may help.
static LimnFetchResult
attempt(Transfer *t, gboolean *again, GError **error)
{
    g_autoptr(SoupMessage) message = NULL;
    gboolean there = FALSE;
    load_part(t);
    guint64 had = t->have;
    g_autoptr(GInputStream) body = send_request(t, &message, &there, error);
    if (there) {
        drop_part(t);
        return LIMN_FETCH_DONE;
    }
    if (body == NULL) {
        return LIMN_FETCH_FAILED;
    }
    if (t->status == SOUP_STATUS_NOT_FOUND || t->status == SOUP_STATUS_GONE) {
        return LIMN_FETCH_ABSENT;
    }
    gboolean useless =
        had > 0 && t->status == SOUP_STATUS_REQUESTED_RANGE_NOT_SATISFIABLE;
    if (!useless && t->status != SOUP_STATUS_OK &&
        t->status != SOUP_STATUS_PARTIAL_CONTENT) {
        set_status_error(t, message, error);
        return LIMN_FETCH_FAILED;
    }
    if (useless || !read_extent(t, message)) {
        drop_part(t);
        *again = had > 0;
        set_failed(t, error, "the server does not send the part that was asked for");
        return LIMN_FETCH_FAILED;
    }
    if (is_there_already(t)) {
        drop_part(t);
        return LIMN_FETCH_DONE;
    }
    return take_body(t, body, error) ? LIMN_FETCH_DONE : LIMN_FETCH_FAILED;
}

LimnFetchResult
limn_fetch_file(LimnFetcher *fetcher, const char *name, guint64 max_size, GError **error)
{
    g_auto(Transfer)
        t = {.fetcher = fetcher, .name = name, .max_size = max_size, .fd = -1};
    t.path = g_build_filename(fetcher->directory, name, NULL);
    t.part = g_strconcat(t.path, ".part", NULL);
    t.state = g_strconcat(t.path, ".part-state", NULL);
    guint64 before = 0;
    for (int i = 0;; i++) {
        g_autoptr(GError) failure = NULL;
        gboolean again = FALSE;
        t.broken_off = FALSE;
        LimnFetchResult result = attempt(&t, &again, &failure);
        if (result != LIMN_FETCH_FAILED) {
            return result;
        }
        again |= t.broken_off && t.have > before;
        before = MAX(before, t.have);
        if (!again || i + 1 >= MAX_ATTEMPTS ||
            g_error_matches(failure, LIMN_ERROR, LIMN_ERROR_CANCELLED)) {
            g_propagate_error(error, g_steal_pointer(&failure));
            return LIMN_FETCH_FAILED;
        }
    }
}
