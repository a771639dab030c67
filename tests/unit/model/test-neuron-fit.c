// SPDX-License-Identifier: GPL-3.0-or-later

// Fitting one neuron: moments against passes over the pictures, the greedy search against
// a plain one, selections against each other, planted neurons, degenerate input.

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/model/neuron-concepts.h"
#include "engine/model/neuron-fit.h"
#include "engine/model/neuron-score.h"

// ---- planted neurons: ReLU(sum of 2 to 4 concepts with weights 0.5 to 3, plus noise,
// plus 0.1)

#define PICTURES 800
#define NEURONS 30

typedef struct {
    LimnArray *values, *activations;
    guint32 planted[NEURONS][4];
    int n_planted[NEURONS];
    LimnNeuronSplit *split;
    LimnNeuronProblem *problem;
} World;

static void
world_clear(World *w)
{
    g_clear_pointer(&w->values, limn_array_unref);
    g_clear_pointer(&w->activations, limn_array_unref);
    limn_neuron_problem_free(w->problem);
    limn_neuron_split_free(w->split);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

static LimnArray *
new_matrix(gint64 rows, gint64 columns)
{
    g_autoptr(GError) error = NULL;
    LimnArray *array = limn_array_new_f32_2d(rows, columns, &error);
    g_assert_no_error(error);
    return array;
}

// 20 classes, one per picture, and 4 superclasses of 5 classes each.
static LimnArray *
label_concepts(LimnRng *rng)
{
    LimnArray *values = new_matrix(PICTURES, 24);
    for (gsize i = 0; i < PICTURES; i++) {
        guint32 class = limn_rng_below(rng, 20);
        limn_array_f32(values)[i * 24 + class] = 1;
        limn_array_f32(values)[i * 24 + 20 + class / 5] = 1;
    }
    return values;
}

// 40 concepts: sigmoid(12 (cosine - 0.25)) of random embeddings of 16 numbers.
static LimnArray *
similar_concepts(LimnRng *rng)
{
    g_autoptr(LimnArray) images = new_matrix(PICTURES, 16), texts = new_matrix(40, 16);
    for (gint64 i = 0; i < images->length; i++) {
        limn_array_f32(images)[i] = limn_rng_normal(rng);
    }
    for (gint64 i = 0; i < texts->length; i++) {
        limn_array_f32(texts)[i] = limn_rng_normal(rng);
    }
    g_autoptr(LimnArray) cosines = limn_concepts_cosines(images, texts, NULL, NULL);
    return limn_concepts_sigmoid(cosines, 12, -0.25, NULL, NULL);
}

static void
plant(World *w, double noise, LimnRng *rng)
{
    gsize k = (gsize) w->values->shape[1];
    w->activations = new_matrix(PICTURES, NEURONS);
    for (gsize m = 0; m < NEURONS; m++) {
        double weights[4];
        w->n_planted[m] = 2 + (int) limn_rng_below(rng, 3);
        for (int c = 0; c < w->n_planted[m]; c++) {
            gboolean again;
            do {
                w->planted[m][c] = limn_rng_below(rng, (guint32) k);
                again = FALSE;
                for (int b = 0; b < c; b++) {
                    again = again || w->planted[m][b] == w->planted[m][c];
                }
            } while (again);
            weights[c] = 0.5 + 2.5 * limn_rng_uniform(rng);
        }
        for (gsize i = 0; i < PICTURES; i++) {
            double sum = 0.1 + noise * limn_rng_normal(rng);
            for (int c = 0; c < w->n_planted[m]; c++) {
                sum += weights[c] * limn_array_f32(w->values)[i * k + w->planted[m][c]];
            }
            limn_array_f32(w->activations)[i * NEURONS + m] = (float) fmax(sum, 0);
        }
    }
}

static World
make_world(gboolean labels, double noise, guint64 seed)
{
    World w = {0};
    g_autoptr(GError) error = NULL;
    LimnRng rng = limn_rng_make(seed, 6);
    LimnConceptFilter filter;
    w.values = labels ? label_concepts(&rng) : similar_concepts(&rng);
    plant(&w, noise, &rng);
    w.split = limn_neuron_split_new(PICTURES, seed);
    limn_concept_filter_init(&filter);
    g_autoptr(LimnConceptChoice) choice = limn_concepts_filter(w.values, &filter, NULL);
    w.problem = limn_neuron_problem_new(w.values, choice->kept, choice->n_kept, w.split,
                                        NULL, &error);
    g_assert_no_error(error);
    return w;
}

static LimnNeuronExplanation *
explain_all(World *w, const LimnNeuronOptions *options, LimnJob *job)
{
    g_autoptr(GError) error = NULL;
    guint32 neurons[NEURONS];
    for (guint32 i = 0; i < NEURONS; i++) {
        neurons[i] = i;
    }
    LimnNeuronExplanation *e = g_new0(LimnNeuronExplanation, NEURONS);
    g_assert_true(limn_neuron_explain_many(w->problem, options, w->activations, neurons,
                                           NEURONS, e, job, &error));
    g_assert_no_error(error);
    return e;
}

static void
fill_actual(const World *w, gsize neuron, double *actual)
{
    for (gsize i = 0; i < PICTURES; i++) {
        actual[i] = limn_array_f32(w->activations)[i * NEURONS + neuron];
    }
}

static double
test_correlation(const World *w, gsize neuron, const LimnNeuronExplanation *e)
{
    double actual[PICTURES], predicted[PICTURES];
    guint32 columns[LIMN_NEURON_MAX_LENGTH];
    for (gsize i = 0; i < e->length; i++) {
        columns[i] = w->problem->columns[e->concepts[i]];
    }
    LimnNeuronFormula formula = {columns, e->weights, e->length, e->bias};
    fill_actual(w, neuron, actual);
    limn_neuron_predict(&formula, w->values, predicted);
    return limn_neuron_simulate(predicted, actual, w->split->test, w->split->n_test);
}

// The best concept alone, chosen with hindsight: by its correlation on test.
static double
best_alone(const World *w, gsize neuron)
{
    double best = -1, weight = 1;
    for (guint32 j = 0; j < w->values->shape[1]; j++) {
        double actual[PICTURES], predicted[PICTURES];
        LimnNeuronFormula formula = {&j, &weight, 1, 0};
        fill_actual(w, neuron, actual);
        limn_neuron_predict(&formula, w->values, predicted);
        double rho =
            limn_neuron_simulate(predicted, actual, w->split->test, w->split->n_test);
        best = rho > best ? rho : best; // NaN is not
    }
    return best;
}

static gboolean
is_planted(const World *w, gsize neuron, guint32 column)
{
    for (int c = 0; c < w->n_planted[neuron]; c++) {
        if (w->planted[neuron][c] == column) {
            return TRUE;
        }
    }
    return FALSE;
}

// Targets of the specification: subset of the truth in 95 %, the truth in 55 %, gain over
// the best single concept 0.1.
static void
test_planted(void)
{
    static const double noises[] = {0.2, 0.35};
    int subset = 0, same = 0, all = 0;
    double gain = 0;
    for (int kind = 0; kind < 2; kind++) {
        for (gsize s = 0; s < G_N_ELEMENTS(noises); s++) {
            g_auto(World) w = make_world(kind == 0, noises[s], 40 + s);
            LimnNeuronOptions options;
            limn_neuron_options_init(&options);
            g_autofree LimnNeuronExplanation *e = explain_all(&w, &options, NULL);
            int here_subset = 0, here_same = 0;
            double here_gain = 0;
            for (gsize m = 0; m < NEURONS; m++) {
                g_assert_cmpint(e[m].status, ==, LIMN_NEURON_EXPLAINED);
                gboolean inside = TRUE;
                for (gsize i = 0; i < e[m].length; i++) {
                    inside =
                        inside && is_planted(&w, m, w.problem->columns[e[m].concepts[i]]);
                }
                here_subset += inside;
                here_same += inside && e[m].length == (gsize) w.n_planted[m];
                here_gain += test_correlation(&w, m, &e[m]) - best_alone(&w, m);
            }
            g_test_message("%s, noise %g: subset %d, same %d of %d, gain %.3f",
                           kind == 0 ? "labels" : "similarity", noises[s], here_subset,
                           here_same, NEURONS, here_gain / NEURONS);
            subset += here_subset;
            same += here_same;
            gain += here_gain;
            all += NEURONS;
        }
    }
    g_assert_cmpfloat((double) subset, >=, 0.95 * all);
    g_assert_cmpfloat((double) same, >=, 0.55 * all);
    g_assert_cmpfloat(gain / all, >=, 0.1);
}

static void
test_threads(void)
{
    g_auto(World) w = make_world(FALSE, 0.2, 3);
    LimnNeuronOptions options;
    limn_neuron_options_init(&options);
    g_autoptr(LimnJob) one = limn_job_new(), many = limn_job_new();
    limn_job_set_threads(many, 4);
    g_autofree LimnNeuronExplanation *a = explain_all(&w, &options, one);
    g_autofree LimnNeuronExplanation *b = explain_all(&w, &options, many);
    g_assert_cmpmem(a, NEURONS * sizeof *a, b, NEURONS * sizeof *b);
}

static void
test_cancel(void)
{
    g_auto(World) w = make_world(TRUE, 0.2, 3);
    LimnNeuronOptions options;
    guint32 neurons[] = {0, 1};
    LimnNeuronExplanation e[2];
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) job = limn_job_new();
    limn_neuron_options_init(&options);
    limn_job_cancel(job);
    g_assert_false(limn_neuron_explain_many(w.problem, &options, w.activations, neurons,
                                            2, e, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

// ---- moments against passes over the pictures

// Residuals of the fit on train are orthogonal to its columns and to 1.
static void
assert_least_squares(const World *w, gsize neuron, const guint32 *columns,
                     const double *weights, gsize length, double bias)
{
    double actual[PICTURES], predicted[PICTURES];
    LimnNeuronFormula formula = {columns, weights, length, bias};
    gsize k = (gsize) w->values->shape[1];
    fill_actual(w, neuron, actual);
    limn_neuron_predict(&formula, w->values, predicted);
    for (gsize j = 0; j <= length; j++) {
        double sum = 0;
        for (gsize i = 0; i < w->split->n_train; i++) {
            guint32 p = w->split->train[i];
            double x = j < length ? limn_array_f32(w->values)[p * k + columns[j]] : 1;
            sum += x * (actual[p] - predicted[p]);
        }
        g_assert_cmpfloat_with_epsilon(sum, 0, 1e-9);
    }
}

static double
val_correlation(const World *w, gsize neuron, const LimnNeuronExplanation *e)
{
    double actual[PICTURES], predicted[PICTURES];
    guint32 columns[LIMN_NEURON_MAX_LENGTH];
    for (gsize i = 0; i < e->length; i++) {
        columns[i] = w->problem->columns[e->concepts[i]];
    }
    LimnNeuronFormula formula = {columns, e->weights, e->length, e->bias};
    fill_actual(w, neuron, actual);
    limn_neuron_predict(&formula, w->values, predicted);
    return limn_neuron_simulate(predicted, actual, w->split->val, w->split->n_val);
}

static void
test_moments(void)
{
    for (int kind = 0; kind < 2; kind++) {
        g_auto(World) w = make_world(kind == 0, 0.2, 11);
        LimnNeuronOptions options;
        limn_neuron_options_init(&options);
        options.tolerance = 0.001; // long explanations
        g_autofree LimnNeuronExplanation *e = explain_all(&w, &options, NULL);
        for (gsize m = 0; m < NEURONS; m++) {
            guint32 columns[LIMN_NEURON_MAX_LENGTH];
            for (gsize i = 0; i < e[m].length; i++) {
                columns[i] = w.problem->columns[e[m].concepts[i]];
                g_assert_true(i == 0 || e[m].weights[i - 1] >= e[m].weights[i]);
            }
            assert_least_squares(&w, m, columns, e[m].weights, e[m].length, e[m].bias);
            g_assert_cmpfloat_with_epsilon(val_correlation(&w, m, &e[m]),
                                           e[m].val_correlation, 1e-10);
            for (gsize i = 1; i < e[m].length; i++) {
                g_assert_cmpfloat(e[m].trace[i] - e[m].trace[i - 1], >=, 0.001);
            }
        }
    }
}

// Adam by passes over the train pictures.
static void
fit_plainly(const World *w, gsize neuron, const guint32 *columns, gsize length,
            const LimnNeuronAdam *adam, double *p)
{
    double actual[PICTURES], m[8] = {0}, v[8] = {0};
    gsize k = (gsize) w->values->shape[1], n = length + 1;
    fill_actual(w, neuron, actual);
    memset(p, 0, n * sizeof *p);
    for (int step = 1; step <= adam->steps; step++) {
        double g[8] = {0};
        for (gsize r = 0; r < w->split->n_train; r++) {
            guint32 i = w->split->train[r];
            const float *row = limn_array_f32(w->values) + i * k;
            double error = p[length] - actual[i];
            for (gsize j = 0; j < length; j++) {
                error += p[j] * row[columns[j]];
            }
            for (gsize j = 0; j < n; j++) {
                g[j] += 2 * error * (j < length ? row[columns[j]] : 1) /
                        (double) w->split->n_train;
            }
        }
        for (gsize j = 0; j < n; j++) {
            m[j] = adam->beta1 * m[j] + (1 - adam->beta1) * g[j];
            v[j] = adam->beta2 * v[j] + (1 - adam->beta2) * g[j] * g[j];
            p[j] -= adam->rate * (m[j] / (1 - pow(adam->beta1, step))) /
                    (sqrt(v[j] / (1 - pow(adam->beta2, step))) + adam->eps);
        }
    }
}

static void
test_adam(void)
{
    g_auto(World) w = make_world(FALSE, 0.2, 5);
    LimnNeuronOptions options;
    const guint32 set[] = {3, 0, 7},
                  columns[] = {w.problem->columns[3], w.problem->columns[0],
                               w.problem->columns[7]};
    g_autoptr(GError) error = NULL;
    g_autofree double *q = g_new(double, w.problem->k);
    g_autoptr(LimnNeuronWork) work = limn_neuron_work_new(w.problem);
    LimnNeuronTarget target;
    double weights[3], bias, plain[8], actual[PICTURES];
    const guint32 neuron = 4;
    limn_neuron_options_init(&options);
    options.fit = LIMN_NEURON_ADAM;
    g_assert_true(
        limn_neuron_correlate(w.problem, w.activations, &neuron, 1, q, NULL, &error));
    fill_actual(&w, neuron, actual);
    g_assert_true(limn_neuron_set_target(w.problem, &options, actual, q, work, &target));
    limn_neuron_fit(w.problem, &options, &target, set, 3, weights, &bias);
    fit_plainly(&w, neuron, columns, 3, &options.adam, plain);
    for (gsize j = 0; j < 3; j++) {
        g_assert_cmpfloat_with_epsilon(weights[j], plain[j], 1e-9);
    }
    g_assert_cmpfloat_with_epsilon(bias, plain[3], 1e-9);
}

// ---- selections

static double
penalised(const LimnNeuronExplanation *e, double tolerance)
{
    return e->val_correlation - tolerance * ((double) e->length - 1);
}

// Trying all subsets is never worse than the greedy search within the same bounds.
static void
test_exact(void)
{
    int better = 0;
    for (int kind = 0; kind < 2; kind++) {
        g_auto(World) w = make_world(kind == 0, 0.35, 21);
        LimnNeuronOptions options;
        limn_neuron_options_init(&options);
        options.length = options.short_length = 3;
        options.pool = 40;
        g_autofree LimnNeuronExplanation *greedy = explain_all(&w, &options, NULL);
        options.selection = LIMN_NEURON_EXACT;
        g_autofree LimnNeuronExplanation *exact = explain_all(&w, &options, NULL);
        for (gsize m = 0; m < NEURONS; m++) {
            double a = penalised(&exact[m], 0.02), b = penalised(&greedy[m], 0.02);
            g_assert_cmpfloat(a, >=, b - 1e-12);
            better += a > b + 1e-9;
            g_assert_cmpfloat_with_epsilon(val_correlation(&w, m, &exact[m]),
                                           exact[m].val_correlation, 1e-10);
            g_assert_cmpfloat(exact[m].trace[1], >=, exact[m].trace[0] - 0.2);
        }
        g_assert_cmpfloat(limn_neuron_n_subsets(&options, w.problem->k), >=, 40);
    }
    g_test_message("the exact choice is better for %d of %d", better, 2 * NEURONS);
}

// With one concept both find the best of the pool.
static void
test_exact_one(void)
{
    g_auto(World) w = make_world(FALSE, 0.2, 22);
    LimnNeuronOptions options;
    limn_neuron_options_init(&options);
    options.length = options.short_length = 1;
    options.width = options.pool = 15;
    g_autofree LimnNeuronExplanation *greedy = explain_all(&w, &options, NULL);
    options.selection = LIMN_NEURON_EXACT;
    g_autofree LimnNeuronExplanation *exact = explain_all(&w, &options, NULL);
    for (gsize m = 0; m < NEURONS; m++) {
        g_assert_cmpuint(greedy[m].length, ==, 1);
        g_assert_cmpuint(greedy[m].concepts[0], ==, exact[m].concepts[0]);
        g_assert_cmpfloat(greedy[m].weights[0], ==, exact[m].weights[0]);
    }
}

static void
test_top(void)
{
    g_auto(World) w = make_world(FALSE, 0.2, 23);
    LimnNeuronOptions options;
    g_autoptr(GError) error = NULL;
    g_autofree double *q = g_new(double, w.problem->k);
    g_autoptr(LimnNeuronWork) work = limn_neuron_work_new(w.problem);
    limn_neuron_options_init(&options);
    options.selection = LIMN_NEURON_TOP;
    options.short_length = 5;
    g_autofree LimnNeuronExplanation *e = explain_all(&w, &options, NULL);
    for (guint32 m = 0; m < NEURONS; m++) {
        LimnNeuronTarget target;
        LimnNeuronRanking ranking;
        double actual[PICTURES];
        g_assert_true(
            limn_neuron_correlate(w.problem, w.activations, &m, 1, q, NULL, &error));
        fill_actual(&w, m, actual);
        g_assert_true(
            limn_neuron_set_target(w.problem, &options, actual, q, work, &target));
        limn_neuron_rank(w.problem, &options, &target, work, &ranking);
        g_assert_true(ranking.converged);
        g_assert_cmpuint(e[m].length, ==, 5);
        for (gsize i = 0; i < 5; i++) {
            gboolean found = FALSE;
            for (gsize j = 0; j < 5; j++) {
                found = found || e[m].concepts[i] == work->order[j];
            }
            g_assert_true(found);
        }
    }
}

// Taking a concept out and putting it back gives the explanation again.
static void
test_refit(void)
{
    g_auto(World) w = make_world(FALSE, 0.2, 24);
    LimnNeuronOptions options;
    g_autoptr(GError) error = NULL;
    g_autofree double *q = g_new(double, w.problem->k);
    g_autoptr(LimnNeuronWork) work = limn_neuron_work_new(w.problem);
    limn_neuron_options_init(&options);
    g_autofree LimnNeuronExplanation *e = explain_all(&w, &options, NULL);
    for (guint32 m = 0; m < NEURONS; m++) {
        LimnNeuronTarget target;
        LimnNeuronExplanation again, less, none;
        double actual[PICTURES];
        fill_actual(&w, m, actual);
        g_assert_true(
            limn_neuron_correlate(w.problem, w.activations, &m, 1, q, NULL, &error));
        g_assert_true(
            limn_neuron_set_target(w.problem, &options, actual, q, work, &target));
        guint32 turned[LIMN_NEURON_MAX_LENGTH];
        for (gsize i = 0; i < e[m].length; i++) {
            turned[i] = e[m].concepts[e[m].length - 1 - i];
        }
        limn_neuron_refit(w.problem, &options, &target, turned, e[m].length, &again);
        limn_neuron_refit(w.problem, &options, &target, turned, e[m].length - 1, &less);
        limn_neuron_refit(w.problem, &options, &target, turned, 0, &none);
        for (gsize i = 0; i < e[m].length; i++) {
            g_assert_cmpuint(again.concepts[i], ==, e[m].concepts[i]);
            g_assert_cmpfloat_with_epsilon(again.weights[i], e[m].weights[i], 1e-10);
        }
        g_assert_cmpfloat_with_epsilon(again.val_correlation, e[m].val_correlation,
                                       1e-12);
        g_assert_cmpfloat(less.val_correlation, <, e[m].val_correlation);
        g_assert_cmpint(none.status, ==, LIMN_NEURON_UNDEFINED);
    }
}

// ---- degenerate input

// Column 2 is constant in train, column 3 everywhere but one test picture; column 4 is
// twice column 0.
static void
test_degenerate(void)
{
    enum { N = 60, K = 5, M = 4 };
    g_autoptr(LimnArray) values = new_matrix(N, K), activations = new_matrix(N, M);
    g_autoptr(LimnNeuronSplit) split = limn_neuron_split_new(N, 1);
    LimnRng rng = limn_rng_make(8, 1);
    float *p = limn_array_f32(values), *a = limn_array_f32(activations);
    for (gsize i = 0; i < N; i++) {
        p[i * K] = limn_rng_uniform(&rng) / 2;
        p[i * K + 1] = limn_rng_uniform(&rng);
        p[i * K + 2] = 0.7f;
        p[i * K + 3] = 0.1f;
        p[i * K + 4] = 2 * p[i * K];
        a[i * M] = p[i * K] + p[i * K + 1];      // explained
        a[i * M + 1] = 3;                        // constant
        a[i * M + 2] = -p[i * K] - p[i * K + 1]; // negative only
        a[i * M + 3] = i == 10 ? NAN : p[i * K]; // not finite
    }
    p[split->val[0] * K + 2] = 0.2f;
    p[split->test[0] * K + 3] = 1;
    guint32 columns[] = {0, 1, 2, 3, 4}, neurons[] = {0, 1, 2, 3};
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnNeuronProblem) problem =
        limn_neuron_problem_new(values, columns, K, split, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(problem->std[2], ==, 0);
    g_assert_cmpfloat(problem->scale[3], ==, 0);
    for (int selection = 0; selection < 3; selection++) {
        for (int fit = 0; fit < 2; fit++) {
            LimnNeuronOptions options;
            LimnNeuronExplanation e[M];
            limn_neuron_options_init(&options);
            options.selection = (LimnNeuronSelection) selection;
            options.fit = (LimnNeuronFitKind) fit;
            g_assert_true(limn_neuron_explain_many(problem, &options, activations,
                                                   neurons, M, e, NULL, &error));
            g_assert_cmpint(e[0].status, ==, LIMN_NEURON_EXPLAINED);
            g_assert_cmpfloat(e[0].val_correlation, >, fit == 0 ? 0.999 : 0.98);
            g_assert_cmpint(e[1].status, ==, LIMN_NEURON_DEAD);
            g_assert_cmpuint(e[1].length, ==, 0);
            g_assert_cmpfloat_with_epsilon(e[1].bias, 3, 1e-12);
            g_assert_cmpfloat(e[1].val_correlation, ==, 0);
            g_assert_cmpint(e[3].status, ==, LIMN_NEURON_NOT_FINITE);
            g_assert_cmpstr(limn_neuron_status_name(e[3].status), ==, "not finite");
            for (gsize i = 0; i < e[2].length; i++) {
                g_assert_true(isfinite(e[2].weights[i]));
            }
        }
    }
}

// Activations that no concept follows on val: an empty explanation, not a failure.
static void
test_undefined(void)
{
    enum { N = 40 };
    g_autoptr(LimnArray) values = new_matrix(N, 1), activations = new_matrix(N, 1);
    g_autoptr(LimnNeuronSplit) split = limn_neuron_split_new(N, 2);
    g_autoptr(GError) error = NULL;
    LimnRng rng = limn_rng_make(8, 2);
    for (gsize i = 0; i < N; i++) {
        limn_array_f32(values)[i] = limn_rng_uniform(&rng);
        limn_array_f32(activations)[i] = limn_array_f32(values)[i];
    }
    for (gsize i = 0; i < split->n_val; i++) { // the other way round on val
        limn_array_f32(activations)[split->val[i]] =
            -10 * limn_array_f32(values)[split->val[i]];
    }
    guint32 zero = 0;
    g_autoptr(LimnNeuronProblem) problem =
        limn_neuron_problem_new(values, &zero, 1, split, NULL, &error);
    LimnNeuronOptions options;
    LimnNeuronExplanation e;
    limn_neuron_options_init(&options);
    g_assert_true(limn_neuron_explain_many(problem, &options, activations, &zero, 1, &e,
                                           NULL, &error));
    g_assert_cmpint(e.status, ==, LIMN_NEURON_UNDEFINED);
    g_assert_cmpuint(e.length, ==, 0);
    g_assert_cmpfloat_with_epsilon(e.bias, e.activations.mean, 1e-12);
}

// A large common offset and another scale change nothing but bias and weights.
static void
test_offset(void)
{
    g_auto(World) w = make_world(FALSE, 0.2, 31);
    LimnNeuronOptions options;
    limn_neuron_options_init(&options);
    g_autofree LimnNeuronExplanation *a = explain_all(&w, &options, NULL);
    for (gint64 i = 0; i < w.activations->length; i++) {
        limn_array_f32(w.activations)[i] = 1000 + 4 * limn_array_f32(w.activations)[i];
    }
    g_autofree LimnNeuronExplanation *b = explain_all(&w, &options, NULL);
    for (gsize m = 0; m < NEURONS; m++) {
        g_assert_cmpuint(a[m].length, ==, b[m].length);
        for (gsize i = 0; i < a[m].length; i++) {
            g_assert_cmpuint(a[m].concepts[i], ==, b[m].concepts[i]);
            g_assert_cmpfloat_with_epsilon(4 * a[m].weights[i], b[m].weights[i], 2e-3);
        }
        g_assert_cmpfloat_with_epsilon(a[m].val_correlation, b[m].val_correlation, 1e-4);
    }
}

// ---- split

static void
test_split(void)
{
    g_autoptr(LimnNeuronSplit) a = limn_neuron_split_new(1003, 5);
    g_autoptr(LimnNeuronSplit) b = limn_neuron_split_new(1003, 5);
    g_autoptr(LimnNeuronSplit) c = limn_neuron_split_new(1003, 6);
    g_assert_cmpuint(a->n_train, ==, 702);
    g_assert_cmpuint(a->n_val, ==, 100);
    g_assert_cmpuint(a->n_test, ==, 201);
    g_assert_cmpmem(a->test, a->n_test * 4, b->test, b->n_test * 4);
    g_assert_true(memcmp(a->test, c->test, a->n_test * 4) != 0);
    guint8 seen[1003] = {0};
    const guint32 *lists[] = {a->train, a->val, a->test};
    const gsize sizes[] = {a->n_train, a->n_val, a->n_test};
    for (int l = 0; l < 3; l++) {
        for (gsize i = 0; i < sizes[l]; i++) {
            g_assert_cmpint(seen[lists[l][i]]++, ==, 0);
            g_assert_true(i == 0 || lists[l][i - 1] < lists[l][i]);
        }
    }
}

static LimnArray *
new_list(const gint64 *numbers, gint64 n)
{
    LimnArray *list = limn_array_new(LIMN_DTYPE_I64, 1, &n, NULL);
    memcpy(list->data, numbers, (gsize) n * sizeof *numbers);
    return list;
}

static void
test_bad_lists(void)
{
    const gint64 good[] = {5, 1, 2}, other[] = {0, 3}, rest[] = {4, 6};
    const gint64 outside[] = {7, 4}, again[] = {5, 4}, negative[] = {-1, 4};
    const gint64 *bad[] = {outside, again, negative};
    g_autoptr(LimnArray) train = new_list(good, 3), val = new_list(other, 2);
    g_autoptr(LimnArray) test = new_list(rest, 2), one = new_list(rest, 1);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnNeuronSplit) split =
        limn_neuron_split_from_lists(7, train, val, test, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(split->train[0], ==, 1); // sorted
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(LimnArray) list = new_list(bad[i], 2);
        g_assert_null(limn_neuron_split_from_lists(7, train, val, list, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
        g_clear_error(&error);
    }
    g_assert_null(limn_neuron_split_from_lists(7, train, val, one, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/neuron-fit/planted", test_planted);
    g_test_add_func("/neuron-fit/threads", test_threads);
    g_test_add_func("/neuron-fit/cancel", test_cancel);
    g_test_add_func("/neuron-fit/moments", test_moments);
    g_test_add_func("/neuron-fit/adam", test_adam);
    g_test_add_func("/neuron-fit/exact", test_exact);
    g_test_add_func("/neuron-fit/exact-one", test_exact_one);
    g_test_add_func("/neuron-fit/top", test_top);
    g_test_add_func("/neuron-fit/refit", test_refit);
    g_test_add_func("/neuron-fit/degenerate", test_degenerate);
    g_test_add_func("/neuron-fit/undefined", test_undefined);
    g_test_add_func("/neuron-fit/offset", test_offset);
    g_test_add_func("/neuron-fit/split", test_split);
    g_test_add_func("/neuron-fit/bad-lists", test_bad_lists);
    return g_test_run();
}
