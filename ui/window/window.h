// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The main window: header bar, library, pages (welcome, study, models), study panel,
// messages, progress strip and status line. It owns no data: those are the workspace's.

#include "ui/model/workspace.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_WINDOW (limn_window_get_type())
G_DECLARE_FINAL_TYPE(LimnWindow, limn_window, LIMN, WINDOW, GtkApplicationWindow)

LimnWindow *limn_window_new(GtkApplication *application, LimnWorkspace *ws);

LimnWorkspace *limn_window_get_workspace(LimnWindow *window);
LimnDocument *limn_window_get_document(LimnWindow *window); // shown, or NULL
// "welcome", "study" or "models".
void limn_window_show_page(LimnWindow *window, const char *page);
const char *limn_window_get_page(LimnWindow *window);
void limn_window_set_library_visible(LimnWindow *window, gboolean visible);
void limn_window_set_panel_visible(LimnWindow *window, gboolean visible);
gboolean limn_window_get_library_visible(LimnWindow *window);
gboolean limn_window_get_panel_visible(LimnWindow *window);
// The message on screen, NULL (tests).
const char *limn_window_get_message(LimnWindow *window);
// What was dropped, as the drop handler gets it.
void limn_window_drop_files(LimnWindow *window, const GSList *files); // GFile

// The parts, for actions and tests.
GtkWidget *limn_window_get_library(LimnWindow *window); // LimnLibraryPanel
GtkWidget *limn_window_get_canvas(LimnWindow *window);  // LimnCanvas
GtkWidget *limn_window_get_panel(LimnWindow *window);   // LimnStudyPanel
GtkWidget *limn_window_get_welcome(LimnWindow *window); // LimnWelcomePage
