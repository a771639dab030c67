// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What can be told from a label map alone: whether it went through a lossy format, so
// that ringing would be taken for classes, and whether it fits its picture.

#include "engine/image/image.h"

typedef struct {
    int n_values;          // distinct values (colours of an RGB-coded map)
    int n_common;          // those that cover at least one pixel in 200
    gint64 n_stray;        // pixels that hold one of the others
    gint64 n_scattered;    // stray pixels without a neighbour (of four) of equal value
    int stray_x, stray_y;  // the first stray pixel in reading order, or -1
    gboolean lossy_format; // the file was a JPEG or a lossy WebP
} LimnMaskReport;

// TRUE when the picture cannot be taken for a label map as it is: it comes from a lossy
// format and has more than two values, or (in any format) at least eight rare values
// whose pixels mostly lie alone, as ringing does and labels do not. `report` may be NULL.
// Values are told apart up to 2^24; one pass and a table of 64 MiB at most.
gboolean limn_image_looks_like_lossy_mask(const LimnImage *image, LimnMaskReport *report);

// "61 distinct values, 4 of them common; 1830 pixels hold one of the others, the first at
// (13, 27)". Returns: (transfer full)
char *limn_mask_report_describe(const LimnMaskReport *report);

// FALSE with LIMN_ERROR_MISMATCH naming both files and both sizes when they differ.
gboolean limn_mask_check_size(const char *mask_name, int mask_width, int mask_height,
                              const char *picture_name, int width, int height,
                              GError **error);

typedef enum {
    LIMN_MASK_FIT_CROP_PAD, // keep the top left corner, cut what is too much, fill the
                            // rest
    LIMN_MASK_FIT_NEAREST,  // stretch without new values
} LimnMaskFit;

// A label map of the size of its picture, by the choice of the user. `fill` is the value
// of samples that padding adds (the ignored label).
LimnImage *limn_mask_fit(LimnImage *mask, int width, int height, LimnMaskFit fit,
                         guint32 fill, GError **error);
