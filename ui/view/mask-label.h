// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which label of a label map stands for "ignore".

#include "engine/image/image.h"

// `ignore` as it is, or -1 when the map holds nothing but 0 and it: then it is the
// object, as in the many masks that are black and white.
gint64 limn_mask_effective_ignore(const LimnImage *mask, gint64 ignore);
