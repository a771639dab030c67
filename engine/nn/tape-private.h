// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What operations see of the tape. Only files of engine/nn include this.

#include "engine/nn/arena.h"
#include "engine/nn/tensor.h"

#define LIMN_NODE_ATTRIBUTES 8

typedef struct LimnNode LimnNode;
// Adds to the gradients of the inputs; called only when the output's gradient was
// touched.
typedef void (*LimnBackwardFunc)(LimnTape *tape, LimnNode *node);

struct LimnNode {
    const char *op;
    LimnBackwardFunc backward;
    LimnTensor *out;
    LimnTensor **in; // arena; entries may be NULL
    int n_in;
    gint64 i[LIMN_NODE_ATTRIBUTES]; // integer attributes
    double d[2];                    // real attributes
    gpointer saved[4];              // arena memory
};

// ---- memory (arena; NULL and a poisoned tape when the limit is exceeded)
gpointer limn_tape_alloc(LimnTape *tape, const char *op, gsize bytes);
LimnReal *limn_tape_alloc_reals(LimnTape *tape, const char *op, gint64 n);
// Scratch of one operation: everything allocated after the mark is given back. No
// gradient may be asked for in between.
LimnArenaMark limn_tape_mark(LimnTape *tape);
void limn_tape_release(LimnTape *tape, LimnArenaMark mark);

// ---- tensors
// A new contiguous tensor with undefined data; poisoned when memory fails.
LimnTensor *limn_tape_new_tensor(LimnTape *tape, const char *op, int rank,
                                 const gint64 *dim);
LimnTensor *limn_tape_new_int(LimnTape *tape, const char *op, int rank,
                              const gint64 *dim);
// A tensor that shares data, with other shape and strides.
LimnTensor *limn_tape_new_view(LimnTape *tape, const LimnTensor *base, int rank,
                               const gint64 *dim, const gint64 *stride, gint64 offset);
// "op: shapes [2, 3] and [4] do not fit (what)".
LimnTensor *limn_tape_fail_shapes(LimnTape *tape, const char *op, const LimnTensor *a,
                                  const LimnTensor *b, const char *what);
// TRUE when one of the inputs (NULLs are passed over) is poisoned, made before the last
// reset, or the job was cancelled: the operation returns limn_tape_poisoned().
gboolean limn_tape_unusable(LimnTape *tape, const char *op, LimnTensor *const *in, int n);
#define LIMN_UNUSABLE(tape, op, ...)                                                     \
    limn_tape_unusable(tape, op, (LimnTensor *const[]){__VA_ARGS__},                     \
                       G_N_ELEMENTS(((LimnTensor *const[]){__VA_ARGS__})))

// ---- nodes
// Records the operation when an input requires a gradient and recording is on; returns
// the node to be filled with attributes, or NULL when nothing is recorded.
LimnNode *limn_tape_record(LimnTape *tape, const char *op, LimnBackwardFunc backward,
                           LimnTensor *out, LimnTensor *const *in, int n_in);
#define LIMN_RECORD(tape, op, backward, out, ...)                                        \
    limn_tape_record(tape, op, backward, out, (LimnTensor *const[]){__VA_ARGS__},        \
                     G_N_ELEMENTS(((LimnTensor *const[]){__VA_ARGS__})))
gboolean limn_tape_would_record(LimnTape *tape, LimnTensor *const *in, int n_in);

// The gradient buffer of a tensor in this sweep, zeroed when first touched; NULL when the
// gradient is not wanted (constant input, pruned).
LimnReal *limn_tape_grad(LimnTape *tape, LimnTensor *tensor);

// ---- shape helpers
void limn_shape_contiguous_strides(int rank, const gint64 *dim, gint64 *stride);
// Broadcast of two shapes; FALSE when they do not fit.
gboolean limn_shape_broadcast(const LimnTensor *a, const LimnTensor *b, int *rank,
                              gint64 *dim);
// Strides of `t` seen in the broadcast shape of that rank.
void limn_shape_broadcast_strides(const LimnTensor *t, const gint64 *t_stride, int rank,
                                  gint64 *stride);
// Resolves a possibly negative dimension; -1 when out of range.
int limn_shape_dim(const LimnTensor *t, int dim);
// "[2, 3]". Returns: (transfer full)
char *limn_tensor_describe(const LimnTensor *t);
gboolean limn_tensor_same_shape(const LimnTensor *a, const LimnTensor *b);

// A contiguous tensor with the same values (the tensor itself when it is one), recorded.
LimnTensor *limn_tape_contiguous(LimnTape *tape, LimnTensor *a);

// ---- products: C = alpha op(A) op(B) + beta C, row-major
void limn_real_gemm(LimnTape *tape, gboolean trans_a, gboolean trans_b, gint64 m,
                    gint64 n, gint64 k, LimnReal alpha, const LimnReal *a, gint64 lda,
                    const LimnReal *b, gint64 ldb, LimnReal beta, LimnReal *c,
                    gint64 ldc);

// ---- loops: func(begin, end, data) over [0, n) in chunks of fixed size
typedef void (*LimnRangeFunc)(gint64 begin, gint64 end, gpointer data);
void limn_tape_for(LimnTape *tape, gint64 n, gint64 chunk, LimnRangeFunc func,
                   gpointer data);

// Outer, middle and inner size of a contiguous tensor around one dimension.
void limn_tensor_split(const LimnTensor *t, int dim, gint64 *outer, gint64 *size,
                       gint64 *inner);

// A constant of the tensors' type.
#define LIMN_R(value) ((LimnReal) (value))
