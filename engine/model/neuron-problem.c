// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-problem.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/math/columns.h"

#define STREAM_SPLIT ((guint64) 0x21 << 40)
// Concepts whose val part is copied by one chunk.
#define COPIED ((gsize) 32)

// ---- split

static gint
compare_indices(gconstpointer a, gconstpointer b)
{
    guint32 x = *(const guint32 *) a, y = *(const guint32 *) b;
    return (x > y) - (x < y);
}

static guint32 *
sorted_part(const guint32 *order, gsize n)
{
    guint32 *part = g_new(guint32, MAX(n, 1));
    memcpy(part, order, n * sizeof *part);
    qsort(part, n, sizeof *part, compare_indices);
    return part;
}

LimnNeuronSplit *
limn_neuron_split_new(gsize n, guint64 seed)
{
    LimnNeuronSplit *split = g_new0(LimnNeuronSplit, 1);
    LimnRng rng = limn_rng_make(seed, STREAM_SPLIT);
    g_autofree guint32 *order = g_new(guint32, MAX(n, 1));
    limn_rng_permutation(&rng, (guint32) n, order);
    split->n = n;
    split->n_train = n * 7 / 10;
    split->n_val = n / 10;
    split->n_test = n - split->n_train - split->n_val;
    split->train = sorted_part(order, split->n_train);
    split->val = sorted_part(order + split->n_train, split->n_val);
    split->test = sorted_part(order + split->n_train + split->n_val, split->n_test);
    return split;
}

static guint32 *
read_part(gsize n, const LimnArray *list, const char *name, guint8 *taken, gsize *length,
          GError **error)
{
    if (list->dtype != LIMN_DTYPE_I64 || list->rank != 1 || list->length < 2) {
        g_autofree char *shape = limn_array_describe_shape(list);
        g_set_error(
            error, LIMN_ERROR, LIMN_ERROR_FORMAT,
            "%s is not a list of pictures (found %s %s, expected i64 [2 or more])", name,
            limn_dtype_name(list->dtype), shape);
        return NULL;
    }
    g_autofree guint32 *part = g_new(guint32, list->length);
    for (gint64 i = 0; i < list->length; i++) {
        gint64 index = limn_array_i64(list)[i];
        if (index < 0 || index >= (gint64) n || taken[index]) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                        "%s: picture %" G_GINT64_FORMAT
                        " is out of range or occurs twice (expected 0 to %" G_GSIZE_FORMAT
                        ", each once)",
                        name, index, n - 1);
            return NULL;
        }
        taken[index] = TRUE;
        part[i] = (guint32) index;
    }
    *length = (gsize) list->length;
    return sorted_part(part, *length);
}

LimnNeuronSplit *
limn_neuron_split_from_lists(gsize n, const LimnArray *train, const LimnArray *val,
                             const LimnArray *test, GError **error)
{
    g_autoptr(LimnNeuronSplit) split = g_new0(LimnNeuronSplit, 1);
    g_autofree guint8 *taken = g_new0(guint8, MAX(n, 1));
    split->n = n;
    split->train = read_part(n, train, "train_ids", taken, &split->n_train, error);
    if (split->train == NULL) {
        return NULL;
    }
    split->val = read_part(n, val, "val_ids", taken, &split->n_val, error);
    if (split->val == NULL) {
        return NULL;
    }
    split->test = read_part(n, test, "test_ids", taken, &split->n_test, error);
    return split->test != NULL ? g_steal_pointer(&split) : NULL;
}

void
limn_neuron_split_free(LimnNeuronSplit *split)
{
    if (split != NULL) {
        g_free(split->train);
        g_free(split->val);
        g_free(split->test);
        g_free(split);
    }
}

// ---- the shared moments

static LimnColumns
part_of_values(const LimnNeuronProblem *p, const guint32 *rows, gsize n)
{
    return (LimnColumns){.x = limn_array_f32(p->values),
                         .stride = (gsize) p->values->shape[1],
                         .rows = rows,
                         .n = n,
                         .columns = p->columns,
                         .k = p->k};
}

static void
copy_val_chunk(gsize chunk, gpointer data)
{
    const LimnNeuronProblem *p = data;
    const LimnNeuronSplit *split = p->split;
    gsize begin = chunk * COPIED, end = MIN(begin + COPIED, p->k);
    gsize stride = (gsize) p->values->shape[1];
    for (gsize i = 0; i < split->n_val; i++) {
        const float *row = limn_array_f32(p->values) + split->val[i] * stride;
        for (gsize j = begin; j < end; j++) {
            limn_array_f32(p->val)[j * split->n_val + i] = row[p->columns[j]];
        }
    }
}

static void
describe_val(LimnNeuronProblem *p, LimnJob *job)
{
    LimnColumns val = part_of_values(p, p->split->val, p->split->n_val);
    limn_columns_describe(job, &val, p->val_mean, p->val_square);
    for (gsize j = 0; j < p->k; j++) {
        double std = p->val_square[j];
        p->val_square[j] = std * std * (double) (p->split->n_val - 1);
    }
}

static gboolean
compute_gram(LimnNeuronProblem *p, LimnJob *job, GError **error)
{
    const LimnNeuronSplit *split = p->split;
    LimnColumns train = part_of_values(p, split->train, split->n_train);
    limn_columns_describe(job, &train, p->mean, p->std);
    for (gsize j = 0; j < p->k; j++) {
        p->scale[j] = p->std[j] > 0 ? 1 / p->std[j] : 0;
    }
    train.offset = p->mean;
    train.scale = p->scale;
    limn_columns_gram(job, &train, 1 / (double) split->n_train, limn_array_f64(p->gram));
    return limn_job_check(job, error);
}

LimnNeuronProblem *
limn_neuron_problem_new(LimnArray *values, const guint32 *columns, gsize k,
                        const LimnNeuronSplit *split, LimnJob *job, GError **error)
{
    g_autoptr(LimnNeuronProblem) p = g_new0(LimnNeuronProblem, 1);
    p->n = (gsize) values->shape[0];
    p->k = k;
    p->columns = g_memdup2(columns, k * sizeof *columns);
    p->values = limn_array_ref(values);
    p->split = split;
    double **lists[] = {&p->mean, &p->std, &p->scale, &p->val_mean, &p->val_square};
    for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
        *lists[i] = g_new0(double, MAX(k, 1));
    }
    gint64 square[2] = {(gint64) k, (gint64) k};
    p->gram = limn_array_new(LIMN_DTYPE_F64, 2, square, error);
    p->val = p->gram != NULL
                 ? limn_array_new_f32_2d((gint64) k, (gint64) split->n_val, error)
                 : NULL;
    if (p->val == NULL) {
        return NULL;
    }
    limn_parallel_for(job, (k + COPIED - 1) / COPIED, copy_val_chunk, p);
    describe_val(p, job);
    return compute_gram(p, job, error) ? g_steal_pointer(&p) : NULL;
}

void
limn_neuron_problem_free(LimnNeuronProblem *p)
{
    if (p == NULL) {
        return;
    }
    g_free(p->columns);
    g_clear_pointer(&p->values, limn_array_unref);
    g_free(p->mean);
    g_free(p->std);
    g_free(p->scale);
    g_clear_pointer(&p->gram, limn_array_unref);
    g_clear_pointer(&p->val, limn_array_unref);
    g_free(p->val_mean);
    g_free(p->val_square);
    g_free(p);
}

gboolean
limn_neuron_correlate(const LimnNeuronProblem *p, const LimnArray *activations,
                      const guint32 *neurons, gsize count, double *q, LimnJob *job,
                      GError **error)
{
    const LimnNeuronSplit *split = p->split;
    g_autofree double *mean = g_new0(double, count), *std = g_new0(double, count);
    LimnColumns targets = {.x = limn_array_f32(activations),
                           .stride = (gsize) activations->shape[1],
                           .rows = split->train,
                           .n = split->n_train,
                           .columns = neurons,
                           .k = count};
    limn_columns_describe(job, &targets, mean, std);
    targets.offset = mean;
    LimnColumns concepts = part_of_values(p, split->train, split->n_train);
    concepts.offset = p->mean;
    concepts.scale = p->scale;
    limn_columns_product(job, &targets, &concepts, 1 / (double) split->n_train, q);
    return limn_job_check(job, error);
}

void
limn_neuron_gather(const LimnArray *activations, const guint32 *neurons, gsize count,
                   double *out)
{
    gsize n = (gsize) activations->shape[0], m = (gsize) activations->shape[1];
    for (gsize i = 0; i < n; i++) {
        const float *row = limn_array_f32(activations) + i * m;
        for (gsize c = 0; c < count; c++) {
            out[c * n + i] = row[neurons[c]];
        }
    }
}
