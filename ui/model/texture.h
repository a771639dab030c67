// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Pictures as GTK shows them: small previews made on a worker.

#include "engine/image/image.h"

#include <gtk/gtk.h>

// A texture of an 8-bit RGB or RGBA picture (others are converted). Any thread.
// Returns: (transfer full), NULL with the error.
GdkTexture *limn_texture_from_image(LimnImage *image, GError **error);
// A cairo image surface (ARGB32 or RGB24) as a texture. Returns: (transfer full)
GdkTexture *limn_texture_from_surface(cairo_surface_t *surface);

// A preview of at most size x size pixels, from a picture file; loading happens on a
// worker, the newest request first.
void limn_thumbnail_load_async(const char *path, int size, GCancellable *cancellable,
                               GAsyncReadyCallback callback, gpointer user_data);
// Returns: (transfer full) a GdkTexture, NULL with the reason.
GdkTexture *limn_thumbnail_load_finish(GAsyncResult *result, GError **error);
