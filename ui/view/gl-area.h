// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A GtkGLArea whose context is GL 3.3 core or, where that is not to be had, GLES 3.0.
// Whether there is any is found out once per display, before an area is made, so that a
// pane can draw by other means instead of showing an error.

#include <gtk/gtk.h>

// FALSE with the reason when no context can be made on the display of a realized widget.
gboolean limn_gl_area_is_possible(GtkWidget *widget, GError **error);
GtkWidget *limn_gl_area_new(void);
// "OpenGL 4.5 (Core Profile) Mesa 22.3.6, llvmpipe ..." of the current context, for
// diagnostics. Returns: (transfer full)
char *limn_gl_area_describe_current(void);
