// SPDX-License-Identifier: GPL-3.0-or-later

// Running studies as the command line does, and reading study folders back.

#include "limn-config.h"

#include "ui/model/workspace-private.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/study-folder.h"
#include "ui/model/worker.h"

#include <glib/gi18n-lib.h>
#include <string.h>

// ---- the study of a document

static gboolean
set_inputs(LimnStudy *study, const LimnStudyData *data, GError **error)
{
    for (guint i = 0; i < data->inputs->len; i++) {
        const LimnPair *pair = data->inputs->pdata[i];

        if (!limn_study_set(study, pair->key, pair->value, error))
            return FALSE;
    }
    return TRUE;
}

// Sentences become the input "text", unless texts come from elsewhere.
static gboolean
set_prompts(LimnStudy *study, LimnDocument *doc, GError **error)
{
    const LimnStudyData *data = limn_document_get_data(doc);
    const LimnInput *text = limn_operation_find_input(study->operation, "text");

    if (!limn_document_has_prompts(doc))
        return TRUE;
    for (guint i = 0; i < data->prompts->len; i++) {
        const char *prompt = data->prompts->pdata[i];

        if (*prompt && !limn_study_set(study, "text", prompt, error))
            return FALSE;
        if (*prompt && !text->list)
            break;
    }
    return TRUE;
}

static gboolean
set_parameters(LimnStudy *study, const LimnStudyData *data, GError **error)
{
    for (guint i = 0; i < data->parameters->len; i++) {
        const LimnPair *pair = data->parameters->pdata[i];

        if (limn_operation_find_parameter(study->operation, pair->key) &&
            !limn_study_set(study, pair->key, pair->value, error))
            return FALSE;
    }
    return TRUE;
}

LimnStudy *
limn_document_make_study(LimnDocument *doc, GError **error)
{
    const LimnOperation *operation = limn_document_get_operation(doc);
    const LimnStudyData *data = limn_document_get_data(doc);
    g_autoptr(LimnStudy) study = NULL;

    if (!operation) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "this program has no operation “%s”", data->operation);
        return NULL;
    }
    study = limn_study_new(operation);
    study->seed = data->seed;
    if (!set_inputs(study, data, error) || !set_prompts(study, doc, error) ||
        !set_parameters(study, data, error) || !limn_study_validate(study, error))
        return NULL;
    return g_steal_pointer(&study);
}

// ---- jobs

// "dog-and-car" from any title: letters and digits, the rest becomes "-".
static char *
folder_name(const char *title)
{
    g_autofree char *ascii = g_str_to_ascii(title, NULL);
    GString *name = g_string_new(NULL);

    for (const char *p = ascii; *p && name->len < 48; p++) {
        if (g_ascii_isalnum(*p))
            g_string_append_c(name, g_ascii_tolower(*p));
        else if (name->len > 0 && name->str[name->len - 1] != '-')
            g_string_append_c(name, '-');
    }
    while (name->len > 0 && name->str[name->len - 1] == '-')
        g_string_truncate(name, name->len - 1);
    if (name->len == 0)
        g_string_append(name, "study");
    return g_string_free(name, FALSE);
}

// A folder below the data directory that does not exist yet.
static char *
new_folder(LimnDocument *doc)
{
    g_autofree char *data = limn_workspace_data_directory();
    g_autofree char *name = folder_name(limn_document_get_title(doc));

    for (guint i = 1;; i++) {
        g_autofree char *numbered =
            i == 1 ? g_strdup(name) : g_strdup_printf("%s-%u", name, i);
        g_autofree char *path = g_build_filename(data, "studies", numbered, NULL);

        if (!g_file_test(path, G_FILE_TEST_EXISTS))
            return g_steal_pointer(&path);
    }
}

LimnStudyJob *
limn_workspace_get_job(LimnWorkspace *self)
{
    return self->jobs->len > 0 ? self->jobs->pdata[0] : NULL;
}

guint
limn_workspace_get_n_jobs(LimnWorkspace *self)
{
    return self->jobs->len;
}

static void
job_progress(LimnStudyJob *job, LimnWorkspace *self)
{
    limn_workspace_emit(self, LIMN_WORKSPACE_JOBS_CHANGED);
}

static LimnDocument *
document_of_job(LimnWorkspace *self, LimnStudyJob *job)
{
    GListModel *list = G_LIST_MODEL(self->documents);

    for (guint i = 0; i < g_list_model_get_n_items(list); i++) {
        g_autoptr(LimnDocument) doc = g_list_model_get_item(list, i);

        if (limn_document_get_job(doc) == job)
            return doc; // the list keeps it alive
    }
    return NULL;
}

static void
report_end(LimnWorkspace *self, LimnStudyJob *job)
{
    const GError *error = limn_study_job_get_error(job);
    LimnRun *run = limn_study_job_get_run(job);
    guint skipped = run ? limn_run_get_skipped(run)->len : 0;
    g_autofree char *text = NULL;

    if (error) {
        if (!g_error_matches(error, LIMN_ERROR, LIMN_ERROR_CANCELLED)) {
            limn_workspace_message(self, LIMN_MESSAGE_ERROR, error->message);
            return;
        }
        text = g_strdup_printf(_("“%s” was cancelled."), limn_study_job_get_title(job));
        limn_workspace_message(self, LIMN_MESSAGE_INFO, text);
        return;
    }
    if (skipped > 0)
        text = g_strdup_printf(ngettext("“%s” is done; %u item could not be used.",
                                        "“%s” is done; %u items could not be used.",
                                        skipped),
                               limn_study_job_get_title(job), skipped);
    else
        text =
            g_strdup_printf(_("“%s” is done and saved."), limn_study_job_get_title(job));
    limn_workspace_message_with_action(self,
                                       skipped ? LIMN_MESSAGE_WARNING : LIMN_MESSAGE_INFO,
                                       text, _("Show Folder"), "win.show-study-folder");
}

static void
take_results(LimnDocument *doc, LimnStudyJob *job)
{
    LimnRun *run = limn_study_job_get_run(job);

    // a live study stays live: its saved folder is only referred to
    if (run && !limn_document_is_live_capable(doc))
        limn_document_set_results(doc, limn_run_get_artifacts(run),
                                  limn_run_get_scalars(run), limn_run_get_skipped(run),
                                  limn_study_job_get_diagnostics(job), g_object_ref(job),
                                  g_object_unref);
}

static void
job_finished(LimnStudyJob *job, LimnWorkspace *self)
{
    LimnDocument *doc = document_of_job(self, job);
    const GError *error = limn_study_job_get_error(job);

    if (doc) {
        if (!error) {
            limn_document_set_folder(doc, limn_study_job_get_folder(job));
            take_results(doc, job);
            // "done" means that the results in the folder are what is shown
            limn_document_set_status(doc, limn_document_is_live_capable(doc)
                                              ? LIMN_STUDY_NEW
                                              : LIMN_STUDY_DONE);
        } else {
            limn_document_set_status(
                doc, g_error_matches(error, LIMN_ERROR, LIMN_ERROR_CANCELLED)
                         ? LIMN_STUDY_NEW
                         : LIMN_STUDY_FAILED);
        }
        limn_document_set_job(doc, NULL);
    }
    report_end(self, job);
    g_ptr_array_remove(self->jobs, job);
    limn_workspace_touch(self);
    limn_workspace_emit(self, LIMN_WORKSPACE_JOBS_CHANGED);
}

gboolean
limn_workspace_run(LimnWorkspace *self, LimnDocument *doc)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnStudy) study = NULL;
    g_autofree char *folder = NULL;
    LimnStudyJob *job;

    if (limn_document_get_job(doc))
        return FALSE;
    study = limn_document_make_study(doc, &error);
    if (!study) {
        limn_workspace_message(self, LIMN_MESSAGE_ERROR, error->message);
        return FALSE;
    }
    folder = new_folder(doc);
    job = limn_study_job_start(self->batch, self->live, study, folder,
                               limn_document_get_title(doc));
    g_ptr_array_add(self->jobs, job);
    g_signal_connect_object(job, "progress", G_CALLBACK(job_progress), self, 0);
    g_signal_connect_object(job, "finished", G_CALLBACK(job_finished), self, 0);
    limn_document_set_job(doc, job);
    limn_document_set_status(doc, LIMN_STUDY_RUNNING);
    limn_workspace_touch(self);
    limn_workspace_emit(self, LIMN_WORKSPACE_JOBS_CHANGED);
    return TRUE;
}

void
limn_workspace_cancel_job(LimnWorkspace *self)
{
    LimnStudyJob *job = limn_workspace_get_job(self);

    if (job)
        limn_study_job_cancel(job);
}

void
limn_workspace_jobs_stop(LimnWorkspace *self)
{
    for (guint i = 0; i < self->jobs->len; i++) {
        g_signal_handlers_disconnect_by_data(self->jobs->pdata[i], self);
        limn_study_job_cancel(self->jobs->pdata[i]);
    }
}

// ---- study folders

typedef struct {
    LimnWorkspace *ws;
    LimnDocument *doc; // to be filled; NULL: a new one is made
    char *path;
} FolderLoad;

static void
folder_load_free(gpointer data)
{
    FolderLoad *load = data;

    g_clear_object(&load->doc);
    g_object_unref(load->ws);
    g_free(load->path);
    g_free(load);
}

static void
load_folder(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const FolderLoad *load = data;
    GError *error = NULL;
    LimnStudyFolder *folder = limn_study_folder_load(load->path, NULL, &error);

    if (folder)
        g_task_return_pointer(task, folder, (GDestroyNotify) limn_study_folder_free);
    else
        g_task_return_error(task, error);
}

static void
copy_parameter(gpointer key, gpointer value, gpointer user_data)
{
    limn_pairs_set(user_data, key, value);
}

static LimnSessionStudy *
session_study_from_folder(const LimnStudyFolder *folder)
{
    LimnSessionStudy *study = limn_session_study_new(folder->study->operation->id);
    GPtrArray *inputs = folder->study->inputs;

    study->data.title = g_filename_display_basename(folder->path);
    study->data.seed = folder->study->seed;
    study->folder = g_strdup(folder->path);
    for (guint i = 0; i < inputs->len; i++) {
        const LimnStudyInput *input = inputs->pdata[i];

        if (g_str_equal(input->name, "text"))
            g_ptr_array_add(study->data.prompts, g_strdup(input->value));
        else
            g_ptr_array_add(study->data.inputs, limn_pair_new(input->name, input->value));
    }
    g_hash_table_foreach(folder->study->parameters, copy_parameter,
                         study->data.parameters);
    return study;
}

static void
folder_loaded(GObject *source, GAsyncResult *result, gpointer user_data)
{
    const FolderLoad *load = g_task_get_task_data(G_TASK(result));
    LimnWorkspace *self = load->ws;
    LimnDocument *doc = load->doc;
    g_autoptr(GError) error = NULL;
    LimnStudyFolder *folder = g_task_propagate_pointer(G_TASK(result), &error);

    if (!folder) {
        if (!self->stopped)
            limn_workspace_message(self, LIMN_MESSAGE_ERROR, error->message);
        return;
    }
    if (self->stopped) {
        limn_study_folder_free(folder);
        return;
    }
    if (!doc) {
        limn_workspace_add_recent(self, load->path);
        doc = limn_workspace_add(self, session_study_from_folder(folder));
    }
    limn_document_set_results(doc, folder->artifacts, folder->scalars, folder->skipped,
                              folder->diagnostics, folder,
                              (GDestroyNotify) limn_study_folder_free);
    limn_document_set_status(doc, LIMN_STUDY_DONE);
}

static void
start_load(LimnWorkspace *self, LimnDocument *doc, const char *path)
{
    g_autoptr(GTask) task = g_task_new(NULL, NULL, folder_loaded, NULL);
    FolderLoad *load = g_new0(FolderLoad, 1);

    load->ws = g_object_ref(self);
    load->doc = doc ? g_object_ref(doc) : NULL;
    load->path = g_strdup(path);
    g_task_set_task_data(task, load, folder_load_free);
    limn_worker_run(LIMN_WORKER_FILES, task, load_folder);
}

void
limn_workspace_open_study_folder(LimnWorkspace *self, const char *path)
{
    g_autofree char *absolute = limn_absolute_path(path);

    start_load(self, NULL, absolute);
}

void
limn_workspace_load_folder(LimnWorkspace *self, LimnDocument *doc)
{
    const char *folder = limn_document_get_study(doc)->folder;

    if (folder)
        start_load(self, doc, folder);
}
