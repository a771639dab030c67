// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/heatmap-view-private.h"

#include "engine/figure/colormap.h"
#include "ui/view/gl-area.h"
#include "ui/view/heatmap-range.h"
#include "ui/view/mask-label.h"

#include <math.h>
#include <string.h>

// At most 3 changes a second, by a margin.
#define BLINK_MILLISECONDS 500

guint limn_heatmap_view_signals[LIMN_HEATMAP_N_SIGNALS];

G_DEFINE_FINAL_TYPE(LimnHeatmapView, limn_heatmap_view, GTK_TYPE_WIDGET)

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
    limn_heatmap_view_queue_all(view);
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
        limn_heatmap_view_queue_all(view);
    }
}

static void
settings_changed(GtkSettings *settings, GParamSpec *spec, LimnHeatmapView *view)
{
    update_blink(view);
    limn_heatmap_view_queue_all(view);
}

// ---- scene

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

// ---- class

static void
camera_changed(LimnCamera *camera, LimnHeatmapView *view)
{
    limn_heatmap_view_queue_all(view);
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
    limn_heatmap_view_make_canvas(view);
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
    cancel(&view->picture_task);
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
    view->drawing = limn_heatmap_view_new_overlay(view);
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
    limn_heatmap_view_queue_all(view);
}

LimnCamera *
limn_heatmap_view_get_camera(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    return view->camera;
}

static void
tiles_ready(gpointer data)
{
    limn_heatmap_view_queue_canvas(data);
}

// A store that fills itself in the background; takes the pyramid.
LimnTileStore *
limn_heatmap_view_new_store(LimnHeatmapView *view, LimnPyramid *pyramid)
{
    LimnTileStore *store =
        pyramid != NULL ? limn_tile_store_new(pyramid, tiles_ready, view) : NULL;

    limn_pyramid_unref(pyramid);
    return store;
}

static void
contents_changed(LimnHeatmapView *view)
{
    update_scene_size(view);
    update_blink(view);
    limn_heatmap_view_queue_all(view);
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
    limn_heatmap_view_update_picture(view);
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
    limn_heatmap_view_update_picture(view);
    limn_heatmap_view_queue_all(view);
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
            limn_heatmap_view_new_store(view, limn_pyramid_new_map(view->maps[which]));
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
    limn_heatmap_view_queue_all(view); // the room at the top may change
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
    limn_heatmap_view_queue_all(view);
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
    limn_heatmap_view_queue_all(view);
}

void
limn_heatmap_view_set_show_crop(LimnHeatmapView *view, gboolean show)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    view->show_crop = show;
    limn_heatmap_view_queue_all(view);
}

void
limn_heatmap_view_set_show_colorbar(LimnHeatmapView *view, gboolean show)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    view->show_colorbar = show;
    limn_heatmap_view_queue_all(view); // the room at the side changes
}

void
limn_heatmap_view_set_divider(LimnHeatmapView *view, double fraction)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    fraction = fraction >= 0 ? MIN(fraction, 1) : -1;
    if (fraction == view->scene.divider)
        return;
    view->scene.divider = fraction;
    limn_heatmap_view_queue_all(view);
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
    view->scene.mask = limn_heatmap_view_new_store(view, pyramid);
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
