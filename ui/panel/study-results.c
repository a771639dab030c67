// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/panel/study-results.h"

#include "ui/panel/number-list.h"
#include "ui/panel/prompt-list.h"
#include "ui/widget/helpers.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define MAX_LINES 60 // of scalars, diagnostics, skipped items

struct _LimnStudyResults {
    GtkWidget parent_instance;
    LimnDocument *doc;
    GtkWidget *box, *section, *numbers, *region_section, *region, *notes_section, *notes;
    double energy, iou;
};

G_DEFINE_FINAL_TYPE(LimnStudyResults, limn_study_results, GTK_TYPE_WIDGET)

static void
limn_study_results_dispose(GObject *object)
{
    LimnStudyResults *self = LIMN_STUDY_RESULTS(object);

    g_clear_object(&self->doc);
    g_clear_pointer(&self->box, gtk_widget_unparent);
    G_OBJECT_CLASS(limn_study_results_parent_class)->dispose(object);
}

static void
limn_study_results_class_init(LimnStudyResultsClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_study_results_dispose;
    gtk_widget_class_set_layout_manager_type(GTK_WIDGET_CLASS(class),
                                             GTK_TYPE_BIN_LAYOUT);
}

static GtkWidget *
make_region_buttons(void)
{
    GtkWidget *buttons = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    GtkWidget *load = gtk_button_new_with_mnemonic(_("Load a _Mask…"));
    GtkWidget *clear = gtk_button_new_with_mnemonic(_("Re_move"));

    gtk_actionable_set_action_name(GTK_ACTIONABLE(load), "win.load-mask");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(clear), "win.clear-region");
    gtk_box_append(GTK_BOX(buttons), load);
    gtk_box_append(GTK_BOX(buttons), clear);
    return buttons;
}

static void
limn_study_results_init(LimnStudyResults *self)
{
    self->energy = self->iou = NAN;
    self->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 18);
    self->section = limn_section_new(_("Results"));
    self->numbers = limn_number_list_new();
    gtk_box_append(GTK_BOX(self->section), self->numbers);
    self->region_section = limn_section_new(_("Region"));
    self->region = limn_number_list_new();
    gtk_box_append(GTK_BOX(self->region_section), self->region);
    gtk_box_append(GTK_BOX(self->region_section), make_region_buttons());
    self->notes_section = limn_section_new(_("Remarks"));
    self->notes = limn_label_new(NULL, "caption", TRUE);
    gtk_label_set_selectable(GTK_LABEL(self->notes), TRUE);
    gtk_widget_set_focusable(self->notes, FALSE);
    gtk_box_append(GTK_BOX(self->notes_section), self->notes);
    gtk_box_append(GTK_BOX(self->box), self->section);
    gtk_box_append(GTK_BOX(self->box), self->region_section);
    gtk_box_append(GTK_BOX(self->box), self->notes_section);
    gtk_widget_set_parent(self->box, GTK_WIDGET(self));
}

GtkWidget *
limn_study_results_new(void)
{
    return g_object_new(LIMN_TYPE_STUDY_RESULTS, NULL);
}

// ---- live

static void
add_live_numbers(LimnStudyResults *self, LimnNumberList *list)
{
    guint active = limn_document_get_view(self->doc)->active;
    const LimnStudyData *data = limn_document_get_data(self->doc);
    const LimnLiveResult *result = limn_document_get_result(self->doc, active);
    const LimnExplanation *explanation;
    g_autofree double *probabilities = limn_document_dup_probabilities(self->doc);
    guint prompt = data->panes[active].prompt;

    if (!result || result->error || !*limn_document_get_pane_text(self->doc, active))
        return;
    explanation = result->explanation;
    limn_number_list_add(list, _("Cosine"), explanation->cosine,
                         _("Between sentence and picture, by the model as it is"));
    limn_number_list_add(list, _("Logit"), explanation->logit,
                         _("Cosine times the model's temperature"));
    if (!limn_document_get_override(self->doc, active) && probabilities &&
        !isnan(probabilities[prompt]))
        limn_number_list_add(list, _("Probability"), probabilities[prompt],
                             _("Among the sentences of the study"));
    if (fabs(explanation->mode_score - explanation->cosine) > 1e-6)
        limn_number_list_add(list, _("Explained score"), explanation->mode_score,
                             _("In the mode that is explained"));
    if (result->difference)
        limn_number_list_add(list, _("Other cosine"), result->other->cosine,
                             result->other_text);
}

static void
add_patch(LimnStudyResults *self, LimnNumberList *list)
{
    guint active = limn_document_get_view(self->doc)->active;
    const LimnLiveResult *result = limn_document_get_result(self->doc, active);
    g_autofree char *place = NULL;

    if (!result || result->error || !result->has_patch)
        return;
    place = g_strdup_printf(_("row %d, column %d"), result->patch_row, result->patch_col);
    limn_number_list_add_text(list, _("Patch"), place,
                              _("Click another patch to describe it"));
    limn_number_list_add(list, _("Contribution"), result->patch.contribution,
                         _("Of this patch to the score, with its sign"));
    limn_number_list_add(list, _("Loosened weight"), result->patch.weight, NULL);
    limn_number_list_add(list, _("Cosine to the class token"), result->patch.cosine,
                         NULL);
    limn_number_list_add(list, _("Attention"), result->patch.attention,
                         _("Of the class token, last block"));
}

// ---- runs

static void
add_scalars(LimnStudyResults *self, LimnNumberList *list)
{
    GPtrArray *scalars = limn_document_get_scalars(self->doc);

    for (guint i = 0; scalars && i < MIN(scalars->len, MAX_LINES); i++) {
        const LimnScalar *scalar = scalars->pdata[i];
        g_autofree char *name =
            scalar->item ? g_strdup_printf("%s · %s", scalar->name, scalar->item)
                         : g_strdup(scalar->name);

        limn_number_list_add(list, name, scalar->value, NULL);
    }
}

static void
add_line(GString *text, const char *item, const char *message)
{
    if (text->len > 0)
        g_string_append_c(text, '\n');
    if (item && *item)
        g_string_append_printf(text, "%s: ", item);
    g_string_append(text, message);
}

static void
sync_notes(LimnStudyResults *self)
{
    GPtrArray *diagnostics = limn_document_get_diagnostics(self->doc);
    GPtrArray *skipped = limn_document_get_skipped(self->doc);
    const char *mask_error = limn_document_get_mask_error(self->doc);
    LimnImage *mask = limn_document_get_mask(self->doc);
    LimnImage *picture = limn_document_get_picture(self->doc);
    g_autoptr(GString) text = g_string_new(NULL);

    if (mask_error)
        add_line(text, NULL, mask_error);
    if (mask && picture &&
        (mask->width != picture->width || mask->height != picture->height)) {
        g_autofree char *sizes =
            g_strdup_printf(_("The mask has another size than the picture (%d × %d, not "
                              "%d × %d) and is not "
                              "used."),
                            mask->width, mask->height, picture->width, picture->height);

        add_line(text, NULL, sizes);
    }
    for (guint i = 0; skipped && i < MIN(skipped->len, MAX_LINES); i++) {
        const LimnSkipped *item = skipped->pdata[i];

        add_line(text, item->item, item->reason);
    }
    for (guint i = 0; diagnostics && i < MIN(diagnostics->len, MAX_LINES); i++) {
        const LimnDiagnostic *diagnostic = diagnostics->pdata[i];

        add_line(text, diagnostic->item, diagnostic->message);
    }
    gtk_label_set_text(GTK_LABEL(self->notes), text->str);
    gtk_widget_set_visible(self->notes_section, text->len > 0);
}

static void
sync_region(LimnStudyResults *self)
{
    LimnNumberList *list = LIMN_NUMBER_LIST(self->region);
    gboolean has = limn_document_get_data(self->doc)->has_box ||
                   limn_document_get_data(self->doc)->mask;

    limn_number_list_begin(list);
    if (!isnan(self->energy))
        limn_number_list_add(list, _("Share of the map's energy"), self->energy,
                             _("Sum of the map inside, over its whole sum"));
    if (!isnan(self->iou))
        limn_number_list_add(list, _("IoU at half of the maximum"), self->iou,
                             _("Of the region with the part of the map above half of its "
                               "largest value"));
    limn_number_list_end(list);
    gtk_widget_set_visible(self->region_section, has);
}

void
limn_study_results_sync(LimnStudyResults *self)
{
    LimnNumberList *list = LIMN_NUMBER_LIST(self->numbers);

    if (!self->doc)
        return;
    limn_number_list_begin(list);
    if (limn_document_get_artifacts(self->doc)) {
        add_scalars(self, list);
    } else {
        add_live_numbers(self, list);
        add_patch(self, list);
    }
    limn_number_list_end(list);
    gtk_widget_set_visible(self->section, gtk_widget_get_visible(self->numbers));
    sync_region(self);
    sync_notes(self);
}

void
limn_study_results_set_document(LimnStudyResults *self, LimnDocument *doc)
{
    g_set_object(&self->doc, doc);
    self->energy = self->iou = NAN;
    limn_study_results_sync(self);
}

void
limn_study_results_set_region(LimnStudyResults *self, double energy, double iou)
{
    self->energy = energy;
    self->iou = iou;
    if (self->doc)
        sync_region(self);
}

char *
limn_study_results_dup_text(LimnStudyResults *self)
{
    g_autofree char *numbers = limn_number_list_dup_text(LIMN_NUMBER_LIST(self->numbers));
    g_autofree char *region = limn_number_list_dup_text(LIMN_NUMBER_LIST(self->region));

    return g_strconcat(numbers, region, gtk_label_get_text(GTK_LABEL(self->notes)), NULL);
}
