// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/figure.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/figure/colormap.h"
#include "engine/figure/draw-cairo.h"
#include "engine/figure/figure-data.h"
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"
#include "engine/figure/write-pdf.h"
#include "engine/figure/write-png.h"
#include "engine/figure/write-svg.h"

#include <math.h>
#include <string.h>

#define MARGIN 2.0 // points around the content
#define MIN_WIDTH_MM 10
#define MAX_WIDTH_MM 2000

typedef struct {
    LimnDisplayList *list;
    double width, height;
} Page;

struct LimnFigure {
    GPtrArray *artifacts; // LimnArtifact or NULL
    gboolean grid;
    GStrv row_labels, column_labels;
    gboolean shared_scale;
    LimnFigureOptions options; // strings are owned
    char *colormap, *caption, *font;
    Page screen; // as asked for
    Page print;  // the same unless `dark`, which is for the screen only
};

void
limn_figure_options_init(LimnFigureOptions *options)
{
    memset(options, 0, sizeof *options);
    options->layout = LIMN_LAYOUT_AUTO;
    options->width_mm = 84;
    options->dpi = 300;
    options->opacity = 0.6;
    options->show_caption = TRUE;
    options->show_colorbar = TRUE;
    options->show_mask = TRUE;
    options->font = "DejaVu Sans";
    options->font_size = 8;
    options->item = -1;
}

// ---- validation

static gboolean
check_number(double value, double low, double high, const char *name, GError **error)
{
    if (value >= low && value <= high)
        return TRUE;
    char found[LIMN_NUMBER_BUFFER], least[LIMN_NUMBER_BUFFER], most[LIMN_NUMBER_BUFFER];
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "%s: %s is out of range (%s to %s is allowed)", name,
                limn_number_format(found, value), limn_number_format(least, low),
                limn_number_format(most, high));
    return FALSE;
}

static gboolean
check_colormap(const char *name, GError **error)
{
    if (!name || limn_colormap_find(name))
        return TRUE;
    gsize n;
    const LimnColormapInfo *infos = limn_colormap_list(&n);
    g_autoptr(GString) names = g_string_new(NULL);
    for (gsize i = 0; i < n; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", infos[i].name);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "colour map: '%s' is unknown (known: %s)", name, names->str);
    return FALSE;
}

static gboolean
check_options(const LimnFigureOptions *options, GError **error)
{
    if (!check_number(options->width_mm, MIN_WIDTH_MM, MAX_WIDTH_MM, "width in mm",
                      error) ||
        !check_number(options->max_height_mm, 0, MAX_WIDTH_MM, "height in mm", error) ||
        !check_number(options->dpi, 10, 4800, "dpi", error) ||
        !check_number(options->opacity, 0, 1, "opacity", error) ||
        !check_number(options->font_size, 1, 72, "font size", error) ||
        !check_colormap(options->colormap, error))
        return FALSE;
    if (options->has_range &&
        !(isfinite(options->range[0]) && isfinite(options->range[1]) &&
          options->range[0] < options->range[1])) {
        char first[LIMN_NUMBER_BUFFER], second[LIMN_NUMBER_BUFFER];
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "range: %s,%s is not a range (two finite numbers, the first smaller)",
                    limn_number_format(first, options->range[0]),
                    limn_number_format(second, options->range[1]));
        return FALSE;
    }
    return TRUE;
}

static const char *
layout_name(LimnFigureLayout layout)
{
    static const char *const names[] = {"auto", "overlay", "map",   "words", "stack",
                                        "grid", "bars",    "curve", "table"};
    return (guint) layout < G_N_ELEMENTS(names) ? names[layout] : "?";
}

static gboolean
layout_suits(LimnFigureLayout layout, LimnArtifactKind kind)
{
    switch (layout) {
    case LIMN_LAYOUT_AUTO:
    case LIMN_LAYOUT_GRID:
        return TRUE;
    case LIMN_LAYOUT_OVERLAY:
    case LIMN_LAYOUT_MAP:
    case LIMN_LAYOUT_STACK:
        return kind == LIMN_ARTIFACT_HEATMAP || kind == LIMN_ARTIFACT_LABELMAP ||
               kind == LIMN_ARTIFACT_PICTURES;
    case LIMN_LAYOUT_WORDS:
        return kind == LIMN_ARTIFACT_TEXT;
    case LIMN_LAYOUT_BARS:
    case LIMN_LAYOUT_CURVE:
    case LIMN_LAYOUT_TABLE:
        return kind == LIMN_ARTIFACT_SERIES || kind == LIMN_ARTIFACT_TABLE;
    }
    return FALSE;
}

static gboolean
check_artifact(const LimnArtifact *artifact, const LimnFigureOptions *options,
               gboolean in_grid, GError **error)
{
    const char *kind = limn_artifact_kind_name(artifact->kind);
    const char *name = artifact->name ? artifact->name : kind;
    if (artifact->kind == LIMN_ARTIFACT_GRAPH || artifact->kind == LIMN_ARTIFACT_MODEL ||
        artifact->kind == LIMN_ARTIFACT_ARRAY) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: there is no figure of this artifact (found a %s, expected a "
                    "heatmap, labelmap, pictures, series, table, text or an array of at "
                    "most four dimensions)",
                    name, kind);
        return FALSE;
    }
    if (!in_grid && !layout_suits(options->layout, artifact->kind)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: the layout '%s' does not suit a %s", name,
                    layout_name(options->layout), kind);
        return FALSE;
    }
    gint64 n = limn_panel_count(artifact);
    int height = 1, width = 1;
    if (artifact->kind == LIMN_ARTIFACT_HEATMAP)
        limn_artifact_map_size(artifact, &height, &width);
    if (n == 0 || height == 0 || width == 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: the %s artifact is empty", name, kind);
        return FALSE;
    }
    if (!in_grid && options->item >= n) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: there is no item %d (found %" G_GINT64_FORMAT
                    ", the first is 0)",
                    name, options->item, n);
        return FALSE;
    }
    return TRUE;
}

// ---- arrays are shown as the kind that they look like

static LimnArtifact *
series_of_array(const LimnArtifact *artifact)
{
    LimnTable *table = limn_table_new();
    LimnColumn *index = limn_table_add_column(table, "index", TRUE);
    LimnColumn *values = limn_table_add_column(table, artifact->name, TRUE);
    for (gint64 i = 0; i < artifact->array->length; i++) {
        limn_column_add_number(index, (double) i);
        limn_column_add_number(values, limn_array_get_double(artifact->array, i));
    }
    return limn_artifact_new_series(artifact->name, table);
}

// Returns: (transfer full) `artifact` itself when it is no array, or one of a shape that
// cannot be shown.
static LimnArtifact *
showable(LimnArtifact *artifact)
{
    if (artifact->kind != LIMN_ARTIFACT_ARRAY || !artifact->array ||
        artifact->array->rank > 4 || artifact->array->rank < 1)
        return limn_artifact_ref(artifact);
    g_autoptr(LimnArtifact) result = NULL;
    if (artifact->array->rank == 1) {
        result = series_of_array(artifact);
    } else {
        g_autoptr(LimnArray) field = limn_array_to_f32(artifact->array, NULL);
        if (!field)
            return limn_artifact_ref(artifact);
        result = limn_artifact_new_heatmap(artifact->name, field);
    }
    result->title = g_strdup(artifact->title);
    result->unit = g_strdup(artifact->unit);
    result->is_signed = artifact->is_signed;
    result->has_range = artifact->has_range;
    memcpy(result->range, artifact->range, sizeof result->range);
    // Labels of an array may be those of its rows or columns.
    gboolean per_map = artifact->labels->len == limn_panel_count(result);
    for (guint i = 0; per_map && i < artifact->labels->len; i++)
        limn_artifact_add_label(result, artifact->labels->pdata[i]);
    return g_steal_pointer(&result);
}

// ---- pages

// The label of a single map is shown unless the caption has it already.
static gboolean
needs_label(const LimnFigureOptions *options, const LimnArtifact *artifact, gint64 item)
{
    const char *label = limn_panel_label(artifact, item);
    if (!options->show_caption || !label)
        return FALSE;
    return !options->caption || !strstr(options->caption, label);
}

static LimnDisplayList *
paint_single(const LimnPainter *painter, LimnArtifact *artifact, double width)
{
    const LimnFigureOptions *options = painter->options;
    gboolean pictorial = artifact->kind == LIMN_ARTIFACT_HEATMAP ||
                         artifact->kind == LIMN_ARTIFACT_LABELMAP ||
                         artifact->kind == LIMN_ARTIFACT_PICTURES;
    if (pictorial && options->item < 0 && limn_panel_count(artifact) > 1)
        return limn_paint_stack(painter, artifact, width);
    gint64 item = pictorial ? MAX(options->item, 0) : options->item;
    LimnPanel panel = {
        .artifact = artifact,
        .item = item,
        .colormap = options->colormap,
        .with_picture = options->layout != LIMN_LAYOUT_MAP,
        .with_label = needs_label(options, artifact, item),
        .with_legend = TRUE,
    };
    return limn_paint_panel(painter, &panel, width);
}

static LimnDisplayList *
paint_content(const LimnFigure *figure, const LimnPainter *painter, double width)
{
    if (!figure->grid)
        return paint_single(painter, figure->artifacts->pdata[0], width);
    LimnGrid grid = {
        .artifacts = figure->artifacts,
        .row_labels = (const char *const *) figure->row_labels,
        .column_labels = (const char *const *) figure->column_labels,
        .shared_scale = figure->shared_scale,
    };
    return limn_paint_grid(painter, &grid, width);
}

static LimnDisplayList *
paint_with_caption(const LimnFigure *figure, const LimnPainter *painter, double width)
{
    LimnDisplayList *list = paint_content(figure, painter, width);
    const char *caption = painter->options->caption;
    if (!painter->options->show_caption || !caption || !caption[0])
        return list;
    LimnTextStyle font = limn_painter_font(painter, LIMN_FONT_BODY);
    double y = list->height + limn_painter_gap(painter);
    limn_display_list_begin_group(list, "caption");
    list->height =
        y + limn_text_add_paragraph(list, caption, &font, 0, y, MAX(width, list->width),
                                    LIMN_ANCHOR_START, 0);
    limn_display_list_end_group(list);
    return list;
}

// Pictures shrink until the page is no higher than asked for.
static LimnDisplayList *
paint_to_height(const LimnFigure *figure, LimnPainter *painter, double width)
{
    double allowed = painter->options->max_height_mm * 72 / 25.4 - 2 * MARGIN;
    LimnDisplayList *list = paint_with_caption(figure, painter, width);
    if (painter->options->max_height_mm <= 0 || list->height <= allowed)
        return list;
    double low = 0.1, high = 1;
    for (int step = 0; step < 8; step++) {
        painter->shrink = step == 7 ? low : (low + high) / 2;
        limn_display_list_free(list);
        list = paint_with_caption(figure, painter, width);
        if (list->height <= allowed)
            low = painter->shrink;
        else
            high = painter->shrink;
    }
    return list;
}

// The page is as wide as asked for and grows when something needs more.
static Page
build_page(const LimnFigure *figure, gboolean dark)
{
    LimnFigureOptions options = figure->options;
    options.dark = dark;
    LimnPainter painter = {
        .options = &options, .theme = limn_theme_get(dark), .shrink = 1};
    double width = options.width_mm * 72 / 25.4;
    g_autoptr(LimnDisplayList) content =
        paint_to_height(figure, &painter, width - 2 * MARGIN);
    // Half strokes may lie in the margin; the page grows only beyond it.
    double slack = MARGIN - 0.5, inner = width - 2 * MARGIN;
    double left = 0, top = 0, right = inner, bottom = content->height;
    if (content->has_ink) {
        left = MIN(0, content->left + slack);
        top = MIN(0, content->top + slack);
        right = MAX(right, content->right - slack);
        bottom = MAX(bottom, content->bottom - slack);
    }
    Page page = {
        .width = right - left + 2 * MARGIN,
        .height = bottom - top + 2 * MARGIN,
        .list = limn_display_list_new(),
    };
    LimnBox paper = {0, 0, page.width, page.height};
    limn_display_list_fill_box(page.list, &paper, painter.theme->page);
    limn_display_list_append(page.list, content, MARGIN - left, MARGIN - top);
    return page;
}

// ---- life

static LimnFigure *
create(const LimnFigureOptions *options)
{
    LimnFigure *figure = g_new0(LimnFigure, 1);
    figure->artifacts =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_artifact_unref);
    figure->options = *options;
    figure->options.font_size = MAX(6, options->font_size);
    figure->options.colormap = figure->colormap = g_strdup(options->colormap);
    figure->options.caption = figure->caption = g_strdup(options->caption);
    figure->options.font = figure->font =
        g_strdup(options->font && options->font[0] ? options->font : "DejaVu Sans");
    return figure;
}

static GStrv
dup_labels(const char *const *labels)
{
    if (!labels)
        return NULL;
    GStrvBuilder *builder = g_strv_builder_new();
    for (; *labels; labels++)
        g_strv_builder_add(builder, *labels);
    GStrv copy = g_strv_builder_end(builder);
    g_strv_builder_unref(builder);
    return copy;
}

static gboolean
add_artifact(LimnFigure *figure, LimnArtifact *artifact, GError **error)
{
    if (!artifact) {
        g_ptr_array_add(figure->artifacts, NULL);
        return TRUE;
    }
    LimnArtifact *shown = showable(artifact);
    g_ptr_array_add(figure->artifacts, shown);
    return check_artifact(shown, &figure->options, figure->grid, error);
}

static void
build(LimnFigure *figure)
{
    figure->screen = build_page(figure, figure->options.dark);
    if (figure->options.dark)
        figure->print = build_page(figure, FALSE);
    else
        figure->print = figure->screen;
}

LimnFigure *
limn_figure_new(LimnArtifact *artifact, const LimnFigureOptions *options, GError **error)
{
    g_return_val_if_fail(artifact != NULL && options != NULL, NULL);
    if (!check_options(options, error))
        return NULL;
    g_autoptr(LimnFigure) figure = create(options);
    if (!add_artifact(figure, artifact, error))
        return NULL;
    build(figure);
    return g_steal_pointer(&figure);
}

LimnFigure *
limn_figure_new_grid(GPtrArray *artifacts, const char *const *row_labels,
                     const char *const *column_labels, gboolean shared_scale,
                     const LimnFigureOptions *options, GError **error)
{
    g_return_val_if_fail(artifacts != NULL && options != NULL, NULL);
    if (!check_options(options, error))
        return NULL;
    g_autoptr(LimnFigure) figure = create(options);
    figure->grid = TRUE;
    figure->shared_scale = shared_scale;
    figure->row_labels = dup_labels(row_labels);
    figure->column_labels = dup_labels(column_labels);
    gboolean any = FALSE;
    for (guint i = 0; i < artifacts->len; i++) {
        any |= artifacts->pdata[i] != NULL;
        if (!add_artifact(figure, artifacts->pdata[i], error))
            return NULL;
    }
    if (!any) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "the figure has no panel (found 0 artifacts, expected at least 1)");
        return NULL;
    }
    build(figure);
    return g_steal_pointer(&figure);
}

void
limn_figure_free(LimnFigure *figure)
{
    if (!figure)
        return;
    if (figure->print.list != figure->screen.list)
        limn_display_list_free(figure->print.list);
    limn_display_list_free(figure->screen.list);
    g_ptr_array_unref(figure->artifacts);
    g_strfreev(figure->row_labels);
    g_strfreev(figure->column_labels);
    g_free(figure->colormap);
    g_free(figure->caption);
    g_free(figure->font);
    g_free(figure);
}

// ---- output

void
limn_figure_get_size(LimnFigure *figure, double *width_pt, double *height_pt)
{
    *width_pt = figure->screen.width;
    *height_pt = figure->screen.height;
}

void
limn_figure_draw(LimnFigure *figure, cairo_t *cr)
{
    limn_draw_list(cr, figure->screen.list, LIMN_DRAW_RASTER,
                   figure->options.text_as_outlines);
}

// Returns: (transfer full)
static char *
document_title(const LimnFigure *figure)
{
    if (figure->caption && figure->caption[0])
        return limn_text_make_drawable(figure->caption);
    for (guint i = 0; i < figure->artifacts->len; i++) {
        const LimnArtifact *artifact = figure->artifacts->pdata[i];
        if (artifact)
            return limn_text_make_drawable(artifact->title ? artifact->title
                                                           : artifact->name);
    }
    return NULL;
}

GBytes *
limn_figure_encode(LimnFigure *figure, LimnFigureFormat format, GError **error)
{
    const Page *page = &figure->print;
    gboolean outlines = figure->options.text_as_outlines;
    LimnColor paper = limn_theme_get(FALSE)->page;
    g_autofree char *title = document_title(figure);
    switch (format) {
    case LIMN_FIGURE_PDF:
        return limn_write_pdf(page->list, page->width, page->height, title, outlines,
                              error);
    case LIMN_FIGURE_SVG:
        return limn_write_svg(page->list, page->width, page->height, title, outlines,
                              error);
    case LIMN_FIGURE_PNG:
        return limn_write_png(page->list, page->width, page->height, paper,
                              figure->options.dpi, outlines, error);
    }
    g_return_val_if_reached(NULL);
}

gboolean
limn_figure_save(LimnFigure *figure, const char *path, GError **error)
{
    static const char *const extensions[] = {".pdf", ".svg", ".png"};
    const char *dot = strrchr(path, '.');
    for (guint i = 0; dot && i < G_N_ELEMENTS(extensions); i++) {
        if (g_ascii_strcasecmp(dot, extensions[i]) != 0)
            continue;
        g_autoptr(GBytes) bytes = limn_figure_encode(figure, (LimnFigureFormat) i, error);
        if (!bytes)
            return FALSE;
        gsize size;
        const void *data = g_bytes_get_data(bytes, &size);
        return limn_file_write(path, data, size, error);
    }
    return limn_error_set_file(
        error, LIMN_ERROR_ARGUMENT, path,
        "the format of a figure follows from the file's name (found '%s', expected .pdf, "
        ".svg or .png)",
        dot ? dot : "no extension");
}

static char *
stem_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot != name ? g_strndup(path, dot - path) : g_strdup(path);
}

gboolean
limn_figure_save_data(LimnFigure *figure, const char *path, GError **error)
{
    g_autofree char *stem = stem_of(path);
    guint letter = 0;
    for (guint i = 0; i < figure->artifacts->len; i++) {
        LimnArtifact *artifact = figure->artifacts->pdata[i];
        if (!artifact)
            continue;
        g_autofree char *name = limn_panel_letter(letter++);
        g_autofree char *own = figure->grid && figure->artifacts->len > 1
                                   ? g_strdup_printf("%s-%s", stem, name)
                                   : g_strdup(stem);
        gint64 n = limn_panel_count(artifact);
        gint64 item = figure->options.item < n ? figure->options.item : -1;
        if (!limn_figure_data_write(artifact, item, own, error))
            return FALSE;
    }
    return TRUE;
}
