// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From the values of a study's panel to what the live explainer takes, by the code that
// the operations themselves use.

#include "ui/model/document.h"

typedef struct {
    LimnExplainOptions options; // the method is the pane's, set it afterwards
    LimnSide side;
    LimnPreprocessMode mode;
    int keep_limit;
} LimnLiveSettings;

// A parameter with an impossible value counts as not set.
void limn_live_settings_read(LimnDocument *doc, LimnLiveSettings *settings);
