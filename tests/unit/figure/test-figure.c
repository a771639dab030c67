// SPDX-License-Identifier: GPL-3.0-or-later

#include <glib/gstdio.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/figure/colormap.h"
#include "figure-testing.h"

static LimnFigureOptions
default_options(void)
{
    LimnFigureOptions options;
    limn_figure_options_init(&options);
    return options;
}

static LimnArtifact *
overlay_artifact(void)
{
    float values[49];
    for (int i = 0; i < 49; i++)
        values[i] = (float) (i % 7) / 6 * (float) (i / 7) / 6;
    LimnArtifact *artifact = testing_map(7, 7, values);
    artifact->title = g_strdup("Relevance");
    artifact->unit = g_strdup("a.u.");
    g_autoptr(LimnImage) picture = testing_picture(120, 90);
    LimnRect rect = {15, 0, 90, 90};
    limn_artifact_set_picture(artifact, picture, &rect);
    artifact->mask = testing_mask(120, 90);
    limn_artifact_add_label(artifact, "a <dog> & a \"cat\"");
    return artifact;
}

static LimnArtifact *
text_artifact(void)
{
    LimnArtifact *artifact = limn_artifact_new_text("words");
    LimnTextItem *item = limn_text_item_new("a photo of a <small> dog & 1 cat");
    testing_add_word(item, "photo", 0.25);
    testing_add_word(item, "<small>", 0);
    testing_add_word(item, "dog", 1);
    testing_add_word(item, "cat", -0.5);
    item->score = 0.274;
    g_ptr_array_add(artifact->texts, item);
    return artifact;
}

static LimnArtifact *
table_artifact(void)
{
    LimnTable *table = limn_table_new();
    LimnColumn *names = limn_table_add_column(table, "class", FALSE);
    LimnColumn *values = limn_table_add_column(table, "probability", TRUE);
    static const char *const classes[] = {"dog", "cat, \"small\"", "a very long name",
                                          NULL};
    static const double numbers[] = {0.75, 0.2, -0.05, NAN};
    for (int i = 0; i < 4; i++) {
        limn_column_add_string(names, classes[i]);
        limn_column_add_number(values, numbers[i]);
    }
    return limn_artifact_new_table("scores", table);
}

static LimnArtifact *
labelmap_artifact(void)
{
    LimnArtifact *artifact = limn_artifact_new(LIMN_ARTIFACT_LABELMAP, "labels");
    artifact->pictures =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_image_unref);
    g_ptr_array_add(artifact->pictures, testing_mask(60, 40));
    artifact->classes = limn_class_table_new();
    limn_class_table_add(artifact->classes, 0, "ground", (guint8[]){220, 220, 220});
    limn_class_table_add(artifact->classes, 1, "disc", (guint8[]){0, 114, 178});
    return artifact;
}

static LimnArtifact *
pictures_artifact(void)
{
    LimnArtifact *artifact = limn_artifact_new(LIMN_ARTIFACT_PICTURES, "samples");
    artifact->pictures =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_image_unref);
    for (int i = 0; i < 3; i++) {
        g_ptr_array_add(artifact->pictures, testing_picture(16, 12));
        g_autofree char *label = g_strdup_printf("step %d", i);
        limn_artifact_add_label(artifact, label);
    }
    return artifact;
}

static LimnArtifact *
array_artifact(void)
{
    g_autoptr(LimnArray) array = limn_array_new_f32_2d(3, 5, NULL);
    for (int i = 0; i < 15; i++)
        limn_array_f32(array)[i] = (float) i;
    return limn_artifact_new_array("kernel", array);
}

typedef LimnArtifact *(*Maker)(void);

static LimnArtifact *
stack_artifact(void)
{
    LimnArtifact *artifact = testing_maps(5, 4, 6);
    for (int i = 0; i < 5; i++)
        limn_artifact_add_label(artifact, "a sentence that is longer than its map");
    return artifact;
}

static LimnArtifact *
series_artifact(void)
{
    return testing_series(50, 3);
}

static const struct {
    const char *name;
    Maker make;
    LimnFigureLayout layout;
} samples[] = {
    {"overlay", overlay_artifact, LIMN_LAYOUT_AUTO},
    {"map", overlay_artifact, LIMN_LAYOUT_MAP},
    {"stack", stack_artifact, LIMN_LAYOUT_AUTO},
    {"words", text_artifact, LIMN_LAYOUT_AUTO},
    {"curve", series_artifact, LIMN_LAYOUT_AUTO},
    {"table", table_artifact, LIMN_LAYOUT_AUTO},
    {"bars", table_artifact, LIMN_LAYOUT_BARS},
    {"labels", labelmap_artifact, LIMN_LAYOUT_AUTO},
    {"pictures", pictures_artifact, LIMN_LAYOUT_AUTO},
    {"array", array_artifact, LIMN_LAYOUT_AUTO},
};

static LimnFigure *
sample_figure(gsize i, LimnFigureOptions options)
{
    g_autoptr(LimnArtifact) artifact = samples[i].make();
    options.layout = samples[i].layout;
    return testing_figure(artifact, &options);
}

// ---- every kind at several widths

static void
test_pages(void)
{
    static const double widths[] = {50, 84, 174};
    for (gsize i = 0; i < G_N_ELEMENTS(samples); i++) {
        for (gsize k = 0; k < G_N_ELEMENTS(widths); k++) {
            LimnFigureOptions options = default_options();
            options.width_mm = widths[k];
            options.caption = "A caption that takes more than one line on a narrow page.";
            options.contours = TRUE;
            g_autoptr(LimnFigure) figure = sample_figure(i, options);
            g_autofree char *text = testing_svg(figure);
            g_autoptr(TestingSvg) svg = testing_svg_parse(text);
            g_assert_cmpfloat(svg->width_mm, >=, widths[k] - 0.01);
            g_assert_cmpfloat(svg->width_mm, <=, widths[k] * 1.01);
            g_assert_nonnull(testing_svg_find(svg, "A caption"));
            testing_svg_check_page(svg);
            double width, height;
            limn_figure_get_size(figure, &width, &height);
            g_assert_cmpfloat_with_epsilon(width, svg->width, 0.01);
            g_assert_cmpfloat_with_epsilon(height * 25.4 / 72, svg->height_mm, 0.01);
        }
    }
}

static gpointer
encode_all(gpointer data)
{
    GPtrArray *all = g_ptr_array_new_with_free_func((GDestroyNotify) g_bytes_unref);
    for (gsize i = 0; i < G_N_ELEMENTS(samples); i++) {
        LimnFigureOptions options = default_options();
        options.dpi = 100;
        g_autoptr(LimnFigure) figure = sample_figure(i, options);
        for (int format = 0; format < 3; format++)
            g_ptr_array_add(all, testing_encode(figure, (LimnFigureFormat) format));
    }
    return all;
}

static void
compare_all(GPtrArray *a, GPtrArray *b)
{
    g_assert_cmpuint(a->len, ==, b->len);
    for (guint i = 0; i < a->len; i++)
        g_assert_true(g_bytes_equal(a->pdata[i], b->pdata[i]));
}

static void
test_repeatable(void)
{
    g_autoptr(GPtrArray) first = encode_all(NULL);
    g_autoptr(GPtrArray) second = encode_all(NULL);
    compare_all(first, second);
    GThread *threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = g_thread_new("figure", encode_all, NULL);
    for (int i = 0; i < 4; i++) {
        g_autoptr(GPtrArray) other = g_thread_join(threads[i]);
        compare_all(first, other);
    }
}

// A date from outside, or the fixed one; never that of the clock.
static void
test_date(void)
{
    g_autoptr(LimnFigure) figure = sample_figure(0, default_options());
    const char *dates[] = {NULL, "86400"};
    const char *expected[] = {"20000101000000Z", "19700102000000Z"};
    g_autofree char *outside = g_strdup(g_getenv("SOURCE_DATE_EPOCH"));
    for (int i = 0; i < 2; i++) {
        if (dates[i])
            g_setenv("SOURCE_DATE_EPOCH", dates[i], TRUE);
        else
            g_unsetenv("SOURCE_DATE_EPOCH");
        g_autoptr(GBytes) pdf = testing_encode(figure, LIMN_FIGURE_PDF);
        gsize size;
        const char *data = g_bytes_get_data(pdf, &size);
        // (Some versions of cairo leave out the "D:" of PDF's dates.)
        g_assert_nonnull(memmem(data, size, expected[i], strlen(expected[i])));
        g_assert_null(memmem(data, size, "ModDate", 7));
    }
    if (outside)
        g_setenv("SOURCE_DATE_EPOCH", outside, TRUE);
    else
        g_unsetenv("SOURCE_DATE_EPOCH");
}

// ---- SVG

static void
test_svg_text(void)
{
    g_autoptr(LimnFigure) figure = sample_figure(0, default_options());
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    g_assert_nonnull(testing_svg_find(svg, "a <dog> & a \"cat\""));
    g_assert_nonnull(testing_svg_find(svg, "Relevance (a.u.)"));
    g_assert_nonnull(testing_svg_find(svg, "0.4"));
    g_assert_cmpuint(svg->images->len, ==, 3); // picture, map, colour bar
    const TestingText *label = testing_svg_find(svg, "Relevance");
    g_assert_true(g_str_has_prefix(label->family, "'DejaVu Sans'"));
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < svg->ids->len; i++)
        g_assert_true(g_hash_table_add(seen, svg->ids->pdata[i]));
    g_assert_true(g_hash_table_contains(seen, "map"));
}

static void
test_outlines(void)
{
    LimnFigureOptions options = default_options();
    options.text_as_outlines = TRUE;
    g_autoptr(LimnFigure) figure = sample_figure(0, options);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    g_assert_cmpuint(svg->texts->len, ==, 0);
    g_autoptr(GBytes) pdf = testing_encode(figure, LIMN_FIGURE_PDF);
    const char *arguments[] = {"pdffonts", "NAME", NULL};
    g_autofree char *fonts = testing_run(pdf, ".pdf", arguments);
    if (fonts)
        g_assert_null(strstr(fonts, "DejaVu"));
}

// ---- heat maps

static guint32
table_color(const char *name, int i)
{
    const guint8(*table)[3] = limn_colormap_table(name);
    return (guint32) table[i][0] << 16 | (guint32) table[i][1] << 8 | table[i][2];
}

// The cells of a map have the colours of the table, exactly, in SVG and PNG.
static void
test_map_colors(void)
{
    float values[16 * 16];
    for (int i = 0; i < 256; i++)
        values[i] = (float) i / 255;
    g_autoptr(LimnArtifact) artifact = testing_map(16, 16, values);
    gsize n;
    const LimnColormapInfo *infos = limn_colormap_list(&n);
    for (gsize k = 0; k < n; k++) {
        LimnFigureOptions options = default_options();
        options.colormap = infos[k].name;
        options.show_colorbar = FALSE;
        g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
        g_autofree char *text = testing_svg(figure);
        g_autoptr(TestingSvg) svg = testing_svg_parse(text);
        const TestingImage *image = svg->images->pdata[0];
        g_autoptr(GBytes) bytes = testing_encode(figure, LIMN_FIGURE_PNG);
        cairo_surface_t *png = testing_decode_png(bytes);
        int side = cairo_image_surface_get_width(image->surface) / 16;
        double cell = image->width / 16 * 300 / 72;
        for (int i = 0; i < 256; i++) {
            guint32 wanted = table_color(infos[k].name, i);
            int x = i % 16, y = i / 16;
            g_assert_cmphex(testing_pixel(image->surface, x * side, y * side), ==,
                            wanted);
            int px = (int) ((x + 0.5) * cell + image->x * 300 / 72);
            int py = (int) ((y + 0.5) * cell + image->y * 300 / 72);
            g_assert_cmphex(testing_pixel(png, px, py), ==, wanted);
        }
        cairo_surface_destroy(png);
    }
}

// The map lies on the part of the picture that it belongs to.
static void
test_crop(void)
{
    g_autoptr(LimnFigure) figure = sample_figure(0, default_options());
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    const TestingImage *picture = svg->images->pdata[0], *map = svg->images->pdata[1];
    double scale = picture->width / 120;
    g_assert_cmpfloat_with_epsilon(map->x - picture->x, 15 * scale, 0.01);
    g_assert_cmpfloat_with_epsilon(map->width, 90 * scale, 0.01);
    g_assert_cmpfloat_with_epsilon(map->height, picture->height, 0.01);
    g_assert_cmpfloat_with_epsilon(map->opacity, 0.6, 1e-9);
    g_assert_true(map->crisp);
    g_assert_false(picture->crisp);
    g_assert_nonnull(strstr(text, "id=\"crop\""));
    g_assert_nonnull(strstr(text, "id=\"mask\""));
    LimnFigureOptions options = default_options();
    options.show_mask = FALSE;
    g_autoptr(LimnFigure) plain = sample_figure(0, options);
    g_autofree char *without = testing_svg(plain);
    g_assert_null(strstr(without, "id=\"mask\""));
}

static void
test_interpolate(void)
{
    g_autoptr(LimnArtifact) artifact = overlay_artifact();
    limn_array_f32(artifact->field)[24] = NAN;
    LimnFigureOptions options = default_options();
    options.interpolate = TRUE;
    options.layout = LIMN_LAYOUT_MAP;
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    const TestingImage *map = svg->images->pdata[0];
    g_assert_false(map->crisp);
    int width = cairo_image_surface_get_width(map->surface);
    g_assert_cmpint(width, >, 200);
    guint8 rgb[3];
    limn_colormap_nan(rgb);
    g_assert_cmphex(testing_pixel(map->surface, width / 2, width / 2), ==,
                    (guint32) rgb[0] << 16 | (guint32) rgb[1] << 8 | rgb[2]);
}

// Pictures of 350 dpi are enough; larger ones are shrunk.
static void
test_large_picture(void)
{
    float values[4] = {0, 1, 2, 3};
    g_autoptr(LimnArtifact) artifact = testing_map(2, 2, values);
    g_autoptr(LimnImage) picture = testing_picture(3000, 1000);
    limn_artifact_set_picture(artifact, picture, NULL);
    LimnFigureOptions options = default_options();
    options.width_mm = 50;
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    const TestingImage *image = svg->images->pdata[0];
    int width = cairo_image_surface_get_width(image->surface);
    g_assert_cmpint(width, <, 720);
    g_assert_cmpint(width, >, 600);
    g_assert_cmpfloat_with_epsilon(image->height, image->width / 3, 0.01);
}

static void
test_max_height(void)
{
    g_autoptr(LimnArtifact) artifact = overlay_artifact();
    LimnFigureOptions options = default_options();
    options.max_height_mm = 50;
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    double width, height;
    limn_figure_get_size(figure, &width, &height);
    g_assert_cmpfloat(height * 25.4 / 72, <=, 50.01);
    g_assert_cmpfloat(height * 25.4 / 72, >, 45);
    g_assert_cmpfloat_with_epsilon(width * 25.4 / 72, 84, 0.1);
}

static void
test_items(void)
{
    g_autoptr(LimnArtifact) artifact = stack_artifact();
    LimnFigureOptions options = default_options();
    options.item = 3;
    g_autoptr(LimnFigure) one = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(one);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    g_assert_cmpuint(svg->images->len, ==, 2);
    options.item = -1;
    options.columns = 2;
    g_autoptr(LimnFigure) all = testing_figure(artifact, &options);
    g_autofree char *stack = testing_svg(all);
    g_autoptr(TestingSvg) stacked = testing_svg_parse(stack);
    g_assert_cmpuint(stacked->images->len, ==, 6);
    const TestingImage *first = stacked->images->pdata[0],
                       *third = stacked->images->pdata[2];
    g_assert_cmpfloat_with_epsilon(first->x, third->x, 0.01);
    g_assert_cmpfloat(third->y, >, first->y + first->height);
}

// The caption given replaces nothing that it does not say itself.
static void
test_caption(void)
{
    g_autoptr(LimnArtifact) artifact = overlay_artifact();
    limn_artifact_add_label(artifact, "unused");
    LimnFigureOptions options = default_options();
    options.caption = "Map of a <dog> & a \"cat\".";
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    int n_labels = 0;
    for (guint i = 0; i < svg->texts->len; i++)
        n_labels += strstr(((TestingText *) svg->texts->pdata[i])->text, "<dog>") != NULL;
    g_assert_cmpint(n_labels, ==, 1);
    options.show_caption = FALSE;
    g_autoptr(LimnFigure) bare = testing_figure(artifact, &options);
    g_autofree char *without = testing_svg(bare);
    g_autoptr(TestingSvg) empty = testing_svg_parse(without);
    g_assert_null(testing_svg_find(empty, "<dog>"));
}

// ---- grids

static void
test_grid(void)
{
    g_autoptr(GPtrArray) artifacts =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_artifact_unref);
    for (int i = 0; i < 6; i++)
        g_ptr_array_add(artifacts, i == 4 ? NULL : overlay_artifact());
    const char *rows[] = {"a dog", "a red car", NULL};
    const char *columns[] = {"Rollout", "GAME", "Grad-ECLIP", NULL};
    LimnFigureOptions options = default_options();
    options.width_mm = 174;
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnFigure) figure =
        limn_figure_new_grid(artifacts, rows, columns, TRUE, &options, &error);
    g_assert_no_error(error);
    g_autofree char *text = testing_svg(figure);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    testing_svg_check_page(svg);
    for (int i = 0; rows[i]; i++)
        g_assert_cmpfloat(testing_svg_find(svg, rows[i])->angle, ==, 90);
    for (int i = 0; columns[i]; i++)
        g_assert_nonnull(testing_svg_find(svg, columns[i]));
    int letters = 0;
    for (guint i = 0; i < svg->texts->len; i++)
        letters += strlen(((TestingText *) svg->texts->pdata[i])->text) == 1 &&
                   ((TestingText *) svg->texts->pdata[i])->bold;
    g_assert_cmpint(letters, ==, 5);
    g_assert_cmpuint(svg->images->len, ==, 11); // one bar for all
    g_autoptr(LimnFigure) own =
        limn_figure_new_grid(artifacts, rows, columns, FALSE, &options, &error);
    g_autofree char *own_text = testing_svg(own);
    g_autoptr(TestingSvg) own_svg = testing_svg_parse(own_text);
    g_assert_cmpuint(own_svg->images->len, ==, 15);
}

static void
test_mixed_grid(void)
{
    g_autoptr(GPtrArray) artifacts =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_artifact_unref);
    for (gsize i = 0; i < G_N_ELEMENTS(samples); i++)
        g_ptr_array_add(artifacts, samples[i].make());
    static const double widths[] = {50, 84, 174};
    for (gsize k = 0; k < G_N_ELEMENTS(widths); k++) {
        LimnFigureOptions options = default_options();
        options.width_mm = widths[k];
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnFigure) figure =
            limn_figure_new_grid(artifacts, NULL, NULL, k == 1, &options, &error);
        g_assert_no_error(error);
        g_autofree char *text = testing_svg(figure);
        g_autoptr(TestingSvg) svg = testing_svg_parse(text);
        testing_svg_check_page(svg);
    }
}

// ---- odd inputs

static void
draw_everywhere(LimnArtifact *artifact)
{
    static const double widths[] = {10, 84};
    for (int k = 0; k < 2; k++) {
        LimnFigureOptions options = default_options();
        options.width_mm = widths[k];
        options.dpi = 60;
        options.contours = TRUE;
        options.interpolate = k == 1;
        options.percentile = k == 0;
        g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
        g_autofree char *text = testing_svg(figure);
        g_autoptr(TestingSvg) svg = testing_svg_parse(text);
        testing_svg_check_page(svg);
        for (int format = 0; format < 3; format++)
            g_bytes_unref(testing_encode(figure, (LimnFigureFormat) format));
    }
}

static void
test_odd_maps(void)
{
    static const int shapes[][2] = {{1, 1}, {1, 3000}, {3000, 1}, {2, 1}, {97, 301}};
    for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++) {
        g_autoptr(LimnArtifact) artifact = testing_maps(1, shapes[i][0], shapes[i][1]);
        limn_array_f32(artifact->field)[0] = (float) -1e30;
        g_autoptr(LimnImage) picture = testing_picture(shapes[i][1], shapes[i][0]);
        draw_everywhere(artifact);
        limn_artifact_set_picture(artifact, picture, &(LimnRect){-3, -2, 1e4, 0.5});
        draw_everywhere(artifact);
    }
}

static void
test_odd_text(void)
{
    g_autofree char *many = g_strnfill(500, 'x');
    const char *labels[] = {"",         " ",
                            "\n\n",     "bad \xff\xfe bytes",
                            "\x01\x02", "]]> <!-- & -->",
                            many,       "\u202e reversed",
                            "\u200f"};
    for (gsize i = 0; i < G_N_ELEMENTS(labels); i++) {
        g_autoptr(LimnArtifact) map = testing_maps(1, 3, 3);
        limn_artifact_add_label(map, labels[i]);
        map->title = g_strdup(labels[i]);
        map->unit = g_strdup(labels[i]);
        draw_everywhere(map);
        g_autoptr(LimnArtifact) words = limn_artifact_new_text("words");
        LimnTextItem *item = limn_text_item_new(labels[i]);
        // Places that lie outside of the text, overlap or run backwards.
        LimnTextWord bad[] = {{0, 1, 1}, {0, 9000, 2}, {7, 3, 1}, {1, 2, -1}, {0, 0, 5}};
        g_array_append_vals(item->words, bad, G_N_ELEMENTS(bad));
        g_ptr_array_add(words->texts, item);
        draw_everywhere(words);
        LimnTable *table = limn_table_new();
        limn_column_add_string(limn_table_add_column(table, labels[i], FALSE), labels[i]);
        limn_column_add_number(limn_table_add_column(table, labels[i], TRUE), -1e300);
        limn_table_add_column(table, labels[i], TRUE); // no rows
        g_autoptr(LimnArtifact) series = limn_artifact_new_series("odd", table);
        draw_everywhere(series);
    }
}

static void
test_odd_series(void)
{
    static const double values[][3] = {
        {0, 0, 0},          {NAN, NAN, NAN},          {INFINITY, 1, -INFINITY},
        {1e308, -1e308, 0}, {1e-320, 2e-320, 3e-320}, {5, 5, 5}};
    for (gsize i = 0; i < G_N_ELEMENTS(values); i++) {
        LimnTable *table = limn_table_new();
        LimnColumn *x = limn_table_add_column(table, "x", TRUE);
        LimnColumn *y = limn_table_add_column(table, "y", TRUE);
        for (int k = 0; k < 3; k++) {
            limn_column_add_number(x, values[(i + 1) % G_N_ELEMENTS(values)][k]);
            limn_column_add_number(y, values[i][k]);
        }
        g_autoptr(LimnArtifact) artifact = limn_artifact_new_series("odd", table);
        draw_everywhere(artifact);
        artifact->kind = LIMN_ARTIFACT_TABLE;
        draw_everywhere(artifact);
        for (int layout = LIMN_LAYOUT_BARS; layout <= LIMN_LAYOUT_CURVE; layout++) {
            LimnFigureOptions options = default_options();
            options.layout = (LimnFigureLayout) layout;
            g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
            g_autoptr(GBytes) svg = testing_encode(figure, LIMN_FIGURE_SVG);
            g_assert_cmpuint(g_bytes_get_size(svg), >, 0);
        }
    }
    g_autoptr(LimnArtifact) empty = limn_artifact_new_table("empty", limn_table_new());
    draw_everywhere(empty);
}

// A million points stay a small file, and a single spike among them is kept.
static void
test_long_curve(void)
{
    enum { N = 1000000 };
    LimnTable *table = limn_table_new();
    LimnColumn *y = limn_table_add_column(table, "loss", TRUE);
    for (int i = 0; i < N; i++)
        limn_column_add_number(y, i == 654321 ? 50 : sin(i * 0.001));
    g_autoptr(LimnArtifact) artifact = limn_artifact_new_series("loss", table);
    LimnFigureOptions options = default_options();
    g_autoptr(LimnFigure) figure = testing_figure(artifact, &options);
    g_autofree char *text = testing_svg(figure);
    g_assert_cmpuint(strlen(text), <, 200000);
    g_autoptr(TestingSvg) svg = testing_svg_parse(text);
    const TestingText *forty = testing_svg_find(svg, "40");
    const char *curve = strstr(text, "id=\"curve\"");
    double highest = 1e9;
    const char *end = strstr(curve, "</g>");
    for (const char *p = curve; p < end; p++) {
        if (*p != 'L')
            continue;
        char *next;
        g_ascii_strtod(p + 1, &next);
        highest = MIN(highest, g_ascii_strtod(next, NULL));
    }
    g_assert_cmpfloat(highest, <, forty->y - 10);
}

// ---- dark preview

static void
test_dark(void)
{
    LimnFigureOptions options = default_options();
    for (gsize i = 0; i < G_N_ELEMENTS(samples); i++) {
        options.dark = FALSE;
        g_autoptr(LimnFigure) light = sample_figure(i, options);
        options.dark = TRUE;
        g_autoptr(LimnFigure) dark = sample_figure(i, options);
        g_autoptr(GBytes) a = testing_encode(light, LIMN_FIGURE_SVG);
        g_autoptr(GBytes) b = testing_encode(dark, LIMN_FIGURE_SVG);
        g_assert_true(g_bytes_equal(a, b)); // files are on paper
        cairo_surface_t *surface =
            cairo_image_surface_create(CAIRO_FORMAT_RGB24, 100, 100);
        cairo_t *cr = cairo_create(surface);
        limn_figure_draw(dark, cr);
        guint32 corner = testing_pixel(surface, 0, 0);
        g_assert_cmphex(corner >> 16, <, 64);
        cairo_destroy(cr);
        cairo_surface_destroy(surface);
    }
}

// ---- errors

static void
expect_error(LimnArtifact *artifact, LimnFigureOptions options, const char *part)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnFigure) figure = limn_figure_new(artifact, &options, &error);
    g_assert_null(figure);
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    g_assert_nonnull(strstr(error->message, part));
}

// A mask is a label map, but none of the pictures of a result that has no other.
static void
test_mask_only(void)
{
    g_autoptr(LimnArtifact) pictures =
        limn_artifact_new(LIMN_ARTIFACT_PICTURES, "samples");
    pictures->mask = testing_picture(4, 4);
    expect_error(pictures, default_options(), "the pictures artifact is empty");
    g_autoptr(LimnArtifact) labels = limn_artifact_new(LIMN_ARTIFACT_LABELMAP, "labels");
    labels->mask = testing_picture(4, 4);
    draw_everywhere(labels);
}

static void
test_errors(void)
{
    g_autoptr(LimnArtifact) artifact = stack_artifact();
    LimnFigureOptions options = default_options();
    options.item = 5;
    expect_error(artifact, options, "no item 5");
    options = default_options();
    options.colormap = "plaid";
    expect_error(artifact, options, "viridis");
    options = default_options();
    options.width_mm = 3;
    expect_error(artifact, options, "width");
    options.width_mm = NAN;
    expect_error(artifact, options, "width");
    options = default_options();
    options.dpi = 1e9;
    expect_error(artifact, options, "dpi");
    options = default_options();
    options.has_range = TRUE;
    options.range[0] = options.range[1] = 1;
    expect_error(artifact, options, "range");
    options = default_options();
    options.layout = LIMN_LAYOUT_WORDS;
    expect_error(artifact, options, "words");
    options = default_options();
    g_autoptr(LimnArtifact) model = limn_artifact_new(LIMN_ARTIFACT_MODEL, "weights");
    expect_error(model, options, "weights");
    g_autoptr(LimnArtifact) empty = limn_artifact_new_text("words");
    expect_error(empty, options, "empty");
    g_autoptr(LimnArray) none = limn_array_new_f32_3d(0, 7, 7, NULL);
    g_autoptr(LimnArtifact) no_map = limn_artifact_new_heatmap("map", none);
    expect_error(no_map, options, "empty");
    g_autoptr(GPtrArray) nothing = g_ptr_array_new();
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_figure_new_grid(nothing, NULL, NULL, TRUE, &options, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    g_clear_error(&error);
    options.width_mm = 2000;
    options.dpi = 2400;
    g_autoptr(LimnFigure) huge = testing_figure(artifact, &options);
    g_assert_null(limn_figure_encode(huge, LIMN_FIGURE_PNG, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
}

// ---- files

static void
test_save(void)
{
    g_autofree char *folder = g_dir_make_tmp("limn-figure-XXXXXX", NULL);
    g_autoptr(LimnFigure) figure = sample_figure(0, default_options());
    static const char *const names[] = {"f.pdf", "f.svg", "f.PNG"};
    static const char *const magic[] = {"%PDF-1.", "<?xml", "\x89PNG"};
    for (int i = 0; i < 3; i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        g_autoptr(GError) error = NULL;
        g_assert_true(limn_figure_save(figure, path, &error));
        g_assert_no_error(error);
        g_autofree char *data = NULL;
        g_assert_true(g_file_get_contents(path, &data, NULL, NULL));
        g_assert_true(g_str_has_prefix(data, magic[i]));
        g_unlink(path);
    }
    static const char *const wrong[] = {"f.eps", "f", ""};
    for (int i = 0; i < 3; i++) {
        g_autofree char *path = g_build_filename(folder, wrong[i], NULL);
        g_autoptr(GError) error = NULL;
        g_assert_false(limn_figure_save(figure, path, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT);
    }
    g_autofree char *missing = g_build_filename(folder, "none", "f.pdf", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_false(limn_figure_save(figure, missing, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static char *
saved_data(gsize sample, LimnFigureOptions options, const char *extension, gsize *size)
{
    g_autofree char *folder = g_dir_make_tmp("limn-figure-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "dir.x", NULL);
    g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
    g_autofree char *figure_path = g_build_filename(path, "figure.pdf", NULL);
    g_autoptr(LimnFigure) figure = sample_figure(sample, options);
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_figure_save_data(figure, figure_path, &error));
    g_assert_no_error(error);
    g_autofree char *data_path = g_strconcat(path, "/figure", extension, NULL);
    char *data = NULL;
    g_assert_true(g_file_get_contents(data_path, &data, size, NULL));
    g_unlink(data_path);
    g_assert_cmpint(g_rmdir(path), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
    return data;
}

static void
test_data_npy(void)
{
    gsize size;
    g_autofree char *all = saved_data(2, default_options(), ".npy", &size);
    g_assert_cmpmem(all, 8, "\x93NUMPY\x01\x00", 8);
    guint header = (guint8) all[8] + 256u * (guint8) all[9];
    g_assert_cmpuint((10 + header) % 64, ==, 0);
    g_assert_nonnull(strstr(all + 10, "'shape': (5, 4, 6), }"));
    g_assert_nonnull(strstr(all + 10, "f4'"));
    g_assert_cmpuint(size, ==, 10 + header + 5 * 4 * 6 * 4);
    float value;
    memcpy(&value, all + 10 + header + 4 * 25, 4);
    g_assert_cmpfloat_with_epsilon(value, 1 + 1.0 / 24, 1e-6);
    LimnFigureOptions options = default_options();
    options.item = 1;
    g_autofree char *one = saved_data(2, options, ".npy", &size);
    g_assert_nonnull(strstr(one + 10, "'shape': (4, 6), }"));
    g_autofree char *labels = saved_data(7, default_options(), ".npy", &size);
    g_assert_nonnull(strstr(labels + 10, "'shape': (40, 60), }"));
    g_autofree char *pictures = saved_data(8, default_options(), ".npy", &size);
    g_assert_nonnull(strstr(pictures + 10, "'shape': (3, 12, 16, 3), }"));
}

static void
test_data_csv(void)
{
    gsize size;
    g_autofree char *words = saved_data(3, default_options(), ".csv", &size);
    g_assert_cmpstr(words, ==,
                    "text,word,begin,end,weight\n"
                    "0,photo,2,7,0.25\n"
                    "0,<small>,13,20,0\n"
                    "0,dog,21,24,1\n"
                    "0,cat,29,32,-0.5\n");
    g_autofree char *table = saved_data(5, default_options(), ".csv", &size);
    g_assert_cmpstr(table, ==,
                    "class,probability\n"
                    "dog,0.75\n"
                    "\"cat, \"\"small\"\"\",0.2\n"
                    "a very long name,-0.05\n"
                    ",\n");
}

static void
test_data_grid(void)
{
    g_autoptr(GPtrArray) artifacts =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_artifact_unref);
    g_ptr_array_add(artifacts, overlay_artifact());
    g_ptr_array_add(artifacts, text_artifact());
    LimnFigureOptions options = default_options();
    g_autoptr(LimnFigure) figure =
        limn_figure_new_grid(artifacts, NULL, NULL, TRUE, &options, NULL);
    g_autofree char *folder = g_dir_make_tmp("limn-figure-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "grid.svg", NULL);
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_figure_save_data(figure, path, &error));
    g_autofree char *first = g_build_filename(folder, "grid-a.npy", NULL);
    g_autofree char *second = g_build_filename(folder, "grid-b.csv", NULL);
    g_assert_cmpint(g_unlink(first), ==, 0);
    g_assert_cmpint(g_unlink(second), ==, 0);
    g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/figure/pages", test_pages);
    g_test_add_func("/figure/date", test_date);
    g_test_add_func("/figure/repeatable", test_repeatable);
    g_test_add_func("/figure/svg-text", test_svg_text);
    g_test_add_func("/figure/outlines", test_outlines);
    g_test_add_func("/figure/map-colors", test_map_colors);
    g_test_add_func("/figure/crop", test_crop);
    g_test_add_func("/figure/interpolate", test_interpolate);
    g_test_add_func("/figure/large-picture", test_large_picture);
    g_test_add_func("/figure/max-height", test_max_height);
    g_test_add_func("/figure/items", test_items);
    g_test_add_func("/figure/caption", test_caption);
    g_test_add_func("/figure/grid", test_grid);
    g_test_add_func("/figure/mixed-grid", test_mixed_grid);
    g_test_add_func("/figure/odd-maps", test_odd_maps);
    g_test_add_func("/figure/odd-text", test_odd_text);
    g_test_add_func("/figure/odd-series", test_odd_series);
    g_test_add_func("/figure/long-curve", test_long_curve);
    g_test_add_func("/figure/dark", test_dark);
    g_test_add_func("/figure/mask-only", test_mask_only);
    g_test_add_func("/figure/errors", test_errors);
    g_test_add_func("/figure/save", test_save);
    g_test_add_func("/figure/data-npy", test_data_npy);
    g_test_add_func("/figure/data-csv", test_data_csv);
    g_test_add_func("/figure/data-grid", test_data_grid);
    return g_test_run();
}
