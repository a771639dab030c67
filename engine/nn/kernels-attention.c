// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/nn/kernels-attention.h"

#include <math.h>
#include <string.h>

#include "engine/base/job.h"
#include "engine/base/parallel.h"
#include "engine/math/gemm.h"
#include "engine/nn/kernels.h"

// Query rows of a block, about; fewer when there are very many keys.
#define BLOCK_ROWS ((gsize) 128)
#define BLOCK_ELEMENTS ((gsize) 1 << 22)
// Partial sums of a push beyond which the heads of a block share one.
#define PARTIAL_ELEMENTS ((gsize) 1 << 20)
// Sequences with less work than this are one item for all heads.
#define SMALL_WORK ((gsize) 1 << 17)

// A piece of work: query rows [first, last) of a sequence for heads [head, head_end).
typedef struct {
    gsize sequence, head, head_end;
    gsize first, last; // of q and o, absolute
} Item;

typedef struct {
    LimnJob *job; // products of an only item use its threads
    const LimnAttention *shape;
    gsize dim;
    float scale;
    GArray *items;
    LimnAttentionKind kind;
    const float *q, *k, *v, *go, *r;
    float *o, *gq, *gk, *gv;
    float *partial; // [items, keys] of a push
} Work;

static gsize
n_keys(const Work *work, gsize sequence)
{
    return work->shape->begin[sequence + 1] - work->shape->begin[sequence];
}

static gsize
block_rows(gsize keys)
{
    return CLAMP(BLOCK_ELEMENTS / MAX(keys, 1), 1, BLOCK_ROWS);
}

// Cuts the query rows of a sequence into equal blocks for each head.
static void
add_blocks(Work *work, gsize sequence, gsize first, gsize last)
{
    const LimnAttention *shape = work->shape;
    gsize rows = last - first, keys = n_keys(work, sequence);
    if (rows * keys * shape->width <= SMALL_WORK && rows <= block_rows(keys)) {
        Item item = {sequence, 0, shape->heads, first, last};
        g_array_append_val(work->items, item);
        return;
    }
    gsize blocks = (rows + block_rows(keys) - 1) / block_rows(keys);
    for (gsize head = 0; head < shape->heads; head++) {
        for (gsize b = 0; b < blocks; b++) {
            Item item = {sequence, head, head + 1, first + rows * b / blocks,
                         first + rows * (b + 1) / blocks};
            g_array_append_val(work->items, item);
        }
    }
}

static void
begin_work(Work *work, const LimnAttention *shape)
{
    work->shape = shape;
    work->dim = shape->width / shape->heads;
    work->scale = (float) (1 / sqrt((double) work->dim));
    work->items = g_array_new(FALSE, FALSE, sizeof(Item));
}

static void
add_all_blocks(Work *work)
{
    const LimnAttention *shape = work->shape;
    for (gsize s = 0; s < shape->n; s++) {
        gsize first = shape->pool != NULL ? s : shape->begin[s];
        gsize last = shape->pool != NULL ? s + 1 : shape->begin[s + 1];
        if (n_keys(work, s) > 0) {
            add_blocks(work, s, first, last);
        }
    }
}

// Blocks of query rows of the only sequence, each for all heads: fewer partial sums.
static void
add_row_blocks(Work *work)
{
    gsize keys = n_keys(work, 0), rows = work->shape->pool != NULL ? 1 : keys;
    gsize blocks = (rows + block_rows(keys) - 1) / MAX(block_rows(keys), 1);
    for (gsize b = 0; b < blocks; b++) {
        Item item = {0, 0, work->shape->heads, rows * b / blocks,
                     rows * (b + 1) / blocks};
        g_array_append_val(work->items, item);
    }
}

// One item per sequence and head: for sums over query rows.
static void
add_heads(Work *work)
{
    const LimnAttention *shape = work->shape;
    for (gsize s = 0; s < shape->n; s++) {
        for (gsize head = 0; head < shape->heads && n_keys(work, s) > 0; head++) {
            Item item = {s, head, head + 1, shape->pool != NULL ? s : shape->begin[s],
                         shape->pool != NULL ? s + 1 : shape->begin[s + 1]};
            g_array_append_val(work->items, item);
        }
    }
}

static void
run(LimnJob *job, Work *work, LimnChunkFunc func)
{
    work->job = job;
    limn_parallel_for(job, work->items->len, func, work);
    g_array_unref(work->items);
}

// Number of keys that query row `row` (absolute in q) of a sequence sees.
static gsize
n_seen(const Work *work, gsize sequence, gsize row)
{
    const LimnAttention *shape = work->shape;
    if (!shape->causal) {
        return n_keys(work, sequence);
    }
    gsize at = shape->pool != NULL ? shape->pool[sequence] : row;
    return at - shape->begin[sequence] + 1;
}

// Probabilities [last - first, keys] of one head.
static void
probabilities(const Work *work, gsize sequence, gsize head, gsize first, gsize last,
              float *out)
{
    gsize width = work->shape->width, keys = n_keys(work, sequence);
    limn_gemm(work->job, FALSE, TRUE, last - first, keys, work->dim, work->scale,
              work->q + first * width + head * work->dim, width,
              work->k + work->shape->begin[sequence] * width + head * work->dim, width, 0,
              out, keys);
    for (gsize row = first; row < last; row++) {
        float *p = out + (row - first) * keys;
        gsize seen = n_seen(work, sequence, row);
        limn_kernel_softmax_row(p, seen);
        memset(p + seen, 0, (keys - seen) * sizeof *p);
    }
}

// Gradient at the probabilities: go v^T, [last - first, keys].
static void
probability_gradient(const Work *work, gsize sequence, gsize head, gsize first,
                     gsize last, float *out)
{
    gsize width = work->shape->width, keys = n_keys(work, sequence);
    limn_gemm(work->job, FALSE, TRUE, last - first, keys, work->dim, 1,
              work->go + first * width + head * work->dim, width,
              work->v + work->shape->begin[sequence] * width + head * work->dim, width, 0,
              out, keys);
}

static void
forward_item(gsize chunk, gpointer data)
{
    const Work *work = data;
    const Item *item = &g_array_index(work->items, Item, chunk);
    gsize width = work->shape->width, keys = n_keys(work, item->sequence);
    gsize base = work->shape->begin[item->sequence] * width;
    float *p = g_new(float, (item->last - item->first) * keys);
    for (gsize head = item->head; head < item->head_end; head++) {
        probabilities(work, item->sequence, head, item->first, item->last, p);
        limn_gemm(work->job, FALSE, FALSE, item->last - item->first, work->dim, keys, 1,
                  p, keys, work->v + base + head * work->dim, width, 0,
                  work->o + item->first * width + head * work->dim, width);
    }
    g_free(p);
}

void
limn_attention_forward(LimnJob *job, const LimnAttention *shape, const float *q,
                       const float *k, const float *v, float *o)
{
    Work work = {.q = q, .k = k, .v = v, .o = o};
    begin_work(&work, shape);
    add_all_blocks(&work);
    run(job, &work, forward_item);
}

// g = p (g - rowsum(g p)): from the gradient at the probabilities to that at the scores.
static void
softmax_back(const float *p, float *g, gsize rows, gsize keys)
{
    for (gsize row = 0; row < rows; row++) {
        const float *pr = p + row * keys;
        float *gr = g + row * keys;
        float mean = (float) limn_kernel_dot(pr, gr, keys);
        for (gsize j = 0; j < keys; j++) {
            gr[j] = pr[j] * (gr[j] - mean);
        }
    }
}

static void
backward_block(const Work *work, const Item *item, gsize first, gsize last, float *p,
               float *g, gboolean begins)
{
    gsize width = work->shape->width, keys = n_keys(work, item->sequence), d = work->dim;
    gsize rows = last - first, at = first * width + item->head * d;
    gsize base = work->shape->begin[item->sequence] * width + item->head * d;
    float beta = begins ? 0 : 1;
    probabilities(work, item->sequence, item->head, first, last, p);
    probability_gradient(work, item->sequence, item->head, first, last, g);
    limn_gemm(work->job, TRUE, FALSE, keys, d, rows, 1, p, keys, work->go + at, width,
              beta, work->gv + base, width);
    softmax_back(p, g, rows, keys);
    limn_gemm(work->job, TRUE, FALSE, keys, d, rows, work->scale, g, keys, work->q + at,
              width, beta, work->gk + base, width);
    limn_gemm(work->job, FALSE, FALSE, rows, d, keys, work->scale, g, keys,
              work->k + base, width, 0, work->gq + at, width);
}

static void
backward_item(gsize chunk, gpointer data)
{
    const Work *work = data;
    const Item *item = &g_array_index(work->items, Item, chunk);
    gsize keys = n_keys(work, item->sequence), rows = item->last - item->first;
    gsize blocks = (rows + block_rows(keys) - 1) / block_rows(keys);
    gsize most = rows / blocks + 1;
    float *p = g_new(float, most *keys), *g = g_new(float, most *keys);
    for (gsize b = 0; b < blocks && !limn_job_is_cancelled(work->job); b++) {
        backward_block(work, item, item->first + rows * b / blocks,
                       item->first + rows * (b + 1) / blocks, p, g, b == 0);
    }
    g_free(p);
    g_free(g);
}

void
limn_attention_backward(LimnJob *job, const LimnAttention *shape, const float *q,
                        const float *k, const float *v, const float *go, float *gq,
                        float *gk, float *gv)
{
    Work work = {.q = q, .k = k, .v = v, .go = go, .gq = gq, .gk = gk, .gv = gv};
    begin_work(&work, shape);
    add_heads(&work);
    run(job, &work, backward_item);
}

static void
probabilities_item(gsize chunk, gpointer data)
{
    const Work *work = data;
    const Item *item = &g_array_index(work->items, Item, chunk);
    gsize keys = n_keys(work, 0);
    gsize queries = work->shape->pool != NULL ? 1 : keys;
    for (gsize head = item->head; head < item->head_end; head++) {
        probabilities(work, 0, head, item->first, item->last,
                      work->o + (head * queries + item->first) * keys);
    }
}

void
limn_attention_probabilities(LimnJob *job, const LimnAttention *shape, const float *q,
                             const float *k, float *out)
{
    g_return_if_fail(shape->n == 1);
    Work work = {.q = q, .k = k, .o = out};
    begin_work(&work, shape);
    add_all_blocks(&work);
    run(job, &work, probabilities_item);
}

static void
push_row(LimnAttentionKind kind, float weight, const float *p, const float *g, gsize keys,
         float *out)
{
    for (gsize j = 0; j < keys; j++) {
        float value = kind == LIMN_ATTENTION_MEAN ? p[j] : p[j] * g[j];
        if (kind == LIMN_ATTENTION_RELEVANT && value < 0) {
            value = 0;
        }
        out[j] += weight * value;
    }
}

static void
push_item(gsize chunk, gpointer data)
{
    const Work *work = data;
    const Item *item = &g_array_index(work->items, Item, chunk);
    gsize keys = n_keys(work, 0);
    float *out = work->partial + chunk * keys;
    gboolean needed = FALSE;
    for (gsize row = item->first; row < item->last; row++) {
        needed = needed || work->r[row] != 0;
    }
    if (!needed) {
        return;
    }
    gsize n = (item->last - item->first) * keys;
    float *p = g_new(float, n), *g = work->go != NULL ? g_new(float, n) : NULL;
    for (gsize head = item->head; head < item->head_end; head++) {
        probabilities(work, 0, head, item->first, item->last, p);
        if (g != NULL) {
            probability_gradient(work, 0, head, item->first, item->last, g);
        }
        for (gsize row = item->first; row < item->last; row++) {
            gsize at = (row - item->first) * keys;
            push_row(work->kind, work->r[row], p + at, g != NULL ? g + at : NULL, keys,
                     out);
        }
    }
    g_free(p);
    g_free(g);
}

void
limn_attention_push(LimnJob *job, const LimnAttention *shape, LimnAttentionKind kind,
                    const float *q, const float *k, const float *v, const float *go,
                    const float *r, float *out)
{
    g_return_if_fail(shape->n == 1);
    Work work = {.q = q, .k = k, .v = v, .r = r, .kind = kind};
    work.go = kind == LIMN_ATTENTION_MEAN ? NULL : go;
    begin_work(&work, shape);
    gsize keys = n_keys(&work, 0);
    gsize rows = shape->pool != NULL ? 1 : keys;
    if (rows * keys * shape->heads > PARTIAL_ELEMENTS * BLOCK_ROWS) {
        add_row_blocks(&work);
    } else {
        add_all_blocks(&work);
    }
    gsize n_items = work.items->len;
    work.partial = g_new0(float, MAX(n_items * keys, 1));
    run(job, &work, push_item);
    double share = kind == LIMN_ATTENTION_GRADIENT ? 1 : 1 / (double) shape->heads;
    for (gsize j = 0; j < keys; j++) {
        double sum = 0;
        for (gsize i = 0; i < n_items; i++) {
            sum += (double) work.partial[i * keys + j];
        }
        out[j] = (float) (sum * share);
    }
    g_free(work.partial);
}
