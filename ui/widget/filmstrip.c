// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/filmstrip.h"

#include "ui/compat/dialogs.h"
#include "ui/model/folder-item.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

#define PREVIEW 72

struct _LimnFilmstrip {
    GtkWidget parent_instance;
    LimnDocument *doc;
    GtkWidget *box, *list, *count;
    GtkSingleSelection *selection;
    GListModel *items; // shown
    gboolean syncing;
};

G_DEFINE_FINAL_TYPE(LimnFilmstrip, limn_filmstrip, GTK_TYPE_WIDGET)

static void
limn_filmstrip_dispose(GObject *object)
{
    LimnFilmstrip *self = LIMN_FILMSTRIP(object);

    g_clear_object(&self->doc);
    g_clear_object(&self->items);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_filmstrip_parent_class)->dispose(object);
}

static void
limn_filmstrip_class_init(LimnFilmstripClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_filmstrip_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

// ---- one picture

static void
show_item(GtkListItem *list_item)
{
    LimnFolderItem *item = gtk_list_item_get_item(list_item);
    GtkWidget *box = gtk_list_item_get_child(list_item);
    GtkWidget *stack = gtk_widget_get_first_child(box);
    GtkWidget *label = gtk_widget_get_next_sibling(stack);
    GdkTexture *texture = limn_folder_item_get_texture(item);
    const char *error = limn_folder_item_get_error(item);
    GtkWidget *picture = gtk_stack_get_child_by_name(GTK_STACK(stack), "picture");
    GtkWidget *icon = gtk_stack_get_child_by_name(GTK_STACK(stack), "icon");

    gtk_label_set_text(GTK_LABEL(label), limn_folder_item_get_name(item));
    gtk_widget_set_tooltip_text(box, error ? error : limn_folder_item_get_name(item));
    gtk_image_set_from_paintable(GTK_IMAGE(picture), GDK_PAINTABLE(texture));
    gtk_image_set_from_icon_name(GTK_IMAGE(icon), error ? "dialog-warning-symbolic"
                                                        : "limn-picture-symbolic");
    gtk_stack_set_visible_child(GTK_STACK(stack), texture && !error ? picture : icon);
    if (error) {
        g_autofree char *name =
            g_strdup_printf(_("%s cannot be shown"), limn_folder_item_get_name(item));

        limn_set_name(box, name, FALSE);
    } else {
        limn_set_name(box, limn_folder_item_get_name(item), FALSE);
    }
}

static void
setup_item(GtkSignalListItemFactory *factory, GtkListItem *list_item, gpointer user_data)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);
    GtkWidget *stack = gtk_stack_new();
    GtkWidget *icon = gtk_image_new();
    GtkWidget *picture = gtk_image_new();
    GtkWidget *label = limn_label_new(NULL, "caption", FALSE);

    gtk_widget_add_css_class(box, "limn-film-item");
    gtk_widget_add_css_class(stack, "limn-thumbnail");
    gtk_widget_set_overflow(stack, GTK_OVERFLOW_HIDDEN);
    gtk_widget_set_size_request(stack, PREVIEW, PREVIEW);
    gtk_stack_add_named(GTK_STACK(stack), icon, "icon");
    gtk_image_set_pixel_size(GTK_IMAGE(picture), PREVIEW);
    gtk_stack_add_named(GTK_STACK(stack), picture, "picture");
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_MIDDLE);
    gtk_label_set_max_width_chars(GTK_LABEL(label), 10);
    gtk_label_set_xalign(GTK_LABEL(label), 0.5);
    gtk_box_append(GTK_BOX(box), stack);
    gtk_box_append(GTK_BOX(box), label);
    gtk_list_item_set_child(list_item, box);
}

static void
bind_item(GtkSignalListItemFactory *factory, GtkListItem *list_item, gpointer user_data)
{
    LimnFolderItem *item = gtk_list_item_get_item(list_item);

    limn_folder_item_want_texture(item);
    g_signal_connect_swapped(item, "changed", G_CALLBACK(show_item), list_item);
    show_item(list_item);
}

static void
unbind_item(GtkSignalListItemFactory *factory, GtkListItem *list_item, gpointer user_data)
{
    g_signal_handlers_disconnect_by_func(gtk_list_item_get_item(list_item), show_item,
                                         list_item);
}

// ---- the strip

static void
selected(GtkSingleSelection *selection, GParamSpec *pspec, LimnFilmstrip *self)
{
    guint index = gtk_single_selection_get_selected(selection);

    if (!self->syncing && self->doc && index != GTK_INVALID_LIST_POSITION)
        limn_document_show_item(self->doc, (int) index);
}

static void
sync_count(LimnFilmstrip *self)
{
    guint n = self->items ? g_list_model_get_n_items(self->items) : 0, broken = 0;
    g_autofree char *text = NULL;

    for (guint i = 0; i < n; i++) {
        g_autoptr(LimnFolderItem) item = g_list_model_get_item(self->items, i);

        broken += limn_folder_item_get_error(item) != NULL;
    }
    text = g_strdup_printf(ngettext("%u picture", "%u pictures", n), n);
    if (broken > 0) {
        g_autofree char *more = g_strdup_printf(
            ngettext("%u cannot be shown", "%u cannot be shown", broken), broken);
        g_autofree char *both = g_strdup_printf("%s\n%s", text, more);

        gtk_label_set_text(GTK_LABEL(self->count), both);
    } else {
        gtk_label_set_text(GTK_LABEL(self->count), text);
    }
}

static void
item_changed(LimnFilmstrip *self)
{
    sync_count(self);
}

static void
items_changed(GListModel *items, guint position, guint removed, guint added,
              LimnFilmstrip *self)
{
    for (guint i = position; i < position + added; i++) {
        g_autoptr(LimnFolderItem) item = g_list_model_get_item(items, i);

        g_signal_connect_object(item, "changed", G_CALLBACK(item_changed), self,
                                G_CONNECT_SWAPPED);
    }
    sync_count(self);
}

static void
limn_filmstrip_init(LimnFilmstrip *self)
{
    GtkListItemFactory *factory = gtk_signal_list_item_factory_new();
    GtkWidget *scroller = gtk_scrolled_window_new();

    g_signal_connect(factory, "setup", G_CALLBACK(setup_item), NULL);
    g_signal_connect(factory, "bind", G_CALLBACK(bind_item), NULL);
    g_signal_connect(factory, "unbind", G_CALLBACK(unbind_item), NULL);
    self->selection = gtk_single_selection_new(NULL);
    gtk_single_selection_set_autoselect(self->selection, FALSE);
    g_signal_connect(self->selection, "notify::selected", G_CALLBACK(selected), self);
    self->list = gtk_list_view_new(GTK_SELECTION_MODEL(self->selection), factory);
    gtk_orientable_set_orientation(GTK_ORIENTABLE(self->list),
                                   GTK_ORIENTATION_HORIZONTAL);
    limn_set_name(self->list, _("Pictures of the folder"), FALSE);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scroller), GTK_POLICY_AUTOMATIC,
                                   GTK_POLICY_NEVER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scroller), self->list);
    gtk_widget_set_hexpand(scroller, TRUE);
    self->count = limn_label_new(NULL, "caption", TRUE);
    gtk_widget_add_css_class(self->count, "dim-label");
    gtk_label_set_wrap_mode(GTK_LABEL(self->count), PANGO_WRAP_WORD);
    gtk_label_set_width_chars(GTK_LABEL(self->count), 12);
    gtk_label_set_max_width_chars(GTK_LABEL(self->count), 12);
    gtk_widget_set_margin_start(self->count, 12);
    gtk_widget_set_margin_end(self->count, 12);
    self->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    gtk_widget_add_css_class(self->box, "limn-filmstrip");
    gtk_box_append(GTK_BOX(self->box), self->count);
    gtk_box_append(GTK_BOX(self->box), scroller);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
    gtk_widget_set_visible(GTK_WIDGET(self), FALSE);
}

GtkWidget *
limn_filmstrip_new(void)
{
    return g_object_new(LIMN_TYPE_FILMSTRIP, NULL);
}

static void
set_items(LimnFilmstrip *self, GListModel *items)
{
    if (self->items)
        g_signal_handlers_disconnect_by_data(self->items, self);
    g_set_object(&self->items, items);
    gtk_single_selection_set_model(self->selection, items);
    if (!items)
        return;
    g_signal_connect_object(items, "items-changed", G_CALLBACK(items_changed), self, 0);
    items_changed(items, 0, 0, g_list_model_get_n_items(items), self);
}

void
limn_filmstrip_set_document(LimnFilmstrip *self, LimnDocument *doc)
{
    self->syncing = TRUE;
    set_items(self, NULL);
    g_set_object(&self->doc, doc);
    self->syncing = FALSE;
    limn_filmstrip_sync(self);
}

void
limn_filmstrip_sync(LimnFilmstrip *self)
{
    GListModel *items = self->doc ? limn_document_get_items(self->doc) : NULL;
    int index = self->doc ? limn_document_get_item_index(self->doc) : -1;

    self->syncing = TRUE;
    if (items != self->items)
        set_items(self, items);
    gtk_widget_set_visible(GTK_WIDGET(self),
                           items && g_list_model_get_n_items(items) > 0);
    if (index >= 0 &&
        gtk_single_selection_get_selected(self->selection) != (guint) index) {
        gtk_single_selection_set_selected(self->selection, (guint) index);
        limn_list_view_scroll_to(GTK_LIST_VIEW(self->list), (guint) index);
    }
    self->syncing = FALSE;
}
