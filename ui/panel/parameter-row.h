// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One parameter of an operation: its control by type, unit, help, and a button that
// brings back the default.

#include "ui/model/document.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_PARAMETER_ROW (limn_parameter_row_get_type())
G_DECLARE_FINAL_TYPE(LimnParameterRow, limn_parameter_row, LIMN, PARAMETER_ROW, GtkWidget)

GtkWidget *limn_parameter_row_new(LimnDocument *doc, const LimnParameter *parameter);
void limn_parameter_row_sync(LimnParameterRow *row);
GtkWidget *limn_parameter_row_get_control(LimnParameterRow *row);
