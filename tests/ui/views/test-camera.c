// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/camera.h"

#include <math.h>

static void
count(LimnCamera *camera, gpointer data)
{
    (*(int *) data)++;
}

static void
test_fit(void)
{
    g_autoptr(LimnCamera) camera = limn_camera_new();
    double zoom, x0, y0;

    limn_camera_set_scene(camera, 400, 200);
    g_assert_true(limn_camera_is_fit(camera));
    limn_camera_get_transform(camera, 800, 800, &zoom, &x0, &y0);
    g_assert_cmpfloat(zoom, ==, 2);
    g_assert_cmpfloat(x0, ==, 0);
    g_assert_cmpfloat(y0, ==, 200);
    // the size of the view decides, not when it was asked first
    limn_camera_get_transform(camera, 200, 800, &zoom, &x0, &y0);
    g_assert_cmpfloat(zoom, ==, 0.5);
}

static void
test_zoom_keeps_point(void)
{
    g_autoptr(LimnCamera) camera = limn_camera_new();
    double zoom, x0, y0, before_x, before_y;

    limn_camera_set_scene(camera, 1000, 800);
    limn_camera_get_transform(camera, 640, 480, &zoom, &x0, &y0);
    before_x = (300 - x0) / zoom;
    before_y = (200 - y0) / zoom;
    for (int i = 0; i < 10; i++)
        limn_camera_zoom_at(camera, 1.25, 300, 200, 640, 480);
    limn_camera_get_transform(camera, 640, 480, &zoom, &x0, &y0);
    g_assert_false(limn_camera_is_fit(camera));
    g_assert_cmpfloat_with_epsilon((300 - x0) / zoom, before_x, 1e-9);
    g_assert_cmpfloat_with_epsilon((200 - y0) / zoom, before_y, 1e-9);
}

static void
test_limits(void)
{
    g_autoptr(LimnCamera) camera = limn_camera_new();
    double zoom, cx, cy;

    limn_camera_set_scene(camera, 100, 100);
    for (int i = 0; i < 200; i++)
        limn_camera_zoom_at(camera, 2, 10, 10, 640, 480);
    limn_camera_get_state(camera, &zoom, &cx, &cy);
    g_assert_cmpfloat(zoom, ==, 256);
    for (int i = 0; i < 200; i++)
        limn_camera_zoom_at(camera, 0.5, 10, 10, 640, 480);
    limn_camera_get_state(camera, &zoom, &cx, &cy);
    g_assert_cmpfloat(zoom, ==, 0.25);
    // the picture cannot be lost
    limn_camera_pan(camera, 1e9, -1e9);
    limn_camera_get_state(camera, &zoom, &cx, &cy);
    g_assert_cmpfloat(cx, ==, 0);
    g_assert_cmpfloat(cy, ==, 100);
    // what is no number changes nothing
    limn_camera_zoom_at(camera, NAN, 0, 0, 10, 10);
    limn_camera_zoom_at(camera, -1, 0, 0, 10, 10);
    limn_camera_pan(camera, NAN, 0);
    limn_camera_get_state(camera, &zoom, &cx, &cy);
    g_assert_cmpfloat(zoom, ==, 0.25);
}

// A scene of one pixel fills the view and can still be enlarged.
static void
test_one_pixel(void)
{
    g_autoptr(LimnCamera) camera = limn_camera_new();
    double zoom, x0, y0;

    limn_camera_set_scene(camera, 1, 1);
    limn_camera_get_transform(camera, 640, 480, &zoom, &x0, &y0);
    g_assert_cmpfloat(zoom, ==, 480);
    limn_camera_zoom_at(camera, 2, 320, 240, 640, 480);
    limn_camera_get_transform(camera, 640, 480, &zoom, &x0, &y0);
    g_assert_cmpfloat(zoom, ==, 960);
    // sizes of a view that is not there yet
    limn_camera_get_transform(camera, 0, 0, &zoom, &x0, &y0);
    limn_camera_fit(camera);
    limn_camera_get_transform(camera, 0, 0, &zoom, &x0, &y0);
    g_assert_true(isfinite(zoom) && zoom > 0);
}

static void
test_pan_from_fit(void)
{
    g_autoptr(LimnCamera) camera = limn_camera_new();
    double zoom, x0, y0;

    limn_camera_set_scene(camera, 400, 400);
    limn_camera_get_transform(camera, 800, 800, &zoom, &x0, &y0);
    limn_camera_pan(camera, 30, -12);
    limn_camera_get_transform(camera, 800, 800, &zoom, &x0, &y0);
    g_assert_cmpfloat(zoom, ==, 2);
    g_assert_cmpfloat(x0, ==, 30);
    g_assert_cmpfloat(y0, ==, -12);
}

static void
test_state(void)
{
    g_autoptr(LimnCamera) camera = limn_camera_new();
    g_autoptr(LimnCamera) other = limn_camera_new();
    double zoom, cx, cy, a, b, c;
    int changes = 0;

    limn_camera_set_scene(camera, 400, 300);
    limn_camera_set_scene(other, 400, 300);
    g_signal_connect(other, "changed", G_CALLBACK(count), &changes);
    limn_camera_get_state(camera, &zoom, &cx, &cy);
    g_assert_cmpfloat(zoom, ==, 0);
    limn_camera_one_to_one(camera, 2);
    limn_camera_pan(camera, 17, 3);
    limn_camera_get_state(camera, &zoom, &cx, &cy);
    g_assert_cmpfloat(zoom, ==, 0.5);
    limn_camera_set_state(other, zoom, cx, cy);
    g_assert_cmpint(changes, ==, 1);
    limn_camera_get_state(other, &a, &b, &c);
    g_assert_cmpfloat(a, ==, zoom);
    g_assert_cmpfloat(b, ==, cx);
    g_assert_cmpfloat(c, ==, cy);
    limn_camera_set_state(other, 0, 0, 0);
    g_assert_true(limn_camera_is_fit(other));
    g_assert_cmpint(changes, ==, 2);
    // a picture of the same size keeps the place, another one is fitted
    limn_camera_set_scene(camera, 400, 300);
    g_assert_false(limn_camera_is_fit(camera));
    limn_camera_set_scene(camera, 401, 300);
    g_assert_true(limn_camera_is_fit(camera));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/camera/fit", test_fit);
    g_test_add_func("/camera/zoom-keeps-point", test_zoom_keeps_point);
    g_test_add_func("/camera/limits", test_limits);
    g_test_add_func("/camera/one-pixel", test_one_pixel);
    g_test_add_func("/camera/pan-from-fit", test_pan_from_fit);
    g_test_add_func("/camera/state", test_state);
    return g_test_run();
}
