// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/artifact-files.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/npy.h"
#include "engine/io/picture.h"

#include <math.h>
#include <string.h>

#define MAX_SIDE (1 << 30) // of a picture or map, in pixels

struct LimnArtifactReader {
    char *directory;
    LimnJob *job;
    GHashTable *pictures; // file name -> LimnImage, so that shared ones are read once
};

LimnArtifactReader *
limn_artifact_reader_new(const char *directory, LimnJob *job)
{
    LimnArtifactReader *reader = g_new0(LimnArtifactReader, 1);
    reader->directory = g_strdup(directory);
    reader->job = job;
    reader->pictures = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                             (GDestroyNotify) limn_image_unref);
    return reader;
}

void
limn_artifact_reader_free(LimnArtifactReader *reader)
{
    if (reader == NULL) {
        return;
    }
    g_hash_table_unref(reader->pictures);
    g_free(reader->directory);
    g_free(reader);
}

// The path of a file that an entry names: a plain name in the same folder.
static char *
file_path(LimnArtifactReader *reader, const LimnJson *entry, const char *key,
          const char *name, GError **error)
{
    if (name[0] == '\0' || strchr(name, '/') != NULL || strcmp(name, ".") == 0 ||
        strcmp(name, "..") == 0) {
        limn_json_fail(entry, key, error,
                       "is '%s' (expected the name of a file in this folder)", name);
        return NULL;
    }
    return g_build_filename(reader->directory, name, NULL);
}

static char *
need_file(LimnArtifactReader *reader, const LimnJson *entry, GError **error)
{
    const char *name = NULL;
    if (!limn_json_need_string(entry, "file", &name, error)) {
        return NULL;
    }
    return file_path(reader, entry, "file", name, error);
}

// ---- pictures

// Ids above 65535 come as uint32 .npy.
static LimnImage *
load_large_labels(const char *path, GError **error)
{
    g_autoptr(LimnArray) array = limn_npy_load(path, error);
    if (array == NULL) {
        return NULL;
    }
    if (array->dtype != LIMN_DTYPE_U32 || array->rank != 2 || array->length == 0 ||
        array->shape[0] > G_MAXINT || array->shape[1] > G_MAXINT) {
        g_autofree char *shape = limn_array_describe_shape(array);
        limn_error_set_file(
            error, LIMN_ERROR_FORMAT, path,
            "is not a label map (found %s %s, expected u32 [height, width])",
            limn_dtype_name(array->dtype), shape);
        return NULL;
    }
    LimnImage *image = limn_image_new((int) array->shape[1], (int) array->shape[0],
                                      LIMN_PIXELS_GREY, LIMN_DEPTH_U32, error);
    if (image != NULL) {
        image->bits = 32;
        memcpy(image->data, array->data, (gsize) array->length * 4);
    }
    return image;
}

static LimnImage *
get_picture(LimnArtifactReader *reader, const LimnJson *entry, const char *key,
            const char *name, GError **error)
{
    g_autofree char *path = file_path(reader, entry, key, name, error);
    if (path == NULL) {
        return NULL;
    }
    LimnImage *image = g_hash_table_lookup(reader->pictures, name);
    if (image == NULL) {
        image = g_str_has_suffix(name, ".npy")
                    ? load_large_labels(path, error)
                    : limn_picture_load(path, reader->job, error);
        if (image == NULL) {
            return NULL;
        }
        g_hash_table_insert(reader->pictures, g_strdup(name), image);
    }
    return limn_image_ref(image);
}

// Member `key` when it is there; *image stays NULL otherwise.
static gboolean
read_picture(LimnArtifactReader *reader, const LimnJson *entry, const char *key,
             LimnImage **image, GError **error)
{
    const char *name = NULL;
    if (!limn_json_read_string(entry, key, &name, error)) {
        return FALSE;
    }
    if (name == NULL) {
        return TRUE;
    }
    *image = get_picture(reader, entry, key, name, error);
    return *image != NULL;
}

static gboolean
add_picture_list(LimnArtifactReader *reader, const LimnJson *entry, const char *key,
                 LimnArtifact *artifact, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(entry, key, &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name == NULL) {
            return limn_json_fail(entry, key, error, "holds something else than names");
        }
        g_autoptr(LimnImage) image = get_picture(reader, entry, key, name, error);
        if (image == NULL) {
            return FALSE;
        }
        limn_artifact_add_picture(artifact, image, NULL);
    }
    return TRUE;
}

// ---- what every kind has

static gboolean
read_labels(const LimnJson *entry, LimnArtifact *artifact, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(entry, "labels", &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        const char *label = json_string_value(json_array_get(list, i));
        if (label == NULL) {
            return limn_json_fail(entry, "labels", error,
                                  "holds something else than text");
        }
        limn_artifact_add_label(artifact, label);
    }
    return TRUE;
}

static gboolean
read_items(const LimnJson *entry, LimnArtifact *artifact, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(entry, "items", &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        json_t *pair = json_array_get(list, i);
        json_int_t item = json_integer_value(json_array_get(pair, 0));
        json_int_t count = json_integer_value(json_array_get(pair, 1));
        if (json_array_size(pair) != 2 || item < 0 || count < 0) {
            return limn_json_fail(entry, "items", error,
                                  "holds something else than [item, count]");
        }
        limn_artifact_tag_item(artifact, (guint64) item, (guint64) count);
    }
    return TRUE;
}

static gboolean
read_common(const LimnJson *entry, LimnArtifact *artifact, GError **error)
{
    const char *title = NULL, *unit = NULL;
    if (!limn_json_read_string(entry, "title", &title, error) ||
        !limn_json_read_string(entry, "unit", &unit, error) ||
        !limn_json_read_bool(entry, "fixed_range", &artifact->has_range, error) ||
        (artifact->has_range &&
         !limn_json_read_doubles(entry, "range", artifact->range, 2, error)) ||
        !read_labels(entry, artifact, error) || !read_items(entry, artifact, error)) {
        return FALSE;
    }
    artifact->title = g_strdup(title);
    artifact->unit = g_strdup(unit);
    return TRUE;
}

static gboolean
read_class(const LimnJson *json, LimnClassTable *table, GError **error)
{
    gint64 value = 0;
    const char *name = NULL;
    double rgb[3] = {0};
    guint8 bytes[3];
    if (!limn_json_need_int(json, "value", 0, G_MAXUINT32, &value, error) ||
        !limn_json_read_string(json, "name", &name, error) ||
        !limn_json_read_doubles(json, "rgb", rgb, 3, error)) {
        return FALSE;
    }
    for (int c = 0; c < 3; c++) {
        if (!(rgb[c] >= 0 && rgb[c] <= 255)) {
            return limn_json_fail(json, "rgb", error, "is outside 0 to 255");
        }
        bytes[c] = (guint8) rgb[c];
    }
    limn_class_table_add(table, (guint32) value, name, bytes);
    LimnClass *added = NULL;
    for (guint i = 0; i < table->classes->len; i++) {
        LimnClass *class = g_ptr_array_index(table->classes, i);
        added = class->value == (guint32) value ? class : added;
    }
    return limn_json_read_bool(json, "hidden", &added->hidden, error);
}

static gboolean
read_classes(const LimnJson *entry, LimnArtifact *artifact, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(entry, "classes", &list, error)) {
        return FALSE;
    }
    if (list == NULL) {
        return TRUE;
    }
    artifact->classes = limn_class_table_new();
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson class;
        if (!limn_json_need_element(entry, "classes", i, &class, error) ||
            !read_class(&class, artifact->classes, error)) {
            return FALSE;
        }
    }
    return limn_json_read_int(entry, "ignore", 0, G_MAXUINT32,
                              &artifact->classes->ignore_value, error);
}

// ---- kinds

static gboolean
read_rect(const LimnJson *entry, const char *key, json_t *value, LimnRect *rect,
          GError **error)
{
    double v[4];
    for (gsize i = 0; i < 4; i++) {
        json_t *number = json_array_get(value, i);
        if (!json_is_number(number)) {
            return limn_json_fail(entry, key, error, "is not [x, y, width, height]");
        }
        v[i] = json_number_value(number);
        if (!(fabs(v[i]) <= MAX_SIDE) || (i >= 2 && v[i] < 0)) {
            return limn_json_fail(entry, key, error,
                                  "is no part of a picture (expected [x, y, width, "
                                  "height], at most %d each)",
                                  MAX_SIDE);
        }
    }
    *rect = (LimnRect){v[0], v[1], v[2], v[3]};
    return TRUE;
}

static gboolean
read_rects(const LimnJson *entry, LimnArtifact *artifact, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(entry, "rects", &list, error)) {
        return FALSE;
    }
    guint n = artifact->rects != NULL ? artifact->rects->len : 0;
    if (list != NULL && json_array_size(list) != n) {
        return limn_json_fail(entry, "rects", error, "has %zu entries (expected %u)",
                              json_array_size(list), n);
    }
    for (guint i = 0; list != NULL && i < n; i++) {
        if (!read_rect(entry, "rects", json_array_get(list, i),
                       &g_array_index(artifact->rects, LimnRect, i), error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static LimnArray *
load_field(const char *path, GError **error)
{
    g_autoptr(LimnArray) array = limn_npy_load(path, error);
    if (array == NULL) {
        return NULL;
    }
    if (array->rank < 2 || array->rank > 4 || array->shape[array->rank - 1] > MAX_SIDE ||
        array->shape[array->rank - 2] > MAX_SIDE) {
        g_autofree char *shape = limn_array_describe_shape(array);
        limn_error_set_file(
            error, LIMN_ERROR_FORMAT, path,
            "is not a map (found the shape %s, expected [T, height, width])", shape);
        return NULL;
    }
    return limn_array_to_f32(array, error);
}

static gboolean
read_heatmap(LimnArtifactReader *reader, const LimnJson *entry, LimnArtifact *artifact,
             GError **error)
{
    g_autofree char *path = need_file(reader, entry, error);
    if (path == NULL) {
        return FALSE;
    }
    artifact->field = load_field(path, error);
    json_t *rect = NULL;
    if (artifact->field == NULL ||
        !limn_json_read_bool(entry, "signed", &artifact->is_signed, error) ||
        !read_picture(reader, entry, "picture", &artifact->picture, error) ||
        !limn_json_read_array(entry, "rect", &rect, error) ||
        (rect != NULL && !read_rect(entry, "rect", rect, &artifact->rect, error)) ||
        !read_picture(reader, entry, "mask", &artifact->mask, error)) {
        return FALSE;
    }
    return read_classes(entry, artifact, error) &&
           add_picture_list(reader, entry, "pictures", artifact, error) &&
           read_rects(entry, artifact, error);
}

static gboolean
read_picture_files(LimnArtifactReader *reader, const LimnJson *entry,
                   LimnArtifact *artifact, GError **error)
{
    g_autoptr(LimnImage) single = NULL;
    if (!read_picture(reader, entry, "file", &single, error)) {
        return FALSE;
    }
    if (single != NULL) {
        limn_artifact_add_picture(artifact, single, NULL);
    }
    return add_picture_list(reader, entry, "files", artifact, error) &&
           read_classes(entry, artifact, error);
}

static gboolean
read_table(LimnArtifactReader *reader, const LimnJson *entry, LimnArtifact *artifact,
           GError **error)
{
    g_autofree char *path = need_file(reader, entry, error);
    json_t *list = NULL;
    if (path == NULL || !limn_json_read_array(entry, "columns", &list, error)) {
        return FALSE;
    }
    artifact->table = limn_table_new();
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson json;
        const char *name = NULL, *type = NULL, *unit = NULL;
        if (!limn_json_need_element(entry, "columns", i, &json, error) ||
            !limn_json_need_string(&json, "name", &name, error) ||
            !limn_json_need_string(&json, "type", &type, error) ||
            !limn_json_read_string(&json, "unit", &unit, error)) {
            return FALSE;
        }
        LimnColumn *column =
            limn_table_add_column(artifact->table, name, strcmp(type, "number") == 0);
        column->unit = g_strdup(unit);
    }
    return limn_table_from_csv(artifact->table, path, error);
}

static gboolean
read_kind(LimnArtifactReader *reader, const LimnJson *entry, LimnArtifact *artifact,
          GError **error)
{
    if (artifact->kind == LIMN_ARTIFACT_HEATMAP) {
        return read_heatmap(reader, entry, artifact, error);
    }
    if (artifact->kind == LIMN_ARTIFACT_LABELMAP ||
        artifact->kind == LIMN_ARTIFACT_PICTURES) {
        return read_picture_files(reader, entry, artifact, error);
    }
    if (artifact->kind == LIMN_ARTIFACT_TABLE || artifact->kind == LIMN_ARTIFACT_SERIES) {
        return read_table(reader, entry, artifact, error);
    }
    if (artifact->kind == LIMN_ARTIFACT_GRAPH) {
        limn_json_fail(entry, "kind", error, "is a graph, which cannot be read yet");
        return FALSE;
    }
    g_autofree char *path = need_file(reader, entry, error);
    if (path == NULL) {
        return FALSE;
    }
    if (artifact->kind == LIMN_ARTIFACT_TEXT) {
        artifact->texts =
            g_ptr_array_new_with_free_func((GDestroyNotify) limn_text_item_free);
        return limn_artifact_text_from_json(artifact, path, error);
    }
    if (artifact->kind == LIMN_ARTIFACT_ARRAY) {
        artifact->array = limn_npy_load(path, error);
        return artifact->array != NULL;
    }
    artifact->path = g_steal_pointer(&path);
    return TRUE;
}

static gboolean
read_companions(LimnArtifactReader *reader, const LimnJson *entry, LimnArtifact *artifact,
                GError **error)
{
    const json_t *list = json_object_get(entry->value, "companions");
    for (gsize i = 0; i < json_array_size(list); i++) {
        const char *file = json_string_value(json_array_get(list, i));
        if (file == NULL || !limn_companion_name_is_safe(file)) {
            limn_json_fail(entry, "companions", error,
                           "holds what is no name of a file in the folder");
            return FALSE;
        }
        g_autofree char *path = g_build_filename(reader->directory, file, NULL);
        g_autoptr(GBytes) bytes = limn_file_map(path, 0, error);
        if (bytes == NULL) {
            return FALSE;
        }
        limn_artifact_add_companion(artifact, file, bytes);
    }
    return TRUE;
}

LimnArtifact *
limn_artifact_reader_get(LimnArtifactReader *reader, const LimnJson *entry,
                         GError **error)
{
    const char *name = NULL, *kind_name = NULL;
    LimnArtifactKind kind;
    if (!limn_job_check(reader->job, error) ||
        !limn_json_need_string(entry, "name", &name, error) ||
        !limn_json_need_string(entry, "kind", &kind_name, error)) {
        return NULL;
    }
    // Whoever writes the artifact again makes a file name of it.
    if (!limn_companion_name_is_safe(name) || strchr(name, '/') != NULL) {
        limn_json_fail(entry, "name", error,
                       "is '%s' (expected a name that a file can have)", name);
        return NULL;
    }
    if (!limn_artifact_kind_parse(kind_name, &kind)) {
        limn_json_fail(entry, "kind", error, "is '%s', which is no kind of artifact",
                       kind_name);
        return NULL;
    }
    g_autoptr(LimnArtifact) artifact = limn_artifact_new(kind, name);
    if (!read_common(entry, artifact, error) ||
        !read_kind(reader, entry, artifact, error) ||
        !read_companions(reader, entry, artifact, error)) {
        return NULL;
    }
    return g_steal_pointer(&artifact);
}
