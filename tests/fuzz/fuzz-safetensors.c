// SPDX-License-Identifier: GPL-3.0-or-later
// safetensors: the data of the tensors of a file that opens add up to the file.
#include "engine/io/safetensors.h"
#include "tests/fuzz/fuzz.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new_static(data, size);
    g_autoptr(LimnSafetensors) st = limn_safetensors_open_bytes(bytes, "input", &error);
    if (st == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    gsize sum = 0;
    for (guint i = 0; i < limn_safetensors_n_tensors(st); i++) {
        const LimnTensorInfo *info = limn_safetensors_get_info(st, i);
        fuzz_check(limn_safetensors_find(st, info->name) == info);
        g_autoptr(LimnArray) array = limn_safetensors_get(st, info->name, &error);
        fuzz_check(array != NULL);
        gsize n = (gsize) array->length * limn_dtype_size(array->dtype);
        fuzz_touch(array->data, n);
        sum += n;
    }
    guint64 length = 0;
    for (int i = 7; i >= 0; i--)
        length = length << 8 | data[i];
    fuzz_check(8 + length + sum == size);
    limn_safetensors_get_metadata(st, "format");
    return 0;
}
