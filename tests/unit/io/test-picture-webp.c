// SPDX-License-Identifier: GPL-3.0-or-later

#include <webp/encode.h>

#include "tests/unit/io/picture-testing.h"

// Smooth, so that the lossy format comes close.
static LimnImage *
make_picture(LimnPixels pixels)
{
    LimnImage *image = test_image(37, 23, pixels, LIMN_DEPTH_U8);
    int channels = limn_pixels_channels(pixels);
    for (int i = 0; i < 37 * 23; i++) {
        for (int c = 0; c < channels; c++) {
            ((guint8 *) image->data)[i * channels + c] =
                (guint8) (10 + i % 37 * 3 + i / 37 * 3 + c * 15);
        }
    }
    return image;
}

static GBytes *
encode(const LimnImage *image, gboolean lossy)
{
    guint8 *out = NULL;
    int stride = (int) limn_image_stride(image);
    gboolean alpha = image->pixels == LIMN_PIXELS_RGBA;
    size_t size;
    if (lossy) {
        size = alpha ? WebPEncodeRGBA(image->data, image->width, image->height, stride,
                                      90, &out)
                     : WebPEncodeRGB(image->data, image->width, image->height, stride, 90,
                                     &out);
    } else {
        size = alpha ? WebPEncodeLosslessRGBA(image->data, image->width, image->height,
                                              stride, &out)
                     : WebPEncodeLosslessRGB(image->data, image->width, image->height,
                                             stride, &out);
    }
    g_assert_cmpuint(size, >, 0);
    GBytes *bytes = g_bytes_new(out, size);
    WebPFree(out);
    return bytes;
}

static void
test_lossless(void)
{
    static const LimnPixels kinds[] = {LIMN_PIXELS_RGB, LIMN_PIXELS_RGBA};
    for (int k = 0; k < 2; k++) {
        g_autoptr(LimnImage) image = make_picture(kinds[k]);
        g_autoptr(GBytes) bytes = encode(image, FALSE);
        g_autoptr(LimnImage) again = test_load_bytes(bytes, NULL);
        assert_same_pixels(again, image);
        g_assert_false(again->lossy);
        g_assert_cmpstr(again->format, ==, "WebP");
    }
}

static void
test_lossy(void)
{
    static const LimnPixels kinds[] = {LIMN_PIXELS_RGB, LIMN_PIXELS_RGBA};
    for (int k = 0; k < 2; k++) {
        g_autoptr(LimnImage) image = make_picture(kinds[k]);
        g_autoptr(GBytes) bytes = encode(image, TRUE);
        g_autoptr(LimnImage) again = test_load_bytes(bytes, NULL);
        g_assert_true(again->lossy);
        g_assert_cmpint(again->pixels, ==, kinds[k]);
        gsize n = test_image_bytes(image);
        for (gsize i = 0; i < n; i++) {
            int difference =
                ((const guint8 *) again->data)[i] - ((const guint8 *) image->data)[i];
            g_assert_cmpint(ABS(difference), <, 24);
        }
    }
}

static void
append_chunk(GByteArray *out, const char *type, const guint8 *data, guint size)
{
    guint8 head[8];
    memcpy(head, type, 4);
    for (int i = 0; i < 4; i++) {
        head[4 + i] = (guint8) (size >> (8 * i));
    }
    g_byte_array_append(out, head, 8);
    g_byte_array_append(out, data, size);
    if (size % 2 != 0) {
        g_byte_array_append(out, (const guint8 *) "", 1);
    }
}

// An extended file around a simple one, with these flags and perhaps EXIF.
static GBytes *
extend(GBytes *simple, guint8 flags, GBytes *exif)
{
    gsize size;
    const guint8 *data = g_bytes_get_data(simple, &size);
    g_autoptr(GByteArray) out = g_byte_array_new();
    g_byte_array_append(out, data, 12);
    const guint8 head[10] = {flags, 0, 0, 0, 36, 0, 0, 22, 0, 0};
    append_chunk(out, "VP8X", head, sizeof head);
    g_byte_array_append(out, data + 12, (guint) size - 12);
    if (exif != NULL) {
        gsize exif_size;
        const guint8 *exif_data = g_bytes_get_data(exif, &exif_size);
        append_chunk(out, "EXIF", exif_data, (guint) exif_size);
    }
    guint32 total = out->len - 8;
    for (int i = 0; i < 4; i++) {
        out->data[4 + i] = (guint8) (total >> (8 * i));
    }
    return g_bytes_new(out->data, out->len);
}

static void
test_orientation(void)
{
    g_autoptr(LimnImage) image = make_picture(LIMN_PIXELS_RGB);
    g_autoptr(GBytes) simple = encode(image, FALSE);
    for (int orientation = 1; orientation <= 8; orientation++) {
        g_autoptr(GBytes) exif = test_exif(orientation, FALSE, orientation % 2);
        g_autoptr(GBytes) bytes = extend(simple, 0x08, exif);
        g_autoptr(LimnImage) again = test_load_bytes(bytes, NULL);
        g_autoptr(LimnImage) expected = limn_image_orient(image, orientation, NULL);
        assert_same_pixels(again, expected);
        g_autofree char *path = test_write_file(
            "turned.webp", g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
        LimnPictureInfo info;
        g_assert_true(limn_picture_probe(path, &info, NULL));
        g_assert_cmpint(info.width, ==, again->width);
        g_assert_cmpint(info.height, ==, again->height);
        g_assert_cmpint(info.orientation, ==, orientation);
    }
}

static void
test_animation(void)
{
    g_autoptr(LimnImage) image = make_picture(LIMN_PIXELS_RGB);
    g_autoptr(GBytes) simple = encode(image, FALSE);
    g_autoptr(GBytes) bytes = extend(simple, 0x02, NULL);
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    expect_refusal(data, size, LIMN_ERROR_UNSUPPORTED, "animated WebP");
}

static void
test_cut(void)
{
    for (int lossy = 0; lossy < 2; lossy++) {
        g_autoptr(LimnImage) image = make_picture(LIMN_PIXELS_RGBA);
        g_autoptr(GBytes) bytes = encode(image, lossy);
        gsize size;
        const guint8 *data = g_bytes_get_data(bytes, &size);
        expect_refusal(data, size / 2, LIMN_ERROR_FORMAT, " of 23 rows in ");
        expect_refusal(data, size - 12, LIMN_ERROR_FORMAT, " of 23 rows in ");
        expect_refusal(data, 20, LIMN_ERROR_FORMAT, "ends early");
        expect_refusal(data, 12, LIMN_ERROR_FORMAT, "");
        check_damaged(bytes, 3);
    }
}

static void
test_cancelled(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image = make_picture(LIMN_PIXELS_RGB);
    g_autoptr(GBytes) bytes = encode(image, TRUE);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_null(limn_picture_load_bytes(bytes, "x.webp", job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

static void
test_budget(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) image = make_picture(LIMN_PIXELS_RGB);
    g_autoptr(GBytes) bytes = encode(image, FALSE);
    limn_picture_set_budget(1000);
    g_assert_null(limn_picture_load_bytes(bytes, "big.webp", NULL, &error));
    limn_picture_set_budget((guint64) 4 << 30);
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY);
    g_assert_nonnull(strstr(error->message, "37 x 23"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/webp/lossless", test_lossless);
    g_test_add_func("/webp/lossy", test_lossy);
    g_test_add_func("/webp/orientation", test_orientation);
    g_test_add_func("/webp/animation", test_animation);
    g_test_add_func("/webp/cut", test_cut);
    g_test_add_func("/webp/cancelled", test_cancelled);
    g_test_add_func("/webp/budget", test_budget);
    return g_test_run();
}
