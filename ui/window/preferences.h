// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The preferences; every change holds at once.

#include "ui/window/window.h"

GtkWindow *limn_preferences_open(LimnWindow *window);
