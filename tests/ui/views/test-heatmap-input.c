// SPDX-License-Identifier: GPL-3.0-or-later

// The heat-map view under the hands of somebody: keys, pointer, comparing, names.

#include "tests/ui/views/pane.h"

#include <math.h>

// ---- keys

typedef struct {
    int n, row, col;
    gboolean inside;
    double x, y, value;
} Probe;

static void
on_probe(LimnHeatmapView *view, gboolean inside, double x, double y, int row, int col,
         double value, Probe *probe)
{
    *probe = (Probe){probe->n + 1, row, col, inside, x, y, value};
}

static void
on_cell(LimnHeatmapView *view, int row, int col, Probe *probe)
{
    probe->n++;
    probe->row = row;
    probe->col = col;
}

static void
test_keys_camera(void)
{
    Pane pane;
    LimnCamera *camera;
    double zoom, before, cx, cy, x;

    pane_init(&pane, 600, 400);
    camera = limn_heatmap_view_get_camera(pane.view);
    g_assert_true(pane_press(pane.view, GDK_KEY_1, 0));
    limn_camera_get_state(camera, &zoom, &cx, &cy);
    g_assert_cmpfloat(zoom, ==, 1);
    g_assert_true(pane_press(pane.view, GDK_KEY_plus, GDK_SHIFT_MASK));
    limn_camera_get_state(camera, &before, &cx, &cy);
    g_assert_cmpfloat(before, >, 1);
    g_assert_true(pane_press(pane.view, GDK_KEY_KP_Subtract, 0));
    g_assert_true(pane_press(pane.view, GDK_KEY_Right, 0));
    limn_camera_get_state(camera, &zoom, &x, &cy);
    g_assert_cmpfloat(x, >, cx);
    g_assert_true(pane_press(pane.view, GDK_KEY_f, 0));
    g_assert_true(limn_camera_is_fit(camera));
    g_assert_false(pane_press(pane.view, GDK_KEY_q, 0));
    g_assert_false(pane_press(pane.view, GDK_KEY_b, GDK_CONTROL_MASK));
    g_assert_false(pane_press(pane.view, GDK_KEY_Left, GDK_ALT_MASK));
    pane_clear(&pane);
}

static void
test_keys_probe(void)
{
    Pane pane;
    Probe probe = {0}, cell = {0};
    gpointer map;

    pane_init(&pane, 600, 400);
    map = limn_array_f32(limn_heatmap_view_get_map(pane.view));
    g_signal_connect(pane.view, "probe", G_CALLBACK(on_probe), &probe);
    g_signal_connect(pane.view, "cell-clicked", G_CALLBACK(on_cell), &cell);
    pane_press(pane.view, GDK_KEY_Right, GDK_CONTROL_MASK);
    g_assert_true(probe.inside);
    g_assert_cmpint(probe.row, ==, 7); // from the middle of 14 x 14 cells
    g_assert_cmpint(probe.col, ==, 8);
    g_assert_cmpfloat(probe.value, ==, ((float *) map)[7 * 14 + 8]);
    pane_press(pane.view, GDK_KEY_Down, GDK_CONTROL_MASK);
    g_assert_cmpint(probe.row, ==, 8);
    pane_press(pane.view, GDK_KEY_Right, GDK_CONTROL_MASK | GDK_SHIFT_MASK);
    g_assert_cmpint((int) probe.x, ==, 224 + 32 + 1);
    for (int i = 0; i < 40; i++)
        pane_press(pane.view, GDK_KEY_Left, GDK_CONTROL_MASK);
    g_assert_cmpint(probe.col, ==, 0);
    g_assert_true(pane_press(pane.view, GDK_KEY_Return, 0));
    g_assert_cmpint(cell.row, ==, 8);
    g_assert_cmpint(cell.col, ==, 0);
    g_assert_true(pane_press(pane.view, GDK_KEY_Escape, 0));
    g_assert_false(probe.inside);
    g_assert_true(isnan(probe.value));
    g_assert_false(pane_press(pane.view, GDK_KEY_Escape, 0));
    pane_clear(&pane);
}

static void
test_keys_box(void)
{
    Pane pane;
    LimnRect box;
    int changes = 0, tools = 0;

    pane_init(&pane, 600, 400);
    g_signal_connect(pane.view, "box-changed", G_CALLBACK(pane_count), &changes);
    g_signal_connect(pane.view, "tool-changed", G_CALLBACK(pane_count), &tools);
    g_assert_true(pane_press(pane.view, GDK_KEY_b, 0));
    g_assert_cmpint(limn_heatmap_view_get_tool(pane.view), ==, LIMN_TOOL_BOX);
    g_assert_cmpint(tools, ==, 1);
    pane_press(pane.view, GDK_KEY_Return, 0);
    pane_press(pane.view, GDK_KEY_Left, GDK_CONTROL_MASK);
    pane_press(pane.view, GDK_KEY_Down, GDK_CONTROL_MASK);
    pane_press(pane.view, GDK_KEY_Return, 0);
    g_assert_cmpint(changes, ==, 1);
    g_assert_true(limn_heatmap_view_get_box(pane.view, &box));
    g_assert_cmpfloat(box.x, ==, 192);
    g_assert_cmpfloat(box.y, ==, 224);
    g_assert_cmpfloat(box.width, ==, 32);
    g_assert_cmpfloat(box.height, ==, 32);
    pane_press(pane.view, GDK_KEY_Up, GDK_SHIFT_MASK);
    g_assert_true(limn_heatmap_view_get_box(pane.view, &box));
    g_assert_cmpfloat(box.y, ==, 223);
    // clamped to the picture, and away with what is empty
    limn_heatmap_view_set_box(pane.view, &(LimnRect){-50, 400, 100, 5000});
    limn_heatmap_view_get_box(pane.view, &box);
    g_assert_cmpfloat(box.x, ==, 0);
    g_assert_cmpfloat(box.width, ==, 50);
    g_assert_cmpfloat(box.height, ==, 48);
    g_assert_true(pane_press(pane.view, GDK_KEY_Delete, 0));
    g_assert_false(limn_heatmap_view_get_box(pane.view, NULL));
    g_assert_false(pane_press(pane.view, GDK_KEY_Delete, 0));
    limn_heatmap_view_set_box(pane.view, &(LimnRect){900, 10, 10, 10});
    g_assert_false(limn_heatmap_view_get_box(pane.view, NULL));
    pane_clear(&pane);
}

// ---- comparing

static void
test_divider(void)
{
    g_autoptr(LimnArray) second = make_constant_map(7, 7, 0.5f);
    Pane pane;
    int changes = 0;

    pane_init(&pane, 600, 400);
    g_signal_connect(pane.view, "divider-changed", G_CALLBACK(pane_count), &changes);
    limn_heatmap_view_set_second_map(pane.view, second, NULL, FALSE, "another");
    g_assert_false(pane_press(pane.view, GDK_KEY_bracketright, 0));
    limn_heatmap_view_set_divider(pane.view, 0.5);
    pane_check_rendered(&pane, "divider-middle");
    g_assert_true(pane_press(pane.view, GDK_KEY_bracketright, 0));
    g_assert_cmpfloat_with_epsilon(limn_heatmap_view_get_divider(pane.view), 0.52, 1e-9);
    limn_heatmap_view_set_divider(pane.view, 7);
    g_assert_cmpfloat(limn_heatmap_view_get_divider(pane.view), ==, 1);
    limn_heatmap_view_set_divider(pane.view, NAN);
    g_assert_cmpfloat(limn_heatmap_view_get_divider(pane.view), ==, -1);
    g_assert_cmpint(changes, ==, 4);
    pane_clear(&pane);
}

static void
test_blink(void)
{
    g_autoptr(LimnArray) second = make_constant_map(7, 7, 0.5f);
    Pane pane;
    guint frames;

    pane_init(&pane, 300, 200);
    limn_heatmap_view_set_second_map(pane.view, second, NULL, FALSE, "another");
    fixture_settle(pane.view);
    g_object_set(gtk_settings_get_default(), "gtk-enable-animations", FALSE, NULL);
    limn_heatmap_view_set_blink(pane.view, TRUE);
    fixture_idle(200);
    frames = limn_heatmap_view_get_n_frames(pane.view);
    fixture_idle(1200);
    g_assert_cmpint(limn_heatmap_view_get_n_frames(pane.view), ==,
                    frames); // reduced motion
    g_object_set(gtk_settings_get_default(), "gtk-enable-animations", TRUE, NULL);
    fixture_idle(100);
    frames = limn_heatmap_view_get_n_frames(pane.view);
    fixture_idle(2000);
    g_assert_cmpint(limn_heatmap_view_get_n_frames(pane.view), >, frames);
    g_assert_cmpint(limn_heatmap_view_get_n_frames(pane.view), <=, frames + 6);
    limn_heatmap_view_set_blink(pane.view, FALSE);
    pane_clear(&pane);
}

// ---- real input

static void
check_near(double value, double expected)
{
    g_assert_cmpfloat_with_epsilon(value, expected, 1e-6);
}

// Scene position under a view position.
static void
scene_at(LimnHeatmapView *view, double x, double y, double *scene_x, double *scene_y)
{
    Probe probe = {0};
    gulong handler = g_signal_connect(view, "probe", G_CALLBACK(on_probe), &probe);
    g_autofree char *move = g_strdup_printf("mousemove %d %d", (int) x, (int) y);

    // by way of another place, so that there is a movement
    fixture_input("mousemove 3 3");
    g_assert_true(fixture_input(move));
    g_signal_handler_disconnect(view, handler);
    *scene_x = probe.x;
    *scene_y = probe.y;
}

static void
test_input_pan_and_zoom(void)
{
    Pane pane;
    LimnCamera *camera;
    double x0, y0, x1, y1, zoom, before, cx, cy;

    pane_init(&pane, 600, 400);
    camera = limn_heatmap_view_get_camera(pane.view);
    if (!fixture_input("mousemove 250 200")) {
        g_test_skip("no xdotool here");
        pane_clear(&pane);
        return;
    }
    scene_at(pane.view, 250, 200, &x0, &y0);
    limn_camera_get_state(camera, &before, &cx, &cy);
    fixture_input("click 4 click 4 click 4"); // zoom in at the pointer
    limn_camera_get_state(camera, &zoom, &cx, &cy);
    g_assert_false(limn_camera_is_fit(camera));
    scene_at(pane.view, 250, 200, &x1, &y1);
    g_assert_cmpfloat_with_epsilon(x1, x0, 1); // whole device pixels
    g_assert_cmpfloat_with_epsilon(y1, y0, 1);
    fixture_input(
        "mousemove 250 200 mousedown 1 sleep 0.05 mousemove_relative 20 0 sleep 0.05 "
        "mousemove_relative 30 -10 sleep 0.05 mouseup 1");
    scene_at(pane.view, 300, 190, &x0, &y0);
    g_assert_cmpfloat_with_epsilon(x0, x1, 1); // dragged along
    g_assert_cmpfloat_with_epsilon(y0, y1, 1);
    fixture_input(
        "mousemove 250 200 mousedown 2 sleep 0.05 mousemove_relative 10 10 sleep 0.05 "
        "mouseup 2");
    scene_at(pane.view, 310, 200, &x0, &y0);
    g_assert_cmpfloat_with_epsilon(x0, x1, 1);
    fixture_input("mousemove 250 200 click --repeat 2 --delay 40 1");
    g_assert_true(limn_camera_is_fit(camera));
    pane_clear(&pane);
}

static void
test_input_click(void)
{
    Pane pane;
    Probe cell = {0};
    int activated = 0;

    pane_init(&pane, 600, 400);
    g_signal_connect(pane.view, "cell-clicked", G_CALLBACK(on_cell), &cell);
    g_signal_connect(pane.view, "activated", G_CALLBACK(pane_count), &activated);
    if (fixture_input("mousemove 250 200 click 1")) {
        double x, y;

        g_assert_cmpint(cell.n, ==, 1);
        g_assert_cmpint(activated, >=, 1);
        g_assert_true(gtk_widget_has_focus(GTK_WIDGET(pane.view)));
        scene_at(pane.view, 250, 200, &x, &y);
        g_assert_cmpint(cell.col, ==, (int) (x / 32));
        g_assert_cmpint(cell.row, ==, (int) (y / 32));
        // a drag is no click
        fixture_input(
            "mousedown 1 sleep 0.05 mousemove_relative 40 0 sleep 0.05 mouseup 1");
        g_assert_cmpint(cell.n, ==, 1);
        fixture_input("key b"); // keys reach it
        g_assert_cmpint(limn_heatmap_view_get_tool(pane.view), ==, LIMN_TOOL_BOX);
    }
    pane_clear(&pane);
}

static void
test_input_box(void)
{
    Pane pane;
    LimnRect box, moved;
    double x0, y0, x1, y1;

    pane_init(&pane, 600, 400);
    limn_heatmap_view_set_tool(pane.view, LIMN_TOOL_BOX);
    if (!fixture_input(
            "mousemove 200 150 mousedown 1 sleep 0.05 mousemove 260 180 sleep 0.05 "
            "mousemove 300 250 sleep 0.05 mouseup 1")) {
        pane_clear(&pane);
        return;
    }
    g_assert_true(limn_heatmap_view_get_box(pane.view, &box));
    scene_at(pane.view, 200, 150, &x0, &y0);
    scene_at(pane.view, 300, 250, &x1, &y1);
    check_near(box.x, floor(x0));
    check_near(box.y, floor(y0));
    check_near(box.x + box.width, ceil(x1));
    check_near(box.y + box.height, ceil(y1));
    // by its inside
    fixture_input("mousemove 250 200 mousedown 1 sleep 0.05 mousemove 270 200 sleep 0.05 "
                  "mouseup 1");
    g_assert_true(limn_heatmap_view_get_box(pane.view, &moved));
    check_near(moved.width, box.width);
    check_near(moved.y, box.y);
    g_assert_cmpfloat(moved.x, >, box.x);
    // by its right edge
    fixture_input("mousemove 320 200 mousedown 1 sleep 0.05 mousemove 340 220 sleep 0.05 "
                  "mouseup 1");
    g_assert_true(limn_heatmap_view_get_box(pane.view, &box));
    check_near(box.x, moved.x);
    check_near(box.height, moved.height);
    g_assert_cmpfloat(box.width, >, moved.width);
    // given up half-way
    fixture_input("mousemove 150 100 mousedown 1 sleep 0.05 mousemove 180 130 sleep 0.05 "
                  "key Escape sleep 0.05 mouseup 1");
    g_assert_true(limn_heatmap_view_get_box(pane.view, &moved));
    check_near(moved.x, box.x);
    check_near(moved.width, box.width);
    pane_clear(&pane);
}

static void
test_input_divider(void)
{
    g_autoptr(LimnArray) second = make_constant_map(7, 7, 0.5f);
    Pane pane;
    Probe probe = {0};

    pane_init(&pane, 600, 400);
    limn_heatmap_view_set_second_map(pane.view, second, NULL, FALSE, "another");
    limn_heatmap_view_set_divider(pane.view, 0.5);
    g_signal_connect(pane.view, "probe", G_CALLBACK(on_probe), &probe);
    if (fixture_input(
            "mousemove 301 100 mousedown 1 sleep 0.05 mousemove 250 110 sleep 0.05 "
            "mousemove 200 120 sleep 0.05 mouseup 1")) {
        g_assert_cmpfloat_with_epsilon(limn_heatmap_view_get_divider(pane.view),
                                       200 / 600.0, 0.003);
        g_assert_true(limn_camera_is_fit(limn_heatmap_view_get_camera(pane.view)));
        fixture_input("mousemove 260 200");
        g_assert_cmpfloat(probe.value, ==, 0.5); // right of it
        g_assert_cmpint(probe.col, <, 7);
    }
    pane_clear(&pane);
}

// ---- assistive technology

static gboolean
never(gpointer data)
{
    return *(gint64 *) data < g_get_monotonic_time();
}

static void
test_accessible(void)
{
    Pane pane;
    gint64 end = g_get_monotonic_time() + 400000;

    pane_init(&pane, 600, 400);
    g_assert_true(gtk_widget_get_focusable(GTK_WIDGET(pane.view)));
    gtk_test_accessible_assert_role(GTK_ACCESSIBLE(pane.view), GTK_ACCESSIBLE_ROLE_IMG);
    fixture_wait(never, &end);
    gtk_test_accessible_assert_property(GTK_ACCESSIBLE(pane.view),
                                        GTK_ACCESSIBLE_PROPERTY_LABEL, "a dog");
    gtk_test_accessible_assert_property(
        GTK_ACCESSIBLE(pane.view), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
        "Picture of 448 by 448 pixels. Map colours from 0 to 0.177.");
    pane_press(pane.view, GDK_KEY_Right, GDK_CONTROL_MASK);
    end = g_get_monotonic_time() + 400000;
    fixture_wait(never, &end);
    gtk_test_accessible_assert_property(
        GTK_ACCESSIBLE(pane.view), GTK_ACCESSIBLE_PROPERTY_DESCRIPTION,
        "Picture of 448 by 448 pixels. Map colours from 0 to 0.177. At the probe: 256, "
        "224  ·  "
        "row 7, column 8  ·  value 0  ·  RGB 167 204 180.");
    pane_clear(&pane);
}

int
main(int argc, char **argv)
{
    gtk_test_init(&argc, &argv, NULL);
    g_test_add_func("/heatmap-input/keys-camera", test_keys_camera);
    g_test_add_func("/heatmap-input/keys-probe", test_keys_probe);
    g_test_add_func("/heatmap-input/keys-box", test_keys_box);
    g_test_add_func("/heatmap-input/divider", test_divider);
    g_test_add_func("/heatmap-input/blink", test_blink);
    g_test_add_func("/heatmap-input/accessible", test_accessible);
    g_test_add_func("/heatmap-input/input/pan-and-zoom", test_input_pan_and_zoom);
    g_test_add_func("/heatmap-input/input/click", test_input_click);
    g_test_add_func("/heatmap-input/input/box", test_input_box);
    g_test_add_func("/heatmap-input/input/divider", test_input_divider);
    return g_test_run();
}
