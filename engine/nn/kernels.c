// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/nn/kernels.h"

static int limit; // atomic; 0: none

static int
machine_level(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
        return 3;
    }
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
        return 2;
    }
#endif
    return 1;
}

int
limn_kernels_get_level(void)
{
    static gsize level;
    if (g_once_init_enter(&level)) {
        g_once_init_leave(&level, (gsize) machine_level());
    }
    int most = g_atomic_int_get(&limit);
    return most > 0 ? MIN((int) level, most) : (int) level;
}

void
limn_kernels_limit_level(int level)
{
    g_atomic_int_set(&limit, level);
}
