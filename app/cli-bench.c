// SPDX-License-Identifier: GPL-3.0-or-later

// limn-cli bench.

#include "limn-config.h"

#include "app/bench.h"
#include "app/cli.h"

#include <glib/gi18n-lib.h>

static int
run_bench(const LimnCliArguments *arguments)
{
    g_autoptr(GPtrArray) words = g_ptr_array_new();
    g_autofree char *threads = NULL;
    char verb[] = "bench", json[] = "--json";
    g_ptr_array_add(words, verb);
    for (guint i = 0; i < arguments->positionals->len; i++) {
        g_ptr_array_add(words, g_ptr_array_index(arguments->positionals, i));
    }
    if (limn_cli_has(arguments, "json")) {
        g_ptr_array_add(words, json);
    }
    if (limn_cli_has(arguments, "threads")) {
        threads = g_strconcat("--threads=", limn_cli_get(arguments, "threads"), NULL);
        g_ptr_array_add(words, threads);
    }
    return limn_bench_main((int) words->len, (char **) words->pdata);
}

static const LimnCliOption bench_options[] = {
    {"json", NULL, N_("numbers as JSON")},
    {"threads", "N", N_("threads (default: all processors)")},
    {NULL, NULL, NULL},
};

const LimnCliVerb limn_cli_bench = {
    .name = "bench",
    .usage = "[NAME]",
    .summary = N_("Measure how fast this machine is at what Limn does."),
    .details = N_("clip-image: picture to embedding, beside the bare matrix products. "
                  "explain-text: a new sentence, beside starting from scratch. "
                  "open-model: program start to first embedding, beside the encoding. "
                  "gemm-small: small matrix products, beside BLAS. "
                  "Checkpoints of real size (up to 1.7 GB) are written to TMPDIR and "
                  "removed again. Without NAME all are run."),
    .options = bench_options,
    .run = run_bench,
};
