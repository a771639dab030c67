// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Multi-head attention over sequences laid one after another: per head with columns
// h d .. (h+1) d - 1 of q, k and v [rows, width], A = softmax(q k^T / sqrt(d)), o = A v.
// Probabilities are computed in blocks of query rows and never kept: memory is
// block x keys per thread. Cost: 4 rows keys width operations forward.

#include "engine/base/types.h"

typedef struct {
    gsize n;            // sequences
    const gsize *begin; // [n + 1] first row of each, and the number of rows
    gsize heads, width;
    gboolean causal; // row i sees rows up to i of its sequence
    // NULL: every row asks, q and o are [rows, width]. Else one row of each sequence
    // asks: its number among all rows; q and o are [n, width], row s for sequence s.
    const gsize *pool;
} LimnAttention;

// o may be the same as q.
void limn_attention_forward(LimnJob *job, const LimnAttention *shape, const float *q,
                            const float *k, const float *v, float *o);

// Gradients at q (like q), k and v ([rows, width], overwritten) for the gradient go at o.
// gq may be the same as go.
void limn_attention_backward(LimnJob *job, const LimnAttention *shape, const float *q,
                             const float *k, const float *v, const float *go, float *gq,
                             float *gk, float *gv);

// Probabilities [heads, queries, rows] of the only sequence (tests, small models).
void limn_attention_probabilities(LimnJob *job, const LimnAttention *shape,
                                  const float *q, const float *k, float *out);

typedef enum {
    LIMN_ATTENTION_MEAN,     // A
    LIMN_ATTENTION_RELEVANT, // ReLU(A dA), dA the gradient at A
    LIMN_ATTENTION_GRADIENT, // A dA, summed over heads instead of averaged
} LimnAttentionKind;

// out[rows] = r[queries] times the matrix [queries, rows] of the only sequence, averaged
// over heads. v and the gradient go at o are needed unless kind is MEAN. Rows whose r is
// 0 cost nothing.
void limn_attention_push(LimnJob *job, const LimnAttention *shape, LimnAttentionKind kind,
                         const float *q, const float *k, const float *v, const float *go,
                         const float *r, float *out);
