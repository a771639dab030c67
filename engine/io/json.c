// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/json.h"

#include "engine/base/file.h"

json_t *
limn_json_load(const char *path, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(path, LIMN_JSON_MAX_FILE, error);
    if (bytes == NULL)
        return NULL;
    gsize size = 0;
    const void *data = g_bytes_get_data(bytes, &size);
    return limn_json_parse(data, size, path, error);
}

json_t *
limn_json_load_object(const char *path, GError **error)
{
    g_autoptr(json_t) root = limn_json_load(path, error);
    LimnJson cursor;
    if (root == NULL || !limn_json_root(root, path, &cursor, error))
        return NULL;
    return g_steal_pointer(&root);
}
