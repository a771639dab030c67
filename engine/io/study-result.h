// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// result.json and timing.json of a study folder (see study-folder.h).

#include "engine/io/artifact-files.h"
#include "engine/io/study-folder.h"

#define LIMN_STUDY_FILE "study.json"
#define LIMN_RESULT_FILE "result.json"
#define LIMN_TIMING_FILE "timing.json"

// Writes the artifacts of the run and then result.json through the writer.
gboolean limn_study_result_write(LimnRun *run, LimnArtifactWriter *writer,
                                 GError **error);
// Returns: (transfer full) the text of timing.json
char *limn_study_timing_to_json(LimnJob *job);
// Fills everything of the folder but `study` and `path` from `path`/result.json.
gboolean limn_study_result_read(LimnStudyFolder *folder, LimnJob *job, GError **error);
// Names of all files of the study in `directory`, as far as they can be told; never NULL.
// Returns: (transfer full)
GStrv limn_study_result_list_files(const char *directory);
