// SPDX-License-Identifier: GPL-3.0-or-later

// From stored samples to 8-bit RGB(A): the rule of LimnRangeRule for every depth.

#include <math.h>
#include <string.h>

#include "engine/image/image.h"

// The map from stored samples to bytes; a table for up to 16 bits.
typedef struct {
    const LimnImage *image;
    int channels; // stored ones
    int colours;  // stored ones without alpha
    double min, scale;
    guint8 *table;   // U8 and U16, else NULL
    guint8 *palette; // indexed: RGBA entries, else NULL
} Conversion;

static int
colour_channels(const LimnImage *image)
{
    switch (image->pixels) {
    case LIMN_PIXELS_RGB:
    case LIMN_PIXELS_RGBA:
        return 3;
    case LIMN_PIXELS_GREY:
    case LIMN_PIXELS_GREY_ALPHA:
    case LIMN_PIXELS_INDEXED:
        break;
    }
    return 1;
}

void
limn_image_type_range(const LimnImage *image, double *min, double *max)
{
    *min = 0;
    *max = image->depth == LIMN_DEPTH_F32 ? 1.0 : ldexp(1.0, image->bits) - 1;
}

// Smallest and largest of `n` samples in steps of `step`; FALSE when none is finite.
static gboolean
range_of_channel(const LimnImage *image, gsize first, gsize n, gsize step, double *min,
                 double *max)
{
    double low = INFINITY, high = -INFINITY;
#define SCAN(type)                                                                       \
    do {                                                                                 \
        const type *data = (const type *) image->data + first;                           \
        type least = data[0], most = data[0];                                            \
        for (gsize i = 1; i < n; i++) {                                                  \
            type value = data[i * step];                                                 \
            least = value < least ? value : least;                                       \
            most = value > most ? value : most;                                          \
        }                                                                                \
        low = least;                                                                     \
        high = most;                                                                     \
    } while (0)
    switch (image->depth) {
    case LIMN_DEPTH_U8:
        SCAN(guint8);
        break;
    case LIMN_DEPTH_U16:
        SCAN(guint16);
        break;
    case LIMN_DEPTH_U32:
        SCAN(guint32);
        break;
    case LIMN_DEPTH_F32: {
        const float *data = (const float *) image->data + first;
        for (gsize i = 0; i < n; i++) {
            double value = (double) data[i * step];
            if (isfinite(value)) {
                low = MIN(low, value);
                high = MAX(high, value);
            }
        }
        break;
    }
    }
#undef SCAN
    *min = MIN(*min, low);
    *max = MAX(*max, high);
    return low <= high;
}

gboolean
limn_image_range(const LimnImage *image, double *min, double *max)
{
    gsize n = (gsize) image->width * (gsize) image->height;
    gsize step = (gsize) limn_pixels_channels(image->pixels);
    gboolean found = FALSE;
    *min = INFINITY;
    *max = -INFINITY;
    for (int channel = 0; channel < colour_channels(image); channel++) {
        found |= range_of_channel(image, (gsize) channel, n, step, min, max);
    }
    return found;
}

LimnRangeRule
limn_image_default_range(const LimnImage *image)
{
    if (image->pixels == LIMN_PIXELS_INDEXED || image->depth == LIMN_DEPTH_U8 ||
        image->depth == LIMN_DEPTH_U16) {
        return LIMN_RANGE_TYPE;
    }
    double min, max;
    if (image->depth == LIMN_DEPTH_F32 && limn_image_range(image, &min, &max) &&
        min >= 0 && max <= 1) {
        return LIMN_RANGE_TYPE;
    }
    return LIMN_RANGE_DATA;
}

static inline guint8
to_byte(double value, double min, double scale)
{
    double scaled = (value - min) * scale + 0.5;
    if (!(scaled >= 1)) { // also NaN
        return 0;
    }
    return scaled >= 255 ? 255 : (guint8) scaled;
}

static void
conversion_init(Conversion *conversion, const LimnImage *image, double min, double max)
{
    *conversion = (Conversion){
        .image = image,
        .channels = limn_pixels_channels(image->pixels),
        .colours = colour_channels(image),
        .min = min,
        .scale = max > min ? 255 / (max - min) : 0,
    };
    if (image->pixels == LIMN_PIXELS_INDEXED && image->depth == LIMN_DEPTH_U8) {
        conversion->palette = g_malloc(sizeof image->palette);
        memcpy(conversion->palette, image->palette, sizeof image->palette);
    } else if (image->depth == LIMN_DEPTH_U8 || image->depth == LIMN_DEPTH_U16) {
        int n = image->depth == LIMN_DEPTH_U8 ? 256 : 65536;
        conversion->table = g_malloc((gsize) n);
        for (int i = 0; i < n; i++) {
            conversion->table[i] = to_byte(i, min, conversion->scale);
        }
    }
}

static void
conversion_clear(Conversion *conversion)
{
    g_free(conversion->table);
    g_free(conversion->palette);
}

static inline guint8
colour_byte(const Conversion *conversion, gsize i)
{
    const LimnImage *image = conversion->image;
    switch (image->depth) {
    case LIMN_DEPTH_U8:
        return conversion->table[((const guint8 *) image->data)[i]];
    case LIMN_DEPTH_U16:
        return conversion->table[((const guint16 *) image->data)[i]];
    case LIMN_DEPTH_U32:
        return to_byte(((const guint32 *) image->data)[i], conversion->min,
                       conversion->scale);
    case LIMN_DEPTH_F32:
        break;
    }
    return to_byte((double) ((const float *) image->data)[i], conversion->min,
                   conversion->scale);
}

// Alpha is always relative to the type.
static inline guint8
alpha_byte(const LimnImage *image, gsize i)
{
    switch (image->depth) {
    case LIMN_DEPTH_U8:
        return ((const guint8 *) image->data)[i];
    case LIMN_DEPTH_U16:
        return (guint8) ((((const guint16 *) image->data)[i] + 128u) / 257u);
    case LIMN_DEPTH_U32:
        return (guint8) (((const guint32 *) image->data)[i] >> 24);
    case LIMN_DEPTH_F32:
        break;
    }
    return to_byte((double) ((const float *) image->data)[i], 0, 255);
}

static gboolean
is_key(const LimnImage *image, gsize first, int colours)
{
    for (int channel = 0; channel < colours; channel++) {
        gsize i = first + (gsize) channel;
        guint value = image->depth == LIMN_DEPTH_U8 ? ((const guint8 *) image->data)[i]
                                                    : ((const guint16 *) image->data)[i];
        if (value != image->key[channel]) {
            return FALSE;
        }
    }
    return TRUE;
}

// The functions below write n pixels, the first at index `first`, as RGB (size 3) or RGBA
// (size 4).
static void
convert_palette(const Conversion *conversion, gsize first, gsize n, guint8 *out,
                gsize size)
{
    const guint8 *index = (const guint8 *) conversion->image->data + first;
    for (gsize i = 0; i < n; i++) {
        memcpy(out + size * i, conversion->palette + 4 * index[i], size);
    }
}

// The common case without alpha and key: one look-up per sample.
static void
convert_bytes(const Conversion *conversion, gsize first, gsize n, guint8 *out, gsize size)
{
    gsize step = (gsize) conversion->channels;
    const guint8 *from = (const guint8 *) conversion->image->data + first * step;
    const guint8 *table = conversion->table;
    gsize green = conversion->colours == 3 ? 1 : 0;
    for (gsize i = 0; i < n; i++, from += step, out += size) {
        out[0] = table[from[0]];
        out[1] = table[from[green]];
        out[2] = table[from[2 * green]];
        if (size == 4) {
            out[3] = 255;
        }
    }
}

static void
convert_samples(const Conversion *conversion, gsize first, gsize n, guint8 *out,
                gsize size)
{
    const LimnImage *image = conversion->image;
    gboolean has_alpha = conversion->channels > conversion->colours;
    gboolean has_key = image->has_key && !has_alpha && conversion->table != NULL;
    gsize green = conversion->colours == 3 ? 1 : 0;
    for (gsize i = 0; i < n; i++, out += size) {
        gsize at = (first + i) * (gsize) conversion->channels;
        out[0] = colour_byte(conversion, at);
        out[1] = colour_byte(conversion, at + green);
        out[2] = colour_byte(conversion, at + 2 * green);
        if (size < 4) {
            continue;
        }
        if (has_alpha) {
            out[3] = alpha_byte(image, at + (gsize) conversion->colours);
        } else {
            out[3] = has_key && is_key(image, at, conversion->colours) ? 0 : 255;
        }
    }
}

static void
convert_pixels(const Conversion *conversion, gsize first, gsize n, guint8 *out,
               gsize size)
{
    const LimnImage *image = conversion->image;
    gboolean plain =
        size == 3 || (conversion->channels == conversion->colours && !image->has_key);
    if (conversion->palette != NULL) {
        convert_palette(conversion, first, n, out, size);
    } else if (image->depth == LIMN_DEPTH_U8 && plain) {
        convert_bytes(conversion, first, n, out, size);
    } else {
        convert_samples(conversion, first, n, out, size);
    }
}

// The part at (x, y) of the size of `part`.
static void
convert_part(const LimnImage *image, double min, double max, int x, int y,
             LimnImage *part)
{
    Conversion conversion;
    conversion_init(&conversion, image, min, max);
    gsize stride = limn_image_stride(part);
    gsize size = (gsize) limn_pixels_channels(part->pixels);
    for (int row = 0; row < part->height; row++) {
        gsize first = (gsize) (y + row) * (gsize) image->width + (gsize) x;
        convert_pixels(&conversion, first, (gsize) part->width,
                       (guint8 *) part->data + (gsize) row * stride, size);
    }
    conversion_clear(&conversion);
}

static LimnImage *
new_converted(const LimnImage *image, int width, int height, LimnPixels pixels,
              GError **error)
{
    LimnImage *converted = limn_image_new(width, height, pixels, LIMN_DEPTH_U8, error);
    if (converted != NULL) {
        converted->orientation = image->orientation;
        converted->lossy = image->lossy;
        converted->cmyk = image->cmyk;
        converted->format = image->format;
    }
    return converted;
}

void
limn_image_rule_range(const LimnImage *image, LimnRangeRule rule, double *min,
                      double *max)
{
    limn_image_type_range(image, min, max);
    if (rule == LIMN_RANGE_DATA && !limn_image_range(image, min, max)) {
        *min = *max = 0;
    }
}

static LimnImage *
convert(LimnImage *image, LimnPixels pixels, LimnRangeRule rule, GError **error)
{
    LimnImage *converted =
        new_converted(image, image->width, image->height, pixels, error);
    double min, max;
    if (converted != NULL) {
        limn_image_rule_range(image, rule, &min, &max);
        convert_part(image, min, max, 0, 0, converted);
    }
    return converted;
}

LimnImage *
limn_image_part_to_rgba8(LimnImage *image, double min, double max, int x, int y,
                         int width, int height, GError **error)
{
    g_return_val_if_fail(x >= 0 && y >= 0 && width <= image->width - x &&
                             height <= image->height - y,
                         NULL);
    LimnImage *part = new_converted(image, width, height, LIMN_PIXELS_RGBA, error);
    if (part != NULL) {
        convert_part(image, min, max, x, y, part);
    }
    return part;
}

// 8-bit samples that RANGE_TYPE leaves as they are.
static gboolean
is_plain(const LimnImage *image, LimnPixels pixels, LimnRangeRule rule)
{
    return image->pixels == pixels && image->depth == LIMN_DEPTH_U8 && image->bits == 8 &&
           rule == LIMN_RANGE_TYPE;
}

LimnImage *
limn_image_to_rgb8(LimnImage *image, LimnRangeRule rule, GError **error)
{
    if (is_plain(image, LIMN_PIXELS_RGB, rule)) {
        return limn_image_ref(image);
    }
    return convert(image, LIMN_PIXELS_RGB, rule, error);
}

LimnImage *
limn_image_to_rgba8(LimnImage *image, LimnRangeRule rule, GError **error)
{
    if (is_plain(image, LIMN_PIXELS_RGBA, rule)) {
        return limn_image_ref(image);
    }
    return convert(image, LIMN_PIXELS_RGBA, rule, error);
}
