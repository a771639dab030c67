// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/run.h"

#include "engine/base/error.h"

#include <string.h>

struct LimnRun {
    LimnStudy *study;
    LimnJob *job;
    guint shard_index, shard_count;
    guint64 n_items;
    gint64 item; // the one being worked on, -1: none
    char *work_directory;
    gboolean resume;
    void (*yield)(gpointer user_data);
    gpointer yield_data;
    GPtrArray *artifacts, *scalars, *skipped, *items;
    // Borrowed views handed out as NULL-terminated lists, by input name.
    GHashTable *lists;
    // Parameter values as text, by name (so that texts can be borrowed).
    GHashTable *values;
};

static void
scalar_free(LimnScalar *scalar)
{
    g_free(scalar->name);
    g_free(scalar->item);
    g_free(scalar);
}

static void
skipped_free(LimnSkipped *skipped)
{
    g_free(skipped->item);
    g_free(skipped->reason);
    g_free(skipped);
}

static void
item_free(LimnRunItem *item)
{
    g_free(item->name);
    g_free(item);
}

LimnRun *
limn_run_new(LimnStudy *study, LimnJob *job)
{
    LimnRun *run = g_new0(LimnRun, 1);
    run->study = limn_study_ref(study);
    run->job = job != NULL ? limn_job_ref(job) : limn_job_new();
    run->shard_count = 1;
    run->item = -1;
    run->artifacts = g_ptr_array_new_with_free_func((GDestroyNotify) limn_artifact_unref);
    run->scalars = g_ptr_array_new_with_free_func((GDestroyNotify) scalar_free);
    run->skipped = g_ptr_array_new_with_free_func((GDestroyNotify) skipped_free);
    run->items = g_ptr_array_new_with_free_func((GDestroyNotify) item_free);
    run->lists = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    run->values = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return run;
}

void
limn_run_free(LimnRun *run)
{
    if (run == NULL) {
        return;
    }
    g_ptr_array_unref(run->artifacts);
    g_ptr_array_unref(run->scalars);
    g_ptr_array_unref(run->skipped);
    g_ptr_array_unref(run->items);
    g_hash_table_unref(run->lists);
    g_hash_table_unref(run->values);
    g_free(run->work_directory);
    limn_study_unref(run->study);
    limn_job_unref(run->job);
    g_free(run);
}

gboolean
limn_run_execute(LimnRun *run, GError **error)
{
    const LimnOperation *operation = run->study->operation;
    if (!limn_study_validate(run->study, error) || !limn_job_check(run->job, error) ||
        !operation->run(run, error)) {
        return FALSE;
    }
    run->item = -1;
    if (operation->finish != NULL && run->shard_count == 1 &&
        !operation->finish(run, error)) {
        return FALSE;
    }
    return limn_job_check(run->job, error);
}

LimnStudy *
limn_run_get_study(LimnRun *run)
{
    return run->study;
}

LimnJob *
limn_run_get_job(LimnRun *run)
{
    return run->job;
}

guint64
limn_run_get_seed(LimnRun *run)
{
    return run->study->seed;
}

// ---- inputs and parameters

const char *
limn_run_get_input(LimnRun *run, const char *name)
{
    return limn_study_get_input(run->study, name);
}

const char *const *
limn_run_get_input_list(LimnRun *run, const char *name)
{
    const char *const *known = g_hash_table_lookup(run->lists, name);
    if (known != NULL) {
        return known;
    }
    GPtrArray *values = g_ptr_array_new();
    for (guint i = 0; i < run->study->inputs->len; i++) {
        const LimnStudyInput *input = g_ptr_array_index(run->study->inputs, i);
        if (strcmp(input->name, name) == 0) {
            g_ptr_array_add(values, input->value);
        }
    }
    g_ptr_array_add(values, NULL);
    gpointer list = g_ptr_array_free(values, FALSE);
    g_hash_table_insert(run->lists, g_strdup(name), list);
    return list;
}

static const char *
get_value(LimnRun *run, const char *name)
{
    const char *known = g_hash_table_lookup(run->values, name);
    if (known != NULL) {
        return known;
    }
    char *value = limn_study_dup_parameter(run->study, name);
    g_hash_table_insert(run->values, g_strdup(name), value);
    return value;
}

static const LimnParameter *
get_parameter(LimnRun *run, const char *name)
{
    return limn_operation_find_parameter(run->study->operation, name);
}

gint64
limn_run_get_int(LimnRun *run, const char *name)
{
    const LimnParameter *parameter = get_parameter(run, name);
    g_return_val_if_fail(parameter != NULL && parameter->type == LIMN_PARAMETER_INT, 0);
    return g_ascii_strtoll(get_value(run, name), NULL, 10);
}

double
limn_run_get_float(LimnRun *run, const char *name)
{
    const LimnParameter *parameter = get_parameter(run, name);
    g_return_val_if_fail(parameter != NULL && parameter->type == LIMN_PARAMETER_FLOAT, 0);
    return g_ascii_strtod(get_value(run, name), NULL);
}

gboolean
limn_run_get_bool(LimnRun *run, const char *name)
{
    const LimnParameter *parameter = get_parameter(run, name);
    g_return_val_if_fail(parameter != NULL && parameter->type == LIMN_PARAMETER_BOOL,
                         FALSE);
    return strcmp(get_value(run, name), "yes") == 0;
}

int
limn_run_get_choice(LimnRun *run, const char *name)
{
    const LimnParameter *parameter = get_parameter(run, name);
    g_return_val_if_fail(parameter != NULL && parameter->type == LIMN_PARAMETER_CHOICE,
                         0);
    const char *value = get_value(run, name);
    int i = 0;
    while (strcmp(parameter->choices[i], value) != 0) {
        i++; // the value was checked when it was set
    }
    return i;
}

const char *
limn_run_get_text(LimnRun *run, const char *name)
{
    const LimnParameter *parameter = get_parameter(run, name);
    g_return_val_if_fail(parameter != NULL && parameter->type == LIMN_PARAMETER_TEXT,
                         NULL);
    return get_value(run, name);
}

// ---- items and shards

void
limn_run_set_shard(LimnRun *run, guint index, guint count)
{
    g_return_if_fail(count >= 1 && index < count);
    run->shard_index = index;
    run->shard_count = count;
}

void
limn_run_get_shard(LimnRun *run, guint *index, guint *count)
{
    *index = run->shard_index;
    *count = run->shard_count;
}

gboolean
limn_run_owns_item(LimnRun *run, guint64 item)
{
    return item % run->shard_count == run->shard_index;
}

void
limn_run_set_n_items(LimnRun *run, guint64 n_items)
{
    run->n_items = n_items;
}

guint64
limn_run_get_n_items(LimnRun *run)
{
    return run->n_items;
}

void
limn_run_set_yield(LimnRun *run, void (*yield)(gpointer user_data), gpointer user_data)
{
    run->yield = yield;
    run->yield_data = user_data;
}

gboolean
limn_run_begin_item(LimnRun *run, guint64 index, const char *name, GError **error)
{
    if (run->yield != NULL) {
        run->yield(run->yield_data);
    }
    if (!limn_job_check(run->job, error)) {
        return FALSE;
    }
    LimnRunItem *item = g_new0(LimnRunItem, 1);
    item->index = index;
    item->name = g_strdup(name);
    g_autoptr(GPtrArray) diagnostics = limn_job_dup_diagnostics(run->job);
    item->first_diagnostic = diagnostics->len;
    g_ptr_array_add(run->items, item);
    run->item = (gint64) index;
    return TRUE;
}

void
limn_run_set_work_directory(LimnRun *run, const char *directory, gboolean resume)
{
    g_free(run->work_directory);
    run->work_directory = g_strdup(directory);
    run->resume = resume;
}

const char *
limn_run_get_work_directory(LimnRun *run)
{
    return run->work_directory;
}

gboolean
limn_run_get_resume(LimnRun *run)
{
    return run->resume;
}

// ---- results

void
limn_run_add_artifact(LimnRun *run, LimnArtifact *artifact)
{
    g_return_if_fail(limn_run_find_artifact(run, artifact->name) == NULL);
    g_ptr_array_add(run->artifacts, artifact);
}

static void
add_scalar(LimnRun *run, const char *name, const char *item, double value, gint64 index)
{
    LimnScalar *scalar = g_new0(LimnScalar, 1);
    scalar->name = g_strdup(name);
    scalar->item = g_strdup(item);
    scalar->value = value;
    scalar->index = index;
    g_ptr_array_add(run->scalars, scalar);
}

void
limn_run_add_scalar(LimnRun *run, const char *name, double value)
{
    add_scalar(run, name, NULL, value, -1);
}

void
limn_run_add_item_scalar(LimnRun *run, const char *name, const char *item, double value)
{
    add_scalar(run, name, item, value, run->item);
}

void
limn_run_skip_item(LimnRun *run, const char *item, const GError *reason)
{
    LimnSkipped *skipped = g_new0(LimnSkipped, 1);
    skipped->item = g_strdup(item);
    skipped->reason = g_strdup(reason->message);
    skipped->index = run->item;
    g_ptr_array_add(run->skipped, skipped);
}

GPtrArray *
limn_run_get_artifacts(LimnRun *run)
{
    return run->artifacts;
}

GPtrArray *
limn_run_get_scalars(LimnRun *run)
{
    return run->scalars;
}

GPtrArray *
limn_run_get_skipped(LimnRun *run)
{
    return run->skipped;
}

GPtrArray *
limn_run_get_items(LimnRun *run)
{
    return run->items;
}

LimnArtifact *
limn_run_find_artifact(LimnRun *run, const char *name)
{
    for (guint i = 0; i < run->artifacts->len; i++) {
        LimnArtifact *artifact = g_ptr_array_index(run->artifacts, i);
        if (strcmp(artifact->name, name) == 0) {
            return artifact;
        }
    }
    return NULL;
}
