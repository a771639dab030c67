// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/math/statistics.h"

#include <math.h>
#include <string.h>

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

// ---- order

#define DIGIT_BITS 11
#define N_DIGITS ((gsize) 1 << DIGIT_BITS)
#define FEW 32

typedef struct {
    guint64 key;
    guint32 index;
} Keyed;

// Rises as the value falls; NaN comes last, both zeros are the same.
static guint64
falling_key(double value)
{
    guint64 bits;
    value = value == 0 ? 0 : value;
    if (isnan(value)) {
        return G_MAXUINT64;
    }
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 ? bits : ~(bits | (guint64) 1 << 63);
}

// One stable pass by a digit; FALSE when all have the same, so that nothing moves.
static gboolean
sort_by_digit(const Keyed *from, Keyed *to, gsize n, int shift)
{
    gsize count[N_DIGITS] = {0}, sum = 0;
    for (gsize i = 0; i < n; i++) {
        count[from[i].key >> shift & (N_DIGITS - 1)]++;
    }
    if (count[from[0].key >> shift & (N_DIGITS - 1)] == n) {
        return FALSE;
    }
    for (gsize d = 0; d < N_DIGITS; d++) {
        gsize here = count[d];
        count[d] = sum;
        sum += here;
    }
    for (gsize i = 0; i < n; i++) {
        to[count[from[i].key >> shift & (N_DIGITS - 1)]++] = from[i];
    }
    return TRUE;
}

static void
insert_all(const double *values, gsize n, guint32 *order)
{
    for (gsize i = 0; i < n; i++) {
        gsize at = i;
        guint64 key = falling_key(values[i]);
        for (; at > 0 && falling_key(values[order[at - 1]]) > key; at--) {
            order[at] = order[at - 1];
        }
        order[at] = (guint32) i;
    }
}

void
limn_order_falling(const double *values, gsize n, guint32 *order)
{
    if (n <= FEW) {
        insert_all(values, n, order);
        return;
    }
    gsize size = 2 * n + 1;
    g_autofree Keyed *memory = g_new(Keyed, size);
    Keyed *from = memory, *to = memory + n;
    for (gsize i = 0; i < n; i++) {
        from[i] = (Keyed){falling_key(values[i]), (guint32) i};
    }
    for (int shift = 0; shift < 64; shift += DIGIT_BITS) {
        if (sort_by_digit(from, to, n, shift)) {
            Keyed *swap = from;
            from = to;
            to = swap;
        }
    }
    for (gsize i = 0; i < n; i++) {
        order[i] = from[i].index;
    }
}
