// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/outline.h"
#include "engine/figure/paint.h"
#include "engine/figure/text-layout.h"

#include <math.h>
#include <string.h>

// Classes in the colours of their table (classes that the table does not name get the
// palette's), each with the hatch of its place in the table, so that nothing is told by
// colour alone; ignored pixels are crossed out and named so. The legend has the classes
// that occur, in order of their value.

#define MAX_LEGEND 64

static const LimnColor ignored_color = {0.82, 0.82, 0.82, 1};

typedef struct {
    guint32 value;
    const char *name;
    LimnColor color;
    LimnHatch hatch;
    gboolean hidden, ignored;
} Region;

typedef struct {
    const LimnPainter *painter;
    const LimnPanel *panel;
    LimnDisplayList *list;
    guint32 *labels;
    int width, height;
    GArray *regions; // Region, rising value
    LimnImage *picture;
    LimnBox box;
} Labels;

static LimnImage *
label_image(const LimnPanel *panel)
{
    GPtrArray *pictures = panel->artifact->pictures;
    if (pictures && pictures->len > 0)
        return pictures->pdata[CLAMP(panel->item, 0, (gint64) pictures->len - 1)];
    return panel->artifact->mask ? panel->artifact->mask : panel->artifact->picture;
}

static const LimnClass *
find_class(const LimnClassTable *table, guint32 value, guint *index)
{
    for (guint i = 0; table && i < table->classes->len; i++) {
        const LimnClass *class = table->classes->pdata[i];
        *index = i;
        if (class->value == value)
            return class;
    }
    *index = value;
    return NULL;
}

static gint
compare_values(gconstpointer a, gconstpointer b)
{
    guint32 x = ((const Region *) a)->value, y = ((const Region *) b)->value;
    return (x > y) - (x < y);
}

static void
count_values(GHashTable *counts, const guint32 *labels, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        gpointer key = GUINT_TO_POINTER(labels[i]);
        gsize count = GPOINTER_TO_SIZE(g_hash_table_lookup(counts, key));
        g_hash_table_insert(counts, key, GSIZE_TO_POINTER(count + 1));
    }
}

static Region
describe_region(const LimnPainter *painter, const LimnClassTable *table, guint32 value)
{
    guint index;
    const LimnClass *class = find_class(table, value, &index);
    Region region = {
        .value = value,
        .hatch = limn_palette_hatch(index),
        .color = limn_palette_color(value, painter->options->dark),
        .ignored = table && (gint64) value == table->ignore_value,
    };
    if (class) {
        region.color = limn_color_from_rgb(class->rgb);
        region.name = class->name;
        region.hidden = class->hidden;
    }
    if (region.ignored) {
        region.color = ignored_color;
        region.hatch = LIMN_HATCH_CROSS;
        region.name = "ignore";
    }
    return region;
}

// Returns: (transfer full) (element-type Region) rising value
static GArray *
describe_regions(const LimnPainter *painter, const LimnClassTable *table,
                 GHashTable *counts)
{
    GArray *regions = g_array_new(FALSE, FALSE, sizeof(Region));
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, counts);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        Region region = describe_region(painter, table, GPOINTER_TO_UINT(key));
        g_array_append_val(regions, region);
    }
    g_array_sort(regions, compare_values);
    if (regions->len == 1)
        g_array_index(regions, Region, 0).hatch = LIMN_HATCH_NONE;
    return regions;
}

static const Region *
find_region(const Labels *labels, guint32 value)
{
    guint low = 0, high = labels->regions->len;
    while (low + 1 < high) {
        guint middle = (low + high) / 2;
        if (g_array_index(labels->regions, Region, middle).value <= value)
            low = middle;
        else
            high = middle;
    }
    return &g_array_index(labels->regions, Region, low);
}

static guint8
to_level(double value)
{
    return (guint8) floor(CLAMP(value, 0, 1) * 255 + 0.5);
}

static GBytes *
color_labels(const Labels *labels)
{
    gsize n = (gsize) labels->width * labels->height;
    guint8 *rgb = g_malloc(n * 3);
    const Region *region = NULL;
    for (gsize i = 0; i < n; i++) {
        if (!region || region->value != labels->labels[i])
            region = find_region(labels, labels->labels[i]);
        LimnColor color = region->color;
        if (region->hidden)
            color = labels->painter->theme->page;
        rgb[3 * i] = to_level(color.red);
        rgb[3 * i + 1] = to_level(color.green);
        rgb[3 * i + 2] = to_level(color.blue);
    }
    return g_bytes_new_take(rgb, n * 3);
}

static void
add_outline(Labels *labels, const LimnPath *path)
{
    LimnPath *line = limn_path_new();
    g_array_append_vals(line->steps, path->steps->data, path->steps->len);
    LimnPathStyle style = {.has_stroke = TRUE,
                           .stroke = labels->painter->theme->page,
                           .width = 0.7,
                           .round = TRUE};
    limn_display_list_add_path(labels->list, line, &style);
}

static void
add_hatches(Labels *labels)
{
    gsize n = (gsize) labels->width * labels->height;
    g_autofree guint8 *inside = g_malloc(n);
    LimnRaster raster = {labels->box.x, labels->box.y, labels->box.width / labels->width,
                         labels->box.height / labels->height};
    guint shown = MIN(labels->regions->len, MAX_LEGEND);
    for (guint k = 0; k < shown && labels->regions->len > 1; k++) {
        const Region *region = &g_array_index(labels->regions, Region, k);
        if (region->hidden)
            continue;
        for (gsize i = 0; i < n; i++)
            inside[i] = labels->labels[i] == region->value;
        g_autoptr(LimnPath) path = limn_path_new();
        if (!limn_outline_region(path, inside, labels->width, labels->height, &raster))
            continue;
        add_outline(labels, path);
        limn_display_list_begin_clip(labels->list, g_steal_pointer(&path));
        limn_paint_hatch(labels->list, region->ignored ? LIMN_HATCH_CROSS : region->hatch,
                         &labels->box, region->color);
        limn_display_list_end_clip(labels->list);
    }
}

static void
add_map(Labels *labels)
{
    LimnDisplayList *list = labels->list;
    int width, height;
    limn_display_list_begin_group(list, "labels");
    g_autoptr(GBytes) below = NULL;
    if (labels->picture)
        below = limn_picture_pixels(labels->picture, labels->box.width, &width, &height);
    if (below)
        limn_display_list_add_image(list, below, width, height, &labels->box, FALSE, 1);
    g_autoptr(GBytes) rgb = color_labels(labels);
    limn_display_list_add_image(list, rgb, labels->width, labels->height, &labels->box,
                                TRUE, below ? labels->painter->options->opacity : 1);
    add_hatches(labels);
    limn_display_list_stroke_box(list, &labels->box, labels->painter->theme->rule, 0.4);
    limn_display_list_end_group(list);
    list->height = labels->box.height;
}

static void
clear_entry(gpointer data)
{
    g_free(((LimnLegendEntry *) data)->name);
}

static LimnDisplayList *
paint_regions_legend(const LimnPainter *painter, GArray *regions, double width)
{
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(LimnLegendEntry));
    g_array_set_clear_func(entries, clear_entry);
    for (guint i = 0; i < MIN(regions->len, MAX_LEGEND); i++) {
        const Region *region = &g_array_index(regions, Region, i);
        if (region->hidden)
            continue;
        LimnLegendEntry entry = {.color = region->color, .hatch = region->hatch};
        if (region->name && region->name[0])
            entry.name = g_strdup(region->name);
        else
            entry.name = g_strdup_printf("class %u", region->value);
        g_array_append_val(entries, entry);
    }
    LimnDisplayList *list = limn_paint_legend(
        painter, (LimnLegendEntry *) (gpointer) entries->data, entries->len, width);
    if (regions->len <= MAX_LEGEND)
        return list;
    LimnTextStyle font = limn_painter_font(painter, LIMN_FONT_MUTED);
    g_autofree char *note = g_strdup_printf("%u more classes", regions->len - MAX_LEGEND);
    list->height += limn_text_add_paragraph(list, note, &font, 0, list->height, width,
                                            LIMN_ANCHOR_START, 0);
    return list;
}

static void
add_legend(Labels *labels, double width)
{
    LimnDisplayList *list = labels->list;
    double y = list->height + limn_painter_gap(labels->painter);
    g_autoptr(LimnDisplayList) legend =
        paint_regions_legend(labels->painter, labels->regions, width);
    limn_display_list_append(list, legend, 0, y);
    list->height = y + legend->height;
}

LimnDisplayList *
limn_paint_class_legend(const LimnPainter *painter, LimnArtifact *artifact, gint64 n,
                        double width)
{
    g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
    for (gint64 i = 0; i < n; i++) {
        LimnPanel panel = {.artifact = artifact, .item = i};
        LimnImage *image = label_image(&panel);
        if (!image)
            continue;
        int columns, rows;
        g_autofree guint32 *labels = limn_mask_labels(image, &columns, &rows);
        count_values(counts, labels, (gsize) columns * rows);
    }
    g_autoptr(GArray) regions = describe_regions(painter, artifact->classes, counts);
    return paint_regions_legend(painter, regions, width);
}

static void
add_label(Labels *labels, double width)
{
    const LimnPanel *panel = labels->panel;
    const char *label = limn_panel_label(panel->artifact, MAX(panel->item, 0));
    if (!panel->with_label || !label)
        return;
    LimnTextStyle font = limn_painter_font(labels->painter, LIMN_FONT_BODY);
    double y = labels->list->height + font.size * 0.35;
    labels->list->height = y + limn_text_add_paragraph(labels->list, label, &font, 0, y,
                                                       width, LIMN_ANCHOR_MIDDLE, 0);
}

LimnDisplayList *
limn_paint_labelmap(const LimnPainter *painter, const LimnPanel *panel, double width)
{
    Labels labels = {.painter = painter, .panel = panel, .list = limn_display_list_new()};
    LimnImage *image = label_image(panel);
    labels.list->width = width;
    if (!image)
        return labels.list;
    labels.labels = limn_mask_labels(image, &labels.width, &labels.height);
    g_autoptr(GHashTable) counts = g_hash_table_new(NULL, NULL);
    count_values(counts, labels.labels, (gsize) labels.width * labels.height);
    labels.regions = describe_regions(painter, panel->artifact->classes, counts);
    if (panel->with_picture && panel->artifact->picture != image)
        labels.picture = panel->artifact->picture;
    double shown = width * painter->shrink;
    double height = CLAMP(shown * image->height / image->width, shown / 40, shown * 4);
    labels.box = (LimnBox){(width - shown) / 2, 0, shown, height};
    add_map(&labels);
    add_label(&labels, width);
    if (panel->with_legend)
        add_legend(&labels, width);
    g_free(labels.labels);
    g_array_unref(labels.regions);
    return labels.list;
}
