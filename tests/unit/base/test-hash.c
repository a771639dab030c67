// SPDX-License-Identifier: GPL-3.0-or-later

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/job.h"

#define EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define ABC "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
#define LARGE ((gsize) 3 << 20)

static char *work_folder;

static char *
make_file(const char *name, const void *data, gsize size)
{
    char *path = g_build_filename(work_folder, name, NULL);
    g_assert_true(limn_file_write(path, data, size, NULL));
    return path;
}

static void
test_bytes(void)
{
    g_autofree char *empty = limn_sha256_bytes(NULL, 0);
    g_autofree char *abc = limn_sha256_bytes("abc", 3);
    g_assert_cmpstr(empty, ==, EMPTY);
    g_assert_cmpstr(abc, ==, ABC);
}

static void
test_file(void)
{
    g_autoptr(GError) error = NULL;
    guint64 size = 99;
    g_autofree char *path = make_file("abc", "abc", 3);
    g_autofree char *digest = limn_sha256_file(path, &size, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(digest, ==, ABC);
    g_assert_cmpuint(size, ==, 3);

    g_assert_null(limn_sha256_file(work_folder, NULL, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
    g_clear_error(&error);
    g_autofree char *pipe = g_build_filename(work_folder, "pipe", NULL);
    g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
    g_assert_null(limn_sha256_file(pipe, NULL, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
    g_clear_error(&error);
    g_unlink(pipe);

    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_null(limn_sha256_file(path, NULL, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

static void
set_times(const char *path, gint64 seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    g_assert_cmpint(utimensat(AT_FDCWD, path, times, 0), ==, 0);
}

// The one file of the cache, NULL when there is none.
static char *
cache_entry(void)
{
    g_autofree char *folder =
        g_build_filename(g_getenv("XDG_CACHE_HOME"), "limn", "sha256", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name = dir != NULL ? g_dir_read_name(dir) : NULL;
    return name != NULL ? g_build_filename(folder, name, NULL) : NULL;
}

static void
replace_digest(const char *entry)
{
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(entry, &text, NULL, NULL));
    memset(text + strlen(text) - 65, 'f', 64);
    g_assert_true(g_file_set_contents(entry, text, -1, NULL));
}

static void
test_cache(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree guint8 *block = g_malloc0(LARGE);
    g_autofree char *path = make_file("large", block, LARGE);
    g_autofree char *first = limn_sha256_file(path, NULL, NULL, &error);
    g_assert_null(cache_entry()); // changed a moment ago: not entered
    g_usleep(2100000);
    g_autofree char *second = limn_sha256_file(path, NULL, NULL, &error);
    g_assert_cmpstr(first, ==, second);
    g_autofree char *entry = cache_entry();
    g_assert_nonnull(entry);

    // That the cache answers shows when it holds something else.
    replace_digest(entry);
    g_autofree char *cached = limn_sha256_file(path, NULL, NULL, &error);
    g_assert_true(g_str_has_prefix(cached, "ffffffff"));
    // Another time, size or content: hashed again.
    set_times(path, 1000000000);
    g_autofree char *third = limn_sha256_file(path, NULL, NULL, &error);
    g_assert_cmpstr(third, ==, first);
    // A damaged entry is no error.
    g_assert_true(g_file_set_contents(entry, "garbage", -1, NULL));
    g_autofree char *fourth = limn_sha256_file(path, NULL, NULL, &error);
    g_assert_cmpstr(fourth, ==, first);
    g_assert_no_error(error);
}

static void
test_cache_not_writable(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *cache = g_build_filename(g_getenv("XDG_CACHE_HOME"), "limn", NULL);
    g_assert_true(limn_remove_tree(cache, NULL));
    g_assert_true(g_file_set_contents(cache, "in the way", -1, NULL));
    g_autofree guint8 *block = g_malloc0(LARGE);
    block[5] = 1;
    g_autofree char *path = make_file("large2", block, LARGE);
    g_usleep(2100000);
    g_autofree char *digest = limn_sha256_file(path, NULL, NULL, &error);
    g_autofree char *expected = limn_sha256_bytes(block, LARGE);
    g_assert_no_error(error);
    g_assert_cmpstr(digest, ==, expected);
    g_unlink(cache);
}

static void
test_tree(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *tree = g_build_filename(work_folder, "tree", NULL);
    g_autofree char *sub = g_build_filename(tree, "b", NULL);
    g_assert_true(limn_make_directory(sub, &error));
    g_autofree char *one = make_file("tree/b/x", "abc", 3);
    g_free(make_file("tree/b.txt", "", 0));
    g_free(make_file("tree/Z", "abc", 3));
    g_autofree char *file_link = g_build_filename(tree, "a-link", NULL);
    g_autofree char *folder_link = g_build_filename(tree, "loop", NULL);
    g_autofree char *dangling = g_build_filename(tree, "dangling", NULL);
    g_assert_cmpint(symlink(one, file_link), ==, 0);
    g_assert_cmpint(symlink(tree, folder_link), ==, 0);
    g_assert_cmpint(symlink("nowhere", dangling), ==, 0);

    guint64 size = 0;
    g_autofree char *digest = limn_sha256_tree(tree, &size, NULL, &error);
    g_assert_no_error(error);
    static const char listing[] = "Z\0" ABC "\n"
                                  "a-link\0" ABC "\n"
                                  "b.txt\0" EMPTY "\n"
                                  "b/x\0" ABC "\n";
    g_autofree char *expected = limn_sha256_bytes(listing, sizeof listing - 1);
    g_assert_cmpstr(digest, ==, expected);
    g_assert_cmpuint(size, ==, 9);

    // Hidden names, and a study that was written into the folder, change nothing.
    g_autofree char *hidden = g_build_filename(tree, ".limn-work-1", NULL);
    g_autofree char *study = g_build_filename(tree, "out", NULL);
    g_assert_true(limn_make_directory(hidden, &error));
    g_assert_true(limn_make_directory(study, &error));
    g_free(make_file("tree/.limn-work-1/x", "abc", 3));
    g_free(make_file("tree/.hidden", "abc", 3));
    g_free(make_file("tree/out/map.npy", "abc", 3));
    g_free(make_file("tree/out/study.json", "{}", 2));
    g_autofree char *again = limn_sha256_tree(tree, &size, NULL, &error);
    g_assert_cmpstr(again, ==, expected);
    g_assert_cmpuint(size, ==, 9);
    // The root itself may be one: a trained model is.
    g_autofree char *inside = limn_sha256_tree(study, &size, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(size, ==, 5);

    g_assert_null(limn_sha256_tree("/nonexistent", NULL, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    work_folder = g_dir_make_tmp("limn-hash-XXXXXX", NULL);
    g_autofree char *cache = g_build_filename(work_folder, "cache", NULL);
    g_assert_cmpint(g_mkdir(cache, 0700), ==, 0);
    g_setenv("XDG_CACHE_HOME", cache, TRUE);
    g_test_add_func("/hash/bytes", test_bytes);
    g_test_add_func("/hash/file", test_file);
    g_test_add_func("/hash/cache", test_cache);
    g_test_add_func("/hash/cache-not-writable", test_cache_not_writable);
    g_test_add_func("/hash/tree", test_tree);
    int status = g_test_run();
    g_assert_true(limn_remove_tree(work_folder, NULL));
    g_free(work_folder);
    return status;
}
