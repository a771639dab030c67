// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/nn/arena.h"

#include <stdlib.h>

#define ALIGNMENT 64
#define FIRST_CHUNK ((gsize) 1 << 20)
#define MAX_CHUNKS 64

typedef struct {
    guint8 *memory;
    gsize size, used;
} Chunk;

struct LimnArena {
    Chunk chunks[MAX_CHUNKS];
    guint n_chunks;
    guint current; // index of the chunk that is being filled
    gsize bytes;   // in use, over all chunks
    gsize high_water;
    gsize limit;
    guint n_allocations;
};

LimnArena *
limn_arena_new(void)
{
    LimnArena *arena = g_new0(LimnArena, 1);
    arena->limit = (gsize) 6 << 30;
    return arena;
}

static void
free_chunks(LimnArena *arena)
{
    for (guint i = 0; i < arena->n_chunks; i++)
        free(arena->chunks[i].memory);
    arena->n_chunks = 0;
    arena->current = 0;
}

void
limn_arena_free(LimnArena *arena)
{
    if (!arena)
        return;
    free_chunks(arena);
    g_free(arena);
}

static gboolean
add_chunk(LimnArena *arena, gsize size)
{
    if (arena->n_chunks == MAX_CHUNKS)
        return FALSE;
    guint8 *memory = aligned_alloc(ALIGNMENT, size);
    if (!memory)
        return FALSE;
    arena->n_allocations++;
    arena->chunks[arena->n_chunks++] = (Chunk){memory, size, 0};
    arena->current = arena->n_chunks - 1;
    return TRUE;
}

static gsize
align_up(gsize bytes)
{
    return (bytes + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1);
}

gpointer
limn_arena_alloc(LimnArena *arena, gsize bytes)
{
    if (bytes > arena->limit || arena->bytes + align_up(bytes) > arena->limit)
        return NULL;
    bytes = align_up(MAX(bytes, 1));
    while (arena->current < arena->n_chunks) {
        Chunk *chunk = &arena->chunks[arena->current];
        if (chunk->size - chunk->used >= bytes)
            break;
        if (arena->current + 1 == arena->n_chunks) {
            arena->current = arena->n_chunks;
            break;
        }
        arena->current++;
    }
    if (arena->current >= arena->n_chunks) {
        gsize last = arena->n_chunks ? arena->chunks[arena->n_chunks - 1].size : 0;
        gsize size = MAX(MAX(2 * last, FIRST_CHUNK), bytes);
        if (!add_chunk(arena, size) && !add_chunk(arena, bytes))
            return NULL;
    }
    Chunk *chunk = &arena->chunks[arena->current];
    gpointer memory = chunk->memory + chunk->used;
    chunk->used += bytes;
    arena->bytes += bytes;
    arena->high_water = MAX(arena->high_water, arena->bytes);
    return memory;
}

void
limn_arena_reset(LimnArena *arena)
{
    if (arena->n_chunks > 1) {
        free_chunks(arena);
        // One chunk with a tenth to spare: the next step of this shape needs no more.
        add_chunk(arena, align_up(arena->high_water + arena->high_water / 10));
    }
    for (guint i = 0; i < arena->n_chunks; i++)
        arena->chunks[i].used = 0;
    arena->current = 0;
    arena->bytes = 0;
}

void
limn_arena_set_limit(LimnArena *arena, gsize bytes)
{
    arena->limit = bytes;
}

gsize
limn_arena_get_bytes(const LimnArena *arena)
{
    return arena->bytes;
}

gsize
limn_arena_get_high_water(const LimnArena *arena)
{
    return arena->high_water;
}

guint
limn_arena_get_n_allocations(const LimnArena *arena)
{
    return arena->n_allocations;
}

LimnArenaMark
limn_arena_mark(const LimnArena *arena)
{
    gsize used =
        arena->current < arena->n_chunks ? arena->chunks[arena->current].used : 0;
    return (LimnArenaMark){arena->current, used, arena->bytes};
}

void
limn_arena_release(LimnArena *arena, LimnArenaMark mark)
{
    for (guint i = mark.chunk + 1; i < arena->n_chunks; i++)
        arena->chunks[i].used = 0;
    if (mark.chunk < arena->n_chunks)
        arena->chunks[mark.chunk].used = mark.used;
    arena->current = mark.chunk;
    arena->bytes = mark.total;
}
