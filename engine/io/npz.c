// SPDX-License-Identifier: GPL-3.0-or-later
// A .npz archive is a zip of .npy members. Members are only read into memory, so their
// names cannot lead anywhere. Before a member is read its declared size is checked:
//
//   method        stored or deflated; others and encryption are refused
//   stored size   equals the compressed size, which lies within the file
//   deflated      at most 1032 times the compressed size, all that deflate can reach
//   any           at most MAX_MEMBER bytes
//
// The checksum is checked by libzip at the end of the member.
#include <string.h>
#include <zip.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/npy.h"

#define MAX_MEMBER (G_GUINT64_CONSTANT(16) << 30)
#define DEFLATE_RATIO 1032
#define SUFFIX ".npy"

struct LimnNpz {
    GBytes *bytes;
    char *name;
    zip_t *archive;
    GPtrArray *names;    // char *, NULL-terminated
    GHashTable *indices; // name -> zip index + 1
};

void
limn_npz_free(LimnNpz *npz)
{
    if (npz == NULL)
        return;
    if (npz->archive != NULL)
        zip_discard(npz->archive);
    g_clear_pointer(&npz->names, g_ptr_array_unref);
    g_clear_pointer(&npz->indices, g_hash_table_unref);
    g_clear_pointer(&npz->bytes, g_bytes_unref);
    g_free(npz->name);
    g_free(npz);
}

static gboolean
set_zip_error(const LimnNpz *npz, const char *what, zip_error_t *found, GError **error)
{
    g_autofree char *text = g_utf8_make_valid(zip_error_strerror(found), -1);
    return limn_error_set_file(error,
                               zip_error_code_zip(found) == ZIP_ER_MEMORY
                                   ? LIMN_ERROR_MEMORY
                                   : LIMN_ERROR_FORMAT,
                               npz->name, "%s: %s", what, text);
}

static gboolean
open_archive(LimnNpz *npz, GError **error)
{
    gsize size;
    const void *data = g_bytes_get_data(npz->bytes, &size);
    zip_error_t found;
    zip_error_init(&found);
    if (size < 4 || memcmp(data, "PK", 2) != 0)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, npz->name,
                                   "not a .npz archive (it is no zip file)");
    zip_source_t *source = zip_source_buffer_create(data, size, 0, &found);
    if (source != NULL) {
        npz->archive = zip_open_from_source(source, ZIP_RDONLY, &found);
        if (npz->archive == NULL)
            zip_source_free(source);
    }
    if (npz->archive == NULL)
        set_zip_error(npz, "not a readable .npz archive", &found, error);
    zip_error_fini(&found);
    return npz->archive != NULL;
}

// Lists the members whose name ends in .npy.
static gboolean
list_members(LimnNpz *npz, GError **error)
{
    zip_int64_t n = zip_get_num_entries(npz->archive, 0);
    for (zip_int64_t i = 0; i < n; i++) {
        const char *member = zip_get_name(npz->archive, i, 0);
        if (member == NULL || !g_utf8_validate(member, -1, NULL))
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, npz->name,
                                       "member %d of the archive has no readable name",
                                       (int) i);
        if (!g_str_has_suffix(member, SUFFIX))
            continue;
        char *name = g_strndup(member, strlen(member) - strlen(SUFFIX));
        if (!g_hash_table_insert(npz->indices, name, GSIZE_TO_POINTER(i + 1)))
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, npz->name,
                                       "two arrays are named \"%s\"",
                                       (const char *) zip_get_name(npz->archive, i, 0));
        g_ptr_array_add(npz->names, name);
    }
    g_ptr_array_add(npz->names, NULL);
    return TRUE;
}

LimnNpz *
limn_npz_open_bytes(GBytes *bytes, const char *name, GError **error)
{
    g_autoptr(LimnNpz) npz = g_new0(LimnNpz, 1);
    npz->bytes = g_bytes_ref(bytes);
    npz->name = g_strdup(name);
    npz->names = g_ptr_array_new();
    npz->indices = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    if (!open_archive(npz, error) || !list_members(npz, error))
        return NULL;
    return g_steal_pointer(&npz);
}

LimnNpz *
limn_npz_open(const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_map(path, 0, error);
    return bytes != NULL ? limn_npz_open_bytes(bytes, path, error) : NULL;
}

const char *const *
limn_npz_get_names(LimnNpz *npz)
{
    return (const char *const *) npz->names->pdata;
}

gboolean
limn_npz_has(LimnNpz *npz, const char *name)
{
    return g_hash_table_contains(npz->indices, name);
}

// The declared size, once it is known to be honest enough to allocate.
static gboolean
check_member(LimnNpz *npz, const char *name, zip_uint64_t index, gsize *size,
             GError **error)
{
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD;
    zip_stat_t stat;
    if (zip_stat_index(npz->archive, index, 0, &stat) != 0 ||
        (stat.valid & needed) != needed)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, npz->name,
                                   "array \"%s\" has no readable directory entry", name);
    if ((stat.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 &&
        stat.encryption_method != ZIP_EM_NONE)
        return limn_error_set_file(error, LIMN_ERROR_UNSUPPORTED, npz->name,
                                   "array \"%s\" is encrypted", name);
    if (stat.comp_method != ZIP_CM_STORE && stat.comp_method != ZIP_CM_DEFLATE)
        return limn_error_set_file(
            error, LIMN_ERROR_UNSUPPORTED, npz->name,
            "array \"%s\" is compressed with method %d (expected stored or deflated)",
            name, stat.comp_method);
    gboolean stored = stat.comp_method == ZIP_CM_STORE;
    if (stat.comp_size > g_bytes_get_size(npz->bytes) ||
        (stored ? stat.size != stat.comp_size
                : stat.size / DEFLATE_RATIO > stat.comp_size))
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, npz->name,
            "array \"%s\" claims %" G_GUINT64_FORMAT " bytes, which %" G_GUINT64_FORMAT
            " stored bytes in a file of %" G_GSIZE_FORMAT " cannot hold",
            name, (guint64) stat.size, (guint64) stat.comp_size,
            g_bytes_get_size(npz->bytes));
    if (stat.size > MAX_MEMBER)
        return limn_error_set_file(error, LIMN_ERROR_MEMORY, npz->name,
                                   "array \"%s\" has %" G_GUINT64_FORMAT
                                   " bytes (expected at most %" G_GUINT64_FORMAT ")",
                                   name, (guint64) stat.size, (guint64) MAX_MEMBER);
    *size = stat.size;
    return TRUE;
}

// Reads the whole member and checks that it ends where it said.
static gboolean
read_member(LimnNpz *npz, const char *name, zip_file_t *file, guint8 *buffer, gsize size,
            GError **error)
{
    gsize done = 0;
    while (done < size) {
        zip_int64_t n = zip_fread(file, buffer + done, size - done);
        if (n < 0)
            break;
        if (n == 0)
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, npz->name,
                                       "array \"%s\" is cut (found %" G_GSIZE_FORMAT
                                       " bytes, expected %" G_GSIZE_FORMAT ")",
                                       name, done, size);
        done += n;
    }
    guint8 extra;
    zip_int64_t rest = done == size ? zip_fread(file, &extra, 1) : -1;
    if (rest > 0)
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, npz->name,
                                   "array \"%s\" is longer than the %" G_GSIZE_FORMAT
                                   " bytes declared",
                                   name, size);
    if (rest < 0) {
        g_autofree char *what = g_strdup_printf("array \"%s\" cannot be unpacked", name);
        return set_zip_error(npz, what, zip_file_get_error(file), error);
    }
    return TRUE;
}

LimnArray *
limn_npz_get(LimnNpz *npz, const char *name, GError **error)
{
    gsize index = GPOINTER_TO_SIZE(g_hash_table_lookup(npz->indices, name));
    gsize size = 0;
    if (index == 0) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, npz->name,
                            "there is no array \"%s\" in the archive", name);
        return NULL;
    }
    if (!check_member(npz, name, index - 1, &size, error))
        return NULL;
    guint8 *buffer = g_try_malloc(MAX(size, 1));
    if (buffer == NULL) {
        limn_error_set_file(error, LIMN_ERROR_MEMORY, npz->name,
                            "no memory for the %" G_GSIZE_FORMAT " bytes of array \"%s\"",
                            size, name);
        return NULL;
    }
    g_autoptr(GBytes) bytes = g_bytes_new_take(buffer, size);
    zip_file_t *file = zip_fopen_index(npz->archive, index - 1, 0);
    if (file == NULL) {
        g_autofree char *what = g_strdup_printf("array \"%s\" cannot be unpacked", name);
        set_zip_error(npz, what, zip_get_error(npz->archive), error);
        return NULL;
    }
    gboolean good = read_member(npz, name, file, buffer, size, error);
    zip_fclose(file);
    if (!good)
        return NULL;
    g_autofree char *label = g_strdup_printf("%s: %s" SUFFIX, npz->name, name);
    return limn_npy_load_bytes(bytes, label, error);
}
