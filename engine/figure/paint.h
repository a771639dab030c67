// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Painters: each turns one kind of artifact into a display list of a given width; its
// height follows. Private to the figure layer.

#include "engine/figure/display-list.h"
#include "engine/figure/figure.h"
#include "engine/figure/scale.h"

typedef struct {
    const LimnFigureOptions *options; // validated
    const LimnTheme *theme;
    double shrink; // pictures take this share of their width, so that a page keeps to its
                   // maximal height
} LimnPainter;

typedef enum {
    LIMN_FONT_BODY,   // labels, captions
    LIMN_FONT_STRONG, // headers
    LIMN_FONT_SMALL,  // numbers, legends
    LIMN_FONT_MUTED,  // notes
    LIMN_FONT_LETTER, // a, b, c
} LimnFontRole;

LimnTextStyle limn_painter_font(const LimnPainter *painter, LimnFontRole role);
double limn_painter_gap(const LimnPainter *painter); // between the parts of a figure

// One panel: an artifact, or one map, picture or text of it.
typedef struct {
    LimnArtifact *artifact;
    gint64 item;            // -1: all (text), the first (others)
    const LimnScale *scale; // NULL: of this panel alone
    const char *colormap;   // NULL: the scale's default
    gboolean with_picture;  // heatmap: over its picture
    gboolean with_label;
    gboolean with_legend; // colour bar, class or curve names
} LimnPanel;

// Any kind. Never NULL: what cannot be painted was refused before.
LimnDisplayList *limn_paint_panel(const LimnPainter *painter, const LimnPanel *panel,
                                  double width);
LimnDisplayList *limn_paint_heatmap(const LimnPainter *painter, const LimnPanel *panel,
                                    double width);
LimnDisplayList *limn_paint_labelmap(const LimnPainter *painter, const LimnPanel *panel,
                                     double width);
LimnDisplayList *limn_paint_picture(const LimnPainter *painter, const LimnPanel *panel,
                                    double width);
LimnDisplayList *limn_paint_words(const LimnPainter *painter, const LimnPanel *panel,
                                  double width);
LimnDisplayList *limn_paint_curves(const LimnPainter *painter, const LimnPanel *panel,
                                   double width);
LimnDisplayList *limn_paint_bars(const LimnPainter *painter, const LimnPanel *panel,
                                 double width);
LimnDisplayList *limn_paint_table(const LimnPainter *painter, const LimnPanel *panel,
                                  double width);

// Every map, picture or text of an artifact, in rows.
LimnDisplayList *limn_paint_stack(const LimnPainter *painter, LimnArtifact *artifact,
                                  double width);

typedef struct {
    GPtrArray *artifacts; // LimnArtifact or NULL, row by row
    const char *const *row_labels;
    const char *const *column_labels;
    gboolean shared_scale;
} LimnGrid;

LimnDisplayList *limn_paint_grid(const LimnPainter *painter, const LimnGrid *grid,
                                 double width);

// Letter of panel i: "a" .. "z", "aa" .. Returns: (transfer full)
char *limn_panel_letter(guint i);

// ---- parts

// Maps, pictures or texts of an artifact; 1 for the other kinds.
gint64 limn_panel_count(const LimnArtifact *artifact);
// Label of an item, or NULL.
const char *limn_panel_label(const LimnArtifact *artifact, gint64 item);
// Scale of one map (item >= 0) or of all maps of the heatmaps among the artifacts.
void limn_panel_scale(const LimnPainter *painter, LimnArtifact *const *artifacts, guint n,
                      gint64 item, LimnScale *scale);
// The colour bar below maps, `width` wide, with the artifact's title and unit.
LimnDisplayList *limn_paint_colorbar(const LimnPainter *painter,
                                     const LimnArtifact *artifact, const LimnScale *scale,
                                     const char *colormap, double width);
// Says what contours and outlines are, below what is there.
void limn_paint_map_notes(const LimnPainter *painter, LimnDisplayList *list,
                          const LimnArtifact *artifact, gboolean with_picture,
                          double width);
// The classes that occur in the first n label maps of an artifact.
LimnDisplayList *limn_paint_class_legend(const LimnPainter *painter,
                                         LimnArtifact *artifact, gint64 n, double width);
// What colours of words mean; NULL when no item has a word.
LimnDisplayList *limn_paint_words_legend(const LimnPainter *painter,
                                         LimnArtifact *const *artifacts, guint n,
                                         double width);
// Largest |weight| and whether any is negative, of the text item (-1: all).
void limn_words_range(const LimnArtifact *artifact, gint64 item, double *largest,
                      gboolean *has_negative, gboolean *has_words);
// Number of columns for n panels when the options leave it open.
int limn_painter_columns(const LimnPainter *painter, gint64 n, double width);

// RGB pixels of a picture on white, no finer than 350 dpi at that width; NULL when memory
// is short.
GBytes *limn_picture_pixels(LimnImage *image, double width_pt, int *width, int *height);
// The picture that map or picture `item` belongs to, its place; NULL: none.
LimnImage *limn_panel_picture(const LimnArtifact *artifact, gint64 item, LimnRect *rect);
// Integer labels of a mask, [height, width], at most 1024 on the longer side (nearest).
guint32 *limn_mask_labels(LimnImage *mask, int *width, int *height);

// Hatch lines of a class inside a box, in a colour that shows on the fill. Nothing for
// LIMN_HATCH_NONE. The caller has set the clip.
void limn_paint_hatch(LimnDisplayList *list, LimnHatch hatch, const LimnBox *box,
                      LimnColor fill);
void limn_paint_marker(LimnDisplayList *list, LimnMarker marker, double x, double y,
                       double radius, LimnColor color);

// A legend of swatches and names that flows in columns.
typedef struct {
    char *name;
    LimnColor color;
    LimnHatch hatch;
    gboolean line;   // a line sample instead of a box
    guint index;     // of the curve: dash and marker
    gboolean marker; // with the curve's marker
    gboolean outline;
} LimnLegendEntry;
// Takes nothing. Returns: (transfer full)
LimnDisplayList *limn_paint_legend(const LimnPainter *painter,
                                   const LimnLegendEntry *entries, gsize n, double width);
