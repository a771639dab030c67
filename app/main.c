// SPDX-License-Identifier: GPL-3.0-or-later

// limn: the window.

#include "limn-config.h"

#include "app/bench-window.h"
#include "engine/base/file.h"
#include "engine/method/operations.h"
#include "ui/window/application.h"

#include <glib/gi18n.h>
#include <locale.h>

static const GOptionEntry options[] = {
    {"bench", 0, 0, G_OPTION_ARG_NONE, NULL,
     N_("Measure what needs a window: --bench [NAME] [--json]"), NULL},
    {"version", 0, 0, G_OPTION_ARG_NONE, NULL, N_("Print the version and end"), NULL},
    {NULL},
};

// Answers what needs no window. -1: go on.
static int
handle_local_options(GApplication *application, GVariantDict *values, gpointer user_data)
{
    if (g_variant_dict_contains(values, "version")) {
        g_print("limn %s\n", LIMN_VERSION);
        return 0;
    }
    return -1;
}

int
main(int argc, char **argv)
{
    g_autoptr(LimnApplication) application = NULL;

    limn_standard_streams_open();
    if (argc > 1 && g_str_equal(argv[1], "--bench"))
        return limn_bench_window_main(argc - 1, argv + 1);
    setlocale(LC_ALL, "");
    bindtextdomain(GETTEXT_PACKAGE, LIMN_LOCALEDIR);
    bind_textdomain_codeset(GETTEXT_PACKAGE, "UTF-8");
    textdomain(GETTEXT_PACKAGE);
    limn_registry_set(limn_operations);
    g_set_application_name(_("Limn"));
    application = limn_application_new(G_APPLICATION_HANDLES_OPEN);
    g_application_add_main_option_entries(G_APPLICATION(application), options);
    g_application_set_option_context_parameter_string(G_APPLICATION(application),
                                                      _("[FILE|FOLDER …]"));
    g_application_set_option_context_summary(
        G_APPLICATION(application), _("Shows which parts of a picture and which words "
                                      "make a model say that they match."));
    g_signal_connect(application, "handle-local-options",
                     G_CALLBACK(handle_local_options), NULL);
    return g_application_run(G_APPLICATION(application), argc, argv);
}
