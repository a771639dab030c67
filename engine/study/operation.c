// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "engine/base/number.h"
#include "engine/study/operation.h"

#include <glib/gi18n-lib.h>

static const struct {
    const char *id;
    const char *title;
} families[] = {
    [LIMN_FAMILY_EXPLAIN] = {"explain", N_("Explain")},
    [LIMN_FAMILY_CORRECT] = {"correct", N_("Correct")},
    [LIMN_FAMILY_GRAPHS] = {"graphs", N_("Graphs")},
    [LIMN_FAMILY_DIFFUSION] = {"diffusion", N_("Diffusion")},
    [LIMN_FAMILY_LEARNING] = {"learning", N_("Learning")},
    [LIMN_FAMILY_LANGUAGE] = {"language", N_("Language")},
};

const char *
limn_family_id(LimnFamily family)
{
    g_return_val_if_fail((guint) family < G_N_ELEMENTS(families), NULL);
    return families[family].id;
}

const char *
limn_family_title(LimnFamily family)
{
    g_return_val_if_fail((guint) family < G_N_ELEMENTS(families), NULL);
    return g_dgettext("limn", families[family].title);
}

const char *
limn_parameter_type_name(LimnParameterType type)
{
    switch (type) {
    case LIMN_PARAMETER_INT:
        return "integer";
    case LIMN_PARAMETER_FLOAT:
        return "number";
    case LIMN_PARAMETER_BOOL:
        return "switch";
    case LIMN_PARAMETER_CHOICE:
        return "choice";
    case LIMN_PARAMETER_TEXT:
        return "text";
    }
    return NULL;
}

const char *
limn_input_type_name(LimnInputType type)
{
    switch (type) {
    case LIMN_INPUT_FILE:
        return "file";
    case LIMN_INPUT_IMAGE:
        return "picture";
    case LIMN_INPUT_FOLDER:
        return "folder";
    case LIMN_INPUT_PATH:
        return "file or folder";
    case LIMN_INPUT_TEXT:
        return "text";
    }
    return NULL;
}

gboolean
limn_input_is_path(const LimnInput *input)
{
    return input->type != LIMN_INPUT_TEXT;
}

const char *const *
limn_parameter_get_choices(const LimnParameter *parameter)
{
    static const char *const no_yes[] = {"no", "yes", NULL};
    if (parameter->type == LIMN_PARAMETER_BOOL) {
        return parameter->choices != NULL ? parameter->choices : no_yes;
    }
    return parameter->type == LIMN_PARAMETER_CHOICE ? parameter->choices : NULL;
}

char *
limn_parameter_dup_default(const LimnParameter *parameter)
{
    char buffer[LIMN_NUMBER_BUFFER];
    switch (parameter->type) {
    case LIMN_PARAMETER_INT:
        return g_strdup_printf("%" G_GINT64_FORMAT, parameter->int_default);
    case LIMN_PARAMETER_FLOAT:
        return g_strdup(limn_number_format(buffer, parameter->float_default));
    case LIMN_PARAMETER_BOOL:
    case LIMN_PARAMETER_CHOICE:
        return g_strdup(limn_parameter_get_choices(parameter)[0]);
    case LIMN_PARAMETER_TEXT:
        break;
    }
    return g_strdup(parameter->text_default != NULL ? parameter->text_default : "");
}

const LimnInput *
limn_operation_find_input(const LimnOperation *operation, const char *name)
{
    for (const LimnInput *input = operation->inputs; input->name != NULL; input++) {
        if (g_strcmp0(input->name, name) == 0) {
            return input;
        }
    }
    return NULL;
}

const LimnParameter *
limn_operation_find_parameter(const LimnOperation *operation, const char *name)
{
    for (const LimnParameter *parameter = operation->parameters; parameter->name != NULL;
         parameter++) {
        if (g_strcmp0(parameter->name, name) == 0) {
            return parameter;
        }
    }
    return NULL;
}

GStrv
limn_operation_list_keys(const LimnOperation *operation)
{
    g_autoptr(GStrvBuilder) keys = g_strv_builder_new();
    for (const LimnInput *input = operation->inputs; input->name != NULL; input++) {
        g_strv_builder_add(keys, input->name);
    }
    for (const LimnParameter *parameter = operation->parameters; parameter->name != NULL;
         parameter++) {
        g_strv_builder_add(keys, parameter->name);
    }
    return g_strv_builder_end(keys);
}

static const LimnOperation *const no_operations[] = {NULL};
static const LimnOperation *const *registry = no_operations;

void
limn_registry_set(const LimnOperation *const *operations)
{
    registry = operations != NULL ? operations : no_operations;
}

const LimnOperation *const *
limn_registry_get(void)
{
    return registry;
}

const LimnOperation *
limn_registry_find(const char *id)
{
    for (const LimnOperation *const *at = registry; *at != NULL; at++) {
        if (g_strcmp0((*at)->id, id) == 0) {
            return *at;
        }
    }
    return NULL;
}
