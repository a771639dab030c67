// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/study.h"

#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/job.h"
#include "engine/study/caption.h"
#include "engine/study/suggest.h"
#include "tests/unit/study/study-testing.h"

#include <glib/gstdio.h>
#include <string.h>

static LimnStudy *
new_study(void)
{
    return limn_study_new(&test_operation);
}

static void
set(LimnStudy *study, const char *key, const char *value)
{
    g_autoptr(GError) error = NULL;
    limn_study_set(study, key, value, &error);
    g_assert_no_error(error);
}

// ---- suggestions

static void
test_suggest(void)
{
    const char *const words[] = {"layers", "text-layers", "mode", "similarity", NULL};
    g_assert_cmpstr(limn_suggest("layer", words), ==, "layers");
    g_assert_cmpstr(limn_suggest("lyaers", words), ==, "layers");
    g_assert_cmpstr(limn_suggest("moed", words), ==, "mode");
    g_assert_cmpstr(limn_suggest("textlayers", words), ==, "text-layers");
    g_assert_null(limn_suggest("completely", words));
    g_assert_null(limn_suggest("", words));
    g_autofree char *longest = g_strnfill(5000, 'x');
    g_assert_null(limn_suggest(longest, words));
    g_autofree char *far = limn_describe_allowed("zzzzzz", words);
    g_assert_cmpstr(far, ==, "allowed: layers, text-layers, mode, similarity");
    g_autofree char *near = limn_describe_allowed("mod", words);
    g_assert_cmpstr(
        near, ==, "did you mean 'mode'? allowed: layers, text-layers, mode, similarity");
}

// ---- setting

static void
test_defaults(void)
{
    g_autoptr(LimnStudy) study = new_study();
    const char *const expected[][2] = {{"mode", "alpha"},
                                       {"count", "3"},
                                       {"ratio", "0.25"},
                                       {"flag", "no"},
                                       {"words", ""}};
    for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_autofree char *value = limn_study_dup_parameter(study, expected[i][0]);
        g_assert_cmpstr(value, ==, expected[i][1]);
    }
}

static void
expect_set_error(const char *key, const char *value, const char *part, const char *other)
{
    g_autoptr(LimnStudy) study = new_study();
    GError *error = NULL;
    g_assert_false(limn_study_set(study, key, value, &error));
    test_expect(&error, LIMN_ERROR_ARGUMENT, part, other, NULL);
    g_assert_cmpuint(study->inputs->len, ==, 0);
    g_assert_cmpuint(g_hash_table_size(study->parameters), ==, 0);
}

// Every message names the key, the value and what is allowed.
static void
test_bad_values(void)
{
    expect_set_error("conut", "3", "conut=3", "did you mean 'count'?");
    expect_set_error("nothing", "3", "allowed: model, image, pixels", "words");
    expect_set_error("seed", "7", "seed=7", "--seed 7");
    expect_set_error("count", "0", "count=0", "from 1 to 10 things");
    expect_set_error("count", "11", "count=11", "from 1 to 10");
    expect_set_error("count", "99999999999999999999", "count=9999", "from 1 to 10");
    expect_set_error("count", "2.5", "count=2.5", "not an integer");
    expect_set_error("count", "", "count=", "not an integer");
    expect_set_error("ratio", "1.5", "ratio=1.5", "from 0 to 1");
    expect_set_error("ratio", "nan", "ratio=nan", "not a number");
    expect_set_error("ratio", "0,5", "ratio=0,5", "not a number");
    expect_set_error("ratio", "inf", "ratio=inf", "out of range");
    expect_set_error("mode", "delta", "mode=delta", "allowed: alpha, beta, gamma");
    expect_set_error("mode", "aplha", "mode=aplha", "did you mean 'alpha'?");
    expect_set_error("flag", "true", "flag=true", "allowed: no, yes");
    expect_set_error("image", "", "image=", "empty");
    expect_set_error("text", "a\xff", "text=a\\xff", "byte 2 is 0xff");
    expect_set_error("words", "\xc3", "words=", "UTF-8");
}

static void
test_canonical(void)
{
    g_autoptr(LimnStudy) study = new_study();
    set(study, "count", " 007 ");
    set(study, "ratio", "5e-1");
    g_autofree char *count = limn_study_dup_parameter(study, "count");
    g_autofree char *ratio = limn_study_dup_parameter(study, "ratio");
    g_assert_cmpstr(count, ==, "7");
    g_assert_cmpstr(ratio, ==, "0.5");
}

static void
test_repeated(void)
{
    g_autoptr(LimnStudy) study = new_study();
    GError *error = NULL;
    set(study, "text", "one");
    set(study, "text", "two=2");
    set(study, "image", "/a");
    set(study, "count", "4");
    g_assert_false(limn_study_set(study, "image", "/b", &error));
    test_expect(&error, LIMN_ERROR_ARGUMENT, "image=/b", "given before", NULL);
    g_assert_false(limn_study_set(study, "count", "4", &error));
    test_expect(&error, LIMN_ERROR_ARGUMENT, "count=4", "given before", NULL);
    g_assert_cmpstr(limn_study_get_input(study, "image"), ==, "/a");
    g_assert_cmpstr(limn_study_get_input(study, "text"), ==, "one");
    g_assert_cmpuint(study->inputs->len, ==, 3);
}

static void
test_replace(void)
{
    g_autoptr(LimnStudy) study = new_study();
    g_autoptr(GError) error = NULL;
    set(study, "image", "/a");
    g_assert_true(limn_study_replace(study, "image", "/b/../c", &error));
    g_assert_cmpstr(limn_study_get_input(study, "image"), ==, "/c");
    g_assert_false(limn_study_replace(study, "image", "", &error));
    g_clear_error(&error);
    g_assert_cmpstr(limn_study_get_input(study, "image"), ==, "/c");
    g_assert_true(limn_study_replace(study, "image", NULL, &error));
    g_assert_null(limn_study_get_input(study, "image"));
    g_assert_true(limn_study_replace(study, "count", "4", &error));
    g_assert_true(limn_study_replace(study, "count", "5", &error));
    g_assert_true(limn_study_replace(study, "count", NULL, &error));
    g_assert_true(limn_study_replace(study, "count", NULL, &error));
    g_autofree char *count = limn_study_dup_parameter(study, "count");
    g_assert_cmpstr(count, ==, "3");
    g_assert_false(limn_study_replace(study, "cuont", "1", &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
}

static void
test_relative_input(void)
{
    g_autoptr(LimnStudy) study = new_study();
    g_autofree char *here = g_get_current_dir();
    g_autofree char *expected = g_build_filename(here, "x.png", NULL);
    set(study, "image", "./y/../x.png");
    g_assert_cmpstr(limn_study_get_input(study, "image"), ==, expected);
}

static void
test_validate(void)
{
    GError *error = NULL;
    g_autoptr(LimnStudy) study = new_study();
    g_assert_false(limn_study_validate(study, &error));
    test_expect(&error, LIMN_ERROR_ARGUMENT, "missing", "image=, pixels=", NULL);
    set(study, "image", "/a");
    g_assert_true(limn_study_validate(study, &error));
    set(study, "pixels", "/b");
    g_assert_false(limn_study_validate(study, &error));
    test_expect(&error, LIMN_ERROR_ARGUMENT, "image and pixels exclude each other", NULL);
    g_autoptr(LimnStudy) other = new_study();
    set(other, "image", "/a");
    set(other, "text", "a");
    set(other, "texts", "/b");
    g_assert_false(limn_study_validate(other, &error));
    test_expect(&error, LIMN_ERROR_ARGUMENT, "text and texts exclude", NULL);
}

static void
test_dup(void)
{
    g_autoptr(LimnStudy) study = new_study();
    g_autoptr(GError) error = NULL;
    set(study, "image", "/a");
    set(study, "mode", "beta");
    study->seed = 9;
    g_autoptr(LimnStudy) copy = limn_study_dup(study);
    g_assert_true(limn_study_equal(study, copy, &error));
    g_assert_true(limn_study_replace(copy, "mode", "gamma", NULL));
    g_assert_false(limn_study_equal(study, copy, &error));
    test_expect(&error, LIMN_ERROR_MISMATCH, "mode differs", "beta and gamma", NULL);
    copy->seed = 1;
    g_assert_false(limn_study_equal(study, copy, &error));
    test_expect(&error, LIMN_ERROR_MISMATCH, "seed", NULL);
    // Setting the default changes nothing.
    g_autoptr(LimnStudy) plain = new_study(), said = new_study();
    set(said, "count", "3");
    g_assert_true(limn_study_equal(plain, said, &error));
}

// ---- study.json

static char *
write_study(const LimnStudy *study, const char *folder)
{
    g_autofree char *text = limn_study_to_json(study, folder);
    return test_write(folder, "study.json", text);
}

static void
test_json(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = test_folder();
    g_autofree char *image = test_write(folder, "a.png", "not empty");
    g_autoptr(LimnStudy) study = new_study();
    set(study, "image", image);
    set(study, "text", "a \"dog\"\n= é");
    set(study, "text", "");
    set(study, "ratio", "0.1");
    set(study, "flag", "yes");
    set(study, "words", "x = y");
    study->seed = G_MAXINT64;
    g_assert_true(limn_study_hash_inputs(study, NULL, &error));
    const LimnStudyInput *first = g_ptr_array_index(study->inputs, 0);
    g_assert_cmpuint(first->size, ==, 9);
    g_autofree char *digest = limn_sha256_bytes("not empty", 9);
    g_assert_cmpstr(first->sha256, ==, digest);
    g_assert_cmpuint(study->builtins->len, ==, 1); // the model was not given

    g_autofree char *path = write_study(study, folder);
    g_autofree char *text = test_read_text(folder, "study.json");
    g_assert_nonnull(strstr(text, "\"path\": \"a.png\""));
    g_autoptr(LimnStudy) back = limn_study_load(path, TRUE, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(limn_study_equal(study, back, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(back->seed, ==, G_MAXINT64);
    g_autofree char *again = limn_study_to_json(back, folder);
    g_assert_cmpstr(text, ==, again);
    test_folder_remove(folder);
}

// Inside the folder relative, outside absolute; the folder may move with what it holds.
static void
test_json_moved(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = test_folder();
    g_autofree char *inner = g_build_filename(folder, "study", NULL);
    g_autofree char *moved = g_build_filename(folder, "moved", NULL);
    g_assert_cmpint(g_mkdir(inner, 0700), ==, 0);
    g_autofree char *image = test_write(inner, "a.png", "x");
    g_autofree char *notes = test_write(folder, "notes", "y");
    g_autoptr(LimnStudy) study = new_study();
    set(study, "image", image);
    set(study, "notes", notes);
    g_assert_true(limn_study_hash_inputs(study, NULL, &error));
    g_free(write_study(study, inner));
    g_assert_cmpint(g_rename(inner, moved), ==, 0);
    g_autofree char *path = g_build_filename(moved, "study.json", NULL);
    g_autoptr(LimnStudy) back = limn_study_load(path, TRUE, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *expected = g_build_filename(moved, "a.png", NULL);
    g_assert_cmpstr(limn_study_get_input(back, "image"), ==, expected);
    g_assert_cmpstr(limn_study_get_input(back, "notes"), ==, notes);
    test_folder_remove(folder);
}

static void
test_json_changed(void)
{
    GError *error = NULL;
    char *folder = test_folder();
    g_autofree char *image = test_write(folder, "a.png", "before");
    g_autoptr(LimnStudy) study = new_study();
    set(study, "image", image);
    g_assert_true(limn_study_hash_inputs(study, NULL, &error));
    g_autofree char *path = write_study(study, folder);
    g_free(test_write(folder, "a.png", "after!")); // of the same size
    g_assert_null(limn_study_load(path, TRUE, NULL, &error));
    test_expect(&error, LIMN_ERROR_MISMATCH, "a.png", "'image' changed", "expected",
                NULL);
    g_autoptr(LimnStudy) unverified = limn_study_load(path, FALSE, NULL, &error);
    g_assert_nonnull(unverified);
    g_assert_no_error(error);
    g_assert_cmpint(g_unlink(image), ==, 0);
    g_assert_null(limn_study_load(path, TRUE, NULL, &error));
    test_expect(&error, LIMN_ERROR_IO, "a.png", NULL);
    test_folder_remove(folder);
}

// B22: names that are no UTF-8, hold a newline or are as long as a name can be.
static void
test_hard_paths(void)
{
    char *folder = test_folder();
    g_autofree char *longest = g_strnfill(255, 'n');
    const char *const names[] = {"Ünïcode テスト é 1.png", "two\nlines.png",
                                 "\xff\xfe.png", "percent%41.png", longest};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *image = test_write(folder, names[i], "x");
        g_autoptr(LimnStudy) study = new_study();
        set(study, "image", image);
        g_assert_true(limn_study_hash_inputs(study, NULL, &error));
        g_autofree char *path = write_study(study, folder);
        g_autoptr(LimnStudy) back = limn_study_load(path, TRUE, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpstr(limn_study_get_input(back, "image"), ==, image);
    }
    test_folder_remove(folder);
}

static void
expect_load_error(const char *text, LimnErrorCode code, const char *part)
{
    GError *error = NULL;
    char *folder = test_folder();
    g_autofree char *path = test_write(folder, "study.json", text);
    g_assert_null(limn_study_load(path, FALSE, NULL, &error));
    test_expect(&error, code, "study.json", part, NULL);
    test_folder_remove(folder);
}

static void
test_json_bad(void)
{
    expect_load_error("", LIMN_ERROR_FORMAT, "JSON");
    expect_load_error("[]", LIMN_ERROR_FORMAT, "object");
    expect_load_error("{}", LIMN_ERROR_FORMAT, "operation");
    expect_load_error("{\"operation\": \"nothing\"}", LIMN_ERROR_ARGUMENT, "nothing");
    expect_load_error("{\"operation\": \"test-operation\", \"seed\": -1}",
                      LIMN_ERROR_FORMAT, "seed");
    expect_load_error("{\"operation\": \"test-operation\", \"seed\": 1, \"seed\": 2}",
                      LIMN_ERROR_FORMAT, "twice");
    expect_load_error("{\"operation\": \"test-operation\", \"inputs\": [{\"name\": "
                      "\"imge\", \"text\": \"a\"}]}",
                      LIMN_ERROR_ARGUMENT, "imge");
    expect_load_error("{\"operation\": \"test-operation\", \"inputs\": [{\"name\": "
                      "\"image\"}]}",
                      LIMN_ERROR_FORMAT, "path");
    expect_load_error("{\"operation\": \"test-operation\", \"parameters\": {\"count\": "
                      "99}}",
                      LIMN_ERROR_ARGUMENT, "count=99");
    expect_load_error("{\"operation\": \"test-operation\", \"parameters\": {\"count\": "
                      "[1]}}",
                      LIMN_ERROR_FORMAT, "count");
    expect_load_error("{\"operation\": \"test-operation\", \"parameters\": {\"image\": "
                      "\"a\"}}",
                      LIMN_ERROR_FORMAT, "image");
    expect_load_error(
        "{\"operation\": \"test-operation\", \"parameter\": {\"count\": 3}}",
        LIMN_ERROR_ARGUMENT, "did you mean 'parameters'");
    expect_load_error("{\"operation\": \"test-operation\", \"inputs\": [{\"name\": "
                      "\"image\", \"path\": \"a\", \"sha265\": \"00\"}]}",
                      LIMN_ERROR_ARGUMENT, "inputs[0].sha265");
}

// By hand: without hashes, switches as true and false.
static void
test_json_by_hand(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = test_folder();
    g_free(test_write(folder, "a.png", "x"));
    g_autofree char *path = test_write(
        folder, "study.json",
        "{\"operation\": \"test-operation\", \"inputs\": [{\"name\": \"image\", "
        "\"path\": \"a.png\"}], \"parameters\": {\"flag\": true, \"ratio\": 1}}");
    g_autoptr(LimnStudy) study = limn_study_load(path, TRUE, NULL, &error);
    g_assert_no_error(error);
    g_autofree char *flag = limn_study_dup_parameter(study, "flag");
    g_assert_cmpstr(flag, ==, "yes");
    test_folder_remove(folder);
}

static void
test_hash_folder_and_missing(void)
{
    GError *error = NULL;
    char *folder = test_folder();
    g_free(test_write(folder, "a", "1"));
    g_autoptr(LimnStudy) study = new_study();
    set(study, "model", folder);
    g_assert_true(limn_study_hash_inputs(study, NULL, &error));
    g_assert_cmpuint(study->builtins->len, ==, 0);
    const LimnStudyInput *model = g_ptr_array_index(study->inputs, 0);
    g_autofree char *before = g_strdup(model->sha256);
    g_free(test_write(folder, "b", "2"));
    g_assert_true(limn_study_hash_inputs(study, NULL, &error));
    g_assert_cmpstr(before, !=, model->sha256);
    set(study, "image", "/nowhere/at/all");
    g_assert_false(limn_study_hash_inputs(study, NULL, &error));
    test_expect(&error, LIMN_ERROR_IO, "/nowhere/at/all", NULL);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_false(limn_study_hash_inputs(study, job, &error));
    test_expect(&error, LIMN_ERROR_CANCELLED, NULL);
    test_folder_remove(folder);
}

// The same whether hashes are known or not; another one when an input changes.
static void
test_identity(void)
{
    g_autoptr(GError) error = NULL;
    char *folder = test_folder();
    g_autofree char *path = test_write(folder, "a", "1");
    g_autoptr(LimnStudy) study = new_study();
    set(study, "model", path);
    g_autofree char *before = limn_study_identity(study, NULL, &error);
    g_assert_no_error(error);
    const LimnStudyInput *model = g_ptr_array_index(study->inputs, 0);
    g_assert_null(model->sha256);
    g_autoptr(LimnStudy) copy = limn_study_dup(study);
    g_assert_true(limn_study_hash_inputs(copy, NULL, &error));
    limn_study_take_hashes(study, copy);
    model = g_ptr_array_index(study->inputs, 0);
    g_assert_nonnull(model->sha256);
    g_autofree char *hashed = limn_study_identity(study, NULL, &error);
    g_assert_cmpstr(hashed, ==, before);
    g_free(test_write(folder, "a", "2"));
    g_autofree char *changed = limn_study_identity(study, NULL, &error);
    g_assert_cmpstr(changed, !=, before);
    test_folder_remove(folder);
    g_assert_null(limn_study_identity(study, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
}

static void
test_caption(void)
{
    g_autoptr(LimnStudy) study = new_study();
    g_autoptr(GPtrArray) scalars = g_ptr_array_new();
    g_autofree char *name = g_strdup("cosine"), *item = g_strdup("a dog");
    LimnScalar cosine = {name, item, 0.50151353, -1};
    g_ptr_array_add(scalars, &cosine);
    set(study, "image", "/x/dog.png");
    set(study, "text", "a dog");
    set(study, "text", "a cat");
    g_autofree char *caption = limn_study_expand_caption(
        study, scalars, "{mode} of {image} ({text}): {cosine}{unknown} {open");
    g_assert_cmpstr(caption, ==, "alpha of dog.png (a dog, a cat): 0.5015 {open");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    test_register();
    g_test_add_func("/study/suggest", test_suggest);
    g_test_add_func("/study/defaults", test_defaults);
    g_test_add_func("/study/bad-values", test_bad_values);
    g_test_add_func("/study/canonical", test_canonical);
    g_test_add_func("/study/repeated", test_repeated);
    g_test_add_func("/study/replace", test_replace);
    g_test_add_func("/study/relative-input", test_relative_input);
    g_test_add_func("/study/validate", test_validate);
    g_test_add_func("/study/dup", test_dup);
    g_test_add_func("/study/json", test_json);
    g_test_add_func("/study/json-moved", test_json_moved);
    g_test_add_func("/study/json-changed", test_json_changed);
    g_test_add_func("/study/json-bad", test_json_bad);
    g_test_add_func("/study/json-by-hand", test_json_by_hand);
    g_test_add_func("/hard/B22-paths", test_hard_paths);
    g_test_add_func("/study/hash", test_hash_folder_and_missing);
    g_test_add_func("/study/identity", test_identity);
    g_test_add_func("/study/caption", test_caption);
    return g_test_run();
}
