// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/write-png.h"

#include "engine/base/error.h"
#include "engine/figure/draw-cairo.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

#define MAX_SIDE 32767
#define MAX_PIXELS ((gint64) 1 << 28)
#define SIGNATURE_SIZE 8
#define IHDR_SIZE 25 // length, type, 13 bytes, CRC

static cairo_status_t
append(void *closure, const unsigned char *data, unsigned int length)
{
    g_byte_array_append(closure, data, length);
    return CAIRO_STATUS_SUCCESS;
}

static void
put_uint32(guint8 *out, guint32 value)
{
    value = GUINT32_TO_BE(value);
    memcpy(out, &value, 4);
}

static void
insert_resolution(GByteArray *png, double dpi)
{
    guint8 chunk[21] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    guint32 per_metre = (guint32) floor(dpi / 0.0254 + 0.5);
    put_uint32(chunk + 8, per_metre);
    put_uint32(chunk + 12, per_metre);
    chunk[16] = 1;
    put_uint32(chunk + 17, (guint32) crc32(0, chunk + 4, 13));
    guint at = SIGNATURE_SIZE + IHDR_SIZE;
    guint tail = png->len - at;
    g_byte_array_set_size(png, png->len + sizeof chunk);
    memmove(png->data + at + sizeof chunk, png->data + at, tail);
    memcpy(png->data + at, chunk, sizeof chunk);
}

GBytes *
limn_surface_to_png(cairo_surface_t *surface, double dpi, GError **error)
{
    GByteArray *png = g_byte_array_new();
    cairo_status_t status = cairo_surface_write_to_png_stream(surface, append, png);
    if (status != CAIRO_STATUS_SUCCESS || png->len < SIGNATURE_SIZE + IHDR_SIZE) {
        g_byte_array_unref(png);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY, "PNG: %s",
                    cairo_status_to_string(status));
        return NULL;
    }
    if (dpi > 0)
        insert_resolution(png, dpi);
    return g_byte_array_free_to_bytes(png);
}

static cairo_surface_t *
create_page(double width, double height, double dpi, GError **error)
{
    double columns = MAX(1, floor(width * dpi / 72 + 0.5));
    double rows = MAX(1, floor(height * dpi / 72 + 0.5));
    if (columns > MAX_SIDE || rows > MAX_SIDE || columns * rows > MAX_PIXELS) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "the picture would have %.0f x %.0f pixels (at most %d on a side and "
                    "%" G_GINT64_FORMAT " in all): lower the resolution or the width",
                    columns, rows, MAX_SIDE, MAX_PIXELS);
        return NULL;
    }
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int) columns, (int) rows);
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory for a picture of %.0f x %.0f pixels", columns, rows);
        cairo_surface_destroy(surface);
        return NULL;
    }
    return surface;
}

GBytes *
limn_write_png(const LimnDisplayList *list, double width, double height, LimnColor page,
               double dpi, gboolean text_as_outlines, GError **error)
{
    cairo_surface_t *surface = create_page(width, height, dpi, error);
    if (!surface)
        return NULL;
    cairo_t *cr = cairo_create(surface);
    cairo_set_source_rgb(cr, page.red, page.green, page.blue);
    cairo_paint(cr);
    cairo_scale(cr, dpi / 72, dpi / 72);
    limn_draw_list(cr, list, LIMN_DRAW_RASTER, text_as_outlines);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    GBytes *png = NULL;
    if (status == CAIRO_STATUS_SUCCESS)
        png = limn_surface_to_png(surface, dpi, error);
    else
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY, "PNG: %s",
                    cairo_status_to_string(status));
    cairo_surface_destroy(surface);
    return png;
}
