// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/study/json-writer.h"
#include "engine/text/json.h"

#include <math.h>
#include <string.h>

static void
test_bytes(void)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "text", "a \"b\"\\\n\t\x01 é");
    limn_json_writer_string(json, "none", NULL);
    limn_json_writer_double(json, "tenth", 0.1);
    limn_json_writer_double(json, "bad", NAN);
    limn_json_writer_double(json, "worse", -INFINITY);
    limn_json_writer_int(json, "int", G_MININT64);
    limn_json_writer_uint(json, "uint", G_MAXUINT64);
    limn_json_writer_bool(json, "yes", TRUE);
    limn_json_writer_begin_array(json, "empty");
    limn_json_writer_end_array(json);
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, "line");
    limn_json_writer_int(json, NULL, 1);
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_int(json, "a", 2);
    limn_json_writer_end_object(json);
    limn_json_writer_end_array(json);
    limn_json_writer_begin_array(json, "lines");
    limn_json_writer_int(json, NULL, 1);
    limn_json_writer_int(json, NULL, 2);
    limn_json_writer_end_array(json);
    limn_json_writer_end_object(json);
    g_autofree char *text = limn_json_writer_finish(json);
    g_assert_cmpstr(text, ==,
                    "{\n"
                    " \"text\": \"a \\\"b\\\"\\\\\\n\\t\\u0001 é\",\n"
                    " \"none\": null,\n"
                    " \"tenth\": 0.1,\n"
                    " \"bad\": null,\n"
                    " \"worse\": null,\n"
                    " \"int\": -9223372036854775808,\n"
                    " \"uint\": 18446744073709551615,\n"
                    " \"yes\": true,\n"
                    " \"empty\": [],\n"
                    " \"line\": [1, {\"a\": 2}],\n"
                    " \"lines\": [\n"
                    "  1,\n"
                    "  2\n"
                    " ]\n"
                    "}\n");
}

// What is written can be read, whatever the strings hold.
static void
test_round_trip(void)
{
    const char *const strings[] = {"",
                                   "\x7f\x1f\r\n",
                                   "\xff\xfe broken \xc3",
                                   "\xf0\x9f\x90\xb6 dog",
                                   "</script>\xe2\x80\xa8",
                                   "\\u0041"};
    for (gsize i = 0; i < G_N_ELEMENTS(strings); i++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
        limn_json_writer_begin_array(json, NULL);
        limn_json_writer_string(json, NULL, strings[i]);
        limn_json_writer_end_array(json);
        g_autofree char *text = limn_json_writer_finish(json);
        g_autoptr(json_t) root = limn_json_parse(text, strlen(text), "test", &error);
        g_assert_no_error(error);
        g_autofree char *valid = g_utf8_make_valid(strings[i], -1);
        g_assert_cmpstr(json_string_value(json_array_get(root, 0)), ==, valid);
    }
}

static void
test_again(void)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    for (int i = 0; i < 2; i++) {
        limn_json_writer_begin_array(json, NULL);
        limn_json_writer_end_array(json);
        g_autofree char *text = limn_json_writer_finish(json);
        g_assert_cmpstr(text, ==, "[]\n");
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json-writer/bytes", test_bytes);
    g_test_add_func("/json-writer/round-trip", test_round_trip);
    g_test_add_func("/json-writer/again", test_again);
    return g_test_run();
}
