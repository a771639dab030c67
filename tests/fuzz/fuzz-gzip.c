// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/gzip.h"
#include "tests/fuzz/fuzz.h"

#define MAX_SIZE (1 << 20)

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = limn_gunzip(data, size, MAX_SIZE, "input", &error);
    if (bytes == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    fuzz_check(g_bytes_get_size(bytes) <= MAX_SIZE);
    fuzz_touch(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    return 0;
}
