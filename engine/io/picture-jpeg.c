// SPDX-License-Identifier: GPL-3.0-or-later

// JPEG through libjpeg-turbo with its default settings (slow integer transform, smooth
// chroma upsampling), which give the bytes that Pillow gives.
//
//   components  marker                 colours                     becomes
//   1           -                      grey                        GREY
//   3           none / JFIF            YCbCr                       RGB
//   3           Adobe, transform 0     RGB                         RGB
//   4           none                   CMYK, 255 = full ink        RGB
//   4           Adobe, transform 0     CMYK, stored inverted       RGB
//   4           Adobe, transform 2     YCCK, stored inverted       RGB
//
// Limits: sides up to 65535 (the format), limn_picture_check_size(), at most MAX_SCANS
// passes over a progressive file. Every block of 64 samples takes at least one bit, which
// bounds the size that a file can hold. A file that ends before its last row is refused;
// one that only lacks its end marker is read. libjpeg reports errors by longjmp: only
// inside functions that are called through run_guarded() and that own nothing.

#include <stdio.h> // jpeglib.h needs FILE

#include <jerror.h>
#include <jpeglib.h>
#include <setjmp.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/picture-private.h"

#define MAX_SCANS 256
#define MARKER_EXIF (JPEG_APP0 + 1)

typedef struct {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr reader;
    struct jpeg_progress_mgr progress;
    jmp_buf jump;
    const LimnPictureSource *source;
    gboolean ended;   // the decoder asked for more than there is
    gboolean starved; // data of the picture were missing (decoder's finding)
    gboolean cancelled;
    int code; // libjpeg's error code
    char message[JMSG_LENGTH_MAX];
    char warning[JMSG_LENGTH_MAX]; // the first one
    int reduce;                    // sides are divided by this
    LimnImage *image;
    guint8 *cmyk; // one row, when it is converted
} Decoder;

static Decoder *
get_decoder(j_common_ptr jpeg)
{
    return jpeg->client_data;
}

static void
on_error(j_common_ptr jpeg)
{
    Decoder *decoder = get_decoder(jpeg);
    decoder->code = jpeg->err->msg_code;
    jpeg->err->format_message(jpeg, decoder->message);
    longjmp(decoder->jump, 1);
}

static void
on_message(j_common_ptr jpeg, int level)
{
    Decoder *decoder = get_decoder(jpeg);
    if (level >= 0) {
        return; // trace
    }
    jpeg->err->num_warnings++;
    if (jpeg->err->msg_code == JWRN_HIT_MARKER &&
        decoder->jpeg.unread_marker == JPEG_EOI) {
        decoder->starved = TRUE;
    } else if (decoder->warning[0] == '\0') {
        jpeg->err->format_message(jpeg, decoder->warning);
    }
}

static void
on_output(j_common_ptr jpeg)
{
}

static void
reader_init(j_decompress_ptr jpeg)
{
}

// At the end of the file an end marker is made up, so that what is there is decoded.
static boolean
reader_fill(j_decompress_ptr jpeg)
{
    static const JOCTET end[] = {0xFF, JPEG_EOI};
    get_decoder((j_common_ptr) jpeg)->ended = TRUE;
    jpeg->src->next_input_byte = end;
    jpeg->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void
reader_skip(j_decompress_ptr jpeg, long n)
{
    if (n <= 0) {
        return;
    }
    if ((gsize) n >= jpeg->src->bytes_in_buffer) {
        reader_fill(jpeg);
        return;
    }
    jpeg->src->next_input_byte += n;
    jpeg->src->bytes_in_buffer -= (gsize) n;
}

static void
on_progress(j_common_ptr jpeg)
{
    Decoder *decoder = get_decoder(jpeg);
    if (limn_job_is_cancelled(decoder->source->job)) {
        decoder->cancelled = TRUE;
        longjmp(decoder->jump, 1);
    }
    if (decoder->jpeg.input_scan_number > MAX_SCANS) {
        g_strlcpy(decoder->message, "too many passes over the picture",
                  sizeof decoder->message);
        longjmp(decoder->jump, 1);
    }
}

// Calls a step in which libjpeg may jump out. FALSE when it did.
static gboolean
run_guarded(Decoder *decoder, void (*step)(Decoder *decoder))
{
    if (setjmp(decoder->jump) != 0) {
        return FALSE;
    }
    step(decoder);
    return TRUE;
}

static void
step_header(Decoder *decoder)
{
    j_decompress_ptr jpeg = &decoder->jpeg;
    jpeg_create_decompress(jpeg);
    decoder->reader = (struct jpeg_source_mgr){
        .next_input_byte = decoder->source->data,
        .bytes_in_buffer = decoder->source->size,
        .init_source = reader_init,
        .fill_input_buffer = reader_fill,
        .skip_input_data = reader_skip,
        .resync_to_restart = jpeg_resync_to_restart,
        .term_source = reader_init,
    };
    jpeg->src = &decoder->reader;
    jpeg->progress = &decoder->progress;
    jpeg_save_markers(jpeg, MARKER_EXIF, 0xFFFF);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->num_components == 4) {
        jpeg->out_color_space = JCS_CMYK;
    } else if (jpeg->num_components == 3) {
        jpeg->out_color_space = JCS_RGB;
    }
    jpeg->scale_num = 1;
    jpeg->scale_denom = 1;
}

static void
step_start(Decoder *decoder)
{
    decoder->jpeg.scale_denom = (unsigned int) decoder->reduce;
    jpeg_start_decompress(&decoder->jpeg);
}

static void
convert_row(const Decoder *decoder, guint8 *to)
{
    guint8 flip = decoder->jpeg.saw_Adobe_marker ? 255 : 0;
    for (int x = 0; x < decoder->image->width; x++) {
        const guint8 *from = decoder->cmyk + 4 * (gsize) x;
        guint8 cmyk[4] = {from[0] ^ flip, from[1] ^ flip, from[2] ^ flip, from[3] ^ flip};
        limn_cmyk_to_rgb(cmyk, to + 3 * (gsize) x);
    }
}

static void
step_rows(Decoder *decoder)
{
    j_decompress_ptr jpeg = &decoder->jpeg;
    gsize stride = limn_image_stride(decoder->image);
    while (jpeg->output_scanline < jpeg->output_height) {
        guint8 *to = (guint8 *) decoder->image->data + jpeg->output_scanline * stride;
        JSAMPROW row = decoder->cmyk != NULL ? decoder->cmyk : to;
        if (jpeg_read_scanlines(jpeg, &row, 1) != 1 || decoder->starved) {
            decoder->starved = TRUE;
            return;
        }
        if (decoder->cmyk != NULL) {
            convert_row(decoder, to);
        }
    }
}

static void
step_finish(Decoder *decoder)
{
    jpeg_finish_decompress(&decoder->jpeg);
}

static gboolean
set_error(const Decoder *decoder, GError **error)
{
    const LimnPictureSource *source = decoder->source;
    if (decoder->cancelled) {
        return limn_job_check(source->job, error);
    }
    switch (decoder->code) {
    case JERR_BAD_PRECISION:
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
    case JERR_CONVERSION_NOTIMPL:
    case JERR_NOT_COMPILED:
    case JERR_FRACT_SAMPLE_NOTIMPL:
    case JERR_CCIR601_NOTIMPL:
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, source->name,
                                   "is a JPEG of a kind that cannot be opened here: %s "
                                   "(convert it to PNG)",
                                   decoder->message);
    case JERR_OUT_OF_MEMORY:
        return limn_error_set_file(error, LIMN_ERROR_MEMORY, source->name,
                                   "no memory to decode the JPEG");
    default:
        break;
    }
    if (decoder->ended && decoder->image == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                                   "the file ends before the picture begins "
                                   "(found %" G_GSIZE_FORMAT " bytes)",
                                   source->size);
    }
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                               "damaged JPEG data: %s", decoder->message);
}

static void
decoder_init(Decoder *decoder, const LimnPictureSource *source)
{
    *decoder = (Decoder){.source = source, .reduce = 1};
    decoder->jpeg.err = jpeg_std_error(&decoder->errors);
    decoder->jpeg.client_data = decoder;
    decoder->errors.error_exit = on_error;
    decoder->errors.emit_message = on_message;
    decoder->errors.output_message = on_output;
    decoder->progress.progress_monitor = on_progress;
}

// Sizes of what comes out and of what the decoder needs on the way.
static gboolean
check_header(Decoder *decoder, GError **error)
{
    j_decompress_ptr jpeg = &decoder->jpeg;
    int n = jpeg->num_components;
    if (n != 1 && n != 3 && n != 4) {
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, decoder->source->name,
                                   "is a JPEG of %d colour components (expected 1, 3 or "
                                   "4; convert it to PNG)",
                                   n);
    }
    guint64 blocks = (guint64) ((jpeg->image_width + 7) / 8) *
                     (guint64) ((jpeg->image_height + 7) / 8);
    // A block takes a bit for its mean and, in one pass, another for the rest. At least
    // one component has a quarter of the blocks, however the sampling factors are chosen.
    // Arithmetic coding knows no such bound.
    guint64 bits = jpeg->progressive_mode ? 1 : 2;
    guint64 least = jpeg->arith_code ? 0 : blocks * bits / 8 / 4;
    guint64 kept = 0;
    if (jpeg_has_multiple_scans(jpeg)) {
        kept = blocks * 64 * sizeof(JCOEF) * (guint64) n;
    }
    return limn_picture_check_size(decoder->source, jpeg->image_width, jpeg->image_height,
                                   n == 1 ? 1 : 3, kept, least, error);
}

static int
find_orientation(const Decoder *decoder)
{
    for (jpeg_saved_marker_ptr marker = decoder->jpeg.marker_list; marker != NULL;
         marker = marker->next) {
        if (marker->marker == MARKER_EXIF && marker->data_length > 6 &&
            memcmp(marker->data, "Exif\0", 5) == 0) {
            return limn_exif_orientation(marker->data, marker->data_length);
        }
    }
    return 1;
}

static LimnImage *
new_image(Decoder *decoder, GError **error)
{
    j_decompress_ptr jpeg = &decoder->jpeg;
    LimnPixels pixels = jpeg->num_components == 1 ? LIMN_PIXELS_GREY : LIMN_PIXELS_RGB;
    LimnImage *image = limn_image_new((int) jpeg->output_width, (int) jpeg->output_height,
                                      pixels, LIMN_DEPTH_U8, error);
    if (image != NULL) {
        image->format = "JPEG";
        image->lossy = TRUE;
        image->cmyk = jpeg->num_components == 4;
        image->orientation = find_orientation(decoder);
    }
    return image;
}

// TRUE when every coefficient of a progressive file arrived with all its bits.
static gboolean
is_complete(const Decoder *decoder)
{
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (!decoder->ended) {
        return TRUE;
    }
    if (!jpeg->progressive_mode || jpeg->coef_bits == NULL) {
        return jpeg->comps_in_scan == jpeg->num_components;
    }
    for (int component = 0; component < jpeg->num_components; component++) {
        for (int k = 0; k < DCTSIZE2; k++) {
            if (jpeg->coef_bits[component][k] != 0) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static gboolean
set_starved(const Decoder *decoder, gint64 rows, GError **error)
{
    const struct jpeg_decompress_struct *jpeg = &decoder->jpeg;
    if (rows > 0 || !decoder->ended || !decoder->jpeg.progressive_mode) {
        return limn_picture_set_truncated(decoder->source, rows, jpeg->output_height,
                                          error);
    }
    return limn_error_set_file(
        error, LIMN_ERROR_FORMAT, decoder->source->name,
        "the file ends early (found %" G_GSIZE_FORMAT
        " bytes, which break off in pass %d of a progressive JPEG)",
        decoder->source->size, jpeg->input_scan_number);
}

static LimnImage *
decode(Decoder *decoder, GError **error)
{
    if (!run_guarded(decoder, step_start)) {
        set_error(decoder, error);
        return NULL;
    }
    if (decoder->starved || !is_complete(decoder)) {
        set_starved(decoder, 0, error);
        return NULL;
    }
    g_autoptr(LimnImage) image = new_image(decoder, error);
    g_autofree guint8 *cmyk = NULL;
    if (image == NULL) {
        return NULL;
    }
    if (image->cmyk) {
        cmyk = g_malloc(4 * (gsize) image->width);
    }
    decoder->image = image;
    decoder->cmyk = cmyk;
    if (!run_guarded(decoder, step_rows)) {
        set_error(decoder, error);
        return NULL;
    }
    if (decoder->starved) {
        set_starved(decoder, decoder->jpeg.output_scanline, error);
        return NULL;
    }
    if (!run_guarded(decoder, step_finish) && decoder->cancelled) {
        limn_job_check(decoder->source->job, error);
        return NULL;
    }
    if (decoder->warning[0] != '\0') {
        limn_job_diagnose(decoder->source->job, LIMN_DIAGNOSTIC_WARNING,
                          decoder->source->name, "damaged places in the JPEG: %s",
                          decoder->warning);
    }
    return g_steal_pointer(&image);
}

// The smallest division that leaves the longer side at `side` pixels or more.
static int
choose_reduction(const Decoder *decoder, int side)
{
    unsigned int longer = MAX(decoder->jpeg.image_width, decoder->jpeg.image_height);
    int reduce = 1;
    while (side > 0 && reduce < 8 &&
           longer / (2 * (unsigned int) reduce) >= (unsigned int) side) {
        reduce *= 2;
    }
    return reduce;
}

LimnImage *
limn_jpeg_load_reduced(const LimnPictureSource *source, int side, GError **error)
{
    Decoder decoder;
    LimnImage *image = NULL;
    decoder_init(&decoder, source);
    if (!run_guarded(&decoder, step_header)) {
        set_error(&decoder, error);
    } else if (check_header(&decoder, error)) {
        decoder.reduce = choose_reduction(&decoder, side);
        image = decode(&decoder, error);
    }
    jpeg_destroy_decompress(&decoder.jpeg);
    return image;
}

static LimnImage *
jpeg_load(const LimnPictureSource *source, GError **error)
{
    return limn_jpeg_load_reduced(source, 0, error);
}

static gboolean
jpeg_probe(const LimnPictureSource *source, LimnPictureInfo *info, GError **error)
{
    Decoder decoder;
    decoder_init(&decoder, source);
    gboolean found = FALSE;
    if (!run_guarded(&decoder, step_header)) {
        set_error(&decoder, error);
    } else if (check_header(&decoder, error)) {
        info->width = (int) decoder.jpeg.image_width;
        info->height = (int) decoder.jpeg.image_height;
        info->orientation = find_orientation(&decoder);
        found = TRUE;
    }
    jpeg_destroy_decompress(&decoder.jpeg);
    return found;
}

const LimnPictureCodec limn_picture_jpeg = {"JPEG", jpeg_load, jpeg_probe};
