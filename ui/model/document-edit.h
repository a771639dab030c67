// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The changes of a study that a person makes, each one step for undo.

#include "ui/model/document.h"

void limn_document_rename(LimnDocument *doc, const char *title);

// Sentences. Typing in one merges into one step while it goes on.
void limn_document_set_prompt(LimnDocument *doc, guint index, const char *text);
// Adds a sentence at the end and shows it in the active pane. Returns its index.
guint limn_document_add_prompt(LimnDocument *doc, const char *text);
void limn_document_remove_prompt(LimnDocument *doc, guint index);
void limn_document_set_prompts(LimnDocument *doc, const char *const *texts);

// Panes. New ones show the active pane's sentence with the next comparison methods.
void limn_document_set_n_panes(LimnDocument *doc, guint n);
// A pane more with this content (at most four: the last one is replaced).
void limn_document_add_pane(LimnDocument *doc, const char *method, guint prompt);
// The sentence of the new pane is added to the list when it is not there.
void limn_document_add_pane_for_text(LimnDocument *doc, const char *method,
                                     const char *text);
void limn_document_remove_pane(LimnDocument *doc, guint pane);
void limn_document_set_pane_method(LimnDocument *doc, guint pane, const char *method);
void limn_document_set_pane_prompt(LimnDocument *doc, guint pane, guint prompt);
void limn_document_set_pane_compare(LimnDocument *doc, guint pane, LimnCompare compare,
                                    const char *other_method, guint other_prompt);
void limn_document_set_pane_artifact(LimnDocument *doc, guint pane, const char *artifact,
                                     gint64 item);
// Not undoable: which pane the keyboard and the sentence entry belong to.
void limn_document_set_active(LimnDocument *doc, guint pane);

// Panel. NULL resets a parameter to its default, takes an input away.
void limn_document_set_parameter(LimnDocument *doc, const char *name, const char *value);
void limn_document_set_input(LimnDocument *doc, const char *name, const char *value);
// All values of a list input.
void limn_document_set_input_list(LimnDocument *doc, const char *name,
                                  const char *const *values);
void limn_document_set_seed(LimnDocument *doc, guint64 seed);

// Region.
void limn_document_set_box(LimnDocument *doc, const LimnRect *box); // NULL: none
void limn_document_set_mask(LimnDocument *doc, const char *path);   // NULL: none

void limn_document_set_grid_methods(LimnDocument *doc, const char *const *methods);
