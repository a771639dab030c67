// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the tests of pictures share: test files, made-up pictures, comparisons.

#include <string.h>

#include "engine/base/array.h"
#include "engine/base/error.h"
#include "engine/base/job.h"
#include "engine/image/image.h"

static inline char *
test_path(const char *relative)
{
    return g_build_filename(g_getenv("LIMN_TEST_DATA"), relative, NULL);
}

static inline LimnImage *
test_image(int width, int height, LimnPixels pixels, LimnDepth depth)
{
    g_autoptr(GError) error = NULL;
    LimnImage *image = limn_image_new(width, height, pixels, depth, &error);
    g_assert_no_error(error);
    return image;
}

// The picture of tests/data/pictures/README.md: (37 x + 91 y + 53 c + 11 (x y mod 7)).
static inline LimnImage *
test_pattern(int width, int height, LimnPixels pixels)
{
    LimnImage *image = test_image(width, height, pixels, LIMN_DEPTH_U8);
    int channels = limn_pixels_channels(pixels);
    guint8 *to = image->data;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            for (int c = 0; c < channels; c++) {
                *to++ = (guint8) (37 * x + 91 * y + 53 * c + 11 * (x * y % 7));
            }
        }
    }
    return image;
}

static inline gsize
test_image_bytes(const LimnImage *image)
{
    return limn_image_stride(image) * (gsize) image->height;
}

// Equal kind, size and samples.
static inline void
assert_same_pixels(const LimnImage *a, const LimnImage *b)
{
    g_assert_cmpint(a->width, ==, b->width);
    g_assert_cmpint(a->height, ==, b->height);
    g_assert_cmpint(a->pixels, ==, b->pixels);
    g_assert_cmpint(a->depth, ==, b->depth);
    g_assert_cmpmem(a->data, test_image_bytes(a), b->data, test_image_bytes(b));
}

// An array [h, w, channels] or [h, w] of bytes with the picture's pixels.
static inline void
assert_equals_array(const LimnImage *image, const LimnArray *expected)
{
    g_assert_cmpint(expected->dtype, ==, LIMN_DTYPE_U8);
    g_assert_cmpint(image->depth, ==, LIMN_DEPTH_U8);
    g_assert_cmpint(expected->shape[0], ==, image->height);
    g_assert_cmpint(expected->shape[1], ==, image->width);
    g_assert_cmpint(expected->shape[2], ==, limn_pixels_channels(image->pixels));
    g_assert_cmpmem(image->data, test_image_bytes(image), expected->data,
                    (gsize) expected->length);
}

static inline int
test_count_diagnostics(LimnJob *job)
{
    g_autoptr(GPtrArray) found = limn_job_dup_diagnostics(job);
    return (int) found->len;
}

static inline void
assert_diagnostic(LimnJob *job, const char *part)
{
    g_autoptr(GPtrArray) found = limn_job_dup_diagnostics(job);
    for (guint i = 0; i < found->len; i++) {
        const LimnDiagnostic *diagnostic = g_ptr_array_index(found, i);
        if (strstr(diagnostic->message, part) != NULL) {
            return;
        }
    }
    g_error("no diagnostic says \"%s\" (%u were reported)", part, found->len);
}
