// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/image/image-mask.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/image/resample.h"

#define CODE_BITS 24
#define COMMON_SHARE 200 // one pixel in so many
#define MIN_RARE_VALUES 8

// A pixel's value as a number below 2^24: the value itself where it fits, else a hash.
static guint32
pixel_code(const LimnImage *image, gsize i)
{
    gsize channels = (gsize) limn_pixels_channels(image->pixels);
    gsize first = i * channels;
    guint32 value[3] = {0, 0, 0};
    gsize n = channels >= 3 ? 3 : 1;
    for (gsize c = 0; c < n; c++) {
        switch (image->depth) {
        case LIMN_DEPTH_U8:
            value[c] = ((const guint8 *) image->data)[first + c];
            break;
        case LIMN_DEPTH_U16:
            value[c] = ((const guint16 *) image->data)[first + c];
            break;
        case LIMN_DEPTH_U32:
        case LIMN_DEPTH_F32:
            value[c] = ((const guint32 *) image->data)[first + c];
            break;
        }
    }
    if (image->depth == LIMN_DEPTH_U8) {
        return value[0] | value[1] << 8 | value[2] << 16;
    }
    if (n == 1 && value[0] < 1u << CODE_BITS) {
        return value[0];
    }
    guint64 mixed = value[0];
    mixed = (mixed * 0x9e3779b97f4a7c15u) ^ value[1];
    mixed = (mixed * 0x9e3779b97f4a7c15u) ^ value[2];
    return (guint32) ((mixed * 0x9e3779b97f4a7c15u) >> (64 - CODE_BITS));
}

// counts[2^24] of the codes; sets n_values and n_common.
static void
count_values(const LimnImage *image, guint32 *counts, gsize n, LimnMaskReport *report)
{
    guint32 most = 0;
    for (gsize i = 0; i < n; i++) {
        guint32 code = pixel_code(image, i);
        counts[code]++;
        most = MAX(most, code);
    }
    for (gsize code = 0; code <= most; code++) {
        report->n_values += counts[code] > 0;
        report->n_common +=
            counts[code] > 0 && (guint64) counts[code] * COMMON_SHARE >= n;
    }
}

static gboolean
lies_alone(const LimnImage *image, gsize i, int x, int y)
{
    guint32 code = pixel_code(image, i);
    gsize width = (gsize) image->width;
    return !((x > 0 && pixel_code(image, i - 1) == code) ||
             (x + 1 < image->width && pixel_code(image, i + 1) == code) ||
             (y > 0 && pixel_code(image, i - width) == code) ||
             (y + 1 < image->height && pixel_code(image, i + width) == code));
}

static void
count_stray(const LimnImage *image, const guint32 *counts, gsize n,
            LimnMaskReport *report)
{
    gsize i = 0;
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++, i++) {
            if ((guint64) counts[pixel_code(image, i)] * COMMON_SHARE >= n) {
                continue;
            }
            if (report->n_stray == 0) {
                report->stray_x = x;
                report->stray_y = y;
            }
            report->n_stray++;
            report->n_scattered += lies_alone(image, i, x, y);
        }
    }
}

gboolean
limn_image_looks_like_lossy_mask(const LimnImage *image, LimnMaskReport *report)
{
    gsize n = (gsize) image->width * (gsize) image->height;
    LimnMaskReport found = {.stray_x = -1, .stray_y = -1, .lossy_format = image->lossy};
    guint32 *counts = g_new0(guint32, (gsize) 1 << CODE_BITS);
    count_values(image, counts, n, &found);
    if (found.n_common < found.n_values) {
        count_stray(image, counts, n, &found);
    }
    g_free(counts);
    if (report != NULL) {
        *report = found;
    }
    if (image->lossy && found.n_values > 2) {
        return TRUE;
    }
    return found.n_values - found.n_common >= MIN_RARE_VALUES &&
           found.n_scattered * 2 >= found.n_stray;
}

char *
limn_mask_report_describe(const LimnMaskReport *report)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%d distinct value%s, %d of them common",
                           report->n_values, report->n_values == 1 ? "" : "s",
                           report->n_common);
    if (report->n_stray > 0) {
        g_string_append_printf(text,
                               "; %" G_GINT64_FORMAT
                               " pixels hold one of the others, the first at (%d, %d)",
                               report->n_stray, report->stray_x, report->stray_y);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void
append_difference(GString *text, int difference, const char *what)
{
    g_string_append_printf(text, "%s%d %s%s %s", text->len > 0 ? ", " : "",
                           ABS(difference), what, ABS(difference) == 1 ? "" : "s",
                           difference < 0 ? "fewer" : "more");
}

gboolean
limn_mask_check_size(const char *mask_name, int mask_width, int mask_height,
                     const char *picture_name, int width, int height, GError **error)
{
    if (mask_width == width && mask_height == height) {
        return TRUE;
    }
    g_autofree char *picture = limn_display_path(picture_name);
    g_autoptr(GString) text = g_string_new(NULL);
    if (mask_width != width) {
        append_difference(text, mask_width - width, "column");
    }
    if (mask_height != height) {
        append_difference(text, mask_height - height, "row");
    }
    return limn_error_set_file(
        error, LIMN_ERROR_MISMATCH, mask_name,
        "the label map is %d x %d pixels, its picture %s is %d x %d (%s)", mask_width,
        mask_height, picture, width, height, text->str);
}

static void
fill_samples(LimnImage *image, guint32 fill)
{
    gsize n = (gsize) image->width * (gsize) image->height *
              (gsize) limn_pixels_channels(image->pixels);
    for (gsize i = 0; i < n; i++) {
        switch (image->depth) {
        case LIMN_DEPTH_U8:
            ((guint8 *) image->data)[i] = (guint8) fill;
            break;
        case LIMN_DEPTH_U16:
            ((guint16 *) image->data)[i] = (guint16) fill;
            break;
        case LIMN_DEPTH_U32:
            ((guint32 *) image->data)[i] = fill;
            break;
        case LIMN_DEPTH_F32:
            ((float *) image->data)[i] = (float) fill;
            break;
        }
    }
}

static LimnImage *
crop_or_pad(LimnImage *mask, int width, int height, guint32 fill, GError **error)
{
    guint32 limit = mask->depth == LIMN_DEPTH_U8    ? 255
                    : mask->depth == LIMN_DEPTH_U16 ? 65535
                                                    : G_MAXUINT32;
    if (fill > limit) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%u does not fit into the samples of the label map (at most %u)",
                    fill, limit);
        return NULL;
    }
    LimnImage *out = limn_image_new(width, height, mask->pixels, mask->depth, error);
    if (out == NULL) {
        return NULL;
    }
    limn_image_copy_description(out, mask);
    if (width > mask->width || height > mask->height) {
        fill_samples(out, fill);
    }
    gsize from_stride = limn_image_stride(mask);
    gsize to_stride = limn_image_stride(out);
    for (int y = 0; y < MIN(height, mask->height); y++) {
        memcpy((guint8 *) out->data + (gsize) y * to_stride,
               (const guint8 *) mask->data + (gsize) y * from_stride,
               MIN(from_stride, to_stride));
    }
    return out;
}

LimnImage *
limn_mask_fit(LimnImage *mask, int width, int height, LimnMaskFit fit, guint32 fill,
              GError **error)
{
    if (width == mask->width && height == mask->height) {
        return limn_image_ref(mask);
    }
    if (fit == LIMN_MASK_FIT_NEAREST) {
        return limn_resize_nearest(mask, width, height, error);
    }
    return crop_or_pad(mask, width, height, fill, error);
}
