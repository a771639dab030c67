// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/image/image-mask.h"
#include "tests/unit/image/image-testing.h"

// Rectangles of the classes 0, 1, 2 and 20.
static LimnImage *
make_labels(int width, int height, LimnDepth depth)
{
    LimnImage *image = test_image(width, height, LIMN_PIXELS_GREY, depth);
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            int label =
                y < height / 2 ? (x < width / 3 ? 1 : 0) : (x < width / 2 ? 2 : 20);
            int i = y * width + x;
            if (depth == LIMN_DEPTH_U8) {
                ((guint8 *) image->data)[i] = (guint8) label;
            } else if (depth == LIMN_DEPTH_U16) {
                ((guint16 *) image->data)[i] = (guint16) (label * 1000);
            } else {
                ((guint32 *) image->data)[i] = (guint32) label * 1000000u;
            }
        }
    }
    return image;
}

static void
test_honest_labels(void)
{
    for (int depth = LIMN_DEPTH_U8; depth <= LIMN_DEPTH_U32; depth++) {
        g_autoptr(LimnImage) labels = make_labels(60, 40, (LimnDepth) depth);
        LimnMaskReport report;
        g_assert_false(limn_image_looks_like_lossy_mask(labels, &report));
        g_assert_cmpint(report.n_values, ==, 4);
        g_assert_cmpint(report.n_common, ==, 4);
        g_assert_cmpint(report.n_stray, ==, 0);
        g_assert_cmpint(report.stray_x, ==, -1);
        g_assert_false(report.lossy_format);
        g_autofree char *text = limn_mask_report_describe(&report);
        g_assert_cmpstr(text, ==, "4 distinct values, 4 of them common");
    }
}

// Many small instances are rare values, but not scattered ones.
static void
test_instances(void)
{
    g_autoptr(LimnImage) labels = test_image(160, 160, LIMN_PIXELS_GREY, LIMN_DEPTH_U16);
    for (int y = 0; y < 160; y++) {
        for (int x = 0; x < 160; x++) {
            ((guint16 *) labels->data)[y * 160 + x] = (guint16) (y / 8 * 20 + x / 8);
        }
    }
    LimnMaskReport report;
    g_assert_false(limn_image_looks_like_lossy_mask(labels, &report));
    g_assert_cmpint(report.n_values, ==, 400);
    g_assert_cmpint(report.n_scattered, ==, 0);
}

// Ringing along an edge, in a file that is not lossy itself (a JPEG saved again as PNG).
static void
test_hard_b09_ringing(void)
{
    g_autoptr(LimnImage) labels = make_labels(60, 40, LIMN_DEPTH_U8);
    guint8 *data = labels->data;
    for (int i = 0; i < 40; i++) {
        data[i * 60 + 29] = (guint8) (30 + 7 * i % 40);
    }
    LimnMaskReport report;
    g_assert_true(limn_image_looks_like_lossy_mask(labels, &report));
    g_assert_cmpint(report.n_common, ==, 4);
    g_assert_cmpint(report.n_stray, ==, 40);
    g_assert_cmpint(report.n_scattered, ==, 40);
    g_assert_cmpint(report.stray_x, ==, 29);
    g_assert_cmpint(report.stray_y, ==, 0);
    g_autofree char *text = limn_mask_report_describe(&report);
    g_assert_cmpstr(text, ==,
                    "44 distinct values, 4 of them common; 40 pixels hold one of the "
                    "others, the first at (29, 0)");
}

static void
test_hard_b09_lossy_format(void)
{
    g_autoptr(LimnImage) labels = make_labels(60, 40, LIMN_DEPTH_U8);
    labels->lossy = TRUE;
    LimnMaskReport report;
    g_assert_true(limn_image_looks_like_lossy_mask(labels, &report));
    g_assert_true(report.lossy_format);
    // Two values in flat areas survive a JPEG.
    memset(labels->data, 0, 60 * 40);
    memset(labels->data, 255, 60 * 20);
    g_assert_false(limn_image_looks_like_lossy_mask(labels, NULL));
}

// Colour-coded maps are counted by colour.
static void
test_colours(void)
{
    g_autoptr(LimnImage) labels = test_image(8, 2, LIMN_PIXELS_RGB, LIMN_DEPTH_U8);
    memset(labels->data, 9, 24);
    ((guint8 *) labels->data)[0] = 8;
    LimnMaskReport report;
    limn_image_looks_like_lossy_mask(labels, &report);
    g_assert_cmpint(report.n_values, ==, 3);
    g_autoptr(LimnImage) floats = test_image(3, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_F32);
    ((float *) floats->data)[1] = 0.5f;
    limn_image_looks_like_lossy_mask(floats, &report);
    g_assert_cmpint(report.n_values, ==, 2);
}

static void
expect_mismatch(int width, int height, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(
        limn_mask_check_size("m.png", width, height, "p.jpg", 640, 480, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH);
    g_assert_nonnull(strstr(error->message, "m.png"));
    g_assert_nonnull(strstr(error->message, "p.jpg"));
    g_assert_nonnull(strstr(error->message, "640 x 480"));
    g_assert_nonnull(strstr(error->message, part));
}

static void
test_hard_b10_sizes(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_mask_check_size("m", 640, 480, "p", 640, 480, &error));
    g_assert_no_error(error);
    expect_mismatch(640, 478, "(2 rows fewer)");
    expect_mismatch(641, 479, "(1 column more, 1 row fewer)");
    expect_mismatch(320, 240, "(320 columns fewer, 240 rows fewer)");
}

static void
test_hard_b10_fit(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) mask = make_labels(6, 4, LIMN_DEPTH_U8);
    mask->n_palette = 21;
    g_autoptr(LimnImage) padded =
        limn_mask_fit(mask, 7, 5, LIMN_MASK_FIT_CROP_PAD, 255, &error);
    g_assert_no_error(error);
    g_assert_cmpint(padded->n_palette, ==, 21);
    for (int y = 0; y < 5; y++) {
        for (int x = 0; x < 7; x++) {
            double expected = x < 6 && y < 4 ? limn_image_get_sample(mask, x, y, 0) : 255;
            g_assert_cmpfloat(limn_image_get_sample(padded, x, y, 0), ==, expected);
        }
    }
    g_autoptr(LimnImage) cropped =
        limn_mask_fit(padded, 6, 4, LIMN_MASK_FIT_CROP_PAD, 255, &error);
    assert_same_pixels(cropped, mask);
    g_autoptr(LimnImage) doubled =
        limn_mask_fit(mask, 12, 8, LIMN_MASK_FIT_NEAREST, 0, &error);
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 12; x++) {
            g_assert_cmpfloat(limn_image_get_sample(doubled, x, y, 0), ==,
                              limn_image_get_sample(mask, x / 2, y / 2, 0));
        }
    }
    g_autoptr(LimnImage) same =
        limn_mask_fit(mask, 6, 4, LIMN_MASK_FIT_NEAREST, 0, &error);
    g_assert_true(same == mask);
    g_assert_null(limn_mask_fit(mask, 9, 9, LIMN_MASK_FIT_CROP_PAD, 256, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/mask/honest-labels", test_honest_labels);
    g_test_add_func("/mask/instances", test_instances);
    g_test_add_func("/mask/colours", test_colours);
    g_test_add_func("/hard/B09-ringing", test_hard_b09_ringing);
    g_test_add_func("/hard/B09-lossy-format", test_hard_b09_lossy_format);
    g_test_add_func("/hard/B10-sizes-are-named", test_hard_b10_sizes);
    g_test_add_func("/hard/B10-fit-by-choice", test_hard_b10_fit);
    return g_test_run();
}
