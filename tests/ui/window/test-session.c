// SPDX-License-Identifier: GPL-3.0-or-later

// The session: restored after the program was killed, undo beside saving, two programs at
// once, folders that cannot be written, damaged files.

#include "tests/ui/window/fixture.h"

#include "engine/base/file.h"
#include "engine/session/store.h"
#include "ui/model/document-edit.h"

#include <gio/gio.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>

static char *program; // this test program, to be started as a child

static char *
in_home(const char *name)
{
    return g_build_filename(fixture_home(), name, NULL);
}

static void
start_afresh(void)
{
    g_autofree char *state = in_home("state");

    limn_remove_tree(state, NULL);
}

// ---- the child: works in the window and waits to be killed

static void
child(void)
{
    g_autofree char *path = fixture_sample("dog-and-car.png");
    LimnRect box = {40, 200, 200, 200};
    Fixture fixture;
    LimnDocument *doc;

    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    fixture_type(&fixture, "a dog");
    limn_document_add_prompt(doc, "an automobile");
    limn_document_set_n_panes(doc, 4);
    limn_document_set_pane_method(doc, 3, "rollout");
    limn_document_set_pane_prompt(doc, 3, 0);
    limn_document_set_parameter(doc, "layers", "2");
    limn_document_set_box(doc, &box);
    limn_document_edit_view(doc)->opacity = 0.25;
    limn_document_view_changed(doc);
    limn_camera_set_state(limn_document_get_camera(doc), 2.5, 200, 150);
    // a job that takes long enough to be running when the program dies
    doc = limn_workspace_new_study(fixture.ws, "attention-maps");
    limn_document_set_parameter(doc, "method", "rise");
    limn_document_set_parameter(doc, "rise-masks", "1000000");
    g_assert_true(limn_workspace_run(fixture.ws, doc));
    limn_workspace_set_current(
        fixture.ws, g_list_model_get_item(limn_workspace_get_documents(fixture.ws), 0));
    g_printerr("ready\n");
    for (;;)
        g_main_context_iteration(NULL, TRUE);
}

static gboolean
session_has(const char *text)
{
    g_autofree char *path = in_home("state/limn/session.json");
    g_autofree char *contents = NULL;

    return g_file_get_contents(path, &contents, NULL, NULL) && strstr(contents, text);
}

static gboolean
session_is_written(gpointer data)
{
    return session_has("\"running\"") && session_has("\"rollout\"") &&
           session_has("\"layers\"");
}

static void
check_restored(Fixture *fixture)
{
    LimnDocument *doc = fixture_document(fixture);
    const LimnStudyData *data = limn_document_get_data(doc);
    double zoom, cx, cy;

    g_assert_cmpstr(limn_document_get_title(doc), ==, "dog-and-car");
    g_assert_cmpuint(data->prompts->len, ==, 2);
    g_assert_cmpstr(limn_document_get_prompt(doc, 0), ==, "a dog");
    g_assert_cmpstr(limn_document_get_prompt(doc, 1), ==, "an automobile");
    g_assert_cmpuint(data->n_panes, ==, 4);
    g_assert_cmpint(limn_document_get_pane_method(doc, 3), ==, LIMN_EXPLAIN_ROLLOUT);
    g_assert_cmpuint(data->panes[3].prompt, ==, 0);
    g_assert_cmpstr(limn_pairs_get(data->parameters, "layers"), ==, "2");
    g_assert_true(data->has_box);
    g_assert_cmpfloat(data->box.x, ==, 40);
    g_assert_cmpfloat(limn_document_get_view(doc)->opacity, ==, 0.25);
    limn_camera_get_state(limn_document_get_camera(doc), &zoom, &cx, &cy);
    g_assert_cmpfloat(zoom, ==, 2.5);
    g_assert_cmpfloat(cx, ==, 200);
    for (guint i = 0; i < 4; i++)
        g_assert_nonnull(fixture_map(fixture, i));
}

static void
test_killed(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) process = NULL;
    g_autoptr(LimnDocument) job = NULL;
    const char *message;
    Fixture fixture;

    start_afresh();
    g_setenv("LIMN_TEST_CHILD", fixture_home(), TRUE);
    process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error, program, NULL);
    g_unsetenv("LIMN_TEST_CHILD");
    g_assert_no_error(error);
    fixture_wait(session_is_written, NULL, "the child's session");
    g_subprocess_send_signal(process, SIGKILL);
    g_subprocess_wait(process, NULL, NULL);
    fixture_start(&fixture);
    fixture_settle(&fixture);
    check_restored(&fixture);
    // what ran comes back as interrupted, and that is said
    g_assert_cmpuint(g_list_model_get_n_items(limn_workspace_get_documents(fixture.ws)),
                     ==, 2);
    job = g_list_model_get_item(limn_workspace_get_documents(fixture.ws), 1);
    g_assert_cmpint(limn_document_get_study(job)->status, ==, LIMN_STUDY_INTERRUPTED);
    message = fixture_message(&fixture);
    g_assert_nonnull(message);
    g_assert_nonnull(strstr(message, "running when the program ended"));
    fixture_stop(&fixture);
}

// Hard cases B51 and B52: undo survives saving; the file equals the state on screen.
static void
test_undo_and_save(void)
{
    static const char *const texts[] = {"one", "two", "three", "four", "five"};
    g_autofree char *path = fixture_sample("desk.png");
    Fixture fixture;
    LimnDocument *doc;

    start_afresh();
    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++)
        limn_document_add_prompt(doc, texts[i]);
    g_assert_true(limn_workspace_save_now(fixture.ws));
    for (int i = 0; i < 3; i++)
        fixture_action(&fixture, "undo", NULL);
    g_assert_cmpuint(limn_document_get_data(doc)->prompts->len, ==, 3);
    g_assert_true(limn_workspace_save_now(fixture.ws));
    g_assert_true(session_has("\"two\""));
    g_assert_false(session_has("\"three\""));
    fixture_action(&fixture, "redo", NULL);
    g_assert_cmpuint(limn_document_get_data(doc)->prompts->len, ==, 4);
    fixture_restart(&fixture);
    doc = fixture_document(&fixture);
    g_assert_cmpuint(limn_document_get_data(doc)->prompts->len, ==, 4);
    g_assert_cmpstr(limn_document_get_prompt(doc, 3), ==, "three");
    // a new start has nothing to undo, and the buttons say so
    g_assert_false(
        g_action_group_get_action_enabled(G_ACTION_GROUP(fixture.window), "undo"));
    fixture_stop(&fixture);
}

// Hard case B53: one action of the user is one step, and nothing else changes.
static void
test_one_step(void)
{
    g_autofree char *path = fixture_sample("desk.png");
    GtkEditable *entry;
    Fixture fixture;
    LimnDocument *doc;
    LimnStudyData before = {0};

    start_afresh();
    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    entry = GTK_EDITABLE(limn_canvas_get_entry(fixture.canvas));
    // typing in one go is one step
    gtk_editable_set_text(entry, "a");
    gtk_editable_set_text(entry, "a l");
    gtk_editable_set_text(entry, "a laptop");
    limn_study_data_copy(&before, limn_document_get_data(doc));
    limn_document_set_n_panes(doc, 3);
    limn_document_set_pane_method(doc, 1, "rise");
    limn_document_set_parameter(doc, "mode", "authors");
    limn_document_rename(doc, "Another title");
    limn_document_remove_prompt(doc, 0);
    for (int i = 0; i < 5; i++)
        fixture_action(&fixture, "undo", NULL);
    g_assert_true(limn_study_data_equal(&before, limn_document_get_data(doc)));
    g_assert_cmpstr(gtk_editable_get_text(entry), ==, "a laptop");
    fixture_action(&fixture, "undo", NULL);
    g_assert_cmpstr(gtk_editable_get_text(entry), ==, "");
    g_assert_cmpstr(limn_document_get_prompt(doc, 0), ==, "");
    limn_study_data_clear(&before);
    fixture_stop(&fixture);
}

static void
test_delete_study(void)
{
    g_autofree char *path = fixture_sample("desk.png");
    g_autofree char *folder = NULL;
    Fixture fixture;
    LimnDocument *doc;

    start_afresh();
    fixture_start(&fixture);
    doc = fixture_open(&fixture, path);
    fixture_type(&fixture, "a laptop");
    fixture_action(&fixture, "run", NULL);
    fixture_settle(&fixture);
    folder = g_strdup(limn_document_get_study(doc)->folder);
    g_assert_true(g_file_test(folder, G_FILE_TEST_IS_DIR));
    fixture_action(&fixture, "delete-study", NULL);
    g_assert_null(fixture_document(&fixture));
    g_assert_cmpstr(limn_window_get_page(fixture.window), ==, "welcome");
    g_assert_false(g_file_test(folder, G_FILE_TEST_EXISTS));
    fixture_action(&fixture, "undo", NULL);
    g_assert_true(fixture_document(&fixture) == doc);
    g_assert_true(g_file_test(folder, G_FILE_TEST_IS_DIR));
    g_assert_cmpstr(limn_document_get_prompt(doc, 0), ==, "a laptop");
    fixture_action(&fixture, "duplicate-study", NULL);
    g_assert_cmpstr(limn_document_get_title(fixture_document(&fixture)), ==,
                    "desk (copy)");
    fixture_stop(&fixture);
}

// Hard case B57: the same session twice.
static void
test_two_programs(void)
{
    g_autofree char *path = fixture_sample("desk.png");
    g_autofree char *directory = in_home("state/limn");
    g_autoptr(LimnSessionStore) other = NULL;
    g_autoptr(GError) error = NULL;
    Fixture fixture;

    start_afresh();
    other = limn_session_store_open(directory, &error); // the first program
    g_assert_no_error(error);
    g_assert_cmpint(limn_session_store_get_number(other), ==, 1);
    fixture_start(&fixture);
    fixture_idle(100);
    g_assert_nonnull(strstr(fixture_message(&fixture), "running elsewhere"));
    fixture_open(&fixture, path);
    g_assert_true(limn_workspace_save_now(fixture.ws));
    fixture_stop(&fixture);
    // the first program's session was not touched
    g_assert_false(g_file_test(limn_session_store_get_path(other), G_FILE_TEST_EXISTS));
    g_clear_pointer(&other, limn_session_store_free);
    fixture_start(&fixture); // and is free again
    g_assert_null(fixture_document(&fixture));
    fixture_stop(&fixture);
}

// Hard case B56: nowhere to write (a file lies where the folder should be).
static void
test_unwritable(void)
{
    g_autofree char *path = fixture_sample("desk.png");
    g_autofree char *state = in_home("state");
    g_autofree char *data = in_home("data");
    Fixture fixture;

    start_afresh();
    limn_remove_tree(data, NULL);
    g_assert_true(g_file_set_contents(state, "in the way", -1, NULL));
    g_assert_true(g_file_set_contents(data, "in the way", -1, NULL));
    fixture_start(&fixture);
    fixture_idle(100);
    g_assert_nonnull(strstr(fixture_message(&fixture), "cannot be saved"));
    g_assert_nonnull(strstr(fixture_message(&fixture), state));
    fixture_open(&fixture, path);
    fixture_type(&fixture, "a laptop");
    g_assert_nonnull(fixture_map(&fixture, 0));
    fixture_action(&fixture, "run", NULL);
    fixture_settle(&fixture);
    g_assert_nonnull(strstr(fixture_message(&fixture), data));
    fixture_stop(&fixture);
    g_assert_cmpint(g_unlink(state), ==, 0);
    g_assert_cmpint(g_unlink(data), ==, 0);
    // the folder goes away while the program runs: it is made again
    fixture_start(&fixture);
    fixture_open(&fixture, path);
    limn_remove_tree(state, NULL);
    g_assert_true(limn_workspace_save_now(fixture.ws));
    fixture_stop(&fixture);
}

// Hard case B55: a file that was cut off is kept and said.
static void
test_damaged(void)
{
    g_autofree char *directory = in_home("state/limn");
    g_autofree char *file = in_home("state/limn/session.json");
    g_autofree char *kept = in_home("state/limn/session.json.damaged");
    static const char *const contents[] = {"", "{\"limn_session\": 1, \"studies\": [{",
                                           "[1, 2]", "{\"limn_session\": 99}",
                                           "\xff\xfe\x00"};
    Fixture fixture;

    for (gsize i = 0; i < G_N_ELEMENTS(contents); i++) {
        start_afresh();
        g_assert_cmpint(g_mkdir_with_parents(directory, 0700), ==, 0);
        g_assert_true(g_file_set_contents(file, contents[i], -1, NULL));
        fixture_start(&fixture);
        fixture_idle(100);
        g_assert_nonnull(strstr(fixture_message(&fixture), "could not be read"));
        g_assert_true(g_file_test(kept, G_FILE_TEST_EXISTS));
        fixture_stop(&fixture);
    }
}

int
main(int argc, char **argv)
{
    const char *child_home = g_getenv("LIMN_TEST_CHILD");
    int status;

    program = g_strdup(argv[0]);
    if (child_home) {
        fixture_main_init_in(&argc, &argv, child_home);
        child();
    }
    if (!fixture_main_init(&argc, &argv))
        return 0;
    g_test_add_func("/window/session/killed", test_killed);
    g_test_add_func("/hard/B51-B52-undo-and-save", test_undo_and_save);
    g_test_add_func("/hard/B53-one-step", test_one_step);
    g_test_add_func("/window/session/delete", test_delete_study);
    g_test_add_func("/hard/B57-two-programs", test_two_programs);
    g_test_add_func("/hard/B56-unwritable", test_unwritable);
    g_test_add_func("/hard/B55-damaged", test_damaged);
    status = g_test_run();
    fixture_main_end();
    g_free(program);
    return status;
}
