// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/image/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"

int
limn_pixels_channels(LimnPixels pixels)
{
    static const int channels[] = {
        [LIMN_PIXELS_GREY] = 1, [LIMN_PIXELS_GREY_ALPHA] = 2, [LIMN_PIXELS_RGB] = 3,
        [LIMN_PIXELS_RGBA] = 4, [LIMN_PIXELS_INDEXED] = 1,
    };
    g_return_val_if_fail((guint) pixels < G_N_ELEMENTS(channels), 1);
    return channels[pixels];
}

gsize
limn_depth_size(LimnDepth depth)
{
    static const gsize sizes[] = {
        [LIMN_DEPTH_U8] = 1,
        [LIMN_DEPTH_U16] = 2,
        [LIMN_DEPTH_U32] = 4,
        [LIMN_DEPTH_F32] = 4,
    };
    g_return_val_if_fail((guint) depth < G_N_ELEMENTS(sizes), 1);
    return sizes[depth];
}

LimnImage *
limn_image_new(int width, int height, LimnPixels pixels, LimnDepth depth, GError **error)
{
    gint64 area = (gint64) width * height;
    if (width < 1 || height < 1) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "picture of %d x %d pixels (both sides must be at least 1)", width,
                    height);
        return NULL;
    }
    if (area > LIMN_IMAGE_MAX_PIXELS) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "picture of %d x %d = %" G_GINT64_FORMAT
                    " pixels (the limit is %" G_GINT64_FORMAT ")",
                    width, height, area, LIMN_IMAGE_MAX_PIXELS);
        return NULL;
    }
    gsize sample = limn_depth_size(depth) * (gsize) limn_pixels_channels(pixels);
    void *data = calloc((gsize) area, sample);
    if (data == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory for a picture of %d x %d pixels (%" G_GSIZE_FORMAT
                    " bytes)",
                    width, height, (gsize) area * sample);
        return NULL;
    }
    LimnImage *image = g_new0(LimnImage, 1);
    g_atomic_ref_count_init(&image->refs);
    image->width = width;
    image->height = height;
    image->pixels = pixels;
    image->depth = depth;
    image->bits = (int) limn_depth_size(depth) * 8;
    image->orientation = 1;
    image->format = "memory";
    image->data = data;
    // Entries that a palette leaves out are a grey ramp, as in Pillow.
    for (int i = 0; i < 256; i++) {
        guint8 *entry = image->palette[i];
        entry[0] = entry[1] = entry[2] = (guint8) i;
        entry[3] = 255;
    }
    return image;
}

LimnImage *
limn_image_ref(LimnImage *image)
{
    g_return_val_if_fail(image != NULL, NULL);
    g_atomic_ref_count_inc(&image->refs);
    return image;
}

void
limn_image_unref(LimnImage *image)
{
    if (image != NULL && g_atomic_ref_count_dec(&image->refs)) {
        free(image->data);
        g_free(image);
    }
}

gsize
limn_image_stride(const LimnImage *image)
{
    return (gsize) image->width * (gsize) limn_pixels_channels(image->pixels) *
           limn_depth_size(image->depth);
}

double
limn_image_get_sample(const LimnImage *image, int x, int y, int channel)
{
    int channels = limn_pixels_channels(image->pixels);
    g_return_val_if_fail(x >= 0 && x < image->width, NAN);
    g_return_val_if_fail(y >= 0 && y < image->height, NAN);
    g_return_val_if_fail(channel >= 0 && channel < channels, NAN);
    gsize i = ((gsize) y * (gsize) image->width + (gsize) x) * (gsize) channels +
              (gsize) channel;
    switch (image->depth) {
    case LIMN_DEPTH_U8:
        return ((const guint8 *) image->data)[i];
    case LIMN_DEPTH_U16:
        return ((const guint16 *) image->data)[i];
    case LIMN_DEPTH_U32:
        return ((const guint32 *) image->data)[i];
    case LIMN_DEPTH_F32:
        break;
    }
    return (double) ((const float *) image->data)[i];
}

void
limn_image_copy_description(LimnImage *to, const LimnImage *from)
{
    to->bits = from->bits;
    to->orientation = from->orientation;
    to->lossy = from->lossy;
    to->cmyk = from->cmyk;
    to->format = from->format;
    to->n_palette = from->n_palette;
    memcpy(to->palette, from->palette, sizeof to->palette);
    to->palette_has_alpha = from->palette_has_alpha;
    to->has_key = from->has_key;
    memcpy(to->key, from->key, sizeof to->key);
    to->inverted = from->inverted;
}

// Which pixel of the source a pixel of the upright picture comes from:
// x' = ax x + bx y + cx, y' = ay x + by y + cy.
typedef struct {
    int ax, bx, cx, ay, by, cy;
} Turn;

static Turn
turn_for_orientation(int orientation, int width, int height)
{
    int right = width - 1, bottom = height - 1; // of the source
    const Turn turns[] = {
        {1, 0, 0, 0, 1, 0},            // 1 upright
        {-1, 0, right, 0, 1, 0},       // 2 mirrored left to right
        {-1, 0, right, 0, -1, bottom}, // 3 upside down
        {1, 0, 0, 0, -1, bottom},      // 4 mirrored top to bottom
        {0, 1, 0, 1, 0, 0},            // 5 transposed
        {0, 1, 0, -1, 0, bottom},      // 6 lies on its left side
        {0, -1, right, -1, 0, bottom}, // 7 transposed over the other diagonal
        {0, -1, right, 1, 0, 0},       // 8 lies on its right side
    };
    return turns[orientation - 1];
}

// Copies pixels [x0, x1) of row y of the upright picture.
static void
turn_run(const guint8 *from, gsize from_stride, guint8 *to, gsize size, Turn turn, int x0,
         int x1, int y)
{
    gssize step = turn.ax * (gssize) size + turn.ay * (gssize) from_stride;
    gint64 sx = (gint64) turn.ax * x0 + (gint64) turn.bx * y + turn.cx;
    gint64 sy = (gint64) turn.ay * x0 + (gint64) turn.by * y + turn.cy;
    const guint8 *source = from + (gsize) sy * from_stride + (gsize) sx * size;
    for (int x = x0; x < x1; x++) {
        switch (size) { // constant sizes become single moves
        case 1:
            *to = *source;
            break;
        case 3:
            memcpy(to, source, 3);
            break;
        case 4:
            memcpy(to, source, 4);
            break;
        default:
            memcpy(to, source, size);
        }
        to += size;
        source += step;
    }
}

LimnImage *
limn_image_orient(LimnImage *image, int orientation, GError **error)
{
    g_return_val_if_fail(orientation >= 1 && orientation <= 8, NULL);
    if (orientation == 1) {
        return limn_image_ref(image);
    }
    gboolean swap = orientation >= 5;
    LimnImage *upright = limn_image_new(swap ? image->height : image->width,
                                        swap ? image->width : image->height,
                                        image->pixels, image->depth, error);
    if (upright == NULL) {
        return NULL;
    }
    limn_image_copy_description(upright, image);
    upright->orientation = orientation;
    Turn turn = turn_for_orientation(orientation, image->width, image->height);
    gsize size =
        limn_depth_size(image->depth) * (gsize) limn_pixels_channels(image->pixels);
    gsize from_stride = limn_image_stride(image);
    gsize to_stride = limn_image_stride(upright);
    enum { TILE = 64 }; // a tile of both pictures fits the cache
    for (int y0 = 0; y0 < upright->height; y0 += TILE) {
        for (int x0 = 0; x0 < upright->width; x0 += TILE) {
            int x1 = MIN(x0 + TILE, upright->width);
            int y1 = MIN(y0 + TILE, upright->height);
            for (int y = y0; y < y1; y++) {
                guint8 *to =
                    (guint8 *) upright->data + (gsize) y * to_stride + (gsize) x0 * size;
                turn_run(image->data, from_stride, to, size, turn, x0, x1, y);
            }
        }
    }
    return upright;
}
