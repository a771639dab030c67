// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Figures. A painter turns an artifact into a display list; back ends draw the list:
// cairo (screen preview, PDF, PNG) and an SVG writer of our own (text stays text, cells
// stay crisp). The command line, the export dialog and its preview use this interface.
// Sizes are millimetres and points; bytes are repeatable (dates fixed).
//
// Kinds: heatmap, labelmap, pictures, text, series, table; an array of one dimension is
// drawn as a curve, of two to four as maps. In a series the first column is x and every
// further number column a curve; columns "NAME low" and "NAME high" are the band of NAME.

#include "engine/study/artifact.h"

#include <cairo.h>

typedef enum {
    LIMN_FIGURE_PDF,
    LIMN_FIGURE_SVG,
    LIMN_FIGURE_PNG,
} LimnFigureFormat;

typedef enum {
    LIMN_LAYOUT_AUTO,    // from the artifact's kind
    LIMN_LAYOUT_OVERLAY, // picture with map, colour bar, prompt
    LIMN_LAYOUT_MAP,     // the map alone, cells crisp
    LIMN_LAYOUT_WORDS,
    LIMN_LAYOUT_STACK, // picture stack: every map of the artifact below each other / in a
                       // grid
    LIMN_LAYOUT_GRID,  // panels with letters (several artifacts)
    LIMN_LAYOUT_BARS,
    LIMN_LAYOUT_CURVE,
    LIMN_LAYOUT_TABLE,
} LimnFigureLayout;

typedef struct {
    LimnFigureLayout layout;
    double width_mm;      // default 84
    double max_height_mm; // 0: free
    double dpi;           // PNG, default 300
    const char *colormap; // NULL: by kind (viridis, or the diverging one for signed maps)
    gboolean has_range;
    double range[2];
    gboolean
        percentile; // robust range (2..98 %), clipped values marked on the colour bar
    double opacity; // overlay, default 0.6
    gboolean interpolate; // bilinear instead of crisp cells
    gboolean contours;
    gboolean text_as_outlines;
    gboolean show_caption;
    gboolean show_colorbar;
    gboolean show_mask;  // outlines of the label map when the artifact has one
    const char *caption; // overrides the default one
    const char *font;    // default "DejaVu Sans"; fallback by pango
    double font_size;    // points, default 8, never below 6
    int item;            // which map or picture; -1: all
    gboolean dark;       // for the preview on screen only
    int columns;         // grid and stack, 0: automatic
} LimnFigureOptions;
void limn_figure_options_init(LimnFigureOptions *options);

typedef struct LimnFigure LimnFigure;
// One artifact; several maps or pictures with item -1 become a stack on one scale. The
// page is `width_mm` wide and grows when something does not fit. LIMN_ERROR_ARGUMENT for
// an item that does not exist, an unknown colour map, a layout that does not suit the
// kind, a size out of range, an empty artifact, a graph or a model.
LimnFigure *limn_figure_new(LimnArtifact *artifact, const LimnFigureOptions *options,
                            GError **error);
// Panels a, b, c ... sharing one colour scale when `shared_scale`. Row by row; an element
// may be NULL (an empty place). Labels are NULL-terminated or NULL; their number decides
// the number of columns. `options->item` is the map or text that each panel shows.
LimnFigure *limn_figure_new_grid(GPtrArray *artifacts, const char *const *row_labels,
                                 const char *const *column_labels, gboolean shared_scale,
                                 const LimnFigureOptions *options, GError **error);
void limn_figure_free(LimnFigure *figure);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnFigure, limn_figure_free)

void limn_figure_get_size(LimnFigure *figure, double *width_pt, double *height_pt);
void limn_figure_draw(LimnFigure *figure, cairo_t *cr); // origin top left, points
GBytes *limn_figure_encode(LimnFigure *figure, LimnFigureFormat format, GError **error);
// The format follows from the extension. LIMN_ERROR_ARGUMENT for another extension.
gboolean limn_figure_save(LimnFigure *figure, const char *path, GError **error);
// The numbers behind the figure beside it: PATH without extension + ".csv" or ".npy"; a
// grid has one file per panel, with its letter: "-a.npy", "-b.csv" ...
gboolean limn_figure_save_data(LimnFigure *figure, const char *path, GError **error);
