// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/study-folder.h"

#include "engine/base/file.h"
#include "engine/io/artifact-files.h"
#include "tests/unit/study/study-testing.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static LimnRun *
new_run(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnStudy) study = limn_study_new(&test_operation);
    g_autofree char *model = limn_data_path("text/concepts.tsv", &error);
    g_assert_no_error(error);
    limn_study_set(study, "image", model, &error); // any file will do
    g_assert_no_error(error);
    g_autoptr(LimnJob) job = limn_job_new();
    return limn_run_new(study, job);
}

static LimnImage *
new_image(int width, int height, LimnPixels pixels, LimnDepth depth)
{
    g_autoptr(GError) error = NULL;
    LimnImage *image = limn_image_new(width, height, pixels, depth, &error);
    g_assert_no_error(error);
    image->bits = 8 * (int) limn_depth_size(depth);
    gsize n = (gsize) width * (gsize) height * (gsize) limn_pixels_channels(pixels);
    for (gsize i = 0; i < n; i++) {
        switch (depth) {
        case LIMN_DEPTH_U8:
            ((guint8 *) image->data)[i] = (guint8) (i * 7);
            break;
        case LIMN_DEPTH_U16:
            ((guint16 *) image->data)[i] = (guint16) (i * 1001);
            break;
        case LIMN_DEPTH_U32:
            ((guint32 *) image->data)[i] = (guint32) (i * 10007);
            break;
        case LIMN_DEPTH_F32:
            ((float *) image->data)[i] = (float) i / 3;
            break;
        }
    }
    return image;
}

static LimnArray *
new_field(int rank, const gint64 *shape)
{
    LimnArray *field = limn_array_new(LIMN_DTYPE_F32, rank, shape, NULL);
    for (gint64 i = 0; i < field->length; i++) {
        limn_array_f32(field)[i] = (float) sin((double) i);
    }
    limn_array_f32(field)[1] = NAN;
    return field;
}

// ---- one artifact of every kind

static LimnArtifact *
make_heatmap(LimnImage *picture, LimnImage *mask)
{
    gint64 shape[3] = {2, 3, 4};
    g_autoptr(LimnArray) field = new_field(3, shape);
    LimnArtifact *artifact = limn_artifact_new_heatmap("map", field);
    LimnRect rect = {1.5, 0, 4.25, 5};
    const guint8 rgb[3] = {200, 10, 30};
    artifact->title = g_strdup("A \"title\"");
    artifact->unit = g_strdup("cosine");
    artifact->is_signed = TRUE;
    artifact->has_range = TRUE;
    artifact->range[0] = -0.1;
    artifact->range[1] = 1e-9;
    limn_artifact_add_label(artifact, "a dog");
    limn_artifact_add_label(artifact, "zwei\nZeilen");
    limn_artifact_set_picture(artifact, picture, &rect);
    artifact->mask = limn_image_ref(mask);
    artifact->classes = limn_class_table_new();
    artifact->classes->ignore_value = 255;
    limn_class_table_add(artifact->classes, 7, "seven", rgb);
    limn_class_table_add(artifact->classes, 1, "one", rgb);
    ((LimnClass *) g_ptr_array_index(artifact->classes->classes, 1))->hidden = TRUE;
    return artifact;
}

static LimnArtifact *
make_many(LimnImage *picture)
{
    gint64 shape[4] = {2, 1, 2, 2};
    g_autoptr(LimnArray) field = new_field(4, shape);
    LimnArtifact *artifact = limn_artifact_new_heatmap("many", field);
    g_autoptr(LimnImage) other = new_image(3, 3, LIMN_PIXELS_GREY, LIMN_DEPTH_U8);
    LimnRect rect = {0, 1, 2, 3};
    limn_artifact_add_picture(artifact, picture, &rect);
    limn_artifact_add_picture(artifact, other, NULL);
    limn_artifact_tag_item(artifact, 0, 1);
    limn_artifact_tag_item(artifact, 4, 1);
    return artifact;
}

static LimnTable *
make_table(void)
{
    LimnTable *table = limn_table_new();
    LimnColumn *x = limn_table_add_column(table, "x", TRUE);
    LimnColumn *name = limn_table_add_column(table, "name, \"quoted\"", FALSE);
    x->unit = g_strdup("mm");
    const double numbers[] = {0.1, NAN, -INFINITY, 1e300, 5};
    const char *const strings[] = {"a,b", "", NULL, "two\nlines \"q\"", " blanks "};
    for (gsize i = 0; i < G_N_ELEMENTS(numbers); i++) {
        limn_column_add_number(x, numbers[i]);
        limn_column_add_string(name, strings[i]);
    }
    return table;
}

static LimnArtifact *
make_text(void)
{
    LimnArtifact *artifact = limn_artifact_new_text("words");
    LimnTextItem *item = limn_text_item_new("a d\xc3\xb6g \xf0\x9f\x90\xb6");
    LimnTextToken token = {761, 2, 6, g_strdup("d\xc3\xb6g</w>"), 0.25};
    LimnTextWord word = {2, 6, 0.25};
    item->score = 0.5015134811401367;
    item->truncated = TRUE;
    item->used_bytes = 6;
    g_array_append_val(item->tokens, token);
    g_array_append_val(item->words, word);
    g_ptr_array_add(artifact->texts, item);
    g_ptr_array_add(artifact->texts, limn_text_item_new(""));
    return artifact;
}

static LimnArtifact *
make_array(const char *name, LimnDType dtype)
{
    gint64 shape[2] = {2, 3};
    g_autoptr(LimnArray) array = limn_array_new(dtype, 2, shape, NULL);
    for (gint64 i = 0; i < array->length; i++) {
        if (dtype == LIMN_DTYPE_F64) {
            limn_array_f64(array)[i] = (double) i / 4;
        } else {
            limn_array_i64(array)[i] = i * 1000000007;
        }
    }
    return limn_artifact_new_array(name, array);
}

static void
fill_run(LimnRun *run, const char *folder)
{
    g_autoptr(LimnImage) picture = new_image(5, 5, LIMN_PIXELS_RGB, LIMN_DEPTH_U8);
    g_autoptr(LimnImage) mask = new_image(5, 5, LIMN_PIXELS_GREY, LIMN_DEPTH_U8);
    g_autoptr(LimnImage) deep = new_image(4, 3, LIMN_PIXELS_GREY, LIMN_DEPTH_U16);
    g_autoptr(LimnImage) large = new_image(4, 3, LIMN_PIXELS_GREY, LIMN_DEPTH_U32);
    limn_run_add_artifact(run, make_heatmap(picture, mask));
    limn_run_add_artifact(run, make_many(picture));
    LimnArtifact *labels = limn_artifact_new(LIMN_ARTIFACT_LABELMAP, "labels");
    limn_artifact_add_picture(labels, mask, NULL);
    limn_artifact_add_picture(labels, deep, NULL);
    limn_artifact_add_picture(labels, large, NULL);
    limn_run_add_artifact(run, labels);
    LimnArtifact *pictures = limn_artifact_new(LIMN_ARTIFACT_PICTURES, "photo");
    limn_artifact_add_picture(pictures, deep, NULL);
    limn_run_add_artifact(run, pictures);
    limn_run_add_artifact(run, limn_artifact_new_table("table", make_table()));
    limn_run_add_artifact(run, limn_artifact_new_series("curve", make_table()));
    limn_run_add_artifact(run, make_text());
    limn_run_add_artifact(run, make_array("doubles", LIMN_DTYPE_F64));
    limn_run_add_artifact(run, make_array("integers", LIMN_DTYPE_I64));
    LimnArtifact *model = limn_artifact_new(LIMN_ARTIFACT_MODEL, "model");
    model->path = test_write(folder, "checkpoint", "weights");
    limn_run_add_artifact(run, model);
    limn_run_add_item_scalar(run, "cosine", "a dog", 0.5015135350392643);
    limn_run_add_scalar(run, "loss", NAN);
    limn_run_add_item_scalar(run, "cosine", "a \"cat\"", -1);
    g_autoptr(GError) reason = g_error_new(LIMN_ERROR, LIMN_ERROR_IO, "b.png: broken");
    limn_run_skip_item(run, "b.png", reason);
    limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_WARNING, "a dog", "why");
    limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_NOTE, NULL, "and so on");
    limn_job_add_time(limn_run_get_job(run), "think", 0.25);
}

static LimnArtifact *
get(const LimnStudyFolder *folder, const char *name)
{
    for (guint i = 0; i < folder->artifacts->len; i++) {
        LimnArtifact *artifact = g_ptr_array_index(folder->artifacts, i);
        if (strcmp(artifact->name, name) == 0) {
            return artifact;
        }
    }
    g_error("there is no artifact %s", name);
}

static void
same_arrays(const LimnArray *a, const LimnArray *b)
{
    g_assert_cmpint((int) a->dtype, ==, (int) b->dtype);
    g_assert_cmpint(a->rank, ==, b->rank);
    g_assert_cmpmem(a->shape, sizeof a->shape, b->shape, sizeof b->shape);
    gsize size = (gsize) a->length * limn_dtype_size(a->dtype);
    g_assert_cmpmem(a->data, size, b->data, size);
}

static void
same_pixels(const LimnImage *a, const LimnImage *b)
{
    g_assert_cmpint(a->width, ==, b->width);
    g_assert_cmpint(a->height, ==, b->height);
    int channels = limn_pixels_channels(a->pixels);
    g_assert_cmpint(channels, ==, limn_pixels_channels(b->pixels));
    for (int y = 0; y < a->height; y++) {
        for (int x = 0; x < a->width; x++) {
            for (int c = 0; c < channels; c++) {
                g_assert_cmpfloat(limn_image_get_sample(a, x, y, c), ==,
                                  limn_image_get_sample(b, x, y, c));
            }
        }
    }
}

static void
check_heatmaps(const LimnStudyFolder *folder, LimnRun *run)
{
    const LimnArtifact *was = limn_run_find_artifact(run, "map");
    const LimnArtifact *map = get(folder, "map");
    same_arrays(was->field, map->field);
    g_assert_cmpstr(map->title, ==, was->title);
    g_assert_cmpstr(map->unit, ==, was->unit);
    g_assert_true(map->is_signed && map->has_range);
    g_assert_cmpfloat(map->range[0], ==, -0.1);
    g_assert_cmpfloat(map->range[1], ==, 1e-9);
    g_assert_cmpstr(g_ptr_array_index(map->labels, 1), ==, "zwei\nZeilen");
    g_assert_cmpfloat(map->rect.x, ==, 1.5);
    g_assert_cmpfloat(map->rect.width, ==, 4.25);
    same_pixels(map->picture, was->picture);
    same_pixels(map->mask, was->mask);
    g_assert_cmpint((int) map->mask->pixels, ==, LIMN_PIXELS_INDEXED);
    g_assert_cmpuint(map->mask->palette[7][0], ==, 200); // the colour of the class
    g_assert_cmpuint(map->mask->palette[2][1], ==, 128); // VOC
    g_assert_cmpuint(map->classes->classes->len, ==, 2);
    const LimnClass *first = g_ptr_array_index(map->classes->classes, 0);
    const LimnClass *second = g_ptr_array_index(map->classes->classes, 1);
    g_assert_cmpuint(first->value, ==, 1);
    g_assert_cmpstr(second->name, ==, "seven");
    g_assert_true(second->hidden && !first->hidden);
    g_assert_cmpint(map->classes->ignore_value, ==, 255);
    const LimnArtifact *many = get(folder, "many");
    g_assert_cmpuint(many->pictures->len, ==, 2);
    g_assert_true(g_ptr_array_index(many->pictures, 0) == (gpointer) map->picture);
    g_assert_cmpfloat(g_array_index(many->rects, LimnRect, 0).height, ==, 3);
    g_assert_cmpuint(g_array_index(many->items, LimnItemSpan, 1).item, ==, 4);
    g_assert_false(many->has_range);
}

static void
check_others(const LimnStudyFolder *folder, LimnRun *run)
{
    const LimnArtifact *labels = get(folder, "labels");
    const LimnArtifact *was = limn_run_find_artifact(run, "labels");
    g_assert_cmpuint(labels->pictures->len, ==, 3);
    for (guint i = 0; i < 3; i++) {
        same_pixels(g_ptr_array_index(labels->pictures, i),
                    g_ptr_array_index(was->pictures, i));
    }
    same_pixels(g_ptr_array_index(get(folder, "photo")->pictures, 0),
                g_ptr_array_index(was->pictures, 1));
    const char *const tables[] = {"table", "curve"};
    for (gsize t = 0; t < G_N_ELEMENTS(tables); t++) {
        g_autofree char *x = limn_table_to_csv(get(folder, tables[t])->table);
        g_autofree char *y =
            limn_table_to_csv(limn_run_find_artifact(run, tables[t])->table);
        g_assert_cmpstr(x, ==, y);
        const LimnColumn *name =
            g_ptr_array_index(get(folder, tables[t])->table->columns, 1);
        g_assert_cmpstr(g_ptr_array_index(name->strings, 1), ==, "");
        g_assert_null(g_ptr_array_index(name->strings, 2));
    }
    same_arrays(get(folder, "integers")->array,
                limn_run_find_artifact(run, "integers")->array);
    const LimnArray *doubles = get(folder, "doubles")->array;
    g_assert_cmpint((int) doubles->dtype, ==, LIMN_DTYPE_F32);
    g_assert_cmpfloat(limn_array_get_double(doubles, 5), ==, 1.25);
    const LimnTextItem *text = g_ptr_array_index(get(folder, "words")->texts, 0);
    g_assert_true(text->truncated);
    g_assert_cmpuint(text->used_bytes, ==, 6);
    g_assert_cmpfloat(text->score, ==, 0.5015134811401367);
    g_assert_cmpstr(g_array_index(text->tokens, LimnTextToken, 0).piece, ==,
                    "d\xc3\xb6g</w>");
    g_assert_cmpuint(g_array_index(text->words, LimnTextWord, 0).end, ==, 6);
    g_autofree char *weights = NULL;
    g_file_get_contents(get(folder, "model")->path, &weights, NULL, NULL);
    g_assert_cmpstr(weights, ==, "weights");
}

static void
test_round_trip(void)
{
    g_autoptr(GError) error = NULL;
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "deep", "out", NULL);
    g_autoptr(LimnRun) run = new_run();
    fill_run(run, parent);
    limn_study_folder_write(run, out, FALSE, &error);
    g_assert_no_error(error);
    g_assert_true(limn_study_folder_is(out));
    g_autoptr(LimnStudyFolder) folder = limn_study_folder_load(out, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(limn_study_equal(folder->study, limn_run_get_study(run), &error));
    g_assert_cmpuint(folder->artifacts->len, ==, limn_run_get_artifacts(run)->len);
    check_heatmaps(folder, run);
    check_others(folder, run);
    g_assert_cmpuint(folder->scalars->len, ==, 3);
    const LimnScalar *cat = g_ptr_array_index(folder->scalars, 1);
    const LimnScalar *loss = g_ptr_array_index(folder->scalars, 2);
    g_assert_cmpstr(cat->item, ==, "a \"cat\"");
    g_assert_true(isnan(loss->value));
    g_assert_cmpuint(folder->skipped->len, ==, 1);
    g_assert_cmpuint(folder->diagnostics->len, ==, 2);
    const LimnDiagnostic *diagnostic = g_ptr_array_index(folder->diagnostics, 0);
    g_assert_cmpstr(diagnostic->item, ==, "a dog");
    g_assert_cmpint((int) diagnostic->severity, ==, LIMN_DIAGNOSTIC_WARNING);
    test_folder_remove(parent);
}

// The same results give the same bytes, whenever and wherever they are written.
static void
test_same_bytes(void)
{
    g_autoptr(GError) error = NULL;
    char *parent = test_folder();
    g_autofree char *a = g_build_filename(parent, "a", NULL);
    g_autofree char *b = g_build_filename(parent, "b", NULL);
    for (int i = 0; i < 2; i++) {
        g_autoptr(LimnRun) run = new_run();
        fill_run(run, parent);
        limn_study_folder_write(run, i == 0 ? a : b, FALSE, &error);
        g_assert_no_error(error);
    }
    test_same_folders(a, b);
    test_folder_remove(parent);
}

// ---- folders that exist

static void
write_small(const char *out, gboolean force, double value, GError **error)
{
    g_autoptr(LimnRun) run = new_run();
    limn_run_add_scalar(run, "value", value);
    if (value > 1) {
        limn_run_add_artifact(run, limn_artifact_new_table("extra", make_table()));
    }
    limn_study_folder_write(run, out, force, error);
}

static double
read_small(const char *out)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnStudyFolder) folder = limn_study_folder_load(out, NULL, &error);
    g_assert_no_error(error);
    return ((LimnScalar *) g_ptr_array_index(folder->scalars, 0))->value;
}

static guint
count_files(const char *path)
{
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    guint n = 0;
    while (g_dir_read_name(dir) != NULL) {
        n++;
    }
    return n;
}

static void
test_exists(void)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "out", NULL);
    g_mkdir(out, 0700); // an empty folder may be used
    write_small(out, FALSE, 2, &error);
    g_assert_no_error(error);
    write_small(out, FALSE, 1, &error);
    test_expect(&error, LIMN_ERROR_ARGUMENT, out, "--force", NULL);
    g_assert_cmpfloat(read_small(out), ==, 2);
    g_assert_cmpuint(count_files(out), ==, 4);
    write_small(out, TRUE, 1, &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(read_small(out), ==, 1);
    g_assert_cmpuint(count_files(out), ==, 3); // the table of before is gone
    g_assert_cmpuint(count_files(parent), ==, 1);
    struct stat info;
    g_assert_cmpint(stat(out, &info), ==, 0);
    g_assert_cmpuint(info.st_mode & 0777, ==, 0700);
    test_folder_remove(parent);
}

// Files of others stay, and are never replaced.
static void
test_foreign_files(void)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "out", NULL);
    g_mkdir(out, 0755);
    g_free(test_write(out, "thesis.txt", "mine"));
    write_small(out, TRUE, 2, &error);
    g_assert_no_error(error);
    write_small(out, TRUE, 1, &error);
    g_assert_no_error(error);
    g_autofree char *text = test_read_text(out, "thesis.txt");
    g_assert_cmpstr(text, ==, "mine");
    g_assert_cmpuint(count_files(out), ==, 4);
    g_assert_cmpfloat(read_small(out), ==, 1);

    g_autofree char *other = g_build_filename(parent, "other", NULL);
    g_mkdir(other, 0755);
    g_free(test_write(other, "extra.csv", "mine"));
    write_small(other, TRUE, 2, &error);
    test_expect(&error, LIMN_ERROR_OUTPUT, "extra.csv", "no study", NULL);
    g_autofree char *kept = test_read_text(other, "extra.csv");
    g_assert_cmpstr(kept, ==, "mine");
    g_assert_cmpuint(count_files(other), ==, 1);
    g_assert_cmpuint(count_files(parent), ==, 2);
    test_folder_remove(parent);
}

static void
test_through_link(void)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *real = g_build_filename(parent, "real", NULL);
    g_autofree char *link = g_build_filename(parent, "link", NULL);
    write_small(real, FALSE, 1, &error);
    g_assert_cmpint(symlink("real", link), ==, 0);
    write_small(link, TRUE, 2, &error);
    g_assert_no_error(error);
    g_assert_true(g_file_test(link, G_FILE_TEST_IS_SYMLINK));
    g_assert_cmpfloat(read_small(real), ==, 2);
    test_folder_remove(parent);
}

static void
test_not_a_folder(void)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *file = test_write(parent, "file", "x");
    g_autofree char *below = g_build_filename(file, "out", NULL);
    write_small(file, FALSE, 1, &error);
    test_expect(&error, LIMN_ERROR_ARGUMENT, file, NULL);
    write_small(file, TRUE, 1, &error);
    test_expect(&error, LIMN_ERROR_OUTPUT, file, NULL);
    write_small(below, FALSE, 1, &error);
    test_expect(&error, LIMN_ERROR_OUTPUT, below, NULL);
    g_assert_cmpuint(count_files(parent), ==, 1);
    test_folder_remove(parent);
}

// A cancelled job leaves nothing behind, and what was there stays.
static void
test_cancelled(void)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "out", NULL);
    for (int existing = 0; existing < 2; existing++) {
        g_autoptr(LimnRun) run = new_run();
        g_assert_true(limn_study_hash_inputs(limn_run_get_study(run), NULL, &error));
        limn_job_cancel(limn_run_get_job(run));
        g_assert_false(limn_study_folder_write(run, out, TRUE, &error));
        test_expect(&error, LIMN_ERROR_CANCELLED, NULL);
        g_assert_cmpuint(count_files(parent), ==, (guint) existing);
        if (!existing) {
            write_small(out, FALSE, 3, &error);
            g_assert_no_error(error);
        }
    }
    g_assert_cmpfloat(read_small(out), ==, 3);
    test_folder_remove(parent);
}

// A folder left by a process that died is removed; that of a living one is not.
static void
test_stale(void)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "out", NULL);
    g_autofree char *dead =
        g_build_filename(parent, ".limn-study.4194301-abcdef.limn-part", NULL);
    g_autofree char *name =
        g_strdup_printf(".limn-study.%d-abcdef.limn-part", (int) getpid());
    g_autofree char *alive = g_build_filename(parent, name, NULL);
    g_mkdir(dead, 0755);
    g_free(test_write(dead, "map.npy", "x"));
    g_mkdir(alive, 0755);
    write_small(out, FALSE, 1, &error);
    g_assert_no_error(error);
    g_assert_false(g_file_test(dead, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_test(alive, G_FILE_TEST_EXISTS));
    test_folder_remove(parent);
}

// ---- reading what is malformed

static void
expect_broken(const char *result, LimnErrorCode code, const char *part)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "out", NULL);
    write_small(out, FALSE, 2, &error);
    g_assert_no_error(error);
    g_free(test_write(out, "result.json", result));
    g_assert_null(limn_study_folder_load(out, NULL, &error));
    test_expect(&error, code, part, NULL);
    test_folder_remove(parent);
}

static void
test_malformed(void)
{
    expect_broken("", LIMN_ERROR_FORMAT, "result.json");
    expect_broken("{\"artifacts\": [{}]}", LIMN_ERROR_FORMAT, "name");
    expect_broken("{\"artifacts\": [{\"name\": \"a\", \"kind\": \"film\"}]}",
                  LIMN_ERROR_FORMAT, "film");
    expect_broken("{\"artifacts\": [{\"name\": \"a\", \"kind\": \"array\", \"file\": "
                  "\"../../../etc/passwd\"}]}",
                  LIMN_ERROR_FORMAT, "in this folder");
    expect_broken("{\"artifacts\": [{\"name\": \"a\", \"kind\": \"heatmap\", \"file\": "
                  "\"..\"}]}",
                  LIMN_ERROR_FORMAT, "in this folder");
    expect_broken("{\"artifacts\": [{\"name\": \"a\", \"kind\": \"array\", \"file\": "
                  "\"missing.npy\"}]}",
                  LIMN_ERROR_IO, "missing.npy");
    expect_broken("{\"artifacts\": [{\"name\": \"a\", \"kind\": \"table\", \"file\": "
                  "\"extra.csv\", \"columns\": [{\"name\": \"x\", \"type\": "
                  "\"number\"}]}]}",
                  LIMN_ERROR_FORMAT, "extra.csv");
    expect_broken("{\"artifacts\": [{\"name\": \"a\", \"kind\": \"text\", \"file\": "
                  "\"study.json\"}]}",
                  LIMN_ERROR_FORMAT, "list of texts");
    expect_broken("{\"scalars\": 3}", LIMN_ERROR_FORMAT, "scalars");
    expect_broken("{\"skipped\": [{\"item\": 3}]}", LIMN_ERROR_FORMAT, "item");
    expect_broken("{\"shard\": {\"index\": 5, \"count\": 3, \"items\": 1}}",
                  LIMN_ERROR_FORMAT, "index");
}

static void
test_no_folder(void)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *nowhere = g_build_filename(parent, "nowhere", NULL);
    g_assert_null(limn_study_folder_load(nowhere, NULL, &error));
    test_expect(&error, LIMN_ERROR_IO, nowhere, NULL);
    g_assert_null(limn_study_folder_load(parent, NULL, &error));
    test_expect(&error, LIMN_ERROR_FORMAT, parent, "study.json", NULL);
    g_assert_false(limn_study_folder_is(parent));
    test_folder_remove(parent);
}

// Graphs come with a later format; nothing is left of the attempt.
static void
test_graph(void)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "out", NULL);
    g_autoptr(LimnRun) run = new_run();
    limn_run_add_artifact(run, limn_artifact_new(LIMN_ARTIFACT_GRAPH, "net"));
    g_assert_false(limn_study_folder_write(run, out, FALSE, &error));
    test_expect(&error, LIMN_ERROR_UNSUPPORTED, "net", NULL);
    g_assert_cmpuint(count_files(parent), ==, 0);
    test_folder_remove(parent);
}

// ---- shards

static char *
write_shard(const char *parent, guint index, guint count, guint64 seed)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strdup_printf("shard-%u-%u", index, count);
    char *out = g_build_filename(parent, name, NULL);
    g_autoptr(LimnStudy) study = limn_study_new(&test_items_operation);
    study->seed = seed;
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnRun) run = limn_run_new(study, job);
    if (count > 1) {
        limn_run_set_shard(run, index, count);
    }
    g_assert_true(limn_run_execute(run, &error));
    limn_study_folder_write(run, out, TRUE, &error);
    g_assert_no_error(error);
    return out;
}

// However many shards, even more than items: the bytes of a run without.
static void
test_merge(void)
{
    char *parent = test_folder();
    g_autofree char *whole = write_shard(parent, 0, 1, 0);
    for (guint count = 2; count <= 8; count++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *out = g_build_filename(parent, "merged", NULL);
        g_autoptr(GPtrArray) folders = g_ptr_array_new_with_free_func(g_free);
        for (guint i = count; i-- > 0;) { // in another order than their numbers
            g_ptr_array_add(folders, write_shard(parent, i, count, 0));
        }
        g_ptr_array_add(folders, NULL);
        limn_study_folder_merge((const char *const *) folders->pdata, out, TRUE, NULL,
                                &error);
        g_assert_no_error(error);
        test_same_folders(whole, out);
    }
    test_folder_remove(parent);
}

static void
expect_merge_error(const char *const *folders, const char *out, const char *part,
                   const char *other)
{
    GError *error = NULL;
    g_assert_false(limn_study_folder_merge(folders, out, FALSE, NULL, &error));
    test_expect(&error, LIMN_ERROR_MISMATCH, part, other, NULL);
    g_assert_false(g_file_test(out, G_FILE_TEST_EXISTS));
}

// result.json of a shard with one part replaced; the merge names the folder.
static void
expect_spoilt_shard(const char *from, const char *to, LimnErrorCode code,
                    const char *part)
{
    GError *error = NULL;
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "merged", NULL);
    g_autofree char *a = write_shard(parent, 0, 2, 0);
    g_autofree char *b = write_shard(parent, 1, 2, 0);
    g_autofree char *text = test_read_text(b, "result.json");
    g_autoptr(GString) spoilt = g_string_new(text);
    g_assert_cmpuint(g_string_replace(spoilt, from, to, 1), ==, 1);
    g_free(test_write(b, "result.json", spoilt->str));
    const char *const folders[] = {a, b, NULL};
    g_assert_false(limn_study_folder_merge(folders, out, FALSE, NULL, &error));
    test_expect(&error, code, b, part, NULL);
    test_folder_remove(parent);
}

static void
test_merge_spoilt(void)
{
    // Counts whose sum wraps round to the number of entries.
    expect_spoilt_shard("\"items\": [[1, ",
                        "\"items\": [[0, 9223372036854775807], [0, "
                        "9223372036854775807], [0, 2], [1, ",
                        LIMN_ERROR_FORMAT, "have more");
    expect_spoilt_shard("\"items\": [[1, ", "\"items\": [[0, 1], [1, ", LIMN_ERROR_FORMAT,
                        "have more");
    expect_spoilt_shard("\"kind\": \"heatmap\"", "\"kind\": \"array\"",
                        LIMN_ERROR_MISMATCH, "of kind array");
}

static void
test_merge_refused(void)
{
    char *parent = test_folder();
    g_autofree char *out = g_build_filename(parent, "merged", NULL);
    g_autofree char *whole = write_shard(parent, 0, 1, 0);
    g_autofree char *a = write_shard(parent, 0, 3, 0);
    g_autofree char *b = write_shard(parent, 1, 3, 0);
    g_autofree char *c = write_shard(parent, 2, 3, 0);
    g_autofree char *two = write_shard(parent, 1, 2, 0);
    char *elsewhere = test_folder();
    g_autofree char *other = write_shard(elsewhere, 2, 3, 7);
    g_autofree char *twin = write_shard(elsewhere, 1, 3, 0);
    const char *const missing[] = {a, c, NULL};
    expect_merge_error(missing, out, "missing: 1/3", a);
    const char *const twice[] = {a, b, twin, c, NULL};
    expect_merge_error(twice, out, twin, b);
    const char *const mixed[] = {a, b, other, NULL};
    expect_merge_error(mixed, out, other, "seed differs");
    const char *const counts[] = {a, b, two, NULL};
    expect_merge_error(counts, out, two, "one of 2 shards");
    const char *const unsharded[] = {a, whole, NULL};
    expect_merge_error(unsharded, out, whole, "not the folder of a shard");
    GError *error = NULL;
    const char *const none[] = {NULL};
    g_assert_false(limn_study_folder_merge(none, out, FALSE, NULL, &error));
    test_expect(&error, LIMN_ERROR_ARGUMENT, NULL);
    test_folder_remove(elsewhere);
    test_folder_remove(parent);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_register();
    g_test_add_func("/study-folder/round-trip", test_round_trip);
    g_test_add_func("/study-folder/same-bytes", test_same_bytes);
    g_test_add_func("/study-folder/exists", test_exists);
    g_test_add_func("/study-folder/foreign-files", test_foreign_files);
    g_test_add_func("/study-folder/through-link", test_through_link);
    g_test_add_func("/study-folder/not-a-folder", test_not_a_folder);
    g_test_add_func("/study-folder/cancelled", test_cancelled);
    g_test_add_func("/study-folder/stale", test_stale);
    g_test_add_func("/study-folder/malformed", test_malformed);
    g_test_add_func("/study-folder/no-folder", test_no_folder);
    g_test_add_func("/study-folder/graph", test_graph);
    g_test_add_func("/study-folder/merge", test_merge);
    g_test_add_func("/study-folder/merge-refused", test_merge_refused);
    g_test_add_func("/study-folder/merge-spoilt", test_merge_spoilt);
    return g_test_run();
}
