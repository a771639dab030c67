// SPDX-License-Identifier: GPL-3.0-or-later

// Every page in small and large windows, light and dark, at the scale factor of the
// environment: nothing critical, nothing that sticks out, a name on every control.

#include "tests/ui/window/fixture.h"

#include "engine/base/file.h"
#include "ui/model/document-edit.h"
#include "ui/model/settings.h"
#include "ui/window/about.h"
#include "ui/window/export-dialog.h"
#include "ui/window/fetch-dialog.h"
#include "ui/window/preferences.h"
#include "ui/window/shortcuts.h"

#include <string.h>

static void
start_afresh(void)
{
    g_autofree char *state = g_build_filename(fixture_home(), "state", NULL);

    limn_remove_tree(state, NULL);
}

static LimnDocument *
open_and_type(Fixture *fixture, const char *sample, const char *text)
{
    g_autofree char *path = fixture_sample(sample);
    LimnDocument *doc = fixture_open(fixture, path);

    gtk_editable_set_text(GTK_EDITABLE(limn_canvas_get_entry(fixture->canvas)), text);
    fixture_settle(fixture);
    return doc;
}

// ---- names

static gboolean
has_label_text(GtkWidget *widget)
{
    if (GTK_IS_LABEL(widget) && *gtk_label_get_text(GTK_LABEL(widget)))
        return TRUE;
    for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
         child = gtk_widget_get_next_sibling(child))
        if (has_label_text(child))
            return TRUE;
    return FALSE;
}

static gboolean
has_name(GtkWidget *widget)
{
    GtkAccessible *accessible = GTK_ACCESSIBLE(widget);

    return gtk_test_accessible_has_property(accessible, GTK_ACCESSIBLE_PROPERTY_LABEL) ||
           gtk_test_accessible_has_relation(accessible,
                                            GTK_ACCESSIBLE_RELATION_LABELLED_BY);
}

// Entries and spin buttons give the focus to the text inside them, which speaks with
// their name.
static gboolean
is_named(GtkWidget *widget)
{
    GtkWidget *parent = gtk_widget_get_parent(widget);

    if (has_name(widget))
        return TRUE;
    if (GTK_IS_TEXT(widget) && parent)
        return is_named(parent);
    if (GTK_IS_BUTTON(widget) || GTK_IS_CHECK_BUTTON(widget) || GTK_IS_EXPANDER(widget) ||
        GTK_IS_LIST_BOX_ROW(widget) || GTK_IS_LABEL(widget))
        return has_label_text(widget);
    // rows of list and column views take their name from their content
    return strstr(G_OBJECT_TYPE_NAME(widget), "ListItemWidget") && has_label_text(widget);
}

// Surfaces that take the focus for scrolling keys only.
static gboolean
is_surface(GtkWidget *widget)
{
    return GTK_IS_WINDOW(widget) || GTK_IS_POPOVER(widget) ||
           GTK_IS_SCROLLED_WINDOW(widget) || GTK_IS_VIEWPORT(widget);
}

static guint
count_nameless(GtkWidget *widget)
{
    guint n = 0;

    if (!gtk_widget_get_mapped(widget))
        return 0;
    if (gtk_widget_get_focusable(widget) && !is_surface(widget) && !is_named(widget)) {
        GtkWidget *parent = gtk_widget_get_parent(widget);

        g_printerr("nameless: %s in %s (%s)\n", G_OBJECT_TYPE_NAME(widget),
                   parent ? G_OBJECT_TYPE_NAME(parent) : "-",
                   gtk_widget_get_tooltip_text(widget));
        n++;
    }
    for (GtkWidget *child = gtk_widget_get_first_child(widget); child;
         child = gtk_widget_get_next_sibling(child))
        n += count_nameless(child);
    return n;
}

static void
check_names(GtkWidget *window)
{
    fixture_idle(100);
    g_assert_cmpuint(count_nameless(window), ==, 0);
}

static void
test_names(void)
{
    g_autofree char *labels = fixture_sample("dog-and-car_labels.png");
    g_autofree char *folder = limn_data_path("samples", NULL);
    const LimnOperation *const *operations = limn_registry_get();
    Fixture fixture;
    LimnDocument *doc;

    start_afresh();
    fixture_start(&fixture);
    check_names(GTK_WIDGET(fixture.window));
    doc = open_and_type(&fixture, "dog-and-car.png", "a dog");
    limn_document_add_prompt(doc, "an automobile");
    limn_document_set_mask(doc, labels);
    fixture_settle(&fixture);
    check_names(GTK_WIDGET(fixture.window));
    fixture_action(&fixture, "panes", g_variant_new_string("4"));
    limn_document_set_override(doc, 0, "dog", "The word “dog” alone");
    fixture_settle(&fixture);
    check_names(GTK_WIDGET(fixture.window));
    fixture_action(&fixture, "grid", NULL);
    check_names(GTK_WIDGET(fixture.window));
    limn_workspace_open_picture(fixture.ws, folder, NULL);
    fixture_settle(&fixture);
    fixture_idle(300);
    check_names(GTK_WIDGET(fixture.window));
    limn_window_show_page(fixture.window, "models");
    check_names(GTK_WIDGET(fixture.window));
    for (gsize i = 0; operations[i]; i++) { // every generated panel
        limn_workspace_new_study(fixture.ws, operations[i]->id);
        check_names(GTK_WIDGET(fixture.window));
    }
    fixture_settle(&fixture);
    fixture_stop(&fixture);
}

static void
test_dialog_names(void)
{
    Fixture fixture;
    GtkWindow *dialog;

    start_afresh();
    fixture_start(&fixture);
    open_and_type(&fixture, "dog-and-car.png", "a dog");
    dialog = GTK_WINDOW(limn_export_dialog_open(fixture.window));
    check_names(GTK_WIDGET(dialog));
    gtk_window_destroy(dialog);
    dialog = limn_preferences_open(fixture.window);
    check_names(GTK_WIDGET(dialog));
    gtk_window_destroy(dialog);
    dialog = GTK_WINDOW(limn_fetch_dialog_open(fixture.window));
    check_names(GTK_WIDGET(dialog));
    gtk_window_destroy(dialog);
    {
        g_autofree char *text = limn_diagnostics(fixture.window);

        g_assert_nonnull(strstr(text, "Limn "));
        g_assert_nonnull(strstr(text, "OpenGL: "));
    }
    dialog = limn_about_open(fixture.window);
    fixture_idle(200);
    gtk_window_destroy(dialog);
    dialog = limn_shortcuts_open(fixture.window);
    check_names(GTK_WIDGET(dialog));
    gtk_window_destroy(dialog);
    fixture_stop(&fixture);
}

// ---- sizes

static void
resize(Fixture *fixture, int width, int height)
{
    gtk_window_set_default_size(GTK_WINDOW(fixture->window), width, height);
    fixture_idle(150);
}

static void
test_sizes(void)
{
    static const int sizes[][2] = {{1280, 800}, {1024, 600}, {700, 400}, {1, 1},
                                   {1600, 300}, {400, 1000}, {1024, 600}};
    Fixture fixture;
    LimnDocument *doc;

    start_afresh();
    fixture_start(&fixture);
    doc = open_and_type(&fixture, "dog-and-car.png", "a dog and an automobile");
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        limn_document_set_n_panes(doc, 1 + (guint) i % 4);
        fixture_settle(&fixture);
        resize(&fixture, sizes[i][0], sizes[i][1]);
        limn_window_show_page(fixture.window, "welcome");
        fixture_idle(60);
        limn_window_show_page(fixture.window, "models");
        fixture_idle(60);
        limn_window_show_page(fixture.window, "study");
        fixture_action(&fixture, "library", NULL);
        fixture_action(&fixture, "panel", NULL);
        fixture_idle(60);
        fixture_action(&fixture, "library", NULL);
        fixture_action(&fixture, "panel", NULL);
        fixture_idle(60);
        fixture_action(&fixture, "grid", NULL);
        fixture_idle(60);
        fixture_action(&fixture, "grid", NULL);
    }
    fixture_stop(&fixture);
}

// 1024 x 600 with both side panels: the window asks for no more, every pane can be seen.
static void
test_small_screen(void)
{
    Fixture fixture;
    LimnDocument *doc;
    int minimum;

    start_afresh();
    fixture_start(&fixture);
    doc = open_and_type(&fixture, "dog-and-car.png", "a dog and an automobile");
    for (guint n = 1; n <= 4; n++) {
        limn_document_set_n_panes(doc, n);
        fixture_settle(&fixture);
        gtk_widget_measure(GTK_WIDGET(fixture.window), GTK_ORIENTATION_HORIZONTAL, -1,
                           &minimum, NULL, NULL, NULL);
        g_test_message("%u panes: least width %d", n, minimum);
        g_assert_cmpint(minimum, <=, 1024);
        gtk_widget_measure(GTK_WIDGET(fixture.window), GTK_ORIENTATION_VERTICAL, 1024,
                           &minimum, NULL, NULL, NULL);
        g_test_message("%u panes: least height %d", n, minimum);
        g_assert_cmpint(minimum, <=, 600);
    }
    resize(&fixture, 1024, 600);
    // at scale factor 2 the test's screen is smaller than that
    for (guint i = 0; i < 4 && gtk_widget_get_height(GTK_WIDGET(fixture.window)) >= 600;
         i++) {
        GtkWidget *view =
            GTK_WIDGET(limn_pane_get_view(limn_canvas_get_pane(fixture.canvas, i)));

        g_assert_cmpint(gtk_widget_get_width(view), >, 150);
        g_assert_cmpint(gtk_widget_get_height(view), >, 60);
    }
    limn_window_show_page(fixture.window, "models");
    gtk_widget_measure(GTK_WIDGET(fixture.window), GTK_ORIENTATION_HORIZONTAL, -1,
                       &minimum, NULL, NULL, NULL);
    g_assert_cmpint(minimum, <=, 1024);
    fixture_stop(&fixture);
}

static void
test_dark(void)
{
    gboolean dark;
    Fixture fixture;

    start_afresh();
    fixture_start(&fixture);
    open_and_type(&fixture, "dog-and-car.png", "a dog");
    limn_settings_set_string("theme", "dark");
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark,
                 NULL);
    g_assert_true(dark);
    fixture_idle(200);
    limn_window_show_page(fixture.window, "welcome");
    fixture_idle(100);
    limn_settings_set_string("theme", "light");
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark,
                 NULL);
    g_assert_false(dark);
    limn_settings_set_string("theme", "system");
    fixture_stop(&fixture);
}

// Panels, page and size come back.
static void
test_geometry(void)
{
    Fixture fixture;

    start_afresh();
    fixture_start(&fixture);
    open_and_type(&fixture, "dog-and-car.png", "a dog");
    resize(&fixture, 1100, 700);
    fixture_action(&fixture, "library", NULL);
    limn_window_show_page(fixture.window, "models");
    fixture_restart(&fixture);
    g_assert_false(limn_window_get_library_visible(fixture.window));
    g_assert_true(limn_window_get_panel_visible(fixture.window));
    g_assert_cmpstr(limn_window_get_page(fixture.window), ==, "models");
    fixture_action(&fixture, "library", NULL);
    fixture_stop(&fixture);
}

int
main(int argc, char **argv)
{
    int status;

    if (!fixture_main_init(&argc, &argv))
        return 0;
    g_test_add_func("/window/layout/names", test_names);
    g_test_add_func("/window/layout/dialog-names", test_dialog_names);
    g_test_add_func("/window/layout/sizes", test_sizes);
    g_test_add_func("/window/layout/small-screen", test_small_screen);
    g_test_add_func("/window/layout/dark", test_dark);
    g_test_add_func("/window/layout/geometry", test_geometry);
    status = g_test_run();
    fixture_main_end();
    return status;
}
