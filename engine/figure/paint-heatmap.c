// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/colormap.h"
#include "engine/figure/legend.h"
#include "engine/figure/outline.h"
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"

#include <math.h>
#include <string.h>

// Beyond this many corners the hatch of scattered missing cells is left to their colour.
#define MAX_HATCH_STEPS 20000
#define MAX_CELLS_DPI 600
#define SMOOTH_DPI 200
#define MAX_SMOOTH_SAMPLES 2000

typedef struct {
    const LimnPainter *painter;
    const LimnPanel *panel;
    LimnDisplayList *list;
    const float *values; // [rows, columns], after thinning or smoothing
    float *owned;
    int rows, columns;
    gboolean smooth;
    LimnScale scale;
    const char *colormap;
    LimnImage *picture;
    LimnRect rect; // of the picture, or of the map when there is none
    LimnBox area;  // picture on the page
    LimnBox box;   // map on the page
} Map;

// ---- values

// Value at a place between cell centres (in cells): finite neighbours weighted as in
// bilinear interpolation; missing where the nearest cell is.
static float
sample_smooth(const float *map, int rows, int columns, double y, double x)
{
    int y0 = (int) floor(y), x0 = (int) floor(x);
    double ty = y - y0, tx = x - x0;
    double sum = 0, weight = 0;
    int nearest_y = CLAMP((int) floor(y + 0.5), 0, rows - 1);
    int nearest_x = CLAMP((int) floor(x + 0.5), 0, columns - 1);
    float nearest = map[(gsize) nearest_y * columns + nearest_x];
    if (!isfinite(nearest))
        return nearest;
    for (int k = 0; k < 4; k++) {
        int at_y = CLAMP(y0 + (k >> 1), 0, rows - 1);
        int at_x = CLAMP(x0 + (k & 1), 0, columns - 1);
        double w = ((k >> 1) ? ty : 1 - ty) * ((k & 1) ? tx : 1 - tx);
        float v = map[(gsize) at_y * columns + at_x];
        if (!isfinite(v) || w <= 0)
            continue;
        sum += w * v;
        weight += w;
    }
    return weight > 0 ? (float) (sum / weight) : nearest;
}

// Replaces the values by `rows` x `columns` samples, smooth or by the nearest cell.
static void
resample_values(Map *map, int rows, int columns, gboolean smooth)
{
    float *out = g_new(float, (gsize) rows *columns);
    for (int y = 0; y < rows; y++) {
        double from_y = (y + 0.5) * map->rows / rows - 0.5;
        for (int x = 0; x < columns; x++) {
            double from_x = (x + 0.5) * map->columns / columns - 0.5;
            if (smooth) {
                out[(gsize) y * columns + x] =
                    sample_smooth(map->values, map->rows, map->columns, from_y, from_x);
                continue;
            }
            int at_y = CLAMP((int) floor(from_y + 0.5), 0, map->rows - 1);
            int at_x = CLAMP((int) floor(from_x + 0.5), 0, map->columns - 1);
            out[(gsize) y * columns + x] =
                map->values[(gsize) at_y * map->columns + at_x];
        }
    }
    g_free(map->owned);
    map->owned = out;
    map->values = out;
    map->rows = rows;
    map->columns = columns;
}

// Samples for a side of n cells that is `length` points long: not finer than can be
// seen, and for smooth maps not coarser than SMOOTH_DPI.
static int
choose_samples(int n, double length, gboolean smooth)
{
    double finest = MAX(length * MAX_CELLS_DPI / 72, 256);
    double wanted = MIN(length * SMOOTH_DPI / 72, MAX_SMOOTH_SAMPLES);
    if (n > finest)
        return (int) finest;
    return smooth && n < wanted ? (int) ceil(wanted) : n;
}

static void
choose_resolution(Map *map)
{
    int columns = choose_samples(map->columns, map->box.width, map->smooth);
    int rows = choose_samples(map->rows, map->box.height, map->smooth);
    if (columns != map->columns || rows != map->rows)
        resample_values(map, rows, columns, map->smooth);
}

static GBytes *
color_values(const Map *map)
{
    const guint8(*table)[3] = limn_colormap_table(map->colormap);
    guint8 missing[3];
    limn_colormap_nan(missing);
    gsize n = (gsize) map->rows * map->columns;
    guint8 *rgb = g_malloc(n * 3);
    for (gsize i = 0; i < n; i++) {
        int k = limn_colormap_index(map->values[i], map->scale.min, map->scale.max);
        memcpy(rgb + 3 * i, k < 0 ? missing : table[k], 3);
    }
    return g_bytes_new_take(rgb, n * 3);
}

// ---- layers

static void
add_picture(Map *map)
{
    if (!map->picture)
        return;
    int width, height;
    g_autoptr(GBytes) rgb =
        limn_picture_pixels(map->picture, map->area.width, &width, &height);
    if (!rgb)
        return;
    limn_display_list_begin_group(map->list, "picture");
    limn_display_list_add_image(map->list, rgb, width, height, &map->area, FALSE, 1);
    limn_display_list_end_group(map->list);
}

static void
add_cells(Map *map)
{
    g_autoptr(GBytes) rgb = color_values(map);
    double opacity = map->picture ? map->painter->options->opacity : 1;
    limn_display_list_begin_group(map->list, "map");
    limn_display_list_add_image(map->list, rgb, map->columns, map->rows, &map->box,
                                !map->smooth, opacity);
    limn_display_list_end_group(map->list);
}

static LimnRaster
map_raster(const Map *map)
{
    return (LimnRaster){map->box.x, map->box.y, map->box.width / map->columns,
                        map->box.height / map->rows};
}

// The part of the map on the page that can be seen: the rectangle of a map comes from a
// file and may be of any size. Empty where the map lies beside its picture.
static LimnBox
seen_box(const Map *map)
{
    const LimnBox *a = &map->area, *b = &map->box;
    double left = MAX(a->x, b->x), top = MAX(a->y, b->y);
    double right = MIN(a->x + a->width, b->x + b->width);
    double bottom = MIN(a->y + a->height, b->y + b->height);
    return (LimnBox){left, top, MAX(right - left, 0), MAX(bottom - top, 0)};
}

static void
add_missing_hatch(Map *map)
{
    LimnBox seen = seen_box(map);
    if (map->scale.n_missing == 0 || seen.width == 0 || seen.height == 0)
        return;
    gsize n = (gsize) map->rows * map->columns;
    g_autofree guint8 *missing = g_malloc(n);
    gsize count = 0;
    for (gsize i = 0; i < n; i++)
        count += missing[i] = isnan(map->values[i]) != 0;
    g_autoptr(LimnPath) path = limn_path_new();
    LimnRaster raster = map_raster(map);
    gboolean traced =
        limn_outline_region(path, missing, map->columns, map->rows, &raster);
    if (count == 0 || !traced || path->steps->len > MAX_HATCH_STEPS)
        return;
    guint8 rgb[3];
    limn_colormap_nan(rgb);
    limn_display_list_begin_clip(map->list, g_steal_pointer(&path));
    limn_paint_hatch(map->list, LIMN_HATCH_RISING, &seen, limn_color_from_rgb(rgb));
    limn_display_list_end_clip(map->list);
}

static void
stroke_on_anything(LimnDisplayList *list, LimnPath *path, double width)
{
    LimnPath *casing = limn_path_new();
    g_array_append_vals(casing->steps, path->steps->data, path->steps->len);
    LimnPathStyle style = {.has_stroke = TRUE,
                           .stroke = {1, 1, 1, 0.9},
                           .width = width * 2.4,
                           .round = TRUE};
    limn_display_list_add_path(list, casing, &style);
    style.stroke = (LimnColor){0.05, 0.05, 0.05, 1};
    style.width = width;
    limn_display_list_add_path(list, path, &style);
}

// Lines at the numbers of the colour bar, from a finer grid, so that they are round.
static void
add_contours(Map *map)
{
    const LimnScale *scale = &map->scale;
    if (!map->painter->options->contours || scale->constant || scale->empty)
        return;
    int factor = (int) CLAMP(160 / MAX(map->columns, map->rows), 1, 16);
    Map fine = *map;
    fine.owned = NULL;
    resample_values(&fine, map->rows * factor, map->columns * factor, TRUE);
    LimnRaster raster = map_raster(&fine);
    LimnTicks ticks;
    limn_ticks_compute(&ticks, scale->min, scale->max, 6);
    LimnPath *path = limn_path_new();
    for (int i = 0; i < ticks.n; i++) {
        double level = ticks.first + i * ticks.step;
        if (level > scale->min && level < scale->max)
            limn_outline_contour(path, fine.values, fine.columns, fine.rows, level,
                                 &raster);
    }
    g_free(fine.owned);
    limn_display_list_begin_group(map->list, "contours");
    if (path->steps->len > 0)
        stroke_on_anything(map->list, path, 0.5);
    else
        limn_path_free(path);
    limn_display_list_end_group(map->list);
}

static gboolean
covers_picture(const Map *map)
{
    return map->rect.x <= 0.5 && map->rect.y <= 0.5 &&
           map->rect.x + map->rect.width >= map->picture->width - 0.5 &&
           map->rect.y + map->rect.height >= map->picture->height - 0.5;
}

// What the model did not see is dimmed.
static void
add_crop(Map *map)
{
    if (!map->picture || covers_picture(map))
        return;
    LimnPath *path = limn_path_new();
    limn_path_rectangle(path, &map->area);
    limn_path_rectangle(path, &map->box);
    LimnPathStyle style = {
        .has_fill = TRUE, .fill = map->painter->theme->veil, .even_odd = TRUE};
    limn_display_list_begin_group(map->list, "crop");
    limn_display_list_add_path(map->list, path, &style);
    limn_display_list_stroke_box(map->list, &map->box, map->painter->theme->ink, 0.6);
    limn_display_list_end_group(map->list);
}

static gint64
ignored_value(const LimnArtifact *artifact)
{
    return artifact->classes ? artifact->classes->ignore_value : -1;
}

// One outline per label other than 0 and the ignored one.
static void
add_mask_outlines(Map *map)
{
    LimnImage *mask = map->panel->artifact->mask;
    if (!mask || !map->picture || !map->painter->options->show_mask)
        return;
    int width, height;
    g_autofree guint32 *labels = limn_mask_labels(mask, &width, &height);
    gsize n = (gsize) width * height;
    g_autoptr(GHashTable) done = g_hash_table_new(NULL, NULL);
    g_autofree guint8 *inside = g_malloc(n);
    LimnRaster raster = {map->area.x, map->area.y, map->area.width / width,
                         map->area.height / height};
    LimnPath *path = limn_path_new();
    for (gsize i = 0; i < n; i++) {
        guint32 label = labels[i];
        if (label == 0 || (gint64) label == ignored_value(map->panel->artifact) ||
            !g_hash_table_add(done, GUINT_TO_POINTER(label)))
            continue;
        if (g_hash_table_size(done) > 256)
            break;
        for (gsize k = 0; k < n; k++)
            inside[k] = labels[k] == label;
        limn_outline_region(path, inside, width, height, &raster);
    }
    limn_display_list_begin_group(map->list, "mask");
    stroke_on_anything(map->list, path, 0.7);
    limn_display_list_end_group(map->list);
}

// ---- layout

static void
place(Map *map, double width)
{
    double shown = width * map->painter->shrink;
    double left = (width - shown) / 2;
    double full_width = map->picture ? map->picture->width : map->columns;
    double full_height = map->picture ? map->picture->height : map->rows;
    if (map->rect.width <= 0 || map->rect.height <= 0 || !map->picture)
        map->rect = (LimnRect){0, 0, full_width, full_height};
    // Thin strips keep a height that can be seen, in or across.
    double height = CLAMP(shown * full_height / full_width, shown / 40, shown * 4);
    map->area = (LimnBox){left, 0, shown, height};
    double sx = shown / full_width, sy = height / full_height;
    map->box = (LimnBox){left + map->rect.x * sx, map->rect.y * sy, map->rect.width * sx,
                         map->rect.height * sy};
}

static void
add_layers(Map *map)
{
    limn_display_list_begin_group(map->list, "panel");
    LimnPath *clip = limn_path_new();
    limn_path_rectangle(clip, &map->area);
    limn_display_list_begin_clip(map->list, clip);
    add_picture(map);
    add_cells(map);
    add_missing_hatch(map);
    add_contours(map);
    add_crop(map);
    add_mask_outlines(map);
    limn_display_list_end_clip(map->list);
    limn_display_list_stroke_box(map->list, &map->area, map->painter->theme->rule, 0.4);
    limn_display_list_end_group(map->list);
    map->list->height = map->area.height;
}

static void
add_label(Map *map, double width)
{
    const char *label = limn_panel_label(map->panel->artifact, MAX(map->panel->item, 0));
    if (!map->panel->with_label || !label)
        return;
    LimnTextStyle font = limn_painter_font(map->painter, LIMN_FONT_BODY);
    double y = map->list->height + font.size * 0.35;
    map->list->height = y + limn_text_add_paragraph(map->list, label, &font, 0, y, width,
                                                    LIMN_ANCHOR_MIDDLE, 0);
}

static void
add_legend(Map *map, double width)
{
    if (!map->panel->with_legend || !map->painter->options->show_colorbar)
        return;
    g_autoptr(LimnDisplayList) bar = limn_paint_colorbar(
        map->painter, map->panel->artifact, &map->scale, map->colormap, width);
    double y = map->list->height + limn_painter_gap(map->painter);
    limn_display_list_append(map->list, bar, 0, y);
    map->list->height = y + bar->height;
    limn_paint_map_notes(map->painter, map->list, map->panel->artifact,
                         map->picture != NULL, width);
}

void
limn_paint_map_notes(const LimnPainter *painter, LimnDisplayList *list,
                     const LimnArtifact *artifact, gboolean with_picture, double width)
{
    const LimnFigureOptions *options = painter->options;
    LimnTextStyle font = limn_painter_font(painter, LIMN_FONT_MUTED);
    if (!options->show_caption)
        return;
    if (options->contours)
        list->height +=
            limn_text_add_paragraph(list, "contour lines at the numbers of the bar",
                                    &font, 0, list->height, width, LIMN_ANCHOR_START, 0);
    if (options->show_mask && artifact->mask && with_picture)
        list->height +=
            limn_text_add_paragraph(list, "outlines: labelled objects", &font, 0,
                                    list->height, width, LIMN_ANCHOR_START, 0);
}

static void
load_panel(Map *map)
{
    const LimnPanel *panel = map->panel;
    LimnArtifact *artifact = panel->artifact;
    gint64 item = MAX(panel->item, 0);
    limn_artifact_map_size(artifact, &map->rows, &map->columns);
    map->values = limn_artifact_get_map(artifact, item);
    map->smooth = map->painter->options->interpolate;
    if (panel->scale)
        map->scale = *panel->scale;
    else
        limn_panel_scale(map->painter, &artifact, 1, item, &map->scale);
    map->colormap = panel->colormap;
    if (!map->colormap)
        map->colormap = limn_colormap_default(map->scale.is_signed);
    map->picture = limn_panel_picture(artifact, item, &map->rect);
    if (!panel->with_picture)
        map->picture = NULL;
}

LimnDisplayList *
limn_paint_heatmap(const LimnPainter *painter, const LimnPanel *panel, double width)
{
    Map map = {.painter = painter, .panel = panel, .list = limn_display_list_new()};
    load_panel(&map);
    place(&map, width);
    choose_resolution(&map);
    add_layers(&map);
    add_label(&map, width);
    add_legend(&map, width);
    map.list->width = width;
    g_free(map.owned);
    return map.list;
}
