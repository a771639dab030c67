// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// JSON files. The typed getters (LimnJson) are in engine/text/json.h, which this brings.

#include "engine/text/json.h"

// Largest JSON file that is read whole: configurations, vocabularies, annotations.
#define LIMN_JSON_MAX_FILE (512 * 1024 * 1024)

// One JSON value from a file; errors name the path. Duplicate keys are refused.
// Returns: (transfer full)
json_t *limn_json_load(const char *path, GError **error);
// The same, and it must be an object.
json_t *limn_json_load_object(const char *path, GError **error);
