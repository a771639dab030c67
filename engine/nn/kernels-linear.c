// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/parallel.h"
#include "engine/math/gemm.h"
#include "engine/nn/kernels-simd.h"

// Up to this many rows the weights are streamed past the rows; above it a general product
// pays for packing them. Without AVX-512 there are too few registers for more than two.
#define FEW_ROWS 96
#define FEW_ROWS_BACK 16
#define FEW_ROWS_NARROW 2
// Weights are fetched this many columns ahead (four rows side by side: 8 KiB): rows are
// short, and the processor's own prefetching begins anew with each.
#define AHEAD ((gsize) 512)
// Small products are summed in double: it costs nothing, and small models (tests, golden
// data) then come out as exactly as float32 storage allows.
#define SMALL_WEIGHTS ((gsize) 1 << 16)
#define SMALL_WORK ((gsize) 1 << 21)
#define SMALL_ROWS ((gsize) 8)
// Outputs per chunk of the forward product (the fewer rows, the more: a chunk begins with
// weights that were not fetched ahead), rows of W per chunk of the backward product.
#define OUTPUTS(rows) ((gsize) ((rows) <= 16 ? 128 : 64))
#define WEIGHT_ROWS ((gsize) 64)
// Output rows that share one pass over four rows of W.
#define GROUP 4

typedef struct {
    gsize rows, in, out;
    const float *x, *w, *bias;
    float *y;
    float *partial; // [chunks, rows, in] of the backward product
} Few;

// Lane sums of four vectors, as one vector of four.
LIMN_SIMD_INLINE LimnVec4
sum_lanes4(LimnVec a, LimnVec b, LimnVec c, LimnVec d)
{
    LimnVec in[4] = {a, b, c, d};
    LimnVec4 s[4];
    for (int i = 0; i < 4; i++) {
        LimnVec8 h = __builtin_shufflevector(in[i], in[i], 0, 1, 2, 3, 4, 5, 6, 7) +
                     __builtin_shufflevector(in[i], in[i], 8, 9, 10, 11, 12, 13, 14, 15);
        s[i] = __builtin_shufflevector(h, h, 0, 1, 2, 3) +
               __builtin_shufflevector(h, h, 4, 5, 6, 7);
    }
    LimnVec4 p = __builtin_shufflevector(s[0], s[1], 0, 1, 4, 5) +
                 __builtin_shufflevector(s[0], s[1], 2, 3, 6, 7);
    LimnVec4 q = __builtin_shufflevector(s[2], s[3], 0, 1, 4, 5) +
                 __builtin_shufflevector(s[2], s[3], 2, 3, 6, 7);
    return __builtin_shufflevector(p, q, 0, 2, 4, 6) +
           __builtin_shufflevector(p, q, 1, 3, 5, 7);
}

// `count` (a constant after inlining) rows of x against four rows of W.
LIMN_SIMD_INLINE void
block_any(const Few *few, const int count, gsize row, gsize output)
{
    gsize k = few->in, j = 0;
    const float *x = few->x + row * k, *w = few->w + output * k;
    LimnVec sum[6][4];
#pragma GCC unroll 6
    for (int r = 0; r < count; r++) {
#pragma GCC unroll 4
        for (int o = 0; o < 4; o++) {
            sum[r][o] = (LimnVec){0};
        }
    }
    for (; j + LIMN_SIMD_WIDTH <= k; j += LIMN_SIMD_WIDTH) {
        LimnVec weight[4];
        // Behind the end of a row lies the row four further down, which is next.
        gsize ahead = j + AHEAD < k ? j + AHEAD : 3 * k + j + AHEAD;
#pragma GCC unroll 4
        for (int o = 0; o < 4; o++) {
            weight[o] = limn_vec_load(w + (gsize) o * k + j);
            __builtin_prefetch(w + (gsize) o * k + ahead, 0, 2);
        }
#pragma GCC unroll 6
        for (int r = 0; r < count; r++) {
            LimnVec v = limn_vec_load(x + (gsize) r * k + j);
#pragma GCC unroll 4
            for (int o = 0; o < 4; o++) {
                sum[r][o] += v * weight[o];
            }
        }
    }
#pragma GCC unroll 6
    for (int r = 0; r < count; r++) {
        LimnVec4 y = sum_lanes4(sum[r][0], sum[r][1], sum[r][2], sum[r][3]);
        for (gsize l = j; l < k; l++) {
            for (int o = 0; o < 4; o++) {
                y[o] += x[(gsize) r * k + l] * w[(gsize) o * k + l];
            }
        }
        if (few->bias != NULL) {
            y += *(const LimnVec4Loose *) (few->bias + output);
        }
        *(LimnVec4Loose *) (few->y + (row + (gsize) r) * few->out + output) = y;
    }
}

// The last outputs when their number is not a multiple of four.
static void
single_outputs(const Few *few, gsize begin, gsize end)
{
    for (gsize row = 0; row < few->rows; row++) {
        for (gsize o = begin; o < end; o++) {
            double sum =
                limn_kernel_dot(few->x + row * few->in, few->w + o * few->in, few->in);
            double bias = few->bias != NULL ? (double) few->bias[o] : 0;
            few->y[row * few->out + o] = (float) (sum + bias);
        }
    }
}

LIMN_SIMD_INLINE void
outputs_any(const Few *few, gsize begin, gsize end)
{
    for (gsize output = begin; output < end; output += 4) {
        gsize row = 0;
        for (; row + 6 <= few->rows; row += 6) {
            block_any(few, 6, row, output);
        }
        if (row + 4 <= few->rows) {
            block_any(few, 4, row, output);
            row += 4;
        }
        if (row + 2 <= few->rows) {
            block_any(few, 2, row, output);
            row += 2;
        }
        if (row < few->rows) {
            block_any(few, 1, row, output);
        }
    }
}

LIMN_SIMD_VERSIONS(outputs, (const Few *few, gsize begin, gsize end), (few, begin, end))

static void
forward_chunk(gsize chunk, gpointer data)
{
    const Few *few = data;
    gsize n = OUTPUTS(few->rows), begin = chunk * n, end = MIN(begin + n, few->out);
    gsize whole = begin + (end - begin) / 4 * 4;
    LIMN_SIMD_CALL(outputs, (few, begin, whole));
    if (whole < end) {
        single_outputs(few, whole, end);
    }
}

static gboolean
is_small(gsize rows, gsize in, gsize out)
{
    return in * out <= SMALL_WEIGHTS && rows * in * out <= SMALL_WORK;
}

static void
small_chunk(gsize chunk, gpointer data)
{
    Few part = *(const Few *) data;
    gsize first = chunk * SMALL_ROWS;
    part.rows = MIN(SMALL_ROWS, part.rows - first);
    part.x += first * part.in;
    part.y += first * part.out;
    single_outputs(&part, 0, part.out);
}

LIMN_SIMD_INLINE void
small_back_any(const Few *few, gsize row, double *sum)
{
    for (gsize i = 0; i < few->in; i++) {
        sum[i] = 0;
    }
    for (gsize o = 0; o < few->out; o++) {
        double g = (double) few->x[row * few->out + o];
        const float *w = few->w + o * few->in;
        for (gsize i = 0; i < few->in; i++) {
            sum[i] += g * (double) w[i];
        }
    }
    for (gsize i = 0; i < few->in; i++) {
        few->y[row * few->in + i] = (float) sum[i];
    }
}

LIMN_SIMD_VERSIONS(small_back, (const Few *few, gsize row, double *sum), (few, row, sum))

static void
small_back_chunk(gsize chunk, gpointer data)
{
    const Few *few = data;
    double *sum = g_new(double, few->in);
    gsize end = MIN((chunk + 1) * SMALL_ROWS, few->rows);
    for (gsize row = chunk * SMALL_ROWS; row < end; row++) {
        LIMN_SIMD_CALL(small_back, (few, row, sum));
    }
    g_free(sum);
}

static gboolean
are_few(gsize rows, gsize limit)
{
    return rows <= (limn_kernels_get_level() >= 3 ? limit : FEW_ROWS_NARROW);
}

void
limn_kernel_linear(LimnJob *job, gsize rows, gsize in, gsize out, const float *x,
                   const float *w, const float *bias, float *y)
{
    Few few = {.rows = rows, .in = in, .out = out, .x = x, .w = w, .bias = bias, .y = y};
    if (is_small(rows, in, out)) {
        limn_parallel_for(job, (rows + SMALL_ROWS - 1) / SMALL_ROWS, small_chunk, &few);
        return;
    }
    if (!are_few(rows, FEW_ROWS)) {
        limn_linear(job, rows, in, out, x, w, bias, y);
        return;
    }
    if (rows > 0 && out > 0) {
        limn_parallel_for(job, (out + OUTPUTS(rows) - 1) / OUTPUTS(rows), forward_chunk,
                          &few);
    }
}

// y += g[0..3] times four rows of W.
LIMN_SIMD_INLINE void
axpy4_any(const float *w, gsize in, float a, float b, float c, float d, float *y)
{
    gsize i = 0;
    for (; i + LIMN_SIMD_WIDTH <= in; i += LIMN_SIMD_WIDTH) {
        LimnVec v = limn_vec_load(y + i);
        v += a * limn_vec_load(w + i);
        v += b * limn_vec_load(w + in + i);
        v += c * limn_vec_load(w + 2 * in + i);
        v += d * limn_vec_load(w + 3 * in + i);
        limn_vec_store(y + i, v);
    }
    for (; i < in; i++) {
        y[i] += a * w[i] + b * w[in + i] + c * w[2 * in + i] + d * w[3 * in + i];
    }
}

LIMN_SIMD_INLINE void
back_any(const Few *few, gsize begin, gsize end, float *partial)
{
    gsize o = begin, in = few->in;
    for (; o + GROUP <= end; o += GROUP) {
        for (gsize row = 0; row < few->rows; row++) {
            const float *g = few->x + row * few->out + o;
            axpy4_any(few->w + o * in, in, g[0], g[1], g[2], g[3], partial + row * in);
        }
    }
    for (; o < end; o++) {
        for (gsize row = 0; row < few->rows; row++) {
            float g = few->x[row * few->out + o];
            for (gsize i = 0; i < in; i++) {
                partial[row * in + i] += g * few->w[o * in + i];
            }
        }
    }
}

LIMN_SIMD_VERSIONS(back, (const Few *few, gsize begin, gsize end, float *partial),
                   (few, begin, end, partial))

static void
back_chunk(gsize chunk, gpointer data)
{
    const Few *few = data;
    gsize begin = chunk * WEIGHT_ROWS, end = MIN(begin + WEIGHT_ROWS, few->out);
    LIMN_SIMD_CALL(back, (few, begin, end, few->partial + chunk * few->rows * few->in));
}

void
limn_kernel_linear_back(LimnJob *job, gsize rows, gsize in, gsize out, const float *g,
                        const float *w, float *y)
{
    Few few = {.rows = rows, .in = in, .out = out, .x = g, .w = w, .y = y};
    if (is_small(rows, in, out)) {
        limn_parallel_for(job, (rows + SMALL_ROWS - 1) / SMALL_ROWS, small_back_chunk,
                          &few);
        return;
    }
    if (!are_few(rows, FEW_ROWS_BACK)) {
        limn_gemm(job, FALSE, FALSE, rows, in, out, 1, g, out, w, in, 0, y, in);
        return;
    }
    gsize n_chunks = (out + WEIGHT_ROWS - 1) / WEIGHT_ROWS, n = rows * in;
    few.partial = g_new0(float, MAX(n_chunks * n, 1));
    limn_parallel_for(job, n_chunks, back_chunk, &few);
    memset(y, 0, n * sizeof *y);
    for (gsize chunk = 0; chunk < n_chunks; chunk++) {
        for (gsize i = 0; i < n; i++) {
            y[i] += few.partial[chunk * n + i];
        }
    }
    g_free(few.partial);
}
