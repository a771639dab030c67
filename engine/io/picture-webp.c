// SPDX-License-Identifier: GPL-3.0-or-later

// WebP, lossy and lossless. A file is a RIFF container:
//
//   offset  size  field               rule
//   0       4     "RIFF"              checked by the caller
//   4       4     bytes that follow   more than there are: the file is cut
//   8       4     "WEBP"              checked by the caller
//   12      ...   chunks: type, size u32, data, a byte of padding when the size is odd
//
// An animation is refused. EXIF gives the orientation. Sides are at most 16383 pixels
// (the format's limit); a lossless file may be tiny however many pixels it has, so that
// only the budget bounds the size.

#include <string.h>
#include <webp/decode.h>

#include "engine/base/error.h"
#include "engine/io/picture-private.h"

#define STEP_BYTES ((gsize) 64 << 10)

static guint32
read_u32(const guint8 *p)
{
    return (guint32) p[0] | (guint32) p[1] << 8 | (guint32) p[2] << 16 |
           (guint32) p[3] << 24;
}

static int
find_orientation(const LimnPictureSource *source)
{
    gsize position = 12;
    while (position <= source->size && source->size - position >= 8) {
        const guint8 *chunk = source->data + position;
        gsize length = read_u32(chunk + 4);
        if (length > source->size - position - 8) {
            break;
        }
        if (memcmp(chunk, "EXIF", 4) == 0) {
            return limn_exif_orientation(chunk + 8, length);
        }
        position += 8 + length + length % 2;
    }
    return 1;
}

static gboolean
set_error(const LimnPictureSource *source, VP8StatusCode status, GError **error)
{
    static const char *const reasons[] = {
        [VP8_STATUS_INVALID_PARAM] = "invalid parameter",
        [VP8_STATUS_BITSTREAM_ERROR] = "damaged data",
        [VP8_STATUS_UNSUPPORTED_FEATURE] = "unknown feature",
        [VP8_STATUS_SUSPENDED] = "the data end early",
        [VP8_STATUS_USER_ABORT] = "stopped",
        [VP8_STATUS_NOT_ENOUGH_DATA] = "the data end early",
    };
    guint64 claimed = source->size >= 8 ? 8 + (guint64) read_u32(source->data + 4) : 0;
    if (status == VP8_STATUS_OUT_OF_MEMORY) {
        return limn_error_set_file(error, LIMN_ERROR_MEMORY, source->name,
                                   "no memory to decode the WebP");
    }
    if (claimed > source->size) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                                   "the file ends early (found %" G_GSIZE_FORMAT
                                   " bytes, expected %" G_GUINT64_FORMAT ")",
                                   source->size, claimed);
    }
    const char *reason = (gsize) status < G_N_ELEMENTS(reasons) ? reasons[status] : NULL;
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                               "damaged WebP data: %s",
                               reason != NULL ? reason : "unknown reason");
}

static gboolean
read_features(const LimnPictureSource *source, WebPBitstreamFeatures *features,
              GError **error)
{
    VP8StatusCode status = WebPGetFeatures(source->data, source->size, features);
    if (status != VP8_STATUS_OK) {
        return set_error(source, status, error);
    }
    if (features->has_animation) {
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, source->name,
                                   "is an animated WebP, which cannot be opened here "
                                   "(save the frame that is meant as PNG)");
    }
    return limn_picture_check_size(source, (guint64) features->width,
                                   (guint64) features->height,
                                   features->has_alpha ? 4 : 3, 0, 0, error);
}

// Decodes what there is, a piece at a time, so that cancelling is noticed.
static gboolean
decode(const LimnPictureSource *source, WebPIDecoder *decoder, int height, GError **error)
{
    VP8StatusCode status = VP8_STATUS_SUSPENDED;
    for (gsize n = 0; status == VP8_STATUS_SUSPENDED && n < source->size;) {
        n = MIN(n + STEP_BYTES, source->size);
        if (!limn_job_check(source->job, error)) {
            return FALSE;
        }
        status = WebPIUpdate(decoder, source->data, n);
    }
    if (status == VP8_STATUS_SUSPENDED || status == VP8_STATUS_NOT_ENOUGH_DATA) {
        int rows = 0;
        WebPIDecGetRGB(decoder, &rows, NULL, NULL, NULL);
        return limn_picture_set_truncated(source, rows, height, error);
    }
    return status == VP8_STATUS_OK || set_error(source, status, error);
}

static LimnImage *
webp_load(const LimnPictureSource *source, GError **error)
{
    WebPBitstreamFeatures features;
    if (!read_features(source, &features, error)) {
        return NULL;
    }
    g_autoptr(LimnImage) image = limn_image_new(
        features.width, features.height,
        features.has_alpha ? LIMN_PIXELS_RGBA : LIMN_PIXELS_RGB, LIMN_DEPTH_U8, error);
    if (image == NULL) {
        return NULL;
    }
    image->format = "WebP";
    image->lossy = features.format != 2; // 2: lossless; 0 cannot be without animation
    image->orientation = find_orientation(source);
    gsize stride = limn_image_stride(image);
    WebPDecoderConfig config;
    WebPInitDecoderConfig(&config);
    config.output.colorspace = features.has_alpha ? MODE_RGBA : MODE_RGB;
    config.output.is_external_memory = 1;
    config.output.u.RGBA.rgba = image->data;
    config.output.u.RGBA.stride = (int) stride;
    config.output.u.RGBA.size = stride * (gsize) image->height;
    WebPIDecoder *decoder = WebPIDecode(NULL, 0, &config);
    if (decoder == NULL) {
        set_error(source, VP8_STATUS_OUT_OF_MEMORY, error);
        return NULL;
    }
    gboolean done = decode(source, decoder, image->height, error);
    WebPIDelete(decoder);
    WebPFreeDecBuffer(&config.output);
    return done ? g_steal_pointer(&image) : NULL;
}

static gboolean
webp_probe(const LimnPictureSource *source, LimnPictureInfo *info, GError **error)
{
    WebPBitstreamFeatures features;
    if (!read_features(source, &features, error)) {
        return FALSE;
    }
    info->width = features.width;
    info->height = features.height;
    info->orientation = find_orientation(source);
    return TRUE;
}

const LimnPictureCodec limn_picture_webp = {"WebP", webp_load, webp_probe};
