// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One to four children side by side: two in a row (or stacked when it is tall), three in
// a row or two over one, four as two by two. The borders between them can be dragged and
// moved by keyboard (focus a border with Tab, arrow keys; Home centres it). Children are
// never re-parented, so that their GL objects live on when the number changes.

#include <gtk/gtk.h>

#define LIMN_TYPE_PANE_GRID (limn_pane_grid_get_type())
G_DECLARE_FINAL_TYPE(LimnPaneGrid, limn_pane_grid, LIMN, PANE_GRID, GtkWidget)

#define LIMN_PANE_GRID_MAX 4

GtkWidget *limn_pane_grid_new(void);
// Takes the child at `index`, in order.
void limn_pane_grid_add(LimnPaneGrid *grid, GtkWidget *child);
void limn_pane_grid_set_n_shown(LimnPaneGrid *grid, guint n);
guint limn_pane_grid_get_n_shown(LimnPaneGrid *grid);
