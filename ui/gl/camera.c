// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/gl/camera.h"

#include <math.h>

// A picture pixel may grow to this many view pixels, or to a quarter of the view when the
// picture has only a few; a picture may shrink to a quarter of its fitted size.
#define MAX_ZOOM 256.0
#define SHRINK 0.25

struct _LimnCamera {
    GObject parent_instance;
    double width, height; // scene
    gboolean fit;
    double zoom;   // view pixels per scene pixel; unused while fitting
    double cx, cy; // scene point at the centre of the view; unused while fitting
    int view_width,
        view_height; // of the last view that asked; pan has no size of its own
};

enum { CHANGED, N_SIGNALS };
static guint signals[N_SIGNALS];

G_DEFINE_FINAL_TYPE(LimnCamera, limn_camera, G_TYPE_OBJECT)

static void
limn_camera_class_init(LimnCameraClass *class)
{
    signals[CHANGED] =
        g_signal_new("changed", G_TYPE_FROM_CLASS(class), G_SIGNAL_RUN_LAST, 0, NULL,
                     NULL, NULL, G_TYPE_NONE, 0);
}

static void
limn_camera_init(LimnCamera *camera)
{
    camera->width = 1;
    camera->height = 1;
    camera->fit = TRUE;
    camera->zoom = 1;
    camera->view_width = 1;
    camera->view_height = 1;
}

LimnCamera *
limn_camera_new(void)
{
    return g_object_new(LIMN_TYPE_CAMERA, NULL);
}

static void
emit_changed(LimnCamera *camera)
{
    g_signal_emit(camera, signals[CHANGED], 0);
}

static double
fit_zoom(LimnCamera *camera, int view_width, int view_height)
{
    double zoom =
        MIN(MAX(view_width, 1) / camera->width, MAX(view_height, 1) / camera->height);

    return zoom > 0 && isfinite(zoom) ? zoom : 1;
}

static void
remember_view(LimnCamera *camera, int view_width, int view_height)
{
    camera->view_width = MAX(view_width, 1);
    camera->view_height = MAX(view_height, 1);
}

// From fit mode to the same place as numbers.
static void
leave_fit(LimnCamera *camera)
{
    if (!camera->fit)
        return;
    camera->fit = FALSE;
    camera->zoom = fit_zoom(camera, camera->view_width, camera->view_height);
    camera->cx = camera->width / 2;
    camera->cy = camera->height / 2;
}

static double
clamp_zoom(LimnCamera *camera, double zoom)
{
    double fit = fit_zoom(camera, camera->view_width, camera->view_height);
    double largest = MAX(MAX_ZOOM, 4 * fit);
    double smallest = SHRINK * MIN(fit, 1.0);

    return CLAMP(zoom, smallest, largest);
}

// The middle of the view never leaves the picture, so that it cannot get lost.
static void
clamp_centre(LimnCamera *camera)
{
    camera->cx = CLAMP(camera->cx, 0, camera->width);
    camera->cy = CLAMP(camera->cy, 0, camera->height);
}

void
limn_camera_set_scene(LimnCamera *camera, double width, double height)
{
    g_return_if_fail(LIMN_IS_CAMERA(camera));
    g_return_if_fail(width > 0 && height > 0);

    if (camera->width == width && camera->height == height)
        return;
    camera->width = width;
    camera->height = height;
    camera->fit = TRUE;
    emit_changed(camera);
}

void
limn_camera_get_scene(LimnCamera *camera, double *width, double *height)
{
    g_return_if_fail(LIMN_IS_CAMERA(camera));

    *width = camera->width;
    *height = camera->height;
}

void
limn_camera_fit(LimnCamera *camera)
{
    g_return_if_fail(LIMN_IS_CAMERA(camera));

    if (camera->fit)
        return;
    camera->fit = TRUE;
    emit_changed(camera);
}

gboolean
limn_camera_is_fit(LimnCamera *camera)
{
    g_return_val_if_fail(LIMN_IS_CAMERA(camera), FALSE);

    return camera->fit;
}

void
limn_camera_one_to_one(LimnCamera *camera, int scale_factor)
{
    g_return_if_fail(LIMN_IS_CAMERA(camera));

    leave_fit(camera);
    camera->zoom = 1.0 / MAX(scale_factor, 1);
    clamp_centre(camera);
    emit_changed(camera);
}

void
limn_camera_zoom_at(LimnCamera *camera, double factor, double x, double y, int view_width,
                    int view_height)
{
    double before, after;

    g_return_if_fail(LIMN_IS_CAMERA(camera));
    if (!(factor > 0) || !isfinite(factor))
        return;

    remember_view(camera, view_width, view_height);
    leave_fit(camera);
    before = camera->zoom;
    after = clamp_zoom(camera, before * factor);
    // The scene point under (x, y) is centre + (position - middle) / zoom, before and
    // after.
    camera->cx += (x - view_width / 2.0) * (1 / before - 1 / after);
    camera->cy += (y - view_height / 2.0) * (1 / before - 1 / after);
    camera->zoom = after;
    clamp_centre(camera);
    emit_changed(camera);
}

void
limn_camera_pan(LimnCamera *camera, double dx, double dy)
{
    g_return_if_fail(LIMN_IS_CAMERA(camera));
    if (!isfinite(dx) || !isfinite(dy) || (dx == 0 && dy == 0))
        return;

    leave_fit(camera);
    camera->cx -= dx / camera->zoom;
    camera->cy -= dy / camera->zoom;
    clamp_centre(camera);
    emit_changed(camera);
}

void
limn_camera_get_transform(LimnCamera *camera, int view_width, int view_height,
                          double *zoom, double *x0, double *y0)
{
    double z, cx, cy;

    g_return_if_fail(LIMN_IS_CAMERA(camera));

    remember_view(camera, view_width, view_height);
    z = camera->fit ? fit_zoom(camera, view_width, view_height) : camera->zoom;
    cx = camera->fit ? camera->width / 2 : camera->cx;
    cy = camera->fit ? camera->height / 2 : camera->cy;
    *zoom = z;
    *x0 = view_width / 2.0 - cx * z;
    *y0 = view_height / 2.0 - cy * z;
}

void
limn_camera_get_state(LimnCamera *camera, double *zoom, double *cx, double *cy)
{
    g_return_if_fail(LIMN_IS_CAMERA(camera));

    *zoom = camera->fit ? 0 : camera->zoom;
    *cx = camera->fit ? camera->width / 2 : camera->cx;
    *cy = camera->fit ? camera->height / 2 : camera->cy;
}

void
limn_camera_set_state(LimnCamera *camera, double zoom, double cx, double cy)
{
    g_return_if_fail(LIMN_IS_CAMERA(camera));

    if (!(zoom > 0) || !isfinite(zoom) || !isfinite(cx) || !isfinite(cy)) {
        limn_camera_fit(camera);
        return;
    }
    camera->fit = FALSE;
    camera->zoom = zoom;
    camera->cx = cx;
    camera->cy = cy;
    clamp_centre(camera);
    emit_changed(camera);
}
