// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A heat-map view with the sample scene and the model's map in a window of its own.

#include "tests/ui/views/fixture.h"

typedef struct {
    Fixture fixture;
    LimnHeatmapView *view;
} Pane;

void pane_init(Pane *pane, int width, int height);
// Checks that every GL object was given back.
void pane_clear(Pane *pane);

// Presses a key as the event controller would. Returns whether it was taken.
gboolean pane_press(LimnHeatmapView *view, guint key, GdkModifierType state);
// Share of pixels whose colours differ visibly; both of the same size.
double pane_difference(cairo_surface_t *a, cairo_surface_t *b);
// What is on screen is what limn_heatmap_view_render draws without GL and without a
// window.
void pane_check_rendered(Pane *pane, const char *name);
// For signals without arguments: counts.
void pane_count(LimnHeatmapView *view, int *n);
LimnArray *make_constant_map(int rows, int columns, float value);
