// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small symmetric systems in double. Matrices are row-major [n,n]; only the lower
// triangle is read.

#include <glib.h>

// A = L L^T in place (lower triangle). FALSE when a pivot is not above `smallest` (the
// matrix is not positive definite, or nearly so); `a` is then spoilt.
gboolean limn_cholesky(gsize n, double *a, double smallest);
// b = A^-1 b for the factor from limn_cholesky.
void limn_cholesky_solve(gsize n, const double *l, double *b);

// Eigenvalues [n] and eigenvectors (row i belongs to value i) by Jacobi rotations; `a` is
// overwritten. Meant for n up to about 50.
void limn_symmetric_eigen(gsize n, double *a, double *values, double *vectors);

// x = A^-1 b for a positive semidefinite A. Where A is singular (or a pivot of its
// factorisation falls below 1e-9 of its largest diagonal element), x is the shortest of
// the best solutions. work: 2 n n + n doubles. `a` is kept.
void limn_semidefinite_solve(gsize n, const double *a, const double *b, double *x,
                             double *work);
