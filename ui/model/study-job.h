// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A study being run in the window: queued on the batch thread, progress and result on
// the main loop, results written to a study folder. While it computes it lets live
// explanations go first.
//
// Signals: "progress" when fraction or message changed, "finished" once.

#include "engine/study/run.h"
#include "ui/model/engine-thread.h"
#include "ui/model/live.h"

#define LIMN_TYPE_STUDY_JOB (limn_study_job_get_type())
G_DECLARE_FINAL_TYPE(LimnStudyJob, limn_study_job, LIMN, STUDY_JOB, GObject)

// Starts at once (or after the jobs before it). `folder`: where the results go, made;
// NULL: they are only kept in memory. `live` must outlive the thread.
LimnStudyJob *limn_study_job_start(LimnEngineThread *thread, LimnLive *live,
                                   LimnStudy *study, const char *folder,
                                   const char *title);
void limn_study_job_cancel(LimnStudyJob *job);

const char *limn_study_job_get_title(LimnStudyJob *job);
double limn_study_job_get_fraction(LimnStudyJob *job);
const char *limn_study_job_get_message(LimnStudyJob *job);
gboolean limn_study_job_is_finished(LimnStudyJob *job);
const char *limn_study_job_get_folder(LimnStudyJob *job);
// After the end: the run with its artifacts and scalars (also of a failed one, as far as
// it got), its diagnostics and the error, NULL when it succeeded. Borrowed.
LimnRun *limn_study_job_get_run(LimnStudyJob *job);
GPtrArray *limn_study_job_get_diagnostics(LimnStudyJob *job);
const GError *limn_study_job_get_error(LimnStudyJob *job);
