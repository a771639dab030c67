// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/colormap.h"
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"

#include <math.h>

// Panels in rows and columns: headers above the columns, the names of rows at their left
// (turned when they fit, else above the row), letters in the corners, one colour bar and
// one legend of words for all when the scale is shared.

typedef struct {
    const LimnPainter *painter;
    const LimnGrid *grid;
    LimnDisplayList *list;
    LimnScale scale;
    LimnScale words; // max = largest weight
    double gap;
    double width;
    int rows, columns;
    double left; // of the first column
    double cell_width;
    double letter; // height of the line of letters
    gboolean labels_above;
    guint n_letters;
} Grid;

static LimnArtifact *
cell_artifact(const Grid *grid, int row, int column)
{
    guint i = (guint) (row * grid->columns + column);
    return i < grid->grid->artifacts->len ? grid->grid->artifacts->pdata[i] : NULL;
}

static int
count_labels(const char *const *labels)
{
    int n = 0;
    while (labels && labels[n])
        n++;
    return n;
}

static const char *
row_label(const Grid *grid, int row)
{
    const char *const *labels = grid->grid->row_labels;
    return row < count_labels(labels) ? labels[row] : NULL;
}

char *
limn_panel_letter(guint i)
{
    if (i < 26)
        return g_strdup_printf("%c", 'a' + i);
    return g_strdup_printf("%c%c", 'a' + (i / 26 - 1) % 26, 'a' + i % 26);
}

static LimnDisplayList *
paint_cell(Grid *grid, LimnArtifact *artifact)
{
    const LimnFigureOptions *options = grid->painter->options;
    gboolean shared = grid->grid->shared_scale;
    gint64 n = limn_panel_count(artifact);
    LimnPanel panel = {
        .artifact = artifact,
        .item = options->item >= 0 && options->item < n ? options->item : -1,
        .with_picture = options->layout != LIMN_LAYOUT_MAP,
        .with_label = !grid->grid->column_labels && !grid->grid->row_labels,
        .colormap = options->colormap,
    };
    gboolean has_map = artifact->kind == LIMN_ARTIFACT_HEATMAP;
    panel.with_legend = has_map ? !shared : artifact->kind != LIMN_ARTIFACT_TEXT;
    if (shared && has_map)
        panel.scale = &grid->scale;
    if (artifact->kind == LIMN_ARTIFACT_TEXT) {
        panel.scale = shared ? &grid->words : NULL;
        panel.with_legend = !shared;
    }
    return limn_paint_panel(grid->painter, &panel, grid->cell_width);
}

// ---- headers

// Of all headers, so that they are alike.
static LimnTextStyle
header_font(const Grid *grid)
{
    LimnTextStyle font = limn_painter_font(grid->painter, LIMN_FONT_STRONG);
    LimnTextStyle smallest = font;
    int n = MIN(count_labels(grid->grid->column_labels), grid->columns);
    for (int i = 0; i < n; i++) {
        LimnTextStyle fitted =
            limn_text_fit(grid->grid->column_labels[i], &font, grid->cell_width);
        if (fitted.size < smallest.size)
            smallest = fitted;
    }
    return smallest;
}

// Headers end at one line, however many lines each takes.
static void
add_headers(Grid *grid)
{
    const char *const *labels = grid->grid->column_labels;
    int n = MIN(count_labels(labels), grid->columns);
    LimnTextStyle font = header_font(grid);
    double pitch = limn_text_line_height(&font);
    guint most = 0;
    for (int i = 0; i < n; i++) {
        g_autoptr(GPtrArray) lines =
            limn_text_wrap(labels[i], &font, grid->cell_width, 0);
        most = MAX(most, lines->len);
    }
    for (int i = 0; i < n; i++) {
        g_autoptr(GPtrArray) lines =
            limn_text_wrap(labels[i], &font, grid->cell_width, 0);
        double x = grid->left + i * (grid->cell_width + grid->gap);
        limn_text_add_paragraph(grid->list, labels[i], &font, x,
                                (most - lines->len) * pitch, grid->cell_width,
                                LIMN_ANCHOR_MIDDLE, 0);
    }
    grid->list->height = most > 0 ? most * pitch + font.size * 0.25 : 0;
}

// Names of rows stand turned at the left when each fits its row.
static void
add_turned_label(Grid *grid, const char *label, double top, double height)
{
    LimnTextStyle font = limn_painter_font(grid->painter, LIMN_FONT_BODY);
    g_autoptr(GPtrArray) lines = limn_text_wrap(label, &font, height, 0);
    double pitch = limn_text_line_height(&font);
    double x = grid->left - grid->gap * 0.6 - (lines->len - 1) * pitch - font.size * 0.25;
    for (guint i = 0; i < lines->len; i++) {
        const LimnTextLine *line = lines->pdata[i];
        limn_display_list_add_text(grid->list, line->text, &font, x + i * pitch,
                                   top + height / 2, LIMN_ANCHOR_MIDDLE, 90);
    }
}

// Width that the turned names need for rows of `height`; 0 when one of them would take
// more than two lines: then all stand above their rows.
static double
row_label_width(Grid *grid, double height)
{
    LimnTextStyle font = limn_painter_font(grid->painter, LIMN_FONT_BODY);
    guint most = 0;
    for (int row = 0; row < grid->rows; row++) {
        const char *label = row_label(grid, row);
        if (!label || !label[0])
            continue;
        g_autoptr(GPtrArray) lines = limn_text_wrap(label, &font, height, 0);
        most = MAX(most, lines->len);
    }
    grid->labels_above = most > 2;
    if (most == 0 || grid->labels_above)
        return 0;
    return most * limn_text_line_height(&font) + grid->gap * 0.6;
}

static void
add_label_above(Grid *grid, const char *label)
{
    LimnTextStyle font = limn_painter_font(grid->painter, LIMN_FONT_BODY);
    grid->list->height +=
        limn_text_add_paragraph(grid->list, label, &font, 0, grid->list->height,
                                grid->width, LIMN_ANCHOR_START, 0);
}

// ---- rows

static double
picture_height(const Grid *grid, int row)
{
    double height = 0;
    for (int column = 0; column < grid->columns; column++) {
        LimnArtifact *artifact = cell_artifact(grid, row, column);
        if (!artifact)
            continue;
        double ratio = 0.75;
        LimnRect rect;
        LimnImage *picture = limn_panel_picture(artifact, 0, &rect);
        int rows = 1, columns = 1;
        if (artifact->kind == LIMN_ARTIFACT_HEATMAP && !picture)
            limn_artifact_map_size(artifact, &rows, &columns);
        if (picture)
            ratio = (double) picture->height / picture->width;
        else if (artifact->kind == LIMN_ARTIFACT_HEATMAP)
            ratio = (double) rows / MAX(columns, 1);
        height = MAX(height, CLAMP(ratio, 0.2, 4) * grid->cell_width);
    }
    return height * grid->painter->shrink;
}

static void
add_letter(Grid *grid, double x, double y)
{
    LimnTextStyle font = limn_painter_font(grid->painter, LIMN_FONT_LETTER);
    g_autofree char *letter = limn_panel_letter(grid->n_letters++);
    limn_display_list_add_text(grid->list, letter, &font, x, y + font.size * 0.9,
                               LIMN_ANCHOR_START, 0);
}

static void
add_row(Grid *grid, int row)
{
    const char *label = row_label(grid, row);
    gboolean has_label = label && label[0];
    if (has_label && grid->labels_above)
        add_label_above(grid, label);
    double top = grid->list->height + grid->letter;
    double height = 0;
    for (int column = 0; column < grid->columns; column++) {
        LimnArtifact *artifact = cell_artifact(grid, row, column);
        if (!artifact)
            continue;
        double x = grid->left + column * (grid->cell_width + grid->gap);
        if (grid->letter > 0)
            add_letter(grid, x, grid->list->height);
        g_autoptr(LimnDisplayList) cell = paint_cell(grid, artifact);
        limn_display_list_append(grid->list, cell, x, top);
        height = MAX(height, cell->height);
    }
    double shown = MIN(height, picture_height(grid, row));
    if (has_label && !grid->labels_above)
        add_turned_label(grid, label, top, shown > 0 ? shown : height);
    grid->list->height = top + height + grid->gap;
}

// ---- legends

static void
add_legends(Grid *grid)
{
    if (!grid->grid->shared_scale)
        return;
    GPtrArray *artifacts = grid->grid->artifacts;
    LimnArtifact *first_map = NULL;
    for (guint i = 0; i < artifacts->len && !first_map; i++) {
        LimnArtifact *artifact = artifacts->pdata[i];
        if (artifact && artifact->kind == LIMN_ARTIFACT_HEATMAP)
            first_map = artifact;
    }
    double width = grid->width - grid->left;
    if (first_map && grid->painter->options->show_colorbar) {
        g_autoptr(LimnDisplayList) bar =
            limn_paint_colorbar(grid->painter, first_map, &grid->scale,
                                grid->painter->options->colormap, width);
        limn_display_list_append(grid->list, bar, grid->left, grid->list->height);
        grid->list->height += bar->height;
        limn_paint_map_notes(grid->painter, grid->list, first_map, TRUE, grid->width);
        grid->list->height += grid->gap;
    }
    g_autoptr(LimnDisplayList) legend = limn_paint_words_legend(
        grid->painter, (LimnArtifact **) artifacts->pdata, artifacts->len, width);
    if (legend) {
        limn_display_list_append(grid->list, legend, grid->left, grid->list->height);
        grid->list->height += legend->height + grid->gap;
    }
}

static void
compute_scales(Grid *grid)
{
    GPtrArray *artifacts = grid->grid->artifacts;
    gboolean negative = FALSE, any = FALSE;
    for (guint i = 0; i < artifacts->len; i++) {
        LimnArtifact *artifact = artifacts->pdata[i];
        if (artifact && artifact->kind == LIMN_ARTIFACT_TEXT)
            limn_words_range(artifact, grid->painter->options->item, &grid->words.max,
                             &negative, &any);
    }
    // Of each panel the map that it shows.
    limn_panel_scale(grid->painter, (LimnArtifact **) artifacts->pdata, artifacts->len,
                     MAX(grid->painter->options->item, 0), &grid->scale);
}

static void
choose_columns(Grid *grid)
{
    guint n = grid->grid->artifacts->len;
    int n_columns = count_labels(grid->grid->column_labels);
    int n_rows = count_labels(grid->grid->row_labels);
    if (n_columns > 0)
        grid->columns = n_columns;
    else if (n_rows > 0)
        grid->columns = (int) ((n + n_rows - 1) / n_rows);
    else
        grid->columns = limn_painter_columns(grid->painter, n, grid->width);
    grid->columns = MAX(grid->columns, 1);
    grid->rows = (int) ((n + grid->columns - 1) / grid->columns);
}

static void
choose_widths(Grid *grid)
{
    // The width of the names depends on the height of the rows and that on the width
    // that is left: two rounds settle it.
    for (int round = 0; round < 2; round++) {
        grid->cell_width =
            (grid->width - grid->left + grid->gap) / grid->columns - grid->gap;
        double height = G_MAXDOUBLE;
        for (int row = 0; row < grid->rows; row++)
            height = MIN(height, picture_height(grid, row));
        grid->left = row_label_width(grid, MAX(height, 24));
        if (grid->labels_above)
            break;
    }
    grid->cell_width = (grid->width - grid->left + grid->gap) / grid->columns - grid->gap;
    grid->cell_width = MAX(grid->cell_width, 20);
}

LimnDisplayList *
limn_paint_grid(const LimnPainter *painter, const LimnGrid *what, double width)
{
    Grid grid = {.painter = painter,
                 .grid = what,
                 .list = limn_display_list_new(),
                 .gap = limn_painter_gap(painter),
                 .width = width};
    choose_columns(&grid);
    compute_scales(&grid);
    choose_widths(&grid);
    if (what->artifacts->len > 1)
        grid.letter = limn_painter_font(painter, LIMN_FONT_LETTER).size * 1.25;
    add_headers(&grid);
    for (int row = 0; row < grid.rows; row++)
        add_row(&grid, row);
    add_legends(&grid);
    grid.list->height -= grid.gap;
    grid.list->width =
        MAX(width, grid.left + grid.columns * (grid.cell_width + grid.gap) - grid.gap);
    return grid.list;
}
