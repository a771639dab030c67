// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A cell of the method grid: a small picture with a map over it, drawn by the figure
// painters on a worker; a spinner while it is computed, a sign with the reason when it
// failed.

#include "ui/model/live-request.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_GRID_CELL (limn_grid_cell_get_type())
G_DECLARE_FINAL_TYPE(LimnGridCell, limn_grid_cell, LIMN, GRID_CELL, GtkButton)

GtkWidget *limn_grid_cell_new(const char *prompt, LimnExplainMethod method);
void limn_grid_cell_set_waiting(LimnGridCell *cell);
void limn_grid_cell_set_empty(LimnGridCell *cell); // not computed, or cancelled
// NULL result: not known yet. Kept.
void limn_grid_cell_set_result(LimnGridCell *cell, LimnLiveResult *result);
LimnLiveResult *limn_grid_cell_get_result(LimnGridCell *cell);
// Draws the map over `picture` (small; covered by the map in `rect` of it) with colours
// over [min, max]. Nothing happens when it looks like that already.
void limn_grid_cell_draw(LimnGridCell *cell, LimnImage *picture, const LimnRect *rect,
                         double min, double max, const char *colormap);
gboolean limn_grid_cell_is_drawn(LimnGridCell *cell);
