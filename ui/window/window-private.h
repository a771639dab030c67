// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/widget/message-bar.h"
#include "ui/window/window.h"

struct _LimnWindow {
    GtkApplicationWindow parent_instance;
    LimnWorkspace *ws;
    // from the template
    GtkWidget *header, *title, *subtitle, *library_button, *open_button, *undo_button,
        *recent_button, *redo_button, *menu_button, *panel_button, *export_button;
    LimnMessageBar *messages;
    GtkWidget *outer, *inner, *pages, *bottom;
    // made in code
    GtkWidget *library, *welcome, *canvas, *models, *panel, *strip, *status;
    gboolean panel_wanted; // the user wants the study panel where there is a study
};

// Session geometry (window-session.c).
void limn_window_restore_geometry(LimnWindow *window);
void limn_window_keep_geometry(LimnWindow *window);
// Dropping files and pictures (window-drop.c).
void limn_window_accept_drops(LimnWindow *window);
// Titles, undo tooltips, sensitivity of actions.
void limn_window_update(LimnWindow *window);
