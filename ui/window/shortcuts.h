// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The keys of the window in a window of their own, made from the table of actions.

#include "ui/window/window.h"

GtkWindow *limn_shortcuts_open(LimnWindow *window);
