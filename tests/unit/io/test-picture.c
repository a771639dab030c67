// SPDX-License-Identifier: GPL-3.0-or-later

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <png.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/io/picture-testing.h"

#define REFUSAL(bytes, code, part) expect_refusal(bytes, sizeof bytes - 1, code, part)

// Formats that are known but not read: named, with what to do.
static void
test_refused_formats(void)
{
    REFUSAL("GIF89a\1\0\1\0\0\0\0;", LIMN_ERROR_UNSUPPORTED, "GIF picture");
    REFUSAL("GIF87a\1\0\1\0\0\0\0;", LIMN_ERROR_UNSUPPORTED, "convert it to PNG");
    REFUSAL("BM\106\0\0\0\0\0\0\0\66\0\0\0\50\0\0\0", LIMN_ERROR_UNSUPPORTED, "BMP");
    REFUSAL("\0\0\1\0\1\0\20\20\0\0\1\0", LIMN_ERROR_UNSUPPORTED, "Windows icon");
    REFUSAL("\0\0\0\40ftypheic\0\0\0\0", LIMN_ERROR_UNSUPPORTED, "HEIF");
    REFUSAL("\0\0\0\40ftypmif1\0\0\0\0", LIMN_ERROR_UNSUPPORTED, "HEIF");
    REFUSAL("\0\0\0\40ftypavif\0\0\0\0", LIMN_ERROR_UNSUPPORTED, "AVIF");
    REFUSAL("\0\0\0\40ftypisom\0\0\0\0", LIMN_ERROR_UNSUPPORTED, "video");
    REFUSAL("\0\0\0\014jP  \r\n\207\n\0\0", LIMN_ERROR_UNSUPPORTED, "JPEG 2000");
    REFUSAL("\377\012\372\37\101\220", LIMN_ERROR_UNSUPPORTED, "JPEG XL");
    REFUSAL("8BPS\0\1\0\0", LIMN_ERROR_UNSUPPORTED, "Photoshop");
    REFUSAL("%PDF-1.5\n", LIMN_ERROR_UNSUPPORTED, "PDF");
    REFUSAL("P6\n2 2\n255\n", LIMN_ERROR_UNSUPPORTED, "Netpbm");
    REFUSAL("\223NUMPY\1\0", LIMN_ERROR_UNSUPPORTED, "NumPy");
    REFUSAL("PK\3\4\24\0", LIMN_ERROR_UNSUPPORTED, "zip");
    REFUSAL("<svg xmlns='http://www.w3.org/2000/svg'/>", LIMN_ERROR_UNSUPPORTED, "SVG");
    guint8 dicom[140] = {0};
    memcpy(dicom + 128, "DICM", 4);
    expect_refusal(dicom, sizeof dicom, LIMN_ERROR_UNSUPPORTED, "DICOM");
}

static void
test_not_pictures(void)
{
    expect_refusal("", 0, LIMN_ERROR_FORMAT, "is empty (found 0 bytes");
    REFUSAL("just some words\n", LIMN_ERROR_FORMAT, "found text");
    REFUSAL("BMW und Grüße aus Köln\n", LIMN_ERROR_FORMAT, "found text");
    REFUSAL("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
            LIMN_ERROR_FORMAT, "Git LFS pointer");
    REFUSAL("\1\2\3\4\5", LIMN_ERROR_FORMAT, "it begins with 01 02 03 04 05");
    REFUSAL("RIFF\4\0\0\0WAVE", LIMN_ERROR_FORMAT, "it begins with 52 49 46 46");
}

static GBytes *
make_indexed(void)
{
    static const guint8 colours[][3] = {{1, 2, 3}, {4, 5, 6}};
    static const guint16 samples[] = {0, 1, 1, 0, 1, 0};
    TestPng description = {.width = 3,
                           .height = 2,
                           .bits = 1,
                           .type = PNG_COLOR_TYPE_PALETTE,
                           .n_palette = 2,
                           .palette = colours,
                           .samples = samples};
    return test_png(&description);
}

static char *
write_bytes(const char *name, GBytes *bytes)
{
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    return test_write_file(name, data, size);
}

// The content decides, not the name: an indexed PNG and a GIF that are called .jpg.
static void
test_hard_b06(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) indexed = make_indexed();
    g_autofree char *path = write_bytes("palette.jpg", indexed);
    g_autoptr(LimnImage) image = test_load_path(path, NULL);
    g_assert_cmpint(image->pixels, ==, LIMN_PIXELS_INDEXED);
    g_assert_cmpstr(image->format, ==, "PNG");
    LimnPictureInfo info;
    g_assert_true(limn_picture_probe(path, &info, &error));
    g_assert_cmpstr(info.format, ==, "PNG");

    g_autofree char *gif = test_write_file("photo.jpg", "GIF89a\1\0\1\0\0\0\0;", 14);
    g_assert_null(limn_picture_load(gif, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED);
    g_assert_nonnull(strstr(error->message, "photo.jpg: is a GIF picture"));
    g_assert_null(strchr(error->message, '\n'));
    g_clear_error(&error);

    // Palette with alpha ("PA" of other programs).
    static const guint8 alpha[] = {255, 10};
    static const guint8 colours[][3] = {{1, 2, 3}, {4, 5, 6}};
    static const guint16 samples[] = {0, 1};
    TestPng pa = {.width = 2,
                  .height = 1,
                  .bits = 8,
                  .type = PNG_COLOR_TYPE_PALETTE,
                  .n_palette = 2,
                  .palette = colours,
                  .n_alpha = 2,
                  .alpha = alpha,
                  .samples = samples};
    g_autoptr(GBytes) pa_bytes = test_png(&pa);
    g_autoptr(LimnImage) pa_image = test_load_bytes(pa_bytes, NULL);
    g_autoptr(LimnImage) shown = limn_image_to_rgba8(pa_image, LIMN_RANGE_TYPE, NULL);
    g_assert_cmpmem(shown->data, 8, "\1\2\3\377\4\5\6\12", 8);
    g_autofree char *jpeg = test_path("pictures/grey.jpg");
    g_autoptr(GBytes) jpeg_bytes = test_read("pictures/grey.jpg");
    g_autofree char *renamed = write_bytes("photo.tiff", jpeg_bytes);
    g_autoptr(LimnImage) a = test_load_path(jpeg, NULL);
    g_autoptr(LimnImage) b = test_load_path(renamed, NULL);
    assert_same_pixels(a, b);
}

static void
test_hard_b22(void)
{
    g_autoptr(GBytes) bytes = make_indexed();
    g_autofree char *odd_folder = test_temporary_path("Ünïcode/テスト");
    g_assert_cmpint(g_mkdir_with_parents(odd_folder, 0777), ==, 0);
    g_autofree char *stem = g_strnfill(251, 'x');
    g_autofree char *long_name = g_strconcat(stem, ".png", NULL);
    const char *const names[] = {"Ünïcode/テスト/é 1.png", "new\nline.png",
                                 "\351\377.png", long_name, "a%20b%s%n.png"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = write_bytes(names[i], bytes);
        g_autoptr(LimnImage) image = test_load_path(path, NULL);
        g_assert_cmpint(image->width, ==, 3);
        g_autoptr(GError) problem = NULL;
        g_assert_true(limn_png_save(image, path, &problem));
        g_assert_no_error(problem);
        g_autoptr(LimnImage) again = test_load_path(path, NULL);
        assert_same_pixels(again, image);
        // A message about it is valid text of one line.
        g_autoptr(GError) error = NULL;
        g_autofree char *broken = test_write_file(names[i], "no", 2);
        g_assert_null(limn_picture_load(broken, NULL, &error));
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
        g_assert_null(strchr(error->message, '\n'));
        g_unlink(broken);
    }
    g_autoptr(GError) error = NULL;
    g_autofree char *far_too_long = g_strnfill(5000, 'y');
    g_assert_null(limn_picture_load(far_too_long, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
}

// A grey picture of one value, as a stream of zeros compressed row by row.
static GBytes *
make_huge(guint32 width, guint32 height)
{
    g_autofree guint8 *row = g_malloc0((gsize) width + 1);
    GByteArray *out = g_byte_array_new();
    g_byte_array_append(out, (const guint8 *) "\211PNG\r\n\032\n", 8);
    guint8 header[25] = {0, 0, 0, 13, 'I', 'H', 'D', 'R'};
    for (int i = 0; i < 4; i++) {
        header[8 + i] = (guint8) (width >> (24 - 8 * i));
        header[12 + i] = (guint8) (height >> (24 - 8 * i));
    }
    header[16] = 8;
    guint32 sum = (guint32) crc32(0, header + 4, 17);
    for (int i = 0; i < 4; i++) {
        header[21 + i] = (guint8) (sum >> (24 - 8 * i));
    }
    g_byte_array_append(out, header, sizeof header);
    z_stream stream = {0};
    g_assert_cmpint(deflateInit(&stream, 1), ==, Z_OK);
    gsize bound = deflateBound(&stream, ((uLong) width + 1) * height);
    g_autofree guint8 *data = g_malloc(bound);
    stream.next_out = data;
    stream.avail_out = (uInt) bound;
    for (guint32 y = 0; y < height; y++) {
        stream.next_in = row;
        stream.avail_in = width + 1;
        deflate(&stream, y + 1 == height ? Z_FINISH : Z_NO_FLUSH);
    }
    guint32 size = (guint32) stream.total_out;
    deflateEnd(&stream);
    guint8 head[8] = {0, 0, 0, 0, 'I', 'D', 'A', 'T'}, tail[4];
    sum = (guint32) crc32(crc32(0, head + 4, 4), data, size);
    for (int i = 0; i < 4; i++) {
        head[i] = (guint8) (size >> (24 - 8 * i));
        tail[i] = (guint8) (sum >> (24 - 8 * i));
    }
    g_byte_array_append(out, head, 8);
    g_byte_array_append(out, data, size);
    g_byte_array_append(out, tail, 4);
    g_byte_array_append(out, (const guint8 *) "\0\0\0\0IEND\256\102\140\202", 12);
    return g_byte_array_free_to_bytes(out);
}

// Large and long pictures are read; beyond the budget they are refused with both numbers,
// before memory is taken.
static void
test_hard_b23(void)
{
    static const guint32 sizes[][2] = {{6898, 9946}, {33000, 100}};
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(GBytes) bytes = make_huge(sizes[i][0], sizes[i][1]);
        g_autoptr(LimnImage) image = test_load_bytes(bytes, NULL);
        g_assert_cmpint(image->width, ==, (int) sizes[i][0]);
        g_assert_cmpint(image->height, ==, (int) sizes[i][1]);
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = make_huge(6000, 6000);
    limn_picture_set_budget(16 << 20);
    g_assert_null(limn_picture_load_bytes(bytes, "huge.png", NULL, &error));
    limn_picture_set_budget((guint64) 4 << 30);
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY);
    g_assert_nonnull(strstr(error->message, "huge.png: 6000 x 6000 pixels need"));
    g_assert_nonnull(strstr(error->message, "16 MiB"));
}

// Beyond the number of pixels that is ever read.
static void
test_hard_b24(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) small = make_huge(5000, 5000);
    gsize size;
    const guint8 *data = g_bytes_get_data(small, &size);
    g_autofree guint8 *copy = g_malloc0((gsize) 8 << 20);
    memcpy(copy, data, MIN(size, (gsize) 8 << 20));
    memcpy(copy + 16, "\0\1\0\0\0\1\0\0", 8); // 65536 x 65536
    g_autoptr(GBytes) bytes = g_bytes_new_static(copy, (gsize) 8 << 20);
    g_assert_null(limn_picture_load_bytes(bytes, "huge.png", NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY);
    g_assert_nonnull(strstr(error->message, "65536 x 65536"));
    g_assert_nonnull(strstr(error->message, "1073741824"));
}

static void
expect_path_error(const char *path, LimnErrorCode code, const char *part)
{
    g_autoptr(GError) error = NULL;
    LimnPictureInfo info;
    g_assert_null(limn_picture_load(path, NULL, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
    if (strstr(error->message, part) == NULL) {
        g_error("\"%s\" does not say \"%s\"", error->message, part);
    }
    g_clear_error(&error);
    g_assert_false(limn_picture_probe(path, &info, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
}

// An empty folder and one with every kind of broken item: the good ones are there, the
// broken ones give a reason each.
static void
test_hard_b26(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *empty = test_temporary_path("empty");
    g_assert_cmpint(g_mkdir(empty, 0777), ==, 0);
    g_auto(GStrv) none = limn_picture_list_folder(empty, &error);
    g_assert_no_error(error);
    g_assert_nonnull(none);
    g_assert_null(none[0]);

    g_autofree char *mixed = test_temporary_path("mixed");
    g_assert_cmpint(g_mkdir(mixed, 0777), ==, 0);
    g_autoptr(GBytes) indexed = make_indexed();
    g_autoptr(GBytes) jpeg = test_read("pictures/ycbcr-420.jpg");
    g_autofree char *good = write_bytes("mixed/good.png", indexed);
    g_autofree char *zero = test_write_file("mixed/zero.png", "", 0);
    g_autofree char *cut = test_write_file("mixed/cut.jpg", g_bytes_get_data(jpeg, NULL),
                                           g_bytes_get_size(jpeg) * 3 / 4);
    g_autofree char *text = test_write_file("mixed/text.png", "hello\n", 6);
    g_autofree char *closed = write_bytes("mixed/closed.png", indexed);
    g_assert_cmpint(g_chmod(closed, 0), ==, 0);
    g_autofree char *dangling = test_temporary_path("mixed/dangling.png");
    g_assert_cmpint(symlink("nowhere.png", dangling), ==, 0);
    g_auto(GStrv) list = limn_picture_list_folder(mixed, &error);
    g_assert_no_error(error);
    const char *const expected[] = {closed, cut, dangling, good, text, zero};
    g_assert_cmpuint(g_strv_length(list), ==, G_N_ELEMENTS(expected));
    for (gsize i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_assert_cmpstr(list[i], ==, expected[i]);
    }
    expect_path_error(zero, LIMN_ERROR_FORMAT, "is empty");
    expect_path_error(text, LIMN_ERROR_FORMAT, "found text");
    expect_path_error(dangling, LIMN_ERROR_IO, "dangling.png");
    g_assert_null(limn_picture_load(cut, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, "ends early"));
    if (access(closed, R_OK) != 0) { // root may read everything
        expect_path_error(closed, LIMN_ERROR_IO, "closed.png");
    }
    g_autoptr(LimnImage) image = test_load_path(good, NULL);
    g_assert_cmpint(image->height, ==, 2);
}

static void
test_file_kinds(void)
{
    g_autofree char *missing = test_temporary_path("missing.png");
    expect_path_error(missing, LIMN_ERROR_IO, "missing.png");
    g_autofree char *directory = test_temporary_path("folder.png");
    g_assert_cmpint(g_mkdir(directory, 0777), ==, 0);
    expect_path_error(directory, LIMN_ERROR_IO, "a directory");
    g_autofree char *pipe = test_temporary_path("pipe.png");
    g_assert_cmpint(mkfifo(pipe, 0666), ==, 0);
    expect_path_error(pipe, LIMN_ERROR_IO, "a pipe");
    expect_path_error("/dev/zero", LIMN_ERROR_IO, "a device");
    g_autofree char *loop = test_temporary_path("loop.png");
    g_assert_cmpint(symlink("loop.png", loop), ==, 0);
    expect_path_error(loop, LIMN_ERROR_IO, "loop.png");
}

static void
test_list(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = test_temporary_path("list");
    g_assert_cmpint(g_mkdir(folder, 0777), ==, 0);
    static const char *const wanted[] = {"B.JPG", "a.png", "b.jpeg", "é.webp", "ü.TIFF"};
    static const char *const others[] = {".hidden.png", "notes.txt", "png", "x.gif"};
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++) {
        g_autofree char *name = g_strconcat("list/", wanted[i], NULL);
        g_free(test_write_file(name, "x", 1));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(others); i++) {
        g_autofree char *name = g_strconcat("list/", others[i], NULL);
        g_free(test_write_file(name, "x", 1));
    }
    g_autofree char *below = test_temporary_path("list/below.png");
    g_autofree char *linked = test_temporary_path("list/linked.png");
    g_autofree char *pipe = test_temporary_path("list/pipe.png");
    g_autofree char *file_link = test_temporary_path("list/link.png");
    g_assert_cmpint(g_mkdir(below, 0777), ==, 0);
    g_assert_cmpint(symlink("..", linked), ==, 0); // a loop for whoever follows it
    g_assert_cmpint(symlink("a.png", file_link), ==, 0);
    g_assert_cmpint(mkfifo(pipe, 0666), ==, 0);
    g_auto(GStrv) list = limn_picture_list_folder(folder, &error);
    g_assert_no_error(error);
    static const char *const sorted[] = {"B.JPG",    "a.png",  "b.jpeg",
                                         "link.png", "é.webp", "ü.TIFF"};
    g_assert_cmpuint(g_strv_length(list), ==, G_N_ELEMENTS(sorted));
    for (gsize i = 0; i < G_N_ELEMENTS(sorted); i++) {
        g_autofree char *name = g_path_get_basename(list[i]);
        g_assert_cmpstr(name, ==, sorted[i]);
    }
    g_assert_null(limn_picture_list_folder(file_link, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
    g_clear_error(&error);
    g_assert_null(limn_picture_list_folder("/no/such/folder", &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_IO);
}

static void
test_extensions(void)
{
    static const char *const yes[] = {"a.png",  "A.JPG",  "x/y.jpeg", "t.tif",
                                      "t.TIFF", "w.webp", "d.svg",    "two.dots.png"};
    static const char *const no[] = {"png", ".png",   "a.gif", "a.png/b",
                                     "a.",  "a.pngx", ""};
    for (gsize i = 0; i < G_N_ELEMENTS(yes); i++) {
        g_assert_true(limn_picture_has_extension(yes[i]));
    }
    for (gsize i = 0; i < G_N_ELEMENTS(no); i++) {
        g_assert_false(limn_picture_has_extension(no[i]));
    }
}

static gboolean
sniff_nothing(const guint8 *data, gsize size)
{
    return size > 3 && memcmp(data, "none", 4) == 0;
}

static LimnImage *
load_nothing(GBytes *bytes, const char *name, LimnJob *job, GError **error)
{
    return limn_image_new(2, 1, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, error);
}

static gboolean
probe_nothing(GBytes *bytes, const char *name, LimnPictureInfo *info, GError **error)
{
    info->width = 2;
    info->height = 1;
    info->orientation = 1;
    return TRUE;
}

static void
test_reader(void)
{
    static const LimnPictureReader reader = {"nothing", sniff_nothing, load_nothing,
                                             probe_nothing};
    REFUSAL("none", LIMN_ERROR_FORMAT, "found text");
    for (int i = 0; i < 20; i++) {
        limn_picture_register_reader(&reader);
    }
    g_autoptr(GBytes) bytes = g_bytes_new_static("none", 4);
    g_autoptr(LimnImage) image = test_load_bytes(bytes, NULL);
    g_assert_cmpint(image->width, ==, 2);
    g_autofree char *path = write_bytes("x.none", bytes);
    LimnPictureInfo info;
    g_assert_true(limn_picture_probe(path, &info, NULL));
    g_assert_cmpstr(info.format, ==, "nothing");
    g_assert_cmpint(info.width, ==, 2);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/picture/refused-formats", test_refused_formats);
    g_test_add_func("/picture/not-pictures", test_not_pictures);
    g_test_add_func("/picture/file-kinds", test_file_kinds);
    g_test_add_func("/picture/list", test_list);
    g_test_add_func("/picture/extensions", test_extensions);
    g_test_add_func("/picture/reader", test_reader);
    g_test_add_func("/hard/B06-content-not-name", test_hard_b06);
    g_test_add_func("/hard/B22-odd-paths", test_hard_b22);
    g_test_add_func("/hard/B23-large-pictures", test_hard_b23);
    g_test_add_func("/hard/B24-beyond-the-limit", test_hard_b24);
    g_test_add_func("/hard/B26-broken-items", test_hard_b26);
    return g_test_run();
}
