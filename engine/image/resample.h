// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Resampling equal to the reference preprocessing of CLIP (specification: Grad-ECLIP,
// section 4) and the enlargement of maps.

#include "engine/image/image.h"

// Pillow's 8-bit bicubic with antialias (a = -0.5), 22-bit fixed point, horizontal pass
// first; bit for bit. `image` is GREY, RGB or RGBA U8 (RGBA: four independent channels).
LimnImage *limn_resize_bicubic(LimnImage *image, int width, int height, LimnJob *job,
                               GError **error);
// The same scheme with the triangle kernel (bilinear) for models that ask for it.
LimnImage *limn_resize_bilinear_antialias(LimnImage *image, int width, int height,
                                          LimnJob *job, GError **error);
// Averages over the covered area (box filter), for thumbnails; the caller premultiplies
// RGBA.
LimnImage *limn_resize_area(LimnImage *image, int width, int height, LimnJob *job,
                            GError **error);
// Nearest neighbour (the sample at the centre of each new pixel), every kind of picture;
// for label maps. Palette and description are kept.
LimnImage *limn_resize_nearest(LimnImage *image, int width, int height, GError **error);
// A part of a picture of any kind; LIMN_ERROR_ARGUMENT when it is not inside.
LimnImage *limn_crop(LimnImage *image, int left, int top, int width, int height,
                     GError **error);

// Where the model looked: the rectangle of the upright picture, in its pixels (may be
// fractional), that the map covers.
typedef struct {
    double x, y, width, height;
} LimnRect;

typedef enum {
    LIMN_PREPROCESS_CLIP, // short side to n, centre crop n x n
    LIMN_PREPROCESS_KEEP, // sides rounded to multiples of the patch, no crop
} LimnPreprocessMode;

typedef struct {
    LimnPreprocessMode mode;
    int size;       // n, CLIP mode
    int patch;      // KEEP mode
    int keep_limit; // KEEP mode: pictures whose short side exceeds it are shrunk first; 0
                    // = never
    gboolean bilinear; // preprocess_cfg.interpolation
    gboolean squash;   // resize_mode "squash": both sides to n, no crop
    float mean[3], std[3];
    gboolean data_range; // samples by RANGE_DATA instead of limn_image_default_range()
} LimnPreprocess;

typedef struct {
    int resized_width, resized_height; // before the crop
    int crop_left, crop_top;
    LimnImage *image;  // RGB U8 as the model sees it
    LimnArray *tensor; // [3,h,w] f32 normalised
    LimnRect rect;     // of the source picture
} LimnPreprocessed;

// Any picture; limn_image_to_rgb8 is applied first. When that uses the range of the data,
// or when a picture of 16 bits has used only the lowest part of its range, a diagnostic
// says so. Only the part that the model sees is computed.
LimnPreprocessed *limn_preprocess(LimnImage *image, const LimnPreprocess *options,
                                  LimnJob *job, GError **error);
void limn_preprocessed_free(LimnPreprocessed *preprocessed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnPreprocessed, limn_preprocessed_free)

// Bilinear enlargement of a float map, align_corners = false, clamped neighbours.
void limn_resize_map(const float *map, int gh, int gw, float *out, int height, int width);
// The display field of section 6.1 step 5: min-max to [0,1], then bilinear into the
// rectangle `rect` of a [height,width] field that is NaN elsewhere. A constant map
// gives zeros. Returns TRUE when the map was constant.
gboolean limn_display_map(const float *map, int gh, int gw, const LimnRect *rect,
                          float *out, int height, int width);
// Position table rows [g*g, width] to [gh*gw, width]; bicubic a = -0.75 (or bilinear).
void limn_resize_positions(const float *in, int g, int width, float *out, int gh, int gw,
                           gboolean bilinear);
