// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/worker.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE 10

typedef struct {
    GTask *task;
    GTaskThreadFunc func;
    guint64 serial;
} Work;

static void
run(gpointer data, gpointer user_data)
{
    static GPrivate prepared = G_PRIVATE_INIT(NULL);
    Work *work = data;
    GTask *task = work->task;

    if (!g_private_get(&prepared)) {
        setpriority(PRIO_PROCESS, (id_t) syscall(SYS_gettid), NICE);
        g_private_set(&prepared, GINT_TO_POINTER(1));
    }
    if (!g_task_return_error_if_cancelled(task))
        work->func(task, g_task_get_source_object(task), g_task_get_task_data(task),
                   g_task_get_cancellable(task));
    g_object_unref(task);
    g_free(work);
}

static int
newest_first(gconstpointer a, gconstpointer b, gpointer user_data)
{
    const Work *p = a, *q = b;

    return p->serial > q->serial ? -1 : p->serial < q->serial;
}

void
limn_worker_run(LimnWorker worker, GTask *task, GTaskThreadFunc func)
{
    static GThreadPool *pools[2]; // live as long as the program
    static guint64 serial;
    Work *work = g_new0(Work, 1);

    if (!pools[worker]) {
        // exclusive threads: they keep their priority to themselves
        pools[worker] = g_thread_pool_new(run, NULL, 1, TRUE, NULL);
        if (worker == LIMN_WORKER_THUMBNAILS)
            g_thread_pool_set_sort_function(pools[worker], newest_first, NULL);
    }
    work->task = g_object_ref(task);
    work->func = func;
    work->serial = ++serial;
    g_thread_pool_push(pools[worker], work, NULL);
}

void
limn_main_invoke(GSourceFunc func, gpointer data, GDestroyNotify destroy)
{
    GSource *source = g_idle_source_new();

    g_source_set_priority(source, G_PRIORITY_DEFAULT);
    g_source_set_callback(source, func, data, destroy);
    g_source_attach(source, NULL);
    g_source_unref(source);
}
