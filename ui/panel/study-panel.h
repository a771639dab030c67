// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The right side, generated from the declaration of the study's operation: inputs,
// sentences, parameters (advanced ones folded), results, and Run or Live.

#include "ui/model/workspace.h"
#include "ui/panel/parameter-row.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_STUDY_PANEL (limn_study_panel_get_type())
G_DECLARE_FINAL_TYPE(LimnStudyPanel, limn_study_panel, LIMN, STUDY_PANEL, GtkWidget)

GtkWidget *limn_study_panel_new(LimnWorkspace *ws);
void limn_study_panel_set_document(LimnStudyPanel *panel, LimnDocument *doc);
// For tests: the row of a parameter, NULL; all numbers shown.
LimnParameterRow *limn_study_panel_find_parameter(LimnStudyPanel *panel,
                                                  const char *name);
char *limn_study_panel_dup_results(LimnStudyPanel *panel);
// From the canvas: region measures of the active pane.
void limn_study_panel_set_region(LimnStudyPanel *panel, double energy, double iou);
