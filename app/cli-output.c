// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "app/cli.h"
#include "engine/base/error.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <stdio.h>
#include <string.h>

#define LINE_WIDTH 79

void
limn_cli_message(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    // One line, whatever names out of a file or a server's answer it holds.
    g_autofree char *shown = limn_display_path(text);
    fprintf(stderr, "limn-cli: %s\n", shown);
}

int
limn_cli_fail(const GError *error)
{
    limn_cli_message("%s", error->message);
    return limn_error_exit_status(error);
}

int
limn_cli_usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *text = g_strdup_vprintf(format, args);
    va_end(args);
    limn_cli_message("%s", text);
    return 2;
}

int
limn_cli_finish_output(int status)
{
    gboolean failed = ferror(stdout) != 0;
    errno = 0;
    if (fflush(stdout) != 0 || failed) {
        int errnum = errno;
        // Whoever reads through a pipe and has seen enough needs no message.
        if (errnum != EPIPE) {
            limn_cli_message(_("standard output: cannot write: %s"), g_strerror(errnum));
        }
        return status != 0 ? status : 1;
    }
    return status;
}

void
limn_cli_print_wrapped(const char *text, int indent)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        g_auto(GStrv) words = g_strsplit(*line, " ", -1);
        int column = 0;
        for (char **word = words; *word != NULL; word++) {
            int width = (int) g_utf8_strlen(*word, -1);
            if (column > 0 && column + 1 + width > LINE_WIDTH) {
                putchar('\n');
                column = 0;
            }
            if (column == 0) {
                printf("%*s%s", indent, "", *word);
                column = indent + width;
            } else {
                printf(" %s", *word);
                column += 1 + width;
            }
        }
        putchar('\n');
    }
}

static void
print_options(const LimnCliOption *options)
{
    for (const LimnCliOption *option = options; option->name != NULL; option++) {
        g_autofree char *left =
            option->argument != NULL
                ? g_strdup_printf("--%s %s", option->name, option->argument)
                : g_strdup_printf("--%s", option->name);
        printf("  %-24s %s\n", left, g_dgettext(GETTEXT_PACKAGE, option->summary));
    }
    printf("  %-24s %s\n", "--help", _("show this help"));
}

void
limn_cli_print_verb_help(const LimnCliVerb *verb)
{
    printf(_("Usage: limn-cli %s %s\n\n"), verb->name, verb->usage);
    limn_cli_print_wrapped(g_dgettext(GETTEXT_PACKAGE, verb->summary), 0);
    if (verb->details != NULL) {
        putchar('\n');
        limn_cli_print_wrapped(g_dgettext(GETTEXT_PACKAGE, verb->details), 0);
    }
    printf("\n%s\n", _("Options:"));
    print_options(verb->options);
}

void
limn_cli_print_help(void)
{
    printf("%s\n\n", _("Usage: limn-cli VERB ...\n\nLimn without a window: explain, "
                       "correct and publish what models do."));
    printf("%s\n", _("Verbs:"));
    for (const LimnCliVerb *const *verb = limn_cli_verbs; *verb != NULL; verb++) {
        printf("  %-10s %s\n", (*verb)->name,
               g_dgettext(GETTEXT_PACKAGE, (*verb)->summary));
    }
    printf("\n%s\n",
           _("limn-cli help VERB and limn-cli help OPERATION say more.\n\n"
             "Exit status: 0 done; 1 failed; 2 wrong usage; 3 an input cannot be read;\n"
             "4 inputs do not fit together or changed; 5 some items of many failed;\n"
             "130 cancelled."));
}
