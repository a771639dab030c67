// SPDX-License-Identifier: GPL-3.0-or-later

#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/error.h"
#include "engine/base/job.h"
#include "engine/base/parallel.h"

#define N 1000

typedef struct {
    LimnJob *job;
    int counts[N];
    int cancel_at; // -1: never
    int running, most_running;
    GMutex mutex;
    GHashTable *threads;
} Work;

static LimnJob *
job_with_threads(int threads)
{
    LimnJob *job = limn_job_new();
    limn_job_set_threads(job, threads);
    return job;
}

static void
count_chunk(gsize chunk, gpointer data)
{
    Work *work = data;
    g_atomic_int_inc(&work->counts[chunk]);
    if ((int) chunk == work->cancel_at) {
        limn_job_cancel(work->job);
    }
}

static void
test_each_chunk_once(void)
{
    const gsize sizes[] = {0, 1, 2, 3, 7, N};
    for (int threads = 1; threads <= 4; threads++) {
        g_autoptr(LimnJob) job = job_with_threads(threads);
        for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
            Work work = {.job = job, .cancel_at = -1};
            limn_parallel_for(job, sizes[s], count_chunk, &work);
            for (gsize i = 0; i < N; i++) {
                g_assert_cmpint(work.counts[i], ==, i < sizes[s] ? 1 : 0);
            }
        }
    }
    Work work = {.cancel_at = -1};
    limn_parallel_for(NULL, N, count_chunk, &work);
    g_assert_cmpint(work.counts[N - 1], ==, 1);
}

static void
meet_chunk(gsize chunk, gpointer data)
{
    Work *work = data;
    g_mutex_lock(&work->mutex);
    g_hash_table_add(work->threads, g_thread_self());
    work->running++;
    work->most_running = MAX(work->most_running, work->running);
    g_mutex_unlock(&work->mutex);
    // Until all three are here: with fewer threads than asked for this would not end.
    for (int i = 0; i < 5000; i++) {
        g_mutex_lock(&work->mutex);
        gboolean all = work->most_running == 3;
        g_mutex_unlock(&work->mutex);
        if (all) {
            break;
        }
        g_usleep(1000);
    }
    g_mutex_lock(&work->mutex);
    work->running--;
    g_mutex_unlock(&work->mutex);
}

static void
test_runs_at_once(void)
{
    g_autoptr(LimnJob) job = job_with_threads(3);
    Work work = {.threads = g_hash_table_new(NULL, NULL)};
    g_mutex_init(&work.mutex);
    limn_parallel_for(job, 3, meet_chunk, &work);
    g_assert_cmpint(work.most_running, ==, 3);
    g_assert_cmpuint(g_hash_table_size(work.threads), ==, 3);
    g_hash_table_unref(work.threads);
    g_mutex_clear(&work.mutex);
}

typedef struct {
    LimnJob *job;
    gsize total;
    GThread *outer[8];
    gboolean strayed;
} Nest;

static void
inner_chunk(gsize chunk, gpointer data)
{
    gpointer *args = data;
    Nest *nest = args[0];
    if (args[1] != NULL && g_thread_self() != args[1]) {
        nest->strayed = TRUE;
    }
    __atomic_fetch_add(&nest->total, chunk, __ATOMIC_RELAXED);
}

static void
outer_chunk(gsize chunk, gpointer data)
{
    Nest *nest = data;
    gpointer args[] = {nest, g_thread_self()};
    limn_parallel_for(nest->job, 100, inner_chunk, args);
}

static void
single_chunk(gsize chunk, gpointer data)
{
    gpointer args[] = {data, NULL};
    limn_parallel_for(((Nest *) data)->job, 100, inner_chunk, args);
}

static void
test_nested(void)
{
    g_autoptr(LimnJob) job = job_with_threads(3);
    Nest nest = {.job = job};
    limn_parallel_for(job, 8, outer_chunk, &nest);
    g_assert_cmpuint(nest.total, ==, 8 * 4950);
    g_assert_false(nest.strayed); // inner loops stay on the thread of their chunk
    nest.total = 0;
    limn_parallel_for(job, 1, single_chunk, &nest);
    g_assert_cmpuint(nest.total, ==, 4950);
}

static void
test_cancel(void)
{
    for (int threads = 1; threads <= 3; threads++) {
        g_autoptr(LimnJob) job = job_with_threads(threads);
        Work work = {.job = job, .cancel_at = 10};
        limn_parallel_for(job, N, count_chunk, &work);
        int run = 0;
        for (int i = 0; i < N; i++) {
            run += work.counts[i];
        }
        g_assert_cmpint(run, >=, 11);
        if (threads == 1) {
            g_assert_cmpint(run, ==, 11);
        }
        limn_parallel_for(job, 1, count_chunk, &work);
        g_assert_cmpint(work.counts[0], ==, 1);
    }
}

// Every chunk multiplies a subnormal number: flushed on whichever thread it runs.
static void
flush_chunk(gsize chunk, gpointer data)
{
    volatile float tiny = 1e-40f, one = 1;
    Work *work = data;
    work->counts[chunk] = tiny * one == 0 ? 1 : 0;
}

static void
test_flush(void)
{
    g_autoptr(LimnJob) job = job_with_threads(3);
    Work work = {.cancel_at = -1};
    limn_parallel_for(job, N, flush_chunk, &work);
#if defined(__x86_64__) || defined(__aarch64__)
    for (int i = 0; i < N; i++) {
        g_assert_cmpint(work.counts[i], ==, 1);
    }
#endif
}

static gpointer
many_loops(gpointer data)
{
    g_autoptr(LimnJob) job = job_with_threads(3);
    for (int i = 0; i < 300; i++) {
        Work work = {.job = job, .cancel_at = -1};
        limn_parallel_for(job, 20, count_chunk, &work);
        for (int j = 0; j < 20; j++) {
            g_assert_cmpint(work.counts[j], ==, 1);
        }
    }
    return NULL;
}

static void
test_several_callers(void)
{
    GThread *threads[4];
    for (int i = 0; i < 4; i++) {
        threads[i] = g_thread_new("caller", many_loops, NULL);
    }
    for (int i = 0; i < 4; i++) {
        g_thread_join(threads[i]);
    }
}

static void
nice_chunk(gsize chunk, gpointer data)
{
    Work *work = data;
    work->counts[chunk] = getpriority(PRIO_PROCESS, (id_t) syscall(SYS_gettid));
    g_usleep(200);
}

static void
test_background(void)
{
    g_autoptr(LimnJob) job = job_with_threads(3);
    Work work = {.cancel_at = -1};
    limn_parallel_set_background(TRUE);
    limn_parallel_for(job, 100, nice_chunk, &work);
    for (int i = 0; i < 100; i++) {
        g_assert_cmpint(work.counts[i], >=, 10);
    }
    limn_parallel_set_background(FALSE); // may not be allowed to go up again
}

// Chunks 40, 41, ... fail.
static gboolean
fail_late(gsize chunk, gpointer data, GError **error)
{
    Work *work = data;
    count_chunk(chunk, work);
    if (chunk < 40) {
        return TRUE;
    }
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT, "chunk %u", (guint) chunk);
    return FALSE;
}

// The error is that of the lowest chunk, whichever came first; all have run.
static void
test_try(void)
{
    for (int threads = 1; threads <= 4; threads++) {
        g_autoptr(LimnJob) job = job_with_threads(threads);
        g_autoptr(GError) error = NULL;
        Work work = {.job = job, .cancel_at = -1};
        g_assert_true(limn_parallel_try(job, 40, fail_late, &work, &error));
        g_assert_no_error(error);
        g_assert_false(limn_parallel_try(job, N, fail_late, &work, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
        g_assert_cmpstr(error->message, ==, "chunk 40");
        g_assert_cmpint(work.counts[N - 1], ==, 1);
        g_clear_error(&error);
        Work stopped = {.job = job, .cancel_at = 50};
        g_assert_false(limn_parallel_try(job, N, fail_late, &stopped, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    }
    g_assert_false(limn_parallel_try(NULL, N, fail_late, &(Work){.cancel_at = -1}, NULL));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/parallel/each-chunk-once", test_each_chunk_once);
    g_test_add_func("/parallel/runs-at-once", test_runs_at_once);
    g_test_add_func("/parallel/nested", test_nested);
    g_test_add_func("/parallel/cancel", test_cancel);
    g_test_add_func("/parallel/try", test_try);
    g_test_add_func("/parallel/flush-to-zero", test_flush);
    g_test_add_func("/parallel/several-callers", test_several_callers);
    g_test_add_func("/parallel/background", test_background);
    return g_test_run();
}
