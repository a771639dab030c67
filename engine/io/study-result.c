// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/study-result.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/io/json.h"

#include <math.h>
#include <string.h>

// ---- writing

// Scalars of one name stand together, at the place of the first.
static GPtrArray *
group_scalars(GPtrArray *scalars)
{
    GPtrArray *grouped = g_ptr_array_new();
    g_autoptr(GHashTable) known = g_hash_table_new_full(
        g_str_hash, g_str_equal, NULL, (GDestroyNotify) g_ptr_array_unref);
    g_autoptr(GPtrArray) order = g_ptr_array_new();
    for (guint i = 0; i < scalars->len; i++) {
        LimnScalar *scalar = g_ptr_array_index(scalars, i);
        GPtrArray *group = g_hash_table_lookup(known, scalar->name);
        if (group == NULL) {
            group = g_ptr_array_new();
            g_hash_table_insert(known, scalar->name, group);
            g_ptr_array_add(order, group);
        }
        g_ptr_array_add(group, scalar);
    }
    for (guint i = 0; i < order->len; i++) {
        GPtrArray *group = g_ptr_array_index(order, i);
        g_ptr_array_extend(grouped, group, NULL, NULL);
    }
    return grouped;
}

// `grouped` as group_scalars made it. A name with items is an object of them.
static void
write_scalars(LimnJsonWriter *json, GPtrArray *grouped)
{
    const char *open = NULL;
    limn_json_writer_begin_object(json, "scalars");
    for (guint i = 0; i < grouped->len; i++) {
        const LimnScalar *scalar = g_ptr_array_index(grouped, i);
        if (open != NULL && strcmp(open, scalar->name) != 0) {
            limn_json_writer_end_object(json);
            open = NULL;
        }
        if (scalar->item == NULL) {
            limn_json_writer_double(json, scalar->name, scalar->value);
            continue;
        }
        if (open == NULL) {
            limn_json_writer_begin_object(json, scalar->name);
            open = scalar->name;
        }
        limn_json_writer_double(json, scalar->item, scalar->value);
    }
    if (open != NULL) {
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_object(json);
}

// The item that a diagnostic came with, -1: none.
static gint64
item_of_diagnostic(LimnRun *run, guint i)
{
    GPtrArray *items = limn_run_get_items(run);
    gint64 index = -1;
    for (guint k = 0; k < items->len; k++) {
        const LimnRunItem *item = g_ptr_array_index(items, k);
        if (item->first_diagnostic <= i) {
            index = (gint64) item->index;
        }
    }
    return index;
}

// Each diagnostic once. `indices` gets the item of every one that is written.
static void
write_diagnostics(LimnJsonWriter *json, LimnRun *run, GArray *indices)
{
    g_autoptr(GPtrArray) diagnostics = limn_job_dup_diagnostics(limn_run_get_job(run));
    g_autoptr(GHashTable) seen =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    limn_json_writer_begin_array(json, "diagnostics");
    for (guint i = 0; i < diagnostics->len; i++) {
        const LimnDiagnostic *diagnostic = g_ptr_array_index(diagnostics, i);
        gboolean warning = diagnostic->severity == LIMN_DIAGNOSTIC_WARNING;
        gint64 item = item_of_diagnostic(run, i);
        if (!g_hash_table_add(
                seen, g_strdup_printf("%d\n%s\n%s", warning,
                                      diagnostic->item != NULL ? diagnostic->item : "",
                                      diagnostic->message))) {
            continue;
        }
        g_array_append_val(indices, item);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_string(json, "severity", warning ? "warning" : "note");
        limn_json_writer_string(json, "item", diagnostic->item);
        limn_json_writer_string(json, "message", diagnostic->message);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
}

static void
write_skipped(LimnJsonWriter *json, GPtrArray *skipped)
{
    limn_json_writer_begin_array(json, "skipped");
    for (guint i = 0; i < skipped->len; i++) {
        const LimnSkipped *entry = g_ptr_array_index(skipped, i);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_string(json, "item", entry->item);
        limn_json_writer_string(json, "reason", entry->reason);
        if (entry->index >= 0) {
            limn_json_writer_int(json, "index", entry->index);
        }
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
}

static void
write_shard(LimnJsonWriter *json, LimnRun *run, GPtrArray *grouped, GArray *indices)
{
    guint index, count;
    limn_run_get_shard(run, &index, &count);
    if (count == 1) {
        return;
    }
    limn_json_writer_begin_object(json, "shard");
    limn_json_writer_uint(json, "index", index);
    limn_json_writer_uint(json, "count", count);
    limn_json_writer_uint(json, "items", limn_run_get_n_items(run));
    limn_json_writer_end_object(json);
    limn_json_writer_begin_array(json, "shard_items");
    GPtrArray *items = limn_run_get_items(run);
    for (guint i = 0; i < items->len; i++) {
        const LimnRunItem *item = g_ptr_array_index(items, i);
        limn_json_writer_inline(json);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_uint(json, "index", item->index);
        limn_json_writer_string(json, "name", item->name);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, "shard_scalars");
    for (guint i = 0; i < grouped->len; i++) {
        const LimnScalar *scalar = g_ptr_array_index(grouped, i);
        limn_json_writer_int(json, NULL, scalar->index);
    }
    limn_json_writer_end_array(json);
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, "shard_diagnostics");
    for (guint i = 0; i < indices->len; i++) {
        limn_json_writer_int(json, NULL, g_array_index(indices, gint64, i));
    }
    limn_json_writer_end_array(json);
}

static void
write_files(LimnJsonWriter *json, LimnArtifactWriter *writer)
{
    GPtrArray *files = limn_artifact_writer_get_files(writer);
    limn_json_writer_begin_array(json, "files");
    limn_json_writer_string(json, NULL, LIMN_STUDY_FILE);
    limn_json_writer_string(json, NULL, LIMN_RESULT_FILE);
    limn_json_writer_string(json, NULL, LIMN_TIMING_FILE);
    for (guint i = 0; i < files->len; i++) {
        limn_json_writer_string(json, NULL, g_ptr_array_index(files, i));
    }
    limn_json_writer_end_array(json);
}

gboolean
limn_study_result_write(LimnRun *run, LimnArtifactWriter *writer, GError **error)
{
    GPtrArray *artifacts = limn_run_get_artifacts(run);
    g_autoptr(GPtrArray) grouped = group_scalars(limn_run_get_scalars(run));
    g_autoptr(GArray) indices = g_array_new(FALSE, FALSE, sizeof(gint64));
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_begin_object(json, NULL);
    write_scalars(json, grouped);
    limn_json_writer_begin_array(json, "artifacts");
    for (guint i = 0; i < artifacts->len; i++) {
        if (!limn_artifact_writer_add(writer, g_ptr_array_index(artifacts, i), json,
                                      error)) {
            return FALSE;
        }
    }
    limn_json_writer_end_array(json);
    write_diagnostics(json, run, indices);
    write_skipped(json, limn_run_get_skipped(run));
    write_files(json, writer);
    write_shard(json, run, grouped, indices);
    limn_json_writer_end_object(json);
    g_autofree char *text = limn_json_writer_finish(json);
    return limn_artifact_writer_put(writer, LIMN_RESULT_FILE, text, strlen(text), error);
}

static void
write_time(const char *stage, double seconds, gpointer data)
{
    LimnJsonWriter *json = data;
    limn_json_writer_inline(json);
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "stage", stage);
    limn_json_writer_double(json, "seconds", round(seconds * 1e6) / 1e6);
    limn_json_writer_end_object(json);
}

char *
limn_study_timing_to_json(LimnJob *job)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "host", g_get_host_name());
    limn_json_writer_int(json, "processors", limn_parallel_n_processors());
    limn_json_writer_int(json, "threads", limn_job_get_threads(job));
    limn_json_writer_begin_array(json, "stages");
    limn_job_foreach_time(job, write_time, json);
    limn_json_writer_end_array(json);
    limn_json_writer_end_object(json);
    return limn_json_writer_finish(json);
}

// ---- reading

static void
add_scalar(LimnStudyFolder *folder, const char *name, const char *item,
           const json_t *value)
{
    LimnScalar *scalar = g_new0(LimnScalar, 1);
    scalar->name = g_strdup(name);
    scalar->item = g_strdup(item);
    scalar->value = json_is_number(value) ? json_number_value(value) : NAN;
    scalar->index = -1;
    g_ptr_array_add(folder->scalars, scalar);
}

static gboolean
read_scalars(LimnStudyFolder *folder, const LimnJson *root, GError **error)
{
    LimnJson scalars;
    if (!limn_json_has(root, "scalars")) {
        return TRUE;
    }
    if (!limn_json_need_object(root, "scalars", &scalars, error)) {
        return FALSE;
    }
    const char *name, *item;
    json_t *value, *inner;
    json_object_foreach(scalars.value, name, value)
    {
        if (!json_is_object(value)) {
            add_scalar(folder, name, NULL, value);
            continue;
        }
        json_object_foreach(value, item, inner)
        {
            add_scalar(folder, name, item, inner);
        }
    }
    return TRUE;
}

static gboolean
read_diagnostics(LimnStudyFolder *folder, const LimnJson *root, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(root, "diagnostics", &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson entry;
        const char *severity = NULL, *item = NULL, *message = NULL;
        if (!limn_json_need_element(root, "diagnostics", i, &entry, error) ||
            !limn_json_need_string(&entry, "severity", &severity, error) ||
            !limn_json_read_string(&entry, "item", &item, error) ||
            !limn_json_need_string(&entry, "message", &message, error)) {
            return FALSE;
        }
        LimnDiagnostic *diagnostic = g_new0(LimnDiagnostic, 1);
        diagnostic->severity = strcmp(severity, "warning") == 0 ? LIMN_DIAGNOSTIC_WARNING
                                                                : LIMN_DIAGNOSTIC_NOTE;
        diagnostic->item = g_strdup(item);
        diagnostic->message = g_strdup(message);
        g_ptr_array_add(folder->diagnostics, diagnostic);
    }
    return TRUE;
}

static gboolean
read_skipped(LimnStudyFolder *folder, const LimnJson *root, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(root, "skipped", &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson entry;
        const char *item = NULL, *reason = NULL;
        gint64 index = -1;
        if (!limn_json_need_element(root, "skipped", i, &entry, error) ||
            !limn_json_need_string(&entry, "item", &item, error) ||
            !limn_json_need_string(&entry, "reason", &reason, error) ||
            !limn_json_read_int(&entry, "index", 0, G_MAXINT64, &index, error)) {
            return FALSE;
        }
        LimnSkipped *skipped = g_new0(LimnSkipped, 1);
        skipped->item = g_strdup(item);
        skipped->reason = g_strdup(reason);
        skipped->index = index;
        g_ptr_array_add(folder->skipped, skipped);
    }
    return TRUE;
}

static gboolean
read_artifacts(LimnStudyFolder *folder, const LimnJson *root, LimnJob *job,
               GError **error)
{
    g_autoptr(LimnArtifactReader) reader = limn_artifact_reader_new(folder->path, job);
    json_t *list = NULL;
    if (!limn_json_read_array(root, "artifacts", &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson entry;
        if (!limn_json_need_element(root, "artifacts", i, &entry, error)) {
            return FALSE;
        }
        LimnArtifact *artifact = limn_artifact_reader_get(reader, &entry, error);
        if (artifact == NULL) {
            return FALSE;
        }
        g_ptr_array_add(folder->artifacts, artifact);
    }
    return TRUE;
}

static gboolean
read_shard_items(LimnStudyFolder *folder, const LimnJson *root, GError **error)
{
    json_t *list = NULL, *scalars = NULL;
    if (!limn_json_read_array(root, "shard_items", &list, error) ||
        !limn_json_read_array(root, "shard_scalars", &scalars, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson entry;
        gint64 index = 0;
        const char *name = NULL;
        if (!limn_json_need_element(root, "shard_items", i, &entry, error) ||
            !limn_json_need_int(&entry, "index", 0, G_MAXINT64, &index, error) ||
            !limn_json_need_string(&entry, "name", &name, error)) {
            return FALSE;
        }
        LimnRunItem *item = g_new0(LimnRunItem, 1);
        item->index = (guint64) index;
        item->name = g_strdup(name);
        g_ptr_array_add(folder->items, item);
    }
    if (json_array_size(scalars) != folder->scalars->len) {
        return limn_json_fail(root, "shard_scalars", error,
                              "has %zu entries (expected one per scalar, %u)",
                              json_array_size(scalars), folder->scalars->len);
    }
    for (guint i = 0; i < folder->scalars->len; i++) {
        LimnScalar *scalar = g_ptr_array_index(folder->scalars, i);
        scalar->index = json_integer_value(json_array_get(scalars, i));
    }
    json_t *diagnostics = NULL;
    if (!limn_json_read_array(root, "shard_diagnostics", &diagnostics, error)) {
        return FALSE;
    }
    for (guint i = 0; i < folder->diagnostics->len; i++) {
        json_t *value = json_array_get(diagnostics, i);
        gint64 index = json_is_integer(value) ? json_integer_value(value) : -1;
        g_array_append_val(folder->diagnostic_items, index);
    }
    return TRUE;
}

static gboolean
read_shard(LimnStudyFolder *folder, const LimnJson *root, GError **error)
{
    LimnJson shard;
    gint64 index = 0, count = 1, items = 0;
    folder->shard_count = 1;
    if (!limn_json_has(root, "shard")) {
        return TRUE;
    }
    if (!limn_json_need_object(root, "shard", &shard, error) ||
        !limn_json_need_int(&shard, "count", 2, G_MAXINT32, &count, error) ||
        !limn_json_need_int(&shard, "index", 0, count - 1, &index, error) ||
        !limn_json_need_int(&shard, "items", 0, G_MAXINT64, &items, error)) {
        return FALSE;
    }
    folder->shard_index = (guint) index;
    folder->shard_count = (guint) count;
    folder->n_items = (guint64) items;
    return read_shard_items(folder, root, error);
}

gboolean
limn_study_result_read(LimnStudyFolder *folder, LimnJob *job, GError **error)
{
    g_autofree char *path = g_build_filename(folder->path, LIMN_RESULT_FILE, NULL);
    g_autoptr(json_t) value = limn_json_load(path, error);
    LimnJson root;
    return value != NULL && limn_json_root(value, path, &root, error) &&
           read_scalars(folder, &root, error) && read_diagnostics(folder, &root, error) &&
           read_skipped(folder, &root, error) &&
           read_artifacts(folder, &root, job, error) && read_shard(folder, &root, error);
}

GStrv
limn_study_result_list_files(const char *directory)
{
    static const char *const fixed[] = {LIMN_STUDY_FILE, LIMN_RESULT_FILE,
                                        LIMN_TIMING_FILE, NULL};
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    for (guint i = 0; fixed[i] != NULL; i++) {
        g_strv_builder_add(names, fixed[i]);
    }
    g_autofree char *path = g_build_filename(directory, LIMN_RESULT_FILE, NULL);
    g_autoptr(json_t) root = limn_json_load(path, NULL);
    json_t *list = json_object_get(root, "files");
    for (gsize i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name != NULL && limn_companion_name_is_safe(name) &&
            !g_strv_contains(fixed, name)) {
            g_strv_builder_add(names, name);
        }
    }
    return g_strv_builder_end(names);
}
