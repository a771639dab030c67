// SPDX-License-Identifier: GPL-3.0-or-later

// activations, neuron-explanations and neuron-simulate as operations: from files to
// tables, together and one after another, with all that can be wrong in their inputs.

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/io/npy.h"
#include "engine/io/study-folder.h"
#include "engine/method/operations.h"
#include "engine/study/run.h"
#include "tests/unit/loader-test.h"

enum { N = 200, M = 6, K = 12, D = 8 };

// ---- running

static LimnRun *
new_run_list(const char *id, int threads, const char *key, va_list args)
{
    limn_registry_set(limn_operations);
    g_autoptr(LimnStudy) study = limn_study_new(limn_registry_find(id));
    for (; key != NULL; key = va_arg(args, const char *)) {
        g_autoptr(GError) error = NULL;
        limn_study_set(study, key, va_arg(args, const char *), &error);
        g_assert_no_error(error);
    }
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_threads(job, threads);
    return limn_run_new(study, job);
}

static LimnRun *
new_run(const char *id, const char *key, ...)
{
    va_list args;
    va_start(args, key);
    LimnRun *run = new_run_list(id, 2, key, args);
    va_end(args);
    return run;
}

static void
execute(LimnRun *run)
{
    g_autoptr(GError) error = NULL;
    limn_run_execute(run, &error);
    g_assert_no_error(error);
}

static LimnRun *
run_now(const char *id, const char *key, ...)
{
    va_list args;
    va_start(args, key);
    LimnRun *run = new_run_list(id, 2, key, args);
    va_end(args);
    execute(run);
    return run;
}

static void
expect_failure(LimnRun *run, LimnErrorCode code, const char *one, const char *two)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(limn_run_execute(run, &error));
    assert_refused(&error, code, one, two, NULL);
    limn_run_free(run);
}

static void
write_study(LimnRun *run, const char *path)
{
    g_autoptr(GError) error = NULL;
    limn_study_folder_write(run, path, FALSE, &error);
    g_assert_no_error(error);
}

static LimnTable *
table_of(LimnRun *run, const char *name)
{
    LimnArtifact *artifact = limn_run_find_artifact(run, name);
    g_assert_nonnull(artifact);
    return artifact->table;
}

static LimnColumn *
column_of(LimnRun *run, const char *table, const char *name)
{
    LimnTable *t = table_of(run, table);
    for (guint i = 0; i < t->columns->len; i++) {
        LimnColumn *column = g_ptr_array_index(t->columns, i);
        if (strcmp(column->name, name) == 0) {
            return column;
        }
    }
    g_error("%s has no column %s", table, name);
}

static double
number(LimnRun *run, const char *table, const char *column, guint row)
{
    return g_array_index(column_of(run, table, column)->numbers, double, row);
}

static const char *
word(LimnRun *run, const char *table, const char *column, guint row)
{
    return g_ptr_array_index(column_of(run, table, column)->strings, row);
}

static double
scalar(LimnRun *run, const char *name)
{
    GPtrArray *scalars = limn_run_get_scalars(run);
    for (guint i = 0; i < scalars->len; i++) {
        const LimnScalar *entry = g_ptr_array_index(scalars, i);
        if (strcmp(entry->name, name) == 0) {
            return entry->value;
        }
    }
    g_error("there is no scalar %s", name);
}

static gboolean
is_said(LimnRun *run, const char *part)
{
    g_autoptr(GPtrArray) list = limn_job_dup_diagnostics(limn_run_get_job(run));
    for (guint i = 0; i < list->len; i++) {
        const LimnDiagnostic *diagnostic = g_ptr_array_index(list, i);
        if (strstr(diagnostic->message, part) != NULL) {
            return TRUE;
        }
    }
    return FALSE;
}

// ---- data: neuron m follows concepts 2 m and 2 m + 1

typedef struct {
    char *folder;
    char *activations, *matrix, *names, *images, *texts, *labels, *cosines;
    char *weight, *bias, *right;
} Data;

static void
data_clear(Data *d)
{
    char **all[] = {&d->activations, &d->matrix,  &d->names,  &d->images, &d->texts,
                    &d->labels,      &d->cosines, &d->weight, &d->bias,   &d->right};
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        g_free(*all[i]);
    }
    remove_folder(d->folder);
    g_free(d->folder);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Data, data_clear)

static char *
save(const Data *d, const char *name, const LimnArray *array)
{
    g_autoptr(GError) error = NULL;
    char *path = g_build_filename(d->folder, name, NULL);
    limn_npy_save(array, path, &error);
    g_assert_no_error(error);
    return path;
}

static LimnArray *
new_array(LimnDType dtype, gint64 rows, gint64 columns)
{
    gint64 shape[2] = {rows, columns};
    LimnArray *array = limn_array_new(dtype, columns > 0 ? 2 : 1, shape, NULL);
    g_assert_nonnull(array);
    return array;
}

static void
normal(LimnArray *array, LimnRng *rng)
{
    for (gint64 i = 0; i < array->length; i++) {
        limn_array_f32(array)[i] = limn_rng_normal(rng);
    }
}

static void
make_similarities(const LimnArray *images, const LimnArray *texts, LimnArray *cosines,
                  LimnArray *matrix)
{
    for (gsize i = 0; i < N; i++) {
        for (gsize j = 0; j < K; j++) {
            double dot = 0, aa = 0, bb = 0;
            for (gsize d = 0; d < D; d++) {
                double a = limn_array_f32(images)[i * D + d];
                double b = limn_array_f32(texts)[j * D + d];
                dot += a * b;
                aa += a * a;
                bb += b * b;
            }
            double cosine = dot / sqrt(aa * bb);
            limn_array_f32(cosines)[i * K + j] = (float) cosine;
            limn_array_f32(matrix)[i * K + j] =
                (float) (1 / (1 + exp(-12 * (cosine - 0.25))));
        }
    }
}

static LimnArray *
make_activations(const LimnArray *matrix, LimnRng *rng)
{
    LimnArray *a = new_array(LIMN_DTYPE_F32, N, M);
    for (gsize i = 0; i < N; i++) {
        for (gsize m = 0; m < M; m++) {
            const float *p = limn_array_f32(matrix) + i * K + 2 * m;
            double sum = 2 * p[0] + p[1] + 0.05 * limn_rng_normal(rng);
            limn_array_f32(a)[i * M + m] = (float) fmax(sum, 0);
        }
    }
    return a;
}

static Data
make_data(void)
{
    Data d = {.folder = make_folder()};
    LimnRng rng = limn_rng_make(12, 3);
    g_autoptr(LimnArray) images = new_array(LIMN_DTYPE_F32, N, D);
    g_autoptr(LimnArray) texts = new_array(LIMN_DTYPE_F32, K, D);
    g_autoptr(LimnArray) cosines = new_array(LIMN_DTYPE_F32, N, K);
    g_autoptr(LimnArray) matrix = new_array(LIMN_DTYPE_F32, N, K);
    g_autoptr(LimnArray) labels = new_array(LIMN_DTYPE_U8, N, K);
    g_autoptr(LimnArray) weight = new_array(LIMN_DTYPE_F32, 4, M);
    g_autoptr(LimnArray) bias = new_array(LIMN_DTYPE_F32, 4, 0);
    g_autoptr(LimnArray) right = new_array(LIMN_DTYPE_I64, N, 0);
    normal(images, &rng);
    normal(texts, &rng);
    normal(weight, &rng);
    make_similarities(images, texts, cosines, matrix);
    g_autoptr(LimnArray) activations = make_activations(matrix, &rng);
    for (gint64 i = 0; i < labels->length; i++) {
        limn_array_u8(labels)[i] = limn_rng_uniform(&rng) < limn_array_f32(matrix)[i];
    }
    for (gsize i = 0; i < N; i++) {
        limn_array_i64(right)[i] = limn_rng_below(&rng, 4);
    }
    d.activations = save(&d, "a.npy", activations);
    d.matrix = save(&d, "p.npy", matrix);
    d.images = save(&d, "images.npy", images);
    d.texts = save(&d, "texts.npy", texts);
    d.cosines = save(&d, "cosines.npy", cosines);
    d.labels = save(&d, "labels.npy", labels);
    d.weight = save(&d, "weight.npy", weight);
    d.bias = save(&d, "bias.npy", bias);
    d.right = save(&d, "right.npy", right);
    g_autoptr(GString) names = g_string_new(NULL);
    for (int j = 0; j < K; j++) {
        g_string_append_printf(names, "thing_%d\n", j);
    }
    d.names = write_file(d.folder, "names.txt", names->str, names->len);
    return d;
}

// Both planted concepts of every neuron lead its formula.
static void
assert_planted(LimnRun *run)
{
    for (guint m = 0; m < M; m++) {
        g_autofree char *first = g_strdup_printf("thing %u", 2 * m);
        g_autofree char *second = g_strdup_printf("thing %u", 2 * m + 1);
        g_assert_cmpstr(word(run, "explanations", "concept0", m), ==, first);
        g_assert_cmpstr(word(run, "explanations", "concept1", m), ==, second);
        g_assert_cmpfloat(number(run, "neurons", "test correlation", m), >, 0.9);
    }
}

// ---- explanations

static void
test_matrix(void)
{
    g_auto(Data) d = make_data();
    g_autoptr(LimnRun) run = run_now(
        "neuron-explanations", "activations", d.activations, "matrix", d.matrix,
        "concepts", d.names, "predictions", "yes", "matrix-out", "yes", "head-weight",
        d.weight, "head-bias", d.bias, "head-labels", d.right, NULL);
    assert_planted(run);
    g_assert_cmpfloat(scalar(run, "neurons"), ==, M);
    g_assert_cmpfloat(scalar(run, "explained"), ==, M);
    g_assert_cmpfloat(scalar(run, "missing correlation"), ==, 0);
    g_assert_cmpfloat(scalar(run, "gain over baseline"), >, 0);
    const LimnArtifact *predictions = limn_run_find_artifact(run, "predictions");
    g_assert_cmpint(predictions->array->shape[0], ==, M);
    g_assert_cmpint(predictions->array->shape[1], ==, N);
    g_assert_cmpint(limn_run_find_artifact(run, "matrix")->array->shape[1], ==, K);
    const LimnArtifact *split = limn_run_find_artifact(run, "split");
    int counts[3] = {0, 0, 0};
    for (gsize i = 0; i < N; i++) {
        counts[limn_array_u8(split->array)[i]]++;
    }
    g_assert_cmpint(counts[0], ==, 140);
    g_assert_cmpint(counts[1], ==, 20);
    g_assert_cmpint(counts[2], ==, 40);
    // Cards name the same concepts, words point at them.
    const LimnArtifact *cards = limn_run_find_artifact(run, "cards");
    const LimnTextItem *card = g_ptr_array_index(cards->texts, 1);
    const LimnTextWord *first = &g_array_index(card->words, LimnTextWord, 0);
    g_assert_cmpint(strncmp(card->text + first->begin, "thing 2", 7), ==, 0);
    g_assert_cmpfloat(card->score, ==, number(run, "neurons", "test correlation", 1));
    g_assert_true(isfinite(number(run, "neurons", "ablation norm", 0)));
    double whole = number(run, "neurons", "impact top 50%", 0);
    g_assert_cmpfloat(whole, >, number(run, "neurons", "impact top 2%", 0));
}

// The composition of every bin, and pictures that lie in their range.
static void
test_ranges(void)
{
    g_auto(Data) d = make_data();
    g_autoptr(LimnRun) run = run_now("neuron-explanations", "activations", d.activations,
                                     "matrix", d.matrix, "concepts", d.names, NULL);
    LimnTable *examples = table_of(run, "examples");
    for (guint i = 0; i < limn_table_n_rows(examples); i++) {
        double value = number(run, "examples", "activation", i);
        g_assert_cmpfloat(value, <=, number(run, "examples", "high", i));
        g_assert_cmpfloat(value, >=, number(run, "examples", "low", i));
        g_assert_cmpfloat(number(run, "examples", "picture", i), <, N);
    }
    double count = 0;
    for (guint i = 0; i < limn_table_n_rows(table_of(run, "ranges")); i++) {
        gboolean other = number(run, "ranges", "rank", i) == 0;
        g_assert_true(other == (word(run, "ranges", "concept", i) == NULL));
        if (number(run, "ranges", "unit", i) == 0 && other) {
            count += number(run, "ranges", "count", i);
        }
    }
    g_assert_cmpfloat(count, ==, number(run, "neurons", "nonzero", 0));
}

static void
test_similarity(void)
{
    g_auto(Data) d = make_data();
    g_autoptr(LimnRun) a =
        run_now("neuron-explanations", "activations", d.activations, "similarity",
                d.cosines, "concepts", d.names, "slope", "12", "offset", "-0.25", NULL);
    assert_planted(a);
    g_autoptr(LimnRun) b =
        run_now("neuron-explanations", "activations", d.activations, "image-embeddings",
                d.images, "text-embeddings", d.texts, "concepts", d.names, "slope", "12",
                "offset", "-0.25", NULL);
    assert_planted(b);
    g_autoptr(LimnRun) c = run_now("neuron-explanations", "activations", d.activations,
                                   "similarity", d.cosines, "concepts", d.names, "labels",
                                   d.labels, "calibration", "newton", NULL);
    assert_planted(c);
    g_assert_cmpfloat_with_epsilon(scalar(c, "slope"), 12, 2);
    g_assert_cmpfloat_with_epsilon(scalar(c, "offset"), -0.25, 0.05);
    g_assert_true(is_said(c, "12 labelled concepts"));
}

static void
test_labels(void)
{
    g_auto(Data) d = make_data();
    static const char super[] = "{\"even\": [\"thing 0\", \"thing 2\"], \"lone\": [3]}";
    g_autofree char *path = write_file(d.folder, "s.json", super, sizeof super - 1);
    g_autoptr(LimnRun) run =
        run_now("neuron-explanations", "activations", d.activations, "labels", d.labels,
                "concepts", d.names, "superclasses", path, NULL);
    g_assert_cmpfloat(scalar(run, "concepts"), ==, K + 1);
    g_assert_cmpstr(word(run, "concepts", "concept", K), ==, "even");
    g_assert_true(is_said(run, "1 superclasses of fewer"));
}

static void
test_selections(void)
{
    g_auto(Data) d = make_data();
    static const char *const selections[] = {"greedy", "exact", "top"};
    static const char *const fits[] = {"ols", "adam"};
    for (int s = 0; s < 3; s++) {
        for (int f = 0; f < 2; f++) {
            g_autoptr(LimnRun) run =
                run_now("neuron-explanations", "activations", d.activations, "matrix",
                        d.matrix, "concepts", d.names, "selection", selections[s], "fit",
                        fits[f], "short-length", "2", "target", "train", NULL);
            assert_planted(run);
            g_assert_cmpfloat(number(run, "neurons", "length", 0), ==, 2);
        }
    }
    expect_failure(new_run("neuron-explanations", "activations", d.activations, "matrix",
                           d.matrix, "selection", "exact", "pool", "60", "short-length",
                           "6", NULL),
                   LIMN_ERROR_ARGUMENT, "pool=60", "200000");
}

static void
test_units(void)
{
    g_auto(Data) d = make_data();
    g_autoptr(LimnRun) run = run_now("neuron-explanations", "activations", d.activations,
                                     "matrix", d.matrix, "units", "4,1-2", NULL);
    g_assert_cmpuint(limn_table_n_rows(table_of(run, "neurons")), ==, 3);
    g_assert_cmpfloat(number(run, "neurons", "unit", 0), ==, 1);
    g_assert_cmpfloat(number(run, "neurons", "unit", 2), ==, 4);
    g_assert_cmpstr(word(run, "explanations", "concept0", 0), ==, "concept 2");
    static const char *const bad[] = {
        "6", "a", "1-", "2-1", "1,", "1;2", "-1", "0-99", "99999999999999999999"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        expect_failure(new_run("neuron-explanations", "activations", d.activations,
                               "matrix", d.matrix, "units", bad[i], NULL),
                       LIMN_ERROR_ARGUMENT, "units=", "0 to 5");
    }
}

// ---- bad input

static char *
save_changed(const Data *d, const char *path, const char *name, gint64 rows,
             gint64 element, float value)
{
    g_autoptr(LimnArray) from = limn_npy_load(path, NULL);
    g_autoptr(LimnArray) array = new_array(LIMN_DTYPE_F32, rows, from->shape[1]);
    memcpy(array->data, from->data, (gsize) array->length * sizeof(float));
    if (element >= 0) {
        limn_array_f32(array)[element] = value;
    }
    return save(d, name, array);
}

static void
test_lengths(void)
{
    g_auto(Data) d = make_data();
    g_autofree char *shorter = save_changed(&d, d.matrix, "short.npy", N - 1, -1, 0);
    g_autofree char *few = save_changed(&d, d.activations, "few.npy", 20, -1, 0);
    g_autofree char *few_p = save_changed(&d, d.matrix, "few-p.npy", 20, -1, 0);
    const char *const keys[] = {"matrix", "similarity"};
    for (int i = 0; i < 2; i++) {
        expect_failure(new_run("neuron-explanations", "activations", d.activations,
                               keys[i], shorter, NULL),
                       LIMN_ERROR_MISMATCH, "short.npy", "[199, 12]");
    }
    expect_failure(new_run("neuron-explanations", "activations", d.activations,
                           "image-embeddings", d.images, "text-embeddings", d.cosines,
                           NULL),
                   LIMN_ERROR_MISMATCH, "8 numbers", "12");
    expect_failure(
        new_run("neuron-explanations", "activations", few, "matrix", few_p, NULL),
        LIMN_ERROR_MISMATCH, "few.npy", "20 pictures");
    static const char names[] = "one\ntwo\n";
    g_autofree char *two = write_file(d.folder, "two.txt", names, sizeof names - 1);
    expect_failure(new_run("neuron-explanations", "activations", d.activations, "matrix",
                           d.matrix, "concepts", two, NULL),
                   LIMN_ERROR_MISMATCH, "two.txt", "2 names");
    expect_failure(
        new_run("neuron-explanations", "activations", d.bias, "matrix", d.matrix, NULL),
        LIMN_ERROR_MISMATCH, "bias.npy", "[4]");
    expect_failure(new_run("neuron-explanations", "activations", d.activations, NULL),
                   LIMN_ERROR_ARGUMENT, "variant=auto", "matrix=");
    expect_failure(
        new_run("neuron-explanations", "activations", d.folder, "matrix", d.matrix, NULL),
        LIMN_ERROR_FORMAT, "no study", "");
}

static void
test_not_finite(void)
{
    g_auto(Data) d = make_data();
    g_autofree char *p = save_changed(&d, d.matrix, "nan-p.npy", N, 5 * K + 3, NAN);
    g_autofree char *a = save_changed(&d, d.activations, "nan-a.npy", N, 7 * M + 2, NAN);
    expect_failure(new_run("neuron-explanations", "activations", d.activations, "matrix",
                           p, "concepts", d.names, NULL),
                   LIMN_ERROR_FORMAT, "nan-p.npy", "thing 3 in picture 5 is NaN");
    // One neuron is left out, the others do not notice.
    g_autoptr(LimnRun) run = run_now("neuron-explanations", "activations", a, "matrix",
                                     d.matrix, "concepts", d.names, NULL);
    g_autoptr(LimnRun) whole =
        run_now("neuron-explanations", "activations", d.activations, "matrix", d.matrix,
                "concepts", d.names, NULL);
    g_assert_cmpstr(word(run, "neurons", "status", 2), ==, "not finite");
    g_assert_true(is_said(run, "unit 2 was left out: its activation for picture 7"));
    g_assert_cmpfloat(scalar(run, "not finite"), ==, 1);
    for (guint m = 0; m < M; m++) {
        if (m != 2) {
            g_assert_cmpstr(word(run, "neurons", "formula", m), ==,
                            word(whole, "neurons", "formula", m));
        }
    }
    expect_failure(new_run("neuron-explanations", "activations", a, "matrix", d.matrix,
                           "head-weight", d.weight, "head-bias", d.bias, "head-labels",
                           d.right, NULL),
                   LIMN_ERROR_FORMAT, "nan-a.npy", "unit 2 for picture 7 is NaN");
}

static void
test_constant(void)
{
    g_auto(Data) d = make_data();
    g_autoptr(LimnArray) from = limn_npy_load(d.activations, NULL);
    g_autoptr(LimnArray) array = new_array(LIMN_DTYPE_F32, N, M);
    memcpy(array->data, from->data, (gsize) array->length * sizeof(float));
    for (gsize i = 0; i < N; i++) {
        limn_array_f32(array)[i * M + 3] = 0;
    }
    g_autofree char *a = save(&d, "dead.npy", array);
    g_autoptr(LimnRun) run = run_now("neuron-explanations", "activations", a, "matrix",
                                     d.matrix, "concepts", d.names, NULL);
    g_assert_cmpstr(word(run, "neurons", "status", 3), ==, "dead");
    g_assert_true(isnan(number(run, "neurons", "test correlation", 3)));
    g_assert_cmpfloat(scalar(run, "dead"), ==, 1);
    g_assert_cmpfloat(scalar(run, "missing correlation"), ==, 1);
    g_assert_true(is_said(run, "1 neurons have no explanation"));
    g_assert_cmpfloat(number(run, "explanations", "weight0", 3), ==, 0);
    g_assert_cmpstr(word(run, "explanations", "concept0", 3), ==, "0");
    g_assert_cmpfloat(scalar(run, "test correlation"), >, 0.9); // not averaged in
}

static void
test_duplicates(void)
{
    g_auto(Data) d = make_data();
    static const char list[] = "a\nb\nc\na\ne\nf\ng\nh\ni\nj\nk\nl\n";
    g_autofree char *names = write_file(d.folder, "again.txt", list, sizeof list - 1);
    g_autoptr(LimnRun) run = run_now("neuron-explanations", "activations", d.activations,
                                     "matrix", d.matrix, "concepts", names, NULL);
    g_assert_true(is_said(run, "names of concepts that occur again were numbered"));
    g_assert_cmpstr(word(run, "concepts", "concept", 3), ==, "a (2)");
}

static void
test_filter(void)
{
    g_auto(Data) d = make_data();
    expect_failure(new_run("neuron-explanations", "activations", d.activations,
                           "similarity", d.cosines, "concepts", d.names, "offset", "-5",
                           NULL),
                   LIMN_ERROR_MISMATCH, "none of the 12 concepts", "thing");
    g_autoptr(LimnRun) run = run_now("neuron-explanations", "activations", d.activations,
                                     "matrix", d.matrix, "filter-mean", "0.9", NULL);
    g_assert_cmpfloat(scalar(run, "concepts kept"), <, K + 1);
    g_autoptr(LimnArray) from = limn_npy_load(d.matrix, NULL);
    g_autoptr(LimnArray) large = new_array(LIMN_DTYPE_F32, N, K);
    for (gint64 i = 0; i < large->length; i++) {
        limn_array_f32(large)[i] = 3 * limn_array_f32(from)[i];
    }
    g_autofree char *path = save(&d, "large.npy", large);
    g_autoptr(LimnRun) wide = run_now("neuron-explanations", "activations", d.activations,
                                      "matrix", path, NULL);
    g_assert_true(is_said(wide, "outside 0 to 1"));
}

static void
test_bad_head(void)
{
    g_auto(Data) d = make_data();
    expect_failure(new_run("neuron-explanations", "activations", d.activations, "matrix",
                           d.matrix, "head-weight", d.weight, NULL),
                   LIMN_ERROR_ARGUMENT, "incomplete", "head-bias=");
    expect_failure(new_run("neuron-explanations", "activations", d.activations, "matrix",
                           d.matrix, "head-weight", d.matrix, "head-bias", d.bias,
                           "head-labels", d.right, NULL),
                   LIMN_ERROR_MISMATCH, "bias.npy", "[200]");
}

static void
test_cancel(void)
{
    g_auto(Data) d = make_data();
    LimnRun *run = new_run("neuron-explanations", "activations", d.activations, "matrix",
                           d.matrix, NULL);
    limn_job_cancel(limn_run_get_job(run));
    expect_failure(run, LIMN_ERROR_CANCELLED, "", "");
}

// ---- the same bytes

static void
assert_same_files(const char *one, const char *two)
{
    g_autoptr(GDir) dir = g_dir_open(one, 0, NULL);
    guint n = 0;
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        g_autofree char *a = g_build_filename(one, name, NULL);
        g_autofree char *b = g_build_filename(two, name, NULL);
        g_autofree char *x = NULL, *y = NULL;
        gsize nx = 0, ny = 0;
        if (strcmp(name, "timing.json") == 0) {
            continue;
        }
        g_assert_true(g_file_get_contents(a, &x, &nx, NULL));
        g_assert_true(g_file_get_contents(b, &y, &ny, NULL));
        if (nx != ny || memcmp(x, y, nx) != 0) {
            g_error("%s differs", name);
        }
        n++;
    }
    g_assert_cmpuint(n, >, 3);
}

static LimnRun *
run_part(const char *id, int threads, guint shard, guint shards, const char *key, ...)
{
    va_list args;
    va_start(args, key);
    LimnRun *run = new_run_list(id, threads, key, args);
    va_end(args);
    limn_run_set_shard(run, shard, shards);
    execute(run);
    return run;
}

static void
merge_parts(const char *folder, char *const *parts, guint n, const char *whole)
{
    g_autofree char *merged = g_build_filename(folder, "merged", NULL);
    g_autofree const char **list = g_new0(const char *, n + 1);
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < n; i++) {
        list[i] = parts[i];
    }
    limn_study_folder_merge(list, merged, FALSE, NULL, &error);
    g_assert_no_error(error);
    assert_same_files(whole, merged);
}

static void
test_threads_and_shards(void)
{
    g_auto(Data) d = make_data();
    g_autofree char *folder = make_folder();
    char *parts[4];
    for (guint i = 0; i < 4; i++) { // one thread, three, and two shards
        parts[i] = g_strdup_printf("%s/part%u", folder, i);
        g_autoptr(LimnRun) run =
            run_part("neuron-explanations", i == 1 ? 3 : 1, i < 2 ? 0 : i - 2,
                     i < 2 ? 1 : 2, "activations", d.activations, "matrix", d.matrix,
                     "concepts", d.names, "predictions", "yes", "head-weight", d.weight,
                     "head-bias", d.bias, "head-labels", d.right, NULL);
        write_study(run, parts[i]);
    }
    assert_same_files(parts[0], parts[1]);
    merge_parts(folder, parts + 2, 2, parts[0]);
    for (guint i = 0; i < 4; i++) {
        g_free(parts[i]);
    }
    remove_folder(folder);
}

// ---- from a model to a simulation

static LimnRun *
record_scenes(const char *count)
{
    return run_now("activations", "count", count, "layer", "vision.3.mlp", "pool", "avg",
                   "size", "64", NULL);
}

static void
test_chain(void)
{
    g_autofree char *folder = make_folder();
    g_autofree char *recorded = g_build_filename(folder, "recorded", NULL);
    g_autofree char *explained = g_build_filename(folder, "explained", NULL);
    g_autoptr(LimnRun) record = record_scenes("60");
    g_assert_cmpfloat(scalar(record, "inputs"), ==, 60);
    g_assert_cmpint(limn_run_find_artifact(record, "activations")->array->shape[1], ==,
                    (gint64) scalar(record, "neurons"));
    g_assert_cmpuint(limn_run_find_artifact(record, "pictures")->pictures->len, ==, 60);
    g_assert_cmpstr(limn_run_find_artifact(record, "activations")->title, ==,
                    "vision.3.mlp, avg");
    write_study(record, recorded);
    g_autoptr(LimnRun) labels = run_now("neuron-explanations", "activations", recorded,
                                        "units", "0-19", "filter-top", "3", NULL);
    g_assert_cmpstr(word(labels, "explanations", "layer", 0), ==, "vision.3.mlp, avg");
    write_study(labels, explained);
    // The simulation on the same test pictures gives the same scores.
    g_autoptr(LimnRun) simulated =
        run_now("neuron-simulate", "explanations", explained, "activations", recorded,
                "pictures", "test", "predictions", "yes", NULL);
    for (guint m = 0; m < 20; m++) {
        double a = number(labels, "neurons", "test correlation", m);
        double b = number(simulated, "scores", "sim correlation", m);
        g_assert_true(isnan(a) ? isnan(b) || number(simulated, "scores", "length", m) == 0
                               : fabs(a - b) < 1e-12);
    }
    g_assert_cmpfloat(scalar(simulated, "explanations"), ==, 20);
    g_autoptr(LimnRun) similar =
        run_now("neuron-explanations", "activations", recorded, "units", "0-9", "variant",
                "similarity", "filter-mean", "0", NULL);
    g_assert_cmpfloat(scalar(similar, "concepts"), ==, 48 + 6 + 8); // shapes and groups
    remove_folder(folder);
}

static void
test_recorded_shards(void)
{
    g_autofree char *folder = make_folder();
    char *parts[4];
    for (guint i = 0; i < 4; i++) {
        parts[i] = g_strdup_printf("%s/part%u", folder, i);
        g_autoptr(LimnRun) run =
            run_part("activations", i == 1 ? 3 : 1, i < 2 ? 0 : i - 2, i < 2 ? 1 : 2,
                     "count", "9", "size", "48", "map-unit", "5", NULL);
        g_assert_nonnull(limn_run_find_artifact(run, "maps"));
        write_study(run, parts[i]);
    }
    assert_same_files(parts[0], parts[1]);
    merge_parts(folder, parts + 2, 2, parts[0]);
    for (guint i = 0; i < 4; i++) {
        g_free(parts[i]);
    }
    remove_folder(folder);
}

// A study of scenes brings captions and labels; a picture that cannot be read is left
// out.
static void
test_folder(void)
{
    g_autofree char *folder = make_folder();
    g_autofree char *scenes = g_build_filename(folder, "scenes", NULL);
    g_autoptr(LimnRun) composed = run_now("scenes", "count", "5", "size", "48", NULL);
    write_study(composed, scenes);
    g_free(write_file(scenes, "pictures-0002.png", "no picture", 10));
    g_autoptr(LimnRun) run = run_now("activations", "image", scenes, NULL);
    g_assert_cmpuint(limn_run_get_skipped(run)->len, ==, 1);
    g_assert_cmpint(limn_run_find_artifact(run, "activations")->array->shape[0], ==, 4);
    g_assert_cmpstr(word(run, "index", "name", 1), ==, "pictures-0003.png");
    g_assert_nonnull(word(run, "index", "caption", 1));
    const LimnArtifact *presence = limn_run_find_artifact(run, "presence");
    g_assert_cmpint(presence->array->shape[0], ==, 4);
    g_assert_cmpint(presence->array->shape[1], ==,
                    limn_table_n_rows(table_of(run, "concepts")));
    for (gsize i = 0; i < 4; i++) {
        int n = 0;
        for (gint64 j = 0; j < presence->array->shape[1]; j++) {
            n += limn_array_u8(
                presence->array)[(gint64) i * presence->array->shape[1] + j];
        }
        g_assert_cmpint(n, >=, 1);
        g_assert_cmpint(n, <=, 4);
    }
    static const char bad[] = "{\"file\": \"../x.png\"}\n";
    g_free(write_file(scenes, "captions.jsonl", bad, sizeof bad - 1));
    expect_failure(new_run("activations", "image", scenes, NULL), LIMN_ERROR_FORMAT,
                   "captions.jsonl line 1", "../x.png");
    g_free(write_file(scenes, "captions.jsonl", "\n", 1));
    expect_failure(new_run("activations", "image", scenes, NULL), LIMN_ERROR_FORMAT,
                   "captions.jsonl", "no picture");
    remove_folder(folder);
}

static void
test_texts(void)
{
    g_autofree char *folder = make_folder();
    static const char list[] = "a red circle\na dog\na cat and a bus\n";
    g_autofree char *path = write_file(folder, "t.txt", list, sizeof list - 1);
    g_autoptr(LimnRun) run =
        run_now("activations", "texts", path, "layer", "text.2.mlp", NULL);
    g_assert_cmpint(limn_run_find_artifact(run, "activations")->array->shape[0], ==, 3);
    g_assert_cmpstr(word(run, "index", "caption", 1), ==, "a dog");
    g_autoptr(LimnRun) captions = run_now("activations", "count", "4", "size", "48",
                                          "layer", "text.0.residual", NULL);
    g_assert_cmpint(limn_run_find_artifact(captions, "activations")->array->shape[0], ==,
                    4);
    expect_failure(new_run("activations", "texts", path, NULL), LIMN_ERROR_ARGUMENT,
                   "texts=", "text.BLOCK.PART");
    expect_failure(new_run("activations", "layer", "vision.9.mlp", NULL),
                   LIMN_ERROR_ARGUMENT, "vision.9.mlp", "vision.0 to vision.4");
    expect_failure(new_run("activations", "map-unit", "512", NULL), LIMN_ERROR_ARGUMENT,
                   "map-unit=512", "no such unit");
    expect_failure(new_run("activations", "image", folder, NULL), LIMN_ERROR_FORMAT,
                   "no pictures", "");
    g_autoptr(LimnRun) only = run_now("activations", "list", "yes", NULL);
    g_assert_cmpuint(limn_table_n_rows(table_of(only, "layers")), ==, 24);
    g_assert_null(limn_run_find_artifact(only, "activations"));
    remove_folder(folder);
}

// ---- simulation of foreign files

static void
test_simulate(void)
{
    g_auto(Data) d = make_data();
    static const char csv[] =
        "layer,unit,val correlation,weight0,concept0,weight1,concept1,bias\n"
        "fc,0,0.9,2,thing 0,1,thing 1,0\n"
        "fc,1,0.9,2,thing 2,1,unheard of,0\n"
        "fc,2,,0,0,0,0,0.5\n"
        "other,3,,1,thing 6,0,0,0\n";
    static const char phrases[] = "layer,unit,description\nfc,0,thing 0\n";
    g_autofree char *path = write_file(d.folder, "e.csv", csv, sizeof csv - 1);
    g_autoptr(LimnRun) run = run_now(
        "neuron-simulate", "explanations", path, "activations", d.activations, "matrix",
        d.matrix, "concepts", d.names, "predictions", "yes", "head-weight", d.weight,
        "head-bias", d.bias, "head-labels", d.right, NULL);
    g_assert_cmpuint(limn_run_get_skipped(run)->len, ==, 1);
    const LimnSkipped *skipped = g_ptr_array_index(limn_run_get_skipped(run), 0);
    g_assert_cmpstr(skipped->item, ==, "unit 1");
    g_assert_nonnull(strstr(skipped->reason, "unheard of"));
    g_assert_cmpuint(limn_table_n_rows(table_of(run, "scores")), ==, 3);
    g_assert_cmpfloat(number(run, "scores", "sim correlation", 0), >, 0.95);
    g_assert_true(isnan(number(run, "scores", "sim correlation", 1))); // constant
    g_assert_cmpfloat(scalar(run, "missing correlation"), ==, 1);
    g_assert_cmpfloat(number(run, "explanations", "sim correlation", 0), ==,
                      number(run, "scores", "sim correlation", 0));
    const LimnArtifact *predictions = limn_run_find_artifact(run, "predictions");
    g_assert_cmpint(predictions->array->shape[0], ==, 3);
    g_assert_cmpfloat(limn_array_f32(predictions->array)[N], ==, 0.5f); // the bias
    g_autoptr(LimnRun) layer =
        run_now("neuron-simulate", "explanations", path, "activations", d.activations,
                "matrix", d.matrix, "concepts", d.names, "layer", "other", NULL);
    g_assert_cmpuint(limn_table_n_rows(table_of(layer, "scores")), ==, 1);
    g_free(write_file(d.folder, "e.csv", phrases, sizeof phrases - 1));
    g_autoptr(LimnRun) phrase =
        run_now("neuron-simulate", "explanations", path, "activations", d.activations,
                "matrix", d.matrix, "concepts", d.names, NULL);
    double alone = number(phrase, "scores", "sim correlation", 0);
    g_assert_cmpfloat(alone, >, 0.5);
    g_assert_cmpfloat(alone, <, number(run, "scores", "sim correlation", 0));
    expect_failure(new_run("neuron-simulate", "explanations", path, "activations",
                           d.activations, "matrix", d.matrix, "pictures", "test", NULL),
                   LIMN_ERROR_ARGUMENT, "pictures=test", "e.csv");
    expect_failure(new_run("neuron-simulate", "explanations", path, "activations",
                           d.activations, "matrix", d.matrix, "layer", "none", NULL),
                   LIMN_ERROR_FORMAT, "e.csv", "layer none");
    expect_failure(new_run("neuron-simulate", "explanations", path, "activations",
                           d.activations, "matrix", d.matrix, NULL),
                   LIMN_ERROR_MISMATCH, "none of the 1", "thing 0");
    static const char far[] = "layer,unit,description\nfc,6,thing 0\n";
    g_free(write_file(d.folder, "e.csv", far, sizeof far - 1));
    expect_failure(new_run("neuron-simulate", "explanations", path, "activations",
                           d.activations, "matrix", d.matrix, NULL),
                   LIMN_ERROR_MISMATCH, "unit 6", "6 neurons");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/neurons/matrix", test_matrix);
    g_test_add_func("/neurons/ranges", test_ranges);
    g_test_add_func("/neurons/similarity", test_similarity);
    g_test_add_func("/neurons/labels", test_labels);
    g_test_add_func("/neurons/selections", test_selections);
    g_test_add_func("/neurons/units", test_units);
    g_test_add_func("/neurons/lengths", test_lengths);
    g_test_add_func("/neurons/not-finite", test_not_finite);
    g_test_add_func("/neurons/constant", test_constant);
    g_test_add_func("/neurons/duplicates", test_duplicates);
    g_test_add_func("/neurons/filter", test_filter);
    g_test_add_func("/neurons/bad-head", test_bad_head);
    g_test_add_func("/neurons/cancel", test_cancel);
    g_test_add_func("/neurons/threads-and-shards", test_threads_and_shards);
    g_test_add_func("/neurons/chain", test_chain);
    g_test_add_func("/neurons/recorded-shards", test_recorded_shards);
    g_test_add_func("/neurons/folder", test_folder);
    g_test_add_func("/neurons/texts", test_texts);
    g_test_add_func("/neurons/simulate", test_simulate);
    return g_test_run();
}
