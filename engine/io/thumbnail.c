// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/io/thumbnail.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/image/resample.h"
#include "engine/io/picture-private.h"

static void
multiply_alpha(LimnImage *image)
{
    guint8 *pixel = image->data;
    gsize n = (gsize) image->width * (gsize) image->height;
    for (gsize i = 0; i < n; i++, pixel += 4) {
        for (int c = 0; c < 3; c++) {
            pixel[c] = (guint8) ((pixel[c] * pixel[3] + 127) / 255);
        }
    }
}

static void
divide_alpha(LimnImage *image)
{
    guint8 *pixel = image->data;
    gsize n = (gsize) image->width * (gsize) image->height;
    for (gsize i = 0; i < n; i++, pixel += 4) {
        for (int c = 0; c < 3 && pixel[3] > 0; c++) {
            pixel[c] = (guint8) MIN((pixel[c] * 255 + pixel[3] / 2) / pixel[3], 255);
        }
    }
}

static gboolean
has_transparency(const LimnImage *image)
{
    const guint8 *pixel = image->data;
    gsize n = (gsize) image->width * (gsize) image->height;
    for (gsize i = 0; i < n; i++, pixel += 4) {
        if (pixel[3] != 255) {
            return TRUE;
        }
    }
    return FALSE;
}

// `image` is RGBA U8 and may be shared.
static LimnImage *
shrink(LimnImage *image, int width, int height, LimnJob *job, GError **error)
{
    if (!has_transparency(image)) {
        return limn_resize_area(image, width, height, job, error);
    }
    g_autoptr(LimnImage) weighted = limn_image_new(
        image->width, image->height, LIMN_PIXELS_RGBA, LIMN_DEPTH_U8, error);
    if (weighted == NULL) {
        return NULL;
    }
    memcpy(weighted->data, image->data, limn_image_stride(image) * (gsize) image->height);
    multiply_alpha(weighted);
    LimnImage *small = limn_resize_area(weighted, width, height, job, error);
    if (small != NULL) {
        divide_alpha(small);
    }
    return small;
}

// Sums of colours weighted by alpha, and of alpha, over a block of pixels.
typedef struct {
    guint64 colour[3], alpha;
    guint n;
} Sum;

static void
add_row(const guint8 *pixel, int width, int factor, Sum *sums)
{
    for (int x = 0; x < width; x++, pixel += 4) {
        Sum *sum = &sums[x / factor];
        for (int c = 0; c < 3; c++) {
            sum->colour[c] += (guint) pixel[c] * pixel[3];
        }
        sum->alpha += pixel[3];
        sum->n++;
    }
}

static void
finish_row(const Sum *sums, int n, guint8 *out)
{
    for (int x = 0; x < n; x++, out += 4) {
        const Sum *sum = &sums[x];
        for (int c = 0; c < 3; c++) {
            out[c] = sum->alpha > 0
                         ? (guint8) ((sum->colour[c] + sum->alpha / 2) / sum->alpha)
                         : 0;
        }
        out[3] = (guint8) ((sum->alpha + sum->n / 2) / sum->n);
    }
}

// The means of blocks of factor x factor pixels, a few rows at a time, so that no copy of
// a large picture is made.
static LimnImage *
reduce(LimnImage *image, double min, double max, int factor, LimnJob *job, GError **error)
{
    int width = (image->width + factor - 1) / factor;
    int height = (image->height + factor - 1) / factor;
    g_autoptr(LimnImage) small =
        limn_image_new(width, height, LIMN_PIXELS_RGBA, LIMN_DEPTH_U8, error);
    if (small == NULL) {
        return NULL;
    }
    limn_image_copy_description(small, image);
    small->bits = 8;
    small->n_palette = 0;
    small->has_key = FALSE;
    g_autofree Sum *sums = g_new(Sum, (gsize) width);
    for (int y = 0; y < height; y++) {
        int rows = MIN(factor, image->height - y * factor);
        g_autoptr(LimnImage) strip = limn_image_part_to_rgba8(
            image, min, max, 0, y * factor, image->width, rows, error);
        if (strip == NULL || !limn_job_check(job, error)) {
            return NULL;
        }
        memset(sums, 0, (gsize) width * sizeof *sums);
        for (int row = 0; row < rows; row++) {
            add_row((const guint8 *) strip->data + (gsize) row * limn_image_stride(strip),
                    image->width, factor, sums);
        }
        finish_row(sums, width,
                   (guint8 *) small->data + (gsize) y * limn_image_stride(small));
    }
    return g_steal_pointer(&small);
}

// All of the picture as RGBA, reduced by a whole number when it is much too large.
static LimnImage *
make_colours(LimnImage *image, int max_side, LimnJob *job, GError **error)
{
    double min, max;
    limn_image_rule_range(image, limn_image_default_range(image), &min, &max);
    int factor = MAX(image->width, image->height) / (2 * max_side);
    if (factor >= 2) {
        return reduce(image, min, max, factor, job, error);
    }
    return limn_image_part_to_rgba8(image, min, max, 0, 0, image->width, image->height,
                                    error);
}

LimnImage *
limn_thumbnail_make(LimnImage *image, int max_side, LimnJob *job, GError **error)
{
    g_return_val_if_fail(max_side >= 1 && max_side <= LIMN_THUMBNAIL_MAX_SIDE, NULL);
    g_autoptr(LimnImage) colours = make_colours(image, max_side, job, error);
    int longer = MAX(image->width, image->height);
    if (colours == NULL || longer <= max_side) {
        return g_steal_pointer(&colours);
    }
    gint64 half = longer / 2;
    int width = (int) (((gint64) image->width * max_side + half) / longer);
    int height = (int) (((gint64) image->height * max_side + half) / longer);
    LimnImage *small = shrink(colours, MAX(width, 1), MAX(height, 1), job, error);
    if (small != NULL && small != colours) {
        limn_image_copy_description(small, colours);
    }
    return small;
}

LimnImage *
limn_thumbnail_load(const char *path, int max_side, LimnJob *job, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(path, limn_picture_get_budget(), error);
    if (bytes == NULL || !limn_job_check(job, error)) {
        return NULL;
    }
    LimnPictureSource source = limn_picture_make_source(bytes, path, job);
    g_autoptr(LimnImage) image = NULL;
    if (limn_picture_find_codec(&source) == &limn_picture_jpeg) {
        g_autoptr(LimnImage) stored = limn_jpeg_load_reduced(&source, max_side, error);
        image =
            stored != NULL ? limn_image_orient(stored, stored->orientation, error) : NULL;
    } else {
        image = limn_picture_load_bytes(bytes, path, job, error);
    }
    return image != NULL ? limn_thumbnail_make(image, max_side, job, error) : NULL;
}
