// SPDX-License-Identifier: GPL-3.0-or-later

#include <zlib.h>

#include "engine/base/array.h"
#include "engine/io/npy.h"
#include "tests/unit/loader-test.h"

// Written by NumPy 1.24: a [2,3] <f4 = 0, 1/4 ..; b [3] >i2 = 1, -2, 300; f [3,4] <f8 in
// Fortran order = 0 .. 11.
static const char STORED[] =
    "UEsDBBQAAAAAAAAAIQAKnACkmAAAAJgAAAAFABQAYS5ucHkBABAAmAAAAAAAAACYAAAAAAAAAJNO"
    "VU1QWQEAdgB7J2Rlc2NyJzogJzxmNCcsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6"
    "ICgyLCAzKSwgfSAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAgICAKAAAAAAAAgD4AAAA/AABAPwAAgD8AAKA/UEsDBBQAAAAAAAAAIQDvSlobhgAA"
    "AIYAAAAFABQAYi5ucHkBABAAhgAAAAAAAACGAAAAAAAAAJNOVU1QWQEAdgB7J2Rlc2NyJzogJz5p"
    "MicsICdmb3J0cmFuX29yZGVyJzogRmFsc2UsICdzaGFwZSc6ICgzLCksIH0gICAgICAgICAgICAg"
    "ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAKAAH//gEsUEsD"
    "BBQAAAAAAAAAIQAjvkyx4AAAAOAAAAAFABQAZi5ucHkBABAA4AAAAAAAAADgAAAAAAAAAJNOVU1Q"
    "WQEAdgB7J2Rlc2NyJzogJzxmOCcsICdmb3J0cmFuX29yZGVyJzogVHJ1ZSwgJ3NoYXBlJzogKDMs"
    "IDQpLCB9ICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAg"
    "ICAgICAgICAKAAAAAAAAAAAAAAAAAAAQQAAAAAAAACBAAAAAAAAA8D8AAAAAAAAUQAAAAAAAACJA"
    "AAAAAAAAAEAAAAAAAAAYQAAAAAAAACRAAAAAAAAACEAAAAAAAAAcQAAAAAAAACZAUEsBAhQDFAAA"
    "AAAAAAAhAAqcAKSYAAAAmAAAAAUAAAAAAAAAAAAAAIABAAAAAGEubnB5UEsBAhQDFAAAAAAAAAAh"
    "AO9KWhuGAAAAhgAAAAUAAAAAAAAAAAAAAIABzwAAAGIubnB5UEsBAhQDFAAAAAAAAAAhACO+TLHg"
    "AAAA4AAAAAUAAAAAAAAAAAAAAIABjAEAAGYubnB5UEsFBgAAAAADAAMAmQAAAKMCAAAAAA==";
static const char DEFLATED[] =
    "UEsDBBQAAAAIAAAAIQAKnACkVgAAAJgAAAAFABQAYS5ucHkBABAAmAAAAAAAAABWAAAAAAAAAJvs"
    "F+obEMnIUMZQrZ6SWpxcpG6loG6TZqKuo6Cell9UUpSYF59flJIKEndLzClOBYoXZyQWpAL5GkY6"
    "CsaaOgq1CmQDLgYwaLADEvYMDA5A3ADEC+wBUEsDBBQAAAAIAAAAIQDvSlobSgAAAIYAAAAFABQA"
    "Yi5ucHkBABAAhgAAAAAAAABKAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxcpG6loG6XaaSuo6Cell9U"
    "UpSYF59flJIKEndLzClOBYoXZyQWpAL5GsY6mjoKtQoUAC4Gxv//GHUAUEsDBBQAAAAIAAAAIQAj"
    "vkyxZgAAAOAAAAAFABQAZi5ucHkBABAA4AAAAAAAAABmAAAAAAAAAJvsF+obEMnIUMZQrZ6SWpxc"
    "pG6loG6TZqGuo6Cell9UUpSYF59flJIKEg8pKk0FChdnJBakArkaxjoKJpo6CrUK5AMuBhQg4ACh"
    "FaD0B3sILQLlK0FpBigtAaVVoDQHlJaB0moOAFBLAQIUAxQAAAAIAAAAIQAKnACkVgAAAJgAAAAF"
    "AAAAAAAAAAAAAACAAQAAAABhLm5weVBLAQIUAxQAAAAIAAAAIQDvSlobSgAAAIYAAAAFAAAAAAAA"
    "AAAAAACAAY0AAABiLm5weVBLAQIUAxQAAAAIAAAAIQAjvkyxZgAAAOAAAAAFAAAAAAAAAAAAAACA"
    "AQ4BAABmLm5weVBLBQYAAAAAAwADAJkAAACrAQAAAAA=";

static GBytes *
decode(const char *text)
{
    gsize size;
    guchar *data = g_base64_decode(text, &size);
    return g_bytes_new_take(data, size);
}

static void
check_numpy(const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = decode(text);
    g_autoptr(LimnNpz) npz = limn_npz_open_bytes(bytes, "test.npz", &error);
    g_assert_no_error(error);
    const char *const *names = limn_npz_get_names(npz);
    g_assert_cmpstr(names[0], ==, "a");
    g_assert_cmpstr(names[1], ==, "b");
    g_assert_cmpstr(names[2], ==, "f");
    g_assert_null(names[3]);
    g_assert_true(limn_npz_has(npz, "f"));
    g_assert_false(limn_npz_has(npz, "f.npy"));

    g_autoptr(LimnArray) a = limn_npz_get(npz, "a", &error);
    g_assert_no_error(error);
    g_assert_cmpint(a->rank, ==, 2);
    for (int i = 0; i < 6; i++)
        g_assert_cmpfloat(limn_array_f32(a)[i], ==, i / 4.0f);
    g_autoptr(LimnArray) b = limn_npz_get(npz, "b", &error);
    g_assert_no_error(error);
    g_assert_cmpint(b->dtype, ==, LIMN_DTYPE_I16);
    g_assert_cmpfloat(limn_array_get_double(b, 1), ==, -2);
    g_assert_cmpfloat(limn_array_get_double(b, 2), ==, 300);
    g_autoptr(LimnArray) f = limn_npz_get(npz, "f", &error);
    g_assert_no_error(error);
    for (int i = 0; i < 12; i++)
        g_assert_cmpfloat(limn_array_f64(f)[i], ==, i);

    g_assert_null(limn_npz_get(npz, "c", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "test.npz", "\"c\"", NULL);
}

static void
test_b49_stored(void)
{
    check_numpy(STORED);
}

static void
test_b49_deflated(void)
{
    check_numpy(DEFLATED);
}

// --- Archives made here, honest and not
// ---------------------------------------------------

typedef struct {
    const char *name;
    GBytes *data; // as stored in the archive
    guint64 size; // declared unpacked size
    guint32 crc;
    int method; // 0 stored, 8 deflated
    gboolean zip64;
    gboolean encrypted;
} Member;

static void
put(GString *file, guint64 value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        g_string_append_c(file, (char) (value >> (8 * i) & 0xff));
}

// What local header and directory entry have in common.
static void
put_common(GString *file, const Member *m, gsize extra)
{
    guint64 packed = g_bytes_get_size(m->data);
    put(file, m->zip64 ? 45 : 20, 2);
    put(file, m->encrypted, 2);
    put(file, m->method, 2);
    put(file, 0x00210000, 4);
    put(file, m->crc, 4);
    put(file, m->zip64 ? 0xffffffff : packed, 4);
    put(file, m->zip64 ? 0xffffffff : m->size, 4);
    put(file, strlen(m->name), 2);
    put(file, extra, 2);
}

static void
put_zip64(GString *file, const Member *m, gboolean directory, guint64 offset)
{
    put(file, 1, 2);
    put(file, directory ? 24 : 16, 2);
    put(file, m->size, 8);
    put(file, g_bytes_get_size(m->data), 8);
    if (directory)
        put(file, offset, 8);
}

static void
put_end(GString *file, gsize n, gsize begin, gboolean zip64)
{
    gsize end = file->len;
    if (zip64) {
        put(file, 0x06064b50, 4);
        put(file, 44, 8);
        put(file, 45, 2);
        put(file, 45, 2);
        put(file, 0, 8);
        put(file, n, 8);
        put(file, n, 8);
        put(file, end - begin, 8);
        put(file, begin, 8);
        put(file, 0x07064b50, 4);
        put(file, 0, 4);
        put(file, end, 8);
        put(file, 1, 4);
    }
    put(file, 0x06054b50, 4);
    put(file, 0, 4);
    put(file, zip64 ? 0xffff : n, 2);
    put(file, zip64 ? 0xffff : n, 2);
    put(file, zip64 ? 0xffffffff : end - begin, 4);
    put(file, zip64 ? 0xffffffff : begin, 4);
    put(file, 0, 2);
}

static GBytes *
build_zip(const Member *members, gsize n)
{
    GString *file = g_string_new(NULL);
    gsize offsets[8];
    for (gsize i = 0; i < n; i++) {
        const Member *m = &members[i];
        offsets[i] = file->len;
        put(file, 0x04034b50, 4);
        put_common(file, m, m->zip64 ? 20 : 0);
        g_string_append(file, m->name);
        if (m->zip64)
            put_zip64(file, m, FALSE, 0);
        g_string_append_len(file, g_bytes_get_data(m->data, NULL),
                            (gssize) g_bytes_get_size(m->data));
    }
    gsize begin = file->len;
    for (gsize i = 0; i < n; i++) {
        const Member *m = &members[i];
        put(file, 0x02014b50, 4);
        put(file, 45, 2);
        put_common(file, m, m->zip64 ? 28 : 0);
        put(file, 0, 6); // no comment, disk 0
        put(file, 0, 4); // attributes
        put(file, m->zip64 ? 0xffffffff : offsets[i], 4);
        g_string_append(file, m->name);
        if (m->zip64)
            put_zip64(file, m, TRUE, offsets[i]);
    }
    put_end(file, n, begin, members[0].zip64);
    return g_string_free_to_bytes(file);
}

static GBytes *
encode_sample(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) array = limn_array_new_f32_1d(3, &error);
    for (int i = 0; i < 3; i++)
        limn_array_f32(array)[i] = 7 + i;
    return limn_npy_encode(array, &error);
}

static Member
stored(const char *name, GBytes *data)
{
    gsize size;
    const guint8 *bytes = g_bytes_get_data(data, &size);
    return (Member){
        .name = name, .data = data, .size = size, .crc = crc32(0, bytes, (uInt) size)};
}

static LimnNpz *
open_zip(const Member *members, gsize n)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) bytes = build_zip(members, n);
    LimnNpz *npz = limn_npz_open_bytes(bytes, "test.npz", &error);
    g_assert_no_error(error);
    return npz;
}

static void
refuse_member(Member member, LimnErrorCode code, const char *text)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnNpz) npz = open_zip(&member, 1);
    g_assert_null(limn_npz_get(npz, "x", &error));
    assert_refused(&error, code, "test.npz", "\"x\"", text, NULL);
}

static void
test_b49_zip64(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) sample = encode_sample();
    Member members[] = {stored("x.npy", sample), stored("deep/y.npy", sample)};
    members[0].zip64 = members[1].zip64 = TRUE;
    g_autoptr(LimnNpz) npz = open_zip(members, 2);
    g_autoptr(LimnArray) x = limn_npz_get(npz, "x", &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(limn_array_f32(x)[2], ==, 9);
    g_autoptr(LimnArray) y = limn_npz_get(npz, "deep/y", &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(limn_array_f32(y)[0], ==, 7);
}

static void
test_names(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) sample = encode_sample();
    // Names are only names: nothing is unpacked to where they point.
    Member members[] = {stored("../../escape.npy", sample), stored("notes.txt", sample),
                        stored("/absolute.npy", sample)};
    g_autoptr(LimnNpz) npz = open_zip(members, 3);
    const char *const *names = limn_npz_get_names(npz);
    g_assert_cmpstr(names[0], ==, "../../escape");
    g_assert_cmpstr(names[1], ==, "/absolute");
    g_assert_null(names[2]);
    g_autoptr(LimnArray) array = limn_npz_get(npz, "../../escape", &error);
    g_assert_no_error(error);
    g_assert_cmpint(array->length, ==, 3);

    Member twice[] = {stored("x.npy", sample), stored("x.npy", sample)};
    g_autoptr(GBytes) bytes = build_zip(twice, 2);
    g_assert_null(limn_npz_open_bytes(bytes, "test.npz", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "\"x.npy\"", NULL);
}

static void
test_lies(void)
{
    g_autoptr(GBytes) sample = encode_sample();
    Member member = stored("x.npy", sample);
    member.size += 1;
    refuse_member(member, LIMN_ERROR_FORMAT, "cannot hold");
    member = stored("x.npy", sample);
    member.crc ^= 1;
    refuse_member(member, LIMN_ERROR_FORMAT, "cannot be unpacked");
    member = stored("x.npy", sample);
    member.method = 8; // the data are not deflated
    refuse_member(member, LIMN_ERROR_FORMAT, "cannot be unpacked");
    member.method = 12;
    refuse_member(member, LIMN_ERROR_UNSUPPORTED, "method 12");
    member = stored("x.npy", sample);
    member.encrypted = TRUE;
    refuse_member(member, LIMN_ERROR_UNSUPPORTED, "encrypted");

    g_autoptr(GBytes) text = BYTES("no array at all");
    member = stored("x.npy", text);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnNpz) npz = open_zip(&member, 1);
    g_assert_null(limn_npz_get(npz, "x", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "test.npz: x.npy", "not a .npy file", NULL);
}

// Claims of terabytes are refused before memory is asked for.
static void
test_bomb(void)
{
    g_autoptr(GBytes) little = BYTES("\x03\x00");
    Member member = stored("x.npy", little);
    member.method = 8;
    member.zip64 = TRUE;
    member.size = G_GUINT64_CONSTANT(1) << 42;
    refuse_member(member, LIMN_ERROR_FORMAT, "4398046511104");

    g_autofree guint8 *zeros = g_malloc0(20 << 20);
    g_autoptr(GBytes) large = g_bytes_new(zeros, 20 << 20);
    member.data = large;
    member.size = G_GUINT64_CONSTANT(17) << 30;
    refuse_member(member, LIMN_ERROR_MEMORY, "at most 17179869184");
}

static void
test_damage(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) good = decode(DEFLATED);
    gsize size = g_bytes_get_size(good);
    for (gsize cut = 0; cut < size; cut += 7) {
        g_autoptr(GBytes) bytes = g_bytes_new_from_bytes(good, 0, cut);
        g_assert_null(limn_npz_open_bytes(bytes, "cut.npz", &error));
        assert_refused(&error, LIMN_ERROR_FORMAT, "cut.npz", NULL);
    }
    g_autofree char *golden = data_path("golden/grad_eclip/metrics/heat.npy");
    g_assert_null(limn_npz_open(golden, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "no zip file", NULL);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hard/B49-npz-stored", test_b49_stored);
    g_test_add_func("/hard/B49-npz-deflated", test_b49_deflated);
    g_test_add_func("/hard/B49-npz-zip64", test_b49_zip64);
    g_test_add_func("/npz/names", test_names);
    g_test_add_func("/npz/lies", test_lies);
    g_test_add_func("/npz/bomb", test_bomb);
    g_test_add_func("/npz/damage", test_damage);
    return g_test_run();
}
