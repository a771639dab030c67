// SPDX-License-Identifier: GPL-3.0-or-later

// Running, renaming, duplicating and deleting studies; checkpoints.

#include "limn-config.h"

#include "ui/action/actions.h"
#include "ui/compat/dialogs.h"
#include "ui/panel/library-panel.h"
#include "ui/window/canvas.h"
#include "ui/window/fetch-dialog.h"
#include "ui/window/grid-page.h"

#include <glib/gi18n-lib.h>

static void
act_run(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);

    if (doc)
        limn_workspace_run(limn_window_get_workspace(window), doc);
}

static void
act_cancel(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnWorkspace *ws = limn_window_get_workspace(window);

    limn_workspace_cancel_job(ws);
    limn_live_cancel(limn_workspace_get_live(ws));
}

static void
act_explain_now(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_workspace_explain_now(limn_window_get_workspace(window));
}

static void
act_fill_grid(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_grid_page_fill(LIMN_GRID_PAGE(
        limn_canvas_get_grid(LIMN_CANVAS(limn_window_get_canvas(window)))));
}

static void
act_rename(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_window_set_library_visible(window, TRUE);
    limn_library_panel_rename_current(
        LIMN_LIBRARY_PANEL(limn_window_get_library(window)));
    limn_actions_update(window);
}

static void
act_duplicate(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);

    if (doc)
        limn_workspace_duplicate(limn_window_get_workspace(window), doc);
}

static void
act_delete(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);
    LimnWorkspace *ws = limn_window_get_workspace(window);
    g_autofree char *text = NULL;

    if (!doc)
        return;
    text = g_strdup_printf(_("“%s” was deleted."), limn_document_get_title(doc));
    limn_workspace_remove(ws, doc);
    limn_workspace_message_with_action(ws, LIMN_MESSAGE_INFO, text, _("Undo"),
                                       "win.undo");
}

static void
act_show_folder(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);
    const char *folder = doc ? limn_document_get_study(doc)->folder : NULL;

    if (folder)
        limn_show_in_folder(window, folder);
}

static void
act_show_file(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    g_autofree char *path =
        g_filename_from_uri(g_variant_get_string(parameter, NULL), NULL, NULL);

    if (path)
        limn_show_in_folder(window, path);
}

static void
act_fetch(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_fetch_dialog_open(window);
}

void
limn_actions_add_study(LimnWindow *window)
{
    static const GActionEntry entries[] = {
        {.name = "run", .activate = act_run},
        {.name = "cancel", .activate = act_cancel},
        {.name = "explain-now", .activate = act_explain_now},
        {.name = "fill-grid", .activate = act_fill_grid},
        {.name = "rename-study", .activate = act_rename},
        {.name = "duplicate-study", .activate = act_duplicate},
        {.name = "delete-study", .activate = act_delete},
        {.name = "show-study-folder", .activate = act_show_folder},
        {.name = "show-file", .activate = act_show_file, .parameter_type = "s"},
        {.name = "fetch", .activate = act_fetch},
    };

    g_action_map_add_action_entries(G_ACTION_MAP(window), entries, G_N_ELEMENTS(entries),
                                    window);
}
