// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/pane-grid.h"

#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

#define GAP 6       // between panes; the border is dragged there
#define SMALLEST 60 // of a pane, in logical pixels
#define STEP 16     // of the arrow keys

struct _LimnPaneGrid {
    GtkWidget parent_instance;
    GtkWidget *children[LIMN_PANE_GRID_MAX];
    guint n_children, n_shown;
    GtkWidget *column_border, *row_border; // where they can be dragged
    double column, row;                    // share of the first column and row
};

G_DEFINE_FINAL_TYPE(LimnPaneGrid, limn_pane_grid, GTK_TYPE_WIDGET)

static void
limn_pane_grid_dispose(GObject *object)
{
    LimnPaneGrid *self = LIMN_PANE_GRID(object);

    for (guint i = 0; i < self->n_children; i++)
        g_clear_pointer(&self->children[i], gtk_widget_unparent);
    g_clear_pointer(&self->column_border, gtk_widget_unparent);
    g_clear_pointer(&self->row_border, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_pane_grid_parent_class)->dispose(object);
}

// Number of columns and rows for n panes in that space.
static void
get_shape(guint n, int width, int height, guint *columns, guint *rows)
{
    if (n <= 1) {
        *columns = *rows = 1;
    } else if (n == 2) {
        *columns = width >= height ? 2 : 1;
        *rows = 3 - *columns;
    } else if (n == 3 && width >= 2.4 * height) {
        *columns = 3;
        *rows = 1;
    } else {
        *columns = *rows = 2;
    }
}

// Begin and size of part i of n along one direction.
static void
get_span(int length, guint n, guint i, double share, int *begin, int *size)
{
    int rest = MAX(length - GAP * ((int) n - 1), 0);

    if (n == 1) {
        *begin = 0;
        *size = length;
    } else if (n == 2) {
        int first = CLAMP((int) (rest * share + 0.5), MIN(SMALLEST, rest / 2),
                          MAX(rest - SMALLEST, rest / 2));

        *begin = i == 0 ? 0 : first + GAP;
        *size = i == 0 ? first : rest - first;
    } else {
        *begin = (int) i * (rest + GAP * ((int) n - 1)) / (int) n + (i ? GAP / 2 : 0);
        *size = rest / (int) n;
    }
}

static void
allocate_border(GtkWidget *border, gboolean shown, int x, int y, int width, int height)
{
    GtkAllocation place = {x, y, MAX(width, 1), MAX(height, 1)};

    gtk_widget_set_child_visible(border, shown);
    if (shown)
        gtk_widget_size_allocate(border, &place, -1);
}

static void
limn_pane_grid_size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
    LimnPaneGrid *self = LIMN_PANE_GRID(widget);
    guint columns, rows;
    int x, y, w, h;

    get_shape(self->n_shown, width, height, &columns, &rows);
    for (guint i = 0; i < self->n_children; i++) {
        guint column = i % columns, row = i / columns;
        GtkAllocation place;

        gtk_widget_set_child_visible(self->children[i], i < self->n_shown);
        if (i >= self->n_shown)
            continue;
        get_span(width, columns, column, self->column, &x, &w);
        get_span(height, rows, row, self->row, &y, &h);
        if (self->n_shown == 3 && columns == 2 && i == 2) { // the third takes the row
            x = 0;
            w = width;
        }
        place = (GtkAllocation){x, y, MAX(w, 1), MAX(h, 1)};
        gtk_widget_size_allocate(self->children[i], &place, -1);
    }
    get_span(width, columns, 1, self->column, &x, &w);
    get_span(height, rows, 1, self->row, &y, &h);
    allocate_border(self->column_border, columns == 2, x - GAP, 0, GAP,
                    self->n_shown == 3 ? y - GAP : height);
    allocate_border(self->row_border, rows == 2, 0, y - GAP, width, GAP);
}

static void
limn_pane_grid_measure(GtkWidget *widget, GtkOrientation orientation, int for_size,
                       int *minimum, int *natural, int *minimum_baseline,
                       int *natural_baseline)
{
    LimnPaneGrid *self = LIMN_PANE_GRID(widget);

    // panes may become smaller than they would like: the window comes first
    *minimum = *natural = 0;
    for (guint i = 0; i < self->n_shown; i++) {
        int min, nat;

        gtk_widget_measure(self->children[i], orientation, -1, &min, &nat, NULL, NULL);
        *minimum = MAX(*minimum, min);
        *natural = MAX(*natural, nat);
    }
}

static void
limn_pane_grid_class_init(LimnPaneGridClass *class)
{
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

    G_OBJECT_CLASS(class)->dispose = limn_pane_grid_dispose;
    widget_class->measure = limn_pane_grid_measure;
    widget_class->size_allocate = limn_pane_grid_size_allocate;
}

// ---- borders

static double *
share_of(LimnPaneGrid *self, GtkWidget *border)
{
    return border == self->column_border ? &self->column : &self->row;
}

static double
length_of(LimnPaneGrid *self, GtkWidget *border)
{
    int length = border == self->column_border ? gtk_widget_get_width(GTK_WIDGET(self))
                                               : gtk_widget_get_height(GTK_WIDGET(self));

    return MAX(length - GAP, 1);
}

static void
set_share(LimnPaneGrid *self, GtkWidget *border, double share)
{
    *share_of(self, border) = CLAMP(share, 0.1, 0.9);
    gtk_widget_queue_allocate(GTK_WIDGET(self));
}

// The border follows the pointer, so that the offset is always what it moved since.
static void
drag_update(GtkGestureDrag *drag, double dx, double dy, LimnPaneGrid *self)
{
    GtkWidget *border = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(drag));
    double moved = (border == self->column_border ? dx : dy) / length_of(self, border);

    set_share(self, border, *share_of(self, border) + moved);
}

static gboolean
key_pressed(GtkEventControllerKey *controller, guint key, guint code,
            GdkModifierType state, LimnPaneGrid *self)
{
    GtkWidget *border = gtk_event_controller_get_widget(GTK_EVENT_CONTROLLER(controller));
    gboolean column = border == self->column_border;
    double step = STEP / length_of(self, border);

    if (key == (column ? GDK_KEY_Left : GDK_KEY_Up))
        set_share(self, border, *share_of(self, border) - step);
    else if (key == (column ? GDK_KEY_Right : GDK_KEY_Down))
        set_share(self, border, *share_of(self, border) + step);
    else if (key == GDK_KEY_Home)
        set_share(self, border, 0.5);
    else
        return FALSE;
    return TRUE;
}

static GtkWidget *
make_border(LimnPaneGrid *self, const char *name, const char *cursor)
{
    GtkWidget *border = gtk_drawing_area_new();
    GtkGesture *drag = gtk_gesture_drag_new();
    GtkEventController *keys = gtk_event_controller_key_new();

    gtk_widget_add_css_class(border, "limn-border");
    gtk_widget_set_focusable(border, TRUE);
    gtk_widget_set_cursor_from_name(border, cursor);
    limn_set_name(border, name, FALSE);
    g_signal_connect(drag, "drag-update", G_CALLBACK(drag_update), self);
    g_signal_connect(keys, "key-pressed", G_CALLBACK(key_pressed), self);
    gtk_widget_add_controller(border, GTK_EVENT_CONTROLLER(drag));
    gtk_widget_add_controller(border, keys);
    gtk_widget_set_parent(border, GTK_WIDGET(self));
    return border;
}

static void
limn_pane_grid_init(LimnPaneGrid *self)
{
    self->column = self->row = 0.5;
    self->n_shown = 1;
    gtk_widget_set_overflow(GTK_WIDGET(self), GTK_OVERFLOW_HIDDEN);
    self->column_border = make_border(self, _("Border between columns"), "col-resize");
    self->row_border = make_border(self, _("Border between rows"), "row-resize");
}

GtkWidget *
limn_pane_grid_new(void)
{
    return g_object_new(LIMN_TYPE_PANE_GRID, NULL);
}

void
limn_pane_grid_add(LimnPaneGrid *self, GtkWidget *child)
{
    g_return_if_fail(self->n_children < LIMN_PANE_GRID_MAX);
    self->children[self->n_children++] = child;
    gtk_widget_insert_before(child, GTK_WIDGET(self), self->column_border);
}

void
limn_pane_grid_set_n_shown(LimnPaneGrid *self, guint n)
{
    n = CLAMP(n, 1, self->n_children);
    if (self->n_shown == n)
        return;
    self->n_shown = n;
    gtk_widget_queue_resize(GTK_WIDGET(self));
}

guint
limn_pane_grid_get_n_shown(LimnPaneGrid *self)
{
    return self->n_shown;
}
