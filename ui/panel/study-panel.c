// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/panel/study-panel.h"

#include "ui/model/document-edit.h"
#include "ui/panel/input-row.h"
#include "ui/panel/prompt-list.h"
#include "ui/panel/study-results.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <string.h>

struct _LimnStudyPanel {
    GtkWidget parent_instance;
    LimnWorkspace *ws;
    LimnDocument *doc;
    const LimnOperation *built_for; // operation that the rows belong to
    GtkWidget *scroller, *content;
    GtkWidget *title, *summary, *paper, *live_row, *live, *run, *again;
    GtkWidget *generated, *results;
    GPtrArray *inputs, *parameters; // rows; the boxes own them
    GtkWidget *prompts, *seed;
    gboolean syncing;
};

G_DEFINE_FINAL_TYPE(LimnStudyPanel, limn_study_panel, GTK_TYPE_WIDGET)

static void
limn_study_panel_dispose(GObject *object)
{
    LimnStudyPanel *self = LIMN_STUDY_PANEL(object);

    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    g_clear_object(&self->doc);
    g_clear_object(&self->ws);
    g_clear_pointer(&self->scroller, gtk_widget_unparent);
    g_clear_pointer(&self->inputs, g_ptr_array_unref);
    g_clear_pointer(&self->parameters, g_ptr_array_unref);
    G_OBJECT_CLASS(limn_study_panel_parent_class)->dispose(object);
}

static void
limn_study_panel_class_init(LimnStudyPanelClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_study_panel_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

// ---- generated from the declaration

static void
clear_generated(LimnStudyPanel *self)
{
    GtkWidget *child;

    while ((child = gtk_widget_get_first_child(self->generated)))
        gtk_box_remove(GTK_BOX(self->generated), child);
    g_ptr_array_set_size(self->inputs, 0);
    g_ptr_array_set_size(self->parameters, 0);
    self->prompts = self->seed = NULL;
}

// The members of an input's group, itself included; NULL-terminated.
static const LimnInput **
group_of(const LimnOperation *operation, const LimnInput *input)
{
    GPtrArray *members = g_ptr_array_new();

    if (!input->one_of)
        g_ptr_array_add(members, (gpointer) input);
    for (const LimnInput *other = operation->inputs; input->one_of && other->name;
         other++)
        if (g_strcmp0(other->one_of, input->one_of) == 0)
            g_ptr_array_add(members, (gpointer) other);
    g_ptr_array_add(members, NULL);
    return (const LimnInput **) g_ptr_array_free(members, FALSE);
}

static gboolean
has_prompts(const LimnOperation *operation)
{
    const LimnInput *text = limn_operation_find_input(operation, "text");

    return text && text->type == LIMN_INPUT_TEXT;
}

static void
add_input(LimnStudyPanel *self, GtkWidget *section, const LimnOperation *operation,
          const LimnInput *input)
{
    g_autofree const LimnInput **members = group_of(operation, input);
    GtkWidget *row;

    if (members[0] != input)
        return; // the group has its row already
    if (!members[1] && g_str_equal(input->name, "text") && has_prompts(operation))
        return;
    row = limn_input_row_new(self->doc, members, TRUE);
    g_ptr_array_add(self->inputs, row);
    gtk_box_append(GTK_BOX(section), row);
}

static void
add_inputs(LimnStudyPanel *self, const LimnOperation *operation)
{
    GtkWidget *section = limn_section_new(_("Inputs"));

    for (const LimnInput *input = operation->inputs; input->name; input++)
        add_input(self, section, operation, input);
    gtk_box_append(GTK_BOX(self->generated), section);
}

static void
add_prompts(LimnStudyPanel *self)
{
    GtkWidget *section = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0);
    GtkWidget *title = limn_label_new(_("Sentences"), "heading", FALSE);

    gtk_widget_set_hexpand(title, TRUE);
    gtk_box_append(GTK_BOX(head), title);
    gtk_box_append(GTK_BOX(head), limn_icon_button_new("document-open-symbolic",
                                                       _("Read sentences from a file"),
                                                       "win.load-prompts"));
    gtk_box_append(GTK_BOX(head),
                   limn_icon_button_new("list-add-symbolic", _("Add a sentence (Ctrl+N)"),
                                        "win.add-prompt"));
    gtk_box_append(GTK_BOX(section), head);
    self->prompts = limn_prompt_list_new(self->doc);
    gtk_box_append(GTK_BOX(section), self->prompts);
    gtk_box_append(GTK_BOX(self->generated), section);
}

static void
seed_changed(GtkSpinButton *spin, LimnStudyPanel *self)
{
    if (!self->syncing)
        limn_document_set_seed(self->doc, (guint64) gtk_spin_button_get_value(spin));
}

static GtkWidget *
make_seed(LimnStudyPanel *self)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *label;

    self->seed = gtk_spin_button_new_with_range(0, 9007199254740991.0, 1);
    gtk_editable_set_width_chars(GTK_EDITABLE(self->seed), 6);
    g_signal_connect(self->seed, "value-changed", G_CALLBACK(seed_changed), self);
    label = limn_label_for(_("Seed"), self->seed);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_widget_set_tooltip_text(label, _("Same seed, same result"));
    gtk_box_append(GTK_BOX(row), label);
    gtk_box_append(GTK_BOX(row), self->seed);
    return row;
}

static void
add_parameters(LimnStudyPanel *self, const LimnOperation *operation)
{
    GtkWidget *section = limn_section_new(_("Parameters"));
    GtkWidget *advanced = gtk_expander_new_with_mnemonic(_("_Advanced"));
    GtkWidget *folded = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);

    for (const LimnParameter *parameter = operation->parameters; parameter->name;
         parameter++) {
        GtkWidget *row = limn_parameter_row_new(self->doc, parameter);

        g_ptr_array_add(self->parameters, row);
        gtk_box_append(GTK_BOX(parameter->advanced ? folded : section), row);
    }
    limn_set_name(advanced, _("Advanced parameters"), FALSE);
    gtk_box_append(GTK_BOX(folded), make_seed(self));
    gtk_widget_set_margin_top(folded, 6);
    gtk_expander_set_child(GTK_EXPANDER(advanced), folded);
    gtk_box_append(GTK_BOX(section), advanced);
    gtk_box_append(GTK_BOX(self->generated), section);
}

static void
generate(LimnStudyPanel *self, const LimnOperation *operation)
{
    clear_generated(self);
    self->built_for = operation;
    if (!operation)
        return;
    if (has_prompts(operation))
        add_prompts(self);
    add_inputs(self, operation);
    add_parameters(self, operation);
}

// ---- state

static void
sync_head(LimnStudyPanel *self)
{
    const LimnOperation *operation = limn_document_get_operation(self->doc);
    gboolean live = limn_document_is_live_capable(self->doc);
    gboolean results = limn_document_get_artifacts(self->doc) != NULL;
    LimnStudyJob *job = limn_document_get_job(self->doc);
    g_autofree char *paper = NULL;
    g_autofree char *tip = NULL;

    gtk_label_set_text(GTK_LABEL(self->title),
                       operation ? _(operation->title)
                                 : limn_document_get_data(self->doc)->operation);
    gtk_label_set_text(GTK_LABEL(self->summary),
                       operation
                           ? _(operation->summary)
                           : _("This version of the program has no such operation."));
    if (operation && operation->paper.title) {
        paper =
            g_strdup_printf("%s, %s", operation->paper.authors, operation->paper.venue);
        tip = g_strdup(operation->paper.title);
    }
    gtk_label_set_text(GTK_LABEL(self->paper), paper ? paper : "");
    gtk_widget_set_tooltip_text(self->paper, tip);
    gtk_widget_set_visible(self->paper, paper != NULL);
    gtk_widget_set_visible(self->live_row, live);
    gtk_switch_set_active(GTK_SWITCH(self->live),
                          limn_document_get_view(self->doc)->live);
    gtk_button_set_label(GTK_BUTTON(self->run), live ? _("_Run and Save") : _("_Run"));
    if (live)
        gtk_widget_remove_css_class(self->run, "suggested-action");
    else
        gtk_widget_add_css_class(self->run, "suggested-action");
    gtk_widget_set_sensitive(self->run, operation && !job);
    gtk_widget_set_visible(self->again,
                           results && operation &&
                               (g_str_equal(operation->id, "grad-eclip") ||
                                g_str_equal(operation->id, "attention-maps")));
}

static void
update_state(LimnStudyPanel *self)
{
    const LimnOperation *operation;

    if (!self->doc || self->syncing)
        return;
    self->syncing = TRUE;
    operation = limn_document_get_operation(self->doc);
    if (operation != self->built_for)
        generate(self, operation);
    sync_head(self);
    for (guint i = 0; i < self->inputs->len; i++)
        limn_input_row_sync(self->inputs->pdata[i]);
    for (guint i = 0; i < self->parameters->len; i++)
        limn_parameter_row_sync(self->parameters->pdata[i]);
    if (self->prompts)
        limn_prompt_list_sync(LIMN_PROMPT_LIST(self->prompts));
    if (self->seed)
        gtk_spin_button_set_value(GTK_SPIN_BUTTON(self->seed),
                                  (double) limn_document_get_data(self->doc)->seed);
    limn_study_results_sync(LIMN_STUDY_RESULTS(self->results));
    self->syncing = FALSE;
}

static void
sync_results(LimnStudyPanel *self)
{
    if (!self->doc || self->syncing)
        return;
    self->syncing = TRUE;
    sync_head(self);
    if (self->prompts)
        limn_prompt_list_sync(LIMN_PROMPT_LIST(self->prompts));
    limn_study_results_sync(LIMN_STUDY_RESULTS(self->results));
    self->syncing = FALSE;
}

static gboolean
live_set(GtkSwitch *widget, gboolean state, LimnStudyPanel *self)
{
    if (!self->syncing && self->doc) {
        limn_document_edit_view(self->doc)->live = state;
        limn_document_view_changed(self->doc);
    }
    return FALSE;
}

// ---- construction

static void
build_head(LimnStudyPanel *self)
{
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *label;

    self->title = limn_label_new(NULL, "title-2", TRUE);
    self->summary = limn_label_new(NULL, NULL, TRUE);
    self->paper = limn_label_new(NULL, "caption", FALSE);
    gtk_widget_add_css_class(self->summary, "dim-label");
    gtk_widget_add_css_class(self->paper, "dim-label");
    self->live_row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    self->live = gtk_switch_new();
    gtk_widget_set_valign(self->live, GTK_ALIGN_CENTER);
    label = limn_label_for(_("_Live"), self->live);
    gtk_widget_set_tooltip_text(label, _("Map and words follow the typing"));
    g_signal_connect(self->live, "state-set", G_CALLBACK(live_set), self);
    gtk_box_append(GTK_BOX(self->live_row), self->live);
    gtk_box_append(GTK_BOX(self->live_row), label);
    gtk_widget_set_hexpand(self->live_row, TRUE);
    self->run = gtk_button_new_with_mnemonic(_("_Run"));
    gtk_button_set_use_underline(GTK_BUTTON(self->run), TRUE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->run), "win.run");
    gtk_widget_set_tooltip_text(
        self->run, _("Run as the command line does and save a study folder"));
    self->again = gtk_button_new_with_mnemonic(_("Explore _Live"));
    gtk_widget_set_tooltip_text(self->again,
                                _("A live study with these inputs and parameters"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->again), "win.duplicate-study");
    gtk_box_append(GTK_BOX(buttons), self->live_row);
    gtk_box_append(GTK_BOX(buttons), self->run);
    gtk_box_append(GTK_BOX(buttons), self->again);
    gtk_box_append(GTK_BOX(head), self->title);
    gtk_box_append(GTK_BOX(head), self->summary);
    gtk_box_append(GTK_BOX(head), self->paper);
    gtk_box_append(GTK_BOX(head), buttons);
    gtk_box_append(GTK_BOX(self->content), head);
}

static void
limn_study_panel_init(LimnStudyPanel *self)
{
    self->inputs = g_ptr_array_new();
    self->parameters = g_ptr_array_new();
    self->content = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    gtk_widget_add_css_class(self->content, "limn-panel");
    build_head(self);
    self->generated = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    self->results = limn_study_results_new();
    gtk_box_append(GTK_BOX(self->content), self->generated);
    gtk_box_append(GTK_BOX(self->content), self->results);
    self->scroller = gtk_scrolled_window_new();
    gtk_widget_add_css_class(self->scroller, "limn-side");
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroller), self->content);
    gtk_widget_set_parent(self->scroller, GTK_WIDGET(self));
}

GtkWidget *
limn_study_panel_new(LimnWorkspace *ws)
{
    LimnStudyPanel *self = g_object_new(LIMN_TYPE_STUDY_PANEL, NULL);

    self->ws = g_object_ref(ws);
    return GTK_WIDGET(self);
}

void
limn_study_panel_set_document(LimnStudyPanel *self, LimnDocument *doc)
{
    if (self->doc == doc)
        return;
    if (self->doc)
        g_signal_handlers_disconnect_by_data(self->doc, self);
    clear_generated(self); // the rows belong to the old study
    self->built_for = NULL;
    g_set_object(&self->doc, doc);
    limn_study_results_set_document(LIMN_STUDY_RESULTS(self->results), doc);
    if (!doc)
        return;
    g_signal_connect_swapped(doc, "data-changed", G_CALLBACK(update_state), self);
    g_signal_connect_swapped(doc, "status-changed", G_CALLBACK(sync_results), self);
    g_signal_connect_swapped(doc, "view-changed", G_CALLBACK(sync_results), self);
    g_signal_connect_swapped(doc, "picture-changed", G_CALLBACK(sync_results), self);
    g_signal_connect_swapped(doc, "results-changed", G_CALLBACK(sync_results), self);
    update_state(self);
}

LimnParameterRow *
limn_study_panel_find_parameter(LimnStudyPanel *self, const char *name)
{
    const LimnOperation *operation = self->built_for;

    for (guint i = 0; operation && i < self->parameters->len; i++)
        if (g_str_equal(operation->parameters[i].name, name))
            return self->parameters->pdata[i];
    return NULL;
}

char *
limn_study_panel_dup_results(LimnStudyPanel *self)
{
    return limn_study_results_dup_text(LIMN_STUDY_RESULTS(self->results));
}

void
limn_study_panel_set_region(LimnStudyPanel *self, double energy, double iou)
{
    limn_study_results_set_region(LIMN_STUDY_RESULTS(self->results), energy, iou);
}
