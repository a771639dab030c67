// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-report.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/model/neuron-csv.h"
#include "engine/model/neuron-report-tables.h"

#define STREAM_EXAMPLES ((guint64) 0x22 << 40)
#define MAX_PREDICTION_BYTES ((gint64) 8 << 30)
// Neurons whose activations are gathered together.
#define CHUNK_NEURONS ((gsize) 16)

const double limn_neuron_fractions[LIMN_NEURON_N_FRACTIONS] = {0.0003, 0.002, 0.005,
                                                               0.02,   0.1,   0.5};

struct LimnNeuronReport {
    LimnNeuronReportOptions options;
    LimnNeuronTables *tables;
    LimnArray *predictions; // f32 [neurons, n], or NULL
    gsize n_added;
    // The block computed last.
    guint32 *neurons;
    LimnNeuronResult *results;
    LimnNeuronExplanation *explanations;
    float *predicted; // [count, n] when predictions are wanted
    gsize count;
    LimnJob *job; // while it is computed
};

static void
clear_block(LimnNeuronReport *r)
{
    g_clear_pointer(&r->neurons, g_free);
    g_clear_pointer(&r->results, g_free);
    g_clear_pointer(&r->explanations, g_free);
    g_clear_pointer(&r->predicted, g_free);
    r->count = 0;
}

void
limn_neuron_report_free(LimnNeuronReport *r)
{
    if (r != NULL) {
        clear_block(r);
        g_clear_pointer(&r->predictions, limn_array_unref);
        limn_neuron_tables_free(r->tables);
        g_free(r);
    }
}

LimnNeuronReport *
limn_neuron_report_new(const LimnNeuronReportOptions *options, gsize n_neurons,
                       GError **error)
{
    g_autoptr(LimnNeuronReport) r = g_new0(LimnNeuronReport, 1);
    gint64 n = (gint64) options->problem->n;
    r->options = *options;
    if (options->wants_predictions) {
        if ((gint64) n_neurons > MAX_PREDICTION_BYTES / 4 / MAX(n, 1)) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                        "predictions=yes: %" G_GSIZE_FORMAT " neurons times "
                        "%" G_GINT64_FORMAT " pictures need more than %d GiB (expected "
                        "fewer units, or predictions=no)",
                        n_neurons, n, (int) (MAX_PREDICTION_BYTES >> 30));
            return NULL;
        }
        r->predictions = limn_array_new_f32_2d((gint64) n_neurons, n, error);
        if (r->predictions == NULL) {
            return NULL;
        }
    }
    r->tables = limn_neuron_tables_new(&r->options);
    return g_steal_pointer(&r);
}

// ---- one neuron

// Ranks [first, last] of the four strips; enough of each for small n.
static void
strip_ranks(gsize n, gsize *edges)
{
    static const double parts[LIMN_NEURON_N_STRIPS] = {0.0001, 0.001, 0.01, 0.1};
    edges[0] = 0;
    for (gsize s = 0; s < LIMN_NEURON_N_STRIPS; s++) {
        gsize edge = (gsize) (parts[s] * (double) n);
        edges[s + 1] = MIN(MAX(edge, edges[s] + 1), n);
    }
}

// Up to four different pictures of each strip, drawn from the seed.
static void
draw_examples(const LimnNeuronReport *r, guint32 neuron, const double *actual,
              LimnNeuronResult *result)
{
    gsize n = r->options.problem->n, edges[LIMN_NEURON_N_STRIPS + 1];
    g_autofree guint32 *order = g_new(guint32, n);
    LimnRng rng = limn_rng_make(r->options.seed, STREAM_EXAMPLES | neuron);
    limn_order_falling(actual, n, order);
    strip_ranks(n, edges);
    for (gsize s = 0; s < LIMN_NEURON_N_STRIPS; s++) {
        LimnNeuronStrip *strip = &result->strips[s];
        gsize size = edges[s + 1] - edges[s];
        strip->first = edges[s];
        strip->size = size;
        if (size == 0) {
            continue;
        }
        strip->high = actual[order[edges[s]]];
        strip->low = actual[order[edges[s + 1] - 1]];
        // The k-th smallest of four distinct ranks: draw without replacement, sorted.
        gsize wanted = MIN(size, LIMN_NEURON_N_EXAMPLES), taken = 0;
        for (gsize i = 0; i < size && taken < wanted; i++) {
            guint32 left = (guint32) (size - i);
            if (limn_rng_below(&rng, left) < wanted - taken) {
                strip->pictures[taken] = order[edges[s] + i];
                strip->activations[taken++] = actual[order[edges[s] + i]];
            }
        }
        strip->n_pictures = taken;
    }
}

// Correlation on test of one column of the matrix.
static double
correlate_column(const LimnNeuronReport *r, guint32 column, const double *actual)
{
    const LimnNeuronSplit *split = r->options.problem->split;
    const LimnArray *values = r->options.problem->values;
    gsize k = (gsize) values->shape[1];
    g_autofree double *x = g_new(double, split->n_test);
    g_autofree double *y = g_new(double, split->n_test);
    for (gsize i = 0; i < split->n_test; i++) {
        x[i] = limn_array_f32(values)[split->test[i] * k + column];
        y[i] = actual[split->test[i]];
    }
    return limn_pearson(x, y, split->n_test);
}

static void
score_baseline(const LimnNeuronReport *r, guint32 neuron, const double *actual,
               LimnNeuronResult *result)
{
    const LimnArray *d = r->options.dissection;
    result->baseline = -1;
    result->baseline_score = result->baseline_correlation = NAN;
    if (d == NULL || result->explanation.status == LIMN_NEURON_DEAD) {
        return;
    }
    gsize k = (gsize) d->shape[1];
    const double *row = limn_array_f64(d) + neuron * k;
    gsize best = 0;
    for (gsize j = 1; j < k; j++) {
        best = row[j] > row[best] ? j : best;
    }
    result->baseline = (gint64) best;
    result->baseline_score = row[best];
    result->baseline_correlation = correlate_column(r, (guint32) best, actual);
}

static void
score_with_head(const LimnNeuronReport *r, guint32 neuron, const double *actual,
                const double *predicted, LimnNeuronResult *result)
{
    const LimnNeuronSplit *split = r->options.problem->split;
    result->ablation = (LimnAblation){NAN, NAN, NAN, NAN};
    for (gsize f = 0; f < LIMN_NEURON_N_FRACTIONS; f++) {
        result->impact[f] = NAN;
    }
    if (r->options.head == NULL) {
        return;
    }
    limn_neuron_impact(r->options.head, neuron, actual, limn_neuron_fractions,
                       LIMN_NEURON_N_FRACTIONS, result->impact, r->job);
    if (result->explanation.status == LIMN_NEURON_EXPLAINED) {
        limn_neuron_ablate(r->options.head, neuron, actual, predicted,
                           result->explanation.val_correlation, split->val, split->n_val,
                           split->test, split->n_test, &r->options.ablation,
                           &result->ablation, r->job);
    }
}

static void
score_terms(const LimnNeuronReport *r, const LimnNeuronFormula *formula,
            const double *actual, LimnNeuronResult *result)
{
    for (gsize i = 0; i < formula->length; i++) {
        result->alone[i] = correlate_column(r, formula->columns[i], actual);
    }
    limn_neuron_bins(formula, r->options.problem->values, actual, LIMN_NEURON_N_BINS,
                     result->bins, result->percent);
}

static void
score_neuron(LimnNeuronReport *r, gsize i, const double *actual, double *predicted)
{
    const LimnNeuronProblem *problem = r->options.problem;
    LimnNeuronResult *result = &r->results[i];
    guint32 neuron = r->neurons[i];
    result->explanation = r->explanations[i];
    result->test_correlation = NAN;
    result->baseline = -1;
    result->baseline_score = result->baseline_correlation = NAN;
    if (result->explanation.status == LIMN_NEURON_NOT_FINITE) {
        return;
    }
    LimnNeuronFormula formula = {result->columns, result->explanation.weights,
                                 result->explanation.length, result->explanation.bias};
    for (gsize j = 0; j < formula.length; j++) {
        result->columns[j] = problem->columns[result->explanation.concepts[j]];
    }
    limn_neuron_predict(&formula, problem->values, predicted);
    if (r->predicted != NULL) {
        for (gsize p = 0; p < problem->n; p++) {
            r->predicted[i * problem->n + p] = (float) predicted[p];
        }
    }
    if (formula.length > 0) {
        result->test_correlation = limn_neuron_simulate(
            predicted, actual, problem->split->test, problem->split->n_test);
        score_terms(r, &formula, actual, result);
    }
    score_baseline(r, neuron, actual, result);
    score_with_head(r, neuron, actual, predicted, result);
    draw_examples(r, neuron, actual, result);
}

static void
score_chunk(gsize chunk, gpointer data)
{
    LimnNeuronReport *r = data;
    gsize first = chunk * CHUNK_NEURONS, end = MIN(first + CHUNK_NEURONS, r->count);
    gsize n = r->options.problem->n, size = (end - first) * n;
    g_autofree double *actual = g_new(double, size + 1);
    g_autofree double *predicted = g_new(double, n);
    limn_neuron_gather(r->options.inputs->activations, r->neurons + first, end - first,
                       actual);
    for (gsize i = first; i < end; i++) {
        score_neuron(r, i, actual + (i - first) * n, predicted);
    }
}

gboolean
limn_neuron_report_compute(LimnNeuronReport *r, const guint32 *neurons, gsize count,
                           LimnJob *job, GError **error)
{
    clear_block(r);
    r->neurons = g_memdup2(neurons, count * sizeof *neurons);
    r->results = g_new0(LimnNeuronResult, count);
    r->explanations = g_new0(LimnNeuronExplanation, count);
    r->count = count;
    if (r->predictions != NULL) {
        gsize size = count * r->options.problem->n;
        r->predicted = g_new0(float, size);
    }
    if (!limn_neuron_explain_many(r->options.problem, r->options.options,
                                  r->options.inputs->activations, neurons, count,
                                  r->explanations, job, error)) {
        return FALSE;
    }
    r->job = job;
    limn_parallel_for(job, (count + CHUNK_NEURONS - 1) / CHUNK_NEURONS, score_chunk, r);
    return limn_job_check(job, error);
}

static void
diagnose(const LimnNeuronReport *r, gsize i, LimnJob *job)
{
    const LimnNeuronInputs *inputs = r->options.inputs;
    if (r->results[i].explanation.status == LIMN_NEURON_NOT_FINITE) {
        gint64 at = limn_study_find_not_finite(inputs, r->neurons[i]);
        g_autofree char *picture = limn_study_dup_picture_name(inputs, MAX(at, 0));
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_WARNING, inputs->shown,
                          "unit %u was left out: its activation for %s is not finite",
                          r->neurons[i], picture);
    }
}

void
limn_neuron_report_add(LimnNeuronReport *r, gsize i, LimnJob *job)
{
    g_return_if_fail(i < r->count);
    diagnose(r, i, job);
    limn_neuron_tables_add(r->tables, r->neurons[i], &r->results[i]);
    if (r->predictions != NULL) {
        gsize n = r->options.problem->n;
        memcpy(limn_array_f32(r->predictions) + r->n_added * n, r->predicted + i * n,
               n * sizeof(float));
    }
    r->n_added++;
}

void
limn_neuron_report_finish(LimnNeuronReport *r, LimnRun *run)
{
    LimnArtifact *predictions = NULL;
    if (r->predictions != NULL) {
        r->predictions->shape[0] = (gint64) r->n_added;
        r->predictions->length = r->predictions->shape[0] * r->predictions->shape[1];
        predictions = limn_artifact_new_array("predictions", r->predictions);
        predictions->title = g_strdup(r->options.inputs->layer);
    }
    limn_neuron_tables_finish(r->tables, run, predictions);
}
