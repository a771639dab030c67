// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <string.h>

#include "engine/base/job.h"
#include "engine/base/rng.h"
#include "engine/math/gemm.h"

typedef struct {
    gsize m, n, k;
} Size;

static const Size sizes[] = {
    {1, 1, 1},     {3, 5, 7},     {16, 16, 16},   {17, 16, 16},    {1, 300, 129},
    {2, 1000, 64}, {50, 768, 96}, {197, 515, 77}, {385, 33, 40},   {700, 310, 130},
    {1, 1, 1000},  {300, 1, 50},  {64, 97, 1},    {49, 2304, 200},
};

static float *
random_matrix(guint64 stream, gsize n)
{
    LimnRng rng = limn_rng_make(42, stream);
    float *matrix = g_new(float, MAX(n, 1));
    for (gsize i = 0; i < n; i++) {
        matrix[i] = 2 * limn_rng_uniform(&rng) - 1;
    }
    return matrix;
}

// The plain triple loop, in double.
static void
multiply_plain(gboolean ta, gboolean tb, Size s, double alpha, const float *a, gsize lda,
               const float *b, gsize ldb, double beta, const float *c, gsize ldc,
               double *out)
{
    for (gsize i = 0; i < s.m; i++) {
        for (gsize j = 0; j < s.n; j++) {
            double sum = 0;
            for (gsize l = 0; l < s.k; l++) {
                sum += (double) (ta ? a[l * lda + i] : a[i * lda + l]) *
                       (double) (tb ? b[j * ldb + l] : b[l * ldb + j]);
            }
            double old = beta != 0 ? beta * c[i * ldc + j] : 0;
            out[i * s.n + j] = alpha * sum + old;
        }
    }
}

static void
check_size(Size s, gboolean ta, gboolean tb, float alpha, float beta)
{
    gsize lda = (ta ? s.m : s.k) + 3, ldb = (tb ? s.k : s.n) + 1, ldc = s.n + 2;
    g_autofree float *a = random_matrix(1, (ta ? s.k : s.m) * lda);
    g_autofree float *b = random_matrix(2, (tb ? s.n : s.k) * ldb);
    g_autofree float *c = random_matrix(3, s.m * ldc);
    g_autofree float *first = NULL;
    g_autofree double *expected = g_new(double, s.m *s.n);
    if (beta == 0) { // what C held must not matter
        for (gsize i = 0; i < s.m * ldc; i++) {
            c[i] = NAN;
        }
    }
    multiply_plain(ta, tb, s, alpha, a, lda, b, ldb, beta, c, ldc, expected);
    for (int threads = 1; threads <= 3; threads++) {
        g_autoptr(LimnJob) job = limn_job_new();
        limn_job_set_threads(job, threads);
        g_autofree float *result = g_memdup2(c, s.m * ldc * sizeof *c);
        limn_gemm(threads == 1 ? NULL : job, ta, tb, s.m, s.n, s.k, alpha, a, lda, b, ldb,
                  beta, result, ldc);
        for (gsize i = 0; i < s.m; i++) {
            for (gsize j = 0; j < s.n; j++) {
                g_assert_cmpfloat_with_epsilon(result[i * ldc + j], expected[i * s.n + j],
                                               1e-5 * sqrt((double) s.k) + 1e-6);
            }
            // What lies between the rows is not touched.
            g_assert_cmpmem(result + i * ldc + s.n, 2 * sizeof *c, c + i * ldc + s.n,
                            2 * sizeof *c);
        }
        if (first == NULL) {
            first = g_steal_pointer(&result);
        } else {
            g_assert_cmpmem(result, s.m * ldc * sizeof *c, first, s.m * ldc * sizeof *c);
        }
    }
}

static void
test_gemm(void)
{
    const struct {
        float alpha, beta;
    } scales[] = {{1, 0}, {0.5f, 1}, {-2, 0.25f}, {0, 0.5f}};
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        for (int t = 0; t < 4; t++) {
            guint s = (i + (guint) t) % G_N_ELEMENTS(scales);
            check_size(sizes[i], t & 1, t & 2, scales[s].alpha, scales[s].beta);
            check_size(sizes[i], t & 1, t & 2, 1, 0);
        }
    }
}

static void
test_empty(void)
{
    float c[] = {1, 2, 3, 4};
    limn_gemm(NULL, FALSE, FALSE, 0, 2, 3, 1, NULL, 3, NULL, 2, 0, c, 2);
    limn_gemm(NULL, FALSE, FALSE, 2, 0, 3, 1, NULL, 3, NULL, 1, 0, c, 1);
    g_assert_cmpfloat(c[0], ==, 1);
    limn_gemm(NULL, FALSE, FALSE, 2, 2, 0, 1, NULL, 1, NULL, 2, 0.5f, c, 2);
    g_assert_cmpfloat(c[3], ==, 2);
    limn_gemm(NULL, FALSE, FALSE, 2, 2, 0, 1, NULL, 1, NULL, 2, 0, c, 2);
    g_assert_cmpfloat(c[3], ==, 0);
}

static void
check_linear(gsize rows, gsize in, gsize out, gboolean with_bias)
{
    g_autofree float *x = random_matrix(4, rows * in);
    g_autofree float *w = random_matrix(5, out * in);
    g_autofree float *bias = random_matrix(6, out);
    g_autofree double *expected = g_new(double, rows *out);
    multiply_plain(FALSE, TRUE, (Size){rows, out, in}, 1, x, in, w, in, 0, NULL, out,
                   expected);
    g_autofree float *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        g_autoptr(LimnJob) job = limn_job_new();
        limn_job_set_threads(job, threads);
        g_autofree float *y = g_new(float, rows *out);
        limn_linear(job, rows, in, out, x, w, with_bias ? bias : NULL, y);
        for (gsize i = 0; i < rows * out; i++) {
            double value = expected[i] + (with_bias ? (double) bias[i % out] : 0);
            g_assert_cmpfloat_with_epsilon(y[i], value, 1e-5 * sqrt((double) in) + 1e-6);
        }
        if (first == NULL) {
            first = g_steal_pointer(&y);
        } else {
            g_assert_cmpmem(y, rows * out * sizeof *y, first, rows * out * sizeof *y);
        }
    }
}

static void
test_linear(void)
{
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        check_linear(sizes[i].m, sizes[i].k, sizes[i].n, TRUE);
        check_linear(sizes[i].m, sizes[i].k, sizes[i].n, FALSE);
    }
}

static void
test_nan(void)
{
    // NaN and Inf in the input reach the results that depend on them, and only those.
    g_autofree float *x = random_matrix(7, 40 * 30);
    g_autofree float *w = random_matrix(8, 50 * 30);
    g_autofree float *y = g_new(float, 40 * 50);
    x[3 * 30 + 4] = NAN;
    w[7 * 30 + 2] = INFINITY;
    limn_linear(NULL, 40, 30, 50, x, w, NULL, y);
    for (int i = 0; i < 40; i++) {
        for (int j = 0; j < 50; j++) {
            g_assert_true(!isnan(y[i * 50 + j]) == (i != 3));
            g_assert_true(i == 3 || !isinf(y[i * 50 + j]) == (j != 7));
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    limn_blas_init();
    limn_blas_init();
    g_test_add_func("/gemm/plain", test_gemm);
    g_test_add_func("/gemm/empty", test_empty);
    g_test_add_func("/gemm/linear", test_linear);
    g_test_add_func("/gemm/nan", test_nan);
    return g_test_run();
}
