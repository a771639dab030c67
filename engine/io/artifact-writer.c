// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/artifact-files.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/npy.h"
#include "engine/io/picture.h"

#include <math.h>
#include <string.h>

struct LimnArtifactWriter {
    char *directory;
    char *shown_directory;
    LimnJob *job;
    GPtrArray *files;     // names in order of writing
    GHashTable *taken;    // the same as a set; borrows
    GHashTable *pictures; // LimnImage -> file name; borrows both
};

LimnArtifactWriter *
limn_artifact_writer_new(const char *directory, const char *shown_directory, LimnJob *job)
{
    LimnArtifactWriter *writer = g_new0(LimnArtifactWriter, 1);
    writer->directory = g_strdup(directory);
    writer->shown_directory = g_strdup(shown_directory);
    writer->job = job;
    writer->files = g_ptr_array_new_with_free_func(g_free);
    writer->taken = g_hash_table_new(g_str_hash, g_str_equal);
    writer->pictures = g_hash_table_new(NULL, NULL);
    return writer;
}

void
limn_artifact_writer_free(LimnArtifactWriter *writer)
{
    if (writer == NULL) {
        return;
    }
    g_hash_table_unref(writer->taken);
    g_hash_table_unref(writer->pictures);
    g_ptr_array_unref(writer->files);
    g_free(writer->directory);
    g_free(writer->shown_directory);
    g_free(writer);
}

GPtrArray *
limn_artifact_writer_get_files(LimnArtifactWriter *writer)
{
    return writer->files;
}

// What went wrong below the temporary folder is told for the place that was asked for.
static gboolean
propagate_shown(LimnArtifactWriter *writer, const char *path, const char *file,
                GError *local, GError **error)
{
    g_autofree char *shown = limn_display_path(path);
    g_autofree char *target = g_build_filename(writer->shown_directory, file, NULL);
    const char *message = local->message;
    if (g_str_has_prefix(message, shown)) {
        message += strlen(shown);
        message += strspn(message, ": ");
    }
    limn_error_set_file(error, local->code, target, "%s", message);
    g_error_free(local);
    return FALSE;
}

gboolean
limn_artifact_writer_put(LimnArtifactWriter *writer, const char *file, const void *data,
                         gsize size, GError **error)
{
    if (!limn_job_check(writer->job, error)) {
        return FALSE;
    }
    GError *local = NULL;
    g_autofree char *path = g_build_filename(writer->directory, file, NULL);
    if (!limn_file_write(path, data, size, &local)) {
        return propagate_shown(writer, path, file, local, error);
    }
    char *name = g_strdup(file);
    g_ptr_array_add(writer->files, name);
    g_hash_table_add(writer->taken, name);
    return TRUE;
}

static gboolean
put_bytes(LimnArtifactWriter *writer, const char *file, GBytes *bytes, GError **error)
{
    gsize size = 0;
    const void *data = g_bytes_get_data(bytes, &size);
    return limn_artifact_writer_put(writer, file, data, size, error);
}

// STEM.EXT, or STEM-2.EXT, ... when another artifact has that file.
static char *
free_name(LimnArtifactWriter *writer, const char *stem, const char *extension)
{
    char *name = g_strconcat(stem, extension, NULL);
    for (guint i = 2; g_hash_table_contains(writer->taken, name); i++) {
        g_free(name);
        name = g_strdup_printf("%s-%u%s", stem, i, extension);
    }
    return name;
}

// ---- pictures

// A picture as a PNG can hold it. Deeper samples are brought to 8 bits for the eye; the
// numbers themselves are in the file that the study names as its input.
static LimnImage *
picture_for_png(LimnImage *image, GError **error)
{
    if (image->depth == LIMN_DEPTH_F32 || image->depth == LIMN_DEPTH_U32) {
        return limn_image_to_rgba8(image, limn_image_default_range(image), error);
    }
    return limn_image_ref(image);
}

static const char *
put_picture(LimnArtifactWriter *writer, LimnImage *image, const char *stem,
            GError **error)
{
    const char *known = g_hash_table_lookup(writer->pictures, image);
    if (known != NULL) {
        return known;
    }
    g_autoptr(LimnImage) storable = picture_for_png(image, error);
    g_autoptr(GBytes) bytes = storable != NULL ? limn_png_encode(storable, error) : NULL;
    if (bytes == NULL) {
        return NULL;
    }
    g_autofree char *name = free_name(writer, stem, ".png");
    if (!put_bytes(writer, name, bytes, error)) {
        return NULL;
    }
    const char *kept = g_ptr_array_index(writer->files, writer->files->len - 1);
    g_hash_table_insert(writer->pictures, image, (gpointer) (gintptr) kept);
    return kept;
}

// The palette of the PASCAL VOC label maps: the bits of the class number spread over the
// three channels.
static void
voc_colour(guint value, guint8 rgba[4])
{
    rgba[0] = rgba[1] = rgba[2] = 0;
    rgba[3] = 255;
    for (int shift = 7; shift >= 0 && value != 0; shift--, value >>= 3) {
        rgba[0] |= (guint8) ((value & 1) << shift);
        rgba[1] |= (guint8) ((value >> 1 & 1) << shift);
        rgba[2] |= (guint8) ((value >> 2 & 1) << shift);
    }
}

// A grey label map of 8 bits becomes an indexed one with the colours of its classes.
static LimnImage *
labels_to_indexed(LimnImage *image, const LimnClassTable *classes, GError **error)
{
    if (image->pixels != LIMN_PIXELS_GREY || image->depth != LIMN_DEPTH_U8) {
        return limn_image_ref(image);
    }
    LimnImage *indexed = limn_image_new(image->width, image->height, LIMN_PIXELS_INDEXED,
                                        LIMN_DEPTH_U8, error);
    if (indexed == NULL) {
        return NULL;
    }
    memcpy(indexed->data, image->data, limn_image_stride(image) * (gsize) image->height);
    indexed->bits = 8;
    indexed->n_palette = 256;
    for (guint i = 0; i < 256; i++) {
        voc_colour(i, indexed->palette[i]);
    }
    for (guint i = 0; classes != NULL && i < classes->classes->len; i++) {
        const LimnClass *class = g_ptr_array_index(classes->classes, i);
        if (class->value < 256) {
            memcpy(indexed->palette[class->value], class->rgb, 3);
        }
    }
    return indexed;
}

static gboolean
exceeds_png(LimnImage *image)
{
    double min, max;
    return image->depth == LIMN_DEPTH_U32 && limn_image_range(image, &min, &max) &&
           max > 65535;
}

// NAME.npy for ids that no PNG can hold.
static char *
put_large_labels(LimnArtifactWriter *writer, LimnImage *image, const char *stem,
                 GError **error)
{
    gint64 shape[2] = {image->height, image->width};
    g_autoptr(LimnArray) array = limn_array_new(LIMN_DTYPE_U32, 2, shape, error);
    if (array == NULL) {
        return NULL;
    }
    memcpy(array->data, image->data, (gsize) array->length * 4);
    g_autoptr(GBytes) bytes = limn_npy_encode(array, error);
    g_autofree char *name = free_name(writer, stem, ".npy");
    if (bytes == NULL || !put_bytes(writer, name, bytes, error)) {
        return NULL;
    }
    return g_steal_pointer(&name);
}

static char *
put_labels(LimnArtifactWriter *writer, LimnImage *image, const char *stem,
           const LimnClassTable *classes, GError **error)
{
    if (exceeds_png(image)) {
        return put_large_labels(writer, image, stem, error);
    }
    g_autoptr(LimnImage) indexed = labels_to_indexed(image, classes, error);
    g_autoptr(GBytes) bytes = indexed != NULL ? limn_png_encode(indexed, error) : NULL;
    g_autofree char *name = free_name(writer, stem, ".png");
    if (bytes == NULL || !put_bytes(writer, name, bytes, error)) {
        return NULL;
    }
    return g_steal_pointer(&name);
}

// ---- entries

static void
write_rect(LimnJsonWriter *json, const char *key, const LimnRect *rect)
{
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, key);
    limn_json_writer_double(json, NULL, rect->x);
    limn_json_writer_double(json, NULL, rect->y);
    limn_json_writer_double(json, NULL, rect->width);
    limn_json_writer_double(json, NULL, rect->height);
    limn_json_writer_end_array(json);
}

static void
write_classes(LimnJsonWriter *json, const LimnClassTable *table)
{
    limn_json_writer_begin_array(json, "classes");
    for (guint i = 0; i < table->classes->len; i++) {
        const LimnClass *class = g_ptr_array_index(table->classes, i);
        limn_json_writer_inline(json);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_uint(json, "value", class->value);
        limn_json_writer_string(json, "name", class->name);
        limn_json_writer_begin_array(json, "rgb");
        for (int c = 0; c < 3; c++) {
            limn_json_writer_int(json, NULL, class->rgb[c]);
        }
        limn_json_writer_end_array(json);
        if (class->hidden) {
            limn_json_writer_bool(json, "hidden", TRUE);
        }
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    if (table->ignore_value >= 0) {
        limn_json_writer_int(json, "ignore", table->ignore_value);
    }
}

static void
write_labels(LimnJsonWriter *json, const LimnArtifact *artifact)
{
    limn_json_writer_begin_array(json, "labels");
    for (guint i = 0; i < artifact->labels->len; i++) {
        limn_json_writer_string(json, NULL, g_ptr_array_index(artifact->labels, i));
    }
    limn_json_writer_end_array(json);
}

static void
write_range(LimnJsonWriter *json, const LimnArtifact *artifact)
{
    double range[2];
    gint64 n_bad = 0;
    gboolean has = limn_artifact_data_range(artifact, -1, &range[0], &range[1], &n_bad);
    if (artifact->has_range) {
        memcpy(range, artifact->range, sizeof range);
        has = TRUE;
    }
    if (!has) {
        limn_json_writer_null(json, "range");
    } else {
        limn_json_writer_inline(json);
        limn_json_writer_begin_array(json, "range");
        limn_json_writer_double(json, NULL, range[0]);
        limn_json_writer_double(json, NULL, range[1]);
        limn_json_writer_end_array(json);
    }
    if (artifact->has_range) {
        limn_json_writer_bool(json, "fixed_range", TRUE);
    }
    if (n_bad > 0) {
        limn_json_writer_int(json, "non_finite", n_bad);
    }
}

static void
write_shape(LimnJsonWriter *json, const LimnArray *array)
{
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, "shape");
    for (int i = 0; i < array->rank; i++) {
        limn_json_writer_int(json, NULL, array->shape[i]);
    }
    limn_json_writer_end_array(json);
}

static void
write_items(LimnJsonWriter *json, const LimnArtifact *artifact)
{
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, "items");
    for (guint i = 0; i < artifact->items->len; i++) {
        const LimnItemSpan *span = &g_array_index(artifact->items, LimnItemSpan, i);
        limn_json_writer_begin_array(json, NULL);
        limn_json_writer_uint(json, NULL, span->item);
        limn_json_writer_uint(json, NULL, span->count);
        limn_json_writer_end_array(json);
    }
    limn_json_writer_end_array(json);
}

// What every kind has, after the name of its file.
static void
write_common(LimnJsonWriter *json, const LimnArtifact *artifact)
{
    if (artifact->title != NULL) {
        limn_json_writer_string(json, "title", artifact->title);
    }
    write_labels(json, artifact);
    limn_json_writer_string(json, "unit", artifact->unit);
    write_range(json, artifact);
    if (artifact->items != NULL) {
        write_items(json, artifact);
    }
}

// ---- kinds

// The pictures of a heatmap over several, and their rectangles.
static gboolean
add_pictures(LimnArtifactWriter *writer, const LimnArtifact *artifact,
             LimnJsonWriter *json, GError **error)
{
    limn_json_writer_begin_array(json, "pictures");
    for (guint i = 0; i < artifact->pictures->len; i++) {
        g_autofree char *stem = g_strdup_printf("picture-%04u", i + 1);
        const char *file =
            put_picture(writer, g_ptr_array_index(artifact->pictures, i), stem, error);
        if (file == NULL) {
            return FALSE;
        }
        limn_json_writer_string(json, NULL, file);
    }
    limn_json_writer_end_array(json);
    limn_json_writer_begin_array(json, "rects");
    for (guint i = 0; i < artifact->rects->len; i++) {
        write_rect(json, NULL, &g_array_index(artifact->rects, LimnRect, i));
    }
    limn_json_writer_end_array(json);
    return TRUE;
}

static gboolean
add_heatmap(LimnArtifactWriter *writer, const LimnArtifact *artifact,
            LimnJsonWriter *json, GError **error)
{
    g_autoptr(GBytes) bytes = limn_npy_encode(artifact->field, error);
    g_autofree char *name = free_name(writer, artifact->name, ".npy");
    if (bytes == NULL || !put_bytes(writer, name, bytes, error)) {
        return FALSE;
    }
    limn_json_writer_string(json, "file", name);
    write_common(json, artifact);
    write_shape(json, artifact->field);
    limn_json_writer_bool(json, "signed", artifact->is_signed);
    if (artifact->picture != NULL) {
        const char *file = put_picture(writer, artifact->picture, "picture", error);
        if (file == NULL) {
            return FALSE;
        }
        limn_json_writer_string(json, "picture", file);
    }
    if (artifact->rect.width > 0) {
        write_rect(json, "rect", &artifact->rect);
    }
    if (artifact->mask != NULL) {
        const char *known = g_hash_table_lookup(writer->pictures, artifact->mask);
        g_autofree char *file = known != NULL ? g_strdup(known)
                                              : put_labels(writer, artifact->mask, "mask",
                                                           artifact->classes, error);
        if (file == NULL) {
            return FALSE;
        }
        if (known == NULL) {
            gpointer kept = g_ptr_array_index(writer->files, writer->files->len - 1);
            g_hash_table_insert(writer->pictures, artifact->mask, kept);
        }
        limn_json_writer_string(json, "mask", file);
    }
    if (artifact->classes != NULL) {
        write_classes(json, artifact->classes);
    }
    return artifact->pictures == NULL || add_pictures(writer, artifact, json, error);
}

// PICTURES and LABELMAP: one file is "file", several are "files".
static gboolean
add_picture_files(LimnArtifactWriter *writer, const LimnArtifact *artifact,
                  LimnJsonWriter *json, GError **error)
{
    guint n = artifact->pictures != NULL ? artifact->pictures->len : 0;
    if (n != 1) {
        limn_json_writer_begin_array(json, "files");
    }
    for (guint i = 0; i < n; i++) {
        LimnImage *image = g_ptr_array_index(artifact->pictures, i);
        g_autofree char *stem = n == 1
                                    ? g_strdup(artifact->name)
                                    : g_strdup_printf("%s-%04u", artifact->name, i + 1);
        g_autofree char *file =
            artifact->kind == LIMN_ARTIFACT_LABELMAP
                ? put_labels(writer, image, stem, artifact->classes, error)
                : g_strdup(put_picture(writer, image, stem, error));
        if (file == NULL) {
            return FALSE;
        }
        limn_json_writer_string(json, n == 1 ? "file" : NULL, file);
    }
    if (n != 1) {
        limn_json_writer_end_array(json);
    }
    write_common(json, artifact);
    if (artifact->classes != NULL) {
        write_classes(json, artifact->classes);
    }
    return TRUE;
}

static gboolean
add_table(LimnArtifactWriter *writer, const LimnArtifact *artifact, LimnJsonWriter *json,
          GError **error)
{
    g_autofree char *csv = limn_table_to_csv(artifact->table);
    g_autofree char *name = free_name(writer, artifact->name, ".csv");
    if (!limn_artifact_writer_put(writer, name, csv, strlen(csv), error)) {
        return FALSE;
    }
    limn_json_writer_string(json, "file", name);
    write_common(json, artifact);
    limn_json_writer_begin_array(json, "columns");
    for (guint i = 0; i < artifact->table->columns->len; i++) {
        const LimnColumn *column = g_ptr_array_index(artifact->table->columns, i);
        limn_json_writer_inline(json);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_string(json, "name", column->name);
        limn_json_writer_string(json, "type", column->numeric ? "number" : "text");
        if (column->unit != NULL) {
            limn_json_writer_string(json, "unit", column->unit);
        }
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    limn_json_writer_uint(json, "rows", limn_table_n_rows(artifact->table));
    return TRUE;
}

static gboolean
add_text(LimnArtifactWriter *writer, const LimnArtifact *artifact, LimnJsonWriter *json,
         GError **error)
{
    g_autofree char *text = limn_artifact_text_to_json(artifact);
    g_autofree char *name = free_name(writer, artifact->name, ".json");
    if (!limn_artifact_writer_put(writer, name, text, strlen(text), error)) {
        return FALSE;
    }
    limn_json_writer_string(json, "file", name);
    write_common(json, artifact);
    return TRUE;
}

static gboolean
is_float(LimnDType dtype)
{
    return dtype == LIMN_DTYPE_F64 || dtype == LIMN_DTYPE_F16 || dtype == LIMN_DTYPE_BF16;
}

static gboolean
add_array(LimnArtifactWriter *writer, const LimnArtifact *artifact, LimnJsonWriter *json,
          GError **error)
{
    g_autoptr(LimnArray) array = is_float(artifact->array->dtype)
                                     ? limn_array_to_f32(artifact->array, error)
                                     : limn_array_ref(artifact->array);
    g_autoptr(GBytes) bytes = array != NULL ? limn_npy_encode(array, error) : NULL;
    g_autofree char *name = free_name(writer, artifact->name, ".npy");
    if (bytes == NULL || !put_bytes(writer, name, bytes, error)) {
        return FALSE;
    }
    limn_json_writer_string(json, "file", name);
    write_common(json, artifact);
    write_shape(json, array);
    return TRUE;
}

static gboolean
add_model(LimnArtifactWriter *writer, const LimnArtifact *artifact, LimnJsonWriter *json,
          GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_map(artifact->path, 0, error);
    g_autofree char *name = free_name(writer, artifact->name, ".safetensors");
    if (bytes == NULL || !put_bytes(writer, name, bytes, error)) {
        return FALSE;
    }
    limn_json_writer_string(json, "file", name);
    write_common(json, artifact);
    return TRUE;
}

// Further files, each under its own name; two artifacts may not claim the same one.
static gboolean
add_companions(LimnArtifactWriter *writer, const LimnArtifact *artifact,
               LimnJsonWriter *json, GError **error)
{
    limn_json_writer_begin_array(json, "companions");
    for (guint i = 0; i < artifact->companions->len; i++) {
        const LimnCompanion *companion = artifact->companions->pdata[i];
        g_autofree char *path =
            g_build_filename(writer->directory, companion->file, NULL);
        g_autofree char *folder = g_path_get_dirname(path);
        if (g_hash_table_contains(writer->taken, companion->file)) {
            return limn_error_set_file(error, LIMN_ERROR_FAILED, companion->file,
                                       "two artifacts write this file");
        }
        if (!limn_make_directory(folder, error) ||
            !put_bytes(writer, companion->file, companion->bytes, error)) {
            return FALSE;
        }
        limn_json_writer_string(json, NULL, companion->file);
    }
    limn_json_writer_end_array(json);
    return TRUE;
}

gboolean
limn_artifact_writer_add(LimnArtifactWriter *writer, LimnArtifact *artifact,
                         LimnJsonWriter *json, GError **error)
{
    gboolean good = FALSE;
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "name", artifact->name);
    limn_json_writer_string(json, "kind", limn_artifact_kind_name(artifact->kind));
    switch (artifact->kind) {
    case LIMN_ARTIFACT_HEATMAP:
        good = add_heatmap(writer, artifact, json, error);
        break;
    case LIMN_ARTIFACT_LABELMAP:
    case LIMN_ARTIFACT_PICTURES:
        good = add_picture_files(writer, artifact, json, error);
        break;
    case LIMN_ARTIFACT_SERIES:
    case LIMN_ARTIFACT_TABLE:
        good = add_table(writer, artifact, json, error);
        break;
    case LIMN_ARTIFACT_TEXT:
        good = add_text(writer, artifact, json, error);
        break;
    case LIMN_ARTIFACT_ARRAY:
        good = add_array(writer, artifact, json, error);
        break;
    case LIMN_ARTIFACT_MODEL:
        good = add_model(writer, artifact, json, error);
        break;
    case LIMN_ARTIFACT_GRAPH:
        limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, artifact->name,
                            "graphs cannot be written to a study folder");
        break;
    }
    if (good && artifact->companions != NULL) {
        good = add_companions(writer, artifact, json, error);
    }
    limn_json_writer_end_object(json);
    return good;
}
