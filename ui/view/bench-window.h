// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// limn --bench window: a picture of 4096 x 4096 pixels with a map of 1024 x 1024 cells in
// a window of 1280 x 800, panned and zoomed at every tick of the frame clock, alone and
// while a job multiplies matrices on a low-priority thread as the engine's does. Reported
// are the time from the start of the process to the first frame, the time until the
// picture is complete, and per frame the interval and the processor time (of all threads
// but the job's): median, quartiles, 99th percentile.

#include <gtk/gtk.h>

// Prints the table or one JSON object to stdout; returns the exit status. Runs the main
// loop.
int limn_bench_window(GtkApplication *application, gboolean json);
