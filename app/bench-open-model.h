// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <glib.h>

// The child's part of the benchmark "open-model": TRUE when this process was started by
// it (an environment variable says so); the work is done then and *status is set.
gboolean limn_bench_open_model_child(int *status);
