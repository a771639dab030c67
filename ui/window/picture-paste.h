// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Pictures from the clipboard or from a drop that has no file.

#include "ui/model/workspace.h"

#include <gtk/gtk.h>

void limn_paste_texture(LimnWorkspace *ws, GdkTexture *texture);
// Asks the clipboard for files or a picture, whichever it has.
void limn_paste_from_clipboard(LimnWorkspace *ws, GdkClipboard *clipboard);
