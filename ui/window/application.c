// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/window/application.h"

#include "engine/svg/svg.h"
#include "resources/ui/limn-resources.h"
#include "ui/action/actions.h"
#include "ui/window/theme.h"

#include <glib/gi18n-lib.h>

struct _LimnApplication {
    GtkApplication parent_instance;
    LimnWorkspace *ws;
    LimnWindow *window;
};

G_DEFINE_FINAL_TYPE(LimnApplication, limn_application, GTK_TYPE_APPLICATION)

static void
act_quit(GSimpleAction *action, GVariant *parameter, gpointer user_data)
{
    LimnApplication *self = user_data;

    if (self->window)
        gtk_window_close(GTK_WINDOW(self->window));
    else
        g_application_quit(user_data);
}

static void
load_style(void)
{
    GtkCssProvider *provider = gtk_css_provider_new();

    gtk_css_provider_load_from_resource(provider,
                                        "/io/github/limn_studio/Limn/ui/style.css");
    gtk_style_context_add_provider_for_display(gdk_display_get_default(),
                                               GTK_STYLE_PROVIDER(provider),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(provider);
}

static void
limn_application_startup(GApplication *application)
{
    static const GActionEntry entries[] = {{.name = "quit", .activate = act_quit}};

    g_resources_register(limn_get_resource());
    G_APPLICATION_CLASS(limn_application_parent_class)->startup(application);
    gtk_window_set_default_icon_name(LIMN_APP_ID);
    g_action_map_add_action_entries(G_ACTION_MAP(application), entries,
                                    G_N_ELEMENTS(entries), application);
    limn_actions_set_accels(GTK_APPLICATION(application));
    load_style();
    limn_theme_start();
    limn_svg_init();
}

// The window, made and restored at the first use; NULL when it was closed and the
// program is about to end.
static LimnWindow *
ensure_window(LimnApplication *self)
{
    if (self->window || self->ws)
        return self->window;
    self->ws = limn_workspace_new();
    limn_workspace_restore(self->ws);
    self->window = limn_window_new(GTK_APPLICATION(self), self->ws);
    g_object_add_weak_pointer(G_OBJECT(self->window), (gpointer *) &self->window);
    return self->window;
}

static void
limn_application_activate(GApplication *application)
{
    LimnWindow *window = ensure_window(LIMN_APPLICATION(application));

    if (window)
        gtk_window_present(GTK_WINDOW(window));
}

static void
limn_application_open(GApplication *application, GFile **files, int n_files,
                      const char *hint)
{
    LimnApplication *self = LIMN_APPLICATION(application);
    LimnWindow *window = ensure_window(self);
    g_autoptr(GStrvBuilder) paths = g_strv_builder_new();
    g_auto(GStrv) list = NULL;

    if (!window)
        return;
    for (int i = 0; i < n_files; i++) {
        g_autofree char *path = g_file_get_path(files[i]);

        if (path) {
            g_strv_builder_add(paths, path);
        } else {
            g_autofree char *uri = g_file_get_uri(files[i]);
            g_autofree char *text = g_strdup_printf(
                _("%s does not lie on this computer: copy it here first."), uri);

            limn_workspace_message(self->ws, LIMN_MESSAGE_WARNING, text);
        }
    }
    list = g_strv_builder_end(paths);
    gtk_window_present(GTK_WINDOW(window));
    if (*list)
        limn_workspace_open_paths(self->ws, (const char *const *) list);
}

static void
limn_application_shutdown(GApplication *application)
{
    LimnApplication *self = LIMN_APPLICATION(application);

    if (self->ws)
        limn_workspace_stop(self->ws);
    G_APPLICATION_CLASS(limn_application_parent_class)->shutdown(application);
    g_clear_object(&self->ws);
}

static void
limn_application_class_init(LimnApplicationClass *class)
{
    GApplicationClass *application_class = G_APPLICATION_CLASS(class);

    application_class->startup = limn_application_startup;
    application_class->activate = limn_application_activate;
    application_class->open = limn_application_open;
    application_class->shutdown = limn_application_shutdown;
}

static void
limn_application_init(LimnApplication *self)
{
}

LimnApplication *
limn_application_new(GApplicationFlags flags)
{
    return g_object_new(LIMN_TYPE_APPLICATION, "application-id", LIMN_APP_ID, "flags",
                        flags, "resource-base-path", "/io/github/limn_studio/Limn", NULL);
}

LimnWindow *
limn_application_get_window(LimnApplication *self)
{
    return self->window;
}
