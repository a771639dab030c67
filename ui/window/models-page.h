// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Checkpoints that are known: where they lie, whether they are loaded, memory, load
// report; to use, unload, remove, open another one, fetch one.

#include "ui/model/workspace.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_MODELS_PAGE (limn_models_page_get_type())
G_DECLARE_FINAL_TYPE(LimnModelsPage, limn_models_page, LIMN, MODELS_PAGE, GtkWidget)

GtkWidget *limn_models_page_new(LimnWorkspace *ws);
