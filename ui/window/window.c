// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/action/actions.h"
#include "ui/panel/library-panel.h"
#include "ui/panel/study-panel.h"
#include "ui/widget/helpers.h"
#include "ui/widget/job-strip.h"
#include "ui/window/canvas.h"
#include "ui/window/models-page.h"
#include "ui/window/status-line.h"
#include "ui/window/welcome-page.h"
#include "ui/window/window-private.h"

#include <glib/gi18n-lib.h>

#define LIBRARY_WIDTH 220
#define PANEL_WIDTH 324

G_DEFINE_FINAL_TYPE(LimnWindow, limn_window, GTK_TYPE_APPLICATION_WINDOW)

static void
limn_window_dispose(GObject *object)
{
    LimnWindow *self = LIMN_WINDOW(object);

    if (self->ws)
        g_signal_handlers_disconnect_by_data(self->ws, self);
    g_clear_object(&self->ws);
    G_OBJECT_CLASS(limn_window_parent_class)->dispose(object);
}

static gboolean
limn_window_close_request(GtkWindow *window)
{
    LimnWindow *self = LIMN_WINDOW(window);

    limn_window_keep_geometry(self);
    limn_workspace_stop(self->ws);
    return GTK_WINDOW_CLASS(limn_window_parent_class)->close_request(window);
}

static void
bind_parts(GtkWidgetClass *class)
{
    gtk_widget_class_bind_template_child(class, LimnWindow, header);
    gtk_widget_class_bind_template_child(class, LimnWindow, title);
    gtk_widget_class_bind_template_child(class, LimnWindow, subtitle);
    gtk_widget_class_bind_template_child(class, LimnWindow, library_button);
    gtk_widget_class_bind_template_child(class, LimnWindow, open_button);
    gtk_widget_class_bind_template_child(class, LimnWindow, recent_button);
    gtk_widget_class_bind_template_child(class, LimnWindow, undo_button);
    gtk_widget_class_bind_template_child(class, LimnWindow, redo_button);
    gtk_widget_class_bind_template_child(class, LimnWindow, menu_button);
    gtk_widget_class_bind_template_child(class, LimnWindow, panel_button);
    gtk_widget_class_bind_template_child(class, LimnWindow, export_button);
    gtk_widget_class_bind_template_child(class, LimnWindow, messages);
    gtk_widget_class_bind_template_child(class, LimnWindow, outer);
    gtk_widget_class_bind_template_child(class, LimnWindow, inner);
    gtk_widget_class_bind_template_child(class, LimnWindow, pages);
    gtk_widget_class_bind_template_child(class, LimnWindow, bottom);
}

static void
limn_window_class_init(LimnWindowClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_window_dispose;
    GTK_WINDOW_CLASS(class)->close_request = limn_window_close_request;
    g_type_ensure(LIMN_TYPE_MESSAGE_BAR);
    gtk_widget_class_set_template_from_resource(
        GTK_WIDGET_CLASS(class), "/io/github/limn_studio/Limn/ui/window.ui");
    bind_parts(GTK_WIDGET_CLASS(class));
}

static void
limn_window_init(LimnWindow *self)
{
    gtk_widget_init_template(GTK_WIDGET(self));
    limn_set_name(gtk_widget_get_first_child(self->menu_button), _("Menu"), FALSE);
    limn_set_name(gtk_widget_get_first_child(self->recent_button), _("Recent files"),
                  FALSE);
    limn_set_name(self->outer, _("Border between library and page"), FALSE);
    limn_set_name(self->inner, _("Border between page and study panel"), FALSE);
    self->panel_wanted = TRUE;
}

// ---- what is shown

static void
update_titles(LimnWindow *self)
{
    LimnDocument *doc = limn_window_get_document(self);
    const LimnOperation *operation = doc ? limn_document_get_operation(doc) : NULL;
    LimnImage *picture = doc ? limn_document_get_picture(doc) : NULL;
    g_autofree char *path = doc ? limn_document_dup_picture_path(doc) : NULL;
    g_autofree char *name = path ? g_filename_display_basename(path) : NULL;
    g_autofree char *subtitle = NULL;
    g_autofree char *title = NULL;

    if (picture && name)
        subtitle = g_strdup_printf("%s · %d × %d", name, picture->width, picture->height);
    else if (operation)
        subtitle = g_strdup(_(operation->title));
    gtk_label_set_text(GTK_LABEL(self->title),
                       doc ? limn_document_get_title(doc) : _("Limn"));
    gtk_label_set_text(GTK_LABEL(self->subtitle), subtitle ? subtitle : "");
    gtk_widget_set_visible(self->subtitle, subtitle != NULL);
    title = doc ? g_strdup_printf(_("%s — Limn"), limn_document_get_title(doc))
                : g_strdup(_("Limn"));
    gtk_window_set_title(GTK_WINDOW(self), title);
}

static void
set_undo_button(GtkWidget *button, const char *verb, const char *what, const char *keys)
{
    g_autofree char *text = what ? g_strdup_printf(_("%s: %s (%s)"), verb, what, keys)
                                 : g_strdup_printf(_("%s (%s)"), verb, keys);

    gtk_widget_set_tooltip_text(button, text);
}

static void
update_undo(LimnWindow *self)
{
    const LimnUndo *undo = limn_workspace_get_undo(self->ws);

    set_undo_button(self->undo_button, _("Undo"), limn_undo_get_undo_title(undo),
                    _("Ctrl+Z"));
    set_undo_button(self->redo_button, _("Redo"), limn_undo_get_redo_title(undo),
                    _("Ctrl+Shift+Z"));
}

void
limn_window_update(LimnWindow *self)
{
    gboolean study = g_strcmp0(limn_window_get_page(self), "study") == 0 &&
                     limn_workspace_get_current(self->ws);

    update_titles(self);
    update_undo(self);
    gtk_widget_set_visible(self->panel, study && self->panel_wanted);
    limn_actions_update(self);
}

static void
update_recent(LimnWindow *self)
{
    const GPtrArray *recent = limn_workspace_get_session(self->ws)->recent;
    g_autoptr(GMenu) menu = g_menu_new();

    for (guint i = 0; i < recent->len; i++) {
        g_autofree char *name = g_filename_display_basename(recent->pdata[i]);
        g_auto(GStrv) parts = g_strsplit(name, "_", -1);
        g_autofree char *label = g_strjoinv("__", parts); // "_" marks a mnemonic
        g_autoptr(GMenuItem) item = g_menu_item_new(label, NULL);

        g_menu_item_set_action_and_target_value(
            item, "win.open-recent", g_variant_new_bytestring(recent->pdata[i]));
        g_menu_append_item(menu, item);
    }
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(self->recent_button),
                                   G_MENU_MODEL(menu));
    gtk_widget_set_sensitive(self->recent_button, recent->len > 0);
}

static void
watch_document(LimnWindow *self)
{
    LimnDocument *doc = limn_workspace_get_current(self->ws);
    static const char *const signals[] = {"data-changed", "picture-changed",
                                          "status-changed", "results-changed",
                                          "view-changed"};
    LimnDocument *old = g_object_get_data(G_OBJECT(self), "limn-watched");

    if (old)
        g_signal_handlers_disconnect_by_func(old, limn_window_update, self);
    g_object_set_data_full(G_OBJECT(self), "limn-watched", doc ? g_object_ref(doc) : NULL,
                           g_object_unref);
    for (guint i = 0; doc && i < G_N_ELEMENTS(signals); i++)
        g_signal_connect_object(doc, signals[i], G_CALLBACK(limn_window_update), self,
                                G_CONNECT_SWAPPED);
}

static void
current_changed(LimnWindow *self)
{
    LimnDocument *doc = limn_workspace_get_current(self->ws);

    watch_document(self);
    limn_canvas_set_document(LIMN_CANVAS(self->canvas), doc);
    limn_study_panel_set_document(LIMN_STUDY_PANEL(self->panel), doc);
    limn_window_show_page(self, doc ? "study" : "welcome");
}

static void
show_message(LimnWorkspace *ws, int kind, const char *text, const char *action,
             const char *label, LimnWindow *self)
{
    limn_message_bar_show(self->messages, (LimnMessageKind) kind, text, label, action);
}

static void
page_chosen(LimnLibraryPanel *panel, const char *page, LimnWindow *self)
{
    limn_window_show_page(self, page);
}

// ---- construction

static void
build(LimnWindow *self)
{
    self->library = limn_library_panel_new(self->ws);
    gtk_widget_set_size_request(self->library, 190, -1);
    gtk_paned_set_start_child(GTK_PANED(self->outer), self->library);
    gtk_paned_set_position(GTK_PANED(self->outer), LIBRARY_WIDTH);
    self->welcome = limn_welcome_page_new(self->ws);
    self->canvas = limn_canvas_new(self->ws);
    self->models = limn_models_page_new(self->ws);
    gtk_stack_add_named(GTK_STACK(self->pages), self->welcome, "welcome");
    gtk_stack_add_named(GTK_STACK(self->pages), self->canvas, "study");
    gtk_stack_add_named(GTK_STACK(self->pages), self->models, "models");
    self->panel = limn_study_panel_new(self->ws);
    gtk_widget_set_size_request(self->panel, 260, -1);
    gtk_paned_set_end_child(GTK_PANED(self->inner), self->panel);
    gtk_paned_set_position(GTK_PANED(self->inner), 1280 - LIBRARY_WIDTH - PANEL_WIDTH);
    self->strip = limn_job_strip_new(self->ws);
    self->status = limn_status_line_new(self->ws, LIMN_CANVAS(self->canvas));
    gtk_box_append(GTK_BOX(self->bottom), self->strip);
    gtk_box_append(GTK_BOX(self->bottom), self->status);
}

LimnWindow *
limn_window_new(GtkApplication *application, LimnWorkspace *ws)
{
    LimnWindow *self = g_object_new(LIMN_TYPE_WINDOW, "application", application, NULL);
    g_autofree char *page = g_strdup(limn_workspace_get_session(ws)->page);

    self->ws = g_object_ref(ws);
    build(self);
    limn_actions_add(self);
    limn_window_accept_drops(self);
    g_signal_connect(ws, "message", G_CALLBACK(show_message), self);
    g_signal_connect_swapped(ws, "current-changed", G_CALLBACK(current_changed), self);
    g_signal_connect_swapped(ws, "undo-changed", G_CALLBACK(limn_window_update), self);
    g_signal_connect_swapped(ws, "jobs-changed", G_CALLBACK(limn_actions_update), self);
    g_signal_connect(self->library, "page", G_CALLBACK(page_chosen), self);
    g_signal_connect_swapped(ws, "recent-changed", G_CALLBACK(update_recent), self);
    limn_window_restore_geometry(self);
    update_recent(self);
    current_changed(self);
    if (page && !g_str_equal(page, "study"))
        limn_window_show_page(self, page);
    return self;
}

// ---- interface

LimnWorkspace *
limn_window_get_workspace(LimnWindow *self)
{
    return self->ws;
}

LimnDocument *
limn_window_get_document(LimnWindow *self)
{
    return g_strcmp0(limn_window_get_page(self), "study") == 0
               ? limn_workspace_get_current(self->ws)
               : NULL;
}

void
limn_window_show_page(LimnWindow *self, const char *page)
{
    if (!gtk_stack_get_child_by_name(GTK_STACK(self->pages), page) ||
        (g_str_equal(page, "study") && !limn_workspace_get_current(self->ws)))
        page = "welcome";
    gtk_stack_set_visible_child_name(GTK_STACK(self->pages), page);
    limn_library_panel_set_page(LIMN_LIBRARY_PANEL(self->library), page);
    limn_window_update(self);
    if (g_str_equal(page, "study"))
        limn_canvas_focus_entry(LIMN_CANVAS(self->canvas));
    else if (g_str_equal(page, "welcome"))
        limn_welcome_page_focus(LIMN_WELCOME_PAGE(self->welcome));
    limn_window_keep_geometry(self);
}

const char *
limn_window_get_page(LimnWindow *self)
{
    return gtk_stack_get_visible_child_name(GTK_STACK(self->pages));
}

void
limn_window_set_library_visible(LimnWindow *self, gboolean visible)
{
    gtk_widget_set_visible(self->library, visible);
    limn_window_keep_geometry(self);
}

void
limn_window_set_panel_visible(LimnWindow *self, gboolean visible)
{
    self->panel_wanted = visible;
    limn_window_update(self);
    limn_window_keep_geometry(self);
}

gboolean
limn_window_get_library_visible(LimnWindow *self)
{
    return gtk_widget_get_visible(self->library);
}

gboolean
limn_window_get_panel_visible(LimnWindow *self)
{
    return self->panel_wanted;
}

const char *
limn_window_get_message(LimnWindow *self)
{
    return limn_message_bar_get_text(self->messages);
}

GtkWidget *
limn_window_get_library(LimnWindow *self)
{
    return self->library;
}

GtkWidget *
limn_window_get_canvas(LimnWindow *self)
{
    return self->canvas;
}

GtkWidget *
limn_window_get_panel(LimnWindow *self)
{
    return self->panel;
}

GtkWidget *
limn_window_get_welcome(LimnWindow *self)
{
    return self->welcome;
}
