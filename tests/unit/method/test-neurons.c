// SPDX-License-Identifier: GPL-3.0-or-later

// neuron-explanations as an operation: from files to tables, with all that can be wrong
// in its inputs.

#include "neuron-testing.h"

// ---- explanations

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
    return g_test_run();
}
