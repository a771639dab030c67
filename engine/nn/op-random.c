// SPDX-License-Identifier: GPL-3.0-or-later

// Random relaxations, recurrent cells and the Fourier transform, mostly composed from
// other operations. The noise is always an input, so that a step can be replayed.

#include "engine/base/number.h"
#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <math.h>

#define U_MIN 1e-6

// a mask / keep; the mask holds 0 and 1
LimnTensor *
limn_nn_dropout(LimnTape *tape, LimnTensor *a, LimnTensor *mask, double keep)
{
    if (LIMN_UNUSABLE(tape, "dropout", a))
        return limn_tape_poisoned(tape);
    char number[LIMN_NUMBER_BUFFER];
    if (!(keep > 0 && keep <= 1))
        return limn_tape_fail(tape, "dropout", "keep is %s, it lies in (0, 1]",
                              limn_number_format(number, keep));
    LimnTensor *zero = limn_tape_input(tape, 0, NULL, NULL);
    return limn_nn_where(tape, mask, limn_nn_scale_add(tape, a, 1 / keep, 0), zero);
}

// mu + exp(logvar / 2) noise
LimnTensor *
limn_nn_reparam_gauss(LimnTape *tape, LimnTensor *mu, LimnTensor *logvar,
                      LimnTensor *noise)
{
    LimnTensor *std = limn_nn_exp(tape, limn_nn_scale_add(tape, logvar, 0.5, 0));
    return limn_nn_add(tape, mu, limn_nn_mul(tape, std, noise));
}

// sigmoid((logit + log u - log(1 - u)) / T) (Maddison et al. 2017)
LimnTensor *
limn_nn_binary_concrete(LimnTape *tape, LimnTensor *logit, LimnTensor *u,
                        double temperature)
{
    LimnTensor *inside = limn_nn_clamp(tape, u, U_MIN, 1 - U_MIN);
    LimnTensor *noise =
        limn_nn_sub(tape, limn_nn_log(tape, inside),
                    limn_nn_log(tape, limn_nn_scale_add(tape, inside, -1, 1)));
    return limn_nn_sigmoid(tape, limn_nn_scale_add(tape, limn_nn_add(tape, logit, noise),
                                                   1 / temperature, 0));
}

// Forward one-hot of the largest entry, backward of the soft value.
static void
straight_through_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    for (gint64 i = 0; gx && i < limn_tensor_length(node->out); i++)
        gx[i] += node->out->grad[i];
}

static LimnTensor *
harden(LimnTape *tape, LimnTensor *soft)
{
    if (LIMN_UNUSABLE(tape, "straight_through", soft))
        return limn_tape_poisoned(tape);
    soft = limn_tape_contiguous(tape, soft);
    LimnTensor *out = limn_tape_input(tape, soft->rank, soft->dim, NULL);
    if (LIMN_UNUSABLE(tape, "straight_through", soft, out))
        return limn_tape_poisoned(tape);
    gint64 n = soft->dim[soft->rank - 1];
    for (gint64 r = 0; n && r < limn_tensor_length(soft) / n; r++) {
        gint64 best = 0;
        for (gint64 j = 1; j < n; j++)
            if (soft->data[r * n + j] > soft->data[r * n + best])
                best = j;
        out->data[r * n + best] = 1;
    }
    LIMN_RECORD(tape, "straight_through", straight_through_backward, out, soft);
    return out;
}

// softmax((logits - log(-log u)) / T) (Jang et al. 2017)
LimnTensor *
limn_nn_gumbel_softmax(LimnTape *tape, LimnTensor *logits, LimnTensor *u,
                       double temperature, gboolean straight_through)
{
    LimnTensor *inside = limn_nn_clamp(tape, u, U_MIN, 1 - U_MIN);
    LimnTensor *inner = limn_nn_neg(tape, limn_nn_log(tape, inside));
    LimnTensor *noisy = limn_nn_sub(tape, logits, limn_nn_log(tape, inner));
    LimnTensor *soft = limn_nn_softmax(
        tape, limn_nn_scale_add(tape, noisy, 1 / temperature, 0), NULL, -1);
    return straight_through ? harden(tape, soft) : soft;
}

// ---- recurrent cells

// Columns [begin, end) of a matrix.
static LimnTensor *
columns(LimnTape *tape, LimnTensor *a, gint64 begin, gint64 end)
{
    if (a->flags & LIMN_TENSOR_POISONED)
        return a;
    return limn_nn_slice(tape, a, (gint64[]){0, begin}, (gint64[]){a->dim[0], end}, NULL);
}

LimnTensor *
limn_nn_lstm_cell(LimnTape *tape, LimnTensor *x, LimnTensor *h, LimnTensor *c,
                  LimnTensor *wi, LimnTensor *wh, LimnTensor *b)
{
    LimnTensor *gates = limn_nn_add(tape, limn_nn_linear(tape, x, wi, b),
                                    limn_nn_linear(tape, h, wh, NULL));
    if (LIMN_UNUSABLE(tape, "lstm_cell", gates, c))
        return limn_tape_poisoned(tape);
    if (gates->rank != 2 || gates->dim[1] % 4)
        return limn_tape_fail_shapes(tape, "lstm_cell", x, wi, "[B, in] and [4 H, in]");
    gint64 n = gates->dim[1] / 4;
    LimnTensor *i = limn_nn_sigmoid(tape, columns(tape, gates, 0, n));
    LimnTensor *f = limn_nn_sigmoid(tape, columns(tape, gates, n, 2 * n));
    LimnTensor *g = limn_nn_tanh(tape, columns(tape, gates, 2 * n, 3 * n));
    LimnTensor *o = limn_nn_sigmoid(tape, columns(tape, gates, 3 * n, 4 * n));
    LimnTensor *next =
        limn_nn_add(tape, limn_nn_mul(tape, f, c), limn_nn_mul(tape, i, g));
    LimnTensor *hidden = limn_nn_mul(tape, o, limn_nn_tanh(tape, next));
    return limn_nn_concat(tape, (LimnTensor *const[]){hidden, next}, 2, 1);
}

LimnTensor *
limn_nn_gru_cell(LimnTape *tape, LimnTensor *x, LimnTensor *h, LimnTensor *wi,
                 LimnTensor *wh, LimnTensor *bi, LimnTensor *bh)
{
    LimnTensor *a = limn_nn_linear(tape, x, wi, bi), *b = limn_nn_linear(tape, h, wh, bh);
    if (LIMN_UNUSABLE(tape, "gru_cell", a, b))
        return limn_tape_poisoned(tape);
    if (a->rank != 2 || a->dim[1] % 3 || !limn_tensor_same_shape(a, b))
        return limn_tape_fail_shapes(tape, "gru_cell", x, wi, "[B, in] and [3 H, in]");
    gint64 n = a->dim[1] / 3;
    LimnTensor *r = limn_nn_sigmoid(
        tape, limn_nn_add(tape, columns(tape, a, 0, n), columns(tape, b, 0, n)));
    LimnTensor *z = limn_nn_sigmoid(
        tape, limn_nn_add(tape, columns(tape, a, n, 2 * n), columns(tape, b, n, 2 * n)));
    LimnTensor *candidate = limn_nn_tanh(
        tape, limn_nn_add(tape, columns(tape, a, 2 * n, 3 * n),
                          limn_nn_mul(tape, r, columns(tape, b, 2 * n, 3 * n))));
    // h' = (1 - z) n + z h = n + z (h - n)
    return limn_nn_add(tape, candidate,
                       limn_nn_mul(tape, z, limn_nn_sub(tape, h, candidate)));
}
