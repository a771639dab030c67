// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small pieces that many panels are built from, each with its accessible name.

#include <gtk/gtk.h>

// A flat icon button; the name is tooltip and accessible name. `action` may be NULL.
GtkWidget *limn_icon_button_new(const char *icon, const char *name, const char *action);
GtkWidget *limn_icon_toggle_new(const char *icon, const char *name, const char *action);
GtkWidget *limn_icon_menu_button_new(const char *icon, const char *name);
// Accessible name (and tooltip when `tooltip`).
void limn_set_name(GtkWidget *widget, const char *name, gboolean tooltip);
// Left-aligned label; `class` may be NULL. `wrap` lets it break.
GtkWidget *limn_label_new(const char *text, const char *class, gboolean wrap);
// A label that names `widget` for assistive technology and mnemonics.
GtkWidget *limn_label_for(const char *text, GtkWidget *widget);
// A drop-down over strings whose rows and button are cut off with an ellipsis.
GtkWidget *limn_drop_down_new(const char *name, const char *const *strings);
void limn_drop_down_set_strings(GtkDropDown *drop_down, const char *const *strings);
// Selects without emitting notify for a handler (blocked by data).
void limn_drop_down_select_quietly(GtkDropDown *drop_down, guint index, gpointer data);
// Empty state: icon, title, hint (may be NULL).
GtkWidget *limn_status_page_new(const char *icon, const char *title, const char *hint);
// "Text layers" from "text-layers". Returns: (transfer full)
char *limn_title_from_key(const char *key);
// A number with a dot, in every locale. Returns: (transfer full)
char *limn_format_fixed(double value, int digits);
// A separator-less section with a heading in a vertical box; children are appended to
// the box that is returned.
GtkWidget *limn_section_new(const char *title);
