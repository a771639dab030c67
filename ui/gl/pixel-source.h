// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reads pieces of a stored picture as premultiplied RGBA bytes (red first), without
// converting the whole of it: a 30000 x 30000 grey picture needs no second copy. The
// colours are those of limn_image_to_rgba8 under the same rule. Immutable after init, so
// that workers may read at the same time.

#include "engine/image/image.h"

typedef struct {
    LimnImage *image;
    LimnRangeRule rule;
    double min, scale; // byte = (sample - min) * scale, rounded and clamped
    guint8 *bytes;     // sample -> 0..255: 256 entries for U8, 65536 for U16, else NULL
    guint32 *palette;  // indexed pictures: 256 premultiplied colours
    gboolean opaque;   // no sample of the picture can be transparent
} LimnPixelSource;

LimnPixelSource *limn_pixel_source_new(LimnImage *image, LimnRangeRule rule);
void limn_pixel_source_free(LimnPixelSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnPixelSource, limn_pixel_source_free)

// Pixels x .. x+n-1 of row y, four bytes each. The caller keeps inside the picture.
void limn_pixel_source_read(const LimnPixelSource *source, int x, int y, int n,
                            guint8 *out);
