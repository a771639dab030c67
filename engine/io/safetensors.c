// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/safetensors.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/foreign-weights.h"
#include "engine/io/json-scan.h"
#include "engine/io/safetensors-header.h"

// One file.
typedef struct {
    GBytes *bytes;
    char *display;
    LimnSafetensorsHeader *header;
} Shard;

// Where a tensor of a sharded model is.
typedef struct {
    guint32 shard, record;
} Place;

struct LimnSafetensors {
    gatomicrefcount refs;
    char *name;        // of the file or the index, for messages
    GPtrArray *shards; // Shard; one unless this is an index
    gboolean sharded;
    GArray *places;         // Place, in the order of weight_map (sharded only)
    LimnStringIndex *index; // of places (sharded only)
};

static void
shard_free(gpointer data)
{
    Shard *shard = data;
    g_clear_pointer(&shard->header, limn_safetensors_header_free);
    g_clear_pointer(&shard->bytes, g_bytes_unref);
    g_free(shard->display);
    g_free(shard);
}

static LimnSafetensors *
safetensors_new(const char *name)
{
    LimnSafetensors *st = g_new0(LimnSafetensors, 1);
    g_atomic_ref_count_init(&st->refs);
    st->name = g_strdup(name);
    st->shards = g_ptr_array_new_with_free_func(shard_free);
    return st;
}

LimnSafetensors *
limn_safetensors_ref(LimnSafetensors *st)
{
    g_atomic_ref_count_inc(&st->refs);
    return st;
}

void
limn_safetensors_unref(LimnSafetensors *st)
{
    if (st == NULL || !g_atomic_ref_count_dec(&st->refs))
        return;
    g_clear_pointer(&st->index, limn_string_index_free);
    g_clear_pointer(&st->places, g_array_unref);
    g_ptr_array_unref(st->shards);
    g_free(st->name);
    g_free(st);
}

static gboolean
add_shard(LimnSafetensors *st, GBytes *bytes, const char *name, GError **error)
{
    Shard *shard = g_new0(Shard, 1);
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    shard->bytes = g_bytes_ref(bytes);
    shard->display = limn_display_path(name);
    g_ptr_array_add(st->shards, shard);
    if (!limn_weights_refuse_foreign(name, bytes, error))
        return FALSE;
    shard->header = limn_safetensors_header_read(data, size, name, shard->display, error);
    return shard->header != NULL;
}

LimnSafetensors *
limn_safetensors_open_bytes(GBytes *bytes, const char *name, GError **error)
{
    g_autoptr(LimnSafetensors) st = safetensors_new(name);
    return add_shard(st, bytes, name, error) ? g_steal_pointer(&st) : NULL;
}

// --- Sharded models
// ---------------------------------------------------------------------

// A model.safetensors.index.json begins with a brace where safetensors has a length.
static gboolean
is_index(GBytes *bytes, const char *path)
{
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    LimnJsonScan scan = limn_json_scan(data, size, path);
    return limn_json_scan_peek(&scan) == '{' || g_str_has_suffix(path, ".index.json");
}

static const LimnTensorRecord *
get_record(const LimnSafetensors *st, guint i, const Shard **shard)
{
    Place place = {0, i};
    if (st->sharded)
        place = g_array_index(st->places, Place, i);
    *shard = g_ptr_array_index(st->shards, place.shard);
    return &g_array_index((*shard)->header->records, LimnTensorRecord, place.record);
}

static const char *
place_name(guint32 i, gsize *length, gconstpointer data)
{
    const Shard *shard;
    const char *name = get_record(data, i, &shard)->info.name;
    *length = strlen(name);
    return name;
}

// Reading of an index.
typedef struct {
    LimnSafetensors *st;
    LimnJsonScan scan;
    char *folder;
    GHashTable *numbers; // shard file name -> shard number + 1
    GString *tensor, *file;
    gboolean has_map;
} IndexReader;

// The number of a shard, which is opened when it is named for the first time.
static gboolean
find_shard(IndexReader *reader, guint32 *number, GError **error)
{
    const char *file = reader->file->str;
    gsize known = GPOINTER_TO_SIZE(g_hash_table_lookup(reader->numbers, file));
    if (known > 0) {
        *number = known - 1;
        return TRUE;
    }
    if (file[0] == '\0' || strcmp(file, ".") == 0 || strcmp(file, "..") == 0 ||
        strchr(file, '/') != NULL)
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, reader->st->name,
            "weight_map puts tensor \"%s\" into \"%s\" (expected the "
            "name of a file beside the index)",
            reader->tensor->str, file);
    g_autofree char *path = g_build_filename(reader->folder, file, NULL);
    if (!g_file_test(path, G_FILE_TEST_EXISTS))
        return limn_error_set_file(error, LIMN_ERROR_IO, reader->st->name,
                                   "the shard \"%s\" is missing (weight_map needs it for "
                                   "tensor \"%s\"; expected it beside the index)",
                                   file, reader->tensor->str);
    g_autoptr(GBytes) bytes = limn_file_map(path, 0, error);
    if (bytes == NULL || !add_shard(reader->st, bytes, path, error))
        return FALSE;
    *number = reader->st->shards->len - 1;
    g_hash_table_insert(reader->numbers, g_strdup(file), GSIZE_TO_POINTER(*number + 1));
    return TRUE;
}

static gboolean
add_place(IndexReader *reader, GError **error)
{
    LimnSafetensors *st = reader->st;
    const GString *tensor = reader->tensor;
    Place place;
    if (!find_shard(reader, &place.shard, error))
        return FALSE;
    const Shard *shard = g_ptr_array_index(st->shards, place.shard);
    place.record = limn_string_index_find(shard->header->index, tensor->str, tensor->len);
    if (place.record == LIMN_STRING_NOT_FOUND)
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, st->name,
            "weight_map puts tensor \"%s\" into \"%s\", which does "
            "not hold it",
            tensor->str, reader->file->str);
    guint32 number = st->places->len;
    g_array_append_val(st->places, place);
    if (limn_string_index_add(st->index, tensor->str, tensor->len, number) !=
        LIMN_STRING_NOT_FOUND)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, st->name,
                                   "weight_map names tensor \"%s\" twice", tensor->str);
    return TRUE;
}

static gboolean
read_weight_map(IndexReader *reader, GError **error)
{
    GError *failed = NULL;
    gboolean first = TRUE;
    LimnJsonScan *scan = &reader->scan;
    if (reader->has_map)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, reader->st->name,
                                   "weight_map is given twice");
    reader->has_map = TRUE;
    if (!limn_json_scan_expect(scan, '{', error))
        return FALSE;
    while (limn_json_scan_more(scan, '}', &first, &failed))
        if (!limn_json_scan_string(scan, reader->tensor, error) ||
            !limn_json_scan_expect(scan, ':', error) ||
            !limn_json_scan_string(scan, reader->file, error) ||
            !add_place(reader, error))
            return FALSE;
    if (failed != NULL)
        g_propagate_error(error, failed);
    return failed == NULL;
}

static gboolean
read_index(IndexReader *reader, GError **error)
{
    GError *failed = NULL;
    gboolean first = TRUE;
    LimnJsonScan *scan = &reader->scan;
    if (!limn_json_scan_expect(scan, '{', error))
        return FALSE;
    while (limn_json_scan_more(scan, '}', &first, &failed)) {
        if (!limn_json_scan_string(scan, reader->file, error) ||
            !limn_json_scan_expect(scan, ':', error))
            return FALSE;
        if (!(strcmp(reader->file->str, "weight_map") == 0
                  ? read_weight_map(reader, error)
                  : limn_json_scan_skip(scan, error)))
            return FALSE;
    }
    if (failed != NULL)
        g_propagate_error(error, failed);
    if (failed != NULL || !limn_json_scan_finish(scan, error))
        return FALSE;
    return reader->has_map ||
           limn_error_set_file(error, LIMN_ERROR_FORMAT, reader->st->name,
                               "there is no weight_map in the index");
}

static LimnSafetensors *
open_index(GBytes *bytes, const char *path, GError **error)
{
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    g_autoptr(LimnSafetensors) st = safetensors_new(path);
    g_autofree char *folder = g_path_get_dirname(path);
    g_autoptr(GString) tensor = g_string_new(NULL);
    g_autoptr(GString) file = g_string_new(NULL);
    g_autoptr(GHashTable) numbers =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    IndexReader reader = {
        .st = st,
        .scan = limn_json_scan(data, size, path),
        .folder = folder,
        .numbers = numbers,
        .tensor = tensor,
        .file = file,
    };
    st->sharded = TRUE;
    st->places = g_array_new(FALSE, FALSE, sizeof(Place));
    st->index = limn_string_index_new(place_name, st, 0);
    return read_index(&reader, error) ? g_steal_pointer(&st) : NULL;
}

LimnSafetensors *
limn_safetensors_open(const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_map(path, 0, error);
    if (bytes == NULL)
        return NULL;
    if (is_index(bytes, path))
        return open_index(bytes, path, error);
    return limn_safetensors_open_bytes(bytes, path, error);
}

// --- Access
// -----------------------------------------------------------------------------

guint
limn_safetensors_n_tensors(LimnSafetensors *st)
{
    if (st->sharded)
        return st->places->len;
    return ((const Shard *) g_ptr_array_index(st->shards, 0))->header->records->len;
}

const LimnTensorInfo *
limn_safetensors_get_info(LimnSafetensors *st, guint i)
{
    const Shard *shard;
    g_return_val_if_fail(i < limn_safetensors_n_tensors(st), NULL);
    return &get_record(st, i, &shard)->info;
}

static guint32
find_number(const LimnSafetensors *st, const char *name)
{
    const LimnStringIndex *index = st->index;
    if (!st->sharded)
        index = ((const Shard *) g_ptr_array_index(st->shards, 0))->header->index;
    return limn_string_index_find(index, name, strlen(name));
}

const LimnTensorInfo *
limn_safetensors_find(LimnSafetensors *st, const char *name)
{
    guint32 number = find_number(st, name);
    return number != LIMN_STRING_NOT_FOUND ? limn_safetensors_get_info(st, number) : NULL;
}

LimnArray *
limn_safetensors_get(LimnSafetensors *st, const char *name, GError **error)
{
    const Shard *shard;
    guint32 number = find_number(st, name);
    if (number == LIMN_STRING_NOT_FOUND) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, st->name,
                            "there is no tensor \"%s\" in the file", name);
        return NULL;
    }
    const LimnTensorRecord *record = get_record(st, number, &shard);
    return limn_array_new_from_bytes(record->info.dtype, record->info.rank,
                                     record->info.shape, shard->bytes,
                                     shard->header->data_offset + record->begin, error);
}

const char *
limn_safetensors_get_metadata(LimnSafetensors *st, const char *key)
{
    for (guint i = 0; i < st->shards->len; i++) {
        const Shard *shard = g_ptr_array_index(st->shards, i);
        const char *value = g_hash_table_lookup(shard->header->metadata, key);
        if (value != NULL)
            return value;
    }
    return NULL;
}
