// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Messages above the canvas: one at a time, the newest first, the others follow when it
// is closed. Information goes away by itself, warnings and errors stay.

#include <gtk/gtk.h>

#include "ui/model/workspace.h"

#define LIMN_TYPE_MESSAGE_BAR (limn_message_bar_get_type())
G_DECLARE_FINAL_TYPE(LimnMessageBar, limn_message_bar, LIMN, MESSAGE_BAR, GtkWidget)

GtkWidget *limn_message_bar_new(void);
// `label` and `action` may be NULL or "": a button beside the text.
void limn_message_bar_show(LimnMessageBar *bar, LimnMessageKind kind, const char *text,
                           const char *label, const char *action);
void limn_message_bar_close(LimnMessageBar *bar);
// The text on screen, NULL when there is none. Borrowed.
const char *limn_message_bar_get_text(LimnMessageBar *bar);
