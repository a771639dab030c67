// SPDX-License-Identifier: GPL-3.0-or-later

// Reductions. Sums of more than a block of 64 terms are carried in double over blocks of
// fixed size, so that results depend on neither threads nor strides.

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <math.h>
#include <string.h>

// ---- over a set of dimensions: bring them to the end, reduce rows

typedef struct {
    LimnTensor *rows; // contiguous, kept dimensions first, reduced ones last
    gint64 n_rows, n; // rows and terms per row
    int rank;         // of the result
    gint64 dim[4];
} Reduction;

static gboolean
plan_reduction(LimnTape *tape, const char *op, LimnTensor *a, const int *dims, int n_dims,
               gboolean keepdim, Reduction *plan)
{
    gboolean reduced[4] = {FALSE};
    for (int i = 0; i < n_dims; i++) {
        int dim = limn_shape_dim(a, dims[i]);
        if (dim < 0) {
            limn_tape_fail(tape, op, "dimension %d is out of range", dims[i]);
            return FALSE;
        }
        reduced[dim] = TRUE;
    }
    int perm[4], at = 0;
    *plan = (Reduction){.n_rows = 1, .n = 1, .dim = {1, 1, 1, 1}};
    for (int i = 0; i < a->rank; i++) {
        gboolean gone = n_dims == 0 || reduced[i];
        if (!gone) {
            perm[at++] = i;
            plan->n_rows *= a->dim[i];
            plan->dim[plan->rank++] = a->dim[i];
        } else if (keepdim) {
            plan->dim[plan->rank++] = 1;
        }
    }
    for (int i = 0; i < a->rank; i++)
        if (n_dims == 0 || reduced[i]) {
            perm[at++] = i;
            plan->n *= a->dim[i];
        }
    plan->rows = limn_tape_contiguous(tape, limn_nn_permute(tape, a, perm));
    return !(plan->rows->flags & LIMN_TENSOR_POISONED);
}

static double
block_sum(const LimnReal *x, gint64 n)
{
    double total = 0;
    for (gint64 begin = 0; begin < n; begin += 64) {
        double sum = 0;
        for (gint64 i = begin; i < MIN(begin + 64, n); i++)
            sum += x[i];
        total += sum;
    }
    return total;
}

// node: i[0] rows, i[1] terms; d[0] factor
static void
sum_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    if (!target)
        return;
    for (gint64 r = 0; r < node->i[0]; r++) {
        LimnReal g = node->out->grad[r] * (LimnReal) node->d[0];
        for (gint64 i = 0; i < node->i[1]; i++)
            target[r * node->i[1] + i] += g;
    }
}

static LimnTensor *
sum_scaled(LimnTape *tape, const char *op, LimnTensor *a, const int *dims, int n_dims,
           gboolean keepdim, gboolean mean)
{
    Reduction plan;
    if (LIMN_UNUSABLE(tape, op, a) ||
        !plan_reduction(tape, op, a, dims, n_dims, keepdim, &plan))
        return limn_tape_poisoned(tape);
    LimnTensor *out = limn_tape_new_tensor(tape, op, plan.rank, plan.dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    double factor = mean ? 1.0 / (double) MAX(plan.n, 1) : 1;
    for (gint64 r = 0; r < plan.n_rows; r++)
        out->data[r] =
            (LimnReal) (factor * block_sum(plan.rows->data + r * plan.n, plan.n));
    LimnNode *node = LIMN_RECORD(tape, op, sum_backward, out, plan.rows);
    if (node) {
        node->i[0] = plan.n_rows;
        node->i[1] = plan.n;
        node->d[0] = factor;
    }
    return out;
}

LimnTensor *
limn_nn_sum(LimnTape *tape, LimnTensor *a, const int *dims, int n_dims, gboolean keepdim)
{
    return sum_scaled(tape, "sum", a, dims, n_dims, keepdim, FALSE);
}

LimnTensor *
limn_nn_mean(LimnTape *tape, LimnTensor *a, const int *dims, int n_dims, gboolean keepdim)
{
    return sum_scaled(tape, "mean", a, dims, n_dims, keepdim, TRUE);
}

// d var / d x = 2 (x - mean) / (n or n - 1); saved[0]: means in double
static void
var_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    const double *mean = node->saved[0];
    gint64 n = node->i[1];
    for (gint64 r = 0; target && r < node->i[0]; r++)
        for (gint64 i = 0; i < n; i++)
            target[r * n + i] += (LimnReal) (node->out->grad[r] * 2 * node->d[0] *
                                             (node->in[0]->data[r * n + i] - mean[r]));
}

LimnTensor *
limn_nn_var(LimnTape *tape, LimnTensor *a, const int *dims, int n_dims, gboolean unbiased,
            gboolean keepdim)
{
    Reduction plan;
    if (LIMN_UNUSABLE(tape, "var", a) ||
        !plan_reduction(tape, "var", a, dims, n_dims, keepdim, &plan))
        return limn_tape_poisoned(tape);
    LimnTensor *out = limn_tape_new_tensor(tape, "var", plan.rank, plan.dim);
    double *mean = limn_tape_alloc(tape, "var", (gsize) plan.n_rows * sizeof *mean);
    if ((out->flags & LIMN_TENSOR_POISONED) || !mean)
        return limn_tape_poisoned(tape);
    double factor = 1.0 / (double) MAX(plan.n - (unbiased ? 1 : 0), 1);
    for (gint64 r = 0; r < plan.n_rows; r++) {
        const LimnReal *x = plan.rows->data + r * plan.n;
        mean[r] = block_sum(x, plan.n) / (double) MAX(plan.n, 1);
        double sum = 0;
        for (gint64 i = 0; i < plan.n; i++)
            sum += (x[i] - mean[r]) * (x[i] - mean[r]);
        out->data[r] = (LimnReal) (sum * factor);
    }
    LimnNode *node = LIMN_RECORD(tape, "var", var_backward, out, plan.rows);
    if (node) {
        node->i[0] = plan.n_rows;
        node->i[1] = plan.n;
        node->d[0] = factor;
        node->saved[0] = mean;
    }
    return out;
}

// ---- along one dimension: visited as (outer, inner) columns of `size` terms

typedef struct {
    LimnTensor *in, *out;
    gint64 outer, size, inner;
} Along;

static gboolean
plan_along(LimnTape *tape, const char *op, LimnTensor *a, int dim, gboolean keepdim,
           gint64 out_size, Along *plan)
{
    if (LIMN_UNUSABLE(tape, op, a))
        return FALSE;
    int along = limn_shape_dim(a, dim);
    if (along < 0) {
        limn_tape_fail(tape, op, "dimension %d is out of range", dim);
        return FALSE;
    }
    if (a->dim[along] == 0 || (out_size > a->dim[along])) {
        limn_tape_fail(tape, op, "dimension %d has %" G_GINT64_FORMAT " elements", dim,
                       a->dim[along]);
        return FALSE;
    }
    plan->in = limn_tape_contiguous(tape, a);
    gint64 shape[4] = {1, 1, 1, 1};
    int rank = 0;
    for (int i = 0; i < a->rank; i++)
        if (i != along)
            shape[rank++] = a->dim[i];
        else if (out_size > 0 || keepdim)
            shape[rank++] = MAX(out_size, 1);
    plan->out = limn_tape_new_tensor(tape, op, rank, shape);
    limn_tensor_split(plan->in, along, &plan->outer, &plan->size, &plan->inner);
    return !((plan->in->flags | plan->out->flags) & LIMN_TENSOR_POISONED);
}

// Results that are single elements of the column: saved[0] holds which (k per column).
// node: i[0] outer, i[1] size, i[2] inner, i[3] k
static void
select_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    const gint32 *which = node->saved[0];
    gint64 size = node->i[1], inner = node->i[2], k = node->i[3];
    for (gint64 o = 0; target && o < node->i[0]; o++)
        for (gint64 j = 0; j < k; j++)
            for (gint64 i = 0; i < inner; i++) {
                gint64 at = (o * k + j) * inner + i;
                target[(o * size + which[at]) * inner + i] += node->out->grad[at];
            }
}

// Fills `order` (k entries) with the indices chosen from column x[0], x[inner], ...
typedef void (*SelectFunc)(const LimnReal *x, gint64 size, gint64 inner, gint64 k,
                           gint32 *order, gint32 *scratch);

static void
select_max(const LimnReal *x, gint64 size, gint64 inner, gint64 k, gint32 *order,
           gint32 *scratch)
{
    gint32 best = 0;
    for (gint64 j = 1; j < size; j++)
        if (x[j * inner] > x[best * inner])
            best = (gint32) j;
    order[0] = best;
}

static void
select_min(const LimnReal *x, gint64 size, gint64 inner, gint64 k, gint32 *order,
           gint32 *scratch)
{
    gint32 best = 0;
    for (gint64 j = 1; j < size; j++)
        if (x[j * inner] < x[best * inner])
            best = (gint32) j;
    order[0] = best;
}

// Stable heap-free selection: the first k of the falling order (ties by index).
static void
select_top(const LimnReal *x, gint64 size, gint64 inner, gint64 k, gint32 *order,
           gint32 *scratch)
{
    for (gint64 j = 0; j < size; j++)
        scratch[j] = 0;
    for (gint64 r = 0; r < k; r++) {
        gint64 best = -1;
        for (gint64 j = 0; j < size; j++)
            if (!scratch[j] && (best < 0 || x[j * inner] > x[best * inner]))
                best = j;
        scratch[best] = 1;
        order[r] = (gint32) best;
    }
}

typedef struct {
    const LimnReal *x;
    gint64 inner;
} Column;

static int
compare_column(gconstpointer a, gconstpointer b, gpointer data)
{
    const Column *column = data;
    gint32 i = *(const gint32 *) a, j = *(const gint32 *) b;
    LimnReal x = column->x[i * column->inner], y = column->x[j * column->inner];
    return x < y ? -1 : x > y ? 1 : i - j;
}

static void
select_median(const LimnReal *x, gint64 size, gint64 inner, gint64 k, gint32 *order,
              gint32 *scratch)
{
    for (gint64 j = 0; j < size; j++)
        scratch[j] = (gint32) j;
    Column column = {x, inner};
    g_qsort_with_data(scratch, (int) size, sizeof *scratch, compare_column, &column);
    order[0] = scratch[(size - 1) / 2];
}

static LimnTensor *
select_along(LimnTape *tape, const char *op, LimnTensor *a, int dim, gboolean keepdim,
             gint64 k, SelectFunc func)
{
    Along plan;
    if (!plan_along(tape, op, a, dim, keepdim, k, &plan))
        return limn_tape_poisoned(tape);
    k = MAX(k, 1);
    gint64 columns = plan.outer * plan.inner;
    gint32 *which = limn_tape_alloc(tape, op, (gsize) (columns * k) * sizeof *which);
    gint32 *scratch =
        limn_tape_alloc(tape, op, (gsize) (plan.size + k) * sizeof *scratch);
    if (!which || !scratch)
        return limn_tape_poisoned(tape);
    gint32 *order = scratch + plan.size;
    for (gint64 o = 0; o < plan.outer; o++)
        for (gint64 i = 0; i < plan.inner; i++) {
            const LimnReal *x = plan.in->data + o * plan.size * plan.inner + i;
            func(x, plan.size, plan.inner, k, order, scratch);
            for (gint64 j = 0; j < k; j++) {
                gint64 at = (o * k + j) * plan.inner + i;
                which[at] = order[j];
                plan.out->data[at] = x[order[j] * plan.inner];
            }
        }
    LimnNode *node = LIMN_RECORD(tape, op, select_backward, plan.out, plan.in);
    if (node) {
        node->saved[0] = which;
        node->i[0] = plan.outer;
        node->i[1] = plan.size;
        node->i[2] = plan.inner;
        node->i[3] = k;
    }
    return plan.out;
}

LimnTensor *
limn_nn_max(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim)
{
    return select_along(tape, "max", a, dim, keepdim, 0, select_max);
}

LimnTensor *
limn_nn_min(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim)
{
    return select_along(tape, "min", a, dim, keepdim, 0, select_min);
}

LimnTensor *
limn_nn_median(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim)
{
    return select_along(tape, "median", a, dim, keepdim, 0, select_median);
}

LimnTensor *
limn_nn_topk(LimnTape *tape, LimnTensor *a, int k, int dim)
{
    if (k < 1)
        return limn_tape_fail(tape, "topk", "k is %d", k);
    return select_along(tape, "topk", a, dim, TRUE, k, select_top);
}

LimnTensor *
limn_nn_argmax(LimnTape *tape, LimnTensor *a, int dim)
{
    Along plan;
    if (!plan_along(tape, "argmax", a, dim, FALSE, 0, &plan))
        return limn_tape_poisoned(tape);
    LimnTensor *out = limn_tape_new_int(tape, "argmax", plan.out->rank, plan.out->dim);
    if (out->flags & LIMN_TENSOR_POISONED)
        return out;
    for (gint64 o = 0; o < plan.outer; o++)
        for (gint64 i = 0; i < plan.inner; i++)
            select_max(plan.in->data + o * plan.size * plan.inner + i, plan.size,
                       plan.inner, 1, limn_tensor_i32(out) + o * plan.inner + i, NULL);
    return out;
}

// y = log sum exp x, dy/dx = exp(x - y)
static void
logsumexp_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    gint64 size = node->i[1], inner = node->i[2];
    for (gint64 o = 0; target && o < node->i[0]; o++)
        for (gint64 i = 0; i < inner; i++) {
            LimnReal y = node->out->data[o * inner + i],
                     g = node->out->grad[o * inner + i];
            for (gint64 j = 0; j < size; j++) {
                gint64 at = (o * size + j) * inner + i;
                target[at] += g * (LimnReal) exp(node->in[0]->data[at] - y);
            }
        }
}

static void
remember_along(LimnNode *node, const Along *plan)
{
    if (!node)
        return;
    node->i[0] = plan->outer;
    node->i[1] = plan->size;
    node->i[2] = plan->inner;
}

LimnTensor *
limn_nn_logsumexp(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim)
{
    Along plan;
    if (!plan_along(tape, "logsumexp", a, dim, keepdim, 0, &plan))
        return limn_tape_poisoned(tape);
    for (gint64 o = 0; o < plan.outer; o++)
        for (gint64 i = 0; i < plan.inner; i++) {
            const LimnReal *x = plan.in->data + o * plan.size * plan.inner + i;
            LimnReal top = x[0];
            for (gint64 j = 1; j < plan.size; j++)
                top = MAX(top, x[j * plan.inner]);
            double sum = 0;
            for (gint64 j = 0; j < plan.size && isfinite(top); j++)
                sum += exp((double) x[j * plan.inner] - top);
            plan.out->data[o * plan.inner + i] =
                isfinite(top) ? (LimnReal) (top + log(sum)) : top;
        }
    LimnNode *node =
        LIMN_RECORD(tape, "logsumexp", logsumexp_backward, plan.out, plan.in);
    remember_along(node, &plan);
    return plan.out;
}

// dy/dx = x / y, 0 where y = 0
static void
l2norm_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    gint64 size = node->i[1], inner = node->i[2];
    for (gint64 o = 0; target && o < node->i[0]; o++)
        for (gint64 i = 0; i < inner; i++) {
            LimnReal y = node->out->data[o * inner + i],
                     g = node->out->grad[o * inner + i];
            for (gint64 j = 0; y > 0 && j < size; j++) {
                gint64 at = (o * size + j) * inner + i;
                target[at] += g * node->in[0]->data[at] / y;
            }
        }
}

LimnTensor *
limn_nn_l2norm(LimnTape *tape, LimnTensor *a, int dim, gboolean keepdim)
{
    Along plan;
    if (!plan_along(tape, "l2norm", a, dim, keepdim, 0, &plan))
        return limn_tape_poisoned(tape);
    for (gint64 o = 0; o < plan.outer; o++)
        for (gint64 i = 0; i < plan.inner; i++) {
            double sum = 0;
            for (gint64 j = 0; j < plan.size; j++) {
                double x = plan.in->data[(o * plan.size + j) * plan.inner + i];
                sum += x * x;
            }
            plan.out->data[o * plan.inner + i] = (LimnReal) sqrt(sum);
        }
    LimnNode *node = LIMN_RECORD(tape, "l2norm", l2norm_backward, plan.out, plan.in);
    remember_along(node, &plan);
    return plan.out;
}

static void
cumsum_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *target = limn_tape_grad(tape, node->in[0]);
    gint64 size = node->i[1], inner = node->i[2];
    for (gint64 o = 0; target && o < node->i[0]; o++)
        for (gint64 i = 0; i < inner; i++) {
            double sum = 0;
            for (gint64 j = size - 1; j >= 0; j--) {
                gint64 at = (o * size + j) * inner + i;
                sum += node->out->grad[at];
                target[at] += (LimnReal) sum;
            }
        }
}

LimnTensor *
limn_nn_cumsum(LimnTape *tape, LimnTensor *a, int dim)
{
    int along = a->flags & LIMN_TENSOR_POISONED ? 0 : limn_shape_dim(a, dim);
    Along plan;
    gint64 size = along < 0 || (a->flags & LIMN_TENSOR_POISONED) ? 0 : a->dim[along];
    if (!plan_along(tape, "cumsum", a, dim, TRUE, size, &plan))
        return limn_tape_poisoned(tape);
    for (gint64 o = 0; o < plan.outer; o++)
        for (gint64 i = 0; i < plan.inner; i++) {
            double sum = 0;
            for (gint64 j = 0; j < plan.size; j++) {
                gint64 at = (o * plan.size + j) * plan.inner + i;
                sum += plan.in->data[at];
                plan.out->data[at] = (LimnReal) sum;
            }
        }
    LimnNode *node = LIMN_RECORD(tape, "cumsum", cumsum_backward, plan.out, plan.in);
    remember_along(node, &plan);
    return plan.out;
}
