// SPDX-License-Identifier: GPL-3.0-or-later

// Size, panels and page of the window, kept in the session.

#include "ui/window/window-private.h"

#define MIN_WIDTH 360
#define MIN_HEIGHT 294

static void
size_changed(LimnWindow *self)
{
    limn_window_keep_geometry(self);
}

void
limn_window_restore_geometry(LimnWindow *self)
{
    const LimnSession *session = limn_workspace_get_session(self->ws);

    if (session->width >= MIN_WIDTH && session->height >= MIN_HEIGHT)
        gtk_window_set_default_size(GTK_WINDOW(self), session->width, session->height);
    if (session->maximized)
        gtk_window_maximize(GTK_WINDOW(self));
    gtk_widget_set_visible(self->library, !session->library_hidden);
    self->panel_wanted = !session->panel_hidden;
    if (session->library_width > 0)
        gtk_paned_set_position(GTK_PANED(self->outer), session->library_width);
    g_signal_connect(self, "notify::default-width", G_CALLBACK(size_changed), NULL);
    g_signal_connect(self, "notify::default-height", G_CALLBACK(size_changed), NULL);
    g_signal_connect(self, "notify::maximized", G_CALLBACK(size_changed), NULL);
    g_signal_connect_swapped(self->outer, "notify::position", G_CALLBACK(size_changed),
                             self);
}

void
limn_window_keep_geometry(LimnWindow *self)
{
    LimnSession *session = limn_workspace_get_session(self->ws);

    gtk_window_get_default_size(GTK_WINDOW(self), &session->width, &session->height);
    session->maximized = gtk_window_is_maximized(GTK_WINDOW(self));
    session->library_hidden = !gtk_widget_get_visible(self->library);
    session->panel_hidden = !self->panel_wanted;
    session->library_width = gtk_paned_get_position(GTK_PANED(self->outer));
    g_free(session->page);
    session->page = g_strdup(limn_window_get_page(self));
    limn_workspace_touch(self->ws);
}
