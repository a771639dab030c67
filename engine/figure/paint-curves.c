// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/axes.h"
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"

#include <math.h>
#include <string.h>

// The first column is x, every further number column a curve. Columns "NAME low" and
// "NAME high" (also "NAME:low", "NAME:high") are the band of the curve NAME. A first
// column of text counts its rows. Missing values interrupt a curve.

#define MAX_CURVES 24
#define MAX_MARKED_POINTS 30

typedef struct {
    const LimnColumn *values;
    const LimnColumn *low, *high; // band, may be NULL
} Curve;

typedef struct {
    const LimnPainter *painter;
    LimnDisplayList *list;
    const LimnTable *table;
    const LimnColumn *x; // NULL: row number
    Curve curves[MAX_CURVES];
    guint n_curves;
    LimnAxes axes;
    LimnAxisRange x_range, y_range;
} Plot;

static gboolean
is_band_of(const char *band, const char *name, const char *which)
{
    gsize length = strlen(name);
    return g_str_has_prefix(band, name) && (band[length] == ' ' || band[length] == ':') &&
           strcmp(band + length + 1, which) == 0;
}

static const LimnColumn *
find_band(const LimnTable *table, const char *name, const char *which)
{
    for (guint i = 0; i < table->columns->len; i++) {
        const LimnColumn *column = table->columns->pdata[i];
        if (column->numeric && is_band_of(column->name, name, which))
            return column;
    }
    return NULL;
}

static gboolean
is_any_band(const LimnTable *table, const LimnColumn *column)
{
    for (guint i = 0; i < table->columns->len; i++) {
        const LimnColumn *other = table->columns->pdata[i];
        if (other != column && (is_band_of(column->name, other->name, "low") ||
                                is_band_of(column->name, other->name, "high")))
            return TRUE;
    }
    return FALSE;
}

static void
find_curves(Plot *plot)
{
    GPtrArray *columns = plot->table->columns;
    const LimnColumn *first = columns->len > 0 ? columns->pdata[0] : NULL;
    if (first && first->numeric && columns->len > 1)
        plot->x = first;
    guint begin = plot->x || (first && !first->numeric) ? 1 : 0;
    for (guint i = begin; i < columns->len && plot->n_curves < MAX_CURVES; i++) {
        const LimnColumn *column = columns->pdata[i];
        if (!column->numeric || is_any_band(plot->table, column))
            continue;
        plot->curves[plot->n_curves++] =
            (Curve){column, find_band(plot->table, column->name, "low"),
                    find_band(plot->table, column->name, "high")};
    }
}

static double
number_at(const LimnColumn *column, guint row)
{
    return column && row < column->numbers->len
               ? g_array_index(column->numbers, double, row)
               : NAN;
}

static double
x_at(const Plot *plot, guint row)
{
    return plot->x ? number_at(plot->x, row) : row + 1.0;
}

static void
include(LimnAxisRange *range, double value)
{
    if (!isfinite(value))
        return;
    value = CLAMP(value, -1e300, 1e300);
    range->min = MIN(range->min, value);
    range->max = MAX(range->max, value);
}

static void
find_ranges(Plot *plot)
{
    guint n = limn_table_n_rows(plot->table);
    plot->x_range.min = plot->y_range.min = G_MAXDOUBLE;
    plot->x_range.max = plot->y_range.max = -G_MAXDOUBLE;
    plot->x_range.integers = TRUE;
    for (guint row = 0; row < n; row++) {
        double x = x_at(plot, row);
        include(&plot->x_range, x);
        plot->x_range.integers &= !isfinite(x) || x == floor(x);
        for (guint k = 0; k < plot->n_curves; k++) {
            include(&plot->y_range, number_at(plot->curves[k].values, row));
            include(&plot->y_range, number_at(plot->curves[k].low, row));
            include(&plot->y_range, number_at(plot->curves[k].high, row));
        }
    }
    if (plot->x_range.min > plot->x_range.max)
        plot->x_range.min = 0, plot->x_range.max = 1;
    if (plot->y_range.min > plot->y_range.max)
        plot->y_range.min = 0, plot->y_range.max = 1;
}

// Air above and below; zero stays the lower end when nothing is negative and the data
// come near it.
static void
pad_y_range(Plot *plot, const LimnArtifact *artifact)
{
    LimnAxisRange *y = &plot->y_range;
    if (artifact->has_range) {
        include(y, artifact->range[0]);
        include(y, artifact->range[1]);
    }
    if (plot->painter->options->has_range) {
        y->min = plot->painter->options->range[0];
        y->max = plot->painter->options->range[1];
        return;
    }
    double span = y->max - y->min;
    if (y->min >= 0 && y->min < span * 0.35)
        y->min = 0;
    else
        y->min -= span * 0.05;
    y->max += span * 0.05;
}

// ---- curves

// Points that fall into one narrow column of the page become its first, lowest, highest
// and last point: a curve of a million points looks the same and stays small.
#define COLUMN_WIDTH 0.2

typedef struct {
    LimnPath *path;
    gboolean down;   // the curve goes on
    gboolean filled; // the column has points
    double column;
    double first_x, first_y, last_x, last_y;
    double min_x, min_y, max_x, max_y;
} Thinner;

static void
put_point(Thinner *thinner, double x, double y)
{
    if (thinner->down)
        limn_path_line(thinner->path, x, y);
    else
        limn_path_move(thinner->path, x, y);
    thinner->down = TRUE;
}

static void
flush_column(Thinner *thinner)
{
    if (!thinner->filled)
        return;
    thinner->filled = FALSE;
    put_point(thinner, thinner->first_x, thinner->first_y);
    if (thinner->min_y < MIN(thinner->first_y, thinner->last_y))
        put_point(thinner, thinner->min_x, thinner->min_y);
    if (thinner->max_y > MAX(thinner->first_y, thinner->last_y))
        put_point(thinner, thinner->max_x, thinner->max_y);
    if (thinner->last_x != thinner->first_x || thinner->last_y != thinner->first_y)
        put_point(thinner, thinner->last_x, thinner->last_y);
}

static void
add_point(Thinner *thinner, double x, double y)
{
    double column = floor(x / COLUMN_WIDTH);
    if (thinner->filled && column != thinner->column)
        flush_column(thinner);
    if (!thinner->filled) {
        thinner->filled = TRUE;
        thinner->column = column;
        thinner->first_x = thinner->min_x = thinner->max_x = x;
        thinner->first_y = thinner->min_y = thinner->max_y = y;
    }
    if (y < thinner->min_y) {
        thinner->min_x = x;
        thinner->min_y = y;
    }
    if (y > thinner->max_y) {
        thinner->max_x = x;
        thinner->max_y = y;
    }
    thinner->last_x = x;
    thinner->last_y = y;
}

// A place far outside of the frame is as good as one still farther away.
static double
bound(double value)
{
    return CLAMP(value, -1e4, 1e4);
}

static LimnPath *
curve_path(const Plot *plot, const LimnColumn *column)
{
    Thinner thinner = {.path = limn_path_new()};
    guint n = limn_table_n_rows(plot->table);
    for (guint row = 0; row < n; row++) {
        double x = x_at(plot, row), y = number_at(column, row);
        if (isfinite(x) && isfinite(y)) {
            add_point(&thinner, bound(limn_axes_x(&plot->axes, x)),
                      bound(limn_axes_y(&plot->axes, y)));
            continue;
        }
        flush_column(&thinner);
        thinner.down = FALSE;
    }
    flush_column(&thinner);
    return thinner.path;
}

static void
draw_band(Plot *plot, const Curve *curve, LimnColor color)
{
    if (!curve->low || !curve->high)
        return;
    LimnPath *path = limn_path_new();
    guint n = limn_table_n_rows(plot->table);
    gboolean begun = FALSE;
    for (guint i = 0; i < 2 * n; i++) {
        guint row = i < n ? i : 2 * n - 1 - i;
        double x = x_at(plot, row);
        double low = number_at(curve->low, row), high = number_at(curve->high, row);
        if (!isfinite(x) || !isfinite(low) || !isfinite(high))
            continue;
        double px = bound(limn_axes_x(&plot->axes, x));
        double py = bound(limn_axes_y(&plot->axes, i < n ? high : low));
        if (begun)
            limn_path_line(path, px, py);
        else
            limn_path_move(path, px, py);
        begun = TRUE;
    }
    limn_path_close(path);
    color.alpha = 0.2;
    LimnPathStyle style = {.has_fill = TRUE, .fill = color};
    limn_display_list_add_path(plot->list, path, &style);
}

// A point without neighbours would be invisible, and few points tell curves apart.
static gboolean
has_markers(const Plot *plot)
{
    return limn_table_n_rows(plot->table) <= MAX_MARKED_POINTS;
}

static void
draw_markers(Plot *plot, guint k, LimnColor color)
{
    guint n = limn_table_n_rows(plot->table);
    for (guint row = 0; row < n; row++) {
        double x = x_at(plot, row), y = number_at(plot->curves[k].values, row);
        if (isfinite(x) && isfinite(y))
            limn_paint_marker(plot->list, k % LIMN_N_MARKERS, limn_axes_x(&plot->axes, x),
                              limn_axes_y(&plot->axes, y), 1.9, color);
    }
}

static void
draw_curve(Plot *plot, guint k)
{
    LimnColor color = limn_palette_color(k, plot->painter->options->dark);
    LimnPathStyle style = {
        .has_stroke = TRUE, .stroke = color, .width = 1.2, .round = TRUE};
    const double *dash = limn_palette_dash(k, &style.n_dash);
    for (int i = 0; i < style.n_dash; i++)
        style.dash[i] = dash[i] * style.width;
    if (style.n_dash > 0)
        style.round = FALSE;
    limn_display_list_begin_group(plot->list, "curve");
    limn_display_list_add_path(plot->list, curve_path(plot, plot->curves[k].values),
                               &style);
    if (has_markers(plot))
        draw_markers(plot, k, color);
    limn_display_list_end_group(plot->list);
}

static void
draw_curves(Plot *plot)
{
    LimnPath *clip = limn_path_new();
    LimnBox box = plot->axes.frame;
    box = (LimnBox){box.x - 2, box.y - 2, box.width + 4, box.height + 4};
    limn_path_rectangle(clip, &box);
    limn_display_list_begin_clip(plot->list, clip);
    for (guint k = 0; k < plot->n_curves; k++)
        draw_band(plot, &plot->curves[k],
                  limn_palette_color(k, plot->painter->options->dark));
    for (guint k = 0; k < plot->n_curves; k++)
        draw_curve(plot, k);
    limn_display_list_end_clip(plot->list);
}

// Names of the curves above the axes; a single one names the axis instead.
static void
add_legend(Plot *plot, double width)
{
    if (plot->n_curves < 2)
        return;
    LimnLegendEntry entries[MAX_CURVES];
    for (guint k = 0; k < plot->n_curves; k++) {
        entries[k] = (LimnLegendEntry){
            .name = plot->curves[k].values->name,
            .color = limn_palette_color(k, plot->painter->options->dark),
            .line = TRUE,
            .index = k,
            .marker = has_markers(plot)};
    }
    g_autoptr(LimnDisplayList) legend =
        limn_paint_legend(plot->painter, entries, plot->n_curves, width);
    limn_display_list_append(plot->list, legend, 0, plot->list->height);
    plot->list->height += legend->height + limn_painter_gap(plot->painter) * 0.5;
}

LimnDisplayList *
limn_paint_curves(const LimnPainter *painter, const LimnPanel *panel, double width)
{
    Plot plot = {.painter = painter,
                 .list = limn_display_list_new(),
                 .table = panel->artifact->table};
    find_curves(&plot);
    find_ranges(&plot);
    pad_y_range(&plot, panel->artifact);
    if (plot.x) {
        plot.x_range.title = plot.x->name;
        plot.x_range.unit = plot.x->unit;
    }
    plot.y_range.title = panel->artifact->title;
    plot.y_range.unit = panel->artifact->unit;
    if (plot.n_curves == 1) {
        plot.y_range.title = plot.curves[0].values->name;
        if (plot.curves[0].values->unit)
            plot.y_range.unit = plot.curves[0].values->unit;
    }
    add_legend(&plot, width);
    double height = MAX(width * 0.62, 90) * painter->shrink;
    limn_axes_paint(painter, plot.list, plot.list->height, width, height, &plot.x_range,
                    &plot.y_range, &plot.axes);
    draw_curves(&plot);
    plot.list->height += height;
    plot.list->width = width;
    return plot.list;
}
