// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The export of a figure: what, format, size, colours, caption, with a live preview drawn
// by the same painters. Writing runs on a worker; the file appears whole or not at all.

#include "ui/window/window.h"

#define LIMN_TYPE_EXPORT_DIALOG (limn_export_dialog_get_type())
G_DECLARE_FINAL_TYPE(LimnExportDialog, limn_export_dialog, LIMN, EXPORT_DIALOG, GtkWindow)

// Opens it over the window; a message when there is nothing to export.
LimnExportDialog *limn_export_dialog_open(LimnWindow *window);
// Exports as if that path had been chosen (tests); the extension decides the format.
void limn_export_dialog_export_to(LimnExportDialog *dialog, const char *path);
gboolean limn_export_dialog_has_preview(LimnExportDialog *dialog);
