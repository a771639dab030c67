// SPDX-License-Identifier: GPL-3.0-or-later

// The measurements of `limn --bench window` by themselves (--json for numbers as JSON).

#include "ui/view/bench-window.h"

#include <string.h>

int
main(int argc, char **argv)
{
    g_autoptr(GtkApplication) application =
        gtk_application_new("io.github.limn_studio.Limn.Bench", G_APPLICATION_NON_UNIQUE);

    g_application_register(G_APPLICATION(application), NULL, NULL);
    return limn_bench_window(application, argc > 1 && strcmp(argv[1], "--json") == 0);
}
