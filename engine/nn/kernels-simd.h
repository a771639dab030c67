// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the kernels share: vectors of 16 floats in the compiler's own vector extension
// (the same source serves every processor), an exponential function on them, and the
// choice among versions of a kernel compiled for different instruction sets. Only
// kernels-*.c include this; they are compiled with -O3 and contraction of a*b+c.
//
// A kernel is a function `NAME_any` that is always inlined; LIMN_SIMD_VERSIONS makes
// `NAME_level1..3` of it and LIMN_SIMD_CALL calls the best one. Which one is chosen
// depends on the machine alone, so that results repeat on it.

#include <string.h>

#include "engine/nn/kernels.h"

#define LIMN_SIMD_WIDTH 16

typedef float LimnVec __attribute__((vector_size(64)));
typedef gint32 LimnVecInt __attribute__((vector_size(64)));
typedef float LimnVecLoose __attribute__((vector_size(64), aligned(4), may_alias));
typedef float LimnVec8 __attribute__((vector_size(32)));
typedef float LimnVec8Loose __attribute__((vector_size(32), aligned(4), may_alias));
typedef float LimnVec4 __attribute__((vector_size(16)));
typedef float LimnVec4Loose __attribute__((vector_size(16), aligned(4), may_alias));
typedef double LimnVecDouble __attribute__((vector_size(64))); // 8

#define LIMN_SIMD_INLINE static inline __attribute__((always_inline))

#if defined(__x86_64__)
#define LIMN_SIMD_VERSIONS(name, params, args)                                           \
    __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma"))) static void   \
        name##_level3 params                                                             \
    {                                                                                    \
        name##_any args;                                                                 \
    }                                                                                    \
    __attribute__((target("avx2,fma"))) static void name##_level2 params                 \
    {                                                                                    \
        name##_any args;                                                                 \
    }                                                                                    \
    static void name##_level1 params                                                     \
    {                                                                                    \
        name##_any args;                                                                 \
    }
#define LIMN_SIMD_CALL(name, args)                                                       \
    do {                                                                                 \
        int simd_level = limn_kernels_get_level();                                       \
        if (simd_level >= 3) {                                                           \
            name##_level3 args;                                                          \
        } else if (simd_level == 2) {                                                    \
            name##_level2 args;                                                          \
        } else {                                                                         \
            name##_level1 args;                                                          \
        }                                                                                \
    } while (0)
#else
#define LIMN_SIMD_VERSIONS(name, params, args)                                           \
    static void name##_level1 params                                                     \
    {                                                                                    \
        name##_any args;                                                                 \
    }
#define LIMN_SIMD_CALL(name, args) name##_level1 args
#endif

LIMN_SIMD_INLINE LimnVec
limn_vec_load(const float *p)
{
    return *(const LimnVecLoose *) p;
}

LIMN_SIMD_INLINE void
limn_vec_store(float *p, LimnVec v)
{
    *(LimnVecLoose *) p = v;
}

// The first n < 16 elements, `fill` behind them.
LIMN_SIMD_INLINE LimnVec
limn_vec_load_part(const float *p, gsize n, float fill)
{
    float buffer[LIMN_SIMD_WIDTH];
    for (int i = 0; i < LIMN_SIMD_WIDTH; i++) {
        buffer[i] = fill;
    }
    memcpy(buffer, p, n * sizeof *p);
    return limn_vec_load(buffer);
}

LIMN_SIMD_INLINE void
limn_vec_store_part(float *p, gsize n, LimnVec v)
{
    float buffer[LIMN_SIMD_WIDTH];
    limn_vec_store(buffer, v);
    memcpy(p, buffer, n * sizeof *p);
}

LIMN_SIMD_INLINE LimnVec
limn_vec_fill(float value)
{
    return (LimnVec){0} + value;
}

// yes where the mask is set, else no.
LIMN_SIMD_INLINE LimnVec
limn_vec_select(LimnVecInt mask, LimnVec yes, LimnVec no)
{
    return (LimnVec) ((mask & (LimnVecInt) yes) | (~mask & (LimnVecInt) no));
}

LIMN_SIMD_INLINE LimnVecDouble
limn_vec8_load_double(const float *p)
{
    return __builtin_convertvector((LimnVec8) * (const LimnVec8Loose *) p, LimnVecDouble);
}

LIMN_SIMD_INLINE double
limn_vec_sum_double(LimnVecDouble v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

// Sum over the elements in double, in an order that depends on n alone.
LIMN_SIMD_INLINE double
limn_vec_total(const float *x, gsize n)
{
    LimnVecDouble a = {0}, b = {0};
    gsize i = 0;
    for (; i + 16 <= n; i += 16) {
        a += limn_vec8_load_double(x + i);
        b += limn_vec8_load_double(x + i + 8);
    }
    double sum = limn_vec_sum_double(a + b);
    for (; i < n; i++) {
        sum += (double) x[i];
    }
    return sum;
}

// e^x to about one unit in the last place; 0 below -87.3, e^88.3 above 88.3; NaN stays.
// x = n ln 2 + r; 2^n is put together from its bits, e^r = 1 + r + r^2 Q(r) with Q of
// degree 4 interpolated at Chebyshev nodes of |r| <= ln 2 / 2 (relative error 1e-8).
LIMN_SIMD_INLINE LimnVec
limn_vec_exp(LimnVec x)
{
    const float shift = 12582912.0f; // 1.5 * 2^23: adding it rounds to an integer
    LimnVecInt tiny = x<-87.3f, huge = x> 88.3f;
    LimnVec y = limn_vec_select(huge, limn_vec_fill(88.3f), x);
    LimnVec t = y * 1.44269504089f + shift;
    LimnVec n = t - shift;
    LimnVec r = y - n * 0.693145751953125f;
    r = r - n * 1.42860677e-6f;
    LimnVec q = r * 1.3926250831e-3f + 8.3632328837e-3f;
    q = q * r + 4.1666554213e-2f;
    q = q * r + 1.6666576666e-1f;
    q = q * r + 0.5f;
    q = r * r * q + r;
    LimnVecInt bits = (LimnVecInt) t - 0x4b400000 + 127;
    LimnVec scale = (LimnVec) (bits << 23);
    return limn_vec_select(tiny, (LimnVec){0}, q * scale + scale);
}
