// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/engine-thread.h"

#include "engine/base/parallel.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE 10
#define PRIORITY_QUIT -1

typedef struct {
    int priority;
    guint64 serial;
    void (*func)(gpointer data);
    gpointer data;
    GDestroyNotify destroy;
} Work;

struct LimnEngineThread {
    GThread *thread;
    GAsyncQueue *queue; // Work, sorted
    guint64 serial;
};

static int
compare(gconstpointer a, gconstpointer b, gpointer user_data)
{
    const Work *p = a, *q = b;

    if (p->priority != q->priority)
        return p->priority - q->priority;
    return p->serial < q->serial ? -1 : p->serial > q->serial;
}

static void
work_free(gpointer data)
{
    Work *work = data;

    if (work->destroy)
        work->destroy(work->data);
    g_free(work);
}

static gpointer
thread_main(gpointer data)
{
    LimnEngineThread *self = data;
    gboolean quit = FALSE;

    setpriority(PRIO_PROCESS, (id_t) syscall(SYS_gettid), NICE);
    limn_parallel_prepare_thread();
    while (!quit) {
        Work *work = g_async_queue_pop(self->queue);

        quit = work->priority == PRIORITY_QUIT;
        if (work->func)
            work->func(work->data);
        work_free(work);
    }
    return NULL;
}

static void
push(LimnEngineThread *self, int priority, void (*func)(gpointer data), gpointer data,
     GDestroyNotify destroy)
{
    Work *work = g_new0(Work, 1);

    work->priority = priority;
    work->func = func;
    work->data = data;
    work->destroy = destroy;
    g_async_queue_lock(self->queue);
    work->serial = ++self->serial;
    g_async_queue_push_sorted_unlocked(self->queue, work, compare, NULL);
    g_async_queue_unlock(self->queue);
}

LimnEngineThread *
limn_engine_thread_new(const char *name)
{
    LimnEngineThread *self = g_new0(LimnEngineThread, 1);

    self->queue = g_async_queue_new_full(work_free);
    self->thread = g_thread_new(name, thread_main, self);
    return self;
}

void
limn_engine_thread_free(LimnEngineThread *self)
{
    if (!self)
        return;
    push(self, PRIORITY_QUIT, NULL, NULL, NULL);
    g_thread_join(self->thread);
    g_async_queue_unref(self->queue);
    g_free(self);
}

void
limn_engine_thread_push(LimnEngineThread *self, LimnPriority priority,
                        void (*func)(gpointer data), gpointer data,
                        GDestroyNotify destroy)
{
    push(self, priority, func, data, destroy);
}

gboolean
limn_engine_thread_is_current(LimnEngineThread *self)
{
    return g_thread_self() == self->thread;
}
