// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An artifact that is no map over a picture: curves and bars (drawn by the figure
// painters), tables, texts with weights, and a description of everything else.

#include "engine/study/artifact.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_ARTIFACT_VIEW (limn_artifact_view_get_type())
G_DECLARE_FINAL_TYPE(LimnArtifactView, limn_artifact_view, LIMN, ARTIFACT_VIEW, GtkWidget)

GtkWidget *limn_artifact_view_new(void);
// NULL clears. `item`: which text.
void limn_artifact_view_set(LimnArtifactView *view, LimnArtifact *artifact, gint64 item);
