// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/undo.h"

typedef struct {
    int *value;
    int before, after;
    gboolean mergeable;
    gsize size;
} Change;

static guint n_freed;

static void
change_undo(gpointer data)
{
    Change *change = data;

    *change->value = change->before;
}

static void
change_redo(gpointer data)
{
    Change *change = data;

    *change->value = change->after;
}

static gboolean
change_merge(gpointer data, gpointer newer)
{
    Change *change = data, *next = newer;

    if (!change->mergeable || !next->mergeable)
        return FALSE;
    change->after = next->after;
    return TRUE;
}

static gsize
change_size(gpointer data)
{
    return ((Change *) data)->size;
}

static void
change_free(gpointer data)
{
    n_freed++;
    g_free(data);
}

static const LimnCommandClass change_class = {change_undo, change_redo, change_merge,
                                              change_size, change_free};

static void
set(LimnUndo *undo, int *value, int to, gboolean mergeable, gsize size)
{
    Change *change = g_new0(Change, 1);

    *change = (Change){value, *value, to, mergeable, size};
    *value = to;
    limn_undo_push(undo, &change_class, change, "Set");
}

static void
count_changes(gpointer user_data)
{
    ++*(guint *) user_data;
}

static void
test_steps(void)
{
    LimnUndo *undo = limn_undo_new(1000);
    guint changes = 0;
    int value = 0;

    limn_undo_set_changed(undo, count_changes, &changes);
    g_assert_null(limn_undo_get_undo_title(undo));
    g_assert_false(limn_undo_undo(undo));
    set(undo, &value, 1, FALSE, 10);
    set(undo, &value, 2, FALSE, 10);
    g_assert_cmpstr(limn_undo_get_undo_title(undo), ==, "Set");
    g_assert_cmpuint(limn_undo_get_depth(undo), ==, 2);
    g_assert_true(limn_undo_undo(undo));
    g_assert_cmpint(value, ==, 1);
    g_assert_cmpstr(limn_undo_get_redo_title(undo), ==, "Set");
    g_assert_true(limn_undo_redo(undo));
    g_assert_cmpint(value, ==, 2);
    g_assert_false(limn_undo_redo(undo));
    g_assert_true(limn_undo_undo(undo));
    set(undo, &value, 7, FALSE, 10); // what was undone is gone
    g_assert_null(limn_undo_get_redo_title(undo));
    g_assert_true(limn_undo_undo(undo));
    g_assert_true(limn_undo_undo(undo));
    g_assert_cmpint(value, ==, 0);
    g_assert_cmpuint(changes, ==, 8);
    limn_undo_clear(undo);
    g_assert_cmpuint(limn_undo_get_bytes(undo), ==, 0);
    limn_undo_free(undo);
}

static void
test_merge(void)
{
    LimnUndo *undo = limn_undo_new(1000);
    int value = 0;

    for (int i = 1; i <= 5; i++)
        set(undo, &value, i, TRUE, 10);
    g_assert_cmpuint(limn_undo_get_depth(undo), ==, 1);
    g_assert_cmpuint(limn_undo_get_bytes(undo), ==, 10);
    limn_undo_break(undo);
    set(undo, &value, 6, TRUE, 10);
    g_assert_cmpuint(limn_undo_get_depth(undo), ==, 2);
    limn_undo_undo(undo);
    g_assert_cmpint(value, ==, 5);
    set(undo, &value, 8, TRUE, 10); // not into the step before the one undone
    g_assert_cmpuint(limn_undo_get_depth(undo), ==, 2);
    limn_undo_undo(undo);
    limn_undo_undo(undo);
    g_assert_cmpint(value, ==, 0);
    limn_undo_free(undo);
}

// Hard case B54: bounded in bytes, the oldest go first, the newest stays.
static void
test_bound(void)
{
    LimnUndo *undo = limn_undo_new(100);
    int value = 0;

    n_freed = 0;
    for (int i = 1; i <= 2000; i++)
        set(undo, &value, i, FALSE, 30);
    g_assert_cmpuint(limn_undo_get_bytes(undo), <=, 100);
    g_assert_cmpuint(limn_undo_get_depth(undo), ==, 3);
    g_assert_cmpuint(n_freed, ==, 1997);
    while (limn_undo_undo(undo))
        ;
    g_assert_cmpint(value, ==, 1997);
    set(undo, &value, 1, FALSE, 5000); // too large, and still it can be undone
    g_assert_cmpuint(limn_undo_get_depth(undo), ==, 1);
    g_assert_true(limn_undo_undo(undo));
    limn_undo_free(undo);
    g_assert_cmpuint(n_freed, ==, 2001);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/session/undo/steps", test_steps);
    g_test_add_func("/session/undo/merge", test_merge);
    g_test_add_func("/hard/B54-undo-bound", test_bound);
    return g_test_run();
}
