// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Everything that the window works on, without widgets: the open studies, undo, the
// live explainer, jobs, models, recent files and the session that remembers them.
//
// Signals:
//   "current-changed"  another study is shown, or none
//   "undo-changed"
//   "jobs-changed"     a job was queued, made progress or ended
//   "live-changed"     live work began, made progress or ended
//   "recent-changed"
//   "grid-result" (LimnLiveResult *)  a cell of the method grid; "grid-finished"
//   "message" (LimnMessageKind kind, char *text, char *action, char *target)
//       for the message bar; action is a detailed action name with a label in `target`,
//       both "" when there is none

#include "engine/session/store.h"
#include "ui/model/document.h"
#include "ui/model/live.h"
#include "ui/model/model-store.h"
#include "ui/model/study-job.h"

typedef enum {
    LIMN_MESSAGE_INFO,
    LIMN_MESSAGE_WARNING,
    LIMN_MESSAGE_ERROR
} LimnMessageKind;

#define LIMN_TYPE_WORKSPACE (limn_workspace_get_type())
G_DECLARE_FINAL_TYPE(LimnWorkspace, limn_workspace, LIMN, WORKSPACE, GObject)

LimnWorkspace *limn_workspace_new(void);
// Saves the session, cancels jobs, ends the threads. Nothing works afterwards.
void limn_workspace_stop(LimnWorkspace *ws);

void limn_workspace_message(LimnWorkspace *ws, LimnMessageKind kind, const char *text);
// With a button: `action` as gtk_actionable_set_detailed_action_name takes it.
void limn_workspace_message_with_action(LimnWorkspace *ws, LimnMessageKind kind,
                                        const char *text, const char *label,
                                        const char *action);

// ---- studies
GListModel *limn_workspace_get_documents(LimnWorkspace *ws); // LimnDocument
LimnDocument *limn_workspace_get_current(LimnWorkspace *ws); // borrowed, NULL
void limn_workspace_set_current(LimnWorkspace *ws, LimnDocument *doc);
LimnDocument *limn_workspace_find(LimnWorkspace *ws, const char *id);
// Adds and shows a study (takes it); one step for undo.
LimnDocument *limn_workspace_add(LimnWorkspace *ws, LimnSessionStudy *study);
// A new study of an operation, with the picture of the current one where that fits.
LimnDocument *limn_workspace_new_study(LimnWorkspace *ws, const char *operation);
LimnDocument *limn_workspace_duplicate(LimnWorkspace *ws, LimnDocument *doc);
// Takes a study off the list; its folder below the data directory is set aside, so that
// undo brings everything back.
void limn_workspace_remove(LimnWorkspace *ws, LimnDocument *doc);
// A new live study of a picture or a folder. `prompts` may be NULL.
LimnDocument *limn_workspace_open_picture(LimnWorkspace *ws, const char *path,
                                          const char *const *prompts);
// As above with a title; `shown` is the sentence that the first pane shows.
LimnDocument *limn_workspace_open_sample(LimnWorkspace *ws, const char *path,
                                         const char *title, const char *const *prompts,
                                         guint shown);
// Shows a study folder written by this program or by limn-cli; loads on a worker.
void limn_workspace_open_study_folder(LimnWorkspace *ws, const char *path);
// Uses a checkpoint for the current live study (and lists it).
void limn_workspace_use_model(LimnWorkspace *ws, const char *path);

// ---- opening whatever was dropped, chosen or named on the command line; each goes to
// its place, the rest is reported in one message
void limn_workspace_open_paths(LimnWorkspace *ws, const char *const *paths);
// A picture from the clipboard; saved below the data directory.
void limn_workspace_open_pasted(LimnWorkspace *ws, LimnImage *image);

// ---- undo
LimnUndo *limn_workspace_get_undo(LimnWorkspace *ws);

// ---- live and grid
LimnLive *limn_workspace_get_live(LimnWorkspace *ws);
void limn_workspace_schedule_live(LimnWorkspace *ws);
// Once more even though the study is not live ("Explain now").
void limn_workspace_explain_now(LimnWorkspace *ws);
// FALSE when nothing is going on; the message says what.
gboolean limn_workspace_get_live_progress(LimnWorkspace *ws, double *fraction,
                                          const char **message);
// Fills rows x columns; key of a cell = LIMN_GRID_KEY + row * columns + column.
#define LIMN_GRID_KEY 0x10000u
gboolean limn_workspace_fill_grid(LimnWorkspace *ws, LimnDocument *doc, guint n_rows,
                                  const LimnExplainMethod *methods, guint n_methods);
void limn_workspace_cancel_grid(LimnWorkspace *ws);

// ---- jobs
LimnStudyJob *limn_workspace_get_job(LimnWorkspace *ws); // that is running, NULL
guint limn_workspace_get_n_jobs(LimnWorkspace *ws);      // running and waiting
// Runs the study of a document and writes it below the data directory.
gboolean limn_workspace_run(LimnWorkspace *ws, LimnDocument *doc);
void limn_workspace_cancel_job(LimnWorkspace *ws);
// The study as the command line would run it. NULL with an argument error.
LimnStudy *limn_document_make_study(LimnDocument *doc, GError **error);

// ---- models
LimnModelStore *limn_workspace_get_models(LimnWorkspace *ws);
void limn_workspace_unload_model(LimnWorkspace *ws, const char *path);

// ---- session
LimnSession *limn_workspace_get_session(LimnWorkspace *ws); // window geometry, recent
void limn_workspace_touch(LimnWorkspace *ws); // something to save in a moment
// Opens what the last run left; FALSE when there was nothing.
gboolean limn_workspace_restore(LimnWorkspace *ws);
gboolean limn_workspace_save_now(LimnWorkspace *ws);
void limn_workspace_add_recent(LimnWorkspace *ws, const char *path);
// Asks where moved files are now: replaces the old folder by the new one in every study
// whose files are missing. Returns how many were found.
guint limn_workspace_relocate(LimnWorkspace *ws, LimnDocument *doc, const char *path);
char *limn_workspace_data_directory(void); // DATA/limn
