// SPDX-License-Identifier: GPL-3.0-or-later

// METHOD neuron_explanations: every folder with inputs.safetensors, expected.safetensors
// and expected.json is a case.

#include <math.h>
#include <string.h>

#include "app/golden-neuron-case.h"
#include "engine/base/number.h"
#include "engine/math/symmetric.h"

// ---- comparing

static void
compare(LimnNeuronCase *c, const char *name, const LimnArray *x, LimnTolerance tolerance)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) expected = limn_safetensors_get(c->expected, name, &error);
    if (expected == NULL) {
        limn_golden_fail_error(c->golden, name, &error);
    } else {
        limn_golden_compare(c->golden, name, expected, x, tolerance);
    }
}

static void
compare_list(LimnNeuronCase *c, const char *name, const double *x, gsize n,
             LimnTolerance tolerance)
{
    g_autoptr(GError) error = NULL;
    gint64 shape = (gint64) n;
    g_autoptr(LimnArray) array = limn_array_new(LIMN_DTYPE_F64, 1, &shape, &error);
    if (array == NULL) {
        limn_golden_fail_error(c->golden, name, &error);
        return;
    }
    memcpy(array->data, x, n * sizeof *x);
    compare(c, name, array, tolerance);
}

// Numbers of a JSON list (null = undefined) or a single number (rank 0) as f64.
static LimnArray *
array_from_json(json_t *value)
{
    gint64 n = json_is_array(value) ? (gint64) json_array_size(value) : 1;
    LimnArray *array =
        limn_array_new(LIMN_DTYPE_F64, json_is_array(value) ? 1 : 0, &n, NULL);
    for (gint64 i = 0; array != NULL && i < n; i++) {
        json_t *item = json_is_array(value) ? json_array_get(value, (gsize) i) : value;
        if (!json_is_number(item) && !json_is_null(item)) {
            g_clear_pointer(&array, limn_array_unref);
            break;
        }
        limn_array_f64(array)[i] = json_is_null(item) ? NAN : json_number_value(item);
    }
    return array;
}

// Member `key` of an object against x [n]; n = G_MAXSIZE: against the number *x.
static void
compare_json(LimnNeuronCase *c, const char *where, json_t *object, const char *key,
             const double *x, gsize n, LimnTolerance tolerance)
{
    g_autofree char *name = g_strconcat(where, "/", key, NULL);
    json_t *value = json_object_get(object, key);
    gboolean single = n == G_MAXSIZE;
    gint64 shape = single ? 1 : (gint64) n;
    g_autoptr(LimnArray) expected = value != NULL ? array_from_json(value) : NULL;
    g_autoptr(LimnArray) array =
        limn_array_new(LIMN_DTYPE_F64, single ? 0 : 1, &shape, NULL);
    if (value == NULL || expected == NULL || array == NULL) {
        limn_golden_fail(c->golden, name,
                         value == NULL ? "missing key" : "not a list of numbers");
        return;
    }
    memcpy(array->data, x, (gsize) array->length * sizeof *x);
    limn_golden_compare(c->golden, name, expected, array, tolerance);
}

// The list `key` with one object per neuron; NULL after FAIL.
static json_t *
need_list(LimnNeuronCase *c, const char *key, gsize n)
{
    json_t *list = json_object_get(c->json, key);
    if (list == NULL || !json_is_array(list) || json_array_size(list) != n) {
        limn_golden_fail(c->golden, key,
                         list == NULL ? "missing key"
                                      : "not a list of %" G_GSIZE_FORMAT " entries",
                         n);
        return NULL;
    }
    return list;
}

// ---- concept matrix and stage 1

static void
check_concepts(LimnNeuronCase *c)
{
    g_autoptr(GError) error = NULL;
    gint64 k = c->p->shape[1];
    g_autoptr(LimnArray) mask = limn_array_new(LIMN_DTYPE_U8, 1, &k, &error);
    if (mask == NULL) {
        limn_golden_fail_error(c->golden, "active_mask", &error);
        return;
    }
    memcpy(mask->data, c->choice->mask, (gsize) k);
    compare(c, "active_mask", mask, LIMN_EXACT);
    compare_list(c, "top5_mean", c->choice->top_mean, (gsize) k, LIMN_ABS(1e-6));
}

// The first columns of P from the embeddings.
static void
check_embeddings(LimnNeuronCase *c)
{
    g_autoptr(GError) error = NULL;
    double slope = 0, offset = 0;
    gint64 columns = 0, k = c->p->shape[1];
    if (limn_safetensors_find(c->inputs, "image_embeds") == NULL &&
        limn_safetensors_find(c->inputs, "text_embeds") == NULL &&
        !limn_json_has(&c->options, "columns_from_embeddings")) {
        return;
    }
    g_autoptr(LimnArray) images =
        limn_neuron_case_read_input(c, "image_embeds", LIMN_DTYPE_F32, 2, &error);
    g_autoptr(LimnArray) texts =
        images ? limn_neuron_case_read_input(c, "text_embeds", LIMN_DTYPE_F32, 2, &error)
               : NULL;
    g_autoptr(LimnArray) cosines =
        texts ? limn_concepts_cosines(images, texts, c->job, &error) : NULL;
    if (cosines == NULL ||
        !limn_json_need_double(&c->options, "sigmoid_a", -1e6, 1e6, &slope, &error) ||
        !limn_json_need_double(&c->options, "sigmoid_b", -1e6, 1e6, &offset, &error) ||
        !limn_json_need_int(&c->options, "columns_from_embeddings", 0,
                            MIN(k, cosines->shape[1]), &columns, &error)) {
        limn_golden_fail_error(c->golden, "columns_from_embeddings", &error);
        return;
    }
    g_autoptr(LimnArray) values =
        limn_concepts_sigmoid(cosines, slope, offset, c->job, &error);
    gint64 shape[2] = {(gint64) c->n, columns};
    g_autoptr(LimnArray) given = limn_array_new(LIMN_DTYPE_F32, 2, shape, &error);
    g_autoptr(LimnArray) made =
        given ? limn_array_new(LIMN_DTYPE_F32, 2, shape, &error) : NULL;
    if (values == NULL || made == NULL || values->shape[0] != (gint64) c->n) {
        limn_golden_fail(c->golden, "columns_from_embeddings", "wrong size");
        return;
    }
    for (gint64 i = 0; i < (gint64) c->n * columns; i++) {
        gint64 row = i / columns, j = i % columns;
        limn_array_f32(given)[i] = limn_array_f32(c->p)[row * k + j];
        limn_array_f32(made)[i] = limn_array_f32(values)[row * values->shape[1] + j];
    }
    limn_golden_compare(c->golden, "columns_from_embeddings", given, made,
                        LIMN_ABS(1e-6));
}

static gboolean
allocate(LimnNeuronCase *c, GError **error)
{
    gint64 m = (gint64) c->m, k = (gint64) c->problem->k, shape[2] = {m, k};
    c->weight = limn_array_new(LIMN_DTYPE_F64, 2, shape, error);
    c->order = c->weight ? limn_array_new(LIMN_DTYPE_I64, 2, shape, error) : NULL;
    c->bias = c->order ? limn_array_new(LIMN_DTYPE_F64, 1, &m, error) : NULL;
    c->objective = c->bias ? limn_array_new(LIMN_DTYPE_F64, 1, &m, error) : NULL;
    c->target_mean = c->objective ? limn_array_new(LIMN_DTYPE_F64, 1, &m, error) : NULL;
    c->target_std = c->target_mean ? limn_array_new(LIMN_DTYPE_F64, 1, &m, error) : NULL;
    return c->target_std != NULL;
}

static void
rank_neuron(LimnNeuronCase *c, gsize neuron, const LimnNeuronTarget *target)
{
    gsize k = c->problem->k;
    LimnNeuronRanking ranking;
    limn_neuron_rank(c->problem, &c->fit, target, c->work, &ranking);
    limn_array_f64(c->target_mean)[neuron] = target->mean;
    limn_array_f64(c->target_std)[neuron] = target->std;
    limn_array_f64(c->bias)[neuron] = ranking.bias;
    limn_array_f64(c->objective)[neuron] = ranking.objective;
    for (gsize j = 0; j < k; j++) {
        limn_array_f64(c->weight)[neuron * k + j] = c->work->weights[j];
        limn_array_i64(c->order)[neuron * k + j] = c->work->order[j];
    }
}

// Moments, stage 1 of every neuron.
static gboolean
prepare(LimnNeuronCase *c, GError **error)
{
    c->choice = limn_concepts_filter(c->p, &c->filter, c->job);
    c->problem = limn_neuron_problem_new(c->p, c->choice->kept, c->choice->n_kept,
                                         c->split, c->job, error);
    if (c->problem == NULL) {
        return FALSE;
    }
    gsize size = c->m * c->problem->k;
    c->q = g_new(double, size + 1);
    gsize columns_size = c->m * c->n;
    c->columns = g_new(double, columns_size + 1);
    g_autofree guint32 *neurons = g_new(guint32, c->m);
    for (guint32 i = 0; i < c->m; i++) {
        neurons[i] = i;
    }
    limn_neuron_gather(c->a, neurons, c->m, c->columns);
    c->greedy = g_new0(LimnNeuronExplanation, c->m);
    c->work = limn_neuron_work_new(c->problem);
    if (!allocate(c, error) ||
        !limn_neuron_correlate(c->problem, c->a, NULL, c->m, c->q, c->job, error)) {
        return FALSE;
    }
    return TRUE;
}

static gboolean
set_target(LimnNeuronCase *c, gsize neuron, LimnNeuronTarget *target)
{
    if (limn_neuron_set_target(c->problem, &c->fit, c->columns + neuron * c->n,
                               c->q + neuron * c->problem->k, c->work, target)) {
        return TRUE;
    }
    limn_golden_fail(c->golden, "A", "neuron %" G_GSIZE_FORMAT " is not finite", neuron);
    return FALSE;
}

static void
check_stage_1(LimnNeuronCase *c)
{
    compare_list(c, "train_mean", c->problem->mean, c->problem->k, LIMN_ABS(1e-6));
    compare_list(c, "train_std", c->problem->std, c->problem->k, LIMN_ABS(1e-6));
    compare(c, "target_mean", c->target_mean, LIMN_ABS(1e-6));
    compare(c, "target_std", c->target_std, LIMN_ABS(1e-6));
    compare(c, "glm_weight", c->weight, LIMN_ABS(1e-8));
    compare(c, "glm_bias", c->bias, LIMN_ABS(1e-8));
    compare(c, "glm_objective", c->objective, LIMN_ABS(1e-8));
    compare(c, "glm_order", c->order, LIMN_EXACT);
}

// ---- stage 2

static LimnNeuronFormula
formula_of(const LimnNeuronCase *c, const LimnNeuronExplanation *e, guint32 *columns)
{
    for (gsize i = 0; i < e->length; i++) {
        columns[i] = c->problem->columns[e->concepts[i]];
    }
    return (LimnNeuronFormula){columns, e->weights, e->length, e->bias};
}

// The chosen columns depend on each other over the train pictures.
static gboolean
is_dependent(const LimnNeuronCase *c, const LimnNeuronExplanation *e)
{
    double a[LIMN_NEURON_MAX_LENGTH * LIMN_NEURON_MAX_LENGTH];
    const double *gram = limn_array_f64(c->problem->gram);
    for (gsize i = 0; i < e->length; i++) {
        for (gsize j = 0; j < e->length; j++) {
            a[i * e->length + j] = gram[e->concepts[i] * c->problem->k + e->concepts[j]];
        }
    }
    return !limn_cholesky(e->length, a, 1e-9);
}

// Largest difference over the train pictures between both linear combinations.
static void
compare_predictions(LimnNeuronCase *c, const char *where, json_t *entry,
                    const LimnNeuronExplanation *e, double tolerance)
{
    g_autoptr(LimnArray) columns = array_from_json(json_object_get(entry, "concepts"));
    g_autoptr(LimnArray) weights = array_from_json(json_object_get(entry, "weights"));
    double bias = json_number_value(json_object_get(entry, "bias")), worst = 0;
    g_autofree char *name = g_strconcat(where, "/predictions", NULL);
    guint32 mine[LIMN_NEURON_MAX_LENGTH];
    LimnNeuronFormula formula = formula_of(c, e, mine);
    gint64 k = c->p->shape[1];
    if (columns == NULL || weights == NULL || columns->length != weights->length) {
        limn_golden_fail(c->golden, name, "wrong size");
        return;
    }
    for (gsize r = 0; r < c->split->n_train; r++) {
        const float *row = limn_array_f32(c->p) + c->split->train[r] * k;
        double difference = e->bias - bias;
        for (gsize i = 0; i < e->length; i++) {
            difference += e->weights[i] * row[formula.columns[i]];
        }
        for (gint64 i = 0; i < columns->length; i++) {
            double column = limn_array_f64(columns)[i];
            if (!(column >= 0 && column < (double) k)) {
                limn_golden_fail(c->golden, name, "a concept is out of range");
                return;
            }
            difference -= limn_array_f64(weights)[i] * row[(gsize) column];
        }
        worst = fmax(worst, fabs(difference));
    }
    limn_golden_compare_number(c->golden, name, 0, worst, LIMN_ABS(tolerance));
}

static int
compare_doubles(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

// Lists of concepts; with dependent columns the order by weight is not unique.
static void
compare_concepts(LimnNeuronCase *c, const char *where, json_t *entry, const char *key,
                 const double *concepts, gsize length, gboolean as_set)
{
    if (!as_set) {
        compare_json(c, where, entry, key, concepts, length, LIMN_EXACT);
        return;
    }
    g_autofree char *name = g_strconcat(where, "/", key, NULL);
    g_autoptr(LimnArray) expected = array_from_json(json_object_get(entry, key));
    double sorted[LIMN_NEURON_MAX_LENGTH];
    memcpy(sorted, concepts, length * sizeof *sorted);
    qsort(sorted, length, sizeof *sorted, compare_doubles);
    gboolean same =
        expected != NULL && expected->rank == 1 && expected->length == (gint64) length;
    if (same) {
        qsort(expected->data, length, sizeof *sorted, compare_doubles);
        same = memcmp(expected->data, sorted, length * sizeof *sorted) == 0;
    }
    limn_golden_check(c->golden, name, same);
}

static void
check_explanation(LimnNeuronCase *c, const char *kind, json_t *entry,
                  const LimnNeuronExplanation *e, const double *actual, gboolean adam)
{
    double concepts[LIMN_NEURON_MAX_LENGTH], active[LIMN_NEURON_MAX_LENGTH];
    guint32 columns[LIMN_NEURON_MAX_LENGTH];
    gint64 neuron = json_integer_value(json_object_get(entry, "neuron"));
    g_autofree char *where = g_strdup_printf("%s/%" G_GINT64_FORMAT, kind, neuron);
    LimnNeuronFormula formula = formula_of(c, e, columns);
    for (gsize i = 0; i < e->length; i++) {
        active[i] = e->concepts[i];
        concepts[i] = columns[i];
    }
    gboolean dependent = !adam && is_dependent(c, e);
    LimnTolerance weights = LIMN_ABS(adam ? 1e-6 : 1e-8);
    LimnTolerance rho = LIMN_ABS(adam ? 1e-6 : 1e-9);
    compare_concepts(c, where, entry, "concepts_in_active_set", active, e->length,
                     dependent);
    compare_concepts(c, where, entry, "concepts", concepts, e->length, dependent);
    if (dependent) {
        compare_predictions(c, where, entry, e, weights.a);
    } else {
        compare_json(c, where, entry, "weights", e->weights, e->length, weights);
        compare_json(c, where, entry, "bias", &e->bias, G_MAXSIZE, weights);
    }
    g_autofree double *predicted = g_new(double, c->n);
    limn_neuron_predict(&formula, c->p, predicted);
    double test =
        limn_neuron_simulate(predicted, actual, c->split->test, c->split->n_test);
    compare_json(c, where, entry, "val_correlation", &e->val_correlation, G_MAXSIZE, rho);
    compare_json(c, where, entry, "val_correlation_trace", e->trace, e->length, rho);
    compare_json(c, where, entry, "test_correlation", &test, G_MAXSIZE, rho);
}

// The number of the neuron that an entry is about.
static gboolean
read_neuron(LimnNeuronCase *c, const char *key, json_t *entry, gsize *neuron)
{
    json_t *value = json_object_get(entry, "neuron");
    gint64 number = json_is_integer(value) ? json_integer_value(value) : -1;
    if (number < 0 || number >= (gint64) c->m) {
        limn_golden_fail(c->golden, key,
                         "an entry has no neuron from 0 to %" G_GSIZE_FORMAT, c->m - 1);
        return FALSE;
    }
    *neuron = (gsize) number;
    return TRUE;
}

static void
restore_order(LimnNeuronCase *c, gsize neuron)
{
    gsize k = c->problem->k;
    for (gsize j = 0; j < k; j++) {
        c->work->order[j] = (guint32) limn_array_i64(c->order)[neuron * k + j];
    }
}

static void
check_stage_2(LimnNeuronCase *c, const char *key, LimnNeuronFitKind kind)
{
    json_t *list = need_list(c, key, c->m);
    c->fit.fit = kind;
    for (gsize i = 0; list != NULL && i < c->m; i++) {
        json_t *entry = json_array_get(list, i);
        LimnNeuronTarget target;
        LimnNeuronExplanation e;
        gsize neuron;
        if (!read_neuron(c, key, entry, &neuron) || !set_target(c, neuron, &target)) {
            continue;
        }
        restore_order(c, neuron);
        limn_neuron_select(c->problem, &c->fit, &target, c->work, &e);
        check_explanation(c, key, entry, &e, target.values, kind == LIMN_NEURON_ADAM);
    }
    c->fit.fit = LIMN_NEURON_OLS;
}

// ---- one fit by Adam on given concepts

// The concepts as columns of P, or as numbers among those that pass the filter.
static gboolean
read_check_concepts(const LimnNeuronCase *c, const LimnArray *list, gboolean active,
                    guint32 *set)
{
    for (gint64 i = 0; i < list->length; i++) {
        gint64 number = limn_array_i64(list)[i];
        gsize at = 0;
        while (at < c->problem->k &&
               (active ? (gint64) at : (gint64) c->problem->columns[at]) != number) {
            at++;
        }
        if (at == c->problem->k) {
            return FALSE;
        }
        set[i] = (guint32) at;
    }
    return TRUE;
}

static void
fit_adam(LimnNeuronCase *c, const LimnNeuronTarget *target, const guint32 *set,
         gsize length, double *weights, double *bias)
{
    c->fit.fit = LIMN_NEURON_ADAM;
    limn_neuron_fit(c->problem, &c->fit, target, set, length, weights, bias);
    c->fit.fit = LIMN_NEURON_OLS;
}

// Concepts are columns of P; where the filter left out an earlier column and the stored
// weights say so, they are numbers among those that pass it.
static gboolean
fit_check_concepts(LimnNeuronCase *c, const LimnArray *list,
                   const LimnNeuronTarget *target, double *weights, double *bias)
{
    guint32 set[LIMN_NEURON_MAX_LENGTH];
    g_autoptr(LimnArray) expected =
        limn_safetensors_get(c->expected, "adam_check.weight", NULL);
    gsize n = (gsize) list->length;
    for (int active = 0; active < 2; active++) {
        if (!read_check_concepts(c, list, active == 1, set)) {
            continue;
        }
        fit_adam(c, target, set, n, weights, bias);
        gboolean same = expected != NULL && expected->length == list->length;
        for (gsize i = 0; same && i < n; i++) {
            double e = limn_array_get_double(expected, (gint64) i);
            same = fabs(e - weights[i]) <= 1e-6;
        }
        if (same) {
            return TRUE;
        }
    }
    if (!read_check_concepts(c, list, FALSE, set)) {
        return FALSE;
    }
    fit_adam(c, target, set, n, weights, bias);
    return TRUE;
}

static void
check_adam(LimnNeuronCase *c)
{
    g_autoptr(GError) error = NULL;
    double weights[LIMN_NEURON_MAX_LENGTH] = {0}, bias = 0;
    LimnNeuronTarget target;
    g_autoptr(LimnArray) list =
        limn_neuron_case_read(c->expected, "expected.safetensors", "adam_check.concepts",
                              LIMN_DTYPE_I64, 1, &error);
    if (list == NULL) {
        limn_golden_fail_error(c->golden, "adam_check.concepts", &error);
        return;
    }
    if (!set_target(c, (gsize) c->adam_neuron, &target)) {
        return;
    }
    if (list->length < 1 || list->length > LIMN_NEURON_MAX_LENGTH ||
        !fit_check_concepts(c, list, &target, weights, &bias)) {
        limn_golden_fail(c->golden, "adam_check.concepts",
                         "not concepts that pass the filter");
        return;
    }
    compare_list(c, "adam_check.weight", weights, (gsize) list->length, LIMN_ABS(1e-6));
    g_autoptr(LimnArray) one = limn_array_new(LIMN_DTYPE_F64, 0, NULL, NULL);
    limn_array_f64(one)[0] = bias;
    compare(c, "adam_check.bias", one, LIMN_ABS(1e-6));
}

// ---- scores

static void
check_ablation(LimnNeuronCase *c, const LimnNeuronHead *head, json_t *list, gsize i)
{
    json_t *entry = json_array_get(list, i);
    gsize neuron;
    guint32 columns[LIMN_NEURON_MAX_LENGTH];
    LimnNeuronTarget target;
    LimnAblation ablation;
    if (!read_neuron(c, "ablation", entry, &neuron) || !set_target(c, neuron, &target)) {
        return;
    }
    const LimnNeuronExplanation *e = &c->greedy[neuron];
    LimnNeuronFormula formula = formula_of(c, e, columns);
    g_autofree double *predicted = g_new(double, c->n);
    limn_neuron_predict(&formula, c->p, predicted);
    limn_neuron_ablate(head, neuron, target.values, predicted, e->val_correlation,
                       c->split->val, c->split->n_val, c->split->test, c->split->n_test,
                       &c->ablation, &ablation, c->job);
    g_autofree char *where = g_strdup_printf("ablation/%" G_GSIZE_FORMAT, neuron);
    compare_json(c, where, entry, "val_rho", &e->val_correlation, G_MAXSIZE,
                 LIMN_ABS(1e-8));
    compare_json(c, where, entry, "ablation_norm", &ablation.norm, G_MAXSIZE,
                 LIMN_ABS(1e-8));
    compare_json(c, where, entry, "ablation_optim", &ablation.optim, G_MAXSIZE,
                 LIMN_ABS(1e-6));
    compare_json(c, where, entry, "c", &ablation.c, G_MAXSIZE, LIMN_ABS(1e-6));
    compare_json(c, where, entry, "d", &ablation.d, G_MAXSIZE, LIMN_ABS(1e-6));
}

static void
check_impact(LimnNeuronCase *c, const LimnNeuronHead *head, json_t *entry, gsize neuron,
             gsize n_fractions)
{
    g_autofree char *where = g_strdup_printf("top_impact/%" G_GSIZE_FORMAT, neuron);
    LimnNeuronTarget target;
    const char *key;
    json_t *value;
    if (!json_is_object(entry) || json_object_size(entry) == 0 ||
        json_object_size(entry) != n_fractions) {
        limn_golden_fail(c->golden, where, "not the same fractions for every neuron");
        return;
    }
    if (!set_target(c, neuron, &target)) {
        return;
    }
    json_object_foreach(entry, key, value)
    {
        double fraction = 0, part = NAN;
        if (!limn_number_parse(key, &fraction) || !(fraction >= 0 && fraction <= 1)) {
            limn_golden_fail(c->golden, where, "'%s' is no fraction", key);
            continue;
        }
        limn_neuron_impact(head, neuron, target.values, &fraction, 1, &part, c->job);
        compare_json(c, where, entry, key, &part, G_MAXSIZE, LIMN_ABS(1e-8));
    }
}

static void
check_head(LimnNeuronCase *c)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) weight =
        limn_neuron_case_read_input(c, "head_weight", LIMN_DTYPE_F32, 2, &error);
    g_autoptr(LimnArray) bias =
        weight ? limn_neuron_case_read_input(c, "head_bias", LIMN_DTYPE_F32, 1, &error)
               : NULL;
    g_autoptr(LimnArray) labels =
        bias ? limn_neuron_case_read_input(c, "labels", LIMN_DTYPE_I64, 1, &error) : NULL;
    g_autoptr(LimnNeuronHead) head =
        labels ? limn_neuron_head_new(c->a, weight, bias, labels, c->temperature, c->job,
                                      &error)
               : NULL;
    if (head == NULL) {
        limn_golden_fail_error(c->golden, "ablation", &error);
        return;
    }
    json_t *ablation = need_list(c, "ablation", c->m);
    json_t *impact = need_list(c, "top_impact", c->m);
    for (gsize i = 0; i < c->m; i++) {
        if (ablation != NULL) {
            check_ablation(c, head, ablation, i);
        }
        if (impact != NULL) {
            check_impact(c, head, json_array_get(impact, i), i,
                         json_object_size(json_array_get(impact, 0)));
        }
    }
}

static void
check_bins(LimnNeuronCase *c)
{
    LimnJson range;
    g_autoptr(GError) error = NULL;
    guint32 columns[LIMN_NEURON_MAX_LENGTH];
    LimnNeuronTarget target;
    if (!limn_json_need_object(&c->root, "range_bins", &range, &error)) {
        limn_golden_fail_error(c->golden, "range_bins", &error);
        return;
    }
    const LimnNeuronExplanation *e = &c->greedy[c->bins_neuron];
    LimnNeuronFormula formula = formula_of(c, e, columns);
    double concepts[LIMN_NEURON_MAX_LENGTH];
    for (gsize i = 0; i < e->length; i++) {
        concepts[i] = columns[i];
    }
    compare_json(c, "range_bins", range.value, "concepts", concepts, e->length,
                 LIMN_EXACT);
    json_t *list = json_object_get(range.value, "bins");
    gsize n = (gsize) c->n_bins, size = n * e->length;
    if (!json_is_array(list) || json_array_size(list) != n ||
        !set_target(c, (gsize) c->bins_neuron, &target)) {
        limn_golden_fail(c->golden, "range_bins/bins",
                         "not as many bins as the options "
                         "say");
        return;
    }
    g_autofree LimnNeuronBin *bins = g_new0(LimnNeuronBin, n);
    g_autofree double *percent = g_new0(double, size + 1);
    limn_neuron_bins(&formula, c->p, target.values, n, bins, percent);
    for (gsize i = 0; i < n; i++) {
        json_t *entry = json_array_get(list, i);
        g_autofree char *where = g_strdup_printf("range_bins/%" G_GSIZE_FORMAT, i);
        double count = (double) bins[i].count;
        compare_json(c, where, entry, "lo", &bins[i].low, G_MAXSIZE, LIMN_ABS(1e-6));
        compare_json(c, where, entry, "hi", &bins[i].high, G_MAXSIZE, LIMN_ABS(1e-6));
        compare_json(c, where, entry, "count", &count, G_MAXSIZE, LIMN_EXACT);
        if (bins[i].count == 0 &&
            json_is_null(json_object_get(entry, "mean_concept_pct"))) {
            limn_golden_check(c->golden, where, TRUE);
        } else {
            compare_json(c, where, entry, "mean_concept_pct", percent + i * e->length,
                         e->length, LIMN_ABS(1e-6));
        }
    }
}

static void
check_dissect(LimnNeuronCase *c, const char *name, LimnDissectKind kind)
{
    g_autoptr(GError) error = NULL;
    c->dissect.kind = kind;
    g_autoptr(LimnArray) scores = limn_dissect(c->p, c->a, &c->dissect, c->job, &error);
    if (scores == NULL) {
        limn_golden_fail_error(c->golden, name, &error);
        return;
    }
    compare(c, name, scores, LIMN_ABS(1e-9));
}

// ---- a case

static void
rank_and_choose(LimnNeuronCase *c)
{
    for (gsize i = 0; i < c->m; i++) {
        LimnNeuronTarget target;
        if (set_target(c, i, &target)) {
            rank_neuron(c, i, &target);
            limn_neuron_select(c->problem, &c->fit, &target, c->work, &c->greedy[i]);
        }
    }
}

static void
run_case(LimnGolden *golden, const char *folder, const char *name)
{
    g_auto(LimnNeuronCase) c = {.golden = golden, .job = limn_golden_get_job(golden)};
    g_autoptr(GError) error = NULL;
    limn_golden_begin(golden, name);
    if (!limn_neuron_case_open(&c, folder, &error) || !prepare(&c, &error)) {
        limn_golden_fail_error(golden, "case", &error);
        return;
    }
    rank_and_choose(&c);
    check_concepts(&c);
    check_embeddings(&c);
    check_stage_1(&c);
    check_stage_2(&c, "ols", LIMN_NEURON_OLS);
    check_stage_2(&c, "adam0", LIMN_NEURON_ADAM);
    check_adam(&c);
    check_head(&c);
    check_bins(&c);
    check_dissect(&c, "dissect.soft_wpmi", LIMN_DISSECT_SOFT_WPMI);
    check_dissect(&c, "dissect.cos_cubed", LIMN_DISSECT_COSINE_CUBED);
}

static gboolean
is_case_file(const char *name, gpointer data)
{
    for (gsize i = 0; limn_neuron_case_files[i] != NULL; i++) {
        if (strcmp(name, limn_neuron_case_files[i]) == 0) {
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
has_case(const char *folder)
{
    for (gsize i = 0; limn_neuron_case_files[i] != NULL; i++) {
        g_autofree char *path = g_build_filename(folder, limn_neuron_case_files[i], NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS)) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
run_folder(LimnGolden *golden, const char *folder, const char *name)
{
    run_case(golden, folder, name);
    limn_golden_skip_unknown(golden, folder, name, is_case_file, NULL);
}

void
limn_golden_neuron_explanations(LimnGolden *golden, const char *folder)
{
    g_auto(GStrv) names = limn_golden_list(folder);
    if (has_case(folder)) { // the folder of one case
        g_autofree char *name = g_path_get_basename(folder);
        run_folder(golden, folder, name);
        return;
    }
    for (gsize i = 0; names[i] != NULL; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        if (g_file_test(path, G_FILE_TEST_IS_DIR) && has_case(path)) {
            run_folder(golden, path, names[i]);
        } else if (!limn_golden_is_note(names[i])) {
            limn_golden_begin(golden, NULL);
            limn_golden_skip(golden, names[i]);
        }
    }
}
