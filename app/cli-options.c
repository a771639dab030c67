// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli.h"

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/study/suggest.h"

#include <string.h>

static guint
count_options(const LimnCliVerb *verb)
{
    guint n = 0;
    while (verb->options[n].name != NULL) {
        n++;
    }
    return n;
}

static gboolean
set_unknown_option(const LimnCliVerb *verb, const char *name, GError **error)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (const LimnCliOption *option = verb->options; option->name != NULL; option++) {
        g_autofree char *text = g_strconcat("--", option->name, NULL);
        g_strv_builder_add(builder, text);
    }
    g_strv_builder_add(builder, "--help");
    g_auto(GStrv) known = g_strv_builder_end(builder);
    g_autofree char *allowed = limn_describe_allowed(name, (const char *const *) known);
    g_autofree char *shown = limn_display_path(name);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT, "%s: %s has no such option (%s)",
                shown, verb->name, allowed);
    return FALSE;
}

// One word that begins with a dash; `next` is the word behind it. *used says whether that
// was taken as the option's value.
static gboolean
parse_option(LimnCliArguments *arguments, const char *word, const char *next,
             gboolean *used, GError **error)
{
    const LimnCliVerb *verb = arguments->verb;
    const char *equals = strchr(word, '=');
    gsize length = equals != NULL ? (gsize) (equals - word) : strlen(word);
    g_autofree char *name = g_strndup(word, length);
    guint at = 0;
    while (verb->options[at].name != NULL &&
           (length < 3 || strcmp(name + 2, verb->options[at].name) != 0)) {
        at++;
    }
    const LimnCliOption *option = &verb->options[at];
    *used = FALSE;
    if (strncmp(word, "--", 2) != 0 || option->name == NULL) {
        return set_unknown_option(verb, name, error);
    }
    if (arguments->values[at] != NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: the option is given twice", name);
        return FALSE;
    }
    if (option->argument == NULL) {
        if (equals != NULL) {
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                        "%s: the option takes no value", name);
            return FALSE;
        }
        arguments->values[at] = "";
        return TRUE;
    }
    if (equals == NULL && next == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: the value is missing (expected %s %s)", name, name,
                    option->argument);
        return FALSE;
    }
    arguments->values[at] = equals != NULL ? equals + 1 : next;
    *used = equals == NULL;
    return TRUE;
}

gboolean
limn_cli_parse(const LimnCliVerb *verb, char **words, LimnCliArguments *arguments,
               gboolean *help, GError **error)
{
    gboolean only_positionals = FALSE;
    arguments->verb = verb;
    arguments->positionals = g_ptr_array_new();
    arguments->values = g_new0(const char *, count_options(verb) + 1);
    *help = FALSE;
    for (char **at = words; *at != NULL; at++) {
        if (only_positionals || (*at)[0] != '-' || (*at)[1] == '\0') {
            g_ptr_array_add(arguments->positionals, *at);
        } else if (strcmp(*at, "--") == 0) {
            only_positionals = TRUE;
        } else if (strcmp(*at, "--help") == 0 || strcmp(*at, "-h") == 0) {
            *help = TRUE;
        } else {
            gboolean used;
            if (!parse_option(arguments, at[0], at[1], &used, error)) {
                return FALSE;
            }
            at += used ? 1 : 0;
        }
    }
    return TRUE;
}

void
limn_cli_arguments_clear(LimnCliArguments *arguments)
{
    g_clear_pointer(&arguments->positionals, g_ptr_array_unref);
    g_clear_pointer(&arguments->values, g_free);
}

const char *
limn_cli_get(const LimnCliArguments *arguments, const char *option)
{
    for (guint i = 0; arguments->verb->options[i].name != NULL; i++) {
        if (strcmp(arguments->verb->options[i].name, option) == 0) {
            return arguments->values[i];
        }
    }
    g_return_val_if_reached(NULL);
}

gboolean
limn_cli_has(const LimnCliArguments *arguments, const char *option)
{
    return limn_cli_get(arguments, option) != NULL;
}

gboolean
limn_cli_get_int(const LimnCliArguments *arguments, const char *option, gint64 min,
                 gint64 max, gint64 *value, GError **error)
{
    const char *text = limn_cli_get(arguments, option);
    gint64 number;
    if (text == NULL) {
        return TRUE;
    }
    if (!limn_integer_parse(text, &number) || number < min || number > max) {
        g_autofree char *shown = limn_display_path(text);
        g_set_error(
            error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
            "--%s %s: not a usable value (expected an integer from %" G_GINT64_FORMAT
            " to %" G_GINT64_FORMAT ")",
            option, shown, min, max);
        return FALSE;
    }
    *value = number;
    return TRUE;
}

gboolean
limn_cli_get_double(const LimnCliArguments *arguments, const char *option, double min,
                    double max, double *value, GError **error)
{
    const char *text = limn_cli_get(arguments, option);
    char low[LIMN_NUMBER_BUFFER], high[LIMN_NUMBER_BUFFER];
    double number;
    if (text == NULL) {
        return TRUE;
    }
    if (!limn_number_parse(text, &number) || !(number >= min && number <= max)) {
        g_autofree char *shown = limn_display_path(text);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "--%s %s: not a usable value (expected a number from %s to %s)",
                    option, shown, limn_number_format(low, min),
                    limn_number_format(high, max));
        return FALSE;
    }
    *value = number;
    return TRUE;
}
