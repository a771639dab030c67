// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the readers of the picture formats share. A reader gets the whole file in memory,
// checks every size before it allocates and returns the picture as it is stored, with the
// orientation found in the file; picture.c turns it upright.

#include "engine/io/picture.h"

typedef struct {
    GBytes *bytes; // keeps data alive
    const guint8 *data;
    gsize size;
    const char *name; // for messages
    LimnJob *job;     // may be NULL
} LimnPictureSource;

// `bytes` must outlive the source.
LimnPictureSource limn_picture_make_source(GBytes *bytes, const char *name, LimnJob *job);

typedef struct {
    const char *format;
    LimnImage *(*load)(const LimnPictureSource *source, GError **error);
    // Sizes as stored, not yet upright.
    gboolean (*probe)(const LimnPictureSource *source, LimnPictureInfo *info,
                      GError **error);
} LimnPictureCodec;

extern const LimnPictureCodec limn_picture_png;
extern const LimnPictureCodec limn_picture_jpeg;
extern const LimnPictureCodec limn_picture_tiff;
extern const LimnPictureCodec limn_picture_webp;

// The codec for these bytes, by the content alone; NULL when there is none.
const LimnPictureCodec *limn_picture_find_codec(const LimnPictureSource *source);
// Sets the error for bytes that nothing here can read: names the format and what to do.
void limn_picture_refuse(const LimnPictureSource *source, GError **error);

// FALSE with an error when a side is 0 (LIMN_ERROR_FORMAT), when so many pixels cannot
// come out of the file (fewer than `least` bytes; LIMN_ERROR_FORMAT), when there are more
// than LIMN_IMAGE_MAX_PIXELS or when width * height * pixel_size + extra bytes exceed the
// budget (LIMN_ERROR_MEMORY). Messages name the sizes and the limits.
gboolean limn_picture_check_size(const LimnPictureSource *source, guint64 width,
                                 guint64 height, guint64 pixel_size, guint64 extra,
                                 guint64 least, GError **error);
guint64 limn_picture_get_budget(void);

// A file that ends before its last row. Returns FALSE.
gboolean limn_picture_set_truncated(const LimnPictureSource *source, gint64 rows,
                                    gint64 height, GError **error);

// Orientation 1..8 in an EXIF block (a TIFF structure, with or without "Exif\0\0" in
// front); 1 when there is none or it makes no sense.
int limn_exif_orientation(const guint8 *data, gsize size);

// One pixel of CMYK, 255 = full ink, to RGB as Pillow does it.
static inline void
limn_cmyk_to_rgb(const guint8 cmyk[4], guint8 rgb[3])
{
    guint paper = 255u - cmyk[3];
    for (int i = 0; i < 3; i++) {
        guint product = cmyk[i] * paper + 128;
        guint ink = (product + (product >> 8)) >> 8; // product / 255, rounded
        rgb[i] = (guint8) (ink > paper ? 0 : paper - ink);
    }
}

// A JPEG decoded with its sides divided by 1, 2, 4 or 8, the smallest whose longer side
// is at least `side` pixels; 0 for the full size. For thumbnails.
LimnImage *limn_jpeg_load_reduced(const LimnPictureSource *source, int side,
                                  GError **error);
