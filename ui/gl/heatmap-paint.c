// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/heatmap-paint.h"

#include "engine/figure/colormap.h"

#include <math.h>
#include <string.h>

// One row of a cell while it is being coloured.
typedef struct {
    const LimnHeatmapScene *scene;
    const LimnHeatmapCell *cell;
    int y;      // device
    int n;      // pixels
    float *rgb; // n * 3, in 0..1
} Row;

static void
set_pixel(float *rgb, const guint8 colour[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = colour[c] / 255.0f;
}

static void
mix_pixel(float *rgb, const float colour[3], float share)
{
    for (int c = 0; c < 3; c++)
        rgb[c] += (colour[c] - rgb[c]) * share;
}

// ---- picture

// Grey squares behind what is transparent.
static float
checker(const Row *row, int x)
{
    int size = MAX((int) (8 * row->scene->style.scale), 1);

    return ((x / size + row->y / size) & 1) ? 0.62f : 0.78f;
}

// Sharpened linear filter: the transition between two texels takes one device pixel, but
// never less than a whole texel below twice the original size.
static float
sharpness(const LimnLayerUse *use)
{
    return use->coarse ? 1 : MAX(1 / use->scale_x - 1, 1);
}

static inline float
sharpen(float fraction, float k)
{
    return CLAMP((fraction - 0.5f) * k + 0.5f, 0, 1);
}

static void
paint_picture(const Row *row)
{
    const LimnLayerUse *use = &row->cell->layers[LIMN_LAYER_PICTURE];
    const LimnTile *tile = use->handle;
    float k = sharpness(use);
    float v = (row->y + 0.5f) * use->scale_y + use->offset_y - 0.5f;
    int top = CLAMP((int) floorf(v), 0, tile->height - 2);
    float fy = sharpen(CLAMP(v - top, 0, 1), k);
    const guint8 *upper = tile->texels + (gsize) top * tile->width * 4;
    const guint8 *lower = upper + (gsize) tile->width * 4;

    for (int i = 0; i < row->n; i++) {
        int x = row->cell->x0 + i;
        float u = (x + 0.5f) * use->scale_x + use->offset_x - 0.5f;
        int left = CLAMP((int) floorf(u), 0, tile->width - 2);
        float fx = sharpen(CLAMP(u - left, 0, 1), k);
        const guint8 *a = upper + 4 * left, *b = lower + 4 * left;
        float mixed[4];

        for (int c = 0; c < 4; c++) {
            float above = a[c] + (a[c + 4] - a[c]) * fx;
            float below = b[c] + (b[c + 4] - b[c]) * fx;

            mixed[c] = (above + (below - above) * fy) / 255;
        }
        for (int c = 0; c < 3; c++)
            row->rgb[3 * i + c] = mixed[c];
        if (mixed[3] < 1)
            for (int c = 0; c < 3; c++)
                row->rgb[3 * i + c] += (1 - mixed[3]) * checker(row, x);
    }
}

static void
paint_background(const Row *row)
{
    for (int i = 0; i < row->n; i++)
        set_pixel(row->rgb + 3 * i, row->scene->style.background);
}

static void
dim(const Row *row)
{
    float background[3];

    set_pixel(background, row->scene->style.background);
    for (int i = 0; i < row->n; i++)
        mix_pixel(row->rgb + 3 * i, background, LIMN_HEATMAP_DIM);
}

// ---- map

typedef struct {
    float value, dx, dy; // gradient per texel
} Sample;

// The value where the texel under the point lies, and the linear field through its finite
// neighbours. A texel that is not finite stays what it is.
static Sample
sample_map(const LimnTile *tile, float u, float v, gboolean linear)
{
    const float *texels = (const float *) tile->texels;
    int column = CLAMP((int) floorf(u), 0, tile->width - 1);
    int line = CLAMP((int) floorf(v), 0, tile->height - 1);
    Sample sample = {texels[(gsize) line * tile->width + column], 0, 0};
    int left = CLAMP((int) floorf(u - 0.5f), 0, tile->width - 2);
    int top = CLAMP((int) floorf(v - 0.5f), 0, tile->height - 2);
    float fx = CLAMP(u - 0.5f - left, 0, 1), fy = CLAMP(v - 0.5f - top, 0, 1);
    float weights[4] = {(1 - fx) * (1 - fy), fx * (1 - fy), (1 - fx) * fy, fx * fy};
    float values[4], sum = 0, total = 0;
    gboolean all = TRUE;

    if (!linear || !isfinite(sample.value))
        return sample;
    for (int i = 0; i < 4; i++) {
        values[i] = texels[(gsize) (top + i / 2) * tile->width + left + i % 2];
        if (isfinite(values[i])) {
            sum += weights[i] * values[i];
            total += weights[i];
        } else {
            all = FALSE;
        }
    }
    if (total > 0)
        sample.value = sum / total;
    if (all) {
        sample.dx = (values[1] - values[0]) * (1 - fy) + (values[3] - values[2]) * fy;
        sample.dy = (values[2] - values[0]) * (1 - fx) + (values[3] - values[1]) * fx;
    }
    return sample;
}

// Rising stripes, a quarter of a period of that many logical pixels wide.
static gboolean
is_hatched(const Row *row, int x, int period)
{
    period = MAX((int) (period * row->scene->style.scale), 2);
    return 4 * ((x + row->y) % period) < period;
}

static void
nan_colour(const Row *row, int x, float rgb[3])
{
    const LimnHeatmapStyle *style = &row->scene->style;
    float share = is_hatched(row, x, 8) ? 0.55f : 1.0f;

    set_pixel(rgb, style->nan);
    for (int c = 0; c < 3; c++)
        rgb[c] *= share;
}

// Thin lines where the field crosses a level: black on light ground, white on dark.
static void
paint_contours(const Row *row, float *rgb, const Sample *sample, const LimnLayerUse *use)
{
    const LimnHeatmapStyle *style = &row->scene->style;
    float slope = hypotf(sample->dx * use->scale_x, sample->dy * use->scale_y);
    float luminance = 0.299f * rgb[0] + 0.587f * rgb[1] + 0.114f * rgb[2];
    float ink = luminance > 0.5f ? 0 : 1;
    float colour[3] = {ink, ink, ink};
    float cover = 0;

    if (!(slope > 0) || !isfinite(sample->value))
        return;
    for (int i = 0; i < style->n_contours; i++) {
        float distance = fabsf(sample->value - (float) style->contours[i]) / slope;

        cover = MAX(cover, CLAMP(0.5f * (float) style->scale + 0.5f - distance, 0, 1));
    }
    mix_pixel(rgb, colour, 0.75f * cover);
}

static void
paint_map(const Row *row)
{
    const LimnHeatmapStyle *style = &row->scene->style;
    const LimnLayerUse *use = &row->cell->layers[LIMN_LAYER_MAP];
    const LimnTile *tile = use->handle;
    gboolean over = row->cell->layers[LIMN_LAYER_PICTURE].handle != NULL;
    float opacity = over ? style->opacity : 1;
    float v = (row->y + 0.5f) * use->scale_y + use->offset_y;

    for (int i = 0; i < row->n; i++) {
        int x = row->cell->x0 + i;
        float u = (x + 0.5f) * use->scale_x + use->offset_x;
        Sample sample = sample_map(tile, u, v, style->bilinear);
        int index = limn_colormap_index(sample.value, style->min, style->max);
        float colour[3];

        if (index < 0)
            nan_colour(row, x, colour);
        else
            set_pixel(colour, style->table[index]);
        mix_pixel(row->rgb + 3 * i, colour, opacity);
        if (style->n_contours > 0) {
            if (!style->bilinear)
                sample = sample_map(tile, u, v, TRUE);
            paint_contours(row, row->rgb + 3 * i, &sample, use);
        }
    }
}

// ---- mask

static gboolean
is_inside(const LimnTile *tile, int x, int y)
{
    x = CLAMP(x, 0, tile->width - 1);
    y = CLAMP(y, 0, tile->height - 1);
    return ((const float *) tile->texels)[(gsize) y * tile->width + x] >= 0.5f;
}

// Pixels that count neither as inside nor as outside.
static gboolean
is_ignored(const LimnTile *tile, float u, float v)
{
    int x = CLAMP((int) floorf(u), 0, tile->width - 1);
    int y = CLAMP((int) floorf(v), 0, tile->height - 1);

    return isnan(((const float *) tile->texels)[(gsize) y * tile->width + x]);
}

// Device pixels to the nearest border between inside and outside, as far as the
// neighbouring texels tell; large when there is none.
static float
border_distance(const LimnTile *tile, float u, float v, float per_x, float per_y)
{
    int column = (int) floorf(u), line = (int) floorf(v);
    float fx = u - column, fy = v - line;
    gboolean inside = is_inside(tile, column, line);
    float nearest = 1e6f;

    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            float x = (dx < 0 ? fx : dx > 0 ? 1 - fx : 0) / per_x;
            float y = (dy < 0 ? fy : dy > 0 ? 1 - fy : 0) / per_y;

            if (is_inside(tile, column + dx, line + dy) != inside)
                nearest = MIN(nearest, hypotf(x, y));
        }
    }
    return nearest;
}

static void
paint_mask(const Row *row)
{
    static const float white[3] = {1, 1, 1}, black[3] = {0, 0, 0};
    const LimnLayerUse *use = &row->cell->layers[LIMN_LAYER_MASK];
    float scale = row->scene->style.scale;
    float v = (row->y + 0.5f) * use->scale_y + use->offset_y;

    for (int i = 0; i < row->n; i++) {
        float u = (row->cell->x0 + i + 0.5f) * use->scale_x + use->offset_x;
        float distance = border_distance(use->handle, u, v, use->scale_x, use->scale_y);

        if (is_ignored(use->handle, u, v)) {
            if (is_hatched(row, row->cell->x0 + i, 6))
                mix_pixel(row->rgb + 3 * i, white, 0.65f);
            else
                mix_pixel(row->rgb + 3 * i, black, 0.25f);
        }
        mix_pixel(row->rgb + 3 * i, black,
                  0.7f * CLAMP(2 * scale + 0.5f - distance, 0, 1));
        mix_pixel(row->rgb + 3 * i, white, CLAMP(scale + 0.5f - distance, 0, 1));
    }
}

// ---- all of it

static void
paint_row(const Row *row)
{
    const LimnLayerUse *layers = row->cell->layers;

    if (layers[LIMN_LAYER_PICTURE].handle != NULL)
        paint_picture(row);
    else
        paint_background(row);
    if (layers[LIMN_LAYER_MAP].handle != NULL)
        paint_map(row);
    else if (row->scene->style.dim_outside)
        dim(row);
    if (layers[LIMN_LAYER_MASK].handle != NULL)
        paint_mask(row);
}

static guint32
pack(const float *rgb)
{
    guint32 pixel = 0xff;

    for (int c = 0; c < 3; c++)
        pixel = pixel << 8 | (guint32) floorf(CLAMP(rgb[c], 0, 1) * 255 + 0.5f);
    return pixel;
}

static void
clear(cairo_surface_t *surface, const guint8 rgb[3])
{
    guint32 pixel = 0xffu << 24 | rgb[0] << 16 | rgb[1] << 8 | rgb[2];
    int width = cairo_image_surface_get_width(surface);
    int height = cairo_image_surface_get_height(surface);

    for (int y = 0; y < height; y++) {
        guint32 *out = (guint32 *) (cairo_image_surface_get_data(surface) +
                                    (gsize) y * cairo_image_surface_get_stride(surface));

        for (int x = 0; x < width; x++)
            out[x] = pixel;
    }
}

static gconstpointer
resolve(LimnTileStore *store, int level, int column, int row, gboolean wanted,
        gpointer data)
{
    gboolean *missing = data;
    const LimnTile *tile = wanted ? limn_tile_store_get(store, level, column, row)
                                  : limn_tile_store_peek(store, level, column, row);

    if (wanted && (tile == NULL || tile->preview))
        *missing = TRUE;
    return tile;
}

gboolean
limn_heatmap_paint(const LimnHeatmapScene *scene, const LimnViewTransform *transform,
                   cairo_surface_t *surface)
{
    int width = cairo_image_surface_get_width(surface);
    int height = cairo_image_surface_get_height(surface);
    int stride = cairo_image_surface_get_stride(surface);
    gboolean missing = FALSE;
    g_autoptr(GArray) cells = NULL;
    g_autofree float *rgb = NULL;

    if (width <= 0 || height <= 0)
        return FALSE;
    cairo_surface_flush(surface);
    clear(surface, scene->style.background);
    limn_heatmap_scene_begin_frame(scene);
    cells = limn_heatmap_scene_cut(scene, transform, width, height, resolve, &missing);
    rgb = g_new(float, (gsize) width * 3);
    for (guint i = 0; i < cells->len; i++) {
        const LimnHeatmapCell *cell = &g_array_index(cells, LimnHeatmapCell, i);
        Row row = {.scene = scene, .cell = cell, .n = cell->x1 - cell->x0, .rgb = rgb};

        for (row.y = cell->y0; row.y < cell->y1; row.y++) {
            guint32 *out = (guint32 *) (cairo_image_surface_get_data(surface) +
                                        (gsize) row.y * stride) +
                           cell->x0;

            paint_row(&row);
            for (int x = 0; x < row.n; x++)
                out[x] = pack(rgb + 3 * x);
        }
    }
    cairo_surface_mark_dirty(surface);
    return missing;
}
