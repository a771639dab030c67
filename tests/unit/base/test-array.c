// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <string.h>

#include "engine/base/array.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

static void
test_new(void)
{
    const gint64 shape[] = {2, 3, 5};
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) array = limn_array_new(LIMN_DTYPE_F32, 3, shape, &error);
    g_assert_no_error(error);
    g_assert_cmpint(array->length, ==, 30);
    g_assert_cmpint(array->shape[3], ==, 1);
    g_assert_cmpuint((guintptr) array->data % 64, ==, 0);
    g_assert_true(limn_array_has_shape(array, 3, shape));
    g_assert_false(limn_array_has_shape(array, 2, shape));
    for (int i = 0; i < 30; i++) {
        g_assert_cmpfloat(limn_array_f32(array)[i], ==, 0);
    }
    g_autofree char *text = limn_array_describe_shape(array);
    g_assert_cmpstr(text, ==, "[2, 3, 5]");

    g_autoptr(LimnArray) scalar = limn_array_new(LIMN_DTYPE_I64, 0, NULL, &error);
    g_assert_cmpint(scalar->length, ==, 1);
    const gint64 none[] = {0, 7};
    g_autoptr(LimnArray) empty = limn_array_new(LIMN_DTYPE_U8, 2, none, &error);
    g_assert_cmpint(empty->length, ==, 0);
    g_assert_nonnull(empty->data);
    g_assert_no_error(error);

    // Large enough to come from mmap.
    g_autoptr(LimnArray) large = limn_array_new_f32_1d(10 << 20, &error);
    g_assert_no_error(error);
    limn_array_f32(large)[(10 << 20) - 1] = 1;
    g_assert_cmpuint((guintptr) large->data % 64, ==, 0);
}

static void
expect_no_array(int rank, const gint64 *shape, LimnErrorCode code)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_array_new(LIMN_DTYPE_F64, rank, shape, &error));
    g_assert_error(error, LIMN_ERROR, (int) code);
}

static void
test_bounds(void)
{
    const gint64 negative[] = {3, -1};
    expect_no_array(2, negative, LIMN_ERROR_MEMORY);
    const gint64 overflow[] = {G_MAXINT64, 2, 3};
    expect_no_array(3, overflow, LIMN_ERROR_MEMORY);
    const gint64 bytes[] = {G_MAXINT64 / 4};
    expect_no_array(1, bytes, LIMN_ERROR_MEMORY);
    const gint64 beyond[] = {(gint64) 1 << 46}; // 2^49 bytes: no machine has them
    expect_no_array(1, beyond, LIMN_ERROR_MEMORY);
    const gint64 many[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    expect_no_array(9, many, LIMN_ERROR_UNSUPPORTED);
    // A zero makes the product small whatever stands beside it, but not a negative size.
    gint64 length = 1;
    const gint64 zero[] = {G_MAXINT64, G_MAXINT64, 0};
    g_assert_true(limn_shape_length(3, zero, 8, &length));
    g_assert_cmpint(length, ==, 0);
    const gint64 zero_negative[] = {0, -5};
    g_assert_false(limn_shape_length(2, zero_negative, 8, &length));
}

static void
set_flag(gpointer data)
{
    *(gboolean *) data = TRUE;
}

static void
test_view(void)
{
    static const float values[] = {1, 2, 3, 4};
    gboolean freed = FALSE;
    const gint64 shape[] = {3};
    g_autoptr(GError) error = NULL;
    GBytes *bytes = g_bytes_new_with_free_func(values, sizeof values, set_flag, &freed);
    LimnArray *view =
        limn_array_new_from_bytes(LIMN_DTYPE_F32, 1, shape, bytes, 4, &error);
    g_assert_no_error(error);
    g_bytes_unref(bytes);
    g_assert_false(freed);
    g_assert_true(limn_array_f32(view) == values + 1);
    LimnArray *same = limn_array_to_f32(view, &error);
    g_assert_true(same == view);
    limn_array_unref(same);
    g_assert_false(freed);
    limn_array_unref(view);
    g_assert_true(freed);
}

static void
test_view_misaligned(void)
{
    _Alignas(8) guint8 raw[21] = {0};
    const float values[] = {1.5f, -2.5f};
    const gint64 shape[] = {2};
    g_autoptr(GError) error = NULL;
    memcpy(raw + 3, values, sizeof values);
    g_autoptr(GBytes) bytes = g_bytes_new_static(raw, sizeof raw);
    g_autoptr(LimnArray) copy =
        limn_array_new_from_bytes(LIMN_DTYPE_F32, 1, shape, bytes, 3, &error);
    g_assert_no_error(error);
    g_assert_null(copy->owner);
    g_assert_cmpfloat(limn_array_f32(copy)[1], ==, -2.5f);

    g_assert_null(limn_array_new_from_bytes(LIMN_DTYPE_F32, 1, shape, bytes, 14, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
    g_clear_error(&error);
    g_assert_null(
        limn_array_new_from_bytes(LIMN_DTYPE_F32, 1, shape, bytes, G_MAXSIZE, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
}

// Value of a half computed from its definition.
static double
half_value(guint16 half)
{
    int exponent = (half >> 10) & 31, mantissa = half & 1023;
    double sign = half & 0x8000 ? -1 : 1;
    if (exponent == 31) {
        return mantissa != 0 ? NAN : sign * INFINITY;
    }
    return exponent == 0 ? sign * ldexp(mantissa, -24)
                         : sign * ldexp(1024 + mantissa, exponent - 25);
}

static void
test_half_all(void)
{
    for (guint bits = 0; bits < 0x10000; bits++) {
        float value = limn_half_to_float((guint16) bits);
        double expected = half_value((guint16) bits);
        if (isnan(expected)) {
            g_assert_true(isnan(value));
            g_assert_true((limn_float_to_half(value) & 0x7fff) > 0x7c00);
        } else {
            g_assert_true((double) value == expected);
            g_assert_true(!signbit(value) == !signbit(expected));
            g_assert_cmpuint(limn_float_to_half(value), ==, bits);
        }
    }
}

// Every half-way point between neighbours goes to the even one, its neighbours to theirs.
static void
test_half_rounding(void)
{
    for (guint16 bits = 0; bits < 0x7bff; bits++) {
        float middle = (float) ((half_value(bits) + half_value(bits + 1)) / 2);
        guint16 even = bits & 1 ? bits + 1 : bits;
        g_assert_cmpuint(limn_float_to_half(middle), ==, even);
        g_assert_cmpuint(limn_float_to_half(nextafterf(middle, 0)), ==, bits);
        g_assert_cmpuint(limn_float_to_half(nextafterf(middle, INFINITY)), ==, bits + 1);
        g_assert_cmpuint(limn_float_to_half(-middle), ==, even | 0x8000);
    }
    g_assert_cmpuint(limn_float_to_half(65519.996f), ==, 0x7bff);
    g_assert_cmpuint(limn_float_to_half(65520), ==, 0x7c00);
    g_assert_cmpuint(limn_float_to_half(-INFINITY), ==, 0xfc00);
    g_assert_cmpuint(limn_float_to_half(0x1p-149f), ==, 0);
    g_assert_cmpuint(limn_float_to_half(-0.0f), ==, 0x8000);
}

static void
test_half_flushed(void)
{
    limn_parallel_prepare_thread();
    test_half_all();
    test_half_rounding();
}

static void
test_bfloat16(void)
{
    for (guint bits = 0; bits < 0x10000; bits++) {
        float value = limn_bfloat16_to_float((guint16) bits);
        if (isnan(value)) {
            g_assert_true(isnan(limn_bfloat16_to_float(limn_float_to_bfloat16(value))));
        } else {
            g_assert_cmpuint(limn_float_to_bfloat16(value), ==, bits);
        }
    }
    g_assert_cmpfloat(limn_bfloat16_to_float(0x3f80), ==, 1);
    g_assert_cmpfloat(limn_bfloat16_to_float(0x0001), ==, 0x1p-133f);
    g_assert_cmpuint(limn_float_to_bfloat16(1 + 0x1p-8f), ==, 0x3f80); // tie: even
    g_assert_cmpuint(limn_float_to_bfloat16(1 + 0x1p-7f + 0x1p-8f), ==,
                     0x3f82); // tie: even
    g_assert_cmpuint(limn_float_to_bfloat16(3.4028235e38f), ==, 0x7f80);
}

static LimnArray *
array_of(LimnDType dtype, gint64 n, const void *data)
{
    g_autoptr(GError) error = NULL;
    LimnArray *array = limn_array_new(dtype, 1, &n, &error);
    g_assert_no_error(error);
    memcpy(array->data, data, (gsize) n * limn_dtype_size(dtype));
    return array;
}

static void
test_conversions(void)
{
    static const guint16 halves[] = {0x3c00, 0xc100, 0x0001};
    static const guint16 bfloats[] = {0x3f80, 0xc020, 0x3380};
    static const gint8 i8[] = {1, -2, 3};
    static const guint8 u8[] = {1, 254, 3}, flags[] = {1, 0, 7};
    static const gint16 i16[] = {1, -300, 3};
    static const guint16 u16[] = {1, 65534, 3};
    static const gint32 i32[] = {1, -70000, 3};
    static const guint32 u32[] = {1, 4000000000u, 3};
    static const gint64 i64[] = {1, -5000000000, 3};
    static const guint64 u64[] = {1, 5000000000, 3};
    static const float f32[] = {1, -2.5f, 3};
    static const double f64[] = {1, -2.5, 3};
    const struct {
        LimnDType dtype;
        const void *data;
        double second, third;
    } cases[] = {
        {LIMN_DTYPE_F16, halves, -2.5, 0x1p-24},
        {LIMN_DTYPE_BF16, bfloats, -2.5, 0x1p-24},
        {LIMN_DTYPE_BOOL, flags, 0, 1},
        {LIMN_DTYPE_I8, i8, -2, 3},
        {LIMN_DTYPE_U8, u8, 254, 3},
        {LIMN_DTYPE_I16, i16, -300, 3},
        {LIMN_DTYPE_U16, u16, 65534, 3},
        {LIMN_DTYPE_I32, i32, -70000, 3},
        {LIMN_DTYPE_U32, u32, 4e9, 3},
        {LIMN_DTYPE_I64, i64, -5e9, 3},
        {LIMN_DTYPE_U64, u64, 5e9, 3},
        {LIMN_DTYPE_F32, f32, -2.5, 3},
        {LIMN_DTYPE_F64, f64, -2.5, 3},
    };
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnArray) array = array_of(cases[i].dtype, 3, cases[i].data);
        g_autoptr(LimnArray) single = limn_array_to_f32(array, &error);
        g_autoptr(LimnArray) real = limn_array_to_f64(array, &error);
        g_assert_no_error(error);
        const double expected[] = {1, cases[i].second, cases[i].third};
        gboolean integral = TRUE;
        for (int j = 0; j < 3; j++) {
            g_assert_cmpfloat(limn_array_get_double(array, j), ==, expected[j]);
            g_assert_cmpfloat(limn_array_f32(single)[j], ==, (float) expected[j]);
            g_assert_cmpfloat(limn_array_f64(real)[j], ==, expected[j]);
            integral &= expected[j] == floor(expected[j]);
        }
        g_autoptr(LimnArray) whole = limn_array_to_i64(array, &error);
        if (integral) {
            g_assert_no_error(error);
            g_assert_cmpint(limn_array_i64(whole)[1], ==, (gint64) expected[1]);
        } else {
            g_assert_null(whole);
            g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
        }
    }
}

static void
expect_not_integral(LimnDType dtype, const void *data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) array = array_of(dtype, 1, data);
    g_assert_null(limn_array_to_i64(array, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT);
}

static void
test_not_integral(void)
{
    const double nan = NAN, large = 0x1p63, inf = INFINITY, near = 3.0000001;
    const guint64 beyond = (guint64) G_MAXINT64 + 1;
    expect_not_integral(LIMN_DTYPE_F64, &nan);
    expect_not_integral(LIMN_DTYPE_F64, &large);
    expect_not_integral(LIMN_DTYPE_F64, &inf);
    expect_not_integral(LIMN_DTYPE_F64, &near);
    expect_not_integral(LIMN_DTYPE_U64, &beyond);
    const double lowest = -0x1p63;
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) array = array_of(LIMN_DTYPE_F64, 1, &lowest);
    g_autoptr(LimnArray) whole = limn_array_to_i64(array, &error);
    g_assert_no_error(error);
    g_assert_cmpint(limn_array_i64(whole)[0], ==, G_MININT64);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/array/half", test_half_all);
    g_test_add_func("/array/half-rounding", test_half_rounding);
    g_test_add_func("/array/bfloat16", test_bfloat16);
    g_test_add_func("/array/new", test_new);
    g_test_add_func("/array/bounds", test_bounds);
    g_test_add_func("/array/view", test_view);
    g_test_add_func("/hard/B39-misaligned-view", test_view_misaligned);
    g_test_add_func("/hard/B42-conversions", test_conversions);
    g_test_add_func("/array/not-integral", test_not_integral);
    // Conversions have to be exact on threads that flush subnormal numbers, too.
    g_test_add_func("/array/half-flushed", test_half_flushed);
    return g_test_run();
}
