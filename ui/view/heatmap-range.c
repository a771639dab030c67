// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/view/heatmap-range.h"

#include "ui/model/worker.h"
#include "ui/view/heatmap-view-private.h"

#include <math.h>

// Values that are looked at within a handler; percentiles need a sort.
#define DIRECT_VALUES (1 << 20)
#define DIRECT_PERCENTILE (1 << 15)
#define SAMPLE_VALUES (1 << 15)

typedef struct {
    GWeakRef view; // a worker must never hold the last reference to a widget
    LimnScaleRule rule;
    LimnArray *maps[2];
    int n_maps;
    LimnScale scale;
} ScaleTask;

static void
scale_task_free(gpointer data)
{
    ScaleTask *task = data;

    for (int i = 0; i < task->n_maps; i++)
        limn_array_unref(task->maps[i]);
    g_weak_ref_clear(&task->view);
    g_free(task);
}

static ScaleTask *
scale_task_new(LimnHeatmapView *view)
{
    ScaleTask *task = g_new0(ScaleTask, 1);

    g_weak_ref_init(&task->view, view);
    for (int i = 0; i < 2; i++) {
        if (view->maps[i] == NULL)
            continue;
        task->maps[task->n_maps++] = limn_array_ref(view->maps[i]);
        task->rule.is_signed |= view->is_signed[i];
    }
    task->rule.percentile = view->percentile && view->range_mode == LIMN_RANGE_AUTO;
    task->rule.has_range =
        view->range_mode != LIMN_RANGE_AUTO && view->range[0] < view->range[1];
    task->rule.range[0] = view->range[0];
    task->rule.range[1] = view->range[1];
    return task;
}

static gint64
task_length(const ScaleTask *task)
{
    gint64 n = 0;

    for (int i = 0; i < task->n_maps; i++)
        n += task->maps[i]->length;
    return n;
}

static void
compute(ScaleTask *task)
{
    const float *arrays[2];
    gsize lengths[2];

    for (int i = 0; i < task->n_maps; i++) {
        arrays[i] = limn_array_f32(task->maps[i]);
        lengths[i] = task->maps[i]->length;
    }
    limn_scale_compute(&task->scale, &task->rule, arrays, lengths, task->n_maps);
}

// Values at regular distances, to have a range at once.
static void
compute_sample(ScaleTask *task)
{
    g_autofree float *values = g_new(float, SAMPLE_VALUES);
    const float *array = values;
    gsize length = 0;

    for (int i = 0; i < task->n_maps; i++) {
        gsize n = SAMPLE_VALUES / task->n_maps;
        gint64 step = task->maps[i]->length / n + 1;

        for (gint64 j = 0; j < task->maps[i]->length; j += step)
            values[length++] = limn_array_f32(task->maps[i])[j];
    }
    limn_scale_compute(&task->scale, &task->rule, &array, &length, 1);
}

static void
take_scale(LimnHeatmapView *view, const LimnScale *scale)
{
    view->scale = *scale;
    view->has_scale = TRUE;
    limn_heatmap_view_queue_canvas(view);
    limn_heatmap_view_queue_overlay(view);
    limn_heatmap_view_queue_describe(view);
    g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_RANGE_CHANGED], 0);
}

static void
compute_aside(GTask *gtask, gpointer source, gpointer data, GCancellable *cancellable)
{
    compute(data);
    g_task_return_boolean(gtask, TRUE);
}

static void
computed(GObject *source, GAsyncResult *result, gpointer unused)
{
    ScaleTask *task = g_task_get_task_data(G_TASK(result));
    g_autoptr(LimnHeatmapView) view = g_weak_ref_get(&task->view);

    if (!g_task_propagate_boolean(G_TASK(result), NULL) || view == NULL)
        return;
    g_clear_object(&view->scale_task);
    take_scale(view, &task->scale);
}

static void
start_task(LimnHeatmapView *view, ScaleTask *task)
{
    g_autoptr(GTask) gtask = NULL;

    view->scale_task = g_cancellable_new();
    gtask = g_task_new(NULL, view->scale_task, computed, NULL);
    g_task_set_task_data(gtask, task, scale_task_free);
    limn_worker_run(LIMN_WORKER_FILES, gtask, compute_aside);
}

void
limn_heatmap_view_update_scale(LimnHeatmapView *view)
{
    ScaleTask *task;
    gint64 n;

    if (view->scale_task != NULL)
        g_cancellable_cancel(view->scale_task);
    g_clear_object(&view->scale_task);
    if (view->maps[0] == NULL && view->maps[1] == NULL) {
        view->has_scale = FALSE;
        return;
    }
    task = scale_task_new(view);
    n = task_length(task);
    if (n <= (task->rule.percentile ? DIRECT_PERCENTILE : DIRECT_VALUES)) {
        compute(task);
        take_scale(view, &task->scale);
        scale_task_free(task);
    } else {
        compute_sample(task);
        take_scale(view, &task->scale);
        start_task(view, task);
    }
}

// ---- public

void
limn_heatmap_view_set_range_mode(LimnHeatmapView *view, LimnRangeMode mode)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    if (view->range_mode == mode)
        return;
    view->range_mode = mode;
    limn_heatmap_view_update_scale(view);
}

void
limn_heatmap_view_set_range(LimnHeatmapView *view, double min, double max)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    if (!isfinite(min) || !isfinite(max) ||
        (view->range[0] == min && view->range[1] == max))
        return;
    view->range[0] = MIN(min, max);
    view->range[1] = MAX(min, max);
    if (view->range_mode != LIMN_RANGE_AUTO)
        limn_heatmap_view_update_scale(view);
}

void
limn_heatmap_view_set_percentile(LimnHeatmapView *view, gboolean percentile)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    percentile = percentile != FALSE;
    if (view->percentile == percentile)
        return;
    view->percentile = percentile;
    limn_heatmap_view_update_scale(view);
}

gboolean
limn_heatmap_view_get_data_range(LimnHeatmapView *view, double *min, double *max)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), FALSE);

    if (!view->has_scale || view->scale.empty)
        return FALSE;
    *min = view->scale.data_min;
    *max = view->scale.data_max;
    return TRUE;
}

void
limn_heatmap_view_get_shown_range(LimnHeatmapView *view, double *min, double *max)
{
    g_return_if_fail(LIMN_IS_HEATMAP_VIEW(view));

    *min = view->has_scale ? view->scale.min : 0;
    *max = view->has_scale ? view->scale.max : 1;
}

const LimnScale *
limn_heatmap_view_get_scale(LimnHeatmapView *view)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), NULL);

    return view->has_scale ? &view->scale : NULL;
}
