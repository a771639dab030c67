// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An open study in the library: title, what it is doing, and a menu to rename, duplicate
// and delete it. Activating the row shows the study.

#include "ui/model/workspace.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_STUDY_ROW (limn_study_row_get_type())
G_DECLARE_FINAL_TYPE(LimnStudyRow, limn_study_row, LIMN, STUDY_ROW, GtkListBoxRow)

GtkWidget *limn_study_row_new(LimnWorkspace *ws, LimnDocument *doc);
LimnDocument *limn_study_row_get_document(LimnStudyRow *row);
// Opens the entry for a new title.
void limn_study_row_rename(LimnStudyRow *row);
