// SPDX-License-Identifier: GPL-3.0-or-later

// Antialiased resampling in fixed point, bit for bit as Pillow does it for 8-bit
// pictures (specification of Grad-ECLIP, section 4). With scale = in / out and fs =
// max(scale, 1), output o of an axis is the sum over the inputs within the filter's
// support around (o + 0.5) scale of K((i - centre + 0.5) / fs), normalised to 1 in double
// and rounded to 22 fractional bits, half away from zero; the sum starts at one half, is
// shifted and clamped. Rows first, stored as bytes, then columns; an axis whose size
// stays is left alone. Both passes write every output once, so that chunks of rows are
// independent and the result does not depend on the number of threads.

#include "engine/image/resample-private.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/job.h"
#include "engine/base/parallel.h"

#define FRACTION_BITS 22
#define MAX_WEIGHTS ((gsize) 1 << 28) // 1 GiB of weights: a row of 67 million pixels

// Integer vectors: the compiler picks the instructions, the values are the same.
typedef guint8 Bytes4 __attribute__((vector_size(4)));
typedef gint32 Ints4 __attribute__((vector_size(16)));
typedef guint8 Bytes8 __attribute__((vector_size(8)));
typedef gint32 Ints8 __attribute__((vector_size(32)));

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) &&       \
    !defined(__clang__)
#define FAST_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define FAST_CLONES
#endif

// Weights of the outputs [0, n) of a window along one axis.
typedef struct {
    int n;
    int *first;   // first input
    gsize *begin; // [n + 1] into weight
    gint32 *weight;
} Taps;

static double
filter_bicubic(double t)
{
    const double a = -0.5;
    t = fabs(t);
    if (t < 1) {
        return ((a + 2) * t - (a + 3)) * t * t + 1;
    }
    if (t < 2) {
        return (((t - 5) * t + 8) * t - 4) * a;
    }
    return 0;
}

static double
filter_triangle(double t)
{
    t = fabs(t);
    return t < 1 ? 1 - t : 0;
}

static double
filter_box(double t)
{
    return t > -0.5 && t <= 0.5 ? 1 : 0;
}

static const struct {
    double (*function)(double t);
    double support;
} filters[] = {
    [LIMN_FILTER_BICUBIC] = {filter_bicubic, 2},
    [LIMN_FILTER_TRIANGLE] = {filter_triangle, 1},
    [LIMN_FILTER_BOX] = {filter_box, 0.5},
};

static void
taps_free(Taps *taps)
{
    g_free(taps->first);
    g_free(taps->begin);
    g_free(taps->weight);
    g_free(taps);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Taps, taps_free)

// Normalises `n` weights to sum 1 and rounds them.
static void
round_weights(const double *exact, int n, gint32 *weight)
{
    double sum = 0;
    for (int i = 0; i < n; i++) {
        sum += exact[i];
    }
    for (int i = 0; i < n; i++) {
        double scaled = (sum != 0 ? exact[i] / sum : exact[i]) * (1 << FRACTION_BITS);
        weight[i] = (gint32) (scaled < 0 ? scaled - 0.5 : scaled + 0.5);
    }
}

static Taps *
taps_new(LimnFilter filter, int in, int out, int begin, int n, GError **error)
{
    double scale = (double) in / out;
    double filter_scale = MAX(scale, 1.0);
    double inverse = 1.0 / filter_scale;
    double support = filters[filter].support * filter_scale;
    double bound = (ceil(support) * 2 + 1) * n;
    if (bound > (double) MAX_WEIGHTS) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "resizing a side of %d pixels to %d needs too many weights", in, out);
        return NULL;
    }
    g_autoptr(Taps) taps = g_new0(Taps, 1);
    taps->n = n;
    taps->first = g_new(int, (gsize) n);
    taps->begin = g_new(gsize, (gsize) n + 1);
    taps->weight = g_try_new(gint32, (gsize) bound);
    g_autofree double *exact = g_try_new(double, (gsize) (ceil(support) * 2 + 1));
    if (taps->weight == NULL || exact == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory for the weights of resizing %d pixels to %d", in, out);
        return NULL;
    }
    gsize used = 0;
    for (int o = 0; o < n; o++) {
        double centre = (begin + o + 0.5) * scale;
        int first = MAX((int) (centre - support + 0.5), 0);
        int last = (int) MIN(centre + support + 0.5, (double) in);
        for (int i = first; i < last; i++) {
            exact[i - first] = filters[filter].function((i - centre + 0.5) * inverse);
        }
        taps->first[o] = first;
        taps->begin[o] = used;
        round_weights(exact, last - first, taps->weight + used);
        used += (gsize) (last - first);
    }
    taps->begin[n] = used;
    return g_steal_pointer(&taps);
}

// To whole numbers in 0..255, lane by lane. A macro: vectors that are wider than the
// machine's are not passed to functions.
#define CLAMP_SUM(type, sum)                                                             \
    do {                                                                                 \
        type over_;                                                                      \
        (sum) >>= FRACTION_BITS;                                                         \
        (sum) &= (sum) >= 0;                                                             \
        over_ = (sum) > 255;                                                             \
        (sum) = ((sum) & ~over_) | (over_ & 255);                                        \
    } while (0)

// row: [in, size] bytes and at least one more; out: [n, size]; size = 3 or 4.
FAST_CLONES static void
resample_row(const guint8 *row, guint8 *out, const Taps *taps, gsize size)
{
    for (int o = 0; o < taps->n; o++) {
        const guint8 *pixel = row + (gsize) taps->first[o] * size;
        Ints4 sum = {1 << (FRACTION_BITS - 1), 1 << (FRACTION_BITS - 1),
                     1 << (FRACTION_BITS - 1), 1 << (FRACTION_BITS - 1)};
        for (gsize i = taps->begin[o]; i < taps->begin[o + 1]; i++, pixel += size) {
            Bytes4 bytes;
            memcpy(&bytes, pixel, sizeof bytes);
            sum += __builtin_convertvector(bytes, Ints4) * taps->weight[i];
        }
        CLAMP_SUM(Ints4, sum);
        Bytes4 result = __builtin_convertvector(sum, Bytes4);
        if (size == 4) {
            memcpy(out + 4 * (gsize) o, &result, 4);
        } else {
            memcpy(out + 3 * (gsize) o, &result, 3);
        }
    }
}

// The same for one channel: the taps of an output lie side by side. No byte more is read.
FAST_CLONES static void
resample_grey_row(const guint8 *row, guint8 *out, const Taps *taps)
{
    enum { LANES = 8 };
    for (int o = 0; o < taps->n; o++) {
        const guint8 *pixel = row + taps->first[o];
        const gint32 *weight = taps->weight + taps->begin[o];
        gsize n = taps->begin[o + 1] - taps->begin[o], i = 0;
        Ints8 sums = {0};
        for (; i + LANES <= n; i += LANES) {
            Bytes8 bytes;
            Ints8 weights;
            memcpy(&bytes, pixel + i, sizeof bytes);
            memcpy(&weights, weight + i, sizeof weights);
            sums += __builtin_convertvector(bytes, Ints8) * weights;
        }
        gint32 sum = 1 << (FRACTION_BITS - 1);
        for (int lane = 0; lane < LANES; lane++) {
            sum += sums[lane];
        }
        for (; i < n; i++) {
            sum += pixel[i] * weight[i];
        }
        out[o] = (guint8) CLAMP(sum >> FRACTION_BITS, 0, 255);
    }
}

// out[x] = sum over i of rows[i stride + x] weight[i], x < width bytes.
FAST_CLONES static void
resample_column(const guint8 *rows, gsize stride, guint8 *out, gsize width,
                const gint32 *weight, gsize n)
{
    enum { LANES = 8, BLOCK = 4 };
    const gint32 half = 1 << (FRACTION_BITS - 1);
    gsize x = 0;
    for (; x + LANES * BLOCK <= width; x += LANES * BLOCK) {
        Ints8 sum[BLOCK] = {{0}, {0}, {0}, {0}};
        const guint8 *from = rows + x;
        for (gsize i = 0; i < n; i++, from += stride) {
            for (int b = 0; b < BLOCK; b++) {
                Bytes8 bytes;
                memcpy(&bytes, from + LANES * b, sizeof bytes);
                sum[b] += __builtin_convertvector(bytes, Ints8) * weight[i];
            }
        }
        for (int b = 0; b < BLOCK; b++) {
            sum[b] += half;
            CLAMP_SUM(Ints8, sum[b]);
            Bytes8 result = __builtin_convertvector(sum[b], Bytes8);
            memcpy(out + x + LANES * b, &result, sizeof result);
        }
    }
    for (; x < width; x++) {
        gint32 sum = half;
        for (gsize i = 0; i < n; i++) {
            sum += rows[i * stride + x] * weight[i];
        }
        out[x] = (guint8) CLAMP(sum >> FRACTION_BITS, 0, 255);
    }
}

// One pass over chunks of rows.
typedef struct {
    const guint8 *from;
    guint8 *to;
    gsize from_stride, to_stride;
    const Taps *taps; // NULL: rows are copied from byte `skip` on
    gsize skip;
    gsize size; // bytes per pixel
    int rows;   // of the output
    int rows_per_chunk;
    const guint8 *end; // of the source's data
} Pass;

static void
horizontal_chunk(gsize chunk, gpointer data)
{
    const Pass *pass = data;
    int begin = (int) chunk * pass->rows_per_chunk;
    int end = MIN(begin + pass->rows_per_chunk, pass->rows);
    for (int y = begin; y < end; y++) {
        const guint8 *row = pass->from + (gsize) y * pass->from_stride;
        guint8 *out = pass->to + (gsize) y * pass->to_stride;
        if (pass->taps == NULL) {
            memcpy(out, row + pass->skip, pass->to_stride);
        } else if (pass->size == 1) {
            resample_grey_row(row, out, pass->taps);
        } else if (pass->size == 3 && row + pass->from_stride == pass->end) {
            // Four bytes are read per pixel, also of the very last one.
            g_autofree guint8 *padded = g_malloc0(pass->from_stride + 4);
            memcpy(padded, row, pass->from_stride);
            resample_row(padded, out, pass->taps, pass->size);
        } else {
            resample_row(row, out, pass->taps, pass->size);
        }
    }
}

static void
vertical_chunk(gsize chunk, gpointer data)
{
    const Pass *pass = data;
    const Taps *taps = pass->taps;
    int begin = (int) chunk * pass->rows_per_chunk;
    int end = MIN(begin + pass->rows_per_chunk, pass->rows);
    for (int y = begin; y < end; y++) {
        gsize first = taps->begin[y];
        resample_column(pass->from + (gsize) taps->first[y] * pass->from_stride,
                        pass->from_stride, pass->to + (gsize) y * pass->to_stride,
                        pass->to_stride, taps->weight + first,
                        taps->begin[y + 1] - first);
    }
}

// Chunks of about half a million samples read.
static gboolean
run_pass(Pass *pass, LimnChunkFunc func, gsize samples_per_row, LimnJob *job,
         GError **error)
{
    pass->rows_per_chunk =
        (int) CLAMP(((gsize) 1 << 19) / MAX(samples_per_row, 1), 1, 4096);
    gsize n = (gsize) ((pass->rows + pass->rows_per_chunk - 1) / pass->rows_per_chunk);
    limn_parallel_for(job, n, func, pass);
    return limn_job_check(job, error);
}

// Rows [first, first + rows) of `image`, columns of the window.
static LimnImage *
resample_rows(LimnImage *image, LimnFilter filter, int width, int left, int window_width,
              int first, int rows, LimnJob *job, GError **error)
{
    gsize size = (gsize) limn_pixels_channels(image->pixels);
    g_autoptr(LimnImage) out =
        limn_image_new(window_width, rows, image->pixels, LIMN_DEPTH_U8, error);
    g_autoptr(Taps) taps = NULL;
    if (out == NULL) {
        return NULL;
    }
    if (width != image->width) {
        taps = taps_new(filter, image->width, width, left, window_width, error);
        if (taps == NULL) {
            return NULL;
        }
    }
    gsize stride = limn_image_stride(image);
    Pass pass = {
        .from = (const guint8 *) image->data + (gsize) first * stride,
        .to = out->data,
        .from_stride = stride,
        .to_stride = limn_image_stride(out),
        .taps = taps,
        .skip = (gsize) left * size,
        .size = size,
        .rows = rows,
        .end = (const guint8 *) image->data + (gsize) image->height * stride,
    };
    gsize work = taps != NULL ? 4 * taps->begin[taps->n] : pass.to_stride;
    if (!run_pass(&pass, horizontal_chunk, work, job, error)) {
        return NULL;
    }
    return g_steal_pointer(&out);
}

LimnImage *
limn_resample_window(LimnImage *image, LimnFilter filter, int width, int height, int left,
                     int top, int window_width, int window_height, LimnJob *job,
                     GError **error)
{
    g_return_val_if_fail(image->depth == LIMN_DEPTH_U8, NULL);
    g_return_val_if_fail(image->pixels == LIMN_PIXELS_GREY ||
                             limn_pixels_channels(image->pixels) >= 3,
                         NULL);
    g_return_val_if_fail(left >= 0 && top >= 0, NULL);
    g_return_val_if_fail(window_width <= width - left, NULL);
    g_return_val_if_fail(window_height <= height - top, NULL);
    if (height == image->height) {
        return resample_rows(image, filter, width, left, window_width, top, window_height,
                             job, error);
    }
    g_autoptr(LimnImage) out =
        limn_image_new(window_width, window_height, image->pixels, LIMN_DEPTH_U8, error);
    if (out == NULL) {
        return NULL;
    }
    g_autoptr(Taps) taps =
        taps_new(filter, image->height, height, top, window_height, error);
    if (taps == NULL) {
        return NULL;
    }
    // The rows that the window needs.
    int last = window_height - 1;
    int first_row = taps->first[0];
    int end_row = taps->first[last] + (int) (taps->begin[last + 1] - taps->begin[last]);
    g_autoptr(LimnImage) narrow =
        resample_rows(image, filter, width, left, window_width, first_row,
                      end_row - first_row, job, error);
    if (narrow == NULL) {
        return NULL;
    }
    for (int y = 0; y < window_height; y++) {
        taps->first[y] -= first_row;
    }
    Pass pass = {
        .from = narrow->data,
        .to = out->data,
        .from_stride = limn_image_stride(narrow),
        .to_stride = limn_image_stride(out),
        .taps = taps,
        .rows = window_height,
    };
    gsize work = pass.to_stride * (taps->begin[taps->n] / (gsize) taps->n);
    if (!run_pass(&pass, vertical_chunk, work, job, error)) {
        return NULL;
    }
    return g_steal_pointer(&out);
}

static LimnImage *
resize(LimnImage *image, LimnFilter filter, int width, int height, LimnJob *job,
       GError **error)
{
    if (width < 1 || height < 1) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "cannot resize a picture to %d x %d pixels", width, height);
        return NULL;
    }
    if (width == image->width && height == image->height) {
        return limn_image_ref(image);
    }
    return limn_resample_window(image, filter, width, height, 0, 0, width, height, job,
                                error);
}

LimnImage *
limn_resize_bicubic(LimnImage *image, int width, int height, LimnJob *job, GError **error)
{
    return resize(image, LIMN_FILTER_BICUBIC, width, height, job, error);
}

LimnImage *
limn_resize_bilinear_antialias(LimnImage *image, int width, int height, LimnJob *job,
                               GError **error)
{
    return resize(image, LIMN_FILTER_TRIANGLE, width, height, job, error);
}

LimnImage *
limn_resize_area(LimnImage *image, int width, int height, LimnJob *job, GError **error)
{
    return resize(image, LIMN_FILTER_BOX, width, height, job, error);
}
