// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A window for a view, the sample scene, and snapshots. Needs a display.

#include "ui/view/heatmap-view.h"

typedef struct {
    GtkWidget *window;
} Fixture;

// A window of that size with the widget in it; shown, and drawn once.
void fixture_init(Fixture *fixture, GtkWidget *child, int width, int height);
// Destroys the window and lets what belongs to it end.
void fixture_clear(Fixture *fixture);

typedef gboolean (*FixtureCondition)(gpointer data);
// Runs the main loop until the condition holds; fails after a minute.
void fixture_wait(FixtureCondition condition, gpointer data);
// Runs the main loop for about that long; for things that must not happen.
void fixture_idle(guint milliseconds);
// Until the view has drawn what was changed before, and every tile has come.
void fixture_settle(LimnHeatmapView *view);

// Real input: runs xdotool with these arguments ("mousemove 10 20 click 1") while the
// main loop goes on. FALSE when it is not installed.
gboolean fixture_input(const char *arguments);

// Writes DIR/NAME.png when LIMN_SNAPSHOT_DIR is set, and checks that something was drawn.
// Returns: (transfer full) the window as drawn, GL included
cairo_surface_t *fixture_snapshot(Fixture *fixture, const char *name);

void fixture_set_dark(gboolean dark);

LimnImage *fixture_load_sample(const char *name); // "dog-and-car.png"
LimnImage *fixture_load_labels(const char *name); // its "_labels.png"
LimnArray *fixture_load_map(int number);          // expected map of the built-in model
LimnArray *fixture_make_map(int rows, int columns);
