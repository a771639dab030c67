// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/draw-cairo.h"

#include "engine/figure/text-layout.h"

#include <hb-ot.h>
#include <math.h>
#include <string.h>

#define MAX_ENLARGED_PIXELS 4e6
#define MAX_ENLARGED_SIDE 16000

typedef struct {
    cairo_t *cr;
    LimnDrawTarget target;
    gboolean outlines;
} Drawing;

static void
set_color(cairo_t *cr, LimnColor color)
{
    cairo_set_source_rgba(cr, color.red, color.green, color.blue, color.alpha);
}

static void
put_path(cairo_t *cr, const LimnPath *path)
{
    cairo_new_path(cr);
    for (guint i = 0; i < path->steps->len; i++) {
        const LimnPathStep *s = &g_array_index(path->steps, LimnPathStep, i);
        switch (s->op) {
        case LIMN_PATH_MOVE:
            cairo_move_to(cr, s->x[0], s->y[0]);
            break;
        case LIMN_PATH_LINE:
            cairo_line_to(cr, s->x[0], s->y[0]);
            break;
        case LIMN_PATH_CURVE:
            cairo_curve_to(cr, s->x[0], s->y[0], s->x[1], s->y[1], s->x[2], s->y[2]);
            break;
        case LIMN_PATH_CLOSE:
            cairo_close_path(cr);
            break;
        }
    }
}

static void
draw_path(cairo_t *cr, const LimnItem *item)
{
    const LimnPathStyle *style = &item->style;
    put_path(cr, item->path);
    if (style->has_fill) {
        cairo_set_fill_rule(cr, style->even_odd ? CAIRO_FILL_RULE_EVEN_ODD
                                                : CAIRO_FILL_RULE_WINDING);
        set_color(cr, style->fill);
        cairo_fill_preserve(cr);
    }
    if (style->has_stroke) {
        cairo_set_line_width(cr, style->width);
        cairo_set_line_cap(cr, style->round ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
        cairo_set_line_join(cr,
                            style->round ? CAIRO_LINE_JOIN_ROUND : CAIRO_LINE_JOIN_MITER);
        cairo_set_dash(cr, style->dash, style->n_dash, 0);
        set_color(cr, style->stroke);
        cairo_stroke_preserve(cr);
    }
    cairo_new_path(cr);
}

// Moves to where the line of a text item begins, turned; the layout is for that place.
static PangoLayout *
place_text(cairo_t *cr, const LimnItem *item)
{
    cairo_translate(cr, item->x, item->y);
    if (item->angle != 0)
        cairo_rotate(cr, -item->angle * G_PI / 180);
    PangoLayout *layout = limn_text_create_layout(cr, item->text, &item->font);
    PangoRectangle logical;
    pango_layout_get_extents(layout, NULL, &logical);
    double shift = limn_anchor_shift(item->anchor, logical.width / (double) PANGO_SCALE);
    cairo_move_to(cr, -shift, 0);
    return layout;
}

typedef enum {
    GLYPHS_PATH,  // outlines of the plain glyphs, into the current path
    GLYPHS_TEXT,  // the plain glyphs, as text
    GLYPHS_COLOR, // colour glyphs, drawn
} GlyphPart;

static gboolean
is_color_font(PangoFont *font)
{
    if (!font)
        return FALSE;
    hb_face_t *face = hb_font_get_face(pango_font_get_hb_font(font));
    return hb_ot_color_has_png(face) || hb_ot_color_has_layers(face) ||
           hb_ot_color_has_svg(face);
}

// Runs of one line from the current point on. Returns whether there were colour glyphs.
static gboolean
put_runs(cairo_t *cr, const char *text, PangoLayoutLine *line, GlyphPart part)
{
    double x, y, offset = 0;
    gboolean has_color = FALSE;
    cairo_get_current_point(cr, &x, &y);
    for (GSList *l = line->runs; l; l = l->next) {
        PangoGlyphItem *run = l->data;
        PangoFont *font = run->item->analysis.font;
        gboolean color = is_color_font(font);
        has_color |= color;
        cairo_move_to(cr, x + offset / PANGO_SCALE, y);
        if (color && part == GLYPHS_COLOR)
            pango_cairo_show_glyph_string(cr, font, run->glyphs);
        else if (!color && part == GLYPHS_PATH)
            pango_cairo_glyph_string_path(cr, font, run->glyphs);
        else if (!color && part == GLYPHS_TEXT)
            pango_cairo_show_glyph_item(cr, text, run);
        offset += pango_glyph_string_get_width(run->glyphs);
    }
    return has_color;
}

static void
set_source_image(cairo_t *cr, cairo_surface_t *surface, const LimnBox *box)
{
    cairo_translate(cr, box->x, box->y);
    cairo_scale(cr, box->width / cairo_image_surface_get_width(surface),
                box->height / cairo_image_surface_get_height(surface));
    cairo_set_source_surface(cr, surface, 0, 0);
}

// Colour glyphs as a picture of 600 dpi; cairo's own in a PDF have that of the screen.
static gboolean
draw_color_glyphs(cairo_t *cr, const LimnItem *item)
{
    LimnBox box;
    cairo_surface_t *glyphs = limn_text_item_to_color_glyphs(item, 600 / 72.0, &box);
    if (!glyphs)
        return FALSE;
    cairo_save(cr);
    set_source_image(cr, glyphs, &box);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(glyphs);
    return TRUE;
}

static void
draw_text(Drawing *drawing, const LimnItem *item)
{
    cairo_t *cr = drawing->cr;
    gboolean vector = drawing->target == LIMN_DRAW_VECTOR;
    gboolean has_color = (vector || drawing->outlines) && draw_color_glyphs(cr, item);
    cairo_save(cr);
    cairo_new_path(cr);
    set_color(cr, item->font.color);
    g_autoptr(PangoLayout) layout = place_text(cr, item);
    PangoLayoutLine *line = pango_layout_get_line_readonly(layout, 0);
    if (drawing->outlines) {
        put_runs(cr, item->text, line, GLYPHS_PATH);
        cairo_fill(cr);
    } else if (has_color) {
        put_runs(cr, item->text, line, GLYPHS_TEXT);
    } else {
        pango_cairo_show_layout_line(cr, line);
    }
    cairo_restore(cr);
}

static void
append_cairo_path(LimnPath *path, const cairo_path_t *source)
{
    for (int i = 0; i < source->num_data; i += source->data[i].header.length) {
        const cairo_path_data_t *d = &source->data[i];
        switch (d->header.type) {
        case CAIRO_PATH_MOVE_TO:
            limn_path_move(path, d[1].point.x, d[1].point.y);
            break;
        case CAIRO_PATH_LINE_TO:
            limn_path_line(path, d[1].point.x, d[1].point.y);
            break;
        case CAIRO_PATH_CURVE_TO:
            limn_path_curve(path, d[1].point.x, d[1].point.y, d[2].point.x, d[2].point.y,
                            d[3].point.x, d[3].point.y);
            break;
        case CAIRO_PATH_CLOSE_PATH:
            limn_path_close(path);
            break;
        }
    }
}

LimnPath *
limn_text_item_to_path(const LimnItem *item)
{
    cairo_surface_t *surface =
        cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
    cairo_t *cr = cairo_create(surface);
    g_autoptr(PangoLayout) layout = place_text(cr, item);
    put_runs(cr, item->text, pango_layout_get_line_readonly(layout, 0), GLYPHS_PATH);
    cairo_identity_matrix(cr);
    cairo_path_t *outline = cairo_copy_path(cr);
    LimnPath *path = limn_path_new();
    append_cairo_path(path, outline);
    cairo_path_destroy(outline);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return path;
}

cairo_surface_t *
limn_text_item_to_color_glyphs(const LimnItem *item, double scale, LimnBox *box)
{
    cairo_rectangle_t extents;
    cairo_surface_t *recording =
        cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, NULL);
    cairo_t *cr = cairo_create(recording);
    cairo_scale(cr, scale, scale);
    set_color(cr, item->font.color);
    g_autoptr(PangoLayout) layout = place_text(cr, item);
    gboolean has_color =
        put_runs(cr, item->text, pango_layout_get_line_readonly(layout, 0), GLYPHS_COLOR);
    cairo_destroy(cr);
    cairo_recording_surface_ink_extents(recording, &extents.x, &extents.y, &extents.width,
                                        &extents.height);
    cairo_surface_t *surface = NULL;
    if (has_color && extents.width > 0 && extents.height > 0) {
        double left = floor(extents.x), top = floor(extents.y);
        int width = (int) ceil(extents.x + extents.width - left);
        int height = (int) ceil(extents.y + extents.height - top);
        surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
        cr = cairo_create(surface);
        cairo_set_source_surface(cr, recording, -left, -top);
        cairo_paint(cr);
        cairo_destroy(cr);
        *box = (LimnBox){left / scale, top / scale, width / scale, height / scale};
    }
    cairo_surface_destroy(recording);
    return surface;
}

int
limn_crisp_factor(const LimnItem *item)
{
    if (!item->crisp)
        return 1;
    double needed = MAX(item->box.width / item->width, item->box.height / item->height);
    double factor = ceil(needed * 300 / 72);
    double pixels = (double) item->width * item->height;
    factor = MIN(factor, floor(sqrt(MAX_ENLARGED_PIXELS / pixels)));
    factor =
        MIN(factor, floor((double) MAX_ENLARGED_SIDE / MAX(item->width, item->height)));
    return (int) MAX(factor, 1);
}

// Premultiplied ARGB, which for alpha 255 is also what an opaque surface wants.
static guint32
pack_pixel(const guint8 *rgb, guint alpha)
{
    guint32 pixel = alpha << 24;
    for (int c = 0; c < 3; c++)
        pixel |= (rgb[c] * alpha + 127) / 255 << (16 - 8 * c);
    return pixel;
}

static void
fill_row(guint32 *out, const guint8 *rgb, int width, int factor, guint alpha)
{
    for (int x = 0; x < width; x++) {
        guint32 pixel = pack_pixel(rgb + 3 * x, alpha);
        for (int k = 0; k < factor; k++)
            *out++ = pixel;
    }
}

cairo_surface_t *
limn_image_item_to_surface(const LimnItem *item, int factor, double opacity)
{
    int width = item->width * factor, height = item->height * factor;
    guint alpha = (guint) floor(CLAMP(opacity, 0, 1) * 255 + 0.5);
    cairo_surface_t *surface = cairo_image_surface_create(
        alpha == 255 ? CAIRO_FORMAT_RGB24 : CAIRO_FORMAT_ARGB32, width, height);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        cairo_surface_destroy(surface);
        return NULL;
    }
    cairo_surface_flush(surface);
    const guint8 *rgb = g_bytes_get_data(item->rgb, NULL);
    guint8 *data = cairo_image_surface_get_data(surface);
    gsize stride = cairo_image_surface_get_stride(surface);
    for (int y = 0; y < item->height; y++) {
        guint8 *row = data + (gsize) y * factor * stride;
        fill_row((guint32 *) (gpointer) row, rgb + (gsize) y * item->width * 3,
                 item->width, factor, alpha);
        for (int k = 1; k < factor; k++)
            memcpy(row + k * stride, row, (gsize) width * 4);
    }
    cairo_surface_mark_dirty(surface);
    return surface;
}

// On pixels the edges of a picture are moved to whole ones, so that they stay sharp.
static LimnBox
snap_box(cairo_t *cr, const LimnBox *box)
{
    double x0 = box->x, y0 = box->y;
    double x1 = box->x + box->width, y1 = box->y + box->height;
    cairo_user_to_device(cr, &x0, &y0);
    cairo_user_to_device(cr, &x1, &y1);
    x0 = floor(x0 + 0.5);
    y0 = floor(y0 + 0.5);
    x1 = MAX(floor(x1 + 0.5), x0 + 1);
    y1 = MAX(floor(y1 + 0.5), y0 + 1);
    cairo_device_to_user(cr, &x0, &y0);
    cairo_device_to_user(cr, &x1, &y1);
    return (LimnBox){x0, y0, x1 - x0, y1 - y0};
}

static gboolean
is_shrunk(cairo_t *cr, const LimnBox *box, int width)
{
    double dx = box->width, dy = 0;
    cairo_user_to_device_distance(cr, &dx, &dy);
    return hypot(dx, dy) < width;
}

// Opacity goes into the pixels, as a soft mask of the picture: other ways make cairo cut
// the picture at whole points.
static void
draw_vector_image(cairo_t *cr, const LimnItem *item)
{
    cairo_surface_t *surface =
        limn_image_item_to_surface(item, limn_crisp_factor(item), item->opacity);
    if (!surface)
        return;
    cairo_save(cr);
    set_source_image(cr, surface, &item->box);
    cairo_pattern_set_filter(cairo_get_source(cr),
                             item->crisp ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(surface);
}

static void
draw_raster_image(cairo_t *cr, const LimnItem *item)
{
    cairo_surface_t *surface = limn_image_item_to_surface(item, 1, 1);
    if (!surface)
        return;
    LimnBox box = snap_box(cr, &item->box);
    // Smaller than its own pixels, a crisp picture is averaged instead of thinned out.
    gboolean nearest = item->crisp && !is_shrunk(cr, &box, item->width);
    cairo_save(cr);
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    cairo_clip(cr);
    set_source_image(cr, surface, &box);
    cairo_pattern_t *pattern = cairo_get_source(cr);
    cairo_pattern_set_filter(pattern, nearest ? CAIRO_FILTER_NEAREST : CAIRO_FILTER_GOOD);
    cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD);
    if (item->opacity < 1)
        cairo_paint_with_alpha(cr, item->opacity);
    else
        cairo_paint(cr);
    cairo_restore(cr);
    cairo_surface_destroy(surface);
}

static void
draw_item(Drawing *drawing, const LimnItem *item)
{
    switch (item->kind) {
    case LIMN_ITEM_PATH:
        draw_path(drawing->cr, item);
        break;
    case LIMN_ITEM_TEXT:
        draw_text(drawing, item);
        break;
    case LIMN_ITEM_IMAGE:
        if (drawing->target == LIMN_DRAW_VECTOR)
            draw_vector_image(drawing->cr, item);
        else
            draw_raster_image(drawing->cr, item);
        break;
    case LIMN_ITEM_CLIP_BEGIN:
        cairo_save(drawing->cr);
        put_path(drawing->cr, item->path);
        cairo_set_fill_rule(drawing->cr, CAIRO_FILL_RULE_EVEN_ODD);
        cairo_clip(drawing->cr);
        break;
    case LIMN_ITEM_CLIP_END:
        cairo_restore(drawing->cr);
        break;
    case LIMN_ITEM_GROUP_BEGIN:
    case LIMN_ITEM_GROUP_END:
        break;
    }
}

void
limn_draw_list(cairo_t *cr, const LimnDisplayList *list, LimnDrawTarget target,
               gboolean text_as_outlines)
{
    Drawing drawing = {cr, target, text_as_outlines};
    cairo_save(cr);
    for (guint i = 0; i < list->items->len; i++)
        draw_item(&drawing, list->items->pdata[i]);
    cairo_restore(cr);
}
