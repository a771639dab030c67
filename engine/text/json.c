// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/json.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"

// The key in jansson's `duplicate object key near '"KEY"'`, which may be cut.
static gboolean
set_duplicate(const json_error_t *found, const char *name, GError **error)
{
    const char *begin = strchr(found->text, '\'');
    const char *end = strrchr(found->text, '\'');
    g_autofree char *key = begin != NULL && end > begin
                               ? g_strndup(begin + 1, end - begin - 1)
                               : g_strdup("?");
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                               "line %d: the key %s is given twice", found->line, key);
}

json_t *
limn_json_parse(const void *data, gsize size, const char *name, GError **error)
{
    json_error_t found;
    if (data == NULL)
        data = "";
    if (size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0) {
        data = (const char *) data + 3;
        size -= 3;
    }
    // Jansson passes over NUL bytes between tokens.
    const char *zero = size > 0 ? memchr(data, '\0', size) : NULL;
    if (zero != NULL) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                            "malformed JSON: NUL at byte %" G_GSIZE_FORMAT,
                            (gsize) (zero - (const char *) data));
        return NULL;
    }
    json_t *root =
        json_loadb(data, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &found);
    if (root != NULL)
        return root;
    if (json_error_code(&found) == json_error_duplicate_key) {
        set_duplicate(&found, name, error);
        return NULL;
    }
    g_autofree char *text = g_utf8_make_valid(found.text, -1);
    if (found.line > 0)
        limn_error_set_file(error, LIMN_ERROR_FORMAT, name,
                            "malformed JSON in line %d, column %d: %s", found.line,
                            found.column, text);
    else
        limn_error_set_file(error, LIMN_ERROR_FORMAT, name, "malformed JSON: %s", text);
    return NULL;
}

static void
join_path(const LimnJson *json, const char *key, char path[LIMN_JSON_PATH_MAX])
{
    g_snprintf(path, LIMN_JSON_PATH_MAX, "%s%s%s", json->path,
               json->path[0] != '\0' ? "." : "", key);
}

gboolean
limn_json_fail(const LimnJson *json, const char *key, GError **error, const char *format,
               ...)
{
    char path[LIMN_JSON_PATH_MAX];
    join_path(json, key, path);
    va_list args;
    va_start(args, format);
    g_autofree char *message = g_strdup_vprintf(format, args);
    va_end(args);
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, json->file, "%s %s", path,
                               message);
}

// The value as it may be shown: short scalars as they are, else the type.
static char *
describe(const json_t *value)
{
    char buffer[LIMN_NUMBER_BUFFER];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return g_strdup("an object");
    case JSON_ARRAY:
        return g_strdup_printf("an array of %zu", json_array_size(value));
    case JSON_STRING:
        if (g_utf8_strlen(json_string_value(value), -1) > 40)
            return g_strdup("a long string");
        return g_strdup_printf("\"%s\"", json_string_value(value));
    case JSON_INTEGER:
        return g_strdup_printf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
    case JSON_REAL:
        return g_strdup(limn_number_format(buffer, json_real_value(value)));
    case JSON_TRUE:
        return g_strdup("true");
    case JSON_FALSE:
        return g_strdup("false");
    case JSON_NULL:
    default:
        return g_strdup("null");
    }
}

static gboolean
fail_found(const LimnJson *json, const char *key, const json_t *value,
           const char *expected, GError **error)
{
    g_autofree char *found = describe(value);
    return limn_json_fail(json, key, error, "is %s (expected %s)", found, expected);
}

// The member, NULL when it is missing or null.
static json_t *
get_member(const LimnJson *json, const char *key)
{
    json_t *value = json_object_get(json->value, key);
    return json_is_null(value) ? NULL : value;
}

static gboolean
need(const LimnJson *json, const char *key, const char *expected, GError **error)
{
    if (get_member(json, key) != NULL)
        return TRUE;
    return limn_json_fail(json, key, error, "is missing (expected %s)", expected);
}

gboolean
limn_json_root(json_t *root, const char *file, LimnJson *cursor, GError **error)
{
    *cursor = (LimnJson){.value = root, .file = file};
    if (json_is_object(root))
        return TRUE;
    g_autofree char *found = describe(root);
    return limn_error_set_file(error, LIMN_ERROR_FORMAT, file,
                               "the file holds %s (expected a JSON object)", found);
}

gboolean
limn_json_need_object(const LimnJson *json, const char *key, LimnJson *member,
                      GError **error)
{
    if (!need(json, key, "an object", error))
        return FALSE;
    json_t *value = get_member(json, key);
    if (!json_is_object(value))
        return fail_found(json, key, value, "an object", error);
    LimnJson result = {.value = value, .file = json->file};
    join_path(json, key, result.path);
    *member = result;
    return TRUE;
}

gboolean
limn_json_need_element(const LimnJson *json, const char *key, gsize index,
                       LimnJson *element, GError **error)
{
    if (!need(json, key, "an array", error))
        return FALSE;
    json_t *array = get_member(json, key);
    if (!json_is_array(array))
        return fail_found(json, key, array, "an array", error);
    g_autofree char *name = g_strdup_printf("%s[%zu]", key, index);
    json_t *value = json_array_get(array, index);
    if (value == NULL)
        return limn_json_fail(json, name, error, "is missing (the array has %zu)",
                              json_array_size(array));
    if (!json_is_object(value))
        return fail_found(json, name, value, "an object", error);
    LimnJson result = {.value = value, .file = json->file};
    join_path(json, name, result.path);
    *element = result;
    return TRUE;
}

gboolean
limn_json_has(const LimnJson *json, const char *key)
{
    return get_member(json, key) != NULL;
}

gboolean
limn_json_read_int(const LimnJson *json, const char *key, gint64 min, gint64 max,
                   gint64 *value, GError **error)
{
    json_t *member = get_member(json, key);
    if (member == NULL)
        return TRUE;
    gint64 found = json_integer_value(member);
    if (!json_is_integer(member) || found < min || found > max) {
        g_autofree char *expected = g_strdup_printf(
            "an integer from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, min, max);
        return fail_found(json, key, member, expected, error);
    }
    *value = found;
    return TRUE;
}

gboolean
limn_json_need_int(const LimnJson *json, const char *key, gint64 min, gint64 max,
                   gint64 *value, GError **error)
{
    return need(json, key, "an integer", error) &&
           limn_json_read_int(json, key, min, max, value, error);
}

gboolean
limn_json_read_double(const LimnJson *json, const char *key, double min, double max,
                      double *value, GError **error)
{
    json_t *member = get_member(json, key);
    if (member == NULL)
        return TRUE;
    double found = json_number_value(member);
    if (!json_is_number(member) || !(found >= min && found <= max)) {
        char low[LIMN_NUMBER_BUFFER], high[LIMN_NUMBER_BUFFER];
        g_autofree char *expected =
            g_strdup_printf("a number from %s to %s", limn_number_format(low, min),
                            limn_number_format(high, max));
        return fail_found(json, key, member, expected, error);
    }
    *value = found;
    return TRUE;
}

gboolean
limn_json_need_double(const LimnJson *json, const char *key, double min, double max,
                      double *value, GError **error)
{
    return need(json, key, "a number", error) &&
           limn_json_read_double(json, key, min, max, value, error);
}

gboolean
limn_json_read_bool(const LimnJson *json, const char *key, gboolean *value,
                    GError **error)
{
    json_t *member = get_member(json, key);
    if (member == NULL)
        return TRUE;
    if (!json_is_boolean(member))
        return fail_found(json, key, member, "true or false", error);
    *value = json_is_true(member);
    return TRUE;
}

gboolean
limn_json_read_string(const LimnJson *json, const char *key, const char **value,
                      GError **error)
{
    json_t *member = get_member(json, key);
    if (member == NULL)
        return TRUE;
    if (!json_is_string(member))
        return fail_found(json, key, member, "a string", error);
    *value = json_string_value(member);
    return TRUE;
}

gboolean
limn_json_need_string(const LimnJson *json, const char *key, const char **value,
                      GError **error)
{
    return need(json, key, "a string", error) &&
           limn_json_read_string(json, key, value, error);
}

gboolean
limn_json_read_array(const LimnJson *json, const char *key, json_t **value,
                     GError **error)
{
    json_t *member = get_member(json, key);
    if (member == NULL)
        return TRUE;
    if (!json_is_array(member))
        return fail_found(json, key, member, "an array", error);
    *value = member;
    return TRUE;
}

gboolean
limn_json_read_doubles(const LimnJson *json, const char *key, double *values, gsize n,
                       GError **error)
{
    json_t *array = NULL;
    if (!limn_json_read_array(json, key, &array, error))
        return FALSE;
    if (array == NULL)
        return TRUE;
    if (json_array_size(array) != n)
        return limn_json_fail(json, key, error, "has %zu numbers (expected %zu)",
                              json_array_size(array), n);
    for (gsize i = 0; i < n; i++) {
        const json_t *element = json_array_get(array, i);
        if (!json_is_number(element)) {
            g_autofree char *name = g_strdup_printf("%s[%zu]", key, i);
            return fail_found(json, name, element, "a number", error);
        }
    }
    for (gsize i = 0; i < n; i++)
        values[i] = json_number_value(json_array_get(array, i));
    return TRUE;
}
