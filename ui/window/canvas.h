// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The middle of the window for a study: tools, one to four panes or the method grid, the
// words of the active pane's sentence, the entry where it is typed, the filmstrip.
//
// Signals: "probed" (char *text), what is under the pointer, for the status line;
// "measured" (double energy, double iou) of the active pane's region, NAN: not known.

#include "ui/model/workspace.h"
#include "ui/view/text-view.h"
#include "ui/widget/pane.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_CANVAS (limn_canvas_get_type())
G_DECLARE_FINAL_TYPE(LimnCanvas, limn_canvas, LIMN, CANVAS, GtkWidget)

GtkWidget *limn_canvas_new(LimnWorkspace *ws);
void limn_canvas_set_document(LimnCanvas *canvas, LimnDocument *doc);

LimnPane *limn_canvas_get_pane(LimnCanvas *canvas, guint index);
LimnPane *limn_canvas_get_active_pane(LimnCanvas *canvas);
guint limn_canvas_get_n_panes(LimnCanvas *canvas);
GtkWidget *limn_canvas_get_entry(LimnCanvas *canvas);
LimnTextView *limn_canvas_get_words(LimnCanvas *canvas);
GtkWidget *limn_canvas_get_grid(LimnCanvas *canvas); // LimnGridPage
void limn_canvas_focus_entry(LimnCanvas *canvas);
void limn_canvas_focus_next_pane(LimnCanvas *canvas);
void limn_canvas_set_tool(LimnCanvas *canvas, LimnCanvasTool tool);
LimnCanvasTool limn_canvas_get_tool(LimnCanvas *canvas);
// The sentence of the active pane with one word alone or left out.
// Returns: (transfer full)
char *limn_canvas_word_text(const char *text, guint begin, guint end, gboolean without);
