// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// limn --bench [NAME] [--json]: the measurements that need a window.

// argv[0] is "--bench". Returns the exit status.
int limn_bench_window_main(int argc, char **argv);
