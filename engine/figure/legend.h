// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The colour bar, drawn by one code in figures and in the window: one image of 256
// colours with numbers, unit and title; triangles at the ends and a line of text when
// values are clipped; a hatched swatch when values are missing; a swatch and a sentence
// in place of the bar when the map is constant or has no value at all.
//
// Lengths are user units of the cairo context: points in figures, logical pixels on
// screen. Draw a bar of 220 pixels for a dark window:
//
//     LimnColorbarStyle style;
//     limn_colorbar_style_init(&style);
//     style.dark = TRUE;
//     limn_colorbar_style_set_scale(&style, &scale);
//     limn_colorbar_get_size(&style, 220, &width, &height);
//     limn_colorbar_draw(cr, &style, x, y, 220);

#include "engine/figure/display-list.h"
#include "engine/figure/scale.h"

#include <cairo.h>

typedef struct {
    const char *colormap; // NULL: the default of the scale
    LimnScale scale;
    gboolean vertical;
    const char *title; // NULL: none
    const char *unit;  // appended to the title
    const char *font;
    double font_size;
    double thickness; // of the coloured strip; 0: by the font size
    gboolean dark;
} LimnColorbarStyle;

void limn_colorbar_style_init(LimnColorbarStyle *style);
void limn_colorbar_style_set_scale(LimnColorbarStyle *style, const LimnScale *scale);

// Space that a bar of this length needs with its numbers and notes.
void limn_colorbar_get_size(const LimnColorbarStyle *style, double length, double *width,
                            double *height);
// (x, y): top left of that space.
void limn_colorbar_draw(cairo_t *cr, const LimnColorbarStyle *style, double x, double y,
                        double length);
// The same as display list items below and right of (0, 0); its nominal size is set.
// Returns: (transfer full)
LimnDisplayList *limn_colorbar_paint(const LimnColorbarStyle *style, double length);

// A box filled with the colour of missing values and its hatch.
void limn_paint_missing_swatch(LimnDisplayList *list, const LimnBox *box);
