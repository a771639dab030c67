// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>

#include "engine/base/array.h"
#include "engine/io/npy.h"
#include "tests/unit/loader-test.h"

// A .npy with that dict literal; `version` 1 to 3.
static GBytes *
build(int version, const char *dict, const void *data, gsize size)
{
    GString *file = g_string_new("\x93NUMPY");
    gsize length = strlen(dict);
    g_string_append_c(file, (char) version);
    g_string_append_c(file, 0);
    for (int i = 0; i < (version == 1 ? 2 : 4); i++)
        g_string_append_c(file, (char) (length >> (8 * i) & 0xff));
    g_string_append(file, dict);
    g_string_append_len(file, data, (gssize) size);
    return g_string_free_to_bytes(file);
}

static LimnArray *
load(int version, const char *dict, const void *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = build(version, dict, data, size);
    LimnArray *array = limn_npy_load_bytes(bytes, "test.npy", &error);
    g_assert_no_error(error);
    return array;
}

static void
refuse(const char *dict, gsize size, LimnErrorCode code, const char *text)
{
    static const guint8 zeros[256];
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = build(1, dict, zeros, size);
    g_assert_null(limn_npy_load_bytes(bytes, "test.npy", &error));
    assert_refused(&error, code, "test.npy: ", text, NULL);
}

static void
test_b49_types(void)
{
    static const struct {
        const char *descr;
        LimnDType dtype;
        guint8 bytes[8]; // of one element
        double value;
    } CASES[] = {
        {"<f4", LIMN_DTYPE_F32, {0, 0, 0xc0, 0x3f}, 1.5},
        {">f4", LIMN_DTYPE_F32, {0x3f, 0xc0}, 1.5},
        {"<f8", LIMN_DTYPE_F64, {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 1.5},
        {">f8", LIMN_DTYPE_F64, {0x3f, 0xf8}, 1.5},
        {"<f2", LIMN_DTYPE_F16, {0x00, 0x3e}, 1.5},
        {">f2", LIMN_DTYPE_F16, {0x3e, 0x00}, 1.5},
        {"|b1", LIMN_DTYPE_BOOL, {1}, 1},
        {"|i1", LIMN_DTYPE_I8, {0xfe}, -2},
        {"|u1", LIMN_DTYPE_U8, {0xfe}, 254},
        {"<i2", LIMN_DTYPE_I16, {0xfe, 0xff}, -2},
        {">i2", LIMN_DTYPE_I16, {0xff, 0xfe}, -2},
        {">u2", LIMN_DTYPE_U16, {0xff, 0xfe}, 65534},
        {"<i4", LIMN_DTYPE_I32, {0xfe, 0xff, 0xff, 0xff}, -2},
        {">i4", LIMN_DTYPE_I32, {0xff, 0xff, 0xff, 0xfe}, -2},
        {">u4", LIMN_DTYPE_U32, {0, 0, 1, 2}, 258},
        {"<i8", LIMN_DTYPE_I64, {2, 1}, 258},
        {">i8", LIMN_DTYPE_I64, {0, 0, 0, 0, 0, 0, 1, 2}, 258},
        {">u8", LIMN_DTYPE_U64, {0, 0, 0, 0, 0, 0, 1, 2}, 258},
        {"=f4", LIMN_DTYPE_F32, {0, 0, 0xc0, 0x3f}, 1.5},
        {"f4", LIMN_DTYPE_F32, {0, 0, 0xc0, 0x3f}, 1.5},
        {">i1", LIMN_DTYPE_I8, {0xfe}, -2},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autofree char *dict = g_strdup_printf(
            "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }", CASES[i].descr);
        g_autoptr(LimnArray) array =
            load(1, dict, CASES[i].bytes, limn_dtype_size(CASES[i].dtype));
        g_assert_cmpint(array->dtype, ==, CASES[i].dtype);
        g_assert_cmpint(array->rank, ==, 1);
        g_assert_cmpfloat(limn_array_get_double(array, 0), ==, CASES[i].value);
    }
}

static void
test_b49_fortran(void)
{
    // [[0, 1, 2], [3, 4, 5]] column by column, in double; big-endian i2 in three
    // dimensions.
    const double columns[] = {0, 3, 1, 4, 2, 5};
    g_autoptr(LimnArray) array =
        load(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", columns,
             sizeof columns);
    for (int i = 0; i < 6; i++)
        g_assert_cmpfloat(limn_array_f64(array)[i], ==, i);

    guint8 data[2 * 3 * 4 * 2];
    for (int a = 0; a < 2; a++)
        for (int b = 0; b < 3; b++)
            for (int c = 0; c < 4; c++) {
                int value = 1000 + a * 100 + b * 10 + c;
                int at = a + 2 * (b + 3 * c);
                data[2 * at] = (guint8) (value >> 8);
                data[2 * at + 1] = (guint8) value;
            }
    g_autoptr(LimnArray) three =
        load(2, "{'fortran_order': True, 'shape': (2, 3, 4), 'descr': '>i2'}", data,
             sizeof data);
    for (int i = 0; i < 24; i++)
        g_assert_cmpfloat(limn_array_get_double(three, i), ==,
                          1000 + i / 12 * 100 + i / 4 % 3 * 10 + i % 4);
}

static void
test_b49_shapes(void)
{
    const double value = 2.5;
    g_autoptr(LimnArray) scalar =
        load(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", &value, 8);
    g_assert_cmpint(scalar->rank, ==, 0);
    g_assert_cmpint(scalar->length, ==, 1);
    g_assert_cmpfloat(limn_array_get_double(scalar, 0), ==, 2.5);

    g_autoptr(LimnArray) none =
        load(3, "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }", "", 0);
    g_assert_cmpint(none->rank, ==, 2);
    g_assert_cmpint(none->length, ==, 0);
    g_assert_cmpint(none->shape[1], ==, 3);

    g_autoptr(LimnArray) fortran =
        load(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 0), }", "", 0);
    g_assert_cmpint(fortran->length, ==, 0);

    // As other writers format it: other quotes, blanks, long integers, no trailing comma.
    g_autoptr(LimnArray) odd =
        load(1, " {\"shape\":(2L , 2),\n\t'descr' : \"|u1\",'fortran_order':False}  \n",
             "abcd", 4);
    g_assert_cmpint(odd->shape[0], ==, 2);
    g_assert_cmpint(limn_array_u8(odd)[3], ==, 'd');
}

static void
test_b49_refused(void)
{
#define AFTER ", 'fortran_order': False, 'shape': (2,), }"
    refuse("{'descr': '|O'" AFTER, 16, LIMN_ERROR_UNSUPPORTED, "never loaded");
    refuse("{'descr': '<U4'" AFTER, 32, LIMN_ERROR_UNSUPPORTED, "strings");
    refuse("{'descr': '|S4'" AFTER, 8, LIMN_ERROR_UNSUPPORTED, "byte strings");
    refuse("{'descr': '<c8'" AFTER, 16, LIMN_ERROR_UNSUPPORTED, "complex");
    refuse("{'descr': '<M8[ns]'" AFTER, 16, LIMN_ERROR_UNSUPPORTED, "dates");
    refuse("{'descr': '<f16'" AFTER, 32, LIMN_ERROR_UNSUPPORTED, "unusual size");
    refuse("{'descr': [('x', '<f4')]" AFTER, 8, LIMN_ERROR_UNSUPPORTED, "structured");
    refuse("{'descr': '<q9'" AFTER, 8, LIMN_ERROR_FORMAT, "unknown element type");
    refuse("{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", 4,
           LIMN_ERROR_UNSUPPORTED, "more than 8 dimensions");
#undef AFTER
}

static void
test_malformed(void)
{
#define GOOD "'descr': '<f4', 'fortran_order': False, "
    static const struct {
        const char *dict, *text;
    } CASES[] = {
        {"", "expected {"},
        {"{", "expected a quoted string"},
        {"{" GOOD "}", "the keys descr"},
        {"{" GOOD "'shape': (2,)", "a comma or }"},
        {"{" GOOD "'shape': (2,)} import os", "nothing after the dict"},
        {"{" GOOD "'shape': (-2,)}", "a size of at least 0"},
        {"{" GOOD "'shape': (2)}", "a comma after the only size"},
        {"{" GOOD "'shape': 2}", "parentheses"},
        {"{" GOOD "'shape': (2 3)}", "a comma"},
        {"{" GOOD "'shape': (99999999999999999999,)}", "below 2^63"},
        {"{" GOOD "'shape': (9223372036854775807,3)}", "larger than any memory"},
        {"{" GOOD "'shape': (2,), 'descr': '<f4'}", "once"},
        {"{" GOOD "'shape': (2,), 'more': 1}", "the keys descr"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}", "True or False"},
        {"{'descr': __import__('os'), 'fortran_order': False, 'shape': (2,)}",
         "a quoted string"},
        {"{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}",
         "a short quoted string"},
        {"{" GOOD "'shape': (3,)}", "4 bytes short"},
        {"{" GOOD "'shape': (1,)}", "4 bytes follow"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++)
        refuse(CASES[i].dict, 8, LIMN_ERROR_FORMAT, CASES[i].text);
    refuse("{'descr': '|b1', 'fortran_order': False, 'shape': (256,)}", 255,
           LIMN_ERROR_FORMAT, "1 bytes short");
#undef GOOD
}

static void
refuse_bytes(const char *data, gsize size, LimnErrorCode code, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = g_bytes_new(data, size);
    g_assert_null(limn_npy_load_bytes(bytes, "x", &error));
    assert_refused(&error, code, text, NULL);
}

static void
test_frame(void)
{
    refuse_bytes("", 0, LIMN_ERROR_FORMAT, "too short");
    refuse_bytes("\x93NUMPY\x01\x00\x10", 9, LIMN_ERROR_FORMAT, "too short");
    refuse_bytes("\x93NUMPY\x02\x00\x10\x00\x00", 11, LIMN_ERROR_FORMAT, "too short");
    refuse_bytes("PK\x03\x04 no npy", 12, LIMN_ERROR_FORMAT, "not a .npy file");
    refuse_bytes("\x93NUMPY\x04\x00\x00\x00\x00\x00", 12, LIMN_ERROR_UNSUPPORTED, "4.0");
    refuse_bytes("\x93NUMPY\x01\x00\x10\x00{}", 12, LIMN_ERROR_FORMAT, "cut inside");
    refuse_bytes("\x93NUMPY\x02\x00\xff\xff\xff\xff{}", 14, LIMN_ERROR_FORMAT,
                 "4294967295");
    g_autofree char *wide = g_malloc0(12 + (2 << 20));
    memcpy(wide, "\x93NUMPY\x02\x00\x00\x00\x20\x00", 12);
    refuse_bytes(wide, 12 + (2 << 20), LIMN_ERROR_FORMAT, "at most 1048576");
}

static void
test_bool_values(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes =
        build(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }",
              "\x00\x01\x07", 3);
    g_assert_null(limn_npy_load_bytes(bytes, "x", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "element 2", "is 7", NULL);
}

// save -> load gives the same bits; the encoding is what NumPy writes.
static void
test_round_trip(void)
{
    g_autofree char *folder = make_folder();
    for (int dtype = LIMN_DTYPE_F32; dtype <= LIMN_DTYPE_U64; dtype++) {
        const gint64 shape[] = {3, 1, 5};
        g_autoptr(GError) error = NULL;
        if (dtype == LIMN_DTYPE_BF16)
            continue;
        for (int rank = 0; rank <= 3; rank++) {
            g_autoptr(LimnArray) array = limn_array_new(dtype, rank, shape, &error);
            gsize size = array->length * limn_dtype_size(dtype);
            for (gsize i = 0; i < size; i++)
                ((guint8 *) array->data)[i] =
                    dtype == LIMN_DTYPE_BOOL ? i % 2 : (guint8) (i * 37 + rank);
            g_autofree char *path = g_build_filename(folder, "a.npy", NULL);
            g_assert_true(limn_npy_save(array, path, &error));
            g_assert_no_error(error);
            g_autoptr(LimnArray) back = limn_npy_load(path, &error);
            g_assert_no_error(error);
            g_assert_cmpint(back->dtype, ==, dtype);
            g_assert_true(limn_array_has_shape(back, rank, shape));
            g_assert_cmpmem(back->data, size, array->data, size);
            g_autoptr(GBytes) encoded = limn_npy_encode(array, &error);
            g_autoptr(GBytes) file = limn_file_read(path, 0, &error);
            g_assert_true(g_bytes_equal(encoded, file));
            g_assert_cmpuint((g_bytes_get_size(file) - size) % 64, ==, 0);
        }
    }
    remove_folder(folder);
}

static void
test_written_header(void)
{
    static const struct {
        int rank;
        const char *dict;
    } CASES[] = {
        {0, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }"},
        {1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"},
        {2, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"},
    };
    const gint64 shape[] = {2, 3};
    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnArray) array =
            limn_array_new(LIMN_DTYPE_F32, CASES[i].rank, shape, &error);
        g_autoptr(GBytes) bytes = limn_npy_encode(array, &error);
        const char *data = g_bytes_get_data(bytes, NULL);
        g_assert_cmpmem(data, 10, "\x93NUMPY\x01\x00\x76\x00", 10);
        g_assert_cmpmem(data + 10, strlen(CASES[i].dict), CASES[i].dict,
                        strlen(CASES[i].dict));
        g_assert_cmpint(data[127], ==, '\n');
        g_assert_cmpint(data[126], ==, ' ');
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) bf16 = limn_array_new(LIMN_DTYPE_BF16, 1, shape, &error);
    g_assert_null(limn_npy_encode(bf16, &error));
    assert_refused(&error, LIMN_ERROR_UNSUPPORTED, "bf16", NULL);
}

static void
test_files(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = make_folder();
    g_autofree char *missing = g_build_filename(folder, "none.npy", NULL);
    g_assert_null(limn_npy_load(missing, &error));
    assert_refused(&error, LIMN_ERROR_IO, "none.npy", NULL);
    g_assert_null(limn_npy_load(folder, &error));
    assert_refused(&error, LIMN_ERROR_IO, "directory", NULL);
    g_autofree char *empty = write_file(folder, "empty.npy", "", 0);
    g_assert_null(limn_npy_load(empty, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "empty.npy", "too short", NULL);
    remove_folder(folder);

    g_autofree char *golden = data_path("golden/grad_eclip/metrics/heat.npy");
    g_autoptr(LimnArray) heat = limn_npy_load(golden, &error);
    g_assert_no_error(error);
    g_assert_cmpint(heat->dtype, ==, LIMN_DTYPE_F32);
    g_assert_cmpint(heat->rank, ==, 2);
    for (gint64 i = 0; i < heat->length; i++)
        g_assert_true(isfinite(limn_array_f32(heat)[i]));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hard/B49-npy-types", test_b49_types);
    g_test_add_func("/hard/B49-npy-fortran", test_b49_fortran);
    g_test_add_func("/hard/B49-npy-shapes", test_b49_shapes);
    g_test_add_func("/hard/B49-npy-refused", test_b49_refused);
    g_test_add_func("/npy/malformed", test_malformed);
    g_test_add_func("/npy/frame", test_frame);
    g_test_add_func("/npy/bool-values", test_bool_values);
    g_test_add_func("/npy/round-trip", test_round_trip);
    g_test_add_func("/npy/written-header", test_written_header);
    g_test_add_func("/npy/files", test_files);
    return g_test_run();
}
