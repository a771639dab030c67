// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The lower half of the study panel: numbers of the active pane or of the run, region,
// diagnostics and items that could not be used.

#include "ui/model/document.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_STUDY_RESULTS (limn_study_results_get_type())
G_DECLARE_FINAL_TYPE(LimnStudyResults, limn_study_results, LIMN, STUDY_RESULTS, GtkWidget)

GtkWidget *limn_study_results_new(void);
void limn_study_results_set_document(LimnStudyResults *results, LimnDocument *doc);
void limn_study_results_sync(LimnStudyResults *results);
// Share of the map's energy and IoU of the active pane; NAN: not known.
void limn_study_results_set_region(LimnStudyResults *results, double energy, double iou);
// All numbers and texts shown (tests). Returns: (transfer full)
char *limn_study_results_dup_text(LimnStudyResults *results);
