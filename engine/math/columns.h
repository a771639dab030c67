// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Products of columns of float32 matrices, carried in double: Gram matrices and
// correlations over many rows without a double copy of the matrix. Work is cut into
// tiles of the result, rows are added in order, so that the result does not depend on the
// number of threads; nor does an element depend on which other columns of `a` there are.

#include "engine/base/types.h"

// Columns of a row-major matrix x [*, stride], seen as (x - offset) * scale.
typedef struct {
    const float *x;
    gsize stride;
    const guint32 *rows; // [n] rows used, NULL: 0 .. n - 1
    gsize n;
    const guint32 *columns; // [k] columns used, NULL: 0 .. k - 1
    gsize k;
    const double *offset; // [k], NULL: 0
    const double *scale;  // [k], NULL: 1
    gboolean cubed;       // the third power of that
} LimnColumns;

// out [a.k, b.k] = factor * sum over the rows of a's column i times b's column j; both
// have the same number of rows.
void limn_columns_product(LimnJob *job, const LimnColumns *a, const LimnColumns *b,
                          double factor, double *out);
// out [k, k]: the same with itself; exactly symmetric.
void limn_columns_gram(LimnJob *job, const LimnColumns *a, double factor, double *out);

// Mean and standard deviation (n - 1) per column, [k] each; a column whose values are all
// the same has std exactly 0. offset, scale and cubed are not applied.
void limn_columns_describe(LimnJob *job, const LimnColumns *a, double *mean, double *std);

// out [n, k]: cosines between the rows of a [n, d] and of b [k, d], computed in double.
// The cosine with a row of zeros is 0.
void limn_cosine_matrix(LimnJob *job, gsize n, gsize k, gsize d, const float *a,
                        const float *b, float *out);
