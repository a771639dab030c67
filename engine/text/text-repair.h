// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The cleaning of a prompt before it is split (specification: Grad-ECLIP, section 5).
// CLIP's own tokenizer runs the library ftfy there. This is the part of it that matters
// for prompts; what is left out is the guessing of encodings other than UTF-8 read as
// Windows-1252, and the repair of single words inside otherwise good text.

#include "engine/text/text-chars.h"

// Repeats until nothing changes: HTML references (only if the text as given has no '<');
// UTF-8 that was read as Windows-1252, if all of the text can be that; C1 controls as
// Windows-1252; Latin ligatures; full- and half-width forms; curly quotes; line breaks;
// terminal escapes; control characters; NFC.
// Returns: (transfer full)
LimnChars *limn_text_repair(const LimnChars *chars);

// Normalisation form C that keeps track of ranges. Returns: (transfer full)
LimnChars *limn_text_compose(const LimnChars *chars);
// Runs of white space become one space, none is left at the ends. Returns: (transfer
// full)
LimnChars *limn_text_collapse(const LimnChars *chars);
// Lower case of all of Unicode, independent of the locale: one character may become two
// (U+0130), a capital sigma at the end of a word becomes a final one.
// Returns: (transfer full)
LimnChars *limn_text_lower(const LimnChars *chars);
// All of it: repair, HTML references twice, collapse, lower. Returns: (transfer full)
LimnChars *limn_text_clean(const char *text, gsize size);
// White space as regular expressions over Unicode have it.
gboolean limn_text_is_space(gunichar c);
