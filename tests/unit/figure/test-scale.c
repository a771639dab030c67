// SPDX-License-Identifier: GPL-3.0-or-later

#include <locale.h>
#include <math.h>

#include "engine/figure/scale.h"

static LimnScale
scale_of(const float *values, gsize n, LimnScaleRule rule)
{
    LimnScale scale;
    limn_scale_compute(&scale, &rule, &values, &n, 1);
    g_assert_cmpfloat(scale.min, <, scale.max);
    g_assert_true(isfinite(scale.min) && isfinite(scale.max));
    return scale;
}

static void
test_nan(void)
{
    float one[] = {0, 1, NAN, 3};
    LimnScale scale = scale_of(one, 4, (LimnScaleRule){0});
    g_assert_cmpfloat(scale.min, ==, 0);
    g_assert_cmpfloat(scale.max, ==, 3);
    g_assert_cmpint(scale.n_missing, ==, 1);
    g_assert_cmpint(scale.n_finite, ==, 3);
    float many[1000];
    for (int i = 0; i < 1000; i++)
        many[i] = i < 990 ? NAN : (float) i;
    scale = scale_of(many, 1000, (LimnScaleRule){.percentile = TRUE});
    g_assert_cmpint(scale.n_missing, ==, 990);
    g_assert_cmpfloat(scale.data_min, ==, 990);
    g_assert_cmpfloat(scale.data_max, ==, 999);
    float all[] = {NAN, NAN};
    scale = scale_of(all, 2, (LimnScaleRule){0});
    g_assert_true(scale.empty);
    g_assert_false(scale.constant);
    float infinite[] = {0, 1, INFINITY, -INFINITY};
    scale = scale_of(infinite, 4, (LimnScaleRule){0});
    g_assert_cmpfloat(scale.min, ==, 0);
    g_assert_cmpfloat(scale.max, ==, 1);
    g_assert_cmpint(scale.n_infinite, ==, 2);
    g_assert_cmpint(scale.n_above, ==, 1);
    g_assert_cmpint(scale.n_below, ==, 1);
    scale = scale_of(NULL, 0, (LimnScaleRule){0});
    g_assert_true(scale.empty);
}

static void
test_constant(void)
{
    float zero[] = {0, 0, 0}, third[] = {0.3f, 0.3f}, negative[] = {-2, -2};
    LimnScale scale = scale_of(zero, 3, (LimnScaleRule){0});
    g_assert_true(scale.constant);
    g_assert_cmpfloat(scale.data_max, ==, 0);
    scale = scale_of(third, 2, (LimnScaleRule){0});
    g_assert_true(scale.constant);
    g_assert_cmpfloat(scale.min, ==, 0.3f);
    scale = scale_of(negative, 2, (LimnScaleRule){.is_signed = TRUE});
    g_assert_true(scale.constant);
    g_assert_cmpfloat(scale.min, ==, -2);
    g_assert_cmpfloat(scale.max, ==, 2);
    scale = scale_of(zero, 3, (LimnScaleRule){.is_signed = TRUE});
    g_assert_cmpfloat(scale.min, ==, -scale.max);
    scale = scale_of(third, 2, (LimnScaleRule){.has_range = TRUE, .range = {0, 1}});
    g_assert_true(scale.constant && scale.chosen);
    g_assert_cmpfloat(scale.max, ==, 1);
}

static void
test_symmetric(void)
{
    float values[] = {-1.49f, 0, 1.69f};
    LimnScale scale = scale_of(values, 3, (LimnScaleRule){.is_signed = TRUE});
    g_assert_cmpfloat(scale.max, ==, 1.69f);
    g_assert_cmpfloat(scale.min, ==, -1.69f);
    scale = scale_of(values, 3, (LimnScaleRule){.is_signed = TRUE, .percentile = TRUE});
    g_assert_cmpfloat(scale.min, ==, -scale.max);
    scale = scale_of(
        values, 3,
        (LimnScaleRule){.is_signed = TRUE, .has_range = TRUE, .range = {-1.49, 1.69}});
    g_assert_cmpfloat(scale.min, ==, -1.49);
}

static void
test_outlier(void)
{
    enum { N = 1001 };
    float values[N];
    for (int i = 0; i < N - 1; i++)
        values[i] = (float) i / 999;
    values[N - 1] = 1e4f;
    LimnScale scale = scale_of(values, N, (LimnScaleRule){.percentile = TRUE});
    g_assert_cmpfloat(scale.max, <, 1.01);
    g_assert_cmpfloat(scale.min, >, 0);
    g_assert_cmpfloat_with_epsilon(scale.min, 20.0 / 999, 1e-6);
    g_assert_cmpfloat_with_epsilon(scale.max, 980.0 / 999, 1e-6);
    g_assert_cmpint(scale.n_above, ==, 20);
    g_assert_cmpint(scale.n_below, ==, 20);
    g_assert_cmpfloat(scale.data_max, ==, 1e4);
}

static void
test_shared(void)
{
    float a[] = {0, 1}, b[] = {5, 100};
    const float *arrays[] = {a, b};
    gsize lengths[] = {2, 2};
    LimnScale scale;
    LimnScaleRule rule = {0};
    limn_scale_compute(&scale, &rule, arrays, lengths, 2);
    g_assert_cmpfloat(scale.min, ==, 0);
    g_assert_cmpfloat(scale.max, ==, 100);
}

static char *
labels_of(double min, double max, int target)
{
    LimnTicks ticks;
    limn_ticks_compute(&ticks, min, max, target);
    g_autoptr(GString) all = g_string_new(NULL);
    for (int i = 0; i < ticks.n; i++) {
        g_autofree char *label = limn_ticks_label(&ticks, i);
        g_string_append_printf(all, "%s%s", i ? " " : "", label);
    }
    g_autofree char *factor = limn_ticks_factor(&ticks);
    if (factor)
        g_string_append_printf(all, " %s", factor);
    return g_strdup(all->str);
}

static void
test_ticks(void)
{
    static const struct {
        double min, max;
        int target;
        const char *labels;
    } cases[] = {
        {0, 1, 6, "0.0 0.2 0.4 0.6 0.8 1.0"},
        {0, 100, 5, "0 25 50 75 100"},
        {-1.69, 1.69, 6, "\u22121 0 1"},
        {0, 3.2e-5, 5, "0 1 2 3 \u00d710\u207b\u2075"},
        {0, 2000000, 5, "0.0 0.5 1.0 1.5 2.0 \u00d710\u2076"},
        {0.81, 0.84, 4, "0.81 0.82 0.83 0.84"},
        {-0.05, 0.05, 3, "\u22120.05 0.00 0.05"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *labels = labels_of(cases[i].min, cases[i].max, cases[i].target);
        g_assert_cmpstr(labels, ==, cases[i].labels);
    }
}

// Whatever the range: ticks inside, at most as many as asked for, at least two.
static void
test_ticks_property(void)
{
    for (int i = 0; i < 4000; i++) {
        double size = pow(10, g_test_rand_double_range(-30, 30));
        double min = g_test_rand_double_range(-1, 1) * size;
        double max = min + g_test_rand_double_range(1e-6, 1) * size;
        int target = g_test_rand_int_range(2, 12);
        LimnTicks ticks;
        limn_ticks_compute(&ticks, min, max, target);
        g_assert_cmpint(ticks.n, >=, 2);
        g_assert_cmpint(ticks.n, <=, MAX(target, 4));
        double slack = (max - min) * 2e-5;
        g_assert_cmpfloat(ticks.first, >=, min - slack);
        g_assert_cmpfloat(ticks.first + (ticks.n - 1) * ticks.step, <=, max + slack);
    }
    LimnTicks ticks;
    limn_ticks_compute(&ticks, 1, 1, 5);
    g_assert_cmpint(ticks.n, ==, 1);
    limn_ticks_compute(&ticks, NAN, INFINITY, 5);
    g_assert_cmpint(ticks.n, ==, 1);
}

static void
test_display(void)
{
    static const struct {
        double value;
        int digits;
        const char *text;
    } cases[] = {
        {0, 3, "0"},
        {-0.0, 3, "0"},
        {1.5, 3, "1.5"},
        {-1.5, 3, "\u22121.5"},
        {0.27415, 3, "0.274"},
        {10000, 4, "10\u202f000"},
        {-1234567, 8, "\u22121\u202f234\u202f567"},
        {1234, 4, "1234"},
        {3.2e-7, 3, "3.2\u00d710\u207b\u2077"},
        {NAN, 3, "NaN"},
        {INFINITY, 3, "\u221e"},
        {-INFINITY, 3, "\u2212\u221e"},
        {0.00012, 3, "0.00012"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = limn_number_display(cases[i].value, cases[i].digits);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void
test_locale(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    const char *set = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(names) && !set; i++)
        set = setlocale(LC_ALL, names[i]);
    g_autofree char *labels = labels_of(0, 1, 3);
    g_autofree char *number = limn_number_display(1.5, 3);
    setlocale(LC_ALL, "C.UTF-8");
    g_assert_cmpstr(labels, ==, "0.0 0.5 1.0");
    g_assert_cmpstr(number, ==, "1.5");
    if (!set)
        g_test_skip("no locale with a decimal comma is installed");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hard/B27-nan-range", test_nan);
    g_test_add_func("/hard/B28-constant-range", test_constant);
    g_test_add_func("/hard/B29-shared-range", test_shared);
    g_test_add_func("/hard/B31-symmetric-range", test_symmetric);
    g_test_add_func("/hard/B32-outlier-range", test_outlier);
    g_test_add_func("/scale/ticks", test_ticks);
    g_test_add_func("/scale/ticks-property", test_ticks_property);
    g_test_add_func("/scale/display", test_display);
    g_test_add_func("/hard/B65-locale", test_locale);
    return g_test_run();
}
