// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A bump allocator for one training step. Chunks double while a new step shape is seen;
// at the next reset the chain is replaced by one chunk of the high-water mark, after
// which a step calls malloc no more. Memory is 64-byte aligned and not cleared.

#include <glib.h>

typedef struct LimnArena LimnArena;

LimnArena *limn_arena_new(void);
void limn_arena_free(LimnArena *arena);
// NULL when `limit` bytes would be exceeded or memory cannot be had.
gpointer limn_arena_alloc(LimnArena *arena, gsize bytes);
void limn_arena_reset(LimnArena *arena);
void limn_arena_set_limit(LimnArena *arena, gsize bytes);
gsize limn_arena_get_bytes(const LimnArena *arena);
gsize limn_arena_get_high_water(const LimnArena *arena);
guint limn_arena_get_n_allocations(const LimnArena *arena);
// Position to come back to: everything allocated after it is forgotten.
typedef struct {
    guint chunk;
    gsize used, total;
} LimnArenaMark;
LimnArenaMark limn_arena_mark(const LimnArena *arena);
void limn_arena_release(LimnArena *arena, LimnArenaMark mark);
