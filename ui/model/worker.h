// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Low-priority threads for what is neither drawing nor computing: decoding pictures,
// thumbnails, listing folders, writing files. GTask carries the result back to the main
// loop; its own pool is not used, because file dialogs need that one.

#include <gio/gio.h>

typedef enum {
    LIMN_WORKER_FILES,      // one at a time, in order
    LIMN_WORKER_THUMBNAILS, // the newest request first
} LimnWorker;

// Runs `func` on a worker; as g_task_run_in_thread. A task whose cancellable was
// cancelled before its turn is returned without running.
void limn_worker_run(LimnWorker worker, GTask *task, GTaskThreadFunc func);

// Calls func(data) on the main loop, from any thread.
void limn_main_invoke(GSourceFunc func, gpointer data, GDestroyNotify destroy);
