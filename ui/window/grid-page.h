// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The method grid of a live study: rows are sentences, columns are methods. One command
// fills it; cells appear as they are computed and open in a pane when pressed.

#include "ui/model/workspace.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_GRID_PAGE (limn_grid_page_get_type())
G_DECLARE_FINAL_TYPE(LimnGridPage, limn_grid_page, LIMN, GRID_PAGE, GtkWidget)

GtkWidget *limn_grid_page_new(LimnWorkspace *ws);
void limn_grid_page_set_document(LimnGridPage *page, LimnDocument *doc);
void limn_grid_page_fill(LimnGridPage *page);
guint limn_grid_page_get_n_cells(LimnGridPage *page);
guint limn_grid_page_get_n_done(LimnGridPage *page); // computed and drawn
// For export: one artifact per cell row by row (NULL where there is none) and the labels.
// NULL when nothing was computed. Returns: (transfer full)
GPtrArray *limn_grid_page_make_artifacts(LimnGridPage *page, GStrv *rows, GStrv *columns,
                                         gboolean *shared);
