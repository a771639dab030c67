// SPDX-License-Identifier: GPL-3.0-or-later

// Limn without a window, for terminals, scripts and servers. See cli.h for what the verbs
// share and `limn-cli help` for what they do.

#include "limn-config.h"

#include "app/cli.h"
#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/method/operations.h"
#include "engine/study/suggest.h"
#include "engine/svg/svg.h"

#include <glib/gi18n-lib.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

const LimnCliVerb *const limn_cli_verbs[] = {
    &limn_cli_list,   &limn_cli_help,  &limn_cli_run,   &limn_cli_merge,
    &limn_cli_figure, &limn_cli_fetch, &limn_cli_bench, NULL,
};

const LimnCliVerb *
limn_cli_find_verb(const char *name)
{
    for (const LimnCliVerb *const *verb = limn_cli_verbs; *verb != NULL; verb++) {
        if (strcmp((*verb)->name, name) == 0) {
            return *verb;
        }
    }
    return NULL;
}

static int
unknown_verb(const char *word)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (const LimnCliVerb *const *verb = limn_cli_verbs; *verb != NULL; verb++) {
        g_strv_builder_add(builder, (*verb)->name);
    }
    g_auto(GStrv) names = g_strv_builder_end(builder);
    g_autofree char *allowed = limn_describe_allowed(word, (const char *const *) names);
    g_autofree char *shown = limn_display_path(word);
    return limn_cli_usage_error(_("%s: no such verb (%s)"), shown, allowed);
}

static int
run_verb(const LimnCliVerb *verb, char **words)
{
    LimnCliArguments arguments = {0};
    g_autoptr(GError) error = NULL;
    gboolean help = FALSE;
    int status = 0;
    if (!limn_cli_parse(verb, words, &arguments, &help, &error)) {
        status = limn_cli_fail(error);
    } else if (help) {
        limn_cli_print_verb_help(verb);
    } else {
        status = verb->run(&arguments);
    }
    limn_cli_arguments_clear(&arguments);
    return status;
}

int
main(int argc, char **argv)
{
    limn_standard_streams_open();
    limn_cli_signals_start();
    setlocale(LC_ALL, "");
    bindtextdomain(GETTEXT_PACKAGE, LIMN_LOCALEDIR);
    bind_textdomain_codeset(GETTEXT_PACKAGE, "UTF-8");
    limn_registry_set(limn_operations);
    limn_svg_init();
    if (argc < 2) {
        return limn_cli_usage_error(_("a verb is missing (try: limn-cli --help)"));
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        printf("limn-cli %s\n", LIMN_VERSION);
        return limn_cli_finish_output(0);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        limn_cli_print_help();
        return limn_cli_finish_output(0);
    }
    const LimnCliVerb *verb = limn_cli_find_verb(word);
    if (verb == NULL) {
        return unknown_verb(word);
    }
    return limn_cli_finish_output(run_verb(verb, argv + 2));
}
