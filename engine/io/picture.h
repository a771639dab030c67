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
LimnImage *limn_picture_load(const char *path, LimnJob *job, GError **error);
LimnImage *limn_picture_load_bytes(GBytes *bytes, const char *name, LimnJob *job,
                                   GError **error);

typedef struct {
    int width, height; // upright
    const char *format;
    int orientation;
} LimnPictureInfo;
// Header only, cheap.
gboolean limn_picture_probe(const char *path, LimnPictureInfo *info, GError **error);
// TRUE when the name has an extension of a picture format (used to list folders).
gboolean limn_picture_has_extension(const char *path);

// Sorted (bytewise) list of picture files directly inside a folder; links to
// directories are not followed. Empty folder: empty list, no error.
GStrv limn_picture_list_folder(const char *path, GError **error);

// Memory budget for one decoded picture in bytes (default 4 GiB).
void limn_picture_set_budget(guint64 bytes);

// Further readers (SVG) plug in here: sniff returns TRUE when the bytes are theirs.
typedef struct {
    const char *format;
    gboolean (*sniff)(const guint8 *data, gsize size);
    LimnImage *(*load)(GBytes *bytes, const char *name, LimnJob *job, GError **error);
} LimnPictureReader;
void limn_picture_register_reader(const LimnPictureReader *reader);

// PNG out: grey, RGB, RGBA 8 or 16 bit, indexed with palette (tRNS kept); U32 label maps
// with values above 65535 are refused before anything is written. Deterministic bytes.
GBytes *limn_png_encode(LimnImage *image, GError **error);
gboolean limn_png_save(LimnImage *image, const char *path, GError **error);
