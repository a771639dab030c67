// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Names and numbers in two columns. Filled anew each time something changed; equal
// content is left alone.

#include <gtk/gtk.h>

#define LIMN_TYPE_NUMBER_LIST (limn_number_list_get_type())
G_DECLARE_FINAL_TYPE(LimnNumberList, limn_number_list, LIMN, NUMBER_LIST, GtkWidget)

GtkWidget *limn_number_list_new(void);
void limn_number_list_begin(LimnNumberList *list);
// `help` may be NULL.
void limn_number_list_add(LimnNumberList *list, const char *name, double value,
                          const char *help);
void limn_number_list_add_text(LimnNumberList *list, const char *name, const char *text,
                               const char *help);
// Shows what was added since begin; hidden when that is nothing.
void limn_number_list_end(LimnNumberList *list);
// "name value" lines (tests). Returns: (transfer full)
char *limn_number_list_dup_text(LimnNumberList *list);
