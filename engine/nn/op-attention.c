// SPDX-License-Identifier: GPL-3.0-or-later

// Attention. The fused form works on 64 query rows at a time and keeps no probabilities;
// the reverse sweep computes them again.
//
// With A = softmax(s Q K^T + M) and O = A V: GV = A^T GO; GA = GO V^T;
// GS = A (GA - rowsum(GO O)); GQ = s GS K; GK = s GS^T Q.

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <math.h>
#include <string.h>

#define QUERY_BLOCK 64

typedef struct {
    LimnTape *tape;
    const LimnReal *q, *k, *v, *mask, *out, *g;
    LimnReal *o;            // forward
    LimnReal *gq, *gk, *gv; // backward
    gint64 heads;           // all leading dimensions together
    gint64 nq, nk, d, dv;
    gint64 mask_row, mask_col, mask_stride[2], inner_heads;
    gboolean causal;
    LimnReal scale;
    LimnReal *scratch; // per head: 2 blocks [block, nk]
    gint64 block;      // query rows at a time
} Attention;

static const LimnReal *
mask_of(const Attention *w, gint64 head)
{
    if (!w->mask)
        return NULL;
    return w->mask + head / w->inner_heads * w->mask_stride[0] +
           head % w->inner_heads * w->mask_stride[1];
}

// s = scale q k^T + mask for rows [first, first + rows); masked columns become -inf.
static void
scores(const Attention *w, gint64 head, gint64 first, gint64 rows, LimnReal *s)
{
    limn_real_gemm(w->tape, FALSE, TRUE, rows, w->nk, w->d, w->scale,
                   w->q + (head * w->nq + first) * w->d, w->d, w->k + head * w->nk * w->d,
                   w->d, 0, s, w->nk);
    const LimnReal *mask = mask_of(w, head);
    for (gint64 r = 0; mask && r < rows; r++)
        for (gint64 j = 0; j < w->nk; j++)
            s[r * w->nk + j] += mask[(first + r) * w->mask_row + j * w->mask_col];
    for (gint64 r = 0; w->causal && r < rows; r++)
        for (gint64 j = first + r + 1; j < w->nk; j++)
            s[r * w->nk + j] = (LimnReal) -INFINITY;
}

static void
softmax_row(LimnReal *s, gint64 n)
{
    LimnReal top = (LimnReal) -INFINITY;
    for (gint64 j = 0; j < n; j++)
        top = MAX(top, s[j]);
    if (top == (LimnReal) -INFINITY) {
        memset(s, 0, (gsize) n * sizeof *s);
        return;
    }
    double sum = 0;
    for (gint64 j = 0; j < n; j++) {
        s[j] = (LimnReal) exp((double) (s[j] - top));
        sum += s[j];
    }
    LimnReal factor = (LimnReal) (1 / sum);
    for (gint64 j = 0; j < n; j++)
        s[j] *= factor;
}

static void
forward_heads(gint64 begin, gint64 end, gpointer data)
{
    const Attention *w = data;
    for (gint64 head = begin; head < end; head++) {
        LimnReal *s = w->scratch + head * 2 * w->block * w->nk;
        for (gint64 first = 0; first < w->nq; first += QUERY_BLOCK) {
            gint64 rows = MIN(QUERY_BLOCK, w->nq - first);
            scores(w, head, first, rows, s);
            for (gint64 r = 0; r < rows; r++)
                softmax_row(s + r * w->nk, w->nk);
            limn_real_gemm(w->tape, FALSE, FALSE, rows, w->dv, w->nk, 1, s, w->nk,
                           w->v + head * w->nk * w->dv, w->dv, 0,
                           w->o + (head * w->nq + first) * w->dv, w->dv);
        }
    }
}

// Turns scores into GS in place, given GA.
static void
score_gradient(const Attention *w, gint64 row, LimnReal *a, const LimnReal *ga)
{
    const LimnReal *g = w->g + row * w->dv, *o = w->out + row * w->dv;
    double dot = 0;
    for (gint64 j = 0; j < w->dv; j++)
        dot += (double) g[j] * o[j];
    for (gint64 j = 0; j < w->nk; j++)
        a[j] *= ga[j] - (LimnReal) dot;
}

static void
backward_block(const Attention *w, gint64 head, gint64 first, gint64 rows)
{
    LimnReal *a = w->scratch + head * 2 * w->block * w->nk;
    LimnReal *ga = a + w->block * w->nk;
    gint64 row = head * w->nq + first;
    scores(w, head, first, rows, a);
    for (gint64 r = 0; r < rows; r++)
        softmax_row(a + r * w->nk, w->nk);
    const LimnReal *g = w->g + row * w->dv;
    if (w->gv)
        limn_real_gemm(w->tape, TRUE, FALSE, w->nk, w->dv, rows, 1, a, w->nk, g, w->dv, 1,
                       w->gv + head * w->nk * w->dv, w->dv);
    if (!w->gq && !w->gk)
        return;
    limn_real_gemm(w->tape, FALSE, TRUE, rows, w->nk, w->dv, 1, g, w->dv,
                   w->v + head * w->nk * w->dv, w->dv, 0, ga, w->nk);
    for (gint64 r = 0; r < rows; r++)
        score_gradient(w, row + r, a + r * w->nk, ga + r * w->nk);
    if (w->gq)
        limn_real_gemm(w->tape, FALSE, FALSE, rows, w->d, w->nk, w->scale, a, w->nk,
                       w->k + head * w->nk * w->d, w->d, 1, w->gq + row * w->d, w->d);
    if (w->gk)
        limn_real_gemm(w->tape, TRUE, FALSE, w->nk, w->d, rows, w->scale, a, w->nk,
                       w->q + row * w->d, w->d, 1, w->gk + head * w->nk * w->d, w->d);
}

static void
backward_heads(gint64 begin, gint64 end, gpointer data)
{
    const Attention *w = data;
    for (gint64 head = begin; head < end; head++)
        for (gint64 first = 0; first < w->nq; first += QUERY_BLOCK)
            backward_block(w, head, first, MIN(QUERY_BLOCK, w->nq - first));
}

static gboolean
prepare(LimnTape *tape, const char *op, LimnTensor *q, LimnTensor *k, LimnTensor *v,
        LimnTensor *mask, Attention *w)
{
    w->tape = tape;
    w->q = q->data, w->k = k->data;
    w->v = v ? v->data : NULL;
    w->nq = q->dim[q->rank - 2], w->d = q->dim[q->rank - 1];
    w->nk = k->dim[k->rank - 2];
    w->dv = v ? v->dim[v->rank - 1] : 0;
    w->heads = w->inner_heads = 1;
    for (int i = 0; i < q->rank - 2; i++)
        w->heads *= q->dim[i];
    if (q->rank > 2)
        w->inner_heads = MAX(q->dim[q->rank - 3], 1);
    if (mask) {
        gint64 stride[4];
        limn_shape_broadcast_strides(mask, mask->stride, 4, stride);
        w->mask = mask->data;
        w->mask_stride[0] = stride[0], w->mask_stride[1] = stride[1];
        w->mask_row = stride[2], w->mask_col = stride[3];
    }
    w->block = MIN(QUERY_BLOCK, w->nq);
    w->scratch = limn_tape_alloc_reals(tape, op, w->heads * 2 * w->block * w->nk);
    return w->scratch != NULL;
}

static void
sdpa_backward(LimnTape *tape, LimnNode *node)
{
    LimnTensor *q = node->in[0], *k = node->in[1], *v = node->in[2], *mask = node->in[3];
    Attention w = {.causal = node->i[0] != 0, .scale = (LimnReal) node->d[0]};
    w.gq = limn_tape_grad(tape, q);
    w.gk = limn_tape_grad(tape, k);
    w.gv = limn_tape_grad(tape, v);
    LimnArenaMark mark = limn_tape_mark(tape);
    if (!prepare(tape, "sdpa", q, k, v, mask, &w))
        return;
    w.out = node->out->data;
    w.g = node->out->grad;
    limn_tape_for(tape, w.heads, 1, backward_heads, &w);
    limn_tape_release(tape, mark);
}

static gboolean
attention_fits(const LimnTensor *q, const LimnTensor *k, const LimnTensor *v)
{
    if (q->rank < 2 || q->rank != k->rank || (v && v->rank != q->rank))
        return FALSE;
    for (int i = 0; i < q->rank - 2; i++)
        if (q->dim[i] != k->dim[i] || (v && q->dim[i] != v->dim[i]))
            return FALSE;
    return q->dim[q->rank - 1] == k->dim[k->rank - 1] &&
           (!v || k->dim[k->rank - 2] == v->dim[v->rank - 2]);
}

static gboolean
mask_fits(const LimnTensor *mask, const LimnTensor *q, const LimnTensor *k)
{
    if (!mask)
        return TRUE;
    gint64 want[4] = {1, 1, 1, 1};
    for (int i = 0; i < q->rank - 2; i++)
        want[4 - q->rank + i] = q->dim[i];
    want[2] = q->dim[q->rank - 2];
    want[3] = k->dim[k->rank - 2];
    for (int i = 1; i <= mask->rank; i++)
        if (mask->dim[mask->rank - i] != 1 && mask->dim[mask->rank - i] != want[4 - i])
            return FALSE;
    return TRUE;
}

LimnTensor *
limn_nn_sdpa(LimnTape *tape, LimnTensor *q, LimnTensor *k, LimnTensor *v,
             LimnTensor *mask, gboolean causal, double scale)
{
    if (LIMN_UNUSABLE(tape, "sdpa", q, k, v, mask))
        return limn_tape_poisoned(tape);
    if (!attention_fits(q, k, v))
        return limn_tape_fail_shapes(tape, "sdpa", q, k, "queries, keys and values");
    if (!mask_fits(mask, q, k))
        return limn_tape_fail_shapes(tape, "sdpa", q, mask, "mask");
    q = limn_tape_contiguous(tape, q);
    k = limn_tape_contiguous(tape, k);
    v = limn_tape_contiguous(tape, v);
    if (LIMN_UNUSABLE(tape, "sdpa", q, k, v))
        return limn_tape_poisoned(tape);
    gint64 dim[4];
    memcpy(dim, q->dim, sizeof dim);
    dim[q->rank - 1] = v->dim[v->rank - 1];
    LimnTensor *out = limn_tape_new_tensor(tape, "sdpa", q->rank, dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    double factor = scale != 0 ? scale : 1 / sqrt((double) MAX(q->dim[q->rank - 1], 1));
    Attention w = {.causal = causal, .scale = (LimnReal) factor};
    LimnArenaMark mark = limn_tape_mark(tape);
    if (!prepare(tape, "sdpa", q, k, v, mask, &w))
        return limn_tape_poisoned(tape);
    w.o = out->data;
    limn_tape_for(tape, w.heads, 1, forward_heads, &w);
    limn_tape_release(tape, mark);
    LimnNode *node = LIMN_RECORD(tape, "sdpa", sdpa_backward, out, q, k, v, mask);
    if (node) {
        node->i[0] = causal;
        node->d[0] = factor;
    }
    return out;
}

LimnTensor *
limn_nn_attention_probabilities(LimnTape *tape, LimnTensor *q, LimnTensor *k,
                                LimnTensor *mask, gboolean causal, double scale)
{
    const char *op = "attention_probabilities";
    if (LIMN_UNUSABLE(tape, op, q, k, mask))
        return limn_tape_poisoned(tape);
    if (!attention_fits(q, k, NULL))
        return limn_tape_fail_shapes(tape, op, q, k, "queries and keys");
    double factor = scale != 0 ? scale : 1 / sqrt((double) MAX(q->dim[q->rank - 1], 1));
    LimnTensor *s =
        limn_nn_scale_add(tape, limn_nn_matmul(tape, q, k, FALSE, TRUE), factor, 0);
    if (causal) {
        gint64 nq = q->dim[q->rank - 2], nk = k->dim[k->rank - 2];
        LimnTensor *closed = limn_tape_input(tape, 2, (gint64[]){nq, nk}, NULL);
        if (closed->flags & LIMN_TENSOR_POISONED)
            return closed;
        for (gint64 i = 0; i < nq; i++)
            for (gint64 j = i + 1; j < nk; j++)
                closed->data[i * nk + j] = (LimnReal) -INFINITY;
        s = limn_nn_add(tape, s, closed);
    }
    return limn_nn_softmax(tape, s, mask, -1);
}

// ---- rotary positions: pairs (x1, x2) -> (x1 c - x2 s, x2 c + x1 s); the gradient is
// the rotation by the negated angle

static void
rotate_rows(const LimnReal *x, LimnReal *y, gint64 rows, gint64 n, gint64 d,
            const LimnReal *cosines, const LimnReal *sines, gboolean interleaved,
            LimnReal direction, gboolean add)
{
    gint64 half = d / 2;
    for (gint64 r = 0; r < rows; r++) {
        const LimnReal *c = cosines + r % n * half, *s = sines + r % n * half;
        for (gint64 j = 0; j < half; j++) {
            gint64 first = r * d + (interleaved ? 2 * j : j);
            gint64 second = first + (interleaved ? 1 : half);
            LimnReal a = x[first], b = x[second], angle = direction * s[j];
            LimnReal ya = a * c[j] - b * angle, yb = b * c[j] + a * angle;
            y[first] = add ? y[first] + ya : ya;
            y[second] = add ? y[second] + yb : yb;
        }
    }
}

static void
rotate_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    gint64 n = node->i[0], d = node->i[1];
    if (gx && n && d)
        rotate_rows(node->out->grad, gx, limn_tensor_length(node->out) / d, n, d,
                    node->saved[0], node->saved[1], node->i[2] != 0, -1, TRUE);
}

LimnTensor *
limn_nn_rotate(LimnTape *tape, LimnTensor *x, const LimnReal *cosines,
               const LimnReal *sines, LimnRopeLayout layout)
{
    if (LIMN_UNUSABLE(tape, "rotate", x))
        return limn_tape_poisoned(tape);
    if (x->rank < 2 || x->dim[x->rank - 1] % 2 != 0) {
        g_autofree char *shape = limn_tensor_describe(x);
        return limn_tape_fail(tape, "rotate", "%s needs an even last dimension", shape);
    }
    x = limn_tape_contiguous(tape, x);
    if (x->flags & LIMN_TENSOR_POISONED)
        return x;
    gint64 n = x->dim[x->rank - 2], d = x->dim[x->rank - 1], table = n * d / 2;
    LimnTensor *out = limn_tape_new_tensor(tape, "rotate", x->rank, x->dim);
    LimnReal *c = limn_tape_alloc_reals(tape, "rotate", table);
    LimnReal *s = limn_tape_alloc_reals(tape, "rotate", table);
    if ((out->flags & LIMN_TENSOR_POISONED) || !c || !s)
        return limn_tape_poisoned(tape);
    memcpy(c, cosines, (gsize) table * sizeof *c);
    memcpy(s, sines, (gsize) table * sizeof *s);
    if (n && d)
        rotate_rows(x->data, out->data, limn_tensor_length(x) / d, n, d, c, s,
                    layout == LIMN_ROPE_INTERLEAVED, 1, FALSE);
    LimnNode *node = LIMN_RECORD(tape, "rotate", rotate_backward, out, x);
    if (node) {
        node->saved[0] = c;
        node->saved[1] = s;
        node->i[0] = n;
        node->i[1] = d;
        node->i[2] = layout == LIMN_ROPE_INTERLEAVED;
    }
    return out;
}

// Angles position * base^(-2 j / d) (Su et al. 2021).
LimnTensor *
limn_nn_rope(LimnTape *tape, LimnTensor *x, LimnRopeLayout layout, double base,
             gint64 first_position)
{
    if (LIMN_UNUSABLE(tape, "rope", x))
        return limn_tape_poisoned(tape);
    if (x->rank < 2)
        return limn_tape_fail(tape, "rope", "a tensor of rank %d", x->rank);
    gint64 n = x->dim[x->rank - 2], half = x->dim[x->rank - 1] / 2;
    LimnReal *c = limn_tape_alloc_reals(tape, "rope", n * half);
    LimnReal *s = limn_tape_alloc_reals(tape, "rope", n * half);
    if (!c || !s)
        return limn_tape_poisoned(tape);
    for (gint64 i = 0; i < n; i++)
        for (gint64 j = 0; j < half; j++) {
            double angle =
                (double) (first_position + i) * pow(base, -(double) j / (double) half);
            c[i * half + j] = (LimnReal) cos(angle);
            s[i * half + j] = (LimnReal) sin(angle);
        }
    return limn_nn_rotate(tape, x, c, s, layout);
}

// ---- neighbourhood attention: query (i, j) sees the k x k window that starts at
// clamp(i - k/2, 0, H - k), so that every query has k k real neighbours (Hassani et al.
// 2023)

typedef struct {
    const LimnReal *q, *k, *v, *g;
    LimnReal *out, *gq, *gk, *gv, *scratch;
    gint64 height, width, d;
    int kernel;
    LimnReal scale;
} Neighborhood;

static gint64
window_start(gint64 at, gint64 size, int kernel)
{
    return CLAMP(at - kernel / 2, 0, size - kernel);
}

// Probabilities of one query over its window; the offsets of the neighbours into `at`.
static void
window_probabilities(const Neighborhood *w, gint64 head, gint64 y, gint64 x, LimnReal *p,
                     gint64 *at)
{
    gint64 y0 = window_start(y, w->height, w->kernel);
    gint64 x0 = window_start(x, w->width, w->kernel);
    const LimnReal *q = w->q + ((head * w->height + y) * w->width + x) * w->d;
    int n = 0;
    for (int i = 0; i < w->kernel; i++)
        for (int j = 0; j < w->kernel; j++, n++) {
            at[n] = ((head * w->height + y0 + i) * w->width + x0 + j) * w->d;
            double dot = 0;
            for (gint64 c = 0; c < w->d; c++)
                dot += (double) q[c] * w->k[at[n] + c];
            p[n] = (LimnReal) (dot * w->scale);
        }
    softmax_row(p, n);
}

#define MAX_WINDOW 1024

static void
neighborhood_forward(gint64 begin, gint64 end, gpointer data)
{
    const Neighborhood *w = data;
    LimnReal p[MAX_WINDOW];
    gint64 at[MAX_WINDOW];
    int n = w->kernel * w->kernel;
    for (gint64 head = begin; head < end; head++)
        for (gint64 y = 0; y < w->height; y++)
            for (gint64 x = 0; x < w->width; x++) {
                window_probabilities(w, head, y, x, p, at);
                LimnReal *out = w->out + ((head * w->height + y) * w->width + x) * w->d;
                for (gint64 c = 0; c < w->d; c++) {
                    double sum = 0;
                    for (int i = 0; i < n; i++)
                        sum += (double) p[i] * w->v[at[i] + c];
                    out[c] = (LimnReal) sum;
                }
            }
}

static void
neighborhood_query_gradient(const Neighborhood *w, gint64 head, gint64 y, gint64 x,
                            LimnReal *p, LimnReal *ga, gint64 *at)
{
    int n = w->kernel * w->kernel;
    gint64 here = ((head * w->height + y) * w->width + x) * w->d;
    const LimnReal *g = w->g + here;
    window_probabilities(w, head, y, x, p, at);
    double mean = 0;
    for (int i = 0; i < n; i++) {
        double dot = 0;
        for (gint64 c = 0; c < w->d; c++)
            dot += (double) g[c] * w->v[at[i] + c];
        ga[i] = (LimnReal) dot;
        mean += dot * p[i];
    }
    for (int i = 0; i < n; i++) {
        LimnReal gs = p[i] * (ga[i] - (LimnReal) mean) * w->scale;
        for (gint64 c = 0; c < w->d; c++) {
            if (w->gv)
                w->gv[at[i] + c] += p[i] * g[c];
            if (w->gq)
                w->gq[here + c] += gs * w->k[at[i] + c];
            if (w->gk)
                w->gk[at[i] + c] += gs * w->q[here + c];
        }
    }
}

static void
neighborhood_gradient(gint64 begin, gint64 end, gpointer data)
{
    const Neighborhood *w = data;
    LimnReal p[MAX_WINDOW], ga[MAX_WINDOW];
    gint64 at[MAX_WINDOW];
    for (gint64 head = begin; head < end; head++)
        for (gint64 y = 0; y < w->height; y++)
            for (gint64 x = 0; x < w->width; x++)
                neighborhood_query_gradient(w, head, y, x, p, ga, at);
}

static Neighborhood
neighborhood_of(LimnTensor *q, LimnTensor *k, LimnTensor *v, int kernel)
{
    return (Neighborhood){.q = q->data,
                          .k = k->data,
                          .v = v->data,
                          .height = q->dim[1],
                          .width = q->dim[2],
                          .d = q->dim[3],
                          .kernel = kernel,
                          .scale = (LimnReal) (1 / sqrt((double) MAX(q->dim[3], 1)))};
}

// Windows overlap, so heads and not pixels run in parallel.
static void
neighborhood_backward(LimnTape *tape, LimnNode *node)
{
    Neighborhood w =
        neighborhood_of(node->in[0], node->in[1], node->in[2], (int) node->i[0]);
    w.g = node->out->grad;
    w.gq = limn_tape_grad(tape, node->in[0]);
    w.gk = limn_tape_grad(tape, node->in[1]);
    w.gv = limn_tape_grad(tape, node->in[2]);
    limn_tape_for(tape, node->in[0]->dim[0], 1, neighborhood_gradient, &w);
}

LimnTensor *
limn_nn_neighborhood_attn2d(LimnTape *tape, LimnTensor *q, LimnTensor *k, LimnTensor *v,
                            int kernel)
{
    const char *op = "neighborhood_attn2d";
    if (LIMN_UNUSABLE(tape, op, q, k, v))
        return limn_tape_poisoned(tape);
    if (q->rank != 4 || !limn_tensor_same_shape(q, k) || !limn_tensor_same_shape(q, v))
        return limn_tape_fail_shapes(tape, op, q, k, "[heads, H, W, d] thrice");
    if (kernel < 1 || kernel > q->dim[1] || kernel > q->dim[2] ||
        kernel * kernel > MAX_WINDOW)
        return limn_tape_fail(
            tape, op, "kernel %d does not fit %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT,
            kernel, q->dim[1], q->dim[2]);
    q = limn_tape_contiguous(tape, q);
    k = limn_tape_contiguous(tape, k);
    v = limn_tape_contiguous(tape, v);
    LimnTensor *out = limn_tape_new_tensor(tape, op, 4, q->dim);
    if (LIMN_UNUSABLE(tape, op, q, k, v, out))
        return limn_tape_poisoned(tape);
    Neighborhood w = neighborhood_of(q, k, v, kernel);
    w.out = out->data;
    limn_tape_for(tape, q->dim[0], 1, neighborhood_forward, &w);
    LimnNode *node = LIMN_RECORD(tape, op, neighborhood_backward, out, q, k, v);
    if (node)
        node->i[0] = kernel;
    return out;
}
