// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The folder that a study leaves behind (architecture page, section 3): study.json,
// result.json, timing.json and the artifacts in open formats. Writing goes to a
// temporary folder beside the target that is renamed at the end.

#include "engine/study/run.h"

typedef struct {
    LimnStudy *study;
    GPtrArray *artifacts;   // LimnArtifact
    GPtrArray *scalars;     // LimnScalar
    GPtrArray *skipped;     // LimnSkipped
    GPtrArray *diagnostics; // LimnDiagnostic
    char *path;
} LimnStudyFolder;

// FAILS with LIMN_ERROR_ARGUMENT when `path` exists and is not empty and force is FALSE;
// with force only the files of a previous study are replaced, others stay.
gboolean limn_study_folder_check(const char *path, gboolean force, GError **error);
gboolean limn_study_folder_write(LimnRun *run, const char *path, gboolean force,
                                 GError **error);

// Reads a folder back, artifacts included (pictures, maps, texts, tables).
LimnStudyFolder *limn_study_folder_load(const char *path, LimnJob *job, GError **error);
void limn_study_folder_free(LimnStudyFolder *folder);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnStudyFolder, limn_study_folder_free)
gboolean limn_study_folder_is(const char *path); // has study.json and result.json

// Joins the folders that shards of one study wrote.
gboolean limn_study_folder_merge(const char *const *folders, const char *out,
                                 gboolean force, LimnJob *job, GError **error);
