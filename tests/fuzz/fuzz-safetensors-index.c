// SPDX-License-Identifier: GPL-3.0-or-later
// The index of a sharded model beside one good shard.
#include "engine/base/file.h"
#include "engine/io/safetensors.h"
#include "tests/fuzz/fuzz.h"

static void
write_shard(const char *folder)
{
    static gboolean written;
    g_autofree char *path = g_build_filename(folder, "s", NULL);
    if (written)
        return;
    g_autoptr(LimnArray) array = limn_array_new_f32_1d(3, NULL);
    const LimnTensorEntry entries[] = {{"a", array}, {"b", array}};
    fuzz_check(limn_safetensors_save(path, entries, 2, NULL, NULL));
    written = TRUE;
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    const char *folder = fuzz_folder();
    g_autofree char *path = g_build_filename(folder, "x.safetensors.index.json", NULL);
    write_shard(folder);
    fuzz_check(g_file_set_contents_full(path, (const char *) data, (gssize) size,
                                        G_FILE_SET_CONTENTS_NONE, 0600, NULL));
    g_autoptr(LimnSafetensors) st = limn_safetensors_open(path, &error);
    if (st == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    for (guint i = 0; i < limn_safetensors_n_tensors(st); i++) {
        const LimnTensorInfo *info = limn_safetensors_get_info(st, i);
        g_autoptr(LimnArray) array = limn_safetensors_get(st, info->name, &error);
        fuzz_check(array != NULL && array->length == 3);
    }
    return 0;
}
