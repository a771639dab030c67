// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/model/workspace-private.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "engine/io/picture.h"
#include "ui/model/document-edit.h"
#include "ui/model/settings.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <string.h>

#define UNDO_BYTES ((gsize) 64 << 20)
#define MAX_AWAKE 4 // studies that keep their pictures

static const char *const signal_names[LIMN_WORKSPACE_N_SIMPLE_SIGNALS] = {
    "current-changed", "undo-changed",   "jobs-changed",
    "live-changed",    "recent-changed", "grid-finished",
};
static guint signals[LIMN_WORKSPACE_N_SIMPLE_SIGNALS];
static guint message_signal, grid_signal;

G_DEFINE_FINAL_TYPE(LimnWorkspace, limn_workspace, G_TYPE_OBJECT)

static void
limn_workspace_finalize(GObject *object)
{
    LimnWorkspace *self = LIMN_WORKSPACE(object);

    g_warn_if_fail(self->stopped);
    g_queue_clear_full(&self->awake, g_object_unref);
    limn_undo_free(self->undo); // its commands hold documents
    g_object_unref(self->documents);
    g_clear_object(&self->live);
    limn_model_store_free(self->models);
    g_ptr_array_unref(self->jobs);
    g_ptr_array_unref(self->waiting_masks);
    limn_session_free(self->session);
    limn_session_store_free(self->store);
    g_free(self->live_message);
    G_OBJECT_CLASS(limn_workspace_parent_class)->finalize(object);
}

static void
limn_workspace_class_init(LimnWorkspaceClass *class)
{
    GType type = G_TYPE_FROM_CLASS(class);

    G_OBJECT_CLASS(class)->finalize = limn_workspace_finalize;
    for (guint i = 0; i < LIMN_WORKSPACE_N_SIMPLE_SIGNALS; i++)
        signals[i] = g_signal_new(signal_names[i], type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                  NULL, G_TYPE_NONE, 0);
    message_signal =
        g_signal_new("message", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL, NULL, G_TYPE_NONE,
                     4, G_TYPE_INT, G_TYPE_STRING, G_TYPE_STRING, G_TYPE_STRING);
    grid_signal = g_signal_new("grid-result", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                               NULL, G_TYPE_NONE, 1, G_TYPE_POINTER);
}

static void
undo_changed(gpointer user_data)
{
    LimnWorkspace *self = user_data;

    limn_workspace_touch(self);
    limn_workspace_emit(self, LIMN_WORKSPACE_UNDO_CHANGED);
}

static void
settings_changed(gpointer object, const char *key)
{
    if (g_str_equal(key, "memory-budget"))
        limn_picture_set_budget((guint64) limn_settings_get_int("memory-budget") << 20);
    else if (g_str_equal(key, "model"))
        limn_workspace_schedule_live(object);
}

static void
limn_workspace_init(LimnWorkspace *self)
{
    self->documents = g_list_store_new(LIMN_TYPE_DOCUMENT);
    g_queue_init(&self->awake);
    self->undo = limn_undo_new(UNDO_BYTES);
    limn_undo_set_changed(self->undo, undo_changed, self);
    self->jobs = g_ptr_array_new_with_free_func(g_object_unref);
    self->waiting_masks = limn_strings_new();
    self->session = limn_session_new();
    self->models = limn_model_store_new();
    limn_parallel_set_background(TRUE);
    self->batch = limn_engine_thread_new("limn-batch");
    limn_workspace_live_init(self);
    limn_settings_watch(self, settings_changed);
    settings_changed(self, "memory-budget");
}

LimnWorkspace *
limn_workspace_new(void)
{
    LimnWorkspace *self = g_object_new(LIMN_TYPE_WORKSPACE, NULL);

    limn_workspace_session_init(self);
    return self;
}

void
limn_workspace_stop(LimnWorkspace *self)
{
    if (self->stopped)
        return;
    limn_workspace_save_now(self);
    self->stopped = TRUE;
    g_clear_handle_id(&self->save_timeout, g_source_remove);
    limn_workspace_live_stop(self);
    limn_workspace_jobs_stop(self);
    limn_engine_thread_free(g_steal_pointer(&self->batch));
    g_clear_pointer(&self->store, limn_session_store_free); // the session is free again
}

void
limn_workspace_emit(LimnWorkspace *self, LimnWorkspaceSignal signal)
{
    g_signal_emit(self, signals[signal], 0);
}

void
limn_workspace_emit_grid_result(LimnWorkspace *self, LimnLiveResult *result)
{
    g_signal_emit(self, grid_signal, 0, result);
}

void
limn_workspace_message_with_action(LimnWorkspace *self, LimnMessageKind kind,
                                   const char *text, const char *label,
                                   const char *action)
{
    g_signal_emit(self, message_signal, 0, kind, text, action, label);
}

void
limn_workspace_message(LimnWorkspace *self, LimnMessageKind kind, const char *text)
{
    limn_workspace_message_with_action(self, kind, text, "", "");
}

// ---- the studies

GListModel *
limn_workspace_get_documents(LimnWorkspace *self)
{
    return G_LIST_MODEL(self->documents);
}

LimnDocument *
limn_workspace_get_current(LimnWorkspace *self)
{
    return self->current;
}

LimnDocument *
limn_workspace_find(LimnWorkspace *self, const char *id)
{
    GListModel *list = G_LIST_MODEL(self->documents);

    for (guint i = 0; id && i < g_list_model_get_n_items(list); i++) {
        g_autoptr(LimnDocument) doc = g_list_model_get_item(list, i);

        if (g_str_equal(limn_document_get_study(doc)->id, id))
            return doc; // the list keeps it alive
    }
    return NULL;
}

// The studies shown last keep their pictures, the others give them back. Results of an
// earlier run are read when the study is shown first.
static void
wake(LimnWorkspace *self, LimnDocument *doc)
{
    const LimnSessionStudy *study = limn_document_get_study(doc);

    if (g_queue_remove(&self->awake, doc))
        g_object_unref(doc);
    g_queue_push_head(&self->awake, g_object_ref(doc));
    while (self->awake.length > MAX_AWAKE) {
        LimnDocument *oldest = g_queue_pop_tail(&self->awake);

        limn_document_set_awake(oldest, FALSE);
        g_object_unref(oldest);
    }
    limn_document_set_awake(doc, TRUE);
    if (study->status == LIMN_STUDY_DONE && !limn_document_get_artifacts(doc))
        limn_workspace_load_folder(self, doc);
}

void
limn_workspace_set_current(LimnWorkspace *self, LimnDocument *doc)
{
    if (self->current == doc)
        return;
    self->current = doc;
    if (doc)
        wake(self, doc);
    limn_undo_break(self->undo);
    limn_workspace_schedule_live(self);
    limn_workspace_touch(self);
    limn_workspace_emit(self, LIMN_WORKSPACE_CURRENT_CHANGED);
}

static void
document_data_changed(LimnDocument *doc, LimnWorkspace *self)
{
    self->last_edit = g_get_monotonic_time();
    limn_workspace_schedule_live(self);
    limn_workspace_touch(self);
}

static void
document_view_changed(LimnDocument *doc, LimnWorkspace *self)
{
    limn_workspace_schedule_live(self);
    limn_workspace_touch(self);
}

static void
document_picture_changed(LimnDocument *doc, LimnWorkspace *self)
{
    if (limn_document_get_picture(doc))
        limn_workspace_picture_arrived(self, doc);
    limn_workspace_schedule_live(self);
}

static void
document_reveal(LimnDocument *doc, LimnWorkspace *self)
{
    guint position;

    if (g_list_store_find(self->documents, doc, &position))
        limn_workspace_set_current(self, doc);
}

static void
camera_changed(LimnCamera *camera, LimnWorkspace *self)
{
    limn_workspace_touch(self);
}

static void
watch(LimnWorkspace *self, LimnDocument *doc)
{
    g_signal_connect_object(doc, "data-changed", G_CALLBACK(document_data_changed), self,
                            0);
    g_signal_connect_object(doc, "view-changed", G_CALLBACK(document_view_changed), self,
                            0);
    g_signal_connect_object(doc, "picture-changed", G_CALLBACK(document_picture_changed),
                            self, 0);
    g_signal_connect_object(doc, "reveal", G_CALLBACK(document_reveal), self, 0);
    g_signal_connect_object(limn_document_get_camera(doc), "changed",
                            G_CALLBACK(camera_changed), self, 0);
}

LimnDocument *
limn_workspace_insert(LimnWorkspace *self, LimnSessionStudy *study, guint position)
{
    LimnDocument *doc = limn_document_new(study, self->undo);
    guint n = g_list_model_get_n_items(G_LIST_MODEL(self->documents));

    watch(self, doc);
    g_list_store_insert(self->documents, MIN(position, n), doc);
    g_object_unref(doc);
    return doc;
}

// ---- adding and removing as steps for undo

typedef struct {
    LimnWorkspace *ws;
    LimnDocument *doc;
    guint position;
    gboolean removes;
    char *aside; // where the study folder was put, NULL
} Listing;

static char *
aside_path(const char *folder)
{
    g_autofree char *data = limn_workspace_data_directory();
    g_autofree char *name = g_path_get_basename(folder);
    g_autofree char *unique = g_strdup_printf("%s-%08x", name, g_random_int());

    return g_build_filename(data, "deleted", unique, NULL);
}

static gboolean
is_own_folder(const char *folder)
{
    g_autofree char *data = limn_workspace_data_directory();
    g_autofree char *studies = g_build_filename(data, "studies", NULL);
    g_autofree char *parent = folder ? g_path_get_dirname(folder) : NULL;

    return parent && g_str_equal(parent, studies);
}

static void
move_aside(Listing *listing)
{
    const char *folder = limn_document_get_study(listing->doc)->folder;
    g_autofree char *aside = NULL;
    g_autofree char *parent = NULL;

    if (!is_own_folder(folder))
        return;
    aside = aside_path(folder);
    parent = g_path_get_dirname(aside);
    if (limn_make_directory(parent, NULL) && g_rename(folder, aside) == 0)
        listing->aside = g_steal_pointer(&aside);
}

static void
move_back(Listing *listing)
{
    const char *folder = limn_document_get_study(listing->doc)->folder;

    if (!listing->aside || !folder)
        return;
    if (g_rename(listing->aside, folder) != 0) {
        g_autofree char *shown = limn_display_path(listing->aside);
        g_autofree char *text =
            g_strdup_printf(_("%s: the study's folder cannot be moved back: %s"), shown,
                            g_strerror(errno));

        limn_workspace_message(listing->ws, LIMN_MESSAGE_ERROR, text);
    }
    g_clear_pointer(&listing->aside, g_free);
}

static void
take_off(Listing *listing)
{
    LimnWorkspace *self = listing->ws;
    GListModel *list = G_LIST_MODEL(self->documents);
    guint n, position;

    if (!g_list_store_find(self->documents, listing->doc, &position))
        return;
    listing->position = position;
    if (listing->removes)
        move_aside(listing);
    g_list_store_remove(self->documents, position);
    if (self->current != listing->doc)
        return;
    n = g_list_model_get_n_items(list);
    if (n > 0) {
        g_autoptr(LimnDocument) next = g_list_model_get_item(list, MIN(position, n - 1));

        limn_workspace_set_current(self, next);
    } else {
        limn_workspace_set_current(self, NULL);
    }
}

static void
put_on(Listing *listing)
{
    LimnWorkspace *self = listing->ws;
    guint n = g_list_model_get_n_items(G_LIST_MODEL(self->documents));

    if (listing->removes)
        move_back(listing);
    g_list_store_insert(self->documents, MIN(listing->position, n), listing->doc);
    limn_workspace_set_current(self, listing->doc);
}

static void
listing_undo(gpointer data)
{
    Listing *listing = data;

    if (listing->removes)
        put_on(listing);
    else
        take_off(listing);
    limn_workspace_touch(listing->ws);
}

static void
listing_redo(gpointer data)
{
    Listing *listing = data;

    if (listing->removes)
        take_off(listing);
    else
        put_on(listing);
    limn_workspace_touch(listing->ws);
}

static void
listing_free(gpointer data)
{
    Listing *listing = data;

    g_object_unref(listing->doc);
    g_free(listing->aside);
    g_free(listing);
}

static const LimnCommandClass listing_class = {listing_undo, listing_redo, NULL, NULL,
                                               listing_free};

static Listing *
listing_new(LimnWorkspace *self, LimnDocument *doc, gboolean removes)
{
    Listing *listing = g_new0(Listing, 1);

    listing->ws = self;
    listing->doc = g_object_ref(doc);
    listing->removes = removes;
    return listing;
}

LimnDocument *
limn_workspace_add(LimnWorkspace *self, LimnSessionStudy *study)
{
    LimnDocument *doc = limn_workspace_insert(self, study, G_MAXUINT);

    limn_undo_push(self->undo, &listing_class, listing_new(self, doc, FALSE),
                   _("Open a study"));
    limn_workspace_set_current(self, doc);
    return doc;
}

void
limn_workspace_remove(LimnWorkspace *self, LimnDocument *doc)
{
    Listing *listing = listing_new(self, doc, TRUE);
    LimnStudyJob *job = limn_document_get_job(doc);

    if (job)
        limn_study_job_cancel(job);
    take_off(listing);
    limn_undo_push(self->undo, &listing_class, listing, _("Delete the study"));
}

// ---- making studies

static void
apply_preferences(LimnSessionStudy *study)
{
    g_autofree char *model = limn_settings_get_string("model");
    g_autofree char *colormap = limn_settings_get_string("colormap");

    study->view.opacity = limn_settings_get_double("opacity");
    study->view.interpolate = limn_settings_get_boolean("interpolate");
    study->view.live = limn_settings_get_boolean("live");
    if (!g_str_equal(colormap, "viridis"))
        study->view.colormap = g_steal_pointer(&colormap);
    if (*model)
        limn_pairs_set(study->data.inputs, "model", model);
}

// Title for people from a path: the name without folder and extension.
static char *
title_from_path(const char *path)
{
    char *title = g_filename_display_basename(path);
    char *dot = strrchr(title, '.');

    if (dot && dot != title && limn_picture_has_extension(path))
        *dot = 0;
    return title;
}

static LimnSessionStudy *
picture_study(const char *path, const char *const *prompts)
{
    LimnSessionStudy *study = limn_session_study_new("grad-eclip");

    apply_preferences(study);
    study->data.title = title_from_path(path);
    limn_pairs_set(study->data.inputs, "image", path);
    for (; prompts && *prompts; prompts++)
        g_ptr_array_add(study->data.prompts, g_strdup(*prompts));
    return study;
}

LimnDocument *
limn_workspace_open_picture(LimnWorkspace *self, const char *path,
                            const char *const *prompts)
{
    g_autofree char *absolute = limn_absolute_path(path);

    limn_workspace_add_recent(self, absolute);
    return limn_workspace_add(self, picture_study(absolute, prompts));
}

LimnDocument *
limn_workspace_open_sample(LimnWorkspace *self, const char *path, const char *title,
                           const char *const *prompts, guint shown)
{
    g_autofree char *absolute = limn_absolute_path(path);
    LimnSessionStudy *study = picture_study(absolute, prompts);

    g_free(study->data.title);
    study->data.title = g_strdup(title);
    if (shown < study->data.prompts->len)
        study->data.panes[0].prompt = shown;
    return limn_workspace_add(self, study);
}

static gboolean
has_input(const LimnOperation *operation, const char *name)
{
    return operation && limn_operation_find_input(operation, name);
}

LimnDocument *
limn_workspace_new_study(LimnWorkspace *self, const char *operation_id)
{
    LimnSessionStudy *study = limn_session_study_new(operation_id);
    const LimnOperation *operation = limn_registry_find(operation_id);
    static const char *const shared[] = {"image", "model"};

    apply_preferences(study);
    if (!has_input(operation, "model"))
        limn_pairs_set(study->data.inputs, "model", NULL);
    if (self->current) {
        const LimnStudyData *data = limn_document_get_data(self->current);

        for (guint i = 0; i < G_N_ELEMENTS(shared); i++) {
            const char *value = limn_pairs_get(data->inputs, shared[i]);

            if (value && has_input(operation, shared[i]))
                limn_pairs_set(study->data.inputs, shared[i], value);
        }
        for (guint i = 0; has_input(operation, "text") && i < data->prompts->len; i++)
            g_ptr_array_add(study->data.prompts, g_strdup(data->prompts->pdata[i]));
    }
    if (limn_pairs_get(study->data.inputs, "image"))
        study->data.title = title_from_path(limn_pairs_get(study->data.inputs, "image"));
    if (operation && limn_operation_find_parameter(operation, "method")) {
        const LimnParameter *parameter =
            limn_operation_find_parameter(operation, "method");

        if (parameter->choices)
            study->data.panes[0].method = g_strdup(parameter->choices[0]);
    }
    return limn_workspace_add(self, study);
}

LimnDocument *
limn_workspace_duplicate(LimnWorkspace *self, LimnDocument *doc)
{
    LimnSessionStudy *copy = limn_session_study_duplicate(limn_document_freeze(doc));

    g_free(copy->data.title);
    copy->data.title = g_strdup_printf(_("%s (copy)"), limn_document_get_title(doc));
    return limn_workspace_add(self, copy);
}

void
limn_workspace_use_model(LimnWorkspace *self, const char *path)
{
    limn_model_store_add(self->models, path);
    if (self->current && has_input(limn_document_get_operation(self->current), "model"))
        limn_document_set_input(self->current, "model", *path ? path : NULL);
    limn_workspace_touch(self);
}

void
limn_workspace_unload_model(LimnWorkspace *self, const char *path)
{
    limn_live_forget_model(self->live, path);
    limn_model_store_unload(self->models, path);
}

LimnUndo *
limn_workspace_get_undo(LimnWorkspace *self)
{
    return self->undo;
}

LimnLive *
limn_workspace_get_live(LimnWorkspace *self)
{
    return self->live;
}

LimnModelStore *
limn_workspace_get_models(LimnWorkspace *self)
{
    return self->models;
}

LimnSession *
limn_workspace_get_session(LimnWorkspace *self)
{
    return self->session;
}

char *
limn_workspace_data_directory(void)
{
    return g_build_filename(g_get_user_data_dir(), "limn", NULL);
}
