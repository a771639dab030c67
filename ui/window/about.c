// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/about.h"

#include "engine/base/parallel.h"
#include "ui/window/canvas.h"

#include <epoxy/gl.h>
#include <glib/gi18n-lib.h>
#include <string.h>

// "llvmpipe (LLVM 15.0.6, 256 bits), 4.5": who draws, by a context of our own for a
// moment. NULL without OpenGL.
static char *
dup_gl_renderer(LimnWindow *window)
{
    GdkSurface *surface = gtk_native_get_surface(GTK_NATIVE(window));
    g_autoptr(GdkGLContext) context =
        surface ? gdk_surface_create_gl_context(surface, NULL) : NULL;
    char *text = NULL;

    if (!context || !gdk_gl_context_realize(context, NULL))
        return NULL;
    gdk_gl_context_make_current(context);
    text = g_strdup_printf("%s, %s", (const char *) glGetString(GL_RENDERER),
                           (const char *) glGetString(GL_VERSION));
    gdk_gl_context_clear_current();
    return text;
}

static void
append_renderer(GString *text, LimnWindow *window)
{
    LimnPane *pane = limn_canvas_get_pane(LIMN_CANVAS(limn_window_get_canvas(window)), 0);
    LimnHeatmapView *view = limn_pane_get_view(pane);
    GskRenderer *renderer = gtk_native_get_renderer(GTK_NATIVE(window));
    const char *message = limn_heatmap_view_get_gl_message(view);
    g_autofree char *gl = dup_gl_renderer(window);

    g_string_append_printf(text, _("OpenGL: %s\n"), gl ? gl : _("none"));
    if (gtk_widget_get_realized(GTK_WIDGET(view)))
        g_string_append_printf(text, _("Maps are drawn by %s\n"),
                               limn_heatmap_view_uses_gl(view) ? "OpenGL" : "cairo");
    if (message)
        g_string_append_printf(text, "%s\n", message);
    if (renderer)
        g_string_append_printf(text, _("Window: %s\n"), G_OBJECT_TYPE_NAME(renderer));
    if (gl && (strstr(gl, "llvmpipe") || strstr(gl, "softpipe")) &&
        !g_getenv("GSK_RENDERER"))
        g_string_append(text,
                        _("OpenGL runs in software here: GSK_RENDERER=cairo makes the "
                          "window faster.\n"));
}

char *
limn_diagnostics(LimnWindow *window)
{
    GdkDisplay *display = gtk_widget_get_display(GTK_WIDGET(window));
    GString *text = g_string_new(NULL);

    g_string_append_printf(text, "Limn %s\n", LIMN_VERSION);
    g_string_append_printf(text, "GTK %u.%u.%u, GLib %u.%u.%u\n", gtk_get_major_version(),
                           gtk_get_minor_version(), gtk_get_micro_version(),
                           glib_major_version, glib_minor_version, glib_micro_version);
    g_string_append_printf(text, "%s\n", G_OBJECT_TYPE_NAME(display));
    append_renderer(text, window);
    g_string_append_printf(
        text, ngettext("%d processor\n", "%d processors\n", limn_parallel_n_processors()),
        limn_parallel_n_processors());
    return g_string_free(text, FALSE);
}

GtkWindow *
limn_about_open(LimnWindow *window)
{
    GtkWidget *dialog = gtk_about_dialog_new();
    g_autofree char *diagnostics = limn_diagnostics(window);

    g_object_set(
        dialog, "program-name", _("Limn"), "version", LIMN_VERSION, "logo-icon-name",
        LIMN_APP_ID, "license-type", GTK_LICENSE_GPL_3_0, "comments",
        _("See why a model answered as it did, correct the labels it learns from, and "
          "publish what you saw."),
        "system-information", diagnostics, NULL);
    gtk_window_set_transient_for(GTK_WINDOW(dialog), GTK_WINDOW(window));
    gtk_window_set_modal(GTK_WINDOW(dialog), TRUE);
    gtk_window_present(GTK_WINDOW(dialog));
    return GTK_WINDOW(dialog);
}
