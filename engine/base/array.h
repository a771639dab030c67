// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A dense array: element type, shape (row-major, the last index runs fastest) and
// data that it owns, or borrows from a GBytes (a mapped file) that it keeps alive.
// Data are immutable once an array is shared between threads. Reference counted
// (atomic). Rank 0 is one element; sizes may be 0.

#include "engine/base/types.h"

#define LIMN_ARRAY_MAX_RANK 8

typedef enum {
    LIMN_DTYPE_F32,
    LIMN_DTYPE_F64,
    LIMN_DTYPE_F16,
    LIMN_DTYPE_BF16,
    LIMN_DTYPE_BOOL,
    LIMN_DTYPE_I8,
    LIMN_DTYPE_U8,
    LIMN_DTYPE_I16,
    LIMN_DTYPE_U16,
    LIMN_DTYPE_I32,
    LIMN_DTYPE_U32,
    LIMN_DTYPE_I64,
    LIMN_DTYPE_U64,
} LimnDType;

struct LimnArray {
    gatomicrefcount refs;
    LimnDType dtype;
    int rank;
    gint64 shape[LIMN_ARRAY_MAX_RANK]; // unused entries are 1
    gint64 length;                     // elements = product of shape
    void *data;                        // 64-byte aligned when owned
    GBytes *owner;                     // NULL: data is owned (freed with the array)
};

gsize limn_dtype_size(LimnDType dtype);
const char *limn_dtype_name(LimnDType dtype); // "f32", "i64", "bool", ...

// Product of a shape; FALSE on a negative size or when the bytes exceed G_MAXINT64.
gboolean limn_shape_length(int rank, const gint64 *shape, gsize element_size,
                           gint64 *length);

// A zeroed array. LIMN_ERROR_MEMORY when the size overflows or cannot be had.
LimnArray *limn_array_new(LimnDType dtype, int rank, const gint64 *shape, GError **error);
// Convenience for known small shapes; aborts never: NULL with error like above.
LimnArray *limn_array_new_f32_1d(gint64 n, GError **error);
LimnArray *limn_array_new_f32_2d(gint64 rows, gint64 cols, GError **error);
LimnArray *limn_array_new_f32_3d(gint64 d0, gint64 d1, gint64 d2, GError **error);

// A view of bytes [offset, offset + size) of `bytes`, which stays referenced. The
// caller has checked the range. Misaligned data are copied.
LimnArray *limn_array_new_from_bytes(LimnDType dtype, int rank, const gint64 *shape,
                                     GBytes *bytes, gsize offset, GError **error);

LimnArray *limn_array_ref(LimnArray *array);
void limn_array_unref(LimnArray *array);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnArray, limn_array_unref)

// Typed access; the array must have that element type.
float *limn_array_f32(const LimnArray *array);
double *limn_array_f64(const LimnArray *array);
guint8 *limn_array_u8(const LimnArray *array);
gint32 *limn_array_i32(const LimnArray *array);
gint64 *limn_array_i64(const LimnArray *array);

// The same values as float32 (exact for f16 and bf16): a new reference when it is
// float32 already, else a new array. to_f64 and to_i64 alike; to_i64 fails with
// LIMN_ERROR_FORMAT on a value that is not integral.
LimnArray *limn_array_to_f32(LimnArray *array, GError **error);
LimnArray *limn_array_to_f64(LimnArray *array, GError **error);
LimnArray *limn_array_to_i64(LimnArray *array, GError **error);

// Value of element i (flat) as a double, any element type.
double limn_array_get_double(const LimnArray *array, gint64 i);

gboolean limn_array_has_shape(const LimnArray *array, int rank, const gint64 *shape);
// "[3, 224, 224]". Returns: (transfer full)
char *limn_array_describe_shape(const LimnArray *array);
char *limn_shape_describe(int rank, const gint64 *shape);

float limn_half_to_float(guint16 half);
guint16 limn_float_to_half(float value); // round to nearest even
float limn_bfloat16_to_float(guint16 value);
guint16 limn_float_to_bfloat16(float value); // round to nearest even
