// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The resampler below limn_resize_*: one filter, any window of the enlarged or reduced
// picture.

#include "engine/image/resample.h"

typedef enum {
    LIMN_FILTER_BICUBIC,  // a = -0.5
    LIMN_FILTER_TRIANGLE, // "bilinear" with antialias
    LIMN_FILTER_BOX,
} LimnFilter;

// The pixels [left, left + window_width) x [top, top + window_height) of `image` resized
// to width x height, without computing the others: the same bytes as resizing and
// cropping. `image` is GREY, RGB or RGBA U8 (four independent channels).
LimnImage *limn_resample_window(LimnImage *image, LimnFilter filter, int width,
                                int height, int left, int top, int window_width,
                                int window_height, LimnJob *job, GError **error);
