// SPDX-License-Identifier: GPL-3.0-or-later

// Statistics, small symmetric systems, and products of columns in double.

#include <glib.h>
#include <math.h>
#include <string.h>

#include "engine/base/job.h"
#include "engine/base/rng.h"
#include "engine/math/columns.h"
#include "engine/math/statistics.h"
#include "engine/math/symmetric.h"

static void
test_describe(void)
{
    const double x[] = {3, 0, -1, 6};
    LimnDescription d = limn_describe(x, 4);
    g_assert_cmpfloat(d.mean, ==, 2);
    g_assert_cmpfloat_with_epsilon(d.std, sqrt(30.0 / 3), 1e-15);
    g_assert_cmpfloat(d.min, ==, -1);
    g_assert_cmpfloat(d.max, ==, 6);
    g_assert_cmpuint(d.n_nonzero, ==, 3);
    // 0.1 has no exact sum: the deviation must still be zero.
    const double same[] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    g_assert_cmpfloat(limn_describe(same, 7).std, ==, 0);
    g_assert_cmpfloat(limn_describe(x, 1).std, ==, 0);
    g_assert_cmpfloat(limn_describe(x, 0).mean, ==, 0);
}

static void
test_pearson(void)
{
    const double x[] = {1, 2, 3, 4, 5}, y[] = {2, 1, 4, 3, 5}, flat[] = {7, 7, 7, 7, 7};
    g_assert_cmpfloat_with_epsilon(limn_pearson(x, y, 5), 0.8, 1e-15);
    g_assert_cmpfloat_with_epsilon(limn_pearson(x, x, 5), 1, 1e-15);
    g_assert_true(isnan(limn_pearson(x, flat, 5)));
    g_assert_true(isnan(limn_pearson(x, y, 1)));
    double far[5], shifted[5];
    for (int i = 0; i < 5; i++) { // a large offset costs nothing
        far[i] = 1e9 + x[i];
        shifted[i] = 3 - 2 * y[i];
    }
    g_assert_cmpfloat_with_epsilon(limn_pearson(far, y, 5), 0.8, 1e-12);
    g_assert_cmpfloat_with_epsilon(limn_pearson(x, shifted, 5), -0.8, 1e-15);
}

static void
test_order(void)
{
    const double values[] = {0, 2, NAN, 0, 5, 2};
    const guint32 expected[] = {4, 1, 5, 0, 3, 2};
    guint32 order[6];
    limn_order_falling(values, 6, order);
    g_assert_cmpmem(order, sizeof order, expected, sizeof expected);
    // Long lists go another way: falling, equal values by index, NaN last.
    enum { LONG = 3000 };
    double many[LONG];
    guint32 sorted[LONG];
    LimnRng rng = limn_rng_make(5, 5);
    for (gsize i = 0; i < LONG; i++) {
        many[i] = i % 7 == 0     ? floor(3 * limn_rng_normal(&rng))
                  : i % 11 == 0  ? -0.0
                  : i % 501 == 3 ? NAN
                  : i % 601 == 5 ? -INFINITY
                                 : limn_rng_normal(&rng) * 1e-3;
    }
    limn_order_falling(many, LONG, sorted);
    for (gsize i = 1; i < LONG; i++) {
        double x = many[sorted[i - 1]], y = many[sorted[i]];
        g_assert_true(isnan(y) || x >= y);
        g_assert_true(!(isnan(x) || x == y) || !(x == y || isnan(y)) ||
                      sorted[i - 1] < sorted[i]);
        g_assert_true(!isnan(x) || isnan(y));
    }
}

// A = B B^T of rank `rank`.
static void
make_matrix(gsize n, gsize rank, guint64 seed, double *a)
{
    LimnRng rng = limn_rng_make(seed, 4);
    double b[12 * 12];
    for (gsize i = 0; i < n * rank; i++) {
        b[i] = limn_rng_normal(&rng);
    }
    for (gsize i = 0; i < n; i++) {
        for (gsize j = 0; j < n; j++) {
            a[i * n + j] = 0;
            for (gsize k = 0; k < rank; k++) {
                a[i * n + j] += b[i * rank + k] * b[j * rank + k];
            }
        }
    }
}

static void
multiply(gsize n, const double *a, const double *x, double *out)
{
    for (gsize i = 0; i < n; i++) {
        out[i] = 0;
        for (gsize j = 0; j < n; j++) {
            out[i] += a[i * n + j] * x[j];
        }
    }
}

static void
test_solve(void)
{
    enum { N = 7 };
    double a[N * N], x[N], b[N], got[N], again[N], work[2 * N * N + N];
    for (gsize rank = 1; rank <= N; rank++) {
        make_matrix(N, rank, rank, a);
        for (gsize i = 0; i < N; i++) {
            x[i] = (double) i - 2.5;
        }
        multiply(N, a, x, b); // in the range of A
        limn_semidefinite_solve(N, a, b, got, work);
        multiply(N, a, got, again);
        double length = 0, longest = 0;
        for (gsize i = 0; i < N; i++) {
            g_assert_cmpfloat_with_epsilon(again[i], b[i], 1e-8);
            length += got[i] * got[i];
            longest += x[i] * x[i];
        }
        g_assert_cmpfloat(length, <=, longest * (1 + 1e-9)); // the shortest solution
    }
    const double zero[4] = {0, 0, 0, 0}, one[2] = {1, 1};
    limn_semidefinite_solve(2, zero, one, got, work);
    g_assert_cmpfloat(got[0], ==, 0);
    g_assert_cmpfloat(got[1], ==, 0);
}

static void
test_eigen(void)
{
    enum { N = 6 };
    double a[N * N], kept[N * N], values[N], vectors[N * N], image[N];
    make_matrix(N, N, 21, a);
    memcpy(kept, a, sizeof a);
    limn_symmetric_eigen(N, a, values, vectors);
    double trace = 0, sum = 0;
    for (gsize i = 0; i < N; i++) {
        multiply(N, kept, vectors + i * N, image);
        for (gsize j = 0; j < N; j++) {
            g_assert_cmpfloat_with_epsilon(image[j], values[i] * vectors[i * N + j],
                                           1e-12 * 100);
        }
        trace += kept[i * N + i];
        sum += values[i];
    }
    g_assert_cmpfloat_with_epsilon(trace, sum, 1e-10);
}

// ---- products of columns

typedef struct {
    gsize n_all, stride;
    float *x;
    guint32 *rows, *columns;
    double *offset, *scale;
    LimnColumns columns_of;
} Matrix;

static void
matrix_init(Matrix *m, gsize n_all, gsize stride, gsize n, gsize k, guint64 seed)
{
    LimnRng rng = limn_rng_make(seed, 5);
    gsize size = n_all * stride;
    m->x = g_new(float, size);
    m->rows = g_new(guint32, n);
    m->columns = g_new(guint32, k);
    m->offset = g_new(double, k);
    m->scale = g_new(double, k);
    for (gsize i = 0; i < size; i++) {
        m->x[i] = limn_rng_normal(&rng);
    }
    for (gsize i = 0; i < n; i++) {
        m->rows[i] = limn_rng_below(&rng, (guint32) n_all);
    }
    for (gsize j = 0; j < k; j++) {
        m->columns[j] = limn_rng_below(&rng, (guint32) stride);
        m->offset[j] = limn_rng_uniform(&rng);
        m->scale[j] = 0.5 + limn_rng_uniform(&rng);
    }
    m->columns_of = (LimnColumns){.x = m->x,
                                  .stride = stride,
                                  .rows = m->rows,
                                  .n = n,
                                  .columns = m->columns,
                                  .k = k,
                                  .offset = m->offset,
                                  .scale = m->scale};
}

static void
matrix_clear(Matrix *m)
{
    g_free(m->x);
    g_free(m->rows);
    g_free(m->columns);
    g_free(m->offset);
    g_free(m->scale);
}

static double
element(const LimnColumns *c, gsize i, gsize j)
{
    double value =
        (c->x[c->rows[i] * c->stride + c->columns[j]] - c->offset[j]) * c->scale[j];
    return c->cubed ? value * value * value : value;
}

static void
assert_product(const LimnColumns *a, const LimnColumns *b, double factor,
               const double *out)
{
    for (gsize i = 0; i < a->k; i++) {
        for (gsize j = 0; j < b->k; j++) {
            double sum = 0;
            for (gsize r = 0; r < a->n; r++) {
                sum += element(a, r, i) * element(b, r, j);
            }
            g_assert_cmpfloat_with_epsilon(out[i * b->k + j], factor * sum, 1e-9);
        }
    }
}

static void
test_products(void)
{
    Matrix a, b;
    matrix_init(&a, 700, 40, 611, 150, 1);
    matrix_init(&b, 650, 9, 611, 7, 2);
    b.columns_of.cubed = TRUE;
    gsize size = 150 * 150;
    g_autofree double *gram = g_new(double, size), *other = g_new(double, size);
    g_autofree double *cross = g_new(double, size);
    g_autoptr(LimnJob) one = limn_job_new(), many = limn_job_new();
    limn_job_set_threads(many, 3);
    limn_columns_gram(one, &a.columns_of, 0.5, gram);
    limn_columns_gram(many, &a.columns_of, 0.5, other);
    g_assert_cmpmem(gram, size * sizeof *gram, other, size * sizeof *gram);
    assert_product(&a.columns_of, &a.columns_of, 0.5, gram);
    for (gsize i = 0; i < 150; i++) {
        for (gsize j = 0; j < i; j++) {
            g_assert_cmpfloat(gram[i * 150 + j], ==, gram[j * 150 + i]);
        }
    }
    limn_columns_product(many, &a.columns_of, &b.columns_of, 1, cross);
    assert_product(&a.columns_of, &b.columns_of, 1, cross);
    matrix_clear(&a);
    matrix_clear(&b);
}

// Column j of a product is the same to the bit in any company.
static void
test_company(void)
{
    enum { ALL = 300, FEW = 61 };
    Matrix a, b;
    matrix_init(&a, 900, ALL, 777, ALL, 7);
    matrix_init(&b, 900, 90, 777, 83, 8);
    memcpy(b.rows, a.rows, 777 * sizeof *a.rows);
    gsize size = ALL * 83;
    g_autofree double *whole = g_new(double, size), *part = g_new(double, size);
    limn_columns_product(NULL, &a.columns_of, &b.columns_of, 0.1, whole);
    for (gsize step = 1; step < 6; step++) {
        LimnColumns some = a.columns_of;
        guint32 columns[ALL];
        double offset[ALL], scale[ALL];
        some.k = 0;
        for (gsize j = step; j < ALL && some.k < FEW; j += step) {
            columns[some.k] = a.columns[j];
            offset[some.k] = a.offset[j];
            scale[some.k++] = a.scale[j];
        }
        some.columns = columns;
        some.offset = offset;
        some.scale = scale;
        limn_columns_product(NULL, &some, &b.columns_of, 0.1, part);
        for (gsize j = 0; j < some.k; j++) {
            g_assert_cmpmem(part + j * 83, 83 * sizeof *part, whole + (j + 1) * step * 83,
                            83 * sizeof *part);
        }
    }
    matrix_clear(&a);
    matrix_clear(&b);
}

static void
test_columns_describe(void)
{
    Matrix m;
    matrix_init(&m, 300, 20, 250, 35, 3);
    for (gsize i = 0; i < 300; i++) {
        m.x[i * 20 + 4] = 0.7f; // constant: deviation exactly zero
    }
    double mean[35], std[35], column[250];
    limn_columns_describe(NULL, &m.columns_of, mean, std);
    for (gsize j = 0; j < 35; j++) {
        for (gsize i = 0; i < 250; i++) {
            column[i] = m.x[m.rows[i] * 20 + m.columns[j]];
        }
        LimnDescription d = limn_describe(column, 250);
        g_assert_cmpfloat_with_epsilon(mean[j], d.mean, 1e-13);
        g_assert_cmpfloat_with_epsilon(std[j], d.std, 1e-13);
        g_assert_true((m.columns[j] == 4) == (std[j] == 0));
    }
    matrix_clear(&m);
}

static void
test_cosines(void)
{
    const float a[] = {3, 4, 0, 0, -1, 0}, b[] = {6, 8, 0, 2};
    float out[6];
    limn_cosine_matrix(NULL, 3, 2, 2, a, b, out);
    const float expected[] = {1, 0.8f, 0, 0, -0.6f, 0};
    for (gsize i = 0; i < 6; i++) {
        g_assert_cmpfloat_with_epsilon(out[i], expected[i], 1e-7);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/statistics/describe", test_describe);
    g_test_add_func("/statistics/pearson", test_pearson);
    g_test_add_func("/statistics/order", test_order);
    g_test_add_func("/symmetric/solve", test_solve);
    g_test_add_func("/symmetric/eigen", test_eigen);
    g_test_add_func("/columns/products", test_products);
    g_test_add_func("/columns/company", test_company);
    g_test_add_func("/columns/describe", test_columns_describe);
    g_test_add_func("/columns/cosines", test_cosines);
    return g_test_run();
}
