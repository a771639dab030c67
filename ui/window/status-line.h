// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The line at the very bottom: what is under the pointer, and on the right the model, its
// patches and how long the last map took.

#include "ui/model/workspace.h"
#include "ui/window/canvas.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_STATUS_LINE (limn_status_line_get_type())
G_DECLARE_FINAL_TYPE(LimnStatusLine, limn_status_line, LIMN, STATUS_LINE, GtkWidget)

GtkWidget *limn_status_line_new(LimnWorkspace *ws, LimnCanvas *canvas);
const char *limn_status_line_get_text(LimnStatusLine *line);
