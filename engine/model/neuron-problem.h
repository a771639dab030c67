// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Linear explanations of neurons (Oikarinen and Weng, ICML 2024; specification: neuron
// explanations, section 4): what the fits of all neurons of a layer share.
//
// P [n,K] is the concept matrix, the activation of every concept in every picture; k of
// its columns are in the running (see neuron-concepts.h for the filter). The pictures are
// split into train (fits), val (selection) and test (scores). Of the train pictures only
// moments are kept: the Gram matrix of the standardised columns serves the elastic net of
// every neuron and every least-squares fit, so that no candidate costs a pass over the
// pictures. Cost: n_train k^2 multiplications once, n_train k per neuron.

#include "engine/base/array.h"
#include "engine/base/job.h"

// Rising indices of pictures, disjoint.
typedef struct {
    gsize n;
    guint32 *train, *val, *test;
    gsize n_train, n_val, n_test;
} LimnNeuronSplit;

// Fewest pictures that can be split (each part then has three or more).
#define LIMN_NEURON_FEWEST_PICTURES 30
// Most pictures and columns (their numbers are guint32).
#define LIMN_NEURON_MOST ((gint64) 1 << 30)

// 70 % train, 10 % val, 20 % test, drawn from the seed.
LimnNeuronSplit *limn_neuron_split_new(gsize n, guint64 seed);
// Of lists of indices (i64, rank 1). LIMN_ERROR_FORMAT for indices outside 0 .. n - 1,
// that occur twice, or parts of fewer than two.
LimnNeuronSplit *limn_neuron_split_from_lists(gsize n, const LimnArray *train,
                                              const LimnArray *val, const LimnArray *test,
                                              GError **error);
void limn_neuron_split_free(LimnNeuronSplit *split);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnNeuronSplit, limn_neuron_split_free)

typedef struct {
    gsize n;                      // pictures
    gsize k;                      // concepts in the running
    guint32 *columns;             // [k] their columns of P
    LimnArray *values;            // P, f32 [n,K]
    const LimnNeuronSplit *split; // borrowed
    double *mean, *std;           // [k] over train; std divided by n - 1
    double *scale;                // [k] 1 / std; 0 where the column is constant in train
    LimnArray *gram;              // f64 [k,k] standardised columns, sums / n_train
    LimnArray *val;               // f32 [k,n_val]: the val part, concept by concept
    double *val_mean;             // [k]
    double *val_square;           // [k] sum of squares about it; 0 when constant
} LimnNeuronProblem;

// columns [k]; split is borrowed. LIMN_ERROR_MEMORY, LIMN_ERROR_CANCELLED.
LimnNeuronProblem *limn_neuron_problem_new(LimnArray *values, const guint32 *columns,
                                           gsize k, const LimnNeuronSplit *split,
                                           LimnJob *job, GError **error);
void limn_neuron_problem_free(LimnNeuronProblem *problem);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnNeuronProblem, limn_neuron_problem_free)

// The activations of neurons [count], one neuron after another: out [count,n].
void limn_neuron_gather(const LimnArray *activations, const guint32 *neurons, gsize count,
                        double *out);

// q [count,k]: sums over train of standardised columns times (activation - its mean over
// train), / n_train, for the neurons [count] (NULL: the first
// ones) of activations f32 [n,m].
gboolean limn_neuron_correlate(const LimnNeuronProblem *problem,
                               const LimnArray *activations, const guint32 *neurons,
                               gsize count, double *q, LimnJob *job, GError **error);
