// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/model/settings.h"

#include "engine/base/parallel.h"

#include <unistd.h>

typedef struct {
    const char *key;
    const char *fallback; // GVariant text, used when there is no schema
} Key;

static const Key keys[] = {
    {"theme", "'system'"},   {"colormap", "'viridis'"}, {"opacity", "0.6"},
    {"interpolate", "true"}, {"threads", "0"},          {"memory-budget", "4096"},
    {"model", "''"},         {"live", "true"},          {"hub", "''"},
};

typedef struct {
    gpointer object;
    void (*changed)(gpointer object, const char *key);
} Watch;

static GSettings *settings;   // NULL without a schema
static GHashTable *fallbacks; // key -> GVariant, only without a schema
static GPtrArray *watches;

static void
call_watches(const char *key)
{
    for (guint i = 0; watches && i < watches->len; i++) {
        const Watch *watch = watches->pdata[i];

        watch->changed(watch->object, key);
    }
}

static void
settings_changed(GSettings *self, const char *key, gpointer user_data)
{
    call_watches(key);
}

// The schema of a program that runs from its build folder: BUILD/app/limn and
// BUILD/tests/ui/window/x both lie below BUILD, which has resources/gschemas.compiled.
static GSettingsSchema *
find_beside_program(void)
{
    char buffer[4096];
    ssize_t n = readlink("/proc/self/exe", buffer, sizeof buffer - 1);
    g_autofree char *folder = NULL;

    if (n <= 0)
        return NULL;
    buffer[n] = 0;
    folder = g_path_get_dirname(buffer);
    for (int i = 0; i < 5; i++) {
        g_autofree char *directory = g_build_filename(folder, "resources", NULL);
        g_autofree char *file = g_build_filename(directory, "gschemas.compiled", NULL);
        g_autoptr(GSettingsSchemaSource) source = NULL;
        char *parent;

        if (g_file_test(file, G_FILE_TEST_IS_REGULAR))
            source = g_settings_schema_source_new_from_directory(
                directory, g_settings_schema_source_get_default(), TRUE, NULL);
        if (source)
            return g_settings_schema_source_lookup(source, LIMN_APP_ID, TRUE);
        parent = g_path_get_dirname(folder);
        g_free(folder);
        folder = parent;
    }
    return NULL;
}

static void
load(void)
{
    GSettingsSchemaSource *source = g_settings_schema_source_get_default();
    g_autoptr(GSettingsSchema) schema = NULL;

    if (settings || fallbacks)
        return;
    if (source)
        schema = g_settings_schema_source_lookup(source, LIMN_APP_ID, TRUE);
    if (!schema)
        schema = find_beside_program();
    for (gsize i = 0; schema && i < G_N_ELEMENTS(keys); i++)
        if (!g_settings_schema_has_key(schema, keys[i].key))
            g_clear_pointer(&schema, g_settings_schema_unref); // of another version
    if (schema) {
        settings = g_settings_new_full(schema, NULL, NULL);
        g_signal_connect(settings, "changed", G_CALLBACK(settings_changed), NULL);
        return;
    }
    g_info("the settings schema is not installed: defaults are used");
    fallbacks = g_hash_table_new_full(g_str_hash, g_str_equal, NULL,
                                      (GDestroyNotify) g_variant_unref);
    for (gsize i = 0; i < G_N_ELEMENTS(keys); i++)
        g_hash_table_insert(fallbacks, (gpointer) keys[i].key,
                            g_variant_ref_sink(g_variant_new_parsed(keys[i].fallback)));
}

static GVariant *
get(const char *key)
{
    GVariant *value;

    load();
    if (settings)
        return g_settings_get_value(settings, key);
    value = g_hash_table_lookup(fallbacks, key);
    g_return_val_if_fail(value != NULL, NULL);
    return g_variant_ref(value);
}

static void
set(const char *key, GVariant *value)
{
    load();
    g_variant_ref_sink(value);
    if (settings) {
        // fails on a locked-down system; the old value stays
        if (!g_settings_set_value(settings, key, value))
            g_info("the preference %s is not writable", key);
    } else {
        const Key *entry = keys;

        while (!g_str_equal(entry->key, key))
            entry++;
        g_hash_table_insert(fallbacks, (gpointer) entry->key, g_variant_ref(value));
        call_watches(key);
    }
    g_variant_unref(value);
}

gboolean
limn_settings_get_boolean(const char *key)
{
    g_autoptr(GVariant) value = get(key);

    return g_variant_get_boolean(value);
}

int
limn_settings_get_int(const char *key)
{
    g_autoptr(GVariant) value = get(key);

    return g_variant_get_int32(value);
}

double
limn_settings_get_double(const char *key)
{
    g_autoptr(GVariant) value = get(key);

    return g_variant_get_double(value);
}

char *
limn_settings_get_string(const char *key)
{
    g_autoptr(GVariant) value = get(key);

    return g_variant_dup_string(value, NULL);
}

void
limn_settings_set_boolean(const char *key, gboolean value)
{
    set(key, g_variant_new_boolean(value));
}

void
limn_settings_set_int(const char *key, int value)
{
    set(key, g_variant_new_int32(value));
}

void
limn_settings_set_double(const char *key, double value)
{
    set(key, g_variant_new_double(value));
}

void
limn_settings_set_string(const char *key, const char *value)
{
    set(key, g_variant_new_string(value));
}

static void
watched_object_gone(gpointer user_data, GObject *object)
{
    g_ptr_array_remove_fast(watches, user_data);
}

void
limn_settings_watch(gpointer object, void (*changed)(gpointer object, const char *key))
{
    Watch *watch = g_new0(Watch, 1);

    load();
    if (!watches)
        watches = g_ptr_array_new_with_free_func(g_free);
    watch->object = object;
    watch->changed = changed;
    g_ptr_array_add(watches, watch);
    g_object_weak_ref(object, watched_object_gone, watch);
}

int
limn_settings_get_job_threads(void)
{
    int threads = limn_settings_get_int("threads");

    return threads > 0 ? threads : MAX(1, limn_parallel_n_processors() - 1);
}
