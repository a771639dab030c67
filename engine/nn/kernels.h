// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Numerical kernels of inference and explanation: forward and, where explanations need
// it, backward. Row-major float32; statistics and sums are carried in double. They take
// validated input and cannot fail. Work is cut by problem size, so that results do not
// depend on the number of threads; they may differ in the last place between processors.

#include "engine/base/types.h"

// Instruction sets: 1 every processor, 2 AVX2 with FMA, 3 AVX-512.
int limn_kernels_get_level(void);
// For tests: at most this level (0: what the machine can do).
void limn_kernels_limit_level(int level);

// y[rows,out] = x[rows,in] W^T + bias, W [out,in], bias [out] or NULL. With few rows the
// weights are read once and nothing is packed (a sentence of ten tokens is bound by the
// memory); else limn_linear.
void limn_kernel_linear(LimnJob *job, gsize rows, gsize in, gsize out, const float *x,
                        const float *w, const float *bias, float *y);

// y[rows,in] = g[rows,out] W, W [out,in]: the way back through limn_kernel_linear, and a
// projection stored as [in,out].
void limn_kernel_linear_back(LimnJob *job, gsize rows, gsize in, gsize out,
                             const float *g, const float *w, float *y);

// y = (x - mean) / sqrt(var + eps) * gain + offset per row of `width`; var is biased.
// x and y may be the same.
void limn_kernel_layer_norm(LimnJob *job, gsize rows, gsize width, const float *x,
                            const float *gain, const float *offset, float eps, float *y);
// out += the gradient at x of the layer above, for the gradient g at its output:
// r (h - mean(h) - xh mean(h xh)) with h = g gain, xh the normalised x.
void limn_kernel_layer_norm_back(LimnJob *job, gsize rows, gsize width, const float *x,
                                 const float *gain, float eps, const float *g,
                                 float *out);

typedef enum {
    LIMN_ACTIVATION_QUICK_GELU, // x sigmoid(1.702 x)
    LIMN_ACTIVATION_GELU,       // x Phi(x)
} LimnActivation;

// y = act(x); x and y may be the same.
void limn_kernel_activation(LimnJob *job, LimnActivation kind, gsize n, const float *x,
                            float *y);
// g *= act'(x)
void limn_kernel_activation_back(LimnJob *job, LimnActivation kind, gsize n,
                                 const float *x, float *g);

// Softmax of one row in place, over all n elements.
void limn_kernel_softmax_row(float *row, gsize n);
// a[i] += b[i]
void limn_kernel_add(LimnJob *job, gsize n, const float *b, float *a);
// TRUE when no element is NaN or infinite.
gboolean limn_kernel_is_finite(const float *x, gsize n);
// Dot product in double.
double limn_kernel_dot(const float *a, const float *b, gsize n);
