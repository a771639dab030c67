// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <string.h>
#include <tiffio.h>

#include "engine/base/array.h"
#include "engine/io/picture-tiff-private.h"

// Less than a byte per sample: the first sample is in the highest bits.
static void
unpack_bits(const guint8 *row, int bits, gsize first, gsize step, gsize n, guint8 *to,
            gsize to_step)
{
    guint mask = (1u << bits) - 1;
    for (gsize i = 0; i < n; i++) {
        gsize at = (first + i * step) * (gsize) bits;
        guint shift = 8 - (guint) bits - (guint) (at % 8);
        to[i * to_step] = (guint8) ((row[at / 8] >> shift) & mask);
    }
}

#define UNPACK(from_type, to_type, expression)                                           \
    do {                                                                                 \
        const from_type *from = (const from_type *) (const void *) row + first;          \
        to_type *out = to;                                                               \
        for (gsize i = 0; i < n; i++) {                                                  \
            from_type value = from[i * step];                                            \
            out[i * to_step] = (expression);                                             \
        }                                                                                \
    } while (0)

// A double as the nearest float; beyond the range of floats infinite.
static inline float
narrow(double value)
{
    return fabs(value) > (double) G_MAXFLOAT && isfinite(value)
               ? (float) copysign(INFINITY, value)
               : (float) value;
}

void
limn_tiff_unpack(const LimnTiffPlan *plan, const guint8 *row, gsize first, gsize step,
                 gsize n, void *to, gsize to_step)
{
    gboolean is_signed = plan->format == SAMPLEFORMAT_INT;
    gboolean is_float = plan->format == SAMPLEFORMAT_IEEEFP;
    if (plan->bits < 8) {
        unpack_bits(row, plan->bits, first, step, n, to, to_step);
    } else if (plan->bits == 8 && is_signed) {
        UNPACK(gint8, float, (float) value);
    } else if (plan->bits == 8) {
        UNPACK(guint8, guint8, value);
    } else if (plan->bits == 16 && is_float) {
        UNPACK(guint16, float, limn_half_to_float(value));
    } else if (plan->bits == 16 && is_signed) {
        UNPACK(gint16, float, (float) value);
    } else if (plan->bits == 16) {
        UNPACK(guint16, guint16, value);
    } else if (plan->bits == 32 && is_float) {
        UNPACK(float, float, value);
    } else if (plan->bits == 32) {
        UNPACK(guint32, guint32, value); // signed ones: see finish_signed()
    } else {
        UNPACK(double, float, narrow(value));
    }
}

static gsize
count_samples(const LimnImage *image)
{
    return (gsize) image->width * (gsize) image->height *
           (gsize) limn_pixels_channels(image->pixels);
}

// 32-bit signed integers stay integers when none is negative (label maps), else they
// become floats.
static void
finish_signed(LimnImage *image, const LimnPictureSource *source)
{
    gsize n = count_samples(image);
    guint32 *value = image->data;
    gboolean negative = FALSE, inexact = FALSE;
    for (gsize i = 0; i < n; i++) {
        negative |= value[i] >> 31 != 0;
    }
    if (!negative) {
        return;
    }
    image->depth = LIMN_DEPTH_F32;
    for (gsize i = 0; i < n; i++) {
        gint32 exact = (gint32) value[i];
        float rounded = (float) exact;
        inexact |= (double) rounded != exact;
        memcpy(&value[i], &rounded, sizeof rounded);
    }
    if (inexact) {
        limn_job_diagnose(source->job, LIMN_DIAGNOSTIC_WARNING, source->name,
                          "integers beyond 16777216 were rounded to floats");
    }
}

static void
invert(LimnImage *image)
{
    gsize n = count_samples(image);
    guint8 *bytes = image->data;
    guint16 *words = image->data;
    guint32 *longs = image->data;
    guint8 top = (guint8) ((1u << MIN(image->bits, 8)) - 1);
    for (gsize i = 0; i < n; i++) {
        if (image->depth == LIMN_DEPTH_U8) {
            bytes[i] = top - bytes[i];
        } else if (image->depth == LIMN_DEPTH_U16) {
            words[i] = G_MAXUINT16 - words[i];
        } else {
            longs[i] = G_MAXUINT32 - longs[i];
        }
    }
    image->inverted = TRUE;
}

// value * top / alpha, rounded and not above top.
static inline guint
undo_alpha(guint value, guint alpha, guint top)
{
    guint64 result = ((guint64) value * top + alpha / 2) / alpha;
    return (guint) MIN(result, top);
}

static void
finish_premultiplied(LimnImage *image)
{
    gsize channels = (gsize) limn_pixels_channels(image->pixels);
    gsize n = count_samples(image);
    for (gsize i = 0; i < n; i += channels) {
        gsize alpha = i + channels - 1;
        for (gsize c = i; c < alpha; c++) {
            if (image->depth == LIMN_DEPTH_U8) {
                guint8 *data = image->data;
                data[c] =
                    data[alpha] == 0 ? 0 : (guint8) undo_alpha(data[c], data[alpha], 255);
            } else if (image->depth == LIMN_DEPTH_U16) {
                guint16 *data = image->data;
                data[c] = data[alpha] == 0
                              ? 0
                              : (guint16) undo_alpha(data[c], data[alpha], 65535);
            } else if (image->depth == LIMN_DEPTH_F32) {
                float *data = image->data;
                data[c] = data[alpha] > 0 ? data[c] / data[alpha] : 0;
            }
        }
    }
}

// 65535 = full ink, as limn_cmyk_to_rgb() does it for bytes.
static void
cmyk16_to_rgb(const guint16 cmyk[4], guint16 rgb[3])
{
    guint64 paper = 65535u - cmyk[3];
    for (int i = 0; i < 3; i++) {
        rgb[i] = (guint16) ((paper * (65535u - cmyk[i]) + 32767) / 65535);
    }
}

static LimnImage *
finish_cmyk(LimnImage *raw, GError **error)
{
    LimnImage *image =
        limn_image_new(raw->width, raw->height, LIMN_PIXELS_RGB, raw->depth, error);
    if (image == NULL) {
        return NULL;
    }
    limn_image_copy_description(image, raw);
    image->cmyk = TRUE;
    gsize n = (gsize) raw->width * (gsize) raw->height;
    for (gsize i = 0; i < n; i++) {
        if (raw->depth == LIMN_DEPTH_U8) {
            limn_cmyk_to_rgb((const guint8 *) raw->data + 4 * i,
                             (guint8 *) image->data + 3 * i);
        } else {
            cmyk16_to_rgb((const guint16 *) raw->data + 4 * i,
                          (guint16 *) image->data + 3 * i);
        }
    }
    return image;
}

LimnImage *
limn_tiff_finish(const LimnTiffPlan *plan, LimnImage *image,
                 const LimnPictureSource *source, GError **error)
{
    if (plan->format == SAMPLEFORMAT_INT && plan->bits == 32) {
        finish_signed(image, source);
    }
    if (plan->photometric == PHOTOMETRIC_MINISWHITE && image->depth != LIMN_DEPTH_F32) {
        invert(image);
    }
    if (plan->premultiplied) {
        finish_premultiplied(image);
    }
    if (!plan->cmyk) {
        return image;
    }
    LimnImage *converted = finish_cmyk(image, error);
    limn_image_unref(image);
    return converted;
}
