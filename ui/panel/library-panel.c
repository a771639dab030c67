// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/panel/library-panel.h"

#include "ui/panel/study-row.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _LimnLibraryPanel {
    GtkWidget parent_instance;
    LimnWorkspace *ws;
    GtkWidget *box, *search, *pages, *studies, *operations, *studies_heading, *nothing;
    char *needle; // folded search text
    char *page;
};

static guint page_signal;

G_DEFINE_FINAL_TYPE(LimnLibraryPanel, limn_library_panel, GTK_TYPE_WIDGET)

static void
limn_library_panel_dispose(GObject *object)
{
    LimnLibraryPanel *self = LIMN_LIBRARY_PANEL(object);

    if (self->ws) {
        g_signal_handlers_disconnect_by_data(self->ws, self);
        g_signal_handlers_disconnect_by_data(limn_workspace_get_documents(self->ws),
                                             self);
    }
    g_clear_object(&self->ws);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_pointer(&self->needle, g_free);
    g_clear_pointer(&self->page, g_free);
    G_OBJECT_CLASS(limn_library_panel_parent_class)->dispose(object);
}

static void
limn_library_panel_class_init(LimnLibraryPanelClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_library_panel_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
    page_signal = g_signal_new("page", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0,
                               NULL, NULL, NULL, G_TYPE_NONE, 1, G_TYPE_STRING);
}

static void
tell_page(LimnLibraryPanel *self, const char *page)
{
    g_signal_emit(self, page_signal, 0, page);
}

// ---- rows

static GtkWidget *
make_row(const char *icon, const char *title, const char *key)
{
    GtkWidget *row = gtk_list_box_row_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *label = limn_label_new(title, NULL, FALSE);

    gtk_box_append(GTK_BOX(box), gtk_image_new_from_icon_name(icon));
    gtk_widget_set_hexpand(label, TRUE);
    gtk_box_append(GTK_BOX(box), label);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    limn_set_name(row, title, FALSE);
    g_object_set_data_full(G_OBJECT(row), "limn-key", g_strdup(key), g_free);
    return row;
}

static const char *
row_key(GtkListBoxRow *row)
{
    return g_object_get_data(G_OBJECT(row), "limn-key");
}

static GtkWidget *
operation_row(const LimnOperation *operation)
{
    static const char *const icons[] = {
        "limn-explain-symbolic",   "limn-correct-symbolic",  "limn-graphs-symbolic",
        "limn-diffusion-symbolic", "limn-learning-symbolic", "limn-language-symbolic"};
    GtkWidget *row =
        make_row(icons[operation->family], _(operation->title), operation->id);

    gtk_widget_set_tooltip_text(row, _(operation->summary));
    g_object_set_data(G_OBJECT(row), "limn-operation", (gpointer) operation);
    return row;
}

static void
operation_header(GtkListBoxRow *row, GtkListBoxRow *before, gpointer user_data)
{
    const LimnOperation *a = g_object_get_data(G_OBJECT(row), "limn-operation");
    const LimnOperation *b =
        before ? g_object_get_data(G_OBJECT(before), "limn-operation") : NULL;
    GtkWidget *label;

    if (b && a->family == b->family) {
        gtk_list_box_row_set_header(row, NULL);
        return;
    }
    label = limn_label_new(limn_family_title(a->family), "limn-family", FALSE);
    gtk_list_box_row_set_header(row, label);
}

static void
fill_operations(LimnLibraryPanel *self)
{
    const LimnOperation *const *operations = limn_registry_get();

    for (int family = LIMN_FAMILY_EXPLAIN; family <= LIMN_FAMILY_LANGUAGE; family++)
        for (gsize i = 0; operations && operations[i]; i++)
            if (operations[i]->family == (LimnFamily) family)
                gtk_list_box_append(GTK_LIST_BOX(self->operations),
                                    operation_row(operations[i]));
}

// ---- studies

static void
select_current(LimnLibraryPanel *self)
{
    LimnDocument *current = limn_workspace_get_current(self->ws);
    GtkWidget *row = gtk_widget_get_first_child(self->studies);
    gboolean shown = g_strcmp0(self->page, "study") == 0;

    gtk_list_box_unselect_all(GTK_LIST_BOX(self->studies));
    for (; row && shown; row = gtk_widget_get_next_sibling(row))
        if (LIMN_IS_STUDY_ROW(row) &&
            limn_study_row_get_document(LIMN_STUDY_ROW(row)) == current)
            gtk_list_box_select_row(GTK_LIST_BOX(self->studies), GTK_LIST_BOX_ROW(row));
    for (row = gtk_widget_get_first_child(self->pages); row;
         row = gtk_widget_get_next_sibling(row)) {
        if (g_strcmp0(row_key(GTK_LIST_BOX_ROW(row)), self->page) == 0)
            gtk_list_box_select_row(GTK_LIST_BOX(self->pages), GTK_LIST_BOX_ROW(row));
        else if (shown)
            gtk_list_box_unselect_all(GTK_LIST_BOX(self->pages));
    }
}

static void
documents_changed(GListModel *model, guint position, guint removed, guint added,
                  LimnLibraryPanel *self)
{
    GtkListBox *list = GTK_LIST_BOX(self->studies);

    for (guint i = 0; i < removed; i++)
        gtk_list_box_remove(
            list, GTK_WIDGET(gtk_list_box_get_row_at_index(list, (int) position)));
    for (guint i = 0; i < added; i++) {
        g_autoptr(LimnDocument) doc = g_list_model_get_item(model, position + i);

        gtk_list_box_insert(list, limn_study_row_new(self->ws, doc),
                            (int) (position + i));
    }
    gtk_widget_set_visible(self->studies_heading, g_list_model_get_n_items(model) > 0);
    gtk_widget_set_visible(self->studies, g_list_model_get_n_items(model) > 0);
    select_current(self);
}

// ---- search

static gboolean
matches(LimnLibraryPanel *self, const char *text)
{
    g_autofree char *folded = g_utf8_casefold(text, -1);

    return !self->needle || !*self->needle || strstr(folded, self->needle) != NULL;
}

static gboolean
filter_study(GtkListBoxRow *row, gpointer user_data)
{
    return matches(user_data, limn_document_get_title(
                                  limn_study_row_get_document(LIMN_STUDY_ROW(row))));
}

static gboolean
filter_operation(GtkListBoxRow *row, gpointer user_data)
{
    const LimnOperation *operation = g_object_get_data(G_OBJECT(row), "limn-operation");
    const char *authors = operation->paper.authors ? operation->paper.authors : "";
    const char *paper = operation->paper.title ? operation->paper.title : "";

    return matches(user_data, _(operation->title)) ||
           matches(user_data, _(operation->summary)) ||
           matches(user_data, operation->id) || matches(user_data, authors) ||
           matches(user_data, paper);
}

static gboolean
any_row_shown(GtkWidget *list)
{
    GtkWidget *row = gtk_widget_get_first_child(list);

    for (; row; row = gtk_widget_get_next_sibling(row))
        if (GTK_IS_LIST_BOX_ROW(row) && gtk_widget_get_child_visible(row))
            return TRUE;
    return FALSE;
}

static void
search_changed(GtkSearchEntry *entry, LimnLibraryPanel *self)
{
    g_free(self->needle);
    self->needle = g_utf8_casefold(gtk_editable_get_text(GTK_EDITABLE(entry)), -1);
    gtk_list_box_invalidate_filter(GTK_LIST_BOX(self->studies));
    gtk_list_box_invalidate_filter(GTK_LIST_BOX(self->operations));
    gtk_widget_set_visible(self->nothing, *self->needle &&
                                              !any_row_shown(self->studies) &&
                                              !any_row_shown(self->operations));
}

// ---- activation

static void
page_activated(GtkListBox *list, GtkListBoxRow *row, LimnLibraryPanel *self)
{
    tell_page(self, row_key(row));
}

static void
study_activated(GtkListBox *list, GtkListBoxRow *row, LimnLibraryPanel *self)
{
    limn_workspace_set_current(self->ws,
                               limn_study_row_get_document(LIMN_STUDY_ROW(row)));
    tell_page(self, "study");
}

static void
operation_activated(GtkListBox *list, GtkListBoxRow *row, LimnLibraryPanel *self)
{
    limn_workspace_new_study(self->ws, row_key(row));
    tell_page(self, "study");
}

// ---- construction

static GtkWidget *
make_list(const char *name, GCallback activated, LimnLibraryPanel *self)
{
    GtkWidget *list = gtk_list_box_new();

    gtk_widget_add_css_class(list, "limn-nav");
    limn_set_name(list, name, FALSE);
    g_signal_connect(list, "row-activated", activated, self);
    return list;
}

static void
build(LimnLibraryPanel *self)
{
    GtkWidget *scroller = gtk_scrolled_window_new();
    GtkWidget *content = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);

    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_add_css_class(self->box, "limn-side");
    self->search = gtk_search_entry_new();
    limn_set_name(self->search, _("Search studies and operations"), FALSE);
    gtk_search_entry_set_key_capture_widget(GTK_SEARCH_ENTRY(self->search), NULL);
    g_object_set(self->search, "placeholder-text", _("Search"), NULL);
    gtk_widget_add_css_class(self->search, "limn-search");
    self->pages = make_list(_("Pages"), G_CALLBACK(page_activated), self);
    gtk_list_box_append(GTK_LIST_BOX(self->pages),
                        make_row("limn-home-symbolic", _("Welcome"), "welcome"));
    gtk_list_box_append(GTK_LIST_BOX(self->pages),
                        make_row("limn-model-symbolic", _("Models"), "models"));
    self->studies_heading = limn_label_new(_("Open studies"), "limn-family", FALSE);
    self->studies = make_list(_("Open studies"), G_CALLBACK(study_activated), self);
    self->operations = make_list(_("Operations"), G_CALLBACK(operation_activated), self);
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(self->operations), GTK_SELECTION_NONE);
    gtk_list_box_set_header_func(GTK_LIST_BOX(self->operations), operation_header, NULL,
                                 NULL);
    gtk_list_box_set_filter_func(GTK_LIST_BOX(self->studies), filter_study, self, NULL);
    gtk_list_box_set_filter_func(GTK_LIST_BOX(self->operations), filter_operation, self,
                                 NULL);
    self->nothing = limn_label_new(_("Nothing found"), "limn-family", FALSE);
    gtk_widget_set_visible(self->nothing, FALSE);
    gtk_box_append(GTK_BOX(content), self->pages);
    gtk_box_append(GTK_BOX(content), self->studies_heading);
    gtk_box_append(GTK_BOX(content), self->studies);
    gtk_box_append(GTK_BOX(content), self->operations);
    gtk_box_append(GTK_BOX(content), self->nothing);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), content);
    gtk_widget_set_vexpand(scroller, TRUE);
    gtk_box_append(GTK_BOX(self->box), self->search);
    gtk_box_append(GTK_BOX(self->box), scroller);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    g_signal_connect(self->search, "search-changed", G_CALLBACK(search_changed), self);
}

static void
limn_library_panel_init(LimnLibraryPanel *self)
{
    self->page = g_strdup("welcome");
    build(self);
}

GtkWidget *
limn_library_panel_new(LimnWorkspace *ws)
{
    LimnLibraryPanel *self = g_object_new(LIMN_TYPE_LIBRARY_PANEL, NULL);
    GListModel *documents = limn_workspace_get_documents(ws);

    self->ws = g_object_ref(ws);
    fill_operations(self);
    g_signal_connect(documents, "items-changed", G_CALLBACK(documents_changed), self);
    g_signal_connect_swapped(ws, "current-changed", G_CALLBACK(select_current), self);
    documents_changed(documents, 0, 0, g_list_model_get_n_items(documents), self);
    return GTK_WIDGET(self);
}

void
limn_library_panel_set_page(LimnLibraryPanel *self, const char *page)
{
    g_autofree char *copy = g_strdup(page);

    g_free(self->page);
    self->page = g_steal_pointer(&copy);
    select_current(self);
}

void
limn_library_panel_focus_search(LimnLibraryPanel *self)
{
    gtk_widget_grab_focus(self->search);
}

void
limn_library_panel_rename_current(LimnLibraryPanel *self)
{
    LimnDocument *current = limn_workspace_get_current(self->ws);
    GtkWidget *row = gtk_widget_get_first_child(self->studies);

    for (; row; row = gtk_widget_get_next_sibling(row))
        if (LIMN_IS_STUDY_ROW(row) &&
            limn_study_row_get_document(LIMN_STUDY_ROW(row)) == current)
            limn_study_row_rename(LIMN_STUDY_ROW(row));
}
