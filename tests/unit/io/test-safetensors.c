// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>

#include "engine/io/safetensors.h"
#include "tests/unit/loader-test.h"

// A file of that header text (as it is) and data.
static GBytes *
build(const char *header, const void *data, gsize size)
{
    GString *file = g_string_new(NULL);
    guint64 length = strlen(header);
    for (int i = 0; i < 8; i++)
        g_string_append_c(file, (char) (length >> (8 * i) & 0xff));
    g_string_append(file, header);
    g_string_append_len(file, data, (gssize) size);
    return g_string_free_to_bytes(file);
}

static LimnSafetensors *
open_text(const char *header, const void *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = build(header, data, size);
    LimnSafetensors *st = limn_safetensors_open_bytes(bytes, "w.safetensors", &error);
    g_assert_no_error(error);
    return st;
}

static void
refuse(const char *header, gsize size, LimnErrorCode code, const char *text,
       const char *more)
{
    static const guint8 zeros[4096];
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = build(header, zeros, size);
    g_assert_null(limn_safetensors_open_bytes(bytes, "w.safetensors", &error));
    assert_refused(&error, code, "w.safetensors: ", text, more, NULL);
}

static void
refuse_bytes(GBytes *bytes, LimnErrorCode code, const char *text, const char *more)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_safetensors_open_bytes(bytes, "w.safetensors", &error));
    assert_refused(&error, code, "w.safetensors: ", text, more, NULL);
}

#define A_4 "\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16]}"
#define B_2 "\"b\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[16,24]}"

static void
test_b36_truncated(void)
{
    static const char POINTER[] = "version https://git-lfs.example/spec/v1\n"
                                  "oid sha256:0123456789abcdef\nsize 605247071\n";
    static const char HEADER[] = "{" A_4 "," B_2 "}";
    const gsize header_end = 8 + strlen(HEADER);
    static const guint8 data[24];
    g_autoptr(GBytes) pointer = BYTES(POINTER);
    refuse_bytes(pointer, LIMN_ERROR_FORMAT, "Git LFS pointer, not weights", "605247071");

    g_autoptr(GBytes) good = build(HEADER, data, sizeof data);
    for (gsize cut = 0; cut < 8; cut++) {
        g_autoptr(GBytes) bytes = g_bytes_new_from_bytes(good, 0, cut);
        refuse_bytes(bytes, LIMN_ERROR_FORMAT, "at least 8", NULL);
    }
    for (gsize cut = 8; cut < header_end; cut++) {
        g_autoptr(GBytes) bytes = g_bytes_new_from_bytes(good, 0, cut);
        g_autofree char *missing = g_strdup_printf("%zu bytes short", header_end - cut);
        refuse_bytes(bytes, LIMN_ERROR_FORMAT, "cut inside its header", missing);
    }
    for (gsize cut = header_end; cut < header_end + 24; cut++) {
        g_autoptr(GBytes) bytes = g_bytes_new_from_bytes(good, 0, cut);
        g_autofree char *missing =
            g_strdup_printf("%zu bytes short", header_end + 24 - cut);
        refuse_bytes(bytes, LIMN_ERROR_FORMAT,
                     cut < header_end + 16 ? "tensor \"a\"" : "tensor \"b\"", missing);
    }
    refuse(HEADER, 27, LIMN_ERROR_FORMAT, "3 bytes after the data of the last tensor",
           "\"b\"");
    refuse("{}", 5, LIMN_ERROR_FORMAT, "5 bytes after", "belong to no tensor");
}

static void
test_b37_duplicates(void)
{
    refuse("{" A_4 ",\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]}}",
           24, LIMN_ERROR_FORMAT, "tensor \"a\"", "twice");
    refuse("{\"\\u0061\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[16,24]}," A_4
           "}",
           24, LIMN_ERROR_FORMAT, "tensor \"a\"", "twice");
    refuse("{\"a\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":["
           "0,16]}}",
           16, LIMN_ERROR_FORMAT, "tensor \"a\"", "dtype is given twice");
    refuse("{\"__metadata__\":{},\"__metadata__\":{}}", 0, LIMN_ERROR_FORMAT,
           "__metadata__ twice", NULL);
    refuse("{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, LIMN_ERROR_FORMAT,
           "\"k\" twice", NULL);
}

static void
test_b38_header_only(void)
{
    static const char *const EMPTY[] = {
        "{}",
        "{}   ",
        "{ }\n",
        "{\"__metadata__\":{}}",
        "{\"__metadata__\":{\"format\":\"pt\"}}      ",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(EMPTY); i++) {
        g_autoptr(LimnSafetensors) st = open_text(EMPTY[i], "", 0);
        g_assert_cmpuint(limn_safetensors_n_tensors(st), ==, 0);
        g_assert_null(limn_safetensors_find(st, "a"));
        g_assert_cmpstr(limn_safetensors_get_metadata(st, "format"), ==,
                        i == 4 ? "pt" : NULL);
    }
    static const char *const MALFORMED[] = {
        "",
        "   ",
        "{",
        "{}}",
        "[]",
        "null",
        "{\"a\"}",
        "{\"a\":}",
        "{,}",
        "{\"a\":{}",
        "{" A_4 ",}",
        "{" A_4 " " B_2 "}",
        "{\"a\":[]}",
        "{}\n{}",
        "{} x",
        "{'a':{}}",
        "{\"__metadata__\":[]}",
        "{\"__metadata__\":{\"k\":1}}",
        "{\"__metadata__\":null}",
        "{\"a\xff\":{}}",
        "{\"a\\u0000\":{}}",
        "{\"a\\ud800\":{}}",
        "{\"a\\x\":{}}",
        "{\"a\n\":{}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[04],\"data_offsets\":[0,16]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4.0],\"data_offsets\":[0,16]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4e0],\"data_offsets\":[0,16]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[-4],\"data_offsets\":[0,16]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":4,\"data_offsets\":[0,16]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[0,16,16]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[16]}}",
        "{\"a\":{\"dtype\":1,\"shape\":[4],\"data_offsets\":[0,16]}}",
        "{\"a\":{\"dtype\":\"F32\",\"shape\":[4]}}",
        "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,16]}}",
        "{\"a\":{\"shape\":[4],\"data_offsets\":[0,16]}}",
        "{\"a\":{\"dtype\":\"X1\",\"shape\":[4],\"data_offsets\":[0,16]}}",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(MALFORMED); i++)
        refuse(MALFORMED[i], 16, LIMN_ERROR_FORMAT, "", NULL);
    // Unknown members of a tensor are passed over, whatever they hold.
    g_autoptr(LimnSafetensors) st =
        open_text("{\"a\":{\"more\":{\"x\":[1,-2.5e3,null,true,\"\\n\"]},\"dtype\":"
                  "\"U8\",\"shape\":[],"
                  "\"data_offsets\":[0,1]}}",
                  "\x2a", 1);
    g_assert_cmpuint(limn_safetensors_n_tensors(st), ==, 1);
    g_autofree char *deep = g_strnfill(100000, '[');
    g_autofree char *header =
        g_strdup_printf("{\"a\":{\"more\":%s,\"dtype\":\"U8\"}}", deep);
    refuse(header, 0, LIMN_ERROR_FORMAT, "nested less deeply", NULL);
}

static void
test_b39_unaligned(void)
{
    static const float VALUES[4] = {1.5f, -2, 3, 1e30f};
    for (int pad = 0; pad < 9; pad++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *blanks = g_strnfill(pad, ' ');
        g_autofree char *header = g_strconcat("{" A_4 "}", blanks, NULL);
        g_autoptr(LimnSafetensors) st = open_text(header, VALUES, sizeof VALUES);
        g_autoptr(LimnArray) a = limn_safetensors_get(st, "a", &error);
        g_assert_no_error(error);
        g_assert_cmpuint((guintptr) a->data % sizeof(float), ==, 0);
        for (int i = 0; i < 4; i++)
            g_assert_cmpfloat(limn_array_f32(a)[i], ==, VALUES[i]);
    }
    // Behind a tensor of one byte every other one lies unaligned.
    guint8 data[17] = {9};
    g_autoptr(GError) error = NULL;
    memcpy(data + 1, VALUES, sizeof VALUES);
    g_autoptr(LimnSafetensors) st =
        open_text("{\"a\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[1,17]},"
                  "\"c\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
                  data, sizeof data);
    g_autoptr(LimnArray) a = limn_safetensors_get(st, "a", &error);
    g_assert_cmpfloat(limn_array_f32(a)[3], ==, 1e30f);
}

static void
test_b40_large_header(void)
{
    g_autoptr(GBytes) claim = BYTES("\x00\x00\x00\x00\x00\x00\x00\x80{}");
    refuse_bytes(claim, LIMN_ERROR_FORMAT, "9223372036854775808", "134217728");
    g_autoptr(GBytes) above = BYTES("\x01\x00\x00\x08\x00\x00\x00\x00{}");
    refuse_bytes(above, LIMN_ERROR_FORMAT, "134217729", "134217728");

    // 1.3 million tensors of one byte: linear time, or this would not end.
    const guint n = 1300000;
    g_autoptr(GError) error = NULL;
    GString *header = g_string_new("{");
    for (guint i = 0; i < n; i++)
        g_string_append_printf(
            header,
            "%s\"model.layers.%u.weight\":{\"dtype\":\"U8\",\"shape\":[1],"
            "\"data_offsets\":[%u,%u]}",
            i > 0 ? "," : "", i, i, i + 1);
    g_string_append_c(header, '}');
    while (header->len < 120 << 20)
        g_string_append(header, "                                                      ");
    g_autofree guint8 *data = g_malloc0(n);
    data[n - 1] = 77;
    g_autoptr(LimnSafetensors) st = open_text(header->str, data, n);
    g_string_free(header, TRUE);
    g_assert_cmpuint(limn_safetensors_n_tensors(st), ==, n);
    g_autoptr(LimnArray) last =
        limn_safetensors_get(st, "model.layers.1299999.weight", &error);
    g_assert_no_error(error);
    g_assert_cmpint(limn_array_u8(last)[0], ==, 77);
    g_assert_null(limn_safetensors_find(st, "model.layers.1300000.weight"));
}

static void
test_b41_offsets(void)
{
#define TENSOR(name, shape, begin, end)                                                  \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" #begin      \
    "," #end "]}"
    refuse("{" TENSOR("a", "[4]", 16, 0) "}", 16, LIMN_ERROR_FORMAT, "tensor \"a\"",
           "end before that");
    refuse("{" TENSOR("a", "[4]", 16, 32) "}", 16, LIMN_ERROR_FORMAT, "tensor \"a\"",
           "hole of 16");
    refuse("{" TENSOR("a", "[8]", 0, 32) "}", 16, LIMN_ERROR_FORMAT, "tensor \"a\"",
           "16 bytes short");
    refuse("{" TENSOR("a", "[3]", 0, 16) "}", 16, LIMN_ERROR_FORMAT, "tensor \"a\"",
           "shape [3] of F32 takes 12 bytes, but its data_offsets span 16");
    refuse("{" TENSOR("a", "[4294967296,4294967296,4294967296]", 0, 16) "}", 16,
           LIMN_ERROR_FORMAT, "tensor \"a\"", "larger than any memory");
    refuse("{" TENSOR("a", "[4611686018427387904,1]", 0, 0) "}", 0, LIMN_ERROR_FORMAT,
           "tensor \"a\"", "larger than any memory");
    refuse("{" TENSOR("a", "[9223372036854775808]", 0, 16) "}", 16, LIMN_ERROR_FORMAT,
           "tensor \"a\"", "2^63");
    refuse("{" TENSOR("a", "[4]", 0, 18446744073709551615) "}", 16, LIMN_ERROR_FORMAT,
           "tensor \"a\"", "2^63");
    refuse("{" TENSOR("a", "[4]", -16, 0) "}", 16, LIMN_ERROR_FORMAT, "tensor \"a\"",
           NULL);
    refuse("{" TENSOR("a", "[4]", 0, 16) "," TENSOR("b", "[4]", 12, 28) "}", 28,
           LIMN_ERROR_FORMAT, "tensor \"b\"", "overlap those of \"a\"");
    refuse("{" TENSOR("b", "[4]", 0, 16) "," TENSOR("a", "[4]", 0, 16) "}", 16,
           LIMN_ERROR_FORMAT, "overlap those of", NULL);
    refuse("{" TENSOR("a", "[4]", 0, 16) "," TENSOR("b", "[2]", 20, 28) "}", 28,
           LIMN_ERROR_FORMAT, "tensor \"b\"", "hole of 4 bytes");
    refuse("{" TENSOR("a", "[4]", 0, 9223372036854775807) "}", 16, LIMN_ERROR_FORMAT,
           "tensor \"a\"", NULL);
    refuse("{" TENSOR("a", "[1,1,1,1,1,1,1,1,1]", 0, 4) "}", 4, LIMN_ERROR_UNSUPPORTED,
           "tensor \"a\"", "more than 8 dimensions");
    // Any order in the header, and tensors without elements, are fine.
    g_autoptr(LimnSafetensors) st =
        open_text("{" TENSOR("b", "[2]", 8, 16) "," TENSOR("e", "[0,7]", 8, 8) "," TENSOR(
                      "a", "[2]", 0, 8) "," TENSOR("f", "[0]", 16, 16) "}",
                  "0123456789abcdef", 16);
    g_assert_cmpstr(limn_safetensors_get_info(st, 0)->name, ==, "b");
    g_assert_cmpint(limn_safetensors_find(st, "e")->shape[1], ==, 7);
#undef TENSOR
}

static void
test_b42_types(void)
{
    static const guint16 BF16[] = {0x3fc0, 0xff80, 0x0001, 0x7fc0};
    static const guint16 F16[] = {0x3e00, 0x7c00, 0x0001, 0xfc00};
    guint8 data[16 + 16 + 2];
    memcpy(data, BF16, 8);
    memcpy(data + 8, F16, 8);
    memset(data + 16, 0, 16);
    data[16] = 5;
    data[31] = 0x80;
    data[32] = 1;
    data[33] = 0;
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnSafetensors) st = open_text(
        "{\"bf\":{\"dtype\":\"BF16\",\"shape\":[4],\"data_offsets\":[0,8]},"
        "\"h\":{\"dtype\":\"F16\",\"shape\":[2,2],\"data_offsets\":[8,16]},"
        "\"position_ids\":{\"dtype\":\"I64\",\"shape\":[1,2],\"data_offsets\":[16,32]},"
        "\"mask\":{\"dtype\":\"BOOL\",\"shape\":[2],\"data_offsets\":[32,34]}}",
        data, sizeof data);
    g_autoptr(LimnArray) bf = limn_safetensors_get(st, "bf", &error);
    g_autoptr(LimnArray) wide = limn_array_to_f32(bf, &error);
    g_assert_no_error(error);
    const float *v = limn_array_f32(wide);
    g_assert_true(v[0] == 1.5f && v[1] == -INFINITY && isnan(v[3]));
    g_assert_cmpfloat(limn_array_get_double(bf, 2), ==, ldexp(1, -133));
    g_autoptr(LimnArray) h = limn_safetensors_get(st, "h", &error);
    g_autoptr(LimnArray) wide_h = limn_array_to_f32(h, &error);
    v = limn_array_f32(wide_h);
    g_assert_true(v[0] == 1.5f && v[1] == INFINITY && v[2] == ldexpf(1, -24) &&
                  v[3] == -INFINITY);
    g_autoptr(LimnArray) ids = limn_safetensors_get(st, "position_ids", &error);
    g_assert_cmpint(limn_array_i64(ids)[0], ==, 5);
    g_assert_cmpint(limn_array_i64(ids)[1], ==, G_MININT64);
    g_autoptr(LimnArray) mask = limn_safetensors_get(st, "mask", &error);
    g_assert_cmpint(mask->dtype, ==, LIMN_DTYPE_BOOL);
    g_assert_cmpfloat(limn_array_get_double(mask, 0), ==, 1);

    refuse("{\"w\":{\"dtype\":\"F8_E4M3\",\"shape\":[4],\"data_offsets\":[0,4]}}", 4,
           LIMN_ERROR_UNSUPPORTED, "tensor \"w\"", "F8_E4M3 is not supported");
}

static void
test_scalar(void)
{
    const float value = 4.6052f;
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnSafetensors) st = open_text(
        "{\"logit_scale\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}",
        &value, 4);
    const LimnTensorInfo *info = limn_safetensors_find(st, "logit_scale");
    g_assert_cmpint(info->rank, ==, 0);
    g_assert_cmpstr(info->file, ==, "w.safetensors");
    g_autoptr(LimnArray) array = limn_safetensors_get(st, "logit_scale", &error);
    g_assert_cmpint(array->length, ==, 1);
    g_assert_cmpfloat(limn_array_f32(array)[0], ==, value);
    g_assert_null(limn_safetensors_get(st, "logit_bias", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "w.safetensors", "\"logit_bias\"", NULL);
}

// An array keeps the mapping alive.
static void
test_lifetime(void)
{
    g_autoptr(GError) error = NULL;
    LimnSafetensors *st = open_text("{" A_4 "}", "0123456789abcdef", 16);
    g_autoptr(LimnArray) a = limn_safetensors_get(st, "a", &error);
    LimnSafetensors *again = limn_safetensors_ref(st);
    limn_safetensors_unref(st);
    limn_safetensors_unref(again);
    g_assert_cmpmem(a->data, 16, "0123456789abcdef", 16);
}

static void
test_write(void)
{
    static const LimnDType TYPES[] = {LIMN_DTYPE_F32,  LIMN_DTYPE_F64, LIMN_DTYPE_F16,
                                      LIMN_DTYPE_BF16, LIMN_DTYPE_I64, LIMN_DTYPE_I32,
                                      LIMN_DTYPE_U8,   LIMN_DTYPE_BOOL};
    static const char *const METADATA[] = {"format", "pt", "quoted \"key\"",
                                           "line\nbreak \u00e9", NULL};
    const gint64 shape[] = {3, 5};
    g_autofree char *folder = make_folder();
    g_autofree char *path = g_build_filename(folder, "out.safetensors", NULL);
    g_autofree char *second = g_build_filename(folder, "again.safetensors", NULL);
    g_autoptr(GError) error = NULL;
    LimnTensorEntry entries[G_N_ELEMENTS(TYPES)];
    for (gsize i = 0; i < G_N_ELEMENTS(TYPES); i++) {
        LimnArray *array = limn_array_new(TYPES[i], (int) (i % 3), shape, &error);
        for (gsize k = 0; k < array->length * limn_dtype_size(TYPES[i]); k++)
            ((guint8 *) array->data)[k] = TYPES[i] == LIMN_DTYPE_BOOL ? k % 2 : k * 7 + i;
        entries[i].name = i == 0 ? "odd \"name\" \\ \u00fc\t" : limn_dtype_name(TYPES[i]);
        entries[i].array = array;
    }
    g_assert_true(
        limn_safetensors_save(path, entries, G_N_ELEMENTS(TYPES), METADATA, &error));
    g_assert_no_error(error);
    g_assert_true(
        limn_safetensors_save(second, entries, G_N_ELEMENTS(TYPES), METADATA, &error));
    g_autoptr(GBytes) bytes = limn_file_read(path, 0, &error);
    g_autoptr(GBytes) same = limn_file_read(second, 0, &error);
    g_assert_true(g_bytes_equal(bytes, same));
    g_assert_cmpint(((const char *) g_bytes_get_data(bytes, NULL))[0] % 8, ==, 0);

    g_autoptr(LimnSafetensors) st = limn_safetensors_open(path, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(limn_safetensors_get_metadata(st, "quoted \"key\""), ==,
                    "line\nbreak \u00e9");
    for (gsize i = 0; i < G_N_ELEMENTS(TYPES); i++) {
        const LimnArray *array = entries[i].array;
        gsize size = array->length * limn_dtype_size(TYPES[i]);
        g_assert_cmpstr(limn_safetensors_get_info(st, i)->name, ==, entries[i].name);
        g_autoptr(LimnArray) back = limn_safetensors_get(st, entries[i].name, &error);
        g_assert_no_error(error);
        g_assert_cmpint(back->dtype, ==, TYPES[i]);
        g_assert_true(limn_array_has_shape(back, array->rank, array->shape));
        g_assert_cmpmem(back->data, size, array->data, size);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(TYPES); i++) {
        LimnArray *array = (LimnArray *) (guintptr) entries[i].array;
        limn_array_unref(array);
    }
    remove_folder(folder);
}

static void
test_write_refused(void)
{
    g_autofree char *folder = make_folder();
    g_autofree char *path = g_build_filename(folder, "out.safetensors", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) array = limn_array_new_f32_1d(2, &error);
    LimnTensorEntry twice[] = {{"a", array}, {"a", array}};
    g_assert_false(limn_safetensors_save(path, twice, 2, NULL, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "\"a\"", NULL);
    LimnTensorEntry reserved[] = {{"__metadata__", array}};
    g_assert_false(limn_safetensors_save(path, reserved, 1, NULL, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "__metadata__", NULL);
    LimnTensorEntry invalid[] = {{"a\xff", array}};
    g_assert_false(limn_safetensors_save(path, invalid, 1, NULL, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "UTF-8", NULL);
    g_assert_false(g_file_test(path, G_FILE_TEST_EXISTS));

    LimnTensorEntry good[] = {{"a", array}};
    g_autofree char *nowhere = g_build_filename(folder, "none", "out.safetensors", NULL);
    g_assert_false(limn_safetensors_save(nowhere, good, 1, NULL, &error));
    assert_refused(&error, LIMN_ERROR_OUTPUT, "none", NULL);
    g_assert_true(limn_safetensors_save(path, NULL, 0, NULL, &error));
    g_autoptr(LimnSafetensors) st = limn_safetensors_open(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(limn_safetensors_n_tensors(st), ==, 0);
    remove_folder(folder);
}

static void
test_golden_file(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = data_path("golden/grad_eclip/case_a/hf/model.safetensors");
    g_autoptr(LimnSafetensors) st = limn_safetensors_open(path, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(limn_safetensors_n_tensors(st), >, 10);
    for (guint i = 0; i < limn_safetensors_n_tensors(st); i++) {
        const LimnTensorInfo *info = limn_safetensors_get_info(st, i);
        g_autoptr(LimnArray) array = limn_safetensors_get(st, info->name, &error);
        g_assert_no_error(error);
        g_assert_true(limn_array_has_shape(array, info->rank, info->shape));
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hard/B36-truncated-download", test_b36_truncated);
    g_test_add_func("/hard/B37-duplicate-keys", test_b37_duplicates);
    g_test_add_func("/hard/B38-header-only", test_b38_header_only);
    g_test_add_func("/hard/B39-unaligned", test_b39_unaligned);
    g_test_add_func("/hard/B40-large-header", test_b40_large_header);
    g_test_add_func("/hard/B41-offsets", test_b41_offsets);
    g_test_add_func("/hard/B42-types", test_b42_types);
    g_test_add_func("/safetensors/scalar", test_scalar);
    g_test_add_func("/safetensors/lifetime", test_lifetime);
    g_test_add_func("/safetensors/write", test_write);
    g_test_add_func("/safetensors/write-refused", test_write_refused);
    g_test_add_func("/safetensors/golden-file", test_golden_file);
    return g_test_run();
}
