// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/safetensors-header.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/json-scan.h"

typedef struct {
    LimnJsonScan scan;
    LimnSafetensorsHeader *header;
    const char *name, *display;
    GString *text;   // string scanned last
    GString *tensor; // name of the tensor being read
    gboolean has_metadata;
} Reader;

static const struct {
    const char *name;
    LimnDType dtype;
} TYPES[] = {
    {"F32", LIMN_DTYPE_F32}, {"F16", LIMN_DTYPE_F16},   {"BF16", LIMN_DTYPE_BF16},
    {"F64", LIMN_DTYPE_F64}, {"BOOL", LIMN_DTYPE_BOOL}, {"I8", LIMN_DTYPE_I8},
    {"U8", LIMN_DTYPE_U8},   {"I16", LIMN_DTYPE_I16},   {"U16", LIMN_DTYPE_U16},
    {"I32", LIMN_DTYPE_I32}, {"U32", LIMN_DTYPE_U32},   {"I64", LIMN_DTYPE_I64},
    {"U64", LIMN_DTYPE_U64},
};

const char *
limn_safetensors_dtype_name(LimnDType dtype)
{
    for (gsize i = 0; i < G_N_ELEMENTS(TYPES); i++)
        if (TYPES[i].dtype == dtype)
            return TYPES[i].name;
    return NULL;
}

void
limn_safetensors_header_free(LimnSafetensorsHeader *header)
{
    if (header == NULL)
        return;
    g_clear_pointer(&header->records, g_array_unref);
    g_clear_pointer(&header->names, g_string_chunk_free);
    g_clear_pointer(&header->index, limn_string_index_free);
    g_clear_pointer(&header->metadata, g_hash_table_unref);
    g_free(header);
}

static const LimnTensorRecord *
get_record(const LimnSafetensorsHeader *header, guint32 i)
{
    return &g_array_index(header->records, LimnTensorRecord, i);
}

static const char *
name_at(guint32 i, gsize *length, gconstpointer data)
{
    const char *name = get_record(data, i)->info.name;
    *length = strlen(name);
    return name;
}

static LimnSafetensorsHeader *
header_new(void)
{
    LimnSafetensorsHeader *header = g_new0(LimnSafetensorsHeader, 1);
    header->records = g_array_new(FALSE, FALSE, sizeof(LimnTensorRecord));
    header->names = g_string_chunk_new(4096);
    header->index = limn_string_index_new(name_at, header, 0);
    header->metadata = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return header;
}

// "FILE: tensor "NAME": message". Returns FALSE.
static gboolean G_GNUC_PRINTF(4, 5) fail_tensor(const Reader *reader, const char *tensor,
                                                GError **error, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, reader->name,
                               "tensor \"%s\": %s", tensor, message);
}

static gboolean
read_dtype(Reader *reader, LimnTensorRecord *record, GError **error)
{
    if (!limn_json_scan_string(&reader->scan, reader->text, error))
        return FALSE;
    const char *found = reader->text->str;
    for (gsize i = 0; i < G_N_ELEMENTS(TYPES); i++)
        if (strcmp(found, TYPES[i].name) == 0) {
            record->info.dtype = TYPES[i].dtype;
            return TRUE;
        }
    gboolean known = g_str_has_prefix(found, "F8_") || g_str_has_prefix(found, "F4") ||
                     g_str_has_prefix(found, "F6_") || g_str_has_prefix(found, "C64");
    return limn_error_set_file(error, known ? LIMN_ERROR_UNSUPPORTED : LIMN_ERROR_FORMAT,
                               reader->name,
                               "tensor \"%s\": element type %.20s is not supported "
                               "(expected F64, F32, F16, BF16, "
                               "BOOL or integers of 8 to 64 bits)",
                               reader->tensor->str, found);
}

static gboolean
read_shape(Reader *reader, LimnTensorRecord *record, GError **error)
{
    GError *failed = NULL;
    gboolean first = TRUE;
    if (!limn_json_scan_expect(&reader->scan, '[', error))
        return FALSE;
    while (limn_json_scan_more(&reader->scan, ']', &first, &failed)) {
        gint64 size = 0;
        if (!limn_json_scan_size(&reader->scan, &size, error))
            return FALSE;
        if (record->info.rank == LIMN_ARRAY_MAX_RANK)
            return limn_error_set_file(
                error, LIMN_ERROR_UNSUPPORTED, reader->name,
                "tensor \"%s\" has more than %d dimensions, which is not supported",
                reader->tensor->str, LIMN_ARRAY_MAX_RANK);
        record->info.shape[record->info.rank++] = size;
    }
    for (int i = record->info.rank; i < LIMN_ARRAY_MAX_RANK; i++)
        record->info.shape[i] = 1;
    if (failed != NULL)
        g_propagate_error(error, failed);
    return failed == NULL;
}

static gboolean
read_offsets(Reader *reader, LimnTensorRecord *record, GError **error)
{
    gint64 begin = 0, end = 0;
    LimnJsonScan *scan = &reader->scan;
    if (!limn_json_scan_expect(scan, '[', error) ||
        !limn_json_scan_size(scan, &begin, error) ||
        !limn_json_scan_expect(scan, ',', error) ||
        !limn_json_scan_size(scan, &end, error) ||
        !limn_json_scan_expect(scan, ']', error))
        return FALSE;
    record->begin = begin;
    record->end = end;
    return TRUE;
}

// Offsets against shape and type.
static gboolean
check_record(const Reader *reader, const LimnTensorRecord *record, GError **error)
{
    const LimnTensorInfo *info = &record->info;
    gsize element = limn_dtype_size(info->dtype);
    gint64 length;
    g_autofree char *shape = NULL;
    if (record->begin > record->end)
        return fail_tensor(reader, info->name, error,
                           "its data begin at %" G_GUINT64_FORMAT
                           " and end before that, at %" G_GUINT64_FORMAT,
                           record->begin, record->end);
    gboolean fits = limn_shape_length(info->rank, info->shape, element, &length);
    if (fits && (guint64) length * element == record->end - record->begin)
        return TRUE;
    shape = limn_shape_describe(info->rank, info->shape);
    if (!fits)
        return fail_tensor(reader, info->name, error,
                           "shape %s is larger than any memory", shape);
    return fail_tensor(reader, info->name, error,
                       "shape %s of %s takes %" G_GUINT64_FORMAT
                       " bytes, but its data_offsets span %" G_GUINT64_FORMAT,
                       shape, limn_safetensors_dtype_name(info->dtype),
                       (guint64) length * element, record->end - record->begin);
}

// Takes the record in under the name in reader->tensor, which is copied.
static gboolean
add_record(Reader *reader, LimnTensorRecord *record, GError **error)
{
    LimnSafetensorsHeader *header = reader->header;
    const GString *name = reader->tensor;
    guint32 number = header->records->len;
    if (limn_string_index_find(header->index, name->str, name->len) !=
        LIMN_STRING_NOT_FOUND)
        return fail_tensor(reader, name->str, error,
                           "the header names it twice (expected every name once)");
    record->info.name =
        g_string_chunk_insert_len(header->names, name->str, (gssize) name->len);
    g_array_append_val(header->records, *record);
    limn_string_index_add(header->index, name->str, name->len, number);
    return TRUE;
}

// The object of one tensor; its name is in reader->tensor.
static gboolean
read_tensor(Reader *reader, GError **error)
{
    static const char *const KEYS[] = {"dtype", "shape", "data_offsets"};
    GError *failed = NULL;
    gboolean seen[3] = {FALSE, FALSE, FALSE}, first = TRUE, good = TRUE;
    LimnTensorRecord record = {.info = {.file = reader->display}};
    LimnJsonScan *scan = &reader->scan;
    record.info.name = reader->tensor->str;
    if (!limn_json_scan_expect(scan, '{', error))
        return FALSE;
    while (good && limn_json_scan_more(scan, '}', &first, &failed)) {
        guint k = 0;
        if (!limn_json_scan_string(scan, reader->text, error) ||
            !limn_json_scan_expect(scan, ':', error))
            return FALSE;
        while (k < 3 && strcmp(reader->text->str, KEYS[k]) != 0)
            k++;
        if (k < 3 && seen[k])
            return fail_tensor(reader, record.info.name, error, "%s is given twice",
                               KEYS[k]);
        if (k < 3)
            seen[k] = TRUE;
        good = k == 0   ? read_dtype(reader, &record, error)
               : k == 1 ? read_shape(reader, &record, error)
               : k == 2 ? read_offsets(reader, &record, error)
                        : limn_json_scan_skip(scan, error);
    }
    if (failed != NULL)
        g_propagate_error(error, failed);
    if (failed != NULL || !good)
        return FALSE;
    for (int k = 0; k < 3; k++)
        if (!seen[k])
            return fail_tensor(reader, record.info.name, error, "%s is missing", KEYS[k]);
    return check_record(reader, &record, error) && add_record(reader, &record, error);
}

static gboolean
read_metadata(Reader *reader, GError **error)
{
    GError *failed = NULL;
    gboolean first = TRUE;
    LimnJsonScan *scan = &reader->scan;
    if (reader->has_metadata)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, reader->name,
                                   "the header has __metadata__ twice");
    reader->has_metadata = TRUE;
    if (!limn_json_scan_expect(scan, '{', error))
        return FALSE;
    while (limn_json_scan_more(scan, '}', &first, &failed)) {
        if (!limn_json_scan_string(scan, reader->text, error) ||
            !limn_json_scan_expect(scan, ':', error))
            return FALSE;
        g_autofree char *key = g_strdup(reader->text->str);
        if (limn_json_scan_peek(scan) != '"')
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, reader->name,
                                       "__metadata__ \"%s\" is no string", key);
        if (!limn_json_scan_string(scan, reader->text, error))
            return FALSE;
        if (g_hash_table_contains(reader->header->metadata, key))
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, reader->name,
                                       "__metadata__ has the key \"%s\" twice", key);
        g_hash_table_insert(reader->header->metadata, g_steal_pointer(&key),
                            g_strdup(reader->text->str));
    }
    if (failed != NULL)
        g_propagate_error(error, failed);
    return failed == NULL;
}

static gboolean
read_object(Reader *reader, GError **error)
{
    GError *failed = NULL;
    gboolean first = TRUE;
    LimnJsonScan *scan = &reader->scan;
    if (!limn_json_scan_expect(scan, '{', error))
        return FALSE;
    while (limn_json_scan_more(scan, '}', &first, &failed)) {
        if (!limn_json_scan_string(scan, reader->tensor, error) ||
            !limn_json_scan_expect(scan, ':', error))
            return FALSE;
        gboolean is_tensor = strcmp(reader->tensor->str, "__metadata__") != 0;
        scan->item = is_tensor ? reader->tensor->str : NULL;
        if (!(is_tensor ? read_tensor(reader, error) : read_metadata(reader, error)))
            return FALSE;
        scan->item = NULL;
    }
    if (failed != NULL)
        g_propagate_error(error, failed);
    return failed == NULL && limn_json_scan_finish(scan, error);
}

static int
compare_offsets(const void *a, const void *b, void *data)
{
    const LimnTensorRecord *ra = get_record(data, *(const guint32 *) a);
    const LimnTensorRecord *rb = get_record(data, *(const guint32 *) b);
    if (ra->begin != rb->begin)
        return ra->begin < rb->begin ? -1 : 1;
    if (ra->end != rb->end)
        return ra->end < rb->end ? -1 : 1;
    return 0;
}

// Tensor numbers in the order of their data.
static guint32 *
sort_by_offset(LimnSafetensorsHeader *header)
{
    guint n = header->records->len;
    guint32 *order = g_new(guint32, MAX(n, 1));
    gboolean sorted = TRUE;
    for (guint i = 0; i < n; i++) {
        order[i] = i;
        if (i > 0 && compare_offsets(&order[i - 1], &order[i], header) > 0)
            sorted = FALSE;
    }
    if (!sorted)
        qsort_r(order, n, sizeof *order, compare_offsets, header);
    return order;
}

static gboolean
check_neighbours(const Reader *reader, const LimnTensorRecord *previous,
                 const LimnTensorRecord *record, guint64 expected, GError **error)
{
    const char *name = record->info.name;
    if (record->begin < expected)
        return fail_tensor(
            reader, name, error,
            "its data begin at %" G_GUINT64_FORMAT
            " and overlap those of \"%s\", which end at %" G_GUINT64_FORMAT,
            record->begin, previous->info.name, expected);
    if (record->begin > expected)
        return fail_tensor(reader, name, error,
                           "its data begin at %" G_GUINT64_FORMAT
                           ", which leaves a hole of %" G_GUINT64_FORMAT
                           " bytes before them (expected %" G_GUINT64_FORMAT ")",
                           record->begin, record->begin - expected, expected);
    return TRUE;
}

// The data of all tensors must tile [0, available).
static gboolean
check_layout(const Reader *reader, guint64 available, GError **error)
{
    LimnSafetensorsHeader *header = reader->header;
    g_autofree guint32 *order = sort_by_offset(header);
    const LimnTensorRecord *previous = NULL, *beyond = NULL;
    guint64 expected = 0;
    for (guint i = 0; i < header->records->len; i++) {
        const LimnTensorRecord *record = get_record(header, order[i]);
        if (!check_neighbours(reader, previous, record, expected, error))
            return FALSE;
        if (record->end > available && beyond == NULL)
            beyond = record;
        expected = record->end;
        previous = record;
    }
    if (beyond != NULL)
        return fail_tensor(reader, beyond->info.name, error,
                           "its data end at %" G_GUINT64_FORMAT
                           ", but the file holds %" G_GUINT64_FORMAT
                           " bytes of data: it is %" G_GUINT64_FORMAT " bytes short",
                           beyond->end, available, expected - available);
    if (expected < available)
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, reader->name,
            "%" G_GUINT64_FORMAT
            " bytes after the data of the last tensor%s%s%s belong to "
            "no tensor (found %" G_GUINT64_FORMAT
            " bytes of data, expected %" G_GUINT64_FORMAT ")",
            available - expected, previous != NULL ? " (\"" : "",
            previous != NULL ? previous->info.name : "", previous != NULL ? "\")" : "",
            available, expected);
    return TRUE;
}

static gboolean
read_length(const guint8 *data, gsize size, const char *name, gsize *length,
            GError **error)
{
    guint64 found = 0;
    if (size < 8)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                   "not a safetensors file (found %" G_GSIZE_FORMAT
                                   " bytes, expected at least 8)",
                                   size);
    for (int i = 7; i >= 0; i--)
        found = found << 8 | data[i];
    if (found > LIMN_SAFETENSORS_MAX_HEADER)
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, name,
            "not a safetensors file, or one with too large a header (its first 8 bytes "
            "claim a header of %" G_GUINT64_FORMAT " bytes, expected at most %d)",
            found, LIMN_SAFETENSORS_MAX_HEADER);
    if (found > size - 8)
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, name,
            "the file is cut inside its header: it is at least %" G_GUINT64_FORMAT
            " bytes short (found %" G_GSIZE_FORMAT
            " bytes, the header alone ends at %" G_GUINT64_FORMAT ")",
            found - (size - 8), size, found + 8);
    *length = found;
    return TRUE;
}

LimnSafetensorsHeader *
limn_safetensors_header_read(const guint8 *data, gsize size, const char *name,
                             const char *display, GError **error)
{
    gsize length = 0;
    if (!read_length(data, size, name, &length, error))
        return NULL;
    g_autoptr(LimnSafetensorsHeader) header = header_new();
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GString) tensor = g_string_new(NULL);
    header->data_offset = 8 + length;
    Reader reader = {
        .scan = limn_json_scan((const char *) data + 8, length, name),
        .header = header,
        .name = name,
        .display = display,
        .text = text,
        .tensor = tensor,
    };
    if (!read_object(&reader, error) ||
        !check_layout(&reader, size - header->data_offset, error))
        return NULL;
    return g_steal_pointer(&header);
}
