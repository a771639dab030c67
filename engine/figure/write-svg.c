// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/write-svg.h"

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/figure/draw-cairo.h"
#include "engine/figure/write-png.h"

#include <math.h>
#include <string.h>

typedef struct {
    GString *out;
    gboolean outlines;
    int n_clips;
    GHashTable *ids; // id -> how often it was used
    GError **error;
} Writer;

// A number without trailing zeros; at most three digits after the mark.
static void
put_number(Writer *writer, double value)
{
    char buffer[LIMN_NUMBER_BUFFER];
    limn_number_format_fixed(buffer, isfinite(value) ? value : 0, 3);
    if (strchr(buffer, '.')) {
        char *end = buffer + strlen(buffer);
        while (end[-1] == '0')
            *--end = '\0';
        if (end[-1] == '.')
            end[-1] = '\0';
    }
    g_string_append(writer->out, strcmp(buffer, "-0") == 0 ? "0" : buffer);
}

static void
put_attribute(Writer *writer, const char *name, double value)
{
    g_string_append_printf(writer->out, " %s=\"", name);
    put_number(writer, value);
    g_string_append_c(writer->out, '"');
}

static void
put_escaped(Writer *writer, const char *text)
{
    g_autofree char *escaped = g_markup_escape_text(text, -1);
    g_string_append(writer->out, escaped);
}

static void
put_color(Writer *writer, const char *name, LimnColor color)
{
    g_string_append_printf(
        writer->out, " %s=\"#%02x%02x%02x\"", name, (int) floor(color.red * 255 + 0.5),
        (int) floor(color.green * 255 + 0.5), (int) floor(color.blue * 255 + 0.5));
    if (color.alpha < 1) {
        g_autofree char *opacity = g_strconcat(name, "-opacity", NULL);
        put_attribute(writer, opacity, color.alpha);
    }
}

static void
put_point(Writer *writer, double x, double y)
{
    put_number(writer, x);
    g_string_append_c(writer->out, ' ');
    put_number(writer, y);
}

static void
put_path_data(Writer *writer, const LimnPath *path)
{
    g_string_append(writer->out, " d=\"");
    for (guint i = 0; i < path->steps->len; i++) {
        const LimnPathStep *s = &g_array_index(path->steps, LimnPathStep, i);
        g_string_append_c(writer->out, "MLCZ"[s->op]);
        if (s->op == LIMN_PATH_CURVE) {
            put_point(writer, s->x[0], s->y[0]);
            g_string_append_c(writer->out, ' ');
            put_point(writer, s->x[1], s->y[1]);
            g_string_append_c(writer->out, ' ');
            put_point(writer, s->x[2], s->y[2]);
        } else if (s->op != LIMN_PATH_CLOSE) {
            put_point(writer, s->x[0], s->y[0]);
        }
    }
    g_string_append_c(writer->out, '"');
}

static void
put_stroke(Writer *writer, const LimnPathStyle *style)
{
    put_color(writer, "stroke", style->stroke);
    put_attribute(writer, "stroke-width", style->width);
    if (style->round)
        g_string_append(writer->out,
                        " stroke-linecap=\"round\" stroke-linejoin=\"round\"");
    if (style->n_dash == 0)
        return;
    g_string_append(writer->out, " stroke-dasharray=\"");
    for (int i = 0; i < style->n_dash; i++) {
        if (i > 0)
            g_string_append_c(writer->out, ' ');
        put_number(writer, style->dash[i]);
    }
    g_string_append_c(writer->out, '"');
}

static void
put_path(Writer *writer, const LimnItem *item)
{
    g_string_append(writer->out, "<path");
    put_path_data(writer, item->path);
    if (item->style.has_fill)
        put_color(writer, "fill", item->style.fill);
    else
        g_string_append(writer->out, " fill=\"none\"");
    if (item->style.even_odd)
        g_string_append(writer->out, " fill-rule=\"evenodd\"");
    if (item->style.has_stroke)
        put_stroke(writer, &item->style);
    g_string_append(writer->out, "/>\n");
}

static void
put_font(Writer *writer, const LimnTextStyle *font)
{
    g_string_append(writer->out, " font-family=\"'");
    for (const char *p = font->family; *p; p++) {
        if (*p != '\'' && *p != '"' && *p != '<' && *p != '&' && *p != '\\')
            g_string_append_c(writer->out, *p);
    }
    g_string_append(writer->out, "', sans-serif\"");
    put_attribute(writer, "font-size", font->size);
    if (font->bold)
        g_string_append(writer->out, " font-weight=\"bold\"");
    if (font->italic)
        g_string_append(writer->out, " font-style=\"italic\"");
    put_color(writer, "fill", font->color);
}

// Starts an <image> with its place; the caller adds attributes and ends it.
static void
begin_image(Writer *writer, const LimnBox *box)
{
    g_string_append(writer->out, "<image");
    put_attribute(writer, "x", box->x);
    put_attribute(writer, "y", box->y);
    put_attribute(writer, "width", box->width);
    put_attribute(writer, "height", box->height);
    g_string_append(writer->out, " preserveAspectRatio=\"none\"");
}

static gboolean
end_image(Writer *writer, cairo_surface_t *surface)
{
    g_autoptr(GBytes) png = limn_surface_to_png(surface, 0, writer->error);
    if (!png)
        return FALSE;
    gsize size;
    const guint8 *data = g_bytes_get_data(png, &size);
    g_autofree char *base64 = g_base64_encode(data, size);
    g_string_append(writer->out, " xlink:href=\"data:image/png;base64,");
    g_string_append(writer->out, base64);
    g_string_append(writer->out, "\"/>\n");
    return TRUE;
}

// Text as shapes; emoji, which have none, as a picture of 600 dpi.
static gboolean
put_outlines(Writer *writer, const LimnItem *item)
{
    g_autoptr(LimnPath) path = limn_text_item_to_path(item);
    g_string_append(writer->out, "<path");
    put_path_data(writer, path);
    put_color(writer, "fill", item->font.color);
    g_string_append(writer->out, "/>\n");
    LimnBox box;
    cairo_surface_t *glyphs = limn_text_item_to_color_glyphs(item, 600 / 72.0, &box);
    if (!glyphs)
        return TRUE;
    begin_image(writer, &box);
    gboolean ok = end_image(writer, glyphs);
    cairo_surface_destroy(glyphs);
    return ok;
}

static void
put_text(Writer *writer, const LimnItem *item)
{
    static const char *const anchors[] = {"start", "middle", "end"};
    g_string_append(writer->out, "<text");
    put_attribute(writer, "x", item->x);
    put_attribute(writer, "y", item->y);
    if (item->anchor != LIMN_ANCHOR_START)
        g_string_append_printf(writer->out, " text-anchor=\"%s\"", anchors[item->anchor]);
    if (item->angle != 0) {
        g_string_append(writer->out, " transform=\"rotate(");
        put_number(writer, -item->angle);
        g_string_append_c(writer->out, ' ');
        put_point(writer, item->x, item->y);
        g_string_append(writer->out, ")\"");
    }
    put_font(writer, &item->font);
    g_string_append_c(writer->out, '>');
    put_escaped(writer, item->text);
    g_string_append(writer->out, "</text>\n");
}

static gboolean
put_image(Writer *writer, const LimnItem *item)
{
    cairo_surface_t *surface =
        limn_image_item_to_surface(item, limn_crisp_factor(item), 1);
    if (!surface) {
        g_set_error(writer->error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "SVG: no memory for a picture of %d x %d pixels", item->width,
                    item->height);
        return FALSE;
    }
    begin_image(writer, &item->box);
    if (item->opacity < 1)
        put_attribute(writer, "opacity", item->opacity);
    if (item->crisp)
        g_string_append(
            writer->out,
            " style=\"image-rendering:optimizeSpeed;image-rendering:pixelated\"");
    gboolean ok = end_image(writer, surface);
    cairo_surface_destroy(surface);
    return ok;
}

static void
put_clip(Writer *writer, const LimnItem *item)
{
    int id = ++writer->n_clips;
    g_string_append_printf(writer->out, "<clipPath id=\"clip-%d\"><path", id);
    put_path_data(writer, item->path);
    g_string_append_printf(writer->out,
                           " clip-rule=\"evenodd\"/></clipPath>\n"
                           "<g clip-path=\"url(#clip-%d)\">\n",
                           id);
}

// A second group of the same name gets "-2" behind its id.
static void
put_group(Writer *writer, const char *id)
{
    int count = GPOINTER_TO_INT(g_hash_table_lookup(writer->ids, id)) + 1;
    g_hash_table_replace(writer->ids, g_strdup(id), GINT_TO_POINTER(count));
    g_string_append(writer->out, "<g id=\"");
    put_escaped(writer, id);
    if (count > 1)
        g_string_append_printf(writer->out, "-%d", count);
    g_string_append(writer->out, "\">\n");
}

static gboolean
put_item(Writer *writer, const LimnItem *item)
{
    switch (item->kind) {
    case LIMN_ITEM_PATH:
        put_path(writer, item);
        break;
    case LIMN_ITEM_TEXT:
        if (writer->outlines)
            return put_outlines(writer, item);
        put_text(writer, item);
        break;
    case LIMN_ITEM_IMAGE:
        return put_image(writer, item);
    case LIMN_ITEM_CLIP_BEGIN:
        put_clip(writer, item);
        break;
    case LIMN_ITEM_GROUP_BEGIN:
        put_group(writer, item->text);
        break;
    case LIMN_ITEM_CLIP_END:
    case LIMN_ITEM_GROUP_END:
        g_string_append(writer->out, "</g>\n");
        break;
    }
    return TRUE;
}

static void
put_head(Writer *writer, double width, double height, const char *title)
{
    g_string_append(writer->out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                                 "<svg xmlns=\"http://www.w3.org/2000/svg\" "
                                 "xmlns:xlink=\"http://www.w3.org/1999/xlink\" "
                                 "version=\"1.1\" width=\"");
    put_number(writer, width * 25.4 / 72);
    g_string_append(writer->out, "mm\" height=\"");
    put_number(writer, height * 25.4 / 72);
    g_string_append(writer->out, "mm\" viewBox=\"0 0 ");
    put_point(writer, width, height);
    g_string_append(writer->out, "\">\n");
    if (title && title[0]) {
        g_string_append(writer->out, "<title>");
        put_escaped(writer, title);
        g_string_append(writer->out, "</title>\n");
    }
}

GBytes *
limn_write_svg(const LimnDisplayList *list, double width, double height,
               const char *title, gboolean text_as_outlines, GError **error)
{
    Writer writer = {.out = g_string_new(NULL),
                     .outlines = text_as_outlines,
                     .ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                     .error = error};
    put_head(&writer, width, height, title);
    gboolean ok = TRUE;
    for (guint i = 0; ok && i < list->items->len; i++)
        ok = put_item(&writer, list->items->pdata[i]);
    g_string_append(writer.out, "</svg>\n");
    g_hash_table_unref(writer.ids);
    if (!ok) {
        g_string_free(writer.out, TRUE);
        return NULL;
    }
    return g_string_free_to_bytes(writer.out);
}
