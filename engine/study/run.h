// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What an operation's run function sees: typed inputs and parameters, the job, and the
// places for its results. The runner creates it, calls the operation and hands the
// results to whoever asked (a window, or io/study-folder.h which writes them).

#include "engine/base/job.h"
#include "engine/study/artifact.h"
#include "engine/study/study.h"

LimnRun *limn_run_new(LimnStudy *study, LimnJob *job);
void limn_run_free(LimnRun *run);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnRun, limn_run_free)
// Validates the study and calls the operation (and its finish function, unless the run
// is a shard).
gboolean limn_run_execute(LimnRun *run, GError **error);

LimnStudy *limn_run_get_study(LimnRun *run);
LimnJob *limn_run_get_job(LimnRun *run);
guint64 limn_run_get_seed(LimnRun *run);

// Inputs: path or text, NULL when not given. get_input_list: NULL-terminated, borrowed.
const char *limn_run_get_input(LimnRun *run, const char *name);
const char *const *limn_run_get_input_list(LimnRun *run, const char *name);
// Parameters, default applied; the type must be the declared one.
gint64 limn_run_get_int(LimnRun *run, const char *name);
double limn_run_get_float(LimnRun *run, const char *name);
gboolean limn_run_get_bool(LimnRun *run, const char *name);
int limn_run_get_choice(LimnRun *run, const char *name); // index into the choices
const char *limn_run_get_text(LimnRun *run, const char *name);

// Sharding of items: TRUE when this process computes item i (round robin by index).
void limn_run_set_shard(LimnRun *run, guint index, guint count);
gboolean limn_run_owns_item(LimnRun *run, guint64 item);
void limn_run_get_shard(LimnRun *run, guint *index, guint *count); // 0 of 1: all
// Work over many items: how many there are in all (shards included), and which one comes
// next. The name must be unique; item scalars, skipped items and diagnostics carry it.
// A waiting live explanation goes first here (limn_run_set_yield). FALSE when cancelled.
void limn_run_set_n_items(LimnRun *run, guint64 n_items);
guint64 limn_run_get_n_items(LimnRun *run);
gboolean limn_run_begin_item(LimnRun *run, guint64 index, const char *name,
                             GError **error);
// Called on the engine thread at the start of every item.
void limn_run_set_yield(LimnRun *run, void (*yield)(gpointer user_data),
                        gpointer user_data);
// Resume and checkpoints: the directory where a resumable operation keeps them; NULL
// when the run has no folder (a window without a study folder).
void limn_run_set_work_directory(LimnRun *run, const char *directory, gboolean resume);
const char *limn_run_get_work_directory(LimnRun *run);
gboolean limn_run_get_resume(LimnRun *run);

// Results.
void limn_run_add_artifact(LimnRun *run, LimnArtifact *artifact); // (transfer full)
void limn_run_add_scalar(LimnRun *run, const char *name, double value);
// A scalar of one item (sentence, picture): stored as scalars[name][item].
void limn_run_add_item_scalar(LimnRun *run, const char *name, const char *item,
                              double value);
// An item that failed while others went on: exit status 5.
void limn_run_skip_item(LimnRun *run, const char *item, const GError *reason);

typedef struct {
    char *name;
    char *item; // NULL for a scalar of the whole study
    double value;
    gint64 index; // of the item of many that it belongs to, -1: none
} LimnScalar;
typedef struct {
    char *item;
    char *reason;
    gint64 index; // as above
} LimnSkipped;
typedef struct {
    guint64 index;
    char *name;
    guint first_diagnostic; // of the job: diagnostics from here on came with this item
} LimnRunItem;
GPtrArray *limn_run_get_artifacts(LimnRun *run); // LimnArtifact
GPtrArray *limn_run_get_scalars(LimnRun *run);   // LimnScalar
GPtrArray *limn_run_get_skipped(LimnRun *run);   // LimnSkipped
GPtrArray *limn_run_get_items(LimnRun *run);     // LimnRunItem, those of this process
LimnArtifact *limn_run_find_artifact(LimnRun *run, const char *name); // borrowed or NULL
