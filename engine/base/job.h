// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A job is the environment in which work runs: how many threads it may use, who
// hears of its progress, whether it was cancelled, and the diagnostics that do not
// stop it. Every function accepts a NULL job (one thread, silent, never cancelled).
// All functions are thread-safe; the progress function is called on the thread that
// reports, at most about 20 times a second except for the last report.

#include "engine/base/types.h"

typedef enum {
    LIMN_DIAGNOSTIC_NOTE,    // worth knowing (ignored tensor)
    LIMN_DIAGNOSTIC_WARNING, // the result may not be what was meant (text truncated)
} LimnSeverity;

typedef struct {
    LimnSeverity severity;
    char *item;    // file, tensor, prompt ...; may be NULL
    char *message; // one sentence
} LimnDiagnostic;

typedef struct {
    const char *stage;   // short word: "load", "encode", "explain"
    double fraction;     // of the whole job, in [0, 1]
    const char *message; // human readable, may be ""
} LimnProgress;

typedef void (*LimnProgressFunc)(LimnJob *job, const LimnProgress *progress,
                                 gpointer user_data);

LimnJob *limn_job_new(void);
LimnJob *limn_job_ref(LimnJob *job);
void limn_job_unref(LimnJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnJob, limn_job_unref)

// Number of threads the job may use (default 1; 0 means all processors).
void limn_job_set_threads(LimnJob *job, int threads);
int limn_job_get_threads(LimnJob *job);

void limn_job_set_progress(LimnJob *job, LimnProgressFunc func, gpointer user_data,
                           GDestroyNotify destroy);
// Report progress within the current range (see limn_job_push_range).
void limn_job_report(LimnJob *job, const char *stage, double fraction, const char *format,
                     ...) G_GNUC_PRINTF(4, 5);
// Nested work reports 0..1; a range maps it into [begin, end] of the enclosing range.
void limn_job_push_range(LimnJob *job, double begin, double end);
void limn_job_pop_range(LimnJob *job);

void limn_job_cancel(LimnJob *job);
gboolean limn_job_is_cancelled(LimnJob *job);
// FALSE with LIMN_ERROR_CANCELLED when cancelled: `if (!limn_job_check(job, error))`.
// Call it at least every 50 ms of work.
gboolean limn_job_check(LimnJob *job, GError **error);

// A paused job waits in limn_job_check() until it goes on or is cancelled.
void limn_job_set_paused(LimnJob *job, gboolean paused);
gboolean limn_job_is_paused(LimnJob *job);
// "Stop and keep": work that can end early with what it has (a training) asks for it
// between its steps.
void limn_job_finish_early(LimnJob *job);
gboolean limn_job_should_finish(LimnJob *job);

// Curves of a training while they grow: value of the metric of that name at x (a step).
void limn_job_add_metric(LimnJob *job, const char *name, double x, double value);
typedef struct {
    char *name;
    GArray *x, *values; // double, as many of one as of the other
} LimnMetric;
// Returns: (transfer full) (element-type LimnMetric) a copy, in order of first appearance
GPtrArray *limn_job_dup_metrics(LimnJob *job);
guint64 limn_job_get_n_metrics(LimnJob *job); // values so far: has anything changed?

void limn_job_diagnose(LimnJob *job, LimnSeverity severity, const char *item,
                       const char *format, ...) G_GNUC_PRINTF(4, 5);
// Returns: (transfer full) (element-type LimnDiagnostic) in the order of reporting.
GPtrArray *limn_job_dup_diagnostics(LimnJob *job);

// Seconds per named stage, summed over calls; written to timing.json.
void limn_job_add_time(LimnJob *job, const char *stage, double seconds);
// Calls func(stage, seconds) in the order in which stages first appeared.
void limn_job_foreach_time(LimnJob *job,
                           void (*func)(const char *stage, double seconds, gpointer data),
                           gpointer data);
