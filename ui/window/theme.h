// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Light or dark: as the preference "theme" says; "system" follows the desktop's
// org.freedesktop.appearance setting where its portal is there.

void limn_theme_start(void);
// TRUE when the window is dark now.
int limn_theme_is_dark(void);
