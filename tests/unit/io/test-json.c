// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/io/json-scan.h"
#include "engine/io/json.h"
#include "tests/unit/loader-test.h"

static json_t *
parse(const char *text, LimnJson *cursor)
{
    g_autoptr(GError) error = NULL;
    json_t *root = limn_json_parse(text, strlen(text), "config.json", &error);
    g_assert_no_error(error);
    g_assert_true(limn_json_root(root, "config.json", cursor, &error));
    return root;
}

static void
test_refused(void)
{
    static const struct {
        const char *text, *message;
    } CASES[] = {
        {"{\"a\":1,\"b\":{\"c\":1,\"c\":2}}", "the key \"c\" is given twice"},
        {"{\n\"a\":1,\n\"a\":2}", "line 3"},
        {"", "malformed JSON"},
        {"{\"a\":1", "malformed JSON"},
        {"{} x", "malformed JSON"},
        {"{\"a\":\"\\u0000\"}", "malformed JSON"},
        {"{\"a\":\"\xff\"}", "malformed JSON"},
        {"{\"a\":01}", "malformed JSON"},
        {"{\"a\":NaN}", "malformed JSON"},
        {"{\"a\":99999999999999999999}", "too big"},
        {"{\"a\":1e999}", "overflow"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(CASES); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(
            limn_json_parse(CASES[i].text, strlen(CASES[i].text), "config.json", &error));
        assert_refused(&error, LIMN_ERROR_FORMAT, "config.json: ", CASES[i].message,
                       NULL);
    }
    g_autoptr(GError) error = NULL;
    g_autofree char *deep = g_strnfill(1000000, '[');
    g_assert_null(limn_json_parse(deep, 1000000, "config.json", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "config.json: ", NULL);
    g_assert_null(limn_json_parse("[0\0,1]", 6, "x", &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "x: ", "NUL at byte 2", NULL);
    g_autoptr(json_t) marked = limn_json_parse("\xef\xbb\xbf[1]", 6, "x", &error);
    g_assert_true(json_is_array(marked));
    g_autoptr(json_t) none = limn_json_parse(NULL, 0, "x", &error);
    g_assert_null(none);
    assert_refused(&error, LIMN_ERROR_FORMAT, "x: ", NULL);
}

static void
test_getters(void)
{
    LimnJson json, member, element;
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) root =
        parse("{\"width\":64,\"eps\":1e-5,\"one\":1,\"flag\":true,\"name\":\"gelu\","
              "\"none\":null,"
              "\"mean\":[0.5,1,-2],\"vision\":{\"layers\":12},\"list\":[{\"id\":7},8]}",
              &json);
    g_assert_true(json.value == root);
    gint64 i = -1;
    double d = -1, v[3] = {0};
    gboolean b = FALSE;
    const char *s = "default";
    json_t *a = NULL;
    g_assert_true(limn_json_need_int(&json, "width", 1, 100, &i, &error) && i == 64);
    g_assert_true(limn_json_read_int(&json, "none", 1, 100, &i, &error) && i == 64);
    g_assert_true(limn_json_read_int(&json, "absent", 1, 100, &i, &error) && i == 64);
    g_assert_true(limn_json_need_double(&json, "eps", 0, 1, &d, &error) && d == 1e-5);
    g_assert_true(limn_json_read_double(&json, "one", 0, 1, &d, &error) && d == 1);
    g_assert_true(limn_json_read_bool(&json, "flag", &b, &error) && b);
    g_assert_true(limn_json_need_string(&json, "name", &s, &error));
    g_assert_cmpstr(s, ==, "gelu");
    g_assert_true(limn_json_read_doubles(&json, "mean", v, 3, &error));
    g_assert_true(v[0] == 0.5 && v[1] == 1 && v[2] == -2);
    g_assert_true(limn_json_read_array(&json, "list", &a, &error));
    g_assert_cmpuint(json_array_size(a), ==, 2);
    g_assert_true(limn_json_has(&json, "flag"));
    g_assert_false(limn_json_has(&json, "none") || limn_json_has(&json, "absent"));
    g_assert_true(limn_json_need_object(&json, "vision", &member, &error));
    g_assert_true(limn_json_need_int(&member, "layers", 1, 100, &i, &error) && i == 12);
    g_assert_true(limn_json_need_element(&json, "list", 0, &element, &error));
    g_assert_true(limn_json_need_int(&element, "id", 0, 9, &i, &error) && i == 7);
    g_assert_no_error(error);
}

static void
test_getter_errors(void)
{
    LimnJson json, member;
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) root = parse(
        "{\"vision\":{\"width\":\"768\",\"layers\":0,\"eps\":2.5,\"flag\":1,\"name\":3,"
        "\"mean\":[1,\"x\"],\"list\":{}},\"items\":[1]}",
        &json);
    g_assert_true(json.value == root);
    gint64 i = 5;
    double d, v[3];
    gboolean b;
    const char *s;
    json_t *a;
    g_assert_true(limn_json_need_object(&json, "vision", &member, &error));
    g_assert_false(limn_json_need_int(&member, "width", 1, 65536, &i, &error));
    g_assert_cmpstr(error->message, ==,
                    "config.json: vision.width is \"768\" (expected an integer from 1 to "
                    "65536)");
    g_clear_error(&error);
    g_assert_false(limn_json_read_int(&member, "layers", 1, 100, &i, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "vision.layers is 0", NULL);
    g_assert_cmpint(i, ==, 5);
    g_assert_false(limn_json_need_int(&member, "absent", 1, 100, &i, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "vision.absent is missing", NULL);
    g_assert_false(limn_json_read_int(&member, "eps", 1, 100, &i, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "vision.eps is 2.5", NULL);
    g_assert_false(limn_json_read_double(&member, "eps", 0, 1, &d, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "a number from 0 to 1", NULL);
    g_assert_false(limn_json_read_bool(&member, "flag", &b, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "true or false", NULL);
    g_assert_false(limn_json_read_string(&member, "name", &s, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "a string", NULL);
    g_assert_false(limn_json_read_doubles(&member, "mean", v, 3, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "has 2 numbers (expected 3)", NULL);
    g_assert_false(limn_json_read_doubles(&member, "mean", v, 2, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "vision.mean[1] is \"x\"", NULL);
    g_assert_false(limn_json_read_array(&member, "list", &a, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "an array", NULL);
    g_assert_false(limn_json_need_object(&member, "name", &member, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "an object", NULL);
    g_assert_false(limn_json_need_element(&json, "items", 0, &member, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "items[0] is 1", NULL);
    g_assert_false(limn_json_need_element(&json, "items", 1, &member, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "the array has 1", NULL);
}

static void
test_files(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = make_folder();
    g_autofree char *path = write_file(folder, "a.json", "[1]", 3);
    g_autoptr(json_t) value = limn_json_load(path, &error);
    g_assert_true(json_is_array(value));
    g_assert_null(limn_json_load_object(path, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "a.json", "an array of 1", "a JSON object",
                   NULL);
    g_autofree char *missing = g_build_filename(folder, "b.json", NULL);
    g_assert_null(limn_json_load(missing, &error));
    assert_refused(&error, LIMN_ERROR_IO, "b.json", NULL);
    remove_folder(folder);
}

// The pull parser takes and refuses what jansson takes and refuses.
static void
test_scan_agrees(void)
{
    static const char *const TEXTS[] = {
        "{}",
        "[]",
        "null",
        "true",
        "false",
        "0",
        "-0",
        "-1.5e+10",
        "1E2",
        "1.",
        ".5",
        "01",
        "-",
        "1e",
        "+1",
        "\"\"",
        "\"\\u00e9\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"\\q\"",
        "\"\\u12g4\"",
        "\"a",
        "\"\x01\"",
        "\"\xc3\xa9\"",
        "\"\xc3\"",
        "[1,2]",
        "[1,]",
        "[,]",
        "[1 2]",
        "{\"a\":1}",
        "{\"a\":1,}",
        "{\"a\"}",
        "{a:1}",
        "{\"a\":1 \"b\":2}",
        "nul",
        "truex",
        "[1]]",
        " [ 1 , { \"x\" : [ ] } ] ",
        "",
        " ",
        "[\"\\u0000\"]",
        "1 2",
        "\"\\/\\b\\f\\n\\r\\t\\\\\\\"\"",
    };
    for (gsize i = 0; i < G_N_ELEMENTS(TEXTS); i++) {
        g_autoptr(GError) error = NULL;
        gsize size = strlen(TEXTS[i]);
        LimnJsonScan scan = limn_json_scan(TEXTS[i], size, "x");
        gboolean good =
            limn_json_scan_skip(&scan, &error) && limn_json_scan_finish(&scan, &error);
        g_assert_true(good == (error == NULL));
        g_autoptr(json_t) value = limn_json_parse(TEXTS[i], size, "x", NULL);
        if (good != (value != NULL))
            g_test_message("they differ about %s", TEXTS[i]);
        g_assert_true(good == (value != NULL));
        if (json_is_string(value)) {
            g_autoptr(GString) text = g_string_new(NULL);
            scan = limn_json_scan(TEXTS[i], size, "x");
            g_assert_true(limn_json_scan_string(&scan, text, &error));
            g_assert_cmpstr(text->str, ==, json_string_value(value));
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/refused", test_refused);
    g_test_add_func("/json/getters", test_getters);
    g_test_add_func("/json/getter-errors", test_getter_errors);
    g_test_add_func("/json/files", test_files);
    g_test_add_func("/json/scan-agrees", test_scan_agrees);
    return g_test_run();
}
