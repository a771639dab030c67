// SPDX-License-Identifier: GPL-3.0-or-later

// Losses. Scalars; the mean is over rows (all dimensions but the last) or elements.

#include "engine/base/number.h"
#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <math.h>
#include <string.h>

static LimnTensor *
mean_all(LimnTape *tape, LimnTensor *a)
{
    return limn_nn_mean(tape, a, NULL, 0, FALSE);
}

// Mean over rows of the sum over the last dimension.
static LimnTensor *
mean_of_row_sums(LimnTape *tape, LimnTensor *a)
{
    return mean_all(tape, limn_nn_sum(tape, a, (const int[]){-1}, 1, FALSE));
}

// ---- cross entropy with integer targets, fused with the softmax:
// target q = (1 - s) onehot + s / C; loss = weighted mean of -<q, log p>; gx = w (p - q)
// / W

typedef struct {
    double smoothing, total; // total weight of the rows that count
    const LimnReal *weights;
    gboolean has_ignore;
    gint32 ignore;
} CrossEntropy;

static double
row_weight(const CrossEntropy *ce, gint32 target)
{
    if (ce->has_ignore && target == ce->ignore)
        return 0;
    return ce->weights ? ce->weights[target] : 1;
}

static void
cross_entropy_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    const CrossEntropy *ce = node->saved[0];
    const LimnReal *p = node->saved[1];
    const gint32 *target = limn_tensor_i32(node->in[1]);
    gint64 classes = node->i[1];
    double scale = ce->total > 0 ? node->out->grad[0] / ce->total : 0;
    for (gint64 r = 0; gx && r < node->i[0]; r++) {
        double w = row_weight(ce, target[r]) * scale;
        for (gint64 c = 0; w != 0 && c < classes; c++) {
            double q = ce->smoothing / (double) classes +
                       (c == target[r] ? 1 - ce->smoothing : 0);
            gx[r * classes + c] += (LimnReal) (w * (p[r * classes + c] - q));
        }
    }
}

// Softmax of a row into p; returns sum_c q_c (log sum exp - x_c).
static double
row_cross_entropy(const LimnReal *x, gint64 classes, gint32 target, double smoothing,
                  LimnReal *p)
{
    double top = x[0], sum = 0, mean = 0;
    for (gint64 c = 1; c < classes; c++)
        top = MAX(top, x[c]);
    for (gint64 c = 0; c < classes; c++) {
        sum += exp(x[c] - top);
        mean += x[c];
    }
    double lse = top + log(sum);
    for (gint64 c = 0; c < classes; c++)
        p[c] = (LimnReal) exp(x[c] - lse);
    double loss = (1 - smoothing) * (lse - x[target]);
    if (smoothing > 0)
        loss += smoothing * (lse - mean / (double) classes);
    return loss;
}

LimnTensor *
limn_nn_cross_entropy(LimnTape *tape, LimnTensor *logits, LimnTensor *target,
                      const LimnCrossEntropyOptions *options)
{
    static const LimnCrossEntropyOptions plain = {0};
    const char *op = "cross_entropy";
    if (LIMN_UNUSABLE(tape, op, logits, target))
        return limn_tape_poisoned(tape);
    if (!options)
        options = &plain;
    gint64 classes = logits->rank ? logits->dim[logits->rank - 1] : 0;
    if (!(target->flags & LIMN_TENSOR_INT32) || classes < 1 ||
        limn_tensor_length(target) * classes != limn_tensor_length(logits))
        return limn_tape_fail_shapes(tape, op, logits, target,
                                     "one integer target a row");
    logits = limn_tape_contiguous(tape, logits);
    target = limn_tape_contiguous(tape, target);
    CrossEntropy *ce = limn_tape_alloc(tape, op, sizeof *ce);
    LimnReal *p = limn_tape_alloc_reals(tape, op, limn_tensor_length(logits));
    LimnTensor *out = limn_tape_new_tensor(tape, op, 0, NULL);
    if (LIMN_UNUSABLE(tape, op, logits, target, out) || !ce || !p)
        return limn_tape_poisoned(tape);
    LimnReal *weights = NULL; // a copy: the caller's may be gone at the reverse sweep
    if (options->class_weights) {
        weights = limn_tape_alloc_reals(tape, op, classes);
        if (!weights)
            return limn_tape_poisoned(tape);
        memcpy(weights, options->class_weights, (gsize) classes * sizeof *weights);
    }
    *ce = (CrossEntropy){options->label_smoothing, 0, weights, options->has_ignore,
                         options->ignore_index};
    gint64 rows = limn_tensor_length(target);
    double sum = 0;
    for (gint64 r = 0; r < rows; r++) {
        gint32 t = limn_tensor_i32(target)[r];
        if (ce->has_ignore && t == ce->ignore)
            continue;
        if (t < 0 || t >= classes)
            return limn_tape_fail(tape, op,
                                  "target %d of row %" G_GINT64_FORMAT
                                  " is outside 0..%" G_GINT64_FORMAT,
                                  t, r, classes - 1);
        double w = row_weight(ce, t);
        sum += w * row_cross_entropy(logits->data + r * classes, classes, t,
                                     ce->smoothing, p + r * classes);
        ce->total += w;
    }
    out->data[0] = (LimnReal) (ce->total > 0 ? sum / ce->total : 0);
    LimnNode *node = LIMN_RECORD(tape, op, cross_entropy_backward, out, logits, target);
    if (node) {
        node->saved[0] = ce;
        node->saved[1] = p;
        node->i[0] = rows;
        node->i[1] = classes;
    }
    return out;
}

LimnTensor *
limn_nn_soft_cross_entropy(LimnTape *tape, LimnTensor *logits, LimnTensor *p)
{
    LimnTensor *terms = limn_nn_mul(tape, p, limn_nn_log_softmax(tape, logits, -1));
    return limn_nn_neg(tape, mean_of_row_sums(tape, terms));
}

// log(1 + e^x) - x y
static LimnTensor *
binary_terms(LimnTape *tape, LimnTensor *logits, LimnTensor *y)
{
    return limn_nn_sub(tape, limn_nn_softplus(tape, logits),
                       limn_nn_mul(tape, logits, y));
}

LimnTensor *
limn_nn_bce_with_logits(LimnTape *tape, LimnTensor *logits, LimnTensor *y)
{
    return mean_all(tape, binary_terms(tape, logits, y));
}

LimnTensor *
limn_nn_mse(LimnTape *tape, LimnTensor *a, LimnTensor *b)
{
    return mean_all(tape, limn_nn_square(tape, limn_nn_sub(tape, a, b)));
}

LimnTensor *
limn_nn_l1(LimnTape *tape, LimnTensor *a, LimnTensor *b)
{
    return mean_all(tape, limn_nn_abs(tape, limn_nn_sub(tape, a, b)));
}

// |d| < beta: d^2 / (2 beta), else |d| - beta / 2. With c = clamp(d, -beta, beta) this is
// c (d - c / 2) / beta, whose derivative through both paths is c / beta.
LimnTensor *
limn_nn_huber(LimnTape *tape, LimnTensor *a, LimnTensor *b, double beta)
{
    char number[LIMN_NUMBER_BUFFER];
    if (!(beta > 0))
        return limn_tape_fail(tape, "huber", "beta is %s, it must be above 0",
                              limn_number_format(number, beta));
    LimnTensor *d = limn_nn_sub(tape, a, b);
    LimnTensor *c = limn_nn_clamp(tape, d, -beta, beta);
    LimnTensor *rest = limn_nn_sub(tape, d, limn_nn_scale_add(tape, c, 0.5, 0));
    return limn_nn_scale_add(tape, mean_all(tape, limn_nn_mul(tape, c, rest)), 1 / beta,
                             0);
}

// Mean over rows of KL(softmax b || softmax a).
LimnTensor *
limn_nn_kl_logits(LimnTape *tape, LimnTensor *a, LimnTensor *b)
{
    LimnTensor *log_a = limn_nn_log_softmax(tape, a, -1);
    LimnTensor *log_b = limn_nn_log_softmax(tape, b, -1);
    LimnTensor *terms =
        limn_nn_mul(tape, limn_nn_exp(tape, log_b), limn_nn_sub(tape, log_b, log_a));
    return mean_of_row_sums(tape, terms);
}

// ((a - mean) / std)^2 / 2 + log std + log(2 pi) / 2
LimnTensor *
limn_nn_gauss_nll(LimnTape *tape, LimnTensor *a, LimnTensor *mean, LimnTensor *logstd)
{
    LimnTensor *inverse = limn_nn_exp(tape, limn_nn_neg(tape, logstd));
    LimnTensor *z = limn_nn_mul(tape, limn_nn_sub(tape, a, mean), inverse);
    LimnTensor *half =
        limn_nn_scale_add(tape, limn_nn_square(tape, z), 0.5, 0.91893853320467274178);
    return mean_of_row_sums(tape, limn_nn_add(tape, half, logstd));
}

// (mu^2 + exp(logvar) - 1 - logvar) / 2
LimnTensor *
limn_nn_gauss_kl_std_normal(LimnTape *tape, LimnTensor *mu, LimnTensor *logvar)
{
    LimnTensor *terms = limn_nn_add(tape, limn_nn_square(tape, mu),
                                    limn_nn_sub(tape, limn_nn_exp(tape, logvar), logvar));
    return mean_of_row_sums(tape, limn_nn_scale_add(tape, terms, 0.5, -0.5));
}

// alpha_t (1 - p_t)^gamma cross entropy, with 1 - p_t = p + y - 2 p y (Lin et al. 2017)
LimnTensor *
limn_nn_sigmoid_focal(LimnTape *tape, LimnTensor *logits, LimnTensor *y, double alpha,
                      double gamma)
{
    LimnTensor *p = limn_nn_sigmoid(tape, logits);
    LimnTensor *miss =
        limn_nn_add(tape, limn_nn_mul(tape, p, limn_nn_scale_add(tape, y, -2, 1)), y);
    LimnTensor *weight = limn_nn_scale_add(tape, y, 2 * alpha - 1, 1 - alpha);
    LimnTensor *terms =
        limn_nn_mul(tape, binary_terms(tape, logits, y), limn_nn_pow(tape, miss, gamma));
    return mean_all(tape, limn_nn_mul(tape, terms, weight));
}

// 1 - (2 sum p y + s) / (sum p + sum y + s) per row
LimnTensor *
limn_nn_dice(LimnTape *tape, LimnTensor *logits, LimnTensor *y, double smooth)
{
    const int last[] = {-1};
    LimnTensor *p = limn_nn_sigmoid(tape, logits);
    LimnTensor *both = limn_nn_sum(tape, limn_nn_mul(tape, p, y), last, 1, FALSE);
    LimnTensor *each = limn_nn_add(tape, limn_nn_sum(tape, p, last, 1, FALSE),
                                   limn_nn_sum(tape, y, last, 1, FALSE));
    LimnTensor *ratio = limn_nn_div(tape, limn_nn_scale_add(tape, both, 2, smooth),
                                    limn_nn_scale_add(tape, each, 1, smooth));
    return mean_all(tape, limn_nn_scale_add(tape, ratio, -1, 1));
}

// -mean min(r A, clip(r, 1 - c, 1 + c) A), r = exp(logp - logp_old) (Schulman et al.
// 2017)
LimnTensor *
limn_nn_ppo_clip_surrogate(LimnTape *tape, LimnTensor *logp, LimnTensor *logp_old,
                           LimnTensor *advantage, double clip)
{
    LimnTensor *ratio = limn_nn_exp(tape, limn_nn_sub(tape, logp, logp_old));
    LimnTensor *clipped = limn_nn_clamp(tape, ratio, 1 - clip, 1 + clip);
    LimnTensor *least = limn_nn_minimum(tape, limn_nn_mul(tape, ratio, advantage),
                                        limn_nn_mul(tape, clipped, advantage));
    return limn_nn_neg(tape, mean_all(tape, least));
}
