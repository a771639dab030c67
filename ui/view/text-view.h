// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The sentence with a background per word: white (or the dark theme's base) to green by
// weight / largest weight, with a legend. Words are buttons for keyboard and assistive
// technology. The part that was truncated is struck through and said.

#include "engine/study/artifact.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_TEXT_VIEW (limn_text_view_get_type())
G_DECLARE_FINAL_TYPE(LimnTextView, limn_text_view, LIMN, TEXT_VIEW, GtkWidget)

GtkWidget *limn_text_view_new(void);
// `item` is copied by reference counting of its strings: the view keeps its own copy.
void limn_text_view_set_item(LimnTextView *view, const LimnTextItem *item);
void limn_text_view_set_message(LimnTextView *view,
                                const char *message); // "no word raises the score"

// Signal "word-activated" (guint begin, guint end, gboolean without): the map of that
// word alone (plain click, Enter) or of the sentence without it (Shift+click,
// Shift+Enter, menu).
