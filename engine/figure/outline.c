// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/outline.h"

#include <math.h>

// ---- regions

// Directed edges with the inside on their right; a bit per direction that leaves a corner
// of the grid.
enum { EAST = 1, SOUTH = 2, WEST = 4, NORTH = 8 };

static gboolean
is_inside(const guint8 *inside, int width, int height, int x, int y)
{
    return x >= 0 && y >= 0 && x < width && y < height && inside[(gsize) y * width + x];
}

// [height + 1, width + 1] corners.
static guint8 *
find_edges(const guint8 *inside, int width, int height, gsize *n_edges)
{
    gsize pitch = (gsize) width + 1;
    *n_edges = 0;
    guint8 *edges = g_malloc0(pitch * ((gsize) height + 1));
    for (int y = 0; y <= height; y++) {
        for (int x = 0; x <= width; x++) {
            gboolean here = is_inside(inside, width, height, x, y);
            gboolean above = is_inside(inside, width, height, x, y - 1);
            gboolean before = is_inside(inside, width, height, x - 1, y);
            *n_edges += (here != above) + (here != before);
            if (here && !above)
                edges[y * pitch + x] |= EAST;
            if (!here && above)
                edges[y * pitch + x + 1] |= WEST;
            if (here && !before)
                edges[(y + 1) * pitch + x] |= NORTH;
            if (!here && before)
                edges[y * pitch + x] |= SOUTH;
        }
    }
    return edges;
}

// At a corner where two cells touch the walk turns right, so that each keeps its loop.
static guint8
next_direction(guint8 available, guint8 direction)
{
    guint8 right = direction == NORTH ? EAST : (guint8) (direction << 1);
    guint8 left = direction == EAST ? NORTH : (guint8) (direction >> 1);
    if (available & right)
        return right;
    if (available & direction)
        return direction;
    return available & left;
}

static void
walk_loop(LimnPath *path, guint8 *edges, gsize pitch, int x, int y, guint8 direction,
          const LimnRaster *raster)
{
    gboolean first = TRUE;
    guint8 previous = 0;
    while (direction) {
        if (direction != previous) {
            double px = raster->x + x * raster->cell_x;
            double py = raster->y + y * raster->cell_y;
            if (first)
                limn_path_move(path, px, py);
            else
                limn_path_line(path, px, py);
            first = FALSE;
        }
        edges[y * pitch + x] &= (guint8) ~direction;
        x += (direction == EAST) - (direction == WEST);
        y += (direction == SOUTH) - (direction == NORTH);
        previous = direction;
        direction = next_direction(edges[y * pitch + x], direction);
    }
    limn_path_close(path);
}

gboolean
limn_outline_region(LimnPath *path, const guint8 *inside, int width, int height,
                    const LimnRaster *raster)
{
    gsize n_edges;
    g_autofree guint8 *edges = find_edges(inside, width, height, &n_edges);
    if (n_edges > LIMN_OUTLINE_MAX_EDGES)
        return FALSE;
    gsize pitch = (gsize) width + 1;
    for (int y = 0; y <= height; y++) {
        for (int x = 0; x <= width; x++) {
            // A loop is entered at a corner where it begins to run east, so that its
            // first corner is a true one.
            while (edges[y * pitch + x] & EAST)
                walk_loop(path, edges, pitch, x, y, EAST, raster);
        }
    }
    return TRUE;
}

// ---- contours

typedef struct {
    double x, y;
} Point;

// Where the level is crossed between two neighbouring centres.
static Point
crossing(double x0, double y0, double v0, double x1, double y1, double v1, double level)
{
    double t = (level - v0) / (v1 - v0);
    return (Point){x0 + t * (x1 - x0), y0 + t * (y1 - y0)};
}

// Crossings of the four sides of the square with its top left centre at (x, y), in the
// order top, right, bottom, left; the returned bits say which exist.
static int
cross_square(const double v[4], int x, int y, double level, Point out[4])
{
    static const int corner_x[4] = {0, 1, 1, 0}, corner_y[4] = {0, 0, 1, 1};
    int bits = 0;
    for (int side = 0; side < 4; side++) {
        int a = side, b = (side + 1) % 4;
        if ((v[a] >= level) == (v[b] >= level))
            continue;
        out[side] = crossing(x + corner_x[a], y + corner_y[a], v[a], x + corner_x[b],
                             y + corner_y[b], v[b], level);
        bits |= 1 << side;
    }
    return bits;
}

static void
add_segment(LimnPath *path, Point a, Point b, const LimnRaster *raster)
{
    limn_path_move(path, raster->x + (a.x + 0.5) * raster->cell_x,
                   raster->y + (a.y + 0.5) * raster->cell_y);
    limn_path_line(path, raster->x + (b.x + 0.5) * raster->cell_x,
                   raster->y + (b.y + 0.5) * raster->cell_y);
}

static void
add_square(LimnPath *path, const double v[4], int x, int y, double level,
           const LimnRaster *raster)
{
    Point p[4];
    int bits = cross_square(v, x, y, level, p);
    if (bits == 15) {
        // A saddle: the mean decides which corners are joined.
        gboolean joined = (v[0] + v[1] + v[2] + v[3]) / 4 >= level;
        gboolean first_high = v[0] >= level;
        int k = joined == first_high ? 1 : 3;
        add_segment(path, p[0], p[k], raster);
        add_segment(path, p[2], p[4 - k], raster);
        return;
    }
    int ends[2], n = 0;
    for (int side = 0; side < 4 && n < 2; side++) {
        if (bits & 1 << side)
            ends[n++] = side;
    }
    if (n == 2)
        add_segment(path, p[ends[0]], p[ends[1]], raster);
}

void
limn_outline_contour(LimnPath *path, const float *map, int width, int height,
                     double level, const LimnRaster *raster)
{
    for (int y = 0; y + 1 < height; y++) {
        for (int x = 0; x + 1 < width; x++) {
            const float *at = map + (gsize) y * width + x;
            double v[4] = {at[0], at[1], at[width + 1], at[width]};
            if (isfinite(v[0]) && isfinite(v[1]) && isfinite(v[2]) && isfinite(v[3]))
                add_square(path, v, x, y, level, raster);
        }
    }
}
