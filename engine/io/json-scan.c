// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/io/json-scan.h"

#include <string.h>

#include "engine/base/error.h"

#define MAX_DEPTH 64

LimnJsonScan
limn_json_scan(const char *data, gsize size, const char *name)
{
    if (data == NULL) // an empty GBytes has none
        data = "";
    return (LimnJsonScan){data, data, data + size, name, NULL};
}

gboolean
limn_json_scan_fail(LimnJsonScan *scan, GError **error, const char *expected)
{
    g_autofree char *found = NULL;
    if (scan->at == scan->end)
        found = g_strdup("the end");
    else
        found =
            g_strdup_printf("\"%.*s\"", (int) MIN(scan->end - scan->at, 12), scan->at);
    g_autofree char *shown = g_utf8_make_valid(found, -1);
    return limn_error_set_file(
        error, LIMN_ERROR_FORMAT, scan->name,
        "%s%s%smalformed JSON at byte %" G_GSIZE_FORMAT " (found %s, expected %s)",
        scan->item != NULL ? "tensor \"" : "", scan->item != NULL ? scan->item : "",
        scan->item != NULL ? "\": " : "", (gsize) (scan->at - scan->begin), shown,
        expected);
}

char
limn_json_scan_peek(LimnJsonScan *scan)
{
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n' ||
                                    *scan->at == '\t' || *scan->at == '\r'))
        scan->at++;
    return scan->at < scan->end ? *scan->at : '\0';
}

gboolean
limn_json_scan_accept(LimnJsonScan *scan, char c)
{
    if (limn_json_scan_peek(scan) != c || scan->at == scan->end)
        return FALSE;
    scan->at++;
    return TRUE;
}

gboolean
limn_json_scan_expect(LimnJsonScan *scan, char c, GError **error)
{
    const char expected[] = {'\'', c, '\'', '\0'};
    return limn_json_scan_accept(scan, c) || limn_json_scan_fail(scan, error, expected);
}

gboolean
limn_json_scan_finish(LimnJsonScan *scan, GError **error)
{
    limn_json_scan_peek(scan);
    return scan->at == scan->end || limn_json_scan_fail(scan, error, "nothing more");
}

gboolean
limn_json_scan_more(LimnJsonScan *scan, char close, gboolean *first, GError **error)
{
    gboolean begun = !*first;
    *first = FALSE;
    if (limn_json_scan_accept(scan, close))
        return FALSE;
    return !begun || limn_json_scan_expect(scan, ',', error);
}

// Four hexadecimal digits after "\u".
static gboolean
scan_hex(LimnJsonScan *scan, gunichar *value, GError **error)
{
    gunichar result = 0;
    for (int i = 0; i < 4; i++) {
        int digit = scan->at < scan->end ? g_ascii_xdigit_value(*scan->at) : -1;
        if (digit < 0)
            return limn_json_scan_fail(scan, error, "a hexadecimal digit");
        result = result * 16 + digit;
        scan->at++;
    }
    *value = result;
    return TRUE;
}

// After "\u": one code point, from two escapes when the first is a surrogate.
static gboolean
scan_unicode(LimnJsonScan *scan, GString *text, GError **error)
{
    gunichar c, low;
    if (!scan_hex(scan, &c, error))
        return FALSE;
    if (c >= 0xd800 && c <= 0xdbff && scan->end - scan->at >= 2 && scan->at[0] == '\\' &&
        scan->at[1] == 'u') {
        scan->at += 2;
        if (!scan_hex(scan, &low, error))
            return FALSE;
        if (low >= 0xdc00 && low <= 0xdfff)
            c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    }
    if (c == 0 || (c >= 0xd800 && c <= 0xdfff))
        return limn_json_scan_fail(scan, error, "no NUL and no lone surrogate before");
    g_string_append_unichar(text, c);
    return TRUE;
}

static gboolean
scan_escape(LimnJsonScan *scan, GString *text, GError **error)
{
    static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";
    char c = scan->at < scan->end ? *scan->at : '\0';
    const char *known = c != '\0' ? strchr(FROM, c) : NULL;
    if (c != 'u' && known == NULL)
        return limn_json_scan_fail(scan, error, "an escape");
    scan->at++;
    if (c == 'u')
        return scan_unicode(scan, text, error);
    g_string_append_c(text, TO[known - FROM]);
    return TRUE;
}

gboolean
limn_json_scan_string(LimnJsonScan *scan, GString *text, GError **error)
{
    g_string_truncate(text, 0);
    if (!limn_json_scan_accept(scan, '"'))
        return limn_json_scan_fail(scan, error, "a string");
    while (TRUE) {
        const char *run = scan->at;
        const char *invalid;
        while (scan->at < scan->end && *scan->at != '"' && *scan->at != '\\' &&
               (guchar) *scan->at >= 0x20)
            scan->at++;
        if (!g_utf8_validate_len(run, scan->at - run, &invalid)) {
            scan->at = invalid;
            return limn_json_scan_fail(scan, error, "UTF-8");
        }
        g_string_append_len(text, run, scan->at - run);
        char stop = scan->at < scan->end ? *scan->at : '\0';
        if (stop != '"' && stop != '\\')
            return limn_json_scan_fail(scan, error, "the end of the string");
        scan->at++;
        if (stop == '"')
            return TRUE;
        if (!scan_escape(scan, text, error))
            return FALSE;
    }
}

gboolean
limn_json_scan_size(LimnJsonScan *scan, gint64 *value, GError **error)
{
    limn_json_scan_peek(scan);
    const char *begin = scan->at;
    gint64 result = 0;
    while (scan->at < scan->end && g_ascii_isdigit(*scan->at)) {
        int digit = *scan->at - '0';
        if (result > (G_MAXINT64 - digit) / 10)
            break;
        result = result * 10 + digit;
        scan->at++;
    }
    char next = scan->at < scan->end ? *scan->at : '\0';
    if (scan->at == begin || (*begin == '0' && scan->at - begin > 1) ||
        g_ascii_isalnum(next) || next == '.') {
        scan->at = begin;
        return limn_json_scan_fail(scan, error, "an integer from 0 to 2^63 - 1");
    }
    *value = result;
    return TRUE;
}

static const char *
skip_digits(const char *at, const char *end)
{
    while (at < end && g_ascii_isdigit(*at))
        at++;
    return at;
}

static gboolean
skip_number(LimnJsonScan *scan, GError **error)
{
    const char *at = scan->at, *end = scan->end;
    if (at < end && *at == '-')
        at++;
    const char *digits = at;
    at = skip_digits(at, end);
    gboolean good = at > digits && (*digits != '0' || at - digits == 1);
    if (good && at < end && *at == '.') {
        digits = ++at;
        at = skip_digits(at, end);
        good = at > digits;
    }
    if (good && at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-'))
            at++;
        digits = at;
        at = skip_digits(at, end);
        good = at > digits;
    }
    if (!good)
        return limn_json_scan_fail(scan, error, "a value");
    scan->at = at;
    return TRUE;
}

static gboolean
skip_word(LimnJsonScan *scan, GError **error)
{
    static const char *const WORDS[] = {"true", "false", "null"};
    for (gsize i = 0; i < G_N_ELEMENTS(WORDS); i++) {
        gsize length = strlen(WORDS[i]);
        if ((gsize) (scan->end - scan->at) >= length &&
            memcmp(scan->at, WORDS[i], length) == 0) {
            scan->at += length;
            return TRUE;
        }
    }
    return skip_number(scan, error);
}

static gboolean
skip_value(LimnJsonScan *scan, GString *buffer, int depth, GError **error)
{
    GError *failed = NULL;
    gboolean first = TRUE;
    char open = limn_json_scan_peek(scan);
    if (open == '"')
        return limn_json_scan_string(scan, buffer, error);
    if (open != '{' && open != '[')
        return skip_word(scan, error);
    if (depth == MAX_DEPTH)
        return limn_json_scan_fail(scan, error, "values nested less deeply");
    scan->at++;
    while (limn_json_scan_more(scan, open == '{' ? '}' : ']', &first, &failed)) {
        if (open == '{' && (!limn_json_scan_string(scan, buffer, error) ||
                            !limn_json_scan_expect(scan, ':', error)))
            return FALSE;
        if (!skip_value(scan, buffer, depth + 1, error))
            return FALSE;
    }
    if (failed == NULL)
        return TRUE;
    g_propagate_error(error, failed);
    return FALSE;
}

gboolean
limn_json_scan_skip(LimnJsonScan *scan, GError **error)
{
    g_autoptr(GString) buffer = g_string_new(NULL);
    return skip_value(scan, buffer, 0, error);
}
