// SPDX-License-Identifier: GPL-3.0-or-later

// Crops and nearest-neighbour resizing: samples are moved, never computed.

#include <string.h>

#include "engine/base/error.h"
#include "engine/image/resample.h"

static gsize
pixel_size(const LimnImage *image)
{
    return limn_depth_size(image->depth) * (gsize) limn_pixels_channels(image->pixels);
}

LimnImage *
limn_crop(LimnImage *image, int left, int top, int width, int height, GError **error)
{
    if (left < 0 || top < 0 || width < 1 || height < 1 || width > image->width - left ||
        height > image->height - top) {
        g_set_error(
            error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
            "the rectangle %d x %d at (%d, %d) is not inside a picture of %d x %d "
            "pixels",
            width, height, left, top, image->width, image->height);
        return NULL;
    }
    if (width == image->width && height == image->height) {
        return limn_image_ref(image);
    }
    LimnImage *part = limn_image_new(width, height, image->pixels, image->depth, error);
    if (part == NULL) {
        return NULL;
    }
    limn_image_copy_description(part, image);
    gsize from_stride = limn_image_stride(image);
    gsize to_stride = limn_image_stride(part);
    const guint8 *from = (const guint8 *) image->data + (gsize) top * from_stride +
                         (gsize) left * pixel_size(image);
    for (int y = 0; y < height; y++) {
        memcpy((guint8 *) part->data + (gsize) y * to_stride,
               from + (gsize) y * from_stride, to_stride);
    }
    return part;
}

LimnImage *
limn_resize_nearest(LimnImage *image, int width, int height, GError **error)
{
    if (width == image->width && height == image->height) {
        return limn_image_ref(image);
    }
    LimnImage *out = limn_image_new(width, height, image->pixels, image->depth, error);
    if (out == NULL) {
        return NULL;
    }
    limn_image_copy_description(out, image);
    gsize size = pixel_size(image);
    gsize from_stride = limn_image_stride(image);
    guint8 *to = out->data;
    for (int y = 0; y < height; y++) {
        gsize sy = (gsize) ((2 * (gint64) y + 1) * image->height / (2 * (gint64) height));
        const guint8 *row = (const guint8 *) image->data + sy * from_stride;
        for (int x = 0; x < width; x++, to += size) {
            gint64 sx = (2 * (gint64) x + 1) * image->width / (2 * (gint64) width);
            memcpy(to, row + (gsize) sx * size, size);
        }
    }
    return out;
}
