// SPDX-License-Identifier: GPL-3.0-or-later

#include <zlib.h>

#include "engine/text/gzip.h"
#include "engine/text/prompts.h"
#include "tests/unit/loader-test.h"

static void
check(const char *data, gsize size, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) lines = limn_prompts_parse(data, size, "prompts.txt", &error);
    g_assert_no_error(error);
    g_autofree char *joined = g_strjoinv("|", lines);
    g_assert_cmpstr(joined, ==, expected);
}

static void
refuse(const char *data, gsize size, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_prompts_parse(data, size, "prompts.txt", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "prompts.txt: ", text, NULL);
}

#define TEXT(literal) literal, sizeof(literal) - 1

static void
test_prompts(void)
{
    check(TEXT("a dog\na cat\n"), "a dog|a cat");
    check(TEXT("a dog\r\n\r\n  a cat \t\r\n"), "a dog|a cat");
    check(TEXT("a dog\ra cat"), "a dog|a cat");
    check(TEXT("\xef\xbb\xbf"
               "caf\xc3\xa9\n\n"),
          "caf\u00e9");
    check(TEXT("\xff\xfe"
               "a\0\xe9\0\n\0b\0"),
          "a\u00e9|b");
    check(TEXT("\xfe\xff"
               "\0a\0\r\0\n\xd8\x3d\xde\x00"),
          "a|\U0001f600");
    refuse("", 0, "no prompt");
    refuse(TEXT(" \n\r\n"), "no prompt");
    refuse(TEXT("\xff\xfe"), "no prompt");
    refuse(TEXT("good\nb\xe4"
                "d\n"),
           "line 2 is not valid UTF-8 (found 0xe4 at its byte 2)");
    refuse(TEXT("good\r\nx\0y\n"), "line 2");
    refuse(TEXT("\xff\xfe"
                "a"),
           "UTF-16");
    refuse(TEXT("\xff\xfe"
                "\x00\xd8"),
           "UTF-16");
}

static void
test_files(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = make_folder();
    g_autofree char *path = write_file(folder, "p.txt", "x\ny\n", 4);
    g_auto(GStrv) lines = limn_prompts_load(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(g_strv_length(lines), ==, 2);
    g_assert_null(limn_prompts_load(folder, &error));
    assert_refused(&error, LIMN_ERROR_IO, "directory", NULL);
    g_autofree char *large = g_build_filename(folder, "large.txt", NULL);
    g_assert_true(g_file_set_contents(large, "", 0, NULL));
    g_assert_cmpint(truncate(large, LIMN_PROMPTS_MAX_FILE + 1), ==, 0);
    g_assert_null(limn_prompts_load(large, &error));
    g_assert_nonnull(error);
    remove_folder(folder);
}

static GBytes *
compress_data(const void *data, gsize size)
{
    gsize capacity = size + 4096;
    guint8 *out = g_malloc(capacity);
    z_stream stream = {.next_in = (Bytef *) (guintptr) data,
                       .avail_in = (uInt) size,
                       .next_out = out,
                       .avail_out = (uInt) capacity};
    g_assert_cmpint(
        deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), ==,
        Z_OK);
    g_assert_cmpint(deflate(&stream, Z_FINISH), ==, Z_STREAM_END);
    gsize written = stream.total_out;
    deflateEnd(&stream);
    return g_bytes_new_take(out, written);
}

static void
test_gzip(void)
{
    const gsize n = 3 << 20;
    g_autoptr(GError) error = NULL;
    g_autofree guint8 *data = g_malloc(n);
    for (gsize i = 0; i < n; i++)
        data[i] = (guint8) (i * i >> 7);
    g_autoptr(GBytes) packed = compress_data(data, n);
    gsize size;
    const guint8 *bytes = g_bytes_get_data(packed, &size);
    g_assert_true(limn_gzip_is(bytes, size));
    g_autoptr(GBytes) back = limn_gunzip(bytes, size, n, "x.gz", &error);
    g_assert_no_error(error);
    g_assert_cmpmem(g_bytes_get_data(back, NULL), g_bytes_get_size(back), data, n);
    g_assert_null(limn_gunzip(bytes, size, n - 1, "x.gz", &error));
    assert_refused(&error, LIMN_ERROR_MEMORY, "x.gz: ", "3145727", NULL);
    g_assert_null(limn_gunzip(bytes, size - 9, n, "x.gz", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "cut", NULL);
    g_autofree guint8 *broken = g_memdup2(bytes, size);
    broken[size - 6] ^= 1; // the checksum
    g_assert_null(limn_gunzip(broken, size, n, "x.gz", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "damaged", NULL);
    g_assert_null(limn_gunzip("no", 2, n, "x.gz", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "not a gzip file", NULL);

    // Two members, as when files are joined; nothing but members may follow.
    GByteArray *joined = g_byte_array_new();
    g_byte_array_append(joined, bytes, (guint) size);
    g_byte_array_append(joined, bytes, (guint) size);
    g_autoptr(GBytes) both =
        limn_gunzip(joined->data, joined->len, 2 * n, "x.gz", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(g_bytes_get_size(both), ==, 2 * n);
    g_byte_array_append(joined, (const guint8 *) "junk", 4);
    g_assert_null(limn_gunzip(joined->data, joined->len, 2 * n, "x.gz", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "damaged", NULL);
    g_byte_array_unref(joined);
    g_autoptr(GBytes) none = compress_data("", 0);
    bytes = g_bytes_get_data(none, &size);
    g_autoptr(GBytes) empty = limn_gunzip(bytes, size, 0, "x.gz", &error);
    g_assert_no_error(error);
    g_assert_cmpuint(g_bytes_get_size(empty), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/prompts/parse", test_prompts);
    g_test_add_func("/prompts/files", test_files);
    g_test_add_func("/gzip/unpack", test_gzip);
    return g_test_run();
}
