// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/heatmap-view-private.h"

#include "engine/figure/colormap.h"
#include "ui/gl/heatmap-paint.h"
#include "ui/view/gl-area.h"
#include "ui/view/heatmap-range.h"
#include "ui/view/mask-label.h"
#include "ui/view/view-theme.h"

#include <math.h>
#include <string.h>

// At most 3 changes a second, by a margin.
#define BLINK_MILLISECONDS 500

guint limn_heatmap_view_signals[LIMN_HEATMAP_N_SIGNALS];

G_DEFINE_FINAL_TYPE(LimnHeatmapView, limn_heatmap_view, GTK_TYPE_WIDGET)

// ---- redrawing

void
limn_heatmap_view_queue_canvas(LimnHeatmapView *view)
{
    if (view->canvas == NULL)
        return;
    if (view->uses_gl)
        gtk_gl_area_queue_render(GTK_GL_AREA(view->canvas));
    else
        gtk_widget_queue_draw(view->canvas);
}

void
limn_heatmap_view_queue_overlay(LimnHeatmapView *view)
{
    gtk_widget_queue_draw(view->drawing);
}

static void
queue_all(LimnHeatmapView *view)
{
    limn_heatmap_view_queue_canvas(view);
    limn_heatmap_view_queue_overlay(view);
}

static void
tiles_ready(gpointer data)
{
    limn_heatmap_view_queue_canvas(data);
}

static gboolean
redraw_soon(gpointer data)
{
    LimnHeatmapView *view = data;

    view->redraw_source = 0;
    limn_heatmap_view_queue_canvas(view);
    return G_SOURCE_REMOVE;
}

// For uploads that are left over: from the main loop, because a frame is being drawn now.
static void
queue_soon(LimnHeatmapView *view)
{
    if (view->redraw_source == 0)
        view->redraw_source = g_idle_add(redraw_soon, view);
}

// ---- geometry

void
limn_heatmap_view_get_view_transform(LimnHeatmapView *view, int width, int height,
                                     LimnViewTransform *transform)
{
    double scale = gtk_widget_get_scale_factor(GTK_WIDGET(view));
    LimnInsets insets;

    limn_heatmap_view_get_insets(view, width, height, &insets);
    limn_camera_get_transform(view->camera, MAX(width - insets.left - insets.right, 1),
                              MAX(height - insets.top - insets.bottom, 1),
                              &transform->zoom, &transform->x0, &transform->y0);
    // Whole device pixels, so that pictures at their own size are not blurred.
    transform->x0 = floor((transform->x0 + insets.left) * scale + 0.5) / scale;
    transform->y0 = floor((transform->y0 + insets.top) * scale + 0.5) / scale;
}

static void
device_transform(LimnHeatmapView *view, int width, int height, double scale,
                 LimnViewTransform *transform)
{
    limn_heatmap_view_get_view_transform(view, width, height, transform);
    transform->zoom *= scale;
    transform->x0 = floor(transform->x0 * scale + 0.5);
    transform->y0 = floor(transform->y0 * scale + 0.5);
}

int
limn_heatmap_view_shown_map(LimnHeatmapView *view)
{
    return view->maps[1] != NULL ? view->scene.shown : 0;
}

static void
resolve_rect(LimnHeatmapView *view, int which)
{
    const LimnRect *given = &view->given_rects[which];

    if (given->width > 0 && given->height > 0)
        view->scene.rects[which] = *given;
    else
        view->scene.rects[which] =
            (LimnRect){0, 0, view->scene.width, view->scene.height};
}

// The scene is the picture; without one the place of the map, or its cells.
static void
update_scene_size(LimnHeatmapView *view)
{
    double width = 1, height = 1;

    if (view->picture != NULL) {
        width = view->picture->width;
        height = view->picture->height;
    } else if (view->maps[0] != NULL && view->given_rects[0].width > 0) {
        width = view->given_rects[0].x + view->given_rects[0].width;
        height = view->given_rects[0].y + view->given_rects[0].height;
    } else if (view->maps[0] != NULL) {
        width = view->maps[0]->shape[1];
        height = view->maps[0]->shape[0];
    } else if (view->mask != NULL) {
        width = view->mask->width;
        height = view->mask->height;
    }
    view->scene.width = width;
    view->scene.height = height;
    for (int i = 0; i < 2; i++)
        resolve_rect(view, i);
    if (view->picture != NULL || view->maps[0] != NULL)
        limn_camera_set_scene(view->camera, width, height);
}

// ---- style

gboolean
limn_heatmap_view_is_dark(LimnHeatmapView *view)
{
    return limn_view_is_dark(GTK_WIDGET(view));
}

const char *
limn_heatmap_view_effective_colormap(LimnHeatmapView *view)
{
    gboolean is_signed = view->has_scale && view->scale.is_signed;

    return view->colormap != NULL ? view->colormap : limn_colormap_default(is_signed);
}

static gboolean
covers_part(LimnHeatmapView *view, int which)
{
    const LimnRect *rect = &view->scene.rects[which];

    return view->maps[which] != NULL &&
           (rect->x > 0.5 || rect->y > 0.5 ||
            rect->x + rect->width < view->scene.width - 0.5 ||
            rect->y + rect->height < view->scene.height - 0.5);
}

// Lines at the numbers of the colour bar that lie inside the range.
static void
set_contours(LimnHeatmapView *view, LimnHeatmapStyle *style)
{
    LimnTicks ticks;

    style->n_contours = 0;
    if (!view->contours || !view->has_scale || view->scale.constant || view->scale.empty)
        return;
    limn_ticks_compute(&ticks, view->scale.min, view->scale.max, 6);
    for (int i = 0; i < ticks.n && style->n_contours < LIMN_HEATMAP_MAX_CONTOURS; i++) {
        double level = ticks.first + i * ticks.step;

        if (level > view->scale.min && level < view->scale.max)
            style->contours[style->n_contours++] = level;
    }
}

static void
update_style(LimnHeatmapView *view, double scale)
{
    LimnHeatmapStyle *style = &view->scene.style;

    memcpy(style->table, limn_colormap_table(limn_heatmap_view_effective_colormap(view)),
           sizeof(style->table));
    limn_colormap_nan(style->nan);
    limn_view_canvas_color(limn_heatmap_view_is_dark(view), style->background);
    style->min = view->has_scale ? view->scale.min : 0;
    style->max = view->has_scale ? view->scale.max : 1;
    style->scale = scale;
    style->dim_outside = view->show_crop && view->picture != NULL &&
                         (covers_part(view, 0) || covers_part(view, 1));
    set_contours(view, style);
}

// ---- canvas

static void make_canvas(LimnHeatmapView *view);

static gboolean
fall_back(gpointer data)
{
    LimnHeatmapView *view = data;

    view->fallback_source = 0;
    g_message("drawing without OpenGL: %s", view->gl_message);
    make_canvas(view);
    return G_SOURCE_REMOVE;
}

static void
give_up_gl(LimnHeatmapView *view, const char *message)
{
    g_free(view->gl_message);
    view->gl_message = g_strdup(message);
    if (view->fallback_source == 0)
        view->fallback_source = g_idle_add(fall_back, view);
}

static gboolean
render_gl(GtkGLArea *area, GdkGLContext *context, LimnHeatmapView *view)
{
    g_autoptr(GError) error = NULL;
    int scale = gtk_widget_get_scale_factor(GTK_WIDGET(area));
    int width = gtk_widget_get_width(GTK_WIDGET(area));
    int height = gtk_widget_get_height(GTK_WIDGET(area));
    LimnViewTransform transform;
    gboolean more = FALSE;

    if (gtk_gl_area_get_error(area) != NULL)
        return FALSE;
    if (view->renderer == NULL)
        view->renderer = limn_heatmap_renderer_new();
    if (view->gl_description == NULL)
        view->gl_description = limn_gl_area_describe_current();
    device_transform(view, width, height, scale, &transform);
    update_style(view, scale);
    view->n_frames++;
    if (!limn_heatmap_renderer_draw(view->renderer, &view->scene, &transform,
                                    width * scale, height * scale, &more, &error))
        give_up_gl(view, error->message);
    if (more)
        queue_soon(view);
    return TRUE;
}

static void
unrealize_gl(GtkWidget *area, LimnHeatmapView *view)
{
    gtk_gl_area_make_current(GTK_GL_AREA(area));
    limn_heatmap_renderer_free(view->renderer,
                               gtk_gl_area_get_error(GTK_GL_AREA(area)) == NULL);
    view->renderer = NULL;
}

// The context is there, but GTK may still refuse it.
static void
realize_gl(GtkWidget *area, LimnHeatmapView *view)
{
    GError *error = gtk_gl_area_get_error(GTK_GL_AREA(area));

    if (error != NULL)
        give_up_gl(view, error->message);
}

static cairo_surface_t *
paint_scene(LimnHeatmapView *view, const LimnHeatmapScene *scene, int width, int height,
            double scale, gboolean *more)
{
    int device_width = MAX((int) ceil(width * scale), 1);
    int device_height = MAX((int) ceil(height * scale), 1);
    cairo_surface_t *surface =
        cairo_image_surface_create(CAIRO_FORMAT_RGB24, device_width, device_height);
    LimnViewTransform transform;

    *more = FALSE;
    if (cairo_surface_status(surface) != CAIRO_STATUS_SUCCESS)
        return surface;
    device_transform(view, width, height, scale, &transform);
    *more = limn_heatmap_paint(scene, &transform, surface);
    cairo_surface_set_device_scale(surface, scale, scale);
    return surface;
}

// Without GL. Missing tiles ask for another frame themselves when they arrive.
static void
draw_cairo(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    LimnHeatmapView *view = data;
    double scale = gtk_widget_get_scale_factor(GTK_WIDGET(area));
    cairo_surface_t *surface;
    gboolean more;

    update_style(view, scale);
    view->n_frames++;
    surface = paint_scene(view, &view->scene, width, height, scale, &more);
    cairo_set_source_surface(cr, surface, 0, 0);
    cairo_paint(cr);
    cairo_surface_destroy(surface);
}

static GtkWidget *
new_drawing_area(GtkDrawingAreaDrawFunc draw, gpointer data)
{
    GtkWidget *area = g_object_new(GTK_TYPE_DRAWING_AREA, "accessible-role",
                                   GTK_ACCESSIBLE_ROLE_PRESENTATION, NULL);

    gtk_drawing_area_set_draw_func(GTK_DRAWING_AREA(area), draw, data, NULL);
    return area;
}

static void
make_canvas(LimnHeatmapView *view)
{
    view->uses_gl = view->gl_message == NULL;
    if (view->uses_gl) {
        view->canvas = limn_gl_area_new();
        g_signal_connect(view->canvas, "render", G_CALLBACK(render_gl), view);
        g_signal_connect_after(view->canvas, "realize", G_CALLBACK(realize_gl), view);
        g_signal_connect(view->canvas, "unrealize", G_CALLBACK(unrealize_gl), view);
    } else {
        view->canvas = new_drawing_area(draw_cairo, view);
    }
    gtk_overlay_set_child(GTK_OVERLAY(view->overlay), view->canvas);
    limn_heatmap_view_queue_overlay(view);
}

static void
draw_overlay(GtkDrawingArea *area, cairo_t *cr, int width, int height, gpointer data)
{
    limn_heatmap_view_draw_overlay(data, cr, width, height, TRUE);
}

// ---- blink

static gboolean
animations_enabled(LimnHeatmapView *view)
{
    gboolean enabled = TRUE;

    g_object_get(gtk_widget_get_settings(GTK_WIDGET(view)), "gtk-enable-animations",
                 &enabled, NULL);
    return enabled;
}

static gboolean
change_map(gpointer data)
{
    LimnHeatmapView *view = data;

    view->scene.shown = 1 - view->scene.shown;
    queue_all(view);
    limn_heatmap_view_update_probe(view);
    return G_SOURCE_CONTINUE;
}

// Runs only while there is something to alternate and somebody who sees it.
static void
update_blink(LimnHeatmapView *view)
{
    gboolean run = view->blink && view->maps[0] != NULL && view->maps[1] != NULL &&
                   gtk_widget_get_mapped(GTK_WIDGET(view)) && animations_enabled(view);

    if (run && view->blink_source == 0)
        view->blink_source = g_timeout_add(BLINK_MILLISECONDS, change_map, view);
    else if (!run)
        g_clear_handle_id(&view->blink_source, g_source_remove);
    if (!view->blink && view->scene.shown != 0) {
        view->scene.shown = 0;
        queue_all(view);
    }
}

static void
settings_changed(GtkSettings *settings, GParamSpec *spec, LimnHeatmapView *view)
{
    update_blink(view);
    queue_all(view);
}

// ---- class

static void
camera_changed(LimnCamera *camera, LimnHeatmapView *view)
{
    queue_all(view);
    limn_heatmap_view_update_probe(view);
}

static void
realize(GtkWidget *widget)
{
    LimnHeatmapView *view = LIMN_HEATMAP_VIEW(widget);
    g_autoptr(GError) error = NULL;

    GTK_WIDGET_CLASS(limn_heatmap_view_parent_class)->realize(widget);
    if (view->canvas != NULL)
        return;
    if (!limn_gl_area_is_possible(widget, &error)) {
        view->gl_message = g_strdup(error->message);
        g_message("drawing without OpenGL: %s", view->gl_message);
    }
    make_canvas(view);
}

static void
map(GtkWidget *widget)
{
    GTK_WIDGET_CLASS(limn_heatmap_view_parent_class)->map(widget);
    update_blink(LIMN_HEATMAP_VIEW(widget));
}

static void
unmap(GtkWidget *widget)
{
    GTK_WIDGET_CLASS(limn_heatmap_view_parent_class)->unmap(widget);
    update_blink(LIMN_HEATMAP_VIEW(widget));
}

static void
state_flags_changed(GtkWidget *widget, GtkStateFlags previous)
{
    GtkStateFlags changed = previous ^ gtk_widget_get_state_flags(widget);

    if (changed & (GTK_STATE_FLAG_FOCUSED | GTK_STATE_FLAG_FOCUS_VISIBLE))
        limn_heatmap_view_queue_overlay(LIMN_HEATMAP_VIEW(widget));
    GTK_WIDGET_CLASS(limn_heatmap_view_parent_class)
        ->state_flags_changed(widget, previous);
}

static void
cancel(GCancellable **task)
{
    if (*task != NULL)
        g_cancellable_cancel(*task);
    g_clear_object(task);
}

static void
dispose(GObject *object)
{
    LimnHeatmapView *view = LIMN_HEATMAP_VIEW(object);

    g_clear_handle_id(&view->blink_source, g_source_remove);
    g_clear_handle_id(&view->redraw_source, g_source_remove);
    g_clear_handle_id(&view->describe_source, g_source_remove);
    g_clear_handle_id(&view->fallback_source, g_source_remove);
    cancel(&view->scale_task);
    cancel(&view->measure_task);
    g_clear_signal_handler(&view->camera_handler, view->camera);
    g_clear_pointer(&view->overlay, gtk_widget_unparent);
    view->canvas = NULL;
    G_OBJECT_CLASS(limn_heatmap_view_parent_class)->dispose(object);
}

static void
finalize(GObject *object)
{
    LimnHeatmapView *view = LIMN_HEATMAP_VIEW(object);

    g_clear_object(&view->camera);
    limn_tile_store_free(view->scene.picture);
    limn_tile_store_free(view->scene.mask);
    for (int i = 0; i < 2; i++) {
        limn_tile_store_free(view->scene.maps[i]);
        g_clear_pointer(&view->maps[i], limn_array_unref);
        g_free(view->titles[i]);
    }
    g_clear_pointer(&view->picture, limn_image_unref);
    g_clear_pointer(&view->mask, limn_image_unref);
    g_free(view->colormap);
    g_free(view->gl_message);
    g_free(view->gl_description);
    G_OBJECT_CLASS(limn_heatmap_view_parent_class)->finalize(object);
}

static void
new_signal(LimnHeatmapSignal which, const char *name, guint n_params, ...)
{
    va_list types;

    va_start(types, n_params);
    limn_heatmap_view_signals[which] =
        g_signal_new_valist(name, LIMN_TYPE_HEATMAP_VIEW, G_SIGNAL_RUN_LAST, NULL, NULL,
                            NULL, NULL, G_TYPE_NONE, n_params, types);
    va_end(types);
}

static void
limn_heatmap_view_class_init(LimnHeatmapViewClass *class)
{
    GObjectClass *object_class = G_OBJECT_CLASS(class);
    GtkWidgetClass *widget_class = GTK_WIDGET_CLASS(class);

    object_class->dispose = dispose;
    object_class->finalize = finalize;
    widget_class->realize = realize;
    widget_class->map = map;
    widget_class->unmap = unmap;
    widget_class->state_flags_changed = state_flags_changed;
    gtk_widget_class_set_layout_manager_type(widget_class, GTK_TYPE_BIN_LAYOUT);
    gtk_widget_class_set_accessible_role(widget_class, GTK_ACCESSIBLE_ROLE_IMG);
    gtk_widget_class_set_css_name(widget_class, "heatmapview");
    new_signal(LIMN_HEATMAP_PROBE, "probe", 6, G_TYPE_BOOLEAN, G_TYPE_DOUBLE,
               G_TYPE_DOUBLE, G_TYPE_INT, G_TYPE_INT, G_TYPE_DOUBLE);
    new_signal(LIMN_HEATMAP_CELL_CLICKED, "cell-clicked", 2, G_TYPE_INT, G_TYPE_INT);
    new_signal(LIMN_HEATMAP_BOX_CHANGED, "box-changed", 0);
    new_signal(LIMN_HEATMAP_ACTIVATED, "activated", 0);
    new_signal(LIMN_HEATMAP_DIVIDER_CHANGED, "divider-changed", 0);
    new_signal(LIMN_HEATMAP_RANGE_CHANGED, "range-changed", 0);
    new_signal(LIMN_HEATMAP_MEASURED, "measured", 0);
    new_signal(LIMN_HEATMAP_TOOL_CHANGED, "tool-changed", 0);
}

static void
limn_heatmap_view_init(LimnHeatmapView *view)
{
    GtkSettings *settings = gtk_widget_get_settings(GTK_WIDGET(view));

    view->scene.width = view->scene.height = 1;
    view->scene.divider = -1;
    view->ignore = 255;
    view->effective_ignore = -1;
    view->scene.style.opacity = 0.6;
    view->scene.style.bilinear = TRUE;
    view->show_crop = TRUE;
    view->show_colorbar = TRUE;
    view->overlay = gtk_overlay_new();
    gtk_widget_set_parent(view->overlay, GTK_WIDGET(view));
    view->drawing = new_drawing_area(draw_overlay, view);
    gtk_widget_set_can_target(view->drawing, FALSE);
    gtk_overlay_add_overlay(GTK_OVERLAY(view->overlay), view->drawing);
    gtk_widget_set_overflow(GTK_WIDGET(view), GTK_OVERFLOW_HIDDEN);
    gtk_widget_set_focusable(GTK_WIDGET(view), TRUE);
    gtk_widget_set_hexpand(GTK_WIDGET(view), TRUE);
    gtk_widget_set_vexpand(GTK_WIDGET(view), TRUE);
    limn_heatmap_view_init_input(view);
    limn_heatmap_view_set_camera(view, NULL);
    g_signal_connect_object(settings, "notify::gtk-application-prefer-dark-theme",
                            G_CALLBACK(settings_changed), view, 0);
    g_signal_connect_object(settings, "notify::gtk-theme-name",
                            G_CALLBACK(settings_changed), view, 0);
    g_signal_connect_object(settings, "notify::gtk-enable-animations",
                            G_CALLBACK(settings_changed), view, 0);
    limn_heatmap_view_queue_describe(view);
}

GtkWidget *
limn_heatmap_view_new(void)
{
    return g_object_new(LIMN_TYPE_HEATMAP_VIEW, NULL);
}

// ---- camera and contents

void
limn_heatmap_view_set_camera(LimnHeatmapView *view, LimnCamera *camera)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    if (view->camera != NULL && view->camera == camera)
        return;
    g_clear_signal_handler(&view->camera_handler, view->camera);
    g_clear_object(&view->camera);
    view->camera = camera != NULL ? g_object_ref(camera) : limn_camera_new();
    view->camera_handler =
        g_signal_connect(view->camera, "changed", G_CALLBACK(camera_changed), view);
    update_scene_size(view);
    queue_all(view);
}

LimnCamera *
limn_heatmap_view_get_camera(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    return view->camera;
}

// A store that fills itself in the background; takes the pyramid.
static LimnTileStore *
new_store(LimnHeatmapView *view, LimnPyramid *pyramid)
{
    LimnTileStore *store =
        pyramid != NULL ? limn_tile_store_new(pyramid, tiles_ready, view) : NULL;

    limn_pyramid_unref(pyramid);
    return store;
}

static LimnRangeRule
effective_picture_rule(LimnHeatmapView *view)
{
    return view->has_picture_rule ? view->picture_rule
                                  : limn_image_default_range(view->picture);
}

static void
update_picture_store(LimnHeatmapView *view)
{
    LimnPyramid *pyramid = NULL;

    if (view->picture != NULL)
        pyramid = limn_pyramid_new_picture(view->picture, effective_picture_rule(view));
    g_clear_pointer(&view->scene.picture, limn_tile_store_free);
    view->scene.picture = new_store(view, pyramid);
}

static void
contents_changed(LimnHeatmapView *view)
{
    update_scene_size(view);
    update_blink(view);
    queue_all(view);
    limn_heatmap_view_update_measure(view);
    limn_heatmap_view_update_probe(view);
    limn_heatmap_view_queue_describe(view);
}

void
limn_heatmap_view_set_picture(LimnHeatmapView *view, LimnImage *picture)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    if (picture == view->picture)
        return;
    g_clear_pointer(&view->picture, limn_image_unref);
    view->picture = picture != NULL ? limn_image_ref(picture) : NULL;
    update_picture_store(view);
    view->has_cursor = FALSE;
    view->has_corner = FALSE;
    contents_changed(view);
}

LimnImage *
limn_heatmap_view_get_picture(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    return view->picture;
}

void
limn_heatmap_view_set_picture_range(LimnHeatmapView *view, LimnRangeRule rule)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    if (view->has_picture_rule && view->picture_rule == rule)
        return;
    view->has_picture_rule = TRUE;
    view->picture_rule = rule;
    update_picture_store(view);
    queue_all(view);
}

// A float map of rank 2, or NULL: leading dimensions of one are dropped, other element
// types converted; what is no map at all is nothing to show.
static LimnArray *
as_map(LimnArray *map)
{
    g_autoptr(LimnArray) floats = NULL;
    gint64 rows, columns;

    if (map == NULL || map->rank < 2 || map->length < 1)
        return NULL;
    rows = map->shape[map->rank - 2];
    columns = map->shape[map->rank - 1];
    if (rows * columns != map->length || rows > G_MAXINT32 / 4 ||
        columns > G_MAXINT32 / 4)
        return NULL;
    floats = limn_array_to_f32(map, NULL);
    if (floats != NULL && floats->rank > 2) {
        g_autoptr(GBytes) bytes = g_bytes_new_with_free_func(
            floats->data, floats->length * sizeof(float),
            (GDestroyNotify) limn_array_unref, limn_array_ref(floats));
        gint64 shape[2] = {rows, columns};

        return limn_array_new_from_bytes(LIMN_DTYPE_F32, 2, shape, bytes, 0, NULL);
    }
    return g_steal_pointer(&floats);
}

static void
set_map(LimnHeatmapView *view, int which, LimnArray *map, const LimnRect *rect,
        gboolean is_signed)
{
    g_clear_pointer(&view->maps[which], limn_array_unref);
    g_clear_pointer(&view->scene.maps[which], limn_tile_store_free);
    view->maps[which] = as_map(map);
    view->given_rects[which] = rect != NULL ? *rect : (LimnRect){0};
    view->is_signed[which] = is_signed;
    if (view->maps[which] != NULL)
        view->scene.maps[which] =
            new_store(view, limn_pyramid_new_map(view->maps[which]));
    limn_heatmap_view_update_scale(view);
    contents_changed(view);
}

void
limn_heatmap_view_set_map(LimnHeatmapView *view, LimnArray *new_map, const LimnRect *rect,
                          gboolean is_signed)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    set_map(view, 0, new_map, rect, is_signed);
}

LimnArray *
limn_heatmap_view_get_map(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    return view->maps[0];
}

static void
set_title(LimnHeatmapView *view, int which, const char *title)
{
    if (g_strcmp0(view->titles[which], title) == 0)
        return;
    g_free(view->titles[which]);
    view->titles[which] =
        title != NULL && *title != '\0' ? g_utf8_make_valid(title, -1) : NULL;
    queue_all(view); // the room at the top may change
    limn_heatmap_view_queue_describe(view);
}

void
limn_heatmap_view_set_second_map(LimnHeatmapView *view, LimnArray *second,
                                 const LimnRect *rect, gboolean is_signed,
                                 const char *title)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    set_title(view, 1, title);
    set_map(view, 1, second, rect, is_signed);
}

void
limn_heatmap_view_set_title(LimnHeatmapView *view, const char *title)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    set_title(view, 0, title);
}

// ---- looks

void
limn_heatmap_view_set_colormap(LimnHeatmapView *view, const char *name)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));
    g_return_if_fail(name == NULL || limn_colormap_find(name) != NULL);

    if (g_strcmp0(name, view->colormap) == 0)
        return;
    g_free(view->colormap);
    view->colormap = g_strdup(name);
    queue_all(view);
}

const char *
limn_heatmap_view_get_colormap(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    return limn_heatmap_view_effective_colormap(view);
}

void
limn_heatmap_view_set_opacity(LimnHeatmapView *view, double opacity)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    view->scene.style.opacity = CLAMP(opacity, 0, 1);
    limn_heatmap_view_queue_canvas(view);
}

void
limn_heatmap_view_set_interpolate(LimnHeatmapView *view, gboolean bilinear)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    view->scene.style.bilinear = bilinear;
    limn_heatmap_view_queue_canvas(view);
}

void
limn_heatmap_view_set_contours(LimnHeatmapView *view, gboolean contours)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    view->contours = contours;
    queue_all(view);
}

void
limn_heatmap_view_set_show_crop(LimnHeatmapView *view, gboolean show)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    view->show_crop = show;
    queue_all(view);
}

void
limn_heatmap_view_set_show_colorbar(LimnHeatmapView *view, gboolean show)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    view->show_colorbar = show;
    queue_all(view); // the room at the side changes
}

void
limn_heatmap_view_set_divider(LimnHeatmapView *view, double fraction)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    fraction = fraction >= 0 ? MIN(fraction, 1) : -1;
    if (fraction == view->scene.divider)
        return;
    view->scene.divider = fraction;
    queue_all(view);
    limn_heatmap_view_update_probe(view);
    limn_heatmap_view_queue_describe(view);
    g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_DIVIDER_CHANGED], 0);
}

double
limn_heatmap_view_get_divider(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), -1);

    return view->scene.divider;
}

void
limn_heatmap_view_set_blink(LimnHeatmapView *view, gboolean blink)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    view->blink = blink;
    update_blink(view);
}

static void
update_mask_store(LimnHeatmapView *view)
{
    LimnPyramid *pyramid = NULL;

    view->effective_ignore = -1;
    if (view->mask != NULL) {
        view->effective_ignore = limn_mask_effective_ignore(view->mask, view->ignore);
        pyramid = limn_pyramid_new_mask(view->mask, view->effective_ignore);
    }
    g_clear_pointer(&view->scene.mask, limn_tile_store_free);
    view->scene.mask = new_store(view, pyramid);
    contents_changed(view);
}

void
limn_heatmap_view_set_mask(LimnHeatmapView *view, LimnImage *mask)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    if (mask == view->mask)
        return;
    g_clear_pointer(&view->mask, limn_image_unref);
    view->mask = mask != NULL ? limn_image_ref(mask) : NULL;
    update_mask_store(view);
}

void
limn_heatmap_view_set_mask_ignore(LimnHeatmapView *view, gint64 label)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    if (view->ignore == label)
        return;
    view->ignore = label;
    update_mask_store(view);
}

// ---- questions

gboolean
limn_heatmap_view_uses_gl(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), FALSE);

    return view->uses_gl;
}

const char *
limn_heatmap_view_get_gl_message(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    return view->gl_message;
}

const char *
limn_heatmap_view_get_gl_description(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    return view->uses_gl ? view->gl_description : NULL;
}

guint
limn_heatmap_view_get_n_frames(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), 0);

    return view->n_frames;
}

gboolean
limn_heatmap_view_is_complete(LimnHeatmapView *view)
{
    LimnTileStore *stores[] = {view->scene.picture, view->scene.maps[0],
                               view->scene.maps[1], view->scene.mask};
    gboolean complete = view->redraw_source == 0 && view->scale_task == NULL;

    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), FALSE);

    for (gsize i = 0; i < G_N_ELEMENTS(stores); i++)
        complete &= stores[i] == NULL || limn_tile_store_n_pending(stores[i]) == 0;
    return complete;
}

static LimnTileStore *
synchronous_copy(LimnTileStore *store)
{
    if (store == NULL)
        return NULL;
    return limn_tile_store_new(limn_tile_store_get_pyramid(store), NULL, NULL);
}

cairo_surface_t *
limn_heatmap_view_render(LimnHeatmapView *view, int width, int height, double scale)
{
    LimnHeatmapScene scene;
    cairo_surface_t *surface;
    gboolean more;
    cairo_t *cr;

    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    update_style(view, scale);
    scene = view->scene;
    scene.picture = synchronous_copy(view->scene.picture);
    scene.mask = synchronous_copy(view->scene.mask);
    for (int i = 0; i < 2; i++)
        scene.maps[i] = synchronous_copy(view->scene.maps[i]);
    surface = paint_scene(view, &scene, width, height, scale, &more);
    cr = cairo_create(surface);
    limn_heatmap_view_draw_overlay(view, cr, width, height, FALSE);
    cairo_destroy(cr);
    limn_tile_store_free(scene.picture);
    limn_tile_store_free(scene.mask);
    for (int i = 0; i < 2; i++)
        limn_tile_store_free(scene.maps[i]);
    return surface;
}
