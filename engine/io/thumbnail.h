// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Small versions of picture files for filmstrips and pickers.

#include "engine/io/picture.h"

#define LIMN_THUMBNAIL_MAX_SIDE 2048

// RGBA U8, upright, the longer side at most `max_side` (1..LIMN_THUMBNAIL_MAX_SIDE);
// smaller pictures keep their size. Samples of more than 8 bits are shown by
// limn_image_default_range(). JPEG files are decoded at a fraction of their size, others
// in full and averaged, weighted by alpha. Errors as for limn_picture_load().
LimnImage *limn_thumbnail_load(const char *path, int max_side, LimnJob *job,
                               GError **error);
// The same for a picture that is there already.
LimnImage *limn_thumbnail_make(LimnImage *image, int max_side, LimnJob *job,
                               GError **error);
