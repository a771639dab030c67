// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A thread of our own for computing, at lower priority than the window (nice 10). Work
// is queued by priority, first come first served within one. Results go back through
// limn_main_invoke.

#include <gio/gio.h>

typedef struct LimnEngineThread LimnEngineThread;

LimnEngineThread *limn_engine_thread_new(const char *name);
// Runs what is queued no more (its data are freed), waits for the work that is running
// (cancel it before) and ends the thread.
void limn_engine_thread_free(LimnEngineThread *thread);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnEngineThread, limn_engine_thread_free)

typedef enum {
    LIMN_PRIORITY_LIVE,
    LIMN_PRIORITY_NORMAL,
    LIMN_PRIORITY_BACKGROUND,
} LimnPriority;

void limn_engine_thread_push(LimnEngineThread *thread, LimnPriority priority,
                             void (*func)(gpointer data), gpointer data,
                             GDestroyNotify destroy);
// TRUE on the thread itself.
gboolean limn_engine_thread_is_current(LimnEngineThread *thread);
