// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <tiffio.h>

#include "tests/unit/io/picture-testing.h"

typedef struct {
    int width, height, samples, bits;
    int format, photometric, compression;
    gboolean separate, tiled;
    const char *mode; // "w", "wb" big endian, "w8" BigTIFF ...
    int orientation;
    int extra; // -1 none
    int rows_per_strip;
    int pages;
    const void *data; // [height, width, samples], below 8 bits one byte per sample
} TestTiff;

static const TestTiff base = {.width = 37,
                              .height = 21,
                              .samples = 1,
                              .bits = 8,
                              .format = SAMPLEFORMAT_UINT,
                              .photometric = PHOTOMETRIC_MINISBLACK,
                              .compression = COMPRESSION_NONE,
                              .mode = "w",
                              .extra = -1,
                              .pages = 1};

static gsize
sample_size(const TestTiff *description)
{
    return description->bits < 8 ? 1 : (gsize) description->bits / 8;
}

// One row of a block as the file holds it: n pixels from (x, y), all samples or one.
static void
fill_row(const TestTiff *description, int x, int y, int n, int plane, guint8 *out)
{
    gsize size = sample_size(description);
    int first = description->separate ? plane : 0;
    int last = description->separate ? plane + 1 : description->samples;
    int bit = 0;
    for (int i = 0; i < n; i++) {
        for (int s = first; s < last; s++) {
            const guint8 *from = description->data;
            int column = MIN(x + i, description->width - 1);
            int row = MIN(y, description->height - 1);
            from +=
                size *
                (gsize) ((row * description->width + column) * description->samples + s);
            if (description->bits >= 8) {
                memcpy(out, from, size);
                out += size;
            } else {
                int shift = 8 - description->bits - bit % 8;
                if (bit % 8 == 0) {
                    out[bit / 8] = 0;
                }
                out[bit / 8] |= (guint8) (*from << shift);
                bit += description->bits;
            }
        }
    }
}

static void
write_tiles(TIFF *tiff, const TestTiff *description, int planes)
{
    enum { TILE = 16 };
    g_autofree guint8 *tile = g_malloc((gsize) TIFFTileSize(tiff));
    gsize stride = (gsize) TIFFTileRowSize(tiff);
    for (int plane = 0; plane < planes; plane++) {
        for (int y = 0; y < description->height; y += TILE) {
            for (int x = 0; x < description->width; x += TILE) {
                for (int row = 0; row < TILE; row++) {
                    fill_row(description, x, y + row, TILE, plane,
                             tile + (gsize) row * stride);
                }
                g_assert_cmpint(TIFFWriteTile(tiff, tile, (guint32) x, (guint32) y, 0,
                                              (guint16) plane),
                                >, 0);
            }
        }
    }
}

static void
write_page(TIFF *tiff, const TestTiff *description)
{
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, description->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, description->height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, description->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, description->samples);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, description->format);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, description->photometric);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, description->compression);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
                 description->separate ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (description->orientation > 0) {
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, description->orientation);
    }
    if (description->extra >= 0) {
        guint16 extra[] = {(guint16) description->extra};
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, extra);
    }
    if (description->photometric == PHOTOMETRIC_YCBCR) {
        TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1);
    }
    if (description->photometric == PHOTOMETRIC_PALETTE) {
        guint16 map[3][256];
        for (int i = 0; i < 256; i++) {
            map[0][i] = (guint16) (257 * i);
            map[1][i] = (guint16) (257 * (255 - i));
            map[2][i] = 257 * 7;
        }
        TIFFSetField(tiff, TIFFTAG_COLORMAP, map[0], map[1], map[2]);
    }
    int planes = description->separate ? description->samples : 1;
    if (description->tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, 16);
        write_tiles(tiff, description, planes);
        return;
    }
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP,
                 description->rows_per_strip > 0 ? description->rows_per_strip : 5);
    g_autofree guint8 *row = g_malloc((gsize) TIFFScanlineSize(tiff) + 8);
    for (int plane = 0; plane < planes; plane++) {
        for (int y = 0; y < description->height; y++) {
            fill_row(description, 0, y, description->width, plane, row);
            g_assert_cmpint(TIFFWriteScanline(tiff, row, (guint32) y, (guint16) plane),
                            ==, 1);
        }
    }
}

static char *
write_tiff(const TestTiff *description)
{
    char *path = test_temporary_path("picture.tif");
    TIFF *tiff = TIFFOpen(path, description->mode);
    g_assert_nonnull(tiff);
    for (int page = 0; page < description->pages; page++) {
        write_page(tiff, description);
        if (page + 1 < description->pages) {
            TIFFWriteDirectory(tiff);
        }
    }
    TIFFClose(tiff);
    return path;
}

static LimnImage *
load_tiff(const TestTiff *description, LimnJob *job)
{
    g_autofree char *path = write_tiff(description);
    LimnImage *image = test_load_path(path, job);
    g_assert_cmpstr(image->format, ==, "TIFF");
    LimnPictureInfo info;
    g_assert_true(limn_picture_probe(path, &info, NULL));
    g_assert_cmpint(info.width, ==, image->width);
    g_assert_cmpint(info.height, ==, image->height);
    g_assert_cmpint(info.orientation, ==, image->orientation);
    return image;
}

// Values as the description's format stores them, in [0, 2^bits).
static void *
make_data(const TestTiff *description)
{
    gsize n = (gsize) (description->width * description->height * description->samples);
    gsize size = sample_size(description);
    guint8 *data = g_malloc(n * size);
    for (gsize i = 0; i < n; i++) {
        guint32 value = (guint32) (i * 2654435761u);
        if (description->format == SAMPLEFORMAT_IEEEFP) {
            double real = (double) (gint32) value / 65536;
            float single = (float) real;
            guint16 half = limn_float_to_half((float) (real / 16));
            const void *from = size == 8   ? (const void *) &real
                               : size == 4 ? (const void *) &single
                                           : (const void *) &half;
            memcpy(data + i * size, from, size);
        } else {
            value >>= 32 - MIN(description->bits, 32);
            memcpy(data + i * size, &value, size);
        }
    }
    return data;
}

static double
expected_value(const TestTiff *description, gsize i)
{
    const guint8 *at = (const guint8 *) description->data + i * sample_size(description);
    guint32 value = 0;
    double real;
    float single;
    switch (description->format) {
    case SAMPLEFORMAT_IEEEFP:
        if (description->bits == 64) {
            memcpy(&real, at, 8);
            return (double) (float) real;
        }
        if (description->bits == 32) {
            memcpy(&single, at, 4);
            return (double) single;
        }
        memcpy(&value, at, 2);
        return (double) limn_half_to_float((guint16) value);
    default:
        break;
    }
    memcpy(&value, at, sample_size(description));
    if (description->format == SAMPLEFORMAT_INT) {
        return description->bits == 8    ? (gint8) value
               : description->bits == 16 ? (gint16) value
                                         : (gint32) value;
    }
    return value;
}

static void
assert_values(const LimnImage *image, const TestTiff *description)
{
    int channels = limn_pixels_channels(image->pixels);
    for (int y = 0; y < image->height; y++) {
        for (int x = 0; x < image->width; x++) {
            for (int c = 0; c < channels; c++) {
                gsize i = (gsize) ((y * image->width + x) * description->samples + c);
                g_assert_cmpfloat(limn_image_get_sample(image, x, y, c), ==,
                                  expected_value(description, i));
            }
        }
    }
}

static void
check_layouts(TestTiff description, LimnPixels pixels, LimnDepth depth)
{
    static const char *const modes[] = {"wl", "wb", "w8"};
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW,
                                       COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS};
    g_autofree void *data = make_data(&description);
    description.data = data;
    for (int layout = 0; layout < 4; layout++) {
        description.tiled = layout % 2;
        description.separate = layout / 2;
        for (gsize i = 0; i < G_N_ELEMENTS(modes); i++) {
            for (gsize c = 0; c < G_N_ELEMENTS(compressions); c++) {
                description.mode = modes[i];
                description.compression = compressions[c];
                g_autoptr(LimnImage) image = load_tiff(&description, NULL);
                g_assert_cmpint(image->width, ==, description.width);
                g_assert_cmpint(image->height, ==, description.height);
                g_assert_cmpint(image->pixels, ==, pixels);
                g_assert_cmpint(image->depth, ==, depth);
                assert_values(image, &description);
            }
        }
    }
}

static void
test_integers(void)
{
    static const int bits[] = {1, 2, 4, 8, 16, 32};
    for (gsize i = 0; i < G_N_ELEMENTS(bits); i++) {
        TestTiff description = base;
        description.bits = bits[i];
        LimnDepth depth = bits[i] == 32   ? LIMN_DEPTH_U32
                          : bits[i] == 16 ? LIMN_DEPTH_U16
                                          : LIMN_DEPTH_U8;
        check_layouts(description, LIMN_PIXELS_GREY, depth);
        if (bits[i] >= 8) {
            description.samples = 3;
            description.photometric = PHOTOMETRIC_RGB;
            check_layouts(description, LIMN_PIXELS_RGB, depth);
            description.samples = 4;
            description.extra = EXTRASAMPLE_UNASSALPHA;
            check_layouts(description, LIMN_PIXELS_RGBA, depth);
        }
    }
}

static void
test_floats(void)
{
    for (int bits = 16; bits <= 64; bits *= 2) {
        TestTiff description = base;
        description.bits = bits;
        description.format = SAMPLEFORMAT_IEEEFP;
        check_layouts(description, LIMN_PIXELS_GREY, LIMN_DEPTH_F32);
        description.samples = 3;
        description.photometric = PHOTOMETRIC_RGB;
        check_layouts(description, LIMN_PIXELS_RGB, LIMN_DEPTH_F32);
    }
}

static void
test_signed(void)
{
    for (int bits = 8; bits <= 16; bits *= 2) {
        TestTiff description = base;
        description.bits = bits;
        description.format = SAMPLEFORMAT_INT;
        check_layouts(description, LIMN_PIXELS_GREY, LIMN_DEPTH_F32);
    }
    static const gint32 labels[] = {0, 7, 16777217, 2147483647};
    static const gint32 heights[] = {0, -7, 16777217, -2147483647 - 1};
    TestTiff description = base;
    description.width = 2;
    description.height = 2;
    description.bits = 32;
    description.format = SAMPLEFORMAT_INT;
    description.data = labels;
    g_autoptr(LimnImage) kept = load_tiff(&description, NULL);
    g_assert_cmpint(kept->depth, ==, LIMN_DEPTH_U32);
    assert_values(kept, &description);
    description.data = heights;
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnImage) floats = load_tiff(&description, job);
    g_assert_cmpint(floats->depth, ==, LIMN_DEPTH_F32);
    g_assert_cmpfloat(limn_image_get_sample(floats, 1, 0, 0), ==, -7);
    g_assert_cmpfloat(limn_image_get_sample(floats, 0, 1, 0), ==, 16777216);
    assert_diagnostic(job, "rounded to floats");
}

static void
test_min_is_white(void)
{
    static const int bits[] = {1, 4, 8, 16};
    for (gsize i = 0; i < G_N_ELEMENTS(bits); i++) {
        TestTiff description = base;
        description.bits = bits[i];
        description.photometric = PHOTOMETRIC_MINISWHITE;
        g_autofree void *data = make_data(&description);
        description.data = data;
        g_autoptr(LimnImage) image = load_tiff(&description, NULL);
        g_assert_true(image->inverted);
        for (int x = 0; x < image->width; x++) {
            g_assert_cmpfloat(limn_image_get_sample(image, x, 0, 0), ==,
                              (1 << bits[i]) - 1 -
                                  expected_value(&description, (gsize) x));
        }
    }
}

static void
test_palette(void)
{
    static const int bits[] = {1, 2, 4, 8};
    for (gsize i = 0; i < G_N_ELEMENTS(bits); i++) {
        TestTiff description = base;
        description.bits = bits[i];
        description.photometric = PHOTOMETRIC_PALETTE;
        g_autofree void *data = make_data(&description);
        description.data = data;
        g_autoptr(LimnImage) image = load_tiff(&description, NULL);
        g_assert_cmpint(image->pixels, ==, LIMN_PIXELS_INDEXED);
        g_assert_cmpint(image->n_palette, ==, 1 << bits[i]);
        g_assert_cmpint(image->bits, ==, bits[i]);
        g_assert_cmpint(image->palette[1][0], ==, 1);
        g_assert_cmpint(image->palette[1][1], ==, 254);
        g_assert_cmpint(image->palette[0][2], ==, 7);
        assert_values(image, &description);
    }
}

static void
test_orientation(void)
{
    TestTiff description = base;
    g_autofree void *data = make_data(&description);
    description.data = data;
    g_autoptr(LimnImage) stored = load_tiff(&description, NULL);
    for (int orientation = 1; orientation <= 8; orientation++) {
        description.orientation = orientation;
        g_autoptr(LimnImage) image = load_tiff(&description, NULL);
        g_autoptr(LimnImage) expected = limn_image_orient(stored, orientation, NULL);
        assert_same_pixels(image, expected);
        g_assert_cmpint(image->orientation, ==, orientation);
    }
}

static void
test_alpha(void)
{
    // 60 of 120 is half of full; 5 of 0 is nothing; more than alpha is full.
    static const guint8 premultiplied[] = {60, 120, 30, 120, 5, 5, 5, 0, 200, 1, 0, 100};
    static const guint8 expected[] = {128, 255, 64, 120, 0, 0, 0, 0, 255, 3, 0, 100};
    TestTiff description = base;
    description.width = 3;
    description.height = 1;
    description.samples = 4;
    description.photometric = PHOTOMETRIC_RGB;
    description.extra = EXTRASAMPLE_ASSOCALPHA;
    description.data = premultiplied;
    g_autoptr(LimnImage) image = load_tiff(&description, NULL);
    g_assert_cmpint(image->pixels, ==, LIMN_PIXELS_RGBA);
    g_assert_cmpmem(image->data, 12, expected, 12);
    description.extra = EXTRASAMPLE_UNSPECIFIED;
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnImage) plain = load_tiff(&description, job);
    g_assert_cmpint(plain->pixels, ==, LIMN_PIXELS_RGB);
    assert_diagnostic(job, "4 samples per pixel; the first 3 are used");
    static const guint16 wide[] = {30000, 60000};
    description = base;
    description.width = description.height = 1;
    description.samples = 2;
    description.bits = 16;
    description.extra = EXTRASAMPLE_ASSOCALPHA;
    description.data = wide;
    g_autoptr(LimnImage) grey = load_tiff(&description, NULL);
    g_assert_cmpint(grey->pixels, ==, LIMN_PIXELS_GREY_ALPHA);
    g_assert_cmpfloat(limn_image_get_sample(grey, 0, 0, 0), ==, 32768);
}

static void
test_cmyk(void)
{
    static const guint8 inks[] = {0, 0, 0, 0,   255, 0,   0,   0,
                                  0, 0, 0, 255, 0,   128, 255, 51};
    static const guint8 expected[] = {255, 255, 255, 0, 255, 255, 0, 0, 0, 204, 102, 0};
    TestTiff description = base;
    description.width = 4;
    description.height = 1;
    description.samples = 4;
    description.photometric = PHOTOMETRIC_SEPARATED;
    description.data = inks;
    for (int separate = 0; separate < 2; separate++) {
        description.separate = separate;
        g_autoptr(LimnImage) image = load_tiff(&description, NULL);
        g_assert_true(image->cmyk);
        g_assert_cmpint(image->pixels, ==, LIMN_PIXELS_RGB);
        g_assert_cmpmem(image->data, 12, expected, 12);
    }
    guint16 wide[16];
    for (int i = 0; i < 16; i++) {
        wide[i] = (guint16) (257 * inks[i]);
    }
    description.bits = 16;
    description.data = wide;
    g_autoptr(LimnImage) deep = load_tiff(&description, NULL);
    for (int i = 0; i < 12; i++) {
        double found = limn_image_get_sample(deep, i / 3, 0, i % 3) / 257;
        g_assert_cmpfloat(fabs(found - expected[i]), <, 1);
    }
}

static void
test_jpeg_inside(void)
{
    TestTiff description = base;
    description.width = 64;
    description.height = 64;
    description.rows_per_strip = 64;
    description.compression = COMPRESSION_JPEG;
    guint8 *data = g_malloc(64 * 64);
    for (int i = 0; i < 64 * 64; i++) {
        data[i] = (guint8) (i / 64 * 2 + i % 64);
    }
    description.data = data;
    g_autoptr(LimnImage) image = load_tiff(&description, NULL);
    g_assert_true(image->lossy);
    for (int i = 0; i < 64 * 64; i++) {
        g_assert_cmpint(ABS(((guint8 *) image->data)[i] - data[i]), <, 12);
    }
    g_free(data);
}

// Luma and neutral chroma: grey. Once converted by the TIFF library, once by the JPEG
// one.
static void
test_ycbcr(void)
{
    guint8 data[32 * 16 * 3];
    for (int i = 0; i < 32 * 16; i++) {
        data[3 * i] = (guint8) (i % 32 * 6 + 20);
        data[3 * i + 1] = data[3 * i + 2] = 128;
    }
    TestTiff description = base;
    description.width = 32;
    description.height = 16;
    description.samples = 3;
    description.photometric = PHOTOMETRIC_YCBCR;
    description.rows_per_strip = 16;
    description.data = data;
    for (int jpeg = 0; jpeg < 2; jpeg++) {
        description.compression = jpeg ? COMPRESSION_JPEG : COMPRESSION_LZW;
        g_autoptr(LimnImage) image = load_tiff(&description, NULL);
        g_assert_cmpint(image->pixels, ==, LIMN_PIXELS_RGB);
        g_assert_cmpint(image->lossy, ==, jpeg);
        for (int i = 0; i < 32 * 16 * 3; i++) {
            int difference = ((guint8 *) image->data)[i] - data[i / 3 * 3];
            g_assert_cmpint(ABS(difference), <, 6);
        }
    }
}

static void
test_pages(void)
{
    TestTiff description = base;
    g_autofree void *data = make_data(&description);
    description.data = data;
    description.pages = 3;
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnImage) image = load_tiff(&description, job);
    assert_values(image, &description);
    assert_diagnostic(job, "has 3 pages; the first is used");
}

static void
expect_tiff_refusal(const TestTiff *description, LimnErrorCode code, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = write_tiff(description);
    g_assert_null(limn_picture_load(path, NULL, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
    if (strstr(error->message, part) == NULL) {
        g_error("\"%s\" does not say \"%s\"", error->message, part);
    }
    LimnPictureInfo info;
    g_assert_false(limn_picture_probe(path, &info, NULL));
}

static void
test_unsupported(void)
{
    TestTiff description = base;
    g_autofree guint8 *zeros = g_malloc0(37 * 21 * 16);
    description.data = zeros;
    description.photometric = PHOTOMETRIC_CIELAB;
    description.samples = 3;
    expect_tiff_refusal(&description, LIMN_ERROR_UNSUPPORTED, "colours of kind 8");
    description.photometric = PHOTOMETRIC_RGB;
    description.samples = 2;
    expect_tiff_refusal(&description, LIMN_ERROR_FORMAT, "found 2, expected at least 3");
    description = base;
    description.data = zeros;
    description.bits = 64;
    expect_tiff_refusal(&description, LIMN_ERROR_UNSUPPORTED, "samples of 64 bits");
    description.format = SAMPLEFORMAT_COMPLEXIEEEFP;
    expect_tiff_refusal(&description, LIMN_ERROR_UNSUPPORTED, "complex");
}

static GBytes *
read_tiff(const TestTiff *description)
{
    char *contents;
    gsize size;
    g_autofree char *path = write_tiff(description);
    g_assert_true(g_file_get_contents(path, &contents, &size, NULL));
    return g_bytes_new_take(contents, size);
}

static void
test_damage(void)
{
    TestTiff description = base;
    g_autofree void *data = make_data(&description);
    description.data = data;
    description.mode = "wl";
    for (int kind = 0; kind < 3; kind++) {
        description.compression = kind == 0   ? COMPRESSION_NONE
                                  : kind == 1 ? COMPRESSION_LZW
                                              : COMPRESSION_ADOBE_DEFLATE;
        description.tiled = kind == 2;
        g_autoptr(GBytes) bytes = read_tiff(&description);
        check_damaged(bytes, 9);
    }
}

// The first tag with this number in a little-endian file, whose directory is at the end.
static guint8 *
find_tag(guint8 *data, int tag)
{
    gsize directory = (gsize) data[4] | (gsize) data[5] << 8 | (gsize) data[6] << 16;
    int n = data[directory] | data[directory + 1] << 8;
    for (int i = 0; i < n; i++) {
        guint8 *entry = data + directory + 2 + 12 * i;
        if ((entry[0] | entry[1] << 8) == tag) {
            return entry;
        }
    }
    g_error("no tag %d", tag);
}

static void
test_lies(void)
{
    TestTiff description = base;
    g_autofree void *data = make_data(&description);
    description.data = data;
    description.mode = "wl";
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW,
                                       COMPRESSION_ADOBE_DEFLATE, COMPRESSION_PACKBITS};
    for (gsize i = 0; i < G_N_ELEMENTS(compressions); i++) {
        description.compression = compressions[i];
        g_autoptr(GBytes) bytes = read_tiff(&description);
        gsize size;
        guint8 *copy = g_bytes_unref_to_data(g_steal_pointer(&bytes), &size);
        guint8 *width = find_tag(copy, TIFFTAG_IMAGEWIDTH);
        guint8 *height = find_tag(copy, TIFFTAG_IMAGELENGTH);
        width[2] = height[2] = 4; // LONG
        memcpy(width + 8, "\60\165\0\0", 4);
        memcpy(height + 8, "\60\165\0\0", 4);
        expect_refusal(copy, size, LIMN_ERROR_FORMAT, "claims 30000 x 30000 pixels");
        memcpy(width + 8, "\377\377\377\177", 4);
        memcpy(height + 8, "\377\377\377\177", 4);
        expect_refusal(copy, size, LIMN_ERROR_FORMAT, "");
        memcpy(width + 8, "\0\0\0\0", 4);
        expect_refusal(copy, size, LIMN_ERROR_FORMAT, "");
        g_free(copy);
    }
}

// Nothing is written to a temporary folder, and none is needed.
static void
test_hard_b25(void)
{
    g_autofree char *before = g_strdup(g_getenv("TMPDIR"));
    TestTiff description = base;
    description.width = 700;
    description.height = 600;
    description.bits = 16;
    description.compression = COMPRESSION_ADOBE_DEFLATE;
    g_autofree void *data = make_data(&description);
    description.data = data;
    g_autofree char *path = write_tiff(&description);
    g_setenv("TMPDIR", "/nonexistent/folder", TRUE);
    g_autoptr(LimnImage) image = test_load_path(path, NULL);
    g_autofree char *jpeg = test_path("pictures/progressive-420.jpg");
    g_autoptr(LimnImage) progressive = test_load_path(jpeg, NULL);
    if (before != NULL) {
        g_setenv("TMPDIR", before, TRUE);
    } else {
        g_unsetenv("TMPDIR");
    }
    assert_values(image, &description);
    g_assert_cmpint(progressive->width, ==, 21);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    g_test_add_func("/tiff/integers", test_integers);
    g_test_add_func("/tiff/floats", test_floats);
    g_test_add_func("/tiff/signed", test_signed);
    g_test_add_func("/tiff/min-is-white", test_min_is_white);
    g_test_add_func("/tiff/palette", test_palette);
    g_test_add_func("/tiff/orientation", test_orientation);
    g_test_add_func("/tiff/alpha", test_alpha);
    g_test_add_func("/tiff/cmyk", test_cmyk);
    g_test_add_func("/tiff/jpeg-inside", test_jpeg_inside);
    g_test_add_func("/tiff/ycbcr", test_ycbcr);
    g_test_add_func("/tiff/pages", test_pages);
    g_test_add_func("/tiff/unsupported", test_unsupported);
    g_test_add_func("/tiff/damage", test_damage);
    g_test_add_func("/tiff/lies", test_lies);
    g_test_add_func("/hard/B25-no-temporary-files", test_hard_b25);
    return g_test_run();
}
