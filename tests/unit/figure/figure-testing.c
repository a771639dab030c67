// SPDX-License-Identifier: GPL-3.0-or-later
#include "figure-testing.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "engine/figure/text-layout.h"

// ---- artifacts

LimnArtifact *
testing_map(int height, int width, const float *values)
{
    g_autoptr(LimnArray) field = limn_array_new_f32_2d(height, width, NULL);
    g_assert_nonnull(field);
    memcpy(limn_array_f32(field), values, (gsize) height * width * sizeof(float));
    return limn_artifact_new_heatmap("map", field);
}

LimnArtifact *
testing_maps(int n, int height, int width)
{
    g_autoptr(LimnArray) field = limn_array_new_f32_3d(n, height, width, NULL);
    g_assert_nonnull(field);
    gint64 size = (gint64) height * width;
    for (gint64 i = 0; i < field->length; i++)
        limn_array_f32(field)[i] = (float) (i / size) + (float) (i % size) / (float) size;
    return limn_artifact_new_heatmap("map", field);
}

LimnImage *
testing_picture(int width, int height)
{
    LimnImage *image =
        limn_image_new(width, height, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, NULL);
    guint8 *out = image->data;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            guint8 *p = out + 3 * ((gsize) y * width + x);
            p[0] = (guint8) (255 * x / width);
            p[1] = (guint8) (255 * y / height);
            p[2] = (guint8) (128 + 100 * sin(x * 0.3));
        }
    }
    return image;
}

LimnImage *
testing_mask(int width, int height)
{
    LimnImage *image =
        limn_image_new(width, height, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, NULL);
    guint8 *out = image->data;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            gboolean disc = hypot(x - width * 0.3, y - height * 0.5) < height * 0.2;
            gboolean square = x > width * 0.6 && x < width * 0.8 && y > height * 0.3 &&
                              y < height * 0.6;
            out[(gsize) y * width + x] = disc ? 1 : square ? 2 : 0;
        }
    }
    return image;
}

void
testing_add_word(LimnTextItem *item, const char *word, double weight)
{
    const char *at = strstr(item->text, word);
    g_assert_nonnull(at);
    gsize begin = (gsize) (at - item->text);
    LimnTextWord entry = {begin, begin + strlen(word), weight};
    g_array_append_val(item->words, entry);
}

LimnArtifact *
testing_series(int n, int n_curves)
{
    LimnTable *table = limn_table_new();
    LimnColumn *x = limn_table_add_column(table, "step", TRUE);
    for (int i = 0; i < n; i++)
        limn_column_add_number(x, i);
    for (int k = 0; k < n_curves; k++) {
        g_autofree char *name = g_strdup_printf("curve %d", k);
        LimnColumn *y = limn_table_add_column(table, name, TRUE);
        for (int i = 0; i < n; i++)
            limn_column_add_number(y, sin(i * 0.1) + k);
    }
    return limn_artifact_new_series("curves", table);
}

// ---- figures

LimnFigure *
testing_figure(LimnArtifact *artifact, const LimnFigureOptions *options)
{
    g_autoptr(GError) error = NULL;
    LimnFigure *figure = limn_figure_new(artifact, options, &error);
    g_assert_no_error(error);
    g_assert_nonnull(figure);
    return figure;
}

GBytes *
testing_encode(LimnFigure *figure, LimnFigureFormat format)
{
    g_autoptr(GError) error = NULL;
    GBytes *bytes = limn_figure_encode(figure, format, &error);
    g_assert_no_error(error);
    g_assert_nonnull(bytes);
    return bytes;
}

char *
testing_svg(LimnFigure *figure)
{
    g_autoptr(GBytes) bytes = testing_encode(figure, LIMN_FIGURE_SVG);
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    return g_strndup(data, size);
}

// ---- SVG

static void
text_free(gpointer data)
{
    TestingText *text = data;
    g_free(text->text);
    g_free(text->family);
    g_free(text->anchor);
    g_free(text->fill);
    g_free(text);
}

static void
image_free(gpointer data)
{
    TestingImage *image = data;
    cairo_surface_destroy(image->surface);
    g_free(image);
}

static const char *
attribute(const char **names, const char **values, const char *name)
{
    for (int i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0)
            return values[i];
    }
    return NULL;
}

static double
number(const char **names, const char **values, const char *name, double fallback)
{
    const char *text = attribute(names, values, name);
    return text ? g_ascii_strtod(text, NULL) : fallback;
}

static void
open_image(TestingSvg *svg, const char **names, const char **values)
{
    static const char prefix[] = "data:image/png;base64,";
    const char *link = attribute(names, values, "xlink:href");
    const char *style = attribute(names, values, "style");
    g_assert_true(g_str_has_prefix(link, prefix));
    TestingImage *image = g_new0(TestingImage, 1);
    image->x = number(names, values, "x", 0);
    image->y = number(names, values, "y", 0);
    image->width = number(names, values, "width", 0);
    image->height = number(names, values, "height", 0);
    image->opacity = number(names, values, "opacity", 1);
    image->crisp = style && strstr(style, "image-rendering:pixelated");
    gsize size;
    guint8 *data = g_base64_decode(link + strlen(prefix), &size);
    g_autoptr(GBytes) png = g_bytes_new_take(data, size);
    image->surface = testing_decode_png(png);
    g_ptr_array_add(svg->images, image);
}

static void
open_text(TestingSvg *svg, const char **names, const char **values)
{
    TestingText *text = g_new0(TestingText, 1);
    const char *transform = attribute(names, values, "transform");
    text->text = g_strdup("");
    text->family = g_strdup(attribute(names, values, "font-family"));
    text->anchor = g_strdup(attribute(names, values, "text-anchor"));
    text->fill = g_strdup(attribute(names, values, "fill"));
    text->x = number(names, values, "x", 0);
    text->y = number(names, values, "y", 0);
    text->size = number(names, values, "font-size", 0);
    text->bold = attribute(names, values, "font-weight") != NULL;
    if (transform) {
        g_assert_true(g_str_has_prefix(transform, "rotate("));
        text->angle = -g_ascii_strtod(transform + strlen("rotate("), NULL);
    }
    g_ptr_array_add(svg->texts, text);
}

static void
start_element(GMarkupParseContext *context, const char *name, const char **names,
              const char **values, gpointer data, GError **error)
{
    TestingSvg *svg = data;
    const char *id = attribute(names, values, "id");
    if (id)
        g_ptr_array_add(svg->ids, g_strdup(id));
    if (strcmp(name, "svg") == 0) {
        g_auto(GStrv) box = g_strsplit(attribute(names, values, "viewBox"), " ", 4);
        svg->width = g_ascii_strtod(box[2], NULL);
        svg->height = g_ascii_strtod(box[3], NULL);
        svg->width_mm = number(names, values, "width", 0);
        svg->height_mm = number(names, values, "height", 0);
        g_assert_true(g_str_has_suffix(attribute(names, values, "width"), "mm"));
    } else if (strcmp(name, "text") == 0) {
        open_text(svg, names, values);
    } else if (strcmp(name, "image") == 0) {
        open_image(svg, names, values);
    } else if (strcmp(name, "path") == 0) {
        svg->n_paths++;
    } else if (strcmp(name, "clipPath") == 0) {
        svg->n_clips++;
    }
}

static void
element_text(GMarkupParseContext *context, const char *text, gsize length, gpointer data,
             GError **error)
{
    TestingSvg *svg = data;
    if (strcmp(g_markup_parse_context_get_element(context), "text") != 0)
        return;
    TestingText *last = svg->texts->pdata[svg->texts->len - 1];
    char *joined = g_strdup_printf("%s%.*s", last->text, (int) length, text);
    g_free(last->text);
    last->text = joined;
}

TestingSvg *
testing_svg_parse(const char *text)
{
    TestingSvg *svg = g_new0(TestingSvg, 1);
    svg->texts = g_ptr_array_new_with_free_func(text_free);
    svg->images = g_ptr_array_new_with_free_func(image_free);
    svg->ids = g_ptr_array_new_with_free_func(g_free);
    GMarkupParser parser = {.start_element = start_element, .text = element_text};
    g_autoptr(GError) error = NULL;
    GMarkupParseContext *context = g_markup_parse_context_new(&parser, 0, svg, NULL);
    g_markup_parse_context_parse(context, text, -1, &error);
    g_assert_no_error(error);
    g_markup_parse_context_end_parse(context, &error);
    g_assert_no_error(error);
    g_markup_parse_context_free(context);
    return svg;
}

void
testing_svg_free(TestingSvg *svg)
{
    g_ptr_array_unref(svg->texts);
    g_ptr_array_unref(svg->images);
    g_ptr_array_unref(svg->ids);
    g_free(svg);
}

const TestingText *
testing_svg_find(const TestingSvg *svg, const char *part)
{
    for (guint i = 0; i < svg->texts->len; i++) {
        const TestingText *text = svg->texts->pdata[i];
        if (strstr(text->text, part))
            return text;
    }
    return NULL;
}

static void
check_text(const TestingSvg *svg, const TestingText *text)
{
    g_autofree char *family = g_strdup(text->family + 1);
    *strchr(family, '\'') = '\0';
    LimnTextStyle font = {.family = family, .size = text->size, .bold = text->bold};
    LimnTextSize size;
    limn_text_measure(text->text, &font, &size);
    LimnAnchor anchor = LIMN_ANCHOR_START;
    if (text->anchor)
        anchor = strcmp(text->anchor, "end") == 0 ? LIMN_ANCHOR_END : LIMN_ANCHOR_MIDDLE;
    double left = -limn_anchor_shift(anchor, size.width);
    double right = left + size.width;
    double turn = -text->angle * G_PI / 180;
    for (int k = 0; k < 4; k++) {
        double x = k & 1 ? right : left;
        double y = k & 2 ? size.descent * 0.9 : -size.ascent * 0.75;
        double px = text->x + x * cos(turn) - y * sin(turn);
        double py = text->y + x * sin(turn) + y * cos(turn);
        if (px < -0.01 || py < -0.01 || px > svg->width + 0.01 || py > svg->height + 0.01)
            g_error("'%s' is cut at %g,%g of %g x %g", text->text, px, py, svg->width,
                    svg->height);
    }
}

void
testing_svg_check_page(const TestingSvg *svg)
{
    for (guint i = 0; i < svg->texts->len; i++) {
        const TestingText *text = svg->texts->pdata[i];
        g_assert_cmpfloat(text->size, >=, 5.999);
        check_text(svg, text);
    }
}

// ---- pixels

guint32
testing_pixel(cairo_surface_t *surface, int x, int y)
{
    g_assert_cmpint(x, >=, 0);
    g_assert_cmpint(y, >=, 0);
    g_assert_cmpint(x, <, cairo_image_surface_get_width(surface));
    g_assert_cmpint(y, <, cairo_image_surface_get_height(surface));
    guint32 pixel;
    memcpy(&pixel,
           cairo_image_surface_get_data(surface) +
               (gsize) y * cairo_image_surface_get_stride(surface) + 4 * (gsize) x,
           4);
    return pixel & 0xffffff;
}

int
testing_difference(guint32 a, guint32 b)
{
    int largest = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        int d = (int) (a >> shift & 255) - (int) (b >> shift & 255);
        largest = MAX(largest, ABS(d));
    }
    return largest;
}

typedef struct {
    const guint8 *data;
    gsize left;
} Source;

static cairo_status_t
read_source(void *closure, unsigned char *out, unsigned int length)
{
    Source *source = closure;
    if (length > source->left)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(out, source->data, length);
    source->data += length;
    source->left -= length;
    return CAIRO_STATUS_SUCCESS;
}

cairo_surface_t *
testing_decode_png(GBytes *png)
{
    Source source;
    source.data = g_bytes_get_data(png, &source.left);
    cairo_surface_t *surface =
        cairo_image_surface_create_from_png_stream(read_source, &source);
    g_assert_cmpint(cairo_surface_status(surface), ==, CAIRO_STATUS_SUCCESS);
    return surface;
}

static GBytes *
run_program(GBytes *bytes, const char *suffix, const char *const *arguments)
{
    g_autofree char *program = g_find_program_in_path(arguments[0]);
    if (!program)
        return NULL;
    g_autofree char *folder = g_dir_make_tmp("limn-figure-XXXXXX", NULL);
    g_autofree char *path = g_strconcat(folder, "/figure", suffix, NULL);
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    g_assert_true(g_file_set_contents(path, data, (gssize) size, NULL));
    g_autoptr(GPtrArray) argv = g_ptr_array_new();
    for (int i = 0; arguments[i]; i++)
        g_ptr_array_add(argv,
                        g_strdup(strcmp(arguments[i], "NAME") ? arguments[i] : path));
    g_ptr_array_add(argv, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(GSubprocess) process = g_subprocess_newv(
        (const char *const *) argv->pdata, G_SUBPROCESS_FLAGS_STDOUT_PIPE, &error);
    g_assert_no_error(error);
    GBytes *out = NULL;
    g_assert_true(g_subprocess_communicate(process, NULL, NULL, &out, NULL, &error));
    g_assert_no_error(error);
    g_assert_true(g_subprocess_get_successful(process));
    g_ptr_array_foreach(argv, (GFunc) (gpointer) g_free, NULL);
    g_unlink(path);
    g_rmdir(folder);
    return out;
}

char *
testing_run(GBytes *bytes, const char *suffix, const char *const *arguments)
{
    g_autoptr(GBytes) out = run_program(bytes, suffix, arguments);
    if (!out)
        return NULL;
    gsize size;
    const char *data = g_bytes_get_data(out, &size);
    return g_strndup(data ? data : "", size);
}

cairo_surface_t *
testing_render_pdf(GBytes *pdf, int dpi)
{
    g_autofree char *text = g_strdup_printf("%d", dpi);
    const char *arguments[] = {"pdftoppm", "-r", text, "-png", "NAME", NULL};
    g_autoptr(GBytes) png = run_program(pdf, ".pdf", arguments);
    return png ? testing_decode_png(png) : NULL;
}

cairo_surface_t *
testing_render_svg(GBytes *svg, int dpi)
{
    g_autofree char *text = g_strdup_printf("%d", dpi);
    const char *arguments[] = {"rsvg-convert", "-d",  text,   "-p", text,
                               "-f",           "png", "NAME", NULL};
    g_autoptr(GBytes) png = run_program(svg, ".svg", arguments);
    return png ? testing_decode_png(png) : NULL;
}
