// SPDX-License-Identifier: GPL-3.0-or-later

#include <stdio.h>

#include <jpeglib.h>

#include "engine/image/image-mask.h"
#include "engine/io/npy.h"
#include "tests/unit/io/picture-testing.h"

static LimnArray *
load_expected(const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_strconcat("pictures/", name, ".npy", NULL);
    g_autofree char *path = test_path(file);
    LimnArray *array = limn_npy_load(path, &error);
    g_assert_no_error(error);
    return array;
}

static GBytes *
read_jpeg(const char *name)
{
    g_autofree char *file = g_strconcat("pictures/", name, ".jpg", NULL);
    return test_read(file);
}

static LimnImage *
load_jpeg(const char *name, LimnJob *job)
{
    g_autoptr(GBytes) bytes = read_jpeg(name);
    return test_load_bytes(bytes, job);
}

// The bytes that another decoder gives.
static void
test_decoded_bytes(void)
{
    static const char *const names[] = {"grey",      "ycbcr-444",       "ycbcr-422",
                                        "ycbcr-420", "progressive-420", "restart-420",
                                        "rgb-adobe"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(LimnJob) job = limn_job_new();
        g_autoptr(LimnImage) image = load_jpeg(names[i], job);
        g_autoptr(LimnArray) expected = load_expected(names[i]);
        assert_equals_array(image, expected);
        g_assert_cmpstr(image->format, ==, "JPEG");
        g_assert_true(image->lossy);
        g_assert_false(image->cmyk);
        g_assert_cmpint(image->bits, ==, 8);
        g_assert_cmpint(image->pixels, ==, i == 0 ? LIMN_PIXELS_GREY : LIMN_PIXELS_RGB);
        g_assert_cmpint(test_count_diagnostics(job), ==, 0);
    }
}

static double
mean_difference(const LimnImage *a, const LimnImage *b)
{
    gsize n = test_image_bytes(a);
    double sum = 0;
    g_assert_cmpuint(test_image_bytes(b), ==, n);
    for (gsize i = 0; i < n; i++) {
        sum += ABS(((const guint8 *) a->data)[i] - ((const guint8 *) b->data)[i]);
    }
    return sum / (double) n;
}

// CMYK without a marker, with transform 0, with transform 2, and RGB with a marker: the
// same picture.
static void
test_hard_b07(void)
{
    static const char *const names[] = {"cmyk-plain", "cmyk-adobe", "ycck-adobe",
                                        "rgb-adobe", "ycbcr-444"};
    LimnImage *images[G_N_ELEMENTS(names)];
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(LimnArray) expected = load_expected(names[i]);
        images[i] = load_jpeg(names[i], NULL);
        assert_equals_array(images[i], expected);
        g_assert_cmpint(images[i]->cmyk, ==, i < 3);
        for (gsize j = 0; j < i; j++) {
            g_assert_cmpfloat(mean_difference(images[i], images[j]), <, 6);
        }
    }
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        limn_image_unref(images[i]);
    }
}

// Every orientation gives the same upright scene, and labels drawn on it fit.
static void
test_hard_b01(void)
{
    g_autoptr(LimnImage) first = load_jpeg("orientation-1", NULL);
    g_autoptr(LimnImage) labels =
        test_image(first->width, first->height, LIMN_PIXELS_INDEXED, LIMN_DEPTH_U8);
    for (int orientation = 1; orientation <= 8; orientation++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *name = g_strdup_printf("orientation-%d", orientation);
        g_autofree char *file = g_strconcat("pictures/", name, ".jpg", NULL);
        g_autofree char *path = test_path(file);
        g_autoptr(LimnArray) expected = load_expected(name);
        g_autoptr(LimnImage) image = test_load_path(path, NULL);
        assert_equals_array(image, expected);
        g_assert_cmpint(image->orientation, ==, orientation);
        g_assert_cmpfloat(mean_difference(image, first), <, 6);
        LimnPictureInfo info;
        g_assert_true(limn_picture_probe(path, &info, &error));
        g_assert_cmpint(info.width, ==, image->width);
        g_assert_cmpint(info.height, ==, image->height);
        g_assert_cmpint(info.orientation, ==, orientation);
        g_assert_true(limn_mask_check_size("labels", labels->width, labels->height, path,
                                           info.width, info.height, &error));
        g_assert_no_error(error);
    }
}

// A region found on the upright picture of a turned file is written and read back at the
// same place: label maps carry no orientation of their own.
static void
test_hard_b02(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) picture = load_jpeg("orientation-6", NULL);
    g_autoptr(LimnImage) labels =
        test_image(picture->width, picture->height, LIMN_PIXELS_INDEXED, LIMN_DEPTH_U8);
    limn_image_copy_description(labels, picture);
    labels->bits = 8;
    labels->n_palette = 2;
    for (int y = 0; y < picture->height; y++) {
        for (int x = 0; x < picture->width; x++) {
            ((guint8 *) labels->data)[y * picture->width + x] =
                limn_image_get_sample(picture, x, y, 0) > 180 &&
                limn_image_get_sample(picture, x, y, 1) < 90; // the red corner
        }
    }
    g_assert_cmpfloat(limn_image_get_sample(labels, 0, 0, 0), ==, 1);
    g_assert_cmpfloat(limn_image_get_sample(labels, 11, 6, 0), ==, 0);
    g_autofree char *path = test_temporary_path("corner.png");
    g_assert_true(limn_png_save(labels, path, &error));
    g_assert_no_error(error);
    g_autoptr(LimnImage) again = test_load_path(path, NULL);
    assert_same_pixels(again, labels);
    g_assert_cmpint(again->orientation, ==, 1);
}

static GBytes *
encode_grey(const guint8 *samples, int width, int height, int quality)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *out = NULL;
    unsigned long size = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &out, &size);
    jpeg.image_width = (JDIMENSION) width;
    jpeg.image_height = (JDIMENSION) height;
    jpeg.input_components = 1;
    jpeg.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, quality, TRUE);
    jpeg_start_compress(&jpeg, TRUE);
    g_autofree guint8 *row = g_malloc((gsize) width);
    for (int y = 0; y < height; y++) {
        JSAMPROW rows[] = {row};
        memcpy(row, samples + (gsize) y * (gsize) width, (gsize) width);
        jpeg_write_scanlines(&jpeg, rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    GBytes *bytes = g_bytes_new(out, size);
    free(out);
    return bytes;
}

// A label map stored as JPEG: dozens of values where there were three; said with counts
// and a place.
static void
test_hard_b09(void)
{
    guint8 labels[64 * 48];
    for (int y = 0; y < 48; y++) {
        for (int x = 0; x < 64; x++) {
            gboolean disc = (x - 30) * (x - 30) + (y - 20) * (y - 20) < 200;
            labels[64 * y + x] = disc ? 100 : (x + y > 80 ? 40 : 0);
        }
    }
    g_autoptr(GBytes) bytes = encode_grey(labels, 64, 48, 75);
    g_autoptr(LimnImage) image = test_load_bytes(bytes, NULL);
    LimnMaskReport report;
    g_assert_true(limn_image_looks_like_lossy_mask(image, &report));
    g_assert_cmpint(report.n_values, >, 12);
    g_assert_true(report.lossy_format);
    g_assert_cmpint(report.n_stray, >, 20);
    g_assert_cmpint(report.stray_x, >=, 0);
    g_autofree char *text = limn_mask_report_describe(&report);
    g_assert_nonnull(strstr(text, "distinct values"));
    // The same picture saved again without loss is recognised as well.
    g_autoptr(GBytes) png = limn_png_encode(image, NULL);
    g_autoptr(LimnImage) disguised = test_load_bytes(png, NULL);
    g_assert_true(limn_image_looks_like_lossy_mask(disguised, NULL));
}

static GBytes *
make_noise(int width, int height)
{
    g_autofree guint8 *samples = g_malloc((gsize) (width * height));
    for (int i = 0; i < width * height; i++) {
        samples[i] = (guint8) (i * 2654435761u >> 13);
    }
    return encode_grey(samples, width, height, 80);
}

static void
test_cut(void)
{
    g_autoptr(GBytes) bytes = make_noise(64, 160);
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    expect_refusal(data, size / 2, LIMN_ERROR_FORMAT, " of 160 rows in ");
    expect_refusal(data, size - 40, LIMN_ERROR_FORMAT, " of 160 rows in ");
    expect_refusal(data, 20, LIMN_ERROR_FORMAT, "");
    expect_refusal(data, 3, LIMN_ERROR_FORMAT, "");
    g_autoptr(GBytes) progressive = read_jpeg("progressive-420");
    data = g_bytes_get_data(progressive, &size);
    expect_refusal(data, size - 100, LIMN_ERROR_FORMAT, "progressive JPEG");
    expect_refusal(data, size - 20, LIMN_ERROR_FORMAT, "ends early");

    // Only the end marker is missing: nothing of the picture is.
    static const char *const names[] = {"ycbcr-420", "progressive-420"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GBytes) whole = read_jpeg(names[i]);
        g_autoptr(GBytes) part =
            g_bytes_new_from_bytes(whole, 0, g_bytes_get_size(whole) - 2);
        g_autoptr(LimnImage) image = test_load_bytes(part, NULL);
        g_autoptr(LimnArray) expected = load_expected(names[i]);
        assert_equals_array(image, expected);
    }
}

// Where the frame header of a file begins; byte 3 of it is the precision, then height,
// width, number of components.
static gsize
find_frame(const guint8 *data, gsize size)
{
    gsize at = 2;
    while (at + 9 < size) {
        if (data[at + 1] >= 0xC0 && data[at + 1] <= 0xC2) {
            return at + 1;
        }
        at += 2 + (gsize) (data[at + 2] << 8 | data[at + 3]);
    }
    g_error("no frame header");
}

static void
expect_patched(const char *name, int offset, const char *value, gsize n,
               LimnErrorCode code, const char *part)
{
    g_autoptr(GBytes) bytes = read_jpeg(name);
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    g_autofree guint8 *copy = g_memdup2(data, size);
    memcpy(copy + find_frame(data, size) + offset, value, n);
    expect_refusal(copy, size, code, part);
}

static void
test_lies(void)
{
    expect_patched("ycbcr-420", 4, "\377\334\377\334", 4, LIMN_ERROR_FORMAT,
                   "claims 65500 x 65500 pixels");
    expect_patched("ycbcr-420", 4, "\377\334\377\334", 4, LIMN_ERROR_FORMAT,
                   "1073741824 pixels");
    expect_patched("grey", 4, "\165\60\165\60", 4, LIMN_ERROR_FORMAT,
                   "claims 30000 x 30000 pixels");
    expect_patched("ycbcr-420", 4, "\0\100", 2, LIMN_ERROR_FORMAT, " of 64 rows");
    expect_patched("ycbcr-444", 4, "\0\0", 2, LIMN_ERROR_FORMAT, "JPEG");
    expect_patched("ycbcr-444", 6, "\0\0", 2, LIMN_ERROR_FORMAT, "JPEG");
    expect_patched("grey", 3, "\14", 1, LIMN_ERROR_UNSUPPORTED, "convert it to PNG");
    expect_patched("grey", 0, "\303", 1, LIMN_ERROR_UNSUPPORTED, "convert it to PNG");
}

// As above with the progressive frame: the coefficients count too.
static void
test_budget(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = read_jpeg("progressive-420");
    limn_picture_set_budget(1500);
    g_assert_null(limn_picture_load_bytes(bytes, "big.jpg", NULL, &error));
    limn_picture_set_budget((guint64) 4 << 30);
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY);
    g_assert_nonnull(strstr(error->message, "big.jpg: 21 x 13 pixels need"));
}

static void
test_damage(void)
{
    static const char *const names[] = {"ycbcr-420", "progressive-420", "cmyk-adobe",
                                        "restart-420", "orientation-6"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autoptr(GBytes) bytes = read_jpeg(names[i]);
        check_damaged(bytes, 5);
    }
}

// The EXIF block of orientation-6.jpg with one byte changed: never more than upright.
static void
test_odd_exif(void)
{
    g_autoptr(GBytes) bytes = read_jpeg("orientation-6");
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    const guint8 *exif = memmem(data, size, "Exif\0\0", 6);
    g_assert_nonnull(exif);
    gsize start = (gsize) (exif - data) + 6;
    static const struct {
        gsize offset;
        guint8 value;
    } changes[] = {{0, 'X'},   {2, 43}, {4, 250}, {7, 255}, {8, 0},
                   {10, 0x13}, {12, 7}, {14, 2},  {18, 9},  {18, 0}};
    for (gsize i = 0; i < G_N_ELEMENTS(changes); i++) {
        g_autofree guint8 *copy = g_memdup2(data, size);
        copy[start + changes[i].offset] = changes[i].value;
        g_autoptr(GBytes) changed = g_bytes_new(copy, size);
        g_autoptr(LimnImage) image = test_load_bytes(changed, NULL);
        g_assert_cmpint(image->orientation, ==, 1);
        g_assert_cmpint(image->width, ==, 7);
        g_assert_cmpint(image->height, ==, 12);
    }
    g_autofree guint8 *copy = g_memdup2(data, size);
    copy[start + 12] = 4; // a LONG is taken, too
    g_autoptr(GBytes) as_long = g_bytes_new(copy, size);
    g_autoptr(LimnImage) image = test_load_bytes(as_long, NULL);
    g_assert_cmpint(image->orientation, ==, 6);
}

static void
test_big_endian_exif(void)
{
    g_autoptr(GBytes) plain = read_jpeg("ycbcr-444");
    gsize size;
    const guint8 *data = g_bytes_get_data(plain, &size);
    g_autoptr(GBytes) exif = test_exif(3, TRUE, TRUE);
    gsize exif_size = g_bytes_get_size(exif);
    g_autoptr(GByteArray) out = g_byte_array_new();
    const guint8 marker[] = {0xFF, 0xE1, (guint8) ((exif_size + 2) >> 8),
                             (guint8) (exif_size + 2)};
    g_byte_array_append(out, data, 2);
    g_byte_array_append(out, marker, sizeof marker);
    g_byte_array_append(out, g_bytes_get_data(exif, NULL), (guint) exif_size);
    g_byte_array_append(out, data + 2, (guint) size - 2);
    g_autoptr(GBytes) bytes = g_bytes_new(out->data, out->len);
    g_autoptr(LimnImage) image = test_load_bytes(bytes, NULL);
    g_autoptr(LimnImage) upright = test_load_bytes(plain, NULL);
    g_autoptr(LimnImage) expected = limn_image_orient(upright, 3, NULL);
    assert_same_pixels(image, expected);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/jpeg/decoded-bytes", test_decoded_bytes);
    g_test_add_func("/jpeg/cut", test_cut);
    g_test_add_func("/jpeg/lies", test_lies);
    g_test_add_func("/jpeg/budget", test_budget);
    g_test_add_func("/jpeg/damage", test_damage);
    g_test_add_func("/jpeg/odd-exif", test_odd_exif);
    g_test_add_func("/jpeg/big-endian-exif", test_big_endian_exif);
    g_test_add_func("/hard/B01-orientation-once", test_hard_b01);
    g_test_add_func("/hard/B02-upright-labels", test_hard_b02);
    g_test_add_func("/hard/B07-cmyk-and-ycck", test_hard_b07);
    g_test_add_func("/hard/B09-mask-as-jpeg", test_hard_b09);
    return g_test_run();
}
