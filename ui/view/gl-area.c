// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/gl-area.h"

#include <epoxy/gl.h>

// A realized context of the first kind that works.
static GdkGLContext *
make_context(GdkSurface *surface, GError **error)
{
    static const struct {
        GdkGLAPI api;
        int major, minor;
    } kinds[] = {{GDK_GL_API_GL, 3, 3}, {GDK_GL_API_GLES, 3, 0}};
    g_autoptr(GError) last = NULL;

    for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++) {
        g_autoptr(GdkGLContext) context = NULL;

        g_clear_error(&last);
        context = gdk_surface_create_gl_context(surface, &last);
        if (context == NULL)
            continue;
        gdk_gl_context_set_allowed_apis(context, kinds[i].api);
        gdk_gl_context_set_required_version(context, kinds[i].major, kinds[i].minor);
        if (gdk_gl_context_realize(context, &last))
            return g_steal_pointer(&context);
    }
    g_propagate_error(error, g_steal_pointer(&last));
    return NULL;
}

static GdkGLContext *
create_context(GtkGLArea *area, gpointer unused)
{
    g_autoptr(GError) error = NULL;
    GdkSurface *surface = gtk_native_get_surface(gtk_widget_get_native(GTK_WIDGET(area)));
    GdkGLContext *context = make_context(surface, &error);

    if (context == NULL)
        gtk_gl_area_set_error(area, error);
    return context;
}

gboolean
limn_gl_area_is_possible(GtkWidget *widget, GError **error)
{
    static const char *key = "limn-gl-message";
    GdkDisplay *display = gtk_widget_get_display(widget);
    const char *message = g_object_get_data(G_OBJECT(display), key);

    if (message == NULL) {
        g_autoptr(GError) reason = NULL;
        g_autoptr(GdkGLContext) context =
            make_context(gtk_native_get_surface(gtk_widget_get_native(widget)), &reason);

        message = context != NULL ? "" : reason->message;
        g_object_set_data_full(G_OBJECT(display), key, g_strdup(message), g_free);
        message = g_object_get_data(G_OBJECT(display), key);
    }
    if (*message == '\0')
        return TRUE;
    g_set_error_literal(error, GDK_GL_ERROR, GDK_GL_ERROR_NOT_AVAILABLE, message);
    return FALSE;
}

GtkWidget *
limn_gl_area_new(void)
{
    GtkWidget *area =
        g_object_new(GTK_TYPE_GL_AREA, "auto-render", FALSE, "accessible-role",
                     GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);

    g_signal_connect(area, "create-context", G_CALLBACK(create_context), NULL);
    return area;
}

char *
limn_gl_area_describe_current(void)
{
    return g_strdup_printf("%s %s, %s", epoxy_is_desktop_gl() ? "OpenGL" : "OpenGL ES",
                           (const char *) glGetString(GL_VERSION),
                           (const char *) glGetString(GL_RENDERER));
}
