// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One pane that shows a picture and a float map over it. Drawn by GL (a renderer object
// that knows no GTK) in a GtkGLArea, or by cairo where there is no usable GL; overlays
// (colour bar, crop rectangle, selection, probe text) are drawn by cairo over either.

#include "engine/figure/scale.h"
#include "engine/study/artifact.h"
#include "ui/gl/camera.h"

#include <gtk/gtk.h>

#define LIMN_TYPE_HEATMAP_VIEW (limn_heatmap_view_get_type())
G_DECLARE_FINAL_TYPE(LimnHeatmapView, limn_heatmap_view, LIMN, HEATMAP_VIEW, GtkWidget)

typedef enum {
    LIMN_RANGE_AUTO,   // this map's own range
    LIMN_RANGE_SHARED, // range of all linked panes, set by the owner
    LIMN_RANGE_FIXED,  // typed by the user
} LimnRangeMode;

GtkWidget *limn_heatmap_view_new(void);

void limn_heatmap_view_set_camera(LimnHeatmapView *view, LimnCamera *camera);
LimnCamera *limn_heatmap_view_get_camera(LimnHeatmapView *view);

// Picture first (shown at once), map later. NULL removes. The view keeps references.
void limn_heatmap_view_set_picture(LimnHeatmapView *view, LimnImage *picture);
// map: [gh,gw] f32 over `rect` of the picture (width 0: all of it).
void limn_heatmap_view_set_map(LimnHeatmapView *view, LimnArray *map,
                               const LimnRect *rect, gboolean is_signed);
void limn_heatmap_view_set_title(LimnHeatmapView *view,
                                 const char *title); // method or prompt
LimnArray *limn_heatmap_view_get_map(LimnHeatmapView *view);
LimnImage *limn_heatmap_view_get_picture(LimnHeatmapView *view);

void limn_heatmap_view_set_colormap(LimnHeatmapView *view,
                                    const char *name); // NULL: default
const char *limn_heatmap_view_get_colormap(LimnHeatmapView *view);
void limn_heatmap_view_set_opacity(LimnHeatmapView *view, double opacity);
void limn_heatmap_view_set_range_mode(LimnHeatmapView *view, LimnRangeMode mode);
// The range used in SHARED and FIXED mode.
void limn_heatmap_view_set_range(LimnHeatmapView *view, double min, double max);
// Range of the finite values of the map; FALSE without a map or when none is finite.
gboolean limn_heatmap_view_get_data_range(LimnHeatmapView *view, double *min,
                                          double *max);
// All that is known about the values and the range; NULL without a map.
const LimnScale *limn_heatmap_view_get_scale(LimnHeatmapView *view);
// The range that is on screen.
void limn_heatmap_view_get_shown_range(LimnHeatmapView *view, double *min, double *max);
void limn_heatmap_view_set_interpolate(LimnHeatmapView *view, gboolean bilinear);
void limn_heatmap_view_set_contours(LimnHeatmapView *view, gboolean contours);
void limn_heatmap_view_set_show_crop(LimnHeatmapView *view, gboolean show);
void limn_heatmap_view_set_show_colorbar(LimnHeatmapView *view, gboolean show);
// Percentile range (2..98 %) in AUTO mode; clipped ends are marked on the colour bar.
void limn_heatmap_view_set_percentile(LimnHeatmapView *view, gboolean percentile);
// How samples of other depths than 8 bit become visible.
void limn_heatmap_view_set_picture_range(LimnHeatmapView *view, LimnRangeRule rule);

// Comparison with a second map in the same pane: divider (fraction of the width, < 0 off)
// or blink (at most 3 changes a second; still under reduced motion).
void limn_heatmap_view_set_second_map(LimnHeatmapView *view, LimnArray *map,
                                      const LimnRect *rect, gboolean is_signed,
                                      const char *title);
void limn_heatmap_view_set_divider(LimnHeatmapView *view, double fraction);
double limn_heatmap_view_get_divider(LimnHeatmapView *view);
void limn_heatmap_view_set_blink(LimnHeatmapView *view, gboolean blink);

// A box (scene pixels) drawn by the user or set, or a loaded mask (label map of the
// picture's size; non-zero = inside). Share of map energy and IoU at half of the maximum
// are shown in the pane and returned here; FALSE without region or map.
void limn_heatmap_view_set_box(LimnHeatmapView *view, const LimnRect *box);
gboolean limn_heatmap_view_get_box(LimnHeatmapView *view, LimnRect *box);
void limn_heatmap_view_set_mask(LimnHeatmapView *view, LimnImage *mask);
// Label of pixels that count for nothing and are hatched: 255 at first, -1: none. In a
// mask of 0 and this label alone it is the object (as in explain-evaluate).
void limn_heatmap_view_set_mask_ignore(LimnHeatmapView *view, gint64 label);
gboolean limn_heatmap_view_measure(LimnHeatmapView *view, double *energy, double *iou);
typedef enum { LIMN_TOOL_PAN, LIMN_TOOL_BOX } LimnCanvasTool;
void limn_heatmap_view_set_tool(LimnHeatmapView *view, LimnCanvasTool tool);
LimnCanvasTool limn_heatmap_view_get_tool(LimnHeatmapView *view);

// Signals:
//   "probe" (gboolean inside, double x, double y, int row, int col, double value)
//       pointer moved: scene pixel, map cell (-1 outside), value (NaN outside)
//   "cell-clicked" (int row, int col)
//   "box-changed" ()
//   "activated" ()  the pane was clicked or focused
//   "measured" ()  limn_heatmap_view_measure has something new (large pictures: later)
//   "divider-changed" (), "tool-changed" ()  also by pointer and keys
//   "range-changed" ()  the shown range or the data range is another one
//   "files-dropped" is not here: the window owns dropping.
// Keys and gestures: see heatmap-view-input.c.

// TRUE when the pane is drawn by GL; the reason when it is not.
gboolean limn_heatmap_view_uses_gl(LimnHeatmapView *view);
const char *limn_heatmap_view_get_gl_message(LimnHeatmapView *view);
// "OpenGL 4.5 (Core Profile) Mesa 22.3.6, llvmpipe ..." once drawn, NULL before and
// without GL.
const char *limn_heatmap_view_get_gl_description(LimnHeatmapView *view);
// TRUE when nothing that belongs to the picture on screen is still on its way.
gboolean limn_heatmap_view_is_complete(LimnHeatmapView *view);
// Frames drawn so far (tests: none while nothing happens).
guint limn_heatmap_view_get_n_frames(LimnHeatmapView *view);
// What is on screen as an image (tests, clipboard): rendered by cairo at that size.
// Returns: (transfer full)
cairo_surface_t *limn_heatmap_view_render(LimnHeatmapView *view, int width, int height,
                                          double scale);
