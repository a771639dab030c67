// SPDX-License-Identifier: GPL-3.0-or-later

// Movement operations. Permute, slice, broadcast and reshape of contiguous tensors are
// views; their backward adds through the stride map into the gradient of the base.

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <string.h>

// ---- views

// Elements of the view fall on the same one of the base: their sums are carried in
// double.
static void
add_broadcast(LimnTape *tape, const LimnNode *node, LimnReal *target)
{
    const LimnTensor *out = node->out;
    const LimnReal *g = out->grad;
    gint64 length = limn_tensor_length(node->in[0]);
    LimnArenaMark mark = limn_tape_mark(tape);
    double *sums = limn_tape_alloc(tape, node->op, (gsize) length * sizeof *sums);
    if (!sums)
        return;
    memset(sums, 0, (gsize) length * sizeof *sums);
    for (gint64 a = 0; a < out->dim[0]; a++)
        for (gint64 b = 0; b < out->dim[1]; b++)
            for (gint64 c = 0; c < out->dim[2]; c++)
                for (gint64 d = 0; d < out->dim[3]; d++)
                    sums[a * node->i[0] + b * node->i[1] + c * node->i[2] +
                         d * node->i[3]] += *g++;
    for (gint64 i = 0; i < length; i++)
        target[i] += (LimnReal) sums[i];
    limn_tape_release(tape, mark);
}

// Adds the view's gradient into the base's: node->i[0..3] are the strides of the view in
// the (contiguous) gradient of the base, node->d[0] the offset.
static void
view_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    if (!target)
        return;
    if (limn_tensor_length(node->out) > limn_tensor_length(node->in[0])) {
        add_broadcast(tape, node, target);
        return;
    }
    const LimnTensor *out = node->out;
    const LimnReal *g = out->grad;
    target += (gint64) node->d[0];
    for (gint64 a = 0; a < out->dim[0]; a++)
        for (gint64 b = 0; b < out->dim[1]; b++)
            for (gint64 c = 0; c < out->dim[2]; c++) {
                LimnReal *row = target + a * node->i[0] + b * node->i[1] + c * node->i[2];
                gint64 stride = node->i[3];
                for (gint64 d = 0; d < out->dim[3]; d++)
                    row[d * stride] += *g++;
            }
}

static LimnTensor *
record_view(LimnTape *tape, const char *op, LimnTensor *a, LimnTensor *view,
            const gint64 *grad_stride, gint64 grad_offset)
{
    LimnNode *node = LIMN_RECORD(tape, op, view_backward, view, a);
    if (node) {
        for (int i = 0; i < 4; i++)
            node->i[i] = i < view->rank ? grad_stride[i] : 0;
        node->d[0] = (double) grad_offset;
    }
    return view;
}

LimnTensor *
limn_nn_permute(LimnTape *tape, LimnTensor *a, const int *perm)
{
    if (LIMN_UNUSABLE(tape, "permute", a))
        return limn_tape_poisoned(tape);
    gint64 dim[4], stride[4], own[4], grad[4];
    guint seen = 0;
    limn_shape_contiguous_strides(a->rank, a->dim, own);
    for (int i = 0; i < a->rank; i++) {
        int from = limn_shape_dim(a, perm[i]);
        if (from < 0 || (seen & (1u << from)))
            return limn_tape_fail(tape, "permute",
                                  "dimension %d is out of range or twice", perm[i]);
        seen |= 1u << from;
        dim[i] = a->dim[from];
        stride[i] = a->stride[from];
        grad[i] = own[from];
    }
    LimnTensor *view = limn_tape_new_view(tape, a, a->rank, dim, stride, 0);
    return record_view(tape, "permute", a, view, grad, 0);
}

LimnTensor *
limn_nn_slice(LimnTape *tape, LimnTensor *a, const gint64 *start, const gint64 *stop,
              const gint64 *step)
{
    if (LIMN_UNUSABLE(tape, "slice", a))
        return limn_tape_poisoned(tape);
    gint64 dim[4], stride[4], own[4], grad[4], offset = 0, grad_offset = 0;
    limn_shape_contiguous_strides(a->rank, a->dim, own);
    for (int i = 0; i < a->rank; i++) {
        gint64 by = step ? step[i] : 1;
        if (by < 1 || start[i] < 0 || stop[i] < start[i] || stop[i] > a->dim[i])
            return limn_tape_fail(
                tape, "slice",
                "%" G_GINT64_FORMAT "..%" G_GINT64_FORMAT " by %" G_GINT64_FORMAT
                " does not lie in dimension %d of size %" G_GINT64_FORMAT,
                start[i], stop[i], by, i, a->dim[i]);
        dim[i] = (stop[i] - start[i] + by - 1) / by;
        stride[i] = a->stride[i] * by;
        grad[i] = own[i] * by;
        offset += start[i] * a->stride[i];
        grad_offset += start[i] * own[i];
    }
    LimnTensor *view = limn_tape_new_view(tape, a, a->rank, dim, stride, offset);
    return record_view(tape, "slice", a, view, grad, grad_offset);
}

LimnTensor *
limn_nn_broadcast_to(LimnTape *tape, LimnTensor *a, int rank, const gint64 *dim)
{
    if (LIMN_UNUSABLE(tape, "broadcast_to", a))
        return limn_tape_poisoned(tape);
    gboolean fits = rank >= a->rank && rank <= LIMN_TENSOR_MAX_RANK;
    for (int i = 1; fits && i <= a->rank; i++)
        fits = a->dim[a->rank - i] == 1 || a->dim[a->rank - i] == dim[rank - i];
    if (!fits) {
        LimnTensor wanted = {.rank = CLAMP(rank, 0, LIMN_TENSOR_MAX_RANK)};
        memcpy(wanted.dim, dim, (gsize) wanted.rank * sizeof *dim);
        return limn_tape_fail_shapes(tape, "broadcast_to", a, &wanted, "broadcasting");
    }
    gint64 stride[4], own[4], grad[4];
    limn_shape_broadcast_strides(a, a->stride, rank, stride);
    limn_shape_contiguous_strides(a->rank, a->dim, own);
    limn_shape_broadcast_strides(a, own, rank, grad);
    LimnTensor *view = limn_tape_new_view(tape, a, rank, dim, stride, 0);
    return record_view(tape, "broadcast_to", a, view, grad, 0);
}

LimnTensor *
limn_nn_reshape(LimnTape *tape, LimnTensor *a, int rank, const gint64 *dim)
{
    if (LIMN_UNUSABLE(tape, "reshape", a))
        return limn_tape_poisoned(tape);
    gint64 length = 1;
    gboolean good = rank >= 0 && rank <= LIMN_TENSOR_MAX_RANK;
    for (int i = 0; good && i < rank; i++)
        good = dim[i] >= 0 && !__builtin_mul_overflow(length, dim[i], &length);
    if (!good || length != limn_tensor_length(a)) {
        g_autofree char *shape = limn_tensor_describe(a);
        return limn_tape_fail(tape, "reshape",
                              "%s has not the %" G_GINT64_FORMAT
                              " elements of rank %d asked for",
                              shape, length, rank);
    }
    a = limn_tape_contiguous(tape, a);
    if (a->flags & LIMN_TENSOR_POISONED)
        return a;
    gint64 stride[4];
    LimnTensor shape = {.rank = rank, .dim = {1, 1, 1, 1}};
    memcpy(shape.dim, dim, (gsize) rank * sizeof *dim);
    limn_shape_contiguous_strides(rank, shape.dim, stride);
    LimnTensor *view = limn_tape_new_view(tape, a, rank, shape.dim, stride, 0);
    return record_view(tape, "reshape", a, view, stride, 0);
}

static void
copy_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    for (gint64 i = 0; target && i < limn_tensor_length(node->out); i++)
        target[i] += node->out->grad[i];
}

static void
copy_ints(const LimnTensor *t, gint32 *out)
{
    gint64 stride[4];
    for (int i = 0; i < 4; i++)
        stride[i] = i < t->rank ? t->stride[i] : 0;
    const gint32 *in = limn_tensor_i32(t);
    for (gint64 a = 0; a < t->dim[0]; a++)
        for (gint64 b = 0; b < t->dim[1]; b++)
            for (gint64 c = 0; c < t->dim[2]; c++)
                for (gint64 d = 0; d < t->dim[3]; d++)
                    *out++ =
                        in[a * stride[0] + b * stride[1] + c * stride[2] + d * stride[3]];
}

LimnTensor *
limn_tape_contiguous(LimnTape *tape, LimnTensor *a)
{
    if ((a->flags & LIMN_TENSOR_POISONED) || limn_tensor_is_contiguous(a))
        return a;
    if (a->flags & LIMN_TENSOR_INT32) {
        LimnTensor *out = limn_tape_new_int(tape, "contiguous", a->rank, a->dim);
        if (!(out->flags & LIMN_TENSOR_POISONED))
            copy_ints(a, limn_tensor_i32(out));
        return out;
    }
    LimnTensor *out = limn_tape_new_tensor(tape, "contiguous", a->rank, a->dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    limn_tensor_copy_values(a, out->data);
    LIMN_RECORD(tape, "contiguous", copy_backward, out, a);
    return out;
}

LimnTensor *
limn_nn_contiguous(LimnTape *tape, LimnTensor *a)
{
    if (LIMN_UNUSABLE(tape, "contiguous", a))
        return limn_tape_poisoned(tape);
    return limn_tape_contiguous(tape, a);
}

// ---- concat, stack, pad

static void
concat_backward(LimnTape *tape, LimnNode *node)
{
    gint64 outer, size, inner, begin = 0;
    limn_tensor_split(node->out, (int) node->i[0], &outer, &size, &inner);
    for (int p = 0; p < node->n_in; p++) {
        gint64 own = node->in[p]->dim[node->i[0]];
        LimnReal *target = limn_tape_grad(tape, node->in[p]);
        for (gint64 o = 0; target && o < outer; o++) {
            const LimnReal *g = node->out->grad + (o * size + begin) * inner;
            for (gint64 i = 0; i < own * inner; i++)
                target[o * own * inner + i] += g[i];
        }
        begin += own;
    }
}

LimnTensor *
limn_nn_concat(LimnTape *tape, LimnTensor *const *parts, int n, int dim)
{
    if (n < 1)
        return limn_tape_fail(tape, "concat", "nothing to join");
    if (limn_tape_unusable(tape, "concat", parts, n))
        return limn_tape_poisoned(tape);
    int at = limn_shape_dim(parts[0], dim);
    if (at < 0)
        return limn_tape_fail(tape, "concat", "dimension %d is out of range", dim);
    LimnTensor **in = limn_tape_alloc(tape, "concat", (gsize) n * sizeof *in);
    if (!in)
        return limn_tape_poisoned(tape);
    gint64 shape[4], total = 0;
    memcpy(shape, parts[0]->dim, sizeof shape);
    for (int p = 0; p < n; p++) {
        for (int i = 0; i < parts[0]->rank; i++)
            if (parts[p]->rank != parts[0]->rank ||
                (i != at && parts[p]->dim[i] != parts[0]->dim[i]))
                return limn_tape_fail_shapes(tape, "concat", parts[0], parts[p],
                                             "all sizes but the joined one must agree");
        total += parts[p]->dim[at];
        in[p] = limn_tape_contiguous(tape, parts[p]);
    }
    shape[at] = total;
    LimnTensor *out = limn_tape_new_tensor(tape, "concat", parts[0]->rank, shape);
    if ((out->flags & LIMN_TENSOR_POISONED) || limn_tape_unusable(tape, "concat", in, n))
        return limn_tape_poisoned(tape);
    gint64 outer, size, inner, begin = 0;
    limn_tensor_split(out, at, &outer, &size, &inner);
    for (int p = 0; p < n; p++) {
        gint64 run = in[p]->dim[at] * inner;
        for (gint64 o = 0; o < outer; o++)
            memcpy(out->data + (o * size + begin) * inner, in[p]->data + o * run,
                   (gsize) run * sizeof(LimnReal));
        begin += in[p]->dim[at];
    }
    LimnNode *node = limn_tape_record(tape, "concat", concat_backward, out, in, n);
    if (node)
        node->i[0] = at;
    return out;
}

LimnTensor *
limn_nn_stack(LimnTape *tape, LimnTensor *const *parts, int n, int dim)
{
    if (n < 1)
        return limn_tape_fail(tape, "stack", "nothing to join");
    if (limn_tape_unusable(tape, "stack", parts, n))
        return limn_tape_poisoned(tape);
    int rank = parts[0]->rank + 1;
    if (dim < 0)
        dim += rank;
    if (dim < 0 || dim >= rank || rank > LIMN_TENSOR_MAX_RANK)
        return limn_tape_fail(tape, "stack", "dimension %d is out of range", dim);
    LimnTensor **in = limn_tape_alloc(tape, "stack", (gsize) n * sizeof *in);
    if (!in)
        return limn_tape_poisoned(tape);
    for (int p = 0; p < n; p++) {
        gint64 shape[5];
        for (int i = 0; i < rank; i++)
            shape[i] = i < dim ? parts[p]->dim[i] : i == dim ? 1 : parts[p]->dim[i - 1];
        in[p] = limn_nn_reshape(tape, parts[p], rank, shape);
    }
    return limn_nn_concat(tape, in, n, dim);
}

static void
pad_rows(const LimnTensor *small, const LimnTensor *large, const gint64 *before,
         const LimnReal *from, LimnReal *to, gboolean add_back)
{
    gint64 stride[4];
    limn_shape_contiguous_strides(large->rank, large->dim, stride);
    gint64 at = 0;
    for (gint64 a = 0; a < small->dim[0]; a++)
        for (gint64 b = 0; b < small->dim[1]; b++)
            for (gint64 c = 0; c < small->dim[2]; c++)
                for (gint64 d = 0; d < small->dim[3]; d++, at++) {
                    gint64 index[4] = {a, b, c, d}, offset = 0;
                    for (int i = 0; i < large->rank; i++)
                        offset += (index[i] + before[i]) * stride[i];
                    if (add_back)
                        to[at] += from[offset];
                    else
                        to[offset] = from[at];
                }
}

static void
pad_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    if (target)
        pad_rows(node->in[0], node->out, node->i, node->out->grad, target, TRUE);
}

LimnTensor *
limn_nn_pad(LimnTape *tape, LimnTensor *a, const gint64 *before, const gint64 *after,
            double value)
{
    if (LIMN_UNUSABLE(tape, "pad", a))
        return limn_tape_poisoned(tape);
    a = limn_tape_contiguous(tape, a);
    gint64 dim[4] = {1, 1, 1, 1};
    for (int i = 0; i < a->rank; i++) {
        if (before[i] < 0 || after[i] < 0)
            return limn_tape_fail(tape, "pad", "negative padding in dimension %d", i);
        dim[i] = a->dim[i] + before[i] + after[i];
    }
    LimnTensor *out = limn_tape_new_tensor(tape, "pad", a->rank, dim);
    if ((out->flags | a->flags) & LIMN_TENSOR_POISONED)
        return limn_tape_poisoned(tape);
    for (gint64 i = 0; i < limn_tensor_length(out); i++)
        out->data[i] = (LimnReal) value;
    pad_rows(a, out, before, a->data, out->data, FALSE);
    LimnNode *node = LIMN_RECORD(tape, "pad", pad_backward, out, a);
    for (int i = 0; node && i < a->rank; i++)
        node->i[i] = before[i];
    return out;
}

// ---- indexing

static LimnTensor *
check_indices(LimnTape *tape, const char *op, LimnTensor *idx, gint64 limit)
{
    if (!(idx->flags & LIMN_TENSOR_INT32))
        return limn_tape_fail(tape, op, "indices must be integer");
    idx = limn_tape_contiguous(tape, idx);
    if (idx->flags & LIMN_TENSOR_POISONED)
        return idx;
    const gint32 *index = limn_tensor_i32(idx);
    for (gint64 i = 0; i < limn_tensor_length(idx); i++)
        if (index[i] < 0 || index[i] >= limit)
            return limn_tape_fail(tape, op,
                                  "index %d at %" G_GINT64_FORMAT
                                  " is outside 0..%" G_GINT64_FORMAT,
                                  index[i], i, limit - 1);
    return idx;
}

static void
gather_rows_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    const gint32 *index = limn_tensor_i32(node->in[1]);
    gint64 width = node->in[0]->dim[1];
    for (gint64 i = 0; target && i < limn_tensor_length(node->in[1]); i++)
        for (gint64 j = 0; j < width; j++)
            target[index[i] * width + j] += node->out->grad[i * width + j];
}

LimnTensor *
limn_nn_gather_rows(LimnTape *tape, LimnTensor *w, LimnTensor *idx)
{
    if (LIMN_UNUSABLE(tape, "gather_rows", w, idx))
        return limn_tape_poisoned(tape);
    if (w->rank != 2 || idx->rank >= LIMN_TENSOR_MAX_RANK)
        return limn_tape_fail_shapes(tape, "gather_rows", w, idx, "the table has rank 2");
    w = limn_tape_contiguous(tape, w);
    idx = check_indices(tape, "gather_rows", idx, w->dim[0]);
    gint64 dim[4], width = w->dim[1];
    memcpy(dim, idx->dim, sizeof dim);
    dim[idx->rank] = width;
    LimnTensor *out = limn_tape_new_tensor(tape, "gather_rows", idx->rank + 1, dim);
    if (LIMN_UNUSABLE(tape, "gather_rows", w, idx, out))
        return limn_tape_poisoned(tape);
    const gint32 *index = limn_tensor_i32(idx);
    for (gint64 i = 0; i < limn_tensor_length(idx); i++)
        memcpy(out->data + i * width, w->data + index[i] * width,
               (gsize) width * sizeof(LimnReal));
    LIMN_RECORD(tape, "gather_rows", gather_rows_backward, out, w, idx);
    return out;
}

// Visits every element of `idx`: where it lies in itself and in `a` (same shape but dim).
#define FOR_GATHER(a, idx, axis, BODY)                                                   \
    do {                                                                                 \
        gint64 outer, size, inner, n = (idx)->dim[axis];                                 \
        limn_tensor_split(a, axis, &outer, &size, &inner);                               \
        for (gint64 o = 0; o < outer; o++)                                               \
            for (gint64 j = 0; j < n; j++)                                               \
                for (gint64 i = 0; i < inner; i++) {                                     \
                    gint64 at = (o * n + j) * inner + i;                                 \
                    gint64 from = (o * size + limn_tensor_i32(idx)[at]) * inner + i;     \
                    BODY;                                                                \
                }                                                                        \
    } while (0)

static void
gather_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    if (target)
        FOR_GATHER(node->in[0], node->in[1], (int) node->i[0],
                   target[from] += node->out->grad[at]);
}

LimnTensor *
limn_nn_gather(LimnTape *tape, LimnTensor *a, LimnTensor *idx, int dim)
{
    if (LIMN_UNUSABLE(tape, "gather", a, idx))
        return limn_tape_poisoned(tape);
    int along = limn_shape_dim(a, dim);
    gboolean fits = along >= 0 && a->rank == idx->rank;
    for (int i = 0; fits && i < a->rank; i++)
        fits = i == along || a->dim[i] == idx->dim[i];
    if (!fits)
        return limn_tape_fail_shapes(tape, "gather", a, idx,
                                     "all sizes but the one gathered");
    a = limn_tape_contiguous(tape, a);
    idx = check_indices(tape, "gather", idx, a->dim[along]);
    LimnTensor *out = limn_tape_new_tensor(tape, "gather", idx->rank, idx->dim);
    if (LIMN_UNUSABLE(tape, "gather", a, idx, out))
        return limn_tape_poisoned(tape);
    FOR_GATHER(a, idx, along, out->data[at] = a->data[from]);
    LimnNode *node = LIMN_RECORD(tape, "gather", gather_backward, out, a, idx);
    if (node)
        node->i[0] = along;
    return out;
}

LimnTensor *
limn_nn_one_hot(LimnTape *tape, LimnTensor *idx, gint64 classes)
{
    if (LIMN_UNUSABLE(tape, "one_hot", idx))
        return limn_tape_poisoned(tape);
    if (idx->rank >= LIMN_TENSOR_MAX_RANK)
        return limn_tape_fail(tape, "one_hot", "indices of rank %d", idx->rank);
    idx = check_indices(tape, "one_hot", idx, classes);
    gint64 dim[4];
    memcpy(dim, idx->dim, sizeof dim);
    dim[idx->rank] = classes;
    LimnTensor *out = limn_tape_input(tape, idx->rank + 1, dim, NULL);
    if (LIMN_UNUSABLE(tape, "one_hot", idx, out))
        return limn_tape_poisoned(tape);
    for (gint64 i = 0; i < limn_tensor_length(idx); i++)
        out->data[i * classes + limn_tensor_i32(idx)[i]] = 1;
    return out;
}
