// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/error.h"
#include "engine/base/job.h"
#include "engine/base/parallel.h"

typedef struct {
    int calls;
    double last;
    char *stage, *message;
    gboolean destroyed;
} Heard;

static void
hear(LimnJob *job, const LimnProgress *progress, gpointer data)
{
    Heard *heard = data;
    heard->calls++;
    heard->last = progress->fraction;
    g_free(heard->stage);
    g_free(heard->message);
    heard->stage = g_strdup(progress->stage);
    heard->message = g_strdup(progress->message);
}

static void
forget(gpointer data)
{
    ((Heard *) data)->destroyed = TRUE;
}

static void
heard_clear(Heard *heard)
{
    g_free(heard->stage);
    g_free(heard->message);
}

static void
test_null(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) diagnostics = limn_job_dup_diagnostics(NULL);
    g_assert_cmpuint(diagnostics->len, ==, 0);
    g_assert_cmpint(limn_job_get_threads(NULL), ==, 1);
    g_assert_true(limn_job_check(NULL, &error));
    limn_job_report(NULL, "x", 0.5, "%s", "y");
    limn_job_push_range(NULL, 0, 1);
    limn_job_pop_range(NULL);
    limn_job_cancel(NULL);
    limn_job_set_threads(NULL, 3);
    limn_job_set_progress(NULL, hear, NULL, NULL);
    limn_job_diagnose(NULL, LIMN_DIAGNOSTIC_NOTE, NULL, "z");
    limn_job_add_time(NULL, "a", 1);
    limn_job_foreach_time(NULL, NULL, NULL);
    g_assert_null(limn_job_ref(NULL));
    limn_job_unref(NULL);
}

static void
test_threads(void)
{
    g_autoptr(LimnJob) job = limn_job_new();
    g_assert_cmpint(limn_job_get_threads(job), ==, 1);
    limn_job_set_threads(job, 3);
    g_assert_cmpint(limn_job_get_threads(job), ==, 3);
    limn_job_set_threads(job, 0);
    g_assert_cmpint(limn_job_get_threads(job), ==, limn_parallel_n_processors());
}

static void
test_progress(void)
{
    Heard heard = {0};
    LimnJob *job = limn_job_new();
    limn_job_set_progress(job, hear, &heard, forget);
    limn_job_report(job, "load", 0.25, "file %d", 7);
    g_assert_cmpint(heard.calls, ==, 1);
    g_assert_cmpfloat(heard.last, ==, 0.25);
    g_assert_cmpstr(heard.stage, ==, "load");
    g_assert_cmpstr(heard.message, ==, "file 7");
    // Reports that follow at once are left out, but not that of the end.
    gint64 begin = g_get_monotonic_time();
    for (int i = 0; i < 1000; i++) {
        limn_job_report(job, "load", 0.3 + i * 1e-4, "%s", "");
    }
    gint64 elapsed = g_get_monotonic_time() - begin;
    g_assert_cmpint(heard.calls, <=, 2 + elapsed / 50000);
    limn_job_report(job, "done", 1, "%s", "");
    g_assert_cmpfloat(heard.last, ==, 1);
    int calls = heard.calls;
    limn_job_report(job, "done", 1, "%s", ""); // the end is told once
    g_assert_cmpint(heard.calls, <=, calls + 1);
    limn_job_unref(job);
    g_assert_true(heard.destroyed);
    heard_clear(&heard);
}

static double
reported(LimnJob *job, Heard *heard, double fraction)
{
    g_usleep(55000);
    limn_job_report(job, "x", fraction, "%s", "");
    return heard->last;
}

static void
test_ranges(void)
{
    Heard heard = {0};
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_progress(job, hear, &heard, NULL);
    limn_job_push_range(job, 0.5, 1);
    limn_job_push_range(job, 0.25, 0.75);
    g_assert_cmpfloat(reported(job, &heard, 0), ==, 0.625);
    g_assert_cmpfloat(reported(job, &heard, 2), ==, 0.875); // clamped
    g_assert_cmpfloat(reported(job, &heard, 0.0 / 0.0), ==, 0.625);
    limn_job_pop_range(job);
    g_assert_cmpfloat(reported(job, &heard, 0.5), ==, 0.75);
    limn_job_pop_range(job);
    g_assert_cmpfloat(reported(job, &heard, 0.5), ==, 0.5);
    limn_job_set_progress(job, NULL, NULL, NULL);
    heard_clear(&heard);
}

static void
test_cancel(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) job = limn_job_new();
    g_assert_true(limn_job_check(job, &error));
    limn_job_cancel(job);
    g_assert_true(limn_job_is_cancelled(job));
    g_assert_false(limn_job_check(job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

static void
test_diagnostics(void)
{
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, "a.png", "resized %d", 3);
    limn_job_diagnose(job, LIMN_DIAGNOSTIC_WARNING, NULL, "text truncated");
    g_autoptr(GPtrArray) list = limn_job_dup_diagnostics(job);
    g_assert_cmpuint(list->len, ==, 2);
    const LimnDiagnostic *first = g_ptr_array_index(list, 0);
    const LimnDiagnostic *second = g_ptr_array_index(list, 1);
    g_assert_cmpint(first->severity, ==, LIMN_DIAGNOSTIC_NOTE);
    g_assert_cmpstr(first->item, ==, "a.png");
    g_assert_cmpstr(first->message, ==, "resized 3");
    g_assert_null(second->item);
    g_assert_cmpstr(second->message, ==, "text truncated");
}

static void
collect_time(const char *stage, double seconds, gpointer data)
{
    g_string_append_printf(data, "%s=%g;", stage, seconds);
}

static void
test_times(void)
{
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_add_time(job, "load", 1);
    limn_job_add_time(job, "encode", 2);
    limn_job_add_time(job, "load", 0.5);
    g_autoptr(GString) text = g_string_new(NULL);
    limn_job_foreach_time(job, collect_time, text);
    g_assert_cmpstr(text->str, ==, "load=1.5;encode=2;");
}

static void
diagnose_chunk(gsize chunk, gpointer data)
{
    limn_job_diagnose(data, LIMN_DIAGNOSTIC_NOTE, NULL, "%zu", chunk);
    limn_job_report(data, "work", 0.5, "%s", "");
    limn_job_add_time(data, "work", 1);
}

static void
test_from_many_threads(void)
{
    Heard heard = {0};
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_threads(job, 4);
    limn_job_set_progress(job, hear, &heard, NULL);
    limn_parallel_for(job, 500, diagnose_chunk, job);
    g_autoptr(GPtrArray) list = limn_job_dup_diagnostics(job);
    g_assert_cmpuint(list->len, ==, 500);
    g_autoptr(GString) text = g_string_new(NULL);
    limn_job_foreach_time(job, collect_time, text);
    g_assert_cmpstr(text->str, ==, "work=500;");
    heard_clear(&heard);
}

static gpointer
check_in_thread(gpointer data)
{
    return GINT_TO_POINTER(limn_job_check(data, NULL));
}

static void
test_pause(void)
{
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_paused(job, TRUE);
    g_assert_true(limn_job_is_paused(job));
    GThread *waiting = g_thread_new("waiting", check_in_thread, job);
    limn_job_set_paused(job, FALSE);
    g_assert_true(GPOINTER_TO_INT(g_thread_join(waiting)));
    limn_job_set_paused(job, TRUE);
    waiting = g_thread_new("waiting", check_in_thread, job);
    limn_job_cancel(job); // ends a pause as well
    g_assert_false(GPOINTER_TO_INT(g_thread_join(waiting)));
    g_assert_false(limn_job_should_finish(job));
    limn_job_finish_early(job);
    g_assert_true(limn_job_should_finish(job));
    g_assert_false(limn_job_is_paused(job));
}

static void
test_metrics(void)
{
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_add_metric(job, "loss", 0, 2.5);
    limn_job_add_metric(job, "rate", 0, 0.1);
    limn_job_add_metric(job, "loss", 1, 2.25);
    g_assert_cmpuint(limn_job_get_n_metrics(job), ==, 3);
    g_autoptr(GPtrArray) metrics = limn_job_dup_metrics(job);
    g_assert_cmpuint(metrics->len, ==, 2);
    const LimnMetric *loss = metrics->pdata[0];
    g_assert_cmpstr(loss->name, ==, "loss");
    g_assert_cmpuint(loss->values->len, ==, 2);
    g_assert_cmpfloat(g_array_index(loss->x, double, 1), ==, 1);
    g_assert_cmpfloat(g_array_index(loss->values, double, 1), ==, 2.25);
    limn_job_add_metric(NULL, "loss", 0, 1);
    g_assert_cmpuint(limn_job_get_n_metrics(NULL), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/job/null", test_null);
    g_test_add_func("/job/threads", test_threads);
    g_test_add_func("/job/progress", test_progress);
    g_test_add_func("/job/ranges", test_ranges);
    g_test_add_func("/job/cancel", test_cancel);
    g_test_add_func("/job/diagnostics", test_diagnostics);
    g_test_add_func("/job/times", test_times);
    g_test_add_func("/job/from-many-threads", test_from_many_threads);
    g_test_add_func("/base/job/pause", test_pause);
    g_test_add_func("/base/job/metrics", test_metrics);
    return g_test_run();
}
