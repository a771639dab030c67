// SPDX-License-Identifier: GPL-3.0-or-later

// The cache has one small file per large file that was hashed, named by device and inode:
//   "SIZE MTIME-NS CTIME-NS DIGEST\n"
// A file is hashed again when any of them differs. A file changed within the last two
// seconds is not entered: a further change might not show in its times.

#include "engine/base/hash.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/job.h"
#include "engine/base/path.h"

#define STUDY_FILE "study.json"
#define CACHE_FROM ((guint64) 1 << 20) // smaller files are hashed faster than looked up
#define BLOCK_SIZE ((gsize) 1 << 20)
#define MAX_DEPTH 32
#define UNREADABLE "unreadable"

char *
limn_sha256_bytes(const void *data, gsize size)
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    const guint8 *at = data;
    while (size > 0) {
        gsize n = MIN(size, (gsize) 1 << 30);
        g_checksum_update(checksum, at, (gssize) n);
        at += n;
        size -= n;
    }
    return g_strdup(g_checksum_get_string(checksum));
}

static gint64
nanoseconds(struct timespec time)
{
    return (gint64) time.tv_sec * 1000000000 + time.tv_nsec;
}

static char *
cache_path(const struct stat *info)
{
    g_autofree char *name =
        g_strdup_printf("%" G_GINT64_MODIFIER "x-%" G_GINT64_MODIFIER "x",
                        (guint64) info->st_dev, (guint64) info->st_ino);
    return g_build_filename(g_get_user_cache_dir(), "limn", "sha256", name, NULL);
}

static char *
cache_key(const struct stat *info)
{
    return g_strdup_printf(
        "%" G_GINT64_FORMAT " %" G_GINT64_FORMAT " %" G_GINT64_FORMAT " ",
        (gint64) info->st_size, nanoseconds(info->st_mtim), nanoseconds(info->st_ctim));
}

static char *
cache_lookup(const struct stat *info)
{
    g_autofree char *path = cache_path(info);
    g_autofree char *key = cache_key(info);
    g_autoptr(GBytes) bytes = limn_file_read(path, 256, NULL);
    if (bytes == NULL) {
        return NULL;
    }
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    gsize length = strlen(key);
    if (size != length + 65 || memcmp(data, key, length) != 0 || data[size - 1] != '\n') {
        return NULL;
    }
    for (gsize i = length; i < size - 1; i++) {
        if (!g_ascii_isxdigit(data[i])) {
            return NULL;
        }
    }
    return g_strndup(data + length, 64);
}

static void
cache_store(const struct stat *info, const char *digest)
{
    gint64 now = g_get_real_time() * 1000;
    gint64 changed = MAX(nanoseconds(info->st_mtim), nanoseconds(info->st_ctim));
    if (changed > now - (gint64) 2 * 1000000000) {
        return;
    }
    g_autofree char *path = cache_path(info);
    g_autofree char *directory = g_path_get_dirname(path);
    g_autofree char *key = cache_key(info);
    g_autofree char *line = g_strconcat(key, digest, "\n", NULL);
    if (g_mkdir_with_parents(directory, 0700) == 0) {
        limn_file_write(path, line, strlen(line), NULL);
    }
}

static char *
hash_fd(int fd, const char *path, const struct stat *info, LimnJob *job, GError **error)
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    g_autofree guint8 *block = g_malloc(BLOCK_SIZE);
    guint64 done = 0;
    for (;;) {
        if (!limn_job_check(job, error)) {
            return NULL;
        }
        gssize n = read(fd, block, BLOCK_SIZE);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            limn_error_set_errno(error, LIMN_ERROR_IO, path, "cannot read", errno);
            return NULL;
        }
        if (n == 0) {
            break;
        }
        g_checksum_update(checksum, block, n);
        done += (guint64) n;
        limn_job_report(job, "hash", (double) done / (double) MAX(info->st_size, 1), "%s",
                        "");
    }
    if (done != (guint64) info->st_size) {
        limn_error_set_file(error, LIMN_ERROR_IO, path,
                            "changed while it was read (found %" G_GUINT64_FORMAT
                            " bytes, expected %" G_GINT64_FORMAT ")",
                            done, (gint64) info->st_size);
        return NULL;
    }
    return g_strdup(g_checksum_get_string(checksum));
}

static gboolean
same_version(const struct stat *a, const struct stat *b)
{
    return a->st_size == b->st_size &&
           nanoseconds(a->st_mtim) == nanoseconds(b->st_mtim) &&
           nanoseconds(a->st_ctim) == nanoseconds(b->st_ctim);
}

char *
limn_sha256_file(const char *path, guint64 *size, LimnJob *job, GError **error)
{
    struct stat info;
    int fd = limn_file_open_regular(path, &info, error);
    if (fd < 0) {
        return NULL;
    }
    gboolean cached = (guint64) info.st_size >= CACHE_FROM;
    char *digest = cached ? cache_lookup(&info) : NULL;
    if (digest == NULL) {
        digest = hash_fd(fd, path, &info, job, error);
        struct stat after;
        if (digest != NULL && cached && fstat(fd, &after) == 0 &&
            same_version(&info, &after)) {
            cache_store(&info, digest);
        }
    }
    close(fd);
    if (digest != NULL && size != NULL) {
        *size = (guint64) info.st_size;
    }
    return digest;
}

static gboolean
is_study(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, STUDY_FILE, NULL);
    return access(path, F_OK) == 0;
}

// Collects the relative paths of regular files below `relative` ("": the root). Links to
// files count as the files; links to folders are left out, so that there is no way round.
// So are hidden names, and studies below the root: one that is written into its own input
// does not change it.
static gboolean
collect_files(const char *root, const char *relative, int depth, GPtrArray *files,
              GError **error)
{
    g_autofree char *path = g_build_filename(root, relative, NULL);
    g_autoptr(GError) cause = NULL;
    g_autoptr(GDir) dir = depth < MAX_DEPTH ? g_dir_open(path, 0, &cause) : NULL;
    if (dir == NULL && depth > 0 && cause != NULL) {
        g_ptr_array_add(files, g_strconcat(relative, "/", NULL)); // hashed as unreadable
        return TRUE;
    }
    if (dir == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_IO, path,
                                   "cannot list the folder (%s)",
                                   cause != NULL ? cause->message : "too many levels");
    }
    if (depth > 0 && is_study(path)) {
        return TRUE;
    }
    const char *name;
    while ((name = g_dir_read_name(dir)) != NULL) {
        if (name[0] == '.') {
            continue;
        }
        g_autofree char *child =
            relative[0] == '\0' ? g_strdup(name) : g_strconcat(relative, "/", name, NULL);
        g_autofree char *full = g_build_filename(root, child, NULL);
        struct stat link, target;
        if (lstat(full, &link) != 0 || stat(full, &target) != 0) {
            continue;
        }
        if (S_ISDIR(link.st_mode)) {
            if (!collect_files(root, child, depth + 1, files, error)) {
                return FALSE;
            }
        } else if (S_ISREG(target.st_mode)) {
            g_ptr_array_add(files, g_steal_pointer(&child));
        }
    }
    return TRUE;
}

static int
compare_paths(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

// The digest of one file of a tree; UNREADABLE for one that cannot be read, so that it
// does not stand in the way of the others.
static char *
hash_member(const char *path, guint64 *size, LimnJob *job, GError **error)
{
    GError *cause = NULL;
    char *digest = limn_sha256_file(path, size, job, &cause);
    if (digest == NULL && g_error_matches(cause, LIMN_ERROR, LIMN_ERROR_IO)) {
        g_error_free(cause);
        return g_strdup(UNREADABLE);
    }
    if (digest == NULL) {
        g_propagate_error(error, cause);
    }
    return digest;
}

char *
limn_sha256_tree(const char *path, guint64 *size, LimnJob *job, GError **error)
{
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    if (!collect_files(path, "", 0, files, error)) {
        return NULL;
    }
    g_ptr_array_sort(files, compare_paths);
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    guint64 total = 0;
    for (guint i = 0; i < files->len; i++) {
        const char *relative = g_ptr_array_index(files, i);
        g_autofree char *full = g_build_filename(path, relative, NULL);
        guint64 file_size = 0;
        limn_job_push_range(job, (double) i / files->len, (double) (i + 1) / files->len);
        g_autofree char *digest = hash_member(full, &file_size, job, error);
        limn_job_pop_range(job);
        if (digest == NULL) {
            return NULL;
        }
        g_checksum_update(checksum, (const guint8 *) relative,
                          (gssize) strlen(relative) + 1);
        g_checksum_update(checksum, (const guint8 *) digest, (gssize) strlen(digest));
        g_checksum_update(checksum, (const guint8 *) "\n", 1);
        total += file_size;
    }
    if (size != NULL) {
        *size = total;
    }
    return g_strdup(g_checksum_get_string(checksum));
}
