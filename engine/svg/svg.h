// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SVG drawings as pictures, by librsvg. A library of its own, because the header of
// librsvg brings gdk-pixbuf. No base address is set: nothing outside the file is loaded.
//
// The picture is RGBA U8 at the size that the drawing gives itself (width and height,
// else its view box, else what it covers), at most LIMN_SVG_MAX_SIDE pixels long; larger
// drawings are scaled down, which a diagnostic says.

#define LIMN_SVG_MAX_SIDE 4096

// Makes limn_picture_load() and its relatives read SVG. May be called again.
void limn_svg_init(void);
