// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/thumbnail.h"

#include "ui/model/texture.h"
#include "ui/widget/helpers.h"

#define OVERSAMPLING 2 // sharp at scale factor 2

static void
loaded(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GtkStack) stack = user_data;
    g_autoptr(GError) error = NULL;
    g_autoptr(GdkTexture) texture = limn_thumbnail_load_finish(result, &error);

    if (texture) {
        GtkWidget *picture = gtk_stack_get_child_by_name(stack, "picture");

        gtk_image_set_from_paintable(GTK_IMAGE(picture), GDK_PAINTABLE(texture));
        gtk_stack_set_visible_child(stack, picture);
    } else if (!g_error_matches(error, G_IO_ERROR, G_IO_ERROR_CANCELLED)) {
        gtk_widget_set_tooltip_text(GTK_WIDGET(stack), error->message);
    }
}

static void
cancel(gpointer data)
{
    g_cancellable_cancel(data);
    g_object_unref(data);
}

GtkWidget *
limn_thumbnail_new(const char *path, int size, const char *name)
{
    GtkWidget *stack = gtk_stack_new();
    GtkWidget *icon = gtk_image_new_from_icon_name("limn-picture-symbolic");
    GtkWidget *picture = gtk_image_new(); // keeps its size, whatever the texture's is
    GCancellable *cancellable = g_cancellable_new();

    gtk_widget_set_size_request(stack, size, size);
    gtk_widget_set_overflow(stack, GTK_OVERFLOW_HIDDEN);
    gtk_widget_add_css_class(stack, "limn-thumbnail");
    gtk_widget_add_css_class(icon, "dim-label");
    gtk_image_set_pixel_size(GTK_IMAGE(icon), MIN(32, size / 2));
    gtk_image_set_pixel_size(GTK_IMAGE(picture), size);
    limn_set_name(picture, name, FALSE);
    gtk_stack_add_named(GTK_STACK(stack), icon, "icon");
    gtk_stack_add_named(GTK_STACK(stack), picture, "picture");
    g_object_set_data_full(G_OBJECT(stack), "limn-load", cancellable, cancel);
    limn_thumbnail_load_async(path, size * OVERSAMPLING, cancellable, loaded,
                              g_object_ref(stack));
    return stack;
}
