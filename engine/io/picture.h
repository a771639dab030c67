// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Pictures from and to files. The format is found from the content, never from the
// name. Every size is checked against LIMN_IMAGE_MAX_PIXELS and the memory budget before
// anything is allocated. EXIF orientation is applied once, here.

#include "engine/base/job.h"
#include "engine/image/image.h"

// PNG (all colour types and depths, interlaced), JPEG (grey, YCbCr, RGB, CMYK, YCCK),
// TIFF (8/16/32 bit, float, strips, tiles), WebP, and SVG when engine/svg registered
// its reader. GIF, BMP and others: LIMN_ERROR_UNSUPPORTED naming the format.
// A file that ends early or claims a size that it cannot hold is LIMN_ERROR_FORMAT, a
// picture beyond the limit or the budget LIMN_ERROR_MEMORY; both name the numbers.
// Decoding happens in memory, without temporary files. Findings that do not stop it
// (further pages, animation, damaged places, colours outside the palette) are diagnosed.
// The job may be NULL; cancelling is noticed within some rows.
LimnImage *limn_picture_load(const char *path, LimnJob *job, GError **error);
LimnImage *limn_picture_load_bytes(GBytes *bytes, const char *name, LimnJob *job,
                                   GError **error);

typedef struct {
    int width, height; // upright
    const char *format;
    int orientation;
} LimnPictureInfo;
// Header only, cheap. The sizes are checked as for loading.
gboolean limn_picture_probe(const char *path, LimnPictureInfo *info, GError **error);
// TRUE when the name has an extension of a picture format (used to list folders).
gboolean limn_picture_has_extension(const char *path);

// Paths of the picture files directly inside a folder, sorted bytewise by name. Hidden
// files, directories (also behind links), pipes and devices are left out; links that lead
// nowhere are in, so that they can be reported. Empty folder: empty list, no error.
GStrv limn_picture_list_folder(const char *path, GError **error);

// Memory budget for one decoded picture in bytes (default 4 GiB).
void limn_picture_set_budget(guint64 bytes);

// Further readers (SVG) plug in here: sniff returns TRUE when the bytes are theirs.
typedef struct {
    const char *format;
    gboolean (*sniff)(const guint8 *data, gsize size);
    LimnImage *(*load)(GBytes *bytes, const char *name, LimnJob *job, GError **error);
    gboolean (*probe)(GBytes *bytes, const char *name, LimnPictureInfo *info,
                      GError **error);
} LimnPictureReader;
// `reader` is static. Registering it again changes nothing. Thread-safe.
void limn_picture_register_reader(const LimnPictureReader *reader);

// PNG out: grey, grey with alpha, RGB, RGBA of 8 or 16 bits, indexed with palette (tRNS
// kept). Grey and indexed pictures of 1, 2 or 4 bits keep their depth, or get the next
// that holds their largest value. Indices and U32 values above 255 become 16-bit grey;
// values above 65535 and floats are refused (LIMN_ERROR_OUTPUT) before anything is
// written. Deterministic bytes: no time, no text.
GBytes *limn_png_encode(LimnImage *image, GError **error);
gboolean limn_png_save(LimnImage *image, const char *path, GError **error);
