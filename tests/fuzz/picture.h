// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Pictures: what loads is inside the budget, can be shown, turned and reduced, and comes
// back the same from a PNG when a PNG can hold it.

#include <string.h>

#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "engine/io/thumbnail.h"
#include "tests/fuzz/fuzz.h"

#define FUZZ_PICTURE_BUDGET ((guint64) 4 << 20)

static inline gsize
fuzz_picture_bytes(const LimnImage *image)
{
    return limn_image_stride(image) * (gsize) image->height;
}

static inline void
fuzz_picture_as_png(LimnImage *image)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) png = limn_png_encode(image, &error);
    if (png == NULL) {
        fuzz_check(error->code == LIMN_ERROR_OUTPUT);
        fuzz_check(image->depth == LIMN_DEPTH_F32 || image->depth == LIMN_DEPTH_U32);
        return;
    }
    g_autoptr(LimnImage) again = limn_picture_load_bytes(png, "again", NULL, &error);
    fuzz_check(again != NULL);
    fuzz_check(again->width == image->width && again->height == image->height);
    if (again->depth == image->depth && again->pixels == image->pixels) {
        fuzz_check(memcmp(again->data, image->data, fuzz_picture_bytes(image)) == 0);
    }
}

static inline void
fuzz_picture(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new_static(data, size);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_picture_set_budget(FUZZ_PICTURE_BUDGET);
    g_autoptr(LimnImage) image = limn_picture_load_bytes(bytes, "input", job, &error);
    if (image == NULL) {
        fuzz_check_error(&error);
        return;
    }
    fuzz_check(fuzz_picture_bytes(image) <= FUZZ_PICTURE_BUDGET);
    fuzz_check(image->orientation >= 1 && image->orientation <= 8);
    fuzz_check(image->n_palette >= 0 && image->n_palette <= 256);
    fuzz_touch(image->data, fuzz_picture_bytes(image));
    g_autoptr(LimnImage) small = limn_thumbnail_make(image, 32, NULL, &error);
    fuzz_check(small != NULL);
    if (size % 4 == 0 && fuzz_picture_bytes(image) < 1 << 18) { // some are enough
        fuzz_picture_as_png(image);
    }
}
