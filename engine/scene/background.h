// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Backgrounds of scenes.

#include "engine/base/rng.h"
#include "engine/scene/scene.h"

// Fills n x n RGB bytes.
void limn_background_paint(LimnBackground kind, LimnRng *rng, int n, guint8 *rgb);
