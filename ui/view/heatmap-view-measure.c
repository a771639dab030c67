// SPDX-License-Identifier: GPL-3.0-or-later

// What a box or a mask says about the map, by the engine's scores of the display map
// (specification: Grad-ECLIP, section 9): its values from 0 to 1, enlarged to the
// picture; of signed maps the positive part. And the description for assistive
// technology.

#include "limn-config.h"

#include "engine/image/map-metrics.h"
#include "ui/model/worker.h"
#include "ui/view/heatmap-view-private.h"

#include <glib/gi18n-lib.h>
#include <math.h>

#define DIRECT_PIXELS (1 << 18)       // measured within a handler
#define MAX_PIXELS ((gint64) 1 << 24) // larger pictures are measured at a reduced size
#define THRESHOLD 0.5
#define DESCRIBE_MILLISECONDS 250

typedef struct {
    GWeakRef view; // a worker must never hold the last reference to a widget
    LimnArray *map;
    LimnImage *mask; // NULL: box
    gint64 ignore;   // label of the mask that counts for nothing
    LimnRect box, rect;
    gboolean is_signed;
    int width, height; // at which it is measured
    double step;       // scene pixels per measured one
    LimnMeasurement result;
} MeasureTask;

static void
measure_task_free(gpointer data)
{
    MeasureTask *task = data;

    g_weak_ref_clear(&task->view);
    limn_array_unref(task->map);
    g_clear_pointer(&task->mask, limn_image_unref);
    g_free(task);
}

static MeasureTask *
measure_task_new(LimnHeatmapView *view)
{
    MeasureTask *task = g_new0(MeasureTask, 1);
    int which = limn_heatmap_view_shown_map(view);
    double pixels = view->scene.width * view->scene.height;

    which = view->maps[which] != NULL ? which : 1 - which;
    g_weak_ref_init(&task->view, view);
    task->map = limn_array_ref(view->maps[which]);
    task->is_signed = view->is_signed[which];
    task->step = pixels > MAX_PIXELS ? sqrt(pixels / MAX_PIXELS) : 1;
    task->width = MAX((int) (view->scene.width / task->step), 1);
    task->height = MAX((int) (view->scene.height / task->step), 1);
    task->rect = view->scene.rects[which];
    task->rect.x /= task->step;
    task->rect.y /= task->step;
    task->rect.width /= task->step;
    task->rect.height /= task->step;
    if (view->has_box)
        task->box = view->box;
    else
        task->mask = limn_image_ref(view->mask);
    task->ignore = view->effective_ignore;
    return task;
}

static LimnMaskValue
mask_value(const MeasureTask *task, double x, double y)
{
    double label = limn_image_get_sample(task->mask, MIN((int) x, task->mask->width - 1),
                                         MIN((int) y, task->mask->height - 1), 0);

    if (task->ignore >= 0 && label == task->ignore)
        return LIMN_MASK_LEFT_OUT;
    return label != 0 ? LIMN_MASK_OBJECT : LIMN_MASK_BACKGROUND;
}

static LimnMaskValue
box_value(const LimnRect *box, double x, double y)
{
    gboolean inside =
        x >= box->x && x < box->x + box->width && y >= box->y && y < box->y + box->height;

    return inside ? LIMN_MASK_OBJECT : LIMN_MASK_BACKGROUND;
}

// A pixel belongs to the region when its centre does.
static void
fill_region(const MeasureTask *task, guint8 *region)
{
    for (int y = 0; y < task->height; y++) {
        double scene_y = (y + 0.5) * task->step;

        for (int x = 0; x < task->width; x++) {
            double scene_x = (x + 0.5) * task->step;

            region[(gsize) y * task->width + x] =
                task->mask != NULL ? mask_value(task, scene_x, scene_y)
                                   : box_value(&task->box, scene_x, scene_y);
        }
    }
}

static void
measure(MeasureTask *task)
{
    gsize n = (gsize) task->width * task->height;
    int gh = task->map->shape[0], gw = task->map->shape[1];
    g_autofree float *field = g_try_new(float, n);
    g_autofree guint8 *region = g_try_malloc(n);
    g_autofree float *values = g_try_new(float, task->map->length);
    LimnMapScores scores;

    if (field == NULL || region == NULL || values == NULL)
        return;
    for (gint64 i = 0; i < task->map->length; i++) {
        float value = limn_array_f32(task->map)[i];

        values[i] = task->is_signed && value < 0 ? 0 : value;
    }
    if (limn_display_map(values, gh, gw, &task->rect, field, task->height, task->width))
        return; // constant: no share of anything
    fill_region(task, region);
    if (!limn_map_score(field, region, n, THRESHOLD, &scores, NULL))
        return;
    task->result.energy = scores.energy;
    task->result.iou = scores.iou_threshold;
    task->result.valid = isfinite(scores.energy) && isfinite(scores.iou_threshold);
}

static void
take_result(LimnHeatmapView *view, const LimnMeasurement *result)
{
    view->measurement = *result;
    limn_heatmap_view_queue_overlay(view);
    limn_heatmap_view_queue_describe(view);
    g_signal_emit(view, limn_heatmap_view_signals[LIMN_HEATMAP_MEASURED], 0);
}

static void
measure_aside(GTask *gtask, gpointer source, gpointer data, GCancellable *cancellable)
{
    measure(data);
    g_task_return_boolean(gtask, TRUE);
}

static void
measured(GObject *source, GAsyncResult *result, gpointer unused)
{
    MeasureTask *task = g_task_get_task_data(G_TASK(result));
    g_autoptr(LimnHeatmapView) view = g_weak_ref_get(&task->view);

    if (!g_task_propagate_boolean(G_TASK(result), NULL) || view == NULL)
        return;
    g_clear_object(&view->measure_task);
    take_result(view, &task->result);
    if (view->measure_again)
        limn_heatmap_view_update_measure(view);
}

void
limn_heatmap_view_update_measure(LimnHeatmapView *view)
{
    gboolean has_map = view->maps[0] != NULL || view->maps[1] != NULL;
    MeasureTask *task;

    // One at a time: while a box is dragged, results follow as fast as they come.
    view->measure_again = view->measure_task != NULL;
    if (view->measure_again)
        return;
    if (!has_map || (!view->has_box && view->mask == NULL)) {
        if (view->measurement.valid)
            take_result(view, &(LimnMeasurement){0});
        return;
    }
    task = measure_task_new(view);
    if ((gint64) task->width * task->height <= DIRECT_PIXELS) {
        measure(task);
        take_result(view, &task->result);
        measure_task_free(task);
    } else {
        g_autoptr(GTask) gtask = NULL;

        view->measure_task = g_cancellable_new();
        gtask = g_task_new(NULL, view->measure_task, measured, NULL);
        g_task_set_task_data(gtask, task, measure_task_free);
        limn_worker_run(LIMN_WORKER_FILES, gtask, measure_aside);
    }
}

gboolean
limn_heatmap_view_measure(LimnHeatmapView *view, double *energy, double *iou)
{
    g_return_val_if_fail(LIMN_IS_HEATMAP_VIEW(view), FALSE);

    if (!view->measurement.valid)
        return FALSE;
    *energy = view->measurement.energy;
    *iou = view->measurement.iou;
    return TRUE;
}

// ---- for assistive technology

static void
append_map(LimnHeatmapView *view, GString *text)
{
    g_autofree char *min = limn_number_display(view->scale.min, 3);
    g_autofree char *max = limn_number_display(view->scale.max, 3);
    g_autofree char *value = limn_number_display(view->scale.data_min, 4);

    if (view->scale.empty)
        g_string_append(text, _(" The map has no finite value."));
    else if (view->scale.constant)
        g_string_append_printf(text, _(" The map is constant: %s everywhere."), value);
    else
        g_string_append_printf(text, _(" Map colours from %s to %s."), min, max);
    if (view->scale.n_missing > 0 && !view->scale.empty)
        g_string_append_printf(text, _(" %" G_GINT64_FORMAT " cells have no value."),
                               view->scale.n_missing);
}

static char *
describe(LimnHeatmapView *view)
{
    GString *text = g_string_new(NULL);
    g_autofree char *probe = limn_heatmap_view_describe_probe(view);

    if (view->picture != NULL)
        g_string_append_printf(text, _("Picture of %d by %d pixels."),
                               view->picture->width, view->picture->height);
    else
        g_string_append(text, _("No picture."));
    if (view->has_scale)
        append_map(view, text);
    if (view->measurement.valid)
        g_string_append_printf(text, _(" Region: %.0f %% of the energy, overlap %.2f."),
                               100 * view->measurement.energy, view->measurement.iou);
    if (probe != NULL)
        g_string_append_printf(text, _(" At the probe: %s."), probe);
    if (view->gl_message != NULL)
        g_string_append(text, _(" Drawn without OpenGL."));
    return g_string_free(text, FALSE);
}

void
limn_heatmap_view_describe(LimnHeatmapView *view)
{
    g_autofree char *text = describe(view);
    const char *label = view->titles[0] != NULL ? view->titles[0] : _("Heat map");

    gtk_accessible_update_property(GTK_ACCESSIBLE(view), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   label, GTK_ACCESSIBLE_PROPERTY_DESCRIPTION, text, -1);
}

static gboolean
describe_now(gpointer data)
{
    LimnHeatmapView *view = data;

    view->describe_source = 0;
    limn_heatmap_view_describe(view);
    return G_SOURCE_REMOVE;
}

void
limn_heatmap_view_queue_describe(LimnHeatmapView *view)
{
    if (view->describe_source == 0)
        view->describe_source = g_timeout_add(DESCRIBE_MILLISECONDS, describe_now, view);
}
