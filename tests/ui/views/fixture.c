// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/fixture.h"

#include "engine/io/npy.h"
#include "engine/io/picture.h"

#include <math.h>

#define DEADLINE (60 * G_USEC_PER_SEC)
#define QUIET 150000 // microseconds without a new frame

void
fixture_init(Fixture *fixture, GtkWidget *child, int width, int height)
{
    // out of the way: GTK 4.8 complains when a window goes whose tooltip is about to
    // appear
    fixture_input("mousemove 5000 5000");
    fixture->window = gtk_window_new();
    gtk_window_set_decorated(GTK_WINDOW(fixture->window), FALSE);
    gtk_window_set_default_size(GTK_WINDOW(fixture->window), width, height);
    gtk_window_set_child(GTK_WINDOW(fixture->window), child);
    gtk_window_present(GTK_WINDOW(fixture->window));
    gtk_test_widget_wait_for_draw(fixture->window);
}

void
fixture_clear(Fixture *fixture)
{
    gtk_window_destroy(GTK_WINDOW(fixture->window));
    for (int i = 0; i < 50; i++)
        while (g_main_context_iteration(NULL, FALSE))
            ;
}

static gboolean
wake(gpointer data)
{
    return G_SOURCE_CONTINUE;
}

void
fixture_wait(FixtureCondition condition, gpointer data)
{
    gint64 end = g_get_monotonic_time() + DEADLINE;
    guint source = g_timeout_add(20, wake, NULL);

    while (!condition(data) && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(source);
    g_assert_true(condition(data));
}

void
fixture_idle(guint milliseconds)
{
    gint64 end = g_get_monotonic_time() + (gint64) milliseconds * 1000;
    guint source = g_timeout_add(20, wake, NULL);

    while (g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_source_remove(source);
}

typedef struct {
    LimnHeatmapView *view;
    guint frames;
    gint64 since;
} FrameWait;

static gboolean
is_settled(gpointer data)
{
    FrameWait *wait = data;
    guint frames = limn_heatmap_view_get_n_frames(wait->view);

    if (frames != wait->frames || frames == 0 ||
        !limn_heatmap_view_is_complete(wait->view)) {
        wait->frames = frames;
        wait->since = g_get_monotonic_time();
    }
    return g_get_monotonic_time() - wait->since > QUIET;
}

void
fixture_settle(LimnHeatmapView *view)
{
    FrameWait wait = {view, 0, g_get_monotonic_time()};

    fixture_wait(is_settled, &wait);
}

static void
input_done(GObject *process, GAsyncResult *result, gpointer data)
{
    g_autoptr(GError) error = NULL;

    g_assert_true(g_subprocess_wait_check_finish(G_SUBPROCESS(process), result, &error));
    *(gboolean *) data = TRUE;
}

gboolean
fixture_input(const char *arguments)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *program = g_find_program_in_path("xdotool");
    g_autofree char *command = g_strconcat("xdotool ", arguments, NULL);
    g_auto(GStrv) argv = NULL;
    g_autoptr(GSubprocess) process = NULL;
    gboolean done = FALSE;

    if (program == NULL)
        return FALSE;
    g_assert_true(g_shell_parse_argv(command, NULL, &argv, NULL));
    process =
        g_subprocess_newv((const char *const *) argv, G_SUBPROCESS_FLAGS_NONE, &error);
    g_assert_no_error(error);
    g_subprocess_wait_check_async(process, NULL, input_done, &done);
    while (!done)
        g_main_context_iteration(NULL, TRUE);
    fixture_idle(120);
    return TRUE;
}

// ---- snapshots

static GskRenderNode *
try_node(GtkWidget *widget)
{
    g_autoptr(GdkPaintable) paintable = gtk_widget_paintable_new(widget);
    GtkSnapshot *snapshot = gtk_snapshot_new();

    gdk_paintable_snapshot(paintable, GDK_SNAPSHOT(snapshot),
                           gtk_widget_get_width(widget), gtk_widget_get_height(widget));
    return gtk_snapshot_free_to_node(snapshot);
}

static GdkTexture *
take_texture(GtkWidget *widget)
{
    GskRenderer *renderer = gtk_native_get_renderer(gtk_widget_get_native(widget));
    int scale = gtk_widget_get_scale_factor(widget);
    gint64 end = g_get_monotonic_time() + DEADLINE;
    GskRenderNode *node = NULL, *scaled;
    g_autoptr(GskTransform) transform = gsk_transform_scale(NULL, scale, scale);
    GdkTexture *texture;
    graphene_rect_t bounds;

    while ((node = try_node(widget)) == NULL && g_get_monotonic_time() < end)
        g_main_context_iteration(NULL, TRUE);
    g_assert_nonnull(node);
    scaled =
        scale > 1 ? gsk_transform_node_new(node, transform) : gsk_render_node_ref(node);
    graphene_rect_init(&bounds, 0, 0, gtk_widget_get_width(widget) * scale,
                       gtk_widget_get_height(widget) * scale);
    texture = gsk_renderer_render_texture(renderer, scaled, &bounds);
    gsk_render_node_unref(scaled);
    gsk_render_node_unref(node);
    return texture;
}

cairo_surface_t *
fixture_snapshot(Fixture *fixture, const char *name)
{
    const char *dir = g_getenv("LIMN_SNAPSHOT_DIR");
    g_autoptr(GdkTexture) texture = take_texture(fixture->window);
    int width = gdk_texture_get_width(texture), height = gdk_texture_get_height(texture);
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    const guint32 *pixels = (const guint32 *) cairo_image_surface_get_data(surface);
    guint n_changes = 0;

    gdk_texture_download(texture, cairo_image_surface_get_data(surface),
                         cairo_image_surface_get_stride(surface));
    cairo_surface_mark_dirty(surface);
    if (dir != NULL) {
        g_autofree char *path = g_strdup_printf("%s/%s.png", dir, name);

        g_assert_cmpint(cairo_surface_write_to_png(surface, path), ==,
                        CAIRO_STATUS_SUCCESS);
    }
    for (int i = 1; i < width * height; i++)
        n_changes += pixels[i] != pixels[i - 1];
    g_assert_true(width * height < 1000 || n_changes > 10);
    return surface;
}

void
fixture_set_dark(gboolean dark)
{
    g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", dark,
                 NULL);
}

// ---- data

LimnImage *
fixture_load_sample(const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path =
        g_build_filename(g_getenv("LIMN_DATA_DIR"), "samples", name, NULL);
    LimnImage *image = limn_picture_load(path, NULL, &error);

    g_assert_no_error(error);
    return image;
}

LimnImage *
fixture_load_labels(const char *name)
{
    g_autofree char *stem = g_strndup(name, strlen(name) - 4);
    g_autofree char *labels = g_strconcat(stem, "_labels.png", NULL);

    return fixture_load_sample(labels);
}

LimnArray *
fixture_load_map(int number)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *name = g_strdup_printf("map%d.npy", number);
    g_autofree char *path = g_build_filename(g_getenv("LIMN_TEST_DATA"), "models",
                                             "emoji-clip", "expected", name, NULL);
    LimnArray *map = limn_npy_load(path, &error);

    g_assert_no_error(error);
    return map;
}

LimnArray *
fixture_make_map(int rows, int columns)
{
    g_autoptr(GError) error = NULL;
    LimnArray *map = limn_array_new_f32_2d(rows, columns, &error);

    g_assert_no_error(error);
    for (int y = 0; y < rows; y++)
        for (int x = 0; x < columns; x++) {
            double u = (x + 0.5) / columns - 0.4, v = (y + 0.5) / rows - 0.6;

            limn_array_f32(map)[y * columns + x] = 0.02 * exp(-12 * (u * u + v * v));
        }
    return map;
}
