// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The sentences of a study with their scores. Choosing one shows it in the active pane.

#include "ui/model/document.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_PROMPT_LIST (limn_prompt_list_get_type())
G_DECLARE_FINAL_TYPE(LimnPromptList, limn_prompt_list, LIMN, PROMPT_LIST, GtkWidget)

GtkWidget *limn_prompt_list_new(LimnDocument *doc);
void limn_prompt_list_sync(LimnPromptList *list);
// Probabilities over all sentences; NULL until every sentence has a score (NAN for empty
// ones). Returns: (transfer full)
double *limn_document_dup_probabilities(LimnDocument *doc);
