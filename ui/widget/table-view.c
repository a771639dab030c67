// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/table-view.h"

#include "engine/figure/scale.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <math.h>

// ---- a list of row numbers

#define LIMN_TYPE_ROW_NUMBER (limn_row_number_get_type())
G_DECLARE_FINAL_TYPE(LimnRowNumber, limn_row_number, LIMN, ROW_NUMBER, GObject)

struct _LimnRowNumber {
    GObject parent_instance;
    guint number;
};

G_DEFINE_FINAL_TYPE(LimnRowNumber, limn_row_number, G_TYPE_OBJECT)

static void
limn_row_number_class_init(LimnRowNumberClass *class)
{
}

static void
limn_row_number_init(LimnRowNumber *self)
{
}

#define LIMN_TYPE_ROW_LIST (limn_row_list_get_type())
G_DECLARE_FINAL_TYPE(LimnRowList, limn_row_list, LIMN, ROW_LIST, GObject)

struct _LimnRowList {
    GObject parent_instance;
    guint n;
};

static GType
row_list_item_type(GListModel *model)
{
    return LIMN_TYPE_ROW_NUMBER;
}

static guint
row_list_n_items(GListModel *model)
{
    return LIMN_ROW_LIST(model)->n;
}

static gpointer
row_list_item(GListModel *model, guint position)
{
    LimnRowNumber *row;

    if (position >= LIMN_ROW_LIST(model)->n)
        return NULL;
    row = g_object_new(LIMN_TYPE_ROW_NUMBER, NULL);
    row->number = position;
    return row;
}

static void
row_list_interface_init(GListModelInterface *interface)
{
    interface->get_item_type = row_list_item_type;
    interface->get_n_items = row_list_n_items;
    interface->get_item = row_list_item;
}

G_DEFINE_FINAL_TYPE_WITH_CODE(LimnRowList, limn_row_list, G_TYPE_OBJECT,
                              G_IMPLEMENT_INTERFACE(G_TYPE_LIST_MODEL,
                                                    row_list_interface_init))

static void
limn_row_list_class_init(LimnRowListClass *class)
{
}

static void
limn_row_list_init(LimnRowList *self)
{
}

// ---- the view

static void
setup_cell(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer user_data)
{
    const LimnColumn *column = user_data;
    GtkWidget *label = limn_label_new(NULL, "numeric", FALSE);

    gtk_label_set_xalign(GTK_LABEL(label), column->numeric ? 1 : 0);
    gtk_list_item_set_child(item, label);
}

static void
bind_cell(GtkSignalListItemFactory *factory, GtkListItem *item, gpointer user_data)
{
    const LimnColumn *column = user_data;
    guint row = LIMN_ROW_NUMBER(gtk_list_item_get_item(item))->number;
    GtkWidget *label = gtk_list_item_get_child(item);

    if (column->numeric) {
        double value = g_array_index(column->numbers, double, row);
        g_autofree char *text =
            isnan(value) ? g_strdup("–") : limn_number_display(value, 5);

        gtk_label_set_text(GTK_LABEL(label), text);
    } else {
        const char *text = column->strings->pdata[row];

        gtk_label_set_text(GTK_LABEL(label), text ? text : "");
    }
}

static void
add_column(GtkWidget *view, const LimnColumn *column)
{
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    g_autofree char *title = column->unit
                                 ? g_strdup_printf("%s (%s)", column->name, column->unit)
                                 : g_strdup(column->name);
    GtkColumnViewColumn *view_column = gtk_column_view_column_new(title, factory);

    g_signal_connect(factory, "setup", G_CALLBACK(setup_cell), (gpointer) column);
    g_signal_connect(factory, "bind", G_CALLBACK(bind_cell), (gpointer) column);
    gtk_column_view_column_set_resizable(view_column, TRUE);
    gtk_column_view_column_set_expand(view_column, !column->numeric);
    gtk_column_view_append_column(GTK_COLUMN_VIEW(view), view_column);
    g_object_unref(view_column);
}

GtkWidget *
limn_table_view_new(LimnArtifact *artifact)
{
    LimnRowList *rows = g_object_new(LIMN_TYPE_ROW_LIST, NULL);
    GtkWidget *scroller = gtk_scrolled_window_new();
    GtkWidget *view;

    rows->n = limn_table_n_rows(artifact->table);
    view = gtk_column_view_new(
        GTK_SELECTION_MODEL(gtk_single_selection_new(G_LIST_MODEL(rows))));
    gtk_column_view_set_show_column_separators(GTK_COLUMN_VIEW(view), TRUE);
    limn_set_name(view, artifact->title ? artifact->title : artifact->name, FALSE);
    for (guint i = 0; i < artifact->table->columns->len; i++)
        add_column(view, artifact->table->columns->pdata[i]);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), view);
    // the cells read from it as long as they live
    g_object_set_data_full(G_OBJECT(view), "limn-artifact", limn_artifact_ref(artifact),
                           (GDestroyNotify) limn_artifact_unref);
    return scroller;
}
