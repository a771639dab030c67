// SPDX-License-Identifier: GPL-3.0-or-later

// The canvas of the heat-map view: what is drawn where, by GL in a GtkGLArea or without
// it, and as a picture of its own.

#include "ui/view/heatmap-view-private.h"

#include "engine/figure/colormap.h"
#include "ui/gl/heatmap-paint.h"
#include "ui/view/gl-area.h"
#include "ui/view/view-theme.h"

#include <math.h>
#include <string.h>

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

void
limn_heatmap_view_queue_all(LimnHeatmapView *view)
{
    limn_heatmap_view_queue_canvas(view);
    limn_heatmap_view_queue_overlay(view);
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

static gboolean
fall_back(gpointer data)
{
    LimnHeatmapView *view = data;

    view->fallback_source = 0;
    g_message("drawing without OpenGL: %s", view->gl_message);
    limn_heatmap_view_make_canvas(view);
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

void
limn_heatmap_view_make_canvas(LimnHeatmapView *view)
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

GtkWidget *
limn_heatmap_view_new_overlay(LimnHeatmapView *view)
{
    return new_drawing_area(draw_overlay, view);
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
    gboolean complete = view->redraw_source == 0 && view->scale_task == NULL &&
                        view->picture_task == NULL;

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
    limn_heatmap_view_finish_picture(view);
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
