// SPDX-License-Identifier: GPL-3.0-or-later
// A model folder: config.json, NUL, model.safetensors. What opens encodes a picture and a
// sentence, or says why not.
#include <string.h>

#include "engine/model/clip.h"
#include "tests/fuzz/fuzz.h"

static void
put(const char *folder, const char *name, const guint8 *data, gsize size)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    fuzz_check(g_file_set_contents_full(path, (const char *) data, (gssize) size,
                                        G_FILE_SET_CONTENTS_NONE, 0600, NULL));
}

static void
encode_picture(LimnClip *clip)
{
    g_autoptr(GError) error = NULL;
    gint64 side = limn_clip_get_config(clip)->image_size;
    if (side > 64) {
        return;
    }
    g_autoptr(LimnArray) pixels =
        limn_array_new(LIMN_DTYPE_F32, 4, (gint64[]){1, 3, side, side}, NULL);
    fuzz_check(pixels != NULL);
    g_autoptr(LimnArray) f = limn_clip_encode_pixels(clip, pixels, NULL, &error);
    if (f == NULL) {
        fuzz_check_error(&error);
    } else {
        fuzz_touch(f->data, (gsize) f->length * sizeof(float));
    }
}

static void
encode_sentence(LimnClip *clip)
{
    g_autoptr(GError) error = NULL;
    const LimnClipConfig *config = limn_clip_get_config(clip);
    g_autoptr(LimnArray) ids = limn_array_new(LIMN_DTYPE_I64, 2, (gint64[]){1, 3}, NULL);
    fuzz_check(ids != NULL);
    limn_array_i64(ids)[0] = config->vocab - 2;
    limn_array_i64(ids)[2] = config->vocab - 1;
    g_autoptr(LimnArray) f = limn_clip_encode_ids(clip, ids, NULL, &error);
    if (f == NULL) {
        fuzz_check_error(&error);
    } else {
        fuzz_touch(f->data, (gsize) f->length * sizeof(float));
    }
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    const char *folder = fuzz_folder();
    const guint8 *weights;
    gsize weights_size;
    gsize config_size = fuzz_split(data, size, &weights, &weights_size);
    put(folder, "config.json", data, config_size);
    put(folder, "model.safetensors", weights, weights_size);
    g_autoptr(LimnClip) clip = limn_clip_open(folder, 0, NULL, &error);
    if (clip == NULL && strstr(error->message, "heads=") != NULL) {
        fuzz_check_error(&error);
        clip = limn_clip_open(folder, 2, NULL, &error);
    }
    if (clip == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    encode_picture(clip);
    encode_sentence(clip);
    return 0;
}
