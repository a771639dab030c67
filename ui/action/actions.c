// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/action/actions.h"

#include "ui/window/canvas.h"

typedef struct {
    const char *action;
    const char *keys[3];
} Accel;

static const Accel accels[] = {
    {"app.quit", {"<Ctrl>q"}},
    {"win.open", {"<Ctrl>o"}},
    {"win.open-folder", {"<Ctrl><Shift>o"}},
    {"win.paste", {"<Ctrl><Shift>v"}},
    {"win.copy", {"<Ctrl><Shift>c"}},
    {"win.run", {"<Ctrl>s"}},
    {"win.export", {"<Ctrl>e"}},
    {"win.undo", {"<Ctrl>z"}},
    {"win.redo", {"<Ctrl><Shift>z", "<Ctrl>y"}},
    {"win.focus-prompt", {"<Ctrl>l"}},
    {"win.add-prompt", {"<Ctrl>n"}},
    {"win.search", {"<Ctrl>f"}},
    {"win.library", {"F9"}},
    {"win.panel", {"<Shift>F9"}},
    {"win.fullscreen", {"F11"}},
    {"win.fit", {"<Ctrl>0"}},
    {"win.one-to-one", {"<Ctrl>1"}},
    {"win.zoom-in", {"<Ctrl>plus", "<Ctrl>equal"}},
    {"win.zoom-out", {"<Ctrl>minus"}},
    {"win.next-item", {"<Alt>Right"}},
    {"win.previous-item", {"<Alt>Left"}},
    {"win.panes::1", {"<Alt>1"}},
    {"win.panes::2", {"<Alt>2"}},
    {"win.panes::3", {"<Alt>3"}},
    {"win.panes::4", {"<Alt>4"}},
    {"win.next-pane", {"F6"}},
    {"win.grid", {"<Ctrl>g"}},
    {"win.toggle-tool", {"<Ctrl>b"}},
    {"win.preferences", {"<Ctrl>comma"}},
    {"win.shortcuts", {"<Ctrl>question"}},
    {"win.close", {"<Ctrl>w"}},
};

void
limn_actions_set_accels(GtkApplication *application)
{
    for (gsize i = 0; i < G_N_ELEMENTS(accels); i++)
        gtk_application_set_accels_for_action(application, accels[i].action,
                                              accels[i].keys);
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
    static const char *const with_study[] = {"duplicate-study", "delete-study",
                                             "rename-study", "panes", NULL};
    static const char *const with_live[] = {
        "focus-prompt", "add-prompt",  "load-prompts", "grid",
        "shared-scale", "explain-now", "fill-grid",    NULL};
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
