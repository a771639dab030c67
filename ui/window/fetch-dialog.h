// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Fetching a checkpoint from a hub: the only place where the window uses the network, and
// only when the button is pressed.

#include "ui/window/window.h"

#define LIMN_TYPE_FETCH_DIALOG (limn_fetch_dialog_get_type())
G_DECLARE_FINAL_TYPE(LimnFetchDialog, limn_fetch_dialog, LIMN, FETCH_DIALOG, GtkWindow)

LimnFetchDialog *limn_fetch_dialog_open(LimnWindow *window);
// As if typed and pressed (tests).
void limn_fetch_dialog_start(LimnFetchDialog *dialog, const char *name, const char *base,
                             const char *folder);
const char *limn_fetch_dialog_get_status(LimnFetchDialog *dialog);
gboolean limn_fetch_dialog_is_running(LimnFetchDialog *dialog);
