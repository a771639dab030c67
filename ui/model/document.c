// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/model/document-private.h"
#include "ui/model/method-list.h"
#include "ui/model/settings.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const char *const signal_names[LIMN_DOCUMENT_N_SIGNALS] = {
    "data-changed",    "view-changed",   "picture-changed",
    "results-changed", "status-changed", "reveal",
};
static guint signals[LIMN_DOCUMENT_N_SIGNALS];

G_DEFINE_FINAL_TYPE(LimnDocument, limn_document, G_TYPE_OBJECT)

static void
drop_results(LimnDocument *self)
{
    self->artifacts = self->scalars = self->skipped = self->diagnostics = NULL;
    if (self->owner_free)
        self->owner_free(self->owner);
    self->owner = NULL;
    self->owner_free = NULL;
}

static void
limn_document_dispose(GObject *object)
{
    LimnDocument *self = LIMN_DOCUMENT(object);

    limn_document_cancel_loads(self);
    g_clear_handle_id(&self->scores_idle, g_source_remove);
    drop_results(self);
    g_clear_object(&self->camera);
    g_clear_object(&self->items);
    g_clear_object(&self->job);
    G_OBJECT_CLASS(limn_document_parent_class)->dispose(object);
}

static void
limn_document_finalize(GObject *object)
{
    LimnDocument *self = LIMN_DOCUMENT(object);

    for (guint i = 0; i < LIMN_MAX_PANES; i++) {
        limn_live_result_unref(self->results[i]);
        g_free(self->override_text[i]);
        g_free(self->override_title[i]);
    }
    g_clear_pointer(&self->picture, limn_image_unref);
    g_clear_pointer(&self->mask, limn_image_unref);
    g_free(self->picture_path);
    g_free(self->mask_path);
    g_free(self->picture_error);
    g_free(self->mask_error);
    g_free(self->folder_path);
    g_free(self->live_error);
    g_hash_table_unref(self->scores);
    limn_study_data_clear(&self->before);
    limn_session_study_free(self->study);
    G_OBJECT_CLASS(limn_document_parent_class)->finalize(object);
}

static void
limn_document_class_init(LimnDocumentClass *class)
{
    G_OBJECT_CLASS(class)->dispose = limn_document_dispose;
    G_OBJECT_CLASS(class)->finalize = limn_document_finalize;
    for (guint i = 0; i < LIMN_DOCUMENT_N_SIGNALS; i++)
        signals[i] = g_signal_new(signal_names[i], G_TYPE_FROM_CLASS(class),
                                  G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE, 0);
}

static void
limn_document_init(LimnDocument *self)
{
    self->camera = limn_camera_new();
    self->scores = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                         (GDestroyNotify) limn_live_result_unref);
    for (guint i = 0; i < LIMN_MAX_PANES; i++)
        self->query_row[i] = self->query_col[i] = -1;
}

LimnDocument *
limn_document_new(LimnSessionStudy *study, LimnUndo *undo)
{
    LimnDocument *self = g_object_new(LIMN_TYPE_DOCUMENT, NULL);

    self->study = study;
    self->undo = undo;
    if (study->data.prompts->len == 0)
        g_ptr_array_add(study->data.prompts, g_strdup(""));
    limn_document_sync_picture(self);
    return self;
}

void
limn_document_emit(LimnDocument *self, LimnDocumentSignal signal)
{
    g_signal_emit(self, signals[signal], 0);
}

const LimnSessionStudy *
limn_document_get_study(LimnDocument *self)
{
    return self->study;
}

const LimnStudyData *
limn_document_get_data(LimnDocument *self)
{
    return &self->study->data;
}

const LimnStudyView *
limn_document_get_view(LimnDocument *self)
{
    return &self->study->view;
}

const char *
limn_document_get_title(LimnDocument *self)
{
    const LimnOperation *operation = limn_document_get_operation(self);

    if (self->study->data.title)
        return self->study->data.title;
    return operation ? _(operation->title) : self->study->data.operation;
}

const LimnOperation *
limn_document_get_operation(LimnDocument *self)
{
    return limn_registry_find(self->study->data.operation);
}

LimnCamera *
limn_document_get_camera(LimnDocument *self)
{
    return self->camera;
}

void
limn_document_set_status(LimnDocument *self, LimnStudyStatus status)
{
    self->study->status = status;
    limn_document_emit(self, LIMN_DOCUMENT_STATUS_CHANGED);
}

void
limn_document_set_folder(LimnDocument *self, const char *folder)
{
    g_free(self->study->folder);
    self->study->folder = g_strdup(folder);
    limn_document_emit(self, LIMN_DOCUMENT_STATUS_CHANGED);
}

const LimnSessionStudy *
limn_document_freeze(LimnDocument *self)
{
    LimnStudyView *view = &self->study->view;

    if (self->had_picture) // until then the session's state waits for the picture
        limn_camera_get_state(self->camera, &view->zoom, &view->cx, &view->cy);
    return self->study;
}

// ---- live

gboolean
limn_document_is_live_capable(LimnDocument *self)
{
    const LimnStudyData *data = &self->study->data;

    return (g_str_equal(data->operation, "grad-eclip") ||
            g_str_equal(data->operation, "attention-maps")) &&
           !limn_pairs_get(data->inputs, "pixels") &&
           !limn_pairs_get(data->inputs, "tokens") &&
           !limn_pairs_get(data->inputs, "texts") && self->artifacts == NULL;
}

gboolean
limn_document_has_prompts(LimnDocument *self)
{
    const LimnOperation *operation = limn_document_get_operation(self);
    const LimnInput *text =
        operation ? limn_operation_find_input(operation, "text") : NULL;
    const GPtrArray *inputs = self->study->data.inputs;

    if (!text || text->type != LIMN_INPUT_TEXT)
        return FALSE;
    for (const LimnInput *other = operation->inputs; text->one_of && other->name; other++)
        if (other != text && g_strcmp0(other->one_of, text->one_of) == 0 &&
            limn_pairs_get(inputs, other->name))
            return FALSE; // another way to give them was chosen
    return TRUE;
}

gboolean
limn_document_is_live(LimnDocument *self)
{
    return self->study->view.live && limn_document_is_live_capable(self);
}

char *
limn_document_dup_model(LimnDocument *self)
{
    const char *model = limn_pairs_get(self->study->data.inputs, "model");

    return g_strdup(model ? model : "");
}

const char *
limn_document_get_prompt(LimnDocument *self, guint index)
{
    const GPtrArray *prompts = self->study->data.prompts;

    return index < prompts->len ? prompts->pdata[index] : "";
}

const char *
limn_document_get_pane_text(LimnDocument *self, guint pane)
{
    if (self->override_text[pane])
        return self->override_text[pane];
    return limn_document_get_prompt(self, self->study->data.panes[pane].prompt);
}

LimnExplainMethod
limn_document_get_pane_method(LimnDocument *self, guint pane)
{
    return limn_method_from_id(self->study->data.panes[pane].method);
}

void
limn_document_set_override(LimnDocument *self, guint pane, const char *text,
                           const char *description)
{
    if (!text && !self->override_text[pane])
        return;
    g_free(self->override_text[pane]);
    g_free(self->override_title[pane]);
    self->override_text[pane] = g_strdup(text);
    self->override_title[pane] = g_strdup(description);
    limn_document_emit(self, LIMN_DOCUMENT_VIEW_CHANGED);
}

const char *
limn_document_get_override(LimnDocument *self, guint pane)
{
    return self->override_title[pane];
}

void
limn_document_set_query(LimnDocument *self, guint pane, int row, int col)
{
    self->query_row[pane] = row;
    self->query_col[pane] = col;
    limn_document_emit(self, LIMN_DOCUMENT_VIEW_CHANGED);
}

void
limn_document_get_query(LimnDocument *self, guint pane, int *row, int *col)
{
    *row = self->query_row[pane];
    *col = self->query_col[pane];
}

LimnLiveResult *
limn_document_get_result(LimnDocument *self, guint pane)
{
    return self->results[pane];
}

static gboolean
scores_changed(gpointer user_data)
{
    LimnDocument *self = user_data;

    self->scores_idle = 0;
    limn_document_emit(self, LIMN_DOCUMENT_RESULTS_CHANGED);
    return G_SOURCE_REMOVE;
}

// Results of a method that the pane shows no longer are dropped; an older sentence of
// the same method may be shown until the newest one comes.
gboolean
limn_document_take_result(LimnDocument *self, LimnLiveResult *result)
{
    guint pane = result->key;

    if (result->key >= LIMN_LIVE_SCORE_KEY) {
        g_hash_table_replace(self->scores, g_strdup(result->text),
                             limn_live_result_ref(result));
        if (!self->scores_idle)
            self->scores_idle = g_idle_add(scores_changed, self);
        return TRUE;
    }
    if (pane >= self->study->data.n_panes ||
        result->method != limn_document_get_pane_method(self, pane) ||
        (self->results[pane] && self->results[pane]->serial > result->serial))
        return FALSE;
    limn_live_result_unref(self->results[pane]);
    self->results[pane] = limn_live_result_ref(result);
    if (!result->error)
        g_hash_table_replace(self->scores, g_strdup(result->text),
                             limn_live_result_ref(result));
    limn_document_emit(self, LIMN_DOCUMENT_RESULTS_CHANGED);
    return TRUE;
}

void
limn_document_clear_results(LimnDocument *self)
{
    for (guint i = 0; i < LIMN_MAX_PANES; i++)
        g_clear_pointer(&self->results[i], limn_live_result_unref);
    g_hash_table_remove_all(self->scores);
    g_clear_pointer(&self->live_error, g_free);
    limn_document_emit(self, LIMN_DOCUMENT_RESULTS_CHANGED);
}

gboolean
limn_document_get_score(LimnDocument *self, guint prompt, double *cosine, double *logit)
{
    const LimnLiveResult *result =
        g_hash_table_lookup(self->scores, limn_document_get_prompt(self, prompt));

    if (!result)
        return FALSE;
    *cosine = result->cosine;
    *logit = result->logit;
    return TRUE;
}

const char *
limn_document_get_live_error(LimnDocument *self)
{
    return self->live_error;
}

void
limn_document_set_live_error(LimnDocument *self, const char *message)
{
    if (g_strcmp0(self->live_error, message) == 0)
        return;
    g_free(self->live_error);
    self->live_error = g_strdup(message);
    limn_document_emit(self, LIMN_DOCUMENT_RESULTS_CHANGED);
}

// ---- results of a run

GPtrArray *
limn_document_get_artifacts(LimnDocument *self)
{
    return self->artifacts;
}

GPtrArray *
limn_document_get_scalars(LimnDocument *self)
{
    return self->scalars;
}

GPtrArray *
limn_document_get_skipped(LimnDocument *self)
{
    return self->skipped;
}

GPtrArray *
limn_document_get_diagnostics(LimnDocument *self)
{
    return self->diagnostics;
}

LimnArtifact *
limn_document_find_artifact(LimnDocument *self, const char *name)
{
    for (guint i = 0; self->artifacts && i < self->artifacts->len; i++) {
        LimnArtifact *artifact = self->artifacts->pdata[i];

        if (g_strcmp0(artifact->name, name) == 0)
            return artifact;
    }
    return NULL;
}

// A pane of a study with results shows one of its artifacts: heat maps first.
static void
choose_artifacts(LimnDocument *self)
{
    LimnStudyData *data = &self->study->data;
    LimnArtifact *best = NULL;

    for (guint i = 0; self->artifacts && i < self->artifacts->len; i++) {
        LimnArtifact *artifact = self->artifacts->pdata[i];

        if (!best || (artifact->kind == LIMN_ARTIFACT_HEATMAP &&
                      best->kind != LIMN_ARTIFACT_HEATMAP))
            best = artifact;
    }
    for (guint i = 0; best && i < data->n_panes; i++) {
        LimnPaneState *pane = &data->panes[i];

        if (!limn_document_find_artifact(self, pane->artifact)) {
            g_free(pane->artifact);
            pane->artifact = g_strdup(best->name);
            pane->item = 0;
        }
    }
}

void
limn_document_set_results(LimnDocument *self, GPtrArray *artifacts, GPtrArray *scalars,
                          GPtrArray *skipped, GPtrArray *diagnostics, gpointer owner,
                          GDestroyNotify owner_free)
{
    drop_results(self);
    self->artifacts = artifacts;
    self->scalars = scalars;
    self->skipped = skipped;
    self->diagnostics = diagnostics;
    self->owner = owner;
    self->owner_free = owner_free;
    choose_artifacts(self);
    limn_document_emit(self, LIMN_DOCUMENT_RESULTS_CHANGED);
    limn_document_emit(self, LIMN_DOCUMENT_DATA_CHANGED);
}

LimnStudyJob *
limn_document_get_job(LimnDocument *self)
{
    return self->job;
}

void
limn_document_set_job(LimnDocument *self, LimnStudyJob *job)
{
    g_set_object(&self->job, job);
    limn_document_emit(self, LIMN_DOCUMENT_STATUS_CHANGED);
}
