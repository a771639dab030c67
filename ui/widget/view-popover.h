// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// How maps are drawn: colour map, opacity, range, contours and so on, for all panes of
// the study.

#include "ui/model/document.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_VIEW_POPOVER (limn_view_popover_get_type())
G_DECLARE_FINAL_TYPE(LimnViewPopover, limn_view_popover, LIMN, VIEW_POPOVER, GtkPopover)

GtkWidget *limn_view_popover_new(void);
void limn_view_popover_set_document(LimnViewPopover *popover, LimnDocument *doc);

// Names of the colour maps for a drop-down, "Default" first when `with_default`; rainbow
// ones say what they are for. Returns: (transfer full)
GStrv limn_colormap_titles(gboolean with_default);
// Index in such a list; and back (NULL: default).
guint limn_colormap_index_of(const char *name, gboolean with_default);
const char *limn_colormap_name_at(guint index, gboolean with_default);
