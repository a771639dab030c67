// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>

#include "engine/base/parallel.h"
#include "engine/nn/kernels-simd.h"

// Elements per chunk: a few tens of microseconds of work.
#define CHUNK ((gsize) 1 << 14)

typedef struct {
    LimnActivation kind;
    gsize n;
    const float *x;
    float *y;
} Map;

// The upper tail of the normal distribution, Phi(-sqrt(2) t) = erfc(t) / 2 for 0 <= t, as
// exp(-t R(t)) / 2. R = -ln(erfc t) / t is smooth; a polynomial of degree 11 through its
// values at Chebyshev nodes of [0, 5] gives erfc to 1.2e-7 relative, 3e-9 absolute.
// Beyond 5 the tail is below 1e-12 and held there.
LIMN_SIMD_INLINE LimnVec
half_erfc(LimnVec t)
{
    t = limn_vec_select(t > 5.0f, limn_vec_fill(5.0f), t);
    LimnVec r = t * 8.19026792e-9f - 2.749017940e-7f;
    r = r * t + 4.138120931e-6f;
    r = r * t - 3.682366963e-5f;
    r = r * t + 2.1361100454e-4f;
    r = r * t - 8.2334473387e-4f;
    r = r * t + 1.88932358228e-3f;
    r = r * t - 3.1118704709e-4f;
    r = r * t - 1.90966249328e-2f;
    r = r * t + 1.02767380943e-1f;
    r = r * t + 6.36620144320e-1f;
    r = r * t + 1.12837916124f;
    return 0.5f * limn_vec_exp(-(r * t));
}

// Phi(x)
LIMN_SIMD_INLINE LimnVec
normal_cdf(LimnVec x)
{
    LimnVecInt negative = x < 0.0f;
    LimnVec t = 0.70710678118f * limn_vec_select(negative, -x, x);
    LimnVec tail = half_erfc(t);
    return limn_vec_select(negative, tail, 1.0f - tail);
}

LIMN_SIMD_INLINE LimnVec
logistic(LimnVec x)
{
    return 1.0f / (1.0f + limn_vec_exp(-x));
}

LIMN_SIMD_INLINE LimnVec
activate(LimnActivation kind, LimnVec x)
{
    return kind == LIMN_ACTIVATION_GELU ? x * normal_cdf(x) : x * logistic(1.702f * x);
}

LIMN_SIMD_INLINE LimnVec
derive(LimnActivation kind, LimnVec x)
{
    if (kind == LIMN_ACTIVATION_GELU) {
        LimnVec density = 0.39894228040f * limn_vec_exp(-0.5f * x * x);
        return normal_cdf(x) + x * density;
    }
    LimnVec s = logistic(1.702f * x);
    return s + 1.702f * x * s * (1.0f - s);
}

LIMN_SIMD_INLINE void
activation_any(LimnActivation kind, gsize n, const float *x, float *y)
{
    gsize i = 0;
    for (; i + LIMN_SIMD_WIDTH <= n; i += LIMN_SIMD_WIDTH) {
        limn_vec_store(y + i, activate(kind, limn_vec_load(x + i)));
    }
    if (i < n) {
        limn_vec_store_part(y + i, n - i,
                            activate(kind, limn_vec_load_part(x + i, n - i, 0)));
    }
}

LIMN_SIMD_INLINE void
activation_back_any(LimnActivation kind, gsize n, const float *x, float *g)
{
    gsize i = 0;
    for (; i + LIMN_SIMD_WIDTH <= n; i += LIMN_SIMD_WIDTH) {
        limn_vec_store(g + i, limn_vec_load(g + i) * derive(kind, limn_vec_load(x + i)));
    }
    if (i < n) {
        LimnVec d = derive(kind, limn_vec_load_part(x + i, n - i, 0));
        limn_vec_store_part(g + i, n - i, d * limn_vec_load_part(g + i, n - i, 0));
    }
}

LIMN_SIMD_INLINE void
quick_any(gsize n, const float *x, float *y)
{
    activation_any(LIMN_ACTIVATION_QUICK_GELU, n, x, y);
}

LIMN_SIMD_INLINE void
exact_any(gsize n, const float *x, float *y)
{
    activation_any(LIMN_ACTIVATION_GELU, n, x, y);
}

LIMN_SIMD_INLINE void
quick_back_any(gsize n, const float *x, float *g)
{
    activation_back_any(LIMN_ACTIVATION_QUICK_GELU, n, x, g);
}

LIMN_SIMD_INLINE void
exact_back_any(gsize n, const float *x, float *g)
{
    activation_back_any(LIMN_ACTIVATION_GELU, n, x, g);
}

LIMN_SIMD_INLINE void
softmax_any(float *row, gsize n)
{
    float top = row[0];
    gsize i = 0;
    if (n >= LIMN_SIMD_WIDTH) {
        LimnVec tops = limn_vec_load(row);
        for (; i + LIMN_SIMD_WIDTH <= n; i += LIMN_SIMD_WIDTH) {
            LimnVec v = limn_vec_load(row + i);
            tops = limn_vec_select(v > tops, v, tops);
        }
        for (int j = 0; j < LIMN_SIMD_WIDTH; j++) {
            top = tops[j] > top ? tops[j] : top;
        }
    }
    for (; i < n; i++) {
        top = row[i] > top ? row[i] : top;
    }
    for (i = 0; i + LIMN_SIMD_WIDTH <= n; i += LIMN_SIMD_WIDTH) {
        limn_vec_store(row + i, limn_vec_exp(limn_vec_load(row + i) - top));
    }
    if (i < n) {
        LimnVec v = limn_vec_exp(limn_vec_load_part(row + i, n - i, top) - top);
        limn_vec_store_part(row + i, n - i, v);
    }
    float scale = (float) (1 / limn_vec_total(row, n));
    for (i = 0; i < n; i++) {
        row[i] *= scale;
    }
}

LIMN_SIMD_INLINE void
dot_any(const float *a, const float *b, gsize n, double *out)
{
    LimnVecDouble s = {0}, t = {0};
    gsize i = 0;
    for (; i + 16 <= n; i += 16) {
        s += limn_vec8_load_double(a + i) * limn_vec8_load_double(b + i);
        t += limn_vec8_load_double(a + i + 8) * limn_vec8_load_double(b + i + 8);
    }
    double sum = limn_vec_sum_double(s + t);
    for (; i < n; i++) {
        sum += (double) a[i] * (double) b[i];
    }
    *out = sum;
}

LIMN_SIMD_INLINE void
finite_any(const float *x, gsize n, gboolean *finite)
{
    const gint32 exponent = 0x7f800000;
    LimnVecInt bad = {0};
    gsize i = 0;
    for (; i + LIMN_SIMD_WIDTH <= n; i += LIMN_SIMD_WIDTH) {
        bad |= ((LimnVecInt) limn_vec_load(x + i) & exponent) == exponent;
    }
    if (i < n) {
        LimnVecInt rest = (LimnVecInt) limn_vec_load_part(x + i, n - i, 0);
        bad |= (rest & exponent) == exponent;
    }
    gint32 any = 0;
    for (int j = 0; j < LIMN_SIMD_WIDTH; j++) {
        any |= bad[j];
    }
    *finite = any == 0;
}

LIMN_SIMD_VERSIONS(finite, (const float *x, gsize n, gboolean *out), (x, n, out))
LIMN_SIMD_VERSIONS(quick, (gsize n, const float *x, float *y), (n, x, y))
LIMN_SIMD_VERSIONS(exact, (gsize n, const float *x, float *y), (n, x, y))
LIMN_SIMD_VERSIONS(quick_back, (gsize n, const float *x, float *g), (n, x, g))
LIMN_SIMD_VERSIONS(exact_back, (gsize n, const float *x, float *g), (n, x, g))
LIMN_SIMD_VERSIONS(softmax, (float *row, gsize n), (row, n))
LIMN_SIMD_VERSIONS(dot, (const float *a, const float *b, gsize n, double *out),
                   (a, b, n, out))

static void
activation_chunk(gsize chunk, gpointer data)
{
    const Map *map = data;
    gsize begin = chunk * CHUNK, n = MIN(CHUNK, map->n - begin);
    if (map->kind == LIMN_ACTIVATION_GELU) {
        LIMN_SIMD_CALL(exact, (n, map->x + begin, map->y + begin));
    } else {
        LIMN_SIMD_CALL(quick, (n, map->x + begin, map->y + begin));
    }
}

static void
activation_back_chunk(gsize chunk, gpointer data)
{
    const Map *map = data;
    gsize begin = chunk * CHUNK, n = MIN(CHUNK, map->n - begin);
    if (map->kind == LIMN_ACTIVATION_GELU) {
        LIMN_SIMD_CALL(exact_back, (n, map->x + begin, map->y + begin));
    } else {
        LIMN_SIMD_CALL(quick_back, (n, map->x + begin, map->y + begin));
    }
}

static void
add_chunk(gsize chunk, gpointer data)
{
    const Map *map = data;
    gsize begin = chunk * CHUNK, end = MIN(begin + CHUNK, map->n);
    for (gsize i = begin; i < end; i++) {
        map->y[i] += map->x[i];
    }
}

static void
run(LimnJob *job, LimnChunkFunc func, Map map)
{
    limn_parallel_for(job, (map.n + CHUNK - 1) / CHUNK, func, &map);
}

void
limn_kernel_activation(LimnJob *job, LimnActivation kind, gsize n, const float *x,
                       float *y)
{
    run(job, activation_chunk, (Map){kind, n, x, y});
}

void
limn_kernel_activation_back(LimnJob *job, LimnActivation kind, gsize n, const float *x,
                            float *g)
{
    run(job, activation_back_chunk, (Map){kind, n, x, g});
}

void
limn_kernel_add(LimnJob *job, gsize n, const float *b, float *a)
{
    run(job, add_chunk, (Map){.n = n, .x = b, .y = a});
}

void
limn_kernel_softmax_row(float *row, gsize n)
{
    if (n > 0) {
        LIMN_SIMD_CALL(softmax, (row, n));
    }
}

gboolean
limn_kernel_is_finite(const float *x, gsize n)
{
    gboolean finite;
    LIMN_SIMD_CALL(finite, (x, n, &finite));
    return finite;
}

double
limn_kernel_dot(const float *a, const float *b, gsize n)
{
    double sum;
    LIMN_SIMD_CALL(dot, (a, b, n, &sum));
    return sum;
}
