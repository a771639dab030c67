// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/math/symmetric.h"

#include <math.h>
#include <string.h>

// Pivots and eigenvalues below this part of the largest count as zero.
#define SINGULAR 1e-9
#define MAX_SWEEPS 60

gboolean
limn_cholesky(gsize n, double *a, double smallest)
{
    for (gsize i = 0; i < n; i++) {
        double *row = a + i * n;
        for (gsize j = 0; j <= i; j++) {
            const double *other = a + j * n;
            double sum = row[j];
            for (gsize k = 0; k < j; k++) {
                sum -= row[k] * other[k];
            }
            if (j < i) {
                row[j] = sum / other[j];
            } else if (sum > smallest) {
                row[i] = sqrt(sum);
            } else {
                return FALSE;
            }
        }
    }
    return TRUE;
}

void
limn_cholesky_solve(gsize n, const double *l, double *b)
{
    for (gsize i = 0; i < n; i++) {
        for (gsize k = 0; k < i; k++) {
            b[i] -= l[i * n + k] * b[k];
        }
        b[i] /= l[i * n + i];
    }
    for (gsize i = n; i-- > 0;) {
        for (gsize k = i + 1; k < n; k++) {
            b[i] -= l[k * n + i] * b[k];
        }
        b[i] /= l[i * n + i];
    }
}

// One rotation in the plane of p and q that makes a[p,q] zero (full matrix kept).
static void
rotate(gsize n, double *a, double *vectors, gsize p, gsize q)
{
    double theta = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (gsize k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (gsize k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        x = vectors[p * n + k];
        y = vectors[q * n + k];
        vectors[p * n + k] = c * x - s * y;
        vectors[q * n + k] = s * x + c * y;
    }
}

void
limn_symmetric_eigen(gsize n, double *a, double *values, double *vectors)
{
    memset(vectors, 0, n * n * sizeof *vectors);
    for (gsize i = 0; i < n; i++) {
        vectors[i * n + i] = 1;
        for (gsize j = i + 1; j < n; j++) {
            a[i * n + j] = a[j * n + i];
        }
    }
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        double off = 0, diagonal = 0;
        for (gsize i = 0; i < n; i++) {
            diagonal += a[i * n + i] * a[i * n + i];
            for (gsize j = 0; j < i; j++) {
                off += a[i * n + j] * a[i * n + j];
            }
        }
        if (!(off > 1e-34 * diagonal)) {
            break;
        }
        for (gsize p = 0; p < n; p++) {
            for (gsize q = p + 1; q < n; q++) {
                if (a[p * n + q] != 0) {
                    rotate(n, a, vectors, p, q);
                }
            }
        }
    }
    for (gsize i = 0; i < n; i++) {
        values[i] = a[i * n + i];
    }
}

// The shortest of the best solutions, through the eigenvalues that are not zero.
static void
solve_by_eigenvalues(gsize n, const double *b, double *x, double *matrix, double *vectors,
                     double *values)
{
    limn_symmetric_eigen(n, matrix, values, vectors);
    double largest = 0;
    for (gsize i = 0; i < n; i++) {
        largest = MAX(largest, values[i]);
        x[i] = 0;
    }
    for (gsize i = 0; i < n; i++) {
        if (!(values[i] > SINGULAR * largest)) {
            continue;
        }
        const double *v = vectors + i * n;
        double part = 0;
        for (gsize k = 0; k < n; k++) {
            part += v[k] * b[k];
        }
        part /= values[i];
        for (gsize k = 0; k < n; k++) {
            x[k] += part * v[k];
        }
    }
}

void
limn_semidefinite_solve(gsize n, const double *a, const double *b, double *x,
                        double *work)
{
    double largest = 0;
    for (gsize i = 0; i < n; i++) {
        largest = MAX(largest, a[i * n + i]);
    }
    memcpy(work, a, n * n * sizeof *work);
    if (limn_cholesky(n, work, SINGULAR * largest)) {
        memcpy(x, b, n * sizeof *x);
        limn_cholesky_solve(n, work, x);
        return;
    }
    memcpy(work, a, n * n * sizeof *work);
    solve_by_eigenvalues(n, b, x, work, work + n * n, work + 2 * n * n);
}
