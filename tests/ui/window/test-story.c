// SPDX-License-Identifier: GPL-3.0-or-later

// The story of a user, once in light and once in dark: a sample is dropped, a sentence is
// typed letter by letter, four methods are compared on one scale, the figure is exported,
// the program is killed and comes back with everything. With LIMN_TEST_SCREENSHOTS set to
// a folder every step leaves a picture there.

#include "tests/ui/window/fixture.h"

#include "engine/base/file.h"
#include "ui/model/settings.h"
#include "ui/window/export-dialog.h"

#include <gio/gio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static char *program;

static gboolean
has_node(gpointer data)
{
    GdkPaintable *paintable = data;
    GtkSnapshot *snapshot = gtk_snapshot_new();
    GskRenderNode *node;

    gdk_paintable_snapshot(paintable, snapshot,
                           gdk_paintable_get_intrinsic_width(paintable),
                           gdk_paintable_get_intrinsic_height(paintable));
    node = gtk_snapshot_free_to_node(snapshot);
    if (node)
        gsk_render_node_unref(node);
    return node != NULL;
}

static void
picture(GtkWidget *window, const char *theme, const char *step)
{
    const char *folder = g_getenv("LIMN_TEST_SCREENSHOTS");
    g_autoptr(GdkPaintable) paintable = NULL;
    GtkSnapshot *snapshot;
    GskRenderNode *node;
    g_autoptr(GdkTexture) texture = NULL;
    g_autofree char *name = g_strdup_printf("story-%s-%s.png", theme, step);
    g_autofree char *path = folder ? g_build_filename(folder, name, NULL) : NULL;

    fixture_idle(300);
    paintable = gtk_widget_paintable_new(window);
    fixture_wait(has_node, paintable, "a drawn window");
    if (!path)
        return;
    snapshot = gtk_snapshot_new();
    gdk_paintable_snapshot(paintable, snapshot,
                           gdk_paintable_get_intrinsic_width(paintable),
                           gdk_paintable_get_intrinsic_height(paintable));
    node = gtk_snapshot_free_to_node(snapshot);
    texture = gsk_renderer_render_texture(gtk_native_get_renderer(GTK_NATIVE(window)),
                                          node, NULL);
    gsk_render_node_unref(node);
    g_assert_true(gdk_texture_save_to_png(texture, path));
}

static gboolean
is_open(gpointer data)
{
    LimnDocument *doc = fixture_document(data);

    return doc && limn_document_get_picture(doc);
}

static gboolean
file_is_there(gpointer path)
{
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static void
type_and_watch(Fixture *fixture)
{
    static const char *const letters[] = {"a d", "o", "g"};
    g_autoptr(LimnArray) before = NULL;
    guint encodings = 0;

    for (gsize i = 0; i < G_N_ELEMENTS(letters); i++) {
        LimnArray *map;

        fixture_type(fixture, letters[i]);
        map = fixture_map(fixture, 0);
        g_assert_nonnull(map);
        if (before) {
            g_assert_cmpint(
                memcmp(map->data, before->data, (gsize) map->length * sizeof(float)), !=,
                0);
            g_assert_cmpuint(
                limn_live_get_n_encodings(limn_workspace_get_live(fixture->ws)), ==,
                encodings);
            limn_array_unref(before);
        }
        encodings = limn_live_get_n_encodings(limn_workspace_get_live(fixture->ws));
        before = limn_array_ref(map);
    }
}

static gboolean
has_preview(gpointer dialog)
{
    return limn_export_dialog_has_preview(dialog);
}

static void
export_figure(Fixture *fixture, const char *theme)
{
    g_autofree char *path = g_build_filename(fixture_home(), "story.pdf", NULL);
    LimnExportDialog *dialog = limn_export_dialog_open(fixture->window);

    g_assert_nonnull(dialog);
    fixture_wait(has_preview, dialog, "the preview");
    picture(GTK_WIDGET(dialog), theme, "5-export");
    limn_export_dialog_export_to(dialog, path);
    fixture_wait(file_is_there, path, "the figure");
}

static void
child(const char *theme)
{
    g_autofree char *sample = fixture_sample("dog-and-car.png");
    g_autofree char *done = g_build_filename(fixture_home(), "done", NULL);
    g_autoptr(GFile) file = g_file_new_for_path(sample);
    GSList *files = g_slist_append(NULL, file);
    Fixture fixture;

    limn_settings_set_string("theme", theme);
    fixture_start(&fixture);
    picture(GTK_WIDGET(fixture.window), theme, "1-welcome");
    limn_window_drop_files(fixture.window, files);
    g_slist_free(files);
    fixture_wait(is_open, &fixture, "the dropped picture");
    picture(GTK_WIDGET(fixture.window), theme, "2-dropped");
    type_and_watch(&fixture);
    picture(GTK_WIDGET(fixture.window), theme, "3-typed");
    fixture_action(&fixture, "panes", g_variant_new_string("4"));
    fixture_settle(&fixture);
    picture(GTK_WIDGET(fixture.window), theme, "4-four-methods");
    export_figure(&fixture, theme);
    g_assert_true(limn_workspace_save_now(fixture.ws));
    g_assert_true(g_file_set_contents(done, "done", -1, NULL));
    for (;;)
        g_main_context_iteration(NULL, TRUE);
}

static void
check_after_restart(Fixture *fixture)
{
    double min0 = 0, max0 = 0;

    g_assert_cmpstr(limn_document_get_prompt(fixture_document(fixture), 0), ==, "a dog");
    g_assert_cmpuint(limn_canvas_get_n_panes(fixture->canvas), ==, 4);
    for (guint i = 0; i < 4; i++) {
        double min, max;

        g_assert_nonnull(fixture_map(fixture, i));
        limn_heatmap_view_get_shown_range(
            limn_pane_get_view(limn_canvas_get_pane(fixture->canvas, i)), &min, &max);
        if (i == 0) {
            min0 = min;
            max0 = max;
        }
        g_assert_cmpfloat(min, ==, min0);
        g_assert_cmpfloat(max, ==, max0);
    }
}

static void
test_story(gconstpointer data)
{
    const char *theme = data;
    g_autofree char *state = g_build_filename(fixture_home(), "state", NULL);
    g_autofree char *done = g_build_filename(fixture_home(), "done", NULL);
    g_autofree char *pdf = g_build_filename(fixture_home(), "story.pdf", NULL);
    g_autoptr(GSubprocess) process = NULL;
    g_autoptr(GError) error = NULL;
    g_autofree char *contents = NULL;
    Fixture fixture;

    limn_remove_tree(state, NULL);
    unlink(done);
    unlink(pdf);
    g_setenv("LIMN_TEST_CHILD", fixture_home(), TRUE);
    g_setenv("LIMN_TEST_THEME", theme, TRUE);
    process = g_subprocess_new(G_SUBPROCESS_FLAGS_STDOUT_SILENCE, &error, program, NULL);
    g_assert_no_error(error);
    fixture_wait(file_is_there, done, "the child's work");
    g_subprocess_send_signal(process, SIGKILL);
    g_subprocess_wait(process, NULL, NULL);
    g_assert_true(g_file_get_contents(pdf, &contents, NULL, NULL));
    g_assert_true(g_str_has_prefix(contents, "%PDF-"));
    limn_settings_set_string("theme", theme);
    fixture_start(&fixture);
    fixture_settle(&fixture);
    fixture_idle(300);
    check_after_restart(&fixture);
    picture(GTK_WIDGET(fixture.window), theme, "6-restored");
    fixture_stop(&fixture);
    limn_settings_set_string("theme", "system");
}

int
main(int argc, char **argv)
{
    const char *child_home = g_getenv("LIMN_TEST_CHILD");
    int status;

    program = g_strdup(argv[0]);
    if (child_home) {
        fixture_main_init_in(&argc, &argv, child_home);
        child(g_getenv("LIMN_TEST_THEME"));
    }
    if (!fixture_main_init(&argc, &argv))
        return 0;
    g_test_add_data_func("/window/story/light", "light", test_story);
    g_test_add_data_func("/window/story/dark", "dark", test_story);
    status = g_test_run();
    fixture_main_end();
    g_free(program);
    return status;
}
