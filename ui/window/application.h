// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The application: one workspace, one window. A second start hands its files to the
// first one.

#include "ui/window/window.h"

#define LIMN_TYPE_APPLICATION (limn_application_get_type())
G_DECLARE_FINAL_TYPE(LimnApplication, limn_application, LIMN, APPLICATION, GtkApplication)

// `flags`: G_APPLICATION_HANDLES_OPEN for the program, with G_APPLICATION_NON_UNIQUE in
// tests.
LimnApplication *limn_application_new(GApplicationFlags flags);
LimnWindow *
limn_application_get_window(LimnApplication *application); // NULL before start
