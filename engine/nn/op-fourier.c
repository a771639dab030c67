// SPDX-License-Identifier: GPL-3.0-or-later

// rfft_ortho: N reals to N reals, [Re 0..floor(N/2), Im 1..ceil(N/2)-1] / sqrt(N). The
// map is linear; the reverse sweep applies its transpose (not its inverse: the inverse
// gives interior bins weight 2). FFTW does both with estimated plans, one per length.

#include "engine/nn/ops.h"
#include "engine/nn/tape-private.h"

#include <fftw3.h>
#include <math.h>

#ifdef LIMN_NN_DOUBLE
#define FFTW(name) fftw_##name
#else
#define FFTW(name) fftwf_##name
#endif

typedef struct {
    FFTW(plan) forward, inverse;
    LimnReal *real;
    FFTW(complex) * half;
} Plan;

static GMutex plan_lock;
static GHashTable *plans; // length -> Plan; lives as long as the program

// NULL when there is no memory for it. The lock is held.
static Plan *
get_plan(gint64 n)
{
    if (!plans)
        plans = g_hash_table_new(g_int64_hash, g_int64_equal);
    Plan *plan = g_hash_table_lookup(plans, &n);
    if (plan)
        return plan;
    plan = g_new0(Plan, 1);
    plan->real = FFTW(malloc)((gsize) n * sizeof(LimnReal));
    plan->half = FFTW(malloc)((gsize) (n / 2 + 1) * sizeof(FFTW(complex)));
    if (plan->real && plan->half) {
        plan->forward =
            FFTW(plan_dft_r2c_1d)((int) n, plan->real, plan->half, FFTW_ESTIMATE);
        plan->inverse =
            FFTW(plan_dft_c2r_1d)((int) n, plan->half, plan->real, FFTW_ESTIMATE);
    }
    if (!plan->forward || !plan->inverse) {
        FFTW(destroy_plan)(plan->forward); // NULL is passed over
        FFTW(free)(plan->real);
        FFTW(free)(plan->half);
        g_free(plan);
        return NULL;
    }
    gint64 *key = g_new(gint64, 1);
    *key = n;
    g_hash_table_insert(plans, key, plan);
    return plan;
}

static void
transform_row(Plan *plan, gint64 n, const LimnReal *x, LimnReal *y)
{
    LimnReal scale = (LimnReal) (1 / sqrt((double) n));
    for (gint64 i = 0; i < n; i++)
        plan->real[i] = x[i];
    FFTW(execute)(plan->forward);
    gint64 re = n / 2 + 1;
    for (gint64 k = 0; k < re; k++)
        y[k] = plan->half[k][0] * scale;
    for (gint64 k = 1; re + k - 1 < n; k++)
        y[re + k - 1] = plan->half[k][1] * scale;
}

// x_j += s sum_k (g_re,k cos(2 pi j k / n) - g_im,k sin(2 pi j k / n)): a complex-to-real
// transform with interior bins halved, since that one counts them twice.
static void
transpose_row(Plan *plan, gint64 n, const LimnReal *g, LimnReal *gx)
{
    LimnReal scale = (LimnReal) (1 / sqrt((double) n));
    gint64 re = n / 2 + 1;
    for (gint64 k = 0; k < re; k++) {
        gboolean edge = k == 0 || 2 * k == n;
        LimnReal im = k >= 1 && re + k - 1 < n ? g[re + k - 1] : 0;
        plan->half[k][0] = edge ? g[k] : g[k] / 2;
        plan->half[k][1] = edge ? 0 : im / 2;
    }
    FFTW(execute)(plan->inverse);
    for (gint64 i = 0; i < n; i++)
        gx[i] += plan->real[i] * scale;
}

static void
rfft_backward(LimnTape *tape, LimnNode *node)
{
    LimnReal *gx = limn_tape_grad(tape, node->in[0]);
    gint64 n = node->i[0];
    if (!gx || !n)
        return;
    g_mutex_lock(&plan_lock);
    Plan *plan = get_plan(n); // made by the forward pass
    for (gint64 r = 0; plan && r < limn_tensor_length(node->out) / n; r++)
        transpose_row(plan, n, node->out->grad + r * n, gx + r * n);
    g_mutex_unlock(&plan_lock);
}

LimnTensor *
limn_nn_rfft_ortho(LimnTape *tape, LimnTensor *x)
{
    if (LIMN_UNUSABLE(tape, "rfft_ortho", x))
        return limn_tape_poisoned(tape);
    if (x->rank < 1 || x->dim[x->rank - 1] > G_MAXINT)
        return limn_tape_fail(tape, "rfft_ortho", "a tensor of rank %d", x->rank);
    x = limn_tape_contiguous(tape, x);
    LimnTensor *out = limn_tape_new_tensor(tape, "rfft_ortho", x->rank, x->dim);
    if (LIMN_UNUSABLE(tape, "rfft_ortho", x, out))
        return limn_tape_poisoned(tape);
    gint64 n = x->dim[x->rank - 1];
    if (n) {
        g_mutex_lock(&plan_lock);
        Plan *plan = get_plan(n);
        for (gint64 r = 0; plan && r < limn_tensor_length(x) / n; r++)
            transform_row(plan, n, x->data + r * n, out->data + r * n);
        g_mutex_unlock(&plan_lock);
        if (!plan)
            return limn_tape_fail(
                tape, "rfft_ortho",
                "no room for a transform of %" G_GINT64_FORMAT " numbers", n);
    }
    LimnNode *node = LIMN_RECORD(tape, "rfft_ortho", rfft_backward, out, x);
    if (node)
        node->i[0] = n;
    return out;
}
