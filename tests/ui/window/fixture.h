// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The real application and its window in the test's own process, with private folders for
// state, data and configuration.

#include "ui/window/application.h"
#include "ui/window/canvas.h"

#include <gtk/gtk.h>

typedef struct {
    LimnApplication *app;
    LimnWindow *window;
    LimnWorkspace *ws;
    LimnCanvas *canvas;
    char *home; // private folder, removed at the end
} Fixture;

// main() of a test program: private folders, GTK in test mode, operations. Returns FALSE
// when there is no display (the caller ends with 0 after the plan was skipped).
gboolean fixture_main_init(int *argc, char ***argv);
// The same in a given folder (for a child process).
gboolean fixture_main_init_in(int *argc, char ***argv, const char *folder);
const char *fixture_home(void);
void fixture_main_end(void);

void fixture_start(Fixture *fixture);
void fixture_stop(Fixture *fixture);
// Like stop and start: what a user sees who closes the program and opens it again.
void fixture_restart(Fixture *fixture);

typedef gboolean (*FixtureCondition)(gpointer data);
// Runs the main loop until the condition holds; fails after a minute.
void fixture_wait(FixtureCondition condition, gpointer data, const char *what);
void fixture_idle(guint milliseconds);
// Until nothing is loaded, computed or drawn.
void fixture_settle(Fixture *fixture);

LimnDocument *fixture_document(Fixture *fixture);
char *fixture_sample(const char *name); // path of a sample, transfer full
// Opens a picture and waits until it is on screen.
LimnDocument *fixture_open(Fixture *fixture, const char *path);
// Types a text at the end of the sentence, letter by letter, and settles.
void fixture_type(Fixture *fixture, const char *text);
void fixture_action(Fixture *fixture, const char *name, GVariant *target);
// A test must not be told of warnings that belong to it: drops waiting messages.
const char *fixture_message(Fixture *fixture);
LimnArray *fixture_map(Fixture *fixture, guint pane); // borrowed, NULL
