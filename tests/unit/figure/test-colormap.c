// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <string.h>

#include "engine/figure/colormap.h"
#include "engine/figure/palette.h"

static double
lightness(const guint8 rgb[3])
{
    double y = limn_color_luminance(limn_color_from_rgb(rgb));
    return y > 0.008856 ? 116 * cbrt(y) - 16 : 903.3 * y;
}

static void
test_list(void)
{
    static const char *const wanted[] = {"viridis", "magma", "cividis", "turbo",
                                         "grey",    "jet",   "blue-red"};
    gsize n;
    const LimnColormapInfo *infos = limn_colormap_list(&n);
    for (gsize i = 0; i < n; i++) {
        g_assert_nonnull(limn_colormap_table(infos[i].name));
        g_assert_true(limn_colormap_find(infos[i].name) == &infos[i]);
        for (gsize k = 0; k < i; k++)
            g_assert_cmpstr(infos[i].name, !=, infos[k].name);
    }
    for (gsize i = 0; i < G_N_ELEMENTS(wanted); i++)
        g_assert_nonnull(limn_colormap_find(wanted[i]));
    g_assert_null(limn_colormap_table("plaid"));
    g_assert_null(limn_colormap_find("plaid"));
    g_assert_null(limn_colormap_find(NULL));
}

// Entries of the published tables.
static void
test_published(void)
{
    static const struct {
        const char *name;
        int index;
        guint8 rgb[3];
    } entries[] = {
        {"viridis", 0, {68, 1, 84}},      {"viridis", 128, {33, 145, 140}},
        {"viridis", 255, {253, 231, 37}}, {"magma", 0, {0, 0, 4}},
        {"magma", 128, {183, 55, 121}},   {"magma", 255, {252, 253, 191}},
        {"cividis", 0, {0, 34, 78}},      {"cividis", 255, {254, 232, 56}},
        {"turbo", 0, {48, 18, 59}},       {"turbo", 128, {164, 252, 60}},
        {"turbo", 255, {122, 4, 3}},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(entries); i++) {
        const guint8 *rgb = limn_colormap_table(entries[i].name)[entries[i].index];
        for (int c = 0; c < 3; c++)
            g_assert_cmpint(ABS(rgb[c] - entries[i].rgb[c]), <=, 2);
    }
}

// Sequential maps rise in lightness at every step (up to the rounding of 8 bits).
static void
test_monotone(void)
{
    gsize n;
    const LimnColormapInfo *infos = limn_colormap_list(&n);
    int n_tested = 0;
    for (gsize i = 0; i < n; i++) {
        if (infos[i].class != LIMN_COLORMAP_SEQUENTIAL)
            continue;
        const guint8(*table)[3] = limn_colormap_table(infos[i].name);
        for (int k = 1; k < 256; k++)
            g_assert_cmpfloat(lightness(table[k]), >, lightness(table[k - 1]) - 0.25);
        for (int k = 8; k < 256; k++)
            g_assert_cmpfloat(lightness(table[k]), >, lightness(table[k - 8]));
        g_assert_cmpfloat(lightness(table[255]) - lightness(table[0]), >, 60);
        n_tested++;
    }
    g_assert_cmpint(n_tested, >=, 4);
}

// Diverging maps: neutral and lightest in the middle, both arms equally dark at the same
// distance, opposite hues.
static void
test_diverging(void)
{
    gsize n;
    const LimnColormapInfo *infos = limn_colormap_list(&n);
    int n_tested = 0;
    for (gsize i = 0; i < n; i++) {
        if (infos[i].class != LIMN_COLORMAP_DIVERGING)
            continue;
        const guint8(*table)[3] = limn_colormap_table(infos[i].name);
        g_assert_cmpint(limn_colormap_index(0, -1.69, 1.69), ==, 128);
        g_assert_cmpint(table[128][0], ==, table[128][1]);
        g_assert_cmpint(table[128][1], ==, table[128][2]);
        for (int k = 1; k < 128; k++) {
            g_assert_cmpfloat(lightness(table[128 + k]), <,
                              lightness(table[128 + k - 1]) + 0.3);
            g_assert_cmpfloat(lightness(table[128 - k]), <,
                              lightness(table[128 - k + 1]) + 0.3);
            g_assert_cmpfloat(fabs(lightness(table[128 + k]) - lightness(table[128 - k])),
                              <, 6);
        }
        n_tested++;
    }
    g_assert_cmpint(n_tested, >=, 1);
}

static void
test_jet(void)
{
    const guint8(*table)[3] = limn_colormap_table("jet");
    for (int i = 0; i < 256; i++) {
        double x = i / 255.0;
        double rgb[3] = {1.5 - fabs(4 * x - 3), 1.5 - fabs(4 * x - 2),
                         1.5 - fabs(4 * x - 1)};
        for (int c = 0; c < 3; c++)
            g_assert_cmpint(table[i][c], ==,
                            (int) floor(255 * CLAMP(rgb[c], 0.0, 1.0) + 0.5));
    }
}

// No rainbow unless asked for, and it says what it is for.
static void
test_no_rainbow_default(void)
{
    for (int is_signed = 0; is_signed < 2; is_signed++) {
        const char *name = limn_colormap_default(is_signed);
        g_assert_cmpint(limn_colormap_find(name)->class, ==,
                        is_signed ? LIMN_COLORMAP_DIVERGING : LIMN_COLORMAP_SEQUENTIAL);
    }
    g_assert_cmpint(limn_colormap_find("jet")->class, ==, LIMN_COLORMAP_RAINBOW);
    g_assert_nonnull(strstr(limn_colormap_find("jet")->title, "reproduction"));
}

static void
test_index(void)
{
    g_assert_cmpint(limn_colormap_index(NAN, 0, 1), ==, -1);
    g_assert_cmpint(limn_colormap_index(0, 0, 1), ==, 0);
    g_assert_cmpint(limn_colormap_index(1, 0, 1), ==, 255);
    g_assert_cmpint(limn_colormap_index(-5, 0, 1), ==, 0);
    g_assert_cmpint(limn_colormap_index(5, 0, 1), ==, 255);
    g_assert_cmpint(limn_colormap_index(INFINITY, 0, 1), ==, 255);
    g_assert_cmpint(limn_colormap_index(-INFINITY, 0, 1), ==, 0);
    g_assert_cmpint(limn_colormap_index(0.5, 0, 1), ==, 128);
    g_assert_cmpint(limn_colormap_index(0.3, 0.3, 0.3), ==, 0);
    g_assert_cmpint(limn_colormap_index(0.4, 0.3, 0.3), ==, 255);
    for (int i = 0; i < 256; i++)
        g_assert_cmpint(limn_colormap_index(i / 255.0, 0, 1), ==, i);
}

// The colour of missing values is in no map but grey, where the hatch tells it apart.
static void
test_missing_color(void)
{
    guint8 rgb[3];
    limn_colormap_nan(rgb);
    gsize n;
    const LimnColormapInfo *infos = limn_colormap_list(&n);
    for (gsize i = 0; i < n; i++) {
        if (strcmp(infos[i].name, "grey") == 0)
            continue;
        const guint8(*table)[3] = limn_colormap_table(infos[i].name);
        for (int k = 0; k < 256; k++) {
            int distance = ABS(table[k][0] - rgb[0]) + ABS(table[k][1] - rgb[1]) +
                           ABS(table[k][2] - rgb[2]);
            g_assert_cmpint(distance, >, 20);
        }
    }
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/colormap/list", test_list);
    g_test_add_func("/colormap/published", test_published);
    g_test_add_func("/colormap/monotone", test_monotone);
    g_test_add_func("/colormap/diverging", test_diverging);
    g_test_add_func("/colormap/jet", test_jet);
    g_test_add_func("/colormap/index", test_index);
    g_test_add_func("/colormap/missing", test_missing_color);
    g_test_add_func("/hard/B33-no-rainbow", test_no_rainbow_default);
    return g_test_run();
}
