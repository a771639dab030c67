// SPDX-License-Identifier: GPL-3.0-or-later

// The heat-map view in a real window: drawing, life of GL objects, ranges, measures,
// keys.

#include "tests/ui/views/pane.h"
#include "ui/gl/gl-objects.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

// ---- drawing

static void
check_pictures(Pane *pane, const char *name)
{
    g_autoptr(LimnImage) labels = fixture_load_labels("dog-and-car.png");
    g_autofree char *contours = g_strconcat(name, "-contours", NULL);
    g_autofree char *mask = g_strconcat(name, "-mask", NULL);
    g_autofree char *dark = g_strconcat(name, "-dark", NULL);

    limn_heatmap_view_set_opacity(pane->view, 0.5);
    pane_check_rendered(pane, name);
    limn_heatmap_view_set_contours(pane->view, TRUE);
    limn_heatmap_view_set_interpolate(pane->view, FALSE);
    pane_check_rendered(pane, contours);
    limn_heatmap_view_set_mask(pane->view, labels);
    limn_camera_zoom_at(limn_heatmap_view_get_camera(pane->view), 2.7, 200, 300, 600,
                        400);
    pane_check_rendered(pane, mask);
    fixture_set_dark(TRUE);
    pane_check_rendered(pane, dark);
    fixture_set_dark(FALSE);
}

static void
test_drawn(void)
{
    Pane pane;

    pane_init(&pane, 600, 400);
    g_assert_true(limn_heatmap_view_uses_gl(pane.view));
    g_assert_null(limn_heatmap_view_get_gl_message(pane.view));
    check_pictures(&pane, "drawn");
    pane_clear(&pane);
}

// The whole test again in a process with other variables.
static void
run_with(const char *test, const char *variable, const char *value)
{
    g_autofree char *old = g_strdup(g_getenv(variable));

    g_setenv(variable, value, TRUE);
    g_test_trap_subprocess(test, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
    if (old != NULL)
        g_setenv(variable, old, TRUE);
    else
        g_unsetenv(variable);
    g_test_trap_assert_passed();
}

static void
without_gl(void)
{
    Pane pane;

    pane_init(&pane, 600, 400);
    g_assert_false(limn_heatmap_view_uses_gl(pane.view));
    g_assert_nonnull(limn_heatmap_view_get_gl_message(pane.view));
    // the note about it is on screen only; it covers a corner
    {
        cairo_surface_t *shown = fixture_snapshot(&pane.fixture, "without-gl");
        cairo_surface_t *rendered = limn_heatmap_view_render(pane.view, 600, 400, 1);

        g_assert_cmpfloat(pane_difference(shown, rendered), <, 0.03);
        cairo_surface_destroy(shown);
        cairo_surface_destroy(rendered);
    }
    pane_clear(&pane);
}

static void
test_without_gl(void)
{
    run_with("/heatmap-view/subprocess/without-gl", "GDK_DEBUG", "gl-disable");
}

// A driver that refuses the shader: found out while drawing.
static void
test_shader_refused(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("limn-shaders-XXXXXX", &error);
    g_autofree char *file = NULL;
    g_autofree char *overlay = NULL;

    g_assert_no_error(error);
    file = g_build_filename(folder, "heatmap.frag", NULL);
    overlay = g_strconcat("/io/github/limn_studio/Limn/shaders=", folder, NULL);
    g_assert_true(g_file_set_contents(file, "void main() { nonsense; }\n", -1, &error));
    run_with("/heatmap-view/subprocess/without-gl", "G_RESOURCE_OVERLAYS", overlay);
    g_remove(file);
    g_rmdir(folder);
}

static void
with_gles(void)
{
    Pane pane;

    pane_init(&pane, 600, 400);
    g_assert_true(limn_heatmap_view_uses_gl(pane.view));
    check_pictures(&pane, "gles");
    pane_clear(&pane);
}

static void
test_gles(void)
{
    run_with("/heatmap-view/subprocess/gles", "GDK_DEBUG", "gl-gles");
}

// Hard case B78.
static void
at_scale_2(void)
{
    Pane pane;

    pane_init(&pane, 600, 400);
    g_assert_cmpint(gtk_widget_get_scale_factor(GTK_WIDGET(pane.view)), ==, 2);
    check_pictures(&pane, "scale-2");
    pane_clear(&pane);
}

static void
test_scale_2(void)
{
    run_with("/heatmap-view/subprocess/scale-2", "GDK_SCALE", "2");
}

static void
test_idle(void)
{
    Pane pane;
    guint frames;

    pane_init(&pane, 600, 400);
    fixture_idle(200);
    frames = limn_heatmap_view_get_n_frames(pane.view);
    fixture_idle(600);
    g_assert_cmpint(limn_heatmap_view_get_n_frames(pane.view), ==, frames);
    // what belongs to the overlay does not draw the canvas again
    limn_heatmap_view_set_box(pane.view, &(LimnRect){10, 10, 50, 50});
    fixture_idle(300);
    g_assert_cmpint(limn_heatmap_view_get_n_frames(pane.view), ==, frames);
    pane_clear(&pane);
}

static void
test_reparented(void)
{
    Pane pane;
    GtkWidget *other = gtk_window_new();
    int textures;

    pane_init(&pane, 600, 400);
    textures = limn_gl_get_counts().textures;
    g_assert_cmpint(textures, >, 0);
    gtk_window_set_default_size(GTK_WINDOW(other), 600, 400);
    gtk_window_set_decorated(GTK_WINDOW(other), FALSE);
    for (int i = 0; i < 3; i++) {
        g_object_ref(pane.view);
        gtk_window_set_child(GTK_WINDOW(pane.fixture.window), NULL);
        g_assert_cmpint(limn_gl_get_counts().textures, ==, 0);
        g_assert_cmpint(limn_gl_get_counts().programs, ==, 0);
        gtk_window_set_child(GTK_WINDOW(other), GTK_WIDGET(pane.view));
        g_object_unref(pane.view);
        gtk_window_present(GTK_WINDOW(other));
        fixture_settle(pane.view);
        g_assert_cmpint(limn_gl_get_counts().textures, ==, textures);
        g_object_ref(pane.view);
        gtk_window_set_child(GTK_WINDOW(other), NULL);
        gtk_window_set_child(GTK_WINDOW(pane.fixture.window), GTK_WIDGET(pane.view));
        g_object_unref(pane.view);
        fixture_settle(pane.view);
    }
    pane_check_rendered(&pane, "reparented");
    gtk_window_destroy(GTK_WINDOW(other));
    pane_clear(&pane);
}

// Down to nothing and back, with every overlay there is.
static void
test_tiny_sizes(void)
{
    static const int sizes[][2] = {{0, 0}, {1, 1},   {2, 1},   {1, 300},
                                   {7, 9}, {60, 20}, {300, 40}};
    g_autoptr(LimnArray) second = fixture_load_map(1);
    GtkWidget *fixed = gtk_fixed_new();
    GtkWidget *scrolled = gtk_scrolled_window_new();
    LimnHeatmapView *view = LIMN_HEATMAP_VIEW(limn_heatmap_view_new());
    g_autoptr(LimnImage) picture = fixture_load_sample("dog-and-car.png");
    g_autoptr(LimnArray) map = fixture_load_map(0);
    Fixture fixture;

    limn_heatmap_view_set_picture(view, picture);
    limn_heatmap_view_set_map(view, map, &(LimnRect){20, 20, 300, 300}, FALSE);
    limn_heatmap_view_set_second_map(view, second, NULL, TRUE, "second");
    limn_heatmap_view_set_title(view, "first");
    limn_heatmap_view_set_divider(view, 0.5);
    limn_heatmap_view_set_box(view, &(LimnRect){10, 10, 50, 50});
    gtk_fixed_put(GTK_FIXED(fixed), GTK_WIDGET(view), 0, 0);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), fixed);
    fixture_init(&fixture, scrolled, 400, 300);
    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        gtk_widget_set_size_request(GTK_WIDGET(view), sizes[i][0], sizes[i][1]);
        limn_heatmap_view_set_opacity(view, 0.5);
        fixture_idle(120);
        cairo_surface_destroy(
            limn_heatmap_view_render(view, sizes[i][0], sizes[i][1], 1 + i % 2));
    }
    gtk_widget_set_size_request(GTK_WIDGET(view), 380, 280);
    fixture_settle(view);
    fixture_clear(&fixture);
}

// ---- contents

typedef struct {
    const char *name;
    int rows, columns;
    float values[3]; // repeated over the map
    gboolean is_signed, empty, constant;
    double data_min, data_max, min, max;
} Values;

static void
test_values(void)
{
    static const Values cases[] = {
        {"plain", 14, 14, {1, 2, 5}, FALSE, FALSE, FALSE, 1, 5, 1, 5},
        {"nan", 14, 14, {1, NAN, 5}, FALSE, FALSE, FALSE, 1, 5, 1, 5},
        {"infinite", 7, 7, {INFINITY, -INFINITY, 5}, FALSE, FALSE, TRUE, 5, 5, 5, 10},
        {"all-nan", 7, 7, {NAN, NAN, NAN}, FALSE, TRUE, FALSE, 0, 0, 0, 1},
        {"zero", 7, 7, {0, 0, 0}, FALSE, FALSE, TRUE, 0, 0, 0, 1},
        {"signed-zero", 7, 7, {0, 0, 0}, TRUE, FALSE, TRUE, 0, 0, -1, 1},
        {"signed",
         7,
         7,
         {-1.49f, 0.2f, 1.69f},
         TRUE,
         FALSE,
         FALSE,
         -1.49f,
         1.69f,
         -1.69f,
         1.69f},
        {"one", 1, 1, {3, 3, 3}, FALSE, FALSE, TRUE, 3, 3, 3, 6},
        {"row", 1, 1000, {0, 1, 2}, FALSE, FALSE, FALSE, 0, 2, 0, 2},
    };
    Pane pane;

    pane_init(&pane, 420, 300);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        const Values *values = &cases[i];
        g_autoptr(LimnArray) map = fixture_make_map(values->rows, values->columns);
        g_autofree char *name = g_strconcat("values-", values->name, NULL);
        const LimnScale *scale;
        double min, max;

        for (gint64 j = 0; j < map->length; j++)
            limn_array_f32(map)[j] = values->values[j % 3];
        limn_heatmap_view_set_map(pane.view, map, NULL, values->is_signed);
        scale = limn_heatmap_view_get_scale(pane.view);
        g_assert_cmpint(scale->empty, ==, values->empty);
        g_assert_cmpint(scale->constant, ==, values->constant);
        g_assert_cmpint(limn_heatmap_view_get_data_range(pane.view, &min, &max), ==,
                        !values->empty);
        g_assert_true(values->empty ||
                      (min == values->data_min && max == values->data_max));
        limn_heatmap_view_get_shown_range(pane.view, &min, &max);
        g_assert_cmpfloat(min, ==, values->min);
        g_assert_cmpfloat(max, ==, values->max);
        pane_check_rendered(&pane, name);
    }
    limn_heatmap_view_set_map(pane.view, NULL, NULL, FALSE);
    g_assert_null(limn_heatmap_view_get_map(pane.view));
    g_assert_null(limn_heatmap_view_get_scale(pane.view));
    pane_check_rendered(&pane, "values-none");
    limn_heatmap_view_set_picture(pane.view, NULL);
    pane_check_rendered(&pane, "values-nothing");
    pane_clear(&pane);
}

// Maps that are no plain [rows, columns] floats.
static void
test_shapes(void)
{
    g_autoptr(GError) error = NULL;
    gint64 four[] = {1, 1, 3, 5}, cube[] = {2, 3, 5}, none[] = {0, 5};
    g_autoptr(LimnArray) leading = limn_array_new(LIMN_DTYPE_F64, 4, four, &error);
    g_autoptr(LimnArray) several = limn_array_new(LIMN_DTYPE_F32, 3, cube, &error);
    g_autoptr(LimnArray) empty = limn_array_new(LIMN_DTYPE_F32, 2, none, &error);
    LimnHeatmapView *view = g_object_ref_sink(LIMN_HEATMAP_VIEW(limn_heatmap_view_new()));

    limn_array_f64(leading)[14] = 2.5;
    limn_heatmap_view_set_map(view, leading, NULL, FALSE);
    g_assert_cmpint(limn_heatmap_view_get_map(view)->rank, ==, 2);
    g_assert_cmpint(limn_heatmap_view_get_map(view)->shape[1], ==, 5);
    g_assert_cmpfloat(limn_array_f32(limn_heatmap_view_get_map(view))[14], ==, 2.5f);
    limn_heatmap_view_set_map(view, several, NULL, FALSE);
    g_assert_null(limn_heatmap_view_get_map(view));
    limn_heatmap_view_set_map(view, empty, NULL, FALSE);
    g_assert_null(limn_heatmap_view_get_map(view));
    g_object_unref(view);
}

// Hard cases B29, B32: a shared scale; an outlier that is said.
static void
test_ranges(void)
{
    g_autoptr(LimnArray) small = fixture_make_map(14, 14);
    g_autoptr(LimnArray) large = fixture_make_map(14, 14);
    LimnHeatmapView *view = g_object_ref_sink(LIMN_HEATMAP_VIEW(limn_heatmap_view_new()));
    double min, max;
    int changes = 0;

    for (int i = 0; i < 14 * 14; i++) {
        limn_array_f32(small)[i] = i / 195.0f;
        limn_array_f32(large)[i] = i / 1.95f;
    }
    g_signal_connect(view, "range-changed", G_CALLBACK(pane_count), &changes);
    limn_heatmap_view_set_map(view, small, NULL, FALSE);
    g_assert_cmpint(changes, ==, 1);
    limn_heatmap_view_set_range(view, 0, 100);
    limn_heatmap_view_get_shown_range(view, &min, &max);
    g_assert_cmpfloat(max, ==, 1);
    limn_heatmap_view_set_range_mode(view, LIMN_RANGE_SHARED);
    limn_heatmap_view_get_shown_range(view, &min, &max);
    g_assert_cmpfloat(max, ==, 100);
    limn_heatmap_view_set_range_mode(view, LIMN_RANGE_AUTO);
    // two maps in one pane share the scale
    limn_heatmap_view_set_second_map(view, large, NULL, FALSE, "large");
    limn_heatmap_view_get_shown_range(view, &min, &max);
    g_assert_cmpfloat(max, ==, 100);
    limn_heatmap_view_set_second_map(view, NULL, NULL, FALSE, NULL);
    limn_array_f32(large)[0] = 1e4f;
    limn_heatmap_view_set_map(view, large, NULL, FALSE);
    limn_heatmap_view_set_percentile(view, TRUE);
    limn_heatmap_view_get_shown_range(view, &min, &max);
    g_assert_cmpfloat(max, <, 101);
    g_assert_cmpint(limn_heatmap_view_get_scale(view)->n_above, >=, 1);
    g_assert_cmpfloat(limn_heatmap_view_get_scale(view)->data_max, ==, 1e4);
    g_object_unref(view);
}

// ---- measures

typedef struct {
    LimnHeatmapView *view;
    double energy, iou;
} Measure;

static gboolean
is_measured(gpointer data)
{
    Measure *measure = data;

    return limn_heatmap_view_measure(measure->view, &measure->energy, &measure->iou);
}

static void
check_quarter(int size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) picture =
        limn_image_new(size, size, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, &error);
    g_autoptr(LimnImage) mask =
        limn_image_new(size, size, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, &error);
    g_autoptr(LimnArray) map = make_constant_map(2, 2, 0);
    Measure measure = {LIMN_HEATMAP_VIEW(limn_heatmap_view_new()), 0, 0};

    g_object_ref_sink(measure.view);
    limn_array_f32(map)[0] = 0.7f;
    limn_heatmap_view_set_picture(measure.view, picture);
    limn_heatmap_view_set_map(measure.view, map, NULL, FALSE);
    g_assert_false(is_measured(&measure));
    limn_heatmap_view_set_box(measure.view, &(LimnRect){0, 0, size, size});
    fixture_wait(is_measured, &measure);
    g_assert_cmpfloat(measure.energy, ==, 1);
    limn_heatmap_view_set_box(measure.view, NULL);
    for (int y = 0; y < size / 2; y++)
        memset((guint8 *) mask->data + y * size, 1, size / 2);
    limn_heatmap_view_set_mask(measure.view, mask);
    fixture_wait(is_measured, &measure);
    // along each side 1 up to a quarter, then falling to 0 at three quarters: 7/8 lie in
    // the half
    g_assert_cmpfloat_with_epsilon(measure.energy, 49 / 64.0, 1e-3);
    g_assert_cmpfloat(measure.iou, >, 0.7);
    g_object_unref(measure.view);
}

static void
test_measure(void)
{
    check_quarter(64);
}

// Beyond what is measured within a handler: the answer comes later.
static void
test_measure_large(void)
{
    check_quarter(1200);
}

static void
test_measure_constant(void)
{
    g_autoptr(LimnImage) picture = fixture_load_sample("dog-and-car.png");
    g_autoptr(LimnArray) map = make_constant_map(7, 7, 0);
    LimnHeatmapView *view = g_object_ref_sink(LIMN_HEATMAP_VIEW(limn_heatmap_view_new()));
    double energy, iou;

    limn_heatmap_view_set_picture(view, picture);
    limn_heatmap_view_set_map(view, map, NULL, FALSE);
    limn_heatmap_view_set_box(view, &(LimnRect){5, 5, 50, 50});
    g_assert_false(limn_heatmap_view_measure(view, &energy, &iou));
    g_object_unref(view);
}

// Hard case B12: 255 among labels is "ignore", in a black and white mask it is the
// object.
static void
test_ignore(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) picture =
        limn_image_new(64, 64, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, &error);
    g_autoptr(LimnImage) binary =
        limn_image_new(64, 64, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, &error);
    g_autoptr(LimnImage) labels =
        limn_image_new(64, 64, LIMN_PIXELS_INDEXED, LIMN_DEPTH_U8, &error);
    g_autoptr(LimnImage) wide =
        limn_image_new(64, 64, LIMN_PIXELS_GREY, LIMN_DEPTH_U16, &error);
    g_autoptr(LimnArray) map = fixture_make_map(8, 8);
    Measure measure = {LIMN_HEATMAP_VIEW(limn_heatmap_view_new()), 0, 0};

    g_object_ref_sink(measure.view);
    for (int i = 0; i < 64 * 64; i++) {
        gboolean left = i % 64 < 32;

        ((guint8 *) binary->data)[i] = left ? 255 : 0;
        ((guint8 *) labels->data)[i] = left ? 255 : 7; // all that counts is object
        ((guint16 *) wide->data)[i] = left ? 255 : 300;
    }
    limn_heatmap_view_set_picture(measure.view, picture);
    limn_heatmap_view_set_map(measure.view, map, NULL, FALSE);
    limn_heatmap_view_set_mask(measure.view, binary);
    g_assert_true(is_measured(&measure));
    g_assert_cmpfloat(measure.energy, <, 0.9);
    limn_heatmap_view_set_mask(measure.view, labels);
    g_assert_true(is_measured(&measure));
    g_assert_cmpfloat(measure.energy, ==, 1);
    limn_heatmap_view_set_mask(measure.view, wide);
    g_assert_true(is_measured(&measure));
    g_assert_cmpfloat(measure.energy, ==, 1);
    limn_heatmap_view_set_mask_ignore(measure.view, 300);
    g_assert_true(is_measured(&measure));
    g_assert_cmpfloat(measure.energy, ==, 1);
    limn_heatmap_view_set_mask(measure.view, binary);
    limn_heatmap_view_set_mask_ignore(measure.view, -1);
    g_assert_true(is_measured(&measure));
    g_assert_cmpfloat(measure.energy, <, 0.9);
    g_object_unref(measure.view);
}

// ---- large pictures

// Hard case B23.
static void
check_huge(int width, int height, LimnPixels pixels, const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnImage) picture =
        limn_image_new(width, height, pixels, LIMN_DEPTH_U8, &error);
    g_autofree char *zoomed = g_strconcat(name, "-zoomed", NULL);
    int channels = limn_pixels_channels(pixels);
    Pane pane;

    g_assert_no_error(error);
    for (int y = 0; y < height;
         y += MAX(height / 40, 1)) // pages in between stay untouched
        memset((guint8 *) picture->data + (gsize) y * width * channels, 40 + y % 200,
               (gsize) width * channels / 2);
    pane_init(&pane, 600, 400);
    limn_heatmap_view_set_picture(pane.view, picture);
    pane_check_rendered(&pane, name);
    limn_camera_one_to_one(limn_heatmap_view_get_camera(pane.view), 1);
    pane_check_rendered(&pane, zoomed);
    pane_clear(&pane);
}

static void
test_huge(void)
{
    check_huge(33000, 100, LIMN_PIXELS_RGB, "huge-wide");
    check_huge(6898, 9946, LIMN_PIXELS_GREY, "huge-scan");
    check_huge(30000, 30000, LIMN_PIXELS_GREY, "huge-square");
    check_huge(1, 1, LIMN_PIXELS_RGBA, "huge-not");
}

// Hard cases B03, B04: deep samples by the range of their type, or of the data; of large
// ones the range is found aside.
static void
test_depths(void)
{
    static const int sizes[] = {64, 2000};

    for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
        g_autoptr(GError) error = NULL;
        int size = sizes[i];
        g_autoptr(LimnImage) deep =
            limn_image_new(size, size, LIMN_PIXELS_GREY, LIMN_DEPTH_U16, &error);
        g_autoptr(LimnImage) real =
            limn_image_new(size, size, LIMN_PIXELS_GREY, LIMN_DEPTH_F32, &error);
        Pane pane;

        deep->bits = 16;
        for (int j = 0; j < size * size; j++) {
            ((guint16 *) deep->data)[j] = j % size * 4095 / size;
            ((float *) real->data)[j] = j % size * 500.0f / size - 100;
        }
        pane_init(&pane, 300, 200);
        limn_heatmap_view_set_map(pane.view, NULL, NULL, FALSE);
        limn_heatmap_view_set_picture(pane.view, deep);
        pane_check_rendered(&pane, "depth-16-type");
        limn_heatmap_view_set_picture_range(pane.view, LIMN_RANGE_DATA);
        pane_check_rendered(&pane, "depth-16-data");
        limn_heatmap_view_set_picture(pane.view, real);
        pane_check_rendered(&pane, "depth-float-data");
        limn_heatmap_view_set_picture_range(pane.view, LIMN_RANGE_TYPE);
        pane_check_rendered(&pane, "depth-float-type");
        // dropped while it is being looked at
        limn_heatmap_view_set_picture_range(pane.view, LIMN_RANGE_DATA);
        limn_heatmap_view_set_picture(pane.view, deep);
        limn_heatmap_view_set_picture(pane.view, NULL);
        limn_heatmap_view_set_picture(pane.view, real);
        pane_check_rendered(&pane, "depth-float-data");
        pane_clear(&pane);
    }
}

// A map of more values than a handler may look at.
static void
test_large_map(void)
{
    g_autoptr(LimnArray) map = make_constant_map(1500, 1500, 0.25f);
    Pane pane;
    double min, max;
    int changes = 0;

    limn_array_f32(map)[1234567] = 3; // between the samples
    pane_init(&pane, 600, 400);
    g_signal_connect(pane.view, "range-changed", G_CALLBACK(pane_count), &changes);
    limn_heatmap_view_set_map(pane.view, map, NULL, FALSE);
    for (int i = 0; i < 500 && changes < 2; i++)
        fixture_idle(20);
    limn_heatmap_view_get_data_range(pane.view, &min, &max);
    g_assert_cmpfloat(max, ==, 3);
    pane_clear(&pane);
}

// Destroyed while workers are at it.
static void
test_destroyed_early(void)
{
    g_autoptr(GError) error = NULL;

    for (int i = 0; i < 4; i++) {
        g_autoptr(LimnImage) picture =
            limn_image_new(5000, 4000, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, &error);
        g_autoptr(LimnArray) map = make_constant_map(1500, 1500, 0.25f);
        Pane pane;

        pane_init(&pane, 300, 200);
        limn_heatmap_view_set_picture(pane.view, picture);
        limn_heatmap_view_set_map(pane.view, map, NULL, FALSE);
        limn_heatmap_view_set_box(pane.view, &(LimnRect){5, 5, 3000, 2000});
        fixture_idle(i * 15);
        pane_clear(&pane);
    }
    fixture_idle(500);
}

int
main(int argc, char **argv)
{
    gtk_test_init(&argc, &argv, NULL);
    g_test_add_func("/heatmap-view/drawn", test_drawn);
    g_test_add_func("/heatmap-view/gles", test_gles);
    g_test_add_func("/heatmap-view/subprocess/gles", with_gles);
    g_test_add_func("/heatmap-view/without-gl", test_without_gl);
    g_test_add_func("/heatmap-view/shader-refused", test_shader_refused);
    g_test_add_func("/heatmap-view/subprocess/without-gl", without_gl);
    g_test_add_func("/heatmap-view/hard/B78-scale-2", test_scale_2);
    g_test_add_func("/heatmap-view/subprocess/scale-2", at_scale_2);
    g_test_add_func("/heatmap-view/idle", test_idle);
    g_test_add_func("/heatmap-view/reparented", test_reparented);
    g_test_add_func("/heatmap-view/hard/B78-tiny-sizes", test_tiny_sizes);
    g_test_add_func("/heatmap-view/hard/B27-B28-B31-values", test_values);
    g_test_add_func("/heatmap-view/shapes", test_shapes);
    g_test_add_func("/heatmap-view/hard/B29-B32-ranges", test_ranges);
    g_test_add_func("/heatmap-view/measure", test_measure);
    g_test_add_func("/heatmap-view/measure-large", test_measure_large);
    g_test_add_func("/heatmap-view/measure-constant", test_measure_constant);
    g_test_add_func("/heatmap-view/hard/B12-ignore", test_ignore);
    g_test_add_func("/heatmap-view/hard/B23-huge", test_huge);
    g_test_add_func("/heatmap-view/hard/B03-B04-depths", test_depths);
    g_test_add_func("/heatmap-view/large-map", test_large_map);
    g_test_add_func("/heatmap-view/destroyed-early", test_destroyed_early);
    return g_test_run();
}
