// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/gzip.h"

#include <string.h>
#include <zlib.h>

#include "engine/base/error.h"

#define CHUNK (256 * 1024)

gboolean
limn_gzip_is(const void *data, gsize size)
{
    return size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0;
}

// Room for at least one more byte; doubles up to max_size + 1.
static gboolean
make_room(guint8 **buffer, gsize used, gsize *capacity, gsize max_size)
{
    if (used < *capacity)
        return TRUE;
    gsize wanted = *capacity == 0 ? CHUNK : *capacity * 2;
    wanted = MIN(wanted, max_size + 1);
    guint8 *grown = wanted > *capacity ? g_try_realloc(*buffer, wanted) : NULL;
    if (grown == NULL)
        return FALSE;
    *buffer = grown;
    *capacity = wanted;
    return TRUE;
}

// Z_OK when all of the data were unpacked.
static int
inflate_all(z_stream *stream, gsize size, guint8 **buffer, gsize *used, gsize max_size)
{
    gsize capacity = 0;
    while (TRUE) {
        if (!make_room(buffer, *used, &capacity, max_size))
            return Z_MEM_ERROR;
        gsize in = MIN(size, G_MAXUINT), out = MIN(capacity - *used, G_MAXUINT);
        stream->avail_in = (uInt) in;
        stream->avail_out = (uInt) out;
        stream->next_out = *buffer + *used;
        int status = inflate(stream, Z_NO_FLUSH);
        size -= in - stream->avail_in;
        *used += out - stream->avail_out;
        if (*used > max_size)
            return Z_MEM_ERROR;
        if (status == Z_STREAM_END) {
            if (size == 0)
                return Z_OK;
            if (inflateReset(stream) != Z_OK) // the next member
                return Z_DATA_ERROR;
        } else if (status != Z_OK) {
            return status;
        }
    }
}

GBytes *
limn_gunzip(const void *data, gsize size, gsize max_size, const char *name,
            GError **error)
{
    z_stream stream = {.next_in = (Bytef *) (guintptr) data};
    g_autofree guint8 *buffer = NULL;
    gsize used = 0;
    if (!limn_gzip_is(data, size)) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, name, "not a gzip file");
        return NULL;
    }
    int status = inflateInit2(&stream, 16 + MAX_WBITS);
    if (status == Z_OK)
        status = inflate_all(&stream, size, &buffer, &used, MIN(max_size, G_MAXSIZE / 4));
    inflateEnd(&stream);
    if (status == Z_OK)
        return g_bytes_new_take(g_steal_pointer(&buffer), used);
    if (status == Z_MEM_ERROR)
        limn_error_set_file(error, LIMN_ERROR_MEMORY, name,
                            "unpacked it is larger than %" G_GSIZE_FORMAT " bytes",
                            max_size);
    else if (status == Z_BUF_ERROR)
        limn_error_set_file(
            error, LIMN_ERROR_FORMAT, name,
            "the gzip data are cut (%" G_GSIZE_FORMAT " bytes unpacked so far)", used);
    else
        limn_error_set_file(error, LIMN_ERROR_FORMAT, name, "the gzip data are damaged");
    return NULL;
}
