// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-fit.h"

#include <math.h>
#include <string.h>

#include "engine/base/parallel.h"
#include "engine/math/symmetric.h"

#define MOST LIMN_NEURON_MAX_LENGTH
// The variance of a prediction below this part of its terms' is rounding.
#define VANISHING 1e-13
// Neurons that one chunk explains, with one work space.
#define CHUNK_NEURONS ((gsize) 16)

void
limn_neuron_options_init(LimnNeuronOptions *options)
{
    *options = (LimnNeuronOptions){
        .l1 = 0.05,
        .l2 = limn_neuron_l2(0.05, 0.99),
        .length = 10,
        .width = 10,
        .short_length = 4,
        .pool = 20,
        .tolerance = 0.02,
        .adam = {.rate = 0.3, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8, .steps = 100},
    };
}

double
limn_neuron_l2(double l1, double alpha)
{
    return l1 / alpha * (1 - alpha);
}

double
limn_neuron_n_subsets(const LimnNeuronOptions *options, gsize k)
{
    double pool = (double) MIN((gsize) options->pool, k), subsets = 1, sum = 0;
    for (int i = 0; i < options->short_length && i < pool; i++) {
        subsets *= (pool - i) / (i + 1);
        sum += subsets;
    }
    return sum;
}

const char *
limn_neuron_status_name(LimnNeuronStatus status)
{
    static const char *const names[] = {"explained", "dead", "undefined", "not finite"};
    return names[status];
}

// ---- work space

LimnNeuronWork *
limn_neuron_work_new(const LimnNeuronProblem *problem)
{
    gsize k = MAX(problem->k, 1);
    LimnNeuronWork *work = g_new0(LimnNeuronWork, 1);
    work->train = g_new(double, MAX(problem->split->n_train, 1));
    work->val = g_new(double, MAX(problem->split->n_val, 1));
    work->weights = g_new(double, k);
    work->scaled = g_new(double, k);
    work->order = g_new(guint32, k);
    work->net = limn_elastic_net_work_new(problem->k);
    return work;
}

void
limn_neuron_work_free(LimnNeuronWork *work)
{
    if (work == NULL) {
        return;
    }
    g_free(work->train);
    g_free(work->val);
    g_free(work->weights);
    g_free(work->scaled);
    g_free(work->order);
    limn_elastic_net_work_free(work->net);
    g_clear_pointer(&work->slots, g_array_unref);
    g_free(work);
}

// ---- target

gboolean
limn_neuron_set_target(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                       const double *activations, const double *q, LimnNeuronWork *work,
                       LimnNeuronTarget *target)
{
    const LimnNeuronSplit *split = problem->split;
    for (gsize i = 0; i < problem->n; i++) {
        if (!isfinite(activations[i])) {
            return FALSE;
        }
    }
    *target = (LimnNeuronTarget){.values = activations, .val = work->val, .q = q};
    target->all = limn_describe(activations, problem->n);
    for (gsize i = 0; i < split->n_train; i++) {
        work->train[i] = activations[split->train[i]];
    }
    LimnDescription on_train = limn_describe(work->train, split->n_train);
    target->train_mean = on_train.mean;
    target->train_square =
        on_train.std * on_train.std * (1 - 1 / (double) split->n_train);
    target->mean = options->train_only ? on_train.mean : target->all.mean;
    target->std = options->train_only ? on_train.std : target->all.std;
    for (gsize i = 0; i < split->n_val; i++) {
        work->val[i] = activations[split->val[i]];
    }
    LimnDescription on_val = limn_describe(work->val, split->n_val);
    target->val_mean = on_val.mean;
    target->val_square = on_val.std * on_val.std * (double) (split->n_val - 1);
    return TRUE;
}

// ---- stage 1

void
limn_neuron_rank(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                 const LimnNeuronTarget *target, LimnNeuronWork *work,
                 LimnNeuronRanking *ranking)
{
    gsize k = problem->k;
    double scale = target->std > 0 ? 1 / target->std : 0;
    LimnElasticNet net = {.k = k,
                          .gram = limn_array_f64(problem->gram),
                          .l1 = options->l1,
                          .l2 = options->l2,
                          .tolerance = 1e-10,
                          .max_passes = 1000};
    for (gsize j = 0; j < k; j++) {
        work->scaled[j] = target->q[j] * scale;
        work->weights[j] = 0;
    }
    ranking->converged =
        limn_elastic_net_solve(&net, work->scaled, work->weights, work->net);
    ranking->bias = (target->train_mean - target->mean) * scale;
    ranking->objective = limn_elastic_net_objective(
        &net, work->scaled, target->train_square * scale * scale, work->weights);
    limn_order_falling(work->weights, k, work->order);
}

// ---- fits on a set of concepts, from moments alone

static double
gram_at(const LimnNeuronProblem *problem, guint32 i, guint32 j)
{
    return limn_array_f64(problem->gram)[i * problem->k + j];
}

// Weights of standardised columns by least squares, brought back to the columns as they
// are.
static void
fit_ols(const LimnNeuronProblem *problem, const LimnNeuronTarget *target,
        const guint32 *set, gsize length, double *weights)
{
    double a[MOST * MOST], b[MOST], work[2 * MOST * MOST + MOST];
    if (length == 0) {
        return;
    }
    for (gsize i = 0; i < length; i++) {
        for (gsize j = 0; j < length; j++) {
            a[i * length + j] = gram_at(problem, set[i], set[j]);
        }
        b[i] = target->q[set[i]];
    }
    limn_semidefinite_solve(length, a, b, weights, work);
    for (gsize i = 0; i < length; i++) {
        weights[i] *= problem->scale[set[i]];
    }
}

// One step of Adam for parameter value p with gradient g.
static double
adam_step(const LimnNeuronAdam *adam, int step, double g, double *m, double *v)
{
    *m = adam->beta1 * *m + (1 - adam->beta1) * g;
    *v = adam->beta2 * *v + (1 - adam->beta2) * g * g;
    double first = *m / (1 - pow(adam->beta1, step));
    double second = *v / (1 - pow(adam->beta2, step));
    return adam->rate * first / (sqrt(second) + adam->eps);
}

// Minimises the mean squared error over weights and bias from zero. The last parameter is
// the bias; raw second moments follow from the centred ones.
static void
fit_adam(const LimnNeuronProblem *problem, const LimnNeuronTarget *target,
         const LimnNeuronAdam *adam, const guint32 *set, gsize length, double *weights,
         double *bias)
{
    double a[(MOST + 1) * (MOST + 1)], b[MOST + 1], g[MOST + 1];
    double p[MOST + 1] = {0}, m[MOST + 1] = {0}, v[MOST + 1] = {0};
    gsize n = length + 1;
    for (gsize i = 0; i < length; i++) {
        double mean = problem->mean[set[i]], std = problem->std[set[i]];
        for (gsize j = 0; j < length; j++) {
            a[i * n + j] = gram_at(problem, set[i], set[j]) * std * problem->std[set[j]] +
                           mean * problem->mean[set[j]];
        }
        a[i * n + length] = a[length * n + i] = mean;
        b[i] = target->q[set[i]] * std + mean * target->train_mean;
    }
    a[length * n + length] = 1;
    b[length] = target->train_mean;
    for (int step = 1; step <= adam->steps; step++) {
        for (gsize i = 0; i < n; i++) {
            g[i] = -b[i];
            for (gsize j = 0; j < n; j++) {
                g[i] += a[i * n + j] * p[j];
            }
        }
        for (gsize i = 0; i < n; i++) {
            p[i] -= adam_step(adam, step, 2 * g[i], &m[i], &v[i]);
        }
    }
    memcpy(weights, p, length * sizeof *p);
    *bias = p[length];
}

void
limn_neuron_fit(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                const LimnNeuronTarget *target, const guint32 *set, gsize length,
                double *weights, double *bias)
{
    if (options->fit == LIMN_NEURON_ADAM) {
        fit_adam(problem, target, &options->adam, set, length, weights, bias);
        return;
    }
    fit_ols(problem, target, set, length, weights);
    *bias = target->train_mean;
    for (gsize i = 0; i < length; i++) {
        *bias -= weights[i] * problem->mean[set[i]];
    }
}

// ---- correlation on val

static const float *
val_column(const LimnNeuronProblem *problem, guint32 concept)
{
    return limn_array_f32(problem->val) + concept * problem->split->n_val;
}

double
limn_neuron_val_moment(const LimnNeuronProblem *problem, guint32 a, guint32 b)
{
    if (a == b) {
        return problem->val_square[a];
    }
    const float *x = val_column(problem, a), *y = val_column(problem, b);
    double x_mean = problem->val_mean[a], y_mean = problem->val_mean[b], sum = 0;
    for (gsize i = 0; i < problem->split->n_val; i++) {
        sum += (x[i] - x_mean) * (y[i] - y_mean);
    }
    return sum;
}

double
limn_neuron_val_target_moment(const LimnNeuronProblem *problem,
                              const LimnNeuronTarget *target, guint32 concept)
{
    const float *x = val_column(problem, concept);
    double x_mean = problem->val_mean[concept], sum = 0;
    for (gsize i = 0; i < problem->split->n_val; i++) {
        sum += (x[i] - x_mean) * (target->val[i] - target->val_mean);
    }
    return sum;
}

double
limn_neuron_correlation(const double *weights, gsize length, const double *moments,
                        const double *with_target, double target_square)
{
    double product = 0, square = 0, largest = 0;
    for (gsize i = 0; i < length; i++) {
        double row = 0;
        for (gsize j = 0; j < length; j++) {
            row += moments[i * length + j] * weights[j];
        }
        square += weights[i] * row;
        product += weights[i] * with_target[i];
        largest += weights[i] * weights[i] * moments[i * length + i];
    }
    if (!(square > VANISHING * largest) || !(target_square > 0)) {
        return 0;
    }
    return CLAMP(product / (sqrt(square) * sqrt(target_square)), -1, 1);
}

// ---- all of it

void
limn_neuron_sort(LimnNeuronExplanation *e)
{
    guint32 order[MOST], concepts[MOST];
    double weights[MOST];
    limn_order_falling(e->weights, e->length, order);
    for (gsize i = 0; i < e->length; i++) {
        concepts[i] = e->concepts[order[i]];
        weights[i] = e->weights[order[i]];
    }
    memcpy(e->concepts, concepts, e->length * sizeof *concepts);
    memcpy(e->weights, weights, e->length * sizeof *weights);
}

void
limn_neuron_explain(const LimnNeuronProblem *problem, const LimnNeuronOptions *options,
                    const double *activations, const double *q, LimnNeuronWork *work,
                    LimnNeuronExplanation *explanation)
{
    LimnNeuronTarget target;
    LimnNeuronRanking ranking;
    memset(explanation, 0, sizeof *explanation);
    if (!limn_neuron_set_target(problem, options, activations, q, work, &target)) {
        explanation->status = LIMN_NEURON_NOT_FINITE;
        return;
    }
    if (target.all.std == 0) {
        explanation->status = LIMN_NEURON_DEAD;
        explanation->activations = target.all;
        explanation->bias = target.all.mean;
        return;
    }
    limn_neuron_rank(problem, options, &target, work, &ranking);
    limn_neuron_select(problem, options, &target, work, explanation);
}

typedef struct {
    const LimnNeuronProblem *problem;
    const LimnNeuronOptions *options;
    const LimnArray *activations;
    const guint32 *neurons;
    gsize count;
    const double *q;
    LimnNeuronExplanation *explanations;
} Many;

static void
explain_chunk(gsize chunk, gpointer data)
{
    const Many *many = data;
    gsize end = MIN((chunk + 1) * CHUNK_NEURONS, many->count);
    gsize first = chunk * CHUNK_NEURONS, n = many->problem->n, size = (end - first) * n;
    g_autoptr(LimnNeuronWork) work = limn_neuron_work_new(many->problem);
    g_autofree double *activations = g_new(double, size + 1);
    limn_neuron_gather(many->activations, many->neurons + first, end - first,
                       activations);
    for (gsize i = first; i < end; i++) {
        limn_neuron_explain(many->problem, many->options, activations + (i - first) * n,
                            many->q + i * many->problem->k, work, &many->explanations[i]);
    }
}

gboolean
limn_neuron_explain_many(const LimnNeuronProblem *problem,
                         const LimnNeuronOptions *options, const LimnArray *activations,
                         const guint32 *neurons, gsize count,
                         LimnNeuronExplanation *explanations, LimnJob *job,
                         GError **error)
{
    gint64 shape[2] = {(gint64) count, (gint64) problem->k};
    g_autoptr(LimnArray) q = limn_array_new(LIMN_DTYPE_F64, 2, shape, error);
    if (q == NULL || !limn_neuron_correlate(problem, activations, neurons, count,
                                            limn_array_f64(q), job, error)) {
        return FALSE;
    }
    Many many = {problem, options,           activations, neurons,
                 count,   limn_array_f64(q), explanations};
    limn_parallel_for(job, (count + CHUNK_NEURONS - 1) / CHUNK_NEURONS, explain_chunk,
                      &many);
    return limn_job_check(job, error);
}
