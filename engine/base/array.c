// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "engine/base/error.h"
#include "engine/base/half.h"
#include "engine/base/number.h"

// From this size on data come from mmap: the pages are zero without being touched, so
// that a size that the machine does not have fails here and not while it is cleared.
#define MAP_FROM ((gsize) 32 << 20)
#define ALIGNMENT 64

static const struct {
    const char *name;
    gsize size;
} dtypes[] = {
    [LIMN_DTYPE_F32] = {"f32", 4},   [LIMN_DTYPE_F64] = {"f64", 8},
    [LIMN_DTYPE_F16] = {"f16", 2},   [LIMN_DTYPE_BF16] = {"bf16", 2},
    [LIMN_DTYPE_BOOL] = {"bool", 1}, [LIMN_DTYPE_I8] = {"i8", 1},
    [LIMN_DTYPE_U8] = {"u8", 1},     [LIMN_DTYPE_I16] = {"i16", 2},
    [LIMN_DTYPE_U16] = {"u16", 2},   [LIMN_DTYPE_I32] = {"i32", 4},
    [LIMN_DTYPE_U32] = {"u32", 4},   [LIMN_DTYPE_I64] = {"i64", 8},
    [LIMN_DTYPE_U64] = {"u64", 8},
};

gsize
limn_dtype_size(LimnDType dtype)
{
    g_return_val_if_fail((guint) dtype < G_N_ELEMENTS(dtypes), 1);
    return dtypes[dtype].size;
}

const char *
limn_dtype_name(LimnDType dtype)
{
    g_return_val_if_fail((guint) dtype < G_N_ELEMENTS(dtypes), "?");
    return dtypes[dtype].name;
}

gboolean
limn_shape_length(int rank, const gint64 *shape, gsize element_size, gint64 *length)
{
    guint64 product = 1;
    gboolean empty = FALSE;
    for (int i = 0; i < rank; i++) {
        if (shape[i] < 0) {
            return FALSE;
        }
        empty |= shape[i] == 0;
    }
    for (int i = 0; i < rank && !empty; i++) {
        if (!g_uint64_checked_mul(&product, product, (guint64) shape[i])) {
            return FALSE;
        }
    }
    guint64 bytes;
    product = empty ? 0 : product;
    if (!g_uint64_checked_mul(&bytes, product, element_size) || bytes > G_MAXINT64) {
        return FALSE;
    }
    *length = (gint64) product;
    return TRUE;
}

// The struct without data; NULL with error when rank or shape are not usable.
static LimnArray *
array_alloc(LimnDType dtype, int rank, const gint64 *shape, GError **error)
{
    if (rank < 0 || rank > LIMN_ARRAY_MAX_RANK) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "array of rank %d (at most %d are supported)", rank,
                    LIMN_ARRAY_MAX_RANK);
        return NULL;
    }
    gint64 length;
    if (!limn_shape_length(rank, shape, limn_dtype_size(dtype), &length)) {
        g_autofree char *text = limn_shape_describe(rank, shape);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "an array of shape %s is too large or has a negative size", text);
        return NULL;
    }
    LimnArray *array = g_new0(LimnArray, 1);
    g_atomic_ref_count_init(&array->refs);
    array->dtype = dtype;
    array->rank = rank;
    array->length = length;
    for (int i = 0; i < LIMN_ARRAY_MAX_RANK; i++) {
        array->shape[i] = i < rank ? shape[i] : 1;
    }
    return array;
}

static gsize
array_bytes(const LimnArray *array)
{
    return (gsize) array->length * dtypes[array->dtype].size;
}

static void *
data_alloc(gsize size)
{
    if (size >= MAP_FROM) {
        void *data =
            mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return data == MAP_FAILED ? NULL : data;
    }
    void *data = NULL;
    gsize padded = MAX((size + ALIGNMENT - 1) & ~(gsize) (ALIGNMENT - 1), ALIGNMENT);
    if (posix_memalign(&data, ALIGNMENT, padded) != 0) {
        return NULL;
    }
    return memset(data, 0, padded);
}

static void
data_free(void *data, gsize size)
{
    if (data != NULL && size >= MAP_FROM) {
        munmap(data, size);
    } else {
        free(data);
    }
}

LimnArray *
limn_array_new(LimnDType dtype, int rank, const gint64 *shape, GError **error)
{
    g_autoptr(LimnArray) array = array_alloc(dtype, rank, shape, error);
    if (array == NULL) {
        return NULL;
    }
    array->data = data_alloc(array_bytes(array));
    if (array->data == NULL) {
        g_autofree char *text = limn_shape_describe(rank, shape);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory for an array of shape %s (%" G_GSIZE_FORMAT " bytes)",
                    text, array_bytes(array));
        return NULL;
    }
    return g_steal_pointer(&array);
}

LimnArray *
limn_array_new_f32_1d(gint64 n, GError **error)
{
    return limn_array_new(LIMN_DTYPE_F32, 1, &n, error);
}

LimnArray *
limn_array_new_f32_2d(gint64 rows, gint64 cols, GError **error)
{
    const gint64 shape[] = {rows, cols};
    return limn_array_new(LIMN_DTYPE_F32, 2, shape, error);
}

LimnArray *
limn_array_new_f32_3d(gint64 d0, gint64 d1, gint64 d2, GError **error)
{
    const gint64 shape[] = {d0, d1, d2};
    return limn_array_new(LIMN_DTYPE_F32, 3, shape, error);
}

LimnArray *
limn_array_new_from_bytes(LimnDType dtype, int rank, const gint64 *shape, GBytes *bytes,
                          gsize offset, GError **error)
{
    g_autoptr(LimnArray) array = array_alloc(dtype, rank, shape, error);
    if (array == NULL) {
        return NULL;
    }
    gsize available;
    const guint8 *base = g_bytes_get_data(bytes, &available);
    gsize size = array_bytes(array);
    if (offset > available || size > available - offset) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "%" G_GSIZE_FORMAT " bytes at offset %" G_GSIZE_FORMAT
                    " do not lie within %" G_GSIZE_FORMAT " bytes",
                    size, offset, available);
        return NULL;
    }
    if (size == 0 || ((guintptr) (base + offset)) % dtypes[dtype].size != 0) {
        g_autoptr(LimnArray) copy = limn_array_new(dtype, rank, shape, error);
        if (copy != NULL && size > 0) {
            memcpy(copy->data, base + offset, size);
        }
        return g_steal_pointer(&copy);
    }
    array->owner = g_bytes_ref(bytes);
    array->data = (void *) ((guintptr) base + offset);
    return g_steal_pointer(&array);
}

LimnArray *
limn_array_ref(LimnArray *array)
{
    g_atomic_ref_count_inc(&array->refs);
    return array;
}

void
limn_array_unref(LimnArray *array)
{
    if (array == NULL || !g_atomic_ref_count_dec(&array->refs)) {
        return;
    }
    if (array->owner != NULL) {
        g_bytes_unref(array->owner);
    } else {
        data_free(array->data, array_bytes(array));
    }
    g_free(array);
}

float *
limn_array_f32(const LimnArray *array)
{
    g_return_val_if_fail(array->dtype == LIMN_DTYPE_F32, NULL);
    return array->data;
}

double *
limn_array_f64(const LimnArray *array)
{
    g_return_val_if_fail(array->dtype == LIMN_DTYPE_F64, NULL);
    return array->data;
}

guint8 *
limn_array_u8(const LimnArray *array)
{
    g_return_val_if_fail(array->dtype == LIMN_DTYPE_U8 || array->dtype == LIMN_DTYPE_BOOL,
                         NULL);
    return array->data;
}

gint32 *
limn_array_i32(const LimnArray *array)
{
    g_return_val_if_fail(array->dtype == LIMN_DTYPE_I32, NULL);
    return array->data;
}

gint64 *
limn_array_i64(const LimnArray *array)
{
    g_return_val_if_fail(array->dtype == LIMN_DTYPE_I64, NULL);
    return array->data;
}

// Calls FROM(type, expression of the element x) for the element type of the array.
#define FOR_EACH_DTYPE(dtype, FROM)                                                      \
    switch (dtype) {                                                                     \
    case LIMN_DTYPE_F32:                                                                 \
        FROM(float, x);                                                                  \
        break;                                                                           \
    case LIMN_DTYPE_F64:                                                                 \
        FROM(double, x);                                                                 \
        break;                                                                           \
    case LIMN_DTYPE_F16:                                                                 \
        FROM(guint16, limn_half_to_float_inline(x));                                     \
        break;                                                                           \
    case LIMN_DTYPE_BF16:                                                                \
        FROM(guint16, limn_bfloat16_to_float_inline(x));                                 \
        break;                                                                           \
    case LIMN_DTYPE_BOOL:                                                                \
        FROM(guint8, x != 0);                                                            \
        break;                                                                           \
    case LIMN_DTYPE_I8:                                                                  \
        FROM(gint8, x);                                                                  \
        break;                                                                           \
    case LIMN_DTYPE_U8:                                                                  \
        FROM(guint8, x);                                                                 \
        break;                                                                           \
    case LIMN_DTYPE_I16:                                                                 \
        FROM(gint16, x);                                                                 \
        break;                                                                           \
    case LIMN_DTYPE_U16:                                                                 \
        FROM(guint16, x);                                                                \
        break;                                                                           \
    case LIMN_DTYPE_I32:                                                                 \
        FROM(gint32, x);                                                                 \
        break;                                                                           \
    case LIMN_DTYPE_U32:                                                                 \
        FROM(guint32, x);                                                                \
        break;                                                                           \
    case LIMN_DTYPE_I64:                                                                 \
        FROM(gint64, x);                                                                 \
        break;                                                                           \
    case LIMN_DTYPE_U64:                                                                 \
        FROM(guint64, x);                                                                \
        break;                                                                           \
    }

LimnArray *
limn_array_to_f32(LimnArray *array, GError **error)
{
    if (array->dtype == LIMN_DTYPE_F32) {
        return limn_array_ref(array);
    }
    LimnArray *result = limn_array_new(LIMN_DTYPE_F32, array->rank, array->shape, error);
    if (result == NULL) {
        return NULL;
    }
    float *out = result->data;
    gint64 n = array->length;
#define TO_F32(type, expression)                                                         \
    for (gint64 i = 0; i < n; i++) {                                                     \
        type x = ((const type *) array->data)[i];                                        \
        out[i] = (float) (expression);                                                   \
    }
    FOR_EACH_DTYPE(array->dtype, TO_F32)
#undef TO_F32
    return result;
}

LimnArray *
limn_array_to_f64(LimnArray *array, GError **error)
{
    if (array->dtype == LIMN_DTYPE_F64) {
        return limn_array_ref(array);
    }
    LimnArray *result = limn_array_new(LIMN_DTYPE_F64, array->rank, array->shape, error);
    if (result == NULL) {
        return NULL;
    }
    double *out = result->data;
    gint64 n = array->length;
#define TO_F64(type, expression)                                                         \
    for (gint64 i = 0; i < n; i++) {                                                     \
        type x = ((const type *) array->data)[i];                                        \
        out[i] = (double) (expression);                                                  \
    }
    FOR_EACH_DTYPE(array->dtype, TO_F64)
#undef TO_F64
    return result;
}

static gboolean
is_floating(LimnDType dtype)
{
    return dtype == LIMN_DTYPE_F32 || dtype == LIMN_DTYPE_F64 ||
           dtype == LIMN_DTYPE_F16 || dtype == LIMN_DTYPE_BF16;
}

// Index of the first element that has no gint64 of the same value, or -1.
static gint64
first_not_integral(const LimnArray *array)
{
    if (array->dtype == LIMN_DTYPE_U64) {
        for (gint64 i = 0; i < array->length; i++) {
            if (((const guint64 *) array->data)[i] > G_MAXINT64) {
                return i;
            }
        }
    } else if (is_floating(array->dtype)) {
        for (gint64 i = 0; i < array->length; i++) {
            double x = limn_array_get_double(array, i);
            if (!(x >= -0x1p63 && x < 0x1p63) || x != trunc(x)) {
                return i;
            }
        }
    }
    return -1;
}

LimnArray *
limn_array_to_i64(LimnArray *array, GError **error)
{
    if (array->dtype == LIMN_DTYPE_I64) {
        return limn_array_ref(array);
    }
    gint64 bad = first_not_integral(array);
    if (bad >= 0) {
        char found[LIMN_NUMBER_BUFFER];
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "element %" G_GINT64_FORMAT
                    " is not an integer of 64 bits (found %s, type %s)",
                    bad, limn_number_format(found, limn_array_get_double(array, bad)),
                    limn_dtype_name(array->dtype));
        return NULL;
    }
    LimnArray *result = limn_array_new(LIMN_DTYPE_I64, array->rank, array->shape, error);
    if (result == NULL) {
        return NULL;
    }
    gint64 *out = result->data;
    gint64 n = array->length;
#define TO_I64(type, expression)                                                         \
    for (gint64 i = 0; i < n; i++) {                                                     \
        type x = ((const type *) array->data)[i];                                        \
        out[i] = (gint64) (expression);                                                  \
    }
    FOR_EACH_DTYPE(array->dtype, TO_I64)
#undef TO_I64
    return result;
}

double
limn_array_get_double(const LimnArray *array, gint64 i)
{
    g_return_val_if_fail(i >= 0 && i < array->length, NAN);
#define GET(type, expression)                                                            \
    {                                                                                    \
        type x = ((const type *) array->data)[i];                                        \
        return (double) (expression);                                                    \
    }
    FOR_EACH_DTYPE(array->dtype, GET)
#undef GET
    return NAN;
}

gboolean
limn_array_has_shape(const LimnArray *array, int rank, const gint64 *shape)
{
    if (array->rank != rank) {
        return FALSE;
    }
    for (int i = 0; i < rank; i++) {
        if (array->shape[i] != shape[i]) {
            return FALSE;
        }
    }
    return TRUE;
}

char *
limn_array_describe_shape(const LimnArray *array)
{
    return limn_shape_describe(array->rank, array->shape);
}

char *
limn_shape_describe(int rank, const gint64 *shape)
{
    GString *text = g_string_new("[");
    for (int i = 0; i < rank; i++) {
        g_string_append_printf(text, "%s%" G_GINT64_FORMAT, i > 0 ? ", " : "", shape[i]);
    }
    g_string_append_c(text, ']');
    return g_string_free(text, FALSE);
}
