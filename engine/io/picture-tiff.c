// SPDX-License-Identifier: GPL-3.0-or-later

// TIFF and BigTIFF through libtiff, sample by sample, so that 16-bit, float and label
// data keep their values. What is read of the first page:
//
//   photometric      bits                    becomes
//   min is white     1 2 4 8 16 32           GREY, inverted (floats as they are)
//   min is black     1 2 4 8 16 32, float    GREY, with an alpha sample GREY_ALPHA
//   RGB              8 16 32, float          RGB, RGBA
//   palette          1 2 4 8                 INDEXED
//   separated        8 16, four inks         RGB, cmyk
//   YCbCr            8                       RGB
//
// Floats of 16, 32 and 64 bits and signed integers of 8 and 16 bits become F32; signed
// 32-bit integers U32 when none is negative. Strips and tiles, planes together or apart,
// both byte orders, every compression that libtiff has but the old JPEG one. Sizes are
// checked against the length of the file before anything is allocated: no compression
// beats the ratios in least_bytes(). libtiff's messages are kept, never printed.

#include <stdio.h>
#include <string.h>
#include <tiffio.h>

#include "engine/base/error.h"
#include "engine/io/picture-tiff-private.h"

typedef struct {
    const LimnPictureSource *source;
    TIFF *tiff;
    guint64 position;
    char message[200]; // the first one since it was cleared
    LimnTiffPlan plan;
} Decoder;

static tmsize_t
client_read(thandle_t handle, void *out, tmsize_t size)
{
    Decoder *decoder = handle;
    const LimnPictureSource *source = decoder->source;
    if (size <= 0 || decoder->position >= source->size) {
        return 0;
    }
    gsize n = MIN((gsize) size, source->size - (gsize) decoder->position);
    memcpy(out, source->data + decoder->position, n);
    decoder->position += n;
    return (tmsize_t) n;
}

static tmsize_t
client_write(thandle_t handle, void *data, tmsize_t size)
{
    return 0;
}

static toff_t
client_seek(thandle_t handle, toff_t offset, int whence)
{
    Decoder *decoder = handle;
    if (whence == SEEK_CUR) {
        offset += decoder->position;
    } else if (whence == SEEK_END) {
        offset += decoder->source->size;
    }
    decoder->position = offset;
    return offset;
}

static int
client_close(thandle_t handle)
{
    return 0;
}

static toff_t
client_size(thandle_t handle)
{
    return ((Decoder *) handle)->source->size;
}

static int
on_error(TIFF *tiff, void *user_data, const char *module, const char *format,
         va_list arguments)
{
    Decoder *decoder = user_data;
    if (decoder->message[0] == '\0') {
        g_vsnprintf(decoder->message, sizeof decoder->message, format, arguments);
    }
    return 1;
}

static int
on_warning(TIFF *tiff, void *user_data, const char *module, const char *format,
           va_list arguments)
{
    return 1;
}

// A few places of libtiff know only the handlers of the process.
static void
silence_libtiff(void)
{
    static gsize done;
    if (g_once_init_enter(&done)) {
        TIFFSetErrorHandler(NULL);
        TIFFSetWarningHandler(NULL);
        g_once_init_leave(&done, 1);
    }
}

static gboolean
decoder_open(Decoder *decoder, const LimnPictureSource *source, GError **error)
{
    *decoder = (Decoder){.source = source};
    silence_libtiff();
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (options != NULL) {
        guint64 bound = MIN(limn_picture_get_budget(), (guint64) G_MAXINT64);
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, (tmsize_t) bound);
        TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, decoder);
        TIFFOpenOptionsSetWarningHandlerExtR(options, on_warning, decoder);
        decoder->tiff = TIFFClientOpenExt("picture", "rm", decoder, client_read,
                                          client_write, client_seek, client_close,
                                          client_size, NULL, NULL, options);
        TIFFOpenOptionsFree(options);
    }
    return decoder->tiff != NULL ||
           limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                               "damaged TIFF directory: %s", decoder->message);
}

static void
decoder_close(Decoder *decoder)
{
    if (decoder->tiff != NULL) {
        TIFFClose(decoder->tiff);
    }
}

static guint16
get_u16(const Decoder *decoder, guint32 tag, guint16 otherwise)
{
    guint16 value = otherwise;
    return TIFFGetFieldDefaulted(decoder->tiff, tag, &value) == 1 ? value : otherwise;
}

static gboolean
unsupported(const Decoder *decoder, GError **error, const char *what)
{
    return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, decoder->source->name,
                               "is a TIFF with %s, which cannot be opened here (convert "
                               "it to 8- or 16-bit RGB or grey)",
                               what);
}

static gboolean
unsupported_number(const Decoder *decoder, GError **error, const char *what, int number)
{
    g_autofree char *text = g_strdup_printf(what, number);
    return unsupported(decoder, error, text);
}

// Type of the first sample beyond the colours; -1 when there is none.
static int
first_extra(const Decoder *decoder)
{
    guint16 n = 0;
    guint16 *types = NULL;
    if (TIFFGetField(decoder->tiff, TIFFTAG_EXTRASAMPLES, &n, &types) == 1 && n > 0) {
        return types[0];
    }
    return -1;
}

static gboolean
plan_depth(Decoder *decoder, GError **error)
{
    LimnTiffPlan *plan = &decoder->plan;
    gboolean low = plan->bits == 1 || plan->bits == 2 || plan->bits == 4;
    switch (plan->format) {
    case SAMPLEFORMAT_UINT:
    case SAMPLEFORMAT_VOID:
        if (low || plan->bits == 8 || plan->bits == 16 || plan->bits == 32) {
            plan->depth = plan->bits == 32   ? LIMN_DEPTH_U32
                          : plan->bits == 16 ? LIMN_DEPTH_U16
                                             : LIMN_DEPTH_U8;
            return TRUE;
        }
        break;
    case SAMPLEFORMAT_INT:
        if (plan->bits == 8 || plan->bits == 16 || plan->bits == 32) {
            plan->depth = plan->bits == 32 ? LIMN_DEPTH_U32 : LIMN_DEPTH_F32;
            return TRUE;
        }
        break;
    case SAMPLEFORMAT_IEEEFP:
        if (plan->bits == 16 || plan->bits == 32 || plan->bits == 64) {
            plan->depth = LIMN_DEPTH_F32;
            return TRUE;
        }
        break;
    default:
        return unsupported(decoder, error, "complex numbers");
    }
    return unsupported_number(decoder, error, "samples of %d bits", plan->bits);
}

static gboolean
plan_colours(Decoder *decoder, GError **error)
{
    LimnTiffPlan *plan = &decoder->plan;
    int colours = 1;
    switch (plan->photometric) {
    case PHOTOMETRIC_MINISWHITE:
    case PHOTOMETRIC_MINISBLACK:
    case PHOTOMETRIC_MASK:
        plan->pixels = LIMN_PIXELS_GREY;
        break;
    case PHOTOMETRIC_PALETTE:
        if (plan->bits > 8 || plan->depth != LIMN_DEPTH_U8) {
            return unsupported_number(decoder, error, "a palette of %d bits", plan->bits);
        }
        plan->pixels = LIMN_PIXELS_INDEXED;
        break;
    case PHOTOMETRIC_YCBCR:
        plan->ycbcr = plan->compression != COMPRESSION_JPEG;
        if (plan->bits != 8 || plan->depth != LIMN_DEPTH_U8) {
            return unsupported_number(decoder, error, "YCbCr of %d bits", plan->bits);
        }
        G_GNUC_FALLTHROUGH;
    case PHOTOMETRIC_RGB:
        plan->pixels = LIMN_PIXELS_RGB;
        colours = 3;
        break;
    case PHOTOMETRIC_SEPARATED:
        if ((plan->depth != LIMN_DEPTH_U8 && plan->depth != LIMN_DEPTH_U16) ||
            get_u16(decoder, TIFFTAG_INKSET, INKSET_CMYK) != INKSET_CMYK) {
            return unsupported(decoder, error, "inks other than 8- or 16-bit CMYK");
        }
        plan->pixels = LIMN_PIXELS_RGBA; // the four inks, for the time being
        plan->cmyk = TRUE;
        colours = 4;
        break;
    default:
        return unsupported_number(decoder, error, "colours of kind %d",
                                  plan->photometric);
    }
    if (plan->samples < colours) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, decoder->source->name,
                                   "has too few samples per pixel (found %d, expected at "
                                   "least %d)",
                                   plan->samples, colours);
    }
    plan->used = colours;
    return plan->bits >= 8 || plan->samples == 1 ||
           unsupported_number(decoder, error, "several samples of %d bits", plan->bits);
}

// An alpha sample after the colours.
static void
plan_alpha(Decoder *decoder)
{
    LimnTiffPlan *plan = &decoder->plan;
    int extra = first_extra(decoder);
    if (plan->cmyk || plan->ycbcr || plan->pixels == LIMN_PIXELS_INDEXED ||
        plan->samples <= plan->used || plan->format == SAMPLEFORMAT_INT ||
        (extra != EXTRASAMPLE_ASSOCALPHA && extra != EXTRASAMPLE_UNASSALPHA)) {
        return;
    }
    plan->pixels =
        plan->pixels == LIMN_PIXELS_GREY ? LIMN_PIXELS_GREY_ALPHA : LIMN_PIXELS_RGBA;
    plan->premultiplied = extra == EXTRASAMPLE_ASSOCALPHA;
    plan->used++;
}

// The fewest bytes that can hold the picture. Deflate expands at most 1032 times,
// PackBits 64 times, LZW (4096 strings of up to 4096 bytes in 12 bits each) 1400 times.
static guint64
least_bytes(const Decoder *decoder, guint64 row_bytes)
{
    const LimnTiffPlan *plan = &decoder->plan;
    guint64 planes = plan->separate ? plan->samples : 1;
    guint64 raw;
    if (!g_uint64_checked_mul(&raw, row_bytes, plan->height) ||
        !g_uint64_checked_mul(&raw, raw, planes)) {
        return G_MAXUINT64;
    }
    switch (plan->compression) {
    case COMPRESSION_NONE:
        return raw;
    case COMPRESSION_PACKBITS:
        return raw / 64;
    case COMPRESSION_DEFLATE:
    case COMPRESSION_ADOBE_DEFLATE:
        return raw / 1032;
    case COMPRESSION_LZW:
        return raw / 1400;
    default:
        return 0;
    }
}

static gboolean
check_sizes(Decoder *decoder, GError **error)
{
    const LimnTiffPlan *plan = &decoder->plan;
    guint64 row_bytes = TIFFScanlineSize64(decoder->tiff);
    guint64 pixel_size =
        limn_depth_size(plan->depth) * (guint64) limn_pixels_channels(plan->pixels);
    if (plan->cmyk) {
        pixel_size += 3 * limn_depth_size(plan->depth);
    }
    if (plan->ycbcr) {
        pixel_size += 4;
    }
    if (plan->width > 0 && row_bytes == 0) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, decoder->source->name,
                                   "damaged TIFF directory: %s", decoder->message);
    }
    return limn_picture_check_size(decoder->source, plan->width, plan->height, pixel_size,
                                   0, least_bytes(decoder, row_bytes), error);
}

// Reads the tags and decides what comes out.
static gboolean
make_plan(Decoder *decoder, GError **error)
{
    LimnTiffPlan *plan = &decoder->plan;
    TIFFGetField(decoder->tiff, TIFFTAG_IMAGEWIDTH, &plan->width);
    TIFFGetField(decoder->tiff, TIFFTAG_IMAGELENGTH, &plan->height);
    plan->bits = get_u16(decoder, TIFFTAG_BITSPERSAMPLE, 1);
    plan->samples = get_u16(decoder, TIFFTAG_SAMPLESPERPIXEL, 1);
    plan->format = get_u16(decoder, TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_UINT);
    plan->photometric = get_u16(decoder, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    plan->compression = get_u16(decoder, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    plan->separate = plan->samples > 1 &&
                     get_u16(decoder, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) ==
                         PLANARCONFIG_SEPARATE;
    plan->tiled = TIFFIsTiled(decoder->tiff) != 0;
    plan->orientation = get_u16(decoder, TIFFTAG_ORIENTATION, 1);
    if (plan->orientation < 1 || plan->orientation > 8) {
        plan->orientation = 1;
    }
    if (plan->compression == COMPRESSION_OJPEG ||
        !TIFFIsCODECConfigured(plan->compression)) {
        return unsupported_number(decoder, error, "compression %d", plan->compression);
    }
    guint32 depth = 1;
    if (TIFFGetField(decoder->tiff, TIFFTAG_IMAGEDEPTH, &depth) == 1 && depth > 1) {
        return unsupported(decoder, error, "volumes");
    }
    if (!plan_depth(decoder, error) || !plan_colours(decoder, error)) {
        return FALSE;
    }
    plan_alpha(decoder);
    if (plan->photometric == PHOTOMETRIC_YCBCR && !plan->ycbcr) {
        TIFFSetField(decoder->tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    }
    return check_sizes(decoder, error);
}

// Strips and tiles alike: blocks of the picture, one above the other and, for tiles, side
// by side.
typedef struct {
    guint32 width, height; // of a full block
    gsize bytes, row_bytes;
    guint8 *data;
} Blocks;

static gboolean
blocks_init(const Decoder *decoder, Blocks *blocks, GError **error)
{
    const LimnTiffPlan *plan = &decoder->plan;
    guint64 bytes, row_bytes;
    *blocks = (Blocks){.width = plan->width};
    if (plan->tiled) {
        TIFFGetField(decoder->tiff, TIFFTAG_TILEWIDTH, &blocks->width);
        TIFFGetField(decoder->tiff, TIFFTAG_TILELENGTH, &blocks->height);
        bytes = TIFFTileSize64(decoder->tiff);
        row_bytes = TIFFTileRowSize64(decoder->tiff);
    } else {
        TIFFGetFieldDefaulted(decoder->tiff, TIFFTAG_ROWSPERSTRIP, &blocks->height);
        bytes = TIFFStripSize64(decoder->tiff);
        row_bytes = TIFFScanlineSize64(decoder->tiff);
    }
    if (bytes == 0 || row_bytes == 0 || blocks->width == 0 || blocks->height == 0 ||
        bytes / row_bytes < MIN(blocks->height, plan->height)) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, decoder->source->name,
                                   "damaged TIFF directory: blocks of %u x %u pixels",
                                   blocks->width, blocks->height);
    }
    if (bytes <= limn_picture_get_budget()) {
        blocks->data = g_try_malloc0((gsize) bytes);
    }
    if (blocks->data == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_MEMORY, decoder->source->name,
                                   "blocks of %u x %u pixels need %" G_GUINT64_FORMAT
                                   " MiB of memory",
                                   blocks->width, blocks->height, (bytes >> 20) + 1);
    }
    blocks->bytes = (gsize) bytes;
    blocks->row_bytes = (gsize) row_bytes;
    return TRUE;
}

static gboolean
set_block_error(const Decoder *decoder, guint32 y, guint32 rows, GError **error)
{
    const LimnTiffPlan *plan = &decoder->plan;
    if (decoder->source->job != NULL && limn_job_is_cancelled(decoder->source->job)) {
        return limn_job_check(decoder->source->job, error);
    }
    return limn_error_set_file(
        error, LIMN_ERROR_FORMAT, decoder->source->name,
        "damaged TIFF data in rows %u to %u of %u: %s", y, y + rows - 1, plan->height,
        decoder->message[0] != '\0' ? decoder->message : "the data end early");
}

// Reads the block at (x, y) of a plane. A block without data (a sparse file) is zero.
static gboolean
read_block(Decoder *decoder, const Blocks *blocks, guint32 x, guint32 y, guint16 plane,
           GError **error)
{
    const LimnTiffPlan *plan = &decoder->plan;
    guint32 rows = MIN(blocks->height, plan->height - y);
    tmsize_t found, expected;
    decoder->message[0] = '\0';
    if (!limn_job_check(decoder->source->job, error)) {
        return FALSE;
    }
    guint32 index = plan->tiled ? TIFFComputeTile(decoder->tiff, x, y, 0, plane)
                                : TIFFComputeStrip(decoder->tiff, y, plane);
    if (TIFFGetStrileByteCount(decoder->tiff, index) == 0) {
        memset(blocks->data, 0, blocks->bytes);
        return TRUE;
    }
    if (plan->tiled) {
        expected = (tmsize_t) blocks->bytes;
        found = TIFFReadEncodedTile(decoder->tiff, index, blocks->data, expected);
    } else {
        expected = MIN((tmsize_t) TIFFVStripSize64(decoder->tiff, rows),
                       (tmsize_t) blocks->bytes);
        found = TIFFReadEncodedStrip(decoder->tiff, index, blocks->data, expected);
    }
    return found == expected || set_block_error(decoder, y, rows, error);
}

// Moves the samples of the block that was read to their place in the picture.
static void
place_block(const LimnTiffPlan *plan, const Blocks *blocks, guint32 x, guint32 y,
            int plane, LimnImage *image)
{
    guint32 columns = MIN(blocks->width, plan->width - x);
    guint32 rows = MIN(blocks->height, plan->height - y);
    gsize channels = (gsize) limn_pixels_channels(image->pixels);
    gsize sample = limn_depth_size(image->depth);
    gsize stride = limn_image_stride(image);
    int n = plan->separate ? 1 : plan->used;
    for (guint32 row = 0; row < rows; row++) {
        const guint8 *from = blocks->data + row * blocks->row_bytes;
        guint8 *to = (guint8 *) image->data + (gsize) (y + row) * stride +
                     (gsize) x * channels * sample;
        for (int channel = 0; channel < n; channel++) {
            gsize place = (gsize) (plan->separate ? plane : channel);
            limn_tiff_unpack(plan, from, (gsize) channel,
                             plan->separate ? 1 : plan->samples, columns,
                             to + place * sample, channels);
        }
    }
}

static gboolean
read_samples(Decoder *decoder, LimnImage *image, GError **error)
{
    const LimnTiffPlan *plan = &decoder->plan;
    int planes = plan->separate ? plan->used : 1;
    Blocks blocks;
    if (!blocks_init(decoder, &blocks, error)) {
        return FALSE;
    }
    gboolean done = TRUE;
    for (int plane = 0; plane < planes && done; plane++) {
        for (guint64 y = 0; y < plan->height && done; y += blocks.height) {
            for (guint64 x = 0; x < plan->width && done; x += blocks.width) {
                done = read_block(decoder, &blocks, (guint32) x, (guint32) y,
                                  (guint16) plane, error);
                if (done) {
                    place_block(plan, &blocks, (guint32) x, (guint32) y, plane, image);
                }
            }
        }
    }
    g_free(blocks.data);
    return done;
}

// Subsampled YCbCr that is not JPEG: libtiff converts it.
static gboolean
read_ycbcr(Decoder *decoder, LimnImage *image, GError **error)
{
    const LimnTiffPlan *plan = &decoder->plan;
    gsize n = (gsize) plan->width * plan->height;
    g_autofree guint32 *raster = g_try_new0(guint32, n);
    if (raster == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_MEMORY, decoder->source->name,
                                   "no memory for %u x %u pixels", plan->width,
                                   plan->height);
    }
    decoder->message[0] = '\0';
    if (TIFFReadRGBAImageOriented(decoder->tiff, plan->width, plan->height, raster,
                                  plan->orientation, 1) != 1) {
        return set_block_error(decoder, 0, plan->height, error);
    }
    guint8 *to = image->data;
    for (gsize i = 0; i < n; i++) {
        to[3 * i] = (guint8) TIFFGetR(raster[i]);
        to[3 * i + 1] = (guint8) TIFFGetG(raster[i]);
        to[3 * i + 2] = (guint8) TIFFGetB(raster[i]);
    }
    return TRUE;
}

static gboolean
read_palette(Decoder *decoder, LimnImage *image, GError **error)
{
    guint16 *map[3];
    int n = 1 << decoder->plan.bits;
    guint16 most = 0;
    if (TIFFGetField(decoder->tiff, TIFFTAG_COLORMAP, &map[0], &map[1], &map[2]) != 1) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, decoder->source->name,
                                   "has no colour map");
    }
    for (int i = 0; i < 3 * n; i++) {
        most = MAX(most, map[i / n][i % n]);
    }
    int shift = most > 255 ? 8 : 0; // some writers store bytes
    for (int i = 0; i < n; i++) {
        for (int channel = 0; channel < 3; channel++) {
            image->palette[i][channel] = (guint8) (map[channel][i] >> shift);
        }
    }
    image->n_palette = n;
    return TRUE;
}

static void
diagnose(const Decoder *decoder)
{
    const LimnPictureSource *source = decoder->source;
    const LimnTiffPlan *plan = &decoder->plan;
    if (source->job == NULL) {
        return;
    }
    if (plan->samples > plan->used) {
        limn_job_diagnose(source->job, LIMN_DIAGNOSTIC_NOTE, source->name,
                          "the TIFF has %d samples per pixel; the first %d are used",
                          plan->samples, plan->used);
    }
    if (TIFFLastDirectory(decoder->tiff) == 0) {
        limn_job_diagnose(source->job, LIMN_DIAGNOSTIC_NOTE, source->name,
                          "the TIFF has %u pages; the first is used",
                          TIFFNumberOfDirectories(decoder->tiff));
    }
}

static LimnImage *
decode(Decoder *decoder, GError **error)
{
    const LimnTiffPlan *plan = &decoder->plan;
    g_autoptr(LimnImage) image = limn_image_new((int) plan->width, (int) plan->height,
                                                plan->pixels, plan->depth, error);
    if (image == NULL) {
        return NULL;
    }
    image->bits = MIN(plan->bits, 32);
    image->format = "TIFF";
    image->orientation = plan->orientation;
    image->lossy =
        plan->compression == COMPRESSION_JPEG || plan->compression == COMPRESSION_WEBP;
    if (plan->pixels == LIMN_PIXELS_INDEXED && !read_palette(decoder, image, error)) {
        return NULL;
    }
    if (plan->ycbcr ? !read_ycbcr(decoder, image, error)
                    : !read_samples(decoder, image, error)) {
        return NULL;
    }
    diagnose(decoder);
    return limn_tiff_finish(plan, g_steal_pointer(&image), decoder->source, error);
}

static LimnImage *
tiff_load(const LimnPictureSource *source, GError **error)
{
    Decoder decoder;
    LimnImage *image = NULL;
    if (decoder_open(&decoder, source, error) && make_plan(&decoder, error)) {
        image = decode(&decoder, error);
    }
    decoder_close(&decoder);
    return image;
}

static gboolean
tiff_probe(const LimnPictureSource *source, LimnPictureInfo *info, GError **error)
{
    Decoder decoder;
    gboolean found = FALSE;
    if (decoder_open(&decoder, source, error) && make_plan(&decoder, error)) {
        info->width = (int) decoder.plan.width;
        info->height = (int) decoder.plan.height;
        info->orientation = decoder.plan.orientation;
        found = TRUE;
    }
    decoder_close(&decoder);
    return found;
}

const LimnPictureCodec limn_picture_tiff = {"TIFF", tiff_load, tiff_probe};
