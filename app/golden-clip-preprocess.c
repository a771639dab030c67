// SPDX-License-Identifier: GPL-3.0-or-later

// preprocess*/: pictures and what both preprocessing modes make of them.

#include <string.h>

#include "engine/image/resample.h"
#include "engine/io/json.h"
#include "engine/io/npy.h"
#include "engine/io/picture.h"
#include "golden-grad-eclip.h"

typedef struct {
    const char *name; // borrowed from the JSON
    gint64 source[2], target, patch;
    gint64 resized[2], corner[2], keep[2];
} Case;

static gboolean
read_pair(const LimnJson *json, const char *key, gint64 pair[2], GError **error)
{
    double values[2] = {-1, -1};
    if (!limn_json_has(json, key)) {
        return limn_json_fail(json, key, error, "is missing");
    }
    if (!limn_json_read_doubles(json, key, values, 2, error)) {
        return FALSE;
    }
    for (int i = 0; i < 2; i++) {
        if (!(values[i] >= 0 && values[i] < 1e6) ||
            values[i] != (double) (gint64) values[i]) {
            return limn_json_fail(json, key, error, "is no pair of sizes");
        }
        pair[i] = (gint64) values[i];
    }
    return TRUE;
}

static gboolean
read_case(json_t *value, Case *c, GError **error)
{
    LimnJson json;
    if (!limn_json_root(value, "cases.json", &json, error) ||
        !limn_json_need_string(&json, "name", &c->name, error) ||
        !limn_json_need_int(&json, "target", 1, 65536, &c->target, error) ||
        !limn_json_need_int(&json, "patch", 1, 65536, &c->patch, error) ||
        !read_pair(&json, "source_wh", c->source, error) ||
        !read_pair(&json, "resized_wh", c->resized, error) ||
        !read_pair(&json, "crop_left_top", c->corner, error) ||
        !read_pair(&json, "keep_wh", c->keep, error)) {
        return FALSE;
    }
    if (strchr(c->name, '/') != NULL || c->name[0] == '\0') {
        return limn_json_fail(&json, "name", error, "is no file name");
    }
    return TRUE;
}

static void
check_pair(LimnGolden *golden, const char *name, const char *what, const gint64 pair[2],
           int x, int y)
{
    g_autofree char *shown = g_strconcat(name, ".", what, NULL);
    limn_golden_check(golden, shown, pair[0] == x && pair[1] == y);
}

static void
compare_file(LimnGolden *golden, const char *folder, const char *name, const char *end,
             const LimnArray *x, LimnDType dtype, LimnTolerance tolerance)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_strconcat(name, end, ".npy", NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    g_autoptr(LimnArray) expected = limn_npy_load(path, &error);
    if (expected == NULL) {
        limn_golden_fail_error(golden, file, &error);
    } else if (expected->dtype != dtype) {
        limn_golden_fail(golden, file, "wrong type (found %s, expected %s)",
                         limn_dtype_name(expected->dtype), limn_dtype_name(dtype));
    } else {
        limn_golden_compare(golden, file, expected, x, tolerance);
    }
}

// The picture as the model sees it, [h,w,3] u8.
static LimnArray *
bytes_of(LimnImage *image, GError **error)
{
    LimnArray *bytes = limn_array_new(LIMN_DTYPE_U8, 3,
                                      (gint64[]){image->height, image->width, 3}, error);
    if (bytes != NULL) {
        memcpy(bytes->data, image->data, (gsize) bytes->length);
    }
    return bytes;
}

static void
run_mode(LimnGolden *golden, const char *folder, const Case *c, LimnImage *image,
         LimnPreprocessMode mode)
{
    g_autoptr(GError) error = NULL;
    gboolean keep = mode == LIMN_PREPROCESS_KEEP;
    LimnPreprocess options = {
        .mode = mode,
        .size = (int) c->target,
        .patch = (int) c->patch,
        .mean = {0.48145466f, 0.4578275f, 0.40821073f},
        .std = {0.26862954f, 0.26130258f, 0.27577711f},
    };
    g_autoptr(LimnPreprocessed) seen =
        limn_preprocess(image, &options, limn_golden_get_job(golden), &error);
    g_autoptr(LimnArray) bytes = seen != NULL ? bytes_of(seen->image, &error) : NULL;
    if (bytes == NULL) {
        limn_golden_fail_error(golden, c->name, &error);
        return;
    }
    if (keep) {
        check_pair(golden, c->name, "keep_wh", c->keep, seen->image->width,
                   seen->image->height);
    } else {
        check_pair(golden, c->name, "resized_wh", c->resized, seen->resized_width,
                   seen->resized_height);
        check_pair(golden, c->name, "crop_left_top", c->corner, seen->crop_left,
                   seen->crop_top);
    }
    compare_file(golden, folder, c->name, keep ? "_keep_u8" : "_clip_u8", bytes,
                 LIMN_DTYPE_U8, LIMN_EXACT);
    compare_file(golden, folder, c->name, keep ? "_keep_tensor" : "_clip_tensor",
                 seen->tensor, LIMN_DTYPE_F32, LIMN_ABS(1e-6));
}

static void
run_case(LimnGolden *golden, const char *folder, json_t *value)
{
    g_autoptr(GError) error = NULL;
    Case c;
    if (!read_case(value, &c, &error)) {
        limn_golden_fail_error(golden, "cases.json", &error);
        return;
    }
    g_autofree char *file = g_strconcat(c.name, ".png", NULL);
    g_autofree char *path = g_build_filename(folder, file, NULL);
    g_autoptr(LimnImage) image =
        limn_picture_load(path, limn_golden_get_job(golden), &error);
    if (image == NULL) {
        limn_golden_fail_error(golden, file, &error);
        return;
    }
    check_pair(golden, c.name, "source_wh", c.source, image->width, image->height);
    run_mode(golden, folder, &c, image, LIMN_PREPROCESS_CLIP);
    run_mode(golden, folder, &c, image, LIMN_PREPROCESS_KEEP);
}

static gboolean
is_known_file(const char *path, gpointer data)
{
    static const char *const ends[] = {".png", "_clip_u8.npy", "_keep_u8.npy",
                                       "_clip_tensor.npy", "_keep_tensor.npy"};
    json_t *cases = data, *value;
    gsize i;
    if (strcmp(path, "cases.json") == 0) {
        return TRUE;
    }
    json_array_foreach(cases, i, value)
    {
        const char *name = json_string_value(json_object_get(value, "name"));
        for (gsize e = 0; name != NULL && e < G_N_ELEMENTS(ends); e++) {
            g_autofree char *file = g_strconcat(name, ends[e], NULL);
            if (strcmp(path, file) == 0) {
                return TRUE;
            }
        }
    }
    return FALSE;
}

void
limn_golden_clip_preprocess(LimnGolden *golden, const char *folder, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(folder, "cases.json", NULL);
    g_autoptr(json_t) cases = limn_json_load(path, &error);
    limn_golden_skip_unknown(golden, folder, name, is_known_file, cases);
    limn_golden_begin(golden, name);
    if (cases == NULL) {
        limn_golden_fail_error(golden, "cases.json", &error);
    } else if (!json_is_array(cases)) {
        limn_golden_fail(golden, "cases.json", "wrong type (expected a list)");
    }
    gsize i;
    json_t *value;
    json_array_foreach(cases, i, value)
    {
        run_case(golden, folder, value);
    }
}
