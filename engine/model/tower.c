// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/tower.h"

#include <string.h>

#include "engine/math/gemm.h"

static gsize
n_rows(const LimnAttention *shape)
{
    return shape->begin[shape->n];
}

static gsize
n_asking(const LimnAttention *shape)
{
    return shape->pool != NULL ? shape->n : n_rows(shape);
}

static gsize
trace_floats(const LimnTower *tower, const LimnAttention *shape)
{
    gsize width = (gsize) tower->config.width;
    return 2 * n_rows(shape) * width +
           n_asking(shape) * (2 * width + (gsize) tower->config.mlp);
}

gsize
limn_block_trace_bytes(const LimnTower *tower, const LimnAttention *shape)
{
    return trace_floats(tower, shape) * sizeof(float);
}

LimnBlockTrace *
limn_block_trace_new(const LimnTower *tower, const LimnAttention *shape, GError **error)
{
    gsize rows = n_rows(shape), asking = n_asking(shape);
    gsize width = (gsize) tower->config.width;
    float *memory = limn_floats_new(trace_floats(tower, shape), 1, error);
    if (memory == NULL) {
        return NULL;
    }
    LimnBlockTrace *trace = g_new0(LimnBlockTrace, 1);
    trace->rows = rows;
    trace->asking = asking;
    trace->heads = shape->heads;
    trace->memory = memory;
    trace->k = memory;
    trace->v = trace->k + rows * width;
    trace->q = trace->v + rows * width;
    trace->u = trace->q + asking * width;
    trace->z = trace->u + asking * width;
    return trace;
}

void
limn_block_trace_free(LimnBlockTrace *trace)
{
    if (trace != NULL) {
        free(trace->memory);
        g_free(trace);
    }
}

gboolean
limn_block_scratch_init(LimnBlockScratch *scratch, const LimnTower *tower,
                        const LimnAttention *shape, GError **error)
{
    scratch->a = limn_floats_new(n_rows(shape), (gsize) tower->config.width, error);
    if (scratch->a == NULL) {
        return FALSE;
    }
    scratch->h = limn_floats_new(n_asking(shape), (gsize) tower->config.mlp, error);
    return scratch->h != NULL;
}

void
limn_block_scratch_clear(LimnBlockScratch *scratch)
{
    g_clear_pointer(&scratch->a, free);
    g_clear_pointer(&scratch->h, free);
}

static void
affine(LimnJob *job, const LimnAffine *map, gsize rows, gsize in, gsize out,
       const float *x, float *y)
{
    limn_kernel_linear(job, rows, in, out, x, map->weight, map->bias, y);
}

// The rows that ask, one after another.
static void
gather_asking(const LimnAttention *shape, gsize width, const float *from, float *to)
{
    for (gsize s = 0; s < shape->n; s++) {
        memcpy(to + s * width, from + shape->pool[s] * width, width * sizeof *to);
    }
}

// u = x + o Wo + bo at the rows that ask; o is in trace->q's place or in scratch->a.
static void
leave_attention(LimnJob *job, const LimnBlock *block, const LimnAttention *shape,
                const float *x, const float *o, LimnBlockTrace *trace)
{
    gsize width = shape->width;
    affine(job, &block->out, trace->asking, width, width, o, trace->u);
    if (shape->pool == NULL) {
        limn_kernel_add(job, trace->asking * width, x, trace->u);
        return;
    }
    for (gsize s = 0; s < shape->n; s++) {
        limn_kernel_add(NULL, width, x + shape->pool[s] * width, trace->u + s * width);
    }
}

void
limn_block_forward(LimnJob *job, const LimnTower *tower, int layer,
                   const LimnAttention *shape, const float *x, LimnBlockTrace *trace,
                   LimnBlockScratch *scratch, float *y)
{
    const LimnBlock *block = &tower->blocks[layer];
    gsize width = (gsize) tower->config.width, mlp = (gsize) tower->config.mlp;
    gsize rows = trace->rows, asking = trace->asking;
    float *a = scratch->a;
    trace->x = x;
    limn_kernel_layer_norm(job, rows, width, x, block->norm1.gain, block->norm1.offset,
                           tower->config.eps, a);
    affine(job, &block->k, rows, width, width, a, trace->k);
    affine(job, &block->v, rows, width, width, a, trace->v);
    if (shape->pool != NULL) {
        gather_asking(shape, width, a, trace->u);
        affine(job, &block->q, asking, width, width, trace->u, trace->q);
    } else {
        affine(job, &block->q, asking, width, width, a, trace->q);
    }
    limn_attention_forward(job, shape, trace->q, trace->k, trace->v, a);
    leave_attention(job, block, shape, x, a, trace);
    limn_kernel_layer_norm(job, asking, width, trace->u, block->norm2.gain,
                           block->norm2.offset, tower->config.eps, a);
    affine(job, &block->fc1, asking, width, mlp, a, trace->z);
    if (y == NULL) {
        return;
    }
    limn_kernel_activation(job, tower->config.activation, asking * mlp, trace->z,
                           scratch->h);
    affine(job, &block->fc2, asking, mlp, width, scratch->h, y);
    limn_kernel_add(job, asking * width, trace->u, y);
}

void
limn_block_back_mlp(LimnJob *job, const LimnTower *tower, int layer,
                    const LimnBlockTrace *trace, LimnBlockScratch *scratch,
                    const float *gy, float *gu, float *go)
{
    const LimnBlock *block = &tower->blocks[layer];
    gsize width = (gsize) tower->config.width, mlp = (gsize) tower->config.mlp;
    gsize n = trace->asking;
    float *h = scratch->h, *a = scratch->a;
    limn_kernel_linear_back(job, n, mlp, width, gy, block->fc2.weight, h);
    limn_kernel_activation_back(job, tower->config.activation, n * mlp, trace->z, h);
    limn_kernel_linear_back(job, n, width, mlp, h, block->fc1.weight, a);
    memmove(gu, gy, n * width * sizeof *gu);
    limn_kernel_layer_norm_back(job, n, width, trace->u, block->norm2.gain,
                                tower->config.eps, a, gu);
    limn_kernel_linear_back(job, n, width, width, gu, block->out.weight, go);
}

// a [rows, C] += at the rows that ask: from [asking, C].
static void
scatter_asking(LimnJob *job, const LimnAttention *shape, gsize width, const float *from,
               float *to)
{
    if (shape->pool == NULL) {
        limn_kernel_add(job, n_rows(shape) * width, from, to);
        return;
    }
    for (gsize s = 0; s < shape->n; s++) {
        limn_kernel_add(NULL, width, from + s * width, to + shape->pool[s] * width);
    }
}

gboolean
limn_block_back_attention(LimnJob *job, const LimnTower *tower, int layer,
                          const LimnAttention *shape, const LimnBlockTrace *trace,
                          LimnBlockScratch *scratch, const float *gu, float *go,
                          float *gx, GError **error)
{
    const LimnBlock *block = &tower->blocks[layer];
    gsize width = (gsize) tower->config.width, rows = trace->rows;
    g_autoptr(LimnFloats) gk = limn_floats_new(rows, width, error);
    g_autoptr(LimnFloats) gv = gk != NULL ? limn_floats_new(rows, width, error) : NULL;
    if (gv == NULL) {
        return FALSE;
    }
    limn_attention_backward(job, shape, trace->q, trace->k, trace->v, go, go, gk, gv);
    // Gradient at LN1(x), collected in scratch->a; gx serves as work space meanwhile.
    float *a = scratch->a;
    limn_kernel_linear_back(job, rows, width, width, gk, block->k.weight, a);
    limn_kernel_linear_back(job, rows, width, width, gv, block->v.weight, gx);
    limn_kernel_add(job, rows * width, gx, a);
    limn_kernel_linear_back(job, trace->asking, width, width, go, block->q.weight, gx);
    scatter_asking(job, shape, width, gx, a);
    memset(gx, 0, rows * width * sizeof *gx);
    scatter_asking(job, shape, width, gu, gx);
    limn_kernel_layer_norm_back(job, rows, width, trace->x, block->norm1.gain,
                                tower->config.eps, a, gx);
    return TRUE;
}

gboolean
limn_tower_project(LimnJob *job, const LimnTower *tower, gsize n, const float *y,
                   float *f, GError **error)
{
    gsize width = (gsize) tower->config.width, embedding = (gsize) tower->embedding;
    g_autoptr(LimnFloats) a = limn_floats_new(n, width, error);
    if (a == NULL) {
        return FALSE;
    }
    limn_kernel_layer_norm(job, n, width, y, tower->final.gain, tower->final.offset,
                           tower->config.eps, a);
    if (tower->projection_by_row) {
        limn_kernel_linear(job, n, width, embedding, a, tower->projection, NULL, f);
    } else {
        limn_kernel_linear_back(job, n, embedding, width, a, tower->projection, f);
    }
    return TRUE;
}

gboolean
limn_tower_project_back(LimnJob *job, const LimnTower *tower, const float *y,
                        const float *gf, float *gy, GError **error)
{
    gsize width = (gsize) tower->config.width, embedding = (gsize) tower->embedding;
    g_autoptr(LimnFloats) a = limn_floats_new(1, width, error);
    if (a == NULL) {
        return FALSE;
    }
    if (tower->projection_by_row) {
        limn_kernel_linear_back(job, 1, width, embedding, gf, tower->projection, a);
    } else {
        limn_kernel_linear(job, 1, embedding, width, gf, tower->projection, NULL, a);
    }
    memset(gy, 0, width * sizeof *gy);
    limn_kernel_layer_norm_back(job, 1, width, y, tower->final.gain, tower->config.eps, a,
                                gy);
    return TRUE;
}

gboolean
limn_tower_run(LimnJob *job, const LimnTower *tower, int n, const LimnAttention *shape,
               float *x, GError **error)
{
    if (n <= 0) {
        return TRUE;
    }
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, shape, error);
    if (trace == NULL || !limn_block_scratch_init(&scratch, tower, shape, error)) {
        return FALSE;
    }
    for (int layer = 0; layer < n; layer++) {
        if (!limn_job_check(job, error)) {
            return FALSE;
        }
        limn_block_forward(job, tower, layer, shape, x, trace, &scratch, x);
    }
    return TRUE;
}

static gboolean
run_last_block(LimnJob *job, const LimnTower *tower, const LimnAttention *shape,
               const float *x, float *f, GError **error)
{
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, shape, error);
    g_autoptr(LimnFloats) y =
        limn_floats_new(shape->n, (gsize) tower->config.width, error);
    if (trace == NULL || y == NULL ||
        !limn_block_scratch_init(&scratch, tower, shape, error) ||
        !limn_job_check(job, error)) {
        return FALSE;
    }
    limn_block_forward(job, tower, tower->config.layers - 1, shape, x, trace, &scratch,
                       y);
    return limn_tower_project(job, tower, shape->n, y, f, error) &&
           limn_job_check(job, error);
}

gboolean
limn_tower_encode(LimnJob *job, const LimnTower *tower, const LimnAttention *shape,
                  float *x, float *f, GError **error)
{
    g_return_val_if_fail(shape->pool != NULL, FALSE);
    LimnAttention all = *shape;
    all.pool = NULL;
    return limn_tower_run(job, tower, tower->config.layers - 1, &all, x, error) &&
           run_last_block(job, tower, shape, x, f, error);
}
