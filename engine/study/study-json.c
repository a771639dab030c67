// SPDX-License-Identifier: GPL-3.0-or-later

// study.json:
//
// | member     | content                                                               |
// |------------|-----------------------------------------------------------------------|
// | operation  | id                                                                    |
// | version    | of the program that wrote it                                          |
// | seed       | integer                                                               |
// | inputs     | in the order given: {"name", "path" or "text", "size", "sha256"}      |
// | builtin    | program data used for inputs not given: {"name", "data", ...}         |
// | parameters | every parameter by name, defaults included                            |
//
// A path lies relative to the folder of study.json where it is below it, else it is
// absolute. A path that is not valid UTF-8 has its bytes percent-encoded in
// "path_bytes", and "path" only shows it. Hashes may be missing in a file written by
// hand: then nothing is compared.

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/job.h"
#include "engine/study/json-writer.h"
#include "engine/study/study.h"
#include "engine/study/suggest.h"
#include "engine/text/json.h"

#include <string.h>

#define MAX_STUDY_FILE (16 * 1024 * 1024)

// ---- writing

static void
write_path(LimnJsonWriter *json, const char *path, const char *directory)
{
    g_autofree char *relative =
        directory != NULL ? limn_relative_path(path, directory) : g_strdup(path);
    if (g_utf8_validate(relative, -1, NULL)) {
        limn_json_writer_string(json, "path", relative);
        return;
    }
    g_autofree char *shown = limn_display_path(relative);
    g_autofree char *bytes =
        g_uri_escape_bytes((const guint8 *) relative, strlen(relative), "/!$&'()*+,;=:@");
    limn_json_writer_string(json, "path", shown);
    limn_json_writer_string(json, "path_bytes", bytes);
}

static void
write_hash(LimnJsonWriter *json, const LimnStudyInput *input)
{
    if (input->sha256 != NULL) {
        limn_json_writer_uint(json, "size", input->size);
        limn_json_writer_string(json, "sha256", input->sha256);
    }
}

static void
write_inputs(LimnJsonWriter *json, const LimnStudy *study, const char *directory)
{
    limn_json_writer_begin_array(json, "inputs");
    for (guint i = 0; i < study->inputs->len; i++) {
        const LimnStudyInput *input = g_ptr_array_index(study->inputs, i);
        const LimnInput *declared =
            limn_operation_find_input(study->operation, input->name);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_string(json, "name", input->name);
        if (limn_input_is_path(declared)) {
            write_path(json, input->value, directory);
        } else {
            limn_json_writer_string(json, "text", input->value);
        }
        write_hash(json, input);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    if (study->builtins->len == 0) {
        return;
    }
    limn_json_writer_begin_array(json, "builtin");
    for (guint i = 0; i < study->builtins->len; i++) {
        const LimnStudyInput *input = g_ptr_array_index(study->builtins, i);
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_string(json, "name", input->name);
        limn_json_writer_string(json, "data", input->value);
        write_hash(json, input);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
}

static void
write_parameters(LimnJsonWriter *json, const LimnStudy *study)
{
    limn_json_writer_begin_object(json, "parameters");
    for (const LimnParameter *parameter = study->operation->parameters;
         parameter->name != NULL; parameter++) {
        g_autofree char *value = limn_study_dup_parameter(study, parameter->name);
        if (parameter->type == LIMN_PARAMETER_INT) {
            limn_json_writer_int(json, parameter->name, g_ascii_strtoll(value, NULL, 10));
        } else if (parameter->type == LIMN_PARAMETER_FLOAT) {
            limn_json_writer_double(json, parameter->name, g_ascii_strtod(value, NULL));
        } else {
            limn_json_writer_string(json, parameter->name, value);
        }
    }
    limn_json_writer_end_object(json);
}

char *
limn_study_to_json(const LimnStudy *study, const char *directory)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "operation", study->operation->id);
    limn_json_writer_string(json, "version", LIMN_VERSION);
    limn_json_writer_uint(json, "seed", study->seed);
    write_inputs(json, study, directory);
    write_parameters(json, study);
    limn_json_writer_end_object(json);
    return limn_json_writer_finish(json);
}

// ---- reading

// Somebody who writes "parameter" for "parameters" would get the defaults in silence.
static gboolean
check_members(const LimnJson *json, const char *const *known, GError **error)
{
    const char *key;
    json_t *value;
    json_object_foreach(json->value, key, value)
    {
        if (g_strv_contains(known, key)) {
            continue;
        }
        g_autofree char *where = json->path[0] != '\0'
                                     ? g_strdup_printf("%s.%s", json->path, key)
                                     : g_strdup(key);
        g_autofree char *allowed = limn_describe_allowed(key, known);
        return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, json->file,
                                   "%s is no member of a study (%s)", where, allowed);
    }
    return TRUE;
}

// Adds the file's name in front of a message that names key and value only.
static gboolean
prefix_error(const char *path, GError **error, GError *local)
{
    g_autofree char *shown = limn_display_path(path);
    g_propagate_prefixed_error(error, local, "%s: ", shown);
    return FALSE;
}

static char *
read_input_path(const LimnJson *entry, const char *directory, GError **error)
{
    const char *bytes = NULL, *path = NULL;
    if (!limn_json_read_string(entry, "path_bytes", &bytes, error)) {
        return NULL;
    }
    g_autofree char *decoded = NULL;
    if (bytes != NULL) {
        decoded = g_uri_unescape_string(bytes, NULL);
        if (decoded == NULL) {
            limn_json_fail(entry, "path_bytes", error, "is not percent-encoded");
            return NULL;
        }
        path = decoded;
    } else if (!limn_json_need_string(entry, "path", &path, error)) {
        return NULL;
    }
    if (g_path_is_absolute(path) || path[0] == '\0') {
        return g_strdup(path);
    }
    return g_build_filename(directory, path, NULL);
}

static gboolean
read_hash(const LimnJson *entry, LimnStudyInput *input, GError **error)
{
    const char *sha256 = NULL;
    gint64 size = 0;
    if (!limn_json_read_string(entry, "sha256", &sha256, error) ||
        !limn_json_read_int(entry, "size", 0, G_MAXINT64, &size, error)) {
        return FALSE;
    }
    input->sha256 = g_strdup(sha256);
    input->size = (guint64) size;
    return TRUE;
}

static gboolean
read_input(LimnStudy *study, const LimnJson *entry, const char *directory, GError **error)
{
    static const char *const members[] = {"name", "path",   "path_bytes", "text",
                                          "size", "sha256", NULL};
    const char *name = NULL, *text = NULL;
    if (!check_members(entry, members, error) ||
        !limn_json_need_string(entry, "name", &name, error)) {
        return FALSE;
    }
    const LimnInput *declared = limn_operation_find_input(study->operation, name);
    g_autofree char *value = NULL;
    if (declared != NULL && limn_input_is_path(declared)) {
        value = read_input_path(entry, directory, error);
        if (value == NULL) {
            return FALSE;
        }
    } else {
        if (!limn_json_need_string(entry, "text", &text, error)) {
            return FALSE;
        }
        value = g_strdup(text);
    }
    GError *local = NULL;
    if (declared == NULL) {
        g_auto(GStrv) keys = limn_operation_list_keys(study->operation);
        g_autofree char *allowed =
            limn_describe_allowed(name, (const char *const *) keys);
        g_set_error(&local, LIMN_ERROR, LIMN_ERROR_ARGUMENT, "%s has no input '%s' (%s)",
                    study->operation->id, name, allowed);
        return prefix_error(entry->file, error, local);
    }
    if (!limn_study_set(study, name, value, &local)) {
        return prefix_error(entry->file, error, local);
    }
    LimnStudyInput *input = g_ptr_array_index(study->inputs, study->inputs->len - 1);
    return read_hash(entry, input, error);
}

static gboolean
read_inputs(LimnStudy *study, const LimnJson *root, const char *directory, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(root, "inputs", &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson entry;
        if (!limn_json_need_element(root, "inputs", i, &entry, error) ||
            !read_input(study, &entry, directory, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_builtins(LimnStudy *study, const LimnJson *root, GError **error)
{
    json_t *list = NULL;
    if (!limn_json_read_array(root, "builtin", &list, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < json_array_size(list); i++) {
        LimnJson entry;
        const char *name = NULL, *data = NULL;
        if (!limn_json_need_element(root, "builtin", i, &entry, error) ||
            !limn_json_need_string(&entry, "name", &name, error) ||
            !limn_json_need_string(&entry, "data", &data, error)) {
            return FALSE;
        }
        LimnStudyInput *input = g_new0(LimnStudyInput, 1);
        input->name = g_strdup(name);
        input->value = g_strdup(data);
        g_ptr_array_add(study->builtins, input);
        if (!read_hash(&entry, input, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
read_parameters(LimnStudy *study, const LimnJson *root, GError **error)
{
    LimnJson parameters;
    if (!limn_json_has(root, "parameters")) {
        return TRUE;
    }
    if (!limn_json_need_object(root, "parameters", &parameters, error)) {
        return FALSE;
    }
    const char *key;
    json_t *value;
    json_object_foreach(parameters.value, key, value)
    {
        g_autofree char *text = NULL;
        GError *local = NULL;
        if (json_is_string(value)) {
            text = g_strdup(json_string_value(value));
        } else if (json_is_number(value) || json_is_boolean(value)) {
            text = json_is_boolean(value) ? g_strdup(json_is_true(value) ? "yes" : "no")
                                          : json_dumps(value, JSON_ENCODE_ANY);
        } else {
            return limn_json_fail(&parameters, key, error,
                                  "is neither text nor a number");
        }
        if (limn_operation_find_input(study->operation, key) != NULL) {
            return limn_json_fail(&parameters, key, error,
                                  "is an input (expected it under inputs)");
        }
        if (!limn_study_set(study, key, text, &local)) {
            return prefix_error(root->file, error, local);
        }
    }
    return TRUE;
}

// ---- comparing with the files as they are now

static gboolean
verify_hash(const char *path, const LimnStudyInput *was, const LimnStudyInput *now,
            GError **error)
{
    if (was->sha256 == NULL || strcmp(was->sha256, now->sha256) == 0) {
        return TRUE;
    }
    g_autofree char *study = limn_display_path(path);
    return limn_error_set_file(
        error, LIMN_ERROR_MISMATCH, now->value,
        "the input '%s' changed since %s was written (SHA-256 found %s, expected %s)",
        now->name, study, now->sha256, was->sha256);
}

static gboolean
verify_study(LimnStudy *study, const char *path, LimnJob *job, GError **error)
{
    g_autoptr(LimnStudy) now = limn_study_dup(study);
    if (!limn_study_hash_inputs(now, job, error)) {
        return FALSE;
    }
    for (guint i = 0; i < study->inputs->len; i++) {
        if (!verify_hash(path, g_ptr_array_index(study->inputs, i),
                         g_ptr_array_index(now->inputs, i), error)) {
            return FALSE;
        }
    }
    for (guint i = 0; i < study->builtins->len; i++) {
        const LimnStudyInput *was = g_ptr_array_index(study->builtins, i);
        for (guint k = 0; k < now->builtins->len; k++) {
            const LimnStudyInput *is = g_ptr_array_index(now->builtins, k);
            if (strcmp(was->name, is->name) == 0 && !verify_hash(path, was, is, error)) {
                return FALSE;
            }
        }
    }
    return TRUE;
}

static LimnStudy *
study_new_for(const LimnJson *root, GError **error)
{
    const char *id = NULL;
    if (!limn_json_need_string(root, "operation", &id, error)) {
        return NULL;
    }
    const LimnOperation *operation = limn_registry_find(id);
    if (operation == NULL) {
        g_autofree char *shown = limn_display_path(id);
        limn_error_set_file(error, LIMN_ERROR_ARGUMENT, root->file,
                            "the operation '%s' is not known", shown);
        return NULL;
    }
    return limn_study_new(operation);
}

LimnStudy *
limn_study_load(const char *path, gboolean verify, LimnJob *job, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(path, MAX_STUDY_FILE, error);
    if (bytes == NULL) {
        return NULL;
    }
    gsize size = 0;
    const void *data = g_bytes_get_data(bytes, &size);
    g_autoptr(json_t) value = limn_json_parse(data, size, path, error);
    LimnJson root;
    if (value == NULL || !limn_json_root(value, path, &root, error)) {
        return NULL;
    }
    static const char *const members[] = {"operation", "version",    "seed", "inputs",
                                          "builtin",   "parameters", NULL};
    g_autofree char *absolute = limn_absolute_path(path);
    g_autofree char *directory = g_path_get_dirname(absolute);
    gint64 seed = 0;
    g_autoptr(LimnStudy) study = study_new_for(&root, error);
    if (study == NULL || !check_members(&root, members, error) ||
        !limn_json_read_int(&root, "seed", 0, G_MAXINT64, &seed, error) ||
        !read_inputs(study, &root, directory, error) ||
        !read_builtins(study, &root, error) || !read_parameters(study, &root, error)) {
        return NULL;
    }
    study->seed = (guint64) seed;
    if (verify && !verify_study(study, path, job, error)) {
        return NULL;
    }
    return g_steal_pointer(&study);
}
