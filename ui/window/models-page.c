// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/models-page.h"

#include "ui/model/document-edit.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>

#define MAX_NAMES 40 // of tensors in the report

struct _LimnModelsPage {
    GtkWidget parent_instance;
    LimnWorkspace *ws;
    GtkWidget *scroller, *list;
};

G_DEFINE_FINAL_TYPE(LimnModelsPage, limn_models_page, GTK_TYPE_WIDGET)

static void
limn_models_page_dispose(GObject *object)
{
    LimnModelsPage *self = LIMN_MODELS_PAGE(object);

    if (self->ws)
        g_signal_handlers_disconnect_by_data(
            limn_model_store_get_list(limn_workspace_get_models(self->ws)), self);
    g_clear_object(&self->ws);
    g_clear_pointer(&self->scroller, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_models_page_parent_class)->dispose(object);
}

static void
limn_models_page_class_init(LimnModelsPageClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_models_page_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

// ---- one model

typedef struct {
    LimnModelsPage *page;
    LimnModel *model;
    GtkWidget *state, *detail, *report, *expander, *unload, *use;
} Card;

static void
card_free(gpointer data)
{
    Card *card = data;

    g_signal_handlers_disconnect_by_data(card->model, card);
    g_object_unref(card->model);
    g_free(card);
}

static void
append_names(GString *text, const char *heading, const GPtrArray *names)
{
    g_string_append_printf(text, "%s: %u\n", heading, names->len);
    for (guint i = 0; i < MIN(names->len, MAX_NAMES); i++)
        g_string_append_printf(text, "   %s\n", (char *) names->pdata[i]);
    if (names->len > MAX_NAMES)
        g_string_append_printf(
            text,
            ngettext("   and %u more\n", "   and %u more\n", names->len - MAX_NAMES),
            names->len - MAX_NAMES);
}

static const char *
activation_name(LimnActivation activation)
{
    return activation == LIMN_ACTIVATION_QUICK_GELU ? "quick GELU" : "GELU";
}

static char *
describe_report(LimnClip *clip)
{
    const LimnClipConfig *config = limn_clip_get_config(clip);
    const LimnLoadReport *report = limn_clip_get_report(clip);
    GString *text = g_string_new(NULL);

    g_string_append_printf(text, _("Layout: %s\n"), config->layout);
    g_string_append_printf(
        text,
        _("Picture: %d blocks, width %d, %d heads, %s, %d px in patches of %d px\n"),
        config->vision.layers, config->vision.width, config->vision.heads,
        activation_name(config->vision.activation), config->image_size, config->patch);
    g_string_append_printf(
        text, _("Text: %d blocks, width %d, %d heads, %s, %d tokens at most\n"),
        config->text.layers, config->text.width, config->text.heads,
        activation_name(config->text.activation), config->context);
    g_string_append_printf(text, _("Projection: %d\n"), config->projection);
    if (report->heads_assumed)
        g_string_append(text, _("The number of heads was not said and is assumed.\n"));
    if (report->builtin_tokenizer)
        g_string_append(text, _("The checkpoint has no tokenizer: the program's own is "
                                "used.\n"));
    append_names(text, _("Tensors missing"), report->missing);
    append_names(text, _("Tensors ignored"), report->ignored);
    append_names(text, _("Tensors used"), report->used);
    return g_string_free(text, FALSE);
}

static void
card_update(Card *card)
{
    const char *names[] = {_("Not loaded"), _("Loading…"), _("Loaded"),
                           _("Cannot be used")};
    LimnModelState state = limn_model_get_state(card->model);
    LimnClip *clip = limn_model_get_clip(card->model);
    const char *path = limn_model_get_path(card->model);
    g_autofree char *shown =
        *path ? g_filename_display_name(path) : g_strdup(_("Comes with the program"));

    gtk_label_set_text(GTK_LABEL(card->state), names[state]);
    gtk_widget_set_sensitive(card->unload, state == LIMN_MODEL_LOADED);
    gtk_widget_set_visible(card->expander, clip != NULL);
    if (clip) {
        const LimnLoadReport *report = limn_clip_get_report(clip);
        g_autofree char *mapped = g_format_size(report->mapped_bytes);
        g_autofree char *owned = g_format_size(report->owned_bytes);
        g_autofree char *detail = g_strdup_printf(
            _("%s\n%s in memory, %s of the file mapped"), shown, owned, mapped);
        g_autofree char *text = describe_report(clip);

        gtk_label_set_text(GTK_LABEL(card->detail), detail);
        gtk_label_set_text(GTK_LABEL(card->report), text);
    } else if (limn_model_get_message(card->model)) {
        gtk_label_set_text(GTK_LABEL(card->detail), limn_model_get_message(card->model));
    } else {
        gtk_label_set_text(GTK_LABEL(card->detail), shown);
    }
}

static void
use_clicked(GtkButton *button, Card *card)
{
    limn_workspace_use_model(card->page->ws, limn_model_get_path(card->model));
    if (limn_workspace_get_current(card->page->ws))
        gtk_widget_activate_action(GTK_WIDGET(button), "win.show-page", "s", "study");
}

static void
unload_clicked(GtkButton *button, Card *card)
{
    limn_workspace_unload_model(card->page->ws, limn_model_get_path(card->model));
}

static void
remove_clicked(GtkButton *button, Card *card)
{
    g_autofree char *path = g_strdup(limn_model_get_path(card->model));
    LimnWorkspace *ws = card->page->ws;

    limn_live_forget_model(limn_workspace_get_live(ws), path);
    limn_model_store_remove(limn_workspace_get_models(ws), path); // the card goes with it
    limn_workspace_touch(ws);
}

static GtkWidget *
make_buttons(Card *card, const char *title)
{
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    g_autofree char *use = g_strdup_printf(_("Use %s for the study"), title);
    g_autofree char *unload = g_strdup_printf(_("Unload %s"), title);
    g_autofree char *remove = g_strdup_printf(_("Take %s off the list"), title);
    GtkWidget *button;

    card->use = gtk_button_new_with_mnemonic(_("_Use for the Study"));
    limn_set_name(card->use, use, FALSE);
    g_signal_connect(card->use, "clicked", G_CALLBACK(use_clicked), card);
    card->unload = gtk_button_new_with_mnemonic(_("U_nload"));
    limn_set_name(card->unload, unload, FALSE);
    g_signal_connect(card->unload, "clicked", G_CALLBACK(unload_clicked), card);
    gtk_box_append(GTK_BOX(buttons), card->use);
    gtk_box_append(GTK_BOX(buttons), card->unload);
    if (*limn_model_get_path(card->model)) {
        button = gtk_button_new_with_mnemonic(_("_Remove"));
        limn_set_name(button, remove, FALSE);
        g_signal_connect(button, "clicked", G_CALLBACK(remove_clicked), card);
        gtk_box_append(GTK_BOX(buttons), button);
    }
    gtk_widget_set_valign(buttons, GTK_ALIGN_START);
    return buttons;
}

static GtkWidget *
make_card(LimnModelsPage *self, LimnModel *model)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 6);
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 12);
    GtkWidget *texts = gtk_box_new(GTK_ORIENTATION_VERTICAL, 3);
    g_autofree char *title = limn_model_dup_title(model);
    Card *card = g_new0(Card, 1);

    card->page = self;
    card->model = g_object_ref(model);
    card->state = limn_label_new(NULL, "caption", FALSE);
    card->detail = limn_label_new(NULL, "dim-label", TRUE);
    card->report = limn_label_new(NULL, "limn-report", TRUE);
    gtk_label_set_selectable(GTK_LABEL(card->report), TRUE);
    gtk_widget_set_focusable(card->report, FALSE);
    card->expander = gtk_expander_new_with_mnemonic(_("Load re_port"));
    limn_set_name(card->expander, _("Load report"), FALSE);
    gtk_expander_set_child(GTK_EXPANDER(card->expander), card->report);
    gtk_widget_add_css_class(box, "limn-card");
    gtk_widget_set_hexpand(texts, TRUE);
    gtk_box_append(GTK_BOX(texts), limn_label_new(title, "heading", FALSE));
    gtk_box_append(GTK_BOX(texts), card->state);
    gtk_box_append(GTK_BOX(texts), card->detail);
    gtk_box_append(GTK_BOX(head), texts);
    gtk_box_append(GTK_BOX(head), make_buttons(card, title));
    gtk_box_append(GTK_BOX(box), head);
    gtk_box_append(GTK_BOX(box), card->expander);
    g_signal_connect_swapped(model, "notify::state", G_CALLBACK(card_update), card);
    g_object_set_data_full(G_OBJECT(box), "limn-card", card, card_free);
    card_update(card);
    return box;
}

static void
models_changed(GListModel *models, guint position, guint removed, guint added,
               LimnModelsPage *self)
{
    GtkWidget *child = gtk_widget_get_first_child(self->list);

    for (guint i = 0; i < position && child; i++)
        child = gtk_widget_get_next_sibling(child);
    for (guint i = 0; i < removed && child; i++) {
        GtkWidget *next = gtk_widget_get_next_sibling(child);

        gtk_box_remove(GTK_BOX(self->list), child);
        child = next;
    }
    for (guint i = 0; i < added; i++) {
        g_autoptr(LimnModel) model = g_list_model_get_item(models, position + i);
        GtkWidget *card = make_card(self, model);

        gtk_widget_insert_before(card, self->list, child);
    }
}

// ---- construction

static void
limn_models_page_init(LimnModelsPage *self)
{
    GtkWidget *content = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *open = gtk_button_new_with_mnemonic(_("Open a _Checkpoint…"));
    GtkWidget *fetch = gtk_button_new_with_mnemonic(_("_Fetch a Checkpoint…"));

    gtk_widget_add_css_class(content, "limn-page");
    gtk_box_append(GTK_BOX(content), limn_label_new(_("Models"), "title-1", FALSE));
    gtk_box_append(
        GTK_BOX(content),
        limn_label_new(
            _("Checkpoints are opened where they lie, in the layouts of Hugging Face, "
              "OpenCLIP and OpenAI. Drop a folder or a .safetensors file here."),
            "dim-label", TRUE));
    gtk_actionable_set_action_name(GTK_ACTIONABLE(open), "win.open-model");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(fetch), "win.fetch");
    gtk_box_append(GTK_BOX(buttons), open);
    gtk_box_append(GTK_BOX(buttons), fetch);
    gtk_box_append(GTK_BOX(content), buttons);
    self->list = gtk_box_new(GTK_ORIENTATION_VERTICAL, 12);
    gtk_box_append(GTK_BOX(content), self->list);
    self->scroller = gtk_scrolled_window_new();
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(self->scroller), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(self->scroller), content);
    gtk_widget_set_parent(self->scroller, GTK_WIDGET(self));
}

GtkWidget *
limn_models_page_new(LimnWorkspace *ws)
{
    LimnModelsPage *self = g_object_new(LIMN_TYPE_MODELS_PAGE, NULL);
    GListModel *models = limn_model_store_get_list(limn_workspace_get_models(ws));

    self->ws = g_object_ref(ws);
    g_signal_connect(models, "items-changed", G_CALLBACK(models_changed), self);
    models_changed(models, 0, 0, g_list_model_get_n_items(models), self);
    return GTK_WIDGET(self);
}
