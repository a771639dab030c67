// SPDX-License-Identifier: GPL-3.0-or-later

#include <jansson.h>
#include <math.h>

#include "engine/base/rng.h"
#include "engine/image/map-metrics.h"
#include "engine/io/npy.h"

static LimnArray *
load(const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(g_getenv("LIMN_TEST_DATA"), "golden",
                                             "grad_eclip", "metrics", name, NULL);
    LimnArray *array = limn_npy_load(path, &error);
    g_assert_no_error(error);
    return array;
}

static double
number(json_t *object, const char *key)
{
    json_t *value = json_object_get(object, key);
    g_assert_true(json_is_number(value));
    return json_number_value(value);
}

static json_t *
load_expected(void)
{
    g_autofree char *path =
        g_build_filename(g_getenv("LIMN_TEST_DATA"), "golden", "grad_eclip", "metrics",
                         "expected.json", NULL);
    json_t *root = json_load_file(path, 0, NULL);
    g_assert_nonnull(root);
    return root;
}

static void
test_golden_scores(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) heat = load("heat.npy");
    g_autoptr(LimnArray) mask = load("mask.npy");
    json_t *expected = load_expected();
    json_t *options = json_object_get(expected, "options");
    LimnMapScores scores;
    g_assert_true(limn_map_score(limn_array_f32(heat), limn_array_u8(mask), heat->length,
                                 number(options, "threshold"), &scores, &error));
    g_assert_no_error(error);
    g_assert_cmpint(scores.n_counted, ==, heat->length);
    g_assert_cmpint(scores.argmax, ==,
                    json_integer_value(json_object_get(expected, "argmax_flat")));
    g_assert_true(!scores.pointing_hit ==
                  !json_is_true(json_object_get(expected, "pointing_hit")));
    g_assert_cmpfloat_with_epsilon(scores.energy, number(expected, "energy"), 1e-9);
    g_assert_cmpfloat_with_epsilon(scores.pixel_accuracy,
                                   number(expected, "pixel_accuracy_thr_half"), 1e-9);
    g_assert_cmpfloat_with_epsilon(scores.iou_threshold, number(expected, "iou_thr_half"),
                                   1e-9);
    g_assert_cmpfloat_with_epsilon(scores.iou_mean, number(expected, "iou_thr_mean"),
                                   1e-9);
    g_assert_cmpfloat_with_epsilon(scores.average_precision,
                                   number(expected, "average_precision"), 1e-9);
    json_decref(expected);
}

static void
test_golden_order(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) heat = load("heat.npy");
    g_autoptr(LimnArray) expected = load("order.npy");
    g_autofree gint64 *order = limn_map_order(limn_array_f32(heat), heat->length, &error);
    g_assert_no_error(error);
    g_assert_cmpint(expected->length, ==, heat->length);
    for (gint64 i = 0; i < heat->length; i++) {
        g_assert_cmpint(order[i], ==, (gint64) limn_array_get_double(expected, i));
    }
}

static void
test_golden_steps(void)
{
    g_autoptr(LimnArray) heat = load("heat.npy");
    g_autoptr(LimnArray) counts = load("deleted_count_at_measured_steps.npy");
    json_t *expected = load_expected();
    json_t *options = json_object_get(expected, "options");
    int steps = (int) number(options, "steps"), gap = (int) number(options, "calc_gap");
    g_assert_cmpint(limn_map_pixels_per_step(heat->length, steps), ==,
                    (gint64) number(expected, "pixels_per_step"));
    // The list begins after the first steps, the curve before them.
    g_assert_cmpint(limn_map_n_measured(steps, gap), ==, counts->length + 1);
    for (int i = 0; i < counts->length; i++) {
        g_assert_cmpint(limn_map_pixels_deleted(heat->length, steps, (i + 1) * gap), ==,
                        (gint64) limn_array_get_double(counts, i));
    }
    json_t *curve = json_object_get(expected, "curve");
    gsize n = json_array_size(curve);
    g_assert_cmpuint(n, ==, (gsize) limn_map_n_measured(steps, gap));
    g_autofree double *y = g_new(double, n);
    for (gsize i = 0; i < n; i++) {
        y[i] = json_number_value(json_array_get(curve, i));
    }
    g_assert_cmpfloat_with_epsilon(limn_curve_area(y, n),
                                   number(expected, "auc_trapezoid_unit_x"), 1e-12);
    g_assert_cmpfloat_with_epsilon(limn_curve_mean(y, n), number(expected, "auc_mean"),
                                   1e-12);
    json_decref(expected);
}

static void
test_order(void)
{
    const float map[] = {0.0f, 1,        NAN,     -0.0f,  -INFINITY,
                         1,    INFINITY, -1e-42f, 1e-42f, -NAN};
    const gint64 expected[] = {6, 1, 5, 8, 0, 3, 7, 4, 2, 9};
    g_autofree gint64 *order = limn_map_order(map, G_N_ELEMENTS(map), NULL);
    g_assert_cmpmem(order, G_N_ELEMENTS(map) * sizeof *order, expected, sizeof expected);
    g_autofree gint64 *empty = limn_map_order(map, 0, NULL);
    g_assert_nonnull(empty);

    // Against the definition, with many ties.
    const gint64 n = 5000;
    LimnRng rng = limn_rng_make(1, 1);
    g_autofree float *random = g_new(float, n);
    for (gint64 i = 0; i < n; i++) {
        random[i] = (float) limn_rng_below(&rng, 700) * 1e-3f - 0.3f;
    }
    g_autofree gint64 *sorted = limn_map_order(random, n, NULL);
    for (gint64 i = 0; i + 1 < n; i++) {
        float a = random[sorted[i]], b = random[sorted[i + 1]];
        g_assert_true(a > b || (a == b && sorted[i] < sorted[i + 1]));
    }
}

static LimnMapScores
score(const float *map, const guint8 *mask, gint64 n)
{
    LimnMapScores scores;
    g_assert_true(limn_map_score(map, mask, n, 0.5, &scores, NULL));
    return scores;
}

static void
test_ties(void)
{
    // Two distinct values: at 1 two of two, at 0 three of six.
    const float map[] = {1, 0, 1, 0, 0, 0};
    const guint8 mask[] = {1, 1, 1, 0, 0, 0};
    LimnMapScores scores = score(map, mask, 6);
    g_assert_cmpfloat_with_epsilon(scores.average_precision, 2.0 / 3 + 0.5 / 3, 1e-15);
    // A constant map has the share of the object, wherever it lies.
    const float constant[] = {0.3f, 0.3f, 0.3f, 0.3f, 0.3f, 0.3f};
    scores = score(constant, mask, 6);
    g_assert_cmpfloat_with_epsilon(scores.average_precision, 0.5, 1e-15);
    g_assert_cmpint(scores.argmax, ==, 0);
    g_assert_cmpfloat(scores.iou_mean, ==, 0);
}

static void
test_left_out(void)
{
    const float map[] = {NAN, 0.9f, 0.2f, 0.8f, 0.1f, NAN, 1.0f};
    const guint8 mask[] = {1, 1, 1, 0, 0, 0, LIMN_MASK_LEFT_OUT};
    const float same_map[] = {0.9f, 0.2f, 0.8f, 0.1f};
    const guint8 same_mask[] = {1, 1, 0, 0};
    LimnMapScores scores = score(map, mask, 7), same = score(same_map, same_mask, 4);
    g_assert_cmpint(scores.n_counted, ==, 4);
    g_assert_cmpint(scores.n_object, ==, 2);
    g_assert_cmpfloat(scores.energy, ==, same.energy);
    g_assert_cmpfloat(scores.mean, ==, same.mean);
    g_assert_cmpfloat(scores.pixel_accuracy, ==, same.pixel_accuracy);
    g_assert_cmpfloat(scores.iou_threshold, ==, same.iou_threshold);
    g_assert_cmpfloat(scores.iou_mean, ==, same.iou_mean);
    g_assert_cmpfloat(scores.average_precision, ==, same.average_precision);
    g_assert_cmpfloat_with_epsilon(same.energy, 1.1 / 2.0, 1e-7);
    g_assert_cmpfloat(same.pixel_accuracy, ==, 0.5);
    g_assert_cmpfloat(same.iou_threshold, ==, 1.0 / 3);
    // The arg max is that of the whole map: it may fall on a pixel that is left out.
    g_assert_cmpint(scores.argmax, ==, 6);
    g_assert_false(scores.pointing_hit);
}

static void
test_undefined(void)
{
    const float zero[] = {0, 0, 0}, nothing[] = {NAN, NAN, NAN}, some[] = {0, 1, 0};
    const guint8 object[] = {0, 1, 0}, none[] = {0, 0, 0};
    LimnMapScores scores = score(zero, object, 3);
    g_assert_true(isnan(scores.energy));
    g_assert_cmpfloat(scores.iou_threshold, ==, 0);
    scores = score(nothing, object, 3);
    g_assert_cmpint(scores.argmax, ==, -1);
    g_assert_false(scores.pointing_hit);
    g_assert_true(isnan(scores.mean) && isnan(scores.iou_mean));
    g_assert_true(isnan(scores.average_precision));
    scores = score(some, none, 3);
    g_assert_true(isnan(scores.average_precision));
    g_assert_cmpfloat(scores.energy, ==, 0);
    scores = score(zero, none, 3);
    g_assert_true(isnan(scores.iou_threshold));
    g_assert_cmpfloat(scores.pixel_accuracy, ==, 1);
    scores = score(NULL, NULL, 0);
    g_assert_true(isnan(scores.pixel_accuracy));
}

static void
test_steps(void)
{
    // Fewer pixels than steps: one each, until there are none.
    g_assert_cmpint(limn_map_pixels_per_step(10, 100), ==, 1);
    g_assert_cmpint(limn_map_pixels_deleted(10, 100, 7), ==, 7);
    g_assert_cmpint(limn_map_pixels_deleted(10, 100, 50), ==, 10);
    g_assert_cmpint(limn_map_pixels_deleted(50176, 100, 100), ==, 25000);
    g_assert_cmpint(limn_map_pixels_inserted(50176, 100, 90), ==, 22500);
    g_assert_cmpint(limn_map_pixels_inserted(50176, 100, 100), ==, 50176);
    g_assert_cmpint(limn_map_n_measured(100, 10), ==, 11);
    g_assert_cmpint(limn_map_n_measured(10, 4), ==, 3);
}

static void
test_curve(void)
{
    const double y[] = {1, 0.5, 0.25};
    g_assert_cmpfloat_with_epsilon(limn_curve_area(y, 3), (0.75 + 0.375) / 2, 1e-15);
    g_assert_cmpfloat(limn_curve_area(y, 1), ==, 1);
    g_assert_true(isnan(limn_curve_area(y, 0)));
    g_assert_cmpfloat_with_epsilon(limn_curve_mean(y, 3), 1.75 / 3, 1e-15);
    g_assert_true(isnan(limn_curve_mean(y, 0)));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/map-metrics/golden-scores", test_golden_scores);
    g_test_add_func("/map-metrics/golden-order", test_golden_order);
    g_test_add_func("/map-metrics/golden-steps", test_golden_steps);
    g_test_add_func("/map-metrics/order", test_order);
    g_test_add_func("/map-metrics/ties", test_ties);
    g_test_add_func("/hard/B27-map-metrics-nan", test_left_out);
    g_test_add_func("/hard/B28-map-metrics-undefined", test_undefined);
    g_test_add_func("/map-metrics/steps", test_steps);
    g_test_add_func("/map-metrics/curve", test_curve);
    return g_test_run();
}
