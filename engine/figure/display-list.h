// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a figure consists of, before any back end: paths, single lines of text, pictures,
// clips and named groups, in points, origin at the top left. Painters add items; the
// back ends (draw-cairo.h, write-svg.h) only read. A list has a nominal size, which its
// painter sets, and knows the extents of its ink, so that a page can grow instead of
// cutting something off.

#include "engine/figure/palette.h"

typedef struct {
    double x, y, width, height;
} LimnBox;

// ---- paths
typedef enum {
    LIMN_PATH_MOVE,
    LIMN_PATH_LINE,
    LIMN_PATH_CURVE, // two control points, end point
    LIMN_PATH_CLOSE,
} LimnPathOp;

typedef struct {
    LimnPathOp op;
    double x[3], y[3]; // MOVE and LINE use the first
} LimnPathStep;

typedef struct {
    GArray *steps; // LimnPathStep
} LimnPath;

LimnPath *limn_path_new(void);
void limn_path_free(LimnPath *path);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnPath, limn_path_free)
void limn_path_move(LimnPath *path, double x, double y);
void limn_path_line(LimnPath *path, double x, double y);
void limn_path_curve(LimnPath *path, double x1, double y1, double x2, double y2,
                     double x3, double y3);
void limn_path_close(LimnPath *path);
void limn_path_rectangle(LimnPath *path, const LimnBox *box);
void limn_path_rounded(LimnPath *path, const LimnBox *box, double radius);
void limn_path_circle(LimnPath *path, double x, double y, double radius);

typedef struct {
    gboolean has_fill, has_stroke;
    gboolean even_odd;
    LimnColor fill, stroke;
    double width;   // of the stroke
    gboolean round; // caps and joins; else butt and miter
    int n_dash;     // at most 6
    double dash[6];
} LimnPathStyle;

// ---- text
typedef enum { LIMN_ANCHOR_START, LIMN_ANCHOR_MIDDLE, LIMN_ANCHOR_END } LimnAnchor;

typedef struct {
    const char *family; // "DejaVu Sans"; interned by the list
    double size;        // points
    gboolean bold, italic;
    LimnColor color;
} LimnTextStyle;

// ---- items
typedef enum {
    LIMN_ITEM_PATH,
    LIMN_ITEM_TEXT,
    LIMN_ITEM_IMAGE,
    LIMN_ITEM_CLIP_BEGIN, // path
    LIMN_ITEM_CLIP_END,
    LIMN_ITEM_GROUP_BEGIN, // text = id
    LIMN_ITEM_GROUP_END,
} LimnItemKind;

typedef struct {
    LimnItemKind kind;
    LimnPath *path;
    LimnPathStyle style;
    char *text; // valid UTF-8 on one line, no control characters
    LimnTextStyle font;
    LimnAnchor anchor;
    double x, y;  // text: anchor point on the baseline
    double angle; // text: degrees, counter-clockwise
    GBytes *rgb;  // image: height * width RGB triplets
    int width, height;
    LimnBox box;    // image
    gboolean crisp; // image: cells have hard edges at every zoom
    double opacity; // image
} LimnItem;

typedef struct {
    GPtrArray *items;     // LimnItem
    double width, height; // nominal size, set by the painter
    gboolean has_ink;
    double left, top, right, bottom; // of the ink
    int clip_depth;
    int n_clips, n_groups;
} LimnDisplayList;

LimnDisplayList *limn_display_list_new(void);
void limn_display_list_free(LimnDisplayList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnDisplayList, limn_display_list_free)

// Takes the path.
void limn_display_list_add_path(LimnDisplayList *list, LimnPath *path,
                                const LimnPathStyle *style);
void limn_display_list_add_line(LimnDisplayList *list, double x1, double y1, double x2,
                                double y2, LimnColor color, double width);
void limn_display_list_fill_box(LimnDisplayList *list, const LimnBox *box,
                                LimnColor color);
void limn_display_list_stroke_box(LimnDisplayList *list, const LimnBox *box,
                                  LimnColor color, double width);
// One line. Control characters become blanks, invalid UTF-8 is replaced.
void limn_display_list_add_text(LimnDisplayList *list, const char *text,
                                const LimnTextStyle *font, double x, double y,
                                LimnAnchor anchor, double angle);
// rgb: height * width * 3 bytes (a reference is taken).
void limn_display_list_add_image(LimnDisplayList *list, GBytes *rgb, int width,
                                 int height, const LimnBox *box, gboolean crisp,
                                 double opacity);
// Takes the path. Nests; each begin has its end in the same list.
void limn_display_list_begin_clip(LimnDisplayList *list, LimnPath *path);
void limn_display_list_end_clip(LimnDisplayList *list);
void limn_display_list_begin_group(LimnDisplayList *list, const char *id);
void limn_display_list_end_group(LimnDisplayList *list);
// A copy of the items of `other`, moved.
void limn_display_list_append(LimnDisplayList *list, const LimnDisplayList *other,
                              double dx, double dy);
