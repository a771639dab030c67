// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The checkpoints that the window knows: where they lie, whether they are loaded, how
// much memory they take, what their load report says. Opening happens on the engine's
// thread; the list and its items belong to the main thread. The built-in model is the
// path "".

#include "engine/model/clip.h"

#include <gio/gio.h>

typedef enum {
    LIMN_MODEL_KNOWN, // not loaded
    LIMN_MODEL_LOADING,
    LIMN_MODEL_LOADED,
    LIMN_MODEL_FAILED,
} LimnModelState;

#define LIMN_TYPE_MODEL (limn_model_get_type())
G_DECLARE_FINAL_TYPE(LimnModel, limn_model, LIMN, MODEL, GObject)

// Signal "notify::state" when it changed. Getters borrow.
const char *limn_model_get_path(LimnModel *model);
char *limn_model_dup_title(LimnModel *model); // for people
LimnModelState limn_model_get_state(LimnModel *model);
LimnClip *limn_model_get_clip(LimnModel *model);      // NULL unless loaded
const char *limn_model_get_message(LimnModel *model); // why it failed, else NULL

typedef struct LimnModelStore LimnModelStore;

LimnModelStore *limn_model_store_new(void);
void limn_model_store_free(LimnModelStore *store);
GListModel *limn_model_store_get_list(LimnModelStore *store); // of LimnModel

// Main thread: adds a checkpoint to the list; the same path is the same model.
LimnModel *limn_model_store_add(LimnModelStore *store, const char *path);
LimnModel *limn_model_store_find(LimnModelStore *store, const char *path);
// Main thread: forgets the loaded weights; those who use them keep their reference.
void limn_model_store_unload(LimnModelStore *store, const char *path);
// Main thread: takes it off the list as well (never the built-in one).
void limn_model_store_remove(LimnModelStore *store, const char *path);

// Any thread, may take seconds: the opened checkpoint. Returns: (transfer full)
LimnClip *limn_model_store_open(LimnModelStore *store, const char *path, LimnJob *job,
                                GError **error);
