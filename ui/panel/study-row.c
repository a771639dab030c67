// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/panel/study-row.h"

#include "ui/model/document-edit.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

struct _LimnStudyRow {
    GtkListBoxRow parent_instance;
    LimnWorkspace *ws;
    LimnDocument *doc;
    GtkWidget *icon, *title, *detail, *menu, *popover, *entry;
};

G_DEFINE_FINAL_TYPE(LimnStudyRow, limn_study_row, GTK_TYPE_LIST_BOX_ROW)

static void
limn_study_row_dispose(GObject *object)
{
    LimnStudyRow *self = LIMN_STUDY_ROW(object);

    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_clear_pointer(&self->popover, gtk_widget_unparent);
    g_clear_object(&self->doc);
    g_clear_object(&self->ws);
    G_OBJECT_CLASS(limn_study_row_parent_class)->dispose(object);
}

static void
act_rename(GtkWidget *widget, const char *name, GVariant *parameter)
{
    limn_study_row_rename(LIMN_STUDY_ROW(widget));
}

static void
act_duplicate(GtkWidget *widget, const char *name, GVariant *parameter)
{
    LimnStudyRow *self = LIMN_STUDY_ROW(widget);

    limn_workspace_duplicate(self->ws, self->doc);
}

static void
act_delete(GtkWidget *widget, const char *name, GVariant *parameter)
{
    LimnStudyRow *self = LIMN_STUDY_ROW(widget);
    g_autofree char *text =
        g_strdup_printf(_("“%s” was deleted."), limn_document_get_title(self->doc));
    g_autoptr(LimnWorkspace) ws = g_object_ref(self->ws);

    limn_workspace_remove(ws, self->doc); // the row goes with it
    limn_workspace_message_with_action(ws, LIMN_MESSAGE_INFO, text, _("Undo"),
                                       "win.undo");
}

static void
limn_study_row_class_init(LimnStudyRowClass *class)
{
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

    G_OBJECT_CLASS(class)->dispose = limn_study_row_dispose;
    gtk_widget_class_install_action(widget_class, "study.rename", NULL, act_rename);
    gtk_widget_class_install_action(widget_class, "study.duplicate", NULL, act_duplicate);
    gtk_widget_class_install_action(widget_class, "study.delete", NULL, act_delete);
    gtk_widget_class_add_binding_action(widget_class, GDK_KEY_F2, 0, "study.rename",
                                        NULL);
    gtk_widget_class_add_binding_action(widget_class, GDK_KEY_Delete, 0, "study.delete",
                                        NULL);
}

static const char *
icon_name(LimnDocument *doc)
{
    static const char *const icons[] = {
        "limn-explain-symbolic",   "limn-correct-symbolic",  "limn-graphs-symbolic",
        "limn-diffusion-symbolic", "limn-learning-symbolic", "limn-language-symbolic"};
    const LimnOperation *operation = limn_document_get_operation(doc);

    return operation ? icons[operation->family] : "limn-study-symbolic";
}

static char *
describe(LimnDocument *doc)
{
    const LimnOperation *operation = limn_document_get_operation(doc);
    LimnStudyJob *job = limn_document_get_job(doc);

    if (job)
        return g_strdup_printf(_("Running, %d %%"),
                               (int) (100 * limn_study_job_get_fraction(job)));
    switch (limn_document_get_study(doc)->status) {
    case LIMN_STUDY_INTERRUPTED:
        return g_strdup(_("Interrupted"));
    case LIMN_STUDY_FAILED:
        return g_strdup(_("Failed"));
    default:
        return g_strdup(operation ? _(operation->title)
                                  : limn_document_get_data(doc)->operation);
    }
}

static void
update(LimnStudyRow *self)
{
    g_autofree char *detail = describe(self->doc);
    g_autofree char *menu_name =
        g_strdup_printf(_("Actions of the study %s"), limn_document_get_title(self->doc));
    g_autofree char *name =
        g_strdup_printf("%s, %s", limn_document_get_title(self->doc), detail);

    gtk_image_set_from_icon_name(GTK_IMAGE(self->icon), icon_name(self->doc));
    gtk_label_set_text(GTK_LABEL(self->title), limn_document_get_title(self->doc));
    gtk_label_set_text(GTK_LABEL(self->detail), detail);
    gtk_widget_set_tooltip_text(GTK_WIDGET(self), limn_document_get_title(self->doc));
    limn_set_name(GTK_WIDGET(self), name, FALSE);
    limn_set_name(gtk_widget_get_first_child(self->menu), menu_name, FALSE);
}

static GMenuModel *
make_menu(void)
{
    GMenu *menu = g_menu_new();

    g_menu_append(menu, _("_Rename…"), "study.rename");
    g_menu_append(menu, _("_Duplicate"), "study.duplicate");
    g_menu_append(menu, _("De_lete"), "study.delete");
    return G_MENU_MODEL(menu);
}

static void
limn_study_row_init(LimnStudyRow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    g_autoptr(GMenuModel) menu = make_menu();

    self->icon = gtk_image_new();
    self->title = limn_label_new(NULL, NULL, FALSE);
    self->detail = limn_label_new(NULL, "caption", FALSE);
    self->menu = limn_icon_menu_button_new("view-more-symbolic", _("Actions"));
    gtk_widget_add_css_class(self->detail, "dim-label");
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(self->menu), menu);
    gtk_widget_set_valign(self->menu, GTK_ALIGN_CENTER);
    gtk_widget_add_css_class(self->menu, "limn-small");
    gtk_widget_set_hexpand(texts, TRUE);
    gtk_box_append(GTK_BOX(texts), self->title);
    gtk_box_append(GTK_BOX(texts), self->detail);
    gtk_box_append(GTK_BOX(box), self->icon);
    gtk_box_append(GTK_BOX(box), texts);
    gtk_box_append(GTK_BOX(box), self->menu);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(self), box);
}

static void
connect_job(LimnStudyRow *self)
{
    LimnStudyJob *job = limn_document_get_job(self->doc);

    if (job)
        g_signal_connect_object(job, "progress", G_CALLBACK(update), self,
                                G_CONNECT_SWAPPED);
    update(self);
}

GtkWidget *
limn_study_row_new(LimnWorkspace *ws, LimnDocument *doc)
{
    LimnStudyRow *self = g_object_new(LIMN_TYPE_STUDY_ROW, NULL);

    self->ws = g_object_ref(ws);
    self->doc = g_object_ref(doc);
    g_signal_connect_swapped(doc, "status-changed", G_CALLBACK(connect_job), self);
    g_signal_connect_swapped(doc, "data-changed", G_CALLBACK(update), self);
    update(self);
    return GTK_WIDGET(self);
}

LimnDocument *
limn_study_row_get_document(LimnStudyRow *self)
{
    return self->doc;
}

// ---- renaming

static void
entry_activated(GtkEntry *entry, LimnStudyRow *self)
{
    g_autofree char *text = g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry)));

    g_strstrip(text);
    if (*text)
        limn_document_rename(self->doc, text);
    gtk_popover_popdown(GTK_POPOVER(self->popover));
}

static void
make_popover(LimnStudyRow *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

    self->popover = gtk_popover_new();
    self->entry = gtk_entry_new();
    gtk_entry_set_max_length(GTK_ENTRY(self->entry), 200);
    gtk_box_append(GTK_BOX(box), limn_label_for(_("_Title of the study"), self->entry));
    gtk_box_append(GTK_BOX(box), self->entry);
    gtk_popover_set_child(GTK_POPOVER(self->popover), box);
    gtk_widget_set_parent(self->popover, GTK_WIDGET(self));
    g_signal_connect(self->entry, "activate", G_CALLBACK(entry_activated), self);
}

void
limn_study_row_rename(LimnStudyRow *self)
{
    if (!self->popover)
        make_popover(self);
    gtk_editable_set_text(GTK_EDITABLE(self->entry), limn_document_get_title(self->doc));
    gtk_popover_popup(GTK_POPOVER(self->popover));
    gtk_widget_grab_focus(self->entry);
}
