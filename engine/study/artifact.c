// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/artifact.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = {
    [LIMN_ARTIFACT_HEATMAP] = "heatmap",   [LIMN_ARTIFACT_LABELMAP] = "labelmap",
    [LIMN_ARTIFACT_PICTURES] = "pictures", [LIMN_ARTIFACT_GRAPH] = "graph",
    [LIMN_ARTIFACT_SERIES] = "series",     [LIMN_ARTIFACT_TABLE] = "table",
    [LIMN_ARTIFACT_TEXT] = "text",         [LIMN_ARTIFACT_ARRAY] = "array",
    [LIMN_ARTIFACT_MODEL] = "model",
};

const char *
limn_artifact_kind_name(LimnArtifactKind kind)
{
    g_return_val_if_fail((guint) kind < G_N_ELEMENTS(kind_names), NULL);
    return kind_names[kind];
}

gboolean
limn_artifact_kind_parse(const char *name, LimnArtifactKind *kind)
{
    for (guint i = 0; i < G_N_ELEMENTS(kind_names); i++) {
        if (g_strcmp0(name, kind_names[i]) == 0) {
            *kind = (LimnArtifactKind) i;
            return TRUE;
        }
    }
    return FALSE;
}

LimnArtifact *
limn_artifact_new(LimnArtifactKind kind, const char *name)
{
    LimnArtifact *artifact = g_new0(LimnArtifact, 1);
    g_atomic_ref_count_init(&artifact->refs);
    artifact->kind = kind;
    artifact->name = g_strdup(name);
    artifact->labels = g_ptr_array_new_with_free_func(g_free);
    return artifact;
}

LimnArtifact *
limn_artifact_new_heatmap(const char *name, LimnArray *field)
{
    g_return_val_if_fail(field->dtype == LIMN_DTYPE_F32, NULL);
    g_return_val_if_fail(field->rank >= 2 && field->rank <= 4, NULL);
    LimnArtifact *artifact = limn_artifact_new(LIMN_ARTIFACT_HEATMAP, name);
    artifact->field = limn_array_ref(field);
    return artifact;
}

LimnArtifact *
limn_artifact_new_text(const char *name)
{
    LimnArtifact *artifact = limn_artifact_new(LIMN_ARTIFACT_TEXT, name);
    artifact->texts =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_text_item_free);
    return artifact;
}

LimnArtifact *
limn_artifact_new_table(const char *name, LimnTable *table)
{
    LimnArtifact *artifact = limn_artifact_new(LIMN_ARTIFACT_TABLE, name);
    artifact->table = table;
    return artifact;
}

LimnArtifact *
limn_artifact_new_series(const char *name, LimnTable *table)
{
    LimnArtifact *artifact = limn_artifact_new(LIMN_ARTIFACT_SERIES, name);
    artifact->table = table;
    return artifact;
}

LimnArtifact *
limn_artifact_new_array(const char *name, LimnArray *array)
{
    LimnArtifact *artifact = limn_artifact_new(LIMN_ARTIFACT_ARRAY, name);
    artifact->array = limn_array_ref(array);
    return artifact;
}

LimnArtifact *
limn_artifact_ref(LimnArtifact *artifact)
{
    g_atomic_ref_count_inc(&artifact->refs);
    return artifact;
}

void
limn_artifact_unref(LimnArtifact *artifact)
{
    if (artifact == NULL || !g_atomic_ref_count_dec(&artifact->refs)) {
        return;
    }
    g_free(artifact->name);
    g_free(artifact->title);
    g_free(artifact->unit);
    g_free(artifact->path);
    g_ptr_array_unref(artifact->labels);
    g_clear_pointer(&artifact->field, limn_array_unref);
    g_clear_pointer(&artifact->array, limn_array_unref);
    g_clear_pointer(&artifact->picture, limn_image_unref);
    g_clear_pointer(&artifact->mask, limn_image_unref);
    g_clear_pointer(&artifact->pictures, g_ptr_array_unref);
    g_clear_pointer(&artifact->rects, g_array_unref);
    g_clear_pointer(&artifact->classes, limn_class_table_free);
    g_clear_pointer(&artifact->table, limn_table_free);
    g_clear_pointer(&artifact->texts, g_ptr_array_unref);
    g_clear_pointer(&artifact->items, g_array_unref);
    g_clear_pointer(&artifact->companions, g_ptr_array_unref);
    g_free(artifact);
}

static void
free_companion(gpointer data)
{
    LimnCompanion *companion = data;
    g_free(companion->file);
    g_bytes_unref(companion->bytes);
    g_free(companion);
}

gboolean
limn_companion_name_is_safe(const char *file)
{
    if (!g_utf8_validate(file, -1, NULL) || strlen(file) > 512) {
        return FALSE;
    }
    g_auto(GStrv) parts = g_strsplit(file, "/", -1);
    for (guint i = 0; parts[i] != NULL; i++) {
        if (*parts[i] == '\0' || *parts[i] == '.') {
            return FALSE;
        }
    }
    return parts[0] != NULL;
}

void
limn_artifact_add_companion(LimnArtifact *artifact, const char *file, GBytes *bytes)
{
    g_return_if_fail(limn_companion_name_is_safe(file));
    if (artifact->companions == NULL) {
        artifact->companions = g_ptr_array_new_with_free_func(free_companion);
    }
    LimnCompanion *companion = g_new0(LimnCompanion, 1);
    companion->file = g_strdup(file);
    companion->bytes = g_bytes_ref(bytes);
    g_ptr_array_add(artifact->companions, companion);
}

void
limn_artifact_add_label(LimnArtifact *artifact, const char *label)
{
    g_ptr_array_add(artifact->labels, g_strdup(label));
}

void
limn_artifact_set_picture(LimnArtifact *artifact, LimnImage *picture,
                          const LimnRect *rect)
{
    if (picture != NULL) {
        limn_image_ref(picture);
    }
    g_clear_pointer(&artifact->picture, limn_image_unref);
    artifact->picture = picture;
    artifact->rect = rect != NULL ? *rect : (LimnRect){0};
}

void
limn_artifact_add_picture(LimnArtifact *artifact, LimnImage *picture,
                          const LimnRect *rect)
{
    if (artifact->pictures == NULL) {
        artifact->pictures =
            g_ptr_array_new_with_free_func((GDestroyNotify) limn_image_unref);
        artifact->rects = g_array_new(FALSE, TRUE, sizeof(LimnRect));
    }
    LimnRect value = rect != NULL ? *rect : (LimnRect){0};
    g_ptr_array_add(artifact->pictures, limn_image_ref(picture));
    g_array_append_val(artifact->rects, value);
}

void
limn_artifact_tag_item(LimnArtifact *artifact, guint64 item, guint64 count)
{
    LimnItemSpan span = {.item = item, .count = count};
    if (artifact->items == NULL) {
        artifact->items = g_array_new(FALSE, FALSE, sizeof(LimnItemSpan));
    }
    g_array_append_val(artifact->items, span);
}

gint64
limn_artifact_n_maps(const LimnArtifact *artifact)
{
    const LimnArray *field = artifact->field;
    if (field == NULL) {
        return 0;
    }
    gint64 n = 1;
    for (int i = 0; i + 2 < field->rank; i++) {
        n *= field->shape[i];
    }
    return n;
}

void
limn_artifact_map_size(const LimnArtifact *artifact, int *height, int *width)
{
    const LimnArray *field = artifact->field;
    *height = field != NULL ? (int) field->shape[field->rank - 2] : 0;
    *width = field != NULL ? (int) field->shape[field->rank - 1] : 0;
}

const float *
limn_artifact_get_map(const LimnArtifact *artifact, gint64 i)
{
    int height, width;
    g_return_val_if_fail(i >= 0 && i < limn_artifact_n_maps(artifact), NULL);
    limn_artifact_map_size(artifact, &height, &width);
    return limn_array_f32(artifact->field) + i * height * width;
}

gboolean
limn_artifact_data_range(const LimnArtifact *artifact, gint64 i, double *min, double *max,
                         gint64 *n_nan)
{
    const LimnArray *values = artifact->field != NULL ? artifact->field : artifact->array;
    gint64 begin = 0, end = values != NULL ? values->length : 0, bad = 0;
    if (i >= 0 && artifact->field != NULL) {
        int height, width;
        limn_artifact_map_size(artifact, &height, &width);
        begin = i * height * width;
        end = MIN(end, begin + (gint64) height * width);
    }
    double low = INFINITY, high = -INFINITY;
    for (gint64 k = begin; k < end; k++) {
        double value = limn_array_get_double(values, k);
        if (!isfinite(value)) {
            bad++;
            continue;
        }
        low = MIN(low, value);
        high = MAX(high, value);
    }
    if (n_nan != NULL) {
        *n_nan = bad;
    }
    if (low > high) {
        return FALSE;
    }
    *min = low;
    *max = high;
    return TRUE;
}

// ---- text

static void
clear_token(gpointer data)
{
    g_free(((LimnTextToken *) data)->piece);
}

LimnTextItem *
limn_text_item_new(const char *text)
{
    LimnTextItem *item = g_new0(LimnTextItem, 1);
    item->text = g_strdup(text);
    item->used_bytes = strlen(text);
    item->tokens = g_array_new(FALSE, TRUE, sizeof(LimnTextToken));
    g_array_set_clear_func(item->tokens, clear_token);
    item->words = g_array_new(FALSE, TRUE, sizeof(LimnTextWord));
    return item;
}

void
limn_text_item_free(LimnTextItem *item)
{
    if (item == NULL) {
        return;
    }
    g_free(item->text);
    g_array_unref(item->tokens);
    g_array_unref(item->words);
    g_free(item);
}

// ---- tables

static void
column_free(LimnColumn *column)
{
    g_free(column->name);
    g_free(column->unit);
    g_clear_pointer(&column->numbers, g_array_unref);
    g_clear_pointer(&column->strings, g_ptr_array_unref);
    g_free(column);
}

LimnTable *
limn_table_new(void)
{
    LimnTable *table = g_new0(LimnTable, 1);
    table->columns = g_ptr_array_new_with_free_func((GDestroyNotify) column_free);
    return table;
}

void
limn_table_free(LimnTable *table)
{
    if (table == NULL) {
        return;
    }
    g_ptr_array_unref(table->columns);
    g_free(table);
}

LimnColumn *
limn_table_add_column(LimnTable *table, const char *name, gboolean numeric)
{
    LimnColumn *column = g_new0(LimnColumn, 1);
    column->name = g_strdup(name);
    column->numeric = numeric;
    if (numeric) {
        column->numbers = g_array_new(FALSE, FALSE, sizeof(double));
    } else {
        column->strings = g_ptr_array_new_with_free_func(g_free);
    }
    g_ptr_array_add(table->columns, column);
    return column;
}

void
limn_column_add_number(LimnColumn *column, double value)
{
    g_return_if_fail(column->numeric);
    g_array_append_val(column->numbers, value);
}

void
limn_column_add_string(LimnColumn *column, const char *value)
{
    g_return_if_fail(!column->numeric);
    g_ptr_array_add(column->strings, g_strdup(value));
}

guint
limn_table_n_rows(const LimnTable *table)
{
    guint n = 0;
    for (guint i = 0; i < table->columns->len; i++) {
        const LimnColumn *column = g_ptr_array_index(table->columns, i);
        n = MAX(n, column->numeric ? column->numbers->len : column->strings->len);
    }
    return n;
}

// ---- class tables

static void
class_free(LimnClass *class)
{
    g_free(class->name);
    g_free(class);
}

LimnClassTable *
limn_class_table_new(void)
{
    LimnClassTable *table = g_new0(LimnClassTable, 1);
    table->classes = g_ptr_array_new_with_free_func((GDestroyNotify) class_free);
    table->ignore_value = -1;
    return table;
}

void
limn_class_table_free(LimnClassTable *table)
{
    if (table == NULL) {
        return;
    }
    g_ptr_array_unref(table->classes);
    g_free(table);
}

void
limn_class_table_add(LimnClassTable *table, guint32 value, const char *name,
                     const guint8 rgb[3])
{
    LimnClass *class = g_new0(LimnClass, 1);
    class->value = value;
    class->name = g_strdup(name);
    memcpy(class->rgb, rgb, 3);
    guint at = table->classes->len;
    while (at > 0 &&
           ((LimnClass *) g_ptr_array_index(table->classes, at - 1))->value > value) {
        at--;
    }
    g_ptr_array_insert(table->classes, (int) at, class);
}
