// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/parallel.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/base/job.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#define MAX_WORKERS 255
// An idle thread looks for work this long before it sleeps: loops follow each other
// within microseconds, and waking a thread takes longer than many of them run.
#define SPIN_MICROSECONDS 20

// A loop being run. It lives on the stack of its caller, who waits until it is neither
// listed nor worked on by anybody.
typedef struct Loop Loop;
struct Loop {
    LimnChunkFunc func;
    gpointer user_data;
    LimnJob *job;
    gsize n_chunks;
    gsize next;       // atomic: the next chunk to be claimed
    int helpers;      // atomic: workers that run chunks of it
    int helpers_left; // how many more may join (pool mutex)
    Loop *following;  // in the list (pool mutex)
};

// All fields are guarded by the mutex, `posted` is also read without it.
static struct {
    GMutex mutex;
    GCond work; // a loop was listed
    GCond left; // a worker left a loop
    Loop *loops;
    int n_workers;
    int posted; // atomic: number of loops listed so far
} pool;

static int background;                // atomic
static _Thread_local gboolean nested; // inside a chunk of a parallel loop

int
limn_parallel_n_processors(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        return MAX(CPU_COUNT(&set), 1);
    }
    return (int) g_get_num_processors();
}

void
limn_parallel_prepare_thread(void)
{
#if defined(__x86_64__) || (defined(__i386__) && defined(__SSE__))
    const unsigned int flush = 0x8040; // FTZ, DAZ
    unsigned int state = _mm_getcsr();
    if ((state & flush) != flush) {
        _mm_setcsr(state | flush);
    }
#elif defined(__aarch64__)
    const guint64 flush = (guint64) 1 << 24; // FPCR.FZ
    guint64 state;
    __asm__ volatile("mrs %0, fpcr" : "=r"(state));
    if ((state & flush) == 0) {
        __asm__ volatile("msr fpcr, %0" : : "r"(state | flush));
    }
#endif
}

static void
lower_priority(void)
{
    setpriority(PRIO_PROCESS, (id_t) syscall(SYS_gettid), 10);
}

// Going back up is allowed only to privileged processes; it is tried.
static void
raise_priority(void)
{
    setpriority(PRIO_PROCESS, (id_t) syscall(SYS_gettid), 0);
}

void
limn_parallel_set_background(gboolean on)
{
    g_atomic_int_set(&background, on != FALSE);
    if (on) {
        lower_priority();
    } else {
        raise_priority();
    }
}

static void
follow_background(gboolean *lowered)
{
    gboolean wanted = g_atomic_int_get(&background) != 0;
    if (wanted != *lowered) {
        *lowered = wanted;
        if (wanted) {
            lower_priority();
        } else {
            raise_priority();
        }
    }
}

static inline void
spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    _mm_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static void
run_chunks(Loop *loop)
{
    gboolean outer = nested;
    nested = TRUE;
    while (!limn_job_is_cancelled(loop->job)) {
        gsize chunk = __atomic_fetch_add(&loop->next, 1, __ATOMIC_RELAXED);
        if (chunk >= loop->n_chunks) {
            break;
        }
        loop->func(chunk, loop->user_data);
    }
    nested = outer;
}

// The first listed loop that has chunks and room for a helper. Pool mutex held.
static Loop *
find_loop(void)
{
    for (Loop *loop = pool.loops; loop != NULL; loop = loop->following) {
        if (loop->helpers_left > 0 &&
            __atomic_load_n(&loop->next, __ATOMIC_RELAXED) < loop->n_chunks) {
            return loop;
        }
    }
    return NULL;
}

static void
spin_for_work(int seen)
{
    gint64 until = g_get_monotonic_time() + SPIN_MICROSECONDS;
    while (g_atomic_int_get(&pool.posted) == seen && g_get_monotonic_time() < until) {
        for (int i = 0; i < 16; i++) {
            spin_pause();
        }
    }
}

static gpointer
worker_main(gpointer data)
{
    gboolean lowered = FALSE;
    limn_parallel_prepare_thread();
    g_mutex_lock(&pool.mutex);
    for (;;) {
        Loop *loop = find_loop();
        if (loop == NULL) {
            int seen = pool.posted;
            g_mutex_unlock(&pool.mutex);
            spin_for_work(seen);
            g_mutex_lock(&pool.mutex);
            if (pool.posted == seen) {
                g_cond_wait(&pool.work, &pool.mutex);
            }
            continue;
        }
        loop->helpers_left--;
        g_atomic_int_inc(&loop->helpers);
        g_mutex_unlock(&pool.mutex);
        follow_background(&lowered);
        run_chunks(loop);
        g_mutex_lock(&pool.mutex);
        if (g_atomic_int_dec_and_test(&loop->helpers)) {
            g_cond_broadcast(&pool.left); // the loop may be gone from here on
        }
    }
    return NULL;
}

// Pool mutex held. Without a further thread the loops run on those that there are.
static void
ensure_workers(int n)
{
    while (pool.n_workers < MIN(n, MAX_WORKERS)) {
        GThread *thread = g_thread_try_new("limn-worker", worker_main, NULL, NULL);
        if (thread == NULL) {
            break;
        }
        g_thread_unref(thread);
        pool.n_workers++;
    }
}

static void
list_loop(Loop *loop, int helpers)
{
    loop->helpers_left = helpers;
    g_mutex_lock(&pool.mutex);
    ensure_workers(helpers);
    Loop **end = &pool.loops;
    while (*end != NULL) {
        end = &(*end)->following;
    }
    *end = loop;
    g_atomic_int_inc(&pool.posted);
    if (helpers == 1) {
        g_cond_signal(&pool.work);
    } else {
        g_cond_broadcast(&pool.work);
    }
    g_mutex_unlock(&pool.mutex);
}

static void
unlist_loop(Loop *loop)
{
    g_mutex_lock(&pool.mutex);
    Loop **at = &pool.loops;
    while (*at != loop) {
        at = &(*at)->following;
    }
    *at = loop->following;
    g_mutex_unlock(&pool.mutex);

    // No worker can join any more; wait for those that run its last chunks.
    gint64 until = g_get_monotonic_time() + SPIN_MICROSECONDS;
    while (g_atomic_int_get(&loop->helpers) > 0 && g_get_monotonic_time() < until) {
        spin_pause();
    }
    g_mutex_lock(&pool.mutex);
    while (g_atomic_int_get(&loop->helpers) > 0) {
        g_cond_wait(&pool.left, &pool.mutex);
    }
    g_mutex_unlock(&pool.mutex);
}

void
limn_parallel_for(LimnJob *job, gsize n_chunks, LimnChunkFunc func, gpointer user_data)
{
    limn_parallel_prepare_thread();
    Loop loop = {.func = func, .user_data = user_data, .job = job, .n_chunks = n_chunks};
    int threads = nested ? 1 : limn_job_get_threads(job);
    if (n_chunks == 1) { // loops inside it may still use all threads
        if (!limn_job_is_cancelled(job)) {
            func(0, user_data);
        }
        return;
    }
    if (threads <= 1 || n_chunks == 0) {
        run_chunks(&loop);
        return;
    }
    int helpers = (int) MIN((gsize) MIN(threads - 1, MAX_WORKERS), n_chunks - 1);
    list_loop(&loop, helpers);
    run_chunks(&loop);
    unlist_loop(&loop);
}

typedef struct {
    LimnFallibleChunkFunc func;
    gpointer user_data;
    GMutex mutex; // guards the rest
    GError *error;
    gsize failed; // chunk that the error is of
} Attempt;

static void
try_chunk(gsize chunk, gpointer data)
{
    Attempt *attempt = data;
    GError *error = NULL;
    if (attempt->func(chunk, attempt->user_data, &error)) {
        return;
    }
    g_mutex_lock(&attempt->mutex);
    if (attempt->error == NULL || chunk < attempt->failed) {
        g_clear_error(&attempt->error);
        attempt->error = g_steal_pointer(&error);
        attempt->failed = chunk;
    }
    g_mutex_unlock(&attempt->mutex);
    g_clear_error(&error);
}

gboolean
limn_parallel_try(LimnJob *job, gsize n_chunks, LimnFallibleChunkFunc func,
                  gpointer user_data, GError **error)
{
    Attempt attempt = {.func = func, .user_data = user_data};
    g_mutex_init(&attempt.mutex);
    limn_parallel_for(job, n_chunks, try_chunk, &attempt);
    g_mutex_clear(&attempt.mutex);
    if (!limn_job_check(job, error)) { // what failed may have failed because of it
        g_clear_error(&attempt.error);
        return FALSE;
    }
    if (attempt.error != NULL) {
        g_propagate_error(error, attempt.error);
        return FALSE;
    }
    return TRUE;
}
