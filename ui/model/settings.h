// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The user's preferences (GSettings). The schema is looked up where it is installed, in
// $GSETTINGS_SCHEMA_DIR and beside a program that runs from its build folder. Without a
// schema the defaults hold and changes last until the program ends. Main thread only.

#include <gio/gio.h>

gboolean limn_settings_get_boolean(const char *key);
int limn_settings_get_int(const char *key);
double limn_settings_get_double(const char *key);
char *limn_settings_get_string(const char *key); // enumerations give their nick
void limn_settings_set_boolean(const char *key, gboolean value);
void limn_settings_set_int(const char *key, int value);
void limn_settings_set_double(const char *key, double value);
void limn_settings_set_string(const char *key, const char *value);

// Called after a key changed, with the key; for the life of `object`.
void limn_settings_watch(gpointer object,
                         void (*changed)(gpointer object, const char *key));

// Threads that a job of the window may use (at least one).
int limn_settings_get_job_threads(void);
