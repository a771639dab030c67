// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/view-theme.h"

#include <string.h>

gboolean
limn_view_is_dark(GtkWidget *widget)
{
    g_autofree char *name = NULL;
    gboolean prefer = FALSE;

    g_object_get(gtk_widget_get_settings(widget), "gtk-application-prefer-dark-theme",
                 &prefer, "gtk-theme-name", &name, NULL);
    return prefer || (name != NULL && g_str_has_suffix(name, "-dark"));
}

void
limn_view_canvas_color(gboolean dark, guint8 rgb[3])
{
    memcpy(rgb, dark ? (guint8[]){27, 28, 31} : (guint8[]){226, 228, 232}, 3);
}

char *
limn_view_font_family(GtkWidget *widget)
{
    PangoContext *context = gtk_widget_get_pango_context(widget);
    const PangoFontDescription *font = pango_context_get_font_description(context);
    const char *family = font != NULL ? pango_font_description_get_family(font) : NULL;

    return g_strdup(family != NULL ? family : "Sans");
}
