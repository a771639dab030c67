// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/model/document.h"

struct _LimnDocument {
    GObject parent_instance;
    LimnSessionStudy *study;
    LimnUndo *undo;
    LimnCamera *camera;
    LimnStudyData before; // while editing
    gboolean editing;

    // pictures
    LimnImage *picture, *mask;
    char *picture_path, *mask_path; // what is loaded or being loaded
    char *picture_error, *mask_error;
    gboolean had_picture, awake;
    GCancellable *picture_load, *mask_load, *folder_load;
    char *folder_path;
    GListStore *items;

    // live
    LimnLiveResult *results[LIMN_MAX_PANES];
    char *override_text[LIMN_MAX_PANES], *override_title[LIMN_MAX_PANES];
    int query_row[LIMN_MAX_PANES], query_col[LIMN_MAX_PANES];
    GHashTable *scores; // text -> LimnLiveResult
    guint scores_idle;  // many scores come at once: told together
    char *live_error;

    // run
    GPtrArray *artifacts, *scalars, *skipped, *diagnostics;
    gpointer owner;
    GDestroyNotify owner_free;
    LimnStudyJob *job;
};

typedef enum {
    LIMN_DOCUMENT_DATA_CHANGED,
    LIMN_DOCUMENT_VIEW_CHANGED,
    LIMN_DOCUMENT_PICTURE_CHANGED,
    LIMN_DOCUMENT_RESULTS_CHANGED,
    LIMN_DOCUMENT_STATUS_CHANGED,
    LIMN_DOCUMENT_REVEAL,
    LIMN_DOCUMENT_N_SIGNALS,
} LimnDocumentSignal;

void limn_document_emit(LimnDocument *doc, LimnDocumentSignal signal);
// Loads what the data name and is not loaded, drops what they no longer name.
void limn_document_sync_picture(LimnDocument *doc);
void limn_document_cancel_loads(LimnDocument *doc);
