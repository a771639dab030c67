// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/nn/buffer.h"

#include "engine/base/error.h"

#define ALIGNMENT ((gsize) 64)

float *
limn_floats_new(gsize a, gsize b, GError **error)
{
    gsize n = 0, bytes = 0;
    float *floats = NULL;
    if (g_size_checked_mul(&n, a, b) && g_size_checked_mul(&bytes, n, sizeof(float)) &&
        g_size_checked_add(&bytes, bytes, ALIGNMENT - 1)) {
        floats = aligned_alloc(ALIGNMENT, MAX(bytes / ALIGNMENT * ALIGNMENT, ALIGNMENT));
    }
    if (floats == NULL && (error == NULL || *error == NULL)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "not enough memory for %" G_GSIZE_FORMAT " x %" G_GSIZE_FORMAT
                    " numbers",
                    a, b);
    }
    return floats;
}
