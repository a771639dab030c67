// SPDX-License-Identifier: GPL-3.0-or-later
// .npy: what loads can be encoded, and loads again as the same array.
#include "engine/io/npy.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new_static(data, size);
    g_autoptr(LimnArray) array = limn_npy_load_bytes(bytes, "input", &error);
    if (array == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    gsize n = (gsize) array->length * limn_dtype_size(array->dtype);
    fuzz_touch(array->data, n);
    g_autoptr(GBytes) encoded = limn_npy_encode(array, &error);
    fuzz_check(encoded != NULL);
    g_autoptr(LimnArray) again = limn_npy_load_bytes(encoded, "again", &error);
    fuzz_check(again != NULL);
    fuzz_check(limn_array_has_shape(again, array->rank, array->shape));
    fuzz_check(again->dtype == array->dtype);
    for (gsize i = 0; i < n; i++)
        fuzz_check(((const guint8 *) again->data)[i] ==
                   ((const guint8 *) array->data)[i]);
    return 0;
}
