// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A picture of a folder, with its preview once it was asked for, or the reason why it
// cannot be shown. Main thread.

#include <gtk/gtk.h>

#define LIMN_TYPE_FOLDER_ITEM (limn_folder_item_get_type())
G_DECLARE_FINAL_TYPE(LimnFolderItem, limn_folder_item, LIMN, FOLDER_ITEM, GObject)

// Signal "changed" when preview or reason came.
LimnFolderItem *limn_folder_item_new(const char *path);
const char *limn_folder_item_get_path(LimnFolderItem *item);
const char *limn_folder_item_get_name(LimnFolderItem *item);  // may be shown
const char *limn_folder_item_get_error(LimnFolderItem *item); // NULL: none known
void limn_folder_item_set_error(LimnFolderItem *item, const char *message);
// Starts loading the preview when it is not there.
void limn_folder_item_want_texture(LimnFolderItem *item);
GdkTexture *limn_folder_item_get_texture(LimnFolderItem *item); // borrowed, NULL
