// SPDX-License-Identifier: GPL-3.0-or-later

// limn-cli list and limn-cli help.

#include "limn-config.h"

#include "app/cli.h"
#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/study/json-writer.h"
#include "engine/study/suggest.h"

#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>

// Texts of declarations are marked for translation there.
static const char *
translated(const char *text)
{
    return text != NULL && text[0] != '\0' ? g_dgettext(GETTEXT_PACKAGE, text) : "";
}

// ---- list

static void
print_list_json(void)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_begin_array(json, NULL);
    for (const LimnOperation *const *at = limn_registry_get(); *at != NULL; at++) {
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_string(json, "id", (*at)->id);
        limn_json_writer_string(json, "family", limn_family_id((*at)->family));
        limn_json_writer_string(json, "title", (*at)->title);
        limn_json_writer_string(json, "summary", (*at)->summary);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    g_autofree char *text = limn_json_writer_finish(json);
    fputs(text, stdout);
}

static int
run_list(const LimnCliArguments *arguments)
{
    if (arguments->positionals->len > 0) {
        g_autofree char *shown =
            limn_display_path(g_ptr_array_index(arguments->positionals, 0));
        return limn_cli_usage_error(_("list: '%s' is one word too many"), shown);
    }
    if (limn_cli_has(arguments, "json")) {
        print_list_json();
        return 0;
    }
    int widest = 0;
    for (const LimnOperation *const *at = limn_registry_get(); *at != NULL; at++) {
        widest = MAX(widest, (int) strlen((*at)->id));
    }
    for (const LimnOperation *const *at = limn_registry_get(); *at != NULL; at++) {
        printf("%-*s  %-9s  %s\n", widest, (*at)->id, limn_family_id((*at)->family),
               translated((*at)->title));
    }
    return 0;
}

static const LimnCliOption list_options[] = {
    {"json", NULL, N_("as JSON")},
    {NULL, NULL, NULL},
};

const LimnCliVerb limn_cli_list = {
    .name = "list",
    .usage = "[--json]",
    .summary = N_("List every operation: id, family, title."),
    .options = list_options,
    .run = run_list,
};

// ---- help of an operation as text

static const char *
input_placeholder(const LimnInput *input)
{
    switch (input->type) {
    case LIMN_INPUT_FILE:
        return "FILE";
    case LIMN_INPUT_IMAGE:
        return "PICTURE";
    case LIMN_INPUT_FOLDER:
        return "DIR";
    case LIMN_INPUT_PATH:
        return "PATH";
    case LIMN_INPUT_TEXT:
        return "TEXT";
    }
    return "VALUE";
}

static void
print_remark(const char *text)
{
    limn_cli_print_wrapped(text, 6);
}

// The other inputs of a group, or NULL.
static char *
describe_group(const LimnOperation *operation, const LimnInput *input)
{
    if (input->one_of == NULL) {
        return NULL;
    }
    g_autoptr(GString) others = g_string_new(NULL);
    for (const LimnInput *other = operation->inputs; other->name != NULL; other++) {
        if (other != input && g_strcmp0(other->one_of, input->one_of) == 0) {
            g_string_append_printf(others, "%s%s=", others->len > 0 ? ", " : "",
                                   other->name);
        }
    }
    return g_strdup_printf(input->optional_group ? _("or %s; may be left out")
                                                 : _("or %s; one of them is needed"),
                           others->str);
}

static void
print_input(const LimnOperation *operation, const LimnInput *input)
{
    printf("  %s=%s%s\n", input->name, input_placeholder(input),
           input->list ? " ..." : "");
    print_remark(translated(input->summary));
    if (input->accepts != NULL) {
        g_autofree char *text =
            g_strdup_printf(_("Accepts: %s"), translated(input->accepts));
        print_remark(text);
    }
    g_autofree char *group = describe_group(operation, input);
    g_autoptr(GString) notes = g_string_new(group);
    if (input->one_of == NULL) {
        g_string_append(notes, input->required          ? _("needed")
                               : input->builtin != NULL ? _("default: built-in")
                                                        : _("may be left out"));
    }
    if (input->list) {
        g_string_append(notes, _("; may be repeated"));
    }
    g_autofree char *text = g_strdup_printf("(%s)", notes->str);
    print_remark(text);
}

static char *
describe_values(const LimnParameter *parameter)
{
    char low[LIMN_NUMBER_BUFFER], high[LIMN_NUMBER_BUFFER];
    const char *const *choices = limn_parameter_get_choices(parameter);
    if (choices != NULL) {
        return limn_join(choices, "|");
    }
    if (parameter->type == LIMN_PARAMETER_TEXT) {
        return g_strdup("TEXT");
    }
    return g_strdup_printf("%s..%s", limn_number_format(low, parameter->min),
                           limn_number_format(high, parameter->max));
}

static void
print_parameter(const LimnParameter *parameter)
{
    g_autofree char *values = describe_values(parameter);
    g_autofree char *standard = limn_parameter_dup_default(parameter);
    printf("  %s=%s\n", parameter->name, values);
    print_remark(translated(parameter->summary));
    const char *const *choices = limn_parameter_get_choices(parameter);
    for (guint i = 0;
         choices != NULL && parameter->choice_summaries != NULL && choices[i] != NULL;
         i++) {
        g_autofree char *text = g_strdup_printf(
            "%s: %s", choices[i], translated(parameter->choice_summaries[i]));
        limn_cli_print_wrapped(text, 8);
    }
    g_autofree char *text =
        standard[0] == '\0'
            ? g_strdup(_("(unset by default)"))
            : g_strdup_printf(_("(default: %s%s%s)"), standard,
                              parameter->unit != NULL ? ", in " : "",
                              parameter->unit != NULL ? translated(parameter->unit) : "");
    print_remark(text);
}

static void
print_operation_help(const LimnOperation *operation)
{
    printf("%s: %s (%s)\n\n", operation->id, translated(operation->title),
           limn_family_title(operation->family));
    limn_cli_print_wrapped(translated(operation->summary), 0);
    if (operation->description != NULL) {
        putchar('\n');
        limn_cli_print_wrapped(translated(operation->description), 0);
    }
    if (operation->paper.title != NULL) {
        putchar('\n');
        g_autofree char *text =
            g_strdup_printf(_("Paper: %s. \"%s\". %s."), operation->paper.authors,
                            operation->paper.title, operation->paper.venue);
        limn_cli_print_wrapped(text, 0);
    }
    printf("\n%s\n", _("Inputs:"));
    for (const LimnInput *input = operation->inputs; input->name != NULL; input++) {
        print_input(operation, input);
    }
    printf("\n%s\n", _("Parameters:"));
    for (const LimnParameter *parameter = operation->parameters; parameter->name != NULL;
         parameter++) {
        print_parameter(parameter);
    }
    printf("\n%s\n", _("Outputs:"));
    for (const LimnOutput *output = operation->outputs; output->name != NULL; output++) {
        printf("  %s: %s%s%s\n", output->name, output->kind,
               output->shape != NULL ? " " : "",
               output->shape != NULL ? output->shape : "");
        print_remark(translated(output->summary));
    }
}

// ---- help of an operation as JSON

static void
write_input(LimnJsonWriter *json, const LimnInput *input)
{
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "name", input->name);
    limn_json_writer_string(json, "type", limn_input_type_name(input->type));
    limn_json_writer_bool(json, "required", input->required);
    limn_json_writer_bool(json, "list", input->list);
    limn_json_writer_string(json, "one_of", input->one_of);
    limn_json_writer_bool(json, "optional_group", input->optional_group);
    limn_json_writer_string(json, "accepts", input->accepts);
    limn_json_writer_string(json, "builtin", input->builtin);
    limn_json_writer_string(json, "summary", input->summary);
    limn_json_writer_end_object(json);
}

static void
write_parameter(LimnJsonWriter *json, const LimnParameter *parameter)
{
    gboolean integer = parameter->type == LIMN_PARAMETER_INT;
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "name", parameter->name);
    limn_json_writer_string(json, "type", limn_parameter_type_name(parameter->type));
    if (integer || parameter->type == LIMN_PARAMETER_FLOAT) {
        limn_json_writer_double(json, "default",
                                integer ? (double) parameter->int_default
                                        : parameter->float_default);
        limn_json_writer_double(json, "min", parameter->min);
        limn_json_writer_double(json, "max", parameter->max);
    } else {
        g_autofree char *text = limn_parameter_dup_default(parameter);
        limn_json_writer_string(json, "default", text);
    }
    const char *const *choices = limn_parameter_get_choices(parameter);
    if (choices != NULL) {
        limn_json_writer_begin_array(json, "choices");
        for (guint i = 0; choices[i] != NULL; i++) {
            limn_json_writer_begin_object(json, NULL);
            limn_json_writer_string(json, "value", choices[i]);
            limn_json_writer_string(json, "summary",
                                    parameter->choice_summaries != NULL
                                        ? parameter->choice_summaries[i]
                                        : NULL);
            limn_json_writer_end_object(json);
        }
        limn_json_writer_end_array(json);
    }
    limn_json_writer_string(json, "unit", parameter->unit);
    limn_json_writer_bool(json, "advanced", parameter->advanced);
    limn_json_writer_bool(json, "live", parameter->live);
    limn_json_writer_string(json, "summary", parameter->summary);
    limn_json_writer_end_object(json);
}

static void
write_outputs(LimnJsonWriter *json, const LimnOperation *operation)
{
    limn_json_writer_begin_array(json, "outputs");
    for (const LimnOutput *output = operation->outputs; output->name != NULL; output++) {
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_string(json, "name", output->name);
        limn_json_writer_string(json, "kind", output->kind);
        limn_json_writer_string(json, "shape", output->shape);
        limn_json_writer_string(json, "summary", output->summary);
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    if (operation->figure != NULL) {
        limn_json_writer_begin_object(json, "figure");
        limn_json_writer_string(json, "artifact", operation->figure->artifact);
        limn_json_writer_string(json, "layout", operation->figure->layout);
        limn_json_writer_string(json, "caption", operation->figure->caption);
        limn_json_writer_end_object(json);
    }
}

static void
print_operation_json(const LimnOperation *operation)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "id", operation->id);
    limn_json_writer_string(json, "family", limn_family_id(operation->family));
    limn_json_writer_string(json, "title", operation->title);
    limn_json_writer_string(json, "summary", operation->summary);
    limn_json_writer_string(json, "description", operation->description);
    if (operation->paper.title != NULL) {
        limn_json_writer_begin_object(json, "paper");
        limn_json_writer_string(json, "title", operation->paper.title);
        limn_json_writer_string(json, "authors", operation->paper.authors);
        limn_json_writer_string(json, "venue", operation->paper.venue);
        limn_json_writer_end_object(json);
    } else {
        limn_json_writer_null(json, "paper");
    }
    limn_json_writer_bool(json, "shardable", operation->shardable);
    limn_json_writer_bool(json, "resumable", operation->resumable);
    limn_json_writer_begin_array(json, "inputs");
    for (const LimnInput *input = operation->inputs; input->name != NULL; input++) {
        write_input(json, input);
    }
    limn_json_writer_end_array(json);
    limn_json_writer_begin_array(json, "parameters");
    for (const LimnParameter *parameter = operation->parameters; parameter->name != NULL;
         parameter++) {
        write_parameter(json, parameter);
    }
    limn_json_writer_end_array(json);
    write_outputs(json, operation);
    limn_json_writer_end_object(json);
    g_autofree char *text = limn_json_writer_finish(json);
    fputs(text, stdout);
}

// ---- help

static int
unknown_topic(const char *topic)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (const LimnCliVerb *const *verb = limn_cli_verbs; *verb != NULL; verb++) {
        g_strv_builder_add(builder, (*verb)->name);
    }
    for (const LimnOperation *const *at = limn_registry_get(); *at != NULL; at++) {
        g_strv_builder_add(builder, (*at)->id);
    }
    g_auto(GStrv) topics = g_strv_builder_end(builder);
    g_autofree char *allowed = limn_describe_allowed(topic, (const char *const *) topics);
    g_autofree char *shown = limn_display_path(topic);
    return limn_cli_usage_error(_("help: '%s' is neither an operation nor a verb (%s)"),
                                shown, allowed);
}

static int
run_help(const LimnCliArguments *arguments)
{
    gboolean as_json = limn_cli_has(arguments, "json");
    if (arguments->positionals->len == 0 && !as_json) {
        limn_cli_print_help();
        return 0;
    }
    if (arguments->positionals->len != 1) {
        return limn_cli_usage_error(
            _("help: expected the name of one operation or verb"));
    }
    const char *topic = g_ptr_array_index(arguments->positionals, 0);
    const LimnOperation *operation = limn_registry_find(topic);
    if (operation != NULL) {
        if (as_json) {
            print_operation_json(operation);
        } else {
            print_operation_help(operation);
        }
        return 0;
    }
    const LimnCliVerb *verb = limn_cli_find_verb(topic);
    if (verb == NULL || as_json) {
        return unknown_topic(topic);
    }
    limn_cli_print_verb_help(verb);
    return 0;
}

static const LimnCliOption help_options[] = {
    {"json", NULL, N_("the whole declaration of an operation as JSON")},
    {NULL, NULL, NULL},
};

const LimnCliVerb limn_cli_help = {
    .name = "help",
    .usage = "[OPERATION|VERB] [--json]",
    .summary = N_("Show inputs, parameters, outputs and paper of an operation."),
    .options = help_options,
    .run = run_help,
};
