// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/clip-network.h"

#include "engine/base/error.h"
#include "engine/nn/ops.h"

#include <math.h>
#include <string.h>

#define LAYER_NORM_EPS 1e-5
#define LOG_100 4.605170185988091
#define MAX_LAYERS 64

typedef struct {
    int ln1_w, ln1_b, ln2_w, ln2_b;
    int q_w, q_b, k_w, k_b, v_w, v_b, o_w, o_b;
    int fc1_w, fc1_b, fc2_w, fc2_b;
} Block;

struct LimnClipNetwork {
    LimnClipShape shape;
    LimnParameters *parameters;
    int class_token, patch_w, vision_positions, pre_w, pre_b, post_w, post_b, vision_proj;
    int token_table, text_positions, final_w, final_b, text_proj;
    int scale;
    Block vision[MAX_LAYERS], text[MAX_LAYERS];
};

// ---- parameters

static int
add(LimnClipNetwork *n, const char *name, gint64 rows, gint64 cols)
{
    gint64 dim[] = {rows, cols};
    return limn_parameters_add(n->parameters, name, cols ? 2 : 1, dim);
}

static int
add_block_parameter(LimnClipNetwork *n, const char *tower, int layer, const char *name,
                    gint64 rows, gint64 cols)
{
    g_autofree char *full =
        g_strdup_printf("%s.encoder.layers.%d.%s", tower, layer, name);
    return add(n, full, rows, cols);
}

static void
add_block(LimnClipNetwork *n, const char *tower, int layer, int width, int mlp, Block *b)
{
#define ADD(field, name, rows, cols)                                                     \
    b->field = add_block_parameter(n, tower, layer, name, rows, cols)
    ADD(ln1_w, "layer_norm1.weight", width, 0);
    ADD(ln1_b, "layer_norm1.bias", width, 0);
    ADD(q_w, "self_attn.q_proj.weight", width, width);
    ADD(q_b, "self_attn.q_proj.bias", width, 0);
    ADD(k_w, "self_attn.k_proj.weight", width, width);
    ADD(k_b, "self_attn.k_proj.bias", width, 0);
    ADD(v_w, "self_attn.v_proj.weight", width, width);
    ADD(v_b, "self_attn.v_proj.bias", width, 0);
    ADD(o_w, "self_attn.out_proj.weight", width, width);
    ADD(o_b, "self_attn.out_proj.bias", width, 0);
    ADD(ln2_w, "layer_norm2.weight", width, 0);
    ADD(ln2_b, "layer_norm2.bias", width, 0);
    ADD(fc1_w, "mlp.fc1.weight", mlp, width);
    ADD(fc1_b, "mlp.fc1.bias", mlp, 0);
    ADD(fc2_w, "mlp.fc2.weight", width, mlp);
    ADD(fc2_b, "mlp.fc2.bias", width, 0);
#undef ADD
}

static void
declare(LimnClipNetwork *n)
{
    const LimnClipShape *s = &n->shape;
    int grid = s->image_size / s->patch;
    gint64 patch[] = {s->vision_width, 3, s->patch, s->patch};
    n->scale = limn_parameters_add(n->parameters, "logit_scale", 0, NULL);
    n->class_token =
        add(n, "vision_model.embeddings.class_embedding", s->vision_width, 0);
    n->patch_w = limn_parameters_add(
        n->parameters, "vision_model.embeddings.patch_embedding.weight", 4, patch);
    n->vision_positions = add(n, "vision_model.embeddings.position_embedding.weight",
                              1 + grid * grid, s->vision_width);
    n->pre_w = add(n, "vision_model.pre_layrnorm.weight", s->vision_width, 0);
    n->pre_b = add(n, "vision_model.pre_layrnorm.bias", s->vision_width, 0);
    for (int l = 0; l < s->vision_layers; l++)
        add_block(n, "vision_model", l, s->vision_width, s->vision_mlp, &n->vision[l]);
    n->post_w = add(n, "vision_model.post_layernorm.weight", s->vision_width, 0);
    n->post_b = add(n, "vision_model.post_layernorm.bias", s->vision_width, 0);
    n->vision_proj = add(n, "visual_projection.weight", s->projection, s->vision_width);
    n->token_table =
        add(n, "text_model.embeddings.token_embedding.weight", s->vocab, s->text_width);
    n->text_positions = add(n, "text_model.embeddings.position_embedding.weight",
                            s->context, s->text_width);
    for (int l = 0; l < s->text_layers; l++)
        add_block(n, "text_model", l, s->text_width, s->text_mlp, &n->text[l]);
    n->final_w = add(n, "text_model.final_layer_norm.weight", s->text_width, 0);
    n->final_b = add(n, "text_model.final_layer_norm.bias", s->text_width, 0);
    n->text_proj = add(n, "text_projection.weight", s->projection, s->text_width);
}

// Deviations of the original training code: width^-1/2 for attention, reduced by the
// depth on the residual paths.
static void
init_block(LimnClipNetwork *n, const Block *b, int width, int layers, guint64 seed)
{
    double attention = pow(width, -0.5), residual = attention * pow(2.0 * layers, -0.5);
    double mlp = pow(2.0 * width, -0.5);
    const struct {
        int index;
        double deviation;
    } drawn[] = {{b->q_w, attention}, {b->k_w, attention}, {b->v_w, attention},
                 {b->o_w, residual},  {b->fc1_w, mlp},     {b->fc2_w, residual}};
    for (gsize i = 0; i < G_N_ELEMENTS(drawn); i++)
        limn_parameters_fill_normal(n->parameters, drawn[i].index, seed,
                                    (guint64) drawn[i].index, drawn[i].deviation);
    limn_parameters_fill(n->parameters, b->ln1_w, 1);
    limn_parameters_fill(n->parameters, b->ln2_w, 1);
}

static void
initialise(LimnClipNetwork *n, guint64 seed)
{
    const LimnClipShape *s = &n->shape;
    double vision = pow(s->vision_width, -0.5), text = pow(s->text_width, -0.5);
    const struct {
        int index;
        double deviation;
    } drawn[] = {
        {n->class_token, vision},      {n->patch_w, pow(3.0 * s->patch * s->patch, -0.5)},
        {n->vision_positions, vision}, {n->vision_proj, vision},
        {n->token_table, 0.02},        {n->text_positions, 0.01},
        {n->text_proj, text}};
    for (gsize i = 0; i < G_N_ELEMENTS(drawn); i++)
        limn_parameters_fill_normal(n->parameters, drawn[i].index, seed,
                                    (guint64) drawn[i].index, drawn[i].deviation);
    const int ones[] = {n->pre_w, n->post_w, n->final_w};
    for (gsize i = 0; i < G_N_ELEMENTS(ones); i++)
        limn_parameters_fill(n->parameters, ones[i], 1);
    limn_parameters_fill(n->parameters, n->scale, log(1 / 0.07));
    for (int l = 0; l < s->vision_layers; l++)
        init_block(n, &n->vision[l], s->vision_width, s->vision_layers, seed);
    for (int l = 0; l < s->text_layers; l++)
        init_block(n, &n->text[l], s->text_width, s->text_layers, seed);
}

static gboolean
shape_is_sound(const LimnClipShape *s, GError **error)
{
    const char *problem = NULL;
    if (s->vision_width < 1 || s->vision_mlp < 1 || s->text_width < 1 || s->text_mlp < 1)
        problem = "a width is below 1";
    else if (s->patch < 1 || s->image_size < s->patch || s->image_size % s->patch)
        problem = "the image size is not a multiple of the patch";
    else if (s->vision_heads < 1 || s->vision_width % s->vision_heads)
        problem = "the vision width is not a multiple of its heads";
    else if (s->text_heads < 1 || s->text_width % s->text_heads)
        problem = "the text width is not a multiple of its heads";
    else if (s->vision_layers < 1 || s->vision_layers > MAX_LAYERS ||
             s->text_layers < 1 || s->text_layers > MAX_LAYERS)
        problem = "the number of layers is not between 1 and 64";
    else if (s->vocab < 3 || s->context < 3 || s->projection < 1)
        problem = "vocabulary, context or projection is too small";
    if (problem)
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT, "CLIP of that shape: %s",
                    problem);
    return !problem;
}

LimnClipNetwork *
limn_clip_network_new(const LimnClipShape *shape, guint64 seed, GError **error)
{
    if (!shape_is_sound(shape, error))
        return NULL;
    g_autoptr(LimnClipNetwork) network = g_new0(LimnClipNetwork, 1);
    network->shape = *shape;
    network->parameters = limn_parameters_new();
    declare(network);
    if (!limn_parameters_allocate(network->parameters, error))
        return NULL;
    limn_parameters_set_decay(network->parameters, network->class_token, FALSE);
    initialise(network, seed);
    return g_steal_pointer(&network);
}

void
limn_clip_network_free(LimnClipNetwork *network)
{
    if (!network)
        return;
    limn_parameters_free(network->parameters);
    g_free(network);
}

const LimnClipShape *
limn_clip_network_get_shape(LimnClipNetwork *network)
{
    return &network->shape;
}

LimnParameters *
limn_clip_network_get_parameters(LimnClipNetwork *network)
{
    return network->parameters;
}

void
limn_clip_network_clamp_scale(LimnClipNetwork *network)
{
    LimnReal *scale = limn_parameters_get_values(network->parameters, network->scale);
    *scale = (LimnReal) MIN(*scale, LOG_100);
}

void
limn_clip_network_freeze_scale(LimnClipNetwork *network, gboolean frozen)
{
    limn_parameters_set_frozen(network->parameters, network->scale, frozen);
}

// ---- forward

static LimnTensor *
leaf(LimnClipNetwork *n, LimnTape *tape, int index)
{
    return limn_parameters_leaf(n->parameters, index, tape);
}

static LimnTensor *
linear(LimnClipNetwork *n, LimnTape *tape, LimnTensor *x, int w, int b)
{
    return limn_nn_linear(tape, x, leaf(n, tape, w), leaf(n, tape, b));
}

static LimnTensor *
norm(LimnClipNetwork *n, LimnTape *tape, LimnTensor *x, int w, int b)
{
    return limn_nn_layer_norm(tape, x, leaf(n, tape, w), leaf(n, tape, b),
                              LAYER_NORM_EPS);
}

// [B,N,C] -> [B,heads,N,C/heads]
static LimnTensor *
split_heads(LimnTape *tape, LimnTensor *x, int heads)
{
    if (x->flags & LIMN_TENSOR_POISONED)
        return x;
    gint64 dim[] = {x->dim[0], x->dim[1], heads, x->dim[2] / heads};
    return limn_nn_permute(tape, limn_nn_reshape(tape, x, 4, dim),
                           (const int[]){0, 2, 1, 3});
}

static LimnTensor *
attention(LimnClipNetwork *n, LimnTape *tape, LimnTensor *x, const Block *b, int heads,
          gboolean causal)
{
    LimnTensor *q = split_heads(tape, linear(n, tape, x, b->q_w, b->q_b), heads);
    LimnTensor *k = split_heads(tape, linear(n, tape, x, b->k_w, b->k_b), heads);
    LimnTensor *v = split_heads(tape, linear(n, tape, x, b->v_w, b->v_b), heads);
    LimnTensor *o = limn_nn_sdpa(tape, q, k, v, NULL, causal, 0);
    if (o->flags & LIMN_TENSOR_POISONED)
        return o;
    o = limn_nn_permute(tape, o, (const int[]){0, 2, 1, 3});
    return linear(n, tape, limn_nn_reshape(tape, o, 3, x->dim), b->o_w, b->o_b);
}

static LimnTensor *
run_block(LimnClipNetwork *n, LimnTape *tape, LimnTensor *x, const Block *b, int heads,
          gboolean causal)
{
    LimnTensor *h = norm(n, tape, x, b->ln1_w, b->ln1_b);
    x = limn_nn_add(tape, x, attention(n, tape, h, b, heads, causal));
    h = linear(n, tape, norm(n, tape, x, b->ln2_w, b->ln2_b), b->fc1_w, b->fc1_b);
    h = linear(n, tape, limn_nn_quick_gelu(tape, h), b->fc2_w, b->fc2_b);
    return limn_nn_add(tape, x, h);
}

// [B,3,n,n] -> [B,g g,3 p p] in the order of the patch weights (channel, row, column).
static LimnTensor *
cut_patches(LimnTape *tape, LimnTensor *pixels, int patch)
{
    // Four dimensions at a time: the channels join the batch while rows and columns
    // split.
    gint64 batch = pixels->dim[0], n = pixels->dim[2], g = n / patch;
    LimnTensor *out =
        limn_tape_input(tape, 3, (gint64[]){batch, g * g, 3 * patch * patch}, NULL);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    LimnReal *to = out->data;
    for (gint64 b = 0; b < batch; b++)
        for (gint64 cell = 0; cell < g * g; cell++)
            for (gint64 c = 0; c < 3; c++)
                for (gint64 row = 0; row < patch; row++, to += patch)
                    memcpy(to,
                           pixels->data + ((b * 3 + c) * n + cell / g * patch + row) * n +
                               cell % g * patch,
                           (gsize) patch * sizeof *to);
    return out;
}

static LimnTensor *
embed_patches(LimnClipNetwork *n, LimnTape *tape, LimnTensor *pixels)
{
    const LimnClipShape *s = &n->shape;
    gint64 batch = pixels->dim[0], width = s->vision_width;
    LimnTensor *patches = cut_patches(tape, pixels, s->patch);
    gint64 flat[] = {width, 3 * s->patch * s->patch};
    LimnTensor *w = limn_nn_reshape(tape, leaf(n, tape, n->patch_w), 2, flat);
    LimnTensor *x = limn_nn_linear(tape, patches, w, NULL);
    LimnTensor *class_row = limn_nn_broadcast_to(tape, leaf(n, tape, n->class_token), 3,
                                                 (gint64[]){batch, 1, width});
    x = limn_nn_concat(tape, (LimnTensor *const[]){class_row, x}, 2, 1);
    return limn_nn_add(tape, x, leaf(n, tape, n->vision_positions));
}

LimnTensor *
limn_clip_network_images(LimnClipNetwork *n, LimnTape *tape, LimnTensor *pixels)
{
    const LimnClipShape *s = &n->shape;
    if (!limn_tape_check(tape, NULL))
        return limn_tape_poisoned(tape);
    if (pixels->rank != 4 || pixels->dim[1] != 3 || pixels->dim[2] != s->image_size ||
        pixels->dim[3] != s->image_size)
        return limn_tape_fail(tape, "images", "pictures are not 3 x %d x %d",
                              s->image_size, s->image_size);
    LimnTensor *x = norm(n, tape, embed_patches(n, tape, pixels), n->pre_w, n->pre_b);
    for (int l = 0; l < s->vision_layers; l++)
        x = run_block(n, tape, x, &n->vision[l], s->vision_heads, FALSE);
    if (x->flags & LIMN_TENSOR_POISONED)
        return x;
    gint64 stop[] = {x->dim[0], 1, x->dim[2]}, start[] = {0, 0, 0};
    x = limn_nn_slice(tape, x, start, stop, NULL);
    x = limn_nn_reshape(tape, x, 2, (gint64[]){x->dim[0], x->dim[2]});
    x = norm(n, tape, x, n->post_w, n->post_b);
    x = limn_nn_linear(tape, x, leaf(n, tape, n->vision_proj), NULL);
    return limn_nn_l2_normalize(tape, x, -1, 1e-12);
}

LimnTensor *
limn_clip_network_texts(LimnClipNetwork *n, LimnTape *tape, int n_texts, int length,
                        const gint32 *ids, const gint32 *ends)
{
    const LimnClipShape *s = &n->shape;
    LimnTensor *tokens = limn_tape_input_int(tape, 2, (gint64[]){n_texts, length}, ids);
    LimnTensor *x = limn_nn_gather_rows(tape, leaf(n, tape, n->token_table), tokens);
    gint64 start[] = {0, 0}, stop[] = {length, s->text_width};
    LimnTensor *positions =
        limn_nn_slice(tape, leaf(n, tape, n->text_positions), start, stop, NULL);
    x = limn_nn_add(tape, x, positions);
    for (int l = 0; l < s->text_layers; l++)
        x = run_block(n, tape, x, &n->text[l], s->text_heads, TRUE);
    if (x->flags & LIMN_TENSOR_POISONED)
        return x;
    // Row E of every text.
    x = limn_nn_reshape(tape, x, 2, (gint64[]){(gint64) n_texts * length, s->text_width});
    LimnTensor *rows = limn_tape_input_int(tape, 1, (gint64[]){n_texts}, NULL);
    if (rows->flags & LIMN_TENSOR_POISONED)
        return rows;
    for (int t = 0; t < n_texts; t++)
        limn_tensor_i32(rows)[t] = t * length + ends[t];
    x = norm(n, tape, limn_nn_gather_rows(tape, x, rows), n->final_w, n->final_b);
    x = limn_nn_linear(tape, x, leaf(n, tape, n->text_proj), NULL);
    return limn_nn_l2_normalize(tape, x, -1, 1e-12);
}

LimnTensor *
limn_clip_network_logits(LimnClipNetwork *n, LimnTape *tape, LimnTensor *images,
                         LimnTensor *texts)
{
    LimnTensor *cosines = limn_nn_matmul(tape, images, texts, FALSE, TRUE);
    return limn_nn_mul(tape, cosines, limn_nn_exp(tape, leaf(n, tape, n->scale)));
}
