// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/legend.h"

#include "engine/figure/colormap.h"
#include "engine/figure/draw-cairo.h"
#include "engine/figure/text-layout.h"

#include <math.h>
#include <string.h>

#define MAX_BAR_TICKS 6

typedef struct {
    const LimnColorbarStyle *style;
    const LimnTheme *theme;
    LimnDisplayList *list;
    const guint8 (*table)[3];
    LimnTextStyle numbers, notes;
    double length, thickness;
    double inset;             // room for numbers that reach beyond the strip
    double tip_low, tip_high; // lengths of the triangles, 0 when nothing is clipped
    LimnTicks ticks;
    gboolean ends_only; // too short for ticks: the two ends are written
} Bar;

void
limn_colorbar_style_init(LimnColorbarStyle *style)
{
    memset(style, 0, sizeof *style);
    style->scale.max = 1;
    style->font = "DejaVu Sans";
    style->font_size = 7;
}

void
limn_colorbar_style_set_scale(LimnColorbarStyle *style, const LimnScale *scale)
{
    style->scale = *scale;
}

// ---- parts

static GBytes *
strip_pixels(const Bar *bar)
{
    guint8 *rgb = g_malloc(256 * 3);
    for (int i = 0; i < 256; i++)
        memcpy(rgb + 3 * i, bar->table[bar->style->vertical ? 255 - i : i], 3);
    return g_bytes_new_take(rgb, 256 * 3);
}

static void
add_tip(Bar *bar, double base, double point, const guint8 rgb[3])
{
    LimnPath *path = limn_path_new();
    double half = bar->thickness / 2;
    if (bar->style->vertical) {
        limn_path_move(path, 0, base);
        limn_path_line(path, half, point);
        limn_path_line(path, bar->thickness, base);
    } else {
        limn_path_move(path, base, 0);
        limn_path_line(path, point, half);
        limn_path_line(path, base, bar->thickness);
    }
    limn_path_close(path);
    LimnPathStyle style = {.has_fill = TRUE,
                           .fill = limn_color_from_rgb(rgb),
                           .has_stroke = TRUE,
                           .stroke = bar->theme->rule,
                           .width = 0.4,
                           .round = TRUE};
    limn_display_list_add_path(bar->list, path, &style);
}

static double
strip_length(const Bar *bar)
{
    return bar->length - 2 * bar->inset - bar->tip_low - bar->tip_high;
}

// Place of a value along the bar, from the left or from the top.
static double
value_position(const Bar *bar, double value)
{
    const LimnScale *scale = &bar->style->scale;
    double t = (value - scale->min) / (scale->max - scale->min);
    if (bar->style->vertical)
        return bar->inset + bar->tip_high + (1 - t) * strip_length(bar);
    return bar->inset + bar->tip_low + t * strip_length(bar);
}

static void
add_strip(Bar *bar)
{
    g_autoptr(GBytes) rgb = strip_pixels(bar);
    double inner = strip_length(bar), inset = bar->inset;
    gboolean vertical = bar->style->vertical;
    LimnBox box = {inset + bar->tip_low, 0, inner, bar->thickness};
    if (vertical)
        box = (LimnBox){0, inset + bar->tip_high, bar->thickness, inner};
    limn_display_list_add_image(bar->list, rgb, vertical ? 1 : 256, vertical ? 256 : 1,
                                &box, TRUE, 1);
    limn_display_list_stroke_box(bar->list, &box, bar->theme->rule, 0.4);
    const LimnScale *scale = &bar->style->scale;
    double far_end = bar->length - inset;
    if (bar->tip_low > 0)
        add_tip(bar, value_position(bar, scale->min), vertical ? far_end : inset,
                bar->table[0]);
    if (bar->tip_high > 0)
        add_tip(bar, value_position(bar, scale->max), vertical ? inset : far_end,
                bar->table[255]);
}

// ---- numbers

static double
tick_value(const LimnTicks *ticks, int i)
{
    return ticks->first + i * ticks->step;
}

static double
label_width(const Bar *bar, int i)
{
    g_autofree char *label = limn_ticks_label(&bar->ticks, i);
    return limn_text_width(label, &bar->numbers);
}

// Shortens the strip at both sides until the outer labels are centred under their ticks.
static void
choose_inset(Bar *bar)
{
    bar->inset = bar->style->vertical ? bar->numbers.size * 0.4 : 0;
    for (int round = 0; !bar->style->vertical && round < 3; round++) {
        double left = value_position(bar, tick_value(&bar->ticks, 0));
        double right = value_position(bar, tick_value(&bar->ticks, bar->ticks.n - 1));
        double need_left = label_width(bar, 0) / 2 - left;
        double need_right =
            label_width(bar, bar->ticks.n - 1) / 2 - (bar->length - right);
        double more = MAX(need_left, need_right);
        if (more > 0)
            bar->inset = MIN(bar->inset + more, bar->length / 5);
    }
}

static gboolean
labels_fit(const Bar *bar)
{
    const LimnScale *scale = &bar->style->scale;
    double pitch = strip_length(bar) * fabs(bar->ticks.step) / (scale->max - scale->min);
    if (bar->ticks.n < 2)
        return bar->ticks.n == 1;
    if (bar->style->vertical)
        return pitch >= bar->numbers.size * 1.3;
    for (int i = 0; i + 1 < bar->ticks.n; i++) {
        double needed = (label_width(bar, i) + label_width(bar, i + 1)) / 2;
        if (pitch < needed + bar->numbers.size * 0.6)
            return FALSE;
    }
    return TRUE;
}

static void
choose_ticks(Bar *bar)
{
    const LimnScale *scale = &bar->style->scale;
    for (int target = MAX_BAR_TICKS; target >= 2; target--) {
        limn_ticks_compute(&bar->ticks, scale->min, scale->max, target);
        choose_inset(bar);
        if (labels_fit(bar))
            return;
    }
    bar->ends_only = TRUE;
    bar->inset = bar->style->vertical ? bar->numbers.size * 0.4 : 0;
    memset(&bar->ticks, 0, sizeof bar->ticks);
}

// Both ends below the strip, or on one line when they do not fit side by side.
static double
add_ends(Bar *bar)
{
    const LimnScale *scale = &bar->style->scale;
    g_autofree char *low = limn_number_display(scale->min, 2);
    g_autofree char *high = limn_number_display(scale->max, 2);
    const LimnTextStyle *font = &bar->numbers;
    double widths[2] = {limn_text_width(low, font), limn_text_width(high, font)};
    double mark = font->size * 0.28;
    LimnDisplayList *list = bar->list;
    if (bar->style->vertical) {
        double x = bar->thickness + 2 * mark;
        limn_display_list_add_text(list, high, font, x, font->size * 0.76,
                                   LIMN_ANCHOR_START, 0);
        limn_display_list_add_text(list, low, font, x, bar->length - font->size * 0.04,
                                   LIMN_ANCHOR_START, 0);
        return 2 * mark + MAX(widths[0], widths[1]);
    }
    double y = bar->thickness + mark + font->size * 1.02;
    if (widths[0] + widths[1] + font->size * 0.5 <= bar->length) {
        limn_display_list_add_text(list, low, font, 0, y, LIMN_ANCHOR_START, 0);
        limn_display_list_add_text(list, high, font, bar->length, y, LIMN_ANCHOR_END, 0);
        return mark + font->size * 1.3;
    }
    g_autofree char *both = g_strdup_printf("%s to %s", low, high);
    return mark + limn_text_add_paragraph(list, both, font, 0, bar->thickness + mark,
                                          bar->length, LIMN_ANCHOR_MIDDLE, 0);
}

static void
add_number(Bar *bar, int i, double mark)
{
    g_autofree char *label = limn_ticks_label(&bar->ticks, i);
    double at = value_position(bar, tick_value(&bar->ticks, i));
    double t = bar->thickness, size = bar->numbers.size;
    LimnColor rule = bar->theme->rule;
    if (bar->style->vertical) {
        limn_display_list_add_line(bar->list, t, at, t + mark, at, rule, 0.5);
        limn_display_list_add_text(bar->list, label, &bar->numbers, t + 2 * mark,
                                   at + size * 0.36, LIMN_ANCHOR_START, 0);
        return;
    }
    limn_display_list_add_line(bar->list, at, t, at, t + mark, rule, 0.5);
    limn_display_list_add_text(bar->list, label, &bar->numbers, at,
                               t + mark + size * 1.02, LIMN_ANCHOR_MIDDLE, 0);
}

// Returns the extent of the numbers away from the strip.
static double
add_numbers(Bar *bar)
{
    if (bar->ends_only)
        return add_ends(bar);
    double mark = bar->numbers.size * 0.28;
    double widest = 0;
    for (int i = 0; i < bar->ticks.n; i++) {
        add_number(bar, i, mark);
        widest = MAX(widest, label_width(bar, i));
    }
    return bar->style->vertical ? 2 * mark + widest : mark + bar->numbers.size * 1.3;
}

// "Title (unit, ×10⁻³)"; NULL when there is nothing to say.
static char *
title_text(const Bar *bar)
{
    g_autofree char *factor = limn_ticks_factor(&bar->ticks);
    const char *title = bar->style->title, *unit = bar->style->unit;
    gboolean has_unit = unit && unit[0];
    g_autofree char *extra = NULL;
    if (factor && has_unit)
        extra = g_strdup_printf("%s %s", factor, unit);
    else if (factor || has_unit)
        extra = g_strdup(factor ? factor : unit);
    if (title && title[0])
        return extra ? g_strdup_printf("%s (%s)", title, extra) : g_strdup(title);
    return g_steal_pointer(&extra);
}

static void
add_title(Bar *bar, double reach)
{
    g_autofree char *title = title_text(bar);
    LimnDisplayList *list = bar->list;
    LimnTextStyle font = bar->numbers;
    if (!title) {
        list->height = bar->style->vertical ? bar->length : bar->thickness + reach;
        list->width = bar->style->vertical ? bar->thickness + reach : bar->length;
        return;
    }
    if (!bar->style->vertical) {
        double y = bar->thickness + reach;
        font = limn_text_fit(title, &font, bar->length);
        double height = limn_text_add_paragraph(list, title, &font, 0, y, bar->length,
                                                LIMN_ANCHOR_MIDDLE, 0);
        list->width = bar->length;
        list->height = y + height;
        return;
    }
    list->width = bar->thickness + reach + font.size * 1.7;
    list->height = bar->length;
    double needed = limn_text_width(title, &font);
    if (needed > bar->length) {
        g_autoptr(GPtrArray) lines = limn_text_wrap(title, &font, bar->length, 1);
        g_free(title);
        title = g_strdup(((LimnTextLine *) lines->pdata[0])->text);
    }
    limn_display_list_add_text(list, title, &font,
                               bar->thickness + reach + font.size * 1.1, bar->length / 2,
                               LIMN_ANCHOR_MIDDLE, 90);
}

// ---- notes

static double
note_width(const Bar *bar)
{
    return bar->style->vertical ? MAX(bar->list->width, bar->numbers.size * 9)
                                : bar->length;
}

// A sentence, with a small picture of `indent` width left of it that the caller draws.
static void
add_note(Bar *bar, const char *text, double indent)
{
    LimnDisplayList *list = bar->list;
    double width = note_width(bar);
    double height = limn_text_add_paragraph(list, text, &bar->notes, indent, list->height,
                                            width - indent, LIMN_ANCHOR_START, 0);
    list->width = MAX(list->width, width);
    list->height += height;
}

static void
add_clip_note(Bar *bar, gboolean high)
{
    const LimnScale *scale = &bar->style->scale;
    gint64 n = high ? scale->n_above : scale->n_below;
    if (n == 0)
        return;
    double limit = high ? scale->max : scale->min;
    double extreme = high ? scale->data_max : scale->data_min;
    gboolean finite = high ? extreme > limit : extreme < limit;
    g_autofree char *limit_text = limn_number_display(limit, 3);
    g_autofree char *extreme_text =
        limn_number_display(finite ? extreme : (high ? INFINITY : -INFINITY), 4);
    g_autofree char *count = limn_number_display((double) n, 15);
    const char *format = high ? "%s %s above %s, up to %s" : "%s %s below %s, down to %s";
    g_autofree char *text = g_strdup_printf(format, count, n == 1 ? "value" : "values",
                                            limit_text, extreme_text);
    double s = bar->notes.size * 0.62;
    double top = bar->list->height + bar->notes.size * 0.36;
    LimnPath *path = limn_path_new();
    limn_path_move(path, high ? 0 : s, top);
    limn_path_line(path, high ? s : 0, top + s / 2);
    limn_path_line(path, high ? 0 : s, top + s);
    limn_path_close(path);
    LimnPathStyle style = {.has_fill = TRUE,
                           .fill = limn_color_from_rgb(bar->table[high ? 255 : 0]),
                           .has_stroke = TRUE,
                           .stroke = bar->theme->rule,
                           .width = 0.4,
                           .round = TRUE};
    limn_display_list_add_path(bar->list, path, &style);
    add_note(bar, text, bar->notes.size * 1.35);
}

void
limn_paint_missing_swatch(LimnDisplayList *list, const LimnBox *box)
{
    guint8 rgb[3];
    limn_colormap_nan(rgb);
    limn_display_list_fill_box(list, box, limn_color_from_rgb(rgb));
    LimnPath *clip = limn_path_new();
    limn_path_rectangle(clip, box);
    limn_display_list_begin_clip(list, clip);
    LimnPath *path = limn_path_new();
    double pitch = 2.4;
    for (double d = pitch / 2; d < box->width + box->height; d += pitch) {
        limn_path_move(path, box->x + d, box->y);
        limn_path_line(path, box->x + d - box->height, box->y + box->height);
    }
    LimnPathStyle style = {
        .has_stroke = TRUE, .stroke = {0.38, 0.38, 0.38, 1}, .width = 0.5};
    limn_display_list_add_path(list, path, &style);
    limn_display_list_end_clip(list);
}

static void
add_missing_note(Bar *bar)
{
    const LimnScale *scale = &bar->style->scale;
    if (scale->n_missing == 0)
        return;
    double size = bar->notes.size;
    LimnBox box = {0, bar->list->height + size * 0.18, size * 1.5, size * 0.95};
    limn_paint_missing_swatch(bar->list, &box);
    limn_display_list_stroke_box(bar->list, &box, bar->theme->rule, 0.4);
    g_autofree char *count = limn_number_display((double) scale->n_missing, 15);
    g_autofree char *text = g_strdup_printf("no value (%s %s)", count,
                                            scale->n_missing == 1 ? "cell" : "cells");
    add_note(bar, text, size * 2.05);
}

static void
add_constant_note(Bar *bar)
{
    const LimnScale *scale = &bar->style->scale;
    double size = bar->notes.size;
    int i = limn_colormap_index(scale->data_min, scale->min, scale->max);
    LimnBox box = {0, bar->list->height + size * 0.18, size * 1.5, size * 0.95};
    limn_display_list_fill_box(bar->list, &box, limn_color_from_rgb(bar->table[i]));
    limn_display_list_stroke_box(bar->list, &box, bar->theme->rule, 0.4);
    g_autofree char *value = limn_number_display(scale->data_min, 4);
    g_autofree char *text = g_strdup_printf("constant: %s everywhere", value);
    add_note(bar, text, size * 2.05);
}

static void
add_notes(Bar *bar)
{
    const LimnScale *scale = &bar->style->scale;
    if (scale->empty)
        add_note(bar, "no finite value", 0);
    if (scale->constant)
        add_constant_note(bar);
    add_clip_note(bar, FALSE);
    add_clip_note(bar, TRUE);
    add_missing_note(bar);
}

// ---- whole

static void
add_bar(Bar *bar)
{
    const LimnScale *scale = &bar->style->scale;
    double tip = bar->thickness * 0.95;
    bar->tip_low = scale->n_below > 0 ? tip : 0;
    bar->tip_high = scale->n_above > 0 ? tip : 0;
    choose_ticks(bar);
    limn_display_list_begin_group(bar->list, "colorbar");
    add_strip(bar);
    double reach = add_numbers(bar);
    add_title(bar, reach);
    limn_display_list_end_group(bar->list);
}

LimnDisplayList *
limn_colorbar_paint(const LimnColorbarStyle *style, double length)
{
    const LimnScale *scale = &style->scale;
    const char *colormap = style->colormap;
    if (!limn_colormap_find(colormap))
        colormap = limn_colormap_default(scale->is_signed);
    Bar bar = {
        .style = style,
        .theme = limn_theme_get(style->dark),
        .list = limn_display_list_new(),
        .table = limn_colormap_table(colormap),
        .length = MAX(length, 4 * style->font_size),
    };
    bar.thickness = style->thickness > 0 ? style->thickness : style->font_size * 0.95;
    bar.numbers = (LimnTextStyle){
        .family = style->font, .size = style->font_size, .color = bar.theme->ink};
    bar.notes = bar.numbers;
    bar.notes.color = bar.theme->muted;
    gboolean has_bar = scale->chosen || !(scale->empty || scale->constant);
    if (has_bar)
        add_bar(&bar);
    else
        bar.list->width = style->vertical ? 0 : bar.length;
    add_notes(&bar);
    return bar.list;
}

void
limn_colorbar_get_size(const LimnColorbarStyle *style, double length, double *width,
                       double *height)
{
    g_autoptr(LimnDisplayList) list = limn_colorbar_paint(style, length);
    *width = list->width;
    *height = list->height;
}

void
limn_colorbar_draw(cairo_t *cr, const LimnColorbarStyle *style, double x, double y,
                   double length)
{
    g_autoptr(LimnDisplayList) list = limn_colorbar_paint(style, length);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    limn_draw_list(cr, list, LIMN_DRAW_RASTER, FALSE);
    cairo_restore(cr);
}
