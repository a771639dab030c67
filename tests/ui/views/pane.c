// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/pane.h"

#include "ui/gl/gl-objects.h"

void
pane_init(Pane *pane, int width, int height)
{
    g_autoptr(LimnImage) picture = fixture_load_sample("dog-and-car.png");
    g_autoptr(LimnArray) map = fixture_load_map(0);

    pane->view = LIMN_HEATMAP_VIEW(limn_heatmap_view_new());
    limn_heatmap_view_set_picture(pane->view, picture);
    limn_heatmap_view_set_map(pane->view, map, NULL, FALSE);
    limn_heatmap_view_set_title(pane->view, "a dog");
    fixture_init(&pane->fixture, GTK_WIDGET(pane->view), width, height);
    fixture_settle(pane->view);
}

void
pane_clear(Pane *pane)
{
    LimnGLCounts counts;

    fixture_clear(&pane->fixture);
    counts = limn_gl_get_counts();
    g_assert_cmpint(counts.textures, ==, 0);
    g_assert_cmpint(counts.programs, ==, 0);
    g_assert_cmpint(counts.vertex_arrays, ==, 0);
}

LimnArray *
make_constant_map(int rows, int columns, float value)
{
    LimnArray *map = fixture_make_map(rows, columns);

    for (gint64 i = 0; i < map->length; i++)
        limn_array_f32(map)[i] = value;
    return map;
}

gboolean
pane_press(LimnHeatmapView *view, guint key, GdkModifierType state)
{
    g_autoptr(GListModel) controllers = gtk_widget_observe_controllers(GTK_WIDGET(view));
    gboolean handled = FALSE;

    for (guint i = 0; i < g_list_model_get_n_items(controllers); i++) {
        g_autoptr(GtkEventController) controller = g_list_model_get_item(controllers, i);

        if (GTK_IS_EVENT_CONTROLLER_KEY(controller))
            g_signal_emit_by_name(controller, "key-pressed", key, 0, state, &handled);
    }
    return handled;
}

double
pane_difference(cairo_surface_t *a, cairo_surface_t *b)
{
    int width = cairo_image_surface_get_width(a),
        height = cairo_image_surface_get_height(a);
    int n = 0;

    g_assert_cmpint(width, ==, cairo_image_surface_get_width(b));
    g_assert_cmpint(height, ==, cairo_image_surface_get_height(b));
    for (int y = 0; y < height; y++) {
        const guint8 *p = cairo_image_surface_get_data(a) +
                          (gsize) y * cairo_image_surface_get_stride(a);
        const guint8 *q = cairo_image_surface_get_data(b) +
                          (gsize) y * cairo_image_surface_get_stride(b);

        for (int x = 0; x < width; x++) {
            gboolean differs = FALSE;

            for (int c = 0; c < 3; c++)
                differs |= ABS(p[4 * x + c] - q[4 * x + c]) > 6;
            n += differs;
        }
    }
    return n / ((double) width * height);
}

// What is on screen is what limn_heatmap_view_render draws without GL and without a
// window.
void
pane_check_rendered(Pane *pane, const char *name)
{
    int scale = gtk_widget_get_scale_factor(GTK_WIDGET(pane->view));
    cairo_surface_t *shown, *rendered;
    double share;

    fixture_settle(pane->view);
    shown = fixture_snapshot(&pane->fixture, name);
    rendered =
        limn_heatmap_view_render(pane->view, gtk_widget_get_width(GTK_WIDGET(pane->view)),
                                 gtk_widget_get_height(GTK_WIDGET(pane->view)), scale);
    share = pane_difference(shown, rendered);
    g_test_message("%s: %.5f of the pixels differ", name, share);
    g_assert_cmpfloat(share, <, 0.004); // edges of letters
    cairo_surface_destroy(shown);
    cairo_surface_destroy(rendered);
}

void
pane_count(LimnHeatmapView *view, int *n)
{
    (*n)++;
}
