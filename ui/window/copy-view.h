// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The view as a figure in the clipboard: SVG, PDF and PNG at once.

#include "ui/window/window.h"

void limn_copy_view(LimnWindow *window);
