// SPDX-License-Identifier: GPL-3.0-or-later

// From a picture to its tiles. Where the range of the samples decides how they look, all
// of them have to be read first: of large pictures by a worker, while the view shows
// none.

#include "ui/model/worker.h"
#include "ui/view/heatmap-view-private.h"

#define DIRECT_SAMPLES (1 << 21)

typedef struct {
    GWeakRef view; // a worker must never hold the last reference to a widget
    LimnImage *picture;
    gboolean has_rule;
    LimnRangeRule rule;
    LimnPyramid *pyramid; // result
} PictureTask;

static void
picture_task_free(gpointer data)
{
    PictureTask *task = data;

    g_weak_ref_clear(&task->view);
    limn_image_unref(task->picture);
    limn_pyramid_unref(task->pyramid);
    g_free(task);
}

static PictureTask *
picture_task_new(LimnHeatmapView *view)
{
    PictureTask *task = g_new0(PictureTask, 1);

    g_weak_ref_init(&task->view, view);
    task->picture = limn_image_ref(view->picture);
    task->has_rule = view->has_picture_rule;
    task->rule = view->picture_rule;
    return task;
}

// Whether samples decide: on demand, and by default where the type has no range of its
// own.
static gboolean
reads_all(const PictureTask *task)
{
    if (task->picture->pixels == LIMN_PIXELS_INDEXED)
        return FALSE;
    if (task->has_rule)
        return task->rule == LIMN_RANGE_DATA;
    return task->picture->depth == LIMN_DEPTH_U32 ||
           task->picture->depth == LIMN_DEPTH_F32;
}

static void
make_pyramid(PictureTask *task)
{
    LimnRangeRule rule =
        task->has_rule ? task->rule : limn_image_default_range(task->picture);

    task->pyramid = limn_pyramid_new_picture(task->picture, rule);
}

static void
take_pyramid(LimnHeatmapView *view, LimnPyramid *pyramid)
{
    g_clear_pointer(&view->scene.picture, limn_tile_store_free);
    view->scene.picture = limn_heatmap_view_new_store(view, pyramid);
    limn_heatmap_view_queue_all(view);
}

static void
make_aside(GTask *gtask, gpointer source, gpointer data, GCancellable *cancellable)
{
    make_pyramid(data);
    g_task_return_boolean(gtask, TRUE);
}

static void
made(GObject *source, GAsyncResult *result, gpointer unused)
{
    PictureTask *task = g_task_get_task_data(G_TASK(result));
    g_autoptr(LimnHeatmapView) view = g_weak_ref_get(&task->view);

    if (!g_task_propagate_boolean(G_TASK(result), NULL) || view == NULL)
        return;
    g_clear_object(&view->picture_task);
    take_pyramid(view, g_steal_pointer(&task->pyramid));
}

static void
cancel_task(LimnHeatmapView *view)
{
    if (view->picture_task != NULL)
        g_cancellable_cancel(view->picture_task);
    g_clear_object(&view->picture_task);
}

static void
make_directly(LimnHeatmapView *view)
{
    PictureTask *task = picture_task_new(view);

    make_pyramid(task);
    take_pyramid(view, g_steal_pointer(&task->pyramid));
    picture_task_free(task);
}

void
limn_heatmap_view_finish_picture(LimnHeatmapView *view)
{
    if (view->picture_task == NULL)
        return;
    cancel_task(view);
    make_directly(view);
}

void
limn_heatmap_view_update_picture(LimnHeatmapView *view)
{
    PictureTask *task;
    gint64 samples;

    cancel_task(view);
    if (view->picture == NULL) {
        take_pyramid(view, NULL);
        return;
    }
    task = picture_task_new(view);
    samples = (gint64) view->picture->width * view->picture->height *
              limn_pixels_channels(view->picture->pixels);
    if (!reads_all(task) || samples <= DIRECT_SAMPLES) {
        picture_task_free(task);
        make_directly(view);
    } else {
        g_autoptr(GTask) gtask = NULL;

        take_pyramid(view, NULL);
        view->picture_task = g_cancellable_new();
        gtask = g_task_new(NULL, view->picture_task, made, NULL);
        g_task_set_task_data(gtask, task, picture_task_free);
        limn_worker_run(LIMN_WORKER_FILES, gtask, make_aside);
    }
}
