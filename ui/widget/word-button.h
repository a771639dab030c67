// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A word of a sentence that can be pressed; its background tells its weight. The colour
// is that of figures: from the ground of the theme to green for weights above zero, to
// purple for those below, with ink that can be read on it.

#include <gtk/gtk.h>

#define LIMN_TYPE_WORD_BUTTON (limn_word_button_get_type())
G_DECLARE_FINAL_TYPE(LimnWordButton, limn_word_button, LIMN, WORD_BUTTON, GtkButton)

GtkWidget *limn_word_button_new(void);
// strength: weight / largest absolute weight, -1 .. 1.
void limn_word_button_set_word(LimnWordButton *button, const char *text, double strength);
// Background of a strength in a theme; legends use it too.
void limn_word_color(double strength, gboolean dark, GdkRGBA *color);

// Signal "pressed-word" (gboolean without): plain press or Return; with Shift `without`
// is TRUE, also from the menu.
