// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/prompts.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"

// UTF-16 with a byte order mark as UTF-8.
static char *
decode_utf16(const guint8 *data, gsize size, gsize *length, const char *name,
             GError **error)
{
    gboolean big = data[0] == 0xfe;
    GError *failed = NULL;
    gsize written = 0;
    char *text = g_convert((const char *) data + 2, (gssize) size - 2, "UTF-8",
                           big ? "UTF-16BE" : "UTF-16LE", NULL, &written, &failed);
    *length = written;
    if (text == NULL || size % 2 != 0) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                            "the file begins like UTF-16 but is not valid UTF-16");
        g_clear_error(&failed);
        g_clear_pointer(&text, g_free);
    }
    return text;
}

static gboolean
is_utf16(const guint8 *data, gsize size)
{
    return size >= 2 &&
           ((data[0] == 0xff && data[1] == 0xfe) || (data[0] == 0xfe && data[1] == 0xff));
}

static GStrv
split_lines(const char *text, gsize size, const char *name, GError **error)
{
    g_autoptr(GPtrArray) lines = g_ptr_array_new_with_free_func(g_free);
    const char *at = text, *end = text + size;
    for (guint number = 1; at < end; number++) {
        const char *stop = at;
        while (stop < end && *stop != '\n' && *stop != '\r')
            stop++;
        const char *invalid;
        if (!g_utf8_validate_len(at, stop - at, &invalid)) {
            limn_error_set_file(
                error, LIMN_ERROR_FORMAT, name,
                "line %u is not valid UTF-8 (found 0x%02x at its byte %" G_GSIZE_FORMAT
                ")",
                number, (guint) (guchar) *invalid, (gsize) (invalid - at + 1));
            return NULL;
        }
        char *line = g_strstrip(g_strndup(at, stop - at));
        if (line[0] != '\0')
            g_ptr_array_add(lines, line);
        else
            g_free(line);
        if (stop + 1 < end && stop[0] == '\r' && stop[1] == '\n')
            stop++;
        at = stop + 1;
    }
    if (lines->len == 0) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                            "there is no prompt in the file (expected one per line)");
        return NULL;
    }
    g_ptr_array_add(lines, NULL);
    return (GStrv) g_ptr_array_free(g_steal_pointer(&lines), FALSE);
}

GStrv
limn_prompts_parse(const void *data, gsize size, const char *name, GError **error)
{
    const char *text = data;
    if (is_utf16(data, size)) {
        gsize length;
        g_autofree char *decoded = decode_utf16(data, size, &length, name, error);
        return decoded != NULL ? split_lines(decoded, length, name, error) : NULL;
    }
    if (size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text += 3;
        size -= 3;
    }
    return split_lines(text, size, name, error);
}

GStrv
limn_prompts_load(const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(path, LIMN_PROMPTS_MAX_FILE, error);
    if (bytes == NULL)
        return NULL;
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    return limn_prompts_parse(data, size, path, error);
}
