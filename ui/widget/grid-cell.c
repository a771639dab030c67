// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/grid-cell.h"

#include "engine/figure/figure.h"
#include "ui/model/texture.h"
#include "ui/model/worker.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define CELL_SIZE 120
#define OVERSAMPLING 2
#define POINTS_PER_MM (72 / 25.4)

struct _LimnGridCell {
    GtkButton parent_instance;
    LimnExplainMethod method;
    char *prompt;
    GtkWidget *stack, *picture, *spinner, *empty, *failed;
    LimnLiveResult *result;
    GCancellable *drawing;
    double min, max; // drawn or being drawn
    char *colormap;
    gboolean drawn;
};

G_DEFINE_FINAL_TYPE(LimnGridCell, limn_grid_cell, GTK_TYPE_BUTTON)

static void
stop_drawing(LimnGridCell *self)
{
    if (self->drawing)
        g_cancellable_cancel(self->drawing);
    g_clear_object(&self->drawing);
}

static void
limn_grid_cell_dispose(GObject *object)
{
    LimnGridCell *self = LIMN_GRID_CELL(object);

    stop_drawing(self);
    g_clear_pointer(&self->result, limn_live_result_unref);
    g_clear_pointer(&self->prompt, g_free);
    g_clear_pointer(&self->colormap, g_free);
    G_OBJECT_CLASS(limn_grid_cell_parent_class)->dispose(object);
}

static void
limn_grid_cell_class_init(LimnGridCellClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_grid_cell_dispose;
}

static void
set_state_name(LimnGridCell *self, const char *state)
{
    g_autofree char *name = g_strdup_printf(
        "%s, %s, %s", limn_explain_method_title(self->method), self->prompt, state);

    limn_set_name(GTK_WIDGET(self), name, FALSE);
}

static void
limn_grid_cell_init(LimnGridCell *self)
{
    self->stack = gtk_stack_new();
    self->picture = gtk_image_new();
    gtk_image_set_pixel_size(GTK_IMAGE(self->picture), CELL_SIZE);
    self->spinner = gtk_spinner_new();
    self->empty = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    self->failed = gtk_image_new_from_icon_name("dialog-warning-symbolic");
    gtk_widget_set_halign(self->spinner, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(self->spinner, GTK_ALIGN_CENTER);
    gtk_stack_add_child(GTK_STACK(self->stack), self->empty);
    gtk_stack_add_child(GTK_STACK(self->stack), self->spinner);
    gtk_stack_add_child(GTK_STACK(self->stack), self->picture);
    gtk_stack_add_child(GTK_STACK(self->stack), self->failed);
    gtk_widget_set_size_request(self->stack, CELL_SIZE, CELL_SIZE);
    gtk_button_set_child(GTK_BUTTON(self), self->stack);
    gtk_widget_add_css_class(GTK_WIDGET(self), "limn-grid-cell");
    gtk_widget_add_css_class(GTK_WIDGET(self), "flat");
}

GtkWidget *
limn_grid_cell_new(const char *prompt, LimnExplainMethod method)
{
    LimnGridCell *self = g_object_new(LIMN_TYPE_GRID_CELL, NULL);

    self->prompt = g_strdup(prompt);
    self->method = method;
    limn_grid_cell_set_empty(self);
    return GTK_WIDGET(self);
}

static void
show(LimnGridCell *self, GtkWidget *child)
{
    gtk_stack_set_visible_child(GTK_STACK(self->stack), child);
    gtk_spinner_set_spinning(GTK_SPINNER(self->spinner), child == self->spinner);
}

void
limn_grid_cell_set_waiting(LimnGridCell *self)
{
    limn_grid_cell_set_result(self, NULL);
    show(self, self->spinner);
    set_state_name(self, _("being computed"));
}

void
limn_grid_cell_set_empty(LimnGridCell *self)
{
    limn_grid_cell_set_result(self, NULL);
    show(self, self->empty);
    set_state_name(self, _("not computed"));
}

void
limn_grid_cell_set_result(LimnGridCell *self, LimnLiveResult *result)
{
    stop_drawing(self);
    self->drawn = FALSE;
    g_clear_pointer(&self->result, limn_live_result_unref);
    gtk_widget_set_tooltip_text(GTK_WIDGET(self), NULL);
    if (!result)
        return;
    self->result = limn_live_result_ref(result);
    if (result->error) {
        gtk_widget_set_tooltip_text(GTK_WIDGET(self), result->error->message);
        show(self, self->failed);
        set_state_name(self, result->error->message);
    }
}

LimnLiveResult *
limn_grid_cell_get_result(LimnGridCell *self)
{
    return self->result;
}

// ---- drawing on a worker

typedef struct {
    LimnArray *map;
    LimnImage *picture;
    LimnRect rect;
    double min, max;
    char *colormap;
} Drawing;

static void
drawing_free(gpointer data)
{
    Drawing *drawing = data;

    limn_array_unref(drawing->map);
    limn_image_unref(drawing->picture);
    g_free(drawing->colormap);
    g_free(drawing);
}

static LimnFigure *
make_figure(const Drawing *drawing, GError **error)
{
    g_autoptr(GPtrArray) maps = g_ptr_array_new();
    const char *labels[] = {"", NULL};
    g_autoptr(LimnArtifact) artifact = NULL;
    LimnFigureOptions options;

    g_ptr_array_add(maps, drawing->map);
    artifact = limn_artifact_from_maps("map", maps, labels, drawing->picture,
                                       &drawing->rect, FALSE, error);
    if (!artifact)
        return NULL;
    limn_figure_options_init(&options);
    options.layout = LIMN_LAYOUT_OVERLAY;
    options.width_mm = 40;
    options.colormap = drawing->colormap;
    options.has_range = drawing->max > drawing->min;
    options.range[0] = drawing->min;
    options.range[1] = drawing->max;
    options.opacity = 0.6;
    options.interpolate = TRUE;
    options.show_caption = FALSE;
    options.show_colorbar = FALSE;
    options.show_mask = FALSE;
    options.item = 0;
    return limn_figure_new(artifact, &options, error);
}

static void
draw(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Drawing *drawing = data;
    GError *error = NULL;
    g_autoptr(LimnFigure) figure = make_figure(drawing, &error);
    cairo_surface_t *surface;
    double width, height, scale;
    cairo_t *cr;

    if (!figure) {
        g_task_return_error(task, error);
        return;
    }
    limn_figure_get_size(figure, &width, &height);
    scale = CELL_SIZE * OVERSAMPLING / MAX(width, height);
    surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (int) ceil(width * scale),
                                         (int) ceil(height * scale));
    cr = cairo_create(surface);
    cairo_scale(cr, scale, scale);
    limn_figure_draw(figure, cr);
    cairo_destroy(cr);
    g_task_return_pointer(task, limn_texture_from_surface(surface), g_object_unref);
    cairo_surface_destroy(surface);
}

static void
drawn(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnGridCell *self = LIMN_GRID_CELL(source);
    g_autoptr(GError) error = NULL;
    g_autoptr(GdkTexture) texture = g_task_propagate_pointer(G_TASK(result), &error);
    g_autofree char *cosine = NULL;
    g_autofree char *state = NULL;

    if (g_task_get_cancellable(G_TASK(result)) != self->drawing)
        return; // of an older state
    g_clear_object(&self->drawing);
    if (!texture) {
        gtk_widget_set_tooltip_text(GTK_WIDGET(self), error->message);
        show(self, self->failed);
        return;
    }
    gtk_image_set_from_paintable(GTK_IMAGE(self->picture), GDK_PAINTABLE(texture));
    show(self, self->picture);
    self->drawn = TRUE;
    cosine = limn_format_fixed(self->result ? self->result->cosine : 0, 3);
    state = g_strdup_printf(_("cosine %s"), cosine);
    gtk_widget_set_tooltip_text(GTK_WIDGET(self), state);
    set_state_name(self, state);
}

void
limn_grid_cell_draw(LimnGridCell *self, LimnImage *picture, const LimnRect *rect,
                    double min, double max, const char *colormap)
{
    g_autoptr(GTask) task = NULL;
    Drawing *drawing;

    if (!self->result || self->result->error ||
        ((self->drawn || self->drawing) && self->min == min && self->max == max &&
         g_strcmp0(self->colormap, colormap) == 0))
        return;
    stop_drawing(self);
    self->min = min;
    self->max = max;
    g_free(self->colormap);
    self->colormap = g_strdup(colormap);
    drawing = g_new0(Drawing, 1);
    drawing->map = limn_array_ref(self->result->explanation->map);
    drawing->picture = limn_image_ref(picture);
    drawing->rect = *rect;
    drawing->min = min;
    drawing->max = max;
    drawing->colormap = g_strdup(colormap);
    self->drawing = g_cancellable_new();
    task = g_task_new(self, self->drawing, drawn, NULL);
    g_task_set_task_data(task, drawing, drawing_free);
    limn_worker_run(LIMN_WORKER_THUMBNAILS, task, draw);
}

gboolean
limn_grid_cell_is_drawn(LimnGridCell *self)
{
    return self->drawn;
}
