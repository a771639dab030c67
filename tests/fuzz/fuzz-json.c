// SPDX-License-Identifier: GPL-3.0-or-later
// JSON: the getters, and the pull parser against the tree parser.
#include "engine/io/json-scan.h"
#include "engine/io/json.h"
#include "tests/fuzz/fuzz.h"

// Depth of nesting, strings apart.
static int
measure_depth(const guint8 *data, gsize size)
{
    int depth = 0, deepest = 0;
    for (gsize i = 0; i < size; i++) {
        depth += data[i] == '[' || data[i] == '{';
        depth -= data[i] == ']' || data[i] == '}';
        deepest = MAX(deepest, depth);
    }
    return deepest;
}

static void
drop(gboolean good, GError **error)
{
    if (!good)
        fuzz_check_error(error);
}

static void
use_getters(const LimnJson *json)
{
    g_autoptr(GError) error = NULL;
    LimnJson member;
    gint64 i = 0;
    double d = 0, v[3];
    gboolean b = FALSE;
    const char *s = "";
    json_t *a = NULL;
    drop(limn_json_need_int(json, "i", 1, 100, &i, &error), &error);
    fuzz_check(i == 0 || (i >= 1 && i <= 100));
    drop(limn_json_read_double(json, "d", -1, 1, &d, &error), &error);
    fuzz_check(d >= -1 && d <= 1);
    drop(limn_json_read_bool(json, "b", &b, &error), &error);
    drop(limn_json_need_string(json, "s", &s, &error), &error);
    drop(limn_json_read_doubles(json, "v", v, 3, &error), &error);
    drop(limn_json_read_array(json, "a", &a, &error), &error);
    drop(limn_json_need_element(json, "a", 0, &member, &error), &error);
    if (limn_json_need_object(json, "o", &member, &error))
        use_getters(&member);
    else
        fuzz_check_error(&error);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) root = limn_json_parse(data, size, "input", &error);
    gboolean good = root != NULL;
    LimnJson json;
    drop(good, &error);
    if (good && limn_json_root(root, "input", &json, &error))
        use_getters(&json);
    g_clear_error(&error);

    gboolean marked = size >= 3 && data[0] == 0xef;
    LimnJsonScan scan = limn_json_scan((const char *) data, size, "input");
    gboolean scanned =
        limn_json_scan_skip(&scan, &error) && limn_json_scan_finish(&scan, &error);
    drop(scanned, &error);
    if (good && !marked && measure_depth(data, size) < 60)
        fuzz_check(scanned);
    return 0;
}
