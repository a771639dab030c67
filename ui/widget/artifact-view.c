// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/artifact-view.h"

#include "ui/view/text-view.h"
#include "ui/widget/figure-view.h"
#include "ui/widget/helpers.h"
#include "ui/widget/table-view.h"

#include <glib/gi18n-lib.h>

struct _LimnArtifactView {
    GtkWidget parent_instance;
    GtkWidget *child;
    LimnArtifact *artifact;
    gint64 item;
};

G_DEFINE_FINAL_TYPE(LimnArtifactView, limn_artifact_view, GTK_TYPE_WIDGET)

static void
limn_artifact_view_dispose(GObject *object)
{
    LimnArtifactView *self = LIMN_ARTIFACT_VIEW(object);

    g_clear_pointer(&self->child, gtk_widget_unparent);
    g_clear_pointer(&self->artifact, limn_artifact_unref);
    G_OBJECT_CLASS(limn_artifact_view_parent_class)->dispose(object);
}

static void
limn_artifact_view_class_init(LimnArtifactViewClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_artifact_view_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static void
limn_artifact_view_init(LimnArtifactView *self)
{
}

static GtkWidget *
make_figure(LimnArtifact *artifact, gint64 item)
{
    LimnFigureOptions options;
    g_autoptr(GError) error = NULL;
    LimnFigure *figure;
    GtkWidget *view;

    limn_figure_options_init(&options);
    options.width_mm = 160;
    options.item = -1;
    figure = limn_figure_new(artifact, &options, &error);
    if (!figure)
        return limn_status_page_new("limn-study-symbolic", artifact->name,
                                    error->message);
    view = limn_figure_view_new(artifact->title ? artifact->title : artifact->name);
    limn_figure_view_set_figure(LIMN_FIGURE_VIEW(view), figure);
    return view;
}

// Curves with their numbers on a second page.
static GtkWidget *
make_series(LimnArtifact *artifact, gint64 item)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *stack = gtk_stack_new();
    GtkWidget *switcher = gtk_stack_switcher_new();

    gtk_stack_add_titled(GTK_STACK(stack), make_figure(artifact, item), "figure",
                         _("Figure"));
    gtk_stack_add_titled(GTK_STACK(stack), limn_table_view_new(artifact), "numbers",
                         _("Numbers"));
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(switcher), GTK_STACK(stack));
    gtk_widget_set_halign(switcher, GTK_ALIGN_CENTER);
    gtk_widget_set_vexpand(stack, TRUE);
    gtk_box_append(GTK_BOX(box), switcher);
    gtk_box_append(GTK_BOX(box), stack);
    return box;
}

static GtkWidget *
make_text(LimnArtifact *artifact, gint64 item)
{
    GtkWidget *scroller = gtk_scrolled_window_new();
    GtkWidget *view = limn_text_view_new();

    if (artifact->texts && item < (gint64) artifact->texts->len)
        limn_text_view_set_item(LIMN_TEXT_VIEW(view),
                                artifact->texts->pdata[(guint) item]);
    gtk_widget_add_css_class(view, "limn-words");
    gtk_widget_set_valign(view, GTK_ALIGN_START);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), view);
    return scroller;
}

static GtkWidget *
make_description(LimnArtifact *artifact)
{
    g_autofree char *shape =
        artifact->array ? limn_array_describe_shape(artifact->array) : NULL;
    g_autofree char *path =
        artifact->path ? g_filename_display_name(artifact->path) : NULL;
    g_autofree char *text = NULL;

    if (shape)
        text = g_strdup_printf(
            _("Numbers of the shape %s (%s), saved in the study's folder."), shape,
            limn_dtype_name(artifact->array->dtype));
    else if (path)
        text = g_strdup_printf(_("A checkpoint, saved as %s."), path);
    else
        text = g_strdup(_("Saved in the study's folder."));
    return limn_status_page_new("limn-study-symbolic",
                                artifact->title ? artifact->title : artifact->name, text);
}

static GtkWidget *
make_child(LimnArtifact *artifact, gint64 item)
{
    switch (artifact->kind) {
    case LIMN_ARTIFACT_SERIES:
        return make_series(artifact, item);
    case LIMN_ARTIFACT_TABLE:
        return limn_table_view_new(artifact);
    case LIMN_ARTIFACT_TEXT:
        return make_text(artifact, item);
    default:
        return make_description(artifact);
    }
}

void
limn_artifact_view_set(LimnArtifactView *self, LimnArtifact *artifact, gint64 item)
{
    if (self->artifact == artifact && self->item == item)
        return;
    g_clear_pointer(&self->child, gtk_widget_unparent);
    g_clear_pointer(&self->artifact, limn_artifact_unref);
    self->item = item;
    if (!artifact)
        return;
    self->artifact = limn_artifact_ref(artifact);
    self->child = make_child(artifact, item);
    gtk_widget_set_parent(self->child, GTK_WIDGET(self));
}

GtkWidget *
limn_artifact_view_new(void)
{
    return g_object_new(LIMN_TYPE_ARTIFACT_VIEW, NULL);
}
