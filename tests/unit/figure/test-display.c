// SPDX-License-Identifier: GPL-3.0-or-later

#include <math.h>
#include <string.h>

#include "engine/figure/display-list.h"
#include "engine/figure/draw-cairo.h"
#include "engine/figure/outline.h"
#include "engine/figure/text-layout.h"

static const LimnTextStyle font = {.family = "DejaVu Sans", .size = 8};

static void
test_extents(void)
{
    g_autoptr(LimnDisplayList) list = limn_display_list_new();
    LimnBox box = {10, 20, 30, 40};
    limn_display_list_stroke_box(list, &box, (LimnColor){0, 0, 0, 1}, 2);
    g_assert_cmpfloat(list->left, ==, 9);
    g_assert_cmpfloat(list->bottom, ==, 61);
    // Turned by 90 degrees a text reaches up from its anchor.
    limn_display_list_add_text(list, "turned", &font, 100, 100, LIMN_ANCHOR_START, 90);
    double width = limn_text_width("turned", &font);
    g_assert_cmpfloat_with_epsilon(list->top, MIN(19, 100 - width), 1e-6);
    g_assert_cmpfloat(list->right, >, 100);
    g_assert_cmpfloat(list->right, <, 104);
    // What is clipped does not count, the clip does.
    LimnPath *clip = limn_path_new();
    LimnBox small = {0, 0, 5, 5};
    limn_path_rectangle(clip, &small);
    limn_display_list_begin_clip(list, clip);
    limn_display_list_add_line(list, -1000, 0, 1000, 0, (LimnColor){0, 0, 0, 1}, 1);
    limn_display_list_end_clip(list);
    g_assert_cmpfloat(list->left, ==, 0);
    g_autoptr(LimnDisplayList) moved = limn_display_list_new();
    limn_display_list_append(moved, list, 7, 8);
    g_assert_cmpfloat(moved->left, ==, list->left + 7);
    g_assert_cmpfloat(moved->bottom, ==, list->bottom + 8);
    g_assert_cmpuint(moved->items->len, ==, list->items->len);
}

static void
test_clean(void)
{
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"plain", "plain"},
        {"a\nb\tc", "a b c"},
        {"bad\xff"
         "byte",
         "bad?byte"},
        {"cut \xe2\x82", "cut ??"},
        {"nul\x01", "nul "},
        {"c1\xc2\x85", "c1\xc2\xa0"},
        {"\xef\xbf\xbe", "\xef\xbf\xbd"},
        {NULL, ""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *clean = limn_text_make_drawable(cases[i].in);
        g_assert_cmpstr(clean, ==, cases[i].out);
        g_assert_cmpuint(strlen(clean), ==, cases[i].in ? strlen(cases[i].in) : 0);
    }
}

static void
test_wrap(void)
{
    const char *text = "several words that need more than one line at this width";
    g_autoptr(GPtrArray) lines = limn_text_wrap(text, &font, 80, 0);
    g_assert_cmpuint(lines->len, >, 2);
    g_autoptr(GString) joined = g_string_new(NULL);
    for (guint i = 0; i < lines->len; i++) {
        const LimnTextLine *line = lines->pdata[i];
        g_assert_cmpfloat(line->width, <=, 80.01);
        g_string_append_printf(joined, "%s%s", i ? " " : "", line->text);
    }
    g_assert_cmpstr(joined->str, ==, text);
    g_autoptr(GPtrArray) cut = limn_text_wrap(text, &font, 80, 2);
    g_assert_cmpuint(cut->len, ==, 2);
    const LimnTextLine *last = cut->pdata[1];
    g_assert_true(g_str_has_suffix(last->text, "\u2026"));
    g_assert_cmpfloat(last->width, <=, 80.01);
    g_autoptr(GPtrArray) broken =
        limn_text_wrap("Donaudampfschifffahrtsgesellschaft", &font, 50, 0);
    g_assert_cmpuint(broken->len, >, 1);
    g_autoptr(GPtrArray) two = limn_text_wrap("one\ntwo", &font, 500, 0);
    g_assert_cmpuint(two->len, ==, 2);
    g_autoptr(GPtrArray) rtl = limn_text_wrap("שלום עולם", &font, 500, 0);
    g_assert_true(((LimnTextLine *) rtl->pdata[0])->rtl);
}

// The width of a line does not depend on where it is drawn.
static void
test_scaling(void)
{
    LimnTextStyle large = font;
    large.size = 80;
    g_assert_cmpfloat_with_epsilon(limn_text_width("Scaling", &large),
                                   10 * limn_text_width("Scaling", &font), 0.1);
    LimnTextStyle fitted = limn_text_fit("extraordinarily long", &font, 40);
    g_assert_cmpfloat(fitted.size, ==, 6);
    fitted = limn_text_fit("word", &font, 400);
    g_assert_cmpfloat(fitted.size, ==, 8);
    fitted = limn_text_fit("Attention", &font, limn_text_width("Attention", &font) * 0.9);
    g_assert_cmpfloat(fitted.size, <, 8);
    g_assert_cmpfloat(fitted.size, >, 6.9);
}

static void
test_flow(void)
{
    const char *text = "ab cd efghijklmnopqrstuvwxyzefghijklmnopqrstuvwxyz gh";
    const gsize ranges[][2] = {{0, 2}, {3, 5}, {6, 50}, {51, 53}};
    g_autoptr(LimnTextFlow) flow =
        limn_text_flow_new(text, &font, 90, 12, ranges, G_N_ELEMENTS(ranges));
    gsize covered = 0;
    for (guint i = 0; i < flow->pieces->len; i++) {
        const LimnTextPiece *piece = &g_array_index(flow->pieces, LimnTextPiece, i);
        g_assert_cmpfloat(piece->x, >=, 0);
        g_assert_cmpfloat(piece->x + piece->width, <=, 91);
        g_assert_cmpfloat(piece->width, >, 0);
        covered += piece->end - piece->begin;
    }
    g_assert_cmpuint(covered, ==, 2 + 2 + 44 + 2);
    g_assert_cmpuint(flow->pieces->len, >, 4);
    g_assert_cmpint(flow->n_lines, >, 2);
}

// In right-to-left text the first word is the rightmost.
static void
test_flow_rtl(void)
{
    const char *text = "שלום עולם";
    const gsize ranges[][2] = {{0, 8}, {9, 17}};
    g_autoptr(LimnTextFlow) flow = limn_text_flow_new(text, &font, 200, 12, ranges, 2);
    g_assert_cmpuint(flow->pieces->len, ==, 2);
    const LimnTextPiece *first = &g_array_index(flow->pieces, LimnTextPiece, 0);
    const LimnTextPiece *second = &g_array_index(flow->pieces, LimnTextPiece, 1);
    g_assert_cmpfloat(first->x, >, second->x + second->width);
}

// ---- outlines

// Signed area and length of all loops.
static void
measure_path(const LimnPath *path, double *area, double *length, int *n_loops)
{
    double x0 = 0, y0 = 0, x = 0, y = 0;
    *area = *length = 0;
    *n_loops = 0;
    for (guint i = 0; i < path->steps->len; i++) {
        const LimnPathStep *step = &g_array_index(path->steps, LimnPathStep, i);
        double nx = step->op == LIMN_PATH_CLOSE ? x0 : step->x[0];
        double ny = step->op == LIMN_PATH_CLOSE ? y0 : step->y[0];
        if (step->op == LIMN_PATH_MOVE) {
            x0 = nx;
            y0 = ny;
            ++*n_loops;
        } else {
            *area += (x * ny - nx * y) / 2;
            *length += fabs(nx - x) + fabs(ny - y);
        }
        x = nx;
        y = ny;
    }
}

static void
test_region(void)
{
    enum { SIDE = 23 };
    LimnRaster raster = {0, 0, 1, 1};
    for (int round = 0; round < 200; round++) {
        guint8 inside[SIDE * SIDE];
        int count = 0, edges = 0;
        for (int i = 0; i < SIDE * SIDE; i++)
            count += inside[i] = g_test_rand_int_range(0, 10) < round % 10;
        for (int i = 0; i < SIDE * SIDE; i++) {
            if (!inside[i])
                continue;
            int x = i % SIDE, y = i / SIDE;
            edges += x == 0 || !inside[i - 1];
            edges += x == SIDE - 1 || !inside[i + 1];
            edges += y == 0 || !inside[i - SIDE];
            edges += y == SIDE - 1 || !inside[i + SIDE];
        }
        g_autoptr(LimnPath) path = limn_path_new();
        g_assert_true(limn_outline_region(path, inside, SIDE, SIDE, &raster));
        double area, length;
        int n_loops;
        measure_path(path, &area, &length, &n_loops);
        g_assert_cmpfloat_with_epsilon(area, count, 1e-9);
        g_assert_cmpfloat_with_epsilon(length, edges, 1e-9);
    }
    guint8 ring[9] = {1, 1, 1, 1, 0, 1, 1, 1, 1};
    g_autoptr(LimnPath) path = limn_path_new();
    limn_outline_region(path, ring, 3, 3, &raster);
    double area, length;
    int n_loops;
    measure_path(path, &area, &length, &n_loops);
    g_assert_cmpint(n_loops, ==, 2);
    g_assert_cmpuint(path->steps->len, ==, 10); // two squares, no points between
}

// Noise is left alone instead of making a path of a million corners.
static void
test_ragged_region(void)
{
    enum { SIDE = 600 };
    g_autofree guint8 *inside = g_malloc(SIDE * SIDE);
    for (int i = 0; i < SIDE * SIDE; i++)
        inside[i] = (i + i / SIDE) % 2;
    g_autoptr(LimnPath) path = limn_path_new();
    LimnRaster raster = {0, 0, 1, 1};
    g_assert_false(limn_outline_region(path, inside, SIDE, SIDE, &raster));
    g_assert_cmpuint(path->steps->len, ==, 0);
}

// Every point of a contour has the level, by bilinear interpolation.
static void
test_contour(void)
{
    enum { SIDE = 12 };
    float map[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        map[i] = (float) (i % SIDE) * 2 + (float) (i / SIDE);
    g_autoptr(LimnPath) path = limn_path_new();
    LimnRaster raster = {0, 0, 1, 1};
    limn_outline_contour(path, map, SIDE, SIDE, 10.25, &raster);
    g_assert_cmpuint(path->steps->len, >, 10);
    for (guint i = 0; i < path->steps->len; i++) {
        const LimnPathStep *step = &g_array_index(path->steps, LimnPathStep, i);
        double value = (step->x[0] - 0.5) * 2 + step->y[0] - 0.5;
        g_assert_cmpfloat_with_epsilon(value, 10.25, 1e-6);
    }
    map[5] = NAN;
    g_autoptr(LimnPath) fewer = limn_path_new();
    limn_outline_contour(fewer, map, SIDE, SIDE, 10.25, &raster);
    g_assert_cmpuint(fewer->steps->len, <, path->steps->len);
    float saddle[4] = {1, 0, 0, 1};
    g_autoptr(LimnPath) crossing = limn_path_new();
    limn_outline_contour(crossing, saddle, 2, 2, 0.5, &raster);
    g_assert_cmpuint(crossing->steps->len, ==, 4);
    g_autoptr(LimnPath) none = limn_path_new();
    limn_outline_contour(none, map, 1, 1, 0.5, &raster);
    g_assert_cmpuint(none->steps->len, ==, 0);
}

// A text as outlines lies where the text does.
static void
test_outline_of_text(void)
{
    char text[] = "Hxg";
    LimnItem item = {.kind = LIMN_ITEM_TEXT,
                     .text = text,
                     .font = font,
                     .x = 50,
                     .y = 60,
                     .anchor = LIMN_ANCHOR_MIDDLE};
    g_autoptr(LimnPath) path = limn_text_item_to_path(&item);
    double width = limn_text_width("Hxg", &font);
    double left = 1e9, right = -1e9, top = 1e9, bottom = -1e9;
    for (guint i = 0; i < path->steps->len; i++) {
        const LimnPathStep *step = &g_array_index(path->steps, LimnPathStep, i);
        if (step->op == LIMN_PATH_CLOSE)
            continue;
        left = MIN(left, step->x[0]);
        right = MAX(right, step->x[0]);
        top = MIN(top, step->y[0]);
        bottom = MAX(bottom, step->y[0]);
    }
    g_assert_cmpfloat(left, >, 50 - width / 2 - 1);
    g_assert_cmpfloat(right, <, 50 + width / 2 + 1);
    g_assert_cmpfloat(right - left, >, width * 0.8);
    g_assert_cmpfloat(top, >, 60 - font.size);
    g_assert_cmpfloat(bottom, <, 60 + font.size * 0.4);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/display/extents", test_extents);
    g_test_add_func("/text/clean", test_clean);
    g_test_add_func("/text/wrap", test_wrap);
    g_test_add_func("/text/scaling", test_scaling);
    g_test_add_func("/text/flow", test_flow);
    g_test_add_func("/text/flow-rtl", test_flow_rtl);
    g_test_add_func("/text/outline", test_outline_of_text);
    g_test_add_func("/outline/region", test_region);
    g_test_add_func("/outline/ragged-region", test_ragged_region);
    g_test_add_func("/outline/contour", test_contour);
    return g_test_run();
}
