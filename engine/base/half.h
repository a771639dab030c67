// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// float16 (IEEE 754 binary16) and bfloat16, inline for loops over arrays; everybody else
// calls the functions of array.h. Only integer operations and operations on normal
// numbers are used, so that flush-to-zero does not change a result.

#include <glib.h>

static inline float
half_float_from_bits(guint32 bits)
{
    union {
        guint32 bits;
        float value;
    } u = {.bits = bits};
    return u.value;
}

static inline guint32
half_bits_from_float(float value)
{
    union {
        float value;
        guint32 bits;
    } u = {.value = value};
    return u.bits;
}

static inline float
limn_half_to_float_inline(guint16 half)
{
    guint32 sign = (guint32) (half & 0x8000) << 16;
    guint32 rest = half & 0x7fff; // exponent (5 bits, bias 15), mantissa (10 bits)
    if (rest < 0x0400) {          // zero or subnormal: rest * 2^-24, exact
        return half_float_from_bits(sign | half_bits_from_float((float) rest * 0x1p-24f));
    }
    guint32 shift = rest >= 0x7c00 ? 224 : 112; // Inf and NaN keep the highest exponent
    return half_float_from_bits(sign | ((rest << 13) + (shift << 23)));
}

static inline guint16
limn_float_to_half_inline(float value)
{
    guint32 bits = half_bits_from_float(value);
    guint16 sign = (guint16) ((bits >> 16) & 0x8000);
    guint32 rest = bits & 0x7fffffff;
    if (rest > 0x7f800000) { // NaN: stays one even when the upper payload is zero
        return sign | 0x7e00 | (guint16) ((rest >> 13) & 0x01ff);
    }
    if (rest >= 0x477ff000) { // 65520 and above round to Inf
        return sign | 0x7c00;
    }
    if (rest >=
        0x38800000) { // normal: rounds into the exponent when the mantissa is full
        guint32 rebased = rest - ((guint32) 112 << 23);
        return sign | (guint16) ((rebased + 0x0fff + ((rebased >> 13) & 1)) >> 13);
    }
    if (rest < 0x33000000) { // below 2^-25
        return sign;
    }
    // Subnormal: mantissa with its hidden bit shifted to units of 2^-24.
    guint32 mantissa = (rest & 0x007fffff) | 0x00800000;
    guint32 shift = 126 - (rest >> 23); // 14 ... 24
    guint32 half = mantissa >> shift;
    guint32 lost = mantissa & (((guint32) 1 << shift) - 1);
    guint32 middle = (guint32) 1 << (shift - 1);
    if (lost > middle || (lost == middle && (half & 1))) {
        half++;
    }
    return sign | (guint16) half;
}

static inline float
limn_bfloat16_to_float_inline(guint16 value)
{
    return half_float_from_bits((guint32) value << 16);
}

static inline guint16
limn_float_to_bfloat16_inline(float value)
{
    guint32 bits = half_bits_from_float(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return (guint16) (bits >> 16) | 0x0040;
    }
    return (guint16) ((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}
