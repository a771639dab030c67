// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The cairo back end: screen, PDF and PNG.

#include "engine/figure/display-list.h"

#include <cairo.h>

typedef enum {
    LIMN_DRAW_RASTER, // pixels: pictures are drawn at the pixels of the surface
    LIMN_DRAW_VECTOR, // PDF: crisp pictures are enlarged first, so that no viewer blurs
} LimnDrawTarget;

// Draws in points, origin top left, in the current transformation of `cr`.
void limn_draw_list(cairo_t *cr, const LimnDisplayList *list, LimnDrawTarget target,
                    gboolean text_as_outlines);

// By how much the cells of a crisp image are multiplied for a vector format, so that
// the blur of a viewer that interpolates stays inside one 300th of an inch.
int limn_crisp_factor(const LimnItem *item);
// The pixels of an image item as a surface, enlarged by `factor`, with `opacity` in every
// pixel; NULL when memory is short. Returns: (transfer full)
cairo_surface_t *limn_image_item_to_surface(const LimnItem *item, int factor,
                                            double opacity);
// The outline of a text item in page coordinates. Glyphs of colour fonts (emoji) have no
// outline and are left out. Returns: (transfer full)
LimnPath *limn_text_item_to_path(const LimnItem *item);
// The glyphs of colour fonts in a text item as a picture with transparency, `scale`
// pixels to the point, and its place on the page; NULL when there are none.
// Returns: (transfer full)
cairo_surface_t *limn_text_item_to_color_glyphs(const LimnItem *item, double scale,
                                                LimnBox *box);
