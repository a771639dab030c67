// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One pane of the canvas: a head with what it shows (method and sentence, or artifact
// and item), a note when something is to be said about it, and the view.
//
// Signals: "activated"; "probed" (int row, int col, char *text) for the status line:
// patch
// (-1 outside) and what the picture has there, "" when the pointer is away.

#include "ui/model/document.h"
#include "ui/view/heatmap-view.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_PANE (limn_pane_get_type())
G_DECLARE_FINAL_TYPE(LimnPane, limn_pane, LIMN, PANE, GtkWidget)

GtkWidget *limn_pane_new(guint index);
void limn_pane_set_document(LimnPane *pane, LimnDocument *doc);
// Brings everything up to the document's state; cheap when nothing changed.
void limn_pane_sync(LimnPane *pane);
LimnHeatmapView *limn_pane_get_view(LimnPane *pane);
// TRUE when a map over a picture is shown (not a table, curve or text).
gboolean limn_pane_shows_map(LimnPane *pane);
gboolean limn_pane_is_signed(LimnPane *pane);
// The note under the head, NULL when there is none.
const char *limn_pane_get_note(LimnPane *pane);
// What is shown, as an artifact with picture and label; NULL without a map.
// Returns: (transfer full)
LimnArtifact *limn_pane_make_artifact(LimnPane *pane, GError **error);
char *limn_pane_dup_title(LimnPane *pane);
