// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/panel/number-list.h"

#include "engine/figure/scale.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define DIGITS 5

typedef struct {
    char *name, *value, *help;
} Row;

struct _LimnNumberList {
    GtkWidget parent_instance;
    GtkWidget *grid;
    GPtrArray *shown, *next; // Row
};

G_DEFINE_FINAL_TYPE(LimnNumberList, limn_number_list, GTK_TYPE_WIDGET)

static void
row_free(gpointer data)
{
    Row *row = data;

    g_free(row->name);
    g_free(row->value);
    g_free(row->help);
    g_free(row);
}

static void
limn_number_list_dispose(GObject *object)
{
    LimnNumberList *self = LIMN_NUMBER_LIST(object);

    g_clear_pointer(&self->grid, gtk_widget_unparent);
    g_clear_pointer(&self->shown, g_ptr_array_unref);
    g_clear_pointer(&self->next, g_ptr_array_unref);
    G_OBJECT_CLASS(limn_number_list_parent_class)->dispose(object);
}

static void
limn_number_list_class_init(LimnNumberListClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_number_list_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static void
limn_number_list_init(LimnNumberList *self)
{
    self->grid = gtk_grid_new();
    gtk_grid_set_column_spacing(GTK_GRID(self->grid), 12);
    gtk_grid_set_row_spacing(GTK_GRID(self->grid), 3);
    gtk_widget_set_parent(self->grid, GTK_WIDGET(self));
    self->shown = g_ptr_array_new_with_free_func(row_free);
    self->next = g_ptr_array_new_with_free_func(row_free);
}

GtkWidget *
limn_number_list_new(void)
{
    return g_object_new(LIMN_TYPE_NUMBER_LIST, NULL);
}

void
limn_number_list_begin(LimnNumberList *self)
{
    g_ptr_array_set_size(self->next, 0);
}

void
limn_number_list_add_text(LimnNumberList *self, const char *name, const char *text,
                          const char *help)
{
    Row *row = g_new0(Row, 1);

    row->name = g_strdup(name);
    row->value = g_strdup(text);
    row->help = g_strdup(help);
    g_ptr_array_add(self->next, row);
}

void
limn_number_list_add(LimnNumberList *self, const char *name, double value,
                     const char *help)
{
    g_autofree char *text =
        isnan(value) ? g_strdup(_("not a number")) : limn_number_display(value, DIGITS);

    limn_number_list_add_text(self, name, text, help);
}

static gboolean
same_names(const GPtrArray *a, const GPtrArray *b)
{
    if (a->len != b->len)
        return FALSE;
    for (guint i = 0; i < a->len; i++)
        if (!g_str_equal(((Row *) a->pdata[i])->name, ((Row *) b->pdata[i])->name))
            return FALSE;
    return TRUE;
}

static void
build(LimnNumberList *self)
{
    GtkWidget *child;

    while ((child = gtk_widget_get_first_child(self->grid)))
        gtk_grid_remove(GTK_GRID(self->grid), child);
    for (guint i = 0; i < self->next->len; i++) {
        const Row *row = self->next->pdata[i];
        GtkWidget *name = limn_label_new(row->name, "dim-label", FALSE);
        GtkWidget *value = limn_label_new(NULL, "numeric", FALSE);

        gtk_widget_set_hexpand(name, TRUE);
        gtk_label_set_xalign(GTK_LABEL(value), 1);
        gtk_label_set_selectable(GTK_LABEL(value), TRUE);
        gtk_widget_set_focusable(value, FALSE);
        gtk_widget_set_tooltip_text(name, row->help ? row->help : row->name);
        gtk_grid_attach(GTK_GRID(self->grid), name, 0, (int) i, 1, 1);
        gtk_grid_attach(GTK_GRID(self->grid), value, 1, (int) i, 1, 1);
    }
}

void
limn_number_list_end(LimnNumberList *self)
{
    GPtrArray *old = self->shown;

    if (!same_names(self->shown, self->next))
        build(self);
    self->shown = self->next;
    self->next = old;
    g_ptr_array_set_size(old, 0);
    for (guint i = 0; i < self->shown->len; i++) {
        const Row *row = self->shown->pdata[i];
        GtkWidget *value = gtk_grid_get_child_at(GTK_GRID(self->grid), 1, (int) i);

        gtk_label_set_text(GTK_LABEL(value), row->value);
    }
    gtk_widget_set_visible(GTK_WIDGET(self), self->shown->len > 0);
}

char *
limn_number_list_dup_text(LimnNumberList *self)
{
    GString *text = g_string_new(NULL);

    for (guint i = 0; i < self->shown->len; i++) {
        const Row *row = self->shown->pdata[i];

        g_string_append_printf(text, "%s %s\n", row->name, row->value);
    }
    return g_string_free(text, FALSE);
}
