// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Unpacking of gzip data in memory (one or several members, as gzip itself accepts).

#include "engine/base/types.h"

// TRUE when the data begin with gzip's magic number.
gboolean limn_gzip_is(const void *data, gsize size);
// LIMN_ERROR_FORMAT on damage or a cut; LIMN_ERROR_MEMORY beyond max_size bytes. Memory
// grows with what is unpacked, not with what the file claims. `name` is for messages.
// Returns: (transfer full)
GBytes *limn_gunzip(const void *data, gsize size, gsize max_size, const char *name,
                    GError **error);
