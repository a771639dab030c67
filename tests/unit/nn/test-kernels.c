// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <string.h>

#include "engine/base/job.h"
#include "engine/base/rng.h"
#include "engine/math/gemm.h"
#include "engine/nn/kernels.h"

static float *
random_floats(guint64 stream, gsize n, float scale)
{
    LimnRng rng = limn_rng_make(7, stream);
    float *x = g_new(float, MAX(n, 1));
    for (gsize i = 0; i < n; i++) {
        x[i] = scale * (2 * limn_rng_uniform(&rng) - 1);
    }
    return x;
}

static void
assert_near(const float *x, const double *expected, gsize n, double tolerance)
{
    double largest = 1e-30, worst = 0;
    for (gsize i = 0; i < n; i++) {
        largest = MAX(largest, fabs(expected[i]));
        g_assert_true(isfinite(x[i]));
        worst = MAX(worst, fabs((double) x[i] - expected[i]));
    }
    if (worst > tolerance * largest) {
        g_test_message("largest difference %g of %g", worst, largest);
    }
    g_assert_cmpfloat(worst, <=, tolerance * largest);
}

// The function once with each instruction set that the machine has.
static void
for_each_level(void (*func)(void))
{
    limn_kernels_limit_level(0);
    int most = limn_kernels_get_level();
    for (int level = 1; level <= most; level++) {
        limn_kernels_limit_level(level);
        g_assert_cmpint(limn_kernels_get_level(), ==, level);
        func();
    }
    limn_kernels_limit_level(0);
}

static void
check_linear(gsize rows, gsize in, gsize out, gboolean with_bias)
{
    g_autofree float *x = random_floats(1, rows * in, 1);
    g_autofree float *w = random_floats(2, in * out, 1);
    g_autofree float *bias = random_floats(3, out, 1);
    g_autofree float *y = g_new(float, rows *out), *again = NULL;
    g_autofree double *expected = g_new(double, rows *out);
    for (gsize r = 0; r < rows; r++) {
        for (gsize o = 0; o < out; o++) {
            double sum = with_bias ? (double) bias[o] : 0;
            for (gsize i = 0; i < in; i++) {
                sum += (double) x[r * in + i] * (double) w[o * in + i];
            }
            expected[r * out + o] = sum;
        }
    }
    limn_kernel_linear(NULL, rows, in, out, x, w, with_bias ? bias : NULL, y);
    assert_near(y, expected, rows * out, 2e-6);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_threads(job, 2);
    again = g_new(float, rows *out);
    limn_kernel_linear(job, rows, in, out, x, w, with_bias ? bias : NULL, again);
    g_assert_cmpmem(y, rows * out * sizeof *y, again, rows * out * sizeof *y);
}

static void
check_linear_back(gsize rows, gsize in, gsize out)
{
    g_autofree float *g = random_floats(4, rows * out, 1);
    g_autofree float *w = random_floats(5, in * out, 1);
    g_autofree float *y = g_new(float, rows *in), *again = NULL;
    g_autofree double *expected = g_new0(double, rows *in);
    for (gsize r = 0; r < rows; r++) {
        for (gsize o = 0; o < out; o++) {
            for (gsize i = 0; i < in; i++) {
                expected[r * in + i] += (double) g[r * out + o] * (double) w[o * in + i];
            }
        }
    }
    limn_kernel_linear_back(NULL, rows, in, out, g, w, y);
    assert_near(y, expected, rows * in, 2e-6);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_threads(job, 2);
    again = g_new(float, rows *in);
    limn_kernel_linear_back(job, rows, in, out, g, w, again);
    g_assert_cmpmem(y, rows * in * sizeof *y, again, rows * in * sizeof *y);
}

static const gsize SIZES[][2] = {
    {1, 1}, {7, 3}, {16, 4}, {33, 70}, {130, 65}, {300, 520}, {768, 130},
};
static const gsize ROWS[] = {1, 2, 3, 5, 6, 7, 10, 16, 17, 97, 200};

static void
linear_at_level(void)
{
    for (gsize s = 0; s < G_N_ELEMENTS(SIZES); s++) {
        for (gsize r = 0; r < G_N_ELEMENTS(ROWS); r++) {
            check_linear(ROWS[r], SIZES[s][0], SIZES[s][1], r % 2 == 0);
            check_linear_back(ROWS[r], SIZES[s][0], SIZES[s][1]);
        }
    }
}

static void
test_linear(void)
{
    for_each_level(linear_at_level);
}

static void
norm_at_level(void)
{
    static const gsize widths[] = {1, 5, 16, 40, 129, 768};
    for (gsize s = 0; s < G_N_ELEMENTS(widths); s++) {
        gsize n = widths[s], rows = 9;
        g_autofree float *x = random_floats(6, rows * n, 3);
        g_autofree float *gain = random_floats(7, n, 1);
        g_autofree float *offset = random_floats(8, n, 1);
        g_autofree float *y = g_new(float, rows *n);
        g_autofree double *expected = g_new(double, rows *n);
        for (gsize r = 0; r < rows; r++) {
            double mean = 0, variance = 0;
            for (gsize i = 0; i < n; i++) {
                mean += (double) x[r * n + i] / (double) n;
            }
            for (gsize i = 0; i < n; i++) {
                variance += pow((double) x[r * n + i] - mean, 2) / (double) n;
            }
            for (gsize i = 0; i < n; i++) {
                double h = ((double) x[r * n + i] - mean) / sqrt(variance + 1e-5);
                expected[r * n + i] = h * (double) gain[i] + (double) offset[i];
            }
        }
        limn_kernel_layer_norm(NULL, rows, n, x, gain, offset, 1e-5f, y);
        assert_near(y, expected, rows * n, 1e-6);
        memcpy(y, x, rows * n * sizeof *y);
        limn_kernel_layer_norm(NULL, rows, n, y, gain, offset, 1e-5f, y);
        assert_near(y, expected, rows * n, 1e-6);
    }
}

static void
test_layer_norm(void)
{
    for_each_level(norm_at_level);
}

// Sum of g times the normalised row, in double.
static double
norm_loss(const double *x, const float *gain, const float *g, gsize n)
{
    double mean = 0, variance = 0, loss = 0;
    for (gsize i = 0; i < n; i++) {
        mean += x[i] / (double) n;
    }
    for (gsize i = 0; i < n; i++) {
        variance += (x[i] - mean) * (x[i] - mean) / (double) n;
    }
    for (gsize i = 0; i < n; i++) {
        loss += (double) g[i] * (double) gain[i] * (x[i] - mean) / sqrt(variance + 1e-5);
    }
    return loss;
}

static void
norm_back_at_level(void)
{
    gsize n = 37;
    g_autofree float *x = random_floats(9, n, 2);
    g_autofree float *gain = random_floats(10, n, 1);
    g_autofree float *g = random_floats(11, n, 1);
    g_autofree float *out = g_new(float, n);
    g_autofree double *moved = g_new(double, n);
    g_autofree double *expected = g_new(double, n);
    for (gsize i = 0; i < n; i++) {
        moved[i] = (double) x[i];
        out[i] = 0.25f; // is added to
    }
    for (gsize i = 0; i < n; i++) {
        moved[i] = (double) x[i] + 1e-4;
        double up = norm_loss(moved, gain, g, n);
        moved[i] = (double) x[i] - 1e-4;
        double down = norm_loss(moved, gain, g, n);
        moved[i] = (double) x[i];
        expected[i] = (up - down) / 2e-4 + 0.25;
    }
    limn_kernel_layer_norm_back(NULL, 1, n, x, gain, 1e-5f, g, out);
    assert_near(out, expected, n, 1e-6);
}

static void
test_layer_norm_back(void)
{
    for_each_level(norm_back_at_level);
}

static double
exact_activation(LimnActivation kind, double x)
{
    return kind == LIMN_ACTIVATION_GELU ? 0.5 * x * erfc(-x / sqrt(2))
                                        : x / (1 + exp(-1.702 * x));
}

static void
activation_at_level(void)
{
    for (int kind = 0; kind < 2; kind++) {
        for (int i = -3000; i <= 3000; i++) {
            float x = (float) i * 0.01f, y, slope = 1;
            double e = exact_activation(kind, (double) x), h = 1e-5;
            double d = (exact_activation(kind, (double) x + h) -
                        exact_activation(kind, (double) x - h)) /
                       (2 * h);
            limn_kernel_activation(NULL, kind, 1, &x, &y);
            limn_kernel_activation_back(NULL, kind, 1, &x, &slope);
            g_assert_cmpfloat(fabs((double) y - e), <=, 3e-7 * MAX(fabs(e), 0.1));
            g_assert_cmpfloat(fabs((double) slope - d), <=, 1e-6);
        }
    }
}

static void
test_activation(void)
{
    for_each_level(activation_at_level);
}

// What is not finite stays so: a NaN in the weights must reach the result.
static void
special_at_level(void)
{
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (int kind = 0; kind < 2; kind++) {
        for (int b = 0; b < 3; b++) {
            float row[21] = {0}, y[21];
            row[b * 9] = bad[b];
            limn_kernel_activation(NULL, kind, 21, row, y);
            g_assert_false(isfinite(y[b * 9]));
            for (int i = 0; i < 21; i++) {
                g_assert_true(i == b * 9 || y[i] == 0);
            }
        }
    }
    for (gsize n = 1; n < 40; n++) {
        g_autofree float *row = random_floats(12, n, 1);
        g_assert_true(limn_kernel_is_finite(row, n));
        for (gsize i = 0; i < n; i++) {
            float kept = row[i];
            row[i] = i % 2 == 0 ? NAN : INFINITY;
            g_assert_false(limn_kernel_is_finite(row, n));
            row[i] = kept;
        }
    }
    g_assert_true(limn_kernel_is_finite(NULL, 0));
}

static void
test_special(void)
{
    for_each_level(special_at_level);
}

static void
softmax_at_level(void)
{
    for (gsize n = 1; n < 60; n++) {
        g_autofree float *row = random_floats(n, n, 30);
        g_autofree double *expected = g_new(double, n);
        double sum = 0;
        for (gsize i = 0; i < n; i++) {
            sum += expected[i] = exp((double) row[i] - 30);
        }
        for (gsize i = 0; i < n; i++) {
            expected[i] /= sum;
        }
        limn_kernel_softmax_row(row, n);
        assert_near(row, expected, n, 3e-7);
    }
    float far[3] = {0, -200, 100}, bad[2] = {NAN, 0};
    limn_kernel_softmax_row(far, 3);
    g_assert_cmpfloat(far[1], ==, 0);
    g_assert_cmpfloat(far[2], ==, 1);
    limn_kernel_softmax_row(bad, 2);
    g_assert_true(isnan(bad[0]));
}

static void
test_softmax(void)
{
    for_each_level(softmax_at_level);
}

static void
dot_at_level(void)
{
    for (gsize n = 0; n < 70; n++) {
        g_autofree float *a = random_floats(20, n, 1);
        g_autofree float *b = random_floats(21, n, 1);
        double sum = 0;
        for (gsize i = 0; i < n; i++) {
            sum += (double) a[i] * (double) b[i];
        }
        g_assert_cmpfloat(fabs(limn_kernel_dot(a, b, n) - sum), <=, 1e-13);
        g_autofree float *both = g_memdup2(a, MAX(n, 1) * sizeof *a);
        limn_kernel_add(NULL, n, b, both);
        for (gsize i = 0; i < n; i++) {
            g_assert_cmpfloat(both[i], ==, a[i] + b[i]);
        }
    }
}

static void
test_dot(void)
{
    for_each_level(dot_at_level);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    limn_blas_init();
    g_test_add_func("/nn/kernels/linear", test_linear);
    g_test_add_func("/nn/kernels/layer-norm", test_layer_norm);
    g_test_add_func("/nn/kernels/layer-norm-back", test_layer_norm_back);
    g_test_add_func("/nn/kernels/activation", test_activation);
    g_test_add_func("/nn/kernels/not-finite", test_special);
    g_test_add_func("/nn/kernels/softmax", test_softmax);
    g_test_add_func("/nn/kernels/dot", test_dot);
    return g_test_run();
}
