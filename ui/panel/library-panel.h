// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The left side: pages, open studies, and the operations of the program by family, with
// a search over both. Families without an operation are not shown.
//
// Signal "page" (char *name): "welcome", "models" or "study" was chosen.

#include "ui/model/workspace.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_LIBRARY_PANEL (limn_library_panel_get_type())
G_DECLARE_FINAL_TYPE(LimnLibraryPanel, limn_library_panel, LIMN, LIBRARY_PANEL, GtkWidget)

GtkWidget *limn_library_panel_new(LimnWorkspace *ws);
// Marks the row of the page that is shown.
void limn_library_panel_set_page(LimnLibraryPanel *panel, const char *page);
void limn_library_panel_focus_search(LimnLibraryPanel *panel);
// Opens the entry for a new title of the current study.
void limn_library_panel_rename_current(LimnLibraryPanel *panel);
