// SPDX-License-Identifier: GPL-3.0-or-later

// Pointer and keys of the heat-map view.
//
//   drag              pan, or draw, move and resize the box with the box tool
//   middle drag       pan
//   scroll, pinch     zoom at the pointer; with Shift pan
//   double click      fit
//   + - 0 f 1         zoom in, out, fit, fit, one picture pixel per screen pixel
//   arrows            pan
//   Ctrl arrows       move the probe from cell to cell (with Shift from pixel to pixel)
//   Return            the cell of the probe; with the box tool its two corners in turn
//   b                 box tool on and off
//   Shift arrows      move the box by a pixel
//   Delete            remove the box
//   [ ]               move the divider
//   Escape            end what was begun, then put the probe away

#include "ui/view/heatmap-view-private.h"

#include <math.h>
#include <string.h>

#define CLICK_DISTANCE 3
#define GRIP_DISTANCE 7
#define PAN_STEP 48
#define KEY_ZOOM 1.25
#define SCROLL_ZOOM 1.2
#define SCROLL_PAN 48
#define DIVIDER_STEP 0.02
#define BOX_STEP 1

static void
get_transform(LimnHeatmapView *view, LimnViewTransform *transform)
{
    limn_heatmap_view_get_view_transform(view, gtk_widget_get_width(GTK_WIDGET(view)),
                                         gtk_widget_get_height(GTK_WIDGET(view)),
                                         transform);
}

static void
to_scene(LimnHeatmapView *view, double x, double y, double *scene_x, double *scene_y)
{
    LimnViewTransform transform;

    get_transform(view, &transform);
    *scene_x = (x - transform.x0) / transform.zoom;
    *scene_y = (y - transform.y0) / transform.zoom;
}

static void
zoom_at(LimnHeatmapView *view, double factor, double x, double y)
{
    int width = gtk_widget_get_width(GTK_WIDGET(view));
    int height = gtk_widget_get_height(GTK_WIDGET(view));
    LimnInsets insets;

    limn_heatmap_view_get_insets(view, width, height, &insets);
    limn_camera_zoom_at(view->camera, factor, x - insets.left, y - insets.top,
                        MAX(width - insets.left - insets.right, 1),
                        MAX(height - insets.top - insets.bottom, 1));
}

static void
zoom_at_centre(LimnHeatmapView *view, double factor)
{
    zoom_at(view, factor, gtk_widget_get_width(GTK_WIDGET(view)) / 2.0,
            gtk_widget_get_height(GTK_WIDGET(view)) / 2.0);
}

static void
activated(LimnHeatmapView *view)
{
    g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_ACTIVATED], 0);
}

// ---- probe

static void
take_probe(LimnHeatmapView *view, gboolean has_probe, const LimnHeatmapPick *pick)
{
    gboolean inside = has_probe && pick->inside;

    view->has_probe = has_probe;
    view->probe = *pick;
    limn_heatmap_view_queue_overlay(view);
    limn_heatmap_view_queue_describe(view);
    g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_PROBE], 0, inside, pick->x,
                  pick->y, pick->row, pick->col, inside ? pick->value : NAN);
}

void
limn_heatmap_view_update_probe(LimnHeatmapView *view)
{
    LimnHeatmapPick pick = {.row = -1, .col = -1, .value = NAN};
    LimnViewTransform transform;

    get_transform(view, &transform);
    if (view->has_cursor) {
        limn_heatmap_scene_pick_scene(&view->scene, limn_heatmap_view_shown_map(view),
                                      view->cursor_x, view->cursor_y, &pick);
        take_probe(view, TRUE, &pick);
    } else if (view->has_pointer) {
        limn_heatmap_scene_pick(&view->scene, &transform,
                                gtk_widget_get_width(GTK_WIDGET(view)), view->pointer_x,
                                view->pointer_y, &pick);
        take_probe(view, TRUE, &pick);
    } else if (view->has_probe) {
        take_probe(view, FALSE, &pick);
    }
}

// ---- box

static void
clamp_box(LimnHeatmapView *view, LimnRect *box)
{
    double left = CLAMP(floor(box->x + 0.5), 0, view->scene.width);
    double top = CLAMP(floor(box->y + 0.5), 0, view->scene.height);
    double right = CLAMP(floor(box->x + box->width + 0.5), 0, view->scene.width);
    double bottom = CLAMP(floor(box->y + box->height + 0.5), 0, view->scene.height);

    *box = (LimnRect){left, top, right - left, bottom - top};
}

void
limn_heatmap_view_take_box(LimnHeatmapView *view, const LimnRect *box)
{
    LimnRect clamped = {0};
    gboolean has_box = FALSE;

    if (box != NULL) {
        clamped = *box;
        clamp_box(view, &clamped);
        has_box = clamped.width > 0 && clamped.height > 0;
    }
    if (has_box == view->has_box && memcmp(&clamped, &view->box, sizeof(clamped)) == 0)
        return;
    view->has_box = has_box;
    view->box = has_box ? clamped : (LimnRect){0};
    limn_heatmap_view_queue_overlay(view);
    limn_heatmap_view_update_measure(view);
    limn_heatmap_view_queue_describe(view);
    g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_BOX_CHANGED], 0);
}

static void
box_between(LimnHeatmapView *view, double x0, double y0, double x1, double y1)
{
    LimnRect box = {floor(MIN(x0, x1)), floor(MIN(y0, y1)), 0, 0};

    box.width = ceil(MAX(x0, x1)) - box.x;
    box.height = ceil(MAX(y0, y1)) - box.y;
    limn_heatmap_view_take_box(view, &box);
}

void
limn_heatmap_view_set_box(LimnHeatmapView *view, const LimnRect *box)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    limn_heatmap_view_take_box(view, box);
}

gboolean
limn_heatmap_view_get_box(LimnHeatmapView *view, LimnRect *box)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), FALSE);

    if (view->has_box && box != NULL)
        *box = view->box;
    return view->has_box;
}

// ---- what the pointer would grip

static gboolean
near(double a, double b)
{
    return fabs(a - b) <= GRIP_DISTANCE;
}

static LimnGrip
find_box_grip(LimnHeatmapView *view, double x, double y)
{
    LimnViewTransform t;
    LimnGrip grip = {LIMN_GRIP_BOX_NEW, 0};
    double left, top, right, bottom;

    get_transform(view, &t);
    left = view->box.x * t.zoom + t.x0;
    top = view->box.y * t.zoom + t.y0;
    right = left + view->box.width * t.zoom;
    bottom = top + view->box.height * t.zoom;
    if (!view->has_box || x < left - GRIP_DISTANCE || x > right + GRIP_DISTANCE ||
        y < top - GRIP_DISTANCE || y > bottom + GRIP_DISTANCE)
        return grip;
    grip.edges |= near(x, right) ? LIMN_EDGE_RIGHT : near(x, left) ? LIMN_EDGE_LEFT : 0;
    grip.edges |= near(y, bottom) ? LIMN_EDGE_BOTTOM : near(y, top) ? LIMN_EDGE_TOP : 0;
    grip.kind = grip.edges != 0 ? LIMN_GRIP_BOX_EDGE : LIMN_GRIP_BOX_MOVE;
    return grip;
}

static LimnGrip
find_grip(LimnHeatmapView *view, double x, double y)
{
    int width = gtk_widget_get_width(GTK_WIDGET(view));

    if (view->scene.divider >= 0 && view->maps[1] != NULL &&
        near(x, view->scene.divider * width))
        return (LimnGrip){LIMN_GRIP_DIVIDER, 0};
    if (view->tool == LIMN_TOOL_BOX)
        return find_box_grip(view, x, y);
    return (LimnGrip){LIMN_GRIP_PAN, 0};
}

static const char *
grip_cursor(const LimnGrip *grip, gboolean dragging)
{
    switch (grip->kind) {
    case LIMN_GRIP_DIVIDER:
        return "col-resize";
    case LIMN_GRIP_BOX_NEW:
        return "crosshair";
    case LIMN_GRIP_BOX_MOVE:
        return "move";
    case LIMN_GRIP_PAN:
        return dragging ? "grabbing" : NULL;
    case LIMN_GRIP_NONE:
        return NULL;
    case LIMN_GRIP_BOX_EDGE:
        break;
    }
    switch (grip->edges) {
    case LIMN_EDGE_LEFT:
        return "w-resize";
    case LIMN_EDGE_RIGHT:
        return "e-resize";
    case LIMN_EDGE_TOP:
        return "n-resize";
    case LIMN_EDGE_BOTTOM:
        return "s-resize";
    case LIMN_EDGE_LEFT | LIMN_EDGE_TOP:
        return "nw-resize";
    case LIMN_EDGE_RIGHT | LIMN_EDGE_TOP:
        return "ne-resize";
    case LIMN_EDGE_LEFT | LIMN_EDGE_BOTTOM:
        return "sw-resize";
    default:
        return "se-resize";
    }
}

static void
update_pointer_cursor(LimnHeatmapView *view)
{
    gboolean dragging = view->grip.kind != LIMN_GRIP_NONE;

    if (!dragging && view->has_pointer)
        view->hover = find_grip(view, view->pointer_x, view->pointer_y);
    gtk_widget_set_cursor_from_name(
        GTK_WIDGET(view), grip_cursor(dragging ? &view->grip : &view->hover, dragging));
}

void
limn_heatmap_view_set_tool(LimnHeatmapView *view, LimnCanvasTool tool)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    if (view->tool == tool)
        return;
    view->tool = tool;
    view->has_corner = FALSE;
    update_pointer_cursor(view);
    limn_heatmap_view_queue_overlay(view);
    g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_TOOL_CHANGED], 0);
}

LimnCanvasTool
limn_heatmap_view_get_tool(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), LIMN_TOOL_PAN);

    return view->tool;
}

// ---- pointer

static void
pointer_moved(LimnHeatmapView *view, double x, double y)
{
    view->has_pointer = TRUE;
    view->pointer_x = x;
    view->pointer_y = y;
    view->has_cursor = FALSE;
    update_pointer_cursor(view);
    limn_heatmap_view_update_probe(view);
}

// GTK repeats the last position when something below the pointer changes; that is no
// movement and must not take the probe away from the keys.
static void
on_motion(GtkEventControllerMotion *controller, double x, double y, LimnHeatmapView *view)
{
    if (!view->has_pointer || x != view->pointer_x || y != view->pointer_y)
        pointer_moved(view, x, y);
}

static void
on_leave(GtkEventControllerMotion *controller, LimnHeatmapView *view)
{
    view->has_pointer = FALSE;
    limn_heatmap_view_update_probe(view);
}

static void
on_drag_begin(GtkGestureDrag *gesture, double x, double y, LimnHeatmapView *view)
{
    gboolean middle = gtk_gesture_single_get_current_button(
                          GTK_GESTURE_SINGLE(gesture)) == GDK_BUTTON_MIDDLE;

    gtk_widget_grab_focus(GTK_WIDGET(view));
    activated(view);
    view->grip = middle ? (LimnGrip){LIMN_GRIP_PAN, 0} : find_grip(view, x, y);
    view->press_x = view->last_x = x;
    view->press_y = view->last_y = y;
    view->press_box = view->box;
    view->moved = FALSE;
    to_scene(view, x, y, &view->corner_x, &view->corner_y);
}

static void
resize_box(LimnHeatmapView *view, double dx, double dy)
{
    const LimnRect *box = &view->press_box;
    int edges = view->grip.edges;
    double left = box->x + (edges & LIMN_EDGE_LEFT ? dx : 0);
    double right = box->x + box->width + (edges & LIMN_EDGE_RIGHT ? dx : 0);
    double top = box->y + (edges & LIMN_EDGE_TOP ? dy : 0);
    double bottom = box->y + box->height + (edges & LIMN_EDGE_BOTTOM ? dy : 0);
    LimnRect resized = {MIN(left, right), MIN(top, bottom), fabs(right - left),
                        fabs(bottom - top)};

    if (resized.width >= 0.5 && resized.height >= 0.5)
        limn_heatmap_view_take_box(view, &resized);
}

// Keeps its size at the edges of the picture.
static void
move_box(LimnHeatmapView *view, const LimnRect *from, double dx, double dy)
{
    LimnRect box = *from;

    box.x = CLAMP(box.x + dx, 0, MAX(view->scene.width - box.width, 0));
    box.y = CLAMP(box.y + dy, 0, MAX(view->scene.height - box.height, 0));
    limn_heatmap_view_take_box(view, &box);
}

static void
drag_to(LimnHeatmapView *view, double x, double y)
{
    double scene_x, scene_y, press_x, press_y;

    to_scene(view, x, y, &scene_x, &scene_y);
    to_scene(view, view->press_x, view->press_y, &press_x, &press_y);
    switch (view->grip.kind) {
    case LIMN_GRIP_PAN:
        limn_camera_pan(view->camera, x - view->last_x, y - view->last_y);
        break;
    case LIMN_GRIP_DIVIDER:
        limn_heatmap_view_set_divider(
            view, CLAMP(x / MAX(gtk_widget_get_width(GTK_WIDGET(view)), 1), 0, 1));
        break;
    case LIMN_GRIP_BOX_NEW:
        box_between(view, view->corner_x, view->corner_y, scene_x, scene_y);
        break;
    case LIMN_GRIP_BOX_MOVE:
        move_box(view, &view->press_box, scene_x - press_x, scene_y - press_y);
        break;
    case LIMN_GRIP_BOX_EDGE:
        resize_box(view, scene_x - press_x, scene_y - press_y);
        break;
    case LIMN_GRIP_NONE:
        break;
    }
}

static void
on_drag_update(GtkGestureDrag *gesture, double dx, double dy, LimnHeatmapView *view)
{
    double x = view->press_x + dx, y = view->press_y + dy;

    if (view->grip.kind == LIMN_GRIP_NONE)
        return;
    if (!view->moved && hypot(dx, dy) < CLICK_DISTANCE)
        return;
    if (!view->moved)
        gtk_gesture_set_state(GTK_GESTURE(gesture), GTK_EVENT_SEQUENCE_CLAIMED);
    view->moved = TRUE;
    drag_to(view, x, y);
    view->last_x = x;
    view->last_y = y;
    pointer_moved(view, x, y);
}

static void
on_drag_end(GtkGestureDrag *gesture, double dx, double dy, LimnHeatmapView *view)
{
    view->grip = (LimnGrip){LIMN_GRIP_NONE, 0};
    update_pointer_cursor(view);
}

static void
on_drag_cancel(GtkGesture *gesture, GdkEventSequence *sequence, LimnHeatmapView *view)
{
    view->grip = (LimnGrip){LIMN_GRIP_NONE, 0};
    update_pointer_cursor(view);
}

// A click is a press and release without a drag in between (a drag claims the sequence).
static void
on_released(GtkGestureClick *gesture, int n_press, double x, double y,
            LimnHeatmapView *view)
{
    LimnHeatmapPick pick;
    LimnViewTransform transform;

    if (view->moved)
        return;
    if (n_press == 2) {
        limn_camera_fit(view->camera);
        return;
    }
    if (n_press != 1 || view->tool != LIMN_TOOL_PAN)
        return;
    get_transform(view, &transform);
    limn_heatmap_scene_pick(&view->scene, &transform,
                            gtk_widget_get_width(GTK_WIDGET(view)), x, y, &pick);
    if (pick.row >= 0)
        g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_CELL_CLICKED], 0,
                      pick.row, pick.col);
}

static gboolean
on_scroll(GtkEventControllerScroll *controller, double dx, double dy,
          LimnHeatmapView *view)
{
    GdkModifierType state =
        gtk_event_controller_get_current_event_state(GTK_EVENT_CONTROLLER(controller));
    double x = view->pointer_x, y = view->pointer_y;

    if (state & GDK_SHIFT_MASK) {
        double along = dx != 0 ? dx : dy;

        limn_camera_pan(view->camera, -along * SCROLL_PAN, 0);
    } else {
        if (!view->has_pointer) {
            x = gtk_widget_get_width(GTK_WIDGET(view)) / 2.0;
            y = gtk_widget_get_height(GTK_WIDGET(view)) / 2.0;
        }
        limn_camera_pan(view->camera, -dx * SCROLL_PAN, 0);
        if (dy != 0)
            zoom_at(view, pow(SCROLL_ZOOM, -CLAMP(dy, -8, 8)), x, y);
    }
    return TRUE;
}

static void
on_pinch_begin(GtkGesture *gesture, GdkEventSequence *sequence, LimnHeatmapView *view)
{
    view->pinch = 1;
    view->grip = (LimnGrip){LIMN_GRIP_NONE, 0};
}

static void
on_pinch(GtkGestureZoom *gesture, double scale, LimnHeatmapView *view)
{
    double x, y;

    if (!gtk_gesture_get_bounding_box_center(GTK_GESTURE(gesture), &x, &y) ||
        !(scale > 0))
        return;
    zoom_at(view, scale / view->pinch, x, y);
    view->pinch = scale;
}

static void
on_focus(GtkEventControllerFocus *controller, LimnHeatmapView *view)
{
    activated(view);
}

// ---- keys

// The probe goes from cell to cell, or from pixel to pixel.
static void
move_cursor(LimnHeatmapView *view, int dx, int dy, gboolean by_pixel)
{
    int which = limn_heatmap_view_shown_map(view);
    const LimnRect *rect = &view->scene.rects[which];
    double step_x = 1, step_y = 1;

    if (!view->has_cursor) {
        view->cursor_x =
            view->has_probe && view->probe.inside ? view->probe.x : view->scene.width / 2;
        view->cursor_y = view->has_probe && view->probe.inside ? view->probe.y
                                                               : view->scene.height / 2;
    }
    if (!by_pixel && view->maps[which] != NULL) {
        step_x = rect->width / view->maps[which]->shape[1];
        step_y = rect->height / view->maps[which]->shape[0];
    }
    view->has_cursor = TRUE;
    view->cursor_x = CLAMP(view->cursor_x + dx * step_x, 0, view->scene.width - 1e-6);
    view->cursor_y = CLAMP(view->cursor_y + dy * step_y, 0, view->scene.height - 1e-6);
    limn_heatmap_view_update_probe(view);
}

static void
press_cursor(LimnHeatmapView *view)
{
    if (!view->has_cursor)
        move_cursor(view, 0, 0, TRUE);
    if (view->tool == LIMN_TOOL_BOX && !view->has_corner) {
        view->corner_x = view->cursor_x;
        view->corner_y = view->cursor_y;
        view->has_corner = TRUE;
        limn_heatmap_view_queue_overlay(view);
    } else if (view->tool == LIMN_TOOL_BOX) {
        view->has_corner = FALSE;
        box_between(view, view->corner_x, view->corner_y, view->cursor_x, view->cursor_y);
    } else if (view->probe.row >= 0) {
        g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_CELL_CLICKED], 0,
                      view->probe.row, view->probe.col);
    }
}

static void
arrow(LimnHeatmapView *view, int dx, int dy, GdkModifierType state)
{
    if (state & GDK_CONTROL_MASK)
        move_cursor(view, dx, dy, (state & GDK_SHIFT_MASK) != 0);
    else if ((state & GDK_SHIFT_MASK) && view->has_box)
        move_box(view, &view->box, dx * BOX_STEP, dy * BOX_STEP);
    else
        limn_camera_pan(view->camera, -dx * PAN_STEP, -dy * PAN_STEP);
}

static gboolean
escape(LimnHeatmapView *view)
{
    if (view->grip.kind == LIMN_GRIP_BOX_MOVE || view->grip.kind == LIMN_GRIP_BOX_EDGE)
        limn_heatmap_view_take_box(view, &view->press_box);
    else if (view->grip.kind == LIMN_GRIP_BOX_NEW && view->moved)
        limn_heatmap_view_take_box(view,
                                   view->press_box.width > 0 ? &view->press_box : NULL);
    else if (view->has_corner)
        view->has_corner = FALSE;
    else if (view->has_cursor)
        view->has_cursor = FALSE;
    else
        return FALSE;
    view->grip = (LimnGrip){LIMN_GRIP_NONE, 0};
    limn_heatmap_view_update_probe(view);
    limn_heatmap_view_queue_overlay(view);
    return TRUE;
}

static gboolean
move_divider(LimnHeatmapView *view, double by)
{
    if (!(view->scene.divider >= 0))
        return FALSE;
    limn_heatmap_view_set_divider(view, CLAMP(view->scene.divider + by, 0, 1));
    return TRUE;
}

static gboolean
on_arrow_key(LimnHeatmapView *view, guint key, GdkModifierType state)
{
    switch (key) {
    case GDK_KEY_Left:
    case GDK_KEY_KP_Left:
        arrow(view, -1, 0, state);
        return TRUE;
    case GDK_KEY_Right:
    case GDK_KEY_KP_Right:
        arrow(view, 1, 0, state);
        return TRUE;
    case GDK_KEY_Up:
    case GDK_KEY_KP_Up:
        arrow(view, 0, -1, state);
        return TRUE;
    case GDK_KEY_Down:
    case GDK_KEY_KP_Down:
        arrow(view, 0, 1, state);
        return TRUE;
    default:
        return FALSE;
    }
}

static gboolean
on_plain_key(LimnHeatmapView *view, guint key)
{
    switch (key) {
    case GDK_KEY_plus:
    case GDK_KEY_equal:
    case GDK_KEY_KP_Add:
        zoom_at_centre(view, KEY_ZOOM);
        return TRUE;
    case GDK_KEY_minus:
    case GDK_KEY_KP_Subtract:
        zoom_at_centre(view, 1 / KEY_ZOOM);
        return TRUE;
    case GDK_KEY_0:
    case GDK_KEY_KP_0:
    case GDK_KEY_f:
        limn_camera_fit(view->camera);
        return TRUE;
    case GDK_KEY_1:
    case GDK_KEY_KP_1:
        limn_camera_one_to_one(view->camera,
                               gtk_widget_get_scale_factor(GTK_WIDGET(view)));
        return TRUE;
    case GDK_KEY_b:
        limn_heatmap_view_set_tool(view, view->tool == LIMN_TOOL_BOX ? LIMN_TOOL_PAN
                                                                     : LIMN_TOOL_BOX);
        return TRUE;
    case GDK_KEY_bracketleft:
        return move_divider(view, -DIVIDER_STEP);
    case GDK_KEY_bracketright:
        return move_divider(view, DIVIDER_STEP);
    case GDK_KEY_Return:
    case GDK_KEY_KP_Enter:
        press_cursor(view);
        return TRUE;
    case GDK_KEY_Escape:
        return escape(view);
    case GDK_KEY_Delete:
    case GDK_KEY_BackSpace:
        if (!view->has_box)
            return FALSE;
        limn_heatmap_view_take_box(view, NULL);
        return TRUE;
    default:
        return FALSE;
    }
}

static gboolean
on_key(GtkEventControllerKey *controller, guint key, guint code, GdkModifierType state,
       LimnHeatmapView *view)
{
    if (state & (GDK_ALT_MASK | GDK_SUPER_MASK | GDK_META_MASK))
        return FALSE;
    if (on_arrow_key(view, key, state))
        return TRUE;
    return (state & GDK_CONTROL_MASK) == 0 && on_plain_key(view, key);
}

// ---- controllers

static void
add_drag(LimnHeatmapView *view, guint button)
{
    GtkGesture *drag = gtk_gesture_drag_new();

    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(drag), button);
    g_signal_connect(drag, "drag-begin", G_CALLBACK(on_drag_begin), view);
    g_signal_connect(drag, "drag-update", G_CALLBACK(on_drag_update), view);
    g_signal_connect(drag, "drag-end", G_CALLBACK(on_drag_end), view);
    g_signal_connect(drag, "cancel", G_CALLBACK(on_drag_cancel), view);
    gtk_widget_add_controller(GTK_WIDGET(view), GTK_EVENT_CONTROLLER(drag));
}

void
limn_heatmap_view_init_input(LimnHeatmapView *view)
{
    GtkWidget *widget = GTK_WIDGET(view);
    GtkEventController *motion = gtk_event_controller_motion_new();
    GtkEventController *scroll =
        gtk_event_controller_scroll_new(GTK_EVENT_CONTROLLER_SCROLL_BOTH_AXES);
    GtkEventController *key = gtk_event_controller_key_new();
    GtkEventController *focus = gtk_event_controller_focus_new();
    GtkGesture *click = gtk_gesture_click_new();
    GtkGesture *pinch = gtk_gesture_zoom_new();

    g_signal_connect(motion, "enter", G_CALLBACK(on_motion), view);
    g_signal_connect(motion, "motion", G_CALLBACK(on_motion), view);
    g_signal_connect(motion, "leave", G_CALLBACK(on_leave), view);
    g_signal_connect(scroll, "scroll", G_CALLBACK(on_scroll), view);
    g_signal_connect(key, "key-pressed", G_CALLBACK(on_key), view);
    g_signal_connect(focus, "enter", G_CALLBACK(on_focus), view);
    gtk_gesture_single_set_button(GTK_GESTURE_SINGLE(click), GDK_BUTTON_PRIMARY);
    g_signal_connect(click, "released", G_CALLBACK(on_released), view);
    g_signal_connect(pinch, "begin", G_CALLBACK(on_pinch_begin), view);
    g_signal_connect(pinch, "scale-changed", G_CALLBACK(on_pinch), view);
    gtk_widget_add_controller(widget, motion);
    gtk_widget_add_controller(widget, scroll);
    gtk_widget_add_controller(widget, key);
    gtk_widget_add_controller(widget, focus);
    add_drag(view, GDK_BUTTON_PRIMARY);
    add_drag(view, GDK_BUTTON_MIDDLE);
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(click));
    gtk_widget_add_controller(widget, GTK_EVENT_CONTROLLER(pinch));
}
