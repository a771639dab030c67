// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/math/statistics.h"

#include <math.h>

LimnDescription
limn_describe(const double *x, gsize n)
{
    LimnDescription d = {.n = n};
    if (n == 0) {
        return d;
    }
    d.min = d.max = x[0];
    for (gsize i = 0; i < n; i++) {
        d.min = MIN(d.min, x[i]);
        d.max = MAX(d.max, x[i]);
        d.n_nonzero += x[i] != 0;
    }
    d.mean = limn_mean(x, n);
    if (n > 1 && d.min < d.max) {
        d.std = sqrt(limn_co_moment(x, d.mean, x, d.mean, n) / (double) (n - 1));
    }
    return d;
}

double
limn_mean(const double *x, gsize n)
{
    double sum = 0;
    for (gsize i = 0; i < n; i++) {
        sum += x[i];
    }
    return n > 0 ? sum / (double) n : 0;
}

double
limn_co_moment(const double *x, double x_mean, const double *y, double y_mean, gsize n)
{
    double part[4] = {0, 0, 0, 0};
    gsize i = 0;
    for (; i + 4 <= n; i += 4) {
        for (gsize l = 0; l < 4; l++) {
            part[l] += (x[i + l] - x_mean) * (y[i + l] - y_mean);
        }
    }
    for (gsize l = 0; i < n; i++, l++) {
        part[l] += (x[i] - x_mean) * (y[i] - y_mean);
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}

static gboolean
is_constant(const double *x, gsize n)
{
    for (gsize i = 1; i < n; i++) {
        if (x[i] != x[0]) {
            return FALSE;
        }
    }
    return TRUE;
}

double
limn_pearson(const double *x, const double *y, gsize n)
{
    if (n < 2 || is_constant(x, n) || is_constant(y, n)) {
        return NAN;
    }
    double x_mean = limn_mean(x, n), y_mean = limn_mean(y, n);
    double xx = limn_co_moment(x, x_mean, x, x_mean, n);
    double yy = limn_co_moment(y, y_mean, y, y_mean, n);
    if (!(xx > 0) || !(yy > 0)) {
        return NAN; // differences that vanish when squared
    }
    double rho = limn_co_moment(x, x_mean, y, y_mean, n) / (sqrt(xx) * sqrt(yy));
    return CLAMP(rho, -1, 1);
}

static gint
compare_falling(gconstpointer a, gconstpointer b, gpointer data)
{
    const double *values = data;
    guint32 i = *(const guint32 *) a, j = *(const guint32 *) b;
    double x = values[i], y = values[j];
    if (isnan(x) || isnan(y)) {
        return isnan(x) == isnan(y) ? (i > j) - (i < j) : isnan(x) ? 1 : -1;
    }
    return x != y ? (x < y) - (x > y) : (i > j) - (i < j);
}

void
limn_order_falling(const double *values, gsize n, guint32 *order)
{
    for (gsize i = 0; i < n; i++) {
        order[i] = (guint32) i;
    }
    if (n > 1) {
        g_qsort_with_data(order, (gint) n, sizeof *order, compare_falling,
                          (gpointer) (gintptr) values);
    }
}
