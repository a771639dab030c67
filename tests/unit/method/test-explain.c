// SPDX-License-Identifier: GPL-3.0-or-later

// The explaining operations as a window runs them: in process, without a study folder.

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/npy.h"
#include "engine/io/picture.h"
#include "engine/method/operations.h"
#include "engine/model/explainer.h"
#include "engine/study/run.h"

#include <glib/gstdio.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static char *
sample(const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *relative = g_build_filename("samples", name, NULL);
    char *path = limn_data_path(relative, &error);
    g_assert_no_error(error);
    return path;
}

// key, value, ..., NULL
static LimnRun *
new_run(const char *id, int threads, const char *key, ...)
{
    limn_registry_set(limn_operations);
    g_autoptr(LimnStudy) study = limn_study_new(limn_registry_find(id));
    va_list args;
    va_start(args, key);
    for (; key != NULL; key = va_arg(args, const char *)) {
        g_autoptr(GError) error = NULL;
        limn_study_set(study, key, va_arg(args, const char *), &error);
        g_assert_no_error(error);
    }
    va_end(args);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_threads(job, threads);
    return limn_run_new(study, job);
}

static void
execute(LimnRun *run)
{
    g_autoptr(GError) error = NULL;
    limn_run_execute(run, &error);
    g_assert_no_error(error);
}

static void
expect_failure(LimnRun *run, LimnErrorCode code, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(limn_run_execute(run, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
    if (strstr(error->message, part) == NULL) {
        g_error("\"%s\" does not say \"%s\"", error->message, part);
    }
    limn_run_free(run);
}

static double
scalar(LimnRun *run, const char *name, const char *item)
{
    GPtrArray *scalars = limn_run_get_scalars(run);
    for (guint i = 0; i < scalars->len; i++) {
        const LimnScalar *entry = g_ptr_array_index(scalars, i);
        if (strcmp(entry->name, name) == 0 && g_strcmp0(entry->item, item) == 0) {
            return entry->value;
        }
    }
    g_error("there is no scalar %s of %s", name, item != NULL ? item : "all");
}

static guint
count_diagnostics(LimnRun *run, const char *part)
{
    g_autoptr(GPtrArray) list = limn_job_dup_diagnostics(limn_run_get_job(run));
    guint n = 0;
    for (guint i = 0; i < list->len; i++) {
        const LimnDiagnostic *diagnostic = g_ptr_array_index(list, i);
        n += strstr(diagnostic->message, part) != NULL;
    }
    return n;
}

static LimnArray *
expected_map(int i)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strdup_printf("map%d.npy", i);
    g_autofree char *path = g_build_filename(g_getenv("LIMN_TEST_DATA"), "models",
                                             "emoji-clip", "expected", name, NULL);
    LimnArray *map = limn_npy_load(path, &error);
    g_assert_no_error(error);
    return map;
}

static void
compare_map(const LimnArtifact *artifact, gint64 i, const LimnArray *expected)
{
    const float *map = limn_artifact_get_map(artifact, i);
    double largest = 0, worst = 0;
    for (gint64 k = 0; k < expected->length; k++) {
        double value = limn_array_get_double(expected, k);
        largest = MAX(largest, fabs(value));
        worst = MAX(worst, fabs(value - (double) map[k]));
    }
    g_test_message("largest difference %g of %g", worst, largest);
    g_assert_cmpfloat(worst, <=, 1e-4 * largest);
}

// From the picture file to the map, as the reference computed them.
static void
test_reference(void)
{
    static const struct {
        const char *picture, *text;
        double cosine;
    } cases[] = {{"dog-and-car.png", "a dog", 0.5015134811401367},
                 {"dog-and-car.png", "an automobile", 0.340393602848053},
                 {"lion-giraffe-tree.png", "a lion", 0.5479468703269958},
                 {"music.png", "a drum", 0.530622124671936}};
    for (int i = 0; i < (int) G_N_ELEMENTS(cases); i++) {
        g_autofree char *picture = sample(cases[i].picture);
        g_autoptr(LimnArray) expected = expected_map(i);
        g_autoptr(LimnRun) run =
            new_run("grad-eclip", 1, "image", picture, "text", cases[i].text, NULL);
        execute(run);
        compare_map(limn_run_find_artifact(run, "map"), 0, expected);
        g_assert_cmpfloat_with_epsilon(scalar(run, "cosine", cases[i].text),
                                       cases[i].cosine, 1e-6);
        g_assert_cmpfloat(scalar(run, "probability", cases[i].text), ==, 1);
    }
}

static void
same_fields(LimnRun *a, LimnRun *b, const char *name)
{
    const LimnArtifact *x = limn_run_find_artifact(a, name);
    const LimnArtifact *y = limn_run_find_artifact(b, name);
    g_assert_cmpmem(x->field->data, (gsize) x->field->length * sizeof(float),
                    y->field->data, (gsize) y->field->length * sizeof(float));
}

static void
test_threads(void)
{
    g_autofree char *picture = sample("harbour.png");
    g_autoptr(LimnRun) one = new_run("grad-eclip", 1, "image", picture, "text",
                                     "a sailboat", "layers", "3", "display", "yes", NULL);
    g_autoptr(LimnRun) three =
        new_run("grad-eclip", 3, "image", picture, "text", "a sailboat", "layers", "3",
                "display", "yes", NULL);
    execute(one);
    execute(three);
    same_fields(one, three, "map");
    same_fields(one, three, "signed");
    same_fields(one, three, "display");
    g_assert_cmpfloat(scalar(one, "cosine", "a sailboat"), ==,
                      scalar(three, "cosine", "a sailboat"));
}

// The map is the positive part of the signed map; sentences do not disturb each other.
static void
test_many_sentences(void)
{
    g_autofree char *picture = sample("desk.png");
    g_autoptr(LimnRun) many =
        new_run("grad-eclip", 1, "image", picture, "text", "a camera", "text", "a book",
                "text", "a camera", NULL);
    g_autoptr(LimnRun) one =
        new_run("grad-eclip", 1, "image", picture, "text", "a book", NULL);
    execute(many);
    execute(one);
    const LimnArtifact *map = limn_run_find_artifact(many, "map");
    const LimnArtifact *with_sign = limn_run_find_artifact(many, "signed");
    for (gint64 k = 0; k < map->field->length; k++) {
        float value = limn_array_f32(with_sign->field)[k];
        g_assert_cmpfloat(limn_array_f32(map->field)[k], ==, MAX(value, 0));
    }
    gsize size = 14 * 14 * sizeof(float);
    g_assert_cmpmem(limn_artifact_get_map(map, 1), size,
                    limn_artifact_get_map(limn_run_find_artifact(one, "map"), 0), size);
    g_assert_cmpmem(limn_artifact_get_map(map, 0), size, limn_artifact_get_map(map, 2),
                    size);
    g_assert_cmpfloat(scalar(many, "cosine", "a camera"), ==,
                      scalar(many, "cosine", "a camera (2)"));
    double sum = scalar(many, "probability", "a camera") +
                 scalar(many, "probability", "a book") +
                 scalar(many, "probability", "a camera (2)");
    g_assert_cmpfloat_with_epsilon(sum, 1, 1e-12);
    g_assert_true(with_sign->is_signed && !map->is_signed);
    g_assert_nonnull(map->picture);
    g_assert_cmpfloat(map->rect.width, ==, 448);
}

static char *
make_folder(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = g_dir_make_tmp("limn-test-XXXXXX", &error);
    g_assert_no_error(error);
    return folder;
}

static void
link_sample(const char *folder, const char *name)
{
    g_autofree char *from = sample(name);
    g_autofree char *to = g_build_filename(folder, name, NULL);
    g_autoptr(GBytes) bytes = limn_file_read(from, 0, NULL);
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    g_assert_true(g_file_set_contents(to, data, (gssize) size, NULL));
}

static void
count_yield(gpointer user_data)
{
    (*(guint *) user_data)++;
}

// B26: of a folder the good pictures are explained, the others are listed.
static void
test_folder(void)
{
    g_autofree char *folder = make_folder();
    guint n_yields = 0;
    link_sample(folder, "night.png");
    link_sample(folder, "music.png");
    g_autofree char *bad = g_build_filename(folder, "bad.png", NULL);
    g_assert_true(g_file_set_contents(bad, "nothing", -1, NULL));
    g_autoptr(LimnRun) run =
        new_run("grad-eclip", 1, "image", folder, "text", "a drum", NULL);
    limn_run_set_yield(run, count_yield, &n_yields);
    execute(run);
    g_assert_cmpuint(n_yields, ==, 3);
    g_assert_cmpuint(limn_run_get_skipped(run)->len, ==, 1);
    const LimnArtifact *map = limn_run_find_artifact(run, "map");
    gint64 shape[4] = {2, 1, 14, 14};
    g_assert_true(limn_array_has_shape(map->field, 4, shape));
    g_assert_cmpuint(map->pictures->len, ==, 2);
    g_assert_cmpuint(g_array_index(map->items, LimnItemSpan, 0).item, ==, 1);
    g_assert_cmpstr(g_ptr_array_index(map->labels, 0), ==, "music.png: a drum");
    const LimnArtifact *words = limn_run_find_artifact(run, "words");
    g_assert_cmpuint(words->texts->len, ==, 2);
    limn_remove_tree(folder, NULL);
}

static void
cancel_now(gpointer user_data)
{
    limn_job_cancel(user_data);
}

static void
test_cancelled(void)
{
    g_autofree char *picture = sample("desk.png");
    static const char *const operations[] = {"grad-eclip", "attention-maps",
                                             "clip-classify", "explain-evaluate"};
    for (gsize i = 0; i < G_N_ELEMENTS(operations); i++) {
        LimnRun *run =
            new_run(operations[i], 1, "image", picture, "text", "a", "text", "b", NULL);
        limn_run_set_yield(run, cancel_now, limn_run_get_job(run));
        expect_failure(run, LIMN_ERROR_CANCELLED, "cancelled");
    }
}

// B28: a picture in which nothing speaks for the sentence.
static void
test_constant_map(void)
{
    g_autofree char *folder = make_folder();
    g_autofree char *path = g_build_filename(folder, "flat.png", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) flat =
        limn_image_new(112, 112, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, &error);
    flat->bits = 8;
    g_assert_true(limn_png_save(flat, path, &error));
    g_autoptr(LimnRun) run =
        new_run("grad-eclip", 1, "image", path, "text", "a dog", "text", "a cat", "text",
                "a lion", "display", "yes", NULL);
    execute(run);
    const LimnArtifact *map = limn_run_find_artifact(run, "map");
    guint n_zero = 0;
    for (gint64 i = 0; i < 3; i++) {
        double min, max;
        g_assert_true(limn_artifact_data_range(map, i, &min, &max, NULL));
        n_zero += min == max;
    }
    g_assert_cmpuint(count_diagnostics(run, "the map is"), ==, n_zero);
    double min, max;
    gint64 n_nan;
    g_assert_true(limn_artifact_data_range(limn_run_find_artifact(run, "display"), -1,
                                           &min, &max, &n_nan));
    g_assert_cmpint(n_nan, ==, 0); // no 0/0
    limn_remove_tree(folder, NULL);
}

// B46: what the model did not read is marked and carries no weight.
static void
test_long_text(void)
{
    g_autofree char *picture = sample("desk.png");
    g_autoptr(GString) text = g_string_new("a camera");
    for (int i = 0; i < 60; i++) {
        g_string_append_printf(text, " %d", i);
    }
    g_autoptr(LimnRun) run =
        new_run("grad-eclip", 1, "image", picture, "text", text->str, NULL);
    execute(run);
    const LimnTextItem *item =
        g_ptr_array_index(limn_run_find_artifact(run, "words")->texts, 0);
    g_assert_true(item->truncated);
    g_assert_cmpuint(item->used_bytes, <, text->len);
    g_assert_cmpuint(item->tokens->len, ==, 30); // 32 without start and end
    double sum = 0;
    for (guint i = 0; i < item->words->len; i++) {
        const LimnTextWord *word = &g_array_index(item->words, LimnTextWord, i);
        g_assert_cmpuint(word->end, <=, item->used_bytes);
        sum += word->weight;
    }
    g_assert_true(fabs(sum - 1) < 1e-5 || sum == 0);
    g_assert_cmpuint(count_diagnostics(run, "longer than the model's"), >=, 1);
    g_autoptr(LimnRun) empty =
        new_run("grad-eclip", 1, "image", picture, "text", "", NULL);
    execute(empty);
    g_assert_cmpuint(count_diagnostics(empty, "is empty"), ==, 1);
}

static void
test_refused(void)
{
    g_autofree char *picture = sample("desk.png");
    expect_failure(
        new_run("grad-eclip", 1, "image", picture, "text", "a", "layers", "6", NULL),
        LIMN_ERROR_ARGUMENT, "from 1 to 5");
    expect_failure(
        new_run("attention-maps", 1, "image", picture, "method", "grad-cam", NULL),
        LIMN_ERROR_ARGUMENT, "a sentence is missing");
    expect_failure(new_run("attention-maps", 1, "image", picture, "text", "a", "method",
                           "rise", "side", "text", NULL),
                   LIMN_ERROR_ARGUMENT, "pictures only");
    expect_failure(new_run("grad-eclip", 1, "image", "/nowhere.png", "text", "a", NULL),
                   LIMN_ERROR_IO, "/nowhere.png");
    expect_failure(new_run("explain-evaluate", 1, "image", picture, "every", "101", NULL),
                   LIMN_ERROR_ARGUMENT, "every=101");
    expect_failure(new_run("explain-evaluate", 1, "image", picture, "layers", "0", NULL),
                   LIMN_ERROR_ARGUMENT, "layers=0");
}

// Every sample scene: what is asked for is found better than by chance.
static void
test_evaluate_samples(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = limn_data_path("samples", &error);
    g_autoptr(LimnRun) run =
        new_run("explain-evaluate", 2, "image", folder, "measures", "localisation", NULL);
    execute(run);
    g_assert_cmpuint(limn_run_get_skipped(run)->len, ==, 0);
    g_test_message("pointing %g, share of the objects %g", scalar(run, "pointing", NULL),
                   scalar(run, "object_share", NULL));
    g_assert_cmpfloat(scalar(run, "pointing", NULL), >, 0.5);
    g_assert_cmpfloat(scalar(run, "pointing", NULL), >,
                      4 * scalar(run, "object_share", NULL));
    g_assert_cmpfloat(scalar(run, "energy", NULL), >,
                      2 * scalar(run, "object_share", NULL));
    g_assert_null(limn_run_find_artifact(run, "curves"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/explain/reference", test_reference);
    g_test_add_func("/explain/threads", test_threads);
    g_test_add_func("/explain/many-sentences", test_many_sentences);
    g_test_add_func("/hard/B26-folder", test_folder);
    g_test_add_func("/explain/cancelled", test_cancelled);
    g_test_add_func("/hard/B28-constant-map", test_constant_map);
    g_test_add_func("/hard/B46-long-text", test_long_text);
    g_test_add_func("/explain/refused", test_refused);
    g_test_add_func("/explain/evaluate-samples", test_evaluate_samples);
    return g_test_run();
}
