// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/study-parts.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/artifact-files.h"
#include "engine/io/json.h"
#include "engine/io/npy.h"
#include "engine/math/statistics.h"

// Rows and columns are counted with guint32.
#define MOST_ENTRIES ((gint64) 1 << 30)

LimnArray *
limn_study_load_floats(const char *path, int rank, gint64 n, const char *what,
                       GError **error)
{
    g_autoptr(LimnArray) raw = limn_npy_load(path, error);
    if (raw == NULL) {
        return NULL;
    }
    if (raw->rank != rank || (n >= 0 && raw->shape[0] != n) ||
        raw->shape[0] > MOST_ENTRIES || raw->shape[1] > MOST_ENTRIES) {
        g_autofree char *shape = limn_array_describe_shape(raw);
        g_autofree char *rows =
            n >= 0 ? g_strdup_printf("%" G_GINT64_FORMAT, n) : g_strdup("n");
        limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                            "the %s have the wrong shape (found %s, expected [%s%s])",
                            what, shape, rows, rank == 2 ? ", ..." : "");
        return NULL;
    }
    return limn_array_to_f32(raw, error);
}

gboolean
limn_study_load_artifact(const char *folder, const char *name, LimnArtifact **artifact,
                         LimnJob *job, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "result.json", NULL);
    g_autoptr(json_t) json = limn_json_load_object(path, error);
    g_autofree char *shown = limn_display_path(path);
    LimnJson root, entry;
    json_t *list = NULL;
    if (json == NULL || !limn_json_root(json, shown, &root, error) ||
        !limn_json_read_array(&root, "artifacts", &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        const char *found = NULL;
        if (!limn_json_need_element(&root, "artifacts", i, &entry, error) ||
            !limn_json_need_string(&entry, "name", &found, error)) {
            return FALSE;
        }
        if (strcmp(found, name) == 0) {
            g_autoptr(LimnArtifactReader) reader = limn_artifact_reader_new(folder, job);
            *artifact = limn_artifact_reader_get(reader, &entry, error);
            return *artifact != NULL;
        }
    }
    return TRUE;
}

// ---- tables

const LimnColumn *
limn_study_find_column(const LimnTable *table, const char *name)
{
    for (guint i = 0; i < table->columns->len; i++) {
        const LimnColumn *column = g_ptr_array_index(table->columns, i);
        if (strcmp(column->name, name) == 0) {
            return column;
        }
    }
    return NULL;
}

guint
limn_study_add_mean(LimnRun *run, const LimnTable *table, const char *name,
                    gboolean with_error)
{
    const LimnColumn *column = limn_study_find_column(table, name);
    if (column == NULL) {
        return 0;
    }
    g_autoptr(GArray) values = g_array_new(FALSE, FALSE, sizeof(double));
    for (guint i = 0; i < column->numbers->len; i++) {
        double value = g_array_index(column->numbers, double, i);
        if (isfinite(value)) {
            g_array_append_val(values, value);
        }
    }
    LimnDescription d =
        limn_describe((const double *) (gpointer) values->data, values->len);
    limn_run_add_scalar(run, name, values->len > 0 ? d.mean : NAN);
    if (with_error) {
        g_autofree char *error = g_strdup_printf("%s sem", name);
        limn_run_add_scalar(run, error,
                            values->len > 1 ? d.std / sqrt((double) values->len) : NAN);
    }
    return values->len;
}
