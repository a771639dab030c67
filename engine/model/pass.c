// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/pass.h"

#include <math.h>
#include <string.h>

// Memory for block inputs of a pass, and for what the blocks of a chain computed; beyond
// it they are computed again when needed.
#define INPUT_BUDGET ((gsize) 1 << 30)
#define TRACE_BUDGET ((gsize) 1 << 30)
// Chains kept besides the model's own last block.
#define MAX_CHAINS 3

static void
free_floats_list(float **list, int n)
{
    for (int i = 0; list != NULL && i < n; i++) {
        free(list[i]);
    }
    g_free(list);
}

void
limn_chain_free(LimnChain *chain)
{
    if (chain == NULL) {
        return;
    }
    for (int i = 0; i < chain->n; i++) {
        limn_block_trace_free(chain->traces[i]);
    }
    g_free(chain->traces);
    g_free(chain->x);
    free_floats_list(chain->own, chain->n);
    free_floats_list(chain->cosines[0], chain->n);
    free_floats_list(chain->cosines[1], chain->n);
    free(chain->y);
    free(chain->f);
    g_free(chain);
}

void
limn_pass_free(LimnPass *pass)
{
    if (pass != NULL) {
        g_ptr_array_unref(pass->chains);
        free_floats_list(pass->inputs, pass->tower->config.layers);
        g_free(pass);
    }
}

LimnAttention
limn_pass_get_shape(LimnPass *pass, gboolean authors, gboolean pooled)
{
    return (LimnAttention){
        .n = 1,
        .begin = pass->begin,
        .heads = authors ? 1 : (gsize) pass->tower->config.heads,
        .width = (gsize) pass->tower->config.width,
        .causal = pass->causal,
        .pool = pooled ? &pass->pool : NULL,
    };
}

const float *
limn_pass_get_embedding(LimnPass *pass)
{
    const LimnChain *chain = g_ptr_array_index(pass->chains, 0);
    return chain->f;
}

static LimnChain *
chain_new(LimnPass *pass, gboolean authors, int n, GError **error)
{
    LimnChain *chain = g_new0(LimnChain, 1);
    chain->pass = pass;
    chain->authors = authors;
    chain->n = n;
    chain->first = pass->tower->config.layers - n;
    chain->x = g_new0(const float *, n);
    chain->own = g_new0(float *, n);
    chain->traces = g_new0(LimnBlockTrace *, n);
    chain->cosines[0] = g_new0(float *, n);
    chain->cosines[1] = g_new0(float *, n);
    chain->y = limn_floats_new(1, (gsize) pass->tower->config.width, error);
    chain->f = chain->y != NULL
                   ? limn_floats_new(1, (gsize) pass->tower->embedding, error)
                   : NULL;
    if (chain->f == NULL) {
        g_clear_pointer(&chain, limn_chain_free);
    }
    return chain;
}

// The last block at the pool row, norm and projection.
static gboolean
chain_finish(LimnJob *job, LimnChain *chain, GError **error)
{
    LimnPass *pass = chain->pass;
    const LimnTower *tower = pass->tower;
    LimnAttention shape = limn_pass_get_shape(pass, chain->authors, TRUE);
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    int last = chain->n - 1;
    chain->traces[last] = limn_block_trace_new(tower, &shape, error);
    if (chain->traces[last] == NULL ||
        !limn_block_scratch_init(&scratch, tower, &shape, error)) {
        return FALSE;
    }
    limn_block_forward(job, tower, tower->config.layers - 1, &shape, chain->x[last],
                       chain->traces[last], &scratch, chain->y);
    return limn_tower_project(job, tower, 1, chain->y, chain->f, error) &&
           limn_job_check(job, error);
}

// Blocks first .. layers-2, each on what the one before it made.
static gboolean
run_on(LimnJob *job, LimnChain *chain, GError **error)
{
    LimnPass *pass = chain->pass;
    const LimnTower *tower = pass->tower;
    LimnAttention shape = limn_pass_get_shape(pass, chain->authors, FALSE);
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &shape, error);
    if (trace == NULL || !limn_block_scratch_init(&scratch, tower, &shape, error)) {
        return FALSE;
    }
    for (int i = 0; i + 1 < chain->n; i++) {
        chain->own[i + 1] = limn_floats_new(pass->rows, shape.width, error);
        if (chain->own[i + 1] == NULL || !limn_job_check(job, error)) {
            return FALSE;
        }
        limn_block_forward(job, tower, chain->first + i, &shape, chain->x[i], trace,
                           &scratch, chain->own[i + 1]);
        chain->x[i + 1] = chain->own[i + 1];
    }
    return TRUE;
}

// Inputs of the blocks: the pass's own, or computed again where it does not keep them.
static gboolean
set_inputs(LimnJob *job, LimnChain *chain, GError **error)
{
    int n = chain->authors ? 1 : chain->n;
    for (int i = 0; i < n; i++) {
        chain->x[i] = limn_pass_get_input(job, chain->pass, chain->first + i,
                                          &chain->own[i], error);
        if (chain->x[i] == NULL) {
            return FALSE;
        }
    }
    return !chain->authors || run_on(job, chain, error);
}

static void
drop_old_chains(LimnPass *pass)
{
    while (pass->chains->len > MAX_CHAINS) {
        g_ptr_array_remove_index(pass->chains, 1);
    }
}

LimnChain *
limn_pass_get_chain(LimnJob *job, LimnPass *pass, gboolean authors, int n, GError **error)
{
    g_return_val_if_fail(n >= 1 && n <= pass->tower->config.layers, NULL);
    for (guint i = 0; i < pass->chains->len; i++) {
        LimnChain *known = g_ptr_array_index(pass->chains, i);
        if (known->authors == authors && known->n == n) {
            return known;
        }
    }
    LimnChain *chain = chain_new(pass, authors, n, error);
    if (chain == NULL || !set_inputs(job, chain, error) ||
        !chain_finish(job, chain, error)) {
        limn_chain_free(chain);
        return NULL;
    }
    drop_old_chains(pass);
    g_ptr_array_add(pass->chains, chain);
    return chain;
}

LimnChain *
limn_chain_new_on(LimnJob *job, LimnPass *pass, int n, float *x, GError **error)
{
    g_autoptr(LimnChain) chain = chain_new(pass, FALSE, n, error);
    if (chain == NULL) {
        free(x);
        return NULL;
    }
    chain->x[0] = chain->own[0] = x;
    if (!run_on(job, chain, error) || !chain_finish(job, chain, error)) {
        return NULL;
    }
    return g_steal_pointer(&chain);
}

// The first block whose input is kept (besides block 0's).
static int
first_kept(const LimnPass *pass)
{
    int layers = pass->tower->config.layers;
    gsize bytes = pass->rows * (gsize) pass->tower->config.width * sizeof(float);
    gsize most = MAX(INPUT_BUDGET / MAX(bytes, 1), 1);
    return (gsize) layers > most ? layers - (int) most : 0;
}

static gboolean
run_tower(LimnJob *job, LimnPass *pass, GError **error)
{
    const LimnTower *tower = pass->tower;
    LimnAttention shape = limn_pass_get_shape(pass, FALSE, FALSE);
    int layers = tower->config.layers, kept = first_kept(pass);
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &shape, error);
    g_autoptr(LimnFloats) passing = NULL;
    if (trace == NULL || !limn_block_scratch_init(&scratch, tower, &shape, error)) {
        return FALSE;
    }
    const float *x = pass->inputs[0];
    for (int layer = 0; layer < layers - 1; layer++) {
        float *y = layer + 1 < kept && passing != NULL
                       ? passing
                       : limn_floats_new(pass->rows, shape.width, error);
        if (y == NULL || !limn_job_check(job, error)) {
            if (y != passing) {
                free(y);
            }
            return FALSE;
        }
        limn_block_forward(job, tower, layer, &shape, x, trace, &scratch, y);
        if (layer + 1 >= kept) {
            pass->inputs[layer + 1] = y;
        } else {
            passing = y;
        }
        x = y;
    }
    return TRUE;
}

LimnPass *
limn_pass_new(LimnJob *job, const LimnTower *tower, gsize rows, gsize pool,
              gboolean causal, float *x, GError **error)
{
    g_autoptr(LimnPass) pass = g_new0(LimnPass, 1);
    pass->tower = tower;
    pass->rows = rows;
    pass->pool = pool;
    pass->causal = causal;
    pass->begin[1] = rows;
    pass->inputs = g_new0(float *, tower->config.layers);
    pass->inputs[0] = x;
    pass->chains = g_ptr_array_new_with_free_func((GDestroyNotify) limn_chain_free);
    if (!run_tower(job, pass, error) ||
        limn_pass_get_chain(job, pass, FALSE, 1, error) == NULL) {
        return NULL;
    }
    return g_steal_pointer(&pass);
}

const float *
limn_pass_get_input(LimnJob *job, LimnPass *pass, int layer, float **temporary,
                    GError **error)
{
    if (pass->inputs[layer] != NULL) {
        return pass->inputs[layer];
    }
    const LimnTower *tower = pass->tower;
    LimnAttention shape = limn_pass_get_shape(pass, FALSE, FALSE);
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &shape, error);
    g_autoptr(LimnFloats) x = limn_floats_new(pass->rows, shape.width, error);
    if (trace == NULL || x == NULL ||
        !limn_block_scratch_init(&scratch, tower, &shape, error)) {
        return NULL;
    }
    memcpy(x, pass->inputs[0], pass->rows * shape.width * sizeof *x);
    for (int l = 0; l < layer; l++) {
        if (!limn_job_check(job, error)) {
            return NULL;
        }
        limn_block_forward(job, tower, l, &shape, x, trace, &scratch, x);
    }
    *temporary = g_steal_pointer(&x);
    return *temporary;
}

const LimnBlockTrace *
limn_chain_get_trace(LimnJob *job, LimnChain *chain, int i, LimnBlockTrace **temporary,
                     GError **error)
{
    if (chain->traces[i] != NULL) {
        return chain->traces[i];
    }
    const LimnTower *tower = chain->pass->tower;
    LimnAttention shape = limn_pass_get_shape(chain->pass, chain->authors, FALSE);
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnBlockTrace) trace = limn_block_trace_new(tower, &shape, error);
    if (trace == NULL || !limn_block_scratch_init(&scratch, tower, &shape, error)) {
        return NULL;
    }
    limn_block_forward(job, tower, chain->first + i, &shape, chain->x[i], trace, &scratch,
                       NULL);
    if (!limn_job_check(job, error)) {
        return NULL;
    }
    if (limn_block_trace_bytes(tower, &shape) * (gsize) chain->n <= TRACE_BUDGET) {
        chain->traces[i] = g_steal_pointer(&trace);
        return chain->traces[i];
    }
    *temporary = g_steal_pointer(&trace);
    return *temporary;
}

gboolean
limn_chain_get_queries(LimnJob *job, LimnChain *chain, int i, LimnQueries *queries,
                       GError **error)
{
    LimnPass *pass = chain->pass;
    const LimnTower *tower = pass->tower;
    const LimnBlock *block = &tower->blocks[chain->first + i];
    const LimnBlockTrace *trace = chain->traces[i];
    gsize rows = pass->rows, width = (gsize) tower->config.width, n = rows * width;
    memset(queries, 0, sizeof *queries);
    queries->shape =
        limn_pass_get_shape(pass, chain->authors, trace != NULL && trace->asking != rows);
    if (trace != NULL) {
        queries->q = trace->q;
        queries->k = trace->k;
        return TRUE;
    }
    float *q = queries->memory = limn_floats_new(3, n, error);
    if (q == NULL) {
        return FALSE;
    }
    limn_kernel_layer_norm(job, rows, width, chain->x[i], block->norm1.gain,
                           block->norm1.offset, tower->config.eps, q + 2 * n);
    limn_kernel_linear(job, rows, width, width, q + 2 * n, block->q.weight, block->q.bias,
                       q);
    limn_kernel_linear(job, rows, width, width, q + 2 * n, block->k.weight, block->k.bias,
                       q + n);
    queries->q = q;
    queries->k = q + n;
    return limn_job_check(job, error);
}

// One block of the way back: from g, the gradient at its output (asking rows), to next,
// the gradient at its input; next NULL: only go is wanted.
static gboolean
step_back(LimnJob *job, LimnChain *chain, int i, const float *g, LimnBackFunc func,
          gpointer data, float *next, GError **error)
{
    LimnPass *pass = chain->pass;
    const LimnTower *tower = pass->tower;
    gboolean pooled = i == chain->n - 1;
    LimnBackStep step = {.chain = chain, .i = i, .layer = chain->first + i};
    step.shape = limn_pass_get_shape(pass, chain->authors, pooled);
    step.row = pooled ? 0 : pass->pool;
    gsize asking = pooled ? 1 : pass->rows;
    g_autoptr(LimnBlockTrace) temporary = NULL;
    step.trace = limn_chain_get_trace(job, chain, i, &temporary, error);
    g_auto(LimnBlockScratch) scratch = {NULL, NULL};
    g_autoptr(LimnFloats) gu = limn_floats_new(asking, step.shape.width, error);
    g_autoptr(LimnFloats) go = limn_floats_new(asking, step.shape.width, error);
    if (step.trace == NULL || gu == NULL || go == NULL ||
        !limn_block_scratch_init(&scratch, tower, &step.shape, error)) {
        return FALSE;
    }
    limn_block_back_mlp(job, tower, step.layer, step.trace, &scratch, g, gu, go);
    step.go = go;
    if (!limn_job_check(job, error) || !func(job, &step, data, error)) {
        return FALSE;
    }
    return next == NULL ||
           (limn_block_back_attention(job, tower, step.layer, &step.shape, step.trace,
                                      &scratch, gu, go, next, error) &&
            limn_job_check(job, error));
}

gboolean
limn_chain_backward(LimnJob *job, LimnChain *chain, const float *gf, LimnBackFunc func,
                    gpointer data, float *gx, GError **error)
{
    LimnPass *pass = chain->pass;
    gsize width = (gsize) pass->tower->config.width;
    g_autoptr(LimnFloats) gy = limn_floats_new(1, width, error);
    if (gy == NULL ||
        !limn_tower_project_back(job, pass->tower, chain->y, gf, gy, error)) {
        return FALSE;
    }
    g_autoptr(LimnFloats) g = g_steal_pointer(&gy);
    for (int i = chain->n - 1; i >= 0; i--) {
        gboolean further = i > 0 || gx != NULL;
        g_autoptr(LimnFloats) next =
            further ? limn_floats_new(pass->rows, width, error) : NULL;
        if ((further && next == NULL) ||
            !step_back(job, chain, i, g, func, data, next, error)) {
            return FALSE;
        }
        free(g);
        g = g_steal_pointer(&next);
    }
    if (gx != NULL) {
        memcpy(gx, g, pass->rows * width * sizeof *gx);
    }
    return TRUE;
}

double
limn_cosine_gradient(const float *f, const float *t, gsize p, float *gf)
{
    double length = sqrt(limn_kernel_dot(f, f, p));
    double score = length > 0 ? limn_kernel_dot(f, t, p) / length : 0;
    for (gsize i = 0; gf != NULL && i < p; i++) {
        gf[i] = length > 0
                    ? (float) (((double) t[i] - score * (double) f[i] / length) / length)
                    : 0;
    }
    return score;
}

void
limn_unit_vector(const float *f, gsize p, float *unit)
{
    double length = sqrt(limn_kernel_dot(f, f, p));
    for (gsize i = 0; i < p; i++) {
        unit[i] = length > 0 ? (float) ((double) f[i] / length) : 0;
    }
}
