// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widget/pane.h"

struct _LimnPane {
    GtkWidget parent_instance;
    guint index;
    LimnDocument *doc;
    gboolean syncing;
    GtkWidget *box, *head;
    // live
    GtkWidget *method, *prompt, *compare, *score;
    // results of a run
    GtkWidget *artifact, *item;
    GtkWidget *close;
    GtkWidget *note, *note_label, *note_open, *note_back;
    GtkWidget *stack; // "map", "artifact", "state"
    LimnHeatmapView *view;
    GtkWidget *artifact_view;
    GtkWidget *state, *state_spinner, *state_title, *state_hint, *state_locate;
    // what the view shows, to leave it alone when nothing changed
    LimnImage *picture, *mask;
    LimnArray *map, *second;
    gboolean is_signed;
    LimnArtifact *map_artifact; // what the map was copied from
    gint64 map_item;
};

// The artifact that the pane of a study with results shows; NULL. Borrowed.
LimnArtifact *limn_pane_get_artifact(LimnPane *pane);
// Picture, maps, region and view settings (pane-map.c).
void limn_pane_sync_map(LimnPane *pane);
void limn_pane_connect_view(LimnPane *pane);
