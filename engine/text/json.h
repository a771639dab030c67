// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Reading JSON that came from outside. The whole text must be one value; duplicate keys,
// invalid UTF-8, NUL characters in strings and nesting deeper than 2048 are refused.
// Getters check type and range and name the file and the whole path of the key:
//     config.json: vision_config.hidden_size is "768" (expected an integer from 1 to
//     65536)
// A LimnJson is a cursor that borrows: the root json_t must outlive it.

#include <jansson.h>

#include "engine/base/types.h"

#define LIMN_JSON_PATH_MAX 160

G_DEFINE_AUTOPTR_CLEANUP_FUNC(json_t, json_decref)

typedef struct {
    json_t *value;                 // borrowed; an object
    const char *file;              // borrowed; name in messages
    char path[LIMN_JSON_PATH_MAX]; // "vision_config"; "" at the top
} LimnJson;

// Any one JSON value, in memory. `name` is the file in messages.
// Returns: (transfer full) NULL with LIMN_ERROR_FORMAT.
json_t *limn_json_parse(const void *data, gsize size, const char *name, GError **error);

// A cursor on `root`, which must be an object.
gboolean limn_json_root(json_t *root, const char *file, LimnJson *cursor, GError **error);
// A cursor on the object that is member `key`, or element `index` of member array `key`.
gboolean limn_json_need_object(const LimnJson *json, const char *key, LimnJson *member,
                               GError **error);
gboolean limn_json_need_element(const LimnJson *json, const char *key, gsize index,
                                LimnJson *element, GError **error);

// TRUE when the member exists and is not null.
gboolean limn_json_has(const LimnJson *json, const char *key);

// need_*: a missing (or null) member is an error. read_*: then *value stays as it is.
// All: LIMN_ERROR_FORMAT on another type or a value out of range.
gboolean limn_json_need_int(const LimnJson *json, const char *key, gint64 min, gint64 max,
                            gint64 *value, GError **error);
gboolean limn_json_read_int(const LimnJson *json, const char *key, gint64 min, gint64 max,
                            gint64 *value, GError **error);
// Integers are accepted as doubles.
gboolean limn_json_need_double(const LimnJson *json, const char *key, double min,
                               double max, double *value, GError **error);
gboolean limn_json_read_double(const LimnJson *json, const char *key, double min,
                               double max, double *value, GError **error);
gboolean limn_json_read_bool(const LimnJson *json, const char *key, gboolean *value,
                             GError **error);
// The string is borrowed from the root.
gboolean limn_json_need_string(const LimnJson *json, const char *key, const char **value,
                               GError **error);
gboolean limn_json_read_string(const LimnJson *json, const char *key, const char **value,
                               GError **error);
// Exactly n numbers.
gboolean limn_json_read_doubles(const LimnJson *json, const char *key, double *values,
                                gsize n, GError **error);
// Borrowed array of any length; *value stays as it is when the member is missing.
gboolean limn_json_read_array(const LimnJson *json, const char *key, json_t **value,
                              GError **error);

// Sets "FILE: PATH.KEY message" with LIMN_ERROR_FORMAT, for checks of the caller's own.
// Returns FALSE.
gboolean limn_json_fail(const LimnJson *json, const char *key, GError **error,
                        const char *format, ...) G_GNUC_PRINTF(4, 5);
