// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Children one after the other in lines, like words of a paragraph: from the right in
// right-to-left direction, centred vertically in their line. A child that is wider than
// the box gets the whole width. Children are added with gtk_widget_set_parent or
// gtk_widget_insert_before.

#include <gtk/gtk.h>

#define LIMN_TYPE_WRAP_BOX (limn_wrap_box_get_type())
G_DECLARE_FINAL_TYPE(LimnWrapBox, limn_wrap_box, LIMN, WRAP_BOX, GtkWidget)

GtkWidget *limn_wrap_box_new(int column_spacing, int row_spacing);
