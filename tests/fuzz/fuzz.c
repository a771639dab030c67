// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"

static char *folder;

static void
remove_folder(void)
{
    if (folder != NULL)
        limn_remove_tree(folder, NULL);
    g_clear_pointer(&folder, g_free);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    g_log_set_always_fatal(G_LOG_LEVEL_CRITICAL | G_LOG_LEVEL_ERROR);
    atexit(remove_folder);
    return 0;
}

void
fuzz_touch(const void *data, gsize size)
{
    static volatile guint8 sink;
    guint8 sum = 0;
    for (gsize i = 0; i < size; i++)
        sum ^= ((const guint8 *) data)[i];
    sink = sum;
    (void) sink;
}

void
fuzz_check_that(gboolean holds, const char *condition, int line)
{
    if (holds)
        return;
    fprintf(stderr, "line %d: does not hold: %s\n", line, condition);
    abort();
}

void
fuzz_check_error(GError **error)
{
    fuzz_check(*error != NULL);
    fuzz_check((*error)->domain == LIMN_ERROR);
    fuzz_check((*error)->message != NULL && (*error)->message[0] != '\0');
    fuzz_check(g_utf8_validate((*error)->message, -1, NULL));
    fuzz_check(strlen((*error)->message) < 64 * 1024);
    g_clear_error(error);
}

const char *
fuzz_folder(void)
{
    if (folder == NULL)
        folder = g_dir_make_tmp("limn-fuzz-XXXXXX", NULL);
    fuzz_check(folder != NULL);
    return folder;
}

gsize
fuzz_split(const guint8 *data, gsize size, const guint8 **rest, gsize *rest_size)
{
    const guint8 *zero = size > 0 ? memchr(data, 0, size) : NULL;
    gsize first = zero != NULL ? (gsize) (zero - data) : size;
    *rest = zero != NULL ? zero + 1 : data + size;
    *rest_size = zero != NULL ? size - first - 1 : 0;
    return first;
}
