// SPDX-License-Identifier: GPL-3.0-or-later

// metrics*/: a heat map against a mask, the deletion order, areas under a curve.

#include <math.h>
#include <string.h>

#include "engine/image/map-metrics.h"
#include "engine/io/json.h"
#include "engine/io/npy.h"
#include "golden-grad-eclip.h"

typedef struct {
    LimnGolden *golden;
    const char *folder;
    LimnJson json, options;
    LimnArray *heat, *mask; // f32, u8
    gint64 steps, gap;
    double threshold;
} Metrics;

static LimnArray *
load(Metrics *m, const char *name, LimnDType dtype)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(m->folder, name, NULL);
    g_autoptr(LimnArray) array = limn_npy_load(path, &error);
    if (array == NULL) {
        limn_golden_fail_error(m->golden, name, &error);
        return NULL;
    }
    if (array->dtype != dtype &&
        !(dtype == LIMN_DTYPE_I64 && array->dtype == LIMN_DTYPE_I32)) {
        limn_golden_fail(m->golden, name, "wrong type (found %s, expected %s)",
                         limn_dtype_name(array->dtype), limn_dtype_name(dtype));
        return NULL;
    }
    return g_steal_pointer(&array);
}

static void
compare_double(Metrics *m, const char *key, double x, LimnTolerance tolerance)
{
    g_autoptr(GError) error = NULL;
    double expected = 0;
    if (!limn_json_need_double(&m->json, key, -INFINITY, INFINITY, &expected, &error)) {
        limn_golden_fail_error(m->golden, key, &error);
        return;
    }
    limn_golden_compare_number(m->golden, key, expected, x, tolerance);
}

static void
compare_integers(Metrics *m, const char *key, const LimnArray *expected,
                 const gint64 *values, gint64 n)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) x = limn_array_new(LIMN_DTYPE_I64, 1, &n, &error);
    if (x == NULL) {
        limn_golden_fail_error(m->golden, key, &error);
        return;
    }
    memcpy(x->data, values, (gsize) n * sizeof *values);
    limn_golden_compare(m->golden, key, expected, x, LIMN_EXACT);
}

static void
compare_scores(Metrics *m)
{
    g_autoptr(GError) error = NULL;
    LimnMapScores scores;
    g_autofree guint8 *mask = g_new(guint8, MAX(m->mask->length, 1));
    for (gint64 i = 0; i < m->mask->length; i++) {
        mask[i] = limn_array_u8(m->mask)[i] != 0;
    }
    if (!limn_map_score(limn_array_f32(m->heat), mask, m->heat->length, m->threshold,
                        &scores, &error)) {
        limn_golden_fail_error(m->golden, "scores", &error);
        return;
    }
    json_t *hit = json_object_get(m->json.value, "pointing_hit");
    if (json_is_boolean(hit)) {
        limn_golden_check(m->golden, "pointing_hit",
                          json_is_true(hit) == scores.pointing_hit);
    } else {
        limn_golden_fail(m->golden, "pointing_hit", "missing key or wrong type");
    }
    compare_double(m, "argmax_flat", (double) scores.argmax, LIMN_EXACT);
    compare_double(m, "energy", scores.energy, LIMN_ABS(1e-9));
    compare_double(m, "pixel_accuracy_thr_half", scores.pixel_accuracy, LIMN_ABS(1e-9));
    compare_double(m, "iou_thr_half", scores.iou_threshold, LIMN_ABS(1e-9));
    compare_double(m, "iou_thr_mean", scores.iou_mean, LIMN_ABS(1e-9));
    compare_double(m, "average_precision", scores.average_precision, LIMN_ABS(1e-9));
}

// A list of whole numbers in the JSON.
static LimnArray *
list_of(Metrics *m, const char *key)
{
    g_autoptr(GError) error = NULL;
    json_t *list = json_object_get(m->json.value, key);
    gint64 n = (gint64) json_array_size(list);
    g_autoptr(LimnArray) array = limn_array_new(LIMN_DTYPE_I64, 1, &n, &error);
    if (!json_is_array(list) || array == NULL) {
        limn_golden_fail(m->golden, key, "missing key or wrong type (expected a list)");
        return NULL;
    }
    for (gint64 i = 0; i < n; i++) {
        json_t *value = json_array_get(list, (gsize) i);
        limn_array_i64(array)[i] =
            json_is_integer(value) ? json_integer_value(value) : -1;
    }
    return g_steal_pointer(&array);
}

static void
compare_order(Metrics *m)
{
    g_autoptr(GError) error = NULL;
    gint64 n = m->heat->length;
    g_autofree gint64 *order = limn_map_order(limn_array_f32(m->heat), n, &error);
    if (order == NULL) {
        limn_golden_fail_error(m->golden, "order.npy", &error);
        return;
    }
    g_autoptr(LimnArray) expected = load(m, "order.npy", LIMN_DTYPE_I64);
    if (expected != NULL) {
        compare_integers(m, "order.npy", expected, order, n);
    }
    g_autoptr(LimnArray) first = list_of(m, "order_first_20");
    if (first != NULL) {
        compare_integers(m, "order_first_20", first, order, MIN(20, n));
    }
}

static void
compare_steps(Metrics *m)
{
    gint64 n = m->heat->length;
    // The point before the first step changes nothing and is left out of the file.
    int points = limn_map_n_measured((int) m->steps, (int) m->gap) - 1;
    g_autofree gint64 *deleted = g_new(gint64, MAX(points, 1));
    for (int i = 0; i < points; i++) {
        deleted[i] = limn_map_pixels_deleted(n, (int) m->steps, (i + 1) * (int) m->gap);
    }
    g_autoptr(LimnArray) expected =
        load(m, "deleted_count_at_measured_steps.npy", LIMN_DTYPE_I64);
    if (expected != NULL) {
        compare_integers(m, "deleted_count_at_measured_steps.npy", expected, deleted,
                         points);
    }
    compare_double(m, "pixels_per_step",
                   (double) limn_map_pixels_per_step(n, (int) m->steps), LIMN_EXACT);
}

static void
compare_curve(Metrics *m)
{
    json_t *list = json_object_get(m->json.value, "curve");
    gsize n = json_array_size(list);
    g_autofree double *y = g_new(double, n + 1);
    gboolean right = json_is_array(list) && n > 0;
    for (gsize i = 0; i < n; i++) {
        json_t *value = json_array_get(list, i);
        right = right && json_is_number(value);
        y[i] = json_number_value(value);
    }
    if (!right) {
        limn_golden_fail(m->golden, "curve", "missing key or wrong type");
        return;
    }
    compare_double(m, "auc_trapezoid_unit_x", limn_curve_area(y, n), LIMN_ABS(1e-12));
    compare_double(m, "auc_mean", limn_curve_mean(y, n), LIMN_ABS(1e-12));
}

static gboolean
is_known_file(const char *path, gpointer data)
{
    static const char *const known[] = {
        "heat.npy",      "mask.npy", "order.npy", "deleted_count_at_measured_steps.npy",
        "expected.json", NULL,
    };
    return g_strv_contains(known, path);
}

static void
run_metrics(Metrics *m)
{
    g_autoptr(GError) error = NULL;
    if (!limn_json_need_object(&m->json, "options", &m->options, &error) ||
        !limn_json_need_int(&m->options, "steps", 1, 1 << 20, &m->steps, &error) ||
        !limn_json_need_int(&m->options, "calc_gap", 1, 1 << 20, &m->gap, &error) ||
        !limn_json_need_double(&m->options, "threshold", -1e9, 1e9, &m->threshold,
                               &error)) {
        limn_golden_fail_error(m->golden, "expected.json", &error);
        return;
    }
    g_autoptr(LimnArray) heat = load(m, "heat.npy", LIMN_DTYPE_F32);
    g_autoptr(LimnArray) mask = load(m, "mask.npy", LIMN_DTYPE_U8);
    m->heat = heat;
    m->mask = mask;
    if (heat == NULL || mask == NULL) {
        return;
    }
    if (!limn_array_has_shape(mask, heat->rank, heat->shape) || heat->length < 1) {
        limn_golden_fail(m->golden, "mask.npy", "wrong size (expected that of heat.npy)");
        return;
    }
    compare_scores(m);
    compare_order(m);
    compare_steps(m);
    compare_curve(m);
}

void
limn_golden_clip_metrics(LimnGolden *golden, const char *folder, const char *name)
{
    g_autoptr(GError) error = NULL;
    Metrics m = {.golden = golden, .folder = folder};
    g_autofree char *path = g_build_filename(folder, "expected.json", NULL);
    limn_golden_skip_unknown(golden, folder, name, is_known_file, NULL);
    limn_golden_begin(golden, name);
    g_autoptr(json_t) root = limn_json_load_object(path, &error);
    if (root == NULL || !limn_json_root(root, "expected.json", &m.json, &error)) {
        limn_golden_fail_error(golden, "expected.json", &error);
        return;
    }
    run_metrics(&m);
}
