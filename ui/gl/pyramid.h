// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A picture or a float map at sizes that fall by halves, cut into tiles: what a canvas
// needs to draw a piece of any field at any zoom with textures of bounded size.
//
// Level l has ceil(width / 2^l) x ceil(height / 2^l) texels; a texel of it is the mean of
// the pixels that it covers (maps: of the finite ones). The coarsest level is one tile.
// Level 0 is never stored: its tiles are read from the picture itself. Of the others
// those that fit into LIMN_PYRAMID_BUDGET are built once, by a worker; finer ones are
// reduced tile by tile.
//
// Texels have four bytes: premultiplied RGBA (red first) or one float. Safe to use from
// several threads; reference counted.

#include "engine/base/array.h"
#include "engine/image/image.h"

#define LIMN_TILE_SIZE 512                       // texels of a tile without its border
#define LIMN_PYRAMID_BUDGET ((gint64) 256 << 20) // bytes of all stored levels
#define LIMN_PYRAMID_MAX_LEVELS 32

typedef struct LimnPyramid LimnPyramid;

// A tile with one texel of border on each side (edges are repeated), so that filters find
// their neighbours. Texel (i, j) of the tile is texel (x - 1 + i, y - 1 + j) of its
// level.
typedef struct {
    int level, x, y;   // first texel without border
    int width, height; // with border
    gboolean preview;  // from a few pixels only
    guint8 *texels;    // width * height * 4 bytes
} LimnTile;

void limn_tile_free(LimnTile *tile);

// The same picture under the same rule gives the same pyramid as long as somebody holds
// it, so that panes side by side share their levels.
LimnPyramid *limn_pyramid_new_picture(LimnImage *image, LimnRangeRule rule);
// [gh,gw] f32; leading dimensions of 1 are allowed.
LimnPyramid *limn_pyramid_new_map(LimnArray *map);
// 1 where the first sample of the label map is not 0, else 0; NaN where it is `ignore`
// (-1: none).
LimnPyramid *limn_pyramid_new_mask(LimnImage *mask, gint64 ignore);
LimnPyramid *limn_pyramid_ref(LimnPyramid *pyramid);
void limn_pyramid_unref(LimnPyramid *pyramid);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnPyramid, limn_pyramid_unref)

gboolean limn_pyramid_is_float(const LimnPyramid *pyramid);
gboolean limn_pyramid_is_opaque(const LimnPyramid *pyramid);
int limn_pyramid_n_levels(const LimnPyramid *pyramid);
void limn_pyramid_level_size(const LimnPyramid *pyramid, int level, int *width,
                             int *height);

// Builds the stored levels; slow for large pictures. Once built, returns at once. FALSE
// when *cancelled (atomic; may be NULL) became TRUE or no memory could be had.
gboolean limn_pyramid_build(LimnPyramid *pyramid, const int *cancelled);
gboolean limn_pyramid_is_built(LimnPyramid *pyramid);
// TRUE when making a tile of that level costs no more than copying it.
gboolean limn_pyramid_is_cheap(LimnPyramid *pyramid, int level);
// Bytes of the stored levels.
gint64 limn_pyramid_memory(const LimnPyramid *pyramid);

// Tile (column, row) of a level; builds first when needed. NULL when that failed.
LimnTile *limn_pyramid_make_tile(LimnPyramid *pyramid, int level, int column, int row,
                                 const int *cancelled);
// The single tile of the coarsest level from a few pixels of the picture: quick, to have
// something to show while the levels are being built.
LimnTile *limn_pyramid_make_preview(LimnPyramid *pyramid);
// The level whose texels come closest to one per pixel when `texels` of level 0 fall on
// one.
int limn_pyramid_choose_level(const LimnPyramid *pyramid, double texels);
// Value of a float pyramid at a texel of level 0.
double limn_pyramid_get_value(const LimnPyramid *pyramid, int x, int y);
