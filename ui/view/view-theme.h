// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What drawings of our own need to know about the theme.

#include <gtk/gtk.h>

gboolean limn_view_is_dark(GtkWidget *widget);
// Around pictures: neutral, so that it does not tint what is judged by its colours.
void limn_view_canvas_color(gboolean dark, guint8 rgb[3]);
// Family of the interface font ("Cantarell"). Returns: (transfer full)
char *limn_view_font_family(GtkWidget *widget);
