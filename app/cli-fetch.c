// SPDX-License-Identifier: GPL-3.0-or-later

// limn-cli fetch.

#include "limn-config.h"

#include "app/cli.h"
#include "engine/io/fetch.h"

#include <glib/gi18n-lib.h>
#include <stdio.h>

static gboolean
fetch(const LimnCliArguments *arguments, LimnJob *job, char **directory, GError **error)
{
    const char *name = g_ptr_array_index(arguments->positionals, 0);
    const char *to = limn_cli_get(arguments, "to");
    *directory = to != NULL ? g_strdup(to) : limn_fetch_default_directory(name, error);
    if (*directory == NULL) {
        return FALSE;
    }
    LimnFetchOptions options = {
        .name = name,
        .directory = *directory,
        .base = limn_cli_get(arguments, "base"),
        .revision = limn_cli_get(arguments, "revision"),
    };
    return limn_fetch_checkpoint(&options, job, error);
}

static int
run_fetch(const LimnCliArguments *arguments)
{
    g_autoptr(GError) error = NULL;
    if (arguments->positionals->len != 1) {
        return limn_cli_usage_error(
            _("fetch: expected the name of one checkpoint (for example OWNER/NAME)"));
    }
    g_autoptr(LimnJob) job = limn_cli_job_begin(arguments, &error);
    if (job == NULL) {
        return limn_cli_fail(error);
    }
    g_autofree char *directory = NULL;
    gboolean good = fetch(arguments, job, &directory, &error);
    limn_cli_job_end();
    limn_cli_print_diagnostics(job);
    if (!good) {
        return limn_cli_fail(error);
    }
    printf("%s\n", directory);
    return 0;
}

static const LimnCliOption fetch_options[] = {
    {"to", "DIR", N_("folder (default: in the user's data folder)")},
    {"base", "URL", N_("the hub (default: " LIMN_FETCH_DEFAULT_BASE ")")},
    {"revision", "REV", N_("branch, tag or commit (default main)")},
    {"threads", "N", N_("threads, 0: all processors (default)")},
    {"progress", "KIND", N_("bar (default on a terminal), json or none")},
    {NULL, NULL, NULL},
};

const LimnCliVerb limn_cli_fetch = {
    .name = "fetch",
    .usage = "NAME",
    .summary = N_("Download the files of a checkpoint from a hub."),
    .details = N_("The only verb that uses the network. An interrupted download is "
                  "continued. A token is taken from LIMN_HUB_TOKEN or HF_TOKEN. The "
                  "folder is printed; it can be given as model= to the operations."),
    .options = fetch_options,
    .run = run_fetch,
};
