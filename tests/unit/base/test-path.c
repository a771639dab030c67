// SPDX-License-Identifier: GPL-3.0-or-later

#include <glib/gstdio.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/file.h"

typedef struct {
    char *folder; // without links in it
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    fixture->folder = g_dir_make_tmp("limn-path-XXXXXX", NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    g_assert_true(limn_remove_tree(fixture->folder, NULL));
    g_free(fixture->folder);
}

static void
assert_absolute(const char *path, const char *expected)
{
    g_autofree char *absolute = limn_absolute_path(path);
    g_assert_cmpstr(absolute, ==, expected);
}

static void
test_absolute(Fixture *fixture, gconstpointer data)
{
    assert_absolute("/", "/");
    assert_absolute("//a///b/", "/a/b");
    assert_absolute("/a/./b/../c", "/a/c");
    assert_absolute("/../..", "/");
    assert_absolute("/a/\xff\n", "/a/\xff\n");
    g_autofree char *current = g_get_current_dir();
    g_autofree char *expected = g_build_filename(current, "x.png", NULL);
    assert_absolute("x.png", expected);
    assert_absolute("./y/../x.png", expected);
    assert_absolute("", current);

    // Above a link lies the parent of its target.
    g_autofree char *deep = g_build_filename(fixture->folder, "a", "b", NULL);
    g_autofree char *link = g_build_filename(fixture->folder, "link", NULL);
    g_assert_true(limn_make_directory(deep, NULL));
    g_assert_cmpint(symlink(deep, link), ==, 0);
    g_autofree char *through = g_build_filename(link, "..", "x", NULL);
    g_autofree char *beside = g_build_filename(fixture->folder, "a", "x", NULL);
    assert_absolute(through, beside);
}

static void
test_relative(Fixture *fixture, gconstpointer data)
{
    const struct {
        const char *path, *directory, *expected;
    } cases[] = {
        {"/a/b/c.png", "/a/b", "c.png"},
        {"/a/b/c.png", "/a/b/", "c.png"},
        {"/a/b/c.png", "/a", "b/c.png"},
        {"/a/bc/d", "/a/b", "/a/bc/d"},
        {"/a/b", "/a/b", "."},
        {"/x", "/a/b", "/x"},
        {"/x", "/", "x"},
        {"/", "/", "."},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *relative = limn_relative_path(cases[i].path, cases[i].directory);
        g_assert_cmpstr(relative, ==, cases[i].expected);
    }
}

static void
test_make_directory(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *deep = g_build_filename(fixture->folder, "x", "y", "z", NULL);
    g_assert_true(limn_make_directory(deep, &error));
    g_assert_true(limn_make_directory(deep, &error)); // there already
    g_assert_true(g_file_test(deep, G_FILE_TEST_IS_DIR));
    g_autofree char *file = g_build_filename(deep, "file", NULL);
    g_assert_true(limn_file_write(file, "x", 1, &error));
    g_autofree char *below = g_build_filename(file, "w", NULL);
    g_assert_false(limn_make_directory(below, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_assert_nonnull(strstr(error->message, below));
    g_clear_error(&error);
    g_assert_false(limn_make_directory(file, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
}

static void
test_remove_tree(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *tree = g_build_filename(fixture->folder, "tree", NULL);
    g_autofree char *deep = g_build_filename(tree, "x", ".hidden", NULL);
    g_autofree char *outside = g_build_filename(fixture->folder, "outside", NULL);
    g_autofree char *kept = g_build_filename(outside, "kept", NULL);
    g_autofree char *folder_link = g_build_filename(tree, "folder-link", NULL);
    g_autofree char *file_link = g_build_filename(tree, "file-link", NULL);
    g_autofree char *file = g_build_filename(deep, "bad\xff\nname", NULL);
    g_assert_true(limn_make_directory(deep, &error));
    g_assert_true(limn_make_directory(outside, &error));
    g_assert_true(limn_file_write(file, "x", 1, &error));
    g_assert_true(limn_file_write(kept, "x", 1, &error));
    g_assert_cmpint(symlink(outside, folder_link), ==, 0);
    g_assert_cmpint(symlink(kept, file_link), ==, 0);
    g_assert_true(limn_remove_tree(tree, &error));
    g_assert_no_error(error);
    g_assert_false(g_file_test(tree, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_test(kept, G_FILE_TEST_EXISTS));

    g_assert_true(limn_remove_tree(tree, &error)); // gone already
    g_autofree char *link = g_build_filename(fixture->folder, "link", NULL);
    g_assert_cmpint(symlink(outside, link), ==, 0);
    g_assert_true(limn_remove_tree(link, &error));
    g_assert_true(g_file_test(kept, G_FILE_TEST_EXISTS));
    g_assert_false(limn_remove_tree("/proc/self/status", &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
}

static void
test_data_path(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *saved = g_strdup(g_getenv("LIMN_DATA_DIR"));
    g_autofree char *file = g_build_filename(fixture->folder, "mine.txt", NULL);
    g_assert_true(limn_file_write(file, "x", 1, &error));

    g_setenv("LIMN_DATA_DIR", fixture->folder, TRUE);
    g_autofree char *found = limn_data_path("mine.txt", &error);
    g_assert_no_error(error);
    g_assert_cmpstr(found, ==, file);
    // What the folder does not have is looked for in the other places.
    g_autofree char *sample = limn_data_path("samples/desk.png", &error);
    g_assert_no_error(error);
    g_assert_true(g_str_has_suffix(sample, "/samples/desk.png"));
    g_unsetenv("LIMN_DATA_DIR");
    g_autofree char *model = limn_data_path("models/emoji-clip", &error);
    g_assert_no_error(error);
    g_assert_true(g_path_is_absolute(model));

    g_assert_null(limn_data_path("models/none", &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
    g_assert_nonnull(strstr(error->message, "models/none"));
    if (saved != NULL) {
        g_setenv("LIMN_DATA_DIR", saved, TRUE);
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    const struct {
        const char *name;
        void (*func)(Fixture *fixture, gconstpointer data);
    } tests[] = {
        {"/path/absolute", test_absolute},
        {"/path/relative", test_relative},
        {"/path/make-directory", test_make_directory},
        {"/path/remove-tree", test_remove_tree},
        {"/path/data", test_data_path},
    };
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_test_add(tests[i].name, Fixture, NULL, set_up, tests[i].func, tear_down);
    }
    return g_test_run();
}
