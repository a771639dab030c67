// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/path.h"

#define BUFFER_SIZE ((gsize) 64 << 10)
#define PART_SUFFIX ".limn-part"

struct LimnFileWriter {
    char *path;
    char *part;      // temporary name, NULL once renamed or removed
    char *directory; // of both
    int fd;
    mode_t mode; // of the file that is replaced, 0: none
    guint8 *buffer;
    gsize used;
    gboolean failed;
};

static const char *
describe_type(mode_t mode)
{
    if (S_ISDIR(mode)) {
        return "a directory";
    }
    if (S_ISFIFO(mode)) {
        return "a pipe";
    }
    if (S_ISSOCK(mode)) {
        return "a socket";
    }
    if (S_ISCHR(mode) || S_ISBLK(mode)) {
        return "a device";
    }
    return "not a regular file";
}

static gboolean
check_regular(const char *path, const struct stat *info, GError **error)
{
    return S_ISREG(info->st_mode) ||
           limn_error_set_file(error, LIMN_ERROR_IO, path,
                               "cannot be read (found %s, expected a file)",
                               describe_type(info->st_mode));
}

gboolean
limn_file_is_there(const char *path)
{
    struct stat info;
    return lstat(path, &info) == 0;
}

void
limn_standard_streams_open(void)
{
    // Opening takes the lowest free number: none below the result is left closed.
    int fd;
    do {
        fd = open("/dev/null", O_RDWR | O_NOCTTY);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0) {
        close(fd);
    }
}

int
limn_file_open_regular(const char *path, struct stat *info, GError **error)
{
    // Looked at before it is opened: opening a pipe waits, opening a device may do
    // anything. O_NONBLOCK covers the moment between the two.
    if (stat(path, info) != 0) {
        limn_error_set_errno(error, LIMN_ERROR_IO, path, "cannot open", errno);
        return -1;
    }
    if (!check_regular(path, info, error)) {
        return -1;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) {
        limn_error_set_errno(error, LIMN_ERROR_IO, path, "cannot open", errno);
        return -1;
    }
    if (fstat(fd, info) != 0 || !S_ISREG(info->st_mode)) {
        limn_error_set_file(error, LIMN_ERROR_IO, path, "changed while it was opened");
        close(fd);
        return -1;
    }
    return fd;
}

static int
open_bounded(const char *path, guint64 max_size, struct stat *info, GError **error)
{
    int fd = limn_file_open_regular(path, info, error);
    if (fd >= 0 && ((max_size > 0 && (guint64) info->st_size > max_size) ||
                    (guint64) info->st_size > G_MAXSIZE)) {
        limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, path,
                            "too large (found %" G_GUINT64_FORMAT
                            " bytes, expected at most %" G_GUINT64_FORMAT ")",
                            (guint64) info->st_size, max_size);
        close(fd);
        return -1;
    }
    return fd;
}

GBytes *
limn_file_map(const char *path, guint64 max_size, GError **error)
{
    struct stat info;
    int fd = open_bounded(path, max_size, &info, error);
    if (fd < 0) {
        return NULL;
    }
    g_autoptr(GError) cause = NULL;
    g_autoptr(GMappedFile) mapped = g_mapped_file_new_from_fd(fd, FALSE, &cause);
    close(fd);
    if (mapped == NULL) {
        limn_error_set_file(error, LIMN_ERROR_IO, path, "cannot map (%s)",
                            cause->message);
        return NULL;
    }
    return g_mapped_file_get_bytes(mapped);
}

GBytes *
limn_file_read(const char *path, guint64 max_size, GError **error)
{
    struct stat info;
    int fd = open_bounded(path, max_size, &info, error);
    if (fd < 0) {
        return NULL;
    }
    gsize size = (gsize) info.st_size;
    g_autofree guint8 *data = g_try_malloc(MAX(size, 1));
    if (data == NULL) {
        limn_error_set_file(error, LIMN_ERROR_MEMORY, path,
                            "no memory for %" G_GSIZE_FORMAT " bytes", size);
        close(fd);
        return NULL;
    }
    gsize done = 0;
    while (done < size) {
        gssize n = read(fd, data + done, size - done);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            limn_error_set_errno(error, LIMN_ERROR_IO, path, "cannot read", errno);
            close(fd);
            return NULL;
        }
        if (n == 0) { // became shorter meanwhile
            break;
        }
        done += (gsize) n;
    }
    close(fd);
    return g_bytes_new_take(g_steal_pointer(&data), done);
}

// Output errors name the path; a full disk names the directory as well, because the user
// has to make room there and not where the file was meant to be seen.
gboolean
limn_file_set_output_error(GError **error, const char *path, const char *what, int errnum)
{
    if (errnum == ENOSPC || errnum == EDQUOT) {
        g_autofree char *directory = g_path_get_dirname(path);
        g_autofree char *shown = limn_display_path(directory);
        return limn_error_set_file(error, LIMN_ERROR_OUTPUT, path,
                                   "%s: %s (no room in the directory %s)", what,
                                   g_strerror(errnum), shown);
    }
    return limn_error_set_errno(error, LIMN_ERROR_OUTPUT, path, what, errnum);
}

// ".NAME.PID-XXXXXX.limn-part". A name near the limit of the file system is cut, between
// two characters where it is UTF-8.
static char *
part_name(const char *directory, const char *name)
{
    static int counter;
    gsize keep = MIN(strlen(name), 200);
    while (keep > 0 && ((guint8) name[keep] & 0xc0) == 0x80) {
        keep--;
    }
    guint32 tail = g_random_int() ^ (guint32) g_atomic_int_add(&counter, 1);
    g_autofree char *part = g_strdup_printf(".%.*s.%d-%06x" PART_SUFFIX, (int) keep, name,
                                            (int) getpid(), tail & 0xffffff);
    return g_build_filename(directory, part, NULL);
}

static gboolean
open_part(LimnFileWriter *writer, GError **error)
{
    g_autofree char *name = g_path_get_basename(writer->path);
    for (int attempt = 0; attempt < 100; attempt++) {
        g_autofree char *part = part_name(writer->directory, name);
        writer->fd =
            open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (writer->fd >= 0) {
            writer->part = g_steal_pointer(&part);
            // Held while the writer lives: tells limn_file_remove_stale that it does.
            flock(writer->fd, LOCK_EX | LOCK_NB);
            if (writer->mode != 0) {
                fchmod(writer->fd, writer->mode & 0777);
            }
            return TRUE;
        }
        if (errno != EEXIST) {
            break;
        }
    }
    return limn_file_set_output_error(error, writer->path, "cannot create", errno);
}

LimnFileWriter *
limn_file_writer_new(const char *path, GError **error)
{
    struct stat info;
    gboolean exists = lstat(path, &info) == 0;
    gsize length = strlen(path);
    if (length == 0 || path[length - 1] == '/' || (exists && S_ISDIR(info.st_mode))) {
        limn_error_set_file(
            error, LIMN_ERROR_OUTPUT, path,
            "cannot be written (found a directory, expected a file name)");
        return NULL;
    }
    if (exists && !S_ISREG(info.st_mode) && !S_ISLNK(info.st_mode)) {
        limn_error_set_file(error, LIMN_ERROR_OUTPUT, path,
                            "cannot be replaced (found %s, expected a file)",
                            describe_type(info.st_mode));
        return NULL;
    }
    g_autoptr(LimnFileWriter) writer = g_new0(LimnFileWriter, 1);
    writer->fd = -1;
    writer->path = g_strdup(path);
    writer->directory = g_path_get_dirname(path);
    writer->mode = exists && S_ISREG(info.st_mode) ? info.st_mode : 0;
    if (!open_part(writer, error)) {
        return NULL;
    }
    writer->buffer = g_malloc(BUFFER_SIZE);
    return g_steal_pointer(&writer);
}

int
limn_file_write_all(int fd, const void *data, gsize size)
{
    const guint8 *at = data;
    while (size > 0) {
        gssize n = write(fd, at, size);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return errno;
        }
        at += n;
        size -= (gsize) n;
    }
    return 0;
}

static gboolean
writer_fail(LimnFileWriter *writer, const char *what, int errnum, GError **error)
{
    writer->failed = TRUE;
    return limn_file_set_output_error(error, writer->path, what, errnum);
}

static gboolean
writer_flush(LimnFileWriter *writer, GError **error)
{
    int errnum = limn_file_write_all(writer->fd, writer->buffer, writer->used);
    writer->used = 0;
    return errnum == 0 || writer_fail(writer, "cannot write", errnum, error);
}

static gboolean
writer_usable(LimnFileWriter *writer, GError **error)
{
    return (!writer->failed && writer->fd >= 0) ||
           limn_error_set_file(error, LIMN_ERROR_OUTPUT, writer->path,
                               "cannot write after an earlier failure");
}

gboolean
limn_file_writer_write(LimnFileWriter *writer, const void *data, gsize size,
                       GError **error)
{
    if (!writer_usable(writer, error)) {
        return FALSE;
    }
    if (size > BUFFER_SIZE - writer->used && !writer_flush(writer, error)) {
        return FALSE;
    }
    if (size >= BUFFER_SIZE) {
        int errnum = limn_file_write_all(writer->fd, data, size);
        return errnum == 0 || writer_fail(writer, "cannot write", errnum, error);
    }
    if (size > 0) {
        memcpy(writer->buffer + writer->used, data, size);
        writer->used += size;
    }
    return TRUE;
}

gboolean
limn_file_writer_printf(LimnFileWriter *writer, GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    return limn_file_writer_write(writer, text, strlen(text), error);
}

// Some file systems cannot sync; that is no reason to lose the file.
static int
sync_fd(int fd)
{
    if (fsync(fd) == 0 || errno == EINVAL || errno == EROFS || errno == ENOTSUP) {
        return 0;
    }
    return errno;
}

void
limn_file_sync_directory(const char *directory)
{
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

gboolean
limn_file_writer_commit(LimnFileWriter *writer, GError **error)
{
    if (!writer_usable(writer, error) || !writer_flush(writer, error)) {
        return FALSE;
    }
    int errnum = sync_fd(writer->fd);
    if (errnum != 0) {
        return writer_fail(writer, "cannot write", errnum, error);
    }
    // Renamed before it is closed: closing gives up the lock that protects the part.
    if (rename(writer->part, writer->path) != 0) {
        return writer_fail(writer, "cannot rename to this name", errno, error);
    }
    g_clear_pointer(&writer->part, g_free);
    int fd = writer->fd;
    writer->fd = -1;
    if (close(fd) != 0 && errno != EINTR) {
        return writer_fail(writer, "cannot write", errno, error);
    }
    limn_file_sync_directory(writer->directory);
    return TRUE;
}

void
limn_file_writer_free(LimnFileWriter *writer)
{
    if (writer == NULL) {
        return;
    }
    if (writer->part != NULL) {
        unlink(writer->part);
    }
    if (writer->fd >= 0) {
        close(writer->fd);
    }
    g_free(writer->path);
    g_free(writer->part);
    g_free(writer->directory);
    g_free(writer->buffer);
    g_free(writer);
}

gboolean
limn_file_write(const char *path, const void *data, gsize size, GError **error)
{
    g_autoptr(LimnFileWriter) writer = limn_file_writer_new(path, error);
    return writer != NULL && limn_file_writer_write(writer, data, size, error) &&
           limn_file_writer_commit(writer, error);
}

// The process id in ".NAME.PID-XXXXXX.limn-part", 0 when the name is no such name.
static pid_t
part_owner(const char *name)
{
    if (name[0] != '.' || !g_str_has_suffix(name, PART_SUFFIX)) {
        return 0;
    }
    gsize end = strlen(name) - strlen(PART_SUFFIX);
    if (end < 10 || name[end - 7] != '-') {
        return 0;
    }
    for (gsize i = end - 6; i < end; i++) {
        if (!g_ascii_isxdigit(name[i])) {
            return 0;
        }
    }
    gsize begin = end - 7;
    while (begin > 1 && g_ascii_isdigit(name[begin - 1])) {
        begin--;
    }
    if (begin == end - 7 || name[begin - 1] != '.') {
        return 0;
    }
    gint64 pid = g_ascii_strtoll(name + begin, NULL, 10);
    return pid > 0 && pid <= G_MAXINT32 ? (pid_t) pid : 0;
}

// A process with that number may be another one meanwhile, or one of another machine or
// name space may hold the file: both must say that the owner is gone.
static gboolean
part_is_stale(const char *path, pid_t owner)
{
    if (kill(owner, 0) == 0 || errno != ESRCH) {
        return FALSE;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
    if (fd < 0) {
        return FALSE;
    }
    struct stat info;
    gboolean stale = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
                     flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return stale;
}

void
limn_file_remove_stale(const char *directory)
{
    g_autoptr(GDir) dir = g_dir_open(directory, 0, NULL);
    const char *name;
    while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
        pid_t owner = part_owner(name);
        if (owner > 0) {
            g_autofree char *path = g_build_filename(directory, name, NULL);
            if (part_is_stale(path, owner)) {
                unlink(path);
            }
        }
    }
}
