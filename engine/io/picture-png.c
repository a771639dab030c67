// SPDX-License-Identifier: GPL-3.0-or-later

// PNG. What is checked before libpng sees the file:
//
//   offset  size  field              rule
//   0       8     signature          checked by the caller
//   8       4     length of IHDR     13
//   12      4     "IHDR"
//   16      8     width, height      1 .. 2^31-1, then limn_picture_check_size()
//   24      1     bit depth          1, 2, 4, 8, 16 as the colour type allows
//   25      1     colour type        0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA
//   28      1     interlace          0, 1
//
// The deflate format expands at most 1032 times, which bounds the size that a file can
// hold. Samples are kept as stored: 1, 2 and 4 bits unscaled, palette indices as they
// are, tRNS of grey and RGB as a key, gamma and profiles left alone (as Pillow does).
// libpng reports errors by longjmp: it happens only inside functions that are called
// through run_guarded() and that own nothing.

#include <png.h>
#include <setjmp.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/picture-private.h"

#define DEFLATE_MAX_RATIO 1032

typedef struct {
    guint64 width, height;
    int bits, type, interlace;
    int channels;
} Header;

typedef struct {
    const LimnPictureSource *source;
    png_structp png;
    png_infop info;
    gsize position;
    gboolean ended; // libpng asked for more than there is
    gboolean cancelled;
    char message[160]; // of libpng
    LimnImage *image;
    gint64 rows; // complete rows so far
} Decoder;

static guint32
read_u32(const guint8 *p)
{
    return (guint32) p[0] << 24 | (guint32) p[1] << 16 | (guint32) p[2] << 8 | p[3];
}

static gboolean
is_allowed(const Header *header)
{
    gboolean low = header->bits == 1 || header->bits == 2 || header->bits == 4;
    gboolean high = header->bits == 8 || header->bits == 16;
    switch (header->type) {
    case PNG_COLOR_TYPE_GRAY:
        return low || high;
    case PNG_COLOR_TYPE_PALETTE:
        return low || header->bits == 8;
    case PNG_COLOR_TYPE_RGB:
    case PNG_COLOR_TYPE_GRAY_ALPHA:
    case PNG_COLOR_TYPE_RGB_ALPHA:
        return high;
    default:
        return FALSE;
    }
}

static gboolean
read_header(const LimnPictureSource *source, Header *header, GError **error)
{
    const guint8 *data = source->data;
    if (source->size < 33) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                                   "the PNG header is cut (found %" G_GSIZE_FORMAT
                                   " bytes, expected at least 33)",
                                   source->size);
    }
    if (read_u32(data + 8) != 13 || memcmp(data + 12, "IHDR", 4) != 0) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                                   "the PNG does not begin with an IHDR chunk");
    }
    *header = (Header){.width = read_u32(data + 16),
                       .height = read_u32(data + 20),
                       .bits = data[24],
                       .type = data[25],
                       .interlace = data[28]};
    if (!is_allowed(header)) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                                   "no PNG has %d bits with colour type %d", header->bits,
                                   header->type);
    }
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    header->channels = channels[header->type];
    guint64 row = (header->width * (guint64) (header->bits * header->channels) + 7) / 8;
    guint64 raw =
        row < G_MAXUINT64 / MAX(header->height, 1) ? row * header->height : G_MAXUINT64;
    guint64 pixel = (guint64) header->channels * (header->bits == 16 ? 2 : 1);
    return limn_picture_check_size(source, header->width, header->height, pixel, 3 * row,
                                   raw / DEFLATE_MAX_RATIO, error);
}

// The data of the first chunk of a type; NULL when there is none. A chunk: length u32,
// type, data, checksum u32.
static const guint8 *
find_chunk(const LimnPictureSource *source, const char *type, gsize *size)
{
    gsize position = 8;
    while (position <= source->size && source->size - position >= 12) {
        const guint8 *chunk = source->data + position;
        gsize length = read_u32(chunk);
        if (length > source->size - position - 12) {
            break;
        }
        if (memcmp(chunk + 4, type, 4) == 0) {
            *size = length;
            return chunk + 8;
        }
        position += length + 12;
    }
    return NULL;
}

static int
find_orientation(const LimnPictureSource *source)
{
    gsize size;
    const guint8 *exif = find_chunk(source, "eXIf", &size);
    return exif != NULL ? limn_exif_orientation(exif, size) : 1;
}

static gboolean
png_probe(const LimnPictureSource *source, LimnPictureInfo *info, GError **error)
{
    Header header;
    if (!read_header(source, &header, error)) {
        return FALSE;
    }
    info->width = (int) header.width;
    info->height = (int) header.height;
    info->orientation = find_orientation(source);
    return TRUE;
}

static void
on_error(png_structp png, png_const_charp message)
{
    Decoder *decoder = png_get_error_ptr(png);
    g_strlcpy(decoder->message, message, sizeof decoder->message);
    longjmp(png_jmpbuf(png), 1);
}

static void
on_warning(png_structp png, png_const_charp message)
{
}

static void
on_read(png_structp png, png_bytep out, size_t size)
{
    Decoder *decoder = png_get_io_ptr(png);
    if (size > decoder->source->size - decoder->position) {
        decoder->ended = TRUE;
        png_error(png, "end of file");
    }
    memcpy(out, decoder->source->data + decoder->position, size);
    decoder->position += size;
}

// Calls a step in which libpng may jump out. FALSE when it did.
static gboolean
run_guarded(Decoder *decoder, void (*step)(Decoder *decoder))
{
    if (setjmp(png_jmpbuf(decoder->png)) != 0) {
        return FALSE;
    }
    step(decoder);
    return TRUE;
}

static void
step_info(Decoder *decoder)
{
    png_read_info(decoder->png, decoder->info);
    png_set_packing(decoder->png);
    if (G_BYTE_ORDER == G_LITTLE_ENDIAN &&
        png_get_bit_depth(decoder->png, decoder->info) == 16) {
        png_set_swap(decoder->png);
    }
}

static void
step_rows(Decoder *decoder)
{
    LimnImage *image = decoder->image;
    gsize stride = limn_image_stride(image);
    int passes = png_set_interlace_handling(decoder->png);
    png_read_update_info(decoder->png, decoder->info);
    if (png_get_rowbytes(decoder->png, decoder->info) != stride) {
        png_error(decoder->png, "rows of another length than the header says");
    }
    for (int pass = 0; pass < passes; pass++) {
        for (int y = 0; y < image->height; y++) {
            if (limn_job_is_cancelled(decoder->source->job)) {
                decoder->cancelled = TRUE;
                png_error(decoder->png, "cancelled");
            }
            png_read_row(decoder->png, (png_bytep) image->data + (gsize) y * stride,
                         NULL);
            decoder->rows = ((gint64) pass * image->height + y + 1) / passes;
        }
    }
}

static void
step_end(Decoder *decoder)
{
    png_read_end(decoder->png, NULL);
}

static gboolean
set_error(const Decoder *decoder, GError **error)
{
    const LimnPictureSource *source = decoder->source;
    if (decoder->cancelled) {
        return limn_job_check(source->job, error);
    }
    if (decoder->ended && decoder->image == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                                   "the file ends before the picture begins "
                                   "(found %" G_GSIZE_FORMAT " bytes)",
                                   source->size);
    }
    if (decoder->ended) {
        return limn_picture_set_truncated(source, decoder->rows, decoder->image->height,
                                          error);
    }
    if (decoder->image == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                                   "damaged PNG header: %s", decoder->message);
    }
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                               "damaged PNG data after %" G_GINT64_FORMAT
                               " of %d rows: %s",
                               decoder->rows, decoder->image->height, decoder->message);
}

static void
read_palette(Decoder *decoder, LimnImage *image)
{
    png_colorp colours;
    png_bytep alpha;
    int n = 0, n_alpha = 0;
    if (png_get_PLTE(decoder->png, decoder->info, &colours, &n) == 0) {
        return;
    }
    image->n_palette = MIN(n, 256);
    for (int i = 0; i < image->n_palette; i++) {
        image->palette[i][0] = colours[i].red;
        image->palette[i][1] = colours[i].green;
        image->palette[i][2] = colours[i].blue;
    }
    if (png_get_tRNS(decoder->png, decoder->info, &alpha, &n_alpha, NULL) == 0) {
        return;
    }
    image->palette_has_alpha = TRUE;
    for (int i = 0; i < MIN(n_alpha, image->n_palette); i++) {
        image->palette[i][3] = alpha[i];
    }
}

static void
read_key(Decoder *decoder, LimnImage *image)
{
    png_color_16p key;
    if (png_get_tRNS(decoder->png, decoder->info, NULL, NULL, &key) == 0) {
        return;
    }
    guint16 mask = (guint16) ((1u << image->bits) - 1);
    image->has_key = TRUE;
    if (image->pixels == LIMN_PIXELS_GREY) {
        image->key[0] = key->gray & mask;
    } else {
        image->key[0] = key->red & mask;
        image->key[1] = key->green & mask;
        image->key[2] = key->blue & mask;
    }
}

static LimnImage *
new_image(Decoder *decoder, const Header *header, GError **error)
{
    static const LimnPixels pixels[] = {
        [PNG_COLOR_TYPE_GRAY] = LIMN_PIXELS_GREY,
        [PNG_COLOR_TYPE_RGB] = LIMN_PIXELS_RGB,
        [PNG_COLOR_TYPE_PALETTE] = LIMN_PIXELS_INDEXED,
        [PNG_COLOR_TYPE_GRAY_ALPHA] = LIMN_PIXELS_GREY_ALPHA,
        [PNG_COLOR_TYPE_RGB_ALPHA] = LIMN_PIXELS_RGBA,
    };
    LimnImage *image =
        limn_image_new((int) header->width, (int) header->height, pixels[header->type],
                       header->bits == 16 ? LIMN_DEPTH_U16 : LIMN_DEPTH_U8, error);
    if (image == NULL) {
        return NULL;
    }
    image->bits = header->bits;
    image->format = "PNG";
    image->orientation = find_orientation(decoder->source);
    if (image->pixels == LIMN_PIXELS_INDEXED) {
        read_palette(decoder, image);
    } else if (image->pixels == LIMN_PIXELS_GREY || image->pixels == LIMN_PIXELS_RGB) {
        read_key(decoder, image);
    }
    return image;
}

static void
diagnose(const LimnPictureSource *source, const LimnImage *image)
{
    gsize size;
    double least, most;
    if (find_chunk(source, "acTL", &size) != NULL) {
        limn_job_diagnose(source->job, LIMN_DIAGNOSTIC_NOTE, source->name,
                          "the PNG is animated; its first picture is used");
    }
    if (image->pixels == LIMN_PIXELS_INDEXED && limn_image_range(image, &least, &most) &&
        most >= image->n_palette) {
        limn_job_diagnose(source->job, LIMN_DIAGNOSTIC_WARNING, source->name,
                          "index %d is beyond the palette of %d colours", (int) most,
                          image->n_palette);
    }
}

static LimnImage *
decode(Decoder *decoder, const Header *header, GError **error)
{
    if (!run_guarded(decoder, step_info)) {
        set_error(decoder, error);
        return NULL;
    }
    g_autoptr(LimnImage) image = new_image(decoder, header, error);
    if (image == NULL) {
        return NULL;
    }
    decoder->image = image;
    if (!run_guarded(decoder, step_rows)) {
        set_error(decoder, error);
        return NULL;
    }
    if (!run_guarded(decoder, step_end)) {
        limn_job_diagnose(decoder->source->job, LIMN_DIAGNOSTIC_WARNING,
                          decoder->source->name,
                          "the end of the PNG is damaged (%s); all rows could be read",
                          decoder->message);
    }
    diagnose(decoder->source, image);
    return g_steal_pointer(&image);
}

// No chunk is larger than the file, and those that nothing here asks for are passed over.
static void
set_limits(const Decoder *decoder)
{
    static const png_byte unwanted[] = "iCCP\0sPLT\0hIST\0tEXt\0zTXt\0iTXt\0eXIf\0tIME";
    png_set_user_limits(decoder->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(decoder->png, MAX(decoder->source->size, 1 << 16));
    png_set_keep_unknown_chunks(decoder->png, PNG_HANDLE_CHUNK_NEVER, unwanted,
                                sizeof unwanted / 5);
}

static LimnImage *
png_load(const LimnPictureSource *source, GError **error)
{
    Header header;
    if (!read_header(source, &header, error)) {
        return NULL;
    }
    Decoder decoder = {.source = source};
    decoder.png =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoder, on_error, on_warning);
    decoder.info = decoder.png != NULL ? png_create_info_struct(decoder.png) : NULL;
    LimnImage *image = NULL;
    if (decoder.info != NULL) {
        png_set_read_fn(decoder.png, &decoder, on_read);
        set_limits(&decoder);
        image = decode(&decoder, &header, error);
    } else {
        limn_error_set_file(error, LIMN_ERROR_MEMORY, source->name,
                            "no memory for the PNG reader");
    }
    png_destroy_read_struct(&decoder.png, &decoder.info, NULL);
    return image;
}

const LimnPictureCodec limn_picture_png = {"PNG", png_load, png_probe};
