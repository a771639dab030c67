// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Prompt lists: a text file with one prompt per line. UTF-8 (with or without a byte order
// mark) or UTF-16 with one; lines end in LF, CR LF or CR; blanks around a prompt and
// blank lines are dropped.

#include "engine/base/types.h"

#define LIMN_PROMPTS_MAX_FILE (16 * 1024 * 1024)

// Returns: (transfer full) NULL with LIMN_ERROR_FORMAT naming the line that is not valid
// text, or saying that there is no prompt at all.
GStrv limn_prompts_parse(const void *data, gsize size, const char *name, GError **error);
GStrv limn_prompts_load(const char *path, GError **error);
