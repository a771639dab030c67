// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/status-line.h"

#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

struct _LimnStatusLine {
    GtkWidget parent_instance;
    LimnWorkspace *ws;
    LimnDocument *doc;
    GtkWidget *box, *probe, *state;
};

G_DEFINE_FINAL_TYPE(LimnStatusLine, limn_status_line, GTK_TYPE_WIDGET)

static void
limn_status_line_dispose(GObject *object)
{
    LimnStatusLine *self = LIMN_STATUS_LINE(object);

    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    if (self->ws)
        g_signal_handlers_disconnect_by_data(self->ws, self);
    g_clear_object(&self->doc);
    g_clear_object(&self->ws);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_status_line_parent_class)->dispose(object);
}

static void
limn_status_line_class_init(LimnStatusLineClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_status_line_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static void
limn_status_line_init(LimnStatusLine *self)
{
    self->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    gtk_widget_add_css_class(self->box, "limn-bottom");
    self->probe = limn_label_new(NULL, "numeric", FALSE);
    gtk_widget_set_hexpand(self->probe, TRUE);
    self->state = limn_label_new(NULL, "dim-label", FALSE);
    gtk_widget_add_css_class(self->state, "numeric");
    gtk_label_set_xalign(GTK_LABEL(self->state), 1);
    gtk_box_append(GTK_BOX(self->box), self->probe);
    gtk_box_append(GTK_BOX(self->box), self->state);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
}

static void
probed(LimnCanvas *canvas, const char *text, LimnStatusLine *self)
{
    gtk_label_set_text(GTK_LABEL(self->probe), text);
}

static char *
describe(LimnStatusLine *self)
{
    guint active = limn_document_get_view(self->doc)->active;
    const LimnLiveResult *result = limn_document_get_result(self->doc, active);
    g_autofree char *path = limn_document_dup_model(self->doc);
    LimnModel *model = limn_model_store_find(limn_workspace_get_models(self->ws), path);
    g_autofree char *title =
        model ? limn_model_dup_title(model) : g_filename_display_basename(path);

    if (!limn_document_is_live_capable(self->doc))
        return g_strdup("");
    if (!result || result->error)
        return g_steal_pointer(&title);
    return g_strdup_printf(_("%s · %d × %d patches · %.0f ms"), title, result->gh,
                           result->gw, result->seconds * 1000);
}

static void
update(LimnStatusLine *self)
{
    g_autofree char *text = self->doc ? describe(self) : g_strdup("");

    gtk_label_set_text(GTK_LABEL(self->state), text);
}

static void
current_changed(LimnStatusLine *self)
{
    LimnDocument *doc = limn_workspace_get_current(self->ws);

    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_set_object(&self->doc, doc);
    gtk_label_set_text(GTK_LABEL(self->probe), "");
    if (doc) {
        g_signal_connect_swapped(doc, "results-changed", G_CALLBACK(update), self);
        g_signal_connect_swapped(doc, "data-changed", G_CALLBACK(update), self);
        g_signal_connect_swapped(doc, "view-changed", G_CALLBACK(update), self);
    }
    update(self);
}

GtkWidget *
limn_status_line_new(LimnWorkspace *ws, LimnCanvas *canvas)
{
    LimnStatusLine *self = g_object_new(LIMN_TYPE_STATUS_LINE, NULL);

    self->ws = g_object_ref(ws);
    g_signal_connect_object(canvas, "probed", G_CALLBACK(probed), self, 0);
    g_signal_connect_swapped(ws, "current-changed", G_CALLBACK(current_changed), self);
    current_changed(self);
    return GTK_WIDGET(self);
}

const char *
limn_status_line_get_text(LimnStatusLine *self)
{
    return gtk_label_get_text(GTK_LABEL(self->state));
}
