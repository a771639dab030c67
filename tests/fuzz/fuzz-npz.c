// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/npy.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new_static(data, size);
    g_autoptr(LimnNpz) npz = limn_npz_open_bytes(bytes, "input", &error);
    if (npz == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    const char *const *names = limn_npz_get_names(npz);
    for (gsize i = 0; names[i] != NULL; i++) {
        fuzz_check(limn_npz_has(npz, names[i]));
        g_autoptr(LimnArray) array = limn_npz_get(npz, names[i], &error);
        if (array != NULL)
            fuzz_touch(array->data,
                       (gsize) array->length * limn_dtype_size(array->dtype));
        else
            fuzz_check_error(&error);
    }
    return 0;
}
