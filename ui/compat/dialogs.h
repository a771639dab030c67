// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Everything that GTK offers under different names in different versions: choosing
// files, asking a question, opening a folder in the desktop, scrolling a list. Nothing
// else in the window includes such dialogs.

#include <gtk/gtk.h>

typedef enum {
    LIMN_CHOOSE_OPEN,
    LIMN_CHOOSE_OPEN_MANY,
    LIMN_CHOOSE_FOLDER,
    LIMN_CHOOSE_SAVE,
} LimnChooseKind;

typedef enum {
    LIMN_FILTER_NONE,
    LIMN_FILTER_KNOWN, // all that the program opens
    LIMN_FILTER_PICTURES,
    LIMN_FILTER_MODELS,
    LIMN_FILTER_TEXTS,
    LIMN_FILTER_FIGURES,
} LimnFileFilter;

// `name`: suggested file name when saving, may be NULL. `folder`: where to start, may
// be NULL.
void limn_choose_files_async(GtkWindow *parent, LimnChooseKind kind,
                             LimnFileFilter filter, const char *title, const char *name,
                             const char *folder, GAsyncReadyCallback callback,
                             gpointer user_data);
// Returns: (transfer full) (element-type GFile), empty when the user cancelled.
GPtrArray *limn_choose_files_finish(GAsyncResult *result);

// A question with buttons (NULL-terminated, the last one is the default answer). The
// answer is the index of the button; -1 when the window was closed.
void limn_ask_async(GtkWindow *parent, const char *title, const char *detail,
                    const char *const *buttons, GAsyncReadyCallback callback,
                    gpointer user_data);
int limn_ask_finish(GAsyncResult *result);

// Shows a folder, or the folder that holds a file, in the desktop's file manager.
void limn_show_in_folder(GtkWindow *parent, const char *path);
void limn_open_uri(GtkWindow *parent, const char *uri);

// Scrolls a GtkListView so that a row is seen.
void limn_list_view_scroll_to(GtkListView *list, guint position);
