// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/text-resources.h"

#include <gio/gio.h>

#include "engine/text/limn-text-resources.h"

#define PREFIX "/io/github/limn_studio/Limn/text/"

GBytes *
limn_text_resource(const char *name)
{
    g_autofree char *path = g_strconcat(PREFIX, name, NULL);
    GError *error = NULL;
    GBytes *bytes = g_resource_lookup_data(limn_text_get_resource(), path,
                                           G_RESOURCE_LOOKUP_FLAGS_NONE, &error);
    if (bytes == NULL)
        g_error("%s", error->message); // the build put it there
    return bytes;
}
