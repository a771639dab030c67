// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/paint.h"

#include "engine/figure/colormap.h"
#include "engine/figure/legend.h"
#include "engine/figure/text-layout.h"

#include <math.h>
#include <string.h>

#define MAX_MASK_SIDE 1024
#define MAX_PICTURE_DPI 350
#define MAX_PICTURE_SIDE 16000
#define MIN_PANEL_WIDTH 60.0
#define MAX_BAR_LENGTH 260.0 // a longer bar tells no more

LimnTextStyle
limn_painter_font(const LimnPainter *painter, LimnFontRole role)
{
    double size = painter->options->font_size;
    LimnTextStyle font = {
        .family = painter->options->font,
        .size = size,
        .color = painter->theme->ink,
    };
    switch (role) {
    case LIMN_FONT_BODY:
        break;
    case LIMN_FONT_STRONG:
        font.bold = TRUE;
        break;
    case LIMN_FONT_SMALL:
        font.size = MAX(6, size - 1);
        break;
    case LIMN_FONT_MUTED:
        font.size = MAX(6, size - 1);
        font.color = painter->theme->muted;
        break;
    case LIMN_FONT_LETTER:
        font.size = size + 1;
        font.bold = TRUE;
        break;
    }
    return font;
}

double
limn_painter_gap(const LimnPainter *painter)
{
    return painter->options->font_size * 0.7;
}

int
limn_painter_columns(const LimnPainter *painter, gint64 n, double width)
{
    if (painter->options->columns > 0)
        return (int) MIN(painter->options->columns, MAX(n, 1));
    double gap = limn_painter_gap(painter);
    gint64 most = (gint64) MAX(1, floor((width + gap) / (MIN_PANEL_WIDTH + gap)));
    gint64 wanted = n <= 3 ? n : (gint64) ceil(sqrt((double) n));
    return (int) CLAMP(wanted, 1, most);
}

LimnDisplayList *
limn_paint_panel(const LimnPainter *painter, const LimnPanel *panel, double width)
{
    LimnFigureLayout layout = painter->options->layout;
    switch (panel->artifact->kind) {
    case LIMN_ARTIFACT_HEATMAP:
        return limn_paint_heatmap(painter, panel, width);
    case LIMN_ARTIFACT_LABELMAP:
        return limn_paint_labelmap(painter, panel, width);
    case LIMN_ARTIFACT_PICTURES:
        return limn_paint_picture(painter, panel, width);
    case LIMN_ARTIFACT_TEXT:
        return limn_paint_words(painter, panel, width);
    case LIMN_ARTIFACT_SERIES:
        if (layout == LIMN_LAYOUT_BARS)
            return limn_paint_bars(painter, panel, width);
        if (layout == LIMN_LAYOUT_TABLE)
            return limn_paint_table(painter, panel, width);
        return limn_paint_curves(painter, panel, width);
    default:
        if (layout == LIMN_LAYOUT_BARS)
            return limn_paint_bars(painter, panel, width);
        if (layout == LIMN_LAYOUT_CURVE)
            return limn_paint_curves(painter, panel, width);
        return limn_paint_table(painter, panel, width);
    }
}

gint64
limn_panel_count(const LimnArtifact *artifact)
{
    switch (artifact->kind) {
    case LIMN_ARTIFACT_HEATMAP:
        return limn_artifact_n_maps(artifact);
    case LIMN_ARTIFACT_TEXT:
        return artifact->texts->len;
    case LIMN_ARTIFACT_PICTURES:
    case LIMN_ARTIFACT_LABELMAP:
        if (artifact->pictures && artifact->pictures->len > 0)
            return artifact->pictures->len;
        // A mask alone is a label map, but no picture.
        if (artifact->picture)
            return 1;
        return artifact->mask && artifact->kind == LIMN_ARTIFACT_LABELMAP ? 1 : 0;
    default:
        return 1;
    }
}

const char *
limn_panel_label(const LimnArtifact *artifact, gint64 item)
{
    guint n = artifact->labels->len;
    if (n == 0 || item < 0)
        return NULL;
    // [B,T,..] maps have one label per sentence, repeated for every picture.
    const char *label = artifact->labels->pdata[item % n];
    return label && label[0] ? label : NULL;
}

void
limn_panel_scale(const LimnPainter *painter, LimnArtifact *const *artifacts, guint n,
                 gint64 item, LimnScale *scale)
{
    const LimnFigureOptions *options = painter->options;
    LimnScaleRule rule = {.percentile = options->percentile};
    g_autofree const float **arrays = g_new0(const float *, n + 1);
    g_autofree gsize *lengths = g_new0(gsize, n + 1);
    guint n_arrays = 0;
    gboolean all_have_range = TRUE;
    double low = 0, high = 0;
    for (guint i = 0; i < n; i++) {
        LimnArtifact *artifact = artifacts[i];
        if (!artifact || artifact->kind != LIMN_ARTIFACT_HEATMAP)
            continue;
        int height, width;
        limn_artifact_map_size(artifact, &height, &width);
        gint64 maps = limn_artifact_n_maps(artifact);
        if (maps == 0)
            continue;
        arrays[n_arrays] = limn_artifact_get_map(artifact, MAX(item, 0) % maps);
        lengths[n_arrays] = (gsize) height * width;
        if (item < 0) {
            arrays[n_arrays] = limn_artifact_get_map(artifact, 0);
            lengths[n_arrays] *= (gsize) maps;
        }
        rule.is_signed |= artifact->is_signed;
        all_have_range &= artifact->has_range;
        low = n_arrays == 0 ? artifact->range[0] : MIN(low, artifact->range[0]);
        high = n_arrays == 0 ? artifact->range[1] : MAX(high, artifact->range[1]);
        n_arrays++;
    }
    if (options->has_range) {
        rule.has_range = TRUE;
        rule.range[0] = options->range[0];
        rule.range[1] = options->range[1];
    } else if (n_arrays > 0 && all_have_range && !options->percentile && low < high) {
        rule.has_range = TRUE;
        rule.range[0] = rule.is_signed ? -MAX(fabs(low), fabs(high)) : low;
        rule.range[1] = rule.is_signed ? MAX(fabs(low), fabs(high)) : high;
    }
    limn_scale_compute(scale, &rule, arrays, lengths, n_arrays);
}

LimnDisplayList *
limn_paint_colorbar(const LimnPainter *painter, const LimnArtifact *artifact,
                    const LimnScale *scale, const char *colormap, double width)
{
    LimnColorbarStyle style;
    limn_colorbar_style_init(&style);
    style.font = painter->options->font;
    style.font_size = limn_painter_font(painter, LIMN_FONT_SMALL).size;
    style.dark = painter->options->dark;
    style.colormap = colormap;
    style.title = artifact ? artifact->title : NULL;
    style.unit = artifact ? artifact->unit : NULL;
    limn_colorbar_style_set_scale(&style, scale);
    double length = MIN(width, MAX_BAR_LENGTH);
    g_autoptr(LimnDisplayList) bar = limn_colorbar_paint(&style, length);
    LimnDisplayList *list = limn_display_list_new();
    limn_display_list_append(list, bar, (width - length) / 2, 0);
    list->width = width;
    list->height = bar->height;
    return list;
}

// ---- pictures

// Straight alpha on white.
static GBytes *
flatten(const LimnImage *rgba)
{
    gsize n = (gsize) rgba->width * rgba->height;
    guint8 *rgb = g_try_malloc(n * 3);
    if (!rgb)
        return NULL;
    const guint8 *in = rgba->data;
    for (gsize i = 0; i < n; i++) {
        guint alpha = in[4 * i + 3];
        for (int c = 0; c < 3; c++)
            rgb[3 * i + c] =
                (guint8) ((in[4 * i + c] * alpha + 255 * (255 - alpha) + 127) / 255);
    }
    return g_bytes_new_take(rgb, n * 3);
}

static LimnImage *
image_from_rgb(GBytes *rgb, int width, int height)
{
    LimnImage *image =
        limn_image_new(width, height, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, NULL);
    if (image)
        memcpy(image->data, g_bytes_get_data(rgb, NULL), g_bytes_get_size(rgb));
    return image;
}

GBytes *
limn_picture_pixels(LimnImage *image, double width_pt, int *width, int *height)
{
    g_autoptr(LimnImage) rgba = limn_image_to_rgba8(image, LIMN_RANGE_TYPE, NULL);
    g_autoptr(GBytes) rgb = rgba ? flatten(rgba) : NULL;
    if (!rgb)
        return NULL;
    double finest = ceil(MAX(width_pt, 1) * MAX_PICTURE_DPI / 72);
    double shrink = MIN(1, finest / image->width);
    *width = MAX(1, (int) (image->width * shrink + 0.5));
    *height = (int) CLAMP(image->height * shrink + 0.5, 1, MAX_PICTURE_SIDE);
    if (*width == image->width && *height == image->height)
        return g_steal_pointer(&rgb);
    g_autoptr(LimnImage) full = image_from_rgb(rgb, image->width, image->height);
    g_autoptr(LimnImage) small =
        full ? limn_resize_bicubic(full, *width, *height, NULL, NULL) : NULL;
    return small ? g_bytes_new(small->data, (gsize) *width * *height * 3) : NULL;
}

LimnImage *
limn_panel_picture(const LimnArtifact *artifact, gint64 item, LimnRect *rect)
{
    *rect = artifact->rect;
    guint n = artifact->pictures ? artifact->pictures->len : 0;
    if (n == 0 || artifact->kind == LIMN_ARTIFACT_LABELMAP)
        return artifact->picture;
    // Consecutive maps share a picture: [B,T,..] has one per B.
    gint64 share = MAX(1, limn_panel_count(artifact) / n);
    guint i = (guint) MIN(MAX(item, 0) / share, n - 1);
    if (artifact->rects && i < artifact->rects->len)
        *rect = g_array_index(artifact->rects, LimnRect, i);
    return artifact->pictures->pdata[i];
}

guint32 *
limn_mask_labels(LimnImage *mask, int *width, int *height)
{
    int side = MAX(mask->width, mask->height);
    double step = MAX(1.0, (double) side / MAX_MASK_SIDE);
    *width = MAX(1, (int) (mask->width / step));
    *height = MAX(1, (int) (mask->height / step));
    guint32 *labels = g_new(guint32, (gsize) *width * *height);
    for (int y = 0; y < *height; y++) {
        int from_y = MIN(mask->height - 1, (int) ((y + 0.5) * mask->height / *height));
        for (int x = 0; x < *width; x++) {
            int from_x = MIN(mask->width - 1, (int) ((x + 0.5) * mask->width / *width));
            double value = limn_image_get_sample(mask, from_x, from_y, 0);
            labels[(gsize) y * *width + x] =
                value > 0 && value < 4294967296.0 ? (guint32) value : 0;
        }
    }
    return labels;
}

// ---- hatches and markers

static LimnPath *
hatch_lines(LimnHatch hatch, const LimnBox *box)
{
    LimnPath *path = limn_path_new();
    double pitch = 4;
    double left = box->x, top = box->y;
    double right = box->x + box->width, bottom = box->y + box->height;
    gboolean level = hatch == LIMN_HATCH_LEVEL || hatch == LIMN_HATCH_GRID;
    gboolean upright = hatch == LIMN_HATCH_UPRIGHT || hatch == LIMN_HATCH_GRID;
    gboolean rising = hatch == LIMN_HATCH_RISING || hatch == LIMN_HATCH_CROSS;
    gboolean falling = hatch == LIMN_HATCH_FALLING || hatch == LIMN_HATCH_CROSS;
    double slant = pitch * G_SQRT2;
    for (double y = floor(top / pitch) * pitch; level && y < bottom; y += pitch) {
        limn_path_move(path, left, y + pitch / 2);
        limn_path_line(path, right, y + pitch / 2);
    }
    for (double x = floor(left / pitch) * pitch; upright && x < right; x += pitch) {
        limn_path_move(path, x + pitch / 2, top);
        limn_path_line(path, x + pitch / 2, bottom);
    }
    double h = box->height;
    // Lines x + y = d and x - y = d.
    for (double d = floor((left + top) / slant) * slant; rising && d < right + bottom;
         d += slant) {
        limn_path_move(path, d - top, top);
        limn_path_line(path, d - top - h, bottom);
    }
    for (double d = floor((left - bottom) / slant) * slant; falling && d < right - top;
         d += slant) {
        limn_path_move(path, d + top, top);
        limn_path_line(path, d + top + h, bottom);
    }
    return path;
}

static LimnPath *
hatch_dots(const LimnBox *box)
{
    LimnPath *path = limn_path_new();
    double pitch = 4;
    for (double y = floor(box->y / pitch) * pitch; y < box->y + box->height; y += pitch)
        for (double x = floor(box->x / pitch) * pitch; x < box->x + box->width;
             x += pitch)
            limn_path_circle(path, x + pitch / 2, y + pitch / 2, 0.62);
    return path;
}

void
limn_paint_hatch(LimnDisplayList *list, LimnHatch hatch, const LimnBox *box,
                 LimnColor fill)
{
    if (hatch == LIMN_HATCH_NONE)
        return;
    LimnColor color = limn_color_readable_on(fill);
    color.alpha = 0.55;
    LimnPathStyle style = {.has_stroke = TRUE, .stroke = color, .width = 0.55};
    if (hatch == LIMN_HATCH_DOTS)
        style = (LimnPathStyle){.has_fill = TRUE, .fill = color};
    LimnPath *path = hatch == LIMN_HATCH_DOTS ? hatch_dots(box) : hatch_lines(hatch, box);
    limn_display_list_add_path(list, path, &style);
}

static void
add_polygon(LimnPath *path, double x, double y, double radius, int n, double turn)
{
    for (int i = 0; i < n; i++) {
        double angle = turn + 2 * G_PI * i / n;
        double px = x + radius * cos(angle), py = y + radius * sin(angle);
        if (i == 0)
            limn_path_move(path, px, py);
        else
            limn_path_line(path, px, py);
    }
    limn_path_close(path);
}

void
limn_paint_marker(LimnDisplayList *list, LimnMarker marker, double x, double y,
                  double radius, LimnColor color)
{
    LimnPath *path = limn_path_new();
    LimnPathStyle style = {.has_fill = TRUE, .fill = color};
    double r = radius;
    switch (marker) {
    case LIMN_MARKER_CIRCLE:
        limn_path_circle(path, x, y, r);
        break;
    case LIMN_MARKER_SQUARE:
        add_polygon(path, x, y, r * 1.25, 4, G_PI / 4);
        break;
    case LIMN_MARKER_TRIANGLE:
        add_polygon(path, x, y, r * 1.3, 3, -G_PI / 2);
        break;
    case LIMN_MARKER_DIAMOND:
        add_polygon(path, x, y, r * 1.3, 4, 0);
        break;
    default: {
        double d = marker == LIMN_MARKER_CROSS ? r * 0.9 : r * 1.2;
        gboolean cross = marker == LIMN_MARKER_CROSS;
        limn_path_move(path, x - d, cross ? y - d : y);
        limn_path_line(path, x + d, cross ? y + d : y);
        limn_path_move(path, cross ? x - d : x, y + d);
        limn_path_line(path, cross ? x + d : x, y - d);
        style = (LimnPathStyle){.has_stroke = TRUE, .stroke = color, .width = r * 0.6};
        break;
    }
    }
    limn_display_list_add_path(list, path, &style);
}

// ---- legends

static void
paint_entry(const LimnPainter *painter, LimnDisplayList *list,
            const LimnLegendEntry *entry, double x, double y, double size)
{
    LimnBox box = {x, y + size * 0.14, size * 1.7, size};
    double middle = box.y + box.height / 2;
    if (entry->line || entry->outline) {
        LimnPathStyle style = {.has_stroke = TRUE, .stroke = entry->color, .width = 1.2};
        const double *dash = limn_palette_dash(entry->index, &style.n_dash);
        for (int i = 0; i < style.n_dash; i++)
            style.dash[i] = dash[i] * style.width;
        LimnPath *path = limn_path_new();
        limn_path_move(path, x, middle);
        limn_path_line(path, x + box.width + (entry->line ? size * 0.5 : 0), middle);
        limn_display_list_add_path(list, path, &style);
        if (entry->marker)
            limn_paint_marker(list, entry->index % LIMN_N_MARKERS, x + size * 1.1, middle,
                              1.9, entry->color);
        return;
    }
    limn_display_list_fill_box(list, &box, entry->color);
    LimnPath *clip = limn_path_new();
    limn_path_rectangle(clip, &box);
    limn_display_list_begin_clip(list, clip);
    limn_paint_hatch(list, entry->hatch, &box, entry->color);
    limn_display_list_end_clip(list);
    limn_display_list_stroke_box(list, &box, painter->theme->rule, 0.4);
}

typedef struct {
    const LimnPainter *painter;
    const LimnLegendEntry *entries;
    gsize n;
    LimnTextStyle font;
    double indent, gap;
    int rows, columns;
    double *widths; // of the columns
} Legend;

static gsize
entry_at(const Legend *legend, int row, int column)
{
    return legend->rows == 1 ? (gsize) column : (gsize) column * legend->rows + row;
}

// Fills the widths for that many columns; returns their sum with the gaps.
static double
measure_columns(Legend *legend, int columns)
{
    legend->columns = columns;
    legend->rows = (int) ((legend->n + columns - 1) / columns);
    double sum = 0;
    for (int column = 0; column < columns; column++) {
        legend->widths[column] = 0;
        for (int row = 0; row < legend->rows; row++) {
            gsize i = entry_at(legend, row, column);
            if (i >= legend->n)
                continue;
            double width = limn_text_width(legend->entries[i].name, &legend->font);
            legend->widths[column] = MAX(legend->widths[column], legend->indent + width);
        }
        sum += legend->widths[column] + (column ? legend->gap : 0);
    }
    return sum;
}

static double
add_legend_row(const Legend *legend, LimnDisplayList *list, int row, double y)
{
    double x = 0, height = 0;
    for (int column = 0; column < legend->columns; column++) {
        gsize i = entry_at(legend, row, column);
        double width = legend->widths[column];
        if (i < legend->n) {
            paint_entry(legend->painter, list, &legend->entries[i], x, y,
                        legend->font.size * 0.95);
            double used = limn_text_add_paragraph(
                list, legend->entries[i].name, &legend->font, x + legend->indent, y,
                width - legend->indent + 0.5, LIMN_ANCHOR_START, 0);
            height = MAX(height, used);
        }
        x += width + legend->gap;
    }
    return height;
}

LimnDisplayList *
limn_paint_legend(const LimnPainter *painter, const LimnLegendEntry *entries, gsize n,
                  double width)
{
    LimnDisplayList *list = limn_display_list_new();
    list->width = width;
    if (n == 0)
        return list;
    Legend legend = {.painter = painter, .entries = entries, .n = n};
    legend.font = limn_painter_font(painter, LIMN_FONT_SMALL);
    legend.indent = legend.font.size * (entries[0].line ? 2.7 : 2.2);
    legend.gap = legend.font.size * 1.4;
    g_autofree double *widths = g_new0(double, n);
    legend.widths = widths;
    int columns = (int) MIN(n, 12);
    while (columns > 1 && measure_columns(&legend, columns) > width)
        columns--;
    measure_columns(&legend, columns);
    if (columns == 1)
        widths[0] = MIN(widths[0], width);
    limn_display_list_begin_group(list, "legend");
    for (int row = 0; row < legend.rows; row++)
        list->height +=
            add_legend_row(&legend, list, row, list->height) + legend.font.size * 0.15;
    limn_display_list_end_group(list);
    return list;
}
