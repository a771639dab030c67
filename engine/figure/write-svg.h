// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SVG 1.1 written by our own code, because cairo's turns text into shapes and blurs
// cells: text is <text> with its font family at exact positions, a picture is one <image>
// with a PNG inside, cells are crisp (image-rendering: pixelated, and enlarged for
// viewers that do not know it). One user unit is one point. Numbers never depend on the
// locale; identifiers are the painters' names and running numbers, so that bytes are
// repeatable. `title` (may be NULL) is one line of valid UTF-8.

#include "engine/figure/display-list.h"

GBytes *limn_write_svg(const LimnDisplayList *list, double width, double height,
                       const char *title, gboolean text_as_outlines, GError **error);
