// SPDX-License-Identifier: GPL-3.0-or-later

// Small products, for which calling BLAS costs more than multiplying.

#include <cblas.h>

#include "app/bench.h"
#include "engine/math/gemm.h"

#define CALLS 20000

typedef struct {
    int m, n, k;
    float a[256], b[256], c[256];
} Bench;

static gboolean
multiply_here(gpointer data, GError **error)
{
    Bench *p = data;
    for (int i = 0; i < CALLS; i++) {
        limn_gemm(NULL, FALSE, TRUE, (gsize) p->m, (gsize) p->n, (gsize) p->k, 1, p->a,
                  (gsize) p->k, p->b, (gsize) p->k, 0, p->c, (gsize) p->n);
    }
    return TRUE;
}

static gboolean
multiply_blas(gpointer data, GError **error)
{
    Bench *p = data;
    for (int i = 0; i < CALLS; i++) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p->m, p->n, p->k, 1, p->a,
                    p->k, p->b, p->k, 0, p->c, p->n);
    }
    return TRUE;
}

static gboolean
run_gemm_small(LimnBenchRun *run, GError **error)
{
    static const int sizes[][3] = {
        {2, 2, 2}, {4, 4, 4}, {8, 8, 8}, {16, 16, 16}, {16, 3, 9}};
    limn_blas_init();
    for (guint i = 0; i < G_N_ELEMENTS(sizes); i++) {
        Bench bench = {.m = sizes[i][0], .n = sizes[i][1], .k = sizes[i][2]};
        for (guint j = 0; j < G_N_ELEMENTS(bench.a); j++) {
            bench.a[j] = (float) j * 0.01f;
            bench.b[j] = 1 - (float) j * 0.02f;
        }
        g_autofree char *name = g_strdup_printf("[%d,%d] x [%d,%d], %d times", bench.m,
                                                bench.k, bench.k, bench.n, CALLS);
        LimnBenchResult *result = limn_bench_add(run, name, "ms", "cblas_sgemm");
        result->ratio_name = "times faster";
        if (!limn_bench_compare(run, result, multiply_here, multiply_blas, &bench,
                                error)) {
            return FALSE;
        }
    }
    return TRUE;
}

const LimnBenchmark limn_bench_gemm_small = {
    .id = "gemm-small",
    .title = "small matrix products",
    .run = run_gemm_small,
};
