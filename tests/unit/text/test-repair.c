// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/text/html-entities.h"
#include "engine/text/text-repair.h"
#include "tests/unit/loader-test.h"

typedef LimnChars *(*Step)(const LimnChars *chars);

typedef struct {
    const char *text, *expected;
} Case;

static void
check(Step step, const Case *cases, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        g_autoptr(GArray) given =
            limn_chars_from_utf8(cases[i].text, strlen(cases[i].text));
        g_autoptr(GArray) result = step(given);
        g_autofree char *text = limn_chars_to_utf8(result);
        g_assert_cmpstr(text, ==, cases[i].expected);
        for (guint k = 0; k < result->len; k++) {
            g_assert_cmpuint(limn_chars_at(result, k)->begin, <,
                             limn_chars_at(result, k)->end);
            g_assert_cmpuint(limn_chars_at(result, k)->end, <=, strlen(cases[i].text));
            if (k > 0)
                g_assert_cmpuint(limn_chars_at(result, k)->begin, >=,
                                 limn_chars_at(result, k - 1)->begin);
        }
    }
}

static void
test_unescape(void)
{
    static const Case CASES[] = {
        {"&amp;&AMP;&amp&lt;3", "&&&<3"},
        {"&ampx &ampere; &notit; &notin;", "&x &ere; \u00acit; \u2209"},
        {"&eacute;&Eacute;&eacute", "\u00e9\u00c9\u00e9"},
        {"&#233;&#xe9;&#XE9;&#233 &#xe9", "\u00e9\u00e9\u00e9\u00e9 \u00e9"},
        {"&#150;&#x80;&#x81;", "\u2013\u20ac\xc2\x81"},
        {"&#0;&#xd800;&#x110000;&#99999999999999999999;", "\ufffd\ufffd\ufffd\ufffd"},
        {"&#1;&#11;&#127;&#xfdd0;&#xffff;&#x1fffe;.", "."},
        {"&#9;&#10;&#12;&#13;", "\t\n\f\r"},
        {"& && &; &# &#; &#x; &#xg; &unknown; &u",
         "& && &; &# &#; &#x; &#xg; &unknown; &u"},
        {"&CounterClockwiseContourIntegral;", "\u2233"},
        {"&NotEqualTilde;", "\u2242\u0338"},
        {"&amp;amp;", "&amp;"},
        {"&\u00e9;", "&\u00e9;"},
        {"&lt&gt", "<>"},
    };
    check(limn_html_unescape, CASES, G_N_ELEMENTS(CASES));
}

static void
test_unescape_strict(void)
{
    static const Case CASES[] = {
        {"&eacute;&EACUTE;&Eacute;", "\u00e9\u00c9\u00c9"},
        {"&eacute &amp &#233 &#xe9", "&eacute &amp &#233 &#xe9"},
        {"&SZLIG;&FFILIG;&NAPOS;", "SSFFI\u02bcN"},
        {"&notit; &Eacutex;", "&notit; &Eacutex;"},
        {"&#59; &#x3b; &#60;", "&#59; &#x3b; <"},
        {"&#1;", ""},
        {"&NOTIN; &LTX; &EACUTEX;", "\u2209 &LTX; &EACUTEX;"},
        {"&CounterClockwiseContourIntegral;", "&CounterClockwiseContourIntegral;"},
        {"&#0000000000000000000000233;", "&#0000000000000000000000233;"},
    };
    check(limn_html_unescape_strict, CASES, G_N_ELEMENTS(CASES));
}

static void
test_repair(void)
{
    static const Case CASES[] = {
        {"caf\u00c3\u00a9", "caf\u00e9"},
        {"\u00e2\u201a\u00ac5", "\u20ac5"},
        {"caf\u00c3\u0192\u00c2\u00a9", "caf\u00e9"},         // twice
        {"caf\u00c3\u00a9 \u2603", "caf\u00c3\u00a9 \u2603"}, // not all of it can be
        {"caf\u00e9", "caf\u00e9"},                           // no UTF-8
        {"\xc2\x93x\xc2\x94 \xc2\x85", "\"x\" \u2026"},
        {"\ufb00\ufb01\ufb02\ufb03\ufb04\ufb06\u0133", "fffiflffifflstij"},
        {"\u0149", "'n"},
        {"\uff21\uff01\u3000\uff76\uff9e", "A! \u30ac"},
        {"\u2018\u2019\u201a\u201b\u02bc \u201c\u201d\u201e\u201f", "''''' \"\"\"\""},
        {"a\r\nb\rc\u2028d\u2029e", "a\nb\nc\nd\ne"},
        {"\x1b[1;31mred\x1b[0m \x1b[x", "red "},
        {"a\x01\x0b\x1f\x7f\ufeff\u206a\ufffc"
         "b\t\f",
         "ab\t\f"},
        {"e\u0301 \u1100\u1161\u11a8 \u212b \u0958", "\u00e9 \uac01 \u00c5 \u0915\u093c"},
        {"&amp;amp;amp;amp;", "&"},
        {"<&amp;amp;", "<&amp;amp;"},
        {"", ""},
    };
    check(limn_text_repair, CASES, G_N_ELEMENTS(CASES));
}

static void
test_lower(void)
{
    static const Case CASES[] = {
        {"HELLO \u00dc\u1e9e\u0130I", "hello \u00fc\u00dfi\u0307i"},
        {"\u2160\u216f\u24b6\u24cf", "\u2170\u217f\u24d0\u24e9"},
        {"\u0391\u03a3", "\u03b1\u03c2"},
        {"\u0391\u03a3.", "\u03b1\u03c2."},
        {"\u0391\u03a3\u0391", "\u03b1\u03c3\u03b1"},
        {"\u03a3", "\u03c3"},
        {"\u0391\u03a3'\u0391", "\u03b1\u03c3'\u03b1"},
        {"\u0391\u0301\u03a3 \u0391", "\u03b1\u0301\u03c2 \u03b1"},
        {"1\u03a3", "1\u03c3"},
        {"\U00010400", "\U00010428"},
    };
    // Whatever the locale says about the Turkish i.
    check(limn_text_lower, CASES, G_N_ELEMENTS(CASES));
}

static void
test_collapse(void)
{
    static const Case CASES[] = {
        {" \t\n a \u00a0\u2003b\u3000", "a b"},
        {"   ", ""},
        {"a\u200b b\u180e", "a\u200b b\u180e"},
        {"a\v\f\r\xc2\x85\u1680\u2028\u2029\u202f\u205f"
         "b",
         "a b"},
    };
    check(limn_text_collapse, CASES, G_N_ELEMENTS(CASES));
}

// Segments that did not change keep the ranges of their characters.
static void
test_compose_ranges(void)
{
    static const char TEXT[] = "q\u0323\u0307x\u4f60\u597d";
    g_autoptr(GArray) given = limn_chars_from_utf8(TEXT, strlen(TEXT));
    g_autoptr(GArray) same = limn_text_compose(given);
    g_assert_true(limn_chars_equal(given, same));
    for (guint i = 0; i < same->len; i++)
        g_assert_cmpuint(limn_chars_at(same, i)->begin, ==,
                         limn_chars_at(given, i)->begin);
    // Marks in another order are put in order, and then share one range.
    static const char OTHER[] = "q\u0307\u0323x";
    g_autoptr(GArray) unordered = limn_chars_from_utf8(OTHER, strlen(OTHER));
    g_autoptr(GArray) ordered = limn_text_compose(unordered);
    g_assert_cmpuint(limn_chars_at(ordered, 1)->c, ==, 0x323);
    g_assert_cmpuint(limn_chars_at(ordered, 2)->begin, ==, 0);
    g_assert_cmpuint(limn_chars_at(ordered, 2)->end, ==, 5);
    g_assert_cmpuint(limn_chars_at(ordered, 3)->begin, ==, 5);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/repair/unescape", test_unescape);
    g_test_add_func("/repair/unescape-strict", test_unescape_strict);
    g_test_add_func("/repair/repair", test_repair);
    g_test_add_func("/repair/lower", test_lower);
    g_test_add_func("/repair/collapse", test_collapse);
    g_test_add_func("/repair/compose-ranges", test_compose_ranges);
    return g_test_run();
}
