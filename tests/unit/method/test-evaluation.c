// SPDX-License-Identifier: GPL-3.0-or-later

// Label maps and names beside pictures, classes and templates, deletion and insertion.

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/image/map-metrics.h"
#include "engine/io/picture.h"
#include "engine/method/operations.h"
#include "engine/model/map-curves.h"
#include "engine/model/study-truth.h"

#include <math.h>
#include <string.h>

static char *folder;

static char *
in_folder(const char *name)
{
    return g_build_filename(folder, name, NULL);
}

static void
write_text(const char *name, const char *text)
{
    g_autofree char *path = in_folder(name);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void
remove_file(const char *name)
{
    g_autofree char *path = in_folder(name);
    limn_remove_tree(path, NULL);
}

// A grey picture whose pixels repeat the values.
static void
write_grey(const char *name, int width, int height, const guint8 *values, int n)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image =
        limn_image_new(width, height, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, &error);
    image->bits = 8;
    for (int i = 0; i < width * height; i++) {
        ((guint8 *) image->data)[i] = values[i % n];
    }
    g_autofree char *path = in_folder(name);
    g_assert_true(limn_png_save(image, path, &error));
}

static LimnTruth *
load_truth(const char *mask, GError **error)
{
    g_autoptr(LimnImage) picture =
        limn_image_new(4, 3, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, NULL);
    g_autofree char *path = in_folder("photo.png");
    return limn_truth_load(path, picture, mask, NULL, error);
}

// ---- label maps

static void
test_truth_found(void)
{
    static const guint8 values[] = {0, 1, 2};
    static const char *const beside[] = {"photo_labels.png", "photo_mask.png"};
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnTruth) none = load_truth(NULL, &error);
    g_assert_no_error(error);
    g_assert_null(none->mask);
    for (gsize i = 0; i < G_N_ELEMENTS(beside); i++) {
        write_grey(beside[i], 4, 3, values, 3);
        g_autoptr(LimnTruth) truth = load_truth(NULL, &error);
        g_assert_no_error(error);
        g_assert_true(g_str_has_suffix(truth->path, beside[i]));
        remove_file(beside[i]);
    }
    write_grey("photo.tif.png", 4, 3, values, 3);
    g_autofree char *given = in_folder("photo.tif.png");
    g_autoptr(LimnTruth) truth = load_truth(given, &error);
    g_assert_no_error(error);
    g_assert_true(limn_truth_has_value(truth, 2));
    g_assert_false(limn_truth_has_value(truth, 3));
    remove_file("photo.tif.png");
    g_assert_null(load_truth(folder, &error)); // a folder without one for this picture
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
}

static void
test_truth_names(void)
{
    static const guint8 values[] = {0, 7};
    g_autoptr(GError) error = NULL;
    write_grey("elsewhere.png", 4, 3, values, 2);
    write_text("photo.json", "{\"labels\": \"elsewhere.png\", \"objects\": "
                             "[{\"value\": 7, \"name\": \"dog\", \"box\": [1]}]}");
    g_autoptr(LimnTruth) truth = load_truth(NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(truth->names[0], ==, "dog");
    g_assert_cmpint(g_array_index(truth->values, gint64, 0), ==, 7);
    g_assert_true(limn_truth_has_value(truth, 7));
    // JSON of another kind says nothing; broken JSON does not go unnoticed.
    write_text("photo.json", "{\"shapes\": [], \"version\": \"5\"}");
    g_autoptr(LimnTruth) other = load_truth(NULL, &error);
    g_assert_no_error(error);
    g_assert_null(other->names[0]);
    static const char *const broken[] = {"{\"objects\": [{\"value\": \"x\"}]}",
                                         "{\"objects\": [3]}", "{", ""};
    for (gsize i = 0; i < G_N_ELEMENTS(broken); i++) {
        write_text("photo.json", broken[i]);
        g_assert_null(load_truth(NULL, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
        g_assert_nonnull(strstr(error->message, "photo.json"));
        g_clear_error(&error);
    }
    remove_file("photo.json");
    remove_file("elsewhere.png");
}

static void
expect_bad_mask(LimnErrorCode code, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(load_truth(NULL, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
    if (strstr(error->message, part) == NULL) {
        g_error("\"%s\" does not say \"%s\"", error->message, part);
    }
    remove_file("photo_mask.png");
}

// B10, B13, B09: another size, colours, compression with loss.
static void
test_truth_refused(void)
{
    static const guint8 values[] = {0, 1};
    write_grey("photo_mask.png", 4, 4, values, 2);
    expect_bad_mask(LIMN_ERROR_MISMATCH, "photo_mask.png");
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) colours =
        limn_image_new(4, 3, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, &error);
    colours->bits = 8;
    g_autofree char *path = in_folder("photo_mask.png");
    g_assert_true(limn_png_save(colours, path, &error));
    expect_bad_mask(LIMN_ERROR_FORMAT, "colours");
    write_text("photo_mask.png", "no picture");
    expect_bad_mask(LIMN_ERROR_FORMAT, "photo_mask.png");
}

static void
expect_selection(const guint8 *values, int n, gint64 value, gint64 ignore,
                 const guint8 *expected, gboolean expected_binary)
{
    g_autoptr(GError) error = NULL;
    gboolean binary = FALSE;
    write_grey("photo_mask.png", 4, 3, values, n);
    g_autoptr(LimnTruth) truth = load_truth(NULL, &error);
    g_assert_no_error(error);
    g_autofree guint8 *mask = limn_truth_select(truth, value, ignore, &binary, &error);
    g_assert_cmpmem(mask, (gsize) n, expected, (gsize) n);
    g_assert_cmpint(binary, ==, expected_binary);
    remove_file("photo_mask.png");
}

// B11, B12: what 255 means.
static void
test_truth_select(void)
{
    static const guint8 voc[] = {0, 1, 2, 255}, binary[] = {0, 255, 255, 0};
    expect_selection(voc, 4, 1, 255, (guint8[]){0, 1, 0, 2}, FALSE);
    expect_selection(voc, 4, -1, 255, (guint8[]){0, 1, 1, 2}, FALSE);
    expect_selection(voc, 4, -1, -1, (guint8[]){0, 1, 1, 1}, FALSE);
    expect_selection(voc, 4, 255, 255, (guint8[]){0, 0, 0, 1}, FALSE);
    expect_selection(voc, 4, 9, 255, (guint8[]){0, 0, 0, 2}, FALSE);
    expect_selection(binary, 4, -1, 255, (guint8[]){0, 1, 1, 0}, TRUE);
    expect_selection(binary, 4, -1, -1, (guint8[]){0, 1, 1, 0}, FALSE);
}

// ---- classes

static LimnRun *
classify_run(const char *key, const char *value, const char *key2, const char *value2)
{
    g_autoptr(GError) error = NULL;
    limn_registry_set(limn_operations);
    g_autoptr(LimnStudy) study = limn_study_new(limn_registry_find("clip-classify"));
    g_assert_true(limn_study_set(study, key, value, &error));
    if (key2 != NULL) {
        g_assert_true(limn_study_set(study, key2, value2, &error));
    }
    return limn_run_new(study, NULL);
}

static void
test_classes(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_assert_no_error(error);
    write_text("classes.txt", "15\tdog face\n2\t banana \n");
    write_text("templates.txt", "a photo of a {}\nthe {} or {}\n");
    g_autofree char *list = in_folder("classes.txt");
    g_autofree char *templates = in_folder("templates.txt");
    g_autoptr(LimnRun) run = classify_run("classes", list, "templates", templates);
    g_autoptr(LimnStudyClasses) classes = limn_study_load_classes(run, clip, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(classes->n, ==, 2);
    g_assert_cmpstr(classes->labels[1], ==, "banana");
    g_assert_cmpstr(classes->prompts[0], ==, "a photo of a dog face");
    g_assert_cmpint(classes->values[0], ==, 15);
    for (guint i = 0; i < 2; i++) {
        double sum = 0;
        for (gint64 c = 0; c < classes->embeddings->shape[1]; c++) {
            double v = limn_array_get_double(
                classes->embeddings, (gint64) i * classes->embeddings->shape[1] + c);
            sum += v * v;
        }
        g_assert_cmpfloat_with_epsilon(sum, 1, 1e-5);
    }
    g_autoptr(LimnRun) names = classify_run("class", "dog", "class", "dog");
    g_autoptr(LimnStudyClasses) twins = limn_study_load_classes(names, clip, &error);
    g_assert_cmpstr(twins->labels[1], ==, "dog (2)");
    g_assert_cmpint(twins->values[0], ==, -1);
}

static void
expect_bad_classes(const char *key, const char *text, const char *key2, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    write_text("list.txt", text);
    g_autofree char *path = in_folder("list.txt");
    g_autoptr(LimnRun) run = classify_run(key, path, key2, "dog");
    g_assert_null(limn_study_load_classes(run, clip, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, part));
}

static void
test_classes_refused(void)
{
    expect_bad_classes("classes", "1\tdog\ncat\n", NULL, "class 2");
    expect_bad_classes("classes", "x\tdog\n", NULL, "class 1");
    expect_bad_classes("classes", "-1\tdog\n", NULL, "class 1");
    expect_bad_classes("classes", "\n\n", NULL, "list.txt");
    expect_bad_classes("templates", "a {}\nnothing\n", "class", "template 2");
}

static void
test_score(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_autoptr(LimnRun) run = classify_run("text", "a dog", "text", "a cat");
    const char *const texts[] = {"a dog", "a cat", "a dog", NULL};
    g_autoptr(LimnStudyClasses) classes =
        limn_study_make_prompts(run, clip, texts, &error);
    g_assert_no_error(error);
    gint64 p = classes->embeddings->shape[1];
    g_autoptr(LimnArray) embedding = limn_array_new_f32_1d(p, &error);
    for (gint64 c = 0; c < p; c++) { // three times as long as the first class
        limn_array_f32(embedding)[c] = 3 * limn_array_f32(classes->embeddings)[c];
    }
    LimnClassScore scores[3];
    limn_study_score(classes, clip, embedding, scores);
    g_assert_cmpfloat_with_epsilon(scores[0].cosine, 1, 1e-6);
    g_assert_cmpuint(scores[0].rank, ==, 0); // equal scores keep their order
    g_assert_cmpuint(scores[2].rank, ==, 1);
    g_assert_cmpuint(scores[1].rank, ==, 2);
    g_assert_cmpfloat_with_epsilon(
        scores[0].probability + scores[1].probability + scores[2].probability, 1, 1e-12);
    g_assert_cmpfloat_with_epsilon(
        scores[1].logit, scores[1].cosine * (double) limn_clip_get_logit_scale(clip),
        1e-9);
}

// ---- curves

static void
test_curves(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_autofree char *path = limn_data_path("samples/dog-and-car.png", &error);
    g_autoptr(LimnImage) image = limn_picture_load(path, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LimnRun) run = classify_run("text", "a dog", "text", "a cat");
    const char *const texts[] = {"a dog", "an automobile", NULL};
    g_autoptr(LimnStudyClasses) classes =
        limn_study_make_prompts(run, clip, texts, &error);
    gint64 n = (gint64) image->width * image->height;
    g_autofree float *map = g_new(float, n);
    for (gint64 i = 0; i < n; i++) {
        map[i] = i % image->width < 30 ? NAN : (float) (i % 1000);
    }
    LimnCurveOptions options = {.steps = 20, .gap = 10, .seed = 3, .stream = 5};
    LimnCurvePoint a[3], b[3], c[3], d[3];
    g_assert_true(
        limn_map_deletion_curve(clip, classes, 0, image, map, &options, a, NULL, &error));
    g_assert_true(
        limn_map_deletion_curve(clip, classes, 0, image, map, &options, b, NULL, &error));
    for (int i = 0; i < 3; i++) { // the same seed
        g_assert_cmpfloat(a[i].cosine, ==, b[i].cosine);
        g_assert_cmpfloat(a[i].probability, ==, b[i].probability);
        g_assert_cmpuint(a[i].rank, ==, b[i].rank);
    }
    options.stream = 6;
    g_assert_true(
        limn_map_deletion_curve(clip, classes, 0, image, map, &options, c, NULL, &error));
    g_assert_cmpfloat(a[0].cosine, ==, c[0].cosine); // nothing is deleted yet
    g_assert_cmpfloat(a[1].cosine, !=, c[1].cosine); // other colours
    g_assert_cmpfloat(a[0].fraction, ==, 0);
    g_assert_cmpfloat_with_epsilon(a[2].fraction, 0.5, 1e-3);
    g_assert_true(limn_map_insertion_curve(clip, classes, 0, image, map, &options, d,
                                           NULL, &error));
    g_assert_cmpfloat(d[2].fraction, ==, 1);
    g_assert_cmpfloat(d[2].cosine, ==, a[0].cosine); // the whole picture
    g_assert_cmpfloat(d[0].cosine, !=, a[0].cosine); // black
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_false(
        limn_map_insertion_curve(clip, classes, 0, image, map, &options, d, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    folder = g_dir_make_tmp("limn-test-XXXXXX", NULL);
    g_test_add_func("/evaluation/truth-found", test_truth_found);
    g_test_add_func("/evaluation/truth-names", test_truth_names);
    g_test_add_func("/evaluation/truth-refused", test_truth_refused);
    g_test_add_func("/hard/B11-meaning-of-255", test_truth_select);
    g_test_add_func("/evaluation/classes", test_classes);
    g_test_add_func("/evaluation/classes-refused", test_classes_refused);
    g_test_add_func("/evaluation/score", test_score);
    g_test_add_func("/evaluation/curves", test_curves);
    int status = g_test_run();
    limn_remove_tree(folder, NULL);
    g_free(folder);
    return status;
}
