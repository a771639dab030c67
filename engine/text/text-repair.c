// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/text-repair.h"

#include "engine/text/cp1252.h"
#include "engine/text/html-entities.h"

#define MAX_PASSES 64

// Replaces *chars by `result`.
static void
take(LimnChars **chars, LimnChars *result)
{
    g_array_unref(*chars);
    *chars = result;
}

// --- UTF-8 read as Windows-1252
// ---------------------------------------------------------

// The text as Windows-1252; NULL when a character has no byte or all are ASCII.
static guint8 *
encode_cp1252(const LimnChars *chars)
{
    g_autofree guint8 *bytes = g_malloc(chars->len + 1);
    gboolean ascii = TRUE;
    for (guint i = 0; i < chars->len; i++) {
        if (!limn_cp1252_from_unicode(limn_chars_at(chars, i)->c, &bytes[i]))
            return NULL;
        ascii = ascii && bytes[i] < 0x80;
    }
    bytes[chars->len] = '\0';
    return ascii ? NULL : g_steal_pointer(&bytes);
}

// Decodes once when the bytes of the whole text are valid UTF-8; else the text as it is.
static LimnChars *
fix_encoding(const LimnChars *chars)
{
    g_autofree guint8 *bytes = encode_cp1252(chars);
    if (bytes == NULL)
        return g_array_copy((GArray *) (guintptr) chars);
    g_autoptr(GArray) result = limn_chars_new(chars->len);
    for (guint i = 0; i < chars->len;) {
        gunichar c = bytes[i];
        guint n = 1;
        if (c >= 0x80) {
            c = g_utf8_get_char_validated((const char *) bytes + i, chars->len - i);
            if (c >= (gunichar) -2)
                return g_array_copy((GArray *) (guintptr) chars);
            n = g_unichar_to_utf8(c, NULL);
        }
        limn_chars_append(result, c, limn_chars_at(chars, i)->begin,
                          limn_chars_at(chars, i + n - 1)->end);
        i += n;
    }
    return g_steal_pointer(&result);
}

// --- Single characters
// ------------------------------------------------------------------

static const char *
find_ligature(gunichar c)
{
    static const struct {
        gunichar c;
        const char *letters;
    } LIGATURES[] = {
        {0x132, "IJ"},       {0x133, "ij"},      {0x149, "\u02bcn"}, {0x1c4, "D\u017d"},
        {0x1c5, "D\u017e"},  {0x1c6, "d\u017e"}, {0x1c7, "LJ"},      {0x1c8, "Lj"},
        {0x1c9, "lj"},       {0x1ca, "NJ"},      {0x1cb, "Nj"},      {0x1cc, "nj"},
        {0x1f1, "DZ"},       {0x1f2, "Dz"},      {0x1f3, "dz"},      {0xfb00, "ff"},
        {0xfb01, "fi"},      {0xfb02, "fl"},     {0xfb03, "ffi"},    {0xfb04, "ffl"},
        {0xfb05, "\u017ft"}, {0xfb06, "st"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(LIGATURES); i++)
        if (LIGATURES[i].c == c)
            return LIGATURES[i].letters;
    return NULL;
}

// Full- and half-width forms to ordinary ones.
static void
append_width(LimnChars *result, const LimnChar *element)
{
    char text[8];
    text[g_unichar_to_utf8(element->c, text)] = '\0';
    g_autofree char *normal = g_utf8_normalize(text, -1, G_NORMALIZE_NFKC);
    limn_chars_append_utf8(result, normal, element->begin, element->end);
}

static gunichar
fix_quote(gunichar c)
{
    if (c == 0x2bc || (c >= 0x2018 && c <= 0x201b))
        return '\'';
    return c >= 0x201c && c <= 0x201f ? '"' : c;
}

static LimnChars *
fix_characters(const LimnChars *chars)
{
    LimnChars *result = limn_chars_new(chars->len);
    for (guint i = 0; i < chars->len; i++) {
        LimnChar element = *limn_chars_at(chars, i);
        const char *letters = find_ligature(element.c);
        if (element.c >= 0x80 && element.c <= 0x9f)
            element.c = limn_cp1252_to_unicode((guint8) element.c);
        if (letters != NULL)
            limn_chars_append_utf8(result, letters, element.begin, element.end);
        else if (element.c >= 0xff01 && element.c <= 0xffef)
            append_width(result, &element);
        else
            limn_chars_append(result, element.c == 0x3000 ? ' ' : element.c,
                              element.begin, element.end);
    }
    for (guint i = 0; i < result->len; i++)
        limn_chars_at(result, i)->c = fix_quote(limn_chars_at(result, i)->c);
    return result;
}

// CR LF, CR, U+2028, U+2029 and U+0085 become LF.
static LimnChars *
fix_line_breaks(const LimnChars *chars)
{
    LimnChars *result = limn_chars_new(chars->len);
    for (guint i = 0; i < chars->len; i++) {
        LimnChar element = *limn_chars_at(chars, i);
        if (element.c == '\r' && i + 1 < chars->len &&
            limn_chars_at(chars, i + 1)->c == '\n')
            element.end = limn_chars_at(chars, ++i)->end;
        if (element.c == '\r' || element.c == 0x2028 || element.c == 0x2029 ||
            element.c == 0x85)
            element.c = '\n';
        g_array_append_val(result, element);
    }
    return result;
}

// The end of a terminal escape (ESC '[' digits and ';' and a letter) at i; i when none.
static guint
match_escape(const LimnChars *chars, guint i)
{
    guint at = i + 2;
    if (at > chars->len || limn_chars_at(chars, i)->c != 0x1b ||
        limn_chars_at(chars, i + 1)->c != '[')
        return i;
    while (at < chars->len && (g_unichar_isdigit(limn_chars_at(chars, at)->c) ||
                               limn_chars_at(chars, at)->c == ';'))
        at++;
    if (at == chars->len || limn_chars_at(chars, at)->c >= 0x80 ||
        !g_ascii_isalpha((char) limn_chars_at(chars, at)->c))
        return i;
    return at + 1;
}

static gboolean
is_control(gunichar c)
{
    return c < 9 || c == 0x0b || (c >= 0x0e && c < 0x20) || c == 0x7f ||
           (c >= 0x206a && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffc);
}

static LimnChars *
remove_controls(const LimnChars *chars)
{
    LimnChars *result = limn_chars_new(chars->len);
    for (guint i = 0; i < chars->len;) {
        guint end = match_escape(chars, i);
        if (end == i && !is_control(limn_chars_at(chars, i)->c))
            limn_chars_append_range(result, chars, i, i + 1);
        i = MAX(end, i + 1);
    }
    return result;
}

// --- Normalisation
// ----------------------------------------------------------------------

#define MAX_SEGMENT 256

// Nothing before c can change together with c: a segment for normalisation begins here.
static gboolean
begins_segment(gunichar c)
{
    if (c < 0x300)
        return TRUE;
    if ((c >= 0x1160 && c <= 0x11ff) || (c >= 0xd7b0 && c <= 0xd7ff)) // conjoining Jamo
        return FALSE;
    GUnicodeType type = g_unichar_type(c);
    return type != G_UNICODE_SPACING_MARK && type != G_UNICODE_ENCLOSING_MARK &&
           type != G_UNICODE_NON_SPACING_MARK && g_unichar_combining_class(c) == 0;
}

// Composes characters [from, to). All of the result stands for all of the segment, unless
// nothing changed.
static void
compose_segment(LimnChars *result, const LimnChars *chars, guint from, guint to)
{
    g_autoptr(GString) text = g_string_new(NULL);
    gboolean changed = FALSE;
    guint n = 0;
    for (guint i = from; i < to; i++)
        g_string_append_unichar(text, limn_chars_at(chars, i)->c);
    g_autofree char *composed = g_utf8_normalize(text->str, -1, G_NORMALIZE_NFC);
    const char *p = composed;
    for (; *p != '\0' && !changed; p = limn_utf8_next(p), n++)
        changed =
            n >= to - from || g_utf8_get_char(p) != limn_chars_at(chars, from + n)->c;
    if (!changed && n == to - from)
        limn_chars_append_range(result, chars, from, to);
    else
        limn_chars_append_utf8(result, composed, limn_chars_at(chars, from)->begin,
                               limn_chars_at(chars, to - 1)->end);
}

LimnChars *
limn_text_compose(const LimnChars *chars)
{
    LimnChars *result = limn_chars_new(chars->len);
    for (guint from = 0; from < chars->len;) {
        guint to = from + 1;
        while (to < chars->len && to - from < MAX_SEGMENT &&
               !begins_segment(limn_chars_at(chars, to)->c))
            to++;
        if (to == from + 1 && limn_chars_at(chars, from)->c < 0x300)
            limn_chars_append_range(result, chars, from, to);
        else
            compose_segment(result, chars, from, to);
        from = to;
    }
    return result;
}

// --- The whole
// --------------------------------------------------------------------------

LimnChars *
limn_text_repair(const LimnChars *chars)
{
    gboolean unescape = !limn_chars_contain(chars, '<');
    LimnChars *text = g_array_copy((GArray *) (guintptr) chars);
    for (int pass = 0; pass < MAX_PASSES; pass++) {
        g_autoptr(GArray) before = g_array_ref(text);
        if (unescape)
            take(&text, limn_html_unescape_strict(text));
        take(&text, fix_encoding(text));
        take(&text, fix_characters(text));
        take(&text, fix_line_breaks(text));
        take(&text, remove_controls(text));
        take(&text, limn_text_compose(text));
        if (limn_chars_equal(before, text))
            break;
    }
    return text;
}

gboolean
limn_text_is_space(gunichar c)
{
    if (c < 0x80)
        return c == ' ' || (c >= 9 && c <= 13);
    return c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
           c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

LimnChars *
limn_text_collapse(const LimnChars *chars)
{
    LimnChars *result = limn_chars_new(chars->len);
    for (guint i = 0; i < chars->len; i++) {
        LimnChar element = *limn_chars_at(chars, i);
        if (limn_text_is_space(element.c)) {
            while (i + 1 < chars->len &&
                   limn_text_is_space(limn_chars_at(chars, i + 1)->c))
                i++;
            if (result->len == 0 || i + 1 == chars->len)
                continue;
            element.c = ' ';
            element.end = limn_chars_at(chars, i)->end;
        }
        g_array_append_val(result, element);
    }
    return result;
}

LimnChars *
limn_text_clean(const char *text, gsize size)
{
    g_autoptr(GArray) given = limn_chars_from_utf8(text, size);
    LimnChars *chars = limn_text_repair(given);
    take(&chars, limn_html_unescape(chars));
    take(&chars, limn_html_unescape(chars));
    take(&chars, limn_text_collapse(chars));
    take(&chars, limn_text_lower(chars));
    return chars;
}
