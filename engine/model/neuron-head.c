// SPDX-License-Identifier: GPL-3.0-or-later

// The classifier behind a layer: what happens to its loss when one neuron is replaced.

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/math/gemm.h"
#include "engine/math/statistics.h"
#include "engine/model/neuron-score.h"

// Pictures whose logits one chunk computes.
#define CHUNK_ROWS ((gsize) 128)

void
limn_neuron_head_free(LimnNeuronHead *head)
{
    if (head != NULL) {
        g_free(head->weight);
        g_free(head->logits);
        g_free(head->loss);
        g_free(head->right);
        g_clear_pointer(&head->label_array, limn_array_unref);
        g_free(head);
    }
}

// ---- one picture

// Cross-entropy of (logits + change * weight of the neuron) / temperature; *slope is its
// derivative in the change. neuron G_MAXSIZE: as they are.
static double
changed_loss(const LimnNeuronHead *head, gsize i, gsize neuron, double change,
             double *slope)
{
    const double *logits = head->logits + i * head->classes;
    gsize classes = head->classes, m = head->m;
    double largest = -INFINITY, sum = 0, mean = 0;
    gsize label = (gsize) head->labels[i];
    for (gsize c = 0; c < classes; c++) {
        largest = fmax(largest, logits[c] + change * head->weight[c * m + neuron]);
    }
    for (gsize c = 0; c < classes; c++) {
        double w = head->weight[c * m + neuron];
        double e = exp((logits[c] + change * w - largest) / head->temperature);
        sum += e;
        mean += e * w;
    }
    double w = head->weight[label * m + neuron];
    double own = logits[label] + change * w;
    if (slope != NULL) {
        *slope = (mean / sum - w) / head->temperature;
    }
    return log(sum) - (own - largest) / head->temperature;
}

static gboolean
changed_right(const LimnNeuronHead *head, gsize i, gsize neuron, double change)
{
    const double *logits = head->logits + i * head->classes;
    double best = -INFINITY;
    gsize found = 0;
    for (gsize c = 0; c < head->classes; c++) {
        double value = logits[c] + change * head->weight[c * head->m + neuron];
        if (value > best) {
            best = value;
            found = c;
        }
    }
    return (gint64) found == head->labels[i];
}

// ---- making it

typedef struct {
    LimnNeuronHead *head;
    const float *activations;
    const double *bias;
} Making;

static void
logits_chunk(gsize chunk, gpointer data)
{
    const Making *making = data;
    LimnNeuronHead *head = making->head;
    gsize first = chunk * CHUNK_ROWS, n = MIN(CHUNK_ROWS, head->n - first);
    gsize m = head->m, classes = head->classes, size = n * m;
    g_autofree double *rows = g_new(double, size + 1);
    for (gsize i = 0; i < size; i++) {
        rows[i] = making->activations[first * m + i];
    }
    double *logits = head->logits + first * classes;
    for (gsize i = 0; i < n; i++) {
        memcpy(logits + i * classes, making->bias, classes * sizeof *logits);
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int) n, (int) classes, (int) m,
                1, rows, (int) m, head->weight, (int) m, 1, logits, (int) classes);
    for (gsize i = first; i < first + n; i++) {
        head->loss[i] = changed_loss(head, i, 0, 0, NULL);
        head->right[i] = changed_right(head, i, 0, 0);
    }
}

static gboolean
check_sizes(const LimnArray *activations, const LimnArray *weight, const LimnArray *bias,
            const LimnArray *labels, GError **error)
{
    g_autofree char *a = limn_array_describe_shape(activations);
    g_autofree char *w = limn_array_describe_shape(weight);
    g_autofree char *b = limn_array_describe_shape(bias);
    g_autofree char *l = limn_array_describe_shape(labels);
    if (weight->rank != 2 || bias->rank != 1 || labels->rank != 1 ||
        weight->shape[1] != activations->shape[1] || weight->shape[0] < 1 ||
        bias->shape[0] != weight->shape[0] || labels->shape[0] != activations->shape[0]) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "the classifier does not fit the activations %s (found weight %s, "
                    "bias %s, labels %s; expected [classes, neurons], [classes], "
                    "[pictures])",
                    a, w, b, l);
        return FALSE;
    }
    for (gint64 i = 0; i < labels->length; i++) {
        gint64 label = limn_array_i64(labels)[i];
        if (label < 0 || label >= weight->shape[0]) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                        "the label of picture %" G_GINT64_FORMAT " is %" G_GINT64_FORMAT
                        " (expected 0 to %" G_GINT64_FORMAT ")",
                        i, label, weight->shape[0] - 1);
            return FALSE;
        }
    }
    return TRUE;
}

LimnNeuronHead *
limn_neuron_head_new(const LimnArray *activations, LimnArray *weight, LimnArray *bias,
                     LimnArray *labels, double temperature, LimnJob *job, GError **error)
{
    if (!check_sizes(activations, weight, bias, labels, error)) {
        return NULL;
    }
    g_autoptr(LimnArray) w = limn_array_to_f64(weight, error);
    g_autoptr(LimnArray) b = w != NULL ? limn_array_to_f64(bias, error) : NULL;
    g_autoptr(LimnNeuronHead) head = g_new0(LimnNeuronHead, 1);
    if (b == NULL) {
        return NULL;
    }
    head->n = (gsize) activations->shape[0];
    head->m = (gsize) activations->shape[1];
    head->classes = (gsize) weight->shape[0];
    head->label_array = limn_array_ref(labels);
    head->labels = limn_array_i64(labels);
    head->temperature = temperature;
    gsize size = head->n * head->classes;
    head->logits = g_try_new(double, size);
    head->weight = g_memdup2(limn_array_f64(w), (gsize) w->length * sizeof(double));
    head->loss = g_new0(double, head->n);
    head->right = g_new0(guint8, head->n);
    if (head->logits == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory for the logits of %" G_GSIZE_FORMAT
                    " pictures and %" G_GSIZE_FORMAT " classes",
                    head->n, head->classes);
        return NULL;
    }
    limn_blas_init();
    Making making = {head, limn_array_f32(activations), limn_array_f64(b)};
    limn_parallel_for(job, (head->n + CHUNK_ROWS - 1) / CHUNK_ROWS, logits_chunk,
                      &making);
    return limn_job_check(job, error) ? g_steal_pointer(&head) : NULL;
}

// ---- ablation

// Sum over rows of |loss with the neuron at replaced[i] - loss|; gradients in c and d
// when replaced = c predicted + d.
static double
sum_differences(const LimnNeuronHead *head, gsize neuron, const double *actual,
                const double *predicted, double c, double d, const guint32 *rows, gsize n,
                double *gradient)
{
    double sum = 0;
    for (gsize r = 0; r < n; r++) {
        gsize i = rows[r];
        double slope, change = c * predicted[i] + d - actual[i];
        double difference =
            changed_loss(head, i, neuron, change, gradient != NULL ? &slope : NULL) -
            head->loss[i];
        sum += fabs(difference);
        if (gradient != NULL && difference != 0) {
            double sign = difference > 0 ? 1 : -1;
            gradient[0] += sign * slope * predicted[i];
            gradient[1] += sign * slope;
        }
    }
    return sum;
}

// c and d by Adam from 1 and 0.
static void
optimise(const LimnNeuronHead *head, gsize neuron, const double *actual,
         const double *predicted, const guint32 *val, gsize n_val,
         const LimnAblationOptions *options, LimnAblation *ablation, LimnJob *job)
{
    const double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;
    double p[2] = {1, 0}, m[2] = {0, 0}, v[2] = {0, 0};
    for (int step = 1; step <= options->steps && !limn_job_is_cancelled(job); step++) {
        double g[2] = {0, 0};
        (void) sum_differences(head, neuron, actual, predicted, p[0], p[1], val, n_val,
                               g);
        for (int i = 0; i < 2; i++) {
            m[i] = beta1 * m[i] + (1 - beta1) * g[i];
            v[i] = beta2 * v[i] + (1 - beta2) * g[i] * g[i];
            double first = m[i] / (1 - pow(beta1, step));
            double second = v[i] / (1 - pow(beta2, step));
            p[i] -= options->rate * first / (sqrt(second) + eps);
        }
    }
    ablation->c = p[0];
    ablation->d = p[1];
}

static LimnDescription
describe_rows(const double *x, const guint32 *rows, gsize n)
{
    g_autofree double *part = g_new(double, MAX(n, 1));
    for (gsize i = 0; i < n; i++) {
        part[i] = x[rows[i]];
    }
    return limn_describe(part, n);
}

void
limn_neuron_ablate(const LimnNeuronHead *head, gsize neuron, const double *actual,
                   const double *predicted, double rho, const guint32 *val, gsize n_val,
                   const guint32 *test, gsize n_test, const LimnAblationOptions *options,
                   LimnAblation *ablation, LimnJob *job)
{
    LimnDescription on_val = describe_rows(actual, val, n_val);
    double base = sum_differences(head, neuron, actual, predicted, 0, on_val.mean, test,
                                  n_test, NULL);
    *ablation = (LimnAblation){NAN, NAN, 1, 0};
    if (!(base > 0)) {
        return;
    }
    LimnDescription p = describe_rows(predicted, test, n_test);
    if (isfinite(rho)) {
        // predicted, standardised on test, at the scale that rho justifies
        double c = p.std > 0 ? on_val.std * rho / p.std : 0;
        double d = on_val.mean - c * p.mean;
        ablation->norm = 1 - sum_differences(head, neuron, actual, predicted, c, d, test,
                                             n_test, NULL) /
                                 base;
    }
    if (options->steps > 0) {
        optimise(head, neuron, actual, predicted, val, n_val, options, ablation, job);
        ablation->optim =
            1 - sum_differences(head, neuron, actual, predicted, ablation->c, ablation->d,
                                test, n_test, NULL) /
                    base;
    }
}

// ---- impact

void
limn_neuron_impact(const LimnNeuronHead *head, gsize neuron, const double *actual,
                   const double *fractions, gsize n_fractions, double *parts,
                   LimnJob *job)
{
    gsize n = head->n;
    g_autofree double *impact = g_new0(double, MAX(n, 1));
    g_autofree guint32 *order = g_new(guint32, MAX(n, 1));
    double total_right = 0, total_loss = 0, total = 0, sum = 0;
    for (gsize i = 0; i < n; i++) {
        total_right += head->right[i];
        total_loss += head->loss[i];
    }
    for (gsize i = 0; i < n && (i % 256 != 0 || !limn_job_is_cancelled(job)); i++) {
        double right = changed_right(head, i, neuron, -actual[i]);
        double loss = changed_loss(head, i, neuron, -actual[i], NULL);
        double by_right =
            total_right > 0 ? ((double) head->right[i] - right) / total_right : 0;
        double by_loss = total_loss > 0 ? (head->loss[i] - loss) / total_loss : 0;
        impact[i] = fabs((by_right - by_loss) / 2);
        total += impact[i];
    }
    limn_order_falling(actual, n, order);
    for (gsize f = 0; f < n_fractions; f++) {
        parts[f] = NAN;
    }
    for (gsize r = 0; r < n && total > 0; r++) {
        sum += impact[order[r]];
        for (gsize f = 0; f < n_fractions; f++) {
            gsize rank = MIN((gsize) (fractions[f] * (double) n), n - 1);
            if (rank == r) {
                parts[f] = sum / total;
            }
        }
    }
}
