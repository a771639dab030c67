// SPDX-License-Identifier: GPL-3.0-or-later

// The tape: tensors, nodes and the reverse sweep. See tensor.h.

#include "engine/nn/tape-private.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/nn/arena.h"

#ifdef LIMN_NN_DOUBLE
#include <cblas.h>
#else
#include "engine/math/gemm.h"
#endif

#include <math.h>
#include <string.h>

// Gradient buffers of intermediate tensors come back to a free list per size class as
// soon as the producing node has run.
#define N_SIZE_CLASSES 48

typedef struct FreeBlock {
    struct FreeBlock *next;
} FreeBlock;

struct LimnTape {
    LimnJob *job;
    LimnArena *arena;
    GArray *nodes; // LimnNode
    int no_grad;
    guint sweep;      // mark of the running or last sweep
    guint generation; // raised by every reset
    gboolean pruned;  // this sweep computes only what leads to the wanted tensors
    GError *error;
    LimnTensor poisoned;
    FreeBlock *free_blocks[N_SIZE_CLASSES];
};

LimnTape *
limn_tape_new(LimnJob *job)
{
    LimnTape *tape = g_new0(LimnTape, 1);
    tape->job = job ? limn_job_ref(job) : NULL;
    tape->arena = limn_arena_new();
    tape->nodes = g_array_new(FALSE, FALSE, sizeof(LimnNode));
    tape->generation = 1;
    tape->poisoned = (LimnTensor){.dim = {1, 1, 1, 1},
                                  .stride = {1, 1, 1, 1},
                                  .flags = LIMN_TENSOR_POISONED,
                                  .node = -1};
    return tape;
}

void
limn_tape_free(LimnTape *tape)
{
    if (!tape)
        return;
    g_clear_pointer(&tape->job, limn_job_unref);
    limn_arena_free(tape->arena);
    g_array_unref(tape->nodes);
    g_clear_error(&tape->error);
    g_free(tape);
}

void
limn_tape_reset(LimnTape *tape)
{
    limn_arena_reset(tape->arena);
    g_array_set_size(tape->nodes, 0);
    g_clear_error(&tape->error);
    memset(tape->free_blocks, 0, sizeof tape->free_blocks);
    tape->generation++;
    tape->no_grad = 0;
}

void
limn_tape_set_limit(LimnTape *tape, gsize bytes)
{
    limn_arena_set_limit(tape->arena, bytes);
}

gsize
limn_tape_get_bytes(LimnTape *tape)
{
    return limn_arena_get_bytes(tape->arena);
}

gsize
limn_tape_get_high_water(LimnTape *tape)
{
    return limn_arena_get_high_water(tape->arena);
}

guint
limn_tape_get_n_allocations(LimnTape *tape)
{
    return limn_arena_get_n_allocations(tape->arena);
}

LimnJob *
limn_tape_get_job(LimnTape *tape)
{
    return tape->job;
}

void
limn_tape_no_grad_begin(LimnTape *tape)
{
    tape->no_grad++;
}

void
limn_tape_no_grad_end(LimnTape *tape)
{
    g_return_if_fail(tape->no_grad > 0);
    tape->no_grad--;
}

// ---- memory

gpointer
limn_tape_alloc(LimnTape *tape, const char *op, gsize bytes)
{
    gpointer memory = limn_arena_alloc(tape->arena, bytes);
    if (!memory && !tape->error)
        g_set_error(&tape->error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "%s: no room for %" G_GSIZE_FORMAT " bytes (%" G_GSIZE_FORMAT
                    " bytes of the tape are in use)",
                    op, bytes, limn_arena_get_bytes(tape->arena));
    return memory;
}

LimnReal *
limn_tape_alloc_reals(LimnTape *tape, const char *op, gint64 n)
{
    return limn_tape_alloc(tape, op, (gsize) n * sizeof(LimnReal));
}

static int
size_class(gsize bytes)
{
    int class = 0;
    for (gsize size = 64; size < bytes; size *= 2)
        class ++;
    return MIN(class, N_SIZE_CLASSES - 1);
}

static LimnReal *
alloc_gradient(LimnTape *tape, gsize bytes)
{
    int class = size_class(bytes);
    FreeBlock *block = tape->free_blocks[class];
    if (block) {
        tape->free_blocks[class] = block->next;
        return (LimnReal *) (gpointer) block;
    }
    return limn_tape_alloc(tape, "gradient", (gsize) 64 << class);
}

static void
release_gradient(LimnTape *tape, LimnTensor *tensor)
{
    gsize bytes = (gsize) limn_tensor_length(tensor) * sizeof(LimnReal);
    FreeBlock *block = (FreeBlock *) (gpointer) tensor->grad;
    int class = size_class(bytes);
    block->next = tape->free_blocks[class];
    tape->free_blocks[class] = block;
    tensor->grad = NULL;
    tensor->grad_mark = 0;
}

LimnArenaMark
limn_tape_mark(LimnTape *tape)
{
    return limn_arena_mark(tape->arena);
}

void
limn_tape_release(LimnTape *tape, LimnArenaMark mark)
{
    limn_arena_release(tape->arena, mark);
}

// ---- tensors

gint64
limn_tensor_length(const LimnTensor *tensor)
{
    return tensor->dim[0] * tensor->dim[1] * tensor->dim[2] * tensor->dim[3];
}

void
limn_shape_contiguous_strides(int rank, const gint64 *dim, gint64 *stride)
{
    gint64 step = 1;
    for (int i = LIMN_TENSOR_MAX_RANK - 1; i >= 0; i--) {
        stride[i] = step;
        if (i < rank)
            step *= dim[i];
    }
}

gboolean
limn_tensor_is_contiguous(const LimnTensor *tensor)
{
    gint64 step = 1;
    for (int i = tensor->rank - 1; i >= 0; i--) {
        if (tensor->dim[i] != 1 && tensor->stride[i] != step)
            return FALSE;
        step *= tensor->dim[i];
    }
    return TRUE;
}

static LimnTensor *
new_header(LimnTape *tape, const char *op, int rank, const gint64 *dim)
{
    LimnTensor *tensor = limn_tape_alloc(tape, op, sizeof *tensor);
    if (!tensor)
        return limn_tape_poisoned(tape);
    *tensor = (LimnTensor){.rank = rank, .node = -1, .generation = tape->generation};
    for (int i = 0; i < LIMN_TENSOR_MAX_RANK; i++)
        tensor->dim[i] = i < rank ? dim[i] : 1;
    limn_shape_contiguous_strides(rank, tensor->dim, tensor->stride);
    return tensor;
}

static LimnTensor *
new_tensor(LimnTape *tape, const char *op, int rank, const gint64 *dim, gsize element)
{
    if (rank < 0 || rank > LIMN_TENSOR_MAX_RANK)
        return limn_tape_fail(tape, op, "rank %d is outside 0..%d", rank,
                              LIMN_TENSOR_MAX_RANK);
    gint64 length = 1;
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 0 || (dim[i] > 0 && length > G_MAXINT64 / 16 / dim[i]))
            return limn_tape_fail(tape, op,
                                  "size %" G_GINT64_FORMAT " of dimension %d is "
                                  "not possible",
                                  dim[i], i);
        length *= dim[i];
    }
    LimnTensor *tensor = new_header(tape, op, rank, dim);
    if (tensor->flags & LIMN_TENSOR_POISONED)
        return tensor;
    tensor->data = limn_tape_alloc(tape, op, (gsize) length * element);
    return tensor->data ? tensor : limn_tape_poisoned(tape);
}

LimnTensor *
limn_tape_new_tensor(LimnTape *tape, const char *op, int rank, const gint64 *dim)
{
    return new_tensor(tape, op, rank, dim, sizeof(LimnReal));
}

LimnTensor *
limn_tape_new_int(LimnTape *tape, const char *op, int rank, const gint64 *dim)
{
    LimnTensor *tensor = new_tensor(tape, op, rank, dim, sizeof(gint32));
    if (!(tensor->flags & LIMN_TENSOR_POISONED)) // the poisoned one is shared
        tensor->flags |= LIMN_TENSOR_INT32;
    return tensor;
}

LimnTensor *
limn_tape_new_view(LimnTape *tape, const LimnTensor *base, int rank, const gint64 *dim,
                   const gint64 *stride, gint64 offset)
{
    LimnTensor *view = new_header(tape, "view", rank, dim);
    if (view->flags & LIMN_TENSOR_POISONED)
        return view;
    view->flags |= base->flags & LIMN_TENSOR_INT32;
    if (base->flags & LIMN_TENSOR_INT32)
        view->data = (LimnReal *) (gpointer) ((gint32 *) (gpointer) base->data + offset);
    else
        view->data = base->data + offset;
    for (int i = 0; i < rank; i++)
        view->stride[i] = stride[i];
    return view;
}

LimnTensor *
limn_tape_input(LimnTape *tape, int rank, const gint64 *dim, const LimnReal *data)
{
    LimnTensor *tensor = limn_tape_new_tensor(tape, "input", rank, dim);
    if (tensor->flags & LIMN_TENSOR_POISONED)
        return tensor;
    gsize bytes = (gsize) limn_tensor_length(tensor) * sizeof(LimnReal);
    if (data && bytes)
        memcpy(tensor->data, data, bytes);
    else if (bytes)
        memset(tensor->data, 0, bytes);
    return tensor;
}

LimnTensor *
limn_tape_input_int(LimnTape *tape, int rank, const gint64 *dim, const gint32 *data)
{
    LimnTensor *tensor = limn_tape_new_int(tape, "input", rank, dim);
    if (tensor->flags & LIMN_TENSOR_POISONED)
        return tensor;
    gsize bytes = (gsize) limn_tensor_length(tensor) * sizeof(gint32);
    if (data && bytes)
        memcpy(tensor->data, data, bytes);
    else if (bytes)
        memset(tensor->data, 0, bytes);
    return tensor;
}

LimnTensor *
limn_tape_variable(LimnTape *tape, int rank, const gint64 *dim, const LimnReal *data)
{
    LimnTensor *tensor = limn_tape_input(tape, rank, dim, data);
    if (!(tensor->flags & LIMN_TENSOR_POISONED))
        tensor->flags |= LIMN_TENSOR_REQUIRES_GRAD | LIMN_TENSOR_RETAIN_GRAD;
    return tensor;
}

LimnTensor *
limn_tape_leaf(LimnTape *tape, int rank, const gint64 *dim, LimnReal *data,
               LimnReal *grad)
{
    LimnTensor *tensor = new_header(tape, "leaf", rank, dim);
    if (tensor->flags & LIMN_TENSOR_POISONED)
        return tensor;
    tensor->data = data;
    tensor->flags |= LIMN_TENSOR_LEAF;
    if (grad) {
        tensor->leaf_grad = grad;
        tensor->flags |= LIMN_TENSOR_REQUIRES_GRAD;
    }
    return tensor;
}

void
limn_tensor_retain_grad(LimnTensor *tensor)
{
    if (!(tensor->flags & LIMN_TENSOR_POISONED))
        tensor->flags |= LIMN_TENSOR_RETAIN_GRAD;
}

gint32 *
limn_tensor_i32(const LimnTensor *tensor)
{
    g_return_val_if_fail(tensor->flags & LIMN_TENSOR_INT32, NULL);
    return (gint32 *) (gpointer) tensor->data;
}

LimnReal
limn_tensor_item(const LimnTensor *tensor)
{
    if ((tensor->flags & LIMN_TENSOR_POISONED) || limn_tensor_length(tensor) != 1)
        return NAN;
    return tensor->data[0];
}

void
limn_tensor_copy_values(const LimnTensor *t, LimnReal *out)
{
    if (t->flags & LIMN_TENSOR_POISONED)
        return;
    gint64 stride[LIMN_TENSOR_MAX_RANK], at = 0;
    for (int i = 0; i < LIMN_TENSOR_MAX_RANK; i++)
        stride[i] = i < t->rank ? t->stride[i] : 0;
    for (gint64 a = 0; a < t->dim[0]; a++)
        for (gint64 b = 0; b < t->dim[1]; b++)
            for (gint64 c = 0; c < t->dim[2]; c++)
                for (gint64 d = 0; d < t->dim[3]; d++)
                    out[at++] = t->data[a * stride[0] + b * stride[1] + c * stride[2] +
                                        d * stride[3]];
}

// ---- errors

LimnTensor *
limn_tape_poisoned(LimnTape *tape)
{
    return &tape->poisoned;
}

char *
limn_tensor_describe(const LimnTensor *t)
{
    GString *text = g_string_new("[");
    for (int i = 0; i < t->rank; i++)
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i ? ", " : "", t->dim[i]);
    g_string_append_c(text, ']');
    return g_string_free(text, FALSE);
}

LimnTensor *
limn_tape_fail(LimnTape *tape, const char *op, const char *format, ...)
{
    if (!tape->error) {
        va_list arguments;
        va_start(arguments, format);
        g_autofree char *message = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        g_set_error(&tape->error, LIMN_ERROR, LIMN_ERROR_MISMATCH, "%s: %s", op, message);
    }
    return limn_tape_poisoned(tape);
}

LimnTensor *
limn_tape_fail_shapes(LimnTape *tape, const char *op, const LimnTensor *a,
                      const LimnTensor *b, const char *what)
{
    g_autofree char *first = limn_tensor_describe(a);
    g_autofree char *second = limn_tensor_describe(b);
    return limn_tape_fail(tape, op, "shapes %s and %s do not fit (%s)", first, second,
                          what);
}

// Operations that take integer tensors, and in which places (bit i: input i).
static const struct {
    const char *op;
    guint places;
} integer_inputs[] = {
    {"where", 1},        {"gather_rows", 2},   {"gather", 2},      {"one_hot", 1},
    {"segment_sum", 2},  {"segment_mean", 2},  {"segment_max", 2}, {"segment_softmax", 2},
    {"spmm_csr", 4 | 8}, {"cross_entropy", 2}, {"permute", 1},     {"reshape", 1},
    {"slice", 1},        {"broadcast_to", 1},  {"contiguous", 1},
};

static gboolean
takes_integer(const char *op, int place)
{
    for (gsize i = 0; i < G_N_ELEMENTS(integer_inputs); i++)
        if (strcmp(op, integer_inputs[i].op) == 0)
            return (integer_inputs[i].places >> place) & 1;
    return FALSE;
}

gboolean
limn_tape_unusable(LimnTape *tape, const char *op, LimnTensor *const *in, int n)
{
    if (tape->error)
        return TRUE;
    for (int i = 0; i < n; i++) {
        if (!in[i])
            continue;
        if (in[i]->flags & LIMN_TENSOR_POISONED) {
            limn_tape_fail(tape, op, "input %d failed in an earlier step", i);
            return TRUE;
        }
        if ((in[i]->flags & LIMN_TENSOR_INT32) && !takes_integer(op, i)) {
            limn_tape_fail(tape, op, "input %d is integer, expected real numbers", i);
            return TRUE;
        }
        if (in[i]->generation != tape->generation) {
            limn_tape_fail(tape, op, "input %d belongs to another step of the tape", i);
            return TRUE;
        }
    }
    return !limn_job_check(tape->job, &tape->error);
}

gboolean
limn_tape_check(LimnTape *tape, GError **error)
{
    // A loop that was cancelled left chunks out: what it made must not be used.
    if (!tape->error && limn_job_check(tape->job, &tape->error))
        return TRUE;
    if (error)
        *error = g_error_copy(tape->error);
    return FALSE;
}

// ---- nodes

gboolean
limn_tape_would_record(LimnTape *tape, LimnTensor *const *in, int n_in)
{
    if (tape->no_grad > 0)
        return FALSE;
    for (int i = 0; i < n_in; i++)
        if (in[i] && (in[i]->flags & LIMN_TENSOR_REQUIRES_GRAD))
            return TRUE;
    return FALSE;
}

LimnNode *
limn_tape_record(LimnTape *tape, const char *op, LimnBackwardFunc backward,
                 LimnTensor *out, LimnTensor *const *in, int n_in)
{
    if ((out->flags & LIMN_TENSOR_POISONED) || !limn_tape_would_record(tape, in, n_in))
        return NULL;
    LimnNode node = {.op = op, .backward = backward, .out = out, .n_in = n_in};
    node.in = limn_tape_alloc(tape, op, (gsize) n_in * sizeof *in);
    if (!node.in)
        return NULL;
    memcpy(node.in, in, (gsize) n_in * sizeof *in);
    out->flags |= LIMN_TENSOR_REQUIRES_GRAD;
    out->node = (int) tape->nodes->len;
    g_array_append_val(tape->nodes, node);
    return &g_array_index(tape->nodes, LimnNode, out->node);
}

// ---- reverse sweep

LimnReal *
limn_tape_grad(LimnTape *tape, LimnTensor *tensor)
{
    if (!tensor || !(tensor->flags & LIMN_TENSOR_REQUIRES_GRAD))
        return NULL;
    if (tape->pruned && tensor->need_mark != tape->sweep)
        return NULL;
    if ((tensor->flags & LIMN_TENSOR_LEAF) && !tape->pruned)
        return tensor->grad = tensor->leaf_grad;
    if (tensor->grad_mark == tape->sweep && tensor->grad)
        return tensor->grad;
    // A gradient kept from an earlier sweep gives its room, the caller's buffer does not.
    gsize bytes = (gsize) limn_tensor_length(tensor) * sizeof(LimnReal);
    LimnReal *grad = tensor->grad;
    if (!grad || grad == tensor->leaf_grad)
        grad = alloc_gradient(tape, MAX(bytes, 1));
    if (!grad)
        return NULL;
    memset(grad, 0, bytes);
    tensor->grad = grad;
    tensor->grad_mark = tape->sweep;
    return grad;
}

static gboolean
has_gradient(LimnTape *tape, LimnTensor *tensor)
{
    return tensor->grad && tensor->grad_mark == tape->sweep;
}

// Marks what lies between the wanted tensors and y.
static void
mark_needed(LimnTape *tape, LimnTensor *const *wanted, gsize n_wanted, int last)
{
    for (gsize i = 0; i < n_wanted; i++)
        wanted[i]->need_mark = tape->sweep;
    for (int n = 0; n <= last; n++) {
        LimnNode *node = &g_array_index(tape->nodes, LimnNode, n);
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] && node->in[i]->need_mark == tape->sweep)
                node->out->need_mark = tape->sweep;
    }
}

static void
seed_gradient(LimnTape *tape, LimnTensor *y, const LimnReal *seed)
{
    LimnReal *grad = limn_tape_grad(tape, y);
    if (!grad)
        return;
    gint64 n = limn_tensor_length(y);
    if (seed)
        for (gint64 i = 0; i < n; i++)
            grad[i] += seed[i];
    else
        grad[0] += 1;
}

// Walks nodes last .. first. Nodes are copied: a checkpoint appends to the array.
static void
sweep_nodes(LimnTape *tape, int last, int first)
{
    for (int n = last; n >= first; n--) {
        if (!tape->error)
            limn_job_check(tape->job, &tape->error);
        if (tape->error)
            return;
        LimnNode node = g_array_index(tape->nodes, LimnNode, n);
        if (!has_gradient(tape, node.out))
            continue;
        node.backward(tape, &node);
        if (!(node.out->flags & LIMN_TENSOR_RETAIN_GRAD))
            release_gradient(tape, node.out);
    }
}

static gboolean
sweep(LimnTape *tape, int last, GError **error)
{
    sweep_nodes(tape, last, 0);
    return limn_tape_check(tape, error);
}

static gboolean
check_root(LimnTape *tape, LimnTensor *y, const LimnReal *seed, GError **error)
{
    if (!limn_tape_check(tape, error))
        return FALSE;
    if (!seed && limn_tensor_length(y) != 1) {
        g_autofree char *shape = limn_tensor_describe(y);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "backward: a tensor of shape %s needs a seed (only one element does "
                    "not)",
                    shape);
        return FALSE;
    }
    return TRUE;
}

gboolean
limn_tape_backward(LimnTape *tape, LimnTensor *y, const LimnReal *seed, GError **error)
{
    if (!check_root(tape, y, seed, error))
        return FALSE;
    tape->sweep++;
    tape->pruned = FALSE;
    if (!(y->flags & LIMN_TENSOR_REQUIRES_GRAD))
        return TRUE;
    seed_gradient(tape, y, seed);
    return sweep(tape, y->node, error);
}

gboolean
limn_tape_grad_of(LimnTape *tape, LimnTensor *y, const LimnReal *seed,
                  LimnTensor *const *wanted, gsize n_wanted, GError **error)
{
    if (!check_root(tape, y, seed, error))
        return FALSE;
    tape->sweep++;
    tape->pruned = TRUE;
    mark_needed(tape, wanted, n_wanted, y->node);
    for (gsize i = 0; i < n_wanted; i++)
        wanted[i]->flags |= LIMN_TENSOR_RETAIN_GRAD;
    if (y->flags & LIMN_TENSOR_REQUIRES_GRAD)
        seed_gradient(tape, y, seed);
    gboolean ok = sweep(tape, y->node, error);
    for (gsize i = 0; i < n_wanted && ok; i++)
        limn_tape_grad(tape, wanted[i]); // zeros where nothing arrived
    tape->pruned = FALSE;
    return ok && limn_tape_check(tape, error);
}

// ---- recomputed segments

typedef struct {
    LimnSegmentFunc func;
    gpointer user_data;
} Segment;

// Inputs as tensors of their own, so that the inner sweep stops at them. They add to the
// gradients of the inputs directly: the same sums in the same order as without a segment.
static void
detach_inputs(LimnTape *tape, const LimnNode *node, LimnTensor **detached)
{
    for (int i = 0; i < node->n_in; i++) {
        LimnTensor *in = node->in[i];
        detached[i] = limn_tape_new_view(tape, in, in->rank, in->dim, in->stride, 0);
        LimnReal *grad = limn_tape_grad(tape, in);
        if (!grad || (detached[i]->flags & LIMN_TENSOR_POISONED))
            continue;
        detached[i]->flags |= LIMN_TENSOR_REQUIRES_GRAD;
        detached[i]->grad = grad;
        detached[i]->grad_mark = tape->sweep;
        detached[i]->need_mark = in->need_mark;
    }
}

static void
mark_needed_from(LimnTape *tape, int first)
{
    for (int n = first; n < (int) tape->nodes->len; n++) {
        LimnNode *node = &g_array_index(tape->nodes, LimnNode, n);
        for (int i = 0; i < node->n_in; i++)
            if (node->in[i] && node->in[i]->need_mark == tape->sweep)
                node->out->need_mark = tape->sweep;
    }
}

static void
checkpoint_backward(LimnTape *tape, LimnNode *node)
{
    const Segment *segment = node->saved[0];
    LimnTensor **detached =
        limn_tape_alloc(tape, node->op, (gsize) node->n_in * sizeof(LimnTensor *));
    if (!detached)
        return;
    // The gradients of the inputs get their room before the mark: they outlive it. The
    // segment starts with empty free lists: the links of the others lie in the free
    // blocks themselves, which it would overwrite.
    detach_inputs(tape, node, detached);
    LimnArenaMark mark = limn_arena_mark(tape->arena);
    FreeBlock *free_blocks[N_SIZE_CLASSES];
    memcpy(free_blocks, tape->free_blocks, sizeof free_blocks);
    memset(tape->free_blocks, 0, sizeof tape->free_blocks);
    int first = (int) tape->nodes->len;
    LimnTensor *out =
        segment->func(tape, detached, (gsize) node->n_in, segment->user_data);
    if (tape->pruned)
        mark_needed_from(tape, first);
    LimnReal *grad = tape->error ? NULL : limn_tape_grad(tape, out);
    if (grad) {
        for (gint64 i = 0; i < limn_tensor_length(out); i++)
            grad[i] += node->out->grad[i];
        sweep_nodes(tape, (int) tape->nodes->len - 1, first);
    }
    g_array_set_size(tape->nodes, (guint) first);
    limn_arena_release(tape->arena, mark);
    memcpy(tape->free_blocks, free_blocks, sizeof free_blocks);
}

LimnTensor *
limn_nn_checkpoint(LimnTape *tape, LimnSegmentFunc func, gpointer user_data,
                   LimnTensor *const *inputs, gsize n_inputs)
{
    if (limn_tape_unusable(tape, "checkpoint", inputs, (int) n_inputs))
        return limn_tape_poisoned(tape);
    Segment *segment = limn_tape_alloc(tape, "checkpoint", sizeof *segment);
    if (!segment)
        return limn_tape_poisoned(tape);
    *segment = (Segment){func, user_data};
    LimnArenaMark mark = limn_arena_mark(tape->arena);
    limn_tape_no_grad_begin(tape);
    LimnTensor *inner = func(tape, inputs, n_inputs, user_data);
    limn_tape_no_grad_end(tape);
    if ((inner->flags & LIMN_TENSOR_POISONED) || tape->error)
        return limn_tape_poisoned(tape);
    if (!limn_tensor_is_contiguous(inner))
        return limn_tape_fail(tape, "checkpoint", "the result must be contiguous");
    // The result moves down to where the segment began; what it needed is forgotten.
    LimnTensor copy = *inner;
    limn_arena_release(tape->arena, mark);
    LimnTensor *out = limn_tape_new_tensor(tape, "checkpoint", copy.rank, copy.dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    memmove(out->data, copy.data, (gsize) limn_tensor_length(out) * sizeof(LimnReal));
    LimnNode *node = limn_tape_record(tape, "checkpoint", checkpoint_backward, out,
                                      inputs, (int) n_inputs);
    if (node)
        node->saved[0] = segment;
    return out;
}

// ---- shapes

gboolean
limn_tensor_same_shape(const LimnTensor *a, const LimnTensor *b)
{
    return a->rank == b->rank && memcmp(a->dim, b->dim, sizeof a->dim) == 0;
}

gboolean
limn_shape_broadcast(const LimnTensor *a, const LimnTensor *b, int *rank, gint64 *dim)
{
    *rank = MAX(a->rank, b->rank);
    for (int i = 0; i < LIMN_TENSOR_MAX_RANK; i++)
        dim[i] = 1;
    for (int i = 1; i <= *rank; i++) {
        gint64 da = i <= a->rank ? a->dim[a->rank - i] : 1;
        gint64 db = i <= b->rank ? b->dim[b->rank - i] : 1;
        if (da != db && da != 1 && db != 1)
            return FALSE;
        dim[*rank - i] = da == 1 ? db : da;
    }
    return TRUE;
}

void
limn_shape_broadcast_strides(const LimnTensor *t, const gint64 *t_stride, int rank,
                             gint64 *stride)
{
    for (int i = 0; i < LIMN_TENSOR_MAX_RANK; i++)
        stride[i] = 0;
    for (int i = 1; i <= t->rank; i++)
        stride[rank - i] = t->dim[t->rank - i] == 1 ? 0 : t_stride[t->rank - i];
}

int
limn_shape_dim(const LimnTensor *t, int dim)
{
    if (dim < 0)
        dim += t->rank;
    return dim >= 0 && dim < t->rank ? dim : -1;
}

void
limn_tensor_split(const LimnTensor *t, int dim, gint64 *outer, gint64 *size,
                  gint64 *inner)
{
    *outer = *inner = 1;
    *size = t->dim[dim];
    for (int i = 0; i < dim; i++)
        *outer *= t->dim[i];
    for (int i = dim + 1; i < t->rank; i++)
        *inner *= t->dim[i];
}

// ---- work

void
limn_real_gemm(LimnTape *tape, gboolean trans_a, gboolean trans_b, gint64 m, gint64 n,
               gint64 k, LimnReal alpha, const LimnReal *a, gint64 lda, const LimnReal *b,
               gint64 ldb, LimnReal beta, LimnReal *c, gint64 ldc)
{
    if (m == 0 || n == 0)
        return;
#ifdef LIMN_NN_DOUBLE
    (void) tape;
    cblas_dgemm(CblasRowMajor, trans_a ? CblasTrans : CblasNoTrans,
                trans_b ? CblasTrans : CblasNoTrans, (int) m, (int) n, (int) k, alpha, a,
                (int) MAX(lda, 1), b, (int) MAX(ldb, 1), beta, c, (int) MAX(ldc, 1));
#else
    limn_gemm(tape->job, trans_a, trans_b, (gsize) m, (gsize) n, (gsize) k, alpha, a,
              (gsize) MAX(lda, 1), b, (gsize) MAX(ldb, 1), beta, c, (gsize) MAX(ldc, 1));
#endif
}

typedef struct {
    gint64 n, chunk;
    LimnRangeFunc func;
    gpointer data;
} Loop;

static void
run_chunk(gsize index, gpointer data)
{
    const Loop *loop = data;
    gint64 begin = (gint64) index * loop->chunk;
    loop->func(begin, MIN(begin + loop->chunk, loop->n), loop->data);
}

void
limn_tape_for(LimnTape *tape, gint64 n, gint64 chunk, LimnRangeFunc func, gpointer data)
{
    if (n <= 0)
        return;
    if (n <= chunk) {
        func(0, n, data);
        return;
    }
    Loop loop = {n, chunk, func, data};
    limn_parallel_for(tape->job, (gsize) ((n + chunk - 1) / chunk), run_chunk, &loop);
}
