// SPDX-License-Identifier: GPL-3.0-or-later

// Elementwise operations: unary maps, broadcasting binary maps, masks.

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <math.h>
#include <string.h>

#define CHUNK 8192
#define SQRT_HALF LIMN_R(0.70710678118654752440)
#define INV_SQRT_2PI LIMN_R(0.39894228040143267794)
#define SQRT_2_OVER_PI LIMN_R(0.79788456080286535588)

#ifdef LIMN_NN_DOUBLE
#define R_EXP exp
#define R_LOG log
#define R_LOG1P log1p
#define R_SQRT sqrt
#define R_SIN sin
#define R_COS cos
#define R_TANH tanh
#define R_ERF erf
#define R_POW pow
#define R_ABS fabs
#define R_EXPM1 expm1
#else
#define R_EXP expf
#define R_LOG logf
#define R_LOG1P log1pf
#define R_SQRT sqrtf
#define R_SIN sinf
#define R_COS cosf
#define R_TANH tanhf
#define R_ERF erff
#define R_POW powf
#define R_ABS fabsf
#define R_EXPM1 expm1f
#endif

// ---- unary

typedef struct {
    const LimnReal *x, *y, *g;
    LimnReal *out; // forward: y; backward: gradient of x
    LimnReal p0, p1;
} Unary;

typedef struct {
    const char *name;
    LimnRangeFunc forward, backward;
} UnaryOp;

static inline LimnReal
sigmoid(LimnReal x)
{
    return 1 / (1 + R_EXP(-x));
}

static inline LimnReal
softplus(LimnReal x)
{
    return MAX(x, 0) + R_LOG1P(R_EXP(-R_ABS(x)));
}

static inline LimnReal
normal_cdf(LimnReal x)
{
    return LIMN_R(0.5) * (1 + R_ERF(x * SQRT_HALF));
}

static inline LimnReal
gelu_tanh_inner(LimnReal x)
{
    return R_TANH(SQRT_2_OVER_PI * (x + LIMN_R(0.044715) * x * x * x));
}

static inline LimnReal
gelu_tanh_slope(LimnReal x)
{
    LimnReal t = gelu_tanh_inner(x);
    return LIMN_R(0.5) * (1 + t) + LIMN_R(0.5) * x * (1 - t * t) * SQRT_2_OVER_PI *
                                       (1 + LIMN_R(0.134145) * x * x);
}

static inline LimnReal
gated_slope(LimnReal x, LimnReal k)
{
    LimnReal s = sigmoid(k * x);
    return s * (1 + k * x * (1 - s));
}

// Y: the value from x (and parameters p0, p1); D: the derivative from x and y.
#define UNARY(id, Y, D)                                                                  \
    static void id##_forward(gint64 begin, gint64 end, gpointer data)                    \
    {                                                                                    \
        const Unary *u = data;                                                           \
        G_GNUC_UNUSED const LimnReal p0 = u->p0, p1 = u->p1;                             \
        for (gint64 i = begin; i < end; i++) {                                           \
            const LimnReal x = u->x[i];                                                  \
            u->out[i] = (Y);                                                             \
        }                                                                                \
    }                                                                                    \
    static void id##_backward(gint64 begin, gint64 end, gpointer data)                   \
    {                                                                                    \
        const Unary *u = data;                                                           \
        G_GNUC_UNUSED const LimnReal p0 = u->p0, p1 = u->p1;                             \
        for (gint64 i = begin; i < end; i++) {                                           \
            G_GNUC_UNUSED const LimnReal x = u->x[i], y = u->y[i];                       \
            u->out[i] += u->g[i] * (D);                                                  \
        }                                                                                \
    }                                                                                    \
    static const UnaryOp id = {#id, id##_forward, id##_backward};

UNARY(scale_add, p0 *x + p1, p0)
UNARY(square, x *x, 2 * x)
UNARY(power, R_POW(x, p0), p0 *R_POW(x, p0 - 1))
UNARY(absolute, R_ABS(x), x > 0 ? 1 : x < 0 ? -1 : 0)
UNARY(exponential, R_EXP(x), y)
UNARY(logarithm, R_LOG(x), 1 / x)
UNARY(square_root, R_SQRT(x), LIMN_R(0.5) / y)
UNARY(reciprocal_root, 1 / R_SQRT(x), LIMN_R(-0.5) * y * y * y)
UNARY(sine, R_SIN(x), R_COS(x))
UNARY(cosine, R_COS(x), -R_SIN(x))
UNARY(hyperbolic_tangent, R_TANH(x), 1 - y * y)
UNARY(logistic, sigmoid(x), y *(1 - y))
UNARY(soft_plus, softplus(x), sigmoid(x))
UNARY(log_logistic, -softplus(-x), sigmoid(-x))
UNARY(rectified, x > 0 ? x : 0, x > 0 ? 1 : 0)
UNARY(leaky, x > 0 ? x : p0 * x, x > 0 ? 1 : p0)
UNARY(exponential_linear, x > 0 ? x : p0 * R_EXPM1(x), x > 0 ? 1 : y + p0)
UNARY(gelu_erf, x *normal_cdf(x),
      normal_cdf(x) + x * INV_SQRT_2PI * R_EXP(LIMN_R(-0.5) * x * x))
UNARY(gelu_tanh, LIMN_R(0.5) * x * (1 + gelu_tanh_inner(x)), gelu_tanh_slope(x))
UNARY(quick_gelu, x *sigmoid(LIMN_R(1.702) * x), gated_slope(x, LIMN_R(1.702)))
UNARY(silu, x *sigmoid(x), gated_slope(x, 1))
UNARY(clamped, x<p0 ? p0 : x> p1 ? p1 : x, x >= p0 && x <= p1 ? 1 : 0)

static void
unary_backward(LimnTape *tape, LimnNode *node)
{
    const UnaryOp *op = node->saved[0];
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    if (!gx)
        return;
    Unary u = {node->in[0]->data,     node->out->data,      node->out->grad, gx,
               (LimnReal) node->d[0], (LimnReal) node->d[1]};
    limn_tape_for(tape, limn_tensor_length(node->out), CHUNK, op->backward, &u);
}

static LimnTensor *
unary(LimnTape *tape, const UnaryOp *op, LimnTensor *a, double p0, double p1)
{
    if (LIMN_UNUSABLE(tape, op->name, a))
        return limn_tape_poisoned(tape);
    a = limn_tape_contiguous(tape, a);
    LimnTensor *out = limn_tape_new_tensor(tape, op->name, a->rank, a->dim);
    if ((out->flags | a->flags) & LIMN_TENSOR_POISONED)
        return limn_tape_poisoned(tape);
    Unary u = {a->data, NULL, NULL, out->data, (LimnReal) p0, (LimnReal) p1};
    limn_tape_for(tape, limn_tensor_length(out), CHUNK, op->forward, &u);
    LimnNode *node = LIMN_RECORD(tape, op->name, unary_backward, out, a);
    if (node) {
        node->saved[0] = (gpointer) (gsize) op;
        node->d[0] = p0;
        node->d[1] = p1;
    }
    return out;
}

#define PLAIN(function, op)                                                              \
    LimnTensor *limn_nn_##function(LimnTape *tape, LimnTensor *a)                        \
    {                                                                                    \
        return unary(tape, &op, a, 0, 0);                                                \
    }

PLAIN(square, square)
PLAIN(abs, absolute)
PLAIN(exp, exponential)
PLAIN(log, logarithm)
PLAIN(sqrt, square_root)
PLAIN(rsqrt, reciprocal_root)
PLAIN(sin, sine)
PLAIN(cos, cosine)
PLAIN(tanh, hyperbolic_tangent)
PLAIN(sigmoid, logistic)
PLAIN(softplus, soft_plus)
PLAIN(log_sigmoid, log_logistic)
PLAIN(relu, rectified)
PLAIN(gelu_erf, gelu_erf)
PLAIN(gelu_tanh, gelu_tanh)
PLAIN(quick_gelu, quick_gelu)
PLAIN(silu, silu)

LimnTensor *
limn_nn_scale_add(LimnTape *tape, LimnTensor *a, double scale, double bias)
{
    return unary(tape, &scale_add, a, scale, bias);
}

LimnTensor *
limn_nn_neg(LimnTape *tape, LimnTensor *a)
{
    return unary(tape, &scale_add, a, -1, 0);
}

LimnTensor *
limn_nn_pow(LimnTape *tape, LimnTensor *a, double p)
{
    return unary(tape, &power, a, p, 0);
}

LimnTensor *
limn_nn_leaky_relu(LimnTape *tape, LimnTensor *a, double slope)
{
    return unary(tape, &leaky, a, slope, 0);
}

LimnTensor *
limn_nn_elu(LimnTape *tape, LimnTensor *a, double alpha)
{
    return unary(tape, &exponential_linear, a, alpha, 0);
}

LimnTensor *
limn_nn_clamp(LimnTape *tape, LimnTensor *a, double lo, double hi)
{
    return unary(tape, &clamped, a, lo, hi);
}

// ---- binary with broadcasting

typedef enum { ADD, SUB, MUL, DIV, MAXIMUM, MINIMUM, N_BINARY } BinaryKind;
static const char *const binary_names[N_BINARY] = {"add", "sub",     "mul",
                                                   "div", "maximum", "minimum"};

// The broadcast loop: rows of the last dimension, operands by stride.
typedef struct {
    BinaryKind kind;
    gint64 dim[4], sa[4], sb[4];
    const LimnReal *a, *b;
    LimnReal *out;
} Binary;

static inline LimnReal
binary_value(BinaryKind kind, LimnReal a, LimnReal b)
{
    switch (kind) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case DIV:
        return a / b;
    case MAXIMUM:
        return a > b ? a : b;
    default:
        return a < b ? a : b;
    }
}

// Offsets of the row `row` (all but the last dimension) in an operand.
static inline gint64
row_offset(const gint64 dim[4], const gint64 stride[4], gint64 row)
{
    gint64 c = row % dim[2], b = row / dim[2] % dim[1], a = row / dim[2] / dim[1];
    return a * stride[0] + b * stride[1] + c * stride[2];
}

static void
binary_rows(gint64 begin, gint64 end, gpointer data)
{
    const Binary *w = data;
    for (gint64 row = begin; row < end; row++) {
        const LimnReal *a = w->a + row_offset(w->dim, w->sa, row);
        const LimnReal *b = w->b + row_offset(w->dim, w->sb, row);
        LimnReal *out = w->out + row * w->dim[3];
        gint64 n = w->dim[3], sa = w->sa[3], sb = w->sb[3];
#define ROW(EXPR)                                                                        \
    for (gint64 i = 0; i < n; i++)                                                       \
        out[i] = (EXPR);                                                                 \
    break
        if (sa == 1 && sb == 1) {
            switch (w->kind) {
            case ADD:
                ROW(a[i] + b[i]);
            case SUB:
                ROW(a[i] - b[i]);
            case MUL:
                ROW(a[i] * b[i]);
            default:
                ROW(binary_value(w->kind, a[i], b[i]));
            }
        } else {
            for (gint64 i = 0; i < n; i++)
                out[i] = binary_value(w->kind, a[i * sa], b[i * sb]);
        }
#undef ROW
    }
}

// Left-pads a broadcast shape to four dimensions, so that the row is always the last one.
static void
pad_left(int rank, const gint64 *in, gint64 fill, gint64 out[4])
{
    for (int i = 0; i < 4; i++)
        out[i] = i < 4 - rank ? fill : in[i - (4 - rank)];
}

static void
broadcast_plan(const LimnTensor *t, const gint64 *t_stride, int rank, gint64 out[4])
{
    gint64 stride[4];
    limn_shape_broadcast_strides(t, t_stride, rank, stride);
    pad_left(rank, stride, 0, out);
}

// d out / d a (side 0) or d out / d b (side 1), times nothing.
static inline LimnReal
binary_slope(BinaryKind kind, int side, LimnReal a, LimnReal b)
{
    switch (kind) {
    case ADD:
        return 1;
    case SUB:
        return side ? -1 : 1;
    case MUL:
        return side ? a : b;
    case DIV:
        return side ? -a / (b * b) : 1 / b;
    case MAXIMUM:
        return a == b ? LIMN_R(0.5) : (a > b) == (side == 0) ? 1 : 0;
    default:
        return a == b ? LIMN_R(0.5) : (a < b) == (side == 0) ? 1 : 0;
    }
}

typedef struct {
    Binary value;
    const LimnReal *g;
    LimnReal *grad; // of one operand, contiguous in its own shape
    gint64 sg[4];   // strides of the operand's gradient in the broadcast shape
    int side;
} BinaryGradient;

static void
binary_gradient_rows(gint64 begin, gint64 end, gpointer data)
{
    const BinaryGradient *w = data;
    const Binary *v = &w->value;
    for (gint64 row = begin; row < end; row++) {
        const LimnReal *a = v->a + row_offset(v->dim, v->sa, row);
        const LimnReal *b = v->b + row_offset(v->dim, v->sb, row);
        const LimnReal *g = w->g + row * v->dim[3];
        LimnReal *grad = w->grad + row_offset(v->dim, w->sg, row);
        if (v->kind == ADD || v->kind == SUB) {
            LimnReal sign = v->kind == SUB && w->side ? -1 : 1;
            for (gint64 i = 0; i < v->dim[3]; i++)
                grad[i] += sign * g[i];
        } else {
            for (gint64 i = 0; i < v->dim[3]; i++)
                grad[i] += g[i] * binary_slope(v->kind, w->side, a[i * v->sa[3]],
                                               b[i * v->sb[3]]);
        }
    }
}

// An operand that was broadcast: many terms fall on one element, their sums are carried
// in double.
static void
binary_gradient_sums(LimnTape *tape, const BinaryGradient *w, gint64 rows, gint64 length)
{
    const Binary *v = &w->value;
    LimnArenaMark mark = limn_tape_mark(tape);
    double *sums =
        limn_tape_alloc(tape, binary_names[v->kind], (gsize) length * sizeof *sums);
    if (!sums)
        return;
    memset(sums, 0, (gsize) length * sizeof *sums);
    for (gint64 row = 0; row < rows; row++) {
        const LimnReal *a = v->a + row_offset(v->dim, v->sa, row);
        const LimnReal *b = v->b + row_offset(v->dim, v->sb, row);
        const LimnReal *g = w->g + row * v->dim[3];
        double *sum = sums + row_offset(v->dim, w->sg, row);
        for (gint64 i = 0; i < v->dim[3]; i++)
            sum[i * w->sg[3]] +=
                (double) g[i] *
                binary_slope(v->kind, w->side, a[i * v->sa[3]], b[i * v->sb[3]]);
    }
    for (gint64 i = 0; i < length; i++)
        w->grad[i] += (LimnReal) sums[i];
    limn_tape_release(tape, mark);
}

static void
binary_backward(LimnTape *tape, LimnNode *node)
{
    const LimnTensor *out = node->out;
    for (int side = 0; side < 2; side++) {
        LimnTensor *operand = node->in[side];
        LimnReal *grad = limn_tape_grad(tape, operand);
        if (!grad)
            continue;
        BinaryGradient w = {.g = out->grad, .grad = grad, .side = side};
        w.value.kind = (BinaryKind) node->i[0];
        w.value.a = node->in[0]->data;
        w.value.b = node->in[1]->data;
        pad_left(out->rank, out->dim, 1, w.value.dim);
        broadcast_plan(node->in[0], node->in[0]->stride, out->rank, w.value.sa);
        broadcast_plan(node->in[1], node->in[1]->stride, out->rank, w.value.sb);
        gint64 own[4];
        limn_shape_contiguous_strides(operand->rank, operand->dim, own);
        broadcast_plan(operand, own, out->rank, w.sg);
        gint64 rows = w.value.dim[0] * w.value.dim[1] * w.value.dim[2];
        if (!limn_tensor_length(out))
            continue;
        // Rows of an operand that was not broadcast are disjoint and may run in parallel.
        if (limn_tensor_same_shape(operand, out))
            limn_tape_for(tape, rows, MAX(1, CHUNK / MAX(1, w.value.dim[3])),
                          binary_gradient_rows, &w);
        else
            binary_gradient_sums(tape, &w, rows, limn_tensor_length(operand));
    }
}

static LimnTensor *
binary(LimnTape *tape, BinaryKind kind, LimnTensor *a, LimnTensor *b)
{
    const char *name = binary_names[kind];
    if (LIMN_UNUSABLE(tape, name, a, b))
        return limn_tape_poisoned(tape);
    int rank;
    gint64 dim[4];
    if (!limn_shape_broadcast(a, b, &rank, dim))
        return limn_tape_fail_shapes(tape, name, a, b, "broadcasting");
    LimnTensor *out = limn_tape_new_tensor(tape, name, rank, dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    Binary w = {.kind = kind, .a = a->data, .b = b->data, .out = out->data};
    pad_left(rank, dim, 1, w.dim);
    broadcast_plan(a, a->stride, rank, w.sa);
    broadcast_plan(b, b->stride, rank, w.sb);
    gint64 rows = w.dim[0] * w.dim[1] * w.dim[2];
    if (limn_tensor_length(out))
        limn_tape_for(tape, rows, MAX(1, CHUNK / MAX(1, w.dim[3])), binary_rows, &w);
    LimnNode *node = LIMN_RECORD(tape, name, binary_backward, out, a, b);
    if (node)
        node->i[0] = kind;
    return out;
}

#define BINARY(function, kind)                                                           \
    LimnTensor *limn_nn_##function(LimnTape *tape, LimnTensor *a, LimnTensor *b)         \
    {                                                                                    \
        return binary(tape, kind, a, b);                                                 \
    }

BINARY(add, ADD)
BINARY(sub, SUB)
BINARY(mul, MUL)
BINARY(div, DIV)
BINARY(maximum, MAXIMUM)
BINARY(minimum, MINIMUM)

// ---- masks: all operands are brought to the shape of the result first

static void
where_backward(LimnTape *tape, LimnNode *node)
{
    const gint32 *mask = limn_tensor_i32(node->in[0]);
    LimnReal *ga = limn_tape_grad(tape, node->in[1]);
    LimnReal *gb = limn_tape_grad(tape, node->in[2]);
    const LimnReal *g = node->out->grad;
    for (gint64 i = 0; i < limn_tensor_length(node->out); i++) {
        if (mask[i] && ga)
            ga[i] += g[i];
        if (!mask[i] && gb)
            gb[i] += g[i];
    }
}

static LimnTensor *
to_shape(LimnTape *tape, LimnTensor *t, int rank, const gint64 *dim)
{
    return limn_tape_contiguous(tape, limn_nn_broadcast_to(tape, t, rank, dim));
}

LimnTensor *
limn_nn_where(LimnTape *tape, LimnTensor *mask, LimnTensor *a, LimnTensor *b)
{
    if (LIMN_UNUSABLE(tape, "where", mask, a, b))
        return limn_tape_poisoned(tape);
    if (!(mask->flags & LIMN_TENSOR_INT32))
        return limn_tape_fail(tape, "where", "the mask must be integer");
    int rank;
    gint64 dim[4];
    if (!limn_shape_broadcast(a, b, &rank, dim))
        return limn_tape_fail_shapes(tape, "where", a, b, "broadcasting");
    a = to_shape(tape, a, rank, dim);
    b = to_shape(tape, b, rank, dim);
    mask = to_shape(tape, mask, rank, dim);
    LimnTensor *out = limn_tape_new_tensor(tape, "where", rank, dim);
    if (LIMN_UNUSABLE(tape, "where", mask, a, b, out))
        return limn_tape_poisoned(tape);
    const gint32 *m = limn_tensor_i32(mask);
    for (gint64 i = 0; i < limn_tensor_length(out); i++)
        out->data[i] = m[i] ? a->data[i] : b->data[i];
    LIMN_RECORD(tape, "where", where_backward, out, mask, a, b);
    return out;
}

LimnTensor *
limn_nn_masked_fill(LimnTape *tape, LimnTensor *a, LimnTensor *mask, double value)
{
    LimnReal fill = (LimnReal) value;
    return limn_nn_where(tape, mask, limn_tape_input(tape, 0, NULL, &fill), a);
}
