// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/heatmap-scene.h"

#include <math.h>

// Where a layer lies on the target at the level that was chosen for it.
typedef struct {
    LimnTileStore *store;
    LimnPyramid *pyramid;
    int level;
    int width, height;            // of the level, texels
    double x0, y0, x1, y1;        // device, not rounded
    double texels_x, texels_y;    // texels of level 0 per device pixel
    int left, top, right, bottom; // device, rounded
} Placement;

// First pixel whose centre is not left of an edge.
static int
edge_pixel(double edge, int size)
{
    double pixel = ceil(edge - 0.5);

    return pixel <= 0 ? 0 : pixel >= size ? size : (int) pixel;
}

static void
place(Placement *placement, LimnTileStore *store, const LimnRect *rect,
      const LimnViewTransform *transform, int width, int height)
{
    int full_width, full_height;

    placement->store = store;
    if (store == NULL)
        return;
    placement->pyramid = limn_tile_store_get_pyramid(store);
    limn_pyramid_level_size(placement->pyramid, 0, &full_width, &full_height);
    placement->x0 = rect->x * transform->zoom + transform->x0;
    placement->y0 = rect->y * transform->zoom + transform->y0;
    placement->x1 = (rect->x + rect->width) * transform->zoom + transform->x0;
    placement->y1 = (rect->y + rect->height) * transform->zoom + transform->y0;
    placement->texels_x = full_width / (placement->x1 - placement->x0);
    placement->texels_y = full_height / (placement->y1 - placement->y0);
    placement->level = limn_pyramid_choose_level(
        placement->pyramid, sqrt(placement->texels_x * placement->texels_y));
    limn_pyramid_level_size(placement->pyramid, placement->level, &placement->width,
                            &placement->height);
    placement->left = edge_pixel(placement->x0, width);
    placement->top = edge_pixel(placement->y0, height);
    placement->right = edge_pixel(placement->x1, width);
    placement->bottom = edge_pixel(placement->y1, height);
}

static int
compare_ints(gconstpointer a, gconstpointer b)
{
    int x = *(const int *) a, y = *(const int *) b;

    return (x > y) - (x < y);
}

static void
add_cut(GArray *cuts, int at)
{
    g_array_append_val(cuts, at);
}

// Edges of a layer's tiles along one axis: device = x0 + texel * 2^level /
// texels_per_pixel.
static void
add_tile_cuts(GArray *cuts, double x0, double texels_per_pixel, int level, int texels,
              int from, int to)
{
    double tile = ldexp(LIMN_TILE_SIZE, level) / texels_per_pixel; // device pixels
    int n = (texels + LIMN_TILE_SIZE - 1) / LIMN_TILE_SIZE;
    double first = floor((from - x0) / tile);

    for (int i = MAX(first, 0) + 1; i < n && x0 + i * tile < to; i++)
        add_cut(cuts, edge_pixel(x0 + i * tile, to));
}

static void
sort_cuts(GArray *cuts)
{
    guint kept = 0;

    g_array_sort(cuts, compare_ints);
    for (guint i = 0; i < cuts->len; i++) {
        int at = g_array_index(cuts, int, i);

        if (kept == 0 || g_array_index(cuts, int, kept - 1) != at)
            g_array_index(cuts, int, kept++) = at;
    }
    g_array_set_size(cuts, kept);
}

static void
add_placement_cuts(const Placement *placement, GArray *columns, GArray *rows)
{
    if (placement->store == NULL || placement->left >= placement->right ||
        placement->top >= placement->bottom)
        return;
    add_cut(columns, placement->left);
    add_cut(columns, placement->right);
    add_cut(rows, placement->top);
    add_cut(rows, placement->bottom);
    add_tile_cuts(columns, placement->x0, placement->texels_x, placement->level,
                  placement->width, placement->left, placement->right);
    add_tile_cuts(rows, placement->y0, placement->texels_y, placement->level,
                  placement->height, placement->top, placement->bottom);
}

typedef struct {
    LimnTileResolveFunc resolve;
    gpointer user_data;
} Resolver;

// Fills in the tile that covers a cell: the wanted one, or the finest coarser one that is
// there.
static void
use_layer(const Placement *placement, const LimnHeatmapCell *cell,
          const Resolver *resolver, LimnLayerUse *use)
{
    double x = (cell->x0 + 0.5 - placement->x0) * placement->texels_x;
    double y = (cell->y0 + 0.5 - placement->y0) * placement->texels_y;
    int n_levels = limn_pyramid_n_levels(placement->pyramid);
    int column = CLAMP(x, 0, G_MAXINT / 2);
    int row = CLAMP(y, 0, G_MAXINT / 2);

    column = MIN(column >> placement->level, placement->width - 1) / LIMN_TILE_SIZE;
    row = MIN(row >> placement->level, placement->height - 1) / LIMN_TILE_SIZE;
    for (int level = placement->level; level < n_levels; level++, column /= 2, row /= 2) {
        gboolean wanted = level == placement->level || level == n_levels - 1;
        double step = ldexp(1, -level);

        use->handle = resolver->resolve(placement->store, level, column, row, wanted,
                                        resolver->user_data);
        if (use->handle == NULL)
            continue;
        use->scale_x = placement->texels_x * step;
        use->scale_y = placement->texels_y * step;
        use->offset_x =
            1 - column * LIMN_TILE_SIZE - placement->x0 * placement->texels_x * step;
        use->offset_y =
            1 - row * LIMN_TILE_SIZE - placement->y0 * placement->texels_y * step;
        use->coarse = level > 0;
        return;
    }
}

static gboolean
covers(const Placement *placement, const LimnHeatmapCell *cell)
{
    return placement->store != NULL && cell->x0 >= placement->left &&
           cell->x1 <= placement->right && cell->y0 >= placement->top &&
           cell->y1 <= placement->bottom;
}

int
limn_heatmap_scene_divider(const LimnHeatmapScene *scene, int width)
{
    if (!(scene->divider >= 0) || scene->maps[1] == NULL)
        return -1;
    return edge_pixel(MIN(scene->divider, 1) * width, width);
}

enum { PICTURE, FIRST_MAP, SECOND_MAP, MASK, N_PLACEMENTS };

static void
place_all(const LimnHeatmapScene *scene, const LimnViewTransform *transform, int width,
          int height, Placement placements[N_PLACEMENTS])
{
    LimnRect all = {0, 0, scene->width, scene->height};
    gboolean divided = limn_heatmap_scene_divider(scene, width) >= 0;
    gboolean second = divided || (scene->shown == 1 && scene->maps[1] != NULL);
    gboolean first = divided || !second;

    place(&placements[PICTURE], scene->picture, &all, transform, width, height);
    place(&placements[FIRST_MAP], first ? scene->maps[0] : NULL, &scene->rects[0],
          transform, width, height);
    place(&placements[SECOND_MAP], second ? scene->maps[1] : NULL, &scene->rects[1],
          transform, width, height);
    place(&placements[MASK], scene->mask, &all, transform, width, height);
}

static void
add_cell(GArray *cells, const LimnHeatmapCell *bounds, const Placement *placements,
         int divider, const Resolver *resolver)
{
    LimnHeatmapCell cell = *bounds;
    gboolean right =
        divider >= 0 ? cell.x0 >= divider : placements[FIRST_MAP].store == NULL;
    const Placement *map = &placements[right ? SECOND_MAP : FIRST_MAP];

    if (covers(&placements[PICTURE], &cell))
        use_layer(&placements[PICTURE], &cell, resolver,
                  &cell.layers[LIMN_LAYER_PICTURE]);
    if (covers(map, &cell))
        use_layer(map, &cell, resolver, &cell.layers[LIMN_LAYER_MAP]);
    if (covers(&placements[MASK], &cell))
        use_layer(&placements[MASK], &cell, resolver, &cell.layers[LIMN_LAYER_MASK]);
    for (int i = 0; i < LIMN_N_LAYERS; i++) {
        if (cell.layers[i].handle != NULL) {
            g_array_append_val(cells, cell);
            return;
        }
    }
}

GArray *
limn_heatmap_scene_cut(const LimnHeatmapScene *scene, const LimnViewTransform *transform,
                       int width, int height, LimnTileResolveFunc resolve,
                       gpointer user_data)
{
    GArray *cells = g_array_new(FALSE, FALSE, sizeof(LimnHeatmapCell));
    g_autoptr(GArray) columns = g_array_new(FALSE, FALSE, sizeof(int));
    g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(int));
    Placement placements[N_PLACEMENTS] = {0};
    Resolver resolver = {resolve, user_data};
    int divider = limn_heatmap_scene_divider(scene, width);

    if (width <= 0 || height <= 0 || !(transform->zoom > 0))
        return cells;
    place_all(scene, transform, width, height, placements);
    for (int i = 0; i < N_PLACEMENTS; i++)
        add_placement_cuts(&placements[i], columns, rows);
    if (divider >= 0 && columns->len > 0)
        add_cut(columns, divider);
    sort_cuts(columns);
    sort_cuts(rows);
    for (guint j = 0; j + 1 < rows->len; j++) {
        for (guint i = 0; i + 1 < columns->len; i++) {
            LimnHeatmapCell bounds = {
                .x0 = g_array_index(columns, int, i),
                .x1 = g_array_index(columns, int, i + 1),
                .y0 = g_array_index(rows, int, j),
                .y1 = g_array_index(rows, int, j + 1),
            };

            add_cell(cells, &bounds, placements, divider, &resolver);
        }
    }
    return cells;
}

void
limn_heatmap_scene_begin_frame(const LimnHeatmapScene *scene)
{
    LimnTileStore *stores[] = {scene->picture, scene->maps[0], scene->maps[1],
                               scene->mask};

    for (gsize i = 0; i < G_N_ELEMENTS(stores); i++)
        if (stores[i] != NULL)
            limn_tile_store_begin_frame(stores[i]);
}

void
limn_heatmap_scene_pick_scene(const LimnHeatmapScene *scene, int which, double x,
                              double y, LimnHeatmapPick *pick)
{
    const LimnRect *rect = &scene->rects[which];
    LimnTileStore *store = scene->maps[which];

    pick->x = x;
    pick->y = y;
    pick->inside = x >= 0 && y >= 0 && x < scene->width && y < scene->height;
    pick->row = -1;
    pick->col = -1;
    pick->value = NAN;
    pick->which = which;
    if (pick->inside && store != NULL && x >= rect->x && y >= rect->y &&
        x < rect->x + rect->width && y < rect->y + rect->height) {
        LimnPyramid *pyramid = limn_tile_store_get_pyramid(store);
        int width, height;

        limn_pyramid_level_size(pyramid, 0, &width, &height);
        pick->col = MIN((int) ((x - rect->x) / rect->width * width), width - 1);
        pick->row = MIN((int) ((y - rect->y) / rect->height * height), height - 1);
        pick->value = limn_pyramid_get_value(pyramid, pick->col, pick->row);
    }
}

void
limn_heatmap_scene_pick(const LimnHeatmapScene *scene, const LimnViewTransform *transform,
                        int width, double x, double y, LimnHeatmapPick *pick)
{
    int divider = limn_heatmap_scene_divider(scene, width);
    int which =
        divider >= 0 ? x >= divider : (scene->shown == 1 && scene->maps[1] != NULL);

    limn_heatmap_scene_pick_scene(scene, which, (x - transform->x0) / transform->zoom,
                                  (y - transform->y0) / transform->zoom, pick);
}
