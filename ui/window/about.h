// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Version, licence and what drawing uses on this computer.

#include "ui/window/window.h"

GtkWindow *limn_about_open(LimnWindow *window);
// The lines for a report: versions, renderer, processors, session. (transfer full)
char *limn_diagnostics(LimnWindow *window);
