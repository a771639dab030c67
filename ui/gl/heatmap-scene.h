// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a heat-map canvas shows, independent of who draws it: picture, one or two float
// maps over rectangles of it, a mask, and how values become colours. The GL renderer and
// the painter without GL take the same description, cut by the same function into
// rectangles of whole pixels with at most one tile per layer, so that both give the same
// picture.
//
// Coordinates: `scene` are pixels of the picture (or cells of the map when there is no
// picture), `device` are pixels of the target, y down, pixel i has its centre at i + 0.5.

#include "engine/image/resample.h"
#include "ui/gl/tile-store.h"

#define LIMN_HEATMAP_MAX_CONTOURS 16
#define LIMN_HEATMAP_DIM 0.55f // share of the background outside the maps

// device = scene * zoom + (x0, y0)
typedef struct {
    double zoom, x0, y0;
} LimnViewTransform;

typedef struct {
    guint8 table[256][3];
    guint8 nan[3];        // hatched
    guint8 background[3]; // around the picture
    double min, max;
    double opacity; // of the map over the picture
    gboolean bilinear;
    gboolean dim_outside; // what no map covers is faded
    int n_contours;
    double contours[LIMN_HEATMAP_MAX_CONTOURS];
    double scale; // device pixels per logical pixel: width of lines and hatches
} LimnHeatmapStyle;

typedef struct {
    double width, height;   // of the scene
    LimnTileStore *picture; // borrowed, any may be NULL
    LimnTileStore *maps[2];
    LimnRect rects[2]; // what the maps cover
    LimnTileStore *mask;
    double divider; // fraction of the width; left of it map 0, right map 1; < 0: off
    int shown;      // which map without a divider
    LimnHeatmapStyle style;
} LimnHeatmapScene;

typedef enum {
    LIMN_LAYER_PICTURE,
    LIMN_LAYER_MAP,
    LIMN_LAYER_MASK,
    LIMN_N_LAYERS,
} LimnLayer;

// A tile and where it lies: texel coordinate = device coordinate * scale + offset.
typedef struct {
    gconstpointer handle; // what the caller's function gave; NULL: the layer is not here
    float scale_x, scale_y, offset_x, offset_y;
    gboolean coarse; // stands in for a finer level, or is a reduced one
} LimnLayerUse;

typedef struct {
    int x0, y0, x1, y1; // device pixels, right and bottom exclusive
    LimnLayerUse layers[LIMN_N_LAYERS];
} LimnHeatmapCell;

// Gives a handle for a tile, or NULL when it is not there. `wanted` asks to fetch it.
typedef gconstpointer (*LimnTileResolveFunc)(LimnTileStore *store, int level, int column,
                                             int row, gboolean wanted,
                                             gpointer user_data);

// The part of a target of that size that the scene covers.
// Returns: (transfer full) (element-type LimnHeatmapCell)
GArray *limn_heatmap_scene_cut(const LimnHeatmapScene *scene,
                               const LimnViewTransform *transform, int width, int height,
                               LimnTileResolveFunc resolve, gpointer user_data);
void limn_heatmap_scene_begin_frame(const LimnHeatmapScene *scene);
// Device column where the divider is, or -1.
int limn_heatmap_scene_divider(const LimnHeatmapScene *scene, int width);

typedef struct {
    gboolean inside; // the scene
    double x, y;     // scene
    int row, col;    // map cell, -1 outside
    double value;    // NaN outside
    int which;       // map 0 or 1
} LimnHeatmapPick;

// What is at a device position of a target of that width.
void limn_heatmap_scene_pick(const LimnHeatmapScene *scene,
                             const LimnViewTransform *transform, int width, double x,
                             double y, LimnHeatmapPick *pick);
// The same for a point of the scene in one of the maps.
void limn_heatmap_scene_pick_scene(const LimnHeatmapScene *scene, int which, double x,
                                   double y, LimnHeatmapPick *pick);
