// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A button on a pane whose popover says what the pane's map is compared with: another
// sentence or another method, as a difference, behind a divider or by blinking.

#include "ui/model/document.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_COMPARE_BUTTON (limn_compare_button_get_type())
G_DECLARE_FINAL_TYPE(LimnCompareButton, limn_compare_button, LIMN, COMPARE_BUTTON,
                     GtkWidget)

GtkWidget *limn_compare_button_new(guint pane);
void limn_compare_button_set_document(LimnCompareButton *button, LimnDocument *doc);
