// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An open study: what the session remembers of it (LimnSessionStudy) and what is there
// at run time: the decoded picture and mask, the pictures of its folder, live maps and
// scores, artifacts of a run. Changes of its data go through begin_edit and end_edit,
// which make one step for undo; how it is looked at is changed directly.
//
// Signals:
//   "data-changed"      sentences, panes, parameters, inputs, box, mask
//   "view-changed"      active pane, colours, scale, item of a folder
//   "picture-changed"   picture or mask came, went or failed
//   "results-changed"   maps, scores, artifacts
//   "status-changed"    title, job
//   "reveal"            undo changed it: it should be shown

#include "engine/model/explainer.h"
#include "engine/session/state.h"
#include "engine/session/undo.h"
#include "engine/study/run.h"
#include "ui/gl/camera.h"
#include "ui/model/live-request.h"
#include "ui/model/study-job.h"

#define LIMN_TYPE_DOCUMENT (limn_document_get_type())
G_DECLARE_FINAL_TYPE(LimnDocument, limn_document, LIMN, DOCUMENT, GObject)

// Takes the study. `undo` may be NULL (nothing is recorded).
LimnDocument *limn_document_new(LimnSessionStudy *study, LimnUndo *undo);

const LimnSessionStudy *limn_document_get_study(LimnDocument *doc);
const LimnStudyData *limn_document_get_data(LimnDocument *doc);
const LimnStudyView *limn_document_get_view(LimnDocument *doc);
const char *limn_document_get_title(LimnDocument *doc);
// NULL when this program has no operation of that name.
const LimnOperation *limn_document_get_operation(LimnDocument *doc);
LimnCamera *limn_document_get_camera(LimnDocument *doc);
void limn_document_set_status(LimnDocument *doc, LimnStudyStatus status);
void limn_document_set_folder(LimnDocument *doc, const char *folder);
// For the session: brings camera and divider into the study's view.
const LimnSessionStudy *limn_document_freeze(LimnDocument *doc);

// ---- editing data (undoable)
LimnStudyData *limn_document_begin_edit(LimnDocument *doc);
// One step titled `title`; steps with the same non-NULL merge key that follow within a
// second become one. Nothing is recorded when nothing changed.
void limn_document_end_edit(LimnDocument *doc, const char *title, const char *merge_key);
// The view, changed in place; then call view_changed.
LimnStudyView *limn_document_edit_view(LimnDocument *doc);
void limn_document_view_changed(LimnDocument *doc);

// ---- live studies
// TRUE when maps can follow the typing: an operation of the live explainer with a
// picture (not with tensors or token files).
gboolean limn_document_is_live_capable(LimnDocument *doc);
gboolean limn_document_is_live(LimnDocument *doc); // and the user wants it
// TRUE when the operation takes sentences and they come from the study's list.
gboolean limn_document_has_prompts(LimnDocument *doc);
// "" for the built-in model. Returns: (transfer full)
char *limn_document_dup_model(LimnDocument *doc);
const char *limn_document_get_prompt(LimnDocument *doc, guint index); // "" beyond the end
const char *limn_document_get_pane_text(LimnDocument *doc, guint pane);
LimnExplainMethod limn_document_get_pane_method(LimnDocument *doc, guint pane);
// A sentence shown in place of the pane's own until it is reset with NULL (the map of one
// word). Not part of the data.
void limn_document_set_override(LimnDocument *doc, guint pane, const char *text,
                                const char *description);
const char *limn_document_get_override(LimnDocument *doc, guint pane); // description
void limn_document_set_query(LimnDocument *doc, guint pane, int row, int col);
void limn_document_get_query(LimnDocument *doc, guint pane, int *row, int *col);

// The newest map of a pane, NULL when there is none. Borrowed.
LimnLiveResult *limn_document_get_result(LimnDocument *doc, guint pane);
gboolean limn_document_take_result(LimnDocument *doc, LimnLiveResult *result);
void limn_document_clear_results(LimnDocument *doc);
// True score of a sentence on the current picture; FALSE when it is not known yet.
gboolean limn_document_get_score(LimnDocument *doc, guint prompt, double *cosine,
                                 double *logit);
// Why there is no map (model cannot be opened ...), NULL.
const char *limn_document_get_live_error(LimnDocument *doc);
void limn_document_set_live_error(LimnDocument *doc, const char *message);

// ---- results of a run
GPtrArray *limn_document_get_artifacts(LimnDocument *doc);   // LimnArtifact
GPtrArray *limn_document_get_scalars(LimnDocument *doc);     // LimnScalar or NULL
GPtrArray *limn_document_get_skipped(LimnDocument *doc);     // LimnSkipped or NULL
GPtrArray *limn_document_get_diagnostics(LimnDocument *doc); // LimnDiagnostic or NULL
LimnArtifact *limn_document_find_artifact(LimnDocument *doc, const char *name);
// `owner` keeps the other four alive; arrays are shared, not copied.
void limn_document_set_results(LimnDocument *doc, GPtrArray *artifacts,
                               GPtrArray *scalars, GPtrArray *skipped,
                               GPtrArray *diagnostics, gpointer owner,
                               GDestroyNotify owner_free);
LimnStudyJob *limn_document_get_job(LimnDocument *doc);
void limn_document_set_job(LimnDocument *doc, LimnStudyJob *job);

// ---- picture, mask, folder
// Path of the picture that belongs on screen. Returns: (transfer full), NULL.
char *limn_document_dup_picture_path(LimnDocument *doc);
LimnImage *limn_document_get_picture(LimnDocument *doc); // NULL while it loads
const char *limn_document_get_picture_error(LimnDocument *doc);
gboolean limn_document_is_loading(LimnDocument *doc);
LimnImage *limn_document_get_mask(LimnDocument *doc);
const char *limn_document_get_mask_error(LimnDocument *doc);
// The pictures of a folder (LimnFolderItem), NULL when the input is no folder.
GListModel *limn_document_get_items(LimnDocument *doc);
int limn_document_get_item_index(LimnDocument *doc); // -1: none
void limn_document_show_item(LimnDocument *doc, int index);
// Pictures are loaded while a study is awake (new ones are asleep) and given back when it
// goes to sleep, so that many open studies cost little memory.
void limn_document_set_awake(LimnDocument *doc, gboolean awake);
gboolean limn_document_is_awake(LimnDocument *doc);
// A picture that lies in no file yet; it is being saved to `path`, which becomes the
// input.
void limn_document_set_pasted(LimnDocument *doc, LimnImage *picture, const char *path);
