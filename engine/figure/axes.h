// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A pair of axes for curves: nice numbers, grid lines, titles. The frame leaves as much
// room as the numbers need, so that nothing is cut at the edge of a narrow page.

#include "engine/figure/paint.h"

typedef struct {
    double min, max; // of the data; widened when equal
    const char *title;
    const char *unit;
    gboolean integers; // ticks at whole numbers only
} LimnAxisRange;

typedef struct {
    LimnBox frame; // the plotting area on the list
    double x_min, x_max, y_min, y_max;
} LimnAxes;

// Draws axes of `width` x `height` (numbers and titles included) with the top left at
// (0, y) and fills `axes`.
void limn_axes_paint(const LimnPainter *painter, LimnDisplayList *list, double y,
                     double width, double height, const LimnAxisRange *x_range,
                     const LimnAxisRange *y_range, LimnAxes *axes);
double limn_axes_x(const LimnAxes *axes, double value);
double limn_axes_y(const LimnAxes *axes, double value);
