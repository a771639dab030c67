// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/math/columns.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "engine/base/parallel.h"
#include "engine/math/gemm.h"

// Columns of a tile and rows that are converted at a time: both panels stay in the cache.
#define TILE ((gsize) 128)
#define PANEL ((gsize) 512)
// Columns of one call of BLAS, a multiple of what its kernels take at a time.
#define SLICE ((gsize) 16)
// Columns described by one chunk.
#define DESCRIBED ((gsize) 16)
// Rows of the cosine matrix per chunk.
#define COSINE_ROWS ((gsize) 64)

typedef struct {
    const LimnColumns *a, *b;
    double factor;
    double *out;
    gboolean symmetric;
    gsize b_tiles;
} Product;

// Rows [first, first + n) of columns [begin, begin + k) as doubles, `width` to a row.
static void
convert(const LimnColumns *c, gsize first, gsize n, gsize begin, gsize k, double *out,
        gsize width)
{
    for (gsize i = 0; i < n; i++) {
        gsize row = c->rows != NULL ? c->rows[first + i] : first + i;
        const float *x = c->x + row * c->stride;
        double *to = out + i * width;
        for (gsize j = 0; j < k; j++) {
            gsize column = c->columns != NULL ? c->columns[begin + j] : begin + j;
            double value = x[column];
            value -= c->offset != NULL ? c->offset[begin + j] : 0;
            value *= c->scale != NULL ? c->scale[begin + j] : 1;
            to[j] = c->cubed ? value * value * value : value;
        }
    }
}

static void
mirror(double *out, gsize k, gsize i0, gsize ni, gsize j0, gsize nj)
{
    for (gsize i = i0; i < i0 + ni; i++) {
        for (gsize j = j0; j < j0 + nj; j++) {
            if (j > i) {
                out[j * k + i] = out[i * k + j];
            }
        }
    }
}

// c [ni, nj] += left^T right over n rows, in slices of SLICE columns of `left`, whose
// width is padded with zeros: every column meets the same kernel, wherever in the list it
// stands.
static void
multiply_slices(gsize ni, gsize nj, gsize n, double factor, const double *left,
                const double *right, double *c)
{
    for (gsize i = 0; i < ni; i += SLICE) {
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int) SLICE, (int) nj,
                    (int) n, factor, left + i, (int) ni, right, (int) nj, 1, c + i * nj,
                    (int) nj);
    }
}

static void
multiply_tile(gsize chunk, gpointer data)
{
    const Product *p = data;
    gsize i0 = chunk / p->b_tiles * TILE, j0 = chunk % p->b_tiles * TILE;
    if (p->symmetric && j0 < i0) {
        return;
    }
    gsize ni = MIN(TILE, p->a->k - i0), nj = MIN(TILE, p->b->k - j0), stride = p->b->k;
    gsize padded = (ni + SLICE - 1) / SLICE * SLICE;
    gsize left_size = PANEL * padded, right_size = PANEL * nj, c_size = padded * nj;
    g_autofree double *left = g_new0(double, left_size);
    g_autofree double *right = g_new(double, right_size);
    g_autofree double *c = g_new0(double, c_size);
    for (gsize first = 0; first < p->a->n; first += PANEL) {
        gsize n = MIN(PANEL, p->a->n - first);
        convert(p->a, first, n, i0, ni, left, padded);
        convert(p->b, first, n, j0, nj, right, nj);
        multiply_slices(padded, nj, n, p->factor, left, right, c);
    }
    double *out = p->out + i0 * stride + j0;
    for (gsize i = 0; i < ni; i++) {
        memcpy(out + i * stride, c + i * nj, nj * sizeof *out);
    }
    if (p->symmetric) {
        mirror(p->out, stride, i0, ni, j0, nj);
    }
}

static gsize
n_tiles(gsize k)
{
    return (k + TILE - 1) / TILE;
}

static void
run_product(LimnJob *job, Product *p)
{
    limn_blas_init();
    p->b_tiles = n_tiles(p->b->k);
    limn_parallel_for(job, n_tiles(p->a->k) * p->b_tiles, multiply_tile, p);
}

void
limn_columns_product(LimnJob *job, const LimnColumns *a, const LimnColumns *b,
                     double factor, double *out)
{
    g_return_if_fail(a->n == b->n);
    Product product = {.a = a, .b = b, .factor = factor, .out = out};
    run_product(job, &product);
}

void
limn_columns_gram(LimnJob *job, const LimnColumns *a, double factor, double *out)
{
    Product product = {.a = a, .b = a, .factor = factor, .out = out, .symmetric = TRUE};
    run_product(job, &product);
}

// ---- statistics

typedef struct {
    const LimnColumns *columns;
    double *mean, *std;
} Describing;

static void
describe_chunk(gsize chunk, gpointer data)
{
    const Describing *d = data;
    LimnColumns plain = *d->columns;
    plain.offset = plain.scale = NULL;
    plain.cubed = FALSE;
    gsize begin = chunk * DESCRIBED, k = MIN(DESCRIBED, plain.k - begin);
    double sum[DESCRIBED] = {0}, square[DESCRIBED] = {0}, row[DESCRIBED];
    double first[DESCRIBED];
    gboolean varies[DESCRIBED] = {FALSE};
    for (gsize i = 0; i < plain.n; i++) {
        convert(&plain, i, 1, begin, k, row, k);
        for (gsize j = 0; j < k; j++) {
            first[j] = i == 0 ? row[j] : first[j];
            varies[j] = varies[j] || row[j] != first[j];
            sum[j] += row[j];
        }
    }
    double n = (double) plain.n;
    for (gsize j = 0; j < k; j++) {
        sum[j] = plain.n > 0 ? sum[j] / n : 0;
    }
    for (gsize i = 0; i < plain.n; i++) {
        convert(&plain, i, 1, begin, k, row, k);
        for (gsize j = 0; j < k; j++) {
            square[j] += (row[j] - sum[j]) * (row[j] - sum[j]);
        }
    }
    for (gsize j = 0; j < k; j++) {
        d->mean[begin + j] = sum[j];
        d->std[begin + j] = varies[j] ? sqrt(square[j] / (n - 1)) : 0;
    }
}

void
limn_columns_describe(LimnJob *job, const LimnColumns *a, double *mean, double *std)
{
    Describing describing = {a, mean, std};
    limn_parallel_for(job, (a->k + DESCRIBED - 1) / DESCRIBED, describe_chunk,
                      &describing);
}

// ---- cosines

typedef struct {
    gsize n, k, d;
    const float *a;
    const double *b; // unit rows
    float *out;
} Cosines;

static void
unit_rows(const float *x, gsize n, gsize d, double *out)
{
    for (gsize i = 0; i < n; i++) {
        double square = 0;
        for (gsize j = 0; j < d; j++) {
            square += (double) x[i * d + j] * (double) x[i * d + j];
        }
        double scale = square > 0 ? 1 / sqrt(square) : 0;
        for (gsize j = 0; j < d; j++) {
            out[i * d + j] = x[i * d + j] * scale;
        }
    }
}

static void
cosine_chunk(gsize chunk, gpointer data)
{
    const Cosines *c = data;
    gsize first = chunk * COSINE_ROWS, n = MIN(COSINE_ROWS, c->n - first);
    gsize rows_size = n * c->d, product_size = n * c->k;
    g_autofree double *rows = g_new(double, rows_size);
    g_autofree double *product = g_new(double, product_size);
    unit_rows(c->a + first * c->d, n, c->d, rows);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int) n, (int) c->k, (int) c->d,
                1, rows, (int) c->d, c->b, (int) c->d, 0, product, (int) c->k);
    for (gsize i = 0; i < product_size; i++) {
        c->out[first * c->k + i] = (float) CLAMP(product[i], -1, 1);
    }
}

void
limn_cosine_matrix(LimnJob *job, gsize n, gsize k, gsize d, const float *a,
                   const float *b, float *out)
{
    if (n == 0 || k == 0 || d == 0) {
        memset(out, 0, n * k * sizeof *out);
        return;
    }
    limn_blas_init();
    gsize size = k * d;
    g_autofree double *unit = g_new(double, size);
    unit_rows(b, k, d, unit);
    Cosines cosines = {n, k, d, a, unit, out};
    limn_parallel_for(job, (n + COSINE_ROWS - 1) / COSINE_ROWS, cosine_chunk, &cosines);
}
