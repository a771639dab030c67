// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>

#include "engine/base/parallel.h"
#include "engine/nn/kernels-simd.h"

// About this many elements per chunk.
#define CHUNK ((gsize) 1 << 15)

typedef struct {
    gsize rows, width, chunk_rows;
    const float *x, *gain, *offset, *g;
    float *out;
    double eps;
} Norm;

LIMN_SIMD_INLINE double
squares_about(const float *x, gsize n, double mean)
{
    LimnVecDouble a = {0}, b = {0};
    gsize i = 0;
    for (; i + 16 <= n; i += 16) {
        LimnVecDouble d = limn_vec8_load_double(x + i) - mean;
        LimnVecDouble e = limn_vec8_load_double(x + i + 8) - mean;
        a += d * d;
        b += e * e;
    }
    double sum = limn_vec_sum_double(a + b);
    for (; i < n; i++) {
        sum += ((double) x[i] - mean) * ((double) x[i] - mean);
    }
    return sum;
}

LIMN_SIMD_INLINE void
statistics(const float *x, gsize n, double eps, float *mean, float *rate)
{
    double m = limn_vec_total(x, n) / (double) n;
    double variance = squares_about(x, n, m) / (double) n;
    *mean = (float) m;
    *rate = (float) (1 / sqrt(variance + eps));
}

LIMN_SIMD_INLINE void
norm_row_any(const Norm *norm, gsize row)
{
    gsize n = norm->width;
    const float *x = norm->x + row * n;
    float *y = norm->out + row * n, mean, rate;
    statistics(x, n, norm->eps, &mean, &rate);
    gsize i = 0;
    for (; i + LIMN_SIMD_WIDTH <= n; i += LIMN_SIMD_WIDTH) {
        LimnVec v = (limn_vec_load(x + i) - mean) * rate;
        limn_vec_store(y + i, v * limn_vec_load(norm->gain + i) +
                                  limn_vec_load(norm->offset + i));
    }
    for (; i < n; i++) {
        y[i] = (x[i] - mean) * rate * norm->gain[i] + norm->offset[i];
    }
}

LIMN_SIMD_VERSIONS(norm_row, (const Norm *norm, gsize row), (norm, row))

// Means of h and of h xh, in double.
LIMN_SIMD_INLINE void
back_means(const Norm *norm, const float *x, const float *g, float mean, float rate,
           float *mean_h, float *mean_hx)
{
    gsize n = norm->width, i = 0;
    LimnVecDouble sum_h = {0}, sum_hx = {0};
    for (; i + 8 <= n; i += 8) {
        LimnVecDouble h =
            limn_vec8_load_double(g + i) * limn_vec8_load_double(norm->gain + i);
        sum_h += h;
        sum_hx += h * ((limn_vec8_load_double(x + i) - (double) mean) * (double) rate);
    }
    double a = limn_vec_sum_double(sum_h), b = limn_vec_sum_double(sum_hx);
    for (; i < n; i++) {
        double h = (double) g[i] * (double) norm->gain[i];
        a += h;
        b += h * (((double) x[i] - (double) mean) * (double) rate);
    }
    *mean_h = (float) (a / (double) n);
    *mean_hx = (float) (b / (double) n);
}

LIMN_SIMD_INLINE void
norm_back_row_any(const Norm *norm, gsize row)
{
    gsize n = norm->width, i = 0;
    const float *x = norm->x + row * n, *g = norm->g + row * n;
    float *out = norm->out + row * n, mean, rate, mean_h, mean_hx;
    statistics(x, n, norm->eps, &mean, &rate);
    back_means(norm, x, g, mean, rate, &mean_h, &mean_hx);
    for (; i + LIMN_SIMD_WIDTH <= n; i += LIMN_SIMD_WIDTH) {
        LimnVec h = limn_vec_load(g + i) * limn_vec_load(norm->gain + i);
        LimnVec xh = (limn_vec_load(x + i) - mean) * rate;
        limn_vec_store(out + i,
                       limn_vec_load(out + i) + rate * (h - mean_h - xh * mean_hx));
    }
    for (; i < n; i++) {
        float h = g[i] * norm->gain[i], xh = (x[i] - mean) * rate;
        out[i] += rate * (h - mean_h - xh * mean_hx);
    }
}

LIMN_SIMD_VERSIONS(norm_back_row, (const Norm *norm, gsize row), (norm, row))

static void
norm_chunk(gsize chunk, gpointer data)
{
    const Norm *norm = data;
    gsize end = MIN((chunk + 1) * norm->chunk_rows, norm->rows);
    for (gsize row = chunk * norm->chunk_rows; row < end; row++) {
        if (norm->g == NULL) {
            LIMN_SIMD_CALL(norm_row, (norm, row));
        } else {
            LIMN_SIMD_CALL(norm_back_row, (norm, row));
        }
    }
}

static void
run(LimnJob *job, Norm *norm)
{
    if (norm->rows == 0 || norm->width == 0) {
        return;
    }
    norm->chunk_rows = MAX(CHUNK / norm->width, 1);
    limn_parallel_for(job, (norm->rows + norm->chunk_rows - 1) / norm->chunk_rows,
                      norm_chunk, norm);
}

void
limn_kernel_layer_norm(LimnJob *job, gsize rows, gsize width, const float *x,
                       const float *gain, const float *offset, float eps, float *y)
{
    Norm norm = {
        .rows = rows,
        .width = width,
        .x = x,
        .gain = gain,
        .offset = offset,
        .out = y,
        .eps = (double) eps,
    };
    run(job, &norm);
}

void
limn_kernel_layer_norm_back(LimnJob *job, gsize rows, gsize width, const float *x,
                            const float *gain, float eps, const float *g, float *out)
{
    Norm norm = {
        .rows = rows,
        .width = width,
        .x = x,
        .gain = gain,
        .g = g,
        .out = out,
        .eps = (double) eps,
    };
    run(job, &norm);
}
