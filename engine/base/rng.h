// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Counter-based random numbers: Philox4x32-10 (Salmon et al., SC 2011). Key = 64-bit
// seed, counter = (block low, block high, stream low, stream high). Element i of a
// stream is word i mod 4 of block i div 4, so that any element can be drawn alone and
// nothing depends on threads, chunks or order. Streams are numbered by purpose:
// purpose << 40 | step << 8 | layer.

#include <glib.h>

typedef struct {
    guint64 seed;
    guint64 stream;
    guint64 position; // index of the next element for the sequential functions
} LimnRng;

void limn_philox4x32(const guint32 counter[4], const guint32 key[2], guint32 out[4]);

LimnRng limn_rng_make(guint64 seed, guint64 stream);
guint32 limn_rng_uint32_at(const LimnRng *rng, guint64 element);
// (x >> 8) * 2^-24, in [0, 1)
float limn_rng_uniform_at(const LimnRng *rng, guint64 element);
// Box-Muller on the words 2j and 2j+1 (element 2j the cosine, 2j+1 the sine).
float limn_rng_normal_at(const LimnRng *rng, guint64 element);
guint32 limn_rng_uint32(LimnRng *rng);
float limn_rng_uniform(LimnRng *rng);
float limn_rng_normal(LimnRng *rng);
float limn_rng_exponential(LimnRng *rng);
// lambda in [0, 1e9): by inversion up to 64 (one element), by rejection above.
guint32 limn_rng_poisson(LimnRng *rng, double lambda);
// Uniform integer in [0, n), n >= 1, without bias.
guint32 limn_rng_below(LimnRng *rng, guint32 n);
// Fisher-Yates permutation of 0..n-1 as specified for the golden data.
void limn_rng_permutation(LimnRng *rng, guint32 n, guint32 *out);
