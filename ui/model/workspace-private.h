// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/model/workspace.h"

struct _LimnWorkspace {
    GObject parent_instance;
    GListStore *documents;
    LimnDocument *current;
    GQueue awake; // LimnDocument, shown last first; referenced
    LimnUndo *undo;
    LimnModelStore *models;
    LimnLive *live;
    LimnEngineThread *batch;

    // live
    guint live_idle, slow_timeout;
    guint live_serial;
    gboolean live_busy, explain_once;
    double live_fraction;
    char *live_message;
    gint64 last_edit; // monotonic time of the last change of the current data
    LimnDocument *grid_document;

    // jobs: running first
    GPtrArray *jobs;

    // session
    LimnSession *session;
    LimnSessionStore *store;
    guint save_timeout;
    gboolean saving, save_again, save_failed, stopped;

    GPtrArray *waiting_masks; // char *, dropped before their picture
};

typedef enum {
    LIMN_WORKSPACE_CURRENT_CHANGED,
    LIMN_WORKSPACE_UNDO_CHANGED,
    LIMN_WORKSPACE_JOBS_CHANGED,
    LIMN_WORKSPACE_LIVE_CHANGED,
    LIMN_WORKSPACE_RECENT_CHANGED,
    LIMN_WORKSPACE_GRID_FINISHED,
    LIMN_WORKSPACE_N_SIMPLE_SIGNALS,
} LimnWorkspaceSignal;

void limn_workspace_emit(LimnWorkspace *ws, LimnWorkspaceSignal signal);
void limn_workspace_emit_grid_result(LimnWorkspace *ws, LimnLiveResult *result);
// Without a step for undo.
LimnDocument *limn_workspace_insert(LimnWorkspace *ws, LimnSessionStudy *study,
                                    guint position);

void limn_workspace_live_init(LimnWorkspace *ws);
void limn_workspace_live_stop(LimnWorkspace *ws);
void limn_workspace_jobs_stop(LimnWorkspace *ws);
void limn_workspace_session_init(LimnWorkspace *ws);
void limn_workspace_load_folder(LimnWorkspace *ws, LimnDocument *doc);
void limn_workspace_picture_arrived(LimnWorkspace *ws, LimnDocument *doc);
