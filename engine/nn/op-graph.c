// SPDX-License-Identifier: GPL-3.0-or-later

// Segment operations and the sparse product of graph networks. Segment ids need not be
// sorted; rows of an empty segment are 0.

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <math.h>
#include <string.h>

typedef struct {
    LimnTensor *a, *idx;
    const gint32 *segment;
    gint64 n, width, segments;
} Segments;

static gboolean
plan_segments(LimnTape *tape, const char *op, LimnTensor *a, LimnTensor *idx,
              gint64 segments, Segments *s)
{
    if (LIMN_UNUSABLE(tape, op, a, idx))
        return FALSE;
    if (a->rank < 1 || !(idx->flags & LIMN_TENSOR_INT32) ||
        limn_tensor_length(idx) != a->dim[0] || segments < 0) {
        limn_tape_fail_shapes(tape, op, a, idx, "one integer segment a row");
        return FALSE;
    }
    s->a = limn_tape_contiguous(tape, a);
    s->idx = limn_tape_contiguous(tape, idx);
    if (LIMN_UNUSABLE(tape, op, s->a, s->idx))
        return FALSE;
    s->segment = limn_tensor_i32(s->idx);
    s->n = a->dim[0];
    s->width = s->n ? limn_tensor_length(a) / s->n : 0;
    s->segments = segments;
    for (gint64 i = 0; i < s->n; i++)
        if (s->segment[i] < 0 || s->segment[i] >= segments) {
            limn_tape_fail(tape, op,
                           "segment %d of row %" G_GINT64_FORMAT
                           " is outside 0..%" G_GINT64_FORMAT,
                           s->segment[i], i, segments - 1);
            return FALSE;
        }
    return TRUE;
}

static LimnTensor *
segment_rows(LimnTape *tape, const char *op, const Segments *s)
{
    gint64 dim[4];
    memcpy(dim, s->a->dim, sizeof dim);
    dim[0] = s->segments;
    return limn_tape_input(tape, s->a->rank, dim, NULL);
}

// saved[0]: factor per segment
static void
segment_sum_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    const gint32 *segment = limn_tensor_i32(node->in[1]);
    const LimnReal *factor = node->saved[0];
    gint64 width = node->i[0];
    for (gint64 i = 0; gx && i < limn_tensor_length(node->in[1]); i++)
        for (gint64 j = 0; j < width; j++)
            gx[i * width + j] +=
                factor[segment[i]] * node->out->grad[segment[i] * width + j];
}

static LimnTensor *
segment_sum(LimnTape *tape, const char *op, LimnTensor *a, LimnTensor *idx,
            gint64 segments, gboolean mean)
{
    Segments s;
    if (!plan_segments(tape, op, a, idx, segments, &s))
        return limn_tape_poisoned(tape);
    LimnTensor *out = segment_rows(tape, op, &s);
    LimnReal *factor = limn_tape_alloc_reals(tape, op, segments);
    double *sum = limn_tape_alloc(tape, op, (gsize) (segments * s.width) * sizeof *sum);
    if ((out->flags & LIMN_TENSOR_POISONED) || !factor || !sum)
        return limn_tape_poisoned(tape);
    memset(factor, 0, (gsize) segments * sizeof *factor);
    memset(sum, 0, (gsize) (segments * s.width) * sizeof *sum);
    for (gint64 i = 0; i < s.n; i++) {
        factor[s.segment[i]] += 1;
        for (gint64 j = 0; j < s.width; j++)
            sum[s.segment[i] * s.width + j] += s.a->data[i * s.width + j];
    }
    for (gint64 k = 0; k < segments; k++) {
        factor[k] = mean && factor[k] > 0 ? 1 / factor[k] : 1;
        for (gint64 j = 0; j < s.width; j++)
            out->data[k * s.width + j] = (LimnReal) (sum[k * s.width + j] * factor[k]);
    }
    LimnNode *node = LIMN_RECORD(tape, op, segment_sum_backward, out, s.a, s.idx);
    if (node) {
        node->saved[0] = factor;
        node->i[0] = s.width;
    }
    return out;
}

LimnTensor *
limn_nn_segment_sum(LimnTape *tape, LimnTensor *a, LimnTensor *idx, gint64 segments)
{
    return segment_sum(tape, "segment_sum", a, idx, segments, FALSE);
}

LimnTensor *
limn_nn_segment_mean(LimnTape *tape, LimnTensor *a, LimnTensor *idx, gint64 segments)
{
    return segment_sum(tape, "segment_mean", a, idx, segments, TRUE);
}

// saved[0]: row that holds the maximum (first one), -1 for an empty segment
static void
segment_max_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    const gint64 *which = node->saved[0];
    gint64 width = node->i[0];
    for (gint64 i = 0; gx && i < limn_tensor_length(node->out); i++)
        if (which[i] >= 0)
            gx[which[i] * width + i % width] += node->out->grad[i];
}

LimnTensor *
limn_nn_segment_max(LimnTape *tape, LimnTensor *a, LimnTensor *idx, gint64 segments)
{
    Segments s;
    if (!plan_segments(tape, "segment_max", a, idx, segments, &s))
        return limn_tape_poisoned(tape);
    LimnTensor *out = segment_rows(tape, "segment_max", &s);
    gint64 *which = limn_tape_alloc(tape, "segment_max",
                                    (gsize) (segments * s.width) * sizeof *which);
    if ((out->flags & LIMN_TENSOR_POISONED) || !which)
        return limn_tape_poisoned(tape);
    for (gint64 i = 0; i < segments * s.width; i++)
        which[i] = -1;
    for (gint64 i = 0; i < s.n; i++)
        for (gint64 j = 0; j < s.width; j++) {
            gint64 at = s.segment[i] * s.width + j;
            LimnReal x = s.a->data[i * s.width + j];
            if (which[at] < 0 || x > out->data[at]) {
                which[at] = i;
                out->data[at] = x;
            }
        }
    LimnNode *node =
        LIMN_RECORD(tape, "segment_max", segment_max_backward, out, s.a, s.idx);
    if (node) {
        node->saved[0] = which;
        node->i[0] = s.width;
    }
    return out;
}

// gx = y (g - sum over the segment of g y)
static void
segment_softmax_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    const gint32 *segment = limn_tensor_i32(node->in[1]);
    const LimnReal *y = node->out->data, *g = node->out->grad;
    gint64 width = node->i[0], segments = node->i[1];
    double *dot = limn_tape_alloc(tape, "segment_softmax",
                                  (gsize) (segments * width) * sizeof *dot);
    if (!gx || !dot)
        return;
    memset(dot, 0, (gsize) (segments * width) * sizeof *dot);
    gint64 n = limn_tensor_length(node->in[1]);
    for (gint64 i = 0; i < n * width; i++)
        dot[segment[i / width] * width + i % width] += (double) g[i] * y[i];
    for (gint64 i = 0; i < n * width; i++)
        gx[i] += y[i] * (g[i] - (LimnReal) dot[segment[i / width] * width + i % width]);
}

LimnTensor *
limn_nn_segment_softmax(LimnTape *tape, LimnTensor *a, LimnTensor *idx, gint64 segments)
{
    const char *op = "segment_softmax";
    Segments s;
    if (!plan_segments(tape, op, a, idx, segments, &s))
        return limn_tape_poisoned(tape);
    LimnTensor *out = limn_tape_new_tensor(tape, op, s.a->rank, s.a->dim);
    gsize cells = (gsize) (segments * s.width);
    double *top = limn_tape_alloc(tape, op, cells * sizeof *top);
    double *sum = limn_tape_alloc(tape, op, cells * sizeof *sum);
    if ((out->flags & LIMN_TENSOR_POISONED) || !top || !sum)
        return limn_tape_poisoned(tape);
    for (gsize i = 0; i < cells; i++) {
        top[i] = -INFINITY;
        sum[i] = 0;
    }
#define CELL(i) (s.segment[(i) / s.width] * s.width + (i) % s.width)
    for (gint64 i = 0; i < s.n * s.width; i++)
        top[CELL(i)] = MAX(top[CELL(i)], s.a->data[i]);
    for (gint64 i = 0; i < s.n * s.width; i++)
        sum[CELL(i)] += exp(s.a->data[i] - top[CELL(i)]);
    for (gint64 i = 0; i < s.n * s.width; i++)
        out->data[i] = (LimnReal) (exp(s.a->data[i] - top[CELL(i)]) / sum[CELL(i)]);
#undef CELL
    LimnNode *node = LIMN_RECORD(tape, op, segment_softmax_backward, out, s.a, s.idx);
    if (node) {
        node->i[0] = s.width;
        node->i[1] = segments;
    }
    return out;
}

// ---- sparse product y = A x; gx = A^T g, g_val[e] = <g[row e], x[col e]>

static void
spmm_backward(LimnTape *tape, LimnNode *node)
{
    LimnTensor *val = node->in[0], *x = node->in[1];
    const gint32 *rowptr = limn_tensor_i32(node->in[2]),
                 *col = limn_tensor_i32(node->in[3]);
    LimnReal *gval = limn_tape_grad(tape, val), *gx = limn_tape_grad(tape, x);
    gint64 width = x->dim[1];
    for (gint64 r = 0; r < node->i[0]; r++) {
        const LimnReal *g = node->out->grad + r * width;
        for (gint32 e = rowptr[r]; e < rowptr[r + 1]; e++) {
            const LimnReal *row = x->data + col[e] * width;
            double dot = 0;
            for (gint64 j = 0; j < width; j++) {
                dot += (double) g[j] * row[j];
                if (gx)
                    gx[col[e] * width + j] += val->data[e] * g[j];
            }
            if (gval)
                gval[e] += (LimnReal) dot;
        }
    }
}

static gboolean
check_csr(LimnTape *tape, const LimnTensor *val, const LimnTensor *x,
          const LimnTensor *rowptr, const LimnTensor *col, gint64 rows)
{
    gint64 edges = limn_tensor_length(val);
    gboolean fits =
        rows >= 0 && x->rank == 2 && (rowptr->flags & col->flags & LIMN_TENSOR_INT32) &&
        limn_tensor_length(rowptr) == rows + 1 && limn_tensor_length(col) == edges;
    const gint32 *start = fits ? limn_tensor_i32(rowptr) : NULL;
    const gint32 *column = fits ? limn_tensor_i32(col) : NULL;
    fits = fits && start[0] == 0 && start[rows] == edges;
    for (gint64 r = 0; fits && r < rows; r++)
        fits = start[r] <= start[r + 1];
    for (gint64 e = 0; fits && e < edges; e++)
        fits = column[e] >= 0 && column[e] < x->dim[0];
    if (!fits)
        limn_tape_fail_shapes(tape, "spmm_csr", val, x, "values, row starts and columns");
    return fits;
}

LimnTensor *
limn_nn_spmm_csr(LimnTape *tape, LimnTensor *val, LimnTensor *x, LimnTensor *rowptr,
                 LimnTensor *col, gint64 rows)
{
    if (LIMN_UNUSABLE(tape, "spmm_csr", val, x, rowptr, col))
        return limn_tape_poisoned(tape);
    val = limn_tape_contiguous(tape, val);
    x = limn_tape_contiguous(tape, x);
    rowptr = limn_tape_contiguous(tape, rowptr);
    col = limn_tape_contiguous(tape, col);
    if (LIMN_UNUSABLE(tape, "spmm_csr", val, x, rowptr, col) ||
        !check_csr(tape, val, x, rowptr, col, rows))
        return limn_tape_poisoned(tape);
    LimnTensor *out =
        limn_tape_new_tensor(tape, "spmm_csr", 2, (gint64[]){rows, x->dim[1]});
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    const gint32 *start = limn_tensor_i32(rowptr), *column = limn_tensor_i32(col);
    gint64 width = x->dim[1];
    for (gint64 r = 0; r < rows; r++)
        for (gint64 j = 0; j < width; j++) {
            double sum = 0;
            for (gint32 e = start[r]; e < start[r + 1]; e++)
                sum += (double) val->data[e] * x->data[column[e] * width + j];
            out->data[r * width + j] = (LimnReal) sum;
        }
    LimnNode *node =
        LIMN_RECORD(tape, "spmm_csr", spmm_backward, out, val, x, rowptr, col);
    if (node)
        node->i[0] = rows;
    return out;
}
