// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/widget/wrap-box.h"

struct _LimnWrapBox {
    GtkWidget parent_instance;
    int column_spacing, row_spacing;
};

G_DEFINE_FINAL_TYPE(LimnWrapBox, limn_wrap_box, GTK_TYPE_WIDGET)

typedef struct {
    GtkWidget *first, *end; // children of the line: first .. before end
    int width, height;
} Line;

static GtkWidget *
next_visible(GtkWidget *child)
{
    while (child != NULL && !gtk_widget_should_layout(child))
        child = gtk_widget_get_next_sibling(child);
    return child;
}

static int
child_width(GtkWidget *child, int available)
{
    int minimum, natural;

    gtk_widget_measure(child, GTK_ORIENTATION_HORIZONTAL, -1, &minimum, &natural, NULL,
                       NULL);
    return MAX(minimum, MIN(natural, available));
}

static int
child_height(GtkWidget *child, int width)
{
    int natural;

    gtk_widget_measure(child, GTK_ORIENTATION_VERTICAL, width, NULL, &natural, NULL,
                       NULL);
    return natural;
}

// The line that begins with a child.
static Line
take_line(LimnWrapBox *box, GtkWidget *first, int available)
{
    Line line = {first, first, 0, 0};

    while (line.end != NULL) {
        int width = child_width(line.end, available);
        int total = line.width + (line.end != first ? box->column_spacing : 0) + width;

        if (line.end != first && total > available)
            break;
        line.width = total;
        line.height = MAX(line.height, child_height(line.end, width));
        line.end = next_visible(gtk_widget_get_next_sibling(line.end));
    }
    return line;
}

static void
measure_width(LimnWrapBox *box, int *minimum, int *natural)
{
    GtkWidget *child = next_visible(gtk_widget_get_first_child(GTK_WIDGET(box)));

    for (; child != NULL; child = next_visible(gtk_widget_get_next_sibling(child))) {
        int child_minimum, child_natural;

        gtk_widget_measure(child, GTK_ORIENTATION_HORIZONTAL, -1, &child_minimum,
                           &child_natural, NULL, NULL);
        *minimum = MAX(*minimum, child_minimum);
        *natural += child_natural + (*natural > 0 ? box->column_spacing : 0);
    }
    *natural = MAX(*natural, *minimum);
}

static int
measure_height(LimnWrapBox *box, int available)
{
    GtkWidget *child = next_visible(gtk_widget_get_first_child(GTK_WIDGET(box)));
    int height = 0;

    while (child != NULL) {
        Line line = take_line(box, child, available);

        height += line.height + (height > 0 ? box->row_spacing : 0);
        child = line.end;
    }
    return height;
}

static void
measure(GtkWidget *widget, GtkOrientation orientation, int for_size, int *minimum,
        int *natural, int *minimum_baseline, int *natural_baseline)
{
    LimnWrapBox *box = LIMN_WRAP_BOX(widget);

    *minimum = *natural = 0;
    if (orientation == GTK_ORIENTATION_HORIZONTAL)
        measure_width(box, minimum, natural);
    else
        *minimum = *natural = measure_height(box, for_size < 0 ? G_MAXINT : for_size);
}

static void
allocate_line(LimnWrapBox *box, const Line *line, int y, int available)
{
    gboolean rtl = gtk_widget_get_direction(GTK_WIDGET(box)) == GTK_TEXT_DIR_RTL;
    int x = 0;

    for (GtkWidget *child = line->first; child != line->end;
         child = next_visible(gtk_widget_get_next_sibling(child))) {
        int width = child_width(child, available);
        int height = child_height(child, width);
        GtkAllocation place = {rtl ? available - x - width : x,
                               y + (line->height - height) / 2, width, height};

        gtk_widget_size_allocate(child, &place, -1);
        x += width + box->column_spacing;
    }
}

static void
size_allocate(GtkWidget *widget, int width, int height, int baseline)
{
    LimnWrapBox *box = LIMN_WRAP_BOX(widget);
    GtkWidget *child = next_visible(gtk_widget_get_first_child(widget));
    int y = 0;

    while (child != NULL) {
        Line line = take_line(box, child, width);

        allocate_line(box, &line, y, width);
        y += line.height + box->row_spacing;
        child = line.end;
    }
}

static GtkSizeRequestMode
get_request_mode(GtkWidget *widget)
{
    return GTK_SIZE_REQUEST_HEIGHT_FOR_WIDTH;
}

static void
dispose(GObject *object)
{
    GtkWidget *child;

    while ((child = gtk_widget_get_first_child(GTK_WIDGET(object))) != NULL)
        gtk_widget_unparent(child);
    G_OBJECT_CLASS(limn_wrap_box_parent_class)->dispose(object);
}

static void
limn_wrap_box_class_init(LimnWrapBoxClass *class)
{
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

    G_OBJECT_CLASS(class)->dispose = dispose;
    widget_class->measure = measure;
    widget_class->size_allocate = size_allocate;
    widget_class->get_request_mode = get_request_mode;
    gtk_widget_class_set_css_name(widget_class, "wrapbox");
    gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_GROUP);
}

static void
limn_wrap_box_init(LimnWrapBox *box)
{
}

GtkWidget *
limn_wrap_box_new(int column_spacing, int row_spacing)
{
    LimnWrapBox *box = g_object_new(LIMN_TYPE_WRAP_BOX, NULL);

    box->column_spacing = column_spacing;
    box->row_spacing = row_spacing;
    return GTK_WIDGET(box);
}
