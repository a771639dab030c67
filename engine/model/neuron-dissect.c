// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-dissect.h"

#include <math.h>
#include <string.h>

#include "engine/base/parallel.h"
#include "engine/math/columns.h"
#include "engine/math/statistics.h"

#define CHUNK_ROWS ((gsize) 256)
#define CHUNK_CONCEPTS ((gsize) 64)

void
limn_dissect_options_init(LimnDissectOptions *options, LimnDissectKind kind)
{
    *options = (LimnDissectOptions){
        .kind = kind,
        .top = kind == LIMN_DISSECT_WPMI ? 28 : 100,
        .scale = kind == LIMN_DISSECT_WPMI ? 2 : 10,
        .p_first = 0.998,
        .p_drop = 0.028,
        .lambda = kind == LIMN_DISSECT_WPMI ? 0.6 : 1,
        .eps = 1e-7,
        .smallest = 1e-3,
    };
}

typedef struct {
    const LimnDissectOptions *options;
    const LimnArray *similarities, *activations;
    gsize n, k, m;
    double *log_sum; // [n] of exp(scale * similarity) over the concepts
    double *out;     // [m,k]
} Dissection;

// ---- (soft) weighted pointwise mutual information

static void
log_sum_chunk(gsize chunk, gpointer data)
{
    const Dissection *d = data;
    for (gsize i = chunk * CHUNK_ROWS; i < MIN((chunk + 1) * CHUNK_ROWS, d->n); i++) {
        const float *row = limn_array_f32(d->similarities) + i * d->k;
        double largest = -INFINITY, sum = 0;
        for (gsize j = 0; j < d->k; j++) {
            largest = fmax(largest, d->options->scale * row[j]);
        }
        for (gsize j = 0; j < d->k; j++) {
            sum += exp(d->options->scale * row[j] - largest);
        }
        d->log_sum[i] = largest + log(sum);
    }
}

static void
add_picture(const Dissection *d, gsize picture, double p, double *out)
{
    const float *row = limn_array_f32(d->similarities) + picture * d->k;
    for (gsize j = 0; j < d->k; j++) {
        double s = exp(d->options->scale * row[j] - d->log_sum[picture]);
        out[j] += log(d->options->kind == LIMN_DISSECT_SOFT_WPMI
                          ? 1 + p * (s - 1) + d->options->eps
                          : s + d->options->eps);
    }
}

static void
neuron_chunk(gsize neuron, gpointer data)
{
    const Dissection *d = data;
    g_autofree double *values = g_new(double, d->n);
    g_autofree guint32 *order = g_new(guint32, d->n);
    double *out = d->out + neuron * d->k;
    for (gsize i = 0; i < d->n; i++) {
        values[i] = limn_array_f32(d->activations)[i * d->m + neuron];
    }
    limn_order_falling(values, d->n, order);
    memset(out, 0, d->k * sizeof *out);
    for (gsize r = 0; r < (gsize) d->options->top && r < d->n; r++) {
        double p = d->options->p_first -
                   (double) r / (double) d->options->top * d->options->p_drop;
        add_picture(d, order[r], p, out);
    }
}

// Subtracts lambda times the log of the mean of exp(L) over the neurons.
static void
relative_chunk(gsize chunk, gpointer data)
{
    const Dissection *d = data;
    gsize end = MIN((chunk + 1) * CHUNK_CONCEPTS, d->k);
    for (gsize j = chunk * CHUNK_CONCEPTS; j < end; j++) {
        double largest = -INFINITY, sum = 0;
        for (gsize i = 0; i < d->m; i++) {
            largest = fmax(largest, d->out[i * d->k + j]);
        }
        for (gsize i = 0; i < d->m; i++) {
            sum += exp(d->out[i * d->k + j] - largest);
        }
        double common = largest + log(sum / (double) d->m);
        for (gsize i = 0; i < d->m; i++) {
            d->out[i * d->k + j] -= d->options->lambda * common;
        }
    }
}

static void
dissect_by_information(Dissection *d, LimnJob *job)
{
    g_autofree double *log_sum = g_new(double, d->n);
    d->log_sum = log_sum;
    limn_parallel_for(job, (d->n + CHUNK_ROWS - 1) / CHUNK_ROWS, log_sum_chunk, d);
    limn_parallel_for(job, d->m, neuron_chunk, d);
    limn_parallel_for(job, (d->k + CHUNK_CONCEPTS - 1) / CHUNK_CONCEPTS, relative_chunk,
                      d);
    d->log_sum = NULL;
}

// ---- cosines between columns

typedef struct {
    const LimnColumns *columns;
    double smallest;
    double *scale;
} Norms;

// 1 / norm of the columns, as they will be multiplied.
static void
norm_chunk(gsize column, gpointer data)
{
    const Norms *norms = data;
    const LimnColumns *c = norms->columns;
    double offset = c->offset != NULL ? c->offset[column] : 0, square = 0;
    for (gsize i = 0; i < c->n; i++) {
        double value = c->x[i * c->stride + column] - offset;
        value = c->cubed ? value * value * value : value;
        square += value * value;
    }
    norms->scale[column] = 1 / fmax(sqrt(square), norms->smallest);
}

static void
dissect_by_cosine(Dissection *d, LimnJob *job)
{
    gboolean cubed = d->options->kind == LIMN_DISSECT_COSINE_CUBED;
    g_autofree double *mean_a = g_new(double, d->m), *mean_b = g_new(double, d->k);
    g_autofree double *norm_a = g_new(double, d->m), *norm_b = g_new(double, d->k);
    LimnColumns a = {.x = limn_array_f32(d->activations),
                     .stride = d->m,
                     .n = d->n,
                     .k = d->m,
                     .cubed = cubed};
    LimnColumns b = {.x = limn_array_f32(d->similarities),
                     .stride = d->k,
                     .n = d->n,
                     .k = d->k,
                     .cubed = cubed};
    limn_columns_describe(job, &a, mean_a, norm_a);
    limn_columns_describe(job, &b, mean_b, norm_b);
    if (cubed) {
        a.offset = mean_a;
        b.offset = mean_b;
    }
    Norms of_a = {&a, d->options->smallest, norm_a};
    Norms of_b = {&b, d->options->smallest, norm_b};
    limn_parallel_for(job, d->m, norm_chunk, &of_a);
    limn_parallel_for(job, d->k, norm_chunk, &of_b);
    limn_columns_product(job, &a, &b, 1, d->out);
    for (gsize i = 0; i < d->m; i++) {
        for (gsize j = 0; j < d->k; j++) {
            d->out[i * d->k + j] *= norm_a[i] * norm_b[j];
        }
    }
}

LimnArray *
limn_dissect(const LimnArray *similarities, const LimnArray *activations,
             const LimnDissectOptions *options, LimnJob *job, GError **error)
{
    gint64 shape[2] = {activations->shape[1], similarities->shape[1]};
    g_autoptr(LimnArray) out = limn_array_new(LIMN_DTYPE_F64, 2, shape, error);
    if (out == NULL) {
        return NULL;
    }
    Dissection d = {.options = options,
                    .similarities = similarities,
                    .activations = activations,
                    .n = (gsize) similarities->shape[0],
                    .k = (gsize) similarities->shape[1],
                    .m = (gsize) activations->shape[1],
                    .out = limn_array_f64(out)};
    if (out->length > 0 && d.n > 0) {
        if (options->kind == LIMN_DISSECT_SOFT_WPMI ||
            options->kind == LIMN_DISSECT_WPMI) {
            dissect_by_information(&d, job);
        } else {
            dissect_by_cosine(&d, job);
        }
    }
    return limn_job_check(job, error) ? g_steal_pointer(&out) : NULL;
}
