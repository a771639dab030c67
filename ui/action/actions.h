// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What can be done with the window, by theme: files, editing, viewing, studies and
// models. Menu, buttons, keys and assistive technology all go through these actions.

#include "ui/window/window.h"

void limn_actions_add(LimnWindow *window);
// Sensitivity and state after something changed.
void limn_actions_update(LimnWindow *window);
typedef enum {
    LIMN_ACCEL_FILES,
    LIMN_ACCEL_EDITING,
    LIMN_ACCEL_VIEW,
    LIMN_ACCEL_COMPARING,
    LIMN_ACCEL_N_GROUPS,
} LimnAccelGroup;

typedef struct {
    const char *action;  // detailed name
    const char *keys[3]; // NULL-terminated, the first is shown
    LimnAccelGroup group;
    const char *title; // translatable
} LimnAccel;

// All keys of the window. Static.
const LimnAccel *limn_actions_get_accels(gsize *n);
// The keys, once per application.
void limn_actions_set_accels(GtkApplication *application);

// The tables (actions-*.c); user_data of the callbacks is the window.
void limn_actions_add_file(LimnWindow *window);
void limn_actions_add_edit(LimnWindow *window);
void limn_actions_add_view(LimnWindow *window);
void limn_actions_add_study(LimnWindow *window);
