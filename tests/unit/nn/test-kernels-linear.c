// SPDX-License-Identifier: GPL-3.0-or-later

// Products with few and with many rows against the plain triple loop, on each instruction
// set that the machine has, and with one, two and three threads.

#include <math.h>

#include "engine/base/job.h"
#include "engine/base/rng.h"
#include "engine/nn/kernels.h"

typedef struct {
    gsize rows, in, out;
} Size;

static const Size sizes[] = {
    {1, 1, 1},     {1, 512, 130},  {2, 17, 9},    {3, 515, 300},  {7, 768, 66},
    {8, 512, 513}, {16, 600, 257}, {17, 64, 400}, {50, 770, 196}, {77, 520, 131},
    {96, 96, 700}, {97, 530, 140}, {200, 48, 90}, {6, 2048, 128},
};

static float *
random_matrix(guint64 stream, gsize n)
{
    LimnRng rng = limn_rng_make(11, stream);
    float *matrix = g_new(float, MAX(n, 1));
    for (gsize i = 0; i < n; i++) {
        matrix[i] = 2 * limn_rng_uniform(&rng) - 1;
    }
    return matrix;
}

static void
assert_close(const float *found, const double *expected, gsize n, gsize terms)
{
    for (gsize i = 0; i < n; i++) {
        g_assert_cmpfloat_with_epsilon((double) found[i], expected[i],
                                       1e-5 * sqrt((double) terms) + 1e-6);
    }
}

static void
check_forward(Size s, gboolean with_bias)
{
    g_autofree float *x = random_matrix(1, s.rows * s.in);
    g_autofree float *w = random_matrix(2, s.out * s.in);
    g_autofree float *bias = random_matrix(3, s.out), *first = NULL;
    g_autofree double *expected = g_new(double, s.rows *s.out);
    for (gsize i = 0; i < s.rows * s.out; i++) {
        double sum = with_bias ? (double) bias[i % s.out] : 0;
        for (gsize l = 0; l < s.in; l++) {
            sum += (double) x[i / s.out * s.in + l] * (double) w[i % s.out * s.in + l];
        }
        expected[i] = sum;
    }
    for (int threads = 1; threads <= 3; threads++) {
        g_autoptr(LimnJob) job = limn_job_new();
        g_autofree float *y = g_new0(float, s.rows *s.out);
        limn_job_set_threads(job, threads);
        limn_kernel_linear(job, s.rows, s.in, s.out, x, w, with_bias ? bias : NULL, y);
        assert_close(y, expected, s.rows * s.out, s.in);
        if (first == NULL) {
            first = g_steal_pointer(&y);
        } else {
            g_assert_cmpmem(y, s.rows * s.out * sizeof *y, first,
                            s.rows * s.out * sizeof *y);
        }
    }
}

static void
check_backward(Size s)
{
    g_autofree float *g = random_matrix(4, s.rows * s.out);
    g_autofree float *w = random_matrix(5, s.out * s.in), *first = NULL;
    g_autofree double *expected = g_new0(double, s.rows *s.in);
    for (gsize i = 0; i < s.rows * s.out; i++) {
        for (gsize l = 0; l < s.in; l++) {
            expected[i / s.out * s.in + l] +=
                (double) g[i] * (double) w[i % s.out * s.in + l];
        }
    }
    for (int threads = 1; threads <= 3; threads++) {
        g_autoptr(LimnJob) job = limn_job_new();
        g_autofree float *y = g_new0(float, s.rows *s.in);
        limn_job_set_threads(job, threads);
        limn_kernel_linear_back(job, s.rows, s.in, s.out, g, w, y);
        assert_close(y, expected, s.rows * s.in, s.out);
        if (first == NULL) {
            first = g_steal_pointer(&y);
        } else {
            g_assert_cmpmem(y, s.rows * s.in * sizeof *y, first,
                            s.rows * s.in * sizeof *y);
        }
    }
}

static void
test_linear(gconstpointer data)
{
    int level = GPOINTER_TO_INT(data);
    limn_kernels_limit_level(0);
    if (limn_kernels_get_level() < level) {
        g_test_skip("the machine does not have this instruction set");
        return;
    }
    limn_kernels_limit_level(level);
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        check_forward(sizes[i], TRUE);
        check_forward(sizes[i], FALSE);
        check_backward(sizes[i]);
    }
    limn_kernels_limit_level(0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_data_func("/kernels-linear/level1", GINT_TO_POINTER(1), test_linear);
    g_test_add_data_func("/kernels-linear/level2", GINT_TO_POINTER(2), test_linear);
    g_test_add_data_func("/kernels-linear/level3", GINT_TO_POINTER(3), test_linear);
    return g_test_run();
}
