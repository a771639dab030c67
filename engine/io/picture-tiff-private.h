// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Between the two halves of the TIFF reader: what the tags say and how the samples of a
// block of rows become those of a picture.

#include "engine/io/picture-private.h"

typedef struct {
    guint32 width, height;
    guint16 bits, samples; // per sample, per pixel
    guint16 format;        // SAMPLEFORMAT_*
    guint16 photometric, compression;
    gboolean separate; // planes one after another
    gboolean tiled;
    int orientation;
    // What comes out.
    LimnPixels pixels;
    LimnDepth depth;
    int used;               // samples of a pixel that are read (4 for CMYK)
    gboolean cmyk;          // read into four channels, then converted
    gboolean premultiplied; // alpha is undone at the end
    gboolean ycbcr;         // left to libtiff's own conversion
} LimnTiffPlan;

// Copies n samples, the first at index `first` of a row and the others `step` apart, to
// every `to_step`-th sample of `to` (elements of the plan's depth). Rows begin at a
// multiple of the sample's size; the caller has checked that they are long enough.
void limn_tiff_unpack(const LimnTiffPlan *plan, const guint8 *row, gsize first,
                      gsize step, gsize n, void *to, gsize to_step);

// Signed integers, min-is-white, premultiplied alpha and CMYK, after all samples are
// there. Takes `image`; returns the picture, or NULL with an error.
LimnImage *limn_tiff_finish(const LimnTiffPlan *plan, LimnImage *image,
                            const LimnPictureSource *source, GError **error);
