// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "engine/figure/scale.h"
#include "ui/model/document-edit.h"
#include "ui/model/method-list.h"
#include "ui/widget/artifact-view.h"
#include "ui/widget/compare-button.h"
#include "ui/widget/helpers.h"
#include "ui/widget/pane-private.h"

#include <glib/gi18n-lib.h>

static guint activated_signal, probed_signal;

G_DEFINE_FINAL_TYPE(LimnPane, limn_pane, GTK_TYPE_WIDGET)

static void
limn_pane_dispose(GObject *object)
{
    LimnPane *self = LIMN_PANE(object);

    g_clear_object(&self->doc);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    g_clear_pointer(&self->picture, limn_image_unref);
    g_clear_pointer(&self->mask, limn_image_unref);
    g_clear_pointer(&self->map, limn_array_unref);
    g_clear_pointer(&self->second, limn_array_unref);
    g_clear_pointer(&self->map_artifact, limn_artifact_unref);
    G_OBJECT_CLASS(limn_pane_parent_class)->dispose(object);
}

static void
limn_pane_class_init(LimnPaneClass *class)
{
    GType type = G_TYPE_FROM_CLASS(class);

    G_OBJECT_CLASS(class)->dispose = limn_pane_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
    activated_signal = g_signal_new("activated", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                    NULL, G_TYPE_NONE, 0);
    probed_signal = g_signal_new("probed", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL,
                                 G_TYPE_NONE, 3, G_TYPE_INT, G_TYPE_INT, G_TYPE_STRING);
}

// ---- the head

static void
method_selected(GtkDropDown *drop_down, GParamSpec *pspec, LimnPane *self)
{
    guint method = gtk_drop_down_get_selected(drop_down);

    if (self->syncing || !self->doc || method >= LIMN_EXPLAIN_N_METHODS)
        return;
    limn_document_set_active(self->doc, self->index);
    limn_document_set_pane_method(self->doc, self->index,
                                  limn_explain_method_id((LimnExplainMethod) method));
}

static void
prompt_selected(GtkDropDown *drop_down, GParamSpec *pspec, LimnPane *self)
{
    guint prompt = gtk_drop_down_get_selected(drop_down);

    if (self->syncing || !self->doc || prompt == GTK_INVALID_LIST_POSITION)
        return;
    limn_document_set_active(self->doc, self->index);
    limn_document_set_pane_prompt(self->doc, self->index, prompt);
}

static void
artifact_selected(GtkDropDown *drop_down, GParamSpec *pspec, LimnPane *self)
{
    GPtrArray *artifacts = self->doc ? limn_document_get_artifacts(self->doc) : NULL;
    guint index = gtk_drop_down_get_selected(drop_down);

    if (self->syncing || !artifacts || index >= artifacts->len)
        return;
    limn_document_set_pane_artifact(self->doc, self->index,
                                    ((LimnArtifact *) artifacts->pdata[index])->name, 0);
}

static void
item_selected(GtkDropDown *drop_down, GParamSpec *pspec, LimnPane *self)
{
    guint item = gtk_drop_down_get_selected(drop_down);
    LimnArtifact *artifact = self->doc ? limn_pane_get_artifact(self) : NULL;

    if (self->syncing || !artifact || item == GTK_INVALID_LIST_POSITION)
        return;
    limn_document_set_pane_artifact(self->doc, self->index, artifact->name, item);
}

static void
close_clicked(GtkButton *button, LimnPane *self)
{
    if (self->doc)
        limn_document_remove_pane(self->doc, self->index);
}

static GtkWidget *
add_drop_down(LimnPane *self, const char *name, const char *const *strings,
              GCallback selected)
{
    GtkWidget *drop_down = limn_drop_down_new(name, strings);

    gtk_widget_set_hexpand(drop_down, TRUE);
    g_signal_connect(drop_down, "notify::selected", selected, self);
    gtk_box_append(GTK_BOX(self->head), drop_down);
    return drop_down;
}

static void
build_head(LimnPane *self)
{
    const char *const none[] = {NULL};

    self->head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 3);
    gtk_widget_add_css_class(self->head, "limn-pane-head");
    self->method = add_drop_down(self, _("Method of the pane"), limn_method_titles(),
                                 G_CALLBACK(method_selected));
    self->prompt =
        add_drop_down(self, _("Sentence of the pane"), none, G_CALLBACK(prompt_selected));
    self->artifact = add_drop_down(self, _("Result shown in the pane"), none,
                                   G_CALLBACK(artifact_selected));
    self->item =
        add_drop_down(self, _("Item of the result"), none, G_CALLBACK(item_selected));
    self->score = gtk_label_new(NULL);
    gtk_widget_add_css_class(self->score, "numeric");
    gtk_widget_set_tooltip_text(self->score, _("Cosine between sentence and picture"));
    gtk_box_append(GTK_BOX(self->head), self->score);
    self->compare = limn_compare_button_new(self->index);
    gtk_box_append(GTK_BOX(self->head), self->compare);
    self->close =
        limn_icon_button_new("window-close-symbolic", _("Close the pane"), NULL);
    g_signal_connect(self->close, "clicked", G_CALLBACK(close_clicked), self);
    gtk_box_append(GTK_BOX(self->head), self->close);
}

// ---- the note

static void
back_clicked(GtkButton *button, LimnPane *self)
{
    limn_document_set_override(self->doc, self->index, NULL, NULL);
}

static void
open_clicked(GtkButton *button, LimnPane *self)
{
    LimnExplainMethod method = limn_document_get_pane_method(self->doc, self->index);
    g_autofree char *text = g_strdup(limn_document_get_pane_text(self->doc, self->index));

    limn_document_set_override(self->doc, self->index, NULL, NULL);
    limn_document_add_pane_for_text(self->doc, limn_explain_method_id(method), text);
}

static void
build_note(LimnPane *self)
{
    self->note = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    gtk_widget_add_css_class(self->note, "limn-pane-note");
    self->note_label = limn_label_new(NULL, NULL, TRUE);
    gtk_label_set_lines(GTK_LABEL(self->note_label), 4);
    gtk_label_set_ellipsize(GTK_LABEL(self->note_label), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(self->note_label, TRUE);
    self->note_open = gtk_button_new_with_mnemonic(_("Open in a New _Pane"));
    self->note_back = gtk_button_new_with_mnemonic(_("_Back"));
    gtk_widget_add_css_class(self->note_open, "limn-small");
    gtk_widget_add_css_class(self->note_back, "limn-small");
    gtk_widget_set_valign(self->note_open, GTK_ALIGN_CENTER);
    gtk_widget_set_valign(self->note_back, GTK_ALIGN_CENTER);
    g_signal_connect(self->note_open, "clicked", G_CALLBACK(open_clicked), self);
    g_signal_connect(self->note_back, "clicked", G_CALLBACK(back_clicked), self);
    gtk_box_append(GTK_BOX(self->note), self->note_label);
    gtk_box_append(GTK_BOX(self->note), self->note_open);
    gtk_box_append(GTK_BOX(self->note), self->note_back);
}

// What is to be said about the map on screen; NULL when nothing is.
static char *
describe_problem(LimnPane *self, gboolean *is_error)
{
    const LimnLiveResult *result = limn_document_get_result(self->doc, self->index);
    const char *text = limn_document_get_pane_text(self->doc, self->index);
    const char *live_error = limn_document_get_live_error(self->doc);

    *is_error = live_error || (result && result->error);
    if (live_error)
        return g_strdup(live_error);
    if (!result || !*text)
        return NULL;
    if (result->error)
        return g_strdup(result->error->message);
    if (result->explanation->constant)
        return g_strdup(_("The map is the same everywhere: no part of the picture raises "
                          "the score."));
    if (result->words && result->words->truncated)
        return g_strdup(
            _("The sentence is longer than the model reads: the end of it was "
              "not used."));
    return NULL;
}

static void
sync_note(LimnPane *self)
{
    const char *override = limn_document_get_override(self->doc, self->index);
    gboolean is_error = FALSE;
    g_autofree char *text =
        override ? g_strdup(override) : describe_problem(self, &is_error);

    if (limn_document_get_artifacts(self->doc))
        g_clear_pointer(&text, g_free);
    gtk_widget_set_visible(self->note, text != NULL);
    gtk_widget_set_visible(self->note_open, override != NULL);
    gtk_widget_set_visible(self->note_back, override != NULL);
    gtk_label_set_text(GTK_LABEL(self->note_label), text ? text : "");
    gtk_widget_set_tooltip_text(self->note_label, text);
    if (is_error)
        gtk_widget_add_css_class(self->note, "error");
    else
        gtk_widget_remove_css_class(self->note, "error");
}

const char *
limn_pane_get_note(LimnPane *self)
{
    return gtk_widget_get_visible(self->note)
               ? gtk_label_get_text(GTK_LABEL(self->note_label))
               : NULL;
}

// ---- states without a picture

static void
build_state(LimnPane *self)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);

    gtk_widget_add_css_class(box, "limn-status");
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
    self->state_spinner = gtk_spinner_new();
    self->state_title = limn_label_new(NULL, "title-2", TRUE);
    self->state_hint = limn_label_new(NULL, "dim-label", TRUE);
    self->state_locate = gtk_button_new_with_mnemonic(_("_Locate the Picture…"));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(self->state_locate), "win.locate");
    gtk_widget_set_halign(self->state_locate, GTK_ALIGN_CENTER);
    gtk_label_set_justify(GTK_LABEL(self->state_title), GTK_JUSTIFY_CENTER);
    gtk_label_set_justify(GTK_LABEL(self->state_hint), GTK_JUSTIFY_CENTER);
    gtk_label_set_xalign(GTK_LABEL(self->state_title), 0.5);
    gtk_label_set_xalign(GTK_LABEL(self->state_hint), 0.5);
    gtk_label_set_max_width_chars(GTK_LABEL(self->state_hint), 60);
    gtk_box_append(GTK_BOX(box), self->state_spinner);
    gtk_box_append(GTK_BOX(box), self->state_title);
    gtk_box_append(GTK_BOX(box), self->state_hint);
    gtk_box_append(GTK_BOX(box), self->state_locate);
    self->state = box;
}

static void
show_state(LimnPane *self, const char *title, const char *hint, gboolean busy,
           gboolean locate)
{
    gtk_label_set_text(GTK_LABEL(self->state_title), title);
    gtk_label_set_text(GTK_LABEL(self->state_hint), hint ? hint : "");
    gtk_widget_set_visible(self->state_hint, hint != NULL);
    gtk_widget_set_visible(self->state_spinner, busy);
    gtk_spinner_set_spinning(GTK_SPINNER(self->state_spinner), busy);
    gtk_widget_set_visible(self->state_locate, locate);
    gtk_stack_set_visible_child(GTK_STACK(self->stack), self->state);
}

// TRUE when there is no picture to show and a state was shown in its place.
static gboolean
sync_state(LimnPane *self)
{
    const LimnOperation *operation = limn_document_get_operation(self->doc);
    const char *error = limn_document_get_picture_error(self->doc);
    GListModel *items = limn_document_get_items(self->doc);
    gboolean empty = items && g_list_model_get_n_items(items) == 0;

    if (limn_document_get_artifacts(self->doc) || limn_document_get_picture(self->doc))
        return FALSE;
    if (limn_document_is_loading(self->doc))
        show_state(self, _("Opening…"), NULL, TRUE, FALSE);
    else if (error && empty)
        show_state(self, _("Nothing to show"), error, FALSE, FALSE);
    else if (error)
        show_state(self, _("The picture cannot be shown"), error, FALSE, items == NULL);
    else if (limn_document_get_job(self->doc))
        show_state(self, _("Running…"), _("The results appear here."), TRUE, FALSE);
    else if (operation && limn_operation_find_input(operation, "image"))
        show_state(self, _("Drop a picture here"),
                   _("or choose it in the panel on the right."), FALSE, FALSE);
    else
        show_state(self, operation ? _(operation->title) : _("Unknown operation"),
                   operation
                       ? _("Give the inputs in the panel on the right and press Run.")
                       : _("This version of the program cannot run this study."),
                   FALSE, FALSE);
    return TRUE;
}

// ---- artifacts

LimnArtifact *
limn_pane_get_artifact(LimnPane *self)
{
    return limn_document_find_artifact(
        self->doc, limn_document_get_data(self->doc)->panes[self->index].artifact);
}

static gboolean
is_pictorial(const LimnArtifact *artifact)
{
    return artifact->kind == LIMN_ARTIFACT_HEATMAP ||
           artifact->kind == LIMN_ARTIFACT_PICTURES ||
           artifact->kind == LIMN_ARTIFACT_LABELMAP;
}

static guint
count_items(const LimnArtifact *artifact)
{
    switch (artifact->kind) {
    case LIMN_ARTIFACT_HEATMAP:
        return (guint) limn_artifact_n_maps(artifact);
    case LIMN_ARTIFACT_PICTURES:
    case LIMN_ARTIFACT_LABELMAP:
        return artifact->pictures ? artifact->pictures->len : 1;
    case LIMN_ARTIFACT_TEXT:
        return artifact->texts ? artifact->texts->len : 0;
    default:
        return 1;
    }
}

static char *
item_name(const LimnArtifact *artifact, guint item)
{
    if (artifact->kind == LIMN_ARTIFACT_TEXT && artifact->texts &&
        item < artifact->texts->len)
        return g_strdup(((LimnTextItem *) artifact->texts->pdata[item])->text);
    if (artifact->labels && item < artifact->labels->len)
        return g_strdup(artifact->labels->pdata[item]);
    return g_strdup_printf("%u", item + 1);
}

static void
sync_artifact_choices(LimnPane *self)
{
    GPtrArray *artifacts = limn_document_get_artifacts(self->doc);
    const LimnPaneState *pane = &limn_document_get_data(self->doc)->panes[self->index];
    LimnArtifact *shown = limn_pane_get_artifact(self);
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) items = g_ptr_array_new_with_free_func(g_free);
    guint n_items = shown ? count_items(shown) : 0;
    guint selected = 0;

    for (guint i = 0; i < artifacts->len; i++) {
        LimnArtifact *artifact = artifacts->pdata[i];

        g_ptr_array_add(names, artifact->title ? g_strdup(artifact->title)
                                               : limn_title_from_key(artifact->name));
        if (artifact == shown)
            selected = i;
    }
    g_ptr_array_add(names, NULL);
    for (guint i = 0; i < n_items; i++)
        g_ptr_array_add(items, item_name(shown, i));
    g_ptr_array_add(items, NULL);
    limn_drop_down_set_strings(GTK_DROP_DOWN(self->artifact),
                               (const char *const *) names->pdata);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->artifact), selected);
    limn_drop_down_set_strings(GTK_DROP_DOWN(self->item),
                               (const char *const *) items->pdata);
    if (n_items > 0)
        gtk_drop_down_set_selected(GTK_DROP_DOWN(self->item),
                                   (guint) CLAMP(pane->item, 0, (gint64) n_items - 1));
    gtk_widget_set_visible(self->item, n_items > 1);
}

static void
sync_prompt_choices(LimnPane *self)
{
    const LimnStudyData *data = limn_document_get_data(self->doc);
    g_autoptr(GPtrArray) strings = g_ptr_array_new();

    for (guint i = 0; i < data->prompts->len; i++)
        g_ptr_array_add(strings, *(char *) data->prompts->pdata[i]
                                     ? data->prompts->pdata[i]
                                     : (gpointer) _("(empty)"));
    g_ptr_array_add(strings, NULL);
    limn_drop_down_set_strings(GTK_DROP_DOWN(self->prompt),
                               (const char *const *) strings->pdata);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->prompt),
                               data->panes[self->index].prompt);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(self->method),
                               limn_document_get_pane_method(self->doc, self->index));
}

static void
sync_score(LimnPane *self)
{
    const LimnLiveResult *result = limn_document_get_result(self->doc, self->index);
    const char *text = limn_document_get_pane_text(self->doc, self->index);
    g_autofree char *shown = NULL;

    if (result && !result->error && *text)
        shown = limn_format_fixed(result->cosine, 3);
    gtk_label_set_text(GTK_LABEL(self->score), shown ? shown : "");
    // several panes are narrow; the list of sentences has the scores as well
    gtk_widget_set_visible(self->score,
                           shown && limn_document_get_data(self->doc)->n_panes == 1);
}

static void
sync_head(LimnPane *self)
{
    const LimnStudyData *data = limn_document_get_data(self->doc);
    gboolean results = limn_document_get_artifacts(self->doc) != NULL;
    gboolean live = limn_document_is_live_capable(self->doc);

    gtk_widget_set_visible(self->method, live);
    gtk_widget_set_visible(self->prompt, live);
    gtk_widget_set_visible(self->compare, live);
    gtk_widget_set_visible(self->artifact, results);
    gtk_widget_set_visible(self->item, results);
    gtk_widget_set_visible(self->close, data->n_panes > 1);
    gtk_widget_set_visible(self->head, live || results || data->n_panes > 1);
    if (results)
        sync_artifact_choices(self);
    if (live)
        sync_prompt_choices(self);
    sync_score(self);
}

// ---- everything

char *
limn_pane_dup_title(LimnPane *self)
{
    LimnArtifact *artifact = limn_pane_get_artifact(self);

    if (artifact) {
        gint64 item = limn_document_get_data(self->doc)->panes[self->index].item;

        return item_name(artifact, (guint) item);
    }
    return g_strdup_printf(
        "%s · %s",
        limn_explain_method_title(limn_document_get_pane_method(self->doc, self->index)),
        limn_document_get_pane_text(self->doc, self->index));
}

static void
sync_content(LimnPane *self)
{
    LimnArtifact *artifact = limn_pane_get_artifact(self);
    gint64 item = limn_document_get_data(self->doc)->panes[self->index].item;

    limn_pane_sync_map(self);
    if (sync_state(self))
        return;
    gtk_spinner_set_spinning(GTK_SPINNER(self->state_spinner), FALSE);
    if (artifact && !is_pictorial(artifact)) {
        limn_artifact_view_set(LIMN_ARTIFACT_VIEW(self->artifact_view), artifact, item);
        gtk_stack_set_visible_child(GTK_STACK(self->stack), self->artifact_view);
    } else {
        limn_artifact_view_set(LIMN_ARTIFACT_VIEW(self->artifact_view), NULL, 0);
        gtk_stack_set_visible_child(GTK_STACK(self->stack), GTK_WIDGET(self->view));
    }
}

void
limn_pane_sync(LimnPane *self)
{
    const LimnStudyData *data = self->doc ? limn_document_get_data(self->doc) : NULL;
    g_autofree char *name = NULL;

    if (!data || self->index >= data->n_panes || self->syncing)
        return;
    self->syncing = TRUE;
    sync_head(self);
    sync_note(self);
    sync_content(self);
    if (data->n_panes > 1 && limn_document_get_view(self->doc)->active == self->index)
        gtk_widget_add_css_class(self->box, "active");
    else
        gtk_widget_remove_css_class(self->box, "active");
    name = limn_pane_dup_title(self);
    limn_set_name(GTK_WIDGET(self->view), name, FALSE);
    self->syncing = FALSE;
}

static void
limn_pane_init(LimnPane *self)
{
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_widget_add_css_class(self->box, "limn-pane");
    gtk_widget_set_overflow(self->box, GTK_OVERFLOW_HIDDEN);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
}

GtkWidget *
limn_pane_new(guint index)
{
    LimnPane *self = g_object_new(LIMN_TYPE_PANE, NULL);

    self->index = index;
    self->syncing = TRUE;
    build_head(self);
    build_note(self);
    build_state(self);
    self->stack = gtk_stack_new();
    gtk_stack_set_hhomogeneous(GTK_STACK(self->stack), FALSE);
    gtk_stack_set_vhomogeneous(GTK_STACK(self->stack), FALSE);
    gtk_widget_set_vexpand(self->stack, TRUE);
    self->view = LIMN_HEATMAP_VIEW(limn_heatmap_view_new());
    self->artifact_view = limn_artifact_view_new();
    gtk_stack_add_child(GTK_STACK(self->stack), GTK_WIDGET(self->view));
    gtk_stack_add_child(GTK_STACK(self->stack), self->artifact_view);
    gtk_stack_add_child(GTK_STACK(self->stack), self->state);
    gtk_box_append(GTK_BOX(self->box), self->head);
    gtk_box_append(GTK_BOX(self->box), self->note);
    gtk_box_append(GTK_BOX(self->box), self->stack);
    limn_pane_connect_view(self);
    self->syncing = FALSE;
    return GTK_WIDGET(self);
}

void
limn_pane_set_document(LimnPane *self, LimnDocument *doc)
{
    if (self->doc == doc)
        return;
    g_set_object(&self->doc, doc);
    self->syncing = TRUE;
    limn_compare_button_set_document(LIMN_COMPARE_BUTTON(self->compare), doc);
    if (doc)
        limn_heatmap_view_set_camera(self->view, limn_document_get_camera(doc));
    self->syncing = FALSE;
    limn_pane_sync(self);
}

LimnHeatmapView *
limn_pane_get_view(LimnPane *self)
{
    return self->view;
}

gboolean
limn_pane_shows_map(LimnPane *self)
{
    return self->map &&
           gtk_stack_get_visible_child(GTK_STACK(self->stack)) == GTK_WIDGET(self->view);
}

gboolean
limn_pane_is_signed(LimnPane *self)
{
    return self->is_signed;
}
