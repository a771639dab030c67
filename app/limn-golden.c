// SPDX-License-Identifier: GPL-3.0-or-later

// limn-golden METHOD FOLDER: runs every case in FOLDER through the engine and compares
// the results with what is stored there (architecture, section 9).

#include <stdio.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "golden.h"

static const struct {
    const char *name;
    void (*run)(LimnGolden *golden, const char *folder);
} METHODS[] = {
    {"autodiff", limn_golden_autodiff},
    {"grad_eclip", limn_golden_grad_eclip},
    {"neuron_explanations", limn_golden_neuron_explanations},
};

static int
usage(const char *problem)
{
    fprintf(stderr,
            "limn-golden: %s\nusage: limn-golden METHOD FOLDER\nmethods:", problem);
    for (gsize i = 0; i < G_N_ELEMENTS(METHODS); i++) {
        fprintf(stderr, " %s", METHODS[i].name);
    }
    fputc('\n', stderr);
    return 2;
}

int
main(int argc, char **argv)
{
    limn_standard_streams_open();
    if (argc != 3) {
        return usage("two arguments are needed");
    }
    for (gsize i = 0; i < G_N_ELEMENTS(METHODS); i++) {
        if (strcmp(METHODS[i].name, argv[1]) != 0) {
            continue;
        }
        if (!g_file_test(argv[2], G_FILE_TEST_IS_DIR)) {
            g_autofree char *shown = limn_display_path(argv[2]);
            fprintf(stderr, "limn-golden: %s: there is no such folder\n", shown);
            return 3;
        }
        g_autoptr(LimnGolden) golden = limn_golden_new();
        METHODS[i].run(golden, argv[2]);
        return limn_golden_finish(golden);
    }
    g_autofree char *shown = limn_display_path(argv[1]);
    g_autofree char *problem = g_strdup_printf("there is no method \"%s\"", shown);
    return usage(problem);
}
