// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/axes.h"

#include "engine/figure/text-layout.h"

#include <math.h>

typedef struct {
    const LimnPainter *painter;
    LimnDisplayList *list;
    LimnTextStyle numbers, titles;
    LimnTicks x_ticks, y_ticks;
    LimnAxes *axes;
} Drawing;

double
limn_axes_x(const LimnAxes *axes, double value)
{
    double t = (value - axes->x_min) / (axes->x_max - axes->x_min);
    return axes->frame.x + t * axes->frame.width;
}

double
limn_axes_y(const LimnAxes *axes, double value)
{
    double t = (value - axes->y_min) / (axes->y_max - axes->y_min);
    return axes->frame.y + (1 - t) * axes->frame.height;
}

static void
widen(double *min, double *max)
{
    if (*min < *max)
        return;
    double size = *min == 0 ? 1 : fabs(*min) * 0.5;
    *min -= size;
    *max += size;
}

static double
widest_label(const LimnTicks *ticks, const LimnTextStyle *font)
{
    double widest = 0;
    for (int i = 0; i < ticks->n; i++) {
        g_autofree char *label = limn_ticks_label(ticks, i);
        widest = MAX(widest, limn_text_width(label, font));
    }
    return widest;
}

// "Title (×10⁻³ unit)"; NULL when empty.
static char *
axis_title(const LimnAxisRange *range, const LimnTicks *ticks)
{
    g_autofree char *factor = limn_ticks_factor(ticks);
    const char *unit = range->unit && range->unit[0] ? range->unit : NULL;
    g_autofree char *extra = NULL;
    if (factor && unit)
        extra = g_strdup_printf("%s %s", factor, unit);
    else if (factor || unit)
        extra = g_strdup(factor ? factor : unit);
    if (!range->title || !range->title[0])
        return g_steal_pointer(&extra);
    return extra ? g_strdup_printf("%s (%s)", range->title, extra)
                 : g_strdup(range->title);
}

static void
compute_ticks(LimnTicks *ticks, double min, double max, int target, gboolean integers)
{
    limn_ticks_compute(ticks, min, max, target);
    if (!integers || ticks->step >= 1 || !(ticks->step > 0) || ticks->exponent != 0)
        return;
    ticks->step = 1;
    ticks->digits = 0;
    ticks->first = ceil(min);
    ticks->n = (int) MAX(0, floor(max) - ticks->first + 1);
}

static void
choose_y_ticks(Drawing *drawing, double height, gboolean integers)
{
    LimnAxes *axes = drawing->axes;
    int target = (int) CLAMP(height / (drawing->numbers.size * 2.4), 2, 7);
    compute_ticks(&drawing->y_ticks, axes->y_min, axes->y_max, target, integers);
}

static void
choose_x_ticks(Drawing *drawing, double width, gboolean integers)
{
    LimnAxes *axes = drawing->axes;
    for (int target = 9; target >= 2; target--) {
        compute_ticks(&drawing->x_ticks, axes->x_min, axes->x_max, target, integers);
        double pitch = width * drawing->x_ticks.step / (axes->x_max - axes->x_min);
        double needed = widest_label(&drawing->x_ticks, &drawing->numbers);
        if (drawing->x_ticks.n < 2 || pitch >= needed + drawing->numbers.size * 0.8)
            return;
    }
}

static double
x_label_overhang(const Drawing *drawing)
{
    if (drawing->x_ticks.n == 0)
        return 0;
    const LimnTicks *ticks = &drawing->x_ticks;
    g_autofree char *label = limn_ticks_label(ticks, ticks->n - 1);
    double at = limn_axes_x(drawing->axes, ticks->first + (ticks->n - 1) * ticks->step);
    double right = drawing->axes->frame.x + drawing->axes->frame.width;
    return MAX(0, at + limn_text_width(label, &drawing->numbers) / 2 - right);
}

static void
draw_grid(Drawing *drawing)
{
    const LimnTheme *theme = drawing->painter->theme;
    const LimnBox *frame = &drawing->axes->frame;
    const LimnTicks *x = &drawing->x_ticks, *y = &drawing->y_ticks;
    for (int i = 0; i < y->n; i++) {
        double at = limn_axes_y(drawing->axes, y->first + i * y->step);
        limn_display_list_add_line(drawing->list, frame->x, at, frame->x + frame->width,
                                   at, theme->grid, 0.4);
    }
    double bottom = frame->y + frame->height;
    limn_display_list_add_line(drawing->list, frame->x, bottom, frame->x + frame->width,
                               bottom, theme->rule, 0.6);
    limn_display_list_add_line(drawing->list, frame->x, frame->y, frame->x, bottom,
                               theme->rule, 0.6);
    for (int i = 0; i < x->n; i++) {
        double at = limn_axes_x(drawing->axes, x->first + i * x->step);
        limn_display_list_add_line(drawing->list, at, bottom, at, bottom + 2.2,
                                   theme->rule, 0.6);
    }
}

static void
draw_numbers(Drawing *drawing)
{
    const LimnBox *frame = &drawing->axes->frame;
    const LimnTicks *x = &drawing->x_ticks, *y = &drawing->y_ticks;
    double size = drawing->numbers.size;
    for (int i = 0; i < y->n; i++) {
        g_autofree char *label = limn_ticks_label(y, i);
        double at = limn_axes_y(drawing->axes, y->first + i * y->step);
        limn_display_list_add_text(drawing->list, label, &drawing->numbers,
                                   frame->x - size * 0.45, at + size * 0.36,
                                   LIMN_ANCHOR_END, 0);
    }
    for (int i = 0; i < x->n; i++) {
        g_autofree char *label = limn_ticks_label(x, i);
        double at = limn_axes_x(drawing->axes, x->first + i * x->step);
        limn_display_list_add_text(drawing->list, label, &drawing->numbers, at,
                                   frame->y + frame->height + size * 1.45,
                                   LIMN_ANCHOR_MIDDLE, 0);
    }
}

static void
draw_titles(Drawing *drawing, const char *x_title, const char *y_title, double y,
            gboolean turned)
{
    const LimnBox *frame = &drawing->axes->frame;
    double size = drawing->titles.size;
    if (x_title) {
        double top = frame->y + frame->height + drawing->numbers.size * 1.85;
        limn_text_add_paragraph(drawing->list, x_title, &drawing->titles, frame->x, top,
                                frame->width, LIMN_ANCHOR_MIDDLE, 0);
    }
    if (y_title && turned)
        limn_display_list_add_text(drawing->list, y_title, &drawing->titles, size * 0.95,
                                   frame->y + frame->height / 2, LIMN_ANCHOR_MIDDLE, 90);
    if (y_title && !turned)
        limn_text_add_paragraph(drawing->list, y_title, &drawing->titles, 0, y,
                                frame->x + frame->width, LIMN_ANCHOR_START, 0);
}

static double
paragraph_height(const char *text, const LimnTextStyle *font, double width)
{
    if (!text)
        return 0;
    g_autoptr(GPtrArray) lines = limn_text_wrap(text, font, width, 0);
    return lines->len * limn_text_line_height(font);
}

void
limn_axes_paint(const LimnPainter *painter, LimnDisplayList *list, double y, double width,
                double height, const LimnAxisRange *x_range, const LimnAxisRange *y_range,
                LimnAxes *axes)
{
    Drawing drawing = {.painter = painter, .list = list, .axes = axes};
    drawing.numbers = limn_painter_font(painter, LIMN_FONT_SMALL);
    drawing.titles = limn_painter_font(painter, LIMN_FONT_SMALL);
    *axes = (LimnAxes){.x_min = x_range->min,
                       .x_max = x_range->max,
                       .y_min = y_range->min,
                       .y_max = y_range->max};
    widen(&axes->x_min, &axes->x_max);
    widen(&axes->y_min, &axes->y_max);
    double size = drawing.titles.size;
    choose_y_ticks(&drawing, height - 3 * size, y_range->integers);
    choose_x_ticks(&drawing, width * 0.85, x_range->integers);
    g_autofree char *x_title = axis_title(x_range, &drawing.x_ticks);
    g_autofree char *y_title = axis_title(y_range, &drawing.y_ticks);
    double numbers = widest_label(&drawing.y_ticks, &drawing.numbers) + size * 0.45;
    double below = drawing.numbers.size * 1.85 +
                   paragraph_height(x_title, &drawing.titles, width - numbers);
    double above = drawing.numbers.size * 0.5;
    double side = 0;
    gboolean turned =
        y_title && limn_text_width(y_title, &drawing.titles) <= height - below - above;
    if (turned)
        side = size * 1.6;
    else if (y_title)
        above += paragraph_height(y_title, &drawing.titles, width) + size * 0.2;
    axes->frame = (LimnBox){side + numbers, y + above, width - side - numbers,
                            MAX(height - above - below, 24)};
    choose_x_ticks(&drawing, axes->frame.width, x_range->integers);
    axes->frame.width -= x_label_overhang(&drawing);
    draw_grid(&drawing);
    draw_numbers(&drawing);
    draw_titles(&drawing, x_title, y_title, y, turned);
}
