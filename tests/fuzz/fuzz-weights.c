// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/foreign-weights.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new_static(data, size);
    if (!limn_weights_refuse_foreign("input", bytes, &error))
        fuzz_check_error(&error);
    return 0;
}
