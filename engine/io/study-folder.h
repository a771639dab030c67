// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The folder that a study leaves behind (architecture page, section 3): study.json,
// result.json, timing.json and the artifacts in open formats. Writing goes to a
// temporary folder beside the target that is renamed at the end. result.json:
//
// | member      | content                                                              |
// |-------------|----------------------------------------------------------------------|
// | scalars     | name -> number, or name -> item -> number; null: not a number        |
// | artifacts   | see artifact-files.h                                                 |
// | diagnostics | {"severity": "note" or "warning", "item", "message"}                 |
// | skipped     | items that failed: {"item", "reason", "index"}                       |
// | files       | names of all files of the study                                      |
// | shard       | only in a shard: {"index", "count", "items"}: this process of how    |
// |             | many, and the number of items of all shards together                 |
// | shard_items | only in a shard: the items done here: {"index", "name"}              |
// | shard_scalars, shard_diagnostics | only in a shard: item of every scalar and       |
// |             | diagnostic, -1: none, in their order                                 |

#include "engine/study/run.h"

typedef struct {
    LimnStudy *study;
    GPtrArray *artifacts;   // LimnArtifact
    GPtrArray *scalars;     // LimnScalar
    GPtrArray *skipped;     // LimnSkipped
    GPtrArray *diagnostics; // LimnDiagnostic
    char *path;
    guint shard_index, shard_count; // 0 of 1: not a shard
    guint64 n_items;                // of all shards, 0: not work over items
    GPtrArray *items;               // LimnRunItem, only in a shard
    GArray *diagnostic_items;       // gint64 per diagnostic, only in a shard
} LimnStudyFolder;

// Before a run: FALSE with LIMN_ERROR_ARGUMENT when `path` exists and is not empty and
// force is FALSE, with LIMN_ERROR_OUTPUT when nothing can be written there. With force
// only the files of a previous study are replaced, others stay.
gboolean limn_study_folder_check(const char *path, gboolean force, GError **error);
// FALSE with LIMN_ERROR_ARGUMENT when an input of the study is the folder itself or one
// of the files of the study there, which a new study would replace.
gboolean limn_study_folder_check_inputs(const LimnStudy *study, const char *path,
                                        GError **error);
// TRUE for a file that a study wrote into the folder where it lies.
gboolean limn_study_folder_owns(const char *path);
// Hashes the inputs if that was not done, then writes. All or nothing: a folder that is
// new or holds nothing else than a previous study is replaced in one step; where other
// files live in it, result.json goes first and comes last, so that what is half replaced
// is not taken for a study.
gboolean limn_study_folder_write(LimnRun *run, const char *path, gboolean force,
                                 GError **error);

// Reads a folder back, artifacts included (pictures, maps, texts, tables).
LimnStudyFolder *limn_study_folder_load(const char *path, LimnJob *job, GError **error);
void limn_study_folder_free(LimnStudyFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnStudyFolder, limn_study_folder_free)
gboolean limn_study_folder_is(const char *path); // has study.json and result.json

// Joins the folders that shards of one study wrote: entries in item order, then the
// operation's finish function. The result has the bytes of a run without shards. Shards
// of different studies, missing ones and double ones are LIMN_ERROR_MISMATCH naming them.
gboolean limn_study_folder_merge(const char *const *folders, const char *out,
                                 gboolean force, LimnJob *job, GError **error);
