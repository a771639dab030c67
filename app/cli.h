// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the verbs of limn-cli share: their declarations, parsed command lines, messages,
// and jobs with progress and signals. Results go to stdout, messages to stderr.

#include "engine/base/job.h"
#include "engine/study/operation.h"

// ---- verbs and their options

typedef struct {
    const char *name;     // "out"; NULL ends the list
    const char *argument; // "DIR"; NULL: a switch
    const char *summary;
} LimnCliOption;

typedef struct LimnCliVerb LimnCliVerb;

typedef struct {
    const LimnCliVerb *verb;
    GPtrArray *positionals; // char *, borrowed from the command line
    const char **values;    // one per option: NULL when not given, "" for a switch
} LimnCliArguments;

struct LimnCliVerb {
    const char *name;
    const char *usage; // after the verb: "OPERATION key=value ... --out DIR"
    const char *summary;
    const char *details; // a few lines for the verb's help; may be NULL
    const LimnCliOption *options;
    int (*run)(const LimnCliArguments *arguments); // returns the exit status
};

extern const LimnCliVerb limn_cli_list;
extern const LimnCliVerb limn_cli_help;
extern const LimnCliVerb limn_cli_run;
extern const LimnCliVerb limn_cli_merge;
extern const LimnCliVerb limn_cli_figure;
extern const LimnCliVerb limn_cli_fetch;
extern const LimnCliVerb limn_cli_bench;

// All verbs, ends with NULL.
extern const LimnCliVerb *const limn_cli_verbs[];
const LimnCliVerb *limn_cli_find_verb(const char *name);

// Options may stand before, between and after the positionals, as "--name VALUE" or
// "--name=VALUE"; behind "--" everything is positional. FALSE with LIMN_ERROR_ARGUMENT.
gboolean limn_cli_parse(const LimnCliVerb *verb, char **words,
                        LimnCliArguments *arguments, gboolean *help, GError **error);
void limn_cli_arguments_clear(LimnCliArguments *arguments);
const char *limn_cli_get(const LimnCliArguments *arguments, const char *option);
gboolean limn_cli_has(const LimnCliArguments *arguments, const char *option);
// A numeric option; *value stays as it is when it was not given.
gboolean limn_cli_get_int(const LimnCliArguments *arguments, const char *option,
                          gint64 min, gint64 max, gint64 *value, GError **error);
gboolean limn_cli_get_double(const LimnCliArguments *arguments, const char *option,
                             double min, double max, double *value, GError **error);

// ---- output

// "limn-cli: MESSAGE" on stderr; the number of the exit status for it.
int limn_cli_fail(const GError *error);
int limn_cli_usage_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
void limn_cli_message(const char *format, ...) G_GNUC_PRINTF(1, 2);
// Writes what was printed; 1 with a message when stdout cannot take it, else `status`.
int limn_cli_finish_output(int status);
// Prints text broken at blanks to lines of at most 79 columns, indented.
void limn_cli_print_wrapped(const char *text, int indent);
void limn_cli_print_verb_help(const LimnCliVerb *verb);
void limn_cli_print_help(void);

// ---- jobs

// From here on SIGINT, SIGTERM and SIGHUP cancel the job that is running; without one
// they end the program, with the same status.
void limn_cli_signals_start(void);

// A job with the threads and the kind of progress that were asked for (--threads,
// --progress), cancelled by signals. NULL with LIMN_ERROR_ARGUMENT.
LimnJob *limn_cli_job_begin(const LimnCliArguments *arguments, GError **error);
// A further job that signals cancel as well (work beside the main job).
LimnJob *limn_cli_job_begin_silent(void);
// Ends progress and signals of all jobs begun.
void limn_cli_job_end(void);
// The warnings among the job's diagnostics, as messages.
void limn_cli_print_diagnostics(LimnJob *job);
