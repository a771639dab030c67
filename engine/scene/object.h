// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// One drawing as it appears in a scene: scaled, mirrored, with changed colours.

#include "engine/base/rng.h"

// size x size, not premultiplied RGBA. Returns: (transfer full)
guint8 *limn_object_render(const guint32 *drawing, int size, LimnRng *rng,
                           double augment);
