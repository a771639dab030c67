// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Helpers for tests of loaders: bytes, refusals, folders that vanish.

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/file.h"

#define BYTES(literal) g_bytes_new_static(literal, sizeof(literal) - 1)

// The error has this code and its message every one of the texts (NULL-terminated); it is
// freed.
static inline void
assert_refused(GError **error, LimnErrorCode code, const char *first, ...)
{
    va_list args;
    g_assert_error(*error, LIMN_ERROR, (int) code);
    va_start(args, first);
    for (const char *text = first; text != NULL; text = va_arg(args, const char *)) {
        if (strstr((*error)->message, text) == NULL)
            g_test_message("\"%s\" lacks \"%s\"", (*error)->message, text);
        g_assert_nonnull(strstr((*error)->message, text));
    }
    va_end(args);
    g_assert_true(g_utf8_validate((*error)->message, -1, NULL));
    g_clear_error(error);
}

// A new folder below the system's temporary one.
static inline char *
make_folder(void)
{
    g_autoptr(GError) error = NULL;
    char *path = g_dir_make_tmp("limn-test-XXXXXX", &error);
    g_assert_no_error(error);
    return path;
}

static inline void
remove_folder(const char *path)
{
    g_autoptr(GError) error = NULL;
    limn_remove_tree(path, &error);
    g_assert_no_error(error);
}

static inline char *
write_file(const char *folder, const char *name, const void *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    char *path = g_build_filename(folder, name, NULL);
    g_file_set_contents(path, data, (gssize) size, &error);
    g_assert_no_error(error);
    return path;
}

// A file of the test data.
static inline char *
data_path(const char *relative)
{
    const char *root = g_getenv("LIMN_TEST_DATA");
    g_assert_nonnull(root);
    return g_build_filename(root, relative, NULL);
}
