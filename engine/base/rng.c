// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/rng.h"

#include <math.h>

void
limn_philox4x32(const guint32 counter[4], const guint32 key[2], guint32 out[4])
{
    guint32 c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    guint32 k0 = key[0], k1 = key[1];
    for (int round = 0; round < 10; round++) {
        guint64 p0 = (guint64) 0xd2511f53u * c0;
        guint64 p1 = (guint64) 0xcd9e8d57u * c2;
        guint32 n0 = (guint32) (p1 >> 32) ^ c1 ^ k0;
        guint32 n2 = (guint32) (p0 >> 32) ^ c3 ^ k1;
        c1 = (guint32) p1;
        c3 = (guint32) p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

LimnRng
limn_rng_make(guint64 seed, guint64 stream)
{
    return (LimnRng){.seed = seed, .stream = stream, .position = 0};
}

static void
draw_block(const LimnRng *rng, guint64 block, guint32 out[4])
{
    const guint32 counter[4] = {(guint32) block, (guint32) (block >> 32),
                                (guint32) rng->stream, (guint32) (rng->stream >> 32)};
    const guint32 key[2] = {(guint32) rng->seed, (guint32) (rng->seed >> 32)};
    limn_philox4x32(counter, key, out);
}

guint32
limn_rng_uint32_at(const LimnRng *rng, guint64 element)
{
    guint32 words[4];
    draw_block(rng, element / 4, words);
    return words[element % 4];
}

static float
unit_float(guint32 word)
{
    return (float) (word >> 8) * 0x1p-24f;
}

float
limn_rng_uniform_at(const LimnRng *rng, guint64 element)
{
    return unit_float(limn_rng_uint32_at(rng, element));
}

// Box-Muller on the words 2j and 2j+1: the even element is the cosine, the odd the sine.
float
limn_rng_normal_at(const LimnRng *rng, guint64 element)
{
    guint32 words[4];
    draw_block(rng, element / 4, words);
    guint pair = (guint) (element % 4) & 2;
    double u1 = ((double) (words[pair] >> 8) + 1) * 0x1p-24;
    double u2 = (double) (words[pair + 1] >> 8) * 0x1p-24;
    double radius = sqrt(-2 * log(u1));
    double angle = 2 * G_PI * u2;
    return (float) (radius * (element % 2 == 0 ? cos(angle) : sin(angle)));
}

guint32
limn_rng_uint32(LimnRng *rng)
{
    return limn_rng_uint32_at(rng, rng->position++);
}

float
limn_rng_uniform(LimnRng *rng)
{
    return limn_rng_uniform_at(rng, rng->position++);
}

float
limn_rng_normal(LimnRng *rng)
{
    return limn_rng_normal_at(rng, rng->position++);
}

float
limn_rng_exponential(LimnRng *rng)
{
    return (float) -log1p(-(double) limn_rng_uniform(rng));
}

// The smallest k with u < CDF(k), the terms by their running product.
static guint32
poisson_inversion(LimnRng *rng, double lambda)
{
    double u = limn_rng_uniform(rng);
    double term = exp(-lambda);
    double sum = term;
    guint32 k = 0;
    while (u >= sum && term > 0) {
        k++;
        term *= lambda / k;
        sum += term;
    }
    return k;
}

// Transformed rejection with squeeze (W. Hörmann, The transformed rejection method for
// generating Poisson random variables, 1993, algorithm PTRS). Two elements per attempt.
static guint32
poisson_rejection(LimnRng *rng, double lambda)
{
    double b = 0.931 + 2.53 * sqrt(lambda);
    double a = -0.059 + 0.02483 * b;
    double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    double v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        double u = (double) limn_rng_uniform(rng) - 0.5;
        double v = 1 - (double) limn_rng_uniform(rng); // in (0, 1]
        double us = 0.5 - fabs(u);
        double k = floor((2 * a / us + b) * u + lambda + 0.43);
        if (us >= 0.07 && v <= v_r) {
            return (guint32) k;
        }
        if (k < 0 || k > G_MAXUINT32 || us <= 0 || (us < 0.013 && v > us)) {
            continue;
        }
        if (log(v * inverse_alpha / (a / (us * us) + b)) <=
            k * log(lambda) - lambda - lgamma(k + 1)) {
            return (guint32) k;
        }
    }
}

guint32
limn_rng_poisson(LimnRng *rng, double lambda)
{
    g_return_val_if_fail(lambda >= 0 && lambda < 1e9, 0);
    return lambda <= 64 ? poisson_inversion(rng, lambda) : poisson_rejection(rng, lambda);
}

// Multiplication with rejection (D. Lemire, Fast random integer generation in an
// interval, 2019): for n that divides 2^32 and nearly always else, one element.
guint32
limn_rng_below(LimnRng *rng, guint32 n)
{
    g_return_val_if_fail(n >= 1, 0);
    guint32 threshold = (guint32) -n % n;
    guint64 product;
    do {
        product = (guint64) limn_rng_uint32(rng) * n;
    } while ((guint32) product < threshold);
    return (guint32) (product >> 32);
}

void
limn_rng_permutation(LimnRng *rng, guint32 n, guint32 *out)
{
    for (guint32 i = 0; i < n; i++) {
        out[i] = i;
    }
    // One element per place, without rejection, so that place i needs element i only.
    for (guint32 i = 0; i + 1 < n; i++) {
        guint32 j = i + (guint32) (((guint64) limn_rng_uint32(rng) * (n - i)) >> 32);
        guint32 swapped = out[i];
        out[i] = out[j];
        out[j] = swapped;
    }
}
