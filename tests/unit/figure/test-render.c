// SPDX-License-Identifier: GPL-3.0-or-later

// What other programs make of the files: sharp cells, bars without seams, embedded
// fonts, and the same picture from all back ends. Skipped where poppler's and librsvg's
// programs are not installed.

#include <math.h>
#include <string.h>

#include "engine/figure/colormap.h"
#include "figure-testing.h"

static LimnFigureOptions
default_options(void)
{
    LimnFigureOptions options;
    limn_figure_options_init(&options);
    return options;
}

typedef cairo_surface_t *(*Render)(GBytes *bytes, int dpi);

static const struct {
    LimnFigureFormat format;
    Render render;
} renderers[] = {
    {LIMN_FIGURE_PDF, testing_render_pdf},
    {LIMN_FIGURE_SVG, testing_render_svg},
};

static guint32
pack(const guint8 rgb[3])
{
    return (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2];
}

// ---- cells

static void
check_cells(cairo_surface_t *surface, int dpi, const TestingImage *map, int side,
            const guint32 *colors)
{
    double scale = dpi / 72.0;
    double cell = map->width / side * scale;
    for (int i = 0; i < side * side; i++) {
        double left = map->x * scale + (i % side) * cell;
        double top = map->y * scale + (i / side) * cell;
        // All but the outermost pixel of a cell and a twelfth of it.
        double edge = MAX(1.5, cell / 12);
        for (int y = (int) ceil(top + edge); y < top + cell - edge; y++) {
            for (int x = (int) ceil(left + edge); x < left + cell - edge; x++) {
                guint32 found = testing_pixel(surface, x, y);
                if (testing_difference(found, colors[i]) > 3)
                    g_error("cell %d at %d dpi: pixel %d,%d is %06x instead of %06x", i,
                            dpi, x, y, found, colors[i]);
            }
        }
    }
}

// A map of 7 x 7 cells at 10 cm, at several zooms.
static void
test_crisp(void)
{
    enum { SIDE = 7 };
    float values[SIDE * SIDE];
    guint32 colors[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = (float) (i * 23 % 49);
    for (int i = 0; i < SIDE * SIDE; i++)
        colors[i] =
            pack(limn_colormap_table("viridis")[limn_colormap_index(values[i], 0, 48)]);
    g_autoptr(LimnArtifact) artifact = testing_map(SIDE, SIDE, values);
    LimnFigureOptions options = default_options();
    options.width_mm = 100;
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    static const int zooms[] = {40, 72, 96, 150, 233};
    int n = 0;
    for (gsize r = 0; r < G_N_ELEMENTS(renderers); r++) {
        g_autoptr(GBytes) bytes = testing_encode(figure, renderers[r].format);
        for (gsize z = 0; z < G_N_ELEMENTS(zooms); z++) {
            cairo_surface_t *surface = renderers[r].render(bytes, zooms[z]);
            if (!surface)
                continue;
            check_cells(surface, zooms[z], svg->images->pdata[0], SIDE, colors);
            cairo_surface_destroy(surface);
            n++;
        }
    }
    if (n == 0)
        g_test_skip("neither pdftoppm nor rsvg-convert is installed");
}

// Over a picture: cells of one colour over a plain picture stay plain.
static void
test_crisp_overlay(void)
{
    enum { SIDE = 7 };
    float values[SIDE * SIDE];
    guint32 colors[SIDE * SIDE];
    const guint8(*table)[3] = limn_colormap_table("viridis");
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = (float) (i * 23 % 49);
    for (int i = 0; i < SIDE * SIDE; i++) {
        const guint8 *rgb = table[limn_colormap_index(values[i], 0, 48)];
        guint8 mixed[3];
        for (int c = 0; c < 3; c++)
            mixed[c] = (guint8) floor(0.6 * rgb[c] + 0.4 * 200 + 0.5);
        colors[i] = pack(mixed);
    }
    g_autoptr(LimnArtifact) artifact = testing_map(SIDE, SIDE, values);
    g_autoptr(LimnImage) picture =
        limn_image_new(70, 70, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, NULL);
    memset(picture->data, 200, 70 * 70 * 3);
    limn_artifact_set_picture(artifact, picture, NULL);
    LimnFigureOptions options = default_options();
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    int n = 0;
    for (gsize r = 0; r < G_N_ELEMENTS(renderers); r++) {
        g_autoptr(GBytes) bytes = testing_encode(figure, renderers[r].format);
        cairo_surface_t *surface = renderers[r].render(bytes, 130);
        if (!surface)
            continue;
        check_cells(surface, 130, svg->images->pdata[1], SIDE, colors);
        cairo_surface_destroy(surface);
        n++;
    }
    g_autoptr(GBytes) png = testing_encode(figure, LIMN_FIGURE_PNG);
    cairo_surface_t *surface = testing_decode_png(png);
    check_cells(surface, 300, svg->images->pdata[1], SIDE, colors);
    cairo_surface_destroy(surface);
    if (n == 0)
        g_test_skip("neither pdftoppm nor rsvg-convert is installed");
}

// ---- colour bars

// Along the bar every pixel is near an entry of the table, and entries never go back.
static void
check_bar(cairo_surface_t *surface, int dpi, const TestingImage *bar,
          const guint8 (*table)[3])
{
    double scale = dpi / 72.0;
    int y = (int) ((bar->y + bar->height / 2) * scale);
    int begin = (int) ceil(bar->x * scale + 2);
    int end = (int) floor((bar->x + bar->width) * scale - 2);
    int last = 0;
    g_assert_cmpint(end - begin, >, 50);
    for (int x = begin; x < end; x++) {
        guint32 found = testing_pixel(surface, x, y);
        int best = 0;
        for (int i = 1; i < 256; i++) {
            if (testing_difference(found, pack(table[i])) <
                testing_difference(found, pack(table[best])))
                best = i;
        }
        if (testing_difference(found, pack(table[best])) > 4 || best < last - 3)
            g_error("bar at %d dpi: seam at %d (%06x, entry %d after %d)", dpi, x, found,
                    best, last);
        last = MAX(last, best);
    }
    g_assert_cmpint(last, >, 250);
}

static void
test_bar(void)
{
    float values[4] = {0, 1, 2, 3};
    g_autoptr(LimnArtifact) artifact = testing_map(2, 2, values);
    LimnFigureOptions options = default_options();
    static const char *const names[] = {"viridis", "grey"};
    static const int zooms[] = {72, 110, 150, 300};
    int n = 0;
    for (gsize k = 0; k < G_N_ELEMENTS(names); k++) {
        options.colormap = names[k];
        g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
        g_autofree char *text = testing_svg(figure);
        g_autoptr(TestingSvg) svg = testing_svg_parse(text);
        g_assert_cmpuint(svg->images->len, ==, 2);
        for (gsize r = 0; r < G_N_ELEMENTS(renderers); r++) {
            g_autoptr(GBytes) bytes = testing_encode(figure, renderers[r].format);
            for (gsize z = 0; z < G_N_ELEMENTS(zooms); z++) {
                cairo_surface_t *surface = renderers[r].render(bytes, zooms[z]);
                if (!surface)
                    continue;
                check_bar(surface, zooms[z], svg->images->pdata[1],
                          limn_colormap_table(names[k]));
                cairo_surface_destroy(surface);
                n++;
            }
        }
    }
    if (n == 0)
        g_test_skip("neither pdftoppm nor rsvg-convert is installed");
}

// ---- fonts

// Every font that pdffonts lists is embedded, a subset, and no Type 3.
static void
check_fonts(const char *listing)
{
    g_auto(GStrv) lines = g_strsplit(listing, "\n", -1);
    int n = 0;
    for (int i = 2; lines[i] && lines[i][0]; i++) {
        g_assert_null(strstr(lines[i], "Type 3"));
        g_assert_true(strstr(lines[i], "TrueType") || strstr(lines[i], "CID") ||
                      strstr(lines[i], "Type 1C"));
        g_assert_nonnull(strstr(lines[i], " yes yes yes"));
        n++;
    }
    g_assert_cmpint(n, >=, 1);
}

static void
test_fonts(void)
{
    float values[4] = {-2, 0.5f, 1, 2};
    g_autoptr(LimnArtifact) artifact = testing_map(2, 2, values);
    artifact->is_signed = TRUE;
    limn_artifact_add_label(artifact, "αβγ Ωmega — 中文 — “quotes” ½ ≤ ∞");
    LimnFigureOptions options = default_options();
    options.caption = "Bold, math minus −1.5 and כלב.";
    g_autoptr(GPtrArray) artifacts = g_ptr_array_new();
    g_ptr_array_add(artifacts, artifact);
    g_ptr_array_add(artifacts, artifact);
    g_autoptr(LimnFigure) figure =
        limn_figure_new_grid(artifacts, NULL, NULL, FALSE, &options, NULL);
    g_autoptr(GBytes) pdf = testing_encode(figure, LIMN_FIGURE_PDF);
    const char *fonts[] = {"pdffonts", "NAME", NULL};
    g_autofree char *listing = testing_run(pdf, ".pdf", fonts);
    const char *words[] = {"pdftotext", "-layout", "NAME", "-", NULL};
    g_autofree char *text = testing_run(pdf, ".pdf", words);
    if (!listing || !text) {
        g_test_skip("pdffonts and pdftotext are not installed");
        return;
    }
    check_fonts(listing);
    g_assert_nonnull(strstr(text, "αβγ"));
    g_assert_nonnull(strstr(text, "math minus \u22121.5"));
    g_assert_nonnull(strstr(text, "\u22122"));
}

// ---- one picture from all back ends

static double
mean_difference(cairo_surface_t *a, cairo_surface_t *b)
{
    int width = MIN(cairo_image_surface_get_width(a), cairo_image_surface_get_width(b));
    int height =
        MIN(cairo_image_surface_get_height(a), cairo_image_surface_get_height(b));
    g_assert_cmpint(ABS(cairo_image_surface_get_width(a) - width), <=, 1);
    g_assert_cmpint(ABS(cairo_image_surface_get_height(a) - height), <=, 1);
    double sum = 0;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            sum += testing_difference(testing_pixel(a, x, y), testing_pixel(b, x, y));
    }
    return sum / ((double) width * height);
}

static LimnFigure *
rich_figure(int dpi)
{
    g_autoptr(LimnArtifact) maps = testing_maps(2, 5, 5);
    maps->title = g_strdup("Relevance");
    limn_array_f32(maps->field)[3] = NAN;
    g_autoptr(LimnImage) picture = testing_picture(80, 60);
    LimnRect rect = {10, 5, 50, 50};
    limn_artifact_set_picture(maps, picture, &rect);
    maps->mask = testing_mask(80, 60);
    g_autoptr(LimnArtifact) series = testing_series(20, 4);
    g_autoptr(GPtrArray) artifacts = g_ptr_array_new();
    g_ptr_array_add(artifacts, maps);
    g_ptr_array_add(artifacts, series);
    LimnFigureOptions options = default_options();
    options.width_mm = 120;
    options.dpi = dpi;
    options.contours = TRUE;
    LimnFigure *figure =
        limn_figure_new_grid(artifacts, NULL, NULL, FALSE, &options, NULL);
    g_assert_nonnull(figure);
    return figure;
}

static void
test_same_picture(void)
{
    enum { DPI = 150 };
    g_autoptr(LimnFigure) figure = rich_figure(DPI);
    g_autoptr(GBytes) png = testing_encode(figure, LIMN_FIGURE_PNG);
    cairo_surface_t *ours = testing_decode_png(png);
    int n = 0;
    for (gsize r = 0; r < G_N_ELEMENTS(renderers); r++) {
        g_autoptr(GBytes) bytes = testing_encode(figure, renderers[r].format);
        cairo_surface_t *theirs = renderers[r].render(bytes, DPI);
        if (!theirs)
            continue;
        g_assert_cmpfloat(mean_difference(ours, theirs), <, 4);
        cairo_surface_destroy(theirs);
        n++;
    }
    cairo_surface_destroy(ours);
    if (n == 0)
        g_test_skip("neither pdftoppm nor rsvg-convert is installed");
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hard/B70-same-picture", test_same_picture);
    g_test_add_func("/hard/B73-no-seams", test_bar);
    g_test_add_func("/hard/B74-crisp-cells", test_crisp);
    g_test_add_func("/hard/B74-crisp-overlay", test_crisp_overlay);
    g_test_add_func("/hard/B75-fonts", test_fonts);
    return g_test_run();
}
