// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/study.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/job.h"
#include "engine/base/number.h"
#include "engine/study/suggest.h"

#include <string.h>

static void
input_free(LimnStudyInput *input)
{
    g_free(input->name);
    g_free(input->value);
    g_free(input->sha256);
    g_free(input);
}

static LimnStudyInput *
input_new(const char *name, const char *value)
{
    LimnStudyInput *input = g_new0(LimnStudyInput, 1);
    input->name = g_strdup(name);
    input->value = g_strdup(value);
    return input;
}

static GPtrArray *
inputs_dup(GPtrArray *from)
{
    GPtrArray *inputs = g_ptr_array_new_with_free_func((GDestroyNotify) input_free);
    for (guint i = 0; i < from->len; i++) {
        const LimnStudyInput *input = g_ptr_array_index(from, i);
        LimnStudyInput *copy = input_new(input->name, input->value);
        copy->sha256 = g_strdup(input->sha256);
        copy->size = input->size;
        g_ptr_array_add(inputs, copy);
    }
    return inputs;
}

LimnStudy *
limn_study_new(const LimnOperation *operation)
{
    LimnStudy *study = g_new0(LimnStudy, 1);
    g_atomic_ref_count_init(&study->refs);
    study->operation = operation;
    study->inputs = g_ptr_array_new_with_free_func((GDestroyNotify) input_free);
    study->builtins = g_ptr_array_new_with_free_func((GDestroyNotify) input_free);
    study->parameters = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    return study;
}

LimnStudy *
limn_study_ref(LimnStudy *study)
{
    g_atomic_ref_count_inc(&study->refs);
    return study;
}

void
limn_study_unref(LimnStudy *study)
{
    if (study == NULL || !g_atomic_ref_count_dec(&study->refs)) {
        return;
    }
    g_ptr_array_unref(study->inputs);
    g_ptr_array_unref(study->builtins);
    g_hash_table_unref(study->parameters);
    g_free(study);
}

LimnStudy *
limn_study_dup(const LimnStudy *study)
{
    LimnStudy *copy = limn_study_new(study->operation);
    g_ptr_array_unref(copy->inputs);
    g_ptr_array_unref(copy->builtins);
    copy->inputs = inputs_dup(study->inputs);
    copy->builtins = inputs_dup(study->builtins);
    copy->seed = study->seed;
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, study->parameters);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        g_hash_table_insert(copy->parameters, g_strdup(key), g_strdup(value));
    }
    return copy;
}

// ---- setting

static gboolean
set_unknown_key(const LimnStudy *study, const char *key, const char *value,
                GError **error)
{
    g_autofree char *shown = limn_display_path(value);
    g_autofree char *shown_key = limn_display_path(key);
    if (strcmp(key, "seed") == 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "seed=%s: the seed is not a parameter (expected --seed %s)", shown,
                    shown);
        return FALSE;
    }
    g_auto(GStrv) keys = limn_operation_list_keys(study->operation);
    g_autofree char *allowed = limn_describe_allowed(key, (const char *const *) keys);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT, "%s=%s: %s has no such key (%s)",
                shown_key, shown, study->operation->id, allowed);
    return FALSE;
}

static gboolean
set_bad_number(const LimnParameter *parameter, const char *value, const char *what,
               GError **error)
{
    char low[LIMN_NUMBER_BUFFER], high[LIMN_NUMBER_BUFFER];
    g_autofree char *shown = limn_display_path(value);
    g_set_error(
        error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
        "%s=%s: the value is %s (expected %s from %s to %s%s%s)", parameter->name, shown,
        what, parameter->type == LIMN_PARAMETER_INT ? "an integer" : "a number",
        limn_number_format(low, parameter->min), limn_number_format(high, parameter->max),
        parameter->unit != NULL ? " " : "",
        parameter->unit != NULL ? parameter->unit : "");
    return FALSE;
}

static gboolean
set_bad_choice(const LimnParameter *parameter, const char *value, GError **error)
{
    g_autofree char *shown = limn_display_path(value);
    g_autofree char *allowed =
        limn_describe_allowed(value, limn_parameter_get_choices(parameter));
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "%s=%s: the value is not one of the choices (%s)", parameter->name, shown,
                allowed);
    return FALSE;
}

// The one way to write a value of a parameter: "007" is "7".
static char *
canonical_value(const LimnParameter *parameter, const char *value, GError **error)
{
    char buffer[LIMN_NUMBER_BUFFER];
    gint64 integer;
    double number;
    switch (parameter->type) {
    case LIMN_PARAMETER_INT:
        if (!limn_integer_parse(value, &integer)) {
            set_bad_number(parameter, value, "not an integer", error);
            return NULL;
        }
        if ((double) integer < parameter->min || (double) integer > parameter->max) {
            set_bad_number(parameter, value, "out of range", error);
            return NULL;
        }
        return g_strdup_printf("%" G_GINT64_FORMAT, integer);
    case LIMN_PARAMETER_FLOAT:
        if (!limn_number_parse(value, &number) || number != number) {
            set_bad_number(parameter, value, "not a number", error);
            return NULL;
        }
        if (number < parameter->min || number > parameter->max) {
            set_bad_number(parameter, value, "out of range", error);
            return NULL;
        }
        return g_strdup(limn_number_format(buffer, number));
    case LIMN_PARAMETER_BOOL:
    case LIMN_PARAMETER_CHOICE:
        if (!g_strv_contains(limn_parameter_get_choices(parameter), value)) {
            set_bad_choice(parameter, value, error);
            return NULL;
        }
        break;
    case LIMN_PARAMETER_TEXT:
        break;
    }
    return g_strdup(value);
}

static gboolean
check_utf8(const char *key, const char *value, GError **error)
{
    const char *end;
    if (g_utf8_validate(value, -1, &end)) {
        return TRUE;
    }
    g_autofree char *shown = limn_display_path(value);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "%s=%s: the text is not valid UTF-8 (byte %zu is 0x%02x)", key, shown,
                (size_t) (end - value) + 1, (guint8) *end);
    return FALSE;
}

static gboolean
add_input(LimnStudy *study, const LimnInput *input, const char *value, GError **error)
{
    if (!limn_input_is_path(input)) {
        if (!check_utf8(input->name, value, error)) {
            return FALSE;
        }
        g_ptr_array_add(study->inputs, input_new(input->name, value));
        return TRUE;
    }
    if (value[0] == '\0') {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s=: the path is empty (expected %s)", input->name,
                    input->accepts != NULL ? input->accepts
                                           : limn_input_type_name(input->type));
        return FALSE;
    }
    g_autofree char *path = limn_absolute_path(value);
    g_ptr_array_add(study->inputs, input_new(input->name, path));
    return TRUE;
}

static gboolean
set_repeated(const char *key, const char *value, GError **error)
{
    g_autofree char *shown = limn_display_path(value);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "%s=%s: the key was given before (it may be given once)", key, shown);
    return FALSE;
}

static gboolean
set_parameter(LimnStudy *study, const LimnParameter *parameter, const char *value,
              GError **error)
{
    if (!check_utf8(parameter->name, value, error)) {
        return FALSE;
    }
    char *canonical = canonical_value(parameter, value, error);
    if (canonical == NULL) {
        return FALSE;
    }
    g_hash_table_replace(study->parameters, g_strdup(parameter->name), canonical);
    return TRUE;
}

gboolean
limn_study_set(LimnStudy *study, const char *key, const char *value, GError **error)
{
    const LimnInput *input = limn_operation_find_input(study->operation, key);
    if (input != NULL) {
        if (!input->list && limn_study_get_input(study, key) != NULL) {
            return set_repeated(key, value, error);
        }
        return add_input(study, input, value, error);
    }
    const LimnParameter *parameter = limn_operation_find_parameter(study->operation, key);
    if (parameter == NULL) {
        return set_unknown_key(study, key, value, error);
    }
    if (g_hash_table_contains(study->parameters, key)) {
        return set_repeated(key, value, error);
    }
    return set_parameter(study, parameter, value, error);
}

static void
remove_input(LimnStudy *study, const char *key, guint keep_last)
{
    guint n = study->inputs->len - keep_last;
    for (guint i = n; i-- > 0;) {
        const LimnStudyInput *input = g_ptr_array_index(study->inputs, i);
        if (strcmp(input->name, key) == 0) {
            g_ptr_array_remove_index(study->inputs, i);
        }
    }
}

gboolean
limn_study_replace(LimnStudy *study, const char *key, const char *value, GError **error)
{
    const LimnInput *input = limn_operation_find_input(study->operation, key);
    const LimnParameter *parameter = limn_operation_find_parameter(study->operation, key);
    if (input == NULL && parameter == NULL) {
        return set_unknown_key(study, key, value != NULL ? value : "", error);
    }
    if (input != NULL) {
        // The new value is checked before the old one goes.
        if (value != NULL && !add_input(study, input, value, error)) {
            return FALSE;
        }
        remove_input(study, key, value != NULL ? 1 : 0);
        return TRUE;
    }
    if (value == NULL) {
        g_hash_table_remove(study->parameters, key);
        return TRUE;
    }
    return set_parameter(study, parameter, value, error);
}

// ---- checking

static gboolean
group_is_optional(const LimnOperation *operation, const char *group)
{
    for (const LimnInput *input = operation->inputs; input->name != NULL; input++) {
        if (g_strcmp0(input->one_of, group) == 0 && input->optional_group) {
            return TRUE;
        }
    }
    return FALSE;
}

// Of the inputs of one group at most one is given, and one is needed.
static gboolean
validate_group(const LimnStudy *study, const char *group, GError **error)
{
    g_autoptr(GString) names = g_string_new(NULL);
    g_autoptr(GString) given = g_string_new(NULL);
    guint n_given = 0;
    for (const LimnInput *input = study->operation->inputs; input->name != NULL;
         input++) {
        if (g_strcmp0(input->one_of, group) != 0) {
            continue;
        }
        g_string_append_printf(names, "%s%s=", names->len > 0 ? ", " : "", input->name);
        if (limn_study_get_input(study, input->name) != NULL) {
            g_string_append_printf(given, "%s%s", n_given > 0 ? " and " : "",
                                   input->name);
            n_given++;
        }
    }
    if (n_given > 1) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: %s exclude each other (expected one of %s)",
                    study->operation->id, given->str, names->str);
        return FALSE;
    }
    if (n_given == 0 && !group_is_optional(study->operation, group)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: an input is missing (expected one of %s)", study->operation->id,
                    names->str);
        return FALSE;
    }
    return TRUE;
}

gboolean
limn_study_validate(const LimnStudy *study, GError **error)
{
    for (const LimnInput *input = study->operation->inputs; input->name != NULL;
         input++) {
        if (input->one_of != NULL) {
            if (!validate_group(study, input->one_of, error)) {
                return FALSE;
            }
        } else if (input->required && limn_study_get_input(study, input->name) == NULL) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                        "%s: the input '%s' is missing (expected %s=%s)",
                        study->operation->id, input->name, input->name,
                        input->accepts != NULL ? input->accepts
                                               : limn_input_type_name(input->type));
            return FALSE;
        }
    }
    return TRUE;
}

const char *
limn_study_get_input(const LimnStudy *study, const char *name)
{
    for (guint i = 0; i < study->inputs->len; i++) {
        const LimnStudyInput *input = g_ptr_array_index(study->inputs, i);
        if (strcmp(input->name, name) == 0) {
            return input->value;
        }
    }
    return NULL;
}

char *
limn_study_dup_parameter(const LimnStudy *study, const char *name)
{
    const char *value = g_hash_table_lookup(study->parameters, name);
    if (value != NULL) {
        return g_strdup(value);
    }
    const LimnParameter *parameter =
        limn_operation_find_parameter(study->operation, name);
    g_return_val_if_fail(parameter != NULL, NULL);
    return limn_parameter_dup_default(parameter);
}

// ---- hashes

static char *
hash_path(const char *path, guint64 *size, LimnJob *job, GError **error)
{
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        return limn_sha256_tree(path, size, job, error);
    }
    return limn_sha256_file(path, size, job, error);
}

static gboolean
hash_input(const LimnStudy *study, LimnStudyInput *input, LimnJob *job, GError **error)
{
    const LimnInput *declared = limn_operation_find_input(study->operation, input->name);
    char *digest = NULL;
    guint64 size = 0;
    if (limn_input_is_path(declared)) {
        digest = hash_path(input->value, &size, job, error);
    } else {
        size = strlen(input->value);
        digest = limn_sha256_bytes(input->value, size);
    }
    if (digest == NULL) {
        return FALSE;
    }
    g_free(input->sha256);
    input->sha256 = digest;
    input->size = size;
    return TRUE;
}

static gboolean
hash_builtin(LimnStudy *study, const LimnInput *declared, LimnJob *job, GError **error)
{
    g_autofree char *path = limn_data_path(declared->builtin, error);
    if (path == NULL) {
        return FALSE;
    }
    LimnStudyInput *input = input_new(declared->name, declared->builtin);
    g_ptr_array_add(study->builtins, input);
    input->sha256 = hash_path(path, &input->size, job, error);
    return input->sha256 != NULL;
}

gboolean
limn_study_hash_inputs(LimnStudy *study, LimnJob *job, GError **error)
{
    for (guint i = 0; i < study->inputs->len; i++) {
        if (!hash_input(study, g_ptr_array_index(study->inputs, i), job, error)) {
            return FALSE;
        }
    }
    g_ptr_array_set_size(study->builtins, 0);
    for (const LimnInput *input = study->operation->inputs; input->name != NULL;
         input++) {
        if (input->builtin != NULL && limn_study_get_input(study, input->name) == NULL &&
            !hash_builtin(study, input, job, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

void
limn_study_take_hashes(LimnStudy *study, const LimnStudy *copy)
{
    g_return_if_fail(study->inputs->len == copy->inputs->len);
    g_ptr_array_unref(study->inputs);
    g_ptr_array_unref(study->builtins);
    study->inputs = inputs_dup(copy->inputs);
    study->builtins = inputs_dup(copy->builtins);
}

char *
limn_study_identity(const LimnStudy *study, LimnJob *job, GError **error)
{
    g_autoptr(LimnStudy) copy = limn_study_dup(study);
    limn_job_push_range(job, 0, 0);
    gboolean hashed = limn_study_hash_inputs(copy, job, error);
    limn_job_pop_range(job);
    if (!hashed) {
        return NULL;
    }
    g_autofree char *text = limn_study_to_json(copy, NULL);
    return limn_sha256_bytes(text, strlen(text));
}

// ---- comparing

static gboolean
set_different(const char *what, const char *a, const char *b, GError **error)
{
    g_autofree char *shown_a = limn_display_path(a);
    g_autofree char *shown_b = limn_display_path(b);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH, "%s differs (%s and %s)", what,
                shown_a, shown_b);
    return FALSE;
}

static gboolean
inputs_equal(GPtrArray *a, GPtrArray *b, GError **error)
{
    if (a->len != b->len) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "the number of inputs differs (%u and %u)", a->len, b->len);
        return FALSE;
    }
    for (guint i = 0; i < a->len; i++) {
        const LimnStudyInput *x = g_ptr_array_index(a, i), *y = g_ptr_array_index(b, i);
        gboolean hashed = x->sha256 != NULL && y->sha256 != NULL;
        if (strcmp(x->name, y->name) != 0) {
            return set_different("the order of the inputs", x->name, y->name, error);
        }
        if (hashed && strcmp(x->sha256, y->sha256) != 0) {
            return set_different(x->name, x->sha256, y->sha256, error);
        }
        if (!hashed && strcmp(x->value, y->value) != 0) {
            return set_different(x->name, x->value, y->value, error);
        }
    }
    return TRUE;
}

gboolean
limn_study_equal(const LimnStudy *a, const LimnStudy *b, GError **error)
{
    if (a->operation != b->operation) {
        return set_different("the operation", a->operation->id, b->operation->id, error);
    }
    if (a->seed != b->seed) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "the seed differs (%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT ")",
                    a->seed, b->seed);
        return FALSE;
    }
    for (const LimnParameter *parameter = a->operation->parameters;
         parameter->name != NULL; parameter++) {
        g_autofree char *x = limn_study_dup_parameter(a, parameter->name);
        g_autofree char *y = limn_study_dup_parameter(b, parameter->name);
        if (strcmp(x, y) != 0) {
            return set_different(parameter->name, x, y, error);
        }
    }
    return inputs_equal(a->inputs, b->inputs, error) &&
           inputs_equal(a->builtins, b->builtins, error);
}
