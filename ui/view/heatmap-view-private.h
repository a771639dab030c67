// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the parts of the heat-map view share: the view itself (heatmap-view.c), its canvas
// (-canvas.c), its input (-input.c), its overlays (-overlay.c), and what is measured and
// told (-measure.c).

#include "engine/figure/scale.h"
#include "ui/gl/heatmap-renderer.h"
#include "ui/view/heatmap-view.h"

typedef enum {
    LIMN_GRIP_NONE,
    LIMN_GRIP_PAN,
    LIMN_GRIP_DIVIDER,
    LIMN_GRIP_BOX_NEW,
    LIMN_GRIP_BOX_MOVE,
    LIMN_GRIP_BOX_EDGE, // `edges` says which
} LimnGripKind;

enum {
    LIMN_EDGE_LEFT = 1 << 0,
    LIMN_EDGE_RIGHT = 1 << 1,
    LIMN_EDGE_TOP = 1 << 2,
    LIMN_EDGE_BOTTOM = 1 << 3,
};

typedef struct {
    LimnGripKind kind;
    int edges;
} LimnGrip;

// What a region says about the map; computed aside when the picture is large.
typedef struct {
    gboolean valid;
    double energy, iou;
} LimnMeasurement;

typedef enum {
    LIMN_HEATMAP_PROBE,
    LIMN_HEATMAP_CELL_CLICKED,
    LIMN_HEATMAP_BOX_CHANGED,
    LIMN_HEATMAP_ACTIVATED,
    LIMN_HEATMAP_DIVIDER_CHANGED,
    LIMN_HEATMAP_RANGE_CHANGED,
    LIMN_HEATMAP_MEASURED,
    LIMN_HEATMAP_TOOL_CHANGED,
    LIMN_HEATMAP_N_SIGNALS,
} LimnHeatmapSignal;

struct _LimnHeatmapView {
    GtkWidget parent_instance;

    GtkWidget *overlay;
    GtkWidget *canvas;  // GtkGLArea or GtkDrawingArea, made when realized first
    GtkWidget *drawing; // overlays
    gboolean uses_gl;
    char *gl_message, *gl_description;
    LimnHeatmapRenderer *renderer;
    guint redraw_source, fallback_source;
    guint n_frames;

    LimnCamera *camera;
    gulong camera_handler;

    LimnImage *picture, *mask;
    gint64 ignore, effective_ignore; // label of the mask; -1: none
    LimnArray *maps[2];
    LimnRect given_rects[2]; // as set; width 0: the whole scene
    gboolean is_signed[2];
    char *titles[2];
    LimnHeatmapScene scene; // owns its stores

    LimnScale scale;
    gboolean has_scale;
    GCancellable *scale_task;

    char *colormap; // NULL: default
    LimnRangeMode range_mode;
    double range[2];
    gboolean percentile, contours, show_crop, show_colorbar;
    gboolean has_picture_rule;
    LimnRangeRule picture_rule;
    GCancellable *picture_task;

    gboolean blink;
    guint blink_source;

    LimnCanvasTool tool;
    gboolean has_box;
    LimnRect box;
    LimnMeasurement measurement;
    GCancellable *measure_task;
    gboolean measure_again; // something changed while it ran

    // pointer
    LimnGrip grip, hover;                    // being dragged; under the pointer
    double press_x, press_y, last_x, last_y; // view
    gboolean moved;
    LimnRect press_box;
    double corner_x, corner_y; // scene, of the box being drawn
    gboolean has_pointer;
    double pointer_x, pointer_y; // view
    double pinch;
    // probe, by pointer or by keyboard
    gboolean has_probe;
    LimnHeatmapPick probe;
    gboolean has_cursor;       // the probe was moved by keys
    double cursor_x, cursor_y; // scene
    gboolean has_corner;       // a box was begun by keys
    guint describe_source;
};

extern guint limn_heatmap_view_signals[LIMN_HEATMAP_N_SIGNALS];

// ---- heatmap-view-canvas.c
void limn_heatmap_view_queue_all(LimnHeatmapView *view);
void limn_heatmap_view_queue_canvas(LimnHeatmapView *view);
void limn_heatmap_view_queue_overlay(LimnHeatmapView *view);
// Logical pixels at the edges that overlays need for themselves when the picture is
// fitted.
typedef struct {
    int left, top, right, bottom;
} LimnInsets;
// Scene to logical pixels of a view of that size.
void limn_heatmap_view_get_view_transform(LimnHeatmapView *view, int width, int height,
                                          LimnViewTransform *transform);
gboolean limn_heatmap_view_is_dark(LimnHeatmapView *view);
int limn_heatmap_view_shown_map(LimnHeatmapView *view); // 0 or 1
const char *limn_heatmap_view_effective_colormap(LimnHeatmapView *view);

// Makes it, or makes it anew without GL once gl_message is set.
void limn_heatmap_view_make_canvas(LimnHeatmapView *view);
GtkWidget *limn_heatmap_view_new_overlay(LimnHeatmapView *view);

// ---- heatmap-view.c
// A store that fills itself in the background; takes the pyramid, NULL gives NULL.
LimnTileStore *limn_heatmap_view_new_store(LimnHeatmapView *view, LimnPyramid *pyramid);

// ---- heatmap-view-picture.c
void limn_heatmap_view_update_picture(LimnHeatmapView *view);
// At once, if it is still being made.
void limn_heatmap_view_finish_picture(LimnHeatmapView *view);

// ---- heatmap-view-input.c
void limn_heatmap_view_init_input(LimnHeatmapView *view);
void limn_heatmap_view_update_probe(LimnHeatmapView *view);
void limn_heatmap_view_take_box(LimnHeatmapView *view, const LimnRect *box);

// ---- heatmap-view-overlay.c
void limn_heatmap_view_get_insets(LimnHeatmapView *view, int width, int height,
                                  LimnInsets *insets);
// With `interactive` also what belongs to pointer and focus.
void limn_heatmap_view_draw_overlay(LimnHeatmapView *view, cairo_t *cr, int width,
                                    int height, gboolean interactive);
// "213, 148 · cell 6, 9 · 0.0123". Returns: (transfer full), NULL without probe
char *limn_heatmap_view_describe_probe(LimnHeatmapView *view);

// ---- heatmap-view-measure.c
void limn_heatmap_view_update_measure(LimnHeatmapView *view);
// Tells assistive technology soon; many changes make one message.
void limn_heatmap_view_queue_describe(LimnHeatmapView *view);
void limn_heatmap_view_describe(LimnHeatmapView *view);
