// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Character references of HTML ("&eacute;", "&#233;", "&#xe9;"): the named ones of the
// HTML Standard, from a table that is part of the program.

#include "engine/text/text-chars.h"

// Replaces them as the HTML Standard says (and Python's html.unescape does): a name may
// lack its semicolon where the standard allows it, the longest name wins, numbers of the
// range 0x80 to 0x9f mean Windows-1252, invalid ones vanish or become U+FFFD.
// Returns: (transfer full)
LimnChars *limn_html_unescape(const LimnChars *chars);

// The careful variant of the repair step: only references that end in a semicolon;
// names may also be written all in capitals ("&EACUTE;").
// Returns: (transfer full)
LimnChars *limn_html_unescape_strict(const LimnChars *chars);
