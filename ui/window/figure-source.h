// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the window shows, ready to become a figure: taken on the main thread, immutable
// afterwards, so that a worker can draw it.

#include "engine/figure/figure.h"
#include "ui/window/window.h"

typedef enum {
    LIMN_SOURCE_PANE,   // the active pane
    LIMN_SOURCE_PANES,  // all panes with letters
    LIMN_SOURCE_WORDS,  // the words of the active pane's sentence
    LIMN_SOURCE_GRID,   // the method grid
    LIMN_SOURCE_RESULT, // the whole artifact of the active pane (all its items)
    LIMN_SOURCE_N_KINDS,
} LimnSourceKind;

typedef struct LimnFigureSource LimnFigureSource;

const char *limn_source_title(LimnSourceKind kind); // for people
// NULL when there is nothing of that kind now.
LimnFigureSource *limn_figure_source_new(LimnWindow *window, LimnSourceKind kind);
LimnFigureSource *limn_figure_source_ref(LimnFigureSource *source);
void limn_figure_source_unref(LimnFigureSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnFigureSource, limn_figure_source_unref)

// Options that look like the view: colour map, opacity, range, contours, cells.
void limn_figure_source_init_options(LimnWindow *window, LimnSourceKind kind,
                                     LimnFigureOptions *options);
// Any thread.
LimnFigure *limn_figure_source_make(LimnFigureSource *source,
                                    const LimnFigureOptions *options, GError **error);
