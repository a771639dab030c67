// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"

#include <math.h>

// Lying bars: names at the left, values written at the ends, one colour per number
// column. Zero is always on the axis, because the length of a bar is what is compared.

#define MAX_BARS 60
#define MAX_GROUPS 8

typedef struct {
    const LimnPainter *painter;
    LimnDisplayList *list;
    const LimnColumn *names; // NULL: row number
    const LimnColumn *values[MAX_GROUPS];
    guint n_groups;
    guint n_rows, n_shown;
    double low, high; // of the axis, 0 included
    double name_width;
    double left, right, thickness;
    double width;
    LimnTextStyle font, small;
} Bars;

static void
find_columns(Bars *bars, const LimnTable *table)
{
    for (guint i = 0; i < table->columns->len; i++) {
        const LimnColumn *column = table->columns->pdata[i];
        if (!column->numeric && !bars->names)
            bars->names = column;
        else if (column->numeric && bars->n_groups < MAX_GROUPS)
            bars->values[bars->n_groups++] = column;
    }
    bars->n_rows = limn_table_n_rows(table);
    bars->n_shown = MIN(bars->n_rows, MAX_BARS);
}

static double
value_at(const Bars *bars, guint group, guint row)
{
    const LimnColumn *column = bars->values[group];
    return row < column->numbers->len ? g_array_index(column->numbers, double, row) : NAN;
}

static char *
name_of(const Bars *bars, guint row)
{
    const char *name = NULL;
    if (bars->names && row < bars->names->strings->len)
        name = bars->names->strings->pdata[row];
    if (name)
        return g_strdup(name);
    return bars->names ? g_strdup("\u2013") : g_strdup_printf("%u", row + 1);
}

static void
find_range(Bars *bars, const LimnArtifact *artifact)
{
    for (guint group = 0; group < bars->n_groups; group++) {
        for (guint row = 0; row < bars->n_shown; row++) {
            double value = value_at(bars, group, row);
            if (!isfinite(value))
                continue;
            bars->low = MIN(bars->low, value);
            bars->high = MAX(bars->high, value);
        }
    }
    if (bars->painter->options->has_range) {
        bars->low = MIN(0, bars->painter->options->range[0]);
        bars->high = MAX(0, bars->painter->options->range[1]);
    }
    if (bars->low == bars->high)
        bars->high = 1;
}

static double
widest_name(const Bars *bars)
{
    double widest = 0;
    for (guint row = 0; row < bars->n_shown; row++) {
        g_autofree char *name = name_of(bars, row);
        widest = MAX(widest, limn_text_width(name, &bars->font));
    }
    return widest;
}

static double
widest_value(const Bars *bars)
{
    double widest = 0;
    for (guint group = 0; group < bars->n_groups; group++) {
        for (guint row = 0; row < bars->n_shown; row++) {
            g_autofree char *text = limn_number_display(value_at(bars, group, row), 3);
            widest = MAX(widest, limn_text_width(text, &bars->small));
        }
    }
    return widest;
}

static double
position(const Bars *bars, double value)
{
    value = CLAMP(value, bars->low, bars->high);
    return bars->left +
           (value - bars->low) / (bars->high - bars->low) * (bars->right - bars->left);
}

static void
draw_value(Bars *bars, double value, double y)
{
    double gap = bars->small.size * 0.4;
    double baseline = y + bars->thickness / 2 + bars->small.size * 0.36;
    g_autofree char *text = limn_number_display(value, 3);
    if (isnan(value)) {
        limn_display_list_add_text(bars->list, "no value", &bars->small,
                                   position(bars, 0) + gap, baseline, LIMN_ANCHOR_START,
                                   0);
        return;
    }
    gboolean negative = value < 0;
    double at = position(bars, value);
    limn_display_list_add_text(bars->list, text, &bars->small,
                               negative ? at - gap : at + gap, baseline,
                               negative ? LIMN_ANCHOR_END : LIMN_ANCHOR_START, 0);
}

static void
draw_bar(Bars *bars, guint group, double value, double y)
{
    gboolean dark = bars->painter->options->dark;
    LimnColor color = limn_palette_color(group, dark);
    double zero = position(bars, 0);
    double end = position(bars, isfinite(value) ? value : 0);
    LimnBox box = {MIN(zero, end), y, fabs(end - zero), bars->thickness};
    if (isfinite(value) && box.width > 0) {
        limn_display_list_fill_box(bars->list, &box, color);
        LimnPath *clip = limn_path_new();
        limn_path_rectangle(clip, &box);
        limn_display_list_begin_clip(bars->list, clip);
        limn_paint_hatch(bars->list, limn_palette_hatch(group), &box, color);
        limn_display_list_end_clip(bars->list);
    }
    draw_value(bars, value, y);
}

static void
draw_row(Bars *bars, guint row)
{
    g_autofree char *name = name_of(bars, row);
    g_autoptr(GPtrArray) lines = limn_text_wrap(name, &bars->font, bars->name_width, 0);
    double text_height = lines->len * limn_text_line_height(&bars->font);
    double bars_height = bars->n_groups * bars->thickness;
    double height = MAX(text_height, bars_height) + bars->font.size * 0.45;
    double top = bars->list->height;
    limn_text_add_paragraph(bars->list, name, &bars->font, 0,
                            top + (height - text_height) / 2, bars->name_width,
                            LIMN_ANCHOR_END, 0);
    for (guint group = 0; group < bars->n_groups; group++)
        draw_bar(bars, group, value_at(bars, group, row),
                 top + (height - bars_height) / 2 + group * bars->thickness);
    bars->list->height += height;
}

static void
add_legend(Bars *bars)
{
    if (bars->n_groups < 2)
        return;
    LimnLegendEntry entries[MAX_GROUPS];
    for (guint i = 0; i < bars->n_groups; i++) {
        entries[i] = (LimnLegendEntry){
            .name = bars->values[i]->name,
            .color = limn_palette_color(i, bars->painter->options->dark),
            .hatch = limn_palette_hatch(i)};
    }
    g_autoptr(LimnDisplayList) legend =
        limn_paint_legend(bars->painter, entries, bars->n_groups, bars->width);
    limn_display_list_append(bars->list, legend, 0, 0);
    bars->list->height = legend->height + limn_painter_gap(bars->painter) * 0.5;
}

static void
add_footer(Bars *bars, const LimnArtifact *artifact)
{
    LimnTextStyle note = limn_painter_font(bars->painter, LIMN_FONT_MUTED);
    if (bars->n_shown < bars->n_rows) {
        g_autofree char *text =
            g_strdup_printf("%u more not shown", bars->n_rows - bars->n_shown);
        bars->list->height += limn_text_add_paragraph(
            bars->list, text, &note, bars->left, bars->list->height,
            bars->width - bars->left, LIMN_ANCHOR_START, 0);
    }
    if (bars->n_groups != 1)
        return;
    const LimnColumn *column = bars->values[0];
    const char *unit = column->unit ? column->unit : artifact->unit;
    g_autofree char *title = unit && unit[0]
                                 ? g_strdup_printf("%s (%s)", column->name, unit)
                                 : g_strdup(column->name);
    double y = bars->list->height + bars->font.size * 0.2;
    bars->list->height =
        y + limn_text_add_paragraph(bars->list, title, &note, bars->left, y,
                                    bars->width - bars->left, LIMN_ANCHOR_START, 0);
}

static void
choose_places(Bars *bars)
{
    double gap = bars->font.size * 0.5;
    bars->name_width = MIN(widest_name(bars), bars->width * 0.42);
    double values = widest_value(bars) + bars->small.size * 0.5;
    bars->left = bars->name_width + gap;
    bars->right = bars->width - values;
    bars->thickness = bars->small.size * (bars->n_groups > 1 ? 1.15 : 1.25);
    if (bars->low < 0) {
        // The numbers of negative bars stand at their left.
        bars->left += values;
        bars->right = MAX(bars->right, bars->left + 10);
    }
}

LimnDisplayList *
limn_paint_bars(const LimnPainter *painter, const LimnPanel *panel, double width)
{
    Bars bars = {.painter = painter,
                 .list = limn_display_list_new(),
                 .width = width,
                 .font = limn_painter_font(painter, LIMN_FONT_BODY),
                 .small = limn_painter_font(painter, LIMN_FONT_SMALL)};
    find_columns(&bars, panel->artifact->table);
    bars.list->width = width;
    if (bars.n_groups == 0)
        return bars.list;
    find_range(&bars, panel->artifact);
    choose_places(&bars);
    add_legend(&bars);
    double top = bars.list->height;
    limn_display_list_begin_group(bars.list, "bars");
    for (guint row = 0; row < bars.n_shown; row++)
        draw_row(&bars, row);
    double zero = position(&bars, 0);
    limn_display_list_add_line(bars.list, zero, top, zero, bars.list->height,
                               painter->theme->rule, 0.6);
    limn_display_list_end_group(bars.list);
    add_footer(&bars, panel->artifact);
    return bars.list;
}
