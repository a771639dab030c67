// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/job.h"

#include <math.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"

#define MIN_REPORT_INTERVAL (G_USEC_PER_SEC / 20)

typedef struct {
    double begin, end; // of the whole job
} Range;

typedef struct {
    char *stage;
    double seconds;
} StageTime;

struct LimnJob {
    gatomicrefcount refs;
    int threads;   // atomic
    int cancelled; // atomic
    int paused;    // atomic; changes under the mutex
    int finish;    // atomic

    GCond wake;   // a pause or the job ended
    GMutex mutex; // guards everything up to the next comment
    GArray *ranges;
    GArray *times;
    GPtrArray *diagnostics;
    GPtrArray *metrics;
    guint64 n_metrics;
    gint64 last_report; // monotonic, microseconds
    gboolean reported_end;

    GRecMutex progress_mutex; // held during the call
    LimnProgressFunc func;
    gpointer func_data;
    GDestroyNotify func_destroy;
};

static void
diagnostic_free(LimnDiagnostic *diagnostic)
{
    g_free(diagnostic->item);
    g_free(diagnostic->message);
    g_free(diagnostic);
}

static GPtrArray *
diagnostics_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify) diagnostic_free);
}

static void
stage_time_clear(StageTime *time)
{
    g_free(time->stage);
}

static LimnMetric *
metric_new(const char *name)
{
    LimnMetric *metric = g_new0(LimnMetric, 1);
    metric->name = g_strdup(name);
    metric->x = g_array_new(FALSE, FALSE, sizeof(double));
    metric->values = g_array_new(FALSE, FALSE, sizeof(double));
    return metric;
}

static void
metric_free(LimnMetric *metric)
{
    g_free(metric->name);
    g_array_unref(metric->x);
    g_array_unref(metric->values);
    g_free(metric);
}

static GPtrArray *
metrics_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify) metric_free);
}

LimnJob *
limn_job_new(void)
{
    LimnJob *job = g_new0(LimnJob, 1);
    g_atomic_ref_count_init(&job->refs);
    job->threads = 1;
    g_mutex_init(&job->mutex);
    g_rec_mutex_init(&job->progress_mutex);
    job->ranges = g_array_new(FALSE, FALSE, sizeof(Range));
    job->times = g_array_new(FALSE, FALSE, sizeof(StageTime));
    g_array_set_clear_func(job->times, (GDestroyNotify) stage_time_clear);
    job->diagnostics = diagnostics_new();
    job->metrics = metrics_new();
    g_cond_init(&job->wake);
    return job;
}

LimnJob *
limn_job_ref(LimnJob *job)
{
    if (job != NULL) {
        g_atomic_ref_count_inc(&job->refs);
    }
    return job;
}

void
limn_job_unref(LimnJob *job)
{
    if (job == NULL || !g_atomic_ref_count_dec(&job->refs)) {
        return;
    }
    if (job->func_destroy != NULL) {
        job->func_destroy(job->func_data);
    }
    g_array_unref(job->ranges);
    g_array_unref(job->times);
    g_ptr_array_unref(job->diagnostics);
    g_ptr_array_unref(job->metrics);
    g_cond_clear(&job->wake);
    g_mutex_clear(&job->mutex);
    g_rec_mutex_clear(&job->progress_mutex);
    g_free(job);
}

void
limn_job_set_threads(LimnJob *job, int threads)
{
    if (job == NULL) {
        return;
    }
    if (threads <= 0) {
        threads = limn_parallel_n_processors();
    }
    g_atomic_int_set(&job->threads, threads);
}

int
limn_job_get_threads(LimnJob *job)
{
    return job == NULL ? 1 : g_atomic_int_get(&job->threads);
}

void
limn_job_set_progress(LimnJob *job, LimnProgressFunc func, gpointer user_data,
                      GDestroyNotify destroy)
{
    if (job == NULL) {
        return;
    }
    g_rec_mutex_lock(&job->progress_mutex);
    GDestroyNotify old_destroy = job->func_destroy;
    gpointer old_data = job->func_data;
    job->func = func;
    job->func_data = user_data;
    job->func_destroy = destroy;
    g_rec_mutex_unlock(&job->progress_mutex);
    if (old_destroy != NULL) {
        old_destroy(old_data);
    }
}

static Range
current_range(LimnJob *job)
{
    if (job->ranges->len == 0) {
        return (Range){0, 1};
    }
    return g_array_index(job->ranges, Range, job->ranges->len - 1);
}

static double
map_into(Range range, double fraction)
{
    fraction = isfinite(fraction) ? CLAMP(fraction, 0, 1) : 0;
    return range.begin + fraction * (range.end - range.begin);
}

// Decides whether a report is passed on, and maps its fraction to that of the job. Only
// the first report of the end is always passed on.
static gboolean
take_report(LimnJob *job, double *fraction)
{
    g_mutex_lock(&job->mutex);
    gint64 now = g_get_monotonic_time();
    *fraction = map_into(current_range(job), *fraction);
    gboolean end = *fraction >= 1 && !job->reported_end;
    gboolean due = job->last_report == 0 || now - job->last_report >= MIN_REPORT_INTERVAL;
    if (end || due) {
        job->last_report = now;
        job->reported_end = *fraction >= 1;
    }
    g_mutex_unlock(&job->mutex);
    return end || due;
}

void
limn_job_report(LimnJob *job, const char *stage, double fraction, const char *format, ...)
{
    if (job == NULL || !take_report(job, &fraction)) {
        return;
    }
    g_rec_mutex_lock(&job->progress_mutex);
    if (job->func != NULL) {
        va_list args;
        va_start(args, format);
        g_autofree char *message = format != NULL ? g_strdup_vprintf(format, args) : NULL;
        va_end(args);
        const LimnProgress progress = {
            .stage = stage != NULL ? stage : "",
            .fraction = fraction,
            .message = message != NULL ? message : "",
        };
        job->func(job, &progress, job->func_data);
    }
    g_rec_mutex_unlock(&job->progress_mutex);
}

void
limn_job_push_range(LimnJob *job, double begin, double end)
{
    if (job == NULL) {
        return;
    }
    g_mutex_lock(&job->mutex);
    Range outer = current_range(job);
    Range range = {map_into(outer, begin), map_into(outer, end)};
    g_array_append_val(job->ranges, range);
    g_mutex_unlock(&job->mutex);
}

void
limn_job_pop_range(LimnJob *job)
{
    if (job == NULL) {
        return;
    }
    g_mutex_lock(&job->mutex);
    gboolean balanced = job->ranges->len > 0;
    if (balanced) {
        g_array_set_size(job->ranges, job->ranges->len - 1);
    }
    g_mutex_unlock(&job->mutex);
    g_return_if_fail(balanced);
}

void
limn_job_cancel(LimnJob *job)
{
    if (job != NULL) {
        g_mutex_lock(&job->mutex);
        g_atomic_int_set(&job->cancelled, 1);
        g_cond_broadcast(&job->wake);
        g_mutex_unlock(&job->mutex);
    }
}

gboolean
limn_job_is_cancelled(LimnJob *job)
{
    return job != NULL && g_atomic_int_get(&job->cancelled) != 0;
}

void
limn_job_set_paused(LimnJob *job, gboolean paused)
{
    if (job != NULL) {
        g_mutex_lock(&job->mutex);
        g_atomic_int_set(&job->paused, paused);
        g_cond_broadcast(&job->wake);
        g_mutex_unlock(&job->mutex);
    }
}

gboolean
limn_job_is_paused(LimnJob *job)
{
    return job != NULL && g_atomic_int_get(&job->paused) != 0;
}

static void
wait_for_pause(LimnJob *job)
{
    g_mutex_lock(&job->mutex);
    while (g_atomic_int_get(&job->paused) && !g_atomic_int_get(&job->cancelled)) {
        g_cond_wait(&job->wake, &job->mutex);
    }
    g_mutex_unlock(&job->mutex);
}

void
limn_job_finish_early(LimnJob *job)
{
    if (job != NULL) {
        g_atomic_int_set(&job->finish, 1);
        limn_job_set_paused(job, FALSE);
    }
}

gboolean
limn_job_should_finish(LimnJob *job)
{
    return job != NULL && g_atomic_int_get(&job->finish) != 0;
}

static LimnMetric *
find_metric(GPtrArray *metrics, const char *name)
{
    for (guint i = 0; i < metrics->len; i++) {
        LimnMetric *metric = metrics->pdata[i];
        if (g_strcmp0(metric->name, name) == 0) {
            return metric;
        }
    }
    LimnMetric *metric = metric_new(name);
    g_ptr_array_add(metrics, metric);
    return metric;
}

void
limn_job_add_metric(LimnJob *job, const char *name, double x, double value)
{
    if (job == NULL) {
        return;
    }
    g_mutex_lock(&job->mutex);
    LimnMetric *metric = find_metric(job->metrics, name);
    g_array_append_val(metric->x, x);
    g_array_append_val(metric->values, value);
    job->n_metrics++;
    g_mutex_unlock(&job->mutex);
}

GPtrArray *
limn_job_dup_metrics(LimnJob *job)
{
    GPtrArray *copy = metrics_new();
    if (job == NULL) {
        return copy;
    }
    g_mutex_lock(&job->mutex);
    for (guint i = 0; i < job->metrics->len; i++) {
        const LimnMetric *metric = job->metrics->pdata[i];
        LimnMetric *own = metric_new(metric->name);
        g_array_append_vals(own->x, metric->x->data, metric->x->len);
        g_array_append_vals(own->values, metric->values->data, metric->values->len);
        g_ptr_array_add(copy, own);
    }
    g_mutex_unlock(&job->mutex);
    return copy;
}

guint64
limn_job_get_n_metrics(LimnJob *job)
{
    if (job == NULL) {
        return 0;
    }
    g_mutex_lock(&job->mutex);
    guint64 n = job->n_metrics;
    g_mutex_unlock(&job->mutex);
    return n;
}

gboolean
limn_job_check(LimnJob *job, GError **error)
{
    if (limn_job_is_paused(job)) {
        wait_for_pause(job);
    }
    if (!limn_job_is_cancelled(job)) {
        return TRUE;
    }
    g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_CANCELLED, "cancelled");
    return FALSE;
}

void
limn_job_diagnose(LimnJob *job, LimnSeverity severity, const char *item,
                  const char *format, ...)
{
    if (job == NULL) {
        return;
    }
    va_list args;
    va_start(args, format);
    LimnDiagnostic *diagnostic = g_new0(LimnDiagnostic, 1);
    diagnostic->severity = severity;
    diagnostic->item = g_strdup(item);
    diagnostic->message = g_strdup_vprintf(format, args);
    va_end(args);
    g_mutex_lock(&job->mutex);
    g_ptr_array_add(job->diagnostics, diagnostic);
    g_mutex_unlock(&job->mutex);
}

GPtrArray *
limn_job_dup_diagnostics(LimnJob *job)
{
    GPtrArray *copy = diagnostics_new();
    if (job == NULL) {
        return copy;
    }
    g_mutex_lock(&job->mutex);
    for (guint i = 0; i < job->diagnostics->len; i++) {
        const LimnDiagnostic *from = g_ptr_array_index(job->diagnostics, i);
        LimnDiagnostic *to = g_new0(LimnDiagnostic, 1);
        to->severity = from->severity;
        to->item = g_strdup(from->item);
        to->message = g_strdup(from->message);
        g_ptr_array_add(copy, to);
    }
    g_mutex_unlock(&job->mutex);
    return copy;
}

void
limn_job_add_time(LimnJob *job, const char *stage, double seconds)
{
    if (job == NULL) {
        return;
    }
    g_mutex_lock(&job->mutex);
    guint i = 0;
    while (i < job->times->len &&
           g_strcmp0(g_array_index(job->times, StageTime, i).stage, stage) != 0) {
        i++;
    }
    if (i == job->times->len) {
        StageTime time = {.stage = g_strdup(stage)};
        g_array_append_val(job->times, time);
    }
    g_array_index(job->times, StageTime, i).seconds += seconds;
    g_mutex_unlock(&job->mutex);
}

void
limn_job_foreach_time(LimnJob *job,
                      void (*func)(const char *stage, double seconds, gpointer data),
                      gpointer data)
{
    if (job == NULL) {
        return;
    }
    // A copy, so that func may use the job.
    g_autoptr(GArray) copy = g_array_new(FALSE, FALSE, sizeof(StageTime));
    g_array_set_clear_func(copy, (GDestroyNotify) stage_time_clear);
    g_mutex_lock(&job->mutex);
    for (guint i = 0; i < job->times->len; i++) {
        StageTime time = g_array_index(job->times, StageTime, i);
        time.stage = g_strdup(time.stage);
        g_array_append_val(copy, time);
    }
    g_mutex_unlock(&job->mutex);
    for (guint i = 0; i < copy->len; i++) {
        const StageTime *time = &g_array_index(copy, StageTime, i);
        func(time->stage, time->seconds, data);
    }
}
