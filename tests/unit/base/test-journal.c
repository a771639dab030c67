// SPDX-License-Identifier: GPL-3.0-or-later

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "tests/unit/base/fault.h"

typedef struct {
    char *folder, *path;
} Fixture;

static void
set_up(Fixture *fixture, gconstpointer data)
{
    fixture->folder = g_dir_make_tmp("limn-journal-XXXXXX", NULL);
    fixture->path = g_build_filename(fixture->folder, "journal", NULL);
}

static void
tear_down(Fixture *fixture, gconstpointer data)
{
    fault_countdown = -1;
    g_assert_true(limn_remove_tree(fixture->folder, NULL));
    g_free(fixture->folder);
    g_free(fixture->path);
}

static void
assert_lines(const char *path, const char *expected, gboolean expected_torn)
{
    g_autoptr(GError) error = NULL;
    gboolean torn = !expected_torn;
    g_auto(GStrv) lines = limn_journal_read(path, &torn, &error);
    g_assert_no_error(error);
    g_autofree char *joined = g_strjoinv("|", lines);
    g_assert_cmpstr(joined, ==, expected);
    g_assert_true(torn == expected_torn);
}

static void
append(const char *path, const char *line)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJournal) journal = limn_journal_open(path, &error);
    g_assert_no_error(error);
    g_assert_true(limn_journal_append(journal, line, &error));
    g_assert_no_error(error);
}

static void
test_append(Fixture *fixture, gconstpointer data)
{
    append(fixture->path, "one");
    append(fixture->path, "");
    append(fixture->path, "drei ü");
    assert_lines(fixture->path, "one||drei ü", FALSE);
}

static void
test_torn(Fixture *fixture, gconstpointer data)
{
    g_assert_true(g_file_set_contents(fixture->path, "one\ntwo\nthr", -1, NULL));
    assert_lines(fixture->path, "one|two", TRUE);
    append(fixture->path, "four"); // does not continue the torn line
    assert_lines(fixture->path, "one|two|four", FALSE);

    // Longer than the block in which the last newline is looked for.
    GString *text = g_string_new("one\n");
    for (int i = 0; i < 10000; i++) {
        g_string_append_c(text, 'x');
    }
    g_assert_true(g_file_set_contents(fixture->path, text->str, -1, NULL));
    append(fixture->path, "two");
    assert_lines(fixture->path, "one|two", FALSE);
    g_string_free(text, TRUE);

    g_assert_true(g_file_set_contents(fixture->path, "torn", -1, NULL));
    append(fixture->path, "first");
    assert_lines(fixture->path, "first", FALSE);
    g_assert_true(g_file_set_contents(fixture->path, "one\n\0\0\0", 7, NULL));
    assert_lines(fixture->path, "one", TRUE);
    g_assert_true(g_file_set_contents(fixture->path, "one\n\0\0\ntwo\n", 11, NULL));
    assert_lines(fixture->path, "one|two", TRUE);
    g_assert_true(g_file_set_contents(fixture->path, "", 0, NULL));
    assert_lines(fixture->path, "", FALSE);
}

static void
test_errors(Fixture *fixture, gconstpointer data)
{
    const struct {
        const char *call;
        int errnum;
        gsize partial;
    } cases[] = {{"write", ENOSPC, 0}, {"write", ENOSPC, 3}, {"fdatasync", EIO, 0}};
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJournal) journal = limn_journal_open(fixture->path, &error);
    g_assert_true(limn_journal_append(journal, "one", &error));
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        fault_call = cases[i].call;
        fault_errno = cases[i].errnum;
        fault_partial = cases[i].partial;
        fault_countdown = 0;
        g_assert_false(limn_journal_append(journal, "second", &error));
        fault_countdown = -1;
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
        g_assert_true(g_str_has_prefix(error->message, fixture->path));
        g_clear_error(&error);
        assert_lines(fixture->path, "one", FALSE); // taken back
    }
    g_assert_false(limn_journal_append(journal, "two\nlines", &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    g_clear_error(&error);
    g_assert_true(limn_journal_append(journal, "third", &error));
    assert_lines(fixture->path, "one|third", FALSE);
}

static void
test_killed(Fixture *fixture, gconstpointer data)
{
    append(fixture->path, "one");
    pid_t child = fork();
    if (child == 0) {
        fault_call = "write";
        fault_errno = 0;
        fault_partial = 4;
        fault_countdown = 1;
        LimnJournal *journal = limn_journal_open(fixture->path, NULL);
        limn_journal_append(journal, "second", NULL);
        limn_journal_append(journal, "third", NULL); // ends in the middle
        _exit(0);
    }
    int status = 0;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(WEXITSTATUS(status), ==, 9);
    assert_lines(fixture->path, "one|second", TRUE);
    append(fixture->path, "fourth");
    assert_lines(fixture->path, "one|second|fourth", FALSE);
}

static void
test_open_errors(Fixture *fixture, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_journal_open(fixture->folder, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_clear_error(&error);
    g_autofree char *missing = g_build_filename(fixture->folder, "no", "journal", NULL);
    g_assert_null(limn_journal_open(missing, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_clear_error(&error);
    g_assert_null(limn_journal_read(missing, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    const struct {
        const char *name;
        void (*func)(Fixture *fixture, gconstpointer data);
    } tests[] = {
        {"/journal/append", test_append},
        {"/journal/torn", test_torn},
        {"/journal/errors", test_errors},
        {"/hard/B55-journal-killed", test_killed},
        {"/journal/open-errors", test_open_errors},
    };
    for (guint i = 0; i < G_N_ELEMENTS(tests); i++) {
        g_test_add(tests[i].name, Fixture, NULL, set_up, tests[i].func, tear_down);
    }
    return g_test_run();
}
