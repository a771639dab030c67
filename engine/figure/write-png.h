// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// PNG files by cairo with the physical resolution added: cairo writes no pHYs chunk (PNG
// specification, 11.3.5.3: pixels per unit in x and y as big-endian 32-bit numbers, unit
// 1 = metre), which is inserted right behind IHDR with its CRC.

#include "engine/figure/display-list.h"

#include <cairo.h>

// The list on a page of this size (points) in the given colour at `dpi`.
// LIMN_ERROR_ARGUMENT when that is more than cairo's 32767 pixels on a side or 2^28 in
// all; LIMN_ERROR_MEMORY.
GBytes *limn_write_png(const LimnDisplayList *list, double width, double height,
                       LimnColor page, double dpi, gboolean text_as_outlines,
                       GError **error);
// A surface as it is. dpi 0: no pHYs chunk.
GBytes *limn_surface_to_png(cairo_surface_t *surface, double dpi, GError **error);
