// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reverse-mode differentiation: tensors and the tape.
//
// A tape executes operations at once and records those whose inputs require a gradient;
// the record is already in topological order, so the reverse sweep walks it backwards.
// Nothing but the tape owns memory: data, gradients and saved values come from its arena,
// which limn_tape_reset() empties for the next step without giving memory back.
//
//     LimnTape *tape = limn_tape_new(job);
//     LimnTensor *x = limn_tape_input(tape, 2, (gint64[]){n, in}, values);
//     LimnTensor *w = limn_tape_leaf(tape, 2, (gint64[]){out, in}, weights, gradients);
//     LimnTensor *loss = limn_nn_mse(tape, limn_nn_linear(tape, x, w, NULL), target);
//     if (!limn_tape_backward(tape, loss, NULL, &error)) ...
//     limn_tape_reset(tape);
//
// Errors: an operation whose inputs do not fit sets the tape's error (naming the
// operation and both shapes) and returns a poisoned tensor; operations on poisoned
// tensors do nothing, so that a model may be written without checks and the error fetched
// once with limn_tape_check(). Cancelling the job poisons the tape in the same way.
//
// Data are float32 (double when compiled with LIMN_NN_DOUBLE, for numerical checks), rank
// 0 to 4, row-major. Movement operations are views that share data.

#include "engine/base/job.h"

#ifdef LIMN_NN_DOUBLE
typedef double LimnReal;
#else
typedef float LimnReal;
#endif

#define LIMN_TENSOR_MAX_RANK 4

typedef struct LimnTape LimnTape;
typedef struct LimnTensor LimnTensor;

typedef enum {
    LIMN_TENSOR_REQUIRES_GRAD = 1 << 0,
    LIMN_TENSOR_LEAF = 1 << 1,        // gradient belongs to the caller (parameters)
    LIMN_TENSOR_RETAIN_GRAD = 1 << 2, // gradient stays readable after the sweep
    LIMN_TENSOR_INT32 = 1 << 3,
    LIMN_TENSOR_POISONED = 1 << 4,
} LimnTensorFlags;

struct LimnTensor {
    LimnReal *data;      // gint32 when INT32
    LimnReal *grad;      // contiguous, of this shape; NULL until a sweep touches it
    LimnReal *leaf_grad; // leaves: the caller's buffer, which sweeps add to
    int rank;
    gint64 dim[LIMN_TENSOR_MAX_RANK];    // unused entries are 1
    gint64 stride[LIMN_TENSOR_MAX_RANK]; // in elements; 0 = broadcast
    guint flags;
    int node;         // tape index of the node that made it, -1 for leaves and inputs
    guint grad_mark;  // sweep in which grad was last touched
    guint need_mark;  // sweep in which the gradient is wanted
    guint generation; // of the tape's arena
};

LimnTape *limn_tape_new(LimnJob *job);
void limn_tape_free(LimnTape *tape);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnTape, limn_tape_free)

// Forget all tensors of this step; memory stays with the tape.
void limn_tape_reset(LimnTape *tape);
// Hard cap in bytes (default 6 GiB); beyond it LIMN_ERROR_MEMORY names the operation.
void limn_tape_set_limit(LimnTape *tape, gsize bytes);
gsize limn_tape_get_bytes(LimnTape *tape);         // in use now
gsize limn_tape_get_high_water(LimnTape *tape);    // largest use of any step
guint limn_tape_get_n_allocations(LimnTape *tape); // calls of malloc so far
LimnJob *limn_tape_get_job(LimnTape *tape);

// Recording can be switched off (inference); calls nest.
void limn_tape_no_grad_begin(LimnTape *tape);
void limn_tape_no_grad_end(LimnTape *tape);

// Copies `data` (NULL: zeros) into the arena. No gradient.
LimnTensor *limn_tape_input(LimnTape *tape, int rank, const gint64 *dim,
                            const LimnReal *data);
LimnTensor *limn_tape_input_int(LimnTape *tape, int rank, const gint64 *dim,
                                const gint32 *data);
// A variable: as an input, but the sweep computes its gradient (explanations, attacks).
LimnTensor *limn_tape_variable(LimnTape *tape, int rank, const gint64 *dim,
                               const LimnReal *data);
// A parameter: data and gradient belong to the caller and are contiguous; sweeps add to
// the gradient. grad NULL: a frozen parameter.
LimnTensor *limn_tape_leaf(LimnTape *tape, int rank, const gint64 *dim, LimnReal *data,
                           LimnReal *grad);
// Keep the gradient of an intermediate tensor readable after the sweep.
void limn_tensor_retain_grad(LimnTensor *tensor);

gint64 limn_tensor_length(const LimnTensor *tensor);
gboolean limn_tensor_is_contiguous(const LimnTensor *tensor);
gint32 *limn_tensor_i32(const LimnTensor *tensor);
// Value of a tensor with one element.
LimnReal limn_tensor_item(const LimnTensor *tensor);
// Copies the values in row-major order, whatever the strides.
void limn_tensor_copy_values(const LimnTensor *tensor, LimnReal *out);

// Gradients of `y` with respect to everything that requires one. `seed` (contiguous,
// shape of y) defaults to 1 for a tensor of one element. The tape stays usable for
// another sweep over the same forward pass; gradients of intermediates are new each time,
// those of leaves accumulate.
gboolean limn_tape_backward(LimnTape *tape, LimnTensor *y, const LimnReal *seed,
                            GError **error);
// Only the gradients of the listed tensors (their `grad` is valid afterwards): everything
// else is pruned, parameters are not touched.
gboolean limn_tape_grad_of(LimnTape *tape, LimnTensor *y, const LimnReal *seed,
                           LimnTensor *const *wanted, gsize n_wanted, GError **error);

// FALSE with the first error of the tape (shape, memory), or when its job was cancelled:
// after TRUE every result is complete. Clears nothing.
gboolean limn_tape_check(LimnTape *tape, GError **error);

// For models that check their own inputs: sets the tape's error unless it has one and
// returns the poisoned tensor.
LimnTensor *limn_tape_fail(LimnTape *tape, const char *op, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
LimnTensor *limn_tape_poisoned(LimnTape *tape);

// Runs `func` without recording, and again during the reverse sweep: only its inputs are
// kept (Chen et al. 2016, recomputation). The function must draw no random numbers, have
// no side effects and use no tensors but `inputs` (parameters included).
typedef LimnTensor *(*LimnSegmentFunc)(LimnTape *tape, LimnTensor *const *inputs,
                                       gsize n_inputs, gpointer user_data);
LimnTensor *limn_nn_checkpoint(LimnTape *tape, LimnSegmentFunc func, gpointer user_data,
                               LimnTensor *const *inputs, gsize n_inputs);
