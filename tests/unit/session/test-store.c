// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/session/store.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *directory;

static char *
path_of(const char *name)
{
    return g_build_filename(directory, name, NULL);
}

static void
save(LimnSessionStore *store, int width)
{
    g_autoptr(LimnSession) session = limn_session_new();
    g_autofree char *json = NULL;
    g_autoptr(GError) error = NULL;

    session->width = width;
    json = limn_session_to_json(session);
    g_assert_true(limn_session_store_save(store, json, &error));
    g_assert_no_error(error);
}

static void
test_save_and_load(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnSessionStore) store = limn_session_store_open(directory, &error);
    g_autoptr(LimnSession) session = NULL;

    g_assert_no_error(error);
    session = limn_session_store_load(store, &error); // nothing yet
    g_assert_no_error(error);
    g_assert_cmpuint(session->studies->len, ==, 0);
    save(store, 1234);
    g_clear_pointer(&session, limn_session_free);
    session = limn_session_store_load(store, &error);
    g_assert_no_error(error);
    g_assert_cmpint(session->width, ==, 1234);
}

// Hard case B57. Locks belong to open files, so that two stores of one process exclude
// each other as two programs do.
static void
test_two(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnSessionStore) first = limn_session_store_open(directory, &error);
    g_autoptr(LimnSessionStore) second = limn_session_store_open(directory, &error);
    g_autoptr(LimnSession) session = NULL;

    g_assert_cmpint(limn_session_store_get_number(first), ==, 1);
    g_assert_cmpint(limn_session_store_get_number(second), ==, 2);
    save(first, 111);
    save(second, 222);
    session = limn_session_store_load(first, &error);
    g_assert_cmpint(session->width, ==, 111);
    g_clear_pointer(&first, limn_session_store_free);
    first = limn_session_store_open(directory, &error);
    g_assert_cmpint(limn_session_store_get_number(first), ==, 1);
}

// The lock of a program that died is taken over.
static void
test_takeover(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnSessionStore) store = NULL;
    int ready[2], status;
    char byte;
    pid_t pid;

    g_assert_cmpint(pipe(ready), ==, 0);
    pid = fork();
    if (pid == 0) {
        LimnSessionStore *held = limn_session_store_open(directory, NULL);

        byte = held && limn_session_store_get_number(held) == 1 ? 'y' : 'n';
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        pause();
        _exit(0);
    }
    g_assert_cmpint(read(ready[0], &byte, 1), ==, 1);
    g_assert_cmpint(byte, ==, 'y');
    store = limn_session_store_open(directory, &error);
    g_assert_cmpint(limn_session_store_get_number(store), ==, 2);
    g_clear_pointer(&store, limn_session_store_free);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    store = limn_session_store_open(directory, &error);
    g_assert_no_error(error);
    g_assert_cmpint(limn_session_store_get_number(store), ==, 1);
    close(ready[0]);
    close(ready[1]);
}

static void
test_damaged(void)
{
    g_autofree char *file = path_of("session.json");
    g_autofree char *kept = path_of("session.json.damaged");
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnSessionStore) store = limn_session_store_open(directory, NULL);

    g_assert_true(g_file_set_contents(file, "{\"limn_session\": 1, ", -1, NULL));
    g_assert_null(limn_session_store_load(store, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, "session.json"));
    g_assert_false(g_file_test(file, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_test(kept, G_FILE_TEST_EXISTS));
}

// What a killed program left behind goes away, the session stays.
static void
test_stale_parts(void)
{
    g_autofree char *part = path_of(".session.json.abc123.limn-part");
    g_autoptr(LimnSessionStore) store = limn_session_store_open(directory, NULL);
    g_autoptr(LimnSession) session = NULL;

    save(store, 99);
    g_clear_pointer(&store, limn_session_store_free);
    g_assert_true(g_file_set_contents(part, "half", -1, NULL));
    store = limn_session_store_open(directory, NULL);
    session = limn_session_store_load(store, NULL);
    g_assert_cmpint(session->width, ==, 99);
}

static void
test_no_folder(void)
{
    g_autofree char *in_the_way = path_of("file");
    g_autofree char *below = g_build_filename(in_the_way, "limn", NULL);
    g_autoptr(GError) error = NULL;

    g_assert_true(g_file_set_contents(in_the_way, "x", -1, NULL));
    g_assert_null(limn_session_store_open(below, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
}

int
main(int argc, char **argv)
{
    int status;

    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("limn-store-XXXXXX", NULL);
    g_test_add_func("/session/store/save-and-load", test_save_and_load);
    g_test_add_func("/hard/B57-two-programs", test_two);
    g_test_add_func("/session/store/takeover", test_takeover);
    g_test_add_func("/hard/B55-damaged", test_damaged);
    g_test_add_func("/hard/B55-stale-parts", test_stale_parts);
    g_test_add_func("/hard/B56-no-folder", test_no_folder);
    status = g_test_run();
    limn_remove_tree(directory, NULL);
    g_free(directory);
    return status;
}
