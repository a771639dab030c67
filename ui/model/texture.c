// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/model/texture.h"

#include "engine/image/resample.h"
#include "engine/io/picture.h"
#include "ui/model/worker.h"

typedef struct {
    char *path;
    int size;
} Request;

static void
request_free(gpointer data)
{
    Request *request = data;

    g_free(request->path);
    g_free(request);
}

GdkTexture *
limn_texture_from_image(LimnImage *image, GError **error)
{
    g_autoptr(LimnImage) rgba = limn_image_to_rgba8(image, LIMN_RANGE_TYPE, error);
    g_autoptr(GBytes) bytes = NULL;

    if (!rgba)
        return NULL;
    bytes = g_bytes_new(rgba->data, limn_image_stride(rgba) * (gsize) rgba->height);
    return gdk_memory_texture_new(rgba->width, rgba->height, GDK_MEMORY_R8G8B8A8, bytes,
                                  limn_image_stride(rgba));
}

GdkTexture *
limn_texture_from_surface(cairo_surface_t *surface)
{
    int width = cairo_image_surface_get_width(surface);
    int height = cairo_image_surface_get_height(surface);
    int stride = cairo_image_surface_get_stride(surface);
    g_autoptr(GBytes) bytes = NULL;

    cairo_surface_flush(surface);
    bytes = g_bytes_new_with_free_func(
        cairo_image_surface_get_data(surface), (gsize) stride * (gsize) height,
        (GDestroyNotify) cairo_surface_destroy, cairo_surface_reference(surface));
    return gdk_memory_texture_new(width, height, GDK_MEMORY_DEFAULT, bytes,
                                  (gsize) stride);
}

// Shrinks only: small pictures are scaled by GTK.
static LimnImage *
shrink(LimnImage *image, int size, GError **error)
{
    g_autoptr(LimnImage) rgb = limn_image_to_rgb8(image, LIMN_RANGE_TYPE, error);
    double scale;

    if (!rgb)
        return NULL;
    scale = (double) size / MAX(rgb->width, rgb->height);
    if (scale >= 1)
        return g_steal_pointer(&rgb);
    return limn_resize_bilinear_antialias(rgb, MAX(1, (int) (rgb->width * scale + 0.5)),
                                          MAX(1, (int) (rgb->height * scale + 0.5)), NULL,
                                          error);
}

static void
load(GTask *task, gpointer source, gpointer data, GCancellable *cancellable)
{
    const Request *request = data;
    g_autoptr(LimnImage) image = NULL;
    g_autoptr(LimnImage) small = NULL;
    GdkTexture *texture = NULL;
    GError *error = NULL;

    image = limn_picture_load(request->path, NULL, &error);
    if (image)
        small = shrink(image, request->size, &error);
    if (small)
        texture = limn_texture_from_image(small, &error);
    if (texture)
        g_task_return_pointer(task, texture, g_object_unref);
    else
        g_task_return_error(task, error);
}

void
limn_thumbnail_load_async(const char *path, int size, GCancellable *cancellable,
                          GAsyncReadyCallback callback, gpointer user_data)
{
    g_autoptr(GTask) task = g_task_new(NULL, cancellable, callback, user_data);
    Request *request = g_new0(Request, 1);

    request->path = g_strdup(path);
    request->size = size;
    g_task_set_task_data(task, request, request_free);
    limn_worker_run(LIMN_WORKER_THUMBNAILS, task, load);
}

GdkTexture *
limn_thumbnail_load_finish(GAsyncResult *result, GError **error)
{
    return g_task_propagate_pointer(G_TASK(result), error);
}
