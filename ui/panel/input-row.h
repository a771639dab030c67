// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One input of an operation, or a group of inputs that exclude each other: a button that
// shows the file and opens a chooser, a drop target, a box for lists of texts. Inputs
// that share a group have a menu to choose which of them is given.

#include "ui/model/document.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_INPUT_ROW (limn_input_row_get_type())
G_DECLARE_FINAL_TYPE(LimnInputRow, limn_input_row, LIMN, INPUT_ROW, GtkWidget)

// `inputs`: NULL-terminated, one or the members of a group. `skip_text`: the input "text"
// has a place of its own (the list of sentences); choosing it shows nothing here.
GtkWidget *limn_input_row_new(LimnDocument *doc, const LimnInput *const *inputs,
                              gboolean skip_text);
void limn_input_row_sync(LimnInputRow *row);
// As if a file had been dropped on the row.
void limn_input_row_set_path(LimnInputRow *row, const char *path);
