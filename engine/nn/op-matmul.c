// SPDX-License-Identifier: GPL-3.0-or-later

// Matrix products. op(A) [m,k] times op(B) [k,n]; up to two leading batch dimensions that
// broadcast. gA = G op(B)^T, gB = op(A)^T G with the transposes applied.

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

// The last two dimensions of an operand as BLAS sees them.
typedef struct {
    const LimnReal *data;
    gint64 ld;
    gboolean flipped; // memory holds the transpose of the logical matrix
    gint64 batch[2];  // strides of the two batch dimensions (0: broadcast)
} Matrix;

typedef struct {
    gint64 m, n, k;
    gint64 batch[2];
    gboolean trans_a, trans_b;
} Product;

static gboolean
blas_layout(const LimnTensor *t, gint64 *ld, gboolean *flipped)
{
    gint64 rows = t->dim[t->rank - 2], cols = t->dim[t->rank - 1];
    gint64 row_step = t->stride[t->rank - 2], col_step = t->stride[t->rank - 1];
    if (col_step == 1 && (row_step >= cols || rows == 1)) {
        *ld = MAX(row_step, cols);
        *flipped = FALSE;
        return TRUE;
    }
    if (row_step == 1 && (col_step >= rows || cols == 1)) {
        *ld = MAX(col_step, rows);
        *flipped = TRUE;
        return TRUE;
    }
    return FALSE;
}

// Batch strides of `t` under the batch shape of the product.
static void
batch_strides(const LimnTensor *t, const gint64 *stride, const Product *p, gint64 out[2])
{
    for (int i = 0; i < 2; i++) {
        int at = t->rank - 4 + i; // batch dimension i is dimension rank - 4 + i
        out[i] = at < 0 || t->dim[at] == 1 ? 0 : stride[at];
    }
    (void) p;
}

static LimnTensor *
as_matrix(LimnTape *tape, LimnTensor *t, const Product *p, Matrix *matrix)
{
    if (!blas_layout(t, &matrix->ld, &matrix->flipped)) {
        t = limn_tape_contiguous(tape, t);
        if (t->flags & LIMN_TENSOR_POISONED)
            return t;
        matrix->ld = t->dim[t->rank - 1];
        matrix->flipped = FALSE;
    }
    matrix->data = t->data;
    batch_strides(t, t->stride, p, matrix->batch);
    return t;
}

// c += or = op(a) op(b) for every batch entry
typedef struct {
    LimnTape *tape;
    Matrix a, b;
    gboolean trans_a, trans_b;
    gint64 m, n, k, inner_batch;
    LimnReal *c;
    gint64 c_ld, c_batch[2];
    LimnReal beta;
} Batched;

static void
run_batch(gint64 begin, gint64 end, gpointer data)
{
    const Batched *w = data;
    for (gint64 i = begin; i < end; i++) {
        gint64 x = i / w->inner_batch, y = i % w->inner_batch;
        limn_real_gemm(w->tape, w->trans_a != w->a.flipped, w->trans_b != w->b.flipped,
                       w->m, w->n, w->k, 1,
                       w->a.data + x * w->a.batch[0] + y * w->a.batch[1], w->a.ld,
                       w->b.data + x * w->b.batch[0] + y * w->b.batch[1], w->b.ld,
                       w->beta, w->c + x * w->c_batch[0] + y * w->c_batch[1], w->c_ld);
    }
}

static void
run_batched(LimnTape *tape, Batched *w, const Product *p, gboolean disjoint)
{
    gint64 count = p->batch[0] * p->batch[1];
    w->tape = tape;
    w->inner_batch = MAX(p->batch[1], 1);
    if (disjoint)
        limn_tape_for(tape, count, 1, run_batch, w);
    else
        run_batch(0, count, w);
}

static Product
saved_product(const LimnNode *node)
{
    return (Product){node->i[0],      node->i[1],
                     node->i[2],      {node->i[3], node->i[4]},
                     node->i[5] != 0, node->i[6] != 0};
}

// Gradient of one side into its own contiguous layout.
static void
gradient_side(LimnTape *tape, LimnNode *node, int side)
{
    Product p = saved_product(node);
    LimnTensor *target = node->in[side], *other = node->in[1 - side];
    LimnReal *grad = limn_tape_grad(tape, target);
    if (!grad || p.m == 0 || p.n == 0 || p.k == 0)
        return;
    Matrix g = {.data = node->out->grad, .ld = p.n, .flipped = FALSE};
    gint64 own[4];
    limn_shape_contiguous_strides(node->out->rank, node->out->dim, own);
    batch_strides(node->out, own, &p, g.batch);
    Matrix o = {0};
    as_matrix(tape, other, &p, &o);
    Batched w = {.beta = 1, .c = grad, .c_ld = target->dim[target->rank - 1]};
    limn_shape_contiguous_strides(target->rank, target->dim, own);
    batch_strides(target, own, &p, w.c_batch);
    if (side == 0 && !p.trans_a) { // gA [m,k] = G op(B)^T
        w.a = g, w.b = o, w.trans_a = FALSE, w.trans_b = !p.trans_b;
        w.m = p.m, w.n = p.k, w.k = p.n;
    } else if (side == 0) { // A is [k,m]: gA = op(B) G^T
        w.a = o, w.b = g, w.trans_a = p.trans_b, w.trans_b = TRUE;
        w.m = p.k, w.n = p.m, w.k = p.n;
    } else if (!p.trans_b) { // gB [k,n] = op(A)^T G
        w.a = o, w.b = g, w.trans_a = !p.trans_a, w.trans_b = FALSE;
        w.m = p.k, w.n = p.n, w.k = p.m;
    } else { // B is [n,k]: gB = G^T op(A)
        w.a = g, w.b = o, w.trans_a = TRUE, w.trans_b = p.trans_a;
        w.m = p.n, w.n = p.k, w.k = p.m;
    }
    gboolean disjoint =
        (p.batch[0] == 1 || w.c_batch[0] != 0) && (p.batch[1] == 1 || w.c_batch[1] != 0);
    run_batched(tape, &w, &p, disjoint);
}

static void
matmul_backward(LimnTape *tape, LimnNode *node)
{
    gradient_side(tape, node, 0);
    gradient_side(tape, node, 1);
}

static gboolean
plan_product(const LimnTensor *a, const LimnTensor *b, gboolean trans_a, gboolean trans_b,
             Product *p, int *rank, gint64 *dim)
{
    if (a->rank < 2 || b->rank < 2)
        return FALSE;
    gint64 ak = a->dim[a->rank - (trans_a ? 2 : 1)];
    gint64 bk = b->dim[b->rank - (trans_b ? 1 : 2)];
    if (ak != bk)
        return FALSE;
    *p = (Product){a->dim[a->rank - (trans_a ? 1 : 2)],
                   b->dim[b->rank - (trans_b ? 2 : 1)],
                   ak,
                   {1, 1},
                   trans_a,
                   trans_b};
    *rank = MAX(a->rank, b->rank);
    for (int i = 0; i < 2; i++) {
        int ia = a->rank - 4 + i, ib = b->rank - 4 + i;
        gint64 da = ia < 0 ? 1 : a->dim[ia], db = ib < 0 ? 1 : b->dim[ib];
        if (da != db && da != 1 && db != 1)
            return FALSE;
        p->batch[i] = da == 1 ? db : da;
    }
    for (int i = 0; i < *rank - 2; i++)
        dim[i] = p->batch[2 - (*rank - 2) + i];
    dim[*rank - 2] = p->m;
    dim[*rank - 1] = p->n;
    return TRUE;
}

LimnTensor *
limn_nn_matmul(LimnTape *tape, LimnTensor *a, LimnTensor *b, gboolean trans_a,
               gboolean trans_b)
{
    if (LIMN_UNUSABLE(tape, "matmul", a, b))
        return limn_tape_poisoned(tape);
    Product p;
    int rank;
    gint64 dim[4] = {1, 1, 1, 1};
    if (!plan_product(a, b, trans_a, trans_b, &p, &rank, dim))
        return limn_tape_fail_shapes(tape, "matmul", a, b,
                                     trans_a || trans_b ? "inner sizes, with transposes"
                                                        : "inner sizes");
    Batched w = {.trans_a = trans_a, .trans_b = trans_b, .m = p.m, .n = p.n, .k = p.k};
    a = as_matrix(tape, a, &p, &w.a);
    b = as_matrix(tape, b, &p, &w.b);
    LimnTensor *out = limn_tape_new_tensor(tape, "matmul", rank, dim);
    if (LIMN_UNUSABLE(tape, "matmul", a, b, out))
        return limn_tape_poisoned(tape);
    w.c = out->data;
    w.c_ld = p.n;
    batch_strides(out, out->stride, &p, w.c_batch);
    if (p.k == 0)
        for (gint64 i = 0; i < limn_tensor_length(out); i++)
            out->data[i] = 0;
    else
        run_batched(tape, &w, &p, TRUE);
    LimnNode *node = LIMN_RECORD(tape, "matmul", matmul_backward, out, a, b);
    if (node) {
        gint64 values[] = {p.m, p.n, p.k, p.batch[0], p.batch[1], trans_a, trans_b};
        for (gsize i = 0; i < G_N_ELEMENTS(values); i++)
            node->i[i] = values[i];
    }
    return out;
}

// ---- linear: y = x W^T + b

typedef struct {
    LimnReal *y;
    const LimnReal *b;
    gint64 out;
} Bias;

static void
set_bias(gint64 begin, gint64 end, gpointer data)
{
    const Bias *w = data;
    for (gint64 r = begin; r < end; r++)
        for (gint64 j = 0; j < w->out; j++)
            w->y[r * w->out + j] = w->b[j];
}

// Column sums in double, blocks of rows added in order.
static void
add_column_sums(LimnTape *tape, const LimnReal *g, gint64 rows, gint64 cols,
                LimnReal *out)
{
    double *sum = limn_tape_alloc(tape, "linear", (gsize) cols * sizeof *sum);
    if (!sum)
        return;
    for (gint64 j = 0; j < cols; j++)
        sum[j] = 0;
    for (gint64 r = 0; r < rows; r++)
        for (gint64 j = 0; j < cols; j++)
            sum[j] += g[r * cols + j];
    for (gint64 j = 0; j < cols; j++)
        out[j] += (LimnReal) sum[j];
}

static void
linear_backward(LimnTape *tape, LimnNode *node)
{
    LimnTensor *x = node->in[0], *w = node->in[1], *b = node->in[2];
    const LimnReal *g = node->out->grad;
    gint64 out = w->dim[0], in = w->dim[1], rows = node->i[0];
    LimnReal *gx = limn_tape_grad(tape, x), *gw = limn_tape_grad(tape, w);
    if (rows == 0)
        return;
    if (gx)
        limn_real_gemm(tape, FALSE, FALSE, rows, in, out, 1, g, out, w->data, in, 1, gx,
                       in);
    if (gw)
        limn_real_gemm(tape, TRUE, FALSE, out, in, rows, 1, g, out, x->data, in, 1, gw,
                       in);
    LimnReal *gb = b ? limn_tape_grad(tape, b) : NULL;
    if (gb)
        add_column_sums(tape, g, rows, out, gb);
}

LimnTensor *
limn_nn_linear(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b)
{
    if (LIMN_UNUSABLE(tape, "linear", x, w, b))
        return limn_tape_poisoned(tape);
    if (w->rank != 2 || x->rank < 1 || x->dim[x->rank - 1] != w->dim[1])
        return limn_tape_fail_shapes(tape, "linear", x, w, "input and [out, in]");
    if (b && (b->rank != 1 || b->dim[0] != w->dim[0]))
        return limn_tape_fail_shapes(tape, "linear", w, b, "[out, in] and [out]");
    x = limn_tape_contiguous(tape, x);
    w = limn_tape_contiguous(tape, w);
    if (b)
        b = limn_tape_contiguous(tape, b);
    if (LIMN_UNUSABLE(tape, "linear", x, w, b))
        return limn_tape_poisoned(tape);
    gint64 dim[4], out_width = w->dim[0], in = w->dim[1];
    for (int i = 0; i < 4; i++)
        dim[i] = x->dim[i];
    dim[x->rank - 1] = out_width;
    LimnTensor *out = limn_tape_new_tensor(tape, "linear", x->rank, dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    gint64 rows = 1;
    for (int i = 0; i + 1 < x->rank; i++)
        rows *= x->dim[i];
    if (b) {
        Bias bias = {out->data, b->data, out_width};
        limn_tape_for(tape, rows, MAX(1, 8192 / MAX(1, out_width)), set_bias, &bias);
    }
    limn_real_gemm(tape, FALSE, TRUE, rows, out_width, in, 1, x->data, in, w->data, in,
                   b ? 1 : 0, out->data, out_width);
    LimnNode *node = LIMN_RECORD(tape, "linear", linear_backward, out, x, w, b);
    if (node)
        node->i[0] = rows;
    return out;
}

// One product per member, the bias broadcast over the batch.
LimnTensor *
limn_nn_linear_ensemble(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b)
{
    LimnTensor *y = limn_nn_matmul(tape, x, w, FALSE, TRUE);
    if (!b || (y->flags & LIMN_TENSOR_POISONED))
        return y;
    if (b->rank != 2)
        return limn_tape_fail_shapes(tape, "linear_ensemble", w, b,
                                     "[E, out, in], [E, out]");
    b = limn_nn_reshape(tape, b, 3, (gint64[]){b->dim[0], 1, b->dim[1]});
    return limn_nn_add(tape, y, b);
}
