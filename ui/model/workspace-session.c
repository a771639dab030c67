// SPDX-License-Identifier: GPL-3.0-or-later

// The session: written on a worker at most two seconds after the last change, restored
// at start without a question.

#include "limn-config.h"

#include "ui/model/workspace-private.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "ui/model/document-edit.h"
#include "ui/model/worker.h"

#include <glib/gi18n-lib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>

#define SAVE_DELAY_MS 1500
#define MAX_RECENT 12
#define KEEP_DELETED (7 * G_TIME_SPAN_DAY)

static char *
state_directory(void)
{
    return g_build_filename(g_get_user_state_dir(), "limn", NULL);
}

// Studies deleted more than a week ago go for good.
static void
purge_deleted(GTask *task, gpointer source, gpointer task_data, GCancellable *cancellable)
{
    g_autofree char *data = limn_workspace_data_directory();
    g_autofree char *folder = g_build_filename(data, "deleted", NULL);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        g_autofree char *path = g_build_filename(folder, name, NULL);
        struct stat info;

        if (lstat(path, &info) == 0 &&
            g_get_real_time() - info.st_ctime * G_TIME_SPAN_SECOND > KEEP_DELETED)
            limn_remove_tree(path, NULL);
    }
    g_task_return_boolean(task, TRUE);
}

typedef struct {
    LimnWorkspace *ws;
    char *text;
} Notice;

static void
notice_free(gpointer data)
{
    Notice *notice = data;

    g_object_unref(notice->ws);
    g_free(notice->text);
    g_free(notice);
}

static gboolean
show_notice(gpointer data)
{
    Notice *notice = data;

    if (!notice->ws->stopped)
        limn_workspace_message(notice->ws, LIMN_MESSAGE_WARNING, notice->text);
    return G_SOURCE_REMOVE;
}

// Told once the window is there to show it. Takes the text.
static void
tell_later(LimnWorkspace *self, char *text)
{
    Notice *notice = g_new0(Notice, 1);

    notice->ws = g_object_ref(self);
    notice->text = text;
    limn_main_invoke(show_notice, notice, notice_free);
}

void
limn_workspace_session_init(LimnWorkspace *self)
{
    g_autofree char *directory = state_directory();
    g_autoptr(GError) error = NULL;
    g_autoptr(GTask) task = NULL;

    self->store = limn_session_store_open(directory, &error);
    if (!self->store) {
        tell_later(self, g_strdup_printf(
                             _("The session cannot be saved; everything else works. %s"),
                             error->message));
        return;
    }
    if (limn_session_store_get_number(self->store) > 1)
        tell_later(self,
                   g_strdup(_("Limn is running elsewhere with the main session. This "
                              "window has a session of its own.")));
    task = g_task_new(NULL, NULL, NULL, NULL);
    limn_worker_run(LIMN_WORKER_THUMBNAILS, task, purge_deleted);
}

// ---- saving

static char *
freeze(LimnWorkspace *self)
{
    GListModel *list = G_LIST_MODEL(self->documents);
    GListModel *models = limn_model_store_get_list(self->models);
    LimnSession *session = self->session;
    char *json;

    // the documents' own studies are lent to the session while it is written
    g_ptr_array_set_free_func(session->studies, NULL);
    g_ptr_array_set_size(session->studies, 0);
    for (guint i = 0; i < g_list_model_get_n_items(list); i++) {
        g_autoptr(LimnDocument) doc = g_list_model_get_item(list, i);

        g_ptr_array_add(session->studies, (gpointer) limn_document_freeze(doc));
    }
    g_ptr_array_set_size(session->models, 0);
    for (guint i = 0; i < g_list_model_get_n_items(models); i++) {
        g_autoptr(LimnModel) model = g_list_model_get_item(models, i);

        if (*limn_model_get_path(model))
            g_ptr_array_add(session->models, g_strdup(limn_model_get_path(model)));
    }
    g_free(session->current);
    session->current =
        self->current ? g_strdup(limn_document_get_study(self->current)->id) : NULL;
    json = limn_session_to_json(session);
    g_ptr_array_set_size(session->studies, 0);
    return json;
}

static void
save(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    LimnWorkspace *self = source;
    GError *error = NULL;

    if (limn_session_store_save(self->store, data, &error))
        g_task_return_boolean(task, TRUE);
    else
        g_task_return_error(task, error);
}

static void
saved(GObject *source, GAsyncResult *result, gpointer user_data)
{
    LimnWorkspace *self = LIMN_WORKSPACE(source);
    g_autoptr(GError) error = NULL;
    gboolean ok = g_task_propagate_boolean(G_TASK(result), &error);

    self->saving = FALSE;
    if (self->stopped)
        return;
    if (!ok && !self->save_failed)
        limn_workspace_message(self, LIMN_MESSAGE_WARNING, error->message);
    self->save_failed = !ok; // said once until it works again
    if (self->save_again) {
        self->save_again = FALSE;
        limn_workspace_touch(self);
    }
}

static gboolean
save_timeout(gpointer user_data)
{
    LimnWorkspace *self = user_data;
    g_autoptr(GTask) task = NULL;

    self->save_timeout = 0;
    if (self->saving) {
        self->save_again = TRUE;
        return G_SOURCE_REMOVE;
    }
    self->saving = TRUE;
    task = g_task_new(self, NULL, saved, NULL);
    g_task_set_task_data(task, freeze(self), g_free);
    limn_worker_run(LIMN_WORKER_FILES, task, save);
    return G_SOURCE_REMOVE;
}

void
limn_workspace_touch(LimnWorkspace *self)
{
    if (self->store && !self->save_timeout && !self->stopped)
        self->save_timeout = g_timeout_add(SAVE_DELAY_MS, save_timeout, self);
}

gboolean
limn_workspace_save_now(LimnWorkspace *self)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *json = NULL;

    if (!self->store)
        return FALSE;
    while (self->saving) // the worker's save comes first
        g_main_context_iteration(NULL, TRUE);
    g_clear_handle_id(&self->save_timeout, g_source_remove);
    json = freeze(self);
    if (limn_session_store_save(self->store, json, &error))
        return TRUE;
    g_info("%s", error->message);
    return FALSE;
}

// ---- restoring

static void
restore_study(LimnWorkspace *self, LimnSessionStudy *study)
{
    gboolean interrupted = study->status == LIMN_STUDY_INTERRUPTED;
    LimnDocument *doc = limn_workspace_insert(self, study, G_MAXUINT);

    if (interrupted)
        limn_document_set_status(doc, LIMN_STUDY_INTERRUPTED);
}

gboolean
limn_workspace_restore(LimnWorkspace *self)
{
    g_autoptr(GError) error = NULL;
    LimnSession *session;
    guint n_interrupted = 0;

    if (!self->store)
        return FALSE;
    session = limn_session_store_load(self->store, &error);
    if (!session) {
        tell_later(self,
                   g_strdup_printf(_("The last session could not be read; it was kept "
                                     "beside the new one. %s"),
                                   error->message));
        return FALSE;
    }
    limn_session_free(self->session);
    self->session = session;
    g_ptr_array_set_free_func(session->studies, NULL); // the documents take them
    for (guint i = 0; i < session->models->len; i++)
        limn_model_store_add(self->models, session->models->pdata[i]);
    for (guint i = 0; i < session->studies->len; i++) {
        LimnSessionStudy *study = session->studies->pdata[i];

        n_interrupted += study->status == LIMN_STUDY_INTERRUPTED;
        restore_study(self, study);
    }
    limn_workspace_set_current(self, limn_workspace_find(self, session->current));
    if (n_interrupted > 0)
        tell_later(
            self,
            g_strdup_printf(
                ngettext("%u study was running when the program ended. Press Run to "
                         "start it again.",
                         "%u studies were running when the program ended. Press Run "
                         "to start them again.",
                         n_interrupted),
                n_interrupted));
    limn_workspace_emit(self, LIMN_WORKSPACE_RECENT_CHANGED);
    return session->studies->len > 0;
}

void
limn_workspace_add_recent(LimnWorkspace *self, const char *path)
{
    GPtrArray *recent = self->session->recent;

    for (guint i = 0; i < recent->len; i++) {
        if (g_str_equal(recent->pdata[i], path)) {
            g_ptr_array_remove_index(recent, i);
            break;
        }
    }
    g_ptr_array_insert(recent, 0, g_strdup(path));
    if (recent->len > MAX_RECENT)
        g_ptr_array_set_size(recent, MAX_RECENT);
    limn_workspace_touch(self);
    limn_workspace_emit(self, LIMN_WORKSPACE_RECENT_CHANGED);
}

// ---- files that were moved

// `path` below `from` as it would lie below `to`, when it is there. NULL otherwise.
static char *
moved(const char *path, const char *from, const char *to)
{
    gsize n = strlen(from);
    char *there;

    if (!path || !g_str_has_prefix(path, from) || path[n] != '/' ||
        g_file_test(path, G_FILE_TEST_EXISTS))
        return NULL;
    there = g_build_filename(to, path + n + 1, NULL);
    if (!g_file_test(there, G_FILE_TEST_EXISTS))
        g_clear_pointer(&there, g_free);
    return there;
}

static guint
relocate_document(LimnDocument *doc, const char *from, const char *to)
{
    const LimnStudyData *data = limn_document_get_data(doc);
    g_autofree char *image = moved(limn_pairs_get(data->inputs, "image"), from, to);
    g_autofree char *mask = moved(data->mask, from, to);

    if (image)
        limn_document_set_input(doc, "image", image);
    if (mask)
        limn_document_set_mask(doc, mask);
    return (image != NULL) + (mask != NULL);
}

guint
limn_workspace_relocate(LimnWorkspace *self, LimnDocument *doc, const char *path)
{
    const char *old = limn_pairs_get(limn_document_get_data(doc)->inputs, "image");
    g_autofree char *from = old ? g_path_get_dirname(old) : NULL;
    g_autofree char *to = g_path_get_dirname(path);
    GListModel *list = G_LIST_MODEL(self->documents);
    guint found = 1;

    limn_document_set_input(doc, "image", path);
    for (guint i = 0; from && i < g_list_model_get_n_items(list); i++) {
        g_autoptr(LimnDocument) other = g_list_model_get_item(list, i);

        found += relocate_document(other, from, to);
    }
    return found;
}
