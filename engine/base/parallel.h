// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Parallel loops with results that do not depend on the number of threads: the caller
// cuts the work into chunks by the size of the problem, every chunk writes its own
// part of the output (or a partial sum that the caller adds in chunk order).
// Workers belong to a process-wide pool; nested calls run in the calling thread.
// Flush-to-zero is set on every computing thread, OpenBLAS is held at one thread.

#include "engine/base/types.h"

typedef void (*LimnChunkFunc)(gsize chunk, gpointer user_data);

// Runs func for chunks 0 .. n-1 on up to limn_job_get_threads(job) threads, the
// calling one included; returns when all have run. When the job is cancelled the
// chunks not yet begun are left out (the caller checks the job afterwards).
void limn_parallel_for(LimnJob *job, gsize n_chunks, LimnChunkFunc func,
                       gpointer user_data);

// As above for chunks that can fail. All chunks run; FALSE with the error of the lowest
// one that failed, whatever the threads, or when the job was cancelled.
typedef gboolean (*LimnFallibleChunkFunc)(gsize chunk, gpointer user_data,
                                          GError **error);
gboolean limn_parallel_try(LimnJob *job, gsize n_chunks, LimnFallibleChunkFunc func,
                           gpointer user_data, GError **error);

// Sets flush-to-zero on the calling thread. Every thread that computes calls it once;
// limn_parallel_for does it for its workers and its caller.
void limn_parallel_prepare_thread(void);
// Lower the priority of pool workers and of the calling thread (the window's use).
void limn_parallel_set_background(gboolean background);

int limn_parallel_n_processors(void);
