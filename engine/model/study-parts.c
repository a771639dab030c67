// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/study-parts.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/io/artifact-files.h"
#include "engine/io/json.h"
#include "engine/io/npy.h"

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
