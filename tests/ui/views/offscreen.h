// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A GL context without display or window, for the renderer's tests.

#include <glib.h>

typedef struct Offscreen Offscreen;

// GL 3.3 core or GLES 3.0; current on this thread. NULL when the machine has no such EGL.
Offscreen *offscreen_new(gboolean gles);
void offscreen_free(Offscreen *offscreen);
