// SPDX-License-Identifier: GPL-3.0-or-later

#include <png.h>
#include <zlib.h>

#include "tests/unit/io/picture-testing.h"

static const guint8 colours[][3] = {{0, 0, 0},     {128, 0, 0}, {0, 128, 0},
                                    {128, 128, 0}, {0, 0, 128}, {128, 0, 128}};

static int
channels_of(int type)
{
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    return channels[type];
}

// Samples 0 .. limit-1 in a pattern without symmetry.
static guint16 *
make_samples(int width, int height, int channels, int limit)
{
    guint n = (guint) (width * height * channels);
    guint16 *samples = g_new(guint16, n);
    for (guint i = 0; i < n; i++) {
        samples[i] = (guint16) ((i * 7919u + i / 3 * 104729u) % (guint) limit);
    }
    return samples;
}

static void
assert_samples(const LimnImage *image, const guint16 *samples)
{
    int channels = limn_pixels_channels(image->pixels);
    int i = 0;
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++) {
            for (int c = 0; c < channels; c++) {
                g_assert_cmpfloat(limn_image_get_sample(image, x, y, c), ==,
                                  samples[i++]);
            }
        }
    }
}

static void
check_kind(int type, int bits, LimnPixels pixels, int width, int height)
{
    int limit = type == PNG_COLOR_TYPE_PALETTE ? MIN(1 << bits, 6) : 1 << bits;
    g_autofree guint16 *samples = make_samples(width, height, channels_of(type), limit);
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        TestPng description = {.width = width,
                               .height = height,
                               .bits = bits,
                               .type = type,
                               .interlaced = interlaced,
                               .gamma = TRUE,
                               .samples = samples};
        if (type == PNG_COLOR_TYPE_PALETTE) {
            description.n_palette = limit;
            description.palette = colours;
        }
        g_autoptr(GBytes) bytes = test_png(&description);
        g_autoptr(LimnJob) job = limn_job_new();
        g_autoptr(LimnImage) image = test_load_bytes(bytes, job);
        g_assert_cmpint(image->width, ==, width);
        g_assert_cmpint(image->height, ==, height);
        g_assert_cmpint(image->pixels, ==, pixels);
        g_assert_cmpint(image->depth, ==, bits == 16 ? LIMN_DEPTH_U16 : LIMN_DEPTH_U8);
        g_assert_cmpint(image->bits, ==, bits);
        g_assert_cmpstr(image->format, ==, "PNG");
        g_assert_false(image->lossy);
        assert_samples(image, samples);
        g_assert_cmpint(test_count_diagnostics(job), ==, 0);
        if (type == PNG_COLOR_TYPE_PALETTE) {
            g_assert_cmpint(image->n_palette, ==, limit);
            g_assert_cmpint(image->palette[1][0], ==, 128);
            g_assert_cmpint(image->palette[1][3], ==, 255);
            g_assert_false(image->palette_has_alpha);
        }
    }
}

static void
test_every_kind(void)
{
    static const struct {
        int type;
        LimnPixels pixels;
        int bits[6];
    } kinds[] = {
        {PNG_COLOR_TYPE_GRAY, LIMN_PIXELS_GREY, {1, 2, 4, 8, 16}},
        {PNG_COLOR_TYPE_RGB, LIMN_PIXELS_RGB, {8, 16}},
        {PNG_COLOR_TYPE_PALETTE, LIMN_PIXELS_INDEXED, {1, 2, 4, 8}},
        {PNG_COLOR_TYPE_GRAY_ALPHA, LIMN_PIXELS_GREY_ALPHA, {8, 16}},
        {PNG_COLOR_TYPE_RGB_ALPHA, LIMN_PIXELS_RGBA, {8, 16}},
    };
    static const int sizes[][2] = {{1, 1}, {13, 9}, {3, 40}, {65, 2}};
    for (gsize k = 0; k < G_N_ELEMENTS(kinds); k++) {
        for (int b = 0; kinds[k].bits[b] != 0; b++) {
            for (gsize s = 0; s < G_N_ELEMENTS(sizes); s++) {
                check_kind(kinds[k].type, kinds[k].bits[b], kinds[k].pixels, sizes[s][0],
                           sizes[s][1]);
            }
        }
    }
}

// 1, 2 and 4 bits hold ids, not shades: 0/1 stays 0/1; the last columns of a width that
// is no multiple of 8 are right.
static void
test_hard_b08(void)
{
    for (int bits = 1; bits <= 4; bits *= 2) {
        for (int palette = 0; palette < 2; palette++) {
            g_autofree guint16 *samples = make_samples(19, 5, 1, MIN(1 << bits, 6));
            TestPng description = {
                .width = 19, .height = 5, .bits = bits, .samples = samples};
            if (palette) {
                description.type = PNG_COLOR_TYPE_PALETTE;
                description.n_palette = MIN(1 << bits, 6);
                description.palette = colours;
            }
            g_autoptr(GBytes) bytes = test_png(&description);
            g_autoptr(LimnImage) image = test_load_bytes(bytes, NULL);
            g_assert_cmpint(image->bits, ==, bits);
            assert_samples(image, samples);
            // As a picture the greys run from black to white.
            g_autoptr(LimnImage) rgb = limn_image_to_rgb8(image, LIMN_RANGE_TYPE, NULL);
            int top = (1 << bits) - 1;
            for (int x = 0; x < 19; x++) {
                int expected = palette ? colours[samples[x]][1] : samples[x] * 255 / top;
                g_assert_cmpfloat(limn_image_get_sample(rgb, x, 0, 1), ==, expected);
            }
        }
    }
}

static void
test_transparency(void)
{
    static const guint8 alpha[] = {255, 0, 128};
    static const guint16 labels[] = {0, 1, 2, 3};
    TestPng indexed = {.width = 4,
                       .height = 1,
                       .bits = 2,
                       .type = PNG_COLOR_TYPE_PALETTE,
                       .n_palette = 4,
                       .palette = colours,
                       .n_alpha = 3,
                       .alpha = alpha,
                       .samples = labels};
    g_autoptr(GBytes) bytes = test_png(&indexed);
    g_autoptr(LimnImage) image = test_load_bytes(bytes, NULL);
    g_assert_true(image->palette_has_alpha);
    g_assert_cmpint(image->palette[1][3], ==, 0);
    g_assert_cmpint(image->palette[2][3], ==, 128);
    g_assert_cmpint(image->palette[3][3], ==, 255);
    assert_samples(image, labels);

    static const guint16 grey_key[] = {2};
    TestPng grey = {
        .width = 4, .height = 1, .bits = 2, .key = grey_key, .samples = labels};
    g_autoptr(GBytes) grey_bytes = test_png(&grey);
    g_autoptr(LimnImage) grey_image = test_load_bytes(grey_bytes, NULL);
    g_assert_true(grey_image->has_key);
    g_assert_cmpint(grey_image->key[0], ==, 2);
    g_assert_cmpint(grey_image->pixels, ==, LIMN_PIXELS_GREY);
    g_autoptr(LimnImage) shown = limn_image_to_rgba8(grey_image, LIMN_RANGE_TYPE, NULL);
    g_assert_cmpfloat(limn_image_get_sample(shown, 2, 0, 3), ==, 0);
    g_assert_cmpfloat(limn_image_get_sample(shown, 3, 0, 3), ==, 255);

    static const guint16 rgb_key[] = {1000, 2000, 3000};
    static const guint16 wide[] = {1000, 2000, 3000, 1000, 2000, 3001};
    TestPng rgb = {.width = 2,
                   .height = 1,
                   .bits = 16,
                   .type = PNG_COLOR_TYPE_RGB,
                   .key = rgb_key,
                   .samples = wide};
    g_autoptr(GBytes) rgb_bytes = test_png(&rgb);
    g_autoptr(LimnImage) rgb_image = test_load_bytes(rgb_bytes, NULL);
    g_assert_cmpint(rgb_image->key[2], ==, 3000);
    assert_samples(rgb_image, wide);
}

static void
test_orientation(void)
{
    g_autofree guint16 *samples = make_samples(5, 3, 1, 256);
    for (int orientation = 1; orientation <= 8; orientation++) {
        g_autoptr(GBytes) exif = test_exif(orientation, orientation % 2, FALSE);
        TestPng description = {.width = 5, .height = 3, .bits = 8, .samples = samples};
        g_autoptr(GBytes) plain_bytes = test_png(&description);
        description.exif = g_bytes_get_data(exif, &description.exif_size);
        g_autoptr(GBytes) bytes = test_png(&description);
        g_autoptr(LimnImage) image = test_load_bytes(bytes, NULL);
        g_autoptr(LimnImage) plain = test_load_bytes(plain_bytes, NULL);
        g_autoptr(LimnImage) expected = limn_image_orient(plain, orientation, NULL);
        assert_same_pixels(image, expected);
        g_assert_cmpint(image->orientation, ==, orientation);
    }
}

static GBytes *
make_rgb(int width, int height, gboolean interlaced)
{
    g_autofree guint16 *samples = make_samples(width, height, 3, 256);
    TestPng description = {.width = width,
                           .height = height,
                           .bits = 8,
                           .type = PNG_COLOR_TYPE_RGB,
                           .interlaced = interlaced,
                           .samples = samples};
    return test_png(&description);
}

static void
test_cut(void)
{
    g_autoptr(GBytes) bytes = make_rgb(40, 60, FALSE);
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    expect_refusal(data, size / 2, LIMN_ERROR_FORMAT, " of 60 rows in ");
    expect_refusal(data, 10, LIMN_ERROR_FORMAT, "header is cut");
    expect_refusal(data, 37, LIMN_ERROR_FORMAT, "");
    expect_refusal(data, 3, LIMN_ERROR_FORMAT, "");
    g_autoptr(GBytes) passes = make_rgb(40, 60, TRUE);
    const guint8 *interlaced = g_bytes_get_data(passes, &size);
    expect_refusal(interlaced, size / 2, LIMN_ERROR_FORMAT, " of 60 rows in ");

    // Without the end chunk everything is there; it is said.
    g_autoptr(GBytes) short_bytes =
        g_bytes_new_from_bytes(bytes, 0, g_bytes_get_size(bytes) - 12);
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnImage) whole = test_load_bytes(bytes, NULL);
    g_autoptr(LimnImage) image = test_load_bytes(short_bytes, job);
    assert_same_pixels(image, whole);
    assert_diagnostic(job, "the end of the PNG is damaged");
}

// Bytes with some overwritten and the checksum of the chunk at `chunk` put right.
static guint8 *
patched(GBytes *bytes, gsize chunk, gsize offset, const void *value, gsize n)
{
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    guint8 *copy = g_memdup2(data, size);
    memcpy(copy + offset, value, n);
    gsize length = (gsize) copy[chunk] << 24 | (gsize) copy[chunk + 1] << 16 |
                   (gsize) copy[chunk + 2] << 8 | copy[chunk + 3];
    guint32 sum = (guint32) crc32(0, copy + chunk + 4, (uInt) length + 4);
    for (int i = 0; i < 4; i++) {
        copy[chunk + 8 + length + (gsize) i] = (guint8) (sum >> (24 - 8 * i));
    }
    return copy;
}

static void
expect_patched(gsize offset, const char *value, gsize n, LimnErrorCode code,
               const char *part)
{
    g_autoptr(GBytes) bytes = make_rgb(16, 16, FALSE);
    g_autofree guint8 *data = patched(bytes, 8, offset, value, n);
    expect_refusal(data, g_bytes_get_size(bytes), code, part);
}

static void
test_lies(void)
{
    expect_patched(16, "\0\0\0\0", 4, LIMN_ERROR_FORMAT, "has no pixels");
    expect_patched(20, "\0\0\0\0", 4, LIMN_ERROR_FORMAT, "has no pixels");
    expect_patched(20, "\0\0\0\21", 4, LIMN_ERROR_FORMAT, "16 of 17 rows");
    expect_patched(24, "\3", 1, LIMN_ERROR_FORMAT, "3 bits with colour type 2");
    expect_patched(25, "\7", 1, LIMN_ERROR_FORMAT, "8 bits with colour type 7");
    expect_patched(25, "\3", 1, LIMN_ERROR_FORMAT, ""); // no palette
    expect_patched(28, "\2", 1, LIMN_ERROR_FORMAT, "damaged PNG header");
    expect_patched(8, "\0\0\0\14", 4, LIMN_ERROR_FORMAT, "IHDR");
    expect_patched(16, "\200\0\0\0", 4, LIMN_ERROR_FORMAT, "claims 2147483648 x 16");
}

// Sizes that the file cannot hold name the size and the limit.
static void
test_hard_b24(void)
{
    expect_patched(16, "\177\377\377\377\177\377\377\377", 8, LIMN_ERROR_FORMAT,
                   "claims 2147483647 x 2147483647 pixels");
    expect_patched(16, "\177\377\377\377\177\377\377\377", 8, LIMN_ERROR_FORMAT,
                   "the limit is 1073741824 pixels");
    expect_patched(16, "\0\0\165\60\0\0\165\60", 8, LIMN_ERROR_FORMAT,
                   "claims 30000 x 30000 pixels");
    // A long strip is a picture like any other.
    g_autofree guint16 *samples = make_samples(40000, 10, 1, 256);
    TestPng strip = {.width = 40000, .height = 10, .bits = 8, .samples = samples};
    g_autoptr(GBytes) bytes = test_png(&strip);
    g_autoptr(LimnImage) image = test_load_bytes(bytes, NULL);
    assert_samples(image, samples);
}

static void
test_damage(void)
{
    g_autoptr(GBytes) bytes = make_rgb(20, 20, FALSE);
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    g_autofree guint8 *copy = g_memdup2(data, size);
    copy[size / 2] ^= 0x55;
    expect_refusal(copy, size, LIMN_ERROR_FORMAT, "");
    memcpy(copy, data, size);
    copy[29] ^= 1; // checksum of the header
    expect_refusal(copy, size, LIMN_ERROR_FORMAT, "damaged PNG header");
    check_damaged(bytes, 7);
    g_autoptr(GBytes) interlaced = make_rgb(9, 9, TRUE);
    check_damaged(interlaced, 5);
}

// A chunk with `length` bytes of zeros behind the header; the file says `claimed`.
static GBytes *
with_chunk(GBytes *bytes, const char *type, guint32 length, guint32 claimed)
{
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    g_autofree guint8 *chunk = g_malloc0((gsize) length + 12);
    for (int i = 0; i < 4; i++) {
        chunk[i] = (guint8) (claimed >> (24 - 8 * i));
    }
    memcpy(chunk + 4, type, 4);
    guint32 sum = (guint32) crc32(0, chunk + 4, length + 4);
    for (int i = 0; i < 4; i++) {
        chunk[8 + length + (guint32) i] = (guint8) (sum >> (24 - 8 * i));
    }
    GByteArray *out = g_byte_array_new();
    g_byte_array_append(out, data, 33);
    g_byte_array_append(out, chunk, length + 12);
    g_byte_array_append(out, data + 33, (guint) size - 33);
    return g_byte_array_free_to_bytes(out);
}

// Chunks that nothing here needs may be large; none may be larger than the file.
static void
test_large_chunks(void)
{
    g_autoptr(GBytes) bytes = make_rgb(8, 8, FALSE);
    g_autoptr(LimnImage) expected = test_load_bytes(bytes, NULL);
    static const char *const types[] = {"tEXt", "iTXt", "iCCP", "eXIf", "prVt"};
    for (gsize i = 0; i < G_N_ELEMENTS(types); i++) {
        g_autoptr(GBytes) large = with_chunk(bytes, types[i], 9000000, 9000000);
        g_autoptr(LimnImage) image = test_load_bytes(large, NULL);
        assert_same_pixels(image, expected);
        g_autoptr(GBytes) lying = with_chunk(bytes, types[i], 100, 0x4d000000);
        gsize size;
        const guint8 *data = g_bytes_get_data(lying, &size);
        expect_refusal(data, size, LIMN_ERROR_FORMAT, "");
    }
}

static void
test_diagnostics(void)
{
    static const guint16 beyond[] = {0, 1, 2, 5};
    TestPng description = {.width = 4,
                           .height = 1,
                           .bits = 8,
                           .type = PNG_COLOR_TYPE_PALETTE,
                           .n_palette = 6,
                           .palette = colours,
                           .samples = beyond};
    g_autoptr(GBytes) six = test_png(&description);
    // PLTE begins after the header chunk: make it two colours long.
    gsize size;
    const guint8 *data = g_bytes_get_data(six, &size);
    g_autoptr(GByteArray) two = g_byte_array_new();
    g_byte_array_append(two, data, 33);
    guint8 palette[] = {0, 0, 0, 6, 'P', 'L', 'T', 'E', 1, 2, 3, 4, 5, 6, 0, 0, 0, 0};
    guint32 sum = (guint32) crc32(0, palette + 4, 10);
    for (int i = 0; i < 4; i++) {
        palette[14 + i] = (guint8) (sum >> (24 - 8 * i));
    }
    g_byte_array_append(two, palette, sizeof palette);
    g_byte_array_append(two, data + 33 + 12 + 18, (guint) (size - 33 - 12 - 18));
    g_autoptr(GBytes) bytes = g_bytes_new(two->data, two->len);
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnImage) image = test_load_bytes(bytes, job);
    assert_samples(image, beyond);
    g_assert_cmpint(image->n_palette, ==, 2);
    assert_diagnostic(job, "index 5 is beyond the palette of 2 colours");
}

static void
test_cancelled(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = make_rgb(20, 20, FALSE);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_null(limn_picture_load_bytes(bytes, "x", job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/png/every-kind", test_every_kind);
    g_test_add_func("/png/transparency", test_transparency);
    g_test_add_func("/png/orientation", test_orientation);
    g_test_add_func("/png/cut", test_cut);
    g_test_add_func("/png/lies", test_lies);
    g_test_add_func("/png/damage", test_damage);
    g_test_add_func("/png/large-chunks", test_large_chunks);
    g_test_add_func("/png/diagnostics", test_diagnostics);
    g_test_add_func("/png/cancelled", test_cancelled);
    g_test_add_func("/hard/B08-low-bit-depths", test_hard_b08);
    g_test_add_func("/hard/B24-size-and-limit", test_hard_b24);
    return g_test_run();
}
