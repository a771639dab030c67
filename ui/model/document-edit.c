// SPDX-License-Identifier: GPL-3.0-or-later

// Undoable changes of a study's data: a command keeps the data before and after, which
// are small (texts, names, numbers), so that undo restores exactly what was there.

#include "limn-config.h"

#include "ui/model/document-edit.h"

#include "ui/model/document-private.h"

#include <glib/gi18n-lib.h>
#include <string.h>

#define MERGE_TIME (G_TIME_SPAN_SECOND)

typedef struct {
    LimnDocument *doc;
    LimnStudyData before, after;
    char *merge_key;
    gint64 time;
} Edit;

static void
apply(Edit *edit, const LimnStudyData *data)
{
    LimnDocument *doc = edit->doc;

    limn_study_data_copy(&doc->study->data, data);
    doc->study->view.active = MIN(doc->study->view.active, data->n_panes - 1);
    limn_document_emit(doc, LIMN_DOCUMENT_REVEAL);
    limn_document_sync_picture(doc);
    limn_document_emit(doc, LIMN_DOCUMENT_DATA_CHANGED);
}

static void
edit_undo(gpointer data)
{
    Edit *edit = data;

    apply(edit, &edit->before);
}

static void
edit_redo(gpointer data)
{
    Edit *edit = data;

    apply(edit, &edit->after);
}

static gboolean
edit_merge(gpointer data, gpointer newer)
{
    Edit *edit = data, *next = newer;

    if (edit->doc != next->doc || !edit->merge_key ||
        g_strcmp0(edit->merge_key, next->merge_key) != 0 ||
        next->time - edit->time > MERGE_TIME)
        return FALSE;
    limn_study_data_copy(&edit->after, &next->after);
    edit->time = next->time;
    return TRUE;
}

static gsize
edit_size(gpointer data)
{
    Edit *edit = data;

    return sizeof *edit + limn_study_data_size(&edit->before) +
           limn_study_data_size(&edit->after);
}

static void
edit_free(gpointer data)
{
    Edit *edit = data;

    limn_study_data_clear(&edit->before);
    limn_study_data_clear(&edit->after);
    g_free(edit->merge_key);
    g_object_unref(edit->doc);
    g_free(edit);
}

static const LimnCommandClass edit_class = {edit_undo, edit_redo, edit_merge, edit_size,
                                            edit_free};

LimnStudyData *
limn_document_begin_edit(LimnDocument *self)
{
    g_return_val_if_fail(!self->editing, NULL);
    limn_study_data_copy(&self->before, &self->study->data);
    self->editing = TRUE;
    return &self->study->data;
}

void
limn_document_end_edit(LimnDocument *self, const char *title, const char *merge_key)
{
    g_return_if_fail(self->editing);
    self->editing = FALSE;
    if (limn_study_data_equal(&self->before, &self->study->data))
        return;
    if (self->undo) {
        Edit *edit = g_new0(Edit, 1);

        edit->doc = g_object_ref(self);
        edit->before = self->before;
        memset(&self->before, 0, sizeof self->before);
        limn_study_data_copy(&edit->after, &self->study->data);
        edit->merge_key = g_strdup(merge_key);
        edit->time = g_get_monotonic_time();
        limn_undo_push(self->undo, &edit_class, edit, title);
    }
    limn_document_sync_picture(self);
    limn_document_emit(self, LIMN_DOCUMENT_DATA_CHANGED);
}

LimnStudyView *
limn_document_edit_view(LimnDocument *self)
{
    return &self->study->view;
}

void
limn_document_view_changed(LimnDocument *self)
{
    limn_document_sync_picture(self);
    limn_document_emit(self, LIMN_DOCUMENT_VIEW_CHANGED);
}

void
limn_document_rename(LimnDocument *self, const char *title)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    g_free(data->title);
    data->title = g_strdup(title);
    limn_document_end_edit(self, _("Rename the study"), NULL);
    limn_document_emit(self, LIMN_DOCUMENT_STATUS_CHANGED);
}

// ---- sentences

void
limn_document_set_prompt(LimnDocument *self, guint index, const char *text)
{
    g_autofree char *key = g_strdup_printf("prompt-%u", index);
    LimnStudyData *data = limn_document_begin_edit(self);

    if (index < data->prompts->len) {
        g_free(data->prompts->pdata[index]);
        data->prompts->pdata[index] = g_strdup(text);
    }
    limn_document_end_edit(self, _("Typing"), key);
}

static void
show_prompt(LimnDocument *self, LimnStudyData *data, guint prompt)
{
    guint active = self->study->view.active;

    data->panes[active].prompt = prompt;
    g_clear_pointer(&self->override_text[active], g_free);
    g_clear_pointer(&self->override_title[active], g_free);
}

guint
limn_document_add_prompt(LimnDocument *self, const char *text)
{
    LimnStudyData *data = limn_document_begin_edit(self);
    guint index = data->prompts->len;

    g_ptr_array_add(data->prompts, g_strdup(text));
    show_prompt(self, data, index);
    limn_document_end_edit(self, _("Add a sentence"), NULL);
    return index;
}

static guint
index_after_removal(guint index, guint removed, guint left)
{
    if (index > removed)
        index--;
    return MIN(index, left - 1);
}

void
limn_document_remove_prompt(LimnDocument *self, guint index)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    if (index < data->prompts->len)
        g_ptr_array_remove_index(data->prompts, index);
    if (data->prompts->len == 0)
        g_ptr_array_add(data->prompts, g_strdup(""));
    for (guint i = 0; i < LIMN_MAX_PANES; i++) {
        LimnPaneState *pane = &data->panes[i];

        pane->prompt = index_after_removal(pane->prompt, index, data->prompts->len);
        pane->other_prompt =
            index_after_removal(pane->other_prompt, index, data->prompts->len);
    }
    limn_document_end_edit(self, _("Remove a sentence"), NULL);
}

void
limn_document_set_prompts(LimnDocument *self, const char *const *texts)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    g_ptr_array_set_size(data->prompts, 0);
    for (; *texts; texts++)
        g_ptr_array_add(data->prompts, g_strdup(*texts));
    if (data->prompts->len == 0)
        g_ptr_array_add(data->prompts, g_strdup(""));
    for (guint i = 0; i < LIMN_MAX_PANES; i++) {
        data->panes[i].prompt = MIN(data->panes[i].prompt, data->prompts->len - 1);
        data->panes[i].other_prompt =
            MIN(data->panes[i].other_prompt, data->prompts->len - 1);
    }
    limn_document_end_edit(self, _("Replace the sentences"), NULL);
}

// ---- panes

// Comparison methods in the order in which new panes get them: quick ones that differ.
static const char *const comparison_order[] = {"grad-eclip", "game",     "self-attention",
                                               "rollout",    "grad-cam", "maskclip"};

static gboolean
method_is_shown(const LimnStudyData *data, guint n, const char *method)
{
    for (guint i = 0; i < n; i++) {
        const char *shown = data->panes[i].method;

        if (g_str_equal(shown ? shown : "grad-eclip", method))
            return TRUE;
    }
    return FALSE;
}

static const char *
next_method(const LimnStudyData *data, guint n)
{
    for (guint i = 0; i < G_N_ELEMENTS(comparison_order); i++)
        if (!method_is_shown(data, n, comparison_order[i]))
            return comparison_order[i];
    return comparison_order[0];
}

static const char *
next_artifact(LimnDocument *self, guint pane)
{
    if (!self->artifacts || self->artifacts->len == 0)
        return NULL;
    return ((LimnArtifact *) self->artifacts->pdata[pane % self->artifacts->len])->name;
}

static void
fill_pane(LimnDocument *self, LimnStudyData *data, guint pane, guint source)
{
    limn_pane_state_copy(&data->panes[pane], &data->panes[source]);
    data->panes[pane].compare = LIMN_COMPARE_NONE;
    g_free(data->panes[pane].method);
    data->panes[pane].method = g_strdup(next_method(data, pane));
    if (self->artifacts) {
        g_free(data->panes[pane].artifact);
        data->panes[pane].artifact = g_strdup(next_artifact(self, pane));
    }
}

static void
forget_pane_results(LimnDocument *self, guint first)
{
    for (guint i = first; i < LIMN_MAX_PANES; i++) {
        g_clear_pointer(&self->results[i], limn_live_result_unref);
        g_clear_pointer(&self->override_text[i], g_free);
        g_clear_pointer(&self->override_title[i], g_free);
        self->query_row[i] = self->query_col[i] = -1;
    }
}

void
limn_document_set_n_panes(LimnDocument *self, guint n)
{
    LimnStudyData *data = limn_document_begin_edit(self);
    LimnStudyView *view = &self->study->view;

    n = CLAMP(n, 1, LIMN_MAX_PANES);
    if (n < data->n_panes && view->active >= n) { // keep what the user looks at
        limn_pane_state_copy(&data->panes[0], &data->panes[view->active]);
        view->active = 0;
        forget_pane_results(self, 0);
    }
    for (guint i = data->n_panes; i < n; i++)
        fill_pane(self, data, i, view->active);
    forget_pane_results(self, MIN(n, data->n_panes));
    data->n_panes = n;
    limn_document_end_edit(self, _("Change the panes"), NULL);
}

static void
append_pane(LimnDocument *self, LimnStudyData *data, const char *method, guint prompt)
{
    guint pane = MIN(data->n_panes, LIMN_MAX_PANES - 1);

    limn_pane_state_copy(&data->panes[pane], &data->panes[self->study->view.active]);
    data->panes[pane].compare = LIMN_COMPARE_NONE;
    g_free(data->panes[pane].method);
    data->panes[pane].method = g_strdup(method);
    data->panes[pane].prompt = prompt;
    forget_pane_results(self, pane);
    data->n_panes = pane + 1;
    self->study->view.active = pane;
}

void
limn_document_add_pane(LimnDocument *self, const char *method, guint prompt)
{
    append_pane(self, limn_document_begin_edit(self), method, prompt);
    limn_document_end_edit(self, _("Add a pane"), NULL);
}

void
limn_document_add_pane_for_text(LimnDocument *self, const char *method, const char *text)
{
    LimnStudyData *data = limn_document_begin_edit(self);
    guint prompt = 0;

    while (prompt < data->prompts->len &&
           !g_str_equal(data->prompts->pdata[prompt], text))
        prompt++;
    if (prompt == data->prompts->len)
        g_ptr_array_add(data->prompts, g_strdup(text));
    append_pane(self, data, method, prompt);
    limn_document_end_edit(self, _("Add a pane"), NULL);
}

void
limn_document_remove_pane(LimnDocument *self, guint pane)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    if (data->n_panes > 1 && pane < data->n_panes) {
        for (guint i = pane; i + 1 < data->n_panes; i++)
            limn_pane_state_copy(&data->panes[i], &data->panes[i + 1]);
        data->n_panes--;
        forget_pane_results(self, pane);
        self->study->view.active = MIN(self->study->view.active, data->n_panes - 1);
    }
    limn_document_end_edit(self, _("Close a pane"), NULL);
}

static gboolean
is_choice(const LimnParameter *parameter, const char *value)
{
    return parameter && parameter->type == LIMN_PARAMETER_CHOICE && parameter->choices &&
           g_strv_contains(parameter->choices, value);
}

// The operation's parameter "method" is the method of the active pane.
static void
follow_method(LimnDocument *self, LimnStudyData *data, guint pane)
{
    const LimnOperation *operation = limn_document_get_operation(self);
    const LimnParameter *parameter =
        operation ? limn_operation_find_parameter(operation, "method") : NULL;
    const char *method = data->panes[pane].method;

    if (pane == self->study->view.active && method && is_choice(parameter, method))
        limn_pairs_set(data->parameters, "method", method);
}

void
limn_document_set_pane_method(LimnDocument *self, guint pane, const char *method)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    g_free(data->panes[pane].method);
    data->panes[pane].method = g_strdup(method);
    follow_method(self, data, pane);
    limn_document_end_edit(self, _("Change the method"), NULL);
}

void
limn_document_set_pane_prompt(LimnDocument *self, guint pane, guint prompt)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    if (prompt < data->prompts->len)
        data->panes[pane].prompt = prompt;
    g_clear_pointer(&self->override_text[pane], g_free);
    g_clear_pointer(&self->override_title[pane], g_free);
    limn_document_end_edit(self, _("Change the sentence of a pane"), NULL);
}

void
limn_document_set_pane_compare(LimnDocument *self, guint pane, LimnCompare compare,
                               const char *other_method, guint other_prompt)
{
    LimnStudyData *data = limn_document_begin_edit(self);
    LimnPaneState *state = &data->panes[pane];

    state->compare = compare;
    g_free(state->other_method);
    state->other_method = g_strdup(other_method);
    state->other_prompt = other_prompt;
    limn_document_end_edit(self, _("Compare maps"), NULL);
}

void
limn_document_set_pane_artifact(LimnDocument *self, guint pane, const char *artifact,
                                gint64 item)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    if (g_strcmp0(data->panes[pane].artifact, artifact) != 0) {
        g_free(data->panes[pane].artifact);
        data->panes[pane].artifact = g_strdup(artifact);
    }
    data->panes[pane].item = item;
    limn_document_end_edit(self, _("Change a pane"), "artifact");
}

void
limn_document_set_active(LimnDocument *self, guint pane)
{
    LimnStudyView *view = &self->study->view;

    if (pane >= self->study->data.n_panes || view->active == pane)
        return;
    view->active = pane;
    if (self->undo)
        limn_undo_break(self->undo);
    limn_document_emit(self, LIMN_DOCUMENT_VIEW_CHANGED);
}

// ---- panel

void
limn_document_set_parameter(LimnDocument *self, const char *name, const char *value)
{
    g_autofree char *key = g_strdup_printf("parameter-%s", name);
    const LimnOperation *operation = limn_document_get_operation(self);
    const LimnParameter *parameter =
        operation ? limn_operation_find_parameter(operation, name) : NULL;
    LimnStudyData *data = limn_document_begin_edit(self);

    limn_pairs_set(data->parameters, name, value);
    if (g_str_equal(name, "method") && parameter && parameter->choices) {
        LimnPaneState *pane = &data->panes[self->study->view.active];

        g_free(pane->method);
        pane->method = g_strdup(value ? value : parameter->choices[0]);
    }
    limn_document_end_edit(self, _("Change a parameter"), key);
}

void
limn_document_set_input(LimnDocument *self, const char *name, const char *value)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    limn_pairs_set(data->inputs, name, value);
    limn_document_end_edit(self, _("Change an input"), NULL);
}

void
limn_document_set_input_list(LimnDocument *self, const char *name,
                             const char *const *values)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    limn_pairs_set(data->inputs, name, NULL);
    for (; *values; values++)
        g_ptr_array_add(data->inputs, limn_pair_new(name, *values));
    limn_document_end_edit(self, _("Change an input"), NULL);
}

void
limn_document_set_seed(LimnDocument *self, guint64 seed)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    data->seed = seed;
    limn_document_end_edit(self, _("Change the seed"), "seed");
}

// ---- region

void
limn_document_set_box(LimnDocument *self, const LimnRect *box)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    data->has_box = box != NULL;
    data->box = box ? *box : (LimnRect){0};
    limn_document_end_edit(self, box ? _("Draw a box") : _("Remove the box"), NULL);
}

void
limn_document_set_mask(LimnDocument *self, const char *path)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    if (g_strcmp0(data->mask, path) != 0) {
        g_free(data->mask);
        data->mask = g_strdup(path);
    }
    limn_document_end_edit(self, path ? _("Load a mask") : _("Remove the mask"), NULL);
}

void
limn_document_set_grid_methods(LimnDocument *self, const char *const *methods)
{
    LimnStudyData *data = limn_document_begin_edit(self);

    g_ptr_array_set_size(data->grid_methods, 0);
    for (; *methods; methods++)
        g_ptr_array_add(data->grid_methods, g_strdup(*methods));
    limn_document_end_edit(self, _("Change the method grid"), NULL);
}
