// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"

#include "engine/base/number.h"

#include <math.h>
#include <string.h>

// Three rules, text at the left, numbers at the right with the same decimals in a
// column. Columns that do not fit together wrap; rows beyond MAX_ROWS are said.

#define MAX_ROWS 60
#define MAX_COLUMNS 24

typedef struct {
    const LimnPainter *painter;
    LimnDisplayList *list;
    const LimnTable *table;
    guint n_columns, n_rows, n_shown;
    double x[MAX_COLUMNS], width[MAX_COLUMNS], least[MAX_COLUMNS];
    int decimals[MAX_COLUMNS];
    LimnTextStyle head, body;
    double gap;
} Table;

// Decimals that show four significant digits of the largest number; none for integers.
static int
column_decimals(const LimnColumn *column, guint n)
{
    double largest = 0;
    gboolean integral = TRUE;
    for (guint i = 0; i < MIN(n, column->numbers->len); i++) {
        double value = g_array_index(column->numbers, double, i);
        if (!isfinite(value))
            continue;
        largest = MAX(largest, fabs(value));
        integral &= value == floor(value);
    }
    if (integral || largest == 0)
        return 0;
    int magnitude = (int) floor(log10(largest) + 1e-9);
    return CLAMP(3 - magnitude, 0, 6);
}

static char *
cell_text(const Table *table, guint column_index, guint row)
{
    const LimnColumn *column = table->table->columns->pdata[column_index];
    if (!column->numeric) {
        const char *text =
            row < column->strings->len ? column->strings->pdata[row] : NULL;
        return g_strdup(text ? text : "\u2013");
    }
    double value =
        row < column->numbers->len ? g_array_index(column->numbers, double, row) : NAN;
    if (isnan(value))
        return g_strdup("\u2013");
    double smallest = pow(10, -table->decimals[column_index]);
    if (!isfinite(value) || fabs(value) >= 1e9 ||
        (value != 0 && fabs(value) < smallest / 2))
        return limn_number_display(value, 3);
    char buffer[LIMN_NUMBER_BUFFER];
    limn_number_format_fixed(buffer, value, table->decimals[column_index]);
    return buffer[0] == '-' ? g_strconcat("\u2212", buffer + 1, NULL) : g_strdup(buffer);
}

static char *
head_text(const Table *table, guint column_index)
{
    const LimnColumn *column = table->table->columns->pdata[column_index];
    if (column->unit && column->unit[0])
        return g_strdup_printf("%s (%s)", column->name, column->unit);
    return g_strdup(column->name);
}

static void
include_text(Table *table, guint c, const char *text, const LimnTextStyle *font)
{
    table->width[c] = MAX(table->width[c], limn_text_width(text, font) + 0.5);
    table->least[c] = MAX(table->least[c], limn_text_word_width(text, font) + 0.5);
}

// Width of each column on one line, and with a line for every word.
static void
measure_columns(Table *table)
{
    for (guint c = 0; c < table->n_columns; c++) {
        g_autofree char *head = head_text(table, c);
        table->width[c] = table->least[c] = 0;
        include_text(table, c, head, &table->head);
        for (guint row = 0; row < table->n_shown; row++) {
            g_autofree char *text = cell_text(table, c, row);
            include_text(table, c, text, &table->body);
        }
    }
}

static double
sum_of(const double *widths, guint n)
{
    double sum = 0;
    for (guint c = 0; c < n; c++)
        sum += widths[c];
    return sum;
}

// Columns give way in the measure in which they can; when words themselves do not fit,
// the type shrinks to 6 points, and a word that is wider than its share of the page
// breaks.
static void
fit_widths(Table *table, double width)
{
    guint n = table->n_columns;
    double room = width - table->gap * (n - 1);
    while (sum_of(table->least, n) > room && table->body.size > 6) {
        table->body.size = MAX(6, table->body.size - 0.5);
        table->head.size = table->body.size;
        table->gap = table->body.size * 1.1;
        room = width - table->gap * (n - 1);
        measure_columns(table);
    }
    for (guint c = 0; c < n && sum_of(table->least, n) > room; c++)
        table->least[c] = MIN(table->least[c], MAX(room * 0.5, 30));
    double least = sum_of(table->least, n), natural = sum_of(table->width, n);
    if (natural <= room)
        return;
    double share = natural > least ? CLAMP((room - least) / (natural - least), 0, 1) : 0;
    for (guint c = 0; c < n; c++)
        table->width[c] =
            table->least[c] + share * MAX(0, table->width[c] - table->least[c]);
}

// Columns stand at the left of the page at their own width.
static void
place_columns(Table *table)
{
    double x = 0;
    for (guint c = 0; c < table->n_columns; c++) {
        table->x[c] = x;
        x += table->width[c] + table->gap;
    }
    table->list->width = x - table->gap;
}

static double
add_cell(Table *table, const char *text, const LimnTextStyle *font, guint c, double y)
{
    const LimnColumn *column = table->table->columns->pdata[c];
    return limn_text_add_paragraph(
        table->list, text, font, table->x[c], y, table->width[c],
        column->numeric ? LIMN_ANCHOR_END : LIMN_ANCHOR_START, 0);
}

static void
add_rule(Table *table, double weight)
{
    limn_display_list_add_line(table->list, 0, table->list->height, table->list->width,
                               table->list->height, table->painter->theme->ink, weight);
}

static void
add_head(Table *table)
{
    double height = 0, space = table->body.size * 0.3;
    add_rule(table, 0.8);
    for (guint c = 0; c < table->n_columns; c++) {
        g_autofree char *text = head_text(table, c);
        height = MAX(height, add_cell(table, text, &table->head, c, space));
    }
    table->list->height += height + 2 * space;
    add_rule(table, 0.5);
    table->list->height += space;
}

static void
add_rows(Table *table)
{
    for (guint row = 0; row < table->n_shown; row++) {
        double height = 0;
        for (guint c = 0; c < table->n_columns; c++) {
            g_autofree char *text = cell_text(table, c, row);
            height =
                MAX(height, add_cell(table, text, &table->body, c, table->list->height));
        }
        table->list->height += height + table->body.size * 0.12;
    }
    table->list->height += table->body.size * 0.2;
    add_rule(table, 0.8);
}

static void
add_note(Table *table, double width)
{
    guint rows = table->n_rows - table->n_shown;
    guint columns = table->table->columns->len - table->n_columns;
    if (rows == 0 && columns == 0)
        return;
    g_autofree char *text = NULL;
    if (rows > 0 && columns > 0)
        text =
            g_strdup_printf("%u more rows and %u more columns not shown", rows, columns);
    else
        text = g_strdup_printf("%u more %s not shown", rows ? rows : columns,
                               rows ? "rows" : "columns");
    LimnTextStyle font = limn_painter_font(table->painter, LIMN_FONT_MUTED);
    double y = table->list->height + font.size * 0.4;
    table->list->height = y + limn_text_add_paragraph(table->list, text, &font, 0, y,
                                                      width, LIMN_ANCHOR_START, 0);
}

LimnDisplayList *
limn_paint_table(const LimnPainter *painter, const LimnPanel *panel, double width)
{
    Table table = {.painter = painter,
                   .list = limn_display_list_new(),
                   .table = panel->artifact->table,
                   .head = limn_painter_font(painter, LIMN_FONT_STRONG),
                   .body = limn_painter_font(painter, LIMN_FONT_BODY)};
    table.gap = table.body.size * 1.4;
    table.n_columns = MIN(table.table->columns->len, MAX_COLUMNS);
    table.n_rows = limn_table_n_rows(table.table);
    table.n_shown = MIN(table.n_rows, MAX_ROWS);
    table.list->width = width;
    if (table.n_columns == 0)
        return table.list;
    for (guint c = 0; c < table.n_columns; c++) {
        const LimnColumn *column = table.table->columns->pdata[c];
        if (column->numeric)
            table.decimals[c] = column_decimals(column, table.n_shown);
    }
    measure_columns(&table);
    fit_widths(&table, width);
    place_columns(&table);
    limn_display_list_begin_group(table.list, "table");
    add_head(&table);
    add_rows(&table);
    limn_display_list_end_group(table.list);
    add_note(&table, width);
    return table.list;
}
