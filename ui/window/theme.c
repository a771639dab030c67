// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/theme.h"

#include "ui/model/settings.h"

#include <gtk/gtk.h>

#define PORTAL "org.freedesktop.portal.Desktop"
#define PORTAL_PATH "/org/freedesktop/portal/desktop"
#define PORTAL_SETTINGS "org.freedesktop.portal.Settings"
#define NAMESPACE "org.freedesktop.appearance"
#define KEY "color-scheme"

static gboolean system_is_dark;

static void
apply(void)
{
    g_autofree char *theme = limn_settings_get_string("theme");
    gboolean dark =
        g_str_equal(theme, "dark") || (g_str_equal(theme, "system") && system_is_dark);

    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", dark,
                 NULL);
}

static void
settings_changed(gpointer object, const char *key)
{
    if (g_str_equal(key, "theme"))
        apply();
}

// 1 means dark; the value may be wrapped in further variants.
static void
take_value(GVariant *value)
{
    g_autoptr(GVariant) inner = g_variant_ref(value);

    while (g_variant_is_of_type(inner, G_VARIANT_TYPE_VARIANT)) {
        GVariant *unwrapped = g_variant_get_variant(inner);

        g_variant_unref(inner);
        inner = unwrapped;
    }
    if (!g_variant_is_of_type(inner, G_VARIANT_TYPE_UINT32))
        return;
    system_is_dark = g_variant_get_uint32(inner) == 1;
    apply();
}

static void
setting_read(GObject *source, GAsyncResult *result, gpointer user_data)
{
    g_autoptr(GVariant) reply =
        g_dbus_connection_call_finish(G_DBUS_CONNECTION(source), result, NULL);
    g_autoptr(GVariant) value = NULL;

    if (!reply || !g_variant_is_of_type(reply, G_VARIANT_TYPE("(v)")))
        return; // no portal: light
    value = g_variant_get_child_value(reply, 0);
    take_value(value);
}

static void
setting_changed(GDBusConnection *connection, const char *sender, const char *path,
                const char *interface, const char *signal, GVariant *parameters,
                gpointer user_data)
{
    const char *namespace, *key;
    g_autoptr(GVariant) value = NULL;

    if (!g_variant_is_of_type(parameters, G_VARIANT_TYPE("(ssv)")))
        return;
    g_variant_get(parameters, "(&s&sv)", &namespace, &key, &value);
    if (g_str_equal(namespace, NAMESPACE) && g_str_equal(key, KEY))
        take_value(value);
}

static void
bus_found(GObject *source, GAsyncResult *result, gpointer user_data)
{
    // kept for the life of the program: the subscription ends with the connection
    GDBusConnection *bus = g_bus_get_finish(result, NULL);

    if (!bus)
        return;
    g_dbus_connection_signal_subscribe(bus, PORTAL, PORTAL_SETTINGS, "SettingChanged",
                                       PORTAL_PATH, NAMESPACE, G_DBUS_SIGNAL_FLAGS_NONE,
                                       setting_changed, NULL, NULL);
    g_dbus_connection_call(bus, PORTAL, PORTAL_PATH, PORTAL_SETTINGS, "Read",
                           g_variant_new("(ss)", NAMESPACE, KEY), NULL,
                           G_DBUS_CALL_FLAGS_NONE, 5000, NULL, setting_read, NULL);
}

void
limn_theme_start(void)
{
    static gboolean started;

    if (started)
        return;
    started = TRUE;
    limn_settings_watch(gtk_settings_get_default(), settings_changed);
    apply();
    g_bus_get(G_BUS_TYPE_SESSION, NULL, bus_found, NULL);
}

int
limn_theme_is_dark(void)
{
    gboolean dark;

    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark,
                 NULL);
    return dark;
}
