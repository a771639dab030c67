// SPDX-License-Identifier: GPL-3.0-or-later

// Cases of the hard list that concern values, colours and words (groups B and F).

#include <math.h>
#include <string.h>

#include "engine/figure/colormap.h"
#include "engine/figure/legend.h"
#include "engine/figure/paint.h"
#include "figure-testing.h"

static LimnFigureOptions
default_options(void)
{
    LimnFigureOptions options;
    limn_figure_options_init(&options);
    return options;
}

static TestingSvg *
svg_of(LimnArtifact *artifact, const LimnFigureOptions *options)
{
    g_autoptr(LimnFigure) figure = testing_figure(artifact, options);
    g_autofree char *text = testing_svg(figure);
    TestingSvg *svg = testing_svg_parse(text);
    testing_svg_check_page(svg);
    return svg;
}

static guint32
pack(const guint8 rgb[3])
{
    return (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2];
}

static guint32
missing_color(void)
{
    guint8 rgb[3];
    limn_colormap_nan(rgb);
    return pack(rgb);
}

// Color of cell (x, y) of the image of a map.
static guint32
cell(const TestingSvg *svg, int image_index, int columns, int x, int y)
{
    const TestingImage *image = svg->images->pdata[image_index];
    int side = cairo_image_surface_get_width(image->surface) / columns;
    return testing_pixel(image->surface, x * side + side / 2, y * side + side / 2);
}

// Range from the finite values; missing cells in their own colour and in the legend.
static void
test_nan(void)
{
    float values[16];
    for (int i = 0; i < 16; i++)
        values[i] = (float) i;
    values[5] = NAN;
    g_autoptr(LimnArtifact) one = testing_map(4, 4, values);
    LimnFigureOptions options = default_options();
    g_autoptr(TestingSvg) svg = svg_of(one, &options);
    g_assert_cmphex(cell(svg, 0, 4, 1, 1), ==, missing_color());
    g_assert_cmphex(cell(svg, 0, 4, 3, 3), ==, pack(limn_colormap_table("viridis")[255]));
    g_assert_nonnull(testing_svg_find(svg, "no value (1 cell)"));

    for (int i = 0; i < 15; i++)
        values[i] = NAN;
    g_autoptr(LimnArtifact) most = testing_map(4, 4, values);
    g_autoptr(TestingSvg) most_svg = svg_of(most, &options);
    g_assert_nonnull(testing_svg_find(most_svg, "no value (15 cells)"));
    g_assert_nonnull(testing_svg_find(most_svg, "constant: 15 everywhere"));

    values[15] = NAN;
    g_autoptr(LimnArtifact) all = testing_map(4, 4, values);
    g_autoptr(TestingSvg) all_svg = svg_of(all, &options);
    g_assert_nonnull(testing_svg_find(all_svg, "no finite value"));
    g_assert_nonnull(testing_svg_find(all_svg, "no value (16 cells)"));
    g_assert_cmphex(cell(all_svg, 0, 4, 2, 2), ==, missing_color());

    float infinite[] = {0, 1, INFINITY, -INFINITY};
    g_autoptr(LimnArtifact) both = testing_map(2, 2, infinite);
    g_autoptr(TestingSvg) both_svg = svg_of(both, &options);
    g_assert_nonnull(testing_svg_find(both_svg, "1 value above 1, up to \u221e"));
    g_assert_nonnull(testing_svg_find(both_svg, "1 value below 0, down to \u2212\u221e"));
    g_assert_cmphex(cell(both_svg, 0, 2, 0, 1), ==,
                    pack(limn_colormap_table("viridis")[255]));
}

// The rectangle of a map is of any size and place in a result: what is seen is hatched,
// and that takes neither for ever nor all memory.
static void
test_far_rectangle(void)
{
    static const LimnRect rects[] = {{-5e11, -5e11, 1e12, 1e12},
                                     {-1e300, -1e300, 2e300, 2e300},
                                     {1e300, 1e300, 1e300, 1e300},
                                     {-1e300, 0, 1, 1}};
    float values[4] = {0, 1, 2, NAN};
    LimnFigureOptions options = default_options();
    g_autoptr(LimnImage) picture = testing_picture(30, 30);
    for (gsize i = 0; i < G_N_ELEMENTS(rects); i++) {
        g_autoptr(LimnArtifact) map = testing_map(2, 2, values);
        limn_artifact_set_picture(map, picture, &rects[i]);
        g_autoptr(LimnFigure) figure = testing_figure(map, &options);
        g_autofree char *text = testing_svg(figure);
        g_assert_cmpuint(strlen(text), <, 1 << 20);
        g_assert_null(strstr(text, "inf"));
        g_assert_null(strstr(text, "nan"));
    }
}

static void
test_constant(void)
{
    float values[9] = {0};
    LimnFigureOptions options = default_options();
    g_autoptr(LimnArtifact) zero = testing_map(3, 3, values);
    g_autoptr(LimnImage) picture = testing_picture(30, 30);
    limn_artifact_set_picture(zero, picture, NULL);
    g_autoptr(TestingSvg) svg = svg_of(zero, &options);
    g_assert_nonnull(testing_svg_find(svg, "constant: 0 everywhere"));
    g_assert_cmphex(cell(svg, 1, 3, 1, 1), ==, pack(limn_colormap_table("viridis")[0]));
    for (int i = 0; i < 9; i++)
        values[i] = 0.3f;
    g_autoptr(LimnArtifact) third = testing_map(3, 3, values);
    g_autoptr(TestingSvg) third_svg = svg_of(third, &options);
    g_assert_nonnull(testing_svg_find(third_svg, "constant: 0.3 everywhere"));
    for (int i = 0; i < 9; i++)
        values[i] = 0;
    g_autoptr(LimnArtifact) neutral = testing_map(3, 3, values);
    neutral->is_signed = TRUE;
    g_autoptr(TestingSvg) neutral_svg = svg_of(neutral, &options);
    g_assert_cmphex(cell(neutral_svg, 0, 3, 1, 1), ==,
                    pack(limn_colormap_table("blue-red")[128]));
    // With a range of its own the bar stays and the note comes in addition.
    options.has_range = TRUE;
    options.range[1] = 1;
    g_autoptr(TestingSvg) ranged = svg_of(third, &options);
    g_assert_nonnull(testing_svg_find(ranged, "constant: 0.3 everywhere"));
    g_assert_nonnull(testing_svg_find(ranged, "0.4"));
    g_assert_cmphex(cell(ranged, 0, 3, 1, 1), ==,
                    pack(limn_colormap_table("viridis")[77]));
}

// Maps that are compared share one scale; its numbers are the real ones.
static void
test_shared(void)
{
    float small[4] = {0, 0.25f, 0.5f, 1}, large[4] = {0, 25, 50, 100};
    g_autoptr(GPtrArray) artifacts =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_artifact_unref);
    g_ptr_array_add(artifacts, testing_map(2, 2, small));
    g_ptr_array_add(artifacts, testing_map(2, 2, large));
    LimnFigureOptions options = default_options();
    const guint8(*table)[3] = limn_colormap_table("viridis");
    for (int shared = 0; shared < 2; shared++) {
        g_autoptr(LimnFigure) figure =
            limn_figure_new_grid(artifacts, NULL, NULL, shared, &options, NULL);
        g_autofree char *text = testing_svg(figure);
        g_autoptr(TestingSvg) svg = testing_svg_parse(text);
        int second = shared ? 1 : 2; // behind the first map's own bar
        g_assert_cmphex(cell(svg, 0, 2, 1, 1), ==, pack(table[shared ? 3 : 255]));
        g_assert_cmphex(cell(svg, second, 2, 1, 1), ==, pack(table[255]));
        g_assert_nonnull(testing_svg_find(svg, shared ? "80" : "0.8"));
    }
    // The maps of one artifact, in a stack, as well.
    g_autoptr(LimnArtifact) stack = testing_maps(3, 2, 2);
    g_autoptr(TestingSvg) svg = svg_of(stack, &options);
    g_assert_cmphex(cell(svg, 0, 2, 0, 0), ==, pack(table[0]));
    g_assert_cmphex(cell(svg, 2, 2, 1, 1), ==, pack(table[255]));
    g_assert_cmphex(cell(svg, 0, 2, 1, 1), ==, pack(table[70]));
}

// Low values have the low end of the legend: ramp against the bar's own picture.
static void
test_ramp(void)
{
    float values[256];
    for (int i = 0; i < 256; i++)
        values[i] = (float) i;
    static const char *const names[] = {"viridis", "jet", "grey", "blue-red"};
    for (gsize k = 0; k < G_N_ELEMENTS(names); k++) {
        g_autoptr(LimnArtifact) ramp = testing_map(1, 256, values);
        LimnFigureOptions options = default_options();
        options.colormap = names[k];
        g_autoptr(TestingSvg) svg = svg_of(ramp, &options);
        g_assert_cmpuint(svg->images->len, ==, 2);
        for (int i = 0; i < 256; i++)
            g_assert_cmphex(cell(svg, 0, 256, i, 0), ==, cell(svg, 1, 256, i, 0));
        // The numbers stand where their values are.
        const TestingImage *bar = svg->images->pdata[1];
        const TestingText *number = testing_svg_find(svg, "100");
        g_assert_cmpfloat_with_epsilon((number->x - bar->x) / bar->width, 100 / 255.0,
                                       1e-4);
    }
    g_assert_cmphex(pack(limn_colormap_table("jet")[0]), ==, 0x000080);
    g_assert_cmphex(pack(limn_colormap_table("jet")[255]), ==, 0x800000);
}

static void
test_symmetric(void)
{
    float values[] = {-1.49f, 0, 0.5f, 1.69f};
    g_autoptr(LimnArtifact) artifact = testing_map(2, 2, values);
    artifact->is_signed = TRUE;
    LimnFigureOptions options = default_options();
    const guint8(*table)[3] = limn_colormap_table("blue-red");
    g_autoptr(TestingSvg) svg = svg_of(artifact, &options);
    g_assert_cmphex(cell(svg, 0, 2, 1, 0), ==, pack(table[128]));
    g_assert_cmphex(cell(svg, 0, 2, 1, 1), ==, pack(table[255]));
    const TestingImage *bar = svg->images->pdata[1];
    const TestingText *zero = testing_svg_find(svg, "0");
    g_assert_cmpfloat_with_epsilon(zero->x, bar->x + bar->width / 2, 0.01);
    // Asymmetric by choice only.
    options.has_range = TRUE;
    options.range[0] = -1.49;
    options.range[1] = 1.69;
    g_autoptr(TestingSvg) chosen = svg_of(artifact, &options);
    g_assert_cmphex(cell(chosen, 0, 2, 0, 0), ==, pack(table[0]));
    g_assert_cmphex(cell(chosen, 0, 2, 1, 0), ==, pack(table[119]));
}

static void
test_outlier(void)
{
    enum { SIDE = 20 };
    float values[SIDE * SIDE];
    for (int i = 0; i < SIDE * SIDE; i++)
        values[i] = (float) i / (SIDE * SIDE);
    values[7] = 1e4f;
    g_autoptr(LimnArtifact) artifact = testing_map(SIDE, SIDE, values);
    LimnFigureOptions options = default_options();
    options.percentile = TRUE;
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    g_assert_nonnull(testing_svg_find(svg, "values above 0.98, up to 10\u202f000"));
    g_assert_nonnull(testing_svg_find(svg, "values below 0.022"));
    const guint8(*table)[3] = limn_colormap_table("viridis");
    int index = limn_colormap_index(0.5, 0.02245, 0.98005);
    g_assert_cmpint(testing_difference(cell(svg, 0, SIDE, 0, 10), pack(table[index])), <=,
                    3);
    // Both ends of the bar have a triangle in the colour of that end.
    g_autofree char *low = g_strdup_printf("Z\" fill=\"#%06x\"", pack(table[0]));
    g_autofree char *high = g_strdup_printf("Z\" fill=\"#%06x\"", pack(table[255]));
    g_assert_nonnull(strstr(text, low));
    g_assert_nonnull(strstr(text, high));
    options.percentile = FALSE;
    g_autoptr(TestingSvg) full = svg_of(artifact, &options);
    g_assert_null(testing_svg_find(full, "values above"));
}

// Sign and range in the legend; text escaped; right-to-left, emoji and very long words.
static void
test_words(void)
{
    static const char text[] = "<b>bold</b> & \"quoted\" שלום עולם 🐕 "
                               "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauu"
                               "nterbeamtengesellschaft "
                               "last cut off";
    LimnArtifact *artifact = limn_artifact_new_text("words");
    LimnTextItem *item = limn_text_item_new(text);
    testing_add_word(item, "<b>bold</b>", 0.8);
    testing_add_word(item, "\"quoted\"", -1.25);
    testing_add_word(item, "שלום", 0.5);
    testing_add_word(item, "🐕", 0.1);
    testing_add_word(item,
                     "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamte"
                     "ngesellschaft",
                     0.3);
    item->truncated = TRUE;
    item->used_bytes = (gsize) (strstr(text, "cut") - text);
    g_ptr_array_add(artifact->texts, item);
    LimnFigureOptions options = default_options();
    for (int narrow = 0; narrow < 2; narrow++) {
        options.width_mm = narrow ? 40 : 84;
        g_autoptr(TestingSvg) svg = svg_of(artifact, &options);
        g_assert_nonnull(testing_svg_find(svg, "<b>bold</b>"));
        g_assert_nonnull(testing_svg_find(svg, "שלום"));
        g_assert_nonnull(testing_svg_find(svg, "🐕"));
        g_assert_nonnull(testing_svg_find(svg, "\u22121.25"));
        g_assert_nonnull(testing_svg_find(svg, "1.25"));
        g_assert_nonnull(testing_svg_find(svg, "lowers the"));
        g_assert_nonnull(testing_svg_find(svg, "struck through"));
        g_assert_cmpfloat_with_epsilon(svg->width_mm, options.width_mm, 0.1);
    }
    limn_artifact_unref(artifact);
}

// Weights of zero, of one sign, missing: no division by zero, honest legend.
static void
test_words_flat(void)
{
    static const double weights[] = {0, 0.5, NAN};
    static const char *const parts[] = {"all words have weight 0", "weight of the word",
                                        "nothing"};
    for (int i = 0; i < 3; i++) {
        g_autoptr(LimnArtifact) artifact = limn_artifact_new_text("words");
        LimnTextItem *item = limn_text_item_new("a word");
        testing_add_word(item, "word", weights[i]);
        g_ptr_array_add(artifact->texts, item);
        LimnFigureOptions options = default_options();
        g_autoptr(TestingSvg) svg = svg_of(artifact, &options);
        g_assert_true((testing_svg_find(svg, parts[i]) != NULL) == (i < 2));
    }
    g_autoptr(LimnArtifact) empty = limn_artifact_new_text("words");
    g_ptr_array_add(empty->texts, limn_text_item_new(""));
    LimnFigureOptions options = default_options();
    g_autoptr(TestingSvg) svg = svg_of(empty, &options);
    g_assert_nonnull(testing_svg_find(svg, "empty text"));
}

// The strongest word has the full colour, text on every background is readable.
static void
test_words_contrast(void)
{
    for (int dark = 0; dark < 2; dark++) {
        const LimnTheme *theme = limn_theme_get(dark);
        LimnColor strong[2] = {theme->word, theme->against};
        for (int k = 0; k < 2; k++) {
            for (int step = 0; step <= 20; step++) {
                LimnColor back = limn_color_mix(theme->page, strong[k], step / 20.0);
                LimnColor ink = limn_color_readable_on(back);
                g_assert_cmpfloat(limn_color_contrast(back, ink), >, 4.5);
            }
        }
        g_assert_cmpfloat(limn_color_contrast(theme->page, theme->ink), >, 12);
        g_assert_cmpfloat(limn_color_contrast(theme->page, theme->muted), >, 5);
    }
}

// The palette shows on both pages, and 40 classes differ in colour or hatch.
static void
test_palette(void)
{
    for (int dark = 0; dark < 2; dark++) {
        const LimnTheme *theme = limn_theme_get(dark);
        for (guint i = 0; i < LIMN_PALETTE_SIZE; i++) {
            double contrast =
                limn_color_contrast(limn_palette_color(i, dark), theme->page);
            g_assert_cmpfloat(contrast, >, i == 7 && !dark ? 1.2 : 2);
        }
    }
    for (guint i = 0; i < 40; i++) {
        for (guint k = 0; k < i; k++) {
            LimnColor a = limn_palette_color(i, FALSE), b = limn_palette_color(k, FALSE);
            gboolean same = a.red == b.red && a.green == b.green && a.blue == b.blue;
            g_assert_false(same && limn_palette_hatch(i) == limn_palette_hatch(k));
        }
    }
}

static void
test_many_classes(void)
{
    g_autoptr(LimnArtifact) artifact =
        limn_artifact_new(LIMN_ARTIFACT_LABELMAP, "labels");
    artifact->pictures =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_image_unref);
    LimnImage *labels = limn_image_new(40, 10, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, NULL);
    for (int i = 0; i < 400; i++)
        ((guint8 *) labels->data)[i] = (guint8) (i % 40);
    g_ptr_array_add(artifact->pictures, labels);
    artifact->classes = limn_class_table_new();
    for (guint i = 0; i < 40; i++) {
        g_autofree char *name = g_strdup_printf("kind %u", i);
        limn_class_table_add(artifact->classes, i, name, (guint8[]){0, 0, 0});
    }
    LimnFigureOptions options = default_options();
    g_autoptr(TestingSvg) svg = svg_of(artifact, &options);
    g_assert_nonnull(testing_svg_find(svg, "kind 39"));
    g_assert_cmpint(svg->n_clips, >=, 78); // hatches in the map and in the legend
    g_assert_cmphex(cell(svg, 0, 40, 5, 0), ==, 0x000000);
}

// Label maps of a stack have one legend, and a class looks the same in all of them.
static void
test_label_stack(void)
{
    g_autoptr(LimnArtifact) artifact =
        limn_artifact_new(LIMN_ARTIFACT_LABELMAP, "labels");
    artifact->pictures =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_image_unref);
    for (int i = 0; i < 3; i++) {
        LimnImage *labels = limn_image_new(4, 4, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, NULL);
        memset(labels->data, i, 8);
        memset((guint8 *) labels->data + 8, 7, 8);
        g_ptr_array_add(artifact->pictures, labels);
    }
    artifact->classes = limn_class_table_new();
    limn_class_table_add(artifact->classes, 7, "seven", (guint8[]){200, 0, 0});
    LimnFigureOptions options = default_options();
    g_autoptr(TestingSvg) svg = svg_of(artifact, &options);
    int n_seven = 0;
    for (guint i = 0; i < svg->texts->len; i++)
        n_seven += strcmp(((TestingText *) svg->texts->pdata[i])->text, "seven") == 0;
    g_assert_cmpint(n_seven, ==, 1);
    for (int i = 0; i < 3; i++) {
        g_autofree char *name = g_strdup_printf("class %d", i);
        g_assert_nonnull(testing_svg_find(svg, name));
        g_assert_cmphex(cell(svg, i, 4, 1, 3), ==, 0xc80000);
    }
}

// Ignored pixels have a hatch and a name of their own.
static void
test_ignore(void)
{
    g_autoptr(LimnArtifact) artifact =
        limn_artifact_new(LIMN_ARTIFACT_LABELMAP, "labels");
    artifact->pictures =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_image_unref);
    LimnImage *labels = testing_mask(40, 30);
    memset(labels->data, 255, 80);
    g_ptr_array_add(artifact->pictures, labels);
    artifact->classes = limn_class_table_new();
    limn_class_table_add(artifact->classes, 1, "disc", (guint8[]){200, 0, 0});
    artifact->classes->ignore_value = 255;
    LimnFigureOptions options = default_options();
    g_autoptr(TestingSvg) svg = svg_of(artifact, &options);
    g_assert_nonnull(testing_svg_find(svg, "ignore"));
    g_assert_nonnull(testing_svg_find(svg, "disc"));
    g_assert_nonnull(testing_svg_find(svg, "class 2"));
    g_assert_null(testing_svg_find(svg, "255"));
}

// Tick labels, turned titles and long names are whole on a page of 5 cm, whatever the
// font.
static void
test_clipped_labels(void)
{
    LimnTable *table = limn_table_new();
    LimnColumn *x = limn_table_add_column(table, "fraction of the pixels removed", TRUE);
    LimnColumn *y = limn_table_add_column(
        table, "cosine similarity between picture and sentence (a long title)", TRUE);
    for (int i = 0; i <= 100; i++) {
        limn_column_add_number(x, i);
        limn_column_add_number(y, -1e-7 * i);
    }
    g_autoptr(LimnArtifact) artifact = limn_artifact_new_series("curve", table);
    static const char *const fonts[] = {"DejaVu Sans", "DejaVu Sans Mono",
                                        "No Such Font At All"};
    for (gsize k = 0; k < G_N_ELEMENTS(fonts); k++) {
        for (double width = 20; width < 120; width += 15) {
            LimnFigureOptions options = default_options();
            options.width_mm = width;
            options.font = fonts[k];
            options.font_size = k == 1 ? 12 : 8;
            g_autoptr(TestingSvg) svg = svg_of(artifact, &options);
            g_assert_nonnull(testing_svg_find(svg, "100"));
        }
    }
}

static double
bar_height_mm(int scale, double *page_mm)
{
    float values[] = {0, 1, 2, 3};
    g_autoptr(LimnArtifact) artifact = testing_map(2, 2, values);
    LimnFigureOptions options = default_options();
    options.width_mm = 50;
    options.dpi = 96.0 * scale;
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    const TestingImage *bar = svg->images->pdata[1];
    g_autoptr(GBytes) bytes = testing_encode(figure, LIMN_FIGURE_PNG);
    cairo_surface_t *png = testing_decode_png(bytes);
    double per_point = options.dpi / 72;
    int x = (int) ((bar->x + bar->width / 2) * per_point);
    int middle = (int) ((bar->y + bar->height / 2) * per_point);
    guint32 color = testing_pixel(png, x, middle);
    int top = middle, bottom = middle;
    while (testing_difference(testing_pixel(png, x, top), color) < 20)
        top--;
    while (testing_difference(testing_pixel(png, x, bottom), color) < 20)
        bottom++;
    *page_mm = cairo_image_surface_get_width(png) / options.dpi * 25.4;
    cairo_surface_destroy(png);
    return (bottom - top - 1) / options.dpi * 25.4;
}

// Colour bars and numbers keep their physical size at every resolution.
static void
test_overlay_size(void)
{
    double page, large = bar_height_mm(10, &page);
    g_assert_cmpfloat_with_epsilon(page, 50, 0.3);
    g_assert_cmpfloat_with_epsilon(bar_height_mm(4, &page), large, 0.25);
    g_assert_cmpfloat_with_epsilon(page, 50, 0.3);
    g_assert_cmpfloat_with_epsilon(bar_height_mm(1, &page), large, 0.6);
    g_assert_cmpfloat_with_epsilon(page, 50, 0.3);
}

// The resolution is in the file.
static void
test_resolution(void)
{
    float values[] = {0, 1, 2, 3};
    g_autoptr(LimnArtifact) artifact = testing_map(2, 2, values);
    LimnFigureOptions options = default_options();
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autoptr(GBytes) png = testing_encode(figure, LIMN_FIGURE_PNG);
    const guint8 *data = g_bytes_get_data(png, NULL);
    static const guint8 expected[] = {0, 0,    0,    9, 'p', 'H',  'Y',  's', 0,
                                      0, 0x2e, 0x23, 0, 0,   0x2e, 0x23, 1};
    g_assert_cmpmem(data + 33, sizeof expected, expected, sizeof expected);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/hard/B12-ignore", test_ignore);
    g_test_add_func("/hard/B27-nan", test_nan);
    g_test_add_func("/hard/B27-far-rectangle", test_far_rectangle);
    g_test_add_func("/hard/B28-constant", test_constant);
    g_test_add_func("/hard/B29-shared-scale", test_shared);
    g_test_add_func("/hard/B30-ramp", test_ramp);
    g_test_add_func("/hard/B31-symmetric", test_symmetric);
    g_test_add_func("/hard/B32-outlier", test_outlier);
    g_test_add_func("/hard/B34-words", test_words);
    g_test_add_func("/hard/B34-words-flat", test_words_flat);
    g_test_add_func("/hard/B34-words-contrast", test_words_contrast);
    g_test_add_func("/hard/B35-palette", test_palette);
    g_test_add_func("/hard/B35-many-classes", test_many_classes);
    g_test_add_func("/hard/B35-label-stack", test_label_stack);
    g_test_add_func("/hard/B76-clipped-labels", test_clipped_labels);
    g_test_add_func("/hard/B77-overlay-size", test_overlay_size);
    g_test_add_func("/hard/B77-resolution", test_resolution);
    return g_test_run();
}
