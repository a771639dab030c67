// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/math/gemm.h"

#include <cblas.h>
#include <limits.h>
#include <string.h>

#include "engine/base/parallel.h"

// Products of up to this many multiplications are done by a plain loop: the call costs
// more (measured by `limn-cli bench gemm-small`).
#define PLAIN_WORK 256
// Rows of a panel, about. Panels of many rows are efficient, because each packs all of B.
#define PANEL_ROWS ((gsize) 256)
#define ROW_UNIT ((gsize) 16)
// Multiplications of a panel below which the hand-over to a thread does not pay.
#define PANEL_WORK 2e6
// Width of column panels is a multiple of the unit (and of the tile widths of all
// kernels) and not below the least width: every panel packs all of its rows of A again.
#define COLUMN_UNIT ((gsize) 48)
#define LEAST_WIDTH ((gsize) 192)
// A product is cut into at most this many column panels.
#define MAX_COLUMN_PANELS ((gsize) 8)

void
limn_blas_init(void)
{
    static gsize done;
    if (g_once_init_enter(&done)) {
        openblas_set_num_threads(1);
        g_once_init_leave(&done, 1);
    }
}

// One product and, for limn_linear, the bias added to each row of its result.
typedef struct {
    gboolean trans_a, trans_b;
    gsize m, n, k;
    float alpha, beta;
    const float *a, *b, *bias;
    gsize lda, ldb;
    float *c;
    gsize ldc;
    gsize row_panels, column_panels;
} Product;

// Scales C by beta; what is there is not read when beta is 0 (it may be NaN).
static void
scale_rows(const Product *p)
{
    for (gsize i = 0; i < p->m; i++) {
        float *row = p->c + i * p->ldc;
        if (p->beta == 0) {
            memset(row, 0, p->n * sizeof *row);
        } else if (p->beta != 1) {
            for (gsize j = 0; j < p->n; j++) {
                row[j] *= p->beta;
            }
        }
    }
}

static void
multiply_plain(const Product *p)
{
    scale_rows(p);
    if (p->alpha == 0) {
        return;
    }
    gsize a_row = p->trans_a ? 1 : p->lda, a_col = p->trans_a ? p->lda : 1;
    for (gsize i = 0; i < p->m; i++) {
        float *row = p->c + i * p->ldc;
        for (gsize j = 0; j < p->n; j++) {
            const float *b = p->trans_b ? p->b + j * p->ldb : p->b + j;
            gsize b_step = p->trans_b ? 1 : p->ldb;
            float sum = 0;
            for (gsize l = 0; l < p->k; l++) {
                sum += p->a[i * a_row + l * a_col] * b[l * b_step];
            }
            row[j] += p->alpha * sum;
        }
    }
}

static gboolean
is_tiny(const Product *p)
{
    return p->m <= PLAIN_WORK && p->n <= PLAIN_WORK && p->k <= PLAIN_WORK &&
           p->m * p->n * p->k <= PLAIN_WORK;
}

static gboolean
fits_blas(const Product *p)
{
    return p->m <= INT_MAX && p->n <= INT_MAX && p->k <= INT_MAX && p->lda <= INT_MAX &&
           p->ldb <= INT_MAX && p->ldc <= INT_MAX;
}

static void
multiply_blas(const Product *p)
{
    if (p->m == 1 && !p->trans_a && p->trans_b) {
        cblas_sgemv(CblasRowMajor, CblasNoTrans, (int) p->n, (int) p->k, p->alpha, p->b,
                    (int) p->ldb, p->a, 1, p->beta, p->c, 1);
        return;
    }
    cblas_sgemm(CblasRowMajor, p->trans_a ? CblasTrans : CblasNoTrans,
                p->trans_b ? CblasTrans : CblasNoTrans, (int) p->m, (int) p->n,
                (int) p->k, p->alpha, p->a, (int) p->lda, p->b, (int) p->ldb, p->beta,
                p->c, (int) p->ldc);
}

static void
add_bias(const Product *p)
{
    for (gsize i = 0; i < p->m; i++) {
        float *row = p->c + i * p->ldc;
        for (gsize j = 0; j < p->n; j++) {
            row[j] += p->bias[j];
        }
    }
}

static void
multiply(const Product *p)
{
    if (p->k == 0) {
        scale_rows(p);
    } else if (is_tiny(p) || !fits_blas(p)) {
        multiply_plain(p);
    } else {
        multiply_blas(p);
    }
    if (p->bias != NULL) {
        add_bias(p);
    }
}

// Begin of part i when `size` is cut into n parts of whole units.
static gsize
cut(gsize size, gsize n, gsize i, gsize unit)
{
    gsize units = (size + unit - 1) / unit;
    return MIN(units * i / n * unit, size);
}

static void
multiply_panel(gsize chunk, gpointer data)
{
    const Product *whole = data;
    Product part = *whole;
    gsize row = chunk / whole->column_panels, column = chunk % whole->column_panels;
    gsize i0 = cut(whole->m, whole->row_panels, row, ROW_UNIT);
    gsize i1 = cut(whole->m, whole->row_panels, row + 1, ROW_UNIT);
    gsize j0 = cut(whole->n, whole->column_panels, column, COLUMN_UNIT);
    gsize j1 = cut(whole->n, whole->column_panels, column + 1, COLUMN_UNIT);
    part.m = i1 - i0;
    part.n = j1 - j0;
    part.a += whole->trans_a ? i0 : i0 * whole->lda;
    part.b += whole->trans_b ? j0 * whole->ldb : j0;
    part.c += i0 * whole->ldc + j0;
    part.bias = whole->bias != NULL ? whole->bias + j0 : NULL;
    multiply(&part);
}

// Panels depend on the sizes only. With few row panels the columns are cut as well, into
// an even number where possible.
static void
cut_panels(Product *p)
{
    p->row_panels = p->column_panels = 1;
    double work = (double) p->m * (double) p->n * (double) p->k;
    if (work < 2 * PANEL_WORK) {
        return;
    }
    p->row_panels = MAX((p->m + PANEL_ROWS / 2) / PANEL_ROWS, 1);
    if (p->row_panels >= MAX_COLUMN_PANELS) {
        return;
    }
    work /= (double) p->row_panels;
    gsize by_work = (gsize) MIN(work / PANEL_WORK, 1e6);
    gsize by_width = p->n / LEAST_WIDTH;
    gsize panels = MIN(MIN(by_work, by_width), MAX_COLUMN_PANELS / p->row_panels);
    if (panels >= 2) {
        p->column_panels = panels & ~(gsize) 1;
    }
}

static void
run_product(LimnJob *job, Product *p)
{
    limn_blas_init();
    if (p->m == 0 || p->n == 0) {
        return;
    }
    cut_panels(p);
    if (p->row_panels * p->column_panels > 1) {
        limn_parallel_for(job, p->row_panels * p->column_panels, multiply_panel, p);
    } else {
        limn_parallel_prepare_thread();
        multiply(p);
    }
}

void
limn_gemm(LimnJob *job, gboolean trans_a, gboolean trans_b, gsize m, gsize n, gsize k,
          float alpha, const float *a, gsize lda, const float *b, gsize ldb, float beta,
          float *c, gsize ldc)
{
    Product product = {
        .trans_a = trans_a,
        .trans_b = trans_b,
        .m = m,
        .n = n,
        .k = k,
        .alpha = alpha,
        .beta = beta,
        .a = a,
        .b = b,
        .lda = lda,
        .ldb = ldb,
        .c = c,
        .ldc = ldc,
    };
    run_product(job, &product);
}

void
limn_linear(LimnJob *job, gsize rows, gsize in, gsize out, const float *x, const float *w,
            const float *bias, float *y)
{
    Product product = {
        .trans_b = TRUE,
        .m = rows,
        .n = out,
        .k = in,
        .alpha = 1,
        .a = x,
        .b = w,
        .bias = bias,
        .lda = in,
        .ldb = in,
        .c = y,
        .ldc = out,
    };
    run_product(job, &product);
}
