// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "limn-config.h"

#define MAX_TREE_DEPTH 64

gboolean
limn_make_directory(const char *path, GError **error)
{
    if (g_mkdir_with_parents(path, 0777) == 0) {
        return TRUE;
    }
    return limn_file_set_output_error(error, path, "cannot make the directory", errno);
}

static gboolean
remove_failed(const char *path, int errnum, GError **error)
{
    return limn_error_set_errno(error, LIMN_ERROR_OUTPUT, path, "cannot remove", errnum);
}

// Entries are reached through the descriptor of their directory and links are removed,
// not followed: nothing outside the tree can be hit. Closes fd. Returns an errno.
static int
remove_entries(int fd, int depth)
{
    DIR *dir = depth < MAX_TREE_DEPTH ? fdopendir(fd) : NULL;
    if (dir == NULL) {
        close(fd);
        return depth < MAX_TREE_DEPTH ? errno : ELOOP;
    }
    int result = 0;
    struct dirent *entry;
    while (result == 0 && (entry = readdir(dir)) != NULL) {
        const char *name = entry->d_name;
        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) {
            continue;
        }
        if (unlinkat(fd, name, 0) == 0) {
            continue;
        }
        if (errno != EISDIR && errno != EPERM) {
            result = errno;
            break;
        }
        int child = openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        result = child < 0 ? errno : remove_entries(child, depth + 1);
        if (result == 0 && unlinkat(fd, name, AT_REMOVEDIR) != 0) {
            result = errno;
        }
    }
    closedir(dir);
    return result;
}

gboolean
limn_remove_tree(const char *path, GError **error)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ENOENT) {
            return TRUE;
        }
        if ((errno == ENOTDIR || errno == ELOOP) && unlink(path) == 0) {
            return TRUE;
        }
        return remove_failed(path, errno, error);
    }
    int errnum = remove_entries(fd, 0);
    if (errnum == 0 && rmdir(path) != 0) {
        errnum = errno;
    }
    return errnum == 0 || remove_failed(path, errnum, error);
}

// "..": above a link lies the parent of what it points to.
static void
path_pop(GString *path)
{
    struct stat info;
    if (path->len > 0 && lstat(path->str, &info) == 0 && S_ISLNK(info.st_mode)) {
        char *real = realpath(path->str, NULL);
        if (real != NULL) {
            g_string_assign(path, real);
            free(real);
        }
    }
    const char *slash = strrchr(path->str, '/');
    g_string_truncate(path, slash != NULL ? (gsize) (slash - path->str) : 0);
}

char *
limn_absolute_path(const char *path)
{
    GString *result = g_string_new(NULL);
    g_autofree char *current = path[0] == '/' ? g_strdup("") : g_get_current_dir();
    g_autofree char *whole = g_strconcat(current, "/", path, NULL);
    g_auto(GStrv) parts = g_strsplit(whole, "/", -1);
    for (guint i = 0; parts[i] != NULL; i++) {
        if (parts[i][0] == '\0' || strcmp(parts[i], ".") == 0) {
            continue;
        }
        if (strcmp(parts[i], "..") == 0) {
            path_pop(result);
        } else {
            g_string_append_c(result, '/');
            g_string_append(result, parts[i]);
        }
    }
    if (result->len == 0) {
        g_string_append_c(result, '/');
    }
    return g_string_free(result, FALSE);
}

char *
limn_relative_path(const char *path, const char *directory)
{
    gsize length = strlen(directory);
    while (length > 0 && directory[length - 1] == '/') {
        length--;
    }
    if (strncmp(path, directory, length) == 0) {
        const char *rest = path + length;
        if (rest[0] == '\0') {
            return g_strdup(".");
        }
        if (rest[0] == '/') {
            rest += strspn(rest, "/");
            return g_strdup(rest[0] == '\0' ? "." : rest);
        }
    }
    return g_strdup(path);
}

// Directory of the running program, NULL when it cannot be told.
static char *
program_directory(void)
{
    g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
    return program != NULL ? g_path_get_dirname(program) : NULL;
}

static char *
existing(const char *directory, const char *relative)
{
    if (directory == NULL || directory[0] == '\0') {
        return NULL;
    }
    g_autofree char *path = g_build_filename(directory, relative, NULL);
    return access(path, F_OK) == 0 ? limn_absolute_path(path) : NULL;
}

char *
limn_data_path(const char *relative, GError **error)
{
    g_autofree char *program = program_directory();
    g_autofree char *beside =
        program != NULL ? g_build_filename(program, "..", "share", "limn", NULL) : NULL;
    const char *const places[] = {
        g_getenv("LIMN_DATA_DIR"),
        beside,
        LIMN_SOURCE_RESOURCES,
        LIMN_PKGDATADIR,
    };
    for (guint i = 0; i < G_N_ELEMENTS(places); i++) {
        char *path = existing(places[i], relative);
        if (path != NULL) {
            return path;
        }
    }
    limn_error_set_file(
        error, LIMN_ERROR_IO, relative,
        "missing from the program's data (looked in LIMN_DATA_DIR, %s and "
        "%s); the installation is incomplete",
        beside != NULL ? beside : "-", LIMN_PKGDATADIR);
    return NULL;
}
