// SPDX-License-Identifier: GPL-3.0-or-later
// Lower case of all of Unicode: the simple mapping, and the two rules of
// SpecialCasing.txt that hold in every language: U+0130 becomes i with a dot above, and a
// capital sigma is final (U+03C2) when a cased letter stands before it and none behind
// it, characters that do not count for case left out of account (Unicode Standard,
// section 3.13).
#include "engine/text/text-repair.h"

typedef struct {
    gunichar first, last;
} Range;

static gboolean
in_ranges(gunichar c, const Range *ranges, gsize n)
{
    for (gsize i = 0; i < n; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return TRUE;
    return FALSE;
}

// Letters and signs with case (property Cased).
static gboolean
is_cased(gunichar c)
{
    // Other_Lowercase and Other_Uppercase.
    static const Range OTHER[] = {
        {0xaa, 0xaa},       {0xba, 0xba},       {0x2b0, 0x2b8},     {0x2c0, 0x2c1},
        {0x2e0, 0x2e4},     {0x345, 0x345},     {0x37a, 0x37a},     {0x10fc, 0x10fc},
        {0x1d2c, 0x1d6a},   {0x1d78, 0x1d78},   {0x1d9b, 0x1dbf},   {0x2071, 0x2071},
        {0x207f, 0x207f},   {0x2090, 0x209c},   {0x2160, 0x217f},   {0x24b6, 0x24e9},
        {0x2c7c, 0x2c7d},   {0xa69c, 0xa69d},   {0xa770, 0xa770},   {0xa7f2, 0xa7f4},
        {0xa7f8, 0xa7f9},   {0xab5c, 0xab5f},   {0xab69, 0xab69},   {0x10780, 0x10780},
        {0x10783, 0x10785}, {0x10787, 0x107b0}, {0x107b2, 0x107ba}, {0x1f130, 0x1f149},
        {0x1f150, 0x1f169}, {0x1f170, 0x1f189},
    };
    GUnicodeType type = g_unichar_type(c);
    return type == G_UNICODE_LOWERCASE_LETTER || type == G_UNICODE_UPPERCASE_LETTER ||
           type == G_UNICODE_TITLECASE_LETTER || in_ranges(c, OTHER, G_N_ELEMENTS(OTHER));
}

// Characters that do not count (property Case_Ignorable).
static gboolean
is_ignorable(gunichar c)
{
    static const Range OTHER[] = {
        {'\'', '\''},     {'.', '.'},       {':', ':'},       {0xb7, 0xb7},
        {0x387, 0x387},   {0x55f, 0x55f},   {0x5f4, 0x5f4},   {0x2018, 0x2019},
        {0x2024, 0x2024}, {0x2027, 0x2027}, {0xfe13, 0xfe13}, {0xfe52, 0xfe52},
        {0xfe55, 0xfe55}, {0xff07, 0xff07}, {0xff0e, 0xff0e}, {0xff1a, 0xff1a},
    };
    switch (g_unichar_type(c)) {
    case G_UNICODE_NON_SPACING_MARK:
    case G_UNICODE_ENCLOSING_MARK:
    case G_UNICODE_FORMAT:
    case G_UNICODE_MODIFIER_LETTER:
    case G_UNICODE_MODIFIER_SYMBOL:
        return TRUE;
    default:
        return in_ranges(c, OTHER, G_N_ELEMENTS(OTHER));
    }
}

static gboolean
is_final_sigma(const LimnChars *chars, guint i)
{
    guint before = i, after = i + 1;
    while (before > 0 && is_ignorable(limn_chars_at(chars, before - 1)->c))
        before--;
    if (before == 0 || !is_cased(limn_chars_at(chars, before - 1)->c))
        return FALSE;
    while (after < chars->len && is_ignorable(limn_chars_at(chars, after)->c))
        after++;
    return after == chars->len || !is_cased(limn_chars_at(chars, after)->c);
}

static gunichar
lower_one(gunichar c)
{
    if (c >= 0x2160 && c <= 0x216f) // Roman numerals
        return c + 0x10;
    if (c >= 0x24b6 && c <= 0x24cf) // circled letters
        return c + 26;
    return g_unichar_tolower(c);
}

LimnChars *
limn_text_lower(const LimnChars *chars)
{
    LimnChars *result = limn_chars_new(chars->len);
    for (guint i = 0; i < chars->len; i++) {
        const LimnChar *element = limn_chars_at(chars, i);
        if (element->c == 0x130)
            limn_chars_append_utf8(result, "i\u0307", element->begin, element->end);
        else if (element->c == 0x3a3 && is_final_sigma(chars, i))
            limn_chars_append(result, 0x3c2, element->begin, element->end);
        else
            limn_chars_append(result, lower_one(element->c), element->begin,
                              element->end);
    }
    return result;
}
