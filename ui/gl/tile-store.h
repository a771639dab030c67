// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tiles of one pyramid that a canvas is about to draw. Cheap tiles are made at once,
// the others by low-priority workers, which also build the pyramid; a function is called
// on the main context when new ones have arrived. Requests that no later frame repeats
// are dropped before work on them begins. To be used from one thread.

#include "ui/gl/pyramid.h"

// Bytes of tiles kept for drawing without GL (with GL a tile is released when it is a
// texture).
#define LIMN_TILE_STORE_BUDGET ((gint64) 128 << 20)

typedef struct LimnTileStore LimnTileStore;
typedef void (*LimnTileReadyFunc)(gpointer user_data);

// Without a function the store works synchronously: every tile is there when asked for.
LimnTileStore *limn_tile_store_new(LimnPyramid *pyramid, LimnTileReadyFunc ready,
                                   gpointer user_data);
void limn_tile_store_free(LimnTileStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnTileStore, limn_tile_store_free)

guint64 limn_tile_store_get_id(const LimnTileStore *store); // never used twice
LimnPyramid *limn_tile_store_get_pyramid(const LimnTileStore *store);

// Once per frame, before its tiles are asked for.
void limn_tile_store_begin_frame(LimnTileStore *store);
// The tile if it is there or cheap to make, else NULL and it is on its way. The coarsest
// level is never NULL (a preview at first). The tile stays the store's.
const LimnTile *limn_tile_store_get(LimnTileStore *store, int level, int column, int row);
// The tile if it is there.
const LimnTile *limn_tile_store_peek(LimnTileStore *store, int level, int column,
                                     int row);
// The data of the tile are no longer needed.
void limn_tile_store_release(LimnTileStore *store, const LimnTile *tile);
guint limn_tile_store_n_pending(const LimnTileStore *store);
gint64 limn_tile_store_get_bytes(const LimnTileStore *store);
