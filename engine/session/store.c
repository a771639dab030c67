// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/store.h"

#include "engine/base/error.h"
#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MAX_SESSIONS 64
#define MAX_SESSION_BYTES (64u << 20)

struct LimnSessionStore {
    char *directory, *path;
    int number;
    int lock; // file descriptor
};

// A descriptor that holds the lock, -1 when another program holds it, -2 on an error.
static int
take_lock(const char *path, GError **error)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    if (fd < 0) {
        limn_error_set_errno(error, LIMN_ERROR_OUTPUT, path,
                             "the lock of the session cannot be made", errno);
        return -2;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    if (errno == EWOULDBLOCK) {
        close(fd);
        return -1;
    }
    limn_error_set_errno(error, LIMN_ERROR_OUTPUT, path, "the session cannot be locked",
                         errno);
    close(fd);
    return -2;
}

LimnSessionStore *
limn_session_store_open(const char *directory, GError **error)
{
    if (!limn_make_directory(directory, error))
        return NULL;
    for (int number = 1; number <= MAX_SESSIONS; number++) {
        g_autofree char *name =
            number == 1 ? g_strdup("session") : g_strdup_printf("session-%d", number);
        g_autofree char *path = g_build_filename(directory, name, NULL);
        g_autofree char *lock_path = g_strconcat(path, ".lock", NULL);
        int fd = take_lock(lock_path, error);
        LimnSessionStore *store;

        if (fd == -2)
            return NULL;
        if (fd == -1)
            continue;
        store = g_new0(LimnSessionStore, 1);
        store->directory = g_strdup(directory);
        store->path = g_strconcat(path, ".json", NULL);
        store->number = number;
        store->lock = fd;
        limn_file_remove_stale(directory);
        return store;
    }
    limn_error_set_file(error, LIMN_ERROR_OUTPUT, directory,
                        "%d sessions are in use, no further one can be opened",
                        MAX_SESSIONS);
    return NULL;
}

void
limn_session_store_free(LimnSessionStore *store)
{
    if (!store)
        return;
    // the lock file stays: removing it would let two programs lock different files
    close(store->lock);
    g_free(store->directory);
    g_free(store->path);
    g_free(store);
}

int
limn_session_store_get_number(LimnSessionStore *store)
{
    return store->number;
}

const char *
limn_session_store_get_path(LimnSessionStore *store)
{
    return store->path;
}

LimnSession *
limn_session_store_load(LimnSessionStore *store, GError **error)
{
    g_autoptr(GBytes) bytes = NULL;
    LimnSession *session;

    if (!g_file_test(store->path, G_FILE_TEST_EXISTS))
        return limn_session_new();
    bytes = limn_file_read(store->path, MAX_SESSION_BYTES, error);
    if (!bytes)
        return NULL;
    session = limn_session_from_json(g_bytes_get_data(bytes, NULL),
                                     g_bytes_get_size(bytes), store->path, error);
    if (!session) {
        g_autofree char *kept = g_strconcat(store->path, ".damaged", NULL);

        if (rename(store->path, kept) != 0)
            g_info("%s: cannot be kept as %s: %s", store->path, kept, g_strerror(errno));
    }
    return session;
}

gboolean
limn_session_store_save(LimnSessionStore *store, const char *json, GError **error)
{
    // the directory may have been removed while the program ran
    return limn_make_directory(store->directory, error) &&
           limn_file_write(store->path, json, strlen(json), error);
}
