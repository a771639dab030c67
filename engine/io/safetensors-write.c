// SPDX-License-Identifier: GPL-3.0-or-later
// The writer of safetensors files: the same bytes for the same input.
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/safetensors-header.h"
#include "engine/io/safetensors.h"

static void
append_string(GString *json, const char *text)
{
    g_string_append_c(json, '"');
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '"' || *p == '\\')
            g_string_append_printf(json, "\\%c", *p);
        else if ((guchar) *p < 0x20)
            g_string_append_printf(json, "\\u%04x", (guint) (guchar) *p);
        else
            g_string_append_c(json, *p);
    }
    g_string_append_c(json, '"');
}

static gboolean
check_text(const char *path, const char *what, const char *text, GError **error)
{
    if (g_utf8_validate(text, -1, NULL))
        return TRUE;
    g_autofree char *shown = g_utf8_make_valid(text, -1);
    return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, path,
                               "%s \"%s\" is not valid UTF-8", what, shown);
}

static gboolean
append_metadata(GString *json, const char *path, const char *const *metadata,
                GError **error)
{
    g_string_append(json, "\"__metadata__\":{");
    for (gsize i = 0; metadata[i] != NULL && metadata[i + 1] != NULL; i += 2) {
        if (!check_text(path, "metadata", metadata[i], error) ||
            !check_text(path, "metadata", metadata[i + 1], error))
            return FALSE;
        if (i > 0)
            g_string_append_c(json, ',');
        append_string(json, metadata[i]);
        g_string_append_c(json, ':');
        append_string(json, metadata[i + 1]);
    }
    g_string_append_c(json, '}');
    return TRUE;
}

static guint64
byte_size(const LimnArray *array)
{
    return (guint64) array->length * limn_dtype_size(array->dtype);
}

static void
append_entry(GString *json, const LimnTensorEntry *entry, guint64 begin)
{
    const LimnArray *array = entry->array;
    append_string(json, entry->name);
    g_string_append_printf(json, ":{\"dtype\":\"%s\",\"shape\":[",
                           limn_safetensors_dtype_name(array->dtype));
    for (int d = 0; d < array->rank; d++)
        g_string_append_printf(json, "%s%" G_GINT64_FORMAT, d > 0 ? "," : "",
                               array->shape[d]);
    g_string_append_printf(
        json, "],\"data_offsets\":[%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT "]}", begin,
        begin + byte_size(array));
}

static gboolean
check_entry(const char *path, const LimnTensorEntry *entry, GHashTable *names,
            GError **error)
{
    if (!check_text(path, "the tensor name", entry->name, error))
        return FALSE;
    if (strcmp(entry->name, "__metadata__") == 0 ||
        !g_hash_table_add(names, (gpointer) (guintptr) entry->name))
        return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, path,
                                   "a tensor cannot be named \"%s\" (again)",
                                   entry->name);
    if (limn_safetensors_dtype_name(entry->array->dtype) == NULL)
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, path,
                                   "tensor \"%s\" has element type %s, which safetensors "
                                   "cannot hold",
                                   entry->name, limn_dtype_name(entry->array->dtype));
    return TRUE;
}

// Length and header; NULL on error.
static GString *
format_header(const char *path, const LimnTensorEntry *entries, gsize n,
              const char *const *metadata, GError **error)
{
    g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GString) json = g_string_new("????????{");
    guint64 offset = 0;
    gboolean has_metadata = metadata != NULL && metadata[0] != NULL;
    if (has_metadata && !append_metadata(json, path, metadata, error))
        return NULL;
    for (gsize i = 0; i < n; i++) {
        if (!check_entry(path, &entries[i], names, error))
            return NULL;
        if (i > 0 || has_metadata)
            g_string_append_c(json, ',');
        append_entry(json, &entries[i], offset);
        offset += byte_size(entries[i].array);
    }
    g_string_append_c(json, '}');
    while (json->len % 8 != 0)
        g_string_append_c(json, ' ');
    guint64 length = json->len - 8;
    if (length > LIMN_SAFETENSORS_MAX_HEADER) {
        limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, path,
                            "the header would have %" G_GUINT64_FORMAT
                            " bytes (expected at most %d)",
                            length, LIMN_SAFETENSORS_MAX_HEADER);
        return NULL;
    }
    for (int i = 0; i < 8; i++)
        json->str[i] = (char) (length >> (8 * i) & 0xff);
    return g_steal_pointer(&json);
}

gboolean
limn_safetensors_save(const char *path, const LimnTensorEntry *entries, gsize n,
                      const char *const *metadata, GError **error)
{
    g_autoptr(GString) header = format_header(path, entries, n, metadata, error);
    if (header == NULL)
        return FALSE;
    g_autoptr(LimnFileWriter) writer = limn_file_writer_new(path, error);
    if (writer == NULL ||
        !limn_file_writer_write(writer, header->str, header->len, error))
        return FALSE;
    for (gsize i = 0; i < n; i++)
        if (!limn_file_writer_write(writer, entries[i].array->data,
                                    byte_size(entries[i].array), error))
            return FALSE;
    return limn_file_writer_commit(writer, error);
}
