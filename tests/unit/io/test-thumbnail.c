// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/io/thumbnail.h"
#include "tests/unit/io/picture-testing.h"

static LimnImage *
make_thumbnail(LimnImage *image, int side)
{
    g_autoptr(GError) error = NULL;
    LimnImage *small = limn_thumbnail_make(image, side, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(small->pixels, ==, LIMN_PIXELS_RGBA);
    g_assert_cmpint(small->depth, ==, LIMN_DEPTH_U8);
    g_assert_cmpint(MAX(small->width, small->height), <=, side);
    return small;
}

static void
test_sizes(void)
{
    static const int cases[][5] = {{400, 300, 100, 100, 75}, {300, 400, 100, 75, 100},
                                   {50, 20, 100, 50, 20},    {100, 3, 10, 10, 1},
                                   {1000, 1, 64, 64, 1},     {7, 7, 7, 7, 7}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(LimnImage) image =
            test_pattern(cases[i][0], cases[i][1], LIMN_PIXELS_RGB);
        g_autoptr(LimnImage) small = make_thumbnail(image, cases[i][2]);
        g_assert_cmpint(small->width, ==, cases[i][3]);
        g_assert_cmpint(small->height, ==, cases[i][4]);
    }
}

// Each pixel is the mean of a block of 4 x 4.
static void
test_mean(void)
{
    g_autoptr(LimnImage) image = test_pattern(40, 24, LIMN_PIXELS_GREY);
    g_autoptr(LimnImage) small = make_thumbnail(image, 10);
    for (int y = 0; y < 6; y++) {
        for (int x = 0; x < 10; x++) {
            double sum = 0;
            for (int i = 0; i < 16; i++) {
                sum += limn_image_get_sample(image, 4 * x + i % 4, 4 * y + i / 4, 0);
            }
            g_assert_cmpfloat_with_epsilon(limn_image_get_sample(small, x, y, 1),
                                           sum / 16, 2); // rounded in each step
            g_assert_cmpfloat(limn_image_get_sample(small, x, y, 3), ==, 255);
        }
    }
}

// Much too large pictures are reduced in strips first; the mean is the same.
static void
test_strips(void)
{
    g_autoptr(LimnImage) image = test_pattern(1200, 900, LIMN_PIXELS_GREY);
    g_autoptr(LimnImage) small = make_thumbnail(image, 4);
    g_assert_cmpint(small->width, ==, 4);
    g_assert_cmpint(small->height, ==, 3);
    for (int i = 0; i < 12; i++) {
        double sum = 0;
        for (int j = 0; j < 90000; j++) {
            sum += limn_image_get_sample(image, i % 4 * 300 + j % 300,
                                         i / 4 * 300 + j / 300, 0);
        }
        g_assert_cmpfloat_with_epsilon(limn_image_get_sample(small, i % 4, i / 4, 0),
                                       sum / 90000, 2);
    }
    g_autoptr(LimnImage) index = test_image(900, 7, LIMN_PIXELS_INDEXED, LIMN_DEPTH_U8);
    memset(index->data, 3, 900 * 7);
    memcpy(index->palette[3], "\12\24\36\377", 4);
    g_autoptr(LimnImage) flat = make_thumbnail(index, 5);
    g_assert_cmpint(flat->height, ==, 1);
    g_assert_cmpint(flat->pixels, ==, LIMN_PIXELS_RGBA);
    for (int x = 0; x < 5; x++) {
        g_assert_cmpmem((guint8 *) flat->data + 4 * x, 4, "\12\24\36\377", 4);
    }
}

// What cannot be seen does not colour what can.
static void
test_alpha(void)
{
    g_autoptr(LimnImage) image = test_image(8, 8, LIMN_PIXELS_RGBA, LIMN_DEPTH_U8);
    for (int i = 0; i < 64; i++) {
        memcpy((guint8 *) image->data + 4 * i, i % 2 ? "\310\144\62\377" : "\0\377\0\0",
               4);
    }
    g_autoptr(LimnImage) small = make_thumbnail(image, 2);
    for (int i = 0; i < 4; i++) {
        const guint8 *pixel = (guint8 *) small->data + 4 * i;
        g_assert_cmpint(ABS(pixel[0] - 200), <=, 2);
        g_assert_cmpint(ABS(pixel[1] - 100), <=, 2);
        g_assert_cmpint(ABS(pixel[2] - 50), <=, 2);
        g_assert_cmpint(ABS(pixel[3] - 128), <=, 1);
    }
    const guint8 *untouched = image->data;
    g_assert_cmpint(untouched[4], ==, 200);
}

static void
test_files(void)
{
    g_autoptr(GError) error = NULL;
    for (int orientation = 1; orientation <= 8; orientation++) {
        g_autofree char *name =
            g_strdup_printf("pictures/orientation-%d.jpg", orientation);
        g_autofree char *path = test_path(name);
        g_autoptr(LimnImage) small = limn_thumbnail_load(path, 6, NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpint(small->width, ==, 6);
        g_assert_cmpint(small->height, ==, 4);
        // The red corner is top left, the blue one bottom right.
        g_assert_cmpfloat(limn_image_get_sample(small, 0, 0, 0), >, 150);
        g_assert_cmpfloat(limn_image_get_sample(small, 5, 3, 2), >, 130);
    }
    g_autofree char *sample =
        g_build_filename(g_getenv("LIMN_DATA_DIR"), "samples", "desk.png", NULL);
    g_autoptr(LimnImage) small = limn_thumbnail_load(sample, 96, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpint(small->width, ==, 96);
    g_assert_cmpint(small->height, ==, 96);
    g_assert_cmpstr(small->format, ==, "PNG");
}

// 16 bits and floats are brought to the screen by the common rule.
static void
test_deep(void)
{
    g_autoptr(LimnImage) floats = test_image(4, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_F32);
    for (int x = 0; x < 4; x++) {
        ((float *) floats->data)[x] = (float) (x * 100);
    }
    g_autoptr(LimnImage) small = make_thumbnail(floats, 4);
    g_assert_cmpfloat(limn_image_get_sample(small, 3, 0, 0), ==, 255);
    g_assert_cmpfloat(limn_image_get_sample(small, 1, 0, 0), ==, 85);
}

static void
test_errors(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *text = test_write_file("t.png", "text", 4);
    g_assert_null(limn_thumbnail_load(text, 64, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
    g_clear_error(&error);
    g_assert_null(limn_thumbnail_load("/no/such/picture", 64, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
    g_clear_error(&error);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_autofree char *path = test_path("pictures/grey.jpg");
    g_assert_null(limn_thumbnail_load(path, 64, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/thumbnail/sizes", test_sizes);
    g_test_add_func("/thumbnail/mean", test_mean);
    g_test_add_func("/thumbnail/strips", test_strips);
    g_test_add_func("/thumbnail/alpha", test_alpha);
    g_test_add_func("/thumbnail/files", test_files);
    g_test_add_func("/thumbnail/deep", test_deep);
    g_test_add_func("/thumbnail/errors", test_errors);
    return g_test_run();
}
