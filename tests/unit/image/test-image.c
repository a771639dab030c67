// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>

#include "tests/unit/image/image-testing.h"

static void
test_new(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image = test_image(5, 3, LIMN_PIXELS_RGBA, LIMN_DEPTH_U16);
    g_assert_cmpuint(limn_image_stride(image), ==, 5 * 4 * 2);
    g_assert_cmpint(image->bits, ==, 16);
    g_assert_cmpint(image->orientation, ==, 1);
    g_assert_cmpstr(image->format, ==, "memory");
    for (int c = 0; c < 4; c++) {
        g_assert_cmpfloat(limn_image_get_sample(image, 4, 2, c), ==, 0);
    }
    g_autoptr(LimnImage) again = limn_image_ref(image);
    g_assert_true(again == image);
    limn_image_unref(NULL);

    g_assert_null(limn_image_new(0, 3, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    g_clear_error(&error);
    g_assert_null(limn_image_new(32769, 32768, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY);
    g_assert_nonnull(strstr(error->message, "32769"));
    g_assert_nonnull(strstr(error->message, "1073741824"));
    g_clear_error(&error);
    g_assert_null(
        limn_image_new(G_MAXINT, G_MAXINT, LIMN_PIXELS_RGBA, LIMN_DEPTH_F32, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY);
}

static void
test_samples(void)
{
    g_autoptr(LimnImage) u8 = test_image(2, 2, LIMN_PIXELS_GREY_ALPHA, LIMN_DEPTH_U8);
    ((guint8 *) u8->data)[7] = 201;
    g_assert_cmpfloat(limn_image_get_sample(u8, 1, 1, 1), ==, 201);
    g_autoptr(LimnImage) u16 = test_image(3, 1, LIMN_PIXELS_RGB, LIMN_DEPTH_U16);
    ((guint16 *) u16->data)[4] = 65535;
    g_assert_cmpfloat(limn_image_get_sample(u16, 1, 0, 1), ==, 65535);
    g_autoptr(LimnImage) u32 = test_image(2, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_U32);
    ((guint32 *) u32->data)[1] = 4294967295u;
    g_assert_cmpfloat(limn_image_get_sample(u32, 1, 0, 0), ==, 4294967295.0);
    g_autoptr(LimnImage) f32 = test_image(2, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_F32);
    ((float *) f32->data)[0] = -2.5f;
    g_assert_cmpfloat(limn_image_get_sample(f32, 0, 0, 0), ==, -2.5);
}

// Where the pixels of a picture of w x h go: the top left corner of the upright picture
// shows this pixel of the stored one, and the one to its right that.
static void
test_orientation_corners(void)
{
    enum { W = 70, H = 131 }; // more than a tile, no multiple of one
    static const struct {
        int first[2], right[2];
    } expected[] = {
        {{0, 0}, {1, 0}},
        {{W - 1, 0}, {W - 2, 0}},
        {{W - 1, H - 1}, {W - 2, H - 1}},
        {{0, H - 1}, {1, H - 1}},
        {{0, 0}, {0, 1}},
        {{0, H - 1}, {0, H - 2}},
        {{W - 1, H - 1}, {W - 1, H - 2}},
        {{W - 1, 0}, {W - 1, 1}},
    };
    g_autoptr(LimnImage) stored = test_image(W, H, LIMN_PIXELS_GREY, LIMN_DEPTH_U16);
    for (int i = 0; i < W * H; i++) {
        ((guint16 *) stored->data)[i] = (guint16) i;
    }
    for (int orientation = 1; orientation <= 8; orientation++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnImage) upright = limn_image_orient(stored, orientation, &error);
        g_assert_no_error(error);
        g_assert_cmpint(upright->width, ==, orientation < 5 ? W : H);
        g_assert_cmpint(upright->height, ==, orientation < 5 ? H : W);
        const int *first = expected[orientation - 1].first;
        const int *right = expected[orientation - 1].right;
        g_assert_cmpfloat(limn_image_get_sample(upright, 0, 0, 0), ==,
                          first[1] * W + first[0]);
        g_assert_cmpfloat(limn_image_get_sample(upright, 1, 0, 0), ==,
                          right[1] * W + right[0]);
    }
    g_autoptr(LimnImage) same = limn_image_orient(stored, 1, NULL);
    g_assert_true(same == stored);
}

// Turning there and back gives the same picture, for every size of a pixel.
static void
test_orientation_round_trip(void)
{
    static const int inverse[] = {1, 2, 3, 4, 5, 8, 7, 6};
    for (int pixels = LIMN_PIXELS_GREY; pixels <= LIMN_PIXELS_INDEXED; pixels++) {
        for (int depth = LIMN_DEPTH_U8; depth <= LIMN_DEPTH_F32; depth++) {
            g_autoptr(LimnImage) image =
                test_image(67, 9, (LimnPixels) pixels, (LimnDepth) depth);
            image->n_palette = 3;
            for (gsize i = 0; i < test_image_bytes(image); i++) {
                ((guint8 *) image->data)[i] = (guint8) (i * 7 + i / 256);
            }
            for (int orientation = 1; orientation <= 8; orientation++) {
                g_autoptr(LimnImage) turned = limn_image_orient(image, orientation, NULL);
                g_autoptr(LimnImage) back =
                    limn_image_orient(turned, inverse[orientation - 1], NULL);
                assert_same_pixels(back, image);
                g_assert_cmpint(turned->n_palette, ==, 3);
            }
        }
    }
}

static void
assert_pixel(const LimnImage *image, int x, guint8 r, guint8 g, guint8 b, int a)
{
    g_assert_cmpfloat(limn_image_get_sample(image, x, 0, 0), ==, r);
    g_assert_cmpfloat(limn_image_get_sample(image, x, 0, 1), ==, g);
    g_assert_cmpfloat(limn_image_get_sample(image, x, 0, 2), ==, b);
    if (a >= 0) {
        g_assert_cmpfloat(limn_image_get_sample(image, x, 0, 3), ==, a);
    }
}

static void
test_palette(void)
{
    g_autoptr(LimnImage) image = test_image(3, 1, LIMN_PIXELS_INDEXED, LIMN_DEPTH_U8);
    memcpy(image->data, "\0\1\7", 3);
    memcpy(image->palette[0], "\12\24\36\377", 4);
    memcpy(image->palette[1], "\1\2\3\200", 4);
    image->n_palette = 2;
    g_autoptr(LimnImage) rgb = limn_image_to_rgb8(image, LIMN_RANGE_TYPE, NULL);
    assert_pixel(rgb, 0, 10, 20, 30, -1);
    assert_pixel(rgb, 1, 1, 2, 3, -1);
    assert_pixel(rgb, 2, 7, 7, 7, -1); // beyond the palette: the ramp
    // Ranges do not apply to indices.
    g_autoptr(LimnImage) rgba = limn_image_to_rgba8(image, LIMN_RANGE_DATA, NULL);
    assert_pixel(rgba, 0, 10, 20, 30, 255);
    assert_pixel(rgba, 1, 1, 2, 3, 128);
    g_assert_cmpint(limn_image_default_range(image), ==, LIMN_RANGE_TYPE);
}

static void
test_transparent_key(void)
{
    g_autoptr(LimnImage) grey = test_image(3, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_U8);
    memcpy(grey->data, "\0\1\2", 3);
    grey->bits = 2;
    grey->has_key = TRUE;
    grey->key[0] = 1;
    g_autoptr(LimnImage) rgba = limn_image_to_rgba8(grey, LIMN_RANGE_TYPE, NULL);
    assert_pixel(rgba, 0, 0, 0, 0, 255);
    assert_pixel(rgba, 1, 85, 85, 85, 0);
    assert_pixel(rgba, 2, 170, 170, 170, 255);
    g_autoptr(LimnImage) rgb = limn_image_to_rgb8(grey, LIMN_RANGE_TYPE, NULL);
    assert_pixel(rgb, 1, 85, 85, 85, -1);

    g_autoptr(LimnImage) colour = test_image(2, 1, LIMN_PIXELS_RGB, LIMN_DEPTH_U16);
    const guint16 samples[] = {257, 514, 65535, 257, 514, 65534};
    const guint16 key[] = {257, 514, 65534};
    memcpy(colour->data, samples, sizeof samples);
    memcpy(colour->key, key, sizeof key);
    colour->has_key = TRUE;
    g_autoptr(LimnImage) shown = limn_image_to_rgba8(colour, LIMN_RANGE_TYPE, NULL);
    assert_pixel(shown, 0, 1, 2, 255, 255);
    assert_pixel(shown, 1, 1, 2, 255, 0);
}

static void
test_shared(void)
{
    g_autoptr(LimnImage) rgb = test_pattern(5, 4, LIMN_PIXELS_RGB);
    g_autoptr(LimnImage) same = limn_image_to_rgb8(rgb, LIMN_RANGE_TYPE, NULL);
    g_assert_true(same == rgb);
    g_autoptr(LimnImage) rgba = limn_image_to_rgba8(rgb, LIMN_RANGE_TYPE, NULL);
    g_autoptr(LimnImage) same_rgba = limn_image_to_rgba8(rgba, LIMN_RANGE_TYPE, NULL);
    g_assert_true(same_rgba == rgba);
    for (int i = 0; i < 20; i++) {
        g_assert_cmpmem((guint8 *) rgb->data + 3 * i, 3, (guint8 *) rgba->data + 4 * i,
                        3);
        g_assert_cmpint(((guint8 *) rgba->data)[4 * i + 3], ==, 255);
    }
    g_autoptr(LimnImage) back = limn_image_to_rgb8(rgba, LIMN_RANGE_TYPE, NULL);
    assert_same_pixels(back, rgb);
}

// 0..65535 and 0..4095 in 16 bits: the stored integers stay, the type's range is the
// rule, the range of the data the user's choice.
static void
test_hard_b03(void)
{
    static const int tops[] = {65535, 4095};
    for (int i = 0; i < 2; i++) {
        g_autoptr(LimnImage) image = test_image(256, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_U16);
        for (int x = 0; x < 256; x++) {
            ((guint16 *) image->data)[x] = (guint16) (x * tops[i] / 255);
        }
        double min, max;
        g_assert_true(limn_image_range(image, &min, &max));
        g_assert_cmpfloat(min, ==, 0);
        g_assert_cmpfloat(max, ==, tops[i]);
        limn_image_type_range(image, &min, &max);
        g_assert_cmpfloat(max, ==, 65535);
        g_assert_cmpfloat(limn_image_get_sample(image, 255, 0, 0), ==, tops[i]);
        g_assert_cmpint(limn_image_default_range(image), ==, LIMN_RANGE_TYPE);
        g_autoptr(LimnImage) by_type = limn_image_to_rgb8(image, LIMN_RANGE_TYPE, NULL);
        g_autoptr(LimnImage) by_data = limn_image_to_rgb8(image, LIMN_RANGE_DATA, NULL);
        for (int x = 0; x < 256; x++) {
            double stored = limn_image_get_sample(image, x, 0, 0);
            g_assert_cmpfloat(limn_image_get_sample(by_type, x, 0, 0), ==,
                              floor(stored * 255 / 65535 + 0.5));
            g_assert_cmpfloat(limn_image_get_sample(by_data, x, 0, 0), ==,
                              floor(stored * 255 / tops[i] + 0.5));
        }
    }
}

// The same gradient as u8, u16, u32 and f32, once over the whole range of the type and
// once up to a small maximum: the same bytes by the type (u8, u16, f32 in 0..1) and by
// the data (all).
static LimnImage *
make_gradient(LimnDepth depth, int top)
{
    LimnImage *image = test_image(top + 1, 1, LIMN_PIXELS_GREY, depth);
    for (int x = 0; x <= top; x++) {
        switch (depth) {
        case LIMN_DEPTH_U8:
            ((guint8 *) image->data)[x] = (guint8) x;
            break;
        case LIMN_DEPTH_U16:
            ((guint16 *) image->data)[x] = (guint16) (257 * x);
            break;
        case LIMN_DEPTH_U32:
            ((guint32 *) image->data)[x] = 16843009u * (guint32) x;
            break;
        case LIMN_DEPTH_F32:
            ((float *) image->data)[x] = (float) x / 255;
            break;
        }
    }
    return image;
}

static void
test_hard_b04(void)
{
    static const int tops[] = {255, 17};
    for (int i = 0; i < 2; i++) {
        g_autoptr(LimnImage) bytes = make_gradient(LIMN_DEPTH_U8, tops[i]);
        for (int rule = LIMN_RANGE_TYPE; rule <= LIMN_RANGE_DATA; rule++) {
            g_autoptr(LimnImage) first =
                limn_image_to_rgb8(bytes, (LimnRangeRule) rule, NULL);
            g_assert_cmpfloat(limn_image_get_sample(first, tops[i], 0, 1), ==,
                              rule == LIMN_RANGE_TYPE ? tops[i] : 255);
            for (int depth = LIMN_DEPTH_U16; depth <= LIMN_DEPTH_F32; depth++) {
                g_autoptr(LimnImage) image = make_gradient((LimnDepth) depth, tops[i]);
                g_autoptr(LimnImage) other =
                    limn_image_to_rgb8(image, (LimnRangeRule) rule, NULL);
                assert_same_pixels(other, first);
                g_assert_cmpint(limn_image_default_range(image), ==,
                                depth == LIMN_DEPTH_U32 ? LIMN_RANGE_DATA
                                                        : LIMN_RANGE_TYPE);
            }
        }
    }
}

// A part is what the whole shows there.
static void
test_parts(void)
{
    for (int pixels = LIMN_PIXELS_GREY; pixels <= LIMN_PIXELS_INDEXED; pixels++) {
        g_autoptr(LimnImage) image = test_pattern(31, 17, (LimnPixels) pixels);
        g_autoptr(LimnImage) whole = limn_image_to_rgba8(image, LIMN_RANGE_DATA, NULL);
        double min, max;
        limn_image_rule_range(image, LIMN_RANGE_DATA, &min, &max);
        g_autoptr(LimnImage) part =
            limn_image_part_to_rgba8(image, min, max, 5, 4, 20, 13, NULL);
        for (int y = 0; y < 13; y++) {
            for (int x = 0; x < 20; x++) {
                for (int c = 0; c < 4; c++) {
                    g_assert_cmpfloat(limn_image_get_sample(part, x, y, c), ==,
                                      limn_image_get_sample(whole, x + 5, y + 4, c));
                }
            }
        }
    }
}

static void
test_floats(void)
{
    const float values[] = {NAN, INFINITY, -INFINITY, -0.25f, 0.5f, 2};
    g_autoptr(LimnImage) image = test_image(6, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_F32);
    memcpy(image->data, values, sizeof values);
    double min, max;
    g_assert_true(limn_image_range(image, &min, &max));
    g_assert_cmpfloat(min, ==, -0.25);
    g_assert_cmpfloat(max, ==, 2);
    g_assert_cmpint(limn_image_default_range(image), ==, LIMN_RANGE_DATA);
    const guint8 by_type[] = {0, 255, 0, 0, 128, 255};
    const guint8 by_data[] = {0, 255, 0, 0, 85, 255};
    g_autoptr(LimnImage) type = limn_image_to_rgb8(image, LIMN_RANGE_TYPE, NULL);
    g_autoptr(LimnImage) data = limn_image_to_rgb8(image, LIMN_RANGE_DATA, NULL);
    for (int x = 0; x < 6; x++) {
        g_assert_cmpfloat(limn_image_get_sample(type, x, 0, 0), ==, by_type[x]);
        g_assert_cmpfloat(limn_image_get_sample(data, x, 0, 2), ==, by_data[x]);
    }
    for (int x = 0; x < 6; x++) {
        ((float *) image->data)[x] = NAN;
    }
    g_assert_false(limn_image_range(image, &min, &max));
    g_autoptr(LimnImage) nothing = limn_image_to_rgb8(image, LIMN_RANGE_DATA, NULL);
    assert_pixel(nothing, 3, 0, 0, 0, -1);
}

static void
test_constant(void)
{
    g_autoptr(LimnImage) image = test_image(4, 2, LIMN_PIXELS_RGB, LIMN_DEPTH_U8);
    memset(image->data, 77, 24);
    g_autoptr(LimnImage) flat = limn_image_to_rgb8(image, LIMN_RANGE_DATA, NULL);
    assert_pixel(flat, 2, 0, 0, 0, -1);
}

// Odd width, RGBA, partly transparent: no stride of 3 bytes anywhere, alpha kept for the
// screen and left out for models, colours under full transparency included.
static void
test_hard_b05(void)
{
    g_autoptr(LimnImage) image = test_pattern(1617, 3, LIMN_PIXELS_RGBA);
    g_autoptr(LimnImage) rgb = limn_image_to_rgb8(image, LIMN_RANGE_TYPE, NULL);
    g_autoptr(LimnImage) scaled = limn_image_to_rgba8(image, LIMN_RANGE_DATA, NULL);
    for (int y = 0; y < 3; y++) {
        for (int x = 0; x < 1617; x++) {
            for (int c = 0; c < 3; c++) {
                g_assert_cmpfloat(limn_image_get_sample(rgb, x, y, c), ==,
                                  limn_image_get_sample(image, x, y, c));
            }
            g_assert_cmpfloat(limn_image_get_sample(scaled, x, y, 3), ==,
                              limn_image_get_sample(image, x, y, 3));
        }
    }
    g_autoptr(LimnImage) grey = test_image(1, 1, LIMN_PIXELS_GREY_ALPHA, LIMN_DEPTH_U16);
    ((guint16 *) grey->data)[0] = 128 * 257;
    ((guint16 *) grey->data)[1] = 3 * 257;
    g_autoptr(LimnImage) shown = limn_image_to_rgba8(grey, LIMN_RANGE_TYPE, NULL);
    assert_pixel(shown, 0, 128, 128, 128, 3);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/image/new", test_new);
    g_test_add_func("/image/samples", test_samples);
    g_test_add_func("/image/orientation-corners", test_orientation_corners);
    g_test_add_func("/image/orientation-round-trip", test_orientation_round_trip);
    g_test_add_func("/image/palette", test_palette);
    g_test_add_func("/image/transparent-key", test_transparent_key);
    g_test_add_func("/image/shared", test_shared);
    g_test_add_func("/image/parts", test_parts);
    g_test_add_func("/image/floats", test_floats);
    g_test_add_func("/image/constant", test_constant);
    g_test_add_func("/hard/B03-16-bit", test_hard_b03);
    g_test_add_func("/hard/B04-one-rule-for-all-depths", test_hard_b04);
    g_test_add_func("/hard/B05-alpha-and-stride", test_hard_b05);
    return g_test_run();
}
