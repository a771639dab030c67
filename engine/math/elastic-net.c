// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/math/elastic-net.h"

#include <math.h>
#include <string.h>

#include "engine/math/symmetric.h"

// Passes over the non-zero weights before their exact solution is tried, and at most.
#define TRIAL_PASSES 20
#define INNER_PASSES 100000
// Change of a weight below which the signs are taken to stand still.
#define SETTLED 1e-3
// Non-zero weights up to which the exact solution is tried.
#define MAX_EXACT ((gsize) 400)

struct LimnElasticNetWork {
    gsize k;
    double *gradient; // [k] q - gram w
    guint32 *active;  // [k] indices of weights that are not zero
    gsize n_active, capacity;
    double *gram;               // [n_active, n_active]
    double *factor;             // of the same size
    double *weights, *residual; // [n_active] of the active ones
    double *exact;              // [n_active]
};

LimnElasticNetWork *
limn_elastic_net_work_new(gsize k)
{
    LimnElasticNetWork *work = g_new0(LimnElasticNetWork, 1);
    work->k = k;
    work->gradient = g_new(double, MAX(k, 1));
    work->active = g_new(guint32, MAX(k, 1));
    return work;
}

static void
clear_active(LimnElasticNetWork *work)
{
    g_free(work->gram);
    g_free(work->factor);
    g_free(work->weights);
    g_free(work->residual);
    g_free(work->exact);
}

void
limn_elastic_net_work_free(LimnElasticNetWork *work)
{
    if (work != NULL) {
        clear_active(work);
        g_free(work->gradient);
        g_free(work->active);
        g_free(work);
    }
}

static void
need_capacity(LimnElasticNetWork *work, gsize n)
{
    if (n <= work->capacity) {
        return;
    }
    clear_active(work);
    work->capacity = MIN(MAX(n, 2 * work->capacity + 16), work->k);
    gsize m = work->capacity, exact = MIN(m, MAX_EXACT);
    gsize square = m * m, exact_square = exact * exact;
    work->gram = g_new(double, square);
    work->factor = g_new(double, exact_square);
    work->weights = g_new(double, m);
    work->residual = g_new(double, m);
    work->exact = g_new(double, m);
}

static double
shrink(double value, double l1)
{
    return value > l1 ? value - l1 : value < -l1 ? value + l1 : 0;
}

// gradient = q - gram w, afresh.
static void
refresh_gradient(const LimnElasticNet *net, const double *q, const double *w,
                 double *gradient)
{
    memcpy(gradient, q, net->k * sizeof *gradient);
    for (gsize j = 0; j < net->k; j++) {
        if (w[j] == 0) {
            continue;
        }
        const double *row = net->gram + j * net->k;
        for (gsize i = 0; i < net->k; i++) {
            gradient[i] -= row[i] * w[j];
        }
    }
}

// One pass over all weights; the largest change.
static double
pass_over_all(const LimnElasticNet *net, double *w, double *gradient)
{
    double largest = 0;
    for (gsize j = 0; j < net->k; j++) {
        const double *row = net->gram + j * net->k;
        double curvature = row[j] + net->l2;
        double rho = gradient[j] + row[j] * w[j];
        double next = curvature > 0 ? shrink(rho, net->l1) / curvature : 0;
        double change = next - w[j];
        if (change == 0) {
            continue;
        }
        w[j] = next;
        largest = MAX(largest, fabs(change));
        for (gsize i = 0; i < net->k; i++) {
            gradient[i] -= row[i] * change;
        }
    }
    return largest;
}

static void
collect_active(const LimnElasticNet *net, const double *w, LimnElasticNetWork *work)
{
    work->n_active = 0;
    for (gsize j = 0; j < net->k; j++) {
        if (w[j] != 0) {
            work->active[work->n_active++] = (guint32) j;
        }
    }
    gsize n = work->n_active;
    need_capacity(work, n);
    for (gsize i = 0; i < n; i++) {
        const double *row = net->gram + work->active[i] * net->k;
        for (gsize j = 0; j < n; j++) {
            work->gram[i * n + j] = row[work->active[j]];
        }
        work->weights[i] = w[work->active[i]];
        work->residual[i] = work->gradient[work->active[i]];
    }
}

static double
pass_over_active(const LimnElasticNet *net, LimnElasticNetWork *work)
{
    gsize n = work->n_active;
    double largest = 0;
    for (gsize j = 0; j < n; j++) {
        const double *row = work->gram + j * n;
        double curvature = row[j] + net->l2;
        double rho = work->residual[j] + row[j] * work->weights[j];
        double next = curvature > 0 ? shrink(rho, net->l1) / curvature : 0;
        double change = next - work->weights[j];
        if (change == 0) {
            continue;
        }
        work->weights[j] = next;
        largest = MAX(largest, fabs(change));
        for (gsize i = 0; i < n; i++) {
            work->residual[i] -= row[i] * change;
        }
    }
    return largest;
}

// The stationary point for the present signs: (gram + l2) w = q - l1 sign(w) over the
// non-zero weights. FALSE (nothing changed) when a sign comes out differently.
static gboolean
solve_exactly(const LimnElasticNet *net, const double *q, LimnElasticNetWork *work)
{
    gsize n = work->n_active, m = 0;
    if (n == 0 || n > MAX_EXACT) {
        return FALSE;
    }
    g_autofree guint32 *kept = g_new(guint32, n);
    for (gsize i = 0; i < n; i++) {
        if (work->weights[i] != 0) {
            kept[m++] = (guint32) i;
        }
    }
    for (gsize i = 0; i < m; i++) {
        for (gsize j = 0; j <= i; j++) {
            work->factor[i * m + j] = work->gram[kept[i] * n + kept[j]];
        }
        work->factor[i * m + i] += net->l2;
        double sign = work->weights[kept[i]] > 0 ? 1 : -1;
        work->exact[i] = q[work->active[kept[i]]] - net->l1 * sign;
    }
    if (m == 0 || !limn_cholesky(m, work->factor, 1e-12)) {
        return FALSE;
    }
    limn_cholesky_solve(m, work->factor, work->exact);
    for (gsize i = 0; i < m; i++) {
        if (!(work->exact[i] * work->weights[kept[i]] > 0)) {
            return FALSE;
        }
    }
    for (gsize i = 0; i < m; i++) {
        work->weights[kept[i]] = work->exact[i];
    }
    return TRUE;
}

// Minimises over the weights that are not zero.
static void
settle_active(const LimnElasticNet *net, const double *q, double *w,
              LimnElasticNetWork *work)
{
    collect_active(net, w, work);
    for (guint pass = 1; pass <= INNER_PASSES; pass++) {
        double change = pass_over_active(net, work);
        gboolean trial = pass % TRIAL_PASSES == 0 || change < SETTLED;
        if (change < net->tolerance || (trial && solve_exactly(net, q, work))) {
            break;
        }
    }
    for (gsize i = 0; i < work->n_active; i++) {
        w[work->active[i]] = work->weights[i];
    }
    refresh_gradient(net, q, w, work->gradient);
}

gboolean
limn_elastic_net_solve(const LimnElasticNet *net, const double *q, double *w,
                       LimnElasticNetWork *work)
{
    refresh_gradient(net, q, w, work->gradient);
    for (guint pass = 0; pass < net->max_passes; pass++) {
        if (pass_over_all(net, w, work->gradient) < net->tolerance) {
            return TRUE;
        }
        settle_active(net, q, w, work);
    }
    return FALSE;
}

double
limn_elastic_net_objective(const LimnElasticNet *net, const double *q, double yy,
                           const double *w)
{
    double fit = yy, norm1 = 0, norm2 = 0;
    for (gsize j = 0; j < net->k; j++) {
        if (w[j] == 0) {
            continue;
        }
        const double *row = net->gram + j * net->k;
        double product = 0;
        for (gsize i = 0; i < net->k; i++) {
            product += row[i] * w[i];
        }
        fit += w[j] * (product - 2 * q[j]);
        norm1 += fabs(w[j]);
        norm2 += w[j] * w[j];
    }
    return fit / 2 + net->l1 * norm1 + net->l2 / 2 * norm2;
}

guint
limn_elastic_net_solve_plain(gsize n, gsize k, const double *columns, double l1,
                             double l2, double tolerance, guint max_passes,
                             double *residual, double *w)
{
    g_autofree double *square = g_new(double, MAX(k, 1));
    for (gsize j = 0; j < k; j++) {
        square[j] = 0;
        for (gsize i = 0; i < n; i++) {
            square[j] += columns[j * n + i] * columns[j * n + i] / (double) n;
        }
    }
    for (guint pass = 1; pass <= max_passes; pass++) {
        double largest = 0;
        for (gsize j = 0; j < k; j++) {
            const double *x = columns + j * n;
            double rho = 0;
            for (gsize i = 0; i < n; i++) {
                rho += x[i] * residual[i];
            }
            rho = rho / (double) n + square[j] * w[j];
            double curvature = square[j] + l2;
            double next = curvature > 0 ? shrink(rho, l1) / curvature : 0;
            double change = next - w[j];
            for (gsize i = 0; change != 0 && i < n; i++) {
                residual[i] -= change * x[i];
            }
            w[j] = next;
            largest = MAX(largest, fabs(change));
        }
        if (largest < tolerance) {
            return pass;
        }
    }
    return max_passes;
}
