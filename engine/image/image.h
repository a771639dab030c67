// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A picture as it was stored, upright: interleaved samples without row padding, with
// what the file said about them (palette, bit depth, orientation that was applied).
// Reference counted, immutable once shared.

#include "engine/base/types.h"

typedef enum {
    LIMN_PIXELS_GREY,       // 1 sample
    LIMN_PIXELS_GREY_ALPHA, // 2
    LIMN_PIXELS_RGB,        // 3
    LIMN_PIXELS_RGBA,       // 4, not premultiplied
    LIMN_PIXELS_INDEXED,    // 1 sample, index into the palette
} LimnPixels;

typedef enum {
    LIMN_DEPTH_U8, // includes 1, 2 and 4 bits: grey ones keep their stored value
                   // 0..2^bits-1
    LIMN_DEPTH_U16,
    LIMN_DEPTH_U32, // label maps and 32-bit TIFF only
    LIMN_DEPTH_F32,
} LimnDepth;

struct LimnImage {
    gatomicrefcount refs;
    int width, height;
    LimnPixels pixels;
    LimnDepth depth;
    int bits;           // bits per sample in the file (1, 2, 4, 8, 16, 32)
    int orientation;    // EXIF orientation found in the file (1..8), already applied
    gboolean lossy;     // came from a lossy format (JPEG, lossy WebP)
    gboolean cmyk;      // was converted from CMYK / YCCK
    const char *format; // "PNG", "JPEG", "TIFF", "WebP", "SVG", "memory" (static string)
    int n_palette;      // indexed only
    guint8 palette[256][4]; // RGBA, alpha 255 where the file has none
    gboolean palette_has_alpha;
    gboolean has_key;  // GREY and RGB: samples equal to `key` are transparent (PNG tRNS)
    guint16 key[3];    // stored values; grey uses key[0]
    gboolean inverted; // TIFF min-is-white: samples are 2^bits-1 minus the stored ones
    void *data;        // height * width * channels samples
};

#define LIMN_IMAGE_MAX_PIXELS ((gint64) 1 << 30)

int limn_pixels_channels(LimnPixels pixels);
gsize limn_depth_size(LimnDepth depth);

// Zeroed. LIMN_ERROR_MEMORY beyond LIMN_IMAGE_MAX_PIXELS or without memory.
LimnImage *limn_image_new(int width, int height, LimnPixels pixels, LimnDepth depth,
                          GError **error);
LimnImage *limn_image_ref(LimnImage *image);
void limn_image_unref(LimnImage *image);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnImage, limn_image_unref)

gsize limn_image_stride(const LimnImage *image); // bytes per row

// Everything but size, pixels, depth and data: what the file said about the picture.
void limn_image_copy_description(LimnImage *to, const LimnImage *from);

// How samples of more than 8 bits, or of fewer, become 8-bit ones for display and for
// models: one rule for all depths. RANGE_TYPE maps the full range of the stored type
// (0..2^bits-1; float: 0..1) to 0..255, rounded to nearest; RANGE_DATA maps min..max of
// the finite samples of all colour channels together (a constant picture gives 0). 8-bit
// data are never rescaled under RANGE_TYPE. Palettes and alpha know no range. NaN and
// values below the range become 0, values above it 255.
//
// The rule by default, for models as for the screen, is RANGE_TYPE, so that a picture
// stored with 8 and with 16 bits looks and scores the same; where the type says nothing
// about the range (32-bit integers, floats with values outside [0, 1]) it is RANGE_DATA.
// The stored numbers themselves stay in the image for the probe.
typedef enum {
    LIMN_RANGE_TYPE,
    LIMN_RANGE_DATA,
} LimnRangeRule;

// The rule used when nobody chose one (see above).
LimnRangeRule limn_image_default_range(const LimnImage *image);
// 0 and 2^bits-1; 0 and 1 for floats.
void limn_image_type_range(const LimnImage *image, double *min, double *max);

// 8-bit RGB as models see it: palette expanded, grey repeated, alpha dropped. The
// bytes of 8-bit grey, RGB, palette and YCbCr files equal those of Pillow's
// convert("RGB"). Returns: (transfer full), `image` itself when it is RGB U8 already.
LimnImage *limn_image_to_rgb8(LimnImage *image, LimnRangeRule rule, GError **error);
// For display: as above with alpha kept (RGBA, not premultiplied).
LimnImage *limn_image_to_rgba8(LimnImage *image, LimnRangeRule rule, GError **error);

// A part as RGBA with samples from min to max mapped to 0..255: for pictures whose whole
// would take too much memory, and for ranges that the user set. The part is inside.
LimnImage *limn_image_part_to_rgba8(LimnImage *image, double min, double max, int x,
                                    int y, int width, int height, GError **error);
// The range that a rule stands for; 0 and 0 for data without a finite sample.
void limn_image_rule_range(const LimnImage *image, LimnRangeRule rule, double *min,
                           double *max);

// min and max of the finite samples (alpha left out); FALSE when there is none.
gboolean limn_image_range(const LimnImage *image, double *min, double *max);
// The stored number at a place (channel 0 of an indexed picture is the index).
double limn_image_get_sample(const LimnImage *image, int x, int y, int channel);

// A new picture with EXIF orientation 1..8 applied; `image` itself for 1. The result
// remembers the orientation.
LimnImage *limn_image_orient(LimnImage *image, int orientation, GError **error);
