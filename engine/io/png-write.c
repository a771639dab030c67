// SPDX-License-Identifier: GPL-3.0-or-later

// PNG out. The same picture gives the same bytes: fixed compression level and filters, no
// time, no text. Label maps keep their encoding (palette, tRNS, bit depth). libpng
// reports errors by longjmp: only inside write_guarded(), which owns nothing.

#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/picture-private.h"

#define COMPRESSION_LEVEL 6

// How the file will look.
typedef struct {
    int type, bits;
    int n_palette;
    guint32 most; // largest sample of a grey or indexed picture
} Layout;

typedef struct {
    const LimnImage *image;
    Layout layout;
    png_structp png;
    png_infop info;
    guint8 *out; // the file so far
    gsize size, capacity;
    guint8 *row; // one row as libpng wants it
    char message[160];
} Encoder;

// The least of 1, 2, 4, 8, 16 bits, not below `bits`, that holds `most`.
static int
bits_for(guint32 most, int bits)
{
    while (bits < 16 && most >= 1u << bits) {
        bits *= 2;
    }
    return bits;
}

static gboolean
refuse(GError **error, const char *what)
{
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT,
                "%s do not fit into a PNG (save the values as .npy)", what);
    return FALSE;
}

static gboolean
plan_values(const LimnImage *image, Layout *layout, GError **error)
{
    double least = 0, most = 0;
    limn_image_range(image, &least, &most);
    layout->most = (guint32) most;
    if (most > 65535) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT,
                    "ids up to %u do not fit into a PNG (found more than 65535, the most "
                    "that 16 bits hold; save the map as .npy)",
                    layout->most);
        return FALSE;
    }
    int stored = image->depth == LIMN_DEPTH_U8    ? image->bits
                 : image->depth == LIMN_DEPTH_U16 ? 16
                                                  : 8;
    layout->type = PNG_COLOR_TYPE_GRAY;
    layout->bits = bits_for(layout->most, stored);
    if (image->pixels == LIMN_PIXELS_INDEXED && layout->most <= 255) {
        layout->type = PNG_COLOR_TYPE_PALETTE;
        layout->bits = bits_for(MAX(layout->most, (guint32) MAX(image->n_palette, 1) - 1),
                                image->depth == LIMN_DEPTH_U8 ? MIN(image->bits, 8) : 8);
        layout->n_palette = MAX(image->n_palette, (int) layout->most + 1);
    }
    return TRUE;
}

static gboolean
plan(const LimnImage *image, Layout *layout, GError **error)
{
    *layout = (Layout){0};
    if (image->depth == LIMN_DEPTH_F32) {
        return refuse(error, "floating-point samples");
    }
    if (image->pixels == LIMN_PIXELS_GREY || image->pixels == LIMN_PIXELS_INDEXED) {
        return plan_values(image, layout, error);
    }
    if (image->depth == LIMN_DEPTH_U32) {
        return refuse(error, "colours of 32 bits");
    }
    layout->type = image->pixels == LIMN_PIXELS_RGB    ? PNG_COLOR_TYPE_RGB
                   : image->pixels == LIMN_PIXELS_RGBA ? PNG_COLOR_TYPE_RGB_ALPHA
                                                       : PNG_COLOR_TYPE_GRAY_ALPHA;
    layout->bits = image->depth == LIMN_DEPTH_U16 ? 16 : 8;
    return TRUE;
}

static void
on_error(png_structp png, png_const_charp message)
{
    Encoder *encoder = png_get_error_ptr(png);
    g_strlcpy(encoder->message, message, sizeof encoder->message);
    longjmp(png_jmpbuf(png), 1);
}

static void
on_warning(png_structp png, png_const_charp message)
{
}

static void
on_write(png_structp png, png_bytep data, size_t size)
{
    Encoder *encoder = png_get_io_ptr(png);
    if (size > encoder->capacity - encoder->size) {
        gsize capacity = 2 * encoder->capacity + size + 4096;
        guint8 *larger = g_try_realloc(encoder->out, capacity);
        if (larger == NULL) {
            png_error(png, "no memory");
        }
        encoder->out = larger;
        encoder->capacity = capacity;
    }
    memcpy(encoder->out + encoder->size, data, size);
    encoder->size += size;
}

static void
on_flush(png_structp png)
{
}

static void
write_palette(Encoder *encoder)
{
    const LimnImage *image = encoder->image;
    png_color colours[256] = {{0, 0, 0}};
    png_byte alpha[256] = {0};
    int n_alpha = 0;
    for (int i = 0; i < encoder->layout.n_palette; i++) {
        const guint8 *entry = image->palette[i];
        colours[i] = (png_color){entry[0], entry[1], entry[2]};
        alpha[i] = entry[3];
        n_alpha = entry[3] != 255 ? i + 1 : n_alpha;
    }
    png_set_PLTE(encoder->png, encoder->info, colours, encoder->layout.n_palette);
    if (image->palette_has_alpha && n_alpha > 0) {
        png_set_tRNS(encoder->png, encoder->info, alpha, n_alpha, NULL);
    }
}

static void
write_key(Encoder *encoder)
{
    const guint16 *key = encoder->image->key;
    png_color_16 colour = {
        .gray = key[0], .red = key[0], .green = key[1], .blue = key[2]};
    png_set_tRNS(encoder->png, encoder->info, NULL, 0, &colour);
}

// One row in the byte order of PNG, a byte or two per sample.
static void
pack_row(const Encoder *encoder, int y)
{
    const LimnImage *image = encoder->image;
    gsize n = (gsize) image->width * (gsize) limn_pixels_channels(image->pixels);
    gsize first = (gsize) y * n;
    gboolean wide = encoder->layout.bits == 16;
    for (gsize i = 0; i < n; i++) {
        guint32 value =
            image->depth == LIMN_DEPTH_U8    ? ((const guint8 *) image->data)[first + i]
            : image->depth == LIMN_DEPTH_U16 ? ((const guint16 *) image->data)[first + i]
                                             : ((const guint32 *) image->data)[first + i];
        if (wide) {
            encoder->row[2 * i] = (guint8) (value >> 8);
            encoder->row[2 * i + 1] = (guint8) value;
        } else {
            encoder->row[i] = (guint8) value;
        }
    }
}

static void
write_picture(Encoder *encoder)
{
    const LimnImage *image = encoder->image;
    const Layout *layout = &encoder->layout;
    gboolean plain = layout->type == PNG_COLOR_TYPE_PALETTE || layout->bits < 8;
    png_set_write_fn(encoder->png, encoder, on_write, on_flush);
    png_set_user_limits(encoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(encoder->png, COMPRESSION_LEVEL);
    png_set_filter(encoder->png, PNG_FILTER_TYPE_BASE,
                   plain ? PNG_FILTER_NONE : PNG_ALL_FILTERS);
    png_set_IHDR(encoder->png, encoder->info, (png_uint_32) image->width,
                 (png_uint_32) image->height, layout->bits, layout->type,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (layout->type == PNG_COLOR_TYPE_PALETTE) {
        write_palette(encoder);
    } else if (image->has_key && image->depth <= LIMN_DEPTH_U16 &&
               (layout->type & PNG_COLOR_MASK_ALPHA) == 0) {
        write_key(encoder);
    }
    png_write_info(encoder->png, encoder->info);
    png_set_packing(encoder->png);
    for (int y = 0; y < image->height; y++) {
        pack_row(encoder, y);
        png_write_row(encoder->png, encoder->row);
    }
    png_write_end(encoder->png, encoder->info);
}

static gboolean
write_guarded(Encoder *encoder)
{
    if (setjmp(png_jmpbuf(encoder->png)) != 0) {
        return FALSE;
    }
    write_picture(encoder);
    return TRUE;
}

GBytes *
limn_png_encode(LimnImage *image, GError **error)
{
    Encoder encoder = {.image = image};
    if (!plan(image, &encoder.layout, error)) {
        return NULL;
    }
    encoder.png =
        png_create_write_struct(PNG_LIBPNG_VER_STRING, &encoder, on_error, on_warning);
    encoder.info = encoder.png != NULL ? png_create_info_struct(encoder.png) : NULL;
    encoder.row = g_try_malloc_n((gsize) image->width,
                                 2 * (gsize) limn_pixels_channels(image->pixels));
    gboolean done = FALSE;
    if (encoder.info == NULL || encoder.row == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory to write a PNG of %d x %d pixels", image->width,
                    image->height);
    } else {
        done = write_guarded(&encoder);
        if (!done) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT, "cannot write the PNG: %s",
                        encoder.message);
        }
    }
    png_destroy_write_struct(&encoder.png, &encoder.info);
    g_free(encoder.row);
    if (!done) {
        g_free(encoder.out);
        return NULL;
    }
    return g_bytes_new_take(encoder.out, encoder.size);
}

gboolean
limn_png_save(LimnImage *image, const char *path, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(GBytes) bytes = limn_png_encode(image, &problem);
    if (bytes == NULL) {
        return limn_error_set_file(error, problem->code, path, "%s", problem->message);
    }
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    return limn_file_write(path, data, size, error);
}
