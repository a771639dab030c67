// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Range of a heat-map view: which values its colours cover. Large maps are looked at
// aside; a sample of their values stands in until that is done ("range-changed" follows).

#include "ui/view/heatmap-view.h"

void limn_heatmap_view_update_scale(LimnHeatmapView *view);
