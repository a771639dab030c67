// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/figure-view.h"

#include "ui/widget/helpers.h"

#define MARGIN 12
#define MAX_SCALE 4.0 // pixels per point

struct _LimnFigureView {
    GtkWidget parent_instance;
    LimnFigure *figure;
};

G_DEFINE_FINAL_TYPE(LimnFigureView, limn_figure_view, GTK_TYPE_WIDGET)

static void
limn_figure_view_finalize(GObject *object)
{
    LimnFigureView *self = LIMN_FIGURE_VIEW(object);

    g_clear_pointer(&self->figure, limn_figure_free);
    G_OBJECT_CLASS(limn_figure_view_parent_class)->finalize(object);
}

static void
limn_figure_view_snapshot(GtkWidget *widget, GtkSnapshot *snapshot)
{
    LimnFigureView *self = LIMN_FIGURE_VIEW(widget);
    int width = gtk_widget_get_width(widget), height = gtk_widget_get_height(widget);
    double w, h, scale, x, y;
    cairo_t *cr;

    if (!self->figure || width <= 2 * MARGIN || height <= 2 * MARGIN)
        return;
    limn_figure_get_size(self->figure, &w, &h);
    scale = MIN((width - 2 * MARGIN) / w, (height - 2 * MARGIN) / h);
    scale = MIN(scale, MAX_SCALE);
    x = (int) ((width - w * scale) / 2);
    y = (int) ((height - h * scale) / 2);
    cr = gtk_snapshot_append_cairo(snapshot, &GRAPHENE_RECT_INIT(0, 0, width, height));
    cairo_rectangle(cr, x, y, w * scale, h * scale);
    cairo_set_source_rgb(cr, 1, 1, 1);
    cairo_fill(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, scale, scale);
    limn_figure_draw(self->figure, cr);
    cairo_destroy(cr);
}

static void
limn_figure_view_measure(GtkWidget *widget, GtkOrientation orientation, int for_size,
                         int *minimum, int *natural, int *minimum_baseline,
                         int *natural_baseline)
{
    *minimum = 80;
    *natural = 360;
}

static void
limn_figure_view_class_init(LimnFigureViewClass *class)
{
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

    G_OBJECT_CLASS(class)->finalize = limn_figure_view_finalize;
    widget_class->snapshot = limn_figure_view_snapshot;
    widget_class->measure = limn_figure_view_measure;
    gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
}

static void
limn_figure_view_init(LimnFigureView *self)
{
}

GtkWidget *
limn_figure_view_new(const char *name)
{
    GtkWidget *widget = g_object_new(LIMN_TYPE_FIGURE_VIEW, NULL);

    limn_set_name(widget, name, FALSE);
    return widget;
}

void
limn_figure_view_set_figure(LimnFigureView *self, LimnFigure *figure)
{
    g_clear_pointer(&self->figure, limn_figure_free);
    self->figure = figure;
    gtk_widget_queue_draw(GTK_WIDGET(self));
}

LimnFigure *
limn_figure_view_get_figure(LimnFigureView *self)
{
    return self->figure;
}
