// SPDX-License-Identifier: GPL-3.0-or-later

#include <png.h>

#include "engine/base/file.h"
#include "tests/unit/io/picture-testing.h"

static GBytes *
encode(LimnImage *image)
{
    g_autoptr(GError) error = NULL;
    GBytes *bytes = limn_png_encode(image, &error);
    g_assert_no_error(error);
    g_assert_nonnull(bytes);
    return bytes;
}

static LimnImage *
round_trip(LimnImage *image)
{
    g_autoptr(GBytes) bytes = encode(image);
    return test_load_bytes(bytes, NULL);
}

// Bit depth and colour type that the file got.
static void
assert_header(LimnImage *image, int bits, int type)
{
    g_autoptr(GBytes) bytes = encode(image);
    const guint8 *data = g_bytes_get_data(bytes, NULL);
    g_assert_cmpint(data[24], ==, bits);
    g_assert_cmpint(data[25], ==, type);
}

static void
fill(LimnImage *image, guint32 limit)
{
    gsize n = (gsize) image->width * (gsize) image->height *
              (gsize) limn_pixels_channels(image->pixels);
    for (gsize i = 0; i < n; i++) {
        guint32 value = (guint32) (i * 2654435761u >> 7) % limit;
        if (image->depth == LIMN_DEPTH_U8) {
            ((guint8 *) image->data)[i] = (guint8) value;
        } else if (image->depth == LIMN_DEPTH_U16) {
            ((guint16 *) image->data)[i] = (guint16) value;
        } else {
            ((guint32 *) image->data)[i] = value;
        }
    }
}

static void
test_pictures(void)
{
    static const LimnPixels kinds[] = {LIMN_PIXELS_GREY, LIMN_PIXELS_GREY_ALPHA,
                                       LIMN_PIXELS_RGB, LIMN_PIXELS_RGBA};
    for (gsize k = 0; k < G_N_ELEMENTS(kinds); k++) {
        for (int depth = LIMN_DEPTH_U8; depth <= LIMN_DEPTH_U16; depth++) {
            g_autoptr(LimnImage) image = test_image(31, 7, kinds[k], (LimnDepth) depth);
            fill(image, depth == LIMN_DEPTH_U8 ? 256 : 65536);
            g_autoptr(LimnImage) again = round_trip(image);
            assert_same_pixels(again, image);
            g_assert_cmpint(again->bits, ==, depth == LIMN_DEPTH_U8 ? 8 : 16);
            g_autoptr(GBytes) first = encode(image);
            g_autoptr(GBytes) second = encode(image);
            g_assert_true(g_bytes_equal(first, second));
        }
    }
}

static LimnImage *
make_indexed(int bits, int n_palette)
{
    LimnImage *image = test_image(19, 6, LIMN_PIXELS_INDEXED, LIMN_DEPTH_U8);
    fill(image, (guint32) n_palette);
    image->bits = bits;
    image->n_palette = n_palette;
    for (int i = 0; i < n_palette; i++) {
        image->palette[i][0] = (guint8) (i * 11);
        image->palette[i][1] = (guint8) (255 - i);
        image->palette[i][3] = (guint8) (i == 2 ? 60 : 255);
    }
    return image;
}

static void
assert_same_palette(const LimnImage *a, const LimnImage *b)
{
    g_assert_cmpint(a->n_palette, ==, b->n_palette);
    g_assert_cmpmem(a->palette, sizeof a->palette, b->palette, sizeof b->palette);
}

// A label map keeps the encoding of its source: indices, palette, transparency, bit
// depth.
static void
test_hard_b14(void)
{
    static const int sizes[][2] = {{1, 2}, {2, 4}, {4, 13}, {8, 21}, {8, 256}};
    for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++) {
        g_autoptr(LimnImage) image = make_indexed(sizes[s][0], sizes[s][1]);
        for (int i = image->n_palette; i < 256; i++) {
            g_assert_cmpint(image->palette[i][3], ==, 255);
        }
        image->palette_has_alpha = image->n_palette > 2;
        g_autoptr(LimnImage) again = round_trip(image);
        assert_same_pixels(again, image);
        assert_same_palette(again, image);
        g_assert_cmpint(again->bits, ==, sizes[s][0]);
        g_assert_cmpint(again->palette_has_alpha, ==, image->palette_has_alpha);
    }
    // Grey ids of few bits stay grey ids of few bits, with their transparent value.
    g_autoptr(LimnImage) grey = test_image(9, 3, LIMN_PIXELS_GREY, LIMN_DEPTH_U8);
    fill(grey, 3);
    grey->bits = 2;
    grey->has_key = TRUE;
    grey->key[0] = 2;
    g_autoptr(LimnImage) again = round_trip(grey);
    assert_same_pixels(again, grey);
    g_assert_cmpint(again->bits, ==, 2);
    g_assert_true(again->has_key);
    g_assert_cmpint(again->key[0], ==, 2);
}

// The three encodings of label maps. Type 3: the index is the id.
static void
test_hard_b13(void)
{
    g_autoptr(LimnImage) voc = make_indexed(8, 21);
    assert_header(voc, 8, PNG_COLOR_TYPE_PALETTE);
    g_autoptr(LimnImage) read = round_trip(voc);
    g_assert_cmpint(read->pixels, ==, LIMN_PIXELS_INDEXED);
    g_assert_cmpfloat(limn_image_get_sample(read, 3, 2, 0), ==,
                      limn_image_get_sample(voc, 3, 2, 0));
    g_autoptr(LimnImage) grey = test_image(9, 3, LIMN_PIXELS_GREY, LIMN_DEPTH_U8);
    fill(grey, 21);
    assert_header(grey, 8, PNG_COLOR_TYPE_GRAY);
    g_autoptr(LimnImage) grey_read = round_trip(grey);
    assert_same_pixels(grey_read, grey);
    g_autoptr(LimnImage) coded = test_image(9, 3, LIMN_PIXELS_RGB, LIMN_DEPTH_U8);
    fill(coded, 4);
    g_autoptr(LimnImage) coded_read = round_trip(coded);
    assert_same_pixels(coded_read, coded);
}

static void
test_widening(void)
{
    g_autoptr(LimnImage) image = make_indexed(1, 2);
    ((guint8 *) image->data)[4] = 5; // a class that was added
    assert_header(image, 4, PNG_COLOR_TYPE_PALETTE);
    g_autoptr(LimnImage) again = round_trip(image);
    assert_same_pixels(again, image);
    g_assert_cmpint(again->n_palette, ==, 6);
    g_autoptr(LimnImage) grey = test_image(4, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_U8);
    grey->bits = 2;
    ((guint8 *) grey->data)[1] = 200;
    assert_header(grey, 8, PNG_COLOR_TYPE_GRAY);
    g_autoptr(LimnImage) bare = test_image(4, 1, LIMN_PIXELS_INDEXED, LIMN_DEPTH_U8);
    g_autoptr(LimnImage) bare_again = round_trip(bare);
    g_assert_cmpint(bare_again->n_palette, ==, 1);
}

// 300 ids: 16 bits, nothing lost. 70 000: refused before anything is written.
static void
test_hard_b15(void)
{
    static const LimnPixels kinds[] = {LIMN_PIXELS_GREY, LIMN_PIXELS_INDEXED};
    for (int k = 0; k < 2; k++) {
        g_autoptr(LimnImage) image = test_image(300, 240, kinds[k], LIMN_DEPTH_U32);
        for (int i = 0; i < 300 * 240; i++) {
            ((guint32 *) image->data)[i] = (guint32) i % 300;
        }
        assert_header(image, 16, PNG_COLOR_TYPE_GRAY);
        g_autoptr(LimnImage) again = round_trip(image);
        for (int i = 0; i < 300; i++) {
            g_assert_cmpfloat(limn_image_get_sample(again, i, 7, 0), ==, i);
        }
        for (int i = 0; i < 300 * 240; i++) {
            ((guint32 *) image->data)[i] = (guint32) i;
        }
        g_autoptr(GError) error = NULL;
        g_autofree char *path = test_temporary_path("ids.png");
        g_assert_false(limn_png_save(image, path, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
        g_assert_nonnull(strstr(error->message, "ids.png: ids up to 71999"));
        g_assert_nonnull(strstr(error->message, "65535"));
        g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));
    }
    g_autoptr(LimnImage) few = test_image(4, 4, LIMN_PIXELS_GREY, LIMN_DEPTH_U32);
    ((guint32 *) few->data)[3] = 255;
    assert_header(few, 8, PNG_COLOR_TYPE_GRAY);
}

static void
expect_unwritable(LimnPixels pixels, LimnDepth depth)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image = test_image(2, 2, pixels, depth);
    g_assert_null(limn_png_encode(image, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_assert_nonnull(strstr(error->message, ".npy"));
}

static void
test_errors(void)
{
    expect_unwritable(LIMN_PIXELS_GREY, LIMN_DEPTH_F32);
    expect_unwritable(LIMN_PIXELS_RGBA, LIMN_DEPTH_F32);
    expect_unwritable(LIMN_PIXELS_RGB, LIMN_DEPTH_U32);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image = test_image(2, 2, LIMN_PIXELS_GREY, LIMN_DEPTH_U8);
    g_autofree char *path = test_temporary_path("no/such/folder/x.png");
    g_assert_false(limn_png_save(image, path, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
}

static void
test_save(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image = test_pattern(33, 12, LIMN_PIXELS_RGBA);
    g_autofree char *path = test_temporary_path("saved.png");
    g_assert_true(limn_png_save(image, path, &error));
    g_assert_no_error(error);
    g_autoptr(LimnImage) again = test_load_path(path, NULL);
    assert_same_pixels(again, image);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/png-write/pictures", test_pictures);
    g_test_add_func("/png-write/widening", test_widening);
    g_test_add_func("/png-write/errors", test_errors);
    g_test_add_func("/png-write/save", test_save);
    g_test_add_func("/hard/B13-index-is-the-id", test_hard_b13);
    g_test_add_func("/hard/B14-own-encoding-is-kept", test_hard_b14);
    g_test_add_func("/hard/B15-more-than-255-ids", test_hard_b15);
    return g_test_run();
}
