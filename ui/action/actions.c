// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/action/actions.h"

#include "ui/window/canvas.h"

#include <glib/gi18n-lib.h>

static const LimnAccel accels[] = {
    {"win.open", {"<Ctrl>o"}, LIMN_ACCEL_FILES, N_("Open")},
    {"win.open-folder", {"<Ctrl><Shift>o"}, LIMN_ACCEL_FILES, N_("Open a folder")},
    {"win.paste", {"<Ctrl><Shift>v"}, LIMN_ACCEL_FILES, N_("Paste a picture")},
    {"win.run", {"<Ctrl>s"}, LIMN_ACCEL_FILES, N_("Run and save the study")},
    {"win.export", {"<Ctrl>e"}, LIMN_ACCEL_FILES, N_("Export a figure")},
    {"win.copy", {"<Ctrl><Shift>c"}, LIMN_ACCEL_FILES, N_("Copy the view")},
    {"win.preferences", {"<Ctrl>comma"}, LIMN_ACCEL_FILES, N_("Preferences")},
    {"win.shortcuts", {"<Ctrl>question"}, LIMN_ACCEL_FILES, N_("Keyboard shortcuts")},
    {"win.close", {"<Ctrl>w"}, LIMN_ACCEL_FILES, N_("Close the window")},
    {"app.quit", {"<Ctrl>q"}, LIMN_ACCEL_FILES, N_("Quit")},
    {"win.undo", {"<Ctrl>z"}, LIMN_ACCEL_EDITING, N_("Undo")},
    {"win.redo", {"<Ctrl><Shift>z", "<Ctrl>y"}, LIMN_ACCEL_EDITING, N_("Redo")},
    {"win.focus-prompt", {"<Ctrl>l"}, LIMN_ACCEL_EDITING, N_("Go to the sentence")},
    {"win.add-prompt", {"<Ctrl>n"}, LIMN_ACCEL_EDITING, N_("Add a sentence")},
    {"win.search", {"<Ctrl>f"}, LIMN_ACCEL_EDITING, N_("Search the library")},
    {"win.toggle-tool", {"<Ctrl>b"}, LIMN_ACCEL_EDITING, N_("Draw a box")},
    {"win.library", {"F9"}, LIMN_ACCEL_VIEW, N_("Library")},
    {"win.panel", {"<Shift>F9"}, LIMN_ACCEL_VIEW, N_("Study panel")},
    {"win.fullscreen", {"F11"}, LIMN_ACCEL_VIEW, N_("Full screen")},
    {"win.fit", {"<Ctrl>0"}, LIMN_ACCEL_VIEW, N_("Fit the picture")},
    {"win.one-to-one", {"<Ctrl>1"}, LIMN_ACCEL_VIEW, N_("Original size")},
    {"win.zoom-in", {"<Ctrl>plus", "<Ctrl>equal"}, LIMN_ACCEL_VIEW, N_("Zoom in")},
    {"win.zoom-out", {"<Ctrl>minus"}, LIMN_ACCEL_VIEW, N_("Zoom out")},
    {"win.next-item", {"<Alt>Right"}, LIMN_ACCEL_VIEW, N_("Next picture of the folder")},
    {"win.previous-item",
     {"<Alt>Left"},
     LIMN_ACCEL_VIEW,
     N_("Previous picture of the folder")},
    {"win.panes::1", {"<Alt>1"}, LIMN_ACCEL_COMPARING, N_("One pane")},
    {"win.panes::2", {"<Alt>2"}, LIMN_ACCEL_COMPARING, N_("Two panes")},
    {"win.panes::3", {"<Alt>3"}, LIMN_ACCEL_COMPARING, N_("Three panes")},
    {"win.panes::4", {"<Alt>4"}, LIMN_ACCEL_COMPARING, N_("Four panes")},
    {"win.next-pane", {"F6"}, LIMN_ACCEL_COMPARING, N_("Next pane")},
    {"win.grid", {"<Ctrl>g"}, LIMN_ACCEL_COMPARING, N_("Method grid")},
};

const LimnAccel *
limn_actions_get_accels(gsize *n)
{
    *n = G_N_ELEMENTS(accels);
    return accels;
}

void
limn_actions_set_accels(GtkApplication *application)
{
    for (gsize i = 0; i < G_N_ELEMENTS(accels); i++)
        gtk_application_set_accels_for_action(application, accels[i].action,
                                              (const char *const *) accels[i].keys);
}

void
limn_actions_add(LimnWindow *window)
{
    limn_actions_add_file(window);
    limn_actions_add_edit(window);
    limn_actions_add_view(window);
    limn_actions_add_study(window);
}

// ---- state

static void
enable(LimnWindow *window, gboolean enabled, const char *const *names)
{
    for (; *names; names++) {
        GAction *action = g_action_map_lookup_action(G_ACTION_MAP(window), *names);

        g_simple_action_set_enabled(G_SIMPLE_ACTION(action), enabled);
    }
}

static void
set_state(LimnWindow *window, const char *name, GVariant *state)
{
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(window), name);

    g_simple_action_set_state(G_SIMPLE_ACTION(action), state);
}

static void
update_states(LimnWindow *window, LimnDocument *doc)
{
    const LimnStudyData *data = doc ? limn_document_get_data(doc) : NULL;
    const LimnStudyView *view = doc ? limn_document_get_view(doc) : NULL;
    LimnCanvas *canvas = LIMN_CANVAS(limn_window_get_canvas(window));
    char panes[2] = {data ? (char) ('0' + data->n_panes) : '1', 0};

    set_state(window, "library",
              g_variant_new_boolean(limn_window_get_library_visible(window)));
    set_state(window, "panel",
              g_variant_new_boolean(limn_window_get_panel_visible(window)));
    set_state(window, "panes", g_variant_new_string(panes));
    set_state(window, "grid", g_variant_new_boolean(view && view->grid));
    set_state(window, "shared-scale",
              g_variant_new_boolean(view && view->scale == LIMN_SCALE_SHARED));
    set_state(window, "tool",
              g_variant_new_string(
                  limn_canvas_get_tool(canvas) == LIMN_TOOL_BOX ? "box" : "pan"));
}

void
limn_actions_update(LimnWindow *window)
{
    static const char *const with_study[] = {
        "duplicate-study", "delete-study", "rename-study", "panes", "shared-scale", NULL};
    static const char *const with_prompts[] = {"focus-prompt", "add-prompt",
                                               "load-prompts", NULL};
    static const char *const with_live[] = {"grid", "explain-now", "fill-grid", NULL};
    static const char *const with_picture[] = {
        "fit",       "one-to-one", "zoom-in", "zoom-out",  "tool", "toggle-tool",
        "load-mask", "copy",       "export",  "next-pane", NULL};
    LimnWorkspace *ws = limn_window_get_workspace(window);
    LimnDocument *doc = limn_window_get_document(window);
    LimnUndo *undo = limn_workspace_get_undo(ws);
    const LimnStudyData *data = doc ? limn_document_get_data(doc) : NULL;
    gboolean live = doc && limn_document_is_live_capable(doc);
    gboolean shows =
        doc && (limn_document_get_picture(doc) || limn_document_get_artifacts(doc));

    enable(window, doc != NULL, with_study);
    enable(window, live, with_live);
    enable(window, doc && limn_document_has_prompts(doc), with_prompts);
    enable(window, shows, with_picture);
    enable(window, doc && limn_document_get_operation(doc) && !limn_document_get_job(doc),
           (const char *[]){"run", NULL});
    enable(window, data && (data->has_box || data->mask),
           (const char *[]){"clear-region", NULL});
    enable(window, doc && limn_document_get_study(doc)->folder,
           (const char *[]){"show-study-folder", NULL});
    enable(window, doc && limn_document_get_picture_error(doc),
           (const char *[]){"locate", NULL});
    enable(window, doc && limn_document_get_items(doc),
           (const char *[]){"next-item", "previous-item", NULL});
    enable(window, limn_undo_get_undo_title(undo) != NULL,
           (const char *[]){"undo", NULL});
    enable(window, limn_undo_get_redo_title(undo) != NULL,
           (const char *[]){"redo", NULL});
    update_states(window, doc);
}
