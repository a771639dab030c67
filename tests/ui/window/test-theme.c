// SPDX-License-Identifier: GPL-3.0-or-later

// "As the desktop": the colour scheme of the settings portal, read at the start and
// followed when it changes. A portal of the test's own stands on the session bus.

#include "tests/ui/window/fixture.h"

#include "ui/model/settings.h"

#define NAME "org.freedesktop.portal.Desktop"
#define PATH "/org/freedesktop/portal/desktop"
#define INTERFACE "org.freedesktop.portal.Settings"

static const char introspection[] =
    "<node><interface name='" INTERFACE "'>"
    "<method name='Read'><arg type='s' direction='in'/><arg type='s' direction='in'/>"
    "<arg type='v' direction='out'/></method>"
    "<signal name='SettingChanged'><arg type='s'/><arg type='s'/><arg type='v'/></signal>"
    "</interface></node>";

static guint n_reads;

static void
answer(GDBusConnection *bus, const char *sender, const char *path, const char *interface,
       const char *method, GVariant *parameters, GDBusMethodInvocation *invocation,
       gpointer user_data)
{
    const char *space, *key;

    g_variant_get(parameters, "(&s&s)", &space, &key);
    g_assert_cmpstr(space, ==, "org.freedesktop.appearance");
    g_assert_cmpstr(key, ==, "color-scheme");
    n_reads++;
    // portals wrap the value twice
    g_dbus_method_invocation_return_value(
        invocation, g_variant_new("(v)", g_variant_new_variant(g_variant_new_uint32(1))));
}

static void
change(GDBusConnection *bus, const char *space, const char *key, GVariant *value)
{
    g_assert_true(
        g_dbus_connection_emit_signal(bus, NULL, PATH, INTERFACE, "SettingChanged",
                                      g_variant_new("(ssv)", space, key, value), NULL));
}

static gboolean
is_dark(gpointer data)
{
    gboolean dark;

    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark,
                 NULL);
    return dark;
}

static gboolean
is_light(gpointer data)
{
    return !is_dark(data);
}

static void
test_portal(void)
{
    static const GDBusInterfaceVTable table = {answer, NULL, NULL, {0}};
    g_autoptr(GDBusNodeInfo) node = g_dbus_node_info_new_for_xml(introspection, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(GDBusConnection) bus = g_bus_get_sync(G_BUS_TYPE_SESSION, NULL, &error);
    g_autoptr(GVariant) reply = NULL;
    Fixture fixture;

    if (!bus) {
        g_test_skip("there is no session bus");
        return;
    }
    g_dbus_connection_register_object(bus, PATH, node->interfaces[0], &table, NULL, NULL,
                                      &error);
    g_assert_no_error(error);
    reply = g_dbus_connection_call_sync(bus, "org.freedesktop.DBus",
                                        "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                        "RequestName", g_variant_new("(su)", NAME, 0),
                                        NULL, G_DBUS_CALL_FLAGS_NONE, -1, NULL, &error);
    g_assert_no_error(error);
    fixture_start(&fixture);
    fixture_wait(is_dark, NULL, "the dark theme of the desktop");
    g_assert_cmpuint(n_reads, ==, 1);
    // values of another kind and other settings change nothing
    change(bus, "org.freedesktop.appearance", "color-scheme", g_variant_new_string("x"));
    change(bus, "org.freedesktop.appearance", "accent-color", g_variant_new_uint32(0));
    fixture_idle(100);
    g_assert_true(is_dark(NULL));
    change(bus, "org.freedesktop.appearance", "color-scheme", g_variant_new_uint32(2));
    fixture_wait(is_light, NULL, "the light theme of the desktop");
    // the preference comes before the desktop
    limn_settings_set_string("theme", "dark");
    fixture_wait(is_dark, NULL, "the preference");
    change(bus, "org.freedesktop.appearance", "color-scheme", g_variant_new_uint32(0));
    fixture_idle(100);
    g_assert_true(is_dark(NULL));
    limn_settings_set_string("theme", "system");
    fixture_wait(is_light, NULL, "the desktop's theme again");
    fixture_stop(&fixture);
}

int
main(int argc, char **argv)
{
    int status;

    if (!fixture_main_init(&argc, &argv))
        return 0;
    g_test_add_func("/window/theme/portal", test_portal);
    status = g_test_run();
    fixture_main_end();
    return status;
}
