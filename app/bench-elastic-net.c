// SPDX-License-Identifier: GPL-3.0-or-later

// The ranking of 800 concepts for 1000 neurons over 10000 pictures: one shared Gram
// matrix against the plain loop, which passes over the pictures for every weight. The
// plain loop is timed on few neurons and its time is multiplied.

#include <string.h>
#include <sys/resource.h>

#include "app/bench.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/model/neuron-fit.h"

#define PICTURES 10000
#define CONCEPTS 800
#define NEURONS 1000
#define PLAIN_NEURONS 2
#define BLOCK 250

typedef struct {
    LimnJob *job;
    LimnArray *values, *activations;
    LimnNeuronSplit *split; // of which all pictures are train pictures
    LimnNeuronOptions options;
    LimnNeuronProblem *problem; // for the plain loop
    double *columns;            // [CONCEPTS][PICTURES] standardised
    double worst;               // largest difference of a weight
} Bench;

static void
bench_clear(Bench *b)
{
    g_clear_pointer(&b->values, limn_array_unref);
    g_clear_pointer(&b->activations, limn_array_unref);
    limn_neuron_problem_free(b->problem);
    limn_neuron_split_free(b->split);
    g_free(b->columns);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Bench, bench_clear)

// Concepts that are rarely present, in groups that go together; neurons that look for
// three of them.
static gboolean
make_data(Bench *b, GError **error)
{
    b->values = limn_array_new_f32_2d(PICTURES, CONCEPTS, error);
    b->activations =
        b->values != NULL ? limn_array_new_f32_2d(PICTURES, NEURONS, error) : NULL;
    if (b->activations == NULL) {
        return FALSE;
    }
    LimnRng rng = limn_rng_make(17, 1);
    for (gsize i = 0; i < PICTURES; i++) {
        float *p = limn_array_f32(b->values) + i * CONCEPTS;
        float *a = limn_array_f32(b->activations) + i * NEURONS;
        for (gsize j = 0; j < CONCEPTS; j++) {
            float u = limn_rng_uniform(&rng), near = j % 8 > 0 ? p[j - 1] : 0;
            p[j] = 0.7f * u * u * u * u * u * u + 0.3f * near;
        }
        for (gsize k = 0; k < NEURONS; k++) {
            float sum = 2 * p[k % CONCEPTS] + p[(7 * k + 3) % CONCEPTS] +
                        1.5f * p[(11 * k + 5) % CONCEPTS];
            a[k] = MAX(sum + 0.2f * limn_rng_normal(&rng), 0);
        }
    }
    return TRUE;
}

// All pictures for the fit: what the other parts cost is not measured here.
static LimnNeuronSplit *
split_for_train(void)
{
    LimnNeuronSplit *split = g_new0(LimnNeuronSplit, 1);
    split->n = split->n_train = PICTURES;
    split->n_val = split->n_test = 2;
    split->train = g_new(guint32, PICTURES);
    split->val = g_new0(guint32, 2);
    split->test = g_new0(guint32, 2);
    for (guint32 i = 0; i < PICTURES; i++) {
        split->train[i] = i;
    }
    split->val[1] = split->test[1] = 1;
    return split;
}

static LimnNeuronProblem *
make_problem(Bench *b, GError **error)
{
    guint32 columns[CONCEPTS];
    for (guint32 j = 0; j < CONCEPTS; j++) {
        columns[j] = j;
    }
    return limn_neuron_problem_new(b->values, columns, CONCEPTS, b->split, b->job, error);
}

// Standardised columns one after another, for the plain loop.
static void
make_columns(Bench *b)
{
    gsize size = (gsize) PICTURES * CONCEPTS;
    b->columns = g_new(double, size);
    for (gsize j = 0; j < CONCEPTS; j++) {
        for (gsize i = 0; i < PICTURES; i++) {
            double value = limn_array_f32(b->values)[i * CONCEPTS + j];
            b->columns[j * PICTURES + i] =
                (value - b->problem->mean[j]) * b->problem->scale[j];
        }
    }
}

typedef struct {
    Bench *bench;
    const LimnNeuronProblem *problem;
    const double *q;
    gsize first;
    double *weights; // [CONCEPTS] of each of the first PLAIN_NEURONS neurons
} Block;

static void
rank_neuron(gsize i, gpointer data)
{
    const Block *block = data;
    LimnNeuronTarget target;
    LimnNeuronRanking ranking;
    g_autoptr(LimnNeuronWork) work = limn_neuron_work_new(block->problem);
    guint32 neuron = (guint32) (block->first + i);
    g_autofree double *activations = g_new(double, PICTURES);
    limn_neuron_gather(block->bench->activations, &neuron, 1, activations);
    if (!limn_neuron_set_target(block->problem, &block->bench->options, activations,
                                block->q + i * CONCEPTS, work, &target)) {
        return;
    }
    limn_neuron_rank(block->problem, &block->bench->options, &target, work, &ranking);
    if (block->first + i < PLAIN_NEURONS && block->weights != NULL) {
        memcpy(block->weights + (block->first + i) * CONCEPTS, work->weights,
               CONCEPTS * sizeof(double));
    }
}

static gboolean
rank_all(Bench *b, double *weights, GError **error)
{
    g_autoptr(LimnNeuronProblem) problem = make_problem(b, error);
    g_autofree double *q = g_new(double, BLOCK *CONCEPTS);
    guint32 neurons[BLOCK];
    for (gsize first = 0; problem != NULL && first < NEURONS; first += BLOCK) {
        for (gsize i = 0; i < BLOCK; i++) {
            neurons[i] = (guint32) (first + i);
        }
        if (!limn_neuron_correlate(problem, b->activations, neurons, BLOCK, q, b->job,
                                   error)) {
            return FALSE;
        }
        Block block = {b, problem, q, first, weights};
        limn_parallel_for(b->job, BLOCK, rank_neuron, &block);
    }
    return problem != NULL && limn_job_check(b->job, error);
}

static gboolean
run_shared(gpointer data, GError **error)
{
    return rank_all(data, NULL, error);
}

// A neuron's activations, standardised and centred.
static void
make_residual(const Bench *b, gsize neuron, double *residual)
{
    for (gsize i = 0; i < PICTURES; i++) {
        residual[i] = limn_array_f32(b->activations)[i * NEURONS + neuron];
    }
    LimnDescription d = limn_describe(residual, PICTURES);
    for (gsize i = 0; i < PICTURES; i++) {
        residual[i] = (residual[i] - d.mean) / d.std;
    }
}

static void
rank_plainly(const Bench *b, gsize neuron, double *weights)
{
    g_autofree double *residual = g_new(double, PICTURES);
    make_residual(b, neuron, residual);
    memset(weights, 0, CONCEPTS * sizeof *weights);
    (void) limn_elastic_net_solve_plain(PICTURES, CONCEPTS, b->columns, b->options.l1,
                                        b->options.l2, 1e-10, 10000, residual, weights);
}

static gboolean
run_plain(gpointer data, GError **error)
{
    const Bench *b = data;
    double weights[CONCEPTS];
    for (gsize neuron = 0; neuron < PLAIN_NEURONS; neuron++) {
        rank_plainly(b, neuron, weights);
    }
    return TRUE;
}

static gboolean
find_difference(Bench *b, GError **error)
{
    g_autofree double *shared = g_new0(double, PLAIN_NEURONS *CONCEPTS);
    double plain[CONCEPTS];
    if (!rank_all(b, shared, error)) {
        return FALSE;
    }
    for (gsize neuron = 0; neuron < PLAIN_NEURONS; neuron++) {
        rank_plainly(b, neuron, plain);
        for (gsize j = 0; j < CONCEPTS; j++) {
            double difference = plain[j] - shared[neuron * CONCEPTS + j];
            b->worst = MAX(b->worst, ABS(difference));
        }
    }
    return TRUE;
}

static void
scale_stat(LimnBenchStat *stat, double factor)
{
    stat->median *= factor;
    stat->low *= factor;
    stat->high *= factor;
}

static gboolean
run_elastic_net(LimnBenchRun *run, GError **error)
{
    g_auto(Bench) bench = {.job = run->job};
    limn_neuron_options_init(&bench.options);
    bench.split = split_for_train();
    if (!make_data(&bench, error)) {
        return FALSE;
    }
    bench.problem = make_problem(&bench, error);
    if (bench.problem == NULL) {
        return FALSE;
    }
    make_columns(&bench);
    if (!find_difference(&bench, error)) {
        return FALSE;
    }
    LimnBenchResult *result = limn_bench_add(
        run, "1000 neurons, 800 concepts, 10000 pictures", "s", "plain loop, one thread");
    result->ratio_name = "times faster";
    if (!limn_bench_compare(run, result, run_shared, run_plain, &bench, error)) {
        return FALSE;
    }
    double neurons = (double) NEURONS / PLAIN_NEURONS;
    scale_stat(&result->stat, 1e-3);
    scale_stat(&result->compared, 1e-3 * neurons);
    result->ratio *= neurons;
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    result->note = g_strdup_printf(
        "the plain loop was timed on %d neurons and multiplied; weights differ by at "
        "most "
        "%.1e; matrices %d MB (concepts and activations), shared moments %d MB, columns "
        "of the plain loop %d MB, peak of the program %ld MB",
        PLAIN_NEURONS, bench.worst, PICTURES * (CONCEPTS + NEURONS) / 250000,
        CONCEPTS * (CONCEPTS + BLOCK) / 125000, PICTURES * CONCEPTS / 125000,
        usage.ru_maxrss / 1024);
    return TRUE;
}

const LimnBenchmark limn_bench_elastic_net = {
    .id = "elastic-net",
    .title = "ranking of concepts for many neurons",
    .run = run_elastic_net,
};
