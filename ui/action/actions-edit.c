// SPDX-License-Identifier: GPL-3.0-or-later

// Undo, sentences, region.

#include "limn-config.h"

#include "ui/action/actions.h"
#include "ui/compat/dialogs.h"
#include "ui/model/document-edit.h"
#include "ui/panel/library-panel.h"
#include "ui/window/canvas.h"

#include <glib/gi18n-lib.h>

// An entry with an undo of its own (search, titles) comes first while it has the focus.
static gboolean
entry_takes(LimnWindow *window, const char *action)
{
    GtkWidget *focus = gtk_root_get_focus(GTK_ROOT(window));

    if (!GTK_IS_TEXT(focus) || !gtk_editable_get_enable_undo(GTK_EDITABLE(focus)))
        return FALSE;
    return gtk_widget_activate_action(focus, action, NULL);
}

static void
act_undo(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    if (!entry_takes(window, "text.undo"))
        limn_undo_undo(limn_workspace_get_undo(limn_window_get_workspace(window)));
}

static void
act_redo(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    if (!entry_takes(window, "text.redo"))
        limn_undo_redo(limn_workspace_get_undo(limn_window_get_workspace(window)));
}

static void
act_focus_prompt(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_canvas_focus_entry(LIMN_CANVAS(limn_window_get_canvas(window)));
}

static void
act_add_prompt(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);

    if (!doc)
        return;
    limn_document_add_prompt(doc, "");
    limn_canvas_focus_entry(LIMN_CANVAS(limn_window_get_canvas(window)));
}

static void
open_one(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GPtrArray) files = limn_choose_files_finish(result);
    LimnWindow *window = LIMN_WINDOW(source);
    g_autofree char *path =
        files && files->len > 0 ? g_file_get_path(files->pdata[0]) : NULL;
    const char *paths[] = {path, NULL};

    if (path)
        limn_workspace_open_paths(limn_window_get_workspace(window), paths);
}

static void
act_load_prompts(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_choose_files_async(window, LIMN_CHOOSE_OPEN, LIMN_FILTER_TEXTS,
                            _("Read Sentences, One per Line"), NULL, NULL, open_one,
                            NULL);
}

static void
mask_chosen(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GPtrArray) files = limn_choose_files_finish(result);
    LimnDocument *doc = limn_window_get_document(LIMN_WINDOW(source));
    g_autofree char *path =
        files && files->len > 0 ? g_file_get_path(files->pdata[0]) : NULL;

    if (path && doc)
        limn_document_set_mask(doc, path);
}

static void
act_load_mask(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);
    g_autofree char *picture = doc ? limn_document_dup_picture_path(doc) : NULL;
    g_autofree char *folder = picture ? g_path_get_dirname(picture) : NULL;

    limn_choose_files_async(window, LIMN_CHOOSE_OPEN, LIMN_FILTER_PICTURES,
                            _("Load a Mask"), NULL, folder, mask_chosen, NULL);
}

static void
act_clear_region(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    LimnDocument *doc = limn_window_get_document(window);

    if (!doc)
        return;
    if (limn_document_get_data(doc)->has_box)
        limn_document_set_box(doc, NULL);
    if (limn_document_get_data(doc)->mask)
        limn_document_set_mask(doc, NULL);
}

static void
act_search(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_window_set_library_visible(window, TRUE);
    limn_actions_update(window);
    limn_library_panel_focus_search(LIMN_LIBRARY_PANEL(limn_window_get_library(window)));
}

void
limn_actions_add_edit(LimnWindow *window)
{
    static const GActionEntry entries[] = {
        {.name = "undo", .activate = act_undo},
        {.name = "redo", .activate = act_redo},
        {.name = "focus-prompt", .activate = act_focus_prompt},
        {.name = "add-prompt", .activate = act_add_prompt},
        {.name = "load-prompts", .activate = act_load_prompts},
        {.name = "load-mask", .activate = act_load_mask},
        {.name = "clear-region", .activate = act_clear_region},
        {.name = "search", .activate = act_search},
    };

    g_action_map_add_action_entries(G_ACTION_MAP(window), entries, G_N_ELEMENTS(entries),
                                    window);
}
