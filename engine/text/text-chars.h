// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A text as characters that remember where they came from: each has the byte range in the
// text as given that it stands for. Every cleaning step maps characters to characters and
// hands the ranges on, so that a token can be marked in the text that the user typed.

#include "engine/base/types.h"

typedef struct {
    gunichar c;
    guint32 begin, end; // bytes of the original text
} LimnChar;

typedef GArray LimnChars; // of LimnChar

// The character behind the one at p.
static inline const char *
limn_utf8_next(const char *p)
{
    return p + g_utf8_skip[(guchar) *p];
}

LimnChars *limn_chars_new(guint reserved);
// `text` is valid UTF-8, except that it may contain NUL bytes; size < 2^32.
LimnChars *limn_chars_from_utf8(const char *text, gsize size);
// Returns: (transfer full)
char *limn_chars_to_utf8(const LimnChars *chars);

static inline LimnChar *
limn_chars_at(const LimnChars *chars, guint i)
{
    return &g_array_index(chars, LimnChar, i);
}
void limn_chars_append(LimnChars *chars, gunichar c, guint32 begin, guint32 end);
// Copies characters [from, to).
void limn_chars_append_range(LimnChars *chars, const LimnChars *source, guint from,
                             guint to);
// Appends a UTF-8 string, every character with the same range.
void limn_chars_append_utf8(LimnChars *chars, const char *text, guint32 begin,
                            guint32 end);
// Same characters, whatever their ranges.
gboolean limn_chars_equal(const LimnChars *a, const LimnChars *b);
gboolean limn_chars_contain(const LimnChars *chars, gunichar c);
