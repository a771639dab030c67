// SPDX-License-Identifier: GPL-3.0-or-later

// Elastic net: the fast solver against the plain loop, against the conditions of the
// optimum, and on degenerate problems.

#include <glib.h>
#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/math/elastic-net.h"

typedef struct {
    gsize n, k;
    double *x; // [k][n], centred
    double *y; // [n], centred
    double *gram, *q;
    double yy;
} Problem;

static void
problem_clear(Problem *p)
{
    g_free(p->x);
    g_free(p->y);
    g_free(p->gram);
    g_free(p->q);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Problem, problem_clear)

static void
centre(double *x, gsize n)
{
    double sum = 0;
    for (gsize i = 0; i < n; i++) {
        sum += x[i];
    }
    for (gsize i = 0; i < n; i++) {
        x[i] -= sum / (double) n;
    }
}

static double
dot(const double *a, const double *b, gsize n)
{
    double sum = 0;
    for (gsize i = 0; i < n; i++) {
        sum += a[i] * b[i];
    }
    return sum;
}

static void
finish_problem(Problem *p)
{
    double n = (double) p->n;
    for (gsize j = 0; j < p->k; j++) {
        centre(p->x + j * p->n, p->n);
    }
    centre(p->y, p->n);
    gsize size = p->k * p->k;
    p->gram = g_new0(double, size);
    p->q = g_new0(double, p->k);
    for (gsize i = 0; i < p->k; i++) {
        for (gsize j = 0; j < p->k; j++) {
            p->gram[i * p->k + j] = dot(p->x + i * p->n, p->x + j * p->n, p->n) / n;
        }
        p->q[i] = dot(p->x + i * p->n, p->y, p->n) / n;
    }
    p->yy = dot(p->y, p->y, p->n) / n;
}

// Correlated columns (each leans on the one before), a target of few of them, noise.
static Problem
make_problem(gsize n, gsize k, double lean, guint64 seed)
{
    Problem p = {.n = n, .k = k};
    LimnRng rng = limn_rng_make(seed, 1);
    gsize size = n * k;
    p.x = g_new(double, size);
    p.y = g_new0(double, n);
    for (gsize j = 0; j < k; j++) {
        for (gsize i = 0; i < n; i++) {
            double own = limn_rng_normal(&rng);
            p.x[j * n + i] =
                j == 0 ? own : lean * p.x[(j - 1) * n + i] + sqrt(1 - lean * lean) * own;
        }
    }
    for (gsize j = 0; j < k; j += 5) {
        double weight = j % 2 == 0 ? 0.4 : -0.7;
        for (gsize i = 0; i < n; i++) {
            p.y[i] += weight * p.x[j * n + i];
        }
    }
    for (gsize i = 0; i < n; i++) {
        p.y[i] += 0.3 * limn_rng_normal(&rng);
    }
    finish_problem(&p);
    return p;
}

static LimnElasticNet
make_net(const Problem *p, double l1, double l2)
{
    return (LimnElasticNet){.k = p->k,
                            .gram = p->gram,
                            .l1 = l1,
                            .l2 = l2,
                            .tolerance = 1e-10,
                            .max_passes = 1000};
}

// Subgradient conditions: |q - gram w - l2 w| <= l1 where w = 0, else = l1 sign(w).
static void
assert_optimal(const Problem *p, const LimnElasticNet *net, const double *w)
{
    for (gsize j = 0; j < p->k; j++) {
        double g = p->q[j] - dot(p->gram + j * p->k, w, p->k) - net->l2 * w[j];
        if (w[j] == 0) {
            g_assert_cmpfloat(fabs(g), <=, net->l1 + 1e-9);
        } else {
            g_assert_cmpfloat_with_epsilon(g, w[j] > 0 ? net->l1 : -net->l1, 1e-9);
        }
    }
}

static void
test_plain(void)
{
    static const double leans[] = {0, 0.5, 0.95};
    for (guint c = 0; c < G_N_ELEMENTS(leans); c++) {
        g_auto(Problem) p = make_problem(200, 30, leans[c], 7 + c);
        LimnElasticNet net = make_net(&p, 0.05, 0.05 / 0.99 * 0.01);
        g_autofree double *w = g_new0(double, p.k), *plain = g_new0(double, p.k);
        g_autofree double *residual = g_memdup2(p.y, p.n * sizeof *p.y);
        g_autoptr(LimnElasticNetWork) work = limn_elastic_net_work_new(p.k);
        g_assert_true(limn_elastic_net_solve(&net, p.q, w, work));
        guint passes = limn_elastic_net_solve_plain(p.n, p.k, p.x, net.l1, net.l2, 1e-13,
                                                    100000, residual, plain);
        g_assert_cmpuint(passes, <, 100000);
        guint zeros = 0;
        for (gsize j = 0; j < p.k; j++) {
            g_assert_cmpfloat_with_epsilon(w[j], plain[j], 1e-10);
            zeros += w[j] == 0;
        }
        g_assert_cmpuint(zeros, >, 0);
        assert_optimal(&p, &net, w);
        // The objective is what it says, from the residual.
        double norm1 = 0, norm2 = 0;
        for (gsize j = 0; j < p.k; j++) {
            norm1 += fabs(plain[j]);
            norm2 += plain[j] * plain[j];
        }
        double direct = dot(residual, residual, p.n) / (double) p.n / 2 + net.l1 * norm1 +
                        net.l2 / 2 * norm2;
        g_assert_cmpfloat_with_epsilon(limn_elastic_net_objective(&net, p.q, p.yy, w),
                                       direct, 1e-12);
    }
}

// The solution does not depend on the start.
static void
test_start(void)
{
    g_auto(Problem) p = make_problem(150, 40, 0.8, 3);
    LimnElasticNet net = make_net(&p, 0.02, 1e-3);
    g_autoptr(LimnElasticNetWork) work = limn_elastic_net_work_new(p.k);
    g_autofree double *a = g_new0(double, p.k), *b = g_new(double, p.k);
    for (gsize j = 0; j < p.k; j++) {
        b[j] = j % 3 == 0 ? 2 : -1;
    }
    g_assert_true(limn_elastic_net_solve(&net, p.q, a, work));
    g_assert_true(limn_elastic_net_solve(&net, p.q, b, work));
    for (gsize j = 0; j < p.k; j++) {
        g_assert_cmpfloat_with_epsilon(a[j], b[j], 1e-10);
    }
}

static void
test_large_l1(void)
{
    g_auto(Problem) p = make_problem(100, 10, 0.3, 5);
    LimnElasticNet net = make_net(&p, 100, 0);
    g_autoptr(LimnElasticNetWork) work = limn_elastic_net_work_new(p.k);
    g_autofree double *w = g_new0(double, p.k);
    g_assert_true(limn_elastic_net_solve(&net, p.q, w, work));
    for (gsize j = 0; j < p.k; j++) {
        g_assert_cmpfloat(w[j], ==, 0);
    }
}

// A column of zeros gets no weight; two equal columns share it, because l2 > 0.
static void
test_degenerate(void)
{
    g_auto(Problem) p = {.n = 120, .k = 6};
    LimnRng rng = limn_rng_make(11, 2);
    gsize size = p.n * p.k;
    p.x = g_new0(double, size);
    p.y = g_new0(double, p.n);
    for (gsize j = 0; j < 4; j++) {
        for (gsize i = 0; i < p.n; i++) {
            p.x[j * p.n + i] = limn_rng_normal(&rng);
        }
    }
    memcpy(p.x + 5 * p.n, p.x, p.n * sizeof *p.x); // column 5 = column 0, column 4 = 0
    for (gsize i = 0; i < p.n; i++) {
        p.y[i] = p.x[i] + 0.5 * p.x[p.n + i];
    }
    finish_problem(&p);
    LimnElasticNet net = make_net(&p, 0.05, 5e-4);
    g_autoptr(LimnElasticNetWork) work = limn_elastic_net_work_new(p.k);
    g_autofree double *w = g_new0(double, p.k);
    g_assert_true(limn_elastic_net_solve(&net, p.q, w, work));
    g_assert_cmpfloat(w[4], ==, 0);
    g_assert_cmpfloat(w[0], >, 0.1);
    g_assert_cmpfloat_with_epsilon(w[0], w[5], 1e-6);
    assert_optimal(&p, &net, w);
}

// More columns than rows.
static void
test_wide(void)
{
    g_auto(Problem) p = make_problem(40, 120, 0.5, 9);
    LimnElasticNet net = make_net(&p, 0.05, 5e-4);
    g_autoptr(LimnElasticNetWork) work = limn_elastic_net_work_new(p.k);
    g_autofree double *w = g_new0(double, p.k);
    g_assert_true(limn_elastic_net_solve(&net, p.q, w, work));
    assert_optimal(&p, &net, w);
}

static void
test_empty(void)
{
    LimnElasticNet net = {.k = 0, .tolerance = 1e-10, .max_passes = 10};
    g_autoptr(LimnElasticNetWork) work = limn_elastic_net_work_new(0);
    double nothing = 0;
    net.gram = &nothing;
    g_assert_true(limn_elastic_net_solve(&net, &nothing, &nothing, work));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/elastic-net/plain", test_plain);
    g_test_add_func("/elastic-net/start", test_start);
    g_test_add_func("/elastic-net/large-l1", test_large_l1);
    g_test_add_func("/elastic-net/degenerate", test_degenerate);
    g_test_add_func("/elastic-net/wide", test_wide);
    g_test_add_func("/elastic-net/empty", test_empty);
    return g_test_run();
}
