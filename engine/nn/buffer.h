// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Work space of kernels: floats that are not cleared, 64-byte aligned. Freed with free();
// g_autoptr(LimnFloats) does it.

#include <stdlib.h>

#include "engine/base/types.h"

typedef float LimnFloats;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnFloats, free)

// a * b floats. LIMN_ERROR_MEMORY with both numbers when they cannot be had.
float *limn_floats_new(gsize a, gsize b, GError **error);
