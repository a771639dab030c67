// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is shown before anything is open: sample scenes with sentences that work, recent
// files, and what each family of operations can do.

#include "ui/model/workspace.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_WELCOME_PAGE (limn_welcome_page_get_type())
G_DECLARE_FINAL_TYPE(LimnWelcomePage, limn_welcome_page, LIMN, WELCOME_PAGE, GtkWidget)

GtkWidget *limn_welcome_page_new(LimnWorkspace *ws);
// Opens sample `index` and shows the sentence first; as a click on its card. FALSE when
// there is no such sample.
gboolean limn_welcome_page_open_sample(LimnWelcomePage *page, guint index,
                                       guint sentence);
void limn_welcome_page_focus(LimnWelcomePage *page); // the first thing to press
guint limn_welcome_page_get_n_samples(LimnWelcomePage *page);
