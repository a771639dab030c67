// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/npy.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/npy-header.h"

// Reverses the bytes of every element.
static void
swap_bytes(void *data, gint64 length, gsize element)
{
    if (element == 2) {
        guint16 *p = data;
        for (gint64 i = 0; i < length; i++)
            p[i] = GUINT16_SWAP_LE_BE(p[i]);
    } else if (element == 4) {
        guint32 *p = data;
        for (gint64 i = 0; i < length; i++)
            p[i] = GUINT32_SWAP_LE_BE(p[i]);
    } else if (element == 8) {
        guint64 *p = data;
        for (gint64 i = 0; i < length; i++)
            p[i] = GUINT64_SWAP_LE_BE(p[i]);
    }
}

// source: the array with the first index running fastest. Walks the target in order.
static void
from_fortran(const LimnNpyHeader *header, const guint8 *source, guint8 *target)
{
    gsize element = limn_dtype_size(header->dtype);
    gint64 index[LIMN_ARRAY_MAX_RANK] = {0};
    gsize stride[LIMN_ARRAY_MAX_RANK];
    gsize offset = 0;
    for (int d = 0; d < header->rank; d++)
        stride[d] = d == 0 ? element : stride[d - 1] * header->shape[d - 1];
    for (gint64 i = 0; i < header->length; i++) {
        memcpy(target + i * element, source + offset, element);
        for (int d = header->rank - 1; d >= 0; d--) {
            offset += stride[d];
            if (++index[d] < header->shape[d])
                break;
            offset -= stride[d] * header->shape[d];
            index[d] = 0;
        }
    }
}

static gboolean
check_bool(const guint8 *data, gint64 length, const char *name, GError **error)
{
    for (gint64 i = 0; i < length; i++)
        if (data[i] > 1)
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                                       "element %" G_GINT64_FORMAT
                                       " of a bool array is %d (expected 0 or 1)",
                                       i, data[i]);
    return TRUE;
}

static gboolean
check_size(const LimnNpyHeader *header, gsize size, const char *name, GError **error)
{
    gsize found = size - header->offset;
    if (found == header->data_size)
        return TRUE;
    g_autofree char *shape = limn_shape_describe(header->rank, header->shape);
    if (found < header->data_size)
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, name,
            "the file is %" G_GSIZE_FORMAT " bytes short (found %" G_GSIZE_FORMAT
            " bytes of data, expected %" G_GSIZE_FORMAT " for shape %s)",
            header->data_size - found, found, header->data_size, shape);
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                               "%" G_GSIZE_FORMAT
                               " bytes follow the data of shape %s (expected none)",
                               found - header->data_size, shape);
}

LimnArray *
limn_npy_load_bytes(GBytes *bytes, const char *name, GError **error)
{
    gsize size;
    const guint8 *data = g_bytes_get_data(bytes, &size);
    LimnNpyHeader header;
    if (!limn_npy_header_parse(data, size, name, &header, error) ||
        !check_size(&header, size, name, error))
        return NULL;
    const guint8 *elements = data + header.offset;
    if (header.dtype == LIMN_DTYPE_BOOL &&
        !check_bool(elements, header.length, name, error))
        return NULL;
    gboolean fortran = header.fortran && header.rank > 1;
    if (!fortran && !header.swapped)
        return limn_array_new_from_bytes(header.dtype, header.rank, header.shape, bytes,
                                         header.offset, error);
    LimnArray *array = limn_array_new(header.dtype, header.rank, header.shape, error);
    if (array == NULL)
        return NULL;
    if (fortran)
        from_fortran(&header, elements, array->data);
    else if (header.data_size > 0)
        memcpy(array->data, elements, header.data_size);
    if (header.swapped)
        swap_bytes(array->data, header.length, limn_dtype_size(header.dtype));
    return array;
}

LimnArray *
limn_npy_load(const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_map(path, 0, error);
    return bytes != NULL ? limn_npy_load_bytes(bytes, path, error) : NULL;
}

static gsize
data_size(const LimnArray *array)
{
    return (gsize) array->length * limn_dtype_size(array->dtype);
}

GBytes *
limn_npy_encode(const LimnArray *array, GError **error)
{
    GString *header = limn_npy_header_format(array, error);
    if (header == NULL)
        return NULL;
    if (array->length > 0)
        g_string_append_len(header, array->data, (gssize) data_size(array));
    return g_string_free_to_bytes(header);
}

gboolean
limn_npy_save(const LimnArray *array, const char *path, GError **error)
{
    GString *header = limn_npy_header_format(array, error);
    if (header == NULL)
        return FALSE;
    g_autoptr(GBytes) head = g_string_free_to_bytes(header);
    g_autoptr(LimnFileWriter) writer = limn_file_writer_new(path, error);
    return writer != NULL &&
           limn_file_writer_write(writer, g_bytes_get_data(head, NULL),
                                  g_bytes_get_size(head), error) &&
           limn_file_writer_write(writer, array->data, data_size(array), error) &&
           limn_file_writer_commit(writer, error);
}
