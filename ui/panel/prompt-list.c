// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/panel/prompt-list.h"

#include "engine/session/maps.h"
#include "ui/model/document-edit.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define MAX_ROWS 200 // a list of a thousand classes would only be slow

struct _LimnPromptList {
    GtkWidget parent_instance;
    LimnDocument *doc;
    GtkWidget *box, *list, *more;
    gboolean syncing;
};

G_DEFINE_FINAL_TYPE(LimnPromptList, limn_prompt_list, GTK_TYPE_WIDGET)

static void
limn_prompt_list_dispose(GObject *object)
{
    LimnPromptList *self = LIMN_PROMPT_LIST(object);

    g_clear_object(&self->doc);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_prompt_list_parent_class)->dispose(object);
}

static void
limn_prompt_list_class_init(LimnPromptListClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_prompt_list_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static void
row_selected(GtkListBox *list, GtkListBoxRow *row, LimnPromptList *self)
{
    guint active;

    if (self->syncing || !row)
        return;
    active = limn_document_get_view(self->doc)->active;
    limn_document_set_pane_prompt(self->doc, active,
                                  (guint) gtk_list_box_row_get_index(row));
}

static void
row_activated(GtkListBox *list, GtkListBoxRow *row, LimnPromptList *self)
{
    gtk_widget_activate_action(GTK_WIDGET(self), "win.focus-prompt", NULL);
}

static void
remove_clicked(GtkButton *button, LimnPromptList *self)
{
    GtkWidget *row = gtk_widget_get_ancestor(GTK_WIDGET(button), GTK_TYPE_LIST_BOX_ROW);

    if (row)
        limn_document_remove_prompt(
            self->doc, (guint) gtk_list_box_row_get_index(GTK_LIST_BOX_ROW(row)));
}

static void
limn_prompt_list_init(LimnPromptList *self)
{
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    self->list = gtk_list_box_new();
    gtk_widget_add_css_class(self->list, "limn-prompts");
    limn_set_name(self->list, _("Sentences"), FALSE);
    g_signal_connect(self->list, "row-selected", G_CALLBACK(row_selected), self);
    g_signal_connect(self->list, "row-activated", G_CALLBACK(row_activated), self);
    gtk_box_append(GTK_BOX(self->box), self->list);
    self->more = limn_label_new(NULL, "caption", TRUE);
    gtk_box_append(GTK_BOX(self->box), self->more);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
}

// ---- rows

typedef struct {
    GtkWidget *text, *cosine, *probability, *remove;
} RowParts;

static GtkWidget *
number_label(const char *help)
{
    GtkWidget *label = gtk_label_new(NULL);

    gtk_widget_add_css_class(label, "numeric");
    gtk_widget_add_css_class(label, "caption");
    gtk_label_set_width_chars(GTK_LABEL(label), 5);
    gtk_label_set_xalign(GTK_LABEL(label), 1);
    gtk_widget_set_tooltip_text(label, help);
    return label;
}

static void
append_row(LimnPromptList *self)
{
    GtkWidget *row = gtk_list_box_row_new();
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    RowParts *parts = g_new0(RowParts, 1);

    parts->text = limn_label_new(NULL, NULL, FALSE);
    gtk_widget_set_hexpand(parts->text, TRUE);
    parts->cosine = number_label(_("Cosine between sentence and picture"));
    parts->probability = number_label(_("Probability among these sentences"));
    parts->remove =
        limn_icon_button_new("list-remove-symbolic", _("Remove the sentence"), NULL);
    gtk_widget_add_css_class(parts->remove, "limn-small");
    g_signal_connect(parts->remove, "clicked", G_CALLBACK(remove_clicked), self);
    gtk_box_append(GTK_BOX(box), parts->text);
    gtk_box_append(GTK_BOX(box), parts->cosine);
    gtk_box_append(GTK_BOX(box), parts->probability);
    gtk_box_append(GTK_BOX(box), parts->remove);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), box);
    g_object_set_data_full(G_OBJECT(row), "limn-parts", parts, g_free);
    gtk_list_box_append(GTK_LIST_BOX(self->list), row);
}

static double *
logits_of(LimnDocument *doc, gboolean *complete)
{
    guint n = limn_document_get_data(doc)->prompts->len;
    double *logits = g_new(double, n);

    *complete = TRUE;
    for (guint i = 0; i < n; i++) {
        double cosine;

        logits[i] = NAN;
        if (*limn_document_get_prompt(doc, i) &&
            !limn_document_get_score(doc, i, &cosine, &logits[i]))
            *complete = FALSE;
    }
    return logits;
}

double *
limn_document_dup_probabilities(LimnDocument *doc)
{
    gboolean complete;
    double *logits = logits_of(doc, &complete);

    if (!complete) {
        g_free(logits);
        return NULL;
    }
    limn_softmax(logits, limn_document_get_data(doc)->prompts->len, logits);
    return logits;
}

static void
show_row(LimnPromptList *self, GtkListBoxRow *row, guint index,
         const double *probabilities)
{
    const RowParts *parts = g_object_get_data(G_OBJECT(row), "limn-parts");
    const char *text = limn_document_get_prompt(self->doc, index);
    gboolean single = limn_document_get_data(self->doc)->prompts->len == 1;
    double cosine, logit;
    g_autofree char *cosine_text = NULL;
    g_autofree char *probability_text = NULL;
    g_autofree char *name = NULL;

    if (*text && limn_document_get_score(self->doc, index, &cosine, &logit))
        cosine_text = limn_format_fixed(cosine, 3);
    if (!single && probabilities && !isnan(probabilities[index])) {
        g_autofree char *percent = limn_format_fixed(probabilities[index] * 100, 1);

        probability_text = g_strdup_printf("%s %%", percent);
    }
    gtk_label_set_text(GTK_LABEL(parts->text), *text ? text : _("(empty)"));
    gtk_widget_set_opacity(parts->text, *text ? 1 : 0.6);
    gtk_widget_set_tooltip_text(parts->text, text);
    gtk_label_set_text(GTK_LABEL(parts->cosine), cosine_text ? cosine_text : "");
    gtk_label_set_text(GTK_LABEL(parts->probability),
                       probability_text ? probability_text : "");
    gtk_widget_set_visible(parts->probability, !single);
    gtk_widget_set_visible(parts->remove, !single);
    name = g_strdup_printf("%s %s %s", *text ? text : _("(empty)"),
                           cosine_text ? cosine_text : "",
                           probability_text ? probability_text : "");
    limn_set_name(GTK_WIDGET(row), name, FALSE);
}

static guint
sync_row_count(LimnPromptList *self, guint wanted)
{
    GtkListBox *list = GTK_LIST_BOX(self->list);
    guint n = 0;

    while (gtk_list_box_get_row_at_index(list, (int) n))
        n++;
    for (; n < wanted; n++)
        append_row(self);
    while (n > wanted)
        gtk_list_box_remove(list,
                            GTK_WIDGET(gtk_list_box_get_row_at_index(list, (int) --n)));
    return n;
}

void
limn_prompt_list_sync(LimnPromptList *self)
{
    const LimnStudyData *data = limn_document_get_data(self->doc);
    GtkListBox *list = GTK_LIST_BOX(self->list);
    guint active = limn_document_get_view(self->doc)->active;
    guint shown = MIN(data->prompts->len, MAX_ROWS), n;
    g_autofree double *probabilities = limn_document_dup_probabilities(self->doc);
    g_autofree char *more = NULL;
    GtkListBoxRow *row;

    self->syncing = TRUE;
    n = sync_row_count(self, shown);
    for (guint i = 0; i < n; i++)
        show_row(self, gtk_list_box_get_row_at_index(list, (int) i), i, probabilities);
    row = gtk_list_box_get_row_at_index(list, (int) data->panes[active].prompt);
    if (row)
        gtk_list_box_select_row(list, row);
    else
        gtk_list_box_unselect_all(list);
    if (data->prompts->len > shown)
        more = g_strdup_printf(ngettext("and %u more; choose it in the pane",
                                        "and %u more; choose them in the pane",
                                        data->prompts->len - shown),
                               data->prompts->len - shown);
    gtk_label_set_text(GTK_LABEL(self->more), more ? more : "");
    gtk_widget_set_visible(self->more, more != NULL);
    self->syncing = FALSE;
}

GtkWidget *
limn_prompt_list_new(LimnDocument *doc)
{
    LimnPromptList *self = g_object_new(LIMN_TYPE_PROMPT_LIST, NULL);

    self->doc = g_object_ref(doc);
    limn_prompt_list_sync(self);
    return GTK_WIDGET(self);
}
