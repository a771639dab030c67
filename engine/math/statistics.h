// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Statistics of one or two lists of numbers, in double, by two passes (the mean first),
// so that a large common offset costs no digits.

#include <glib.h>

typedef struct {
    double mean;
    double std; // divided by n - 1; exactly 0 when all values are equal or n < 2
    double min, max;
    gsize n, n_nonzero;
} LimnDescription;

// Of x [n] with finite values; all zero for n = 0.
LimnDescription limn_describe(const double *x, gsize n);

double limn_mean(const double *x, gsize n);

// Sum over (x - x_mean)(y - y_mean). Four partial sums, the same order everywhere.
double limn_co_moment(const double *x, double x_mean, const double *y, double y_mean,
                      gsize n);

// Pearson correlation; NaN where it is undefined: n < 2, or one list is constant.
double limn_pearson(const double *x, const double *y, gsize n);

// Indices 0 .. n - 1 by falling value, equal values by rising index. NaN comes last.
void limn_order_falling(const double *values, gsize n, guint32 *order);
