// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/text-chars.h"

LimnChars *
limn_chars_new(guint reserved)
{
    return g_array_sized_new(FALSE, FALSE, sizeof(LimnChar), reserved);
}

LimnChars *
limn_chars_from_utf8(const char *text, gsize size)
{
    LimnChars *chars = limn_chars_new(size);
    for (gsize at = 0; at < size;) {
        gsize next = at + g_utf8_skip[(guchar) text[at]];
        limn_chars_append(chars, g_utf8_get_char(text + at), at, next);
        at = next;
    }
    return chars;
}

char *
limn_chars_to_utf8(const LimnChars *chars)
{
    GString *text = g_string_sized_new(chars->len + 1);
    for (guint i = 0; i < chars->len; i++)
        g_string_append_unichar(text, limn_chars_at(chars, i)->c);
    return g_string_free(text, FALSE);
}

void
limn_chars_append(LimnChars *chars, gunichar c, guint32 begin, guint32 end)
{
    LimnChar element = {c, begin, end};
    g_array_append_val(chars, element);
}

void
limn_chars_append_range(LimnChars *chars, const LimnChars *source, guint from, guint to)
{
    if (to > from)
        g_array_append_vals(chars, limn_chars_at(source, from), to - from);
}

void
limn_chars_append_utf8(LimnChars *chars, const char *text, guint32 begin, guint32 end)
{
    for (const char *p = text; *p != '\0'; p = limn_utf8_next(p))
        limn_chars_append(chars, g_utf8_get_char(p), begin, end);
}

gboolean
limn_chars_equal(const LimnChars *a, const LimnChars *b)
{
    if (a->len != b->len)
        return FALSE;
    for (guint i = 0; i < a->len; i++)
        if (limn_chars_at(a, i)->c != limn_chars_at(b, i)->c)
            return FALSE;
    return TRUE;
}

gboolean
limn_chars_contain(const LimnChars *chars, gunichar c)
{
    for (guint i = 0; i < chars->len; i++)
        if (limn_chars_at(chars, i)->c == c)
            return TRUE;
    return FALSE;
}
