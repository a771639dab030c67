// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A preview of a picture file that appears when a worker has made it; an icon stands in
// its place until then and when it cannot be made.

#include <gtk/gtk.h>

// `size`: width and height in logical pixels. `name`: what it shows, for assistive
// technology.
GtkWidget *limn_thumbnail_new(const char *path, int size, const char *name);
