// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/pixel-source.h"

#include <math.h>
#include <string.h>

// Also for what is not a number.
static inline guint8
to_byte(double sample, double min, double scale)
{
    double scaled = (sample - min) * scale + 0.5;

    if (!(scaled >= 1))
        return 0;
    return scaled >= 255 ? 255 : (guint8) scaled;
}

static void
find_range(LimnPixelSource *source)
{
    double min, max;

    limn_image_type_range(source->image, &min, &max);
    if (source->rule == LIMN_RANGE_DATA && !limn_image_range(source->image, &min, &max))
        min = max = 0;
    source->min = min;
    source->scale = max > min ? 255 / (max - min) : 0;
}

// round(value * alpha / 255)
static inline guint8
multiply(guint value, guint alpha)
{
    guint product = value * alpha + 128;

    return (product + (product >> 8)) >> 8;
}

static inline void
store(guint8 *out, guint red, guint green, guint blue, guint alpha)
{
    out[0] = multiply(red, alpha);
    out[1] = multiply(green, alpha);
    out[2] = multiply(blue, alpha);
    out[3] = alpha;
}

static void
make_palette(LimnPixelSource *source)
{
    const LimnImage *image = source->image;

    source->palette = g_new0(guint32, 256);
    for (int i = 0; i < 256; i++) {
        guint8 *out = (guint8 *) &source->palette[i];

        if (i < image->n_palette)
            store(out, image->palette[i][0], image->palette[i][1], image->palette[i][2],
                  image->palette[i][3]);
        else
            store(out, 0, 0, 0, 255);
    }
    source->opaque = !image->palette_has_alpha;
}

static void
make_table(LimnPixelSource *source, int n)
{
    source->bytes = g_new(guint8, n);
    for (int i = 0; i < n; i++)
        source->bytes[i] = to_byte(i, source->min, source->scale);
}

LimnPixelSource *
limn_pixel_source_new(LimnImage *image, LimnRangeRule rule)
{
    LimnPixelSource *source = g_new0(LimnPixelSource, 1);

    source->image = limn_image_ref(image);
    source->rule = rule;
    source->opaque = image->pixels != LIMN_PIXELS_GREY_ALPHA &&
                     image->pixels != LIMN_PIXELS_RGBA && !image->has_key;
    find_range(source);
    if (image->pixels == LIMN_PIXELS_INDEXED)
        make_palette(source);
    else if (image->depth == LIMN_DEPTH_U8)
        make_table(source, 256);
    else if (image->depth == LIMN_DEPTH_U16)
        make_table(source, 65536);
    return source;
}

void
limn_pixel_source_free(LimnPixelSource *source)
{
    if (source == NULL)
        return;
    limn_image_unref(source->image);
    g_free(source->bytes);
    g_free(source->palette);
    g_free(source);
}

// Alpha is relative to the type and never stretched by the range of the data.
static guint8
alpha_byte(const LimnImage *image, const void *samples, gsize i)
{
    switch (image->depth) {
    case LIMN_DEPTH_U8:
        return ((const guint8 *) samples)[i];
    case LIMN_DEPTH_U16:
        return (((const guint16 *) samples)[i] + 128u) / 257u;
    case LIMN_DEPTH_U32:
        return ((const guint32 *) samples)[i] >> 24;
    default:
        return to_byte(((const float *) samples)[i], 0, 255);
    }
}

// The colour that the file declares transparent.
static gboolean
is_key(const LimnImage *image, const void *samples, gsize first, int n)
{
    for (int c = 0; c < n; c++) {
        guint value = image->depth == LIMN_DEPTH_U8
                          ? ((const guint8 *) samples)[first + c]
                          : ((const guint16 *) samples)[first + c];

        if (value != image->key[c])
            return FALSE;
    }
    return TRUE;
}

static guint8
find_alpha(const LimnPixelSource *source, const void *samples, gsize first)
{
    const LimnImage *image = source->image;
    int channels = limn_pixels_channels(image->pixels);

    if (source->opaque)
        return 255;
    if (channels == 2 || channels == 4)
        return alpha_byte(image, samples, first + channels - 1);
    return source->bytes != NULL && is_key(image, samples, first, channels) ? 0 : 255;
}

static inline guint8
sample_byte(const LimnPixelSource *source, const void *samples, gsize i)
{
    switch (source->image->depth) {
    case LIMN_DEPTH_U8:
        return source->bytes[((const guint8 *) samples)[i]];
    case LIMN_DEPTH_U16:
        return source->bytes[((const guint16 *) samples)[i]];
    case LIMN_DEPTH_U32:
        return to_byte(((const guint32 *) samples)[i], source->min, source->scale);
    default:
        return to_byte(((const float *) samples)[i], source->min, source->scale);
    }
}

// Index of an indexed picture; indices beyond a byte do not occur in pictures that are
// shown.
static void
read_indexed(const LimnPixelSource *source, const void *samples, int n, guint8 *out)
{
    for (int i = 0; i < n; i++) {
        guint index = source->image->depth == LIMN_DEPTH_U8
                          ? ((const guint8 *) samples)[i]
                          : ((const guint16 *) samples)[i];

        memcpy(out + 4 * i, &source->palette[index & 255], 4);
    }
}

static void
read_rgb8(const LimnPixelSource *source, const guint8 *samples, int n, guint8 *out)
{
    const guint8 *bytes = source->bytes;

    for (int i = 0; i < n; i++) {
        out[4 * i] = bytes[samples[3 * i]];
        out[4 * i + 1] = bytes[samples[3 * i + 1]];
        out[4 * i + 2] = bytes[samples[3 * i + 2]];
        out[4 * i + 3] = 255;
    }
}

static void
read_grey8(const LimnPixelSource *source, const guint8 *samples, int n, guint8 *out)
{
    for (int i = 0; i < n; i++) {
        guint8 byte = source->bytes[samples[i]];

        out[4 * i] = byte;
        out[4 * i + 1] = byte;
        out[4 * i + 2] = byte;
        out[4 * i + 3] = 255;
    }
}

static void
read_any(const LimnPixelSource *source, const void *samples, int n, guint8 *out)
{
    const LimnImage *image = source->image;
    int channels = limn_pixels_channels(image->pixels);
    gboolean grey = channels < 3;

    for (int i = 0; i < n; i++) {
        gsize at = (gsize) i * channels;
        guint red = sample_byte(source, samples, at);
        guint green = grey ? red : sample_byte(source, samples, at + 1);
        guint blue = grey ? red : sample_byte(source, samples, at + 2);
        guint alpha = find_alpha(source, samples, at);

        store(out + 4 * i, red, green, blue, alpha);
    }
}

void
limn_pixel_source_read(const LimnPixelSource *source, int x, int y, int n, guint8 *out)
{
    const LimnImage *image = source->image;
    gsize pixel = limn_pixels_channels(image->pixels) * limn_depth_size(image->depth);
    const guint8 *samples =
        (const guint8 *) image->data + y * limn_image_stride(image) + x * pixel;

    if (image->pixels == LIMN_PIXELS_INDEXED)
        read_indexed(source, samples, n, out);
    else if (image->pixels == LIMN_PIXELS_RGB && image->depth == LIMN_DEPTH_U8 &&
             source->opaque)
        read_rgb8(source, samples, n, out);
    else if (image->pixels == LIMN_PIXELS_GREY && image->depth == LIMN_DEPTH_U8 &&
             source->opaque)
        read_grey8(source, samples, n, out);
    else
        read_any(source, samples, n, out);
}
