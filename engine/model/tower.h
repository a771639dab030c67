// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A tower of pre-norm transformer blocks (specification: Grad-ECLIP, section 3.2), block
// by block, forward and backward. With N rows (tokens), width C:
//
//     n = LN1(x), q k v = n W + b, o = attention(q, k, v)            [N, C]
//     u = x + o Wo + bo
//     z = LN2(u) W1 + b1, y = u + act(z) W2 + b2                     z: [N, mlp]
//
// Rows of several sequences may be processed together. With attention->pool set only one
// row of each sequence asks: q, o, u, z and y then have one row per sequence, while x, k
// and v keep all rows. That is all the last block needs for an embedding.

#include "engine/base/job.h"
#include "engine/nn/buffer.h"
#include "engine/nn/kernels-attention.h"
#include "engine/nn/kernels.h"

typedef struct {
    int width, layers, heads, mlp;
    LimnActivation activation;
    float eps;
} LimnTowerConfig;

typedef struct {
    const float *gain, *offset; // [C]
} LimnNorm;

// y = x weight^T + bias; weight [out,in], bias [out].
typedef struct {
    const float *weight, *bias;
} LimnAffine;

typedef struct {
    LimnNorm norm1, norm2;
    LimnAffine q, k, v, out; // [C,C]
    LimnAffine fc1, fc2;     // [mlp,C], [C,mlp]
} LimnBlock;

// Weights are borrowed from the model.
typedef struct {
    LimnTowerConfig config;
    LimnBlock *blocks; // [layers]
    LimnNorm final;    // after the last block
    const float *projection;
    gboolean projection_by_row; // [P,C] (Hugging Face) instead of [C,P]
    int embedding;              // P
} LimnTower;

// What one block computes on the way. Rows: x, k, v [rows, C]; q, u [asking, C];
// z [asking, mlp].
typedef struct {
    gsize rows, asking;
    gsize heads;    // used: 1 in mode `authors`
    const float *x; // the block's input, borrowed
    float *q, *k, *v, *u, *z;
    float *memory;
} LimnBlockTrace;

// Shared work space: a [rows, C], h [asking, mlp].
typedef struct {
    float *a, *h;
} LimnBlockScratch;

LimnBlockTrace *limn_block_trace_new(const LimnTower *tower, const LimnAttention *shape,
                                     GError **error);
void limn_block_trace_free(LimnBlockTrace *trace);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnBlockTrace, limn_block_trace_free)
gsize limn_block_trace_bytes(const LimnTower *tower, const LimnAttention *shape);

gboolean limn_block_scratch_init(LimnBlockScratch *scratch, const LimnTower *tower,
                                 const LimnAttention *shape, GError **error);
void limn_block_scratch_clear(LimnBlockScratch *scratch);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimnBlockScratch, limn_block_scratch_clear)

// x -> y (which may be x; or NULL when only the trace is wanted). trace->x is set to x.
void limn_block_forward(LimnJob *job, const LimnTower *tower, int layer,
                        const LimnAttention *shape, const float *x, LimnBlockTrace *trace,
                        LimnBlockScratch *scratch, float *y);

// Gradient gy [asking, C] at y -> gu at u and go at o, both [asking, C].
void limn_block_back_mlp(LimnJob *job, const LimnTower *tower, int layer,
                         const LimnBlockTrace *trace, LimnBlockScratch *scratch,
                         const float *gy, float *gu, float *go);
// From gu and go to the gradient gx [rows, C] at the block's input. go is overwritten.
gboolean limn_block_back_attention(LimnJob *job, const LimnTower *tower, int layer,
                                   const LimnAttention *shape,
                                   const LimnBlockTrace *trace, LimnBlockScratch *scratch,
                                   const float *gu, float *go, float *gx, GError **error);

// Final norm and projection: y [n, C] -> f [n, P].
gboolean limn_tower_project(LimnJob *job, const LimnTower *tower, gsize n, const float *y,
                            float *f, GError **error);
// Gradient gf [P] at the projection of one row y [C] -> gy [C].
gboolean limn_tower_project_back(LimnJob *job, const LimnTower *tower, const float *y,
                                 const float *gf, float *gy, GError **error);

// Blocks 0 .. n - 1 in place; x [rows, C].
gboolean limn_tower_run(LimnJob *job, const LimnTower *tower, int n,
                        const LimnAttention *shape, float *x, GError **error);
// x [rows, C] (overwritten) -> f [n, P], the embeddings of the sequences' pool rows.
gboolean limn_tower_encode(LimnJob *job, const LimnTower *tower,
                           const LimnAttention *shape, float *x, float *f,
                           GError **error);
