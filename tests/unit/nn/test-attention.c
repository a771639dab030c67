// SPDX-License-Identifier: GPL-3.0-or-later

// Attention against plain loops in double: ragged sequences, causal, pooled.

#include <math.h>
#include <string.h>

#include "engine/base/job.h"
#include "engine/base/rng.h"
#include "engine/math/gemm.h"
#include "engine/nn/kernels-attention.h"

#define WIDTH 24

static float *
random_floats(guint64 stream, gsize n)
{
    LimnRng rng = limn_rng_make(11, stream);
    float *x = g_new(float, MAX(n, 1));
    for (gsize i = 0; i < n; i++) {
        x[i] = 2 * limn_rng_uniform(&rng) - 1;
    }
    return x;
}

// Sizes of a test: sequences of these many rows.
typedef struct {
    gsize n;
    gsize rows[4];
    gsize heads;
    gboolean causal, pooled;
} Layout;

static const Layout LAYOUTS[] = {
    {1, {1}, 3, FALSE, FALSE},       {1, {17}, 3, FALSE, FALSE},
    {1, {300}, 2, FALSE, FALSE},     {3, {5, 1, 9}, 4, TRUE, FALSE},
    {3, {5, 1, 9}, 4, TRUE, TRUE},   {2, {33, 33}, 1, FALSE, TRUE},
    {2, {140, 139}, 3, TRUE, FALSE}, {4, {2, 0, 3, 1}, 2, TRUE, FALSE},
};

typedef struct {
    Layout layout;
    gsize begin[5], pool[4], rows, asking;
    LimnAttention shape;
    float *q, *k, *v, *go;
} Fixture;

static void
make(Fixture *f, const Layout *layout)
{
    memset(f, 0, sizeof *f);
    f->layout = *layout;
    for (gsize s = 0; s < layout->n; s++) {
        f->begin[s + 1] = f->begin[s] + layout->rows[s];
        f->pool[s] = f->begin[s] + layout->rows[s] / 2;
    }
    f->rows = f->begin[layout->n];
    f->asking = layout->pooled ? layout->n : f->rows;
    f->shape = (LimnAttention){
        .n = layout->n,
        .begin = f->begin,
        .heads = layout->heads,
        .width = WIDTH,
        .causal = layout->causal,
        .pool = layout->pooled ? f->pool : NULL,
    };
    f->q = random_floats(1, f->asking * WIDTH);
    f->k = random_floats(2, f->rows * WIDTH);
    f->v = random_floats(3, f->rows * WIDTH);
    f->go = random_floats(4, f->asking * WIDTH);
}

static void
clear(Fixture *f)
{
    g_free(f->q);
    g_free(f->k);
    g_free(f->v);
    g_free(f->go);
}

// Probabilities [keys of the sequence] of asking row r, head h; q as given.
static gsize
plain_row(const Fixture *f, const double *q, const double *k, gsize sequence, gsize r,
          gsize h, double *p)
{
    gsize d = WIDTH / f->layout.heads, begin = f->begin[sequence];
    gsize keys = f->begin[sequence + 1] - begin;
    gsize at = f->layout.pooled ? f->pool[sequence] : r;
    double sum = 0;
    for (gsize j = 0; j < keys; j++) {
        double score = 0;
        for (gsize c = 0; c < d; c++) {
            score += q[r * WIDTH + h * d + c] * k[(begin + j) * WIDTH + h * d + c];
        }
        p[j] = f->layout.causal && begin + j > at ? 0 : exp(score / sqrt((double) d));
        sum += p[j];
    }
    for (gsize j = 0; j < keys; j++) {
        p[j] /= sum;
    }
    return keys;
}

static double *
widen(const float *x, gsize n)
{
    double *out = g_new(double, MAX(n, 1));
    for (gsize i = 0; i < n; i++) {
        out[i] = (double) x[i];
    }
    return out;
}

static void
plain_forward(const Fixture *f, const double *q, const double *k, const double *v,
              double *o)
{
    gsize d = WIDTH / f->layout.heads;
    g_autofree double *p = g_new(double, f->rows + 1);
    memset(o, 0, f->asking * WIDTH * sizeof *o);
    for (gsize s = 0; s < f->layout.n; s++) {
        gsize first = f->layout.pooled ? s : f->begin[s];
        gsize last = f->layout.pooled ? s + 1 : f->begin[s + 1];
        for (gsize r = first; r < last; r++) {
            for (gsize h = 0; h < f->layout.heads; h++) {
                gsize keys = plain_row(f, q, k, s, r, h, p);
                for (gsize j = 0; j < keys; j++) {
                    for (gsize c = h * d; c < (h + 1) * d; c++) {
                        o[r * WIDTH + c] += p[j] * v[(f->begin[s] + j) * WIDTH + c];
                    }
                }
            }
        }
    }
}

static void
assert_near(const float *x, const double *expected, gsize n, double tolerance)
{
    for (gsize i = 0; i < n; i++) {
        if (!(fabs((double) x[i] - expected[i]) <= tolerance)) {
            g_test_message("element %" G_GSIZE_FORMAT ": %g instead of %g", i,
                           (double) x[i], expected[i]);
        }
        g_assert_cmpfloat(fabs((double) x[i] - expected[i]), <=, tolerance);
    }
}

static void
test_forward(void)
{
    for (gsize l = 0; l < G_N_ELEMENTS(LAYOUTS); l++) {
        Fixture f;
        make(&f, &LAYOUTS[l]);
        gsize n = f.asking * WIDTH;
        g_autofree double *q = widen(f.q, n);
        g_autofree double *k = widen(f.k, f.rows * WIDTH);
        g_autofree double *v = widen(f.v, f.rows * WIDTH);
        g_autofree double *expected = g_new(double, n + 1);
        g_autofree float *o = g_new(float, n + 1);
        plain_forward(&f, q, k, v, expected);
        limn_attention_forward(NULL, &f.shape, f.q, f.k, f.v, o);
        assert_near(o, expected, n, 1e-6);
        g_autoptr(LimnJob) job = limn_job_new();
        limn_job_set_threads(job, 2);
        g_autofree float *in_place = g_memdup2(f.q, MAX(n, 1) * sizeof *o);
        limn_attention_forward(job, &f.shape, in_place, f.k, f.v, in_place);
        g_assert_cmpmem(o, n * sizeof *o, in_place, n * sizeof *o);
        clear(&f);
    }
}

// Sum of go times the output, for central differences.
static double
loss(const Fixture *f, const double *q, const double *k, const double *v, double *o)
{
    double sum = 0;
    plain_forward(f, q, k, v, o);
    for (gsize i = 0; i < f->asking * WIDTH; i++) {
        sum += (double) f->go[i] * o[i];
    }
    return sum;
}

static void
check_gradient(const Fixture *f, double *moved, gsize n, const float *gradient,
               const double *q, const double *k, const double *v, double *o)
{
    for (gsize i = 0; i < n; i += 1 + n / 50) {
        double kept = moved[i];
        moved[i] = kept + 1e-4;
        double up = loss(f, q, k, v, o);
        moved[i] = kept - 1e-4;
        double down = loss(f, q, k, v, o);
        moved[i] = kept;
        g_assert_cmpfloat(fabs((up - down) / 2e-4 - (double) gradient[i]), <=, 2e-5);
    }
}

static void
test_backward(void)
{
    for (gsize l = 0; l < G_N_ELEMENTS(LAYOUTS); l++) {
        Fixture f;
        make(&f, &LAYOUTS[l]);
        gsize n = f.asking * WIDTH, m = f.rows * WIDTH;
        g_autofree double *q = widen(f.q, n);
        g_autofree double *k = widen(f.k, m);
        g_autofree double *v = widen(f.v, m);
        g_autofree double *o = g_new(double, n + 1);
        g_autofree float *gq = g_new(float, n + 1);
        g_autofree float *gk = g_new(float, m + 1);
        g_autofree float *gv = g_new(float, m + 1);
        limn_attention_backward(NULL, &f.shape, f.q, f.k, f.v, f.go, gq, gk, gv);
        check_gradient(&f, q, n, gq, q, k, v, o);
        check_gradient(&f, k, m, gk, q, k, v, o);
        check_gradient(&f, v, m, gv, q, k, v, o);
        g_autoptr(LimnJob) job = limn_job_new();
        limn_job_set_threads(job, 2);
        g_autofree float *gk2 = g_new(float, m + 1);
        g_autofree float *gv2 = g_new(float, m + 1);
        limn_attention_backward(job, &f.shape, f.q, f.k, f.v, f.go, f.go, gk2, gv2);
        g_assert_cmpmem(gq, n * sizeof *gq, f.go, n * sizeof *gq);
        g_assert_cmpmem(gk, m * sizeof *gk, gk2, m * sizeof *gk);
        g_assert_cmpmem(gv, m * sizeof *gv, gv2, m * sizeof *gv);
        clear(&f);
    }
}

// r times the matrix that each kind means, from whole matrices.
static void
check_push(Fixture *f, LimnAttentionKind kind)
{
    gsize d = WIDTH / f->layout.heads, keys = f->rows, n = f->asking * WIDTH;
    g_autofree double *q = widen(f->q, n);
    g_autofree double *k = widen(f->k, keys * WIDTH);
    g_autofree float *r = random_floats(9, f->asking);
    g_autofree double *p = g_new(double, keys);
    g_autofree double *expected = g_new0(double, keys);
    g_autofree float *out = g_new(float, keys);
    r[0] = 0;
    for (gsize row = 0; f->asking > 1000 && row < f->asking; row++) {
        r[row] *= row % 700 == 3;
    }
    r[f->asking - 1] = 1;
    for (gsize row = 0; row < f->asking; row++) {
        for (gsize h = 0; h < f->layout.heads && r[row] != 0; h++) {
            plain_row(f, q, k, 0, row, h, p);
            for (gsize j = 0; j < keys; j++) {
                double value = p[j];
                if (kind != LIMN_ATTENTION_MEAN) {
                    double gradient = 0;
                    for (gsize c = h * d; c < (h + 1) * d; c++) {
                        gradient += (double) f->go[row * WIDTH + c] *
                                    (double) f->v[j * WIDTH + c];
                    }
                    value *= gradient;
                    if (kind == LIMN_ATTENTION_RELEVANT) {
                        value = MAX(value, 0);
                    }
                }
                double share =
                    kind == LIMN_ATTENTION_GRADIENT ? 1 : (double) f->layout.heads;
                expected[j] += (double) r[row] * value / share;
            }
        }
    }
    limn_attention_push(NULL, &f->shape, kind, f->q, f->k, f->v, f->go, r, out);
    assert_near(out, expected, keys, 1e-5);
}

static void
test_push(void)
{
    static const Layout layouts[] = {
        {1, {17}, 3, FALSE, FALSE},    {1, {12}, 2, TRUE, FALSE},
        {1, {300}, 2, FALSE, FALSE},   {1, {21}, 1, FALSE, TRUE},
        {1, {2400}, 24, FALSE, FALSE}, // heads share their partial sums
    };
    for (gsize l = 0; l < G_N_ELEMENTS(layouts); l++) {
        Fixture f;
        make(&f, &layouts[l]);
        check_push(&f, LIMN_ATTENTION_MEAN);
        check_push(&f, LIMN_ATTENTION_RELEVANT);
        check_push(&f, LIMN_ATTENTION_GRADIENT);
        clear(&f);
    }
}

static void
test_probabilities(void)
{
    static const Layout layout = {1, {150}, 3, TRUE, FALSE};
    Fixture f;
    make(&f, &layout);
    g_autofree float *p = g_new(float, 3 * 150 * 150);
    limn_attention_probabilities(NULL, &f.shape, f.q, f.k, p);
    for (gsize row = 0; row < 3 * 150; row++) {
        double sum = 0;
        for (gsize j = 0; j < 150; j++) {
            sum += (double) p[row * 150 + j];
            g_assert_true(j <= row % 150 || p[row * 150 + j] == 0);
        }
        g_assert_cmpfloat(fabs(sum - 1), <=, 1e-6);
    }
    clear(&f);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    limn_blas_init();
    g_test_add_func("/nn/attention/forward", test_forward);
    g_test_add_func("/nn/attention/backward", test_backward);
    g_test_add_func("/nn/attention/push", test_push);
    g_test_add_func("/nn/attention/probabilities", test_probabilities);
    return g_test_run();
}
