// SPDX-License-Identifier: GPL-3.0-or-later

// Scores against plain formulas, CLIP-Dissect, and the authors' CSV layout.

#include <math.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/base/rng.h"
#include "engine/io/artifact-files.h"
#include "engine/model/neuron-csv.h"
#include "engine/model/neuron-dissect.h"
#include "engine/model/neuron-score.h"
#include "tests/unit/loader-test.h"

enum { N = 60, M = 4, C = 3, K = 6 };

typedef struct {
    LimnArray *values, *activations, *weight, *bias, *labels;
    LimnNeuronHead *head;
} World;

static LimnArray *
random_matrix(LimnRng *rng, gint64 rows, gint64 columns)
{
    LimnArray *array = limn_array_new_f32_2d(rows, columns, NULL);
    for (gint64 i = 0; i < array->length; i++) {
        limn_array_f32(array)[i] = limn_rng_normal(rng);
    }
    return array;
}

static World
make_world(void)
{
    World w = {0};
    LimnRng rng = limn_rng_make(3, 1);
    gint64 n = N, c = C;
    g_autoptr(GError) error = NULL;
    w.values = random_matrix(&rng, N, K);
    w.activations = random_matrix(&rng, N, M);
    w.weight = random_matrix(&rng, C, M);
    w.bias = limn_array_new(LIMN_DTYPE_F32, 1, &c, NULL);
    w.labels = limn_array_new(LIMN_DTYPE_I64, 1, &n, NULL);
    for (gsize i = 0; i < N; i++) {
        limn_array_i64(w.labels)[i] = limn_rng_below(&rng, C);
    }
    w.head = limn_neuron_head_new(w.activations, w.weight, w.bias, w.labels, 1.1, NULL,
                                  &error);
    g_assert_no_error(error);
    return w;
}

static void
world_clear(World *w)
{
    limn_array_unref(w->values);
    limn_array_unref(w->activations);
    limn_array_unref(w->weight);
    limn_array_unref(w->bias);
    limn_array_unref(w->labels);
    limn_neuron_head_free(w->head);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

// Loss and hit of picture i with neuron k at `value`, from scratch.
static double
plain_loss(const World *w, gsize i, gsize k, double value, gboolean *right)
{
    double logits[C], sum = 0;
    gsize best = 0;
    for (gsize c = 0; c < C; c++) {
        logits[c] = limn_array_f32(w->bias)[c];
        for (gsize j = 0; j < M; j++) {
            double z = j == k ? value : limn_array_f32(w->activations)[i * M + j];
            logits[c] += z * limn_array_f32(w->weight)[c * M + j];
        }
        best = logits[c] > logits[best] ? c : best;
    }
    for (gsize c = 0; c < C; c++) {
        sum += exp(logits[c] / 1.1);
    }
    if (right != NULL) {
        *right = (gint64) best == limn_array_i64(w->labels)[i];
    }
    return log(sum) - logits[limn_array_i64(w->labels)[i]] / 1.1;
}

static void
test_head(void)
{
    g_auto(World) w = make_world();
    for (gsize i = 0; i < N; i++) {
        gboolean right;
        double value = limn_array_f32(w.activations)[i * M];
        g_assert_cmpfloat_with_epsilon(w.head->loss[i],
                                       plain_loss(&w, i, 0, value, &right), 1e-12);
        g_assert_cmpint(w.head->right[i], ==, right);
    }
    g_autoptr(GError) error = NULL;
    gint64 two = 2;
    g_autoptr(LimnArray) short_bias = limn_array_new(LIMN_DTYPE_F32, 1, &two, NULL);
    g_assert_null(limn_neuron_head_new(w.activations, w.weight, short_bias, w.labels, 1,
                                       NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "[60, 4]", "[3, 4]", "[2]", NULL);
    limn_array_i64(w.labels)[7] = C;
    g_assert_null(
        limn_neuron_head_new(w.activations, w.weight, w.bias, w.labels, 1, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "picture 7 is 3", "0 to 2", NULL);
}

static void
fill_column(const World *w, gsize k, double *actual)
{
    for (gsize i = 0; i < N; i++) {
        actual[i] = limn_array_f32(w->activations)[i * M + k];
    }
}

// A perfect prediction scores 1, its optimum stays there; the mean scores 0.
static void
test_ablation(void)
{
    g_auto(World) w = make_world();
    double actual[N], flat[N];
    guint32 val[20], test[40];
    LimnAblationOptions options = {.rate = 0.01, .steps = 100};
    LimnAblation a;
    fill_column(&w, 2, actual);
    double mean = 0;
    for (guint32 i = 0; i < 20; i++) {
        val[i] = i;
        mean += actual[i] / 20;
        test[i] = 20 + i;
        test[20 + i] = 40 + i;
    }
    for (gsize i = 0; i < N; i++) {
        flat[i] = mean;
    }
    limn_neuron_ablate(w.head, 2, actual, actual, 1, val, 20, test, 40, &options, &a,
                       NULL);
    g_assert_cmpfloat_with_epsilon(a.optim, 1, 1e-12);
    g_assert_cmpfloat(a.c, ==, 1);
    g_assert_cmpfloat(a.norm, >, 0.3); // standardised by val, so not exactly 1
    limn_neuron_ablate(w.head, 2, actual, flat, 0, val, 20, test, 40, &options, &a, NULL);
    g_assert_cmpfloat_with_epsilon(a.norm, 0, 1e-12);
    // Against the plain formula.
    double base = 0, sim = 0;
    for (gsize r = 0; r < 40; r++) {
        gsize i = test[r];
        double loss = plain_loss(&w, i, 2, actual[i], NULL);
        base += fabs(plain_loss(&w, i, 2, mean, NULL) - loss);
        sim += fabs(plain_loss(&w, i, 2, a.c * flat[i] + a.d, NULL) - loss);
    }
    g_assert_cmpfloat_with_epsilon(a.optim, 1 - sim / base, 1e-10);
    // A neuron that the classifier ignores has no score.
    for (gsize c = 0; c < C; c++) {
        w.head->weight[c * M + 1] = 0;
    }
    fill_column(&w, 1, actual);
    limn_neuron_ablate(w.head, 1, actual, actual, 1, val, 20, test, 40, &options, &a,
                       NULL);
    g_assert_true(isnan(a.optim) && isnan(a.norm));
}

static void
test_impact(void)
{
    g_auto(World) w = make_world();
    double actual[N], impact[N], parts[3], right_sum = 0, loss_sum = 0, total = 0;
    const double fractions[] = {0, 0.1, 1};
    fill_column(&w, 0, actual);
    for (gsize i = 0; i < N; i++) {
        right_sum += w.head->right[i];
        loss_sum += w.head->loss[i];
    }
    for (gsize i = 0; i < N; i++) {
        gboolean right;
        double loss = plain_loss(&w, i, 0, 0, &right);
        impact[i] = fabs((w.head->right[i] - right) / right_sum -
                         (w.head->loss[i] - loss) / loss_sum) /
                    2;
        total += impact[i];
    }
    limn_neuron_impact(w.head, 0, actual, fractions, 3, parts, NULL);
    g_assert_cmpfloat_with_epsilon(parts[2], 1, 1e-12);
    double sum = 0;
    for (int r = 0; r <= 6; r++) { // ranks 0 to int(0.1 n)
        gsize best = 0;
        for (gsize i = 1; i < N; i++) {
            best = actual[i] > actual[best] ? i : best;
        }
        sum += impact[best] / total;
        if (r == 0) {
            g_assert_cmpfloat_with_epsilon(parts[0], sum, 1e-12);
        }
        actual[best] = -INFINITY;
    }
    g_assert_cmpfloat_with_epsilon(parts[1], sum, 1e-12);
}

static void
test_bins(void)
{
    g_autoptr(LimnArray) values = limn_array_new_f32_2d(5, 2, NULL);
    const float p[] = {1, 0, 0, 1, 0, 0, 1, 1, 0.5f, 0};
    const double actual[] = {4, 2, 0, 1, 2.0001}, none[] = {0, -1, 0, 0, 0};
    const guint32 columns[] = {0, 1};
    const double weights[] = {2, 1};
    LimnNeuronFormula formula = {columns, weights, 2, 0.25};
    LimnNeuronBin bins[4];
    double percent[8], predicted[5];
    memcpy(values->data, p, sizeof p);
    limn_neuron_bins(&formula, values, actual, 4, bins, percent);
    const gsize counts[] = {1, 1, 1, 1}; // (0,1] (1,2] (2,3] (3,4]; 0 is in none
    for (int b = 0; b < 4; b++) {
        g_assert_cmpuint(bins[b].count, ==, counts[b]);
        g_assert_cmpfloat(bins[b].high, ==, b + 1);
    }
    g_assert_cmpfloat(percent[0], ==, 100);
    g_assert_cmpfloat(percent[1], ==, 100);
    g_assert_cmpfloat(bins[0].other, ==, 0); // two concepts at once: not below 0
    g_assert_cmpfloat(percent[4], ==, 50);
    g_assert_cmpfloat(bins[2].other, ==, 50);
    limn_neuron_bins(&formula, values, none, 4, bins, percent);
    g_assert_cmpuint(bins[0].count + bins[1].count + bins[2].count + bins[3].count, ==,
                     0);
    g_assert_true(isnan(percent[0]) && isnan(bins[0].other));
    limn_neuron_predict(&formula, values, predicted);
    g_assert_cmpfloat(predicted[3], ==, 3.25);
    const guint32 rows[] = {0, 3};
    g_assert_true(isnan(limn_neuron_simulate(none, actual, rows, 2)));
}

// ---- CLIP-Dissect

static double
plain_score(const World *w, const LimnDissectOptions *o, gsize neuron, gsize concept,
            double lambda)
{
    double all[M], common = 0;
    for (gsize m = 0; m < M; m++) {
        double actual[N];
        fill_column(w, m, actual);
        all[m] = 0;
        for (int r = 0; r < o->top; r++) {
            gsize best = 0;
            for (gsize i = 1; i < N; i++) {
                best = actual[i] > actual[best] ? i : best;
            }
            actual[best] = -INFINITY;
            const float *row = limn_array_f32(w->values) + best * K;
            double sum = 0;
            for (gsize j = 0; j < K; j++) {
                sum += exp(o->scale * row[j]);
            }
            double s = exp(o->scale * row[concept]) / sum;
            double p = 0.998 - (double) r / o->top * 0.028;
            all[m] += log(o->kind == LIMN_DISSECT_SOFT_WPMI ? 1 + p * (s - 1) + 1e-7
                                                            : s + 1e-7);
        }
    }
    for (gsize m = 0; m < M; m++) {
        common += exp(all[m]) / M;
    }
    return all[neuron] - lambda * log(common);
}

static void
test_wpmi(void)
{
    g_auto(World) w = make_world();
    for (int kind = 0; kind < 2; kind++) {
        LimnDissectOptions options;
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnJob) many = limn_job_new();
        limn_dissect_options_init(&options, (LimnDissectKind) kind);
        options.top = 9;
        limn_job_set_threads(many, 3);
        g_autoptr(LimnArray) scores =
            limn_dissect(w.values, w.activations, &options, many, &error);
        g_assert_no_error(error);
        for (gsize m = 0; m < M; m++) {
            for (gsize j = 0; j < K; j++) {
                g_assert_cmpfloat_with_epsilon(
                    limn_array_f64(scores)[m * K + j],
                    plain_score(&w, &options, m, j, kind == 0 ? 1 : 0.6), 1e-9);
            }
        }
    }
}

static void
test_dissect_cosines(void)
{
    g_auto(World) w = make_world();
    for (int cubed = 0; cubed < 2; cubed++) {
        LimnDissectOptions options;
        limn_dissect_options_init(&options, cubed ? LIMN_DISSECT_COSINE_CUBED
                                                  : LIMN_DISSECT_COSINE);
        g_autoptr(LimnArray) scores =
            limn_dissect(w.values, w.activations, &options, NULL, NULL);
        double dot = 0, xx = 0, yy = 0, x_mean = 0, y_mean = 0;
        for (gsize i = 0; i < N && cubed; i++) {
            x_mean += limn_array_f32(w.activations)[i * M + 1] / (double) N;
            y_mean += limn_array_f32(w.values)[i * K + 4] / (double) N;
        }
        for (gsize i = 0; i < N; i++) {
            double x = limn_array_f32(w.activations)[i * M + 1] - x_mean;
            double y = limn_array_f32(w.values)[i * K + 4] - y_mean;
            x = cubed ? x * x * x : x;
            y = cubed ? y * y * y : y;
            dot += x * y;
            xx += x * x;
            yy += y * y;
        }
        g_assert_cmpfloat_with_epsilon(limn_array_f64(scores)[K + 4], dot / sqrt(xx * yy),
                                       1e-10);
    }
}

// ---- CSV

static void
test_csv_round(void)
{
    g_autoptr(GPtrArray) rows =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_neuron_row_free);
    LimnNeuronRow *row = limn_neuron_row_new("layer4", 136);
    limn_neuron_row_add(row, "Afghan hound, Afghan", 1.53);
    limn_neuron_row_add(row, "0", 1e-3);
    row->bias = 0.28;
    row->val_correlation = 0.5;
    g_ptr_array_add(rows, row);
    g_ptr_array_add(rows, limn_neuron_row_new("layer4", 7)); // no explanation
    LimnTable *table = limn_neuron_rows_to_table(rows, 10);
    g_autofree char *csv = limn_table_to_csv(table);
    limn_table_free(table);
    g_assert_true(g_str_has_prefix(
        csv, "layer,unit,val correlation,weight0,concept0,weight1,concept1,"));
    g_autofree char *folder = make_folder();
    g_autofree char *path = write_file(folder, "e.csv", csv, strlen(csv));
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) back = limn_neuron_rows_load(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(back->len, ==, 2);
    const LimnNeuronRow *first = g_ptr_array_index(back, 0);
    g_assert_cmpint(first->unit, ==, 136);
    g_assert_cmpstr(first->layer, ==, "layer4");
    g_assert_cmpuint(first->concepts->len, ==, 2); // a concept named 0 with a weight
    g_assert_cmpstr(g_ptr_array_index(first->concepts, 0), ==, "Afghan hound, Afghan");
    g_assert_cmpfloat(g_array_index(first->weights, double, 0), ==, 1.53);
    g_assert_cmpfloat(first->bias, ==, 0.28);
    g_assert_true(isnan(first->sim_correlation));
    const LimnNeuronRow *second = g_ptr_array_index(back, 1);
    g_assert_cmpuint(second->concepts->len, ==, 0);
    remove_folder(folder);
}

// As pandas writes it: an index column, floats for units, other orders.
static void
test_csv_foreign(void)
{
    static const char text[] =
        "\xef\xbb\xbf,unit,layer,concept0,weight0,weight1,concept1,bias\r\n"
        "0,3.0,fc,\"a \"\"b\"\"\",2.5,0,0,0.5\r\n"
        "\r\n"
        "1,4,fc,ski,1e-2,-3,dog,\r\n";
    static const char phrases[] = "layer,unit,description\nfc,0,red things\nfc,1,\n";
    g_autofree char *folder = make_folder();
    g_autoptr(GError) error = NULL;
    g_autofree char *path = write_file(folder, "f.csv", text, sizeof text - 1);
    g_autoptr(GPtrArray) rows = limn_neuron_rows_load(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(rows->len, ==, 2);
    const LimnNeuronRow *one = g_ptr_array_index(rows, 0),
                        *two = g_ptr_array_index(rows, 1);
    g_assert_cmpint(one->unit, ==, 3);
    g_assert_cmpstr(g_ptr_array_index(one->concepts, 0), ==, "a \"b\"");
    g_assert_cmpuint(two->concepts->len, ==, 2);
    g_assert_cmpfloat(two->bias, ==, 0);
    g_free(write_file(folder, "f.csv", phrases, sizeof phrases - 1));
    g_autoptr(GPtrArray) simple = limn_neuron_rows_load(path, &error);
    const LimnNeuronRow *phrase = g_ptr_array_index(simple, 0);
    g_assert_true(phrase->phrase);
    g_assert_cmpfloat(g_array_index(phrase->weights, double, 0), ==, 1);
    g_autofree char *formula = limn_neuron_row_dup_formula(phrase, NULL);
    g_assert_cmpstr(formula, ==, "red things");
    remove_folder(folder);
}

static void
test_bad_csv(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"", "empty"},
        {"layer,weight0,concept0\n", "'unit'"},
        {"layer,unit\nx,1\n", "weight0"},
        {"unit,weight0,concept0\none,1,dog\n", "row 2"},
        {"unit,weight0,concept0\n1.5,1,dog\n", "'unit' is '1.5'"},
        {"unit,weight0,concept0\n-1,1,dog\n", "number of a neuron"},
        {"unit,weight0,concept0\n,1,dog\n", "number of a neuron"},
        {"unit,weight0,concept0\n1,heavy,dog\n", "'heavy'"},
        {"unit,weight0,concept0\n1,inf,dog\n", "not finite"},
        {"unit,weight0,concept0\n1,2,\n", "no concept"},
        {"unit,weight0,concept0\n1,2,\"dog\n", "no end"},
    };
    g_autofree char *folder = make_folder();
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *path =
            write_file(folder, "b.csv", bad[i].text, strlen(bad[i].text));
        g_assert_null(limn_neuron_rows_load(path, &error));
        assert_refused(&error, LIMN_ERROR_FORMAT, "b.csv", bad[i].says, NULL);
    }
    remove_folder(folder);
}

static void
test_formula(void)
{
    g_autoptr(LimnNeuronRow) row = limn_neuron_row_new("", 0);
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(LimnTextWord));
    limn_neuron_row_add(row, "ski", 4.239);
    limn_neuron_row_add(row, "dog", -0.5);
    row->bias = 0.28;
    g_autofree char *formula = limn_neuron_row_dup_formula(row, words);
    g_assert_cmpstr(formula, ==, "4.24 ski - 0.50 dog + 0.28");
    const LimnTextWord *second = &g_array_index(words, LimnTextWord, 1);
    g_assert_cmpint(strncmp(formula + second->begin, "dog", 3), ==, 0);
    g_assert_cmpuint(second->end - second->begin, ==, 3);
    g_assert_cmpfloat(second->weight, ==, -0.5);
    g_array_index(row->weights, double, 0) = 0.0123;
    g_array_index(row->weights, double, 1) = 0.001;
    g_autofree char *small = limn_neuron_row_dup_formula(row, NULL);
    g_assert_cmpstr(small, ==, "0.0123 ski + 0.0010 dog + 0.2800");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/neuron-score/head", test_head);
    g_test_add_func("/neuron-score/ablation", test_ablation);
    g_test_add_func("/neuron-score/impact", test_impact);
    g_test_add_func("/neuron-score/bins", test_bins);
    g_test_add_func("/neuron-score/wpmi", test_wpmi);
    g_test_add_func("/neuron-score/dissect-cosines", test_dissect_cosines);
    g_test_add_func("/neuron-csv/round", test_csv_round);
    g_test_add_func("/neuron-csv/foreign", test_csv_foreign);
    g_test_add_func("/neuron-csv/bad", test_bad_csv);
    g_test_add_func("/neuron-csv/formula", test_formula);
    return g_test_run();
}
