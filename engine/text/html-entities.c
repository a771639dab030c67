// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/text/html-entities.h"

#include <string.h>

#include "engine/text/cp1252.h"
#include "engine/text/json.h"
#include "engine/text/text-resources.h"

#define MAX_NAME 32
#define MAX_STRICT_NAME 24

// name ("eacute;" or "eacute") -> replacement; loaded once, then only read.
static json_t *
get_entities(void)
{
    static gsize loaded = 0;
    static json_t *entities;
    if (g_once_init_enter(&loaded)) {
        g_autoptr(GBytes) bytes = limn_text_resource("html5_entities.json");
        gsize size;
        const void *data = g_bytes_get_data(bytes, &size);
        entities = limn_json_parse(data, size, "html5_entities.json", NULL);
        g_assert(json_is_object(entities));
        g_once_init_leave(&loaded, 1);
    }
    return entities;
}

static const char *
find_entity(const char *name, gsize length)
{
    return json_string_value(json_object_getn(get_entities(), name, length));
}

static gboolean
is_noncharacter(guint32 number)
{
    return (number >= 0xfdd0 && number <= 0xfdef) || (number & 0xfffe) == 0xfffe;
}

// What a numeric reference stands for; 0: nothing.
static gunichar
resolve_number(guint32 number)
{
    if (number == 0 || number > 0x10ffff || (number >= 0xd800 && number <= 0xdfff))
        return 0xfffd;
    if (number >= 0x80 && number <= 0x9f)
        return limn_cp1252_to_unicode(number);
    if (number < 0x20 && number != '\t' && number != '\n' && number != '\f' &&
        number != '\r')
        return 0;
    return number == 0x7f || is_noncharacter(number) ? 0 : number;
}

// Digits from *at on; saturates above U+10FFFF. FALSE when there are none.
static gboolean
read_number(const LimnChars *chars, guint *at, int base, guint32 *number)
{
    guint begin = *at;
    *number = 0;
    while (*at < chars->len) {
        gunichar c = limn_chars_at(chars, *at)->c;
        int digit = c < 0x80 ? g_ascii_xdigit_value((char) c) : -1;
        if (digit < 0 || digit >= base)
            break;
        *number = MIN(*number * base + digit, 0x110000);
        ++*at;
    }
    return *at > begin;
}

// A numeric reference at `at` (the ampersand): the position behind it, 0 when there is
// none. A semicolon is taken in when it follows.
static guint
match_number(const LimnChars *chars, guint at, guint32 *number)
{
    guint next = at + 1;
    if (next >= chars->len || limn_chars_at(chars, next)->c != '#')
        return 0;
    next++;
    gunichar mark = next < chars->len ? limn_chars_at(chars, next)->c : 0;
    if (mark == 'x' || mark == 'X')
        next++;
    if (!read_number(chars, &next, mark == 'x' || mark == 'X' ? 16 : 10, number))
        return 0;
    if (next < chars->len && limn_chars_at(chars, next)->c == ';')
        next++;
    return next;
}

// The name behind the ampersand at `at`, as ASCII (a character outside ends it, no name
// has one), with its semicolon. Returns its length.
static guint
read_name(const LimnChars *chars, guint at, char name[MAX_NAME + 2])
{
    guint n = 0;
    for (guint i = at + 1; i < chars->len && n < MAX_NAME; i++) {
        gunichar c = limn_chars_at(chars, i)->c;
        if (c >= 0x80 || !g_ascii_isalnum((char) c))
            break;
        name[n++] = (char) c;
    }
    if (at + 1 + n < chars->len && limn_chars_at(chars, at + 1 + n)->c == ';')
        name[n++] = ';';
    name[n] = '\0';
    return n;
}

// The longest entity that begins the name; *length of it. NULL: none.
static const char *
match_name(const char *name, guint n, guint *length)
{
    for (guint x = n; x >= 2; x--) {
        const char *value = find_entity(name, x);
        if (value != NULL) {
            *length = x;
            return value;
        }
    }
    return NULL;
}

LimnChars *
limn_html_unescape(const LimnChars *chars)
{
    LimnChars *result = limn_chars_new(chars->len);
    for (guint at = 0; at < chars->len;) {
        const LimnChar *here = limn_chars_at(chars, at);
        char name[MAX_NAME + 2];
        guint32 number;
        guint length = 0;
        guint next = here->c == '&' ? match_number(chars, at, &number) : 0;
        if (next > 0) {
            gunichar c = resolve_number(number);
            if (c != 0)
                limn_chars_append(result, c, here->begin,
                                  limn_chars_at(chars, next - 1)->end);
            at = next;
            continue;
        }
        const char *value = NULL;
        if (here->c == '&')
            value = match_name(name, read_name(chars, at, name), &length);
        if (value != NULL)
            limn_chars_append_utf8(result, value, here->begin,
                                   limn_chars_at(chars, at + length)->end);
        else
            g_array_append_val(result, *here);
        at += 1 + length;
    }
    return result;
}

static void
append_upper(LimnChars *chars, const char *value, guint32 begin, guint32 end)
{
    static const struct {
        gunichar c;
        const char *upper;
    } LONGER[] = {
        {0xdf, "SS"},   {0x149, "\u02bcN"}, {0xfb00, "FF"},  {0xfb01, "FI"},
        {0xfb02, "FL"}, {0xfb03, "FFI"},    {0xfb04, "FFL"},
    };
    for (const char *p = value; *p != '\0'; p = limn_utf8_next(p)) {
        gunichar c = g_utf8_get_char(p);
        gsize i = 0;
        while (i < G_N_ELEMENTS(LONGER) && LONGER[i].c != c)
            i++;
        if (i < G_N_ELEMENTS(LONGER))
            limn_chars_append_utf8(chars, LONGER[i].upper, begin, end);
        else
            limn_chars_append(chars, g_unichar_toupper(c), begin, end);
    }
}

// The value of a name in capitals of which the standard knows only small letters.
static const char *
find_capitals(const char *name, guint n)
{
    char lower[MAX_NAME + 2];
    guint length;
    for (guint i = 0; i <= n; i++) {
        lower[i] = g_ascii_tolower(name[i]);
        if (g_ascii_islower(name[i]))
            return NULL;
    }
    return match_name(name, n, &length) == NULL ? find_entity(lower, n) : NULL;
}

// Handles the ampersand at `at`; returns the position behind what was replaced, or 0.
static guint
unescape_one(LimnChars *result, const LimnChars *chars, guint at)
{
    char name[MAX_NAME + 2];
    guint32 number;
    guint32 begin = limn_chars_at(chars, at)->begin;
    guint next = match_number(chars, at, &number);
    if (next > 0) {
        // "&#" is followed by at most 24 letters and digits and the semicolon.
        gunichar c = resolve_number(number);
        if (limn_chars_at(chars, next - 1)->c != ';' || next - at > 3 + MAX_STRICT_NAME ||
            c == ';')
            return 0;
        if (c != 0)
            limn_chars_append(result, c, begin, limn_chars_at(chars, next - 1)->end);
        return next;
    }
    guint n = read_name(chars, at, name);
    if (n < 2 || n > MAX_STRICT_NAME + 1 || name[n - 1] != ';')
        return 0;
    guint32 end = limn_chars_at(chars, at + n)->end;
    const char *value = find_entity(name, n);
    if (value != NULL) {
        limn_chars_append_utf8(result, value, begin, end);
        return at + 1 + n;
    }
    value = find_capitals(name, n);
    if (value == NULL)
        return 0;
    append_upper(result, value, begin, end);
    return at + 1 + n;
}

LimnChars *
limn_html_unescape_strict(const LimnChars *chars)
{
    LimnChars *result = limn_chars_new(chars->len);
    for (guint at = 0; at < chars->len;) {
        const LimnChar *here = limn_chars_at(chars, at);
        guint next = here->c == '&' ? unescape_one(result, chars, at) : 0;
        if (next == 0) {
            g_array_append_val(result, *here);
            next = at + 1;
        }
        at = next;
    }
    return result;
}
