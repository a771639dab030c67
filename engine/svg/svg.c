// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/svg/svg.h"

#include <cairo.h>
#include <gio/gio.h>
#include <librsvg/rsvg.h>
#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/picture.h"

#define SNIFF_BYTES ((gsize) 64 << 10)
#define DPI 96.0

G_DEFINE_AUTOPTR_CLEANUP_FUNC(cairo_surface_t, cairo_surface_destroy)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(cairo_t, cairo_destroy)

// A drawing and the size in pixels at which it is drawn.
typedef struct {
    RsvgHandle *handle;
    double wanted; // longer side that the drawing asks for
    int width, height;
} Drawing;

static void
drawing_clear(Drawing *drawing)
{
    g_clear_object(&drawing->handle);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Drawing, drawing_clear)

static gboolean
svg_sniff(const guint8 *data, gsize size)
{
    const char *text = (const char *) data;
    gsize n = MIN(size, SNIFF_BYTES), i = 0;
    if (n >= 3 && memcmp(data, "\357\273\277", 3) == 0) {
        i = 3; // byte order mark
    }
    while (i < n && g_ascii_isspace(text[i])) {
        i++;
    }
    if (i == n || text[i] != '<') {
        return FALSE;
    }
    return g_strstr_len(text + i, (gssize) (n - i), "<svg") != NULL;
}

static gboolean
is_size(double width, double height)
{
    return isfinite(width) && isfinite(height) && width > 0 && height > 0;
}

// The size that the drawing gives itself; FALSE when it gives none.
static gboolean
find_size(RsvgHandle *handle, double *width, double *height)
{
    gboolean has_width, has_height, has_box;
    RsvgLength w, h;
    RsvgRectangle box, ink;
    if (rsvg_handle_get_intrinsic_size_in_pixels(handle, width, height) &&
        is_size(*width, *height)) {
        return TRUE;
    }
    rsvg_handle_get_intrinsic_dimensions(handle, &has_width, &w, &has_height, &h,
                                         &has_box, &box);
    if (has_box && is_size(box.width, box.height)) {
        *width = box.width;
        *height = box.height;
        return TRUE;
    }
    if (rsvg_handle_get_geometry_for_element(handle, NULL, &ink, NULL, NULL) &&
        is_size(ink.width, ink.height)) {
        *width = ink.width;
        *height = ink.height;
        return TRUE;
    }
    return FALSE;
}

static gboolean
drawing_open(Drawing *drawing, GBytes *bytes, const char *name, GError **error)
{
    g_autoptr(GInputStream) stream = g_memory_input_stream_new_from_bytes(bytes);
    g_autoptr(GError) problem = NULL;
    drawing->handle = rsvg_handle_new_from_stream_sync(
        stream, NULL, RSVG_HANDLE_FLAGS_NONE, NULL, &problem);
    if (drawing->handle == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name, "damaged SVG: %s",
                                   problem->message);
    }
    rsvg_handle_set_dpi(drawing->handle, DPI);
    double width, height;
    if (!find_size(drawing->handle, &width, &height)) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                   "the drawing is empty and has no size");
    }
    drawing->wanted = MAX(width, height);
    double scale = MIN(1.0, LIMN_SVG_MAX_SIDE / drawing->wanted);
    drawing->width = (int) CLAMP(round(width * scale), 1, LIMN_SVG_MAX_SIDE);
    drawing->height = (int) CLAMP(round(height * scale), 1, LIMN_SVG_MAX_SIDE);
    return TRUE;
}

// Native 32-bit premultiplied ARGB to RGBA.
static void
copy_pixels(cairo_surface_t *surface, LimnImage *image)
{
    const guint8 *data = cairo_image_surface_get_data(surface);
    gsize stride = (gsize) cairo_image_surface_get_stride(surface);
    guint8 *to = image->data;
    for (int y = 0; y < image->height; y++) {
        const guint32 *from =
            (const guint32 *) (const void *) (data + (gsize) y * stride);
        for (int x = 0; x < image->width; x++, to += 4) {
            guint alpha = from[x] >> 24;
            for (int c = 0; c < 3 && alpha > 0; c++) {
                guint value = (from[x] >> (16 - 8 * c)) & 255;
                to[c] = (guint8) MIN((value * 255 + alpha / 2) / alpha, 255);
            }
            to[3] = (guint8) alpha;
        }
    }
}

static gboolean
draw(const Drawing *drawing, const char *name, LimnImage *image, GError **error)
{
    g_autoptr(cairo_surface_t) surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, drawing->width, drawing->height);
    g_autoptr(cairo_t) cr = cairo_create(surface);
    g_autoptr(GError) problem = NULL;
    RsvgRectangle page = {0, 0, drawing->width, drawing->height};
    if (!rsvg_handle_render_document(drawing->handle, cr, &page, &problem)) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                   "the SVG cannot be drawn: %s", problem->message);
    }
    if (cairo_status(cr) != CAIRO_STATUS_SUCCESS) {
        return limn_error_set_file(error, LIMN_ERROR_MEMORY, name,
                                   "the SVG cannot be drawn: %s",
                                   cairo_status_to_string(cairo_status(cr)));
    }
    cairo_surface_flush(surface);
    copy_pixels(surface, image);
    return TRUE;
}

static LimnImage *
svg_load(GBytes *bytes, const char *name, LimnJob *job, GError **error)
{
    g_auto(Drawing) drawing = {NULL};
    if (!drawing_open(&drawing, bytes, name, error)) {
        return NULL;
    }
    g_autoptr(LimnImage) image = limn_image_new(drawing.width, drawing.height,
                                                LIMN_PIXELS_RGBA, LIMN_DEPTH_U8, error);
    if (image == NULL || !draw(&drawing, name, image, error)) {
        return NULL;
    }
    image->format = "SVG";
    if (drawing.wanted > LIMN_SVG_MAX_SIDE) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, name,
                          "the drawing was scaled down to %d x %d pixels", drawing.width,
                          drawing.height);
    }
    return g_steal_pointer(&image);
}

static gboolean
svg_probe(GBytes *bytes, const char *name, LimnPictureInfo *info, GError **error)
{
    g_auto(Drawing) drawing = {NULL};
    if (!drawing_open(&drawing, bytes, name, error)) {
        return FALSE;
    }
    info->width = drawing.width;
    info->height = drawing.height;
    info->orientation = 1;
    return TRUE;
}

void
limn_svg_init(void)
{
    static const LimnPictureReader reader = {"SVG", svg_sniff, svg_load, svg_probe};
    limn_picture_register_reader(&reader);
}
