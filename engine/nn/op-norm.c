// SPDX-License-Identifier: GPL-3.0-or-later

// Normalisation and softmax. Statistics are carried in double.

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <math.h>
#include <string.h>

#define ROWS_PER_CHUNK 32

static gboolean
vector_fits(const LimnTensor *t, gint64 n)
{
    return !t || (t->rank == 1 && t->dim[0] == n);
}

// Gain or bias as the loops read it; NULL stays NULL.
static LimnTensor *
contiguous_vector(LimnTape *tape, LimnTensor *t)
{
    return t ? limn_tape_contiguous(tape, t) : NULL;
}

// Sums of the gradients of gain and bias: two rows of zeros.
static double *
channel_sums(LimnTape *tape, const char *op, gint64 n)
{
    double *sums = limn_tape_alloc(tape, op, 2 * (gsize) n * sizeof *sums);
    if (sums)
        memset(sums, 0, 2 * (gsize) n * sizeof *sums);
    return sums;
}

// ---- layer_norm: y = (x - mean) r w + b, r = (var + eps)^-1/2, biased variance
// Backward per row: h = g w, gx = r (h - mean(h) - xh mean(h xh)); gw += g xh; gb += g.

typedef struct {
    const LimnReal *x, *w, *b, *g;
    LimnReal *y, *gx;
    double *mean, *r;
    gint64 n;
    double eps;
} LayerNorm;

static void
layer_norm_rows(gint64 begin, gint64 end, gpointer data)
{
    const LayerNorm *l = data;
    for (gint64 i = begin; i < end; i++) {
        const LimnReal *x = l->x + i * l->n;
        LimnReal *y = l->y + i * l->n;
        double sum = 0, square = 0;
        for (gint64 j = 0; j < l->n; j++)
            sum += x[j];
        double mean = sum / (double) l->n;
        for (gint64 j = 0; j < l->n; j++)
            square += (x[j] - mean) * (x[j] - mean);
        double r = 1 / sqrt(square / (double) l->n + l->eps);
        l->mean[i] = mean;
        l->r[i] = r;
        for (gint64 j = 0; j < l->n; j++) {
            LimnReal xh = (LimnReal) ((x[j] - mean) * r);
            y[j] = xh * (l->w ? l->w[j] : 1) + (l->b ? l->b[j] : 0);
        }
    }
}

static void
layer_norm_grad_rows(gint64 begin, gint64 end, gpointer data)
{
    const LayerNorm *l = data;
    for (gint64 i = begin; i < end; i++) {
        const LimnReal *x = l->x + i * l->n, *g = l->g + i * l->n;
        LimnReal *gx = l->gx + i * l->n;
        double mean = l->mean[i], r = l->r[i], sum = 0, dot = 0;
        for (gint64 j = 0; j < l->n; j++) {
            double h = (double) g[j] * (l->w ? l->w[j] : 1);
            sum += h;
            dot += h * (x[j] - mean) * r;
        }
        sum /= (double) l->n;
        dot /= (double) l->n;
        for (gint64 j = 0; j < l->n; j++) {
            double h = (double) g[j] * (l->w ? l->w[j] : 1);
            gx[j] += (LimnReal) (r * (h - sum - (x[j] - mean) * r * dot));
        }
    }
}

static void
layer_norm_parameters(LimnTape *tape, const LayerNorm *l, gint64 rows, LimnReal *gw,
                      LimnReal *gb)
{
    double *sums = channel_sums(tape, "layer_norm", l->n);
    if (!sums)
        return;
    for (gint64 i = 0; i < rows; i++)
        for (gint64 j = 0; j < l->n; j++) {
            double g = l->g[i * l->n + j];
            sums[j] += g * (l->x[i * l->n + j] - l->mean[i]) * l->r[i];
            sums[l->n + j] += g;
        }
    for (gint64 j = 0; j < l->n; j++) {
        if (gw)
            gw[j] += (LimnReal) sums[j];
        if (gb)
            gb[j] += (LimnReal) sums[l->n + j];
    }
}

static void
layer_norm_backward(LimnTape *tape, LimnNode *node)
{
    LimnTensor *x = node->in[0], *w = node->in[1], *b = node->in[2];
    gint64 n = x->dim[x->rank - 1], rows = node->i[0];
    LayerNorm l = {.x = x->data,
                   .w = w ? w->data : NULL,
                   .g = node->out->grad,
                   .mean = node->saved[0],
                   .r = node->saved[1],
                   .n = n};
    l.gx = limn_tape_grad(tape, x);
    if (l.gx)
        limn_tape_for(tape, rows, ROWS_PER_CHUNK, layer_norm_grad_rows, &l);
    LimnReal *gw = w ? limn_tape_grad(tape, w) : NULL;
    LimnReal *gb = b ? limn_tape_grad(tape, b) : NULL;
    if (gw || gb)
        layer_norm_parameters(tape, &l, rows, gw, gb);
}

LimnTensor *
limn_nn_layer_norm(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b,
                   double eps)
{
    if (LIMN_UNUSABLE(tape, "layer_norm", x, w, b))
        return limn_tape_poisoned(tape);
    gint64 n = x->rank ? x->dim[x->rank - 1] : 0;
    if (n == 0 || !vector_fits(w, n) || !vector_fits(b, n))
        return limn_tape_fail_shapes(tape, "layer_norm", x, w ? w : x, "last dimension");
    x = limn_tape_contiguous(tape, x);
    w = contiguous_vector(tape, w);
    b = contiguous_vector(tape, b);
    LimnTensor *out = limn_tape_new_tensor(tape, "layer_norm", x->rank, x->dim);
    gint64 rows = limn_tensor_length(x) / n;
    double *mean = limn_tape_alloc(tape, "layer_norm", (gsize) rows * sizeof *mean);
    double *r = limn_tape_alloc(tape, "layer_norm", (gsize) rows * sizeof *r);
    if (LIMN_UNUSABLE(tape, "layer_norm", x, w, b, out) || !mean || !r)
        return limn_tape_poisoned(tape);
    LayerNorm l = {.x = x->data,
                   .w = w ? w->data : NULL,
                   .b = b ? b->data : NULL,
                   .y = out->data,
                   .mean = mean,
                   .r = r,
                   .n = n,
                   .eps = eps};
    limn_tape_for(tape, rows, ROWS_PER_CHUNK, layer_norm_rows, &l);
    LimnNode *node = LIMN_RECORD(tape, "layer_norm", layer_norm_backward, out, x, w, b);
    if (node) {
        node->saved[0] = mean;
        node->saved[1] = r;
        node->i[0] = rows;
    }
    return out;
}

// ---- rms_norm: r = (mean x^2 + eps)^-1/2; with w [n] fused: gx = r (gw - x r^2 mean(gw
// x))

static void
rms_backward(LimnTape *tape, LimnNode *node)
{
    LimnTensor *x = node->in[0];
    LimnReal *gx = limn_tape_grad(tape, x);
    const double *r = node->saved[0];
    const LimnReal *g = node->out->grad;
    gint64 n = x->dim[x->rank - 1];
    for (gint64 i = 0; gx && i < node->i[0]; i++) {
        const LimnReal *row = x->data + i * n;
        double dot = 0;
        for (gint64 j = 0; j < n; j++)
            dot += (double) g[i * n + j] * row[j];
        dot *= r[i] * r[i] / (double) n;
        for (gint64 j = 0; j < n; j++)
            gx[i * n + j] += (LimnReal) (r[i] * (g[i * n + j] - row[j] * dot));
    }
}

static LimnTensor *
rms_normalised(LimnTape *tape, LimnTensor *x, double eps)
{
    gint64 n = x->rank ? x->dim[x->rank - 1] : 0;
    if (n == 0)
        return limn_tape_fail(tape, "rms_norm", "the last dimension is empty");
    x = limn_tape_contiguous(tape, x);
    gint64 rows = limn_tensor_length(x) / n;
    LimnTensor *out = limn_tape_new_tensor(tape, "rms_norm", x->rank, x->dim);
    double *r = limn_tape_alloc(tape, "rms_norm", (gsize) rows * sizeof *r);
    if (((out->flags | x->flags) & LIMN_TENSOR_POISONED) || !r)
        return limn_tape_poisoned(tape);
    for (gint64 i = 0; i < rows; i++) {
        double sum = 0;
        for (gint64 j = 0; j < n; j++)
            sum += (double) x->data[i * n + j] * x->data[i * n + j];
        r[i] = 1 / sqrt(sum / (double) n + eps);
        for (gint64 j = 0; j < n; j++)
            out->data[i * n + j] = (LimnReal) (x->data[i * n + j] * r[i]);
    }
    LimnNode *node = LIMN_RECORD(tape, "rms_norm", rms_backward, out, x);
    if (node) {
        node->saved[0] = r;
        node->i[0] = rows;
    }
    return out;
}

LimnTensor *
limn_nn_rms_norm(LimnTape *tape, LimnTensor *x, LimnTensor *w, double eps)
{
    if (LIMN_UNUSABLE(tape, "rms_norm", x, w))
        return limn_tape_poisoned(tape);
    LimnTensor *y = rms_normalised(tape, x, eps);
    return w ? limn_nn_mul(tape, y, w) : y;
}

// ---- group and batch norm: sets of elements that share statistics and a channel's gain

// Statistics over `set` elements: for group norm the set is contiguous; for batch norm it
// is strided over samples. Both are seen as [outer][set] through an index function.
typedef struct {
    gint64 n_sets, samples, channels, area; // x [samples, channels, area]
    int groups;                             // 0: batch norm, one set per channel
} NormPlan;

typedef struct {
    gint64 sample0, samples, channel0, channels;
} NormSet;

static NormSet
norm_set(const NormPlan *p, gint64 s)
{
    if (p->groups == 0)
        return (NormSet){0, p->samples, s, 1};
    gint64 per = p->channels / p->groups;
    return (NormSet){s / p->groups, 1, s % p->groups * per, per};
}

#define FOR_SET(p, set, ...)                                                             \
    do {                                                                                 \
        for (gint64 n_ = (set).sample0; n_ < (set).sample0 + (set).samples; n_++)        \
            for (gint64 c = (set).channel0; c < (set).channel0 + (set).channels; c++)    \
                for (gint64 a_ = 0; a_ < (p)->area; a_++) {                              \
                    gint64 at = (n_ * (p)->channels + c) * (p)->area + a_;               \
                    __VA_ARGS__;                                                         \
                }                                                                        \
    } while (0)

static NormPlan
saved_plan(const LimnNode *node)
{
    return (NormPlan){node->i[0], node->i[1], node->i[2], node->i[3], (int) node->i[4]};
}

// node->i[5]: statistics are constants (evaluation); saved: mean, r per set
static void
set_norm_backward(LimnTape *tape, LimnNode *node)
{
    NormPlan p = saved_plan(node);
    const double *mean = node->saved[0], *r = node->saved[1];
    const LimnReal *x = node->in[0]->data, *w = node->in[1] ? node->in[1]->data : NULL;
    const LimnReal *g = node->out->grad;
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    LimnReal *gw = node->in[1] ? limn_tape_grad(tape, node->in[1]) : NULL;
    LimnReal *gb = node->in[2] ? limn_tape_grad(tape, node->in[2]) : NULL;
    double *sums = channel_sums(tape, node->op, p.channels);
    if (!sums)
        return;
    for (gint64 s = 0; s < p.n_sets; s++) {
        NormSet set = norm_set(&p, s);
        double m = mean[s], k = r[s], sum = 0, dot = 0;
        double count = (double) (set.samples * set.channels * p.area);
        FOR_SET(&p, set, {
            double xh = (x[at] - m) * k, h = (double) g[at] * (w ? w[c] : 1);
            sum += h;
            dot += h * xh;
            sums[c] += g[at] * xh;
            sums[p.channels + c] += g[at];
        });
        if (node->i[5])
            sum = dot = 0;
        if (gx)
            FOR_SET(&p, set, {
                double xh = (x[at] - m) * k, h = (double) g[at] * (w ? w[c] : 1);
                gx[at] += (LimnReal) (k * (h - sum / count - xh * dot / count));
            });
    }
    for (gint64 c = 0; gw && c < p.channels; c++)
        gw[c] += (LimnReal) sums[c];
    for (gint64 c = 0; gb && c < p.channels; c++)
        gb[c] += (LimnReal) sums[p.channels + c];
}

static LimnTensor *
set_norm(LimnTape *tape, const char *op, LimnTensor *x, LimnTensor *w, LimnTensor *b,
         const NormPlan *p, double *mean, double *r, gboolean constant)
{
    LimnTensor *out = limn_tape_new_tensor(tape, op, x->rank, x->dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    for (gint64 s = 0; s < p->n_sets; s++) {
        NormSet set = norm_set(p, s);
        double m = mean[s], k = r[s];
        FOR_SET(p, set,
                out->data[at] =
                    (LimnReal) ((x->data[at] - m) * k) * (w ? w->data[c] : 1) +
                    (b ? b->data[c] : 0));
    }
    LimnNode *node = LIMN_RECORD(tape, op, set_norm_backward, out, x, w, b);
    if (node) {
        gint64 values[] = {p->n_sets, p->samples, p->channels,
                           p->area,   p->groups,  constant};
        for (gsize i = 0; i < G_N_ELEMENTS(values); i++)
            node->i[i] = values[i];
        node->saved[0] = mean;
        node->saved[1] = r;
    }
    return out;
}

static void
set_statistics(const LimnTensor *x, const NormPlan *p, double eps, double *mean,
               double *r, double *variance)
{
    for (gint64 s = 0; s < p->n_sets; s++) {
        NormSet set = norm_set(p, s);
        double sum = 0, square = 0;
        double count = (double) (set.samples * set.channels * p->area);
        FOR_SET(p, set, {
            (void) c;
            sum += x->data[at];
        });
        mean[s] = sum / count;
        FOR_SET(p, set, {
            (void) c;
            double d = x->data[at] - mean[s];
            square += d * d;
        });
        variance[s] = square / count;
        r[s] = 1 / sqrt(variance[s] + eps);
    }
}

static gboolean
plan_channels(LimnTape *tape, const char *op, LimnTensor *x, LimnTensor *w, LimnTensor *b,
              NormPlan *p)
{
    if (x->rank < 2 || !vector_fits(w, x->dim[1]) || !vector_fits(b, x->dim[1]) ||
        limn_tensor_length(x) == 0) {
        limn_tape_fail_shapes(tape, op, x, w ? w : x, "[N, C, ...] and [C]");
        return FALSE;
    }
    p->samples = x->dim[0];
    p->channels = x->dim[1];
    p->area = x->dim[2] * x->dim[3];
    return TRUE;
}

LimnTensor *
limn_nn_group_norm(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b,
                   int groups, double eps)
{
    NormPlan p = {.groups = groups};
    if (LIMN_UNUSABLE(tape, "group_norm", x, w, b) ||
        !plan_channels(tape, "group_norm", x, w, b, &p))
        return limn_tape_poisoned(tape);
    if (groups < 1 || p.channels % groups != 0)
        return limn_tape_fail(tape, "group_norm",
                              "%" G_GINT64_FORMAT " channels in %d groups", p.channels,
                              groups);
    x = limn_tape_contiguous(tape, x);
    w = contiguous_vector(tape, w);
    b = contiguous_vector(tape, b);
    p.n_sets = p.samples * groups;
    double *stats =
        limn_tape_alloc(tape, "group_norm", 3 * (gsize) p.n_sets * sizeof *stats);
    if (!stats || LIMN_UNUSABLE(tape, "group_norm", x, w, b))
        return limn_tape_poisoned(tape);
    set_statistics(x, &p, eps, stats, stats + p.n_sets, stats + 2 * p.n_sets);
    return set_norm(tape, "group_norm", x, w, b, &p, stats, stats + p.n_sets, FALSE);
}

static void
update_running(const NormPlan *p, const double *mean, const double *variance,
               double momentum, LimnReal *running_mean, LimnReal *running_var)
{
    double count = (double) (p->samples * p->area);
    for (gint64 c = 0; c < p->channels; c++) {
        if (running_mean)
            running_mean[c] =
                (LimnReal) ((1 - momentum) * running_mean[c] + momentum * mean[c]);
        if (running_var)
            running_var[c] =
                (LimnReal) ((1 - momentum) * running_var[c] +
                            momentum * variance[c] * count / MAX(count - 1, 1));
    }
}

LimnTensor *
limn_nn_batch_norm(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b,
                   LimnReal *running_mean, LimnReal *running_var, gboolean training,
                   double momentum, double eps)
{
    NormPlan p = {.groups = 0};
    if (LIMN_UNUSABLE(tape, "batch_norm", x, w, b) ||
        !plan_channels(tape, "batch_norm", x, w, b, &p))
        return limn_tape_poisoned(tape);
    if (!training && (!running_mean || !running_var))
        return limn_tape_fail(tape, "batch_norm", "evaluation needs running statistics");
    x = limn_tape_contiguous(tape, x);
    w = contiguous_vector(tape, w);
    b = contiguous_vector(tape, b);
    p.n_sets = p.channels;
    double *mean =
        limn_tape_alloc(tape, "batch_norm", 3 * (gsize) p.n_sets * sizeof *mean);
    if (!mean || LIMN_UNUSABLE(tape, "batch_norm", x, w, b))
        return limn_tape_poisoned(tape);
    double *r = mean + p.n_sets, *variance = mean + 2 * p.n_sets;
    if (training) {
        set_statistics(x, &p, eps, mean, r, variance);
        update_running(&p, mean, variance, momentum, running_mean, running_var);
    } else {
        for (gint64 c = 0; c < p.channels; c++) {
            mean[c] = running_mean[c];
            r[c] = 1 / sqrt(running_var[c] + eps);
        }
    }
    return set_norm(tape, "batch_norm", x, w, b, &p, mean, r, !training);
}

// ---- l2_normalize: y = x / max(|x|, eps); gx = (g - y <g, y>) / |x|

typedef struct {
    gint64 outer, size, inner;
} Columns;

static void
l2_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    const double *norm = node->saved[0];
    const LimnReal *g = node->out->grad, *y = node->out->data;
    gint64 size = node->i[1], inner = node->i[2];
    for (gint64 o = 0; gx && o < node->i[0]; o++)
        for (gint64 i = 0; i < inner; i++) {
            double dot = 0, n = norm[o * inner + i];
            for (gint64 j = 0; j < size; j++) {
                gint64 at = (o * size + j) * inner + i;
                dot += (double) g[at] * y[at];
            }
            // At the clamp the norm is a constant.
            if (n <= node->d[0])
                dot = 0;
            for (gint64 j = 0; j < size; j++) {
                gint64 at = (o * size + j) * inner + i;
                gx[at] += (LimnReal) ((g[at] - y[at] * dot) / MAX(n, node->d[0]));
            }
        }
}

LimnTensor *
limn_nn_l2_normalize(LimnTape *tape, LimnTensor *x, int dim, double eps)
{
    if (LIMN_UNUSABLE(tape, "l2_normalize", x))
        return limn_tape_poisoned(tape);
    int along = limn_shape_dim(x, dim);
    if (along < 0)
        return limn_tape_fail(tape, "l2_normalize", "dimension %d is out of range", dim);
    x = limn_tape_contiguous(tape, x);
    LimnTensor *out = limn_tape_new_tensor(tape, "l2_normalize", x->rank, x->dim);
    Columns c;
    limn_tensor_split(x, along, &c.outer, &c.size, &c.inner);
    double *norm =
        limn_tape_alloc(tape, "l2_normalize", (gsize) (c.outer * c.inner) * sizeof *norm);
    if (((out->flags | x->flags) & LIMN_TENSOR_POISONED) || !norm)
        return limn_tape_poisoned(tape);
    for (gint64 o = 0; o < c.outer; o++)
        for (gint64 i = 0; i < c.inner; i++) {
            double sum = 0;
            for (gint64 j = 0; j < c.size; j++) {
                double v = x->data[(o * c.size + j) * c.inner + i];
                sum += v * v;
            }
            double n = norm[o * c.inner + i] = sqrt(sum);
            for (gint64 j = 0; j < c.size; j++) {
                gint64 at = (o * c.size + j) * c.inner + i;
                out->data[at] = (LimnReal) (x->data[at] / MAX(n, eps));
            }
        }
    LimnNode *node = LIMN_RECORD(tape, "l2_normalize", l2_backward, out, x);
    if (node) {
        node->saved[0] = norm;
        node->i[0] = c.outer;
        node->i[1] = c.size;
        node->i[2] = c.inner;
        node->d[0] = eps;
    }
    return out;
}

LimnTensor *
limn_nn_cosine_matrix(LimnTape *tape, LimnTensor *a, LimnTensor *b, double eps)
{
    return limn_nn_matmul(tape, limn_nn_l2_normalize(tape, a, -1, eps),
                          limn_nn_l2_normalize(tape, b, -1, eps), FALSE, TRUE);
}

// ---- softmax: gx = y (g - <g, y>); log_softmax: gx = g - softmax sum(g)

typedef struct {
    const LimnReal *x, *y, *g;
    LimnReal *out;
    gint64 n;
    gboolean log;
} Softmax;

static void
softmax_rows(gint64 begin, gint64 end, gpointer data)
{
    const Softmax *s = data;
    for (gint64 r = begin; r < end; r++) {
        const LimnReal *x = s->x + r * s->n;
        LimnReal *y = s->out + r * s->n;
        LimnReal top = (LimnReal) -INFINITY;
        for (gint64 j = 0; j < s->n; j++)
            top = MAX(top, x[j]);
        if (top == (LimnReal) -INFINITY) { // a row of only -inf: zeros, not NaN
            for (gint64 j = 0; j < s->n; j++)
                y[j] = s->log ? (LimnReal) -INFINITY : 0;
            continue;
        }
        double sum = 0;
        for (gint64 j = 0; j < s->n; j++) {
            LimnReal e = (LimnReal) exp((double) (x[j] - top));
            y[j] = s->log ? x[j] - top : e;
            sum += e;
        }
        LimnReal scale = (LimnReal) (1 / sum), shift = (LimnReal) log(sum);
        for (gint64 j = 0; j < s->n; j++)
            y[j] = s->log ? y[j] - shift : y[j] * scale;
    }
}

static void
softmax_grad_rows(gint64 begin, gint64 end, gpointer data)
{
    const Softmax *s = data;
    for (gint64 r = begin; r < end; r++) {
        const LimnReal *y = s->y + r * s->n, *g = s->g + r * s->n;
        LimnReal *gx = s->out + r * s->n;
        double sum = 0;
        for (gint64 j = 0; j < s->n; j++)
            sum += s->log ? g[j] : (double) g[j] * y[j];
        for (gint64 j = 0; j < s->n; j++)
            gx[j] += s->log ? g[j] - (LimnReal) (exp(y[j]) * sum)
                            : y[j] * (g[j] - (LimnReal) sum);
    }
}

static void
softmax_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    Softmax s = {.y = node->out->data,
                 .g = node->out->grad,
                 .out = gx,
                 .n = node->i[0],
                 .log = node->i[1] != 0};
    if (gx && s.n)
        limn_tape_for(tape, limn_tensor_length(node->out) / s.n, ROWS_PER_CHUNK,
                      softmax_grad_rows, &s);
}

// Along the last dimension.
static LimnTensor *
softmax_last(LimnTape *tape, LimnTensor *a, gboolean log)
{
    const char *op = log ? "log_softmax" : "softmax";
    a = limn_tape_contiguous(tape, a);
    if (a->flags & LIMN_TENSOR_POISONED)
        return a;
    LimnTensor *out = limn_tape_new_tensor(tape, op, a->rank, a->dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    gint64 n = a->dim[a->rank - 1];
    Softmax s = {.x = a->data, .out = out->data, .n = n, .log = log};
    if (n)
        limn_tape_for(tape, limn_tensor_length(a) / n, ROWS_PER_CHUNK, softmax_rows, &s);
    LimnNode *node = LIMN_RECORD(tape, op, softmax_backward, out, a);
    if (node) {
        node->i[0] = n;
        node->i[1] = log;
    }
    return out;
}

static LimnTensor *
softmax_along(LimnTape *tape, LimnTensor *a, int dim, gboolean log)
{
    const char *op = log ? "log_softmax" : "softmax";
    if (LIMN_UNUSABLE(tape, op, a))
        return limn_tape_poisoned(tape);
    int along = limn_shape_dim(a, dim);
    if (along < 0)
        return limn_tape_fail(tape, op, "dimension %d is out of range", dim);
    if (along == a->rank - 1)
        return softmax_last(tape, a, log);
    int swap[4] = {0, 1, 2, 3};
    swap[along] = a->rank - 1;
    swap[a->rank - 1] = along;
    LimnTensor *y = softmax_last(tape, limn_nn_permute(tape, a, swap), log);
    return limn_nn_permute(tape, y, swap);
}

LimnTensor *
limn_nn_softmax(LimnTape *tape, LimnTensor *a, LimnTensor *mask, int dim)
{
    return softmax_along(tape, mask ? limn_nn_add(tape, a, mask) : a, dim, FALSE);
}

LimnTensor *
limn_nn_log_softmax(LimnTape *tape, LimnTensor *a, int dim)
{
    return softmax_along(tape, a, dim, TRUE);
}
