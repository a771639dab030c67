// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How good an explanation is, and how much its neuron matters (specification: neuron
// explanations, section 5). Everything in double.

#include "engine/base/array.h"
#include "engine/base/job.h"

// A linear explanation on columns of a concept matrix.
typedef struct {
    const guint32 *columns; // [length]
    const double *weights;  // [length]
    gsize length;
    double bias;
} LimnNeuronFormula;

// predicted [n]: bias + sum of weights times columns of values f32 [n,K].
void limn_neuron_predict(const LimnNeuronFormula *formula, const LimnArray *values,
                         double *predicted);
// Pearson correlation of two lists [*] on the rows [n] (NULL: the first n); NaN where it
// is undefined (the simulation score).
double limn_neuron_simulate(const double *predicted, const double *actual,
                            const guint32 *rows, gsize n);

// ---- the classifier behind the layer: logits = z W^T + b

typedef struct {
    gsize n, m, classes;
    double *weight;         // [classes,m]
    double *logits;         // [n,classes] of the activations as they are
    double *loss;           // [n] cross-entropy of logits / temperature
    guint8 *right;          // [n] the largest logit is the label's
    LimnArray *label_array; // i64 [n]
    const gint64 *labels;   // its values
    double temperature;
} LimnNeuronHead;

// activations f32 [n,m], weight [classes,m], bias [classes] of any element type, labels
// i64 [n] within 0 .. classes - 1. LIMN_ERROR_MISMATCH naming sizes.
LimnNeuronHead *limn_neuron_head_new(const LimnArray *activations, LimnArray *weight,
                                     LimnArray *bias, LimnArray *labels,
                                     double temperature, LimnJob *job, GError **error);
void limn_neuron_head_free(LimnNeuronHead *head);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnNeuronHead, limn_neuron_head_free)

typedef struct {
    double rate; // of Adam, 0.01
    int steps;   // 100
} LimnAblationOptions;

typedef struct {
    double norm, optim; // 1 - sim / base; NaN where base is 0 or no rho
    double c, d;        // of optim: predicted -> c predicted + d
} LimnAblation;

// For neuron k with activations actual [n] and predicted [n]; val and test are rows.
// rho: correlation on val, for `norm`. When the job is cancelled the result means nothing
// (the caller checks); so with limn_neuron_impact.
void limn_neuron_ablate(const LimnNeuronHead *head, gsize neuron, const double *actual,
                        const double *predicted, double rho, const guint32 *val,
                        gsize n_val, const guint32 *test, gsize n_test,
                        const LimnAblationOptions *options, LimnAblation *ablation,
                        LimnJob *job);

// Part of the neuron's impact (set to 0; section 5, range analysis) that its most active
// pictures carry, for every fraction; NaN where it has no impact. Cumulated |impact| up
// to and including rank int(fraction n).
void limn_neuron_impact(const LimnNeuronHead *head, gsize neuron, const double *actual,
                        const double *fractions, gsize n_fractions, double *parts,
                        LimnJob *job);

// ---- composition

typedef struct {
    double low, high; // (low, high]
    gsize count;
    double other; // percent of "none of the concepts"
} LimnNeuronBin;

// Splits (0, max] into n_bins equal bins. percent [n_bins, length]: mean of each column
// among the pictures of a bin, times 100; NaN in empty bins. Without positive activations
// all bins are empty and 0 wide. Activations of 0 and below belong to no bin.
void limn_neuron_bins(const LimnNeuronFormula *formula, const LimnArray *values,
                      const double *actual, gsize n_bins, LimnNeuronBin *bins,
                      double *percent);
