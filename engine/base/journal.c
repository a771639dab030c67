// SPDX-License-Identifier: GPL-3.0-or-later

// The append-only journal of file.h. Every line is one write followed by a sync; a line
// that could not be written whole is taken back, a line torn by a crash is cut off when
// the journal is opened again, so that a new line never continues it.

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/path.h"

struct LimnJournal {
    char *path;
    int fd;
};

// Size of the file up to and including its last newline; -1 with errno.
static gint64
whole_lines_size(int fd, gint64 size)
{
    guint8 block[4096];
    while (size > 0) {
        gsize n = (gsize) MIN(size, (gint64) sizeof block);
        gssize got = pread(fd, block, n, size - (gint64) n);
        if (got != (gssize) n) {
            if (got >= 0) {
                errno = EIO;
            }
            return -1;
        }
        const guint8 *newline = memrchr(block, '\n', n);
        if (newline != NULL) {
            return size - (gint64) n + (newline - block) + 1;
        }
        size -= (gint64) n;
    }
    return 0;
}

LimnJournal *
limn_journal_open(const char *path, GError **error)
{
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode)) {
        limn_error_set_file(error, LIMN_ERROR_OUTPUT, path,
                            "cannot be written (expected a file)");
        return NULL;
    }
    gboolean created = access(path, F_OK) != 0;
    g_autoptr(LimnJournal) journal = g_new0(LimnJournal, 1);
    journal->path = g_strdup(path);
    journal->fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (journal->fd < 0) {
        limn_file_set_output_error(error, path, "cannot open", errno);
        return NULL;
    }
    gint64 whole = -1;
    if (fstat(journal->fd, &info) == 0) {
        whole = whole_lines_size(journal->fd, info.st_size);
    }
    if (whole < 0 || (whole < info.st_size && ftruncate(journal->fd, whole) != 0)) {
        limn_file_set_output_error(error, path, "cannot repair the last line", errno);
        return NULL;
    }
    if (created) {
        g_autofree char *directory = g_path_get_dirname(path);
        limn_file_sync_directory(directory);
    }
    return g_steal_pointer(&journal);
}

gboolean
limn_journal_append(LimnJournal *journal, const char *line, GError **error)
{
    if (strchr(line, '\n') != NULL) {
        return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, journal->path,
                                   "an entry may not have more than one line");
    }
    struct stat info;
    if (fstat(journal->fd, &info) != 0) {
        return limn_file_set_output_error(error, journal->path, "cannot write", errno);
    }
    g_autofree char *text = g_strconcat(line, "\n", NULL);
    int errnum = limn_file_write_all(journal->fd, text, strlen(text));
    if (errnum == 0 && fdatasync(journal->fd) != 0 && errno != EINVAL && errno != EROFS) {
        errnum = errno;
    }
    if (errnum == 0) {
        return TRUE;
    }
    limn_file_set_output_error(error, journal->path, "cannot write", errnum);
    if (ftruncate(journal->fd, info.st_size) != 0) {
        g_debug("journal keeps a torn line: %s", g_strerror(errno));
    }
    return FALSE;
}

void
limn_journal_free(LimnJournal *journal)
{
    if (journal == NULL) {
        return;
    }
    if (journal->fd >= 0) {
        close(journal->fd);
    }
    g_free(journal->path);
    g_free(journal);
}

GStrv
limn_journal_read(const char *path, gboolean *torn, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(path, 0, error);
    if (bytes == NULL) {
        return NULL;
    }
    gsize size;
    const char *at = g_bytes_get_data(bytes, &size);
    const char *end = at + size;
    g_autoptr(GPtrArray) lines = g_ptr_array_new();
    gboolean dropped = FALSE;
    while (at < end) {
        const char *newline = memchr(at, '\n', (gsize) (end - at));
        gsize length = (gsize) ((newline != NULL ? newline : end) - at);
        // After a loss of power some file systems leave zeros where data should be.
        if (newline == NULL || memchr(at, '\0', length) != NULL) {
            dropped = TRUE;
        } else {
            g_ptr_array_add(lines, g_strndup(at, length));
        }
        at += length + 1;
    }
    g_ptr_array_add(lines, NULL);
    if (torn != NULL) {
        *torn = dropped;
    }
    return (GStrv) g_ptr_array_free(g_steal_pointer(&lines), FALSE);
}
