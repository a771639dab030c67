// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Built-in drawings: six colours times eight shapes, so that scenes need no icon set.

#include <glib.h>

guint limn_shapes_get_n(void);
char *limn_shapes_dup_name(guint shape); // "red circle"
// size x size premultiplied ARGB32. Returns: (transfer full)
guint32 *limn_shapes_draw(guint shape, int size);
