// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A picture or a sentence that went through its tower, with what explanations of it need:
// the input of every block, and for the last n blocks ("chains") what they computed on
// the way. A chain in mode `faithful` follows the model; in mode `authors` its blocks
// attend with one head of the tower's full width, as the published code of Grad-ECLIP
// does (specification: Grad-ECLIP, section 6.1), so that its embedding is another.

#include "engine/model/tower.h"

typedef struct {
    const LimnTower *tower;
    gsize rows;
    gsize pool; // row that becomes the embedding: class token, end token
    gboolean causal;
    float **inputs; // [layers] input of each block, [rows, C]; NULL where not kept
    gsize begin[2];
    GPtrArray *chains; // LimnChain
} LimnPass;

typedef struct {
    LimnPass *pass; // borrowed
    gboolean authors;
    int n, first;            // blocks first .. first + n - 1 = layers - 1
    const float **x;         // [n] inputs of the blocks
    float **own;             // [n] those that belong to the chain (mode authors)
    LimnBlockTrace **traces; // [n] NULL where they are computed again when needed
    float *y;                // [C] output of the last block at the pool row
    float *f;                // [P] embedding, not normalised
    // Similarity of the pool row's query to all keys, see grad-eclip.h; made on demand.
    // [2][n]: raw, out; each [rows].
    float **cosines[2];
} LimnChain;

// x [rows, C] (transfer full, also on error): the rows before block 0. Runs the tower.
LimnPass *limn_pass_new(LimnJob *job, const LimnTower *tower, gsize rows, gsize pool,
                        gboolean causal, float *x, GError **error);
void limn_pass_free(LimnPass *pass);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnPass, limn_pass_free)

// The embedding [P] of the model itself. Borrowed.
const float *limn_pass_get_embedding(LimnPass *pass);

// The input [rows, C] of block `layer`: borrowed from the pass, or computed again into
// *temporary (free it).
const float *limn_pass_get_input(LimnJob *job, LimnPass *pass, int layer,
                                 float **temporary, GError **error);

// The last n blocks, 1 <= n <= layers. Borrowed; valid until other chains are asked for.
LimnChain *limn_pass_get_chain(LimnJob *job, LimnPass *pass, gboolean authors, int n,
                               GError **error);

// The last n blocks on another input x [rows, C] (transfer full, also on error) than the
// pass's own, following the model. Free it before the pass.
LimnChain *limn_chain_new_on(LimnJob *job, LimnPass *pass, int n, float *x,
                             GError **error);
void limn_chain_free(LimnChain *chain);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnChain, limn_chain_free)

// What block i of the chain computed: borrowed, or computed again into *temporary. The
// last block's is pooled.
const LimnBlockTrace *limn_chain_get_trace(LimnJob *job, LimnChain *chain, int i,
                                           LimnBlockTrace **temporary, GError **error);

// How a block of the pass attends; pooled: only the pool row asks.
LimnAttention limn_pass_get_shape(LimnPass *pass, gboolean authors, gboolean pooled);

// One step of the way back through a chain, last block first.
typedef struct {
    LimnChain *chain;
    int i;     // block of the chain
    int layer; // block of the tower
    const LimnBlockTrace *trace;
    LimnAttention shape;
    const float *go; // gradient at the attention output o, one row per asking row
    gsize row;       // the pool row among the asking rows
} LimnBackStep;

typedef gboolean (*LimnBackFunc)(LimnJob *job, const LimnBackStep *step, gpointer data,
                                 GError **error);

// Backward for the gradient gf [P] at the embedding; func sees every block. gx [rows, C]
// gets the gradient at the chain's input; with NULL the work behind the first block's go
// is left out.
gboolean limn_chain_backward(LimnJob *job, LimnChain *chain, const float *gf,
                             LimnBackFunc func, gpointer data, float *gx, GError **error);

// Queries and keys of a block of the chain: borrowed from what is kept, else computed
// (without the rest of the block). shape says which rows ask.
typedef struct {
    LimnAttention shape;
    const float *q, *k;
    float *memory; // free it
} LimnQueries;
gboolean limn_chain_get_queries(LimnJob *job, LimnChain *chain, int i,
                                LimnQueries *queries, GError **error);

// The cosine of f [P] with the unit vector t, and its gradient at f (gf may be NULL).
double limn_cosine_gradient(const float *f, const float *t, gsize p, float *gf);
// f / |f| in double; zero stays zero.
void limn_unit_vector(const float *f, gsize p, float *unit);
