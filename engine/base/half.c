// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/half.h"

#include "engine/base/array.h"

float
limn_half_to_float(guint16 half)
{
    return limn_half_to_float_inline(half);
}

guint16
limn_float_to_half(float value)
{
    return limn_float_to_half_inline(value);
}

float
limn_bfloat16_to_float(guint16 value)
{
    return limn_bfloat16_to_float_inline(value);
}

guint16
limn_float_to_bfloat16(float value)
{
    return limn_float_to_bfloat16_inline(value);
}
