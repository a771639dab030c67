// SPDX-License-Identifier: GPL-3.0-or-later

// The concept matrix from labels, similarity and files; filter and calibration; lists of
// concepts.

#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/model/concept-list.h"
#include "engine/model/neuron-calibration.h"
#include "engine/model/neuron-concepts.h"
#include "tests/unit/loader-test.h"

static LimnArray *
new_matrix(gint64 rows, gint64 columns)
{
    LimnArray *array = limn_array_new_f32_2d(rows, columns, NULL);
    g_assert_nonnull(array);
    return array;
}

static char *
write_text(const char *folder, const char *name, const char *text)
{
    return write_file(folder, name, text, strlen(text));
}

static guint
n_diagnostics(LimnJob *job, const char *with)
{
    g_autoptr(GPtrArray) list = limn_job_dup_diagnostics(job);
    guint n = 0;
    for (guint i = 0; i < list->len; i++) {
        const LimnDiagnostic *d = g_ptr_array_index(list, i);
        n += strstr(d->message, with) != NULL;
    }
    return n;
}

static const char *const classes[] = {"dog", "cat", "car", "bus", NULL};

// ---- labels

static void
test_labels(void)
{
    g_autoptr(GError) error = NULL;
    gint64 n = 4;
    g_autoptr(LimnArray) ids = limn_array_new(LIMN_DTYPE_I64, 1, &n, NULL);
    const gint64 values[] = {2, 0, -1, 3};
    memcpy(ids->data, values, sizeof values);
    g_autoptr(LimnArray) presence = limn_presence_from_array(ids, 4, "l.npy", &error);
    g_assert_no_error(error);
    g_autoptr(GPtrArray) superclasses = limn_superclasses_new();
    LimnSuperclass *animal = limn_superclasses_add(superclasses, "animal");
    LimnSuperclass *vehicle = limn_superclasses_add(superclasses, "vehicle");
    for (guint32 i = 0; i < 2; i++) {
        guint32 other = i + 2;
        g_array_append_val(animal->members, i);
        g_array_append_val(vehicle->members, other);
    }
    g_autoptr(LimnConcepts) concepts = limn_concepts_from_labels(
        presence, classes, superclasses, 1, "l.npy", NULL, &error);
    g_assert_no_error(error);
    const float expected[] = {0, 0, 1, 0, 0, 1, 1, 0, 0, 0, 1, 0,
                              0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1};
    g_assert_cmpmem(concepts->values->data, sizeof expected, expected, sizeof expected);
    g_assert_cmpstr(g_ptr_array_index(concepts->names, 5), ==, "vehicle");
    g_assert_true(concepts->wide[4] && !concepts->wide[3]);
}

static void
test_bad_labels(void)
{
    g_autoptr(GError) error = NULL;
    gint64 two[] = {2, 4}, three[] = {2, 3}, n = 2;
    g_autoptr(LimnArray) ids = limn_array_new(LIMN_DTYPE_F64, 1, &n, NULL);
    g_autoptr(LimnArray) good = limn_array_new(LIMN_DTYPE_U8, 2, two, NULL);
    g_autoptr(LimnArray) narrow = limn_array_new(LIMN_DTYPE_U8, 2, three, NULL);
    limn_array_f64(ids)[1] = 4;
    g_assert_null(limn_presence_from_array(ids, 4, "l.npy", &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "l.npy", "picture 1 is 4", "0 to 3",
                   NULL);
    limn_array_f64(ids)[1] = 0.5;
    g_assert_null(limn_presence_from_array(ids, 4, "l.npy", &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "0.5", NULL);
    limn_array_f64(ids)[1] = NAN;
    g_assert_null(limn_presence_from_array(ids, 4, "l.npy", &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "picture 1", NULL);
    g_assert_null(limn_presence_from_array(narrow, 4, "l.npy", &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "[2, 3]", "[pictures, 4]", NULL);
    limn_array_u8(good)[5] = 2;
    g_assert_null(limn_presence_from_array(good, 4, "l.npy", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "picture 1 for class 1 is 2", NULL);
}

static void
test_json(void)
{
    g_autofree char *folder = make_folder();
    g_autoptr(GError) error = NULL;
    g_autofree char *path =
        write_text(folder, "l.json", "[2, \"dog\", [], [0, \"bus\"]]");
    g_autoptr(LimnArray) presence = limn_presence_load_json(path, classes, &error);
    g_assert_no_error(error);
    const guint8 expected[] = {0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1};
    g_assert_cmpmem(presence->data, sizeof expected, expected, sizeof expected);
    static const struct {
        const char *text, *says;
        LimnErrorCode code;
    } bad[] = {
        {"[4]", "there is no class 4", LIMN_ERROR_MISMATCH},
        {"[\"cow\"]", "'cow'", LIMN_ERROR_MISMATCH},
        {"[1.5]", "not a class", LIMN_ERROR_FORMAT},
        {"[]", "not a list", LIMN_ERROR_FORMAT},
        {"{}", "not a list", LIMN_ERROR_FORMAT},
        {"[1", "l.json", LIMN_ERROR_FORMAT},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_free(write_text(folder, "l.json", bad[i].text));
        g_assert_null(limn_presence_load_json(path, classes, &error));
        assert_refused(&error, bad[i].code, "l.json", bad[i].says, NULL);
    }
    remove_folder(folder);
}

static void
test_superclasses(void)
{
    g_autofree char *folder = make_folder();
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) job = limn_job_new();
    g_autofree char *path =
        write_text(folder, "s.json",
                   "{\"land_animal\": [1, \"dog\", 1], \"lone\": [2], "
                   "\"pet\": [0, 1], \"road\": [2, 3]}");
    g_autoptr(GPtrArray) list = limn_superclasses_load(path, classes, job, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(list->len, ==, 2); // lone has one class, pet those of animal
    const LimnSuperclass *animal = g_ptr_array_index(list, 0);
    g_assert_cmpstr(animal->name, ==, "land animal");
    g_assert_cmpuint(animal->members->len, ==, 2);
    g_assert_cmpuint(g_array_index(animal->members, guint32, 0), ==, 0);
    g_assert_cmpuint(n_diagnostics(job, "1 superclasses of fewer"), ==, 1);
    g_free(write_text(folder, "s.json", "{\"a\": [0, 9]}"));
    g_assert_null(limn_superclasses_load(path, classes, job, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "superclass 'a'", "9", "0 to 3", NULL);
    g_free(write_text(folder, "s.json", "{\"a\": 3}"));
    g_assert_null(limn_superclasses_load(path, classes, job, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "superclass 'a' is not a list", NULL);
    remove_folder(folder);
}

// ---- names

static GPtrArray *
names_of(const char *const *list)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (gsize i = 0; list[i] != NULL; i++) {
        g_ptr_array_add(names, g_strdup(list[i]));
    }
    return names;
}

static void
test_duplicate_names(void)
{
    const char *const list[] = {"crane", "dog", "crane", "crane (2)", "crane", NULL};
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) values = new_matrix(2, 5);
    g_autoptr(LimnConcepts) concepts =
        limn_concepts_new(values, names_of(list), "names.txt", job, &error);
    g_assert_no_error(error);
    const char *const expected[] = {"crane", "dog", "crane (2)", "crane (2) (2)",
                                    "crane (3)"};
    for (guint i = 0; i < 5; i++) {
        g_assert_cmpstr(g_ptr_array_index(concepts->names, i), ==, expected[i]);
    }
    g_assert_cmpuint(n_diagnostics(job, "'crane'"), ==, 1);
    g_autoptr(LimnArray) narrow = new_matrix(2, 4);
    g_assert_null(limn_concepts_new(narrow, names_of(list), "names.txt", job, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "names.txt", "5 names", "[2, 4]", NULL);
}

static void
test_not_finite(void)
{
    const char *const list[] = {"dog", "cat", NULL};
    g_autoptr(GPtrArray) names = names_of(list);
    g_autoptr(LimnArray) values = new_matrix(3, 2);
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_concepts_check_finite(values, names, "p.npy", &error));
    limn_array_f32(values)[3] = NAN;
    g_assert_false(limn_concepts_check_finite(values, names, "p.npy", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "p.npy", "cat", "picture 1", "NaN", NULL);
}

static void
test_list(void)
{
    g_autofree char *folder = make_folder();
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) job = limn_job_new();
    g_autofree char *lines = write_text(folder, "c.txt", "guide_dog\n\ncat\r\ncat\n");
    g_autoptr(LimnConceptList) list = limn_concept_list_load(lines, job, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(list->names->len, ==, 2);
    g_assert_nonnull(limn_concept_list_find(list, "guide dog"));
    g_assert_cmpuint(n_diagnostics(job, "'cat'"), ==, 1);
    g_autofree char *table = write_text(folder, "c.tsv",
                                        "name\tkey\tgroup\tsubgroup\n"
                                        "dog\td\tAnimals\tland-animal\n"
                                        "crab\tc\tAnimals\tseafood\n"
                                        "rice\tr\tFood\tasian\n"
                                        "seafood\ts\tFood\tseafood\n");
    g_autoptr(LimnConceptList) grouped = limn_concept_list_load(table, job, &error);
    g_assert_no_error(error);
    g_auto(GStrv) all = limn_concept_list_dup_all(grouped);
    g_autofree char *joined = g_strjoinv(",", all);
    g_assert_cmpstr(joined, ==, "dog,crab,rice,seafood,Animals,Food,land animal,asian");
    g_autoptr(GPtrArray) superclasses = limn_concept_list_make_superclasses(grouped);
    g_assert_cmpuint(superclasses->len, ==, 3); // Animals, Food, seafood
    const LimnSuperclass *last = g_ptr_array_index(superclasses, 2);
    g_assert_cmpstr(last->name, ==, "seafood (group)"); // a concept has that name
    g_free(write_text(folder, "c.tsv", "key\tgroup\nd\tAnimals\n"));
    g_assert_null(limn_concept_list_load(table, job, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "c.tsv", "'name'", NULL);
    g_autofree char *csv =
        write_text(folder, "c.csv", "concept,group\n\"dog, wet\",Animals\n,x\n");
    g_assert_null(limn_concept_list_load(csv, job, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "row 3", NULL);
    g_free(write_text(folder, "c.csv", "concept,group\n\"dog, wet\",Animals\n"));
    g_autoptr(LimnConceptList) quoted = limn_concept_list_load(csv, job, &error);
    g_assert_nonnull(limn_concept_list_find(quoted, "dog, wet"));
    remove_folder(folder);
}

static void
test_builtin_list(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnConceptList) list = limn_concept_list_load(NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(list->names->len, ==, 809);
    g_autoptr(GPtrArray) superclasses = limn_concept_list_make_superclasses(list);
    g_assert_cmpuint(superclasses->len, >, 20);
}

// ---- filter

static void
test_filter(void)
{
    enum { N = 50, K = 37 };
    g_autoptr(LimnArray) values = new_matrix(N, K);
    g_autoptr(LimnJob) many = limn_job_new();
    LimnRng rng = limn_rng_make(2, 2);
    LimnConceptFilter filter;
    for (gint64 i = 0; i < values->length; i++) {
        limn_array_f32(values)[i] = limn_rng_uniform(&rng);
    }
    for (gsize i = 0; i < N; i++) {
        limn_array_f32(values)[i * K + 3] *= 0.5f;    // too weak
        limn_array_f32(values)[i * K + 5] = 0.9f;     // constant
        limn_array_f32(values)[i * K + 7] = (i == 4); // one picture only
    }
    limn_concept_filter_init(&filter);
    limn_job_set_threads(many, 3);
    g_autoptr(LimnConceptChoice) choice = limn_concepts_filter(values, &filter, many);
    g_assert_cmpuint(choice->n_kept, ==, K - 3);
    g_assert_false(choice->mask[3] || choice->mask[5] || choice->mask[7]);
    g_assert_cmpfloat_with_epsilon(choice->top_mean[7], 0.2, 1e-12);
    g_assert_cmpfloat(choice->std[5], ==, 0);
    for (gsize j = 0; j < K; j++) { // against sorting
        float column[N];
        for (gsize i = 0; i < N; i++) {
            column[i] = limn_array_f32(values)[i * K + j];
        }
        double sum = 0;
        for (int r = 0; r < 5; r++) {
            gsize best = 0;
            for (gsize i = 1; i < N; i++) {
                best = column[i] > column[best] ? i : best;
            }
            sum += column[best];
            column[best] = -1;
        }
        g_assert_cmpfloat_with_epsilon(choice->top_mean[j], sum / 5, 1e-12);
    }
    g_autoptr(LimnArray) few = new_matrix(2, 1); // fewer rows than `top`
    limn_array_f32(few)[0] = 1;
    g_autoptr(LimnConceptChoice) small = limn_concepts_filter(few, &filter, NULL);
    g_assert_cmpfloat(small->top_mean[0], ==, 0.5);
}

// ---- similarity

static void
test_cosines(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) a = new_matrix(2, 3), b = new_matrix(1, 2);
    g_assert_null(limn_concepts_cosines(a, b, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "[2, 3]", "[1, 2]", NULL);
    g_autoptr(LimnArray) c = new_matrix(1, 3);
    limn_array_f32(a)[0] = 2;
    limn_array_f32(c)[0] = 1;
    limn_array_f32(c)[1] = 1;
    g_autoptr(LimnArray) cosines = limn_concepts_cosines(a, c, NULL, &error);
    g_assert_cmpfloat_with_epsilon(limn_array_f32(cosines)[0], sqrt(0.5), 1e-7);
    g_assert_cmpfloat(limn_array_f32(cosines)[1], ==, 0);
    g_autoptr(LimnArray) p = limn_concepts_sigmoid(cosines, 10, -0.5, NULL, &error);
    g_assert_cmpfloat_with_epsilon(limn_array_f32(p)[0],
                                   1 / (1 + exp(-10 * (sqrt(0.5) - 0.5))), 1e-6);
}

// Labels drawn from a known sigmoid: the grid comes near, Newton finds the optimum.
static void
test_calibration(void)
{
    enum { N = 400, K = 25 };
    g_autoptr(LimnArray) cosines = new_matrix(N, K), truth = new_matrix(N, K);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) many = limn_job_new();
    guint8 skipped[K] = {0};
    LimnRng rng = limn_rng_make(4, 9);
    for (gint64 i = 0; i < cosines->length; i++) {
        double cosine = 0.4 * limn_rng_uniform(&rng);
        limn_array_f32(cosines)[i] = (float) cosine;
        limn_array_f32(truth)[i] =
            limn_rng_uniform(&rng) < 1 / (1 + exp(-30 * (cosine - 0.22)));
    }
    skipped[3] = TRUE;
    for (gsize i = 0; i < N; i++) {
        limn_array_f32(truth)[i * K + 3] = 1; // would spoil it
    }
    limn_job_set_threads(many, 3);
    LimnCalibration c, again;
    g_assert_true(limn_calibrate_grid(cosines, truth, skipped, &c, NULL, &error));
    g_assert_true(limn_calibrate_grid(cosines, truth, skipped, &again, many, &error));
    g_assert_true(c.a == again.a && c.b == again.b && c.loss == again.loss);
    g_assert_cmpfloat_with_epsilon(c.a, 30, 4);
    g_assert_cmpfloat_with_epsilon(c.b, -0.22, 0.02);
    // The binned loss is the true one.
    double exact = limn_calibration_loss(cosines, truth, skipped, c.a, c.b, NULL);
    g_assert_cmpfloat_with_epsilon(exact, c.loss, 1e-6);
    double before = exact;
    g_assert_true(limn_calibrate_newton(cosines, truth, skipped, &c, many, &error));
    g_assert_true(c.converged);
    g_assert_cmpfloat(c.loss, <=, before);
    for (int i = 0; i < 4; i++) { // nothing near is better
        double a = c.a + (i == 0 ? 0.05 : i == 1 ? -0.05 : 0);
        double b = c.b + (i == 2 ? 1e-3 : i == 3 ? -1e-3 : 0);
        g_assert_cmpfloat(limn_calibration_loss(cosines, truth, skipped, a, b, NULL), >,
                          c.loss);
    }
}

static void
test_bad_calibration(void)
{
    g_autoptr(LimnArray) cosines = new_matrix(3, 2), truth = new_matrix(3, 1);
    g_autoptr(LimnArray) fitting = new_matrix(3, 2);
    g_autoptr(GError) error = NULL;
    LimnCalibration c = {10, -0.2, 0, FALSE};
    const guint8 all[] = {1, 1};
    g_assert_false(limn_calibrate_grid(cosines, truth, NULL, &c, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "[3, 2]", "[3, 1]", NULL);
    g_assert_false(limn_calibrate_grid(cosines, fitting, all, &c, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "no pair", NULL);
    // Labels that the cosines separate: it ends, and says so.
    for (gsize i = 0; i < 6; i++) {
        limn_array_f32(cosines)[i] = i < 3 ? 0.1f : 0.5f;
        limn_array_f32(fitting)[i] = i >= 3;
    }
    g_assert_true(limn_calibrate_grid(cosines, fitting, NULL, &c, NULL, &error));
    g_assert_true(limn_calibrate_newton(cosines, fitting, NULL, &c, NULL, &error));
    g_assert_true(isfinite(c.a) && isfinite(c.b));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/neuron-concepts/labels", test_labels);
    g_test_add_func("/neuron-concepts/bad-labels", test_bad_labels);
    g_test_add_func("/neuron-concepts/json", test_json);
    g_test_add_func("/neuron-concepts/superclasses", test_superclasses);
    g_test_add_func("/neuron-concepts/duplicate-names", test_duplicate_names);
    g_test_add_func("/neuron-concepts/not-finite", test_not_finite);
    g_test_add_func("/neuron-concepts/list", test_list);
    g_test_add_func("/neuron-concepts/builtin-list", test_builtin_list);
    g_test_add_func("/neuron-concepts/filter", test_filter);
    g_test_add_func("/neuron-concepts/cosines", test_cosines);
    g_test_add_func("/neuron-concepts/calibration", test_calibration);
    g_test_add_func("/neuron-concepts/bad-calibration", test_bad_calibration);
    return g_test_run();
}
