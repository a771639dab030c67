// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/golden-autodiff-ops.h"

#include "engine/nn/ops.h"

#include <string.h>

typedef struct {
    LimnTape *tape;
    const json_t *attributes;
    LimnInputFunc input;
    gpointer user_data;
} Call;

// A tensor that may be absent.
static LimnTensor *
optional(const Call *call, const char *name)
{
    return call->input(name, call->user_data);
}

static LimnTensor *
in(const Call *call, const char *name)
{
    LimnTensor *tensor = call->input(name, call->user_data);
    return tensor ? tensor
                  : limn_tape_fail(call->tape, "input", "there is no '%s'", name);
}

static double
real(const Call *call, const char *name, double fallback)
{
    const json_t *value = json_object_get(call->attributes, name);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

static gint64
integer(const Call *call, const char *name, gint64 fallback)
{
    const json_t *value = json_object_get(call->attributes, name);
    return json_is_integer(value) ? json_integer_value(value) : fallback;
}

static gboolean
flag(const Call *call, const char *name)
{
    return json_is_true(json_object_get(call->attributes, name));
}

// Up to four integers; returns how many.
static int
list(const Call *call, const char *name, gint64 *out)
{
    const json_t *value = json_object_get(call->attributes, name);
    int n = (int) MIN(json_array_size(value), (gsize) LIMN_TENSOR_MAX_RANK);
    for (int i = 0; i < n; i++)
        out[i] = json_integer_value(json_array_get(value, (gsize) i));
    return n;
}

static int
dims(const Call *call, const char *name, int *out)
{
    gint64 values[LIMN_TENSOR_MAX_RANK];
    int n = list(call, name, values);
    for (int i = 0; i < n; i++)
        out[i] = (int) values[i];
    return n;
}

// ---- families

typedef LimnTensor *(*UnaryFunc)(LimnTape *, LimnTensor *);
typedef LimnTensor *(*BinaryFunc)(LimnTape *, LimnTensor *, LimnTensor *);

static const struct {
    const char *name;
    UnaryFunc func;
} unary_ops[] = {
    {"exp", limn_nn_exp},
    {"log", limn_nn_log},
    {"sqrt", limn_nn_sqrt},
    {"rsqrt", limn_nn_rsqrt},
    {"square", limn_nn_square},
    {"abs", limn_nn_abs},
    {"sin", limn_nn_sin},
    {"cos", limn_nn_cos},
    {"tanh", limn_nn_tanh},
    {"sigmoid", limn_nn_sigmoid},
    {"softplus", limn_nn_softplus},
    {"log_sigmoid", limn_nn_log_sigmoid},
    {"relu", limn_nn_relu},
    {"gelu_erf", limn_nn_gelu_erf},
    {"gelu_tanh", limn_nn_gelu_tanh},
    {"quick_gelu", limn_nn_quick_gelu},
    {"silu", limn_nn_silu},
};

static const struct {
    const char *name, *a, *b;
    BinaryFunc func;
} binary_ops[] = {
    {"add", "a", "b", limn_nn_add},
    {"sub", "a", "b", limn_nn_sub},
    {"mul", "a", "b", limn_nn_mul},
    {"div", "a", "b", limn_nn_div},
    {"maximum", "a", "b", limn_nn_maximum},
    {"minimum", "a", "b", limn_nn_minimum},
    {"mse", "a", "b", limn_nn_mse},
    {"l1", "a", "b", limn_nn_l1},
    {"kl_logits", "a", "b", limn_nn_kl_logits},
    {"soft_cross_entropy", "a", "p", limn_nn_soft_cross_entropy},
    {"bce_with_logits", "a", "y", limn_nn_bce_with_logits},
    {"gauss_kl_std_normal", "mu", "logvar", limn_nn_gauss_kl_std_normal},
    {"gather_rows", "w", "idx", limn_nn_gather_rows},
};

static LimnTensor *
apply_simple(const Call *c, const char *op)
{
    for (gsize i = 0; i < G_N_ELEMENTS(unary_ops); i++)
        if (strcmp(op, unary_ops[i].name) == 0)
            return unary_ops[i].func(c->tape, in(c, "a"));
    for (gsize i = 0; i < G_N_ELEMENTS(binary_ops); i++)
        if (strcmp(op, binary_ops[i].name) == 0)
            return binary_ops[i].func(c->tape, in(c, binary_ops[i].a),
                                      in(c, binary_ops[i].b));
    return NULL;
}

#define IS(name) (strcmp(op, name) == 0)

static LimnTensor *
apply_elementwise(const Call *c, const char *op)
{
    LimnTape *t = c->tape;
    if (IS("scale_add"))
        return limn_nn_scale_add(t, in(c, "a"), real(c, "scale", 1), real(c, "bias", 0));
    if (IS("pow"))
        return limn_nn_pow(t, in(c, "a"), real(c, "p", 1));
    if (IS("leaky_relu"))
        return limn_nn_leaky_relu(t, in(c, "a"), real(c, "slope", 0.01));
    if (IS("elu"))
        return limn_nn_elu(t, in(c, "a"), real(c, "alpha", 1));
    if (IS("clamp"))
        return limn_nn_clamp(t, in(c, "a"), real(c, "lo", -1), real(c, "hi", 1));
    if (IS("where"))
        return limn_nn_where(t, in(c, "m"), in(c, "a"), in(c, "b"));
    if (IS("masked_fill"))
        return limn_nn_masked_fill(t, in(c, "a"), in(c, "m"), real(c, "value", 0));
    if (IS("dropout"))
        return limn_nn_dropout(t, in(c, "a"), in(c, "m"), real(c, "keep", 1));
    if (IS("reparam_gauss"))
        return limn_nn_reparam_gauss(t, in(c, "mu"), in(c, "logvar"), in(c, "e"));
    if (IS("binary_concrete"))
        return limn_nn_binary_concrete(t, in(c, "a"), in(c, "u"),
                                       real(c, "temperature", 1));
    if (IS("gumbel_softmax"))
        return limn_nn_gumbel_softmax(t, in(c, "a"), in(c, "u"),
                                      real(c, "temperature", 1),
                                      flag(c, "straight_through"));
    return NULL;
}

static LimnTensor *
apply_reduction(const Call *c, const char *op)
{
    LimnTape *t = c->tape;
    int over[LIMN_TENSOR_MAX_RANK], n = dims(c, "dims", over);
    int dim = (int) integer(c, "dim", -1);
    gboolean keep = flag(c, "keepdim");
    if (IS("sum"))
        return limn_nn_sum(t, in(c, "a"), over, n, keep);
    if (IS("mean"))
        return limn_nn_mean(t, in(c, "a"), over, n, keep);
    if (IS("var"))
        return limn_nn_var(t, in(c, "a"), over, n, flag(c, "unbiased"), keep);
    if (IS("max"))
        return limn_nn_max(t, in(c, "a"), dim, keep);
    if (IS("min"))
        return limn_nn_min(t, in(c, "a"), dim, keep);
    if (IS("logsumexp"))
        return limn_nn_logsumexp(t, in(c, "a"), dim, keep);
    if (IS("l2norm"))
        return limn_nn_l2norm(t, in(c, "a"), dim, keep);
    if (IS("median"))
        return limn_nn_median(t, in(c, "a"), dim, keep);
    if (IS("cumsum"))
        return limn_nn_cumsum(t, in(c, "a"), dim);
    if (IS("topk"))
        return limn_nn_topk(t, in(c, "a"), (int) integer(c, "k", 1), dim);
    return NULL;
}

static LimnTensor *
apply_shape(const Call *c, const char *op)
{
    LimnTape *t = c->tape;
    gint64 one[4] = {0}, two[4] = {0}, three[4] = {1, 1, 1, 1};
    int perm[4];
    if (IS("permute")) {
        dims(c, "perm", perm);
        return limn_nn_permute(t, in(c, "a"), perm);
    }
    if (IS("reshape")) {
        int n = list(c, "shape", one);
        return limn_nn_reshape(t, in(c, "a"), n, one);
    }
    if (IS("broadcast_to")) {
        int n = list(c, "shape", one);
        return limn_nn_broadcast_to(t, in(c, "a"), n, one);
    }
    if (IS("slice")) {
        list(c, "start", one);
        list(c, "stop", two);
        list(c, "step", three);
        return limn_nn_slice(t, in(c, "a"), one, two, three);
    }
    if (IS("pad")) {
        list(c, "before", one);
        list(c, "after", two);
        return limn_nn_pad(t, in(c, "a"), one, two, real(c, "value", 0));
    }
    if (IS("concat"))
        return limn_nn_concat(t, (LimnTensor *const[]){in(c, "a"), in(c, "b")}, 2,
                              (int) integer(c, "dim", 0));
    if (IS("gather"))
        return limn_nn_gather(t, in(c, "a"), in(c, "idx"), (int) integer(c, "dim", 0));
    return NULL;
}

static LimnTensor *
apply_graph(const Call *c, const char *op)
{
    LimnTape *t = c->tape;
    gint64 segments = integer(c, "segments", 1);
    if (IS("segment_sum"))
        return limn_nn_segment_sum(t, in(c, "a"), in(c, "idx"), segments);
    if (IS("segment_mean"))
        return limn_nn_segment_mean(t, in(c, "a"), in(c, "idx"), segments);
    if (IS("segment_softmax"))
        return limn_nn_segment_softmax(t, in(c, "a"), in(c, "idx"), segments);
    if (IS("spmm_csr"))
        return limn_nn_spmm_csr(t, in(c, "val"), in(c, "x"), in(c, "rowptr"),
                                in(c, "col"), integer(c, "rows", 0));
    if (IS("matmul"))
        return limn_nn_matmul(t, in(c, "a"), in(c, "b"), flag(c, "trans_a"),
                              flag(c, "trans_b"));
    if (IS("linear"))
        return limn_nn_linear(t, in(c, "x"), in(c, "w"), optional(c, "b"));
    if (IS("linear_ensemble"))
        return limn_nn_linear_ensemble(t, in(c, "x"), in(c, "w"), optional(c, "b"));
    return NULL;
}

static void
running_statistics(LimnTensor *t, LimnReal *out)
{
    if (t)
        limn_tensor_copy_values(t, out);
}

static LimnTensor *
apply_batch_norm(const Call *c)
{
    LimnTensor *rm = optional(c, "rm"), *rv = optional(c, "rv");
    gboolean training = flag(c, "training");
    gsize n = rm ? (gsize) limn_tensor_length(rm) : 1;
    g_autofree LimnReal *mean = g_new0(LimnReal, n);
    g_autofree LimnReal *var = g_new0(LimnReal, n);
    running_statistics(rm, mean);
    running_statistics(rv, var);
    return limn_nn_batch_norm(c->tape, in(c, "x"), in(c, "w"), in(c, "b"),
                              training ? NULL : mean, training ? NULL : var, training,
                              0.1, real(c, "eps", 1e-5));
}

static LimnTensor *
apply_norm(const Call *c, const char *op)
{
    LimnTape *t = c->tape;
    int dim = (int) integer(c, "dim", -1);
    double eps = real(c, "eps", 1e-5);
    if (IS("layer_norm"))
        return limn_nn_layer_norm(t, in(c, "x"), in(c, "w"), optional(c, "b"), eps);
    if (IS("rms_norm"))
        return limn_nn_rms_norm(t, in(c, "x"), in(c, "w"), eps);
    if (IS("group_norm"))
        return limn_nn_group_norm(t, in(c, "x"), optional(c, "w"), optional(c, "b"),
                                  (int) integer(c, "groups", 1), eps);
    if (IS("batch_norm"))
        return apply_batch_norm(c);
    if (IS("l2_normalize"))
        return limn_nn_l2_normalize(t, in(c, "x"), dim, eps);
    if (IS("cosine_matrix"))
        return limn_nn_cosine_matrix(t, in(c, "a"), in(c, "b"), eps);
    if (IS("softmax"))
        return limn_nn_softmax(t, in(c, "a"), optional(c, "m"), dim);
    if (IS("log_softmax"))
        return limn_nn_log_softmax(t, in(c, "a"), dim);
    if (IS("rfft_ortho"))
        return limn_nn_rfft_ortho(t, in(c, "x"));
    return NULL;
}

static LimnTensor *
apply_loss(const Call *c, const char *op)
{
    LimnTape *t = c->tape;
    if (IS("cross_entropy")) {
        const json_t *ignore = json_object_get(c->attributes, "ignore_index");
        LimnCrossEntropyOptions options = {real(c, "label_smoothing", 0),
                                           json_is_integer(ignore),
                                           (gint32) json_integer_value(ignore), NULL};
        return limn_nn_cross_entropy(t, in(c, "a"), in(c, "t"), &options);
    }
    if (IS("huber"))
        return limn_nn_huber(t, in(c, "a"), in(c, "b"), real(c, "beta", 1));
    if (IS("gauss_nll"))
        return limn_nn_gauss_nll(t, in(c, "a"), in(c, "mean"), in(c, "logstd"));
    if (IS("sigmoid_focal"))
        return limn_nn_sigmoid_focal(t, in(c, "a"), in(c, "y"), real(c, "alpha", 0.25),
                                     real(c, "gamma", 2));
    if (IS("dice"))
        return limn_nn_dice(t, in(c, "a"), in(c, "y"), real(c, "smooth", 1));
    if (IS("ppo_clip_surrogate"))
        return limn_nn_ppo_clip_surrogate(t, in(c, "lp"), in(c, "lpo"), in(c, "adv"),
                                          real(c, "clip", 0.2));
    return NULL;
}

static LimnTensor *
apply_conv(const Call *c, const char *op)
{
    LimnTape *t = c->tape;
    int stride = (int) integer(c, "stride", 1), pad = (int) integer(c, "pad", 0);
    int groups = (int) integer(c, "groups", 1), kernel = (int) integer(c, "kernel", 2);
    int r = (int) integer(c, "r", 1);
    gint64 size[4] = {1, 1, 1, 1};
    if (IS("conv1d"))
        return limn_nn_conv1d(t, in(c, "x"), in(c, "w"), optional(c, "b"), stride, pad,
                              groups);
    if (IS("conv2d"))
        return limn_nn_conv2d(t, in(c, "x"), in(c, "w"), optional(c, "b"), stride, pad,
                              groups);
    if (IS("conv_transpose2d"))
        return limn_nn_conv_transpose2d(t, in(c, "x"), in(c, "w"), optional(c, "b"),
                                        stride, pad,
                                        (int) integer(c, "output_padding", 0));
    if (IS("max_pool2d"))
        return limn_nn_max_pool2d(t, in(c, "x"), kernel, stride);
    if (IS("avg_pool2d"))
        return limn_nn_avg_pool2d(t, in(c, "x"), kernel, stride);
    if (IS("upsample_bilinear")) {
        list(c, "out", size);
        return limn_nn_upsample_bilinear(t, in(c, "x"), size[0], size[1]);
    }
    if (IS("pixel_shuffle"))
        return limn_nn_pixel_shuffle(t, in(c, "x"), r);
    if (IS("pixel_unshuffle"))
        return limn_nn_pixel_unshuffle(t, in(c, "x"), r);
    return NULL;
}

// [B, N, C] -> [B, heads, N, C / heads]
static LimnTensor *
split_heads(LimnTape *t, LimnTensor *x, gint64 heads)
{
    if (x->flags & LIMN_TENSOR_POISONED)
        return x;
    gint64 b = x->dim[0], n = x->dim[1], width = x->dim[2];
    x = limn_nn_reshape(t, x, 4, (gint64[]){b, n, heads, width / heads});
    return limn_nn_permute(t, x, (const int[]){0, 2, 1, 3});
}

static LimnTensor *
activation(LimnTape *t, const char *name, LimnTensor *x)
{
    for (gsize i = 0; i < G_N_ELEMENTS(unary_ops); i++)
        if (name && strcmp(name, unary_ops[i].name) == 0)
            return unary_ops[i].func(t, x);
    return limn_nn_gelu_erf(t, x);
}

static LimnTensor *
apply_block(const Call *c)
{
    LimnTape *t = c->tape;
    LimnTensor *x = in(c, "x");
    double eps = real(c, "eps", 1e-5);
    gint64 heads = MAX(integer(c, "heads", 1), 1);
    LimnTensor *xn = limn_nn_layer_norm(t, x, in(c, "g1"), in(c, "c1"), eps);
    LimnTensor *q = split_heads(t, limn_nn_linear(t, xn, in(c, "wq"), NULL), heads);
    LimnTensor *k = split_heads(t, limn_nn_linear(t, xn, in(c, "wk"), NULL), heads);
    LimnTensor *v = split_heads(t, limn_nn_linear(t, xn, in(c, "wv"), NULL), heads);
    LimnTensor *o = limn_nn_sdpa(t, q, k, v, NULL, TRUE, 0);
    if (o->flags & LIMN_TENSOR_POISONED)
        return o;
    o = limn_nn_reshape(t, limn_nn_permute(t, o, (const int[]){0, 2, 1, 3}), 3, x->dim);
    LimnTensor *u = limn_nn_add(t, x, limn_nn_linear(t, o, in(c, "wo"), NULL));
    LimnTensor *h = limn_nn_layer_norm(t, u, in(c, "g2"), in(c, "c2"), eps);
    h = limn_nn_linear(t, h, in(c, "w1"), in(c, "b1"));
    h = activation(t, json_string_value(json_object_get(c->attributes, "act")), h);
    return limn_nn_add(t, u, limn_nn_linear(t, h, in(c, "w2"), in(c, "b2")));
}

static LimnTensor *
apply_attention(const Call *c, const char *op)
{
    LimnTape *t = c->tape;
    if (IS("sdpa"))
        return limn_nn_sdpa(t, in(c, "q"), in(c, "k"), in(c, "v"), optional(c, "m"),
                            flag(c, "causal"), 0);
    if (IS("rope")) {
        const char *layout = json_string_value(json_object_get(c->attributes, "layout"));
        gboolean half = g_strcmp0(layout, "interleaved") != 0;
        return limn_nn_rope(t, in(c, "x"), half ? LIMN_ROPE_HALF : LIMN_ROPE_INTERLEAVED,
                            real(c, "base", 10000), integer(c, "first_position", 0));
    }
    if (IS("neighborhood_attn2d"))
        return limn_nn_neighborhood_attn2d(t, in(c, "q"), in(c, "k"), in(c, "v"),
                                           (int) integer(c, "kernel", 3));
    if (IS("lstm_cell"))
        return limn_nn_lstm_cell(t, in(c, "x"), in(c, "h"), in(c, "c"), in(c, "wi"),
                                 in(c, "wh"), in(c, "b"));
    if (IS("gru_cell"))
        return limn_nn_gru_cell(t, in(c, "x"), in(c, "h"), in(c, "wi"), in(c, "wh"),
                                in(c, "bi"), in(c, "bh"));
    if (IS("block_prenorm_causal"))
        return apply_block(c);
    return NULL;
}

LimnTensor *
limn_golden_apply(LimnTape *tape, const char *op, const json_t *attributes,
                  LimnInputFunc input, gpointer user_data)
{
    static LimnTensor *(*const families[])(const Call *, const char *) = {
        apply_simple, apply_elementwise, apply_reduction, apply_shape,     apply_graph,
        apply_norm,   apply_loss,        apply_conv,      apply_attention,
    };
    Call call = {tape, attributes, input, user_data};
    for (gsize i = 0; i < G_N_ELEMENTS(families); i++) {
        LimnTensor *out = families[i](&call, op);
        if (out)
            return out;
    }
    return NULL;
}
