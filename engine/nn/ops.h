// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The operations of the training engine. Shapes broadcast as usual: right-aligned, each
// pair of sizes equal or one of them 1. Dimensions may be negative (from the end).
// Gradients always accumulate. Formulas stand at each definition.

#include "engine/nn/tensor.h"

// ---- elementwise
LimnTensor *limn_nn_add(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_sub(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_mul(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_div(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_maximum(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_minimum(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_scale_add(LimnTape *tape, LimnTensor *a, double scale, double bias);
LimnTensor *limn_nn_neg(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_square(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_pow(LimnTape *tape, LimnTensor *a, double p);
LimnTensor *limn_nn_abs(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_exp(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_log(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_sqrt(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_rsqrt(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_sin(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_cos(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_tanh(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_sigmoid(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_softplus(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_log_sigmoid(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_relu(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_leaky_relu(LimnTape *tape, LimnTensor *a, double slope);
LimnTensor *limn_nn_elu(LimnTape *tape, LimnTensor *a, double alpha);
LimnTensor *limn_nn_gelu_erf(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_gelu_tanh(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_quick_gelu(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_silu(LimnTape *tape, LimnTensor *a);
LimnTensor *limn_nn_clamp(LimnTape *tape, LimnTensor *a, double lo, double hi);
// mask (INT32, broadcast) chooses a where it is not zero, else b
LimnTensor *limn_nn_where(LimnTape *tape, LimnTensor *mask, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_masked_fill(LimnTape *tape, LimnTensor *a, LimnTensor *mask,
                                double value);

// ---- reductions; n_dims 0 = all dimensions
LimnTensor *limn_nn_sum(LimnTape *tape, LimnTensor *a, const int *dims, int n_dims,
                        gboolean keepdim);
LimnTensor *limn_nn_mean(LimnTape *tape, LimnTensor *a, const int *dims, int n_dims,
                         gboolean keepdim);
LimnTensor *limn_nn_var(LimnTape *tape, LimnTensor *a, const int *dims, int n_dims,
                        gboolean unbiased, gboolean keepdim);
LimnTensor *limn_nn_max(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim);
LimnTensor *limn_nn_min(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim);
LimnTensor *limn_nn_logsumexp(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim);
LimnTensor *limn_nn_l2norm(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim);
// Even count: the lower middle element.
LimnTensor *limn_nn_median(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim);
LimnTensor *limn_nn_cumsum(LimnTape *tape, LimnTensor *a, int dim);
LimnTensor *limn_nn_topk(LimnTape *tape, LimnTensor *a, int k, int dim); // falling
LimnTensor *limn_nn_argmax(LimnTape *tape, LimnTensor *a, int dim);      // INT32

// ---- shape
LimnTensor *limn_nn_permute(LimnTape *tape, LimnTensor *a, const int *perm);
LimnTensor *limn_nn_reshape(LimnTape *tape, LimnTensor *a, int rank, const gint64 *dim);
LimnTensor *limn_nn_slice(LimnTape *tape, LimnTensor *a, const gint64 *start,
                          const gint64 *stop, const gint64 *step);
LimnTensor *limn_nn_concat(LimnTape *tape, LimnTensor *const *parts, int n, int dim);
LimnTensor *limn_nn_stack(LimnTape *tape, LimnTensor *const *parts, int n, int dim);
LimnTensor *limn_nn_pad(LimnTape *tape, LimnTensor *a, const gint64 *before,
                        const gint64 *after, double value);
LimnTensor *limn_nn_broadcast_to(LimnTape *tape, LimnTensor *a, int rank,
                                 const gint64 *dim);
LimnTensor *limn_nn_contiguous(LimnTape *tape, LimnTensor *a);
// w [V,D], idx INT32 [...] -> [...,D]
LimnTensor *limn_nn_gather_rows(LimnTape *tape, LimnTensor *w, LimnTensor *idx);
// out[i][j] = a[i][idx[i][j]] along dim; idx has a's shape but for dim
LimnTensor *limn_nn_gather(LimnTape *tape, LimnTensor *a, LimnTensor *idx, int dim);
LimnTensor *limn_nn_one_hot(LimnTape *tape, LimnTensor *idx, gint64 classes);

// ---- graphs: idx INT32 [E] names the segment of each row of a [E,...]
LimnTensor *limn_nn_segment_sum(LimnTape *tape, LimnTensor *a, LimnTensor *idx,
                                gint64 segments);
LimnTensor *limn_nn_segment_mean(LimnTape *tape, LimnTensor *a, LimnTensor *idx,
                                 gint64 segments);
LimnTensor *limn_nn_segment_max(LimnTape *tape, LimnTensor *a, LimnTensor *idx,
                                gint64 segments);
LimnTensor *limn_nn_segment_softmax(LimnTape *tape, LimnTensor *a, LimnTensor *idx,
                                    gint64 segments);
// y [rows,D] = A x with A in CSR: val [E], rowptr [rows+1], col [E] (INT32)
LimnTensor *limn_nn_spmm_csr(LimnTape *tape, LimnTensor *val, LimnTensor *x,
                             LimnTensor *rowptr, LimnTensor *col, gint64 rows);

// ---- products
LimnTensor *limn_nn_matmul(LimnTape *tape, LimnTensor *a, LimnTensor *b, gboolean trans_a,
                           gboolean trans_b);
// x [...,in], w [out,in], b [out] or NULL -> [...,out]
LimnTensor *limn_nn_linear(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b);
// x [E,B,in], w [E,out,in], b [E,out] or NULL
LimnTensor *limn_nn_linear_ensemble(LimnTape *tape, LimnTensor *x, LimnTensor *w,
                                    LimnTensor *b);

// ---- normalisation (over the last dimension unless said)
LimnTensor *limn_nn_layer_norm(LimnTape *tape, LimnTensor *x, LimnTensor *w,
                               LimnTensor *b, double eps);
// w [n], or broadcast to x (adaptive)
LimnTensor *limn_nn_rms_norm(LimnTape *tape, LimnTensor *x, LimnTensor *w, double eps);
// x [N,C,...]
LimnTensor *limn_nn_group_norm(LimnTape *tape, LimnTensor *x, LimnTensor *w,
                               LimnTensor *b, int groups, double eps);
// Running statistics (caller's memory, [C], may be NULL) are updated when training:
// run = (1 - momentum) run + momentum batch, the variance with divisor n - 1.
LimnTensor *limn_nn_batch_norm(LimnTape *tape, LimnTensor *x, LimnTensor *w,
                               LimnTensor *b, LimnReal *running_mean,
                               LimnReal *running_var, gboolean training, double momentum,
                               double eps);
LimnTensor *limn_nn_l2_normalize(LimnTape *tape, LimnTensor *x, int dim, double eps);
// a [n,D], b [m,D] -> [n,m]
LimnTensor *limn_nn_cosine_matrix(LimnTape *tape, LimnTensor *a, LimnTensor *b,
                                  double eps);
// mask: additive, broadcast, may hold -inf, no gradient; NULL for none. A row of only
// -inf gives zeros.
LimnTensor *limn_nn_softmax(LimnTape *tape, LimnTensor *a, LimnTensor *mask, int dim);
LimnTensor *limn_nn_log_softmax(LimnTape *tape, LimnTensor *a, int dim);

// ---- losses (scalars)
typedef struct {
    double label_smoothing;
    gboolean has_ignore;
    gint32 ignore_index;
    const LimnReal *class_weights; // [C] or NULL
} LimnCrossEntropyOptions;
LimnTensor *limn_nn_cross_entropy(LimnTape *tape, LimnTensor *logits, LimnTensor *target,
                                  const LimnCrossEntropyOptions *options);
LimnTensor *limn_nn_soft_cross_entropy(LimnTape *tape, LimnTensor *logits, LimnTensor *p);
LimnTensor *limn_nn_bce_with_logits(LimnTape *tape, LimnTensor *logits, LimnTensor *y);
LimnTensor *limn_nn_mse(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_l1(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_huber(LimnTape *tape, LimnTensor *a, LimnTensor *b, double beta);
LimnTensor *limn_nn_kl_logits(LimnTape *tape, LimnTensor *a, LimnTensor *b);
LimnTensor *limn_nn_gauss_nll(LimnTape *tape, LimnTensor *a, LimnTensor *mean,
                              LimnTensor *logstd);
LimnTensor *limn_nn_gauss_kl_std_normal(LimnTape *tape, LimnTensor *mu,
                                        LimnTensor *logvar);
LimnTensor *limn_nn_sigmoid_focal(LimnTape *tape, LimnTensor *logits, LimnTensor *y,
                                  double alpha, double gamma);
LimnTensor *limn_nn_dice(LimnTape *tape, LimnTensor *logits, LimnTensor *y,
                         double smooth);
LimnTensor *limn_nn_ppo_clip_surrogate(LimnTape *tape, LimnTensor *logp,
                                       LimnTensor *logp_old, LimnTensor *advantage,
                                       double clip);

// ---- attention: q [...,Nq,d], k [...,Nk,d], v [...,Nk,dv]; mask additive [Nq,Nk] or
// broadcast; scale 0 = 1/sqrt(d)
LimnTensor *limn_nn_sdpa(LimnTape *tape, LimnTensor *q, LimnTensor *k, LimnTensor *v,
                         LimnTensor *mask, gboolean causal, double scale);
// The same from its parts, for the probabilities ([...,Nq,Nk]) themselves.
LimnTensor *limn_nn_attention_probabilities(LimnTape *tape, LimnTensor *q, LimnTensor *k,
                                            LimnTensor *mask, gboolean causal,
                                            double scale);
typedef enum { LIMN_ROPE_HALF, LIMN_ROPE_INTERLEAVED } LimnRopeLayout;
// x [...,N,d]; cos and sin [N,d/2] tables in the caller's memory are copied.
LimnTensor *limn_nn_rotate(LimnTape *tape, LimnTensor *x, const LimnReal *cosines,
                           const LimnReal *sines, LimnRopeLayout layout);
LimnTensor *limn_nn_rope(LimnTape *tape, LimnTensor *x, LimnRopeLayout layout,
                         double base, gint64 first_position);
// q, k, v [heads,H,W,d]
LimnTensor *limn_nn_neighborhood_attn2d(LimnTape *tape, LimnTensor *q, LimnTensor *k,
                                        LimnTensor *v, int kernel);

// ---- convolution: x [N,C,H,W], w [O,C/groups,kh,kw], b [O] or NULL
LimnTensor *limn_nn_conv1d(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b,
                           int stride, int pad, int groups);
LimnTensor *limn_nn_conv2d(LimnTape *tape, LimnTensor *x, LimnTensor *w, LimnTensor *b,
                           int stride, int pad, int groups);
// w [C,O,kh,kw]
LimnTensor *limn_nn_conv_transpose2d(LimnTape *tape, LimnTensor *x, LimnTensor *w,
                                     LimnTensor *b, int stride, int pad,
                                     int output_padding);
LimnTensor *limn_nn_max_pool2d(LimnTape *tape, LimnTensor *x, int kernel, int stride);
LimnTensor *limn_nn_avg_pool2d(LimnTape *tape, LimnTensor *x, int kernel, int stride);
LimnTensor *limn_nn_upsample_bilinear(LimnTape *tape, LimnTensor *x, gint64 height,
                                      gint64 width);
LimnTensor *limn_nn_upsample_nearest(LimnTape *tape, LimnTensor *x, gint64 height,
                                     gint64 width);
LimnTensor *limn_nn_pixel_shuffle(LimnTape *tape, LimnTensor *x, int r);
LimnTensor *limn_nn_pixel_unshuffle(LimnTape *tape, LimnTensor *x, int r);

// ---- cells
// gates i, f, g, o; -> [B,2H] = [h, c]
LimnTensor *limn_nn_lstm_cell(LimnTape *tape, LimnTensor *x, LimnTensor *h, LimnTensor *c,
                              LimnTensor *wi, LimnTensor *wh, LimnTensor *b);
// gates r, z, n; the reset gate multiplies the hidden part after its bias
LimnTensor *limn_nn_gru_cell(LimnTape *tape, LimnTensor *x, LimnTensor *h, LimnTensor *wi,
                             LimnTensor *wh, LimnTensor *bi, LimnTensor *bh);

// ---- random relaxations; the noise is an input
LimnTensor *limn_nn_dropout(LimnTape *tape, LimnTensor *a, LimnTensor *mask, double keep);
LimnTensor *limn_nn_reparam_gauss(LimnTape *tape, LimnTensor *mu, LimnTensor *logvar,
                                  LimnTensor *noise);
LimnTensor *limn_nn_binary_concrete(LimnTape *tape, LimnTensor *logit, LimnTensor *u,
                                    double temperature);
LimnTensor *limn_nn_gumbel_softmax(LimnTape *tape, LimnTensor *logits, LimnTensor *u,
                                   double temperature, gboolean straight_through);

// ---- Fourier: last dimension, N reals -> [Re 0..N/2, Im 1..(N-1)/2] / sqrt(N)
LimnTensor *limn_nn_rfft_ortho(LimnTape *tape, LimnTensor *x);
