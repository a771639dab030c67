// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Colour maps as 256-entry tables, shared by figures and the GL views.

#include <glib.h>

typedef enum {
    LIMN_COLORMAP_SEQUENTIAL,
    LIMN_COLORMAP_DIVERGING,
    LIMN_COLORMAP_RAINBOW, // turbo and jet: for reproduction, not recommended
} LimnColormapClass;

typedef struct {
    const char *name;  // "viridis"
    const char *title; // for people
    LimnColormapClass class;
} LimnColormapInfo;

const LimnColormapInfo *limn_colormap_list(gsize *n);
const LimnColormapInfo *limn_colormap_find(const char *name);
// The default: "viridis", or "blue-red" for signed values.
const char *limn_colormap_default(gboolean is_signed);
// 256 RGB triplets; NULL for an unknown name. Static.
const guint8 (*limn_colormap_table(const char *name))[3];
// The colour of NaN and of values outside the range (grey hatch base colour).
void limn_colormap_nan(guint8 rgb[3]);
// Index 0..255 of a value in a range (NaN: -1); clamps. The one rule that shader and
// painters share: floor(clamp((v - min) / (max - min), 0, 1) * 255 + 0.5). An empty range
// (max <= min) gives 255 above it and 0 elsewhere.
int limn_colormap_index(double value, double min, double max);
