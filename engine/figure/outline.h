// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Lines that follow pixels: the outline of a region (along the edges of its cells) and
// contour lines of a float map (between the centres of its cells).

#include "engine/figure/display-list.h"

// Where cell (0, 0) .. (width, height) of a raster lies on the page.
typedef struct {
    double x, y;           // of the top left corner of cell (0, 0)
    double cell_x, cell_y; // size of a cell
} LimnRaster;

// Appends closed loops around the cells with inside[i] != 0, [height, width]; straight
// runs are single segments, holes are loops of the other sense (fill with even_odd).
// FALSE and nothing appended when the outline is longer than LIMN_OUTLINE_MAX_EDGES cell
// edges: such a region is noise that no line can show.
#define LIMN_OUTLINE_MAX_EDGES 200000
gboolean limn_outline_region(LimnPath *path, const guint8 *inside, int width, int height,
                             const LimnRaster *raster);

// Appends the contour line at `level` of a [height, width] map by marching squares over
// the cell centres. Squares with a value that is not finite are left out.
void limn_outline_contour(LimnPath *path, const float *map, int width, int height,
                          double level, const LimnRaster *raster);
