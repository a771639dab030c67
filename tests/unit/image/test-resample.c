// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>

#include "engine/image/resample-private.h"
#include "engine/io/npy.h"
#include "tests/unit/image/image-testing.h"

typedef LimnImage *(*Resize)(LimnImage *image, int width, int height, LimnJob *job,
                             GError **error);

// Bytes of another implementation, for enlarging, reducing and both at once.
static void
test_reference_bytes(void)
{
    static const struct {
        const char *name;
        Resize resize;
    } filters[] = {{"bicubic", limn_resize_bicubic},
                   {"bilinear", limn_resize_bilinear_antialias},
                   {"box", limn_resize_area}};
    static const int sizes[][2] = {{9, 11}, {40, 31}, {23, 5}, {6, 17}};
    g_autoptr(LimnImage) image = test_pattern(23, 17, LIMN_PIXELS_RGB);
    for (gsize f = 0; f < G_N_ELEMENTS(filters); f++) {
        for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++) {
            g_autoptr(GError) error = NULL;
            g_autofree char *name =
                g_strdup_printf("pictures/resize-%s-%dx%d.npy", filters[f].name,
                                sizes[s][0], sizes[s][1]);
            g_autofree char *path = test_path(name);
            g_autoptr(LimnArray) expected = limn_npy_load(path, &error);
            g_assert_no_error(error);
            g_autoptr(LimnImage) resized =
                filters[f].resize(image, sizes[s][0], sizes[s][1], NULL, &error);
            g_assert_no_error(error);
            assert_equals_array(resized, expected);
        }
    }
}

// The formula as the specification states it, in double, without fixed point.
static double
plain_bicubic(const LimnImage *image, int width, int height, int x, int y, int c)
{
    double sum = 0, total = 0;
    double xs = (double) image->width / width, ys = (double) image->height / height;
    double fx = MAX(xs, 1.0), fy = MAX(ys, 1.0);
    double cx = (x + 0.5) * xs, cy = (y + 0.5) * ys;
    for (int i = 0; i < image->height; i++) {
        for (int j = 0; j < image->width; j++) {
            double t[2] = {fabs((i - cy + 0.5) / fy), fabs((j - cx + 0.5) / fx)};
            double k[2];
            for (int axis = 0; axis < 2; axis++) {
                double u = t[axis];
                k[axis] = u < 1   ? (1.5 * u - 2.5) * u * u + 1
                          : u < 2 ? (((u - 5) * u + 8) * u - 4) * -0.5
                                  : 0;
            }
            sum += k[0] * k[1] * limn_image_get_sample(image, j, i, c);
            total += k[0] * k[1];
        }
    }
    return CLAMP(sum / total, 0, 255);
}

// Smooth pictures: intermediate rounding costs at most one step.
static void
test_plain_version(void)
{
    static const int sizes[][2] = {{5, 4}, {31, 9}, {8, 24}, {1, 1}};
    g_autoptr(LimnImage) image = test_image(19, 14, LIMN_PIXELS_RGB, LIMN_DEPTH_U8);
    for (int i = 0; i < 19 * 14 * 3; i++) {
        ((guint8 *) image->data)[i] =
            (guint8) (128 + 90 * sin(i * 0.11) * cos(i * 0.013));
    }
    for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++) {
        int width = sizes[s][0], height = sizes[s][1];
        g_autoptr(LimnImage) fast = limn_resize_bicubic(image, width, height, NULL, NULL);
        for (int y = 0; y < height; y++) {
            for (int x = 0; x < width; x++) {
                for (int c = 0; c < 3; c++) {
                    double plain = plain_bicubic(image, width, height, x, y, c);
                    double found = limn_image_get_sample(fast, x, y, c);
                    g_assert_cmpfloat(fabs(plain - found), <=, 1.6);
                }
            }
        }
    }
}

static void
test_window_is_crop(void)
{
    for (int pixels = LIMN_PIXELS_RGB; pixels <= LIMN_PIXELS_RGBA; pixels++) {
        g_autoptr(LimnImage) image = test_pattern(41, 29, (LimnPixels) pixels);
        static const int sizes[][2] = {{17, 13}, {60, 80}, {41, 13}, {90, 29}, {41, 29}};
        for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++) {
            int width = sizes[s][0], height = sizes[s][1];
            g_autoptr(LimnImage) whole =
                limn_resample_window(image, LIMN_FILTER_BICUBIC, width, height, 0, 0,
                                     width, height, NULL, NULL);
            g_autoptr(LimnImage) crop = limn_crop(whole, 5, 3, 9, 7, NULL);
            g_autoptr(LimnImage) window = limn_resample_window(
                image, LIMN_FILTER_BICUBIC, width, height, 5, 3, 9, 7, NULL, NULL);
            assert_same_pixels(window, crop);
        }
    }
}

// Grey and RGB, and RGB with and without alpha, go the same way.
static void
test_kinds_agree(void)
{
    g_autoptr(LimnImage) rgba = test_pattern(53, 37, LIMN_PIXELS_RGBA);
    g_autoptr(LimnImage) grey = test_pattern(53, 37, LIMN_PIXELS_GREY);
    LimnImage *images[] = {rgba, grey};
    static const int sizes[][2] = {{11, 90}, {120, 7}, {53, 9}, {5, 5}};
    for (int i = 0; i < 2; i++) {
        g_autoptr(LimnImage) rgb = limn_image_to_rgb8(images[i], LIMN_RANGE_TYPE, NULL);
        for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++) {
            g_autoptr(LimnImage) direct =
                limn_resize_bicubic(images[i], sizes[s][0], sizes[s][1], NULL, NULL);
            g_autoptr(LimnImage) expected =
                limn_resize_bicubic(rgb, sizes[s][0], sizes[s][1], NULL, NULL);
            g_autoptr(LimnImage) found =
                limn_image_to_rgb8(direct, LIMN_RANGE_TYPE, NULL);
            assert_same_pixels(found, expected);
        }
    }
}

static void
test_threads(void)
{
    g_autoptr(LimnImage) image = test_pattern(1501, 997, LIMN_PIXELS_RGB);
    g_autoptr(LimnJob) one = limn_job_new();
    g_autoptr(LimnJob) two = limn_job_new();
    limn_job_set_threads(one, 1);
    limn_job_set_threads(two, 2);
    g_autoptr(LimnImage) a = limn_resize_bicubic(image, 313, 2000, one, NULL);
    g_autoptr(LimnImage) b = limn_resize_bicubic(image, 313, 2000, two, NULL);
    assert_same_pixels(a, b);
}

static void
test_cancelled(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image = test_pattern(40, 30, LIMN_PIXELS_RGB);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_null(limn_resize_bicubic(image, 20, 20, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

static void
test_errors(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image = test_pattern(4, 3, LIMN_PIXELS_RGB);
    g_assert_null(limn_resize_bicubic(image, 0, 3, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    g_clear_error(&error);
    g_assert_null(limn_resize_bicubic(image, G_MAXINT, G_MAXINT, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY);
    g_clear_error(&error);
    static const int bad[][4] = {
        {-1, 0, 2, 2}, {0, 0, 5, 3},        {3, 0, 2, 1},        {0, 2, 1, 2},
        {0, 0, 0, 1},  {G_MAXINT, 0, 1, 1}, {1, 1, G_MAXINT, 1},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_null(
            limn_crop(image, bad[i][0], bad[i][1], bad[i][2], bad[i][3], &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
        g_clear_error(&error);
    }
    g_autoptr(LimnImage) same = limn_resize_bicubic(image, 4, 3, NULL, &error);
    g_assert_true(same == image);
    g_autoptr(LimnImage) whole = limn_crop(image, 0, 0, 4, 3, &error);
    g_assert_true(whole == image);
    g_assert_no_error(error);
}

static void
test_map(void)
{
    const float map[] = {0, 1, 2, 3};
    float out[16];
    limn_resize_map(map, 2, 2, out, 4, 4);
    // s = max(0, (i + 0.5) / 2 - 0.5) = 0, 0.25, 0.75, 1.25 (clamped to the last cell)
    const float places[] = {0, 0.25f, 0.75f, 1};
    for (int y = 0; y < 4; y++) {
        for (int x = 0; x < 4; x++) {
            g_assert_cmpfloat(out[4 * y + x], ==, 2 * places[y] + places[x]);
        }
    }
    float same[4];
    limn_resize_map(map, 2, 2, same, 2, 2);
    g_assert_cmpmem(same, sizeof same, map, sizeof map);
    float one[6];
    limn_resize_map(map + 3, 1, 1, one, 2, 3);
    for (int i = 0; i < 6; i++) {
        g_assert_cmpfloat(one[i], ==, 3);
    }
}

static void
test_display_map(void)
{
    const float map[] = {-1, 1, 3, 7};
    const LimnRect all = {0, 0, 4, 4};
    float out[16], expected[16];
    const float scaled[] = {0, 0.25f, 0.5f, 1};
    g_assert_false(limn_display_map(map, 2, 2, &all, out, 4, 4));
    limn_resize_map(scaled, 2, 2, expected, 4, 4);
    g_assert_cmpmem(out, sizeof out, expected, sizeof expected);

    // Only the columns that the model saw.
    const LimnRect part = {1, 0, 2, 4};
    g_assert_false(limn_display_map(map, 2, 2, &part, out, 4, 4));
    for (int y = 0; y < 4; y++) {
        g_assert_true(isnan(out[4 * y]) && isnan(out[4 * y + 3]));
        g_assert_false(isnan(out[4 * y + 1]) || isnan(out[4 * y + 2]));
    }
    g_assert_cmpfloat(out[1], ==, 0);
    g_assert_cmpfloat(out[14], ==, 1);

    const float constant[] = {0.3f, 0.3f, 0.3f, 0.3f};
    g_assert_true(limn_display_map(constant, 2, 2, &all, out, 4, 4));
    for (int i = 0; i < 16; i++) {
        g_assert_cmpfloat(out[i], ==, 0);
    }
    const float with_nan[] = {NAN, 0, 1, 2};
    g_assert_false(limn_display_map(with_nan, 2, 2, &all, out, 4, 4));
    g_assert_true(isnan(out[0]));
    g_assert_cmpfloat(out[15], ==, 1);
    const float nothing[] = {NAN, NAN};
    g_assert_true(limn_display_map(nothing, 1, 2, &all, out, 4, 4));
    const LimnRect outside = {-9, -9, 5, 5}, empty = {1, 1, 0, 3};
    g_assert_false(limn_display_map(map, 2, 2, &outside, out, 4, 4));
    g_assert_true(isnan(out[0]));
    g_assert_false(limn_display_map(map, 2, 2, &empty, out, 4, 4));
    g_assert_true(isnan(out[5]));
}

static void
fill_positions(float *table, int g, int width)
{
    for (int i = 0; i < g * g; i++) {
        for (int c = 0; c < width; c++) {
            table[i * width + c] = (float) sin(i * 1.7 + c * 0.9);
        }
    }
}

static void
test_positions(void)
{
    enum { G = 5, WIDTH = 3 };
    float table[G * G * WIDTH], same[G * G * WIDTH];
    fill_positions(table, G, WIDTH);
    limn_resize_positions(table, G, WIDTH, same, G, G, FALSE);
    g_assert_cmpmem(same, sizeof same, table, sizeof table);

    // Three times as large: the middle one of each three is the old value, because the
    // kernel is 1 at 0 and 0 at the other whole numbers.
    float large[15 * 15 * WIDTH];
    for (int bilinear = 0; bilinear < 2; bilinear++) {
        limn_resize_positions(table, G, WIDTH, large, 15, 15, bilinear);
        for (int y = 0; y < G; y++) {
            for (int x = 0; x < G; x++) {
                for (int c = 0; c < WIDTH; c++) {
                    float found = large[((3 * y + 1) * 15 + 3 * x + 1) * WIDTH + c];
                    g_assert_cmpfloat_with_epsilon(
                        (double) found, (double) table[(y * G + x) * WIDTH + c], 1e-6);
                }
            }
        }
    }
    // The weights of a place sum to 1.
    float constant[G * G * WIDTH], wide[4 * 9 * WIDTH];
    for (int i = 0; i < G * G * WIDTH; i++) {
        constant[i] = 2.5f;
    }
    limn_resize_positions(constant, G, WIDTH, wide, 4, 9, FALSE);
    for (int i = 0; i < 4 * 9 * WIDTH; i++) {
        g_assert_cmpfloat_with_epsilon((double) wide[i], 2.5, 1e-6);
    }
}

static void
test_nearest(void)
{
    g_autoptr(LimnImage) image = test_pattern(7, 5, LIMN_PIXELS_GREY_ALPHA);
    g_autoptr(LimnImage) small = limn_resize_nearest(image, 3, 2, NULL);
    for (int y = 0; y < 2; y++) {
        for (int x = 0; x < 3; x++) {
            int sx = (int) ((x + 0.5) * 7 / 3), sy = (int) ((y + 0.5) * 5 / 2);
            for (int c = 0; c < 2; c++) {
                g_assert_cmpfloat(limn_image_get_sample(small, x, y, c), ==,
                                  limn_image_get_sample(image, sx, sy, c));
            }
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/resample/reference-bytes", test_reference_bytes);
    g_test_add_func("/resample/plain-version", test_plain_version);
    g_test_add_func("/resample/window-is-crop", test_window_is_crop);
    g_test_add_func("/resample/kinds-agree", test_kinds_agree);
    g_test_add_func("/resample/threads", test_threads);
    g_test_add_func("/resample/cancelled", test_cancelled);
    g_test_add_func("/resample/errors", test_errors);
    g_test_add_func("/resample/map", test_map);
    g_test_add_func("/resample/display-map", test_display_map);
    g_test_add_func("/resample/positions", test_positions);
    g_test_add_func("/resample/nearest", test_nearest);
    return g_test_run();
}
