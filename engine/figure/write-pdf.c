// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/write-pdf.h"

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/figure/draw-cairo.h"

#include <cairo-pdf.h>

static cairo_status_t
append(void *closure, const unsigned char *data, unsigned int length)
{
    g_byte_array_append(closure, data, length);
    return CAIRO_STATUS_SUCCESS;
}

// Returns: (transfer full) an ISO 8601 date
static char *
document_date(void)
{
    const char *epoch = g_getenv("SOURCE_DATE_EPOCH");
    gint64 seconds;
    if (epoch && limn_integer_parse(epoch, &seconds)) {
        g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(seconds);
        if (date)
            return g_date_time_format(date, "%Y-%m-%dT%H:%M:%SZ");
    }
    return g_strdup("2000-01-01T00:00:00Z");
}

static void
set_metadata(cairo_surface_t *surface, const char *title)
{
    g_autofree char *date = document_date();
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATE_DATE, date);
    cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_CREATOR, "Limn");
    if (title && title[0])
        cairo_pdf_surface_set_metadata(surface, CAIRO_PDF_METADATA_TITLE, title);
}

GBytes *
limn_write_pdf(const LimnDisplayList *list, double width, double height,
               const char *title, gboolean text_as_outlines, GError **error)
{
    GByteArray *pdf = g_byte_array_new();
    cairo_surface_t *surface =
        cairo_pdf_surface_create_for_stream(append, pdf, width, height);
    set_metadata(surface, title);
    cairo_t *cr = cairo_create(surface);
    limn_draw_list(cr, list, LIMN_DRAW_VECTOR, text_as_outlines);
    cairo_status_t status = cairo_status(cr);
    cairo_destroy(cr);
    cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    cairo_surface_destroy(surface);
    if (status != CAIRO_STATUS_SUCCESS) {
        g_byte_array_unref(pdf);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY, "PDF: %s",
                    cairo_status_to_string(status));
        return NULL;
    }
    return g_byte_array_free_to_bytes(pdf);
}
