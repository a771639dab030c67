// SPDX-License-Identifier: GPL-3.0-or-later

// Convolution by im2col and one product per sample and group; pooling and resampling.
// Forward: Y = W col(X). Backward: GW += G col(X)^T, GX = col^T(W^T G).

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <math.h>
#include <string.h>

typedef struct {
    gint64 samples, channels, height, width;    // of the input
    gint64 out_channels, out_height, out_width; // of the output
    gint64 kh, kw;
    int stride, pad_h, pad_w, groups;
} Geometry;

static gint64
column_rows(const Geometry *g)
{
    return g->channels / g->groups * g->kh * g->kw;
}

// Visits the valid taps of one group's column matrix [C/g kh kw, oh ow].
#define FOR_TAPS(g, group, ...)                                                          \
    do {                                                                                 \
        gint64 per = (g)->channels / (g)->groups, row = 0;                               \
        for (gint64 c = 0; c < per; c++)                                                 \
            for (gint64 ky = 0; ky < (g)->kh; ky++)                                      \
                for (gint64 kx = 0; kx < (g)->kw; kx++, row++)                           \
                    for (gint64 oy = 0; oy < (g)->out_height; oy++) {                    \
                        gint64 y = oy * (g)->stride + ky - (g)->pad_h;                   \
                        for (gint64 ox = 0; ox < (g)->out_width; ox++) {                 \
                            gint64 x = ox * (g)->stride + kx - (g)->pad_w;               \
                            gint64 to =                                                  \
                                (row * (g)->out_height + oy) * (g)->out_width + ox;      \
                            gboolean inside =                                            \
                                y >= 0 && y < (g)->height && x >= 0 && x < (g)->width;   \
                            gint64 from = inside ? (((group) *per + c) * (g)->height +   \
                                                    y) * (g)->width +                    \
                                                       x                                 \
                                                 : 0;                                    \
                            __VA_ARGS__;                                                 \
                        }                                                                \
                    }                                                                    \
    } while (0)

static void
to_columns(const Geometry *g, gint64 group, const LimnReal *x_sample, LimnReal *columns)
{
    FOR_TAPS(g, group, columns[to] = inside ? x_sample[from] : 0);
}

static void
from_columns(const Geometry *g, gint64 group, const LimnReal *columns, LimnReal *x_sample)
{
    FOR_TAPS(g, group, if (inside) x_sample[from] += columns[to]);
}

typedef struct {
    LimnTape *tape;
    Geometry g;
    const LimnReal *x, *w, *gy;
    LimnReal *y, *gx;
    LimnReal *columns; // scratch, one column matrix per sample
} Conv;

static gint64
column_size(const Geometry *g)
{
    return column_rows(g) * g->out_height * g->out_width;
}

static void
conv_samples(gint64 begin, gint64 end, gpointer data)
{
    const Conv *c = data;
    const Geometry *g = &c->g;
    gint64 area = g->out_height * g->out_width, rows = column_rows(g);
    gint64 per = g->out_channels / g->groups;
    for (gint64 n = begin; n < end; n++)
        for (gint64 group = 0; group < g->groups; group++) {
            LimnReal *columns = c->columns + n * column_size(g);
            to_columns(g, group, c->x + n * g->channels * g->height * g->width, columns);
            limn_real_gemm(c->tape, FALSE, FALSE, per, area, rows, 1,
                           c->w + group * per * rows, rows, columns, area, 0,
                           c->y + (n * g->out_channels + group * per) * area, area);
        }
}

static void
conv_input_gradient(gint64 begin, gint64 end, gpointer data)
{
    const Conv *c = data;
    const Geometry *g = &c->g;
    gint64 area = g->out_height * g->out_width, rows = column_rows(g);
    gint64 per = g->out_channels / g->groups;
    for (gint64 n = begin; n < end; n++)
        for (gint64 group = 0; group < g->groups; group++) {
            LimnReal *columns = c->columns + n * column_size(g);
            limn_real_gemm(c->tape, TRUE, FALSE, rows, area, per, 1,
                           c->w + group * per * rows, rows,
                           c->gy + (n * g->out_channels + group * per) * area, area, 0,
                           columns, area);
            from_columns(g, group, columns,
                         c->gx + n * g->channels * g->height * g->width);
        }
}

// Samples one after another: their contributions add up in a fixed order.
static void
conv_weight_gradient(Conv *c, LimnReal *gw)
{
    const Geometry *g = &c->g;
    gint64 area = g->out_height * g->out_width, rows = column_rows(g);
    gint64 per = g->out_channels / g->groups;
    for (gint64 n = 0; n < g->samples; n++)
        for (gint64 group = 0; group < g->groups; group++) {
            to_columns(g, group, c->x + n * g->channels * g->height * g->width,
                       c->columns);
            limn_real_gemm(c->tape, FALSE, TRUE, per, rows, area, 1,
                           c->gy + (n * g->out_channels + group * per) * area, area,
                           c->columns, area, 1, gw + group * per * rows, rows);
        }
}

static Geometry
saved_geometry(const LimnNode *node)
{
    const LimnTensor *x = node->in[0], *w = node->in[1], *y = node->out;
    return (Geometry){
        x->dim[0],        x->dim[1],        x->dim[2],       x->dim[3], y->dim[1],
        y->dim[2],        y->dim[3],        w->dim[2],       w->dim[3], (int) node->i[0],
        (int) node->i[1], (int) node->i[2], (int) node->i[3]};
}

static void
conv2d_backward(LimnTape *tape, LimnNode *node)
{
    Conv c = {.tape = tape,
              .g = saved_geometry(node),
              .x = node->in[0]->data,
              .w = node->in[1]->data,
              .gy = node->out->grad};
    LimnReal *gw = limn_tape_grad(tape, node->in[1]);
    c.gx = limn_tape_grad(tape, node->in[0]);
    LimnArenaMark mark = limn_tape_mark(tape);
    c.columns = limn_tape_alloc_reals(tape, "conv2d", c.g.samples * column_size(&c.g));
    if (!c.columns)
        return;
    if (c.gx)
        limn_tape_for(tape, c.g.samples, 1, conv_input_gradient, &c);
    if (gw)
        conv_weight_gradient(&c, gw);
    limn_tape_release(tape, mark);
}

static LimnTensor *
add_channel_bias(LimnTape *tape, LimnTensor *y, LimnTensor *b)
{
    if (!b)
        return y;
    if (LIMN_UNUSABLE(tape, "bias", y, b))
        return limn_tape_poisoned(tape);
    if (b->rank != 1 || b->dim[0] != y->dim[1])
        return limn_tape_fail_shapes(tape, "bias", y, b, "one value a channel");
    return limn_nn_add(tape, y, limn_nn_reshape(tape, b, 3, (gint64[]){b->dim[0], 1, 1}));
}

static LimnTensor *
conv(LimnTape *tape, const char *op, LimnTensor *x, LimnTensor *w, int stride, int pad_h,
     int pad_w, int groups)
{
    if (LIMN_UNUSABLE(tape, op, x, w))
        return limn_tape_poisoned(tape);
    if (x->rank != 4 || w->rank != 4 || stride < 1 || pad_h < 0 || groups < 1 ||
        x->dim[1] % groups || w->dim[0] % groups || w->dim[1] != x->dim[1] / groups)
        return limn_tape_fail_shapes(tape, op, x, w,
                                     "[N, C, H, W] and [O, C/groups, h, w]");
    x = limn_tape_contiguous(tape, x);
    w = limn_tape_contiguous(tape, w);
    gint64 oh = x->dim[2] + 2 * pad_h - w->dim[2], ow = x->dim[3] + 2 * pad_w - w->dim[3];
    if (oh < 0 || ow < 0)
        return limn_tape_fail_shapes(tape, op, x, w,
                                     "the kernel is larger than the input");
    gint64 dim[] = {x->dim[0], w->dim[0], oh / stride + 1, ow / stride + 1};
    LimnTensor *out = limn_tape_new_tensor(tape, op, 4, dim);
    if (LIMN_UNUSABLE(tape, op, x, w, out))
        return limn_tape_poisoned(tape);
    Conv c = {.tape = tape, .x = x->data, .w = w->data, .y = out->data};
    c.g = (Geometry){x->dim[0], x->dim[1], x->dim[2], x->dim[3], dim[1], dim[2], dim[3],
                     w->dim[2], w->dim[3], stride,    pad_h,     pad_w,  groups};
    LimnArenaMark mark = limn_tape_mark(tape);
    c.columns = limn_tape_alloc_reals(tape, op, c.g.samples * column_size(&c.g));
    if (!c.columns)
        return limn_tape_poisoned(tape);
    limn_tape_for(tape, c.g.samples, 1, conv_samples, &c);
    limn_tape_release(tape, mark);
    LimnNode *node = LIMN_RECORD(tape, op, conv2d_backward, out, x, w);
    if (node) {
        node->i[0] = stride;
        node->i[1] = pad_h;
        node->i[2] = pad_w;
        node->i[3] = groups;
    }
    return out;
}

LimnTensor *
limn_nn_conv2d(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b, int stride,
               int pad, int groups)
{
    return add_channel_bias(tape, conv(tape, "conv2d", x, w, stride, pad, pad, groups),
                            b);
}

LimnTensor *
limn_nn_conv1d(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b, int stride,
               int pad, int groups)
{
    if (LIMN_UNUSABLE(tape, "conv1d", x, w, b))
        return limn_tape_poisoned(tape);
    if (x->rank != 3 || w->rank != 3)
        return limn_tape_fail_shapes(tape, "conv1d", x, w,
                                     "[N, C, L] and [O, C/groups, k]");
    // A row of height 1. The stride applies to the only row as well, which changes
    // nothing.
    x = limn_nn_reshape(tape, x, 4, (gint64[]){x->dim[0], x->dim[1], 1, x->dim[2]});
    w = limn_nn_reshape(tape, w, 4, (gint64[]){w->dim[0], w->dim[1], 1, w->dim[2]});
    LimnTensor *y =
        add_channel_bias(tape, conv(tape, "conv1d", x, w, stride, 0, pad, groups), b);
    if (y->flags & LIMN_TENSOR_POISONED)
        return y;
    return limn_nn_reshape(tape, y, 3, (gint64[]){y->dim[0], y->dim[1], y->dim[3]});
}

// ---- transposed convolution: the backward-data kernel of conv2d as a forward operation.
// The "input" of the underlying convolution is this operation's output.

static Geometry
transposed_geometry(const LimnTensor *x, const LimnTensor *w, const LimnTensor *out,
                    int stride, int pad)
{
    return (Geometry){out->dim[0],
                      out->dim[1],
                      out->dim[2],
                      out->dim[3],
                      x->dim[1],
                      x->dim[2],
                      x->dim[3],
                      w->dim[2],
                      w->dim[3],
                      stride,
                      pad,
                      pad,
                      1};
}

static void
conv_transpose_backward(LimnTape *tape, LimnNode *node)
{
    LimnTensor *x = node->in[0], *w = node->in[1];
    Conv c = {
        .tape = tape,
        .w = w->data,
        .g = transposed_geometry(x, w, node->out, (int) node->i[0], (int) node->i[1])};
    LimnReal *gx = limn_tape_grad(tape, x), *gw = limn_tape_grad(tape, w);
    LimnArenaMark mark = limn_tape_mark(tape);
    c.columns =
        limn_tape_alloc_reals(tape, "conv_transpose2d", c.g.samples * column_size(&c.g));
    if (!c.columns)
        return;
    if (gx) {
        // GX += W conv(G): into scratch, then added.
        LimnReal *scratch =
            limn_tape_alloc_reals(tape, "conv_transpose2d", limn_tensor_length(x));
        if (!scratch)
            return;
        c.x = node->out->grad;
        c.y = scratch;
        limn_tape_for(tape, c.g.samples, 1, conv_samples, &c);
        for (gint64 i = 0; i < limn_tensor_length(x); i++)
            gx[i] += scratch[i];
    }
    if (gw) {
        c.x = node->out->grad;
        c.gy = x->data;
        conv_weight_gradient(&c, gw);
    }
    limn_tape_release(tape, mark);
}

LimnTensor *
limn_nn_conv_transpose2d(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b,
                         int stride, int pad, int output_padding)
{
    const char *op = "conv_transpose2d";
    if (LIMN_UNUSABLE(tape, op, x, w, b))
        return limn_tape_poisoned(tape);
    if (x->rank != 4 || w->rank != 4 || w->dim[0] != x->dim[1] || stride < 1 || pad < 0 ||
        output_padding < 0 || output_padding >= stride)
        return limn_tape_fail_shapes(tape, op, x, w, "[N, C, H, W] and [C, O, h, w]");
    x = limn_tape_contiguous(tape, x);
    w = limn_tape_contiguous(tape, w);
    gint64 dim[4] = {x->dim[0], w->dim[1]};
    for (int i = 2; i < 4; i++) {
        dim[i] = (x->dim[i] - 1) * stride - 2 * pad + w->dim[i] + output_padding;
        if (dim[i] < 1)
            return limn_tape_fail_shapes(tape, op, x, w, "nothing would be left");
    }
    LimnTensor *out = limn_tape_input(tape, 4, dim, NULL);
    if (LIMN_UNUSABLE(tape, op, x, w, out))
        return limn_tape_poisoned(tape);
    Conv c = {.tape = tape,
              .w = w->data,
              .gy = x->data,
              .gx = out->data,
              .g = transposed_geometry(x, w, out, stride, pad)};
    LimnArenaMark mark = limn_tape_mark(tape);
    c.columns = limn_tape_alloc_reals(tape, op, c.g.samples * column_size(&c.g));
    if (!c.columns)
        return limn_tape_poisoned(tape);
    limn_tape_for(tape, c.g.samples, 1, conv_input_gradient, &c);
    limn_tape_release(tape, mark);
    LimnNode *node = LIMN_RECORD(tape, op, conv_transpose_backward, out, x, w);
    if (node) {
        node->i[0] = stride;
        node->i[1] = pad;
    }
    return add_channel_bias(tape, out, b);
}

// ---- linear maps of planes given by a list of taps: pooling, resampling, shuffles.
// Output element o = sum of weight[t] x[index[t]] for t in [first[o], first[o + 1]).

typedef struct {
    gint64 planes, in_area, out_area;
    gint64 *first;
    gint64 *index;
    LimnReal *weight;
} Taps;

static void
taps_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    const Taps *taps = node->saved[0];
    for (gint64 p = 0; gx && p < taps->planes; p++)
        for (gint64 o = 0; o < taps->out_area; o++)
            for (gint64 t = taps->first[o]; t < taps->first[o + 1]; t++)
                gx[p * taps->in_area + taps->index[t]] +=
                    taps->weight[t] * node->out->grad[p * taps->out_area + o];
}

static Taps *
new_taps(LimnTape *tape, const char *op, const LimnTensor *x, gint64 out_area,
         gint64 max_taps)
{
    Taps *taps = limn_tape_alloc(tape, op, sizeof *taps);
    if (!taps)
        return NULL;
    *taps =
        (Taps){x->dim[0] * x->dim[1], x->dim[2] * x->dim[3], out_area, NULL, NULL, NULL};
    taps->first = limn_tape_alloc(tape, op, (gsize) (out_area + 1) * sizeof(gint64));
    taps->index = limn_tape_alloc(tape, op, (gsize) max_taps * sizeof(gint64));
    taps->weight = limn_tape_alloc_reals(tape, op, max_taps);
    if (!taps->first || !taps->index || !taps->weight)
        return NULL;
    taps->first[0] = 0;
    return taps;
}

static LimnTensor *
apply_taps(LimnTape *tape, const char *op, LimnTensor *x, const Taps *taps, gint64 height,
           gint64 width)
{
    gint64 dim[] = {x->dim[0], x->dim[1], height, width};
    LimnTensor *out = limn_tape_new_tensor(tape, op, 4, dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    for (gint64 p = 0; p < taps->planes; p++)
        for (gint64 o = 0; o < taps->out_area; o++) {
            double sum = 0;
            for (gint64 t = taps->first[o]; t < taps->first[o + 1]; t++)
                sum += (double) taps->weight[t] *
                       x->data[p * taps->in_area + taps->index[t]];
            out->data[p * taps->out_area + o] = (LimnReal) sum;
        }
    LimnNode *node = LIMN_RECORD(tape, op, taps_backward, out, x);
    if (node)
        node->saved[0] = (gpointer) (gsize) taps;
    return out;
}

static gboolean
pool_size(LimnTape *tape, const char *op, LimnTensor *x, int kernel, int stride,
          gint64 *height, gint64 *width)
{
    if (x->rank != 4 || kernel < 1 || stride < 1 || kernel > x->dim[2] ||
        kernel > x->dim[3]) {
        g_autofree char *shape = limn_tensor_describe(x);
        limn_tape_fail(tape, op, "a window of %d by %d in %s", kernel, kernel, shape);
        return FALSE;
    }
    *height = (x->dim[2] - kernel) / stride + 1;
    *width = (x->dim[3] - kernel) / stride + 1;
    return TRUE;
}

LimnTensor *
limn_nn_avg_pool2d(LimnTape *tape, LimnTensor *x, int kernel, int stride)
{
    gint64 height, width;
    if (LIMN_UNUSABLE(tape, "avg_pool2d", x) ||
        !pool_size(tape, "avg_pool2d", x, kernel, stride, &height, &width))
        return limn_tape_poisoned(tape);
    x = limn_tape_contiguous(tape, x);
    Taps *taps = (x->flags & LIMN_TENSOR_POISONED)
                     ? NULL
                     : new_taps(tape, "avg_pool2d", x, height * width,
                                height * width * kernel * kernel);
    if (!taps)
        return limn_tape_poisoned(tape);
    gint64 t = 0;
    for (gint64 o = 0; o < height * width; o++) {
        for (int i = 0; i < kernel * kernel; i++, t++) {
            taps->index[t] = (o / width * stride + i / kernel) * x->dim[3] +
                             o % width * stride + i % kernel;
            taps->weight[t] = (LimnReal) 1 / (LimnReal) (kernel * kernel);
        }
        taps->first[o + 1] = t;
    }
    return apply_taps(tape, "avg_pool2d", x, taps, height, width);
}

// saved[0]: index of the largest element per output
static void
max_pool_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    const gint64 *which = node->saved[0];
    for (gint64 i = 0; gx && i < limn_tensor_length(node->out); i++)
        gx[which[i]] += node->out->grad[i];
}

LimnTensor *
limn_nn_max_pool2d(LimnTape *tape, LimnTensor *x, int kernel, int stride)
{
    gint64 height, width;
    if (LIMN_UNUSABLE(tape, "max_pool2d", x) ||
        !pool_size(tape, "max_pool2d", x, kernel, stride, &height, &width))
        return limn_tape_poisoned(tape);
    x = limn_tape_contiguous(tape, x);
    LimnTensor *out = limn_tape_new_tensor(
        tape, "max_pool2d", 4, (gint64[]){x->dim[0], x->dim[1], height, width});
    gint64 *which = limn_tape_alloc(tape, "max_pool2d",
                                    (gsize) limn_tensor_length(out) * sizeof *which);
    if (LIMN_UNUSABLE(tape, "max_pool2d", x, out) || !which)
        return limn_tape_poisoned(tape);
    for (gint64 o = 0; o < limn_tensor_length(out); o++) {
        gint64 plane = o / (height * width), y = o / width % height * stride;
        gint64 corner = (plane * x->dim[2] + y) * x->dim[3] + o % width * stride;
        which[o] = corner;
        for (int i = 0; i < kernel * kernel; i++) {
            gint64 at = corner + i / kernel * x->dim[3] + i % kernel;
            if (x->data[at] > x->data[which[o]])
                which[o] = at;
        }
        out->data[o] = x->data[which[o]];
    }
    LimnNode *node = LIMN_RECORD(tape, "max_pool2d", max_pool_backward, out, x);
    if (node)
        node->saved[0] = which;
    return out;
}

// Source (i + 0.5) in / out - 0.5, clamped at 0, neighbours clamped (align_corners
// false).
static void
linear_taps(gint64 o, gint64 in, gint64 out, gint64 at[2], double weight[2])
{
    double s = MAX(((double) o + 0.5) * (double) in / (double) out - 0.5, 0);
    gint64 low = MIN((gint64) s, in - 1);
    at[0] = low;
    at[1] = MIN(low + 1, in - 1);
    weight[1] = s - (double) low;
    weight[0] = 1 - weight[1];
}

// Room for `each` taps per pixel of planes height x width made from those of *x, which
// becomes contiguous; NULL with the tape's error.
static Taps *
resize_taps(LimnTape *tape, const char *op, LimnTensor **x, gint64 height, gint64 width,
            gint64 each)
{
    if (limn_tape_unusable(tape, op, x, 1))
        return NULL;
    if ((*x)->rank != 4 || height < 1 || width < 1 || !(*x)->dim[2] || !(*x)->dim[3]) {
        limn_tape_fail(tape, op,
                       "planes of rank %d to %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT,
                       (*x)->rank, height, width);
        return NULL;
    }
    *x = limn_tape_contiguous(tape, *x);
    return ((*x)->flags & LIMN_TENSOR_POISONED)
               ? NULL
               : new_taps(tape, op, *x, height * width, height * width * each);
}

LimnTensor *
limn_nn_upsample_bilinear(LimnTape *tape, LimnTensor *x, gint64 height, gint64 width)
{
    const char *op = "upsample_bilinear";
    Taps *taps = resize_taps(tape, op, &x, height, width, 4);
    if (!taps)
        return limn_tape_poisoned(tape);
    gint64 t = 0;
    for (gint64 o = 0; o < height * width; o++) {
        gint64 ys[2], xs[2];
        double wy[2], wx[2];
        linear_taps(o / width, x->dim[2], height, ys, wy);
        linear_taps(o % width, x->dim[3], width, xs, wx);
        for (int i = 0; i < 4; i++, t++) {
            taps->index[t] = ys[i / 2] * x->dim[3] + xs[i % 2];
            taps->weight[t] = (LimnReal) (wy[i / 2] * wx[i % 2]);
        }
        taps->first[o + 1] = t;
    }
    return apply_taps(tape, op, x, taps, height, width);
}

LimnTensor *
limn_nn_upsample_nearest(LimnTape *tape, LimnTensor *x, gint64 height, gint64 width)
{
    const char *op = "upsample_nearest";
    Taps *taps = resize_taps(tape, op, &x, height, width, 1);
    if (!taps)
        return limn_tape_poisoned(tape);
    for (gint64 o = 0; o < height * width; o++) {
        taps->index[o] =
            o / width * x->dim[2] / height * x->dim[3] + o % width * x->dim[3] / width;
        taps->weight[o] = 1;
        taps->first[o + 1] = o + 1;
    }
    return apply_taps(tape, op, x, taps, height, width);
}

// ---- pixel shuffle: [N, C r r, H, W] <-> [N, C, H r, W r]; a permutation of elements

// Index in the packed tensor of element `at` of the spread one.
static gint64
packed_index(gint64 at, const gint64 *spread, int r)
{
    gint64 x = at % spread[3], y = at / spread[3] % spread[2];
    gint64 c = at / spread[3] / spread[2] % spread[1],
           n = at / spread[3] / spread[2] / spread[1];
    gint64 h = spread[2] / r, w = spread[3] / r;
    gint64 channel = (c * r + y % r) * r + x % r;
    return ((n * spread[1] * r * r + channel) * h + y / r) * w + x / r;
}

// node: i[0] = r, i[1] = the output is the spread one
static void
shuffle_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    const gint64 *spread = node->i[1] ? node->out->dim : node->in[0]->dim;
    for (gint64 i = 0; gx && i < limn_tensor_length(node->out); i++) {
        gint64 packed = packed_index(i, spread, (int) node->i[0]);
        if (node->i[1])
            gx[packed] += node->out->grad[i];
        else
            gx[i] += node->out->grad[packed];
    }
}

static LimnTensor *
shuffle(LimnTape *tape, const char *op, LimnTensor *x, int r, gboolean spreads)
{
    if (LIMN_UNUSABLE(tape, op, x))
        return limn_tape_poisoned(tape);
    gboolean fits =
        x->rank == 4 && r >= 1 && r <= 1024 &&
        (spreads ? x->dim[1] % (r * r) == 0 : x->dim[2] % r == 0 && x->dim[3] % r == 0);
    if (!fits) {
        g_autofree char *shape = limn_tensor_describe(x);
        return limn_tape_fail(tape, op, "%s cannot be divided by %d", shape, r);
    }
    x = limn_tape_contiguous(tape, x);
    gint64 dim[] = {x->dim[0], spreads ? x->dim[1] / (r * r) : x->dim[1] * r * r,
                    spreads ? x->dim[2] * r : x->dim[2] / r,
                    spreads ? x->dim[3] * r : x->dim[3] / r};
    LimnTensor *out = limn_tape_new_tensor(tape, op, 4, dim);
    if (LIMN_UNUSABLE(tape, op, x, out))
        return limn_tape_poisoned(tape);
    const gint64 *spread = spreads ? out->dim : x->dim;
    for (gint64 i = 0; i < limn_tensor_length(x); i++) {
        gint64 packed = packed_index(i, spread, r);
        if (spreads)
            out->data[i] = x->data[packed];
        else
            out->data[packed] = x->data[i];
    }
    LimnNode *node = LIMN_RECORD(tape, op, shuffle_backward, out, x);
    if (node) {
        node->i[0] = r;
        node->i[1] = spreads;
    }
    return out;
}

LimnTensor *
limn_nn_pixel_shuffle(LimnTape *tape, LimnTensor *x, int r)
{
    return shuffle(tape, "pixel_shuffle", x, r, TRUE);
}

LimnTensor *
limn_nn_pixel_unshuffle(LimnTape *tape, LimnTensor *x, int r)
{
    return shuffle(tape, "pixel_unshuffle", x, r, FALSE);
}
