// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The explanation of one neuron (specification: neuron explanations, section 4):
//
//     s(x) = bias + sum over j of weight_j P_j(x)
//
// Stage 1 ranks all concepts by their signed weight in an elastic net of the standardised
// activations. Stage 2 chooses among the first of that order by the correlation on val:
//
//   greedy  one concept after another, as published: a candidate that does not add
//           `tolerance` to the correlation is out for good;
//   exact   the best of all subsets of up to `short_length` of the first `pool` concepts,
//           best = correlation - tolerance * (length - 1), found by trying them all;
//   top     the first `short_length` concepts.
//
// The weights come from least squares on train with un-normalised columns: exactly (ols;
// the shortest solution where columns depend on each other), or by 100 steps of Adam from
// zero (adam; the authors' optimiser with a start that does not depend on a seed).

#include "engine/math/elastic-net.h"
#include "engine/math/statistics.h"
#include "engine/model/neuron-problem.h"

#define LIMN_NEURON_MAX_LENGTH 32

typedef enum { LIMN_NEURON_OLS, LIMN_NEURON_ADAM } LimnNeuronFitKind;
typedef enum {
    LIMN_NEURON_GREEDY,
    LIMN_NEURON_EXACT,
    LIMN_NEURON_TOP,
} LimnNeuronSelection;

typedef struct {
    double rate, beta1, beta2, eps;
    int steps;
} LimnNeuronAdam;

typedef struct {
    double l1, l2;       // of the elastic net
    gboolean train_only; // standardise targets by train only, instead of all pictures
    LimnNeuronSelection selection;
    LimnNeuronFitKind fit;
    int length;       // greedy: most concepts, up to LIMN_NEURON_MAX_LENGTH
    int width;        // greedy: candidates per round
    int short_length; // exact and top
    int pool;         // exact
    double tolerance; // gain of correlation that a further concept must bring
    LimnNeuronAdam adam;
} LimnNeuronOptions;

// The published values: l1 0.05, l2 = l1 / 0.99 * 0.01, length 10, width 10, tolerance
// 0.02, Adam 0.3, 0.9, 0.999, 1e-8, 100 steps; short_length 4, pool 20.
void limn_neuron_options_init(LimnNeuronOptions *options);
// l2 that belongs to an l1 and a share alpha of it: l1 / alpha * (1 - alpha).
double limn_neuron_l2(double l1, double alpha);
// Subsets that selection `exact` tries for one neuron.
double limn_neuron_n_subsets(const LimnNeuronOptions *options, gsize k);

typedef enum {
    LIMN_NEURON_EXPLAINED,
    LIMN_NEURON_DEAD,       // its activation is the same for all pictures
    LIMN_NEURON_UNDEFINED,  // no concept correlates positively on val
    LIMN_NEURON_NOT_FINITE, // its activations hold NaN or infinite values
} LimnNeuronStatus;
const char *limn_neuron_status_name(LimnNeuronStatus status); // "explained", "dead", ...

// Concepts are indices into the problem's columns, weights fall. Without concepts the
// bias is the mean over all pictures and the correlation 0.
typedef struct {
    LimnNeuronStatus status;
    gsize length;
    guint32 concepts[LIMN_NEURON_MAX_LENGTH];
    double weights[LIMN_NEURON_MAX_LENGTH];
    double bias;
    double val_correlation;
    // greedy: correlation after every concept; exact: best of every length
    double trace[LIMN_NEURON_MAX_LENGTH];
    LimnDescription activations; // over all pictures
} LimnNeuronExplanation;

// One neuron's activations as a target.
typedef struct {
    const double *values; // [n], borrowed
    LimnDescription all;
    double mean, std;                // by which the elastic net's target is standardised
    double train_mean, train_square; // mean over train; sum of squares about it / n_train
    const double *val;               // [n_val]
    double val_mean, val_square;     // sum of squares about the mean
    const double *q;                 // [k], see limn_neuron_correlate
} LimnNeuronTarget;

// Work space of one thread for one problem.
typedef struct {
    double *train, *val; // [n_train], [n_val] of the target
    double *weights;     // [k] of the elastic net
    guint32 *order;      // [k] concepts by falling weight
    double *scaled;      // [k]
    LimnElasticNetWork *net;
    GArray *slots; // candidates of the greedy search
} LimnNeuronWork;
LimnNeuronWork *limn_neuron_work_new(const LimnNeuronProblem *problem);
void limn_neuron_work_free(LimnNeuronWork *work);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnNeuronWork, limn_neuron_work_free)

// Everything for a neuron with activations [n]; q [k] is its row from
// limn_neuron_correlate. Cannot fail.
void limn_neuron_explain(const LimnNeuronProblem *problem,
                         const LimnNeuronOptions *options, const double *activations,
                         const double *q, LimnNeuronWork *work,
                         LimnNeuronExplanation *explanation);

// The same for the neurons [count], on the job's threads, into explanations [count].
// Memory: count * k doubles. FALSE when cancelled.
gboolean limn_neuron_explain_many(const LimnNeuronProblem *problem,
                                  const LimnNeuronOptions *options,
                                  const LimnArray *activations, const guint32 *neurons,
                                  gsize count, LimnNeuronExplanation *explanations,
                                  LimnJob *job, GError **error);

// The steps of it. set_target: FALSE when the activations are not finite.
gboolean limn_neuron_set_target(const LimnNeuronProblem *problem,
                                const LimnNeuronOptions *options,
                                const double *activations, const double *q,
                                LimnNeuronWork *work, LimnNeuronTarget *target);
typedef struct {
    double bias, objective;
    gboolean converged;
} LimnNeuronRanking;
// Fills work->weights and work->order.
void limn_neuron_rank(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                      const LimnNeuronTarget *target, LimnNeuronWork *work,
                      LimnNeuronRanking *ranking);
// Chooses by work->order.
void limn_neuron_select(const LimnNeuronProblem *problem,
                        const LimnNeuronOptions *options, const LimnNeuronTarget *target,
                        LimnNeuronWork *work, LimnNeuronExplanation *explanation);
// The explanation that holds just the concepts set [length] (up to
// LIMN_NEURON_MAX_LENGTH; somebody added or removed some): their weights, bias and
// correlation on val.
void limn_neuron_refit(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                       const LimnNeuronTarget *target, const guint32 *set, gsize length,
                       LimnNeuronExplanation *explanation);
// One fit on the concepts set [length]: weights [length], in the order of the set.
void limn_neuron_fit(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                     const LimnNeuronTarget *target, const guint32 *set, gsize length,
                     double *weights, double *bias);
// Correlation on val of a prediction; 0 where it is undefined. moments: [length,length]
// co-moments of the concepts on val and [length] with the target.
double limn_neuron_correlation(const double *weights, gsize length, const double *moments,
                               const double *with_target, double target_square);
// Co-moments on val (sums about the means) of two concepts, of a concept and the target.
double limn_neuron_val_moment(const LimnNeuronProblem *problem, guint32 a, guint32 b);
double limn_neuron_val_target_moment(const LimnNeuronProblem *problem,
                                     const LimnNeuronTarget *target, guint32 concept);
// Sorts by falling weight (equal ones keep their order), fit and all.
void limn_neuron_sort(LimnNeuronExplanation *explanation);
