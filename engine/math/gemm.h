// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Matrix products over OpenBLAS held at one thread. Large products are cut into row
// panels of fixed size that run in parallel, so that the result does not depend on the
// number of threads. All matrices are row-major float32. When the job is cancelled the
// result may be incomplete; the caller checks the job.

#include "engine/base/types.h"

// Call once at start-up (idempotent, thread-safe): OpenBLAS to one thread.
void limn_blas_init(void);

// C[m,n] (ldc) = alpha * op(A)[m,k] * op(B)[k,n] + beta * C, computed by panels.
void limn_gemm(LimnJob *job, gboolean trans_a, gboolean trans_b, gsize m, gsize n,
               gsize k, float alpha, const float *a, gsize lda, const float *b, gsize ldb,
               float beta, float *c, gsize ldc);

// y[rows,out] = x[rows,in] * W^T + bias; W is [out,in], bias [out] or NULL.
void limn_linear(LimnJob *job, gsize rows, gsize in, gsize out, const float *x,
                 const float *w, const float *bias, float *y);
