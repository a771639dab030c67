// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Elastic net by cyclic coordinate descent (Friedman, Hastie and Tibshirani, J. Stat.
// Softw. 2010), in double:
//
//     min over w, c   1/(2n) |X w + c - y|^2 + l1 |w|_1 + (l2/2) |w|^2
//
// with centred columns X [n,k]. The fast solver sees the data only through
// gram = X^T X / n [k,k] and q = X^T (y - mean y) / n [k], so that many problems over the
// same X share one Gram matrix ("covariance updates"). Passes over the non-zero weights
// alternate with passes over all; as soon as the signs stand still, the weights are
// solved for exactly and a full pass confirms them. c = mean y.
// Cost per problem: passes * k + changes * k + passes * nonzero^2.

#include <glib.h>

typedef struct {
    gsize k;
    const double *gram;
    double l1, l2;
    double tolerance; // a pass over all that moves no weight by more ends (1e-10)
    guint max_passes; // over all weights (1000)
} LimnElasticNet;

// Work space of one thread.
typedef struct LimnElasticNetWork LimnElasticNetWork;
LimnElasticNetWork *limn_elastic_net_work_new(gsize k);
void limn_elastic_net_work_free(LimnElasticNetWork *work);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnElasticNetWork, limn_elastic_net_work_free)

// w [k]: start, then the solution. FALSE when it did not converge in max_passes.
gboolean limn_elastic_net_solve(const LimnElasticNet *net, const double *q, double *w,
                                LimnElasticNetWork *work);
// The minimised objective for w; yy = |y - mean y|^2 / n.
double limn_elastic_net_objective(const LimnElasticNet *net, const double *q, double yy,
                                  const double *w);

// The plain way, kept as reference: cyclic passes over all weights with updates of the
// residual. columns [k][n] one after another, residual [n] = y - mean y - X w on entry
// (w is the start) and on return. Returns the number of passes.
guint limn_elastic_net_solve_plain(gsize n, gsize k, const double *columns, double l1,
                                   double l2, double tolerance, guint max_passes,
                                   double *residual, double *w);
