// SPDX-License-Identifier: GPL-3.0-or-later

// The pictures of a folder.

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/base/error.h"
#include "engine/io/picture.h"

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DIR, closedir)

gboolean
limn_picture_has_extension(const char *path)
{
    static const char *const extensions[] = {"png",  "jpg", "jpeg", "jpe", "jfif",
                                             "tiff", "tif", "webp", "svg"};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    if (dot == NULL || dot == name) {
        return FALSE;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(extensions); i++) {
        if (g_ascii_strcasecmp(dot + 1, extensions[i]) == 0) {
            return TRUE;
        }
    }
    return FALSE;
}

// A regular file, a link to one, or a link that leads nowhere (which is to be reported).
static gboolean
is_wanted(int directory, const struct dirent *entry)
{
    struct stat info;
    if (entry->d_name[0] == '.' || !limn_picture_has_extension(entry->d_name)) {
        return FALSE;
    }
    if (entry->d_type == DT_REG) {
        return TRUE;
    }
    if (entry->d_type != DT_LNK && entry->d_type != DT_UNKNOWN) {
        return FALSE;
    }
    if (fstatat(directory, entry->d_name, &info, 0) == 0) {
        return S_ISREG(info.st_mode);
    }
    return TRUE;
}

static int
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

GStrv
limn_picture_list_folder(const char *path, GError **error)
{
    g_autoptr(DIR) directory = opendir(path);
    if (directory == NULL) {
        limn_error_set_errno(error, LIMN_ERROR_IO, path, "cannot open the folder", errno);
        return NULL;
    }
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);
    for (;;) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (entry == NULL) {
            break;
        }
        if (is_wanted(dirfd(directory), entry)) {
            g_ptr_array_add(found, g_build_filename(path, entry->d_name, NULL));
        }
    }
    if (errno != 0) {
        limn_error_set_errno(error, LIMN_ERROR_IO, path, "cannot read the folder", errno);
        return NULL;
    }
    // All have the same folder in front: this sorts by name.
    g_ptr_array_sort(found, compare_names);
    g_ptr_array_add(found, NULL);
    return (GStrv) g_ptr_array_free(g_steal_pointer(&found), FALSE);
}
