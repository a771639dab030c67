// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Where the canvas looks. Linked panes share one camera. Coordinates: `scene` are
// pixels of the upright picture, `view` are logical pixels of the widget.

#include <glib-object.h>

#define LIMN_TYPE_CAMERA (limn_camera_get_type())
G_DECLARE_FINAL_TYPE(LimnCamera, limn_camera, LIMN, CAMERA, GObject)

// Signal "changed" after every change.
LimnCamera *limn_camera_new(void);
// Fit mode follows the view's size until the user zooms or pans.
void limn_camera_set_scene(LimnCamera *camera, double width, double height);
void limn_camera_get_scene(LimnCamera *camera, double *width, double *height);
void limn_camera_fit(LimnCamera *camera);
void limn_camera_one_to_one(LimnCamera *camera, int scale_factor);
// Zoom by a factor, keeping the scene point under (x, y) of a view of that size.
void limn_camera_zoom_at(LimnCamera *camera, double factor, double x, double y,
                         int view_width, int view_height);
void limn_camera_pan(LimnCamera *camera, double dx, double dy); // view pixels
gboolean limn_camera_is_fit(LimnCamera *camera);
// view = scene * *zoom + (*x0, *y0) for a view of that size.
void limn_camera_get_transform(LimnCamera *camera, int view_width, int view_height,
                               double *zoom, double *x0, double *y0);
// For sessions: zoom (0 = fit) and scene point at the centre of the view.
void limn_camera_get_state(LimnCamera *camera, double *zoom, double *cx, double *cy);
void limn_camera_set_state(LimnCamera *camera, double zoom, double cx, double cy);
