// SPDX-License-Identifier: GPL-3.0-or-later

// activations, neuron-explanations and neuron-simulate one after another; the same bytes
// for any number of threads and shards.

#include "neuron-testing.h"

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

// Activations as a file, the pictures as a folder: the model compares them with names, or
// their captions.jsonl gives labels.
static void
test_pictures(void)
{
    g_autofree char *folder = make_folder();
    g_autofree char *scenes = g_build_filename(folder, "scenes", NULL);
    g_autofree char *recorded = g_build_filename(folder, "recorded", NULL);
    g_autofree char *npy = g_build_filename(recorded, "activations.npy", NULL);
    g_autoptr(LimnRun) composed = run_now("scenes", "count", "40", "size", "48", NULL);
    write_study(composed, scenes);
    g_autoptr(LimnRun) record = run_now("activations", "image", scenes, NULL);
    write_study(record, recorded);
    static const char list[] = "a red circle\na blue square\nred\nheart\n";
    g_autofree char *names = write_file(folder, "names.txt", list, sizeof list - 1);
    g_autoptr(LimnRun) a = run_now("neuron-explanations", "activations", npy, "image",
                                   scenes, "variant", "similarity", "concepts", names,
                                   "filter-mean", "0", "units", "0-9", NULL);
    g_autoptr(LimnRun) b =
        run_now("neuron-explanations", "activations", recorded, "variant", "similarity",
                "concepts", names, "filter-mean", "0", "units", "0-9", NULL);
    g_assert_cmpfloat(scalar(a, "concepts"), ==, 4);
    for (guint m = 0; m < 10; m++) { // embeddings made now, or recorded
        g_assert_cmpfloat_with_epsilon(number(a, "neurons", "val correlation", m),
                                       number(b, "neurons", "val correlation", m), 1e-3);
    }
    g_autoptr(LimnRun) labels =
        run_now("neuron-explanations", "activations", npy, "image", scenes, "filter-top",
                "1", "units", "0-9", NULL);
    g_assert_cmpfloat(scalar(labels, "concepts"), >, 10);
    g_autofree char *gone = g_build_filename(scenes, "pictures-0007.png", NULL);
    g_assert_cmpint(g_unlink(gone), ==, 0);
    expect_failure(new_run("neuron-explanations", "activations", npy, "image", scenes,
                           "variant", "similarity", NULL),
                   LIMN_ERROR_IO, "pictures-0007.png", "");
    g_autofree char *few = g_build_filename(folder, "few", NULL);
    g_autoptr(LimnRun) fewer = run_now("scenes", "count", "3", "size", "48", NULL);
    write_study(fewer, few);
    expect_failure(new_run("neuron-explanations", "activations", npy, "image", few, NULL),
                   LIMN_ERROR_MISMATCH, "3 pictures", "40 rows");
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
    g_test_add_func("/neuron-chain/threads-and-shards", test_threads_and_shards);
    g_test_add_func("/neuron-chain/chain", test_chain);
    g_test_add_func("/neuron-chain/recorded-shards", test_recorded_shards);
    g_test_add_func("/neuron-chain/folder", test_folder);
    g_test_add_func("/neuron-chain/pictures", test_pictures);
    g_test_add_func("/neuron-chain/texts", test_texts);
    g_test_add_func("/neuron-chain/simulate", test_simulate);
    return g_test_run();
}
