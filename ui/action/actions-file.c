// SPDX-License-Identifier: GPL-3.0-or-later

// Opening, pasting, copying, exporting.

#include "limn-config.h"

#include "ui/action/actions.h"
#include "ui/compat/dialogs.h"
#include "ui/model/document-edit.h"
#include "ui/window/copy-view.h"
#include "ui/window/export-dialog.h"
#include "ui/window/picture-paste.h"

#include <glib/gi18n-lib.h>

static char **
paths_of(GPtrArray *files)
{
    g_autoptr(GStrvBuilder) paths = g_strv_builder_new();

    for (guint i = 0; files && i < files->len; i++) {
        g_autofree char *path = g_file_get_path(files->pdata[i]);

        if (path)
            g_strv_builder_add(paths, path);
    }
    return g_strv_builder_end(paths);
}

static void
opened(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GPtrArray) files = limn_choose_files_finish(result);
    g_auto(GStrv) paths = paths_of(files);

    if (*paths)
        limn_workspace_open_paths(limn_window_get_workspace(LIMN_WINDOW(source)),
                                  (const char *const *) paths);
}

static void
act_open(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_choose_files_async(window, LIMN_CHOOSE_OPEN_MANY, LIMN_FILTER_KNOWN,
                            _("Open Pictures, Masks, Checkpoints or Studies"), NULL, NULL,
                            opened, NULL);
}

static void
act_open_folder(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_choose_files_async(window, LIMN_CHOOSE_FOLDER, LIMN_FILTER_NONE,
                            _("Open a Folder"), NULL, NULL, opened, NULL);
}

static void
act_open_study(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    g_autofree char *data = limn_workspace_data_directory();
    g_autofree char *studies = g_build_filename(data, "studies", NULL);

    limn_choose_files_async(
        window, LIMN_CHOOSE_FOLDER, LIMN_FILTER_NONE, _("Open a Study Folder"), NULL,
        g_file_test(studies, G_FILE_TEST_IS_DIR) ? studies : NULL, opened, NULL);
}

static void
model_answered(GObject *source, GAsyncResult *result, gpointer user_data)
{
    int answer = limn_ask_finish(result);

    if (answer == 1 || answer == 2)
        limn_choose_files_async(GTK_WINDOW(source),
                                answer == 1 ? LIMN_CHOOSE_OPEN : LIMN_CHOOSE_FOLDER,
                                answer == 1 ? LIMN_FILTER_MODELS : LIMN_FILTER_NONE,
                                _("Open a Checkpoint"), NULL, NULL, opened, NULL);
}

// A checkpoint is a file or a folder; a file chooser chooses one or the other.
static void
act_open_model(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    const char *buttons[] = {_("_Cancel"), _("A _File…"), _("A F_older…"), NULL};

    limn_ask_async(window, _("Open a Checkpoint"),
                   _("A folder with model.safetensors and its configuration, or a single "
                     ".safetensors file."),
                   buttons, model_answered, NULL);
}

static void
act_open_recent(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    const char *paths[] = {g_variant_get_bytestring(parameter), NULL};

    limn_workspace_open_paths(limn_window_get_workspace(window), paths);
}

static void
act_paste(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_paste_from_clipboard(limn_window_get_workspace(window),
                              gtk_widget_get_clipboard(window));
}

static void
act_copy(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_copy_view(window);
}

static void
act_export(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_export_dialog_open(window);
}

static void
located(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnWindow *window = LIMN_WINDOW(source);
    LimnWorkspace *ws = limn_window_get_workspace(window);
    LimnDocument *doc = limn_window_get_document(window);
    g_autoptr(GPtrArray) files = limn_choose_files_finish(result);
    g_auto(GStrv) paths = paths_of(files);
    g_autofree char *text = NULL;
    guint n;

    if (!*paths || !doc)
        return;
    n = limn_workspace_relocate(ws, doc, paths[0]);
    text = g_strdup_printf(
        ngettext("%u moved file was found.", "%u moved files were found.", n), n);
    limn_workspace_message(ws, LIMN_MESSAGE_INFO, text);
}

static void
act_locate(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    limn_choose_files_async(window, LIMN_CHOOSE_OPEN, LIMN_FILTER_PICTURES,
                            _("Where Is the Picture Now?"), NULL, NULL, located, NULL);
}

static void
act_close(GSimpleAction *action, GVariant *parameter, gpointer window)
{
    gtk_window_close(window);
}

void
limn_actions_add_file(LimnWindow *window)
{
    static const GActionEntry entries[] = {
        {.name = "open", .activate = act_open},
        {.name = "open-folder", .activate = act_open_folder},
        {.name = "open-study", .activate = act_open_study},
        {.name = "open-model", .activate = act_open_model},
        {.name = "open-recent", .activate = act_open_recent, .parameter_type = "ay"},
        {.name = "paste", .activate = act_paste},
        {.name = "copy", .activate = act_copy},
        {.name = "export", .activate = act_export},
        {.name = "locate", .activate = act_locate},
        {.name = "close", .activate = act_close},
    };

    g_action_map_add_action_entries(G_ACTION_MAP(window), entries, G_N_ELEMENTS(entries),
                                    window);
}
