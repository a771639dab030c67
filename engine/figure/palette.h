// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Colours other than those of maps: the two schemes (paper and dark screen), the palette
// of curves and classes, and what goes with a colour so that nothing is told by colour
// alone: dashes and markers for curves, hatches for areas.

#include <glib.h>

typedef struct {
    double red, green, blue, alpha; // 0..1, not premultiplied
} LimnColor;

typedef struct {
    LimnColor page;    // behind everything
    LimnColor ink;     // text, axes
    LimnColor muted;   // secondary text
    LimnColor rule;    // hairlines, frames
    LimnColor grid;    // lines behind curves
    LimnColor veil;    // laid over what the model did not see
    LimnColor word;    // background of the strongest word, positive
    LimnColor against; // the same, negative
} LimnTheme;

const LimnTheme *limn_theme_get(gboolean dark);

LimnColor limn_color_from_rgb(const guint8 rgb[3]);
// a + t (b - a), t in [0, 1]; alpha too.
LimnColor limn_color_mix(LimnColor a, LimnColor b, double t);
// Relative luminance (WCAG 2), 0 black .. 1 white.
double limn_color_luminance(LimnColor color);
// Contrast ratio (WCAG 2), 1..21.
double limn_color_contrast(LimnColor a, LimnColor b);
// Black or white, whichever is easier to read on `background`.
LimnColor limn_color_readable_on(LimnColor background);

// The palette of Okabe and Ito in an order in which neighbours differ in lightness; its
// black becomes white in the dark scheme. Repeats after 8.
#define LIMN_PALETTE_SIZE 8
LimnColor limn_palette_color(guint i, gboolean dark);

// Dash of curve i in line widths, 0 entries: solid.
const double *limn_palette_dash(guint i, int *n);

typedef enum {
    LIMN_MARKER_CIRCLE,
    LIMN_MARKER_SQUARE,
    LIMN_MARKER_TRIANGLE,
    LIMN_MARKER_DIAMOND,
    LIMN_MARKER_CROSS,
    LIMN_MARKER_PLUS,
    LIMN_N_MARKERS,
} LimnMarker;

typedef enum {
    LIMN_HATCH_NONE,
    LIMN_HATCH_RISING,  // ///
    LIMN_HATCH_FALLING, // \\\ (three backslashes)
    LIMN_HATCH_LEVEL,
    LIMN_HATCH_UPRIGHT,
    LIMN_HATCH_DOTS,
    LIMN_HATCH_GRID,
    LIMN_HATCH_CROSS,
    LIMN_N_HATCHES,
} LimnHatch;

// Hatch of class i: with the colour i modulo 8 all pairs differ for 64 classes.
LimnHatch limn_palette_hatch(guint i);
