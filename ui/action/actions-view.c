// SPDX-License-Identifier: GPL-3.0-or-later

// Panels, pages, zoom, panes, tools.

#include "limn-config.h"

#include "ui/action/actions.h"
#include "ui/model/document-edit.h"
#include "ui/window/about.h"
#include "ui/window/canvas.h"
#include "ui/window/preferences.h"
#include "ui/window/shortcuts.h"

#define ZOOM_STEP 1.25

static void
act_library(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_window_set_library_visible(window, !limn_window_get_library_visible(window));
    limn_actions_update(window);
}

static void
act_panel(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_window_set_panel_visible(window, !limn_window_get_panel_visible(window));
}

static void
act_fullscreen(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    if (gtk_window_is_fullscreen(window))
        gtk_window_unfullscreen(window);
    else
        gtk_window_fullscreen(window);
}

static void
act_show_page(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_window_show_page(window, g_variant_get_string(parameter, NULL));
}

static void
act_models(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_window_show_page(window, "models");
}

static LimnCamera *
camera_of(LimnWindow *window)
{
    LimnDocument *doc = limn_window_get_document(window);

    return doc ? limn_document_get_camera(doc) : NULL;
}

static void
act_fit(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnCamera *camera = camera_of(window);

    if (camera)
        limn_camera_fit(camera);
}

static void
act_one_to_one(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnCamera *camera = camera_of(window);

    if (camera)
        limn_camera_one_to_one(camera, gtk_widget_get_scale_factor(window));
}

static void
zoom(LimnWindow *window, double factor)
{
    LimnCamera *camera = camera_of(window);
    LimnPane *pane =
        limn_canvas_get_active_pane(LIMN_CANVAS(limn_window_get_canvas(window)));
    GtkWidget *view = GTK_WIDGET(limn_pane_get_view(pane));
    int width = MAX(gtk_widget_get_width(view), 1);
    int height = MAX(gtk_widget_get_height(view), 1);

    if (camera)
        limn_camera_zoom_at(camera, factor, width / 2.0, height / 2.0, width, height);
}

static void
act_zoom_in(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    zoom(window, ZOOM_STEP);
}

static void
act_zoom_out(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    zoom(window, 1 / ZOOM_STEP);
}

static void
set_grid(LimnDocument *doc, gboolean grid)
{
    limn_document_edit_view(doc)->grid = grid;
    limn_document_view_changed(doc);
}

static void
act_panes(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);
    const char *n = g_variant_get_string(parameter, NULL);

    if (!doc || *n < '1' || *n > '4')
        return;
    if (limn_document_get_view(doc)->grid)
        set_grid(doc, FALSE);
    limn_document_set_n_panes(doc, (guint) (*n - '0'));
    limn_actions_update(window);
}

static void
act_next_pane(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_canvas_focus_next_pane(LIMN_CANVAS(limn_window_get_canvas(window)));
}

static void
act_grid(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);

    if (doc)
        set_grid(doc, !limn_document_get_view(doc)->grid);
}

static void
act_shared_scale(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);
    LimnStudyView *view;

    if (!doc)
        return;
    view = limn_document_edit_view(doc);
    view->scale = view->scale == LIMN_SCALE_SHARED ? LIMN_SCALE_AUTO : LIMN_SCALE_SHARED;
    limn_document_view_changed(doc);
}

static void
act_tool(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    gboolean box = g_str_equal(g_variant_get_string(parameter, NULL), "box");

    limn_canvas_set_tool(LIMN_CANVAS(limn_window_get_canvas(window)),
                         box ? LIMN_TOOL_BOX : LIMN_TOOL_PAN);
    limn_actions_update(window);
}

static void
act_toggle_tool(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnCanvas *canvas = LIMN_CANVAS(limn_window_get_canvas(window));

    limn_canvas_set_tool(canvas, limn_canvas_get_tool(canvas) == LIMN_TOOL_BOX
                                     ? LIMN_TOOL_PAN
                                     : LIMN_TOOL_BOX);
    limn_actions_update(window);
}

static void
step_item(LimnWindow *window, int step)
{
    LimnDocument *doc = limn_window_get_document(window);
    GListModel *items = doc ? limn_document_get_items(doc) : NULL;
    int index = doc ? limn_document_get_item_index(doc) : -1;

    if (items && index + step >= 0 &&
        index + step < (int) g_list_model_get_n_items(items))
        limn_document_show_item(doc, index + step);
}

static void
act_next_item(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    step_item(window, 1);
}

static void
act_previous_item(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    step_item(window, -1);
}

static void
act_preferences(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_preferences_open(window);
}

static void
act_shortcuts(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_shortcuts_open(window);
}

static void
act_about(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_about_open(window);
}

void
limn_actions_add_view(LimnWindow *window)
{
    static const GActionEntry entries[] = {
        {.name = "library", .activate = act_library, .state = "true"},
        {.name = "panel", .activate = act_panel, .state = "true"},
        {.name = "fullscreen", .activate = act_fullscreen},
        {.name = "show-page", .activate = act_show_page, .parameter_type = "s"},
        {.name = "models", .activate = act_models},
        {.name = "fit", .activate = act_fit},
        {.name = "one-to-one", .activate = act_one_to_one},
        {.name = "zoom-in", .activate = act_zoom_in},
        {.name = "zoom-out", .activate = act_zoom_out},
        {.name = "panes", .activate = act_panes, .parameter_type = "s", .state = "'1'"},
        {.name = "next-pane", .activate = act_next_pane},
        {.name = "grid", .activate = act_grid, .state = "false"},
        {.name = "shared-scale", .activate = act_shared_scale, .state = "true"},
        {.name = "tool", .activate = act_tool, .parameter_type = "s", .state = "'pan'"},
        {.name = "toggle-tool", .activate = act_toggle_tool},
        {.name = "next-item", .activate = act_next_item},
        {.name = "previous-item", .activate = act_previous_item},
        {.name = "preferences", .activate = act_preferences},
        {.name = "shortcuts", .activate = act_shortcuts},
        {.name = "about", .activate = act_about},
    };

    g_action_map_add_action_entries(G_ACTION_MAP(window), entries, G_N_ELEMENTS(entries),
                                    window);
}
