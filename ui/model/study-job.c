// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/model/study-job.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/study-folder.h"
#include "ui/model/settings.h"
#include "ui/model/worker.h"

#include <glib/gi18n-lib.h>

#define YIELD_MS 2000 // longest pause for a live explanation

struct _LimnStudyJob {
    GObject parent_instance;
    LimnLive *live;
    LimnStudy *study;
    char *folder, *title;
    LimnJob *job;
    // main thread
    double fraction;
    char *message;
    gboolean finished;
    // written by the engine's thread before "finished"
    LimnRun *run;
    GPtrArray *diagnostics;
    GError *error;
    // under the mutex: the newest progress, one message to the main loop at a time
    GMutex mutex;
    gboolean told;
    double new_fraction;
    char *new_message;
};

enum { PROGRESS, FINISHED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(LimnStudyJob, limn_study_job, G_TYPE_OBJECT)

static void
limn_study_job_finalize(GObject *object)
{
    LimnStudyJob *self = LIMN_STUDY_JOB(object);

    g_clear_pointer(&self->run, limn_run_free);
    g_clear_pointer(&self->study, limn_study_unref);
    g_clear_pointer(&self->job, limn_job_unref);
    g_clear_pointer(&self->diagnostics, g_ptr_array_unref);
    g_clear_error(&self->error);
    g_free(self->folder);
    g_free(self->title);
    g_free(self->message);
    g_free(self->new_message);
    g_mutex_clear(&self->mutex);
    G_OBJECT_CLASS(limn_study_job_parent_class)->finalize(object);
}

static void
limn_study_job_class_init(LimnStudyJobClass *class)
{
    GType type = G_TYPE_FROM_CLASS(class);

    G_OBJECT_CLASS(class)->finalize = limn_study_job_finalize;
    signals[PROGRESS] = g_signal_new("progress", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                     NULL, G_TYPE_NONE, 0);
    signals[FINISHED] = g_signal_new("finished", type, G_SIGNAL_RUN_LAST, 0, NULL, NULL,
                                     NULL, G_TYPE_NONE, 0);
}

static void
limn_study_job_init(LimnStudyJob *self)
{
    g_mutex_init(&self->mutex);
    self->message = g_strdup("");
}

// ---- the engine's thread

static gboolean
show_progress(gpointer data)
{
    LimnStudyJob *self = data;

    g_mutex_lock(&self->mutex);
    self->told = FALSE;
    self->fraction = self->new_fraction;
    g_free(self->message);
    self->message = g_strdup(self->new_message);
    g_mutex_unlock(&self->mutex);
    if (!self->finished)
        g_signal_emit(self, signals[PROGRESS], 0);
    return G_SOURCE_REMOVE;
}

static void
job_progress(LimnJob *job, const LimnProgress *progress, gpointer user_data)
{
    LimnStudyJob *self = user_data;
    gboolean tell;

    g_mutex_lock(&self->mutex);
    tell = !self->told;
    self->told = TRUE;
    self->new_fraction = progress->fraction;
    g_free(self->new_message);
    self->new_message =
        g_strdup(*progress->message ? progress->message : progress->stage);
    g_mutex_unlock(&self->mutex);
    if (tell)
        limn_main_invoke(show_progress, g_object_ref(self), g_object_unref);
    limn_live_wait_idle(self->live, YIELD_MS);
}

static gboolean
show_finished(gpointer data)
{
    LimnStudyJob *self = data;

    self->finished = TRUE;
    if (!self->error)
        self->fraction = 1;
    g_signal_emit(self, signals[FINISHED], 0);
    return G_SOURCE_REMOVE;
}

static void
run_study(gpointer data)
{
    LimnStudyJob *self = data;
    g_autofree char *work = NULL;

    if (!limn_job_check(self->job, &self->error))
        goto out;
    self->run = limn_run_new(self->study, self->job);
    // Checkpoints lie beside the study's folder until it is written.
    if (self->folder) {
        work = g_strconcat(self->folder, ".work", NULL);
        limn_run_set_work_directory(self->run, work, FALSE);
    }
    if (limn_run_execute(self->run, &self->error) && self->folder &&
        limn_study_folder_write(self->run, self->folder, TRUE, &self->error))
        limn_remove_tree(work, NULL);
out:
    self->diagnostics = limn_job_dup_diagnostics(self->job);
    limn_main_invoke(show_finished, g_object_ref(self), g_object_unref);
}

// ---- main thread

LimnStudyJob *
limn_study_job_start(LimnEngineThread *thread, LimnLive *live, LimnStudy *study,
                     const char *folder, const char *title)
{
    LimnStudyJob *self = g_object_new(LIMN_TYPE_STUDY_JOB, NULL);

    self->live = live;
    self->study = limn_study_ref(study);
    self->folder = g_strdup(folder);
    self->title = g_strdup(title);
    self->job = limn_job_new();
    limn_job_set_threads(self->job, limn_settings_get_job_threads());
    limn_job_set_progress(self->job, job_progress, self, NULL);
    limn_engine_thread_push(thread, LIMN_PRIORITY_NORMAL, run_study, g_object_ref(self),
                            g_object_unref);
    return self;
}

void
limn_study_job_cancel(LimnStudyJob *self)
{
    limn_job_cancel(self->job);
}

const char *
limn_study_job_get_title(LimnStudyJob *self)
{
    return self->title;
}

double
limn_study_job_get_fraction(LimnStudyJob *self)
{
    return self->fraction;
}

const char *
limn_study_job_get_message(LimnStudyJob *self)
{
    return self->message;
}

gboolean
limn_study_job_is_finished(LimnStudyJob *self)
{
    return self->finished;
}

const char *
limn_study_job_get_folder(LimnStudyJob *self)
{
    return self->folder;
}

LimnRun *
limn_study_job_get_run(LimnStudyJob *self)
{
    return self->run;
}

GPtrArray *
limn_study_job_get_diagnostics(LimnStudyJob *self)
{
    return self->diagnostics;
}

const GError *
limn_study_job_get_error(LimnStudyJob *self)
{
    return self->error;
}
