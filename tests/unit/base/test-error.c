// SPDX-License-Identifier: GPL-3.0-or-later

#include <errno.h>
#include <gio/gio.h>

#include "engine/base/error.h"

static void
test_exit_status(void)
{
    const struct {
        LimnErrorCode code;
        int status;
    } cases[] = {
        {LIMN_ERROR_FAILED, 1},      {LIMN_ERROR_OUTPUT, 1},
        {LIMN_ERROR_MEMORY, 1},      {LIMN_ERROR_ARGUMENT, 2},
        {LIMN_ERROR_IO, 3},          {LIMN_ERROR_FORMAT, 3},
        {LIMN_ERROR_UNSUPPORTED, 3}, {LIMN_ERROR_MISMATCH, 4},
        {LIMN_ERROR_CANCELLED, 130},
    };
    g_assert_cmpint(limn_error_exit_status(NULL), ==, 0);
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error =
            g_error_new_literal(LIMN_ERROR, (int) cases[i].code, "x");
        g_assert_cmpint(limn_error_exit_status(error), ==, cases[i].status);
    }
    g_autoptr(GError) cancelled =
        g_error_new_literal(G_IO_ERROR, G_IO_ERROR_CANCELLED, "x");
    g_assert_cmpint(limn_error_exit_status(cancelled), ==, 130);
    g_autoptr(GError) other = g_error_new_literal(G_IO_ERROR, G_IO_ERROR_NOT_FOUND, "x");
    g_assert_cmpint(limn_error_exit_status(other), ==, 1);
}

static void
test_messages(void)
{
    g_autoptr(GError) first = NULL;
    g_assert_false(
        limn_error_set_errno(&first, LIMN_ERROR_IO, "a\nb.png", "cannot open", ENOENT));
    g_assert_error(first, LIMN_ERROR, LIMN_ERROR_IO);
    g_assert_cmpstr(first->message, ==,
                    "a\\nb.png: cannot open: No such file or directory");

    g_autoptr(GError) second = NULL;
    g_assert_false(limn_error_set_file(&second, LIMN_ERROR_FORMAT, "m.npy",
                                       "wrong size (found %d, expected %d)", 1, 2));
    g_assert_error(second, LIMN_ERROR, LIMN_ERROR_FORMAT);
    g_assert_cmpstr(second->message, ==, "m.npy: wrong size (found 1, expected 2)");

    g_assert_false(limn_error_set_file(NULL, LIMN_ERROR_FORMAT, "m.npy", "ignored"));
}

static void
test_display_path(void)
{
    const struct {
        const char *path, *shown;
    } cases[] = {
        {"plain.png", "plain.png"},
        {"Ünïcode/テスト/é 1.png", "Ünïcode/テスト/é 1.png"},
        {"line\nbreak\ttab\rreturn", "line\\nbreak\\ttab\\rreturn"},
        {"bell\x07.png", "bell\\x07.png"},
        {"escape\x1b[31m", "escape\\x1b[31m"},
        {"bad\xff\xc3.png", "bad\\xff\\xc3.png"},
        {"cut\xc3", "cut\\xc3"},
        {"rtl\xe2\x80\xaegnp", "rtl\\u202egnp"},
        {"c1\xc2\x85", "c1\\u0085"},
        {"", ""},
        {NULL, "(no file)"},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *shown = limn_display_path(cases[i].path);
        g_assert_cmpstr(shown, ==, cases[i].shown);
        g_assert_true(g_utf8_validate(shown, -1, NULL));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/error/exit-status", test_exit_status);
    g_test_add_func("/error/messages", test_messages);
    g_test_add_func("/hard/B22-display-path", test_display_path);
    return g_test_run();
}
