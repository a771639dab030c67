// SPDX-License-Identifier: GPL-3.0-or-later

// Files and pictures dropped anywhere on the window.

#include "limn-config.h"

#include "ui/window/picture-paste.h"
#include "ui/window/window-private.h"

#include <glib/gi18n-lib.h>

void
limn_window_drop_files(LimnWindow *self, const GSList *files)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    guint n_remote = 0;

    for (; files; files = files->next) {
        char *path = g_file_get_path(files->data);

        if (path)
            g_ptr_array_add(paths, path);
        else
            n_remote++;
    }
    if (n_remote > 0)
        limn_workspace_message(self->ws, LIMN_MESSAGE_WARNING,
                               _("Files that do not lie on this computer cannot be "
                                 "opened: copy them here first."));
    if (paths->len == 0)
        return;
    g_ptr_array_add(paths, NULL);
    limn_workspace_open_paths(self->ws, (const char *const *) paths->pdata);
}

static gboolean
dropped(GtkDropTarget *target, const GValue *value, double x, double y, LimnWindow *self)
{
    if (G_VALUE_HOLDS(value, GDK_TYPE_FILE_LIST)) {
        GSList *files = gdk_file_list_get_files(g_value_get_boxed(value));

        limn_window_drop_files(self, files);
        g_slist_free(files);
        return TRUE;
    }
    if (G_VALUE_HOLDS(value, GDK_TYPE_TEXTURE)) {
        limn_paste_texture(self->ws, g_value_get_object(value));
        return TRUE;
    }
    return FALSE;
}

void
limn_window_accept_drops(LimnWindow *self)
{
    GType types[] = {GDK_TYPE_FILE_LIST, GDK_TYPE_TEXTURE};
    GtkDropTarget *target = gtk_drop_target_new(G_TYPE_INVALID, GDK_ACTION_COPY);

    gtk_drop_target_set_gtypes(target, types, G_N_ELEMENTS(types));
    g_signal_connect(target, "drop", G_CALLBACK(dropped), self);
    gtk_widget_add_controller(GTK_WIDGET(self), GTK_EVENT_CONTROLLER(target));
}
