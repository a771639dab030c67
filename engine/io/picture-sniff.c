// SPDX-License-Identifier: GPL-3.0-or-later

// What a file is, by its first bytes; its name is never asked.

#include <string.h>

#include "engine/base/error.h"
#include "engine/io/picture-private.h"

typedef struct {
    gsize offset;
    gsize length;
    const char *bytes;
    const char *what;   // "a GIF picture"
    const char *advice; // what to do instead
} Magic;

#define SAVE_AS_PNG "convert it to PNG"

// Formats that are recognised to be refused with their name.
static const Magic refused[] = {
    {0, 4, "GIF8", "a GIF picture", SAVE_AS_PNG},
    {0, 4, "\0\0\1\0", "a Windows icon", SAVE_AS_PNG},
    {0, 4, "\0\0\2\0", "a Windows cursor", SAVE_AS_PNG},
    {4, 8, "ftypavif", "an AVIF picture", SAVE_AS_PNG " or JPEG"},
    {4, 8, "ftypavis", "an AVIF sequence", SAVE_AS_PNG " or JPEG"},
    {4, 7, "ftyphei", "a HEIF picture", SAVE_AS_PNG " or JPEG"},
    {4, 7, "ftyphev", "a HEIF sequence", SAVE_AS_PNG " or JPEG"},
    {4, 8, "ftypmif1", "a HEIF picture", SAVE_AS_PNG " or JPEG"},
    {4, 8, "ftypmsf1", "a HEIF sequence", SAVE_AS_PNG " or JPEG"},
    {4, 4, "ftyp", "a video", "save a frame of it as PNG"},
    {128, 4, "DICM", "a DICOM file", "convert it to 16-bit PNG or TIFF"},
    {0, 12, "\0\0\0\014jP  \r\n\207\n", "a JPEG 2000 picture", SAVE_AS_PNG},
    {0, 4, "\377\117\377\121", "a JPEG 2000 picture", SAVE_AS_PNG},
    {0, 12, "\0\0\0\014JXL \r\n\207\n", "a JPEG XL picture", SAVE_AS_PNG},
    {0, 2, "\377\012", "a JPEG XL picture", SAVE_AS_PNG},
    {0, 4, "8BPS", "a Photoshop document", "export it as PNG or TIFF"},
    {0, 8, "gimp xcf", "a GIMP document", "export it as PNG or TIFF"},
    {0, 5, "%PDF-", "a PDF document", "render the page as PNG"},
    {0, 4, "%!PS", "a PostScript document", "render the page as PNG"},
    {0, 4, "\166\057\061\001", "an OpenEXR picture", "convert it to float TIFF"},
    {0, 10, "#?RADIANCE", "a Radiance picture", "convert it to float TIFF"},
    {0, 4, "qoif", "a QOI picture", SAVE_AS_PNG},
    {0, 4, "DDS ", "a DirectDraw surface", SAVE_AS_PNG},
    {0, 9, "SIMPLE  =", "a FITS file", "convert it to float TIFF"},
    {0, 6, "\223NUMPY", "a NumPy array", "give it where an array is expected"},
    {344, 4, "n+1", "a NIfTI volume", "give it where a volume is expected"},
    {0, 2, "\037\213", "a gzip archive", "unpack it first"},
    {0, 4, "PK\3\4", "a zip archive", "unpack it first"},
};

static const struct {
    gsize length;
    const char *bytes;
    const LimnPictureCodec *codec;
} codecs[] = {
    {8, "\211PNG\r\n\032\n", &limn_picture_png}, {3, "\377\330\377", &limn_picture_jpeg},
    {4, "II\052\0", &limn_picture_tiff},         {4, "MM\0\052", &limn_picture_tiff},
    {4, "II\053\0", &limn_picture_tiff}, // BigTIFF
    {4, "MM\0\053", &limn_picture_tiff},
};

static gboolean
has_bytes(const LimnPictureSource *source, gsize offset, const char *bytes, gsize length)
{
    return source->size >= offset && source->size - offset >= length &&
           memcmp(source->data + offset, bytes, length) == 0;
}

static gboolean
is_netpbm(const LimnPictureSource *source)
{
    return source->size > 3 && source->data[0] == 'P' && source->data[1] >= '1' &&
           source->data[1] <= '7' && g_ascii_isspace(source->data[2]);
}

// "BM", the size of the file, then four reserved bytes that are 0.
static gboolean
is_bmp(const LimnPictureSource *source)
{
    return has_bytes(source, 0, "BM", 2) && has_bytes(source, 6, "\0\0\0\0", 4);
}

static gboolean
is_svg(const LimnPictureSource *source)
{
    return g_strstr_len((const char *) source->data, (gssize) MIN(source->size, 1024),
                        "<svg") != NULL;
}

// UTF-8 without control characters, as far as the first bytes tell.
static gboolean
is_text(const LimnPictureSource *source)
{
    gsize n = MIN(source->size, 512);
    const char *end;
    for (gsize i = 0; i < n; i++) {
        guint8 c = source->data[i];
        if ((c < 32 && !g_ascii_isspace(c)) || c == 127) {
            return FALSE;
        }
    }
    // A character may be cut at the end of the part that is looked at.
    return g_utf8_validate_len((const char *) source->data, n, &end) ||
           (n == 512 && (const char *) source->data + n - end < 4);
}

static void
refuse(const LimnPictureSource *source, const char *what, const char *advice,
       GError **error)
{
    limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, source->name,
                        "is %s, which cannot be opened here (%s)", what, advice);
}

static void
set_unknown(const LimnPictureSource *source, GError **error)
{
    static const char expected[] = "expected PNG, JPEG, TIFF, WebP or SVG";
    if (source->size == 0) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                            "is empty (found 0 bytes, %s)", expected);
    } else if (has_bytes(source, 0, "version https://git-lfs", 23)) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                            "is a Git LFS pointer, not the picture itself (fetch the "
                            "file with git lfs pull)");
    } else if (is_text(source)) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                            "is not a picture (found text, %s)", expected);
    } else {
        g_autoptr(GString) hex = g_string_new(NULL);
        for (gsize i = 0; i < MIN(source->size, 8); i++) {
            g_string_append_printf(hex, " %02x", source->data[i]);
        }
        limn_error_set_file(error, LIMN_ERROR_FORMAT, source->name,
                            "is not a picture (it begins with%s, %s)", hex->str,
                            expected);
    }
}

const LimnPictureCodec *
limn_picture_find_codec(const LimnPictureSource *source)
{
    for (gsize i = 0; i < G_N_ELEMENTS(codecs); i++) {
        if (has_bytes(source, 0, codecs[i].bytes, codecs[i].length)) {
            return codecs[i].codec;
        }
    }
    if (has_bytes(source, 0, "RIFF", 4) && has_bytes(source, 8, "WEBP", 4)) {
        return &limn_picture_webp;
    }
    return NULL;
}

void
limn_picture_refuse(const LimnPictureSource *source, GError **error)
{
    for (gsize i = 0; i < G_N_ELEMENTS(refused); i++) {
        const Magic *magic = &refused[i];
        if (has_bytes(source, magic->offset, magic->bytes, magic->length)) {
            refuse(source, magic->what, magic->advice, error);
            return;
        }
    }
    if (is_bmp(source)) {
        refuse(source, "a BMP picture", SAVE_AS_PNG, error);
    } else if (is_netpbm(source)) {
        refuse(source, "a Netpbm picture", SAVE_AS_PNG, error);
    } else if (is_svg(source)) {
        refuse(source, "an SVG drawing", "render it as PNG", error);
    } else {
        set_unknown(source, error);
    }
}
