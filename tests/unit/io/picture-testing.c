// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/unit/io/picture-testing.h"

#include <glib/gstdio.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/file.h"

static char *folder;

static void
remove_folder(void)
{
    limn_remove_tree(folder, NULL);
    g_free(folder);
}

char *
test_temporary_path(const char *name)
{
    if (folder == NULL) {
        g_autoptr(GError) error = NULL;
        folder = g_dir_make_tmp("limn-pictures-XXXXXX", &error);
        g_assert_no_error(error);
        atexit(remove_folder);
    }
    return g_build_filename(folder, name, NULL);
}

char *
test_write_file(const char *name, const void *data, gsize size)
{
    char *path = test_temporary_path(name);
    FILE *file =
        fopen(path, "wb"); // names of 255 bytes leave no room for a temporary one
    g_assert_nonnull(file);
    g_assert_cmpuint(fwrite(data, 1, size, file), ==, size);
    g_assert_cmpint(fclose(file), ==, 0);
    return path;
}

LimnImage *
test_load_bytes(GBytes *bytes, LimnJob *job)
{
    g_autoptr(GError) error = NULL;
    LimnImage *image = limn_picture_load_bytes(bytes, "test", job, &error);
    g_assert_no_error(error);
    g_assert_nonnull(image);
    return image;
}

LimnImage *
test_load_path(const char *path, LimnJob *job)
{
    g_autoptr(GError) error = NULL;
    LimnImage *image = limn_picture_load(path, job, &error);
    g_assert_no_error(error);
    g_assert_nonnull(image);
    return image;
}

GBytes *
test_read(const char *relative)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = test_path(relative);
    GBytes *bytes = limn_file_read(path, 0, &error);
    g_assert_no_error(error);
    return bytes;
}

void
expect_refusal(const void *data, gsize size, LimnErrorCode code, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new(data, size);
    g_assert_null(limn_picture_load_bytes(bytes, "odd.png", NULL, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
    if (!g_str_has_prefix(error->message, "odd.png: ") ||
        strstr(error->message, part) == NULL) {
        g_error("\"%s\" does not say \"%s\"", error->message, part);
    }
}

static void
load_anyhow(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new(data, size);
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(LimnImage) image = limn_picture_load_bytes(bytes, "cut", job, &error);
    if (image == NULL) {
        g_assert_true(error->domain == LIMN_ERROR);
        g_assert_true(g_str_has_prefix(error->message, "cut: "));
    } else {
        g_assert_no_error(error);
    }
}

void
check_damaged(GBytes *bytes, gsize step)
{
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    g_autofree guint8 *copy = g_malloc(size);
    for (gsize n = 0; n < size; n += step) {
        load_anyhow(data, n);
        static const guint8 damage[] = {0x00, 0xFF, 0x80};
        for (gsize i = 0; i < G_N_ELEMENTS(damage); i++) {
            memcpy(copy, data, size);
            copy[n] ^= damage[i] != 0 ? damage[i] : 0x01;
            load_anyhow(copy, size);
        }
    }
}

static void
append(png_structp png, png_bytep data, size_t size)
{
    g_byte_array_append(png_get_io_ptr(png), data, (guint) size);
}

static void
flush(png_structp png)
{
}

static int
png_channels(int type)
{
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    return channels[type];
}

static void
write_tags(png_structp png, png_infop info, const TestPng *description)
{
    if (description->n_palette > 0) {
        png_color colours[256] = {{0, 0, 0}};
        for (int i = 0; i < description->n_palette; i++) {
            const guint8 *entry = description->palette[i];
            colours[i] = (png_color){entry[0], entry[1], entry[2]};
        }
        png_set_PLTE(png, info, colours, description->n_palette);
    }
    if (description->n_alpha > 0) {
        png_byte alpha[256];
        memcpy(alpha, description->alpha, (gsize) description->n_alpha);
        png_set_tRNS(png, info, alpha, description->n_alpha, NULL);
    }
    if (description->key != NULL) {
        const guint16 *key = description->key;
        gboolean grey = description->type == PNG_COLOR_TYPE_GRAY;
        png_color_16 colour = {.gray = key[0],
                               .red = grey ? 0 : key[0],
                               .green = grey ? 0 : key[1],
                               .blue = grey ? 0 : key[2]};
        png_set_tRNS(png, info, NULL, 0, &colour);
    }
    if (description->gamma) {
        png_set_gAMA(png, info, 0.1);
    }
    if (description->exif != NULL) {
        png_bytep exif = g_memdup2(description->exif, description->exif_size);
        png_set_eXIf_1(png, info, (png_uint_32) description->exif_size, exif);
        g_free(exif);
    }
}

GBytes *
test_png(const TestPng *description)
{
    GByteArray *out = g_byte_array_new();
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, out, append, flush);
    png_set_IHDR(png, info, (png_uint_32) description->width,
                 (png_uint_32) description->height, description->bits, description->type,
                 description->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    write_tags(png, info, description);
    png_write_info(png, info);
    png_set_packing(png);
    gsize n = (gsize) description->width * (gsize) png_channels(description->type);
    g_autofree guint8 *row = g_malloc(2 * n);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++) {
        for (int y = 0; y < description->height; y++) {
            const guint16 *samples = description->samples + (gsize) y * n;
            for (gsize i = 0; i < n; i++) {
                if (description->bits == 16) {
                    row[2 * i] = (guint8) (samples[i] >> 8);
                    row[2 * i + 1] = (guint8) samples[i];
                } else {
                    row[i] = (guint8) samples[i];
                }
            }
            png_write_row(png, row);
        }
    }
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return g_byte_array_free_to_bytes(out);
}

static void
put(GByteArray *out, guint32 value, int size, gboolean big_endian)
{
    for (int i = 0; i < size; i++) {
        int shift = 8 * (big_endian ? size - 1 - i : i);
        guint8 byte = (guint8) (value >> shift);
        g_byte_array_append(out, &byte, 1);
    }
}

GBytes *
test_exif(int orientation, gboolean big_endian, gboolean with_prefix)
{
    GByteArray *out = g_byte_array_new();
    if (with_prefix) {
        g_byte_array_append(out, (const guint8 *) "Exif\0\0", 6);
    }
    g_byte_array_append(out, (const guint8 *) (big_endian ? "MM" : "II"), 2);
    put(out, 42, 2, big_endian);
    put(out, 8, 4, big_endian);
    put(out, 1, 2, big_endian);
    put(out, 0x0112, 2, big_endian);
    put(out, 3, 2, big_endian);
    put(out, 1, 4, big_endian);
    put(out, (guint32) orientation, 2, big_endian);
    put(out, 0, 2, big_endian);
    put(out, 0, 4, big_endian);
    return g_byte_array_free_to_bytes(out);
}
