// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Windows-1252 as web browsers read it: the five bytes without a meaning stand for the
// control characters of the same number.

#include "engine/base/types.h"

gunichar limn_cp1252_to_unicode(guint8 byte);
// FALSE when the character has no byte. Control characters U+0080 to U+009F are accepted
// as the bytes of the same number, whether or not these have another meaning.
gboolean limn_cp1252_from_unicode(gunichar c, guint8 *byte);
