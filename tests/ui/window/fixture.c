// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/window/fixture.h"

#include "engine/base/file.h"
#include "engine/method/operations.h"

#define DEADLINE (60 * G_TIME_SPAN_SECOND)

static char *home;

static void
set_folder(const char *variable, const char *name)
{
    g_autofree char *path = g_build_filename(home, name, NULL);

    g_setenv(variable, path, TRUE);
}

gboolean
fixture_main_init_in(int *argc, char ***argv, const char *folder)
{
    home = g_strdup(folder);
    set_folder("XDG_STATE_HOME", "state");
    set_folder("XDG_DATA_HOME", "data");
    set_folder("XDG_CONFIG_HOME", "config");
    set_folder("XDG_CACHE_HOME", "cache");
    g_setenv("GSETTINGS_BACKEND", "memory", TRUE);
    if (!g_getenv("DISPLAY") && !g_getenv("WAYLAND_DISPLAY")) {
        g_print("1..0 # SKIP there is no display\n");
        return FALSE;
    }
    gtk_test_init(argc, argv, NULL);
    // GTK 4.8 warns when a cursor blinks in a window that lost the focus without being
    // told, as happens without a window manager
    g_object_set(gtk_settings_get_default(), "gtk-cursor-blink", FALSE, NULL);
    limn_registry_set(limn_operations);
    return TRUE;
}

gboolean
fixture_main_init(int *argc, char ***argv)
{
    g_autofree char *folder = g_dir_make_tmp("limn-window-XXXXXX", NULL);

    g_assert_nonnull(folder);
    return fixture_main_init_in(argc, argv, folder);
}

const char *
fixture_home(void)
{
    return home;
}

void
fixture_main_end(void)
{
    limn_remove_tree(home, NULL);
    g_clear_pointer(&home, g_free);
}

static gboolean
wake(gpointer data)
{
    return G_SOURCE_CONTINUE;
}

void
fixture_wait(FixtureCondition condition, gpointer data, const char *what)
{
    gint64 end = g_get_monotonic_time() + DEADLINE;
    guint source = g_timeout_add(10, wake, NULL);

    while (!condition(data) && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(source);
    if (!condition(data))
        g_error("waited in vain for: %s", what);
}

void
fixture_idle(guint milliseconds)
{
    gint64 end = g_get_monotonic_time() + milliseconds * G_TIME_SPAN_MILLISECOND;
    guint source = g_timeout_add(10, wake, NULL);

    while (g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(source);
}

static gboolean
has_map_window(gpointer data)
{
    return gtk_widget_get_mapped(GTK_WIDGET(data));
}

void
fixture_start(Fixture *fixture)
{
    g_autoptr(GError) error = NULL;

    fixture->app =
        limn_application_new(G_APPLICATION_NON_UNIQUE | G_APPLICATION_HANDLES_OPEN);
    g_application_register(G_APPLICATION(fixture->app), NULL, &error);
    g_assert_no_error(error);
    g_application_activate(G_APPLICATION(fixture->app));
    fixture->window = limn_application_get_window(fixture->app);
    fixture->ws = limn_window_get_workspace(fixture->window);
    fixture->canvas = LIMN_CANVAS(limn_window_get_canvas(fixture->window));
    fixture_wait(has_map_window, fixture->window, "the window");
    fixture_idle(50);
}

static gboolean
quit(gpointer data)
{
    g_application_quit(data);
    return G_SOURCE_REMOVE;
}

void
fixture_stop(Fixture *fixture)
{
    gpointer window = fixture->window, ws = fixture->ws;

    g_object_add_weak_pointer(window, &window);
    g_object_add_weak_pointer(ws, &ws);
    gtk_window_close(GTK_WINDOW(fixture->window));
    for (int i = 0; i < 100; i++)
        while (g_main_context_iteration(NULL, FALSE))
            ;
    // the application ends in order: its loop runs for a moment
    g_idle_add(quit, fixture->app);
    g_application_run(G_APPLICATION(fixture->app), 0, NULL);
    g_clear_object(&fixture->app);
    fixture->window = NULL;
    for (int i = 0; i < 500 && (window || ws); i++) // workers may hold it for a moment
        fixture_idle(10);
    g_assert_null(window); // nothing keeps the window or the workspace alive
    g_assert_null(ws);
}

void
fixture_restart(Fixture *fixture)
{
    fixture_stop(fixture);
    fixture_start(fixture);
}

LimnDocument *
fixture_document(Fixture *fixture)
{
    return limn_workspace_get_current(fixture->ws);
}

typedef struct {
    Fixture *fixture;
    gint64 quiet_since;
    guint turns; // of the main loop since then: on a slow machine one may take long
} Quiet;

// Quiet for a tenth of a second and some turns of the main loop.
static gboolean
is_quiet(gpointer data)
{
    Quiet *quiet = data;
    Fixture *fixture = quiet->fixture;
    LimnDocument *doc = fixture_document(fixture);
    const char *message;
    double fraction;

    if (limn_workspace_get_live_progress(fixture->ws, &fraction, &message) ||
        limn_live_is_busy(limn_workspace_get_live(fixture->ws)) ||
        limn_workspace_get_n_jobs(fixture->ws) > 0 ||
        (doc && limn_document_is_loading(doc)))
        *quiet = (Quiet){fixture, g_get_monotonic_time(), 0};
    return ++quiet->turns > 20 &&
           g_get_monotonic_time() - quiet->quiet_since > G_TIME_SPAN_SECOND / 10;
}

void
fixture_settle(Fixture *fixture)
{
    Quiet quiet = {fixture, g_get_monotonic_time(), 0};

    fixture_wait(is_quiet, &quiet, "the work to end");
}

// A copy without the description beside it, so that it opens as any picture does.
char *
fixture_sample(const char *name)
{
    g_autofree char *relative = g_build_filename("samples", name, NULL);
    g_autofree char *original = limn_data_path(relative, NULL);
    g_autofree char *folder = g_build_filename(home, "pictures", NULL);
    char *path = g_build_filename(folder, name, NULL);
    g_autofree char *contents = NULL;
    gsize length;

    g_assert_nonnull(original);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_assert_true(g_file_get_contents(original, &contents, &length, NULL));
        g_assert_true(g_file_set_contents(path, contents, (gssize) length, NULL));
    }
    return path;
}

static gboolean
picture_is_there(gpointer data)
{
    Fixture *fixture = data;
    LimnDocument *doc = fixture_document(fixture);

    return doc && limn_document_get_picture(doc);
}

LimnDocument *
fixture_open(Fixture *fixture, const char *path)
{
    const char *paths[] = {path, NULL};
    LimnDocument *before = fixture_document(fixture);

    limn_workspace_open_paths(fixture->ws, paths);
    for (int i = 0; i < 6000 && fixture_document(fixture) == before; i++)
        fixture_idle(10);
    g_assert_true(fixture_document(fixture) != before);
    fixture_wait(picture_is_there, fixture, "the picture");
    return fixture_document(fixture);
}

void
fixture_type(Fixture *fixture, const char *text)
{
    GtkEditable *entry = GTK_EDITABLE(limn_canvas_get_entry(fixture->canvas));

    for (; *text; text = g_utf8_next_char(text)) {
        int position = -1;
        gsize n = (gsize) (g_utf8_next_char(text) - text);

        gtk_editable_insert_text(entry, text, (int) n, &position);
        fixture_settle(fixture);
    }
}

void
fixture_action(Fixture *fixture, const char *name, GVariant *target)
{
    g_autofree char *full = g_strconcat("win.", name, NULL);

    g_assert_true(g_action_group_has_action(G_ACTION_GROUP(fixture->window), name));
    g_assert_true(
        g_action_group_get_action_enabled(G_ACTION_GROUP(fixture->window), name));
    gtk_widget_activate_action_variant(GTK_WIDGET(fixture->window), full, target);
}

const char *
fixture_message(Fixture *fixture)
{
    return limn_window_get_message(fixture->window);
}

LimnArray *
fixture_map(Fixture *fixture, guint pane)
{
    return limn_heatmap_view_get_map(
        limn_pane_get_view(limn_canvas_get_pane(fixture->canvas, pane)));
}
