// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/widget/compare-button.h"

#include "ui/model/document-edit.h"
#include "ui/model/method-list.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

struct _LimnCompareButton {
    GtkWidget parent_instance;
    guint pane;
    LimnDocument *doc;
    GtkWidget *button, *popover, *prompt, *method;
    GtkWidget *modes[4]; // LimnCompare
    gboolean syncing;
};

G_DEFINE_FINAL_TYPE(LimnCompareButton, limn_compare_button, GTK_TYPE_WIDGET)

static void
limn_compare_button_dispose(GObject *object)
{
    LimnCompareButton *self = LIMN_COMPARE_BUTTON(object);

    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_clear_object(&self->doc);
    g_clear_pointer(&self->button, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_compare_button_parent_class)->dispose(object);
}

static void
limn_compare_button_class_init(LimnCompareButtonClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_compare_button_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static LimnCompare
chosen_mode(LimnCompareButton *self)
{
    for (guint i = 0; i < G_N_ELEMENTS(self->modes); i++)
        if (gtk_check_button_get_active(GTK_CHECK_BUTTON(self->modes[i])))
            return (LimnCompare) i;
    return LIMN_COMPARE_NONE;
}

static void
changed(LimnCompareButton *self)
{
    guint method, prompt;

    if (self->syncing || !self->doc)
        return;
    method = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->method));
    prompt = gtk_drop_down_get_selected(GTK_DROP_DOWN(self->prompt));
    limn_document_set_pane_compare(self->doc, self->pane, chosen_mode(self),
                                   limn_explain_method_id((LimnExplainMethod) method),
                                   prompt == GTK_INVALID_LIST_POSITION ? 0 : prompt);
}

static void
mode_toggled(GtkCheckButton *check, LimnCompareButton *self)
{
    if (gtk_check_button_get_active(check)) // the other one of the pair tells nothing
        changed(self);
}

static void
selected(GtkDropDown *drop_down, GParamSpec *pspec, LimnCompareButton *self)
{
    changed(self);
}

static void
sync_choices(LimnCompareButton *self, const LimnPaneState *pane)
{
    const GPtrArray *prompts = limn_document_get_data(self->doc)->prompts;
    g_autoptr(GPtrArray) strings = g_ptr_array_new();
    LimnExplainMethod method = limn_document_get_pane_method(self->doc, self->pane);

    for (guint i = 0; i < prompts->len; i++)
        g_ptr_array_add(strings, *(char *) prompts->pdata[i] ? prompts->pdata[i]
                                                             : (gpointer) _("(empty)"));
    g_ptr_array_add(strings, NULL);
    limn_drop_down_set_strings(GTK_DROP_DOWN(self->prompt),
                               (const char *const *) strings->pdata);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->prompt), pane->other_prompt);
    if (pane->other_method)
        method = limn_method_from_id(pane->other_method);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->method), method);
}

static void
update_state(LimnCompareButton *self)
{
    const LimnStudyData *data = self->doc ? limn_document_get_data(self->doc) : NULL;
    const LimnPaneState *pane;
    gboolean on;

    if (!data || self->pane >= data->n_panes)
        return;
    pane = &data->panes[self->pane];
    on = pane->compare != LIMN_COMPARE_NONE;
    self->syncing = TRUE;
    gtk_check_button_set_active(GTK_CHECK_BUTTON(self->modes[pane->compare]), TRUE);
    if (gtk_widget_get_visible(self->popover)) // otherwise when it is opened
        sync_choices(self, pane);
    gtk_widget_set_sensitive(self->prompt, on);
    gtk_widget_set_sensitive(self->method, on);
    if (on)
        gtk_widget_add_css_class(self->button, "accent");
    else
        gtk_widget_remove_css_class(self->button, "accent");
    self->syncing = FALSE;
}

static GtkWidget *
make_popover(LimnCompareButton *self)
{
    const char *names[] = {_("_Off"), _("D_ifference (this − other)"), _("Di_vider"),
                           _("_Blink")};
    GtkWidget *popover = gtk_popover_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *grid = gtk_grid_new();

    gtk_box_append(GTK_BOX(box), limn_label_new(_("Compare this map"), "heading", FALSE));
    for (guint i = 0; i < G_N_ELEMENTS(self->modes); i++) {
        self->modes[i] = gtk_check_button_new_with_mnemonic(names[i]);
        if (i > 0)
            gtk_check_button_set_group(GTK_CHECK_BUTTON(self->modes[i]),
                                       GTK_CHECK_BUTTON(self->modes[0]));
        gtk_box_append(GTK_BOX(box), self->modes[i]);
        g_signal_connect(self->modes[i], "toggled", G_CALLBACK(mode_toggled), self);
    }
    self->prompt = limn_drop_down_new(_("Other sentence"), (const char *[]){NULL});
    self->method = limn_drop_down_new(_("Other method"), limn_method_titles());
    gtk_widget_set_size_request(self->prompt, 200, -1);
    gtk_grid_set_row_spacing(GTK_GRID(grid), 6);
    gtk_grid_set_column_spacing(GTK_GRID(grid), 12);
    gtk_grid_attach(GTK_GRID(grid), limn_label_for(_("Other _sentence"), self->prompt), 0,
                    0, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), self->prompt, 1, 0, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), limn_label_for(_("Other _method"), self->method), 0,
                    1, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), self->method, 1, 1, 1, 1);
    gtk_box_append(GTK_BOX(box), grid);
    gtk_popover_set_child(GTK_POPOVER(popover), box);
    g_signal_connect(self->prompt, "notify::selected", G_CALLBACK(selected), self);
    g_signal_connect(self->method, "notify::selected", G_CALLBACK(selected), self);
    return popover;
}

static void
limn_compare_button_init(LimnCompareButton *self)
{
    self->button =
        limn_icon_menu_button_new("limn-compare-symbolic", _("Compare with another map"));
    gtk_widget_set_parent(self->button, GTK_WIDGET(self));
    self->syncing = TRUE;
    self->popover = make_popover(self);
    g_signal_connect_swapped(self->popover, "show", G_CALLBACK(update_state), self);
    gtk_menu_button_set_popover(GTK_MENU_BUTTON(self->button), self->popover);
    self->syncing = FALSE;
}

GtkWidget *
limn_compare_button_new(guint pane)
{
    LimnCompareButton *self = g_object_new(LIMN_TYPE_COMPARE_BUTTON, NULL);

    self->pane = pane;
    return GTK_WIDGET(self);
}

void
limn_compare_button_set_document(LimnCompareButton *self, LimnDocument *doc)
{
    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_set_object(&self->doc, doc);
    if (doc)
        g_signal_connect_swapped(doc, "data-changed", G_CALLBACK(update_state), self);
    update_state(self);
}
