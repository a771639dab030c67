// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A figure on screen, drawn by the painters that make PDF and SVG, fitted into the space
// on white paper. Used for previews and for artifacts that have no view of their own.

#include "engine/figure/figure.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_FIGURE_VIEW (limn_figure_view_get_type())
G_DECLARE_FINAL_TYPE(LimnFigureView, limn_figure_view, LIMN, FIGURE_VIEW, GtkWidget)

GtkWidget *limn_figure_view_new(const char *name);
// Takes the figure; NULL shows nothing.
void limn_figure_view_set_figure(LimnFigureView *view, LimnFigure *figure);
LimnFigure *limn_figure_view_get_figure(LimnFigureView *view);
