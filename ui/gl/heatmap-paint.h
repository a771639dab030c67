// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Draws a scene without GL: the fallback of the canvas, its pictures for the clipboard,
// and the reference that the shader is tested against. Same formulas as
// shaders/heatmap.frag.

#include "ui/gl/heatmap-scene.h"

#include <cairo.h>

// Fills an RGB24 or ARGB32 image surface (device pixels, opaque). Returns TRUE when tiles
// are missing that will arrive later.
gboolean limn_heatmap_paint(const LimnHeatmapScene *scene,
                            const LimnViewTransform *transform, cairo_surface_t *surface);
