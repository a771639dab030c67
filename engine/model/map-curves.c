// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/map-curves.h"

#include "engine/base/rng.h"
#include "engine/image/map-metrics.h"

#include <string.h>

// Streams of the generator are numbered by purpose.
#define STREAM_DELETION ((guint64) 11 << 40)

typedef struct {
    LimnClip *clip;
    const LimnStudyClasses *classes;
    guint target;
    LimnImage *original; // RGB U8
    LimnImage *canvas;   // RGB U8, changed step by step
    const gint64 *order;
    gint64 n, done; // pixels in all, pixels changed so far
    const LimnCurveOptions *options;
    LimnJob *job;
} Curve;

static gboolean
measure(Curve *curve, LimnCurvePoint *point, GError **error)
{
    g_autoptr(LimnArray) embedding =
        limn_clip_encode_image(curve->clip, curve->canvas, curve->job, error);
    if (embedding == NULL) {
        return FALSE;
    }
    g_autofree LimnClassScore *scores = g_new0(LimnClassScore, curve->classes->n);
    limn_study_score(curve->classes, curve->clip, embedding, scores);
    const LimnClassScore *score = &scores[curve->target];
    *point = (LimnCurvePoint){
        .fraction = (double) curve->done / (double) curve->n,
        .cosine = score->cosine,
        .probability = score->probability,
        .rank = score->rank,
    };
    return TRUE;
}

// The colour of a pixel depends on nothing but seed, picture and place.
static void
delete_until(Curve *curve, gint64 until)
{
    LimnRng rng = limn_rng_make(curve->options->seed,
                                STREAM_DELETION | curve->options->stream << 8);
    guint8 *pixels = curve->canvas->data;
    for (; curve->done < until; curve->done++) {
        gint64 at = curve->order[curve->done];
        guint32 random = limn_rng_uint32_at(&rng, (guint64) at);
        pixels[at * 3] = (guint8) (random >> 24);
        pixels[at * 3 + 1] = (guint8) (random >> 16);
        pixels[at * 3 + 2] = (guint8) (random >> 8);
    }
}

static void
insert_until(Curve *curve, gint64 until)
{
    guint8 *pixels = curve->canvas->data;
    const guint8 *original = curve->original->data;
    for (; curve->done < until; curve->done++) {
        gint64 at = curve->order[curve->done];
        memcpy(pixels + at * 3, original + at * 3, 3);
    }
}

static gboolean
run_curve(Curve *curve, gboolean deletion, LimnCurvePoint *points, GError **error)
{
    int n_points = limn_map_n_measured(curve->options->steps, curve->options->gap);
    for (int i = 0; i < n_points; i++) {
        int step = i * curve->options->gap;
        limn_job_report(curve->job, "curve", (double) i / n_points, "%s",
                        deletion ? "deletion" : "insertion");
        if (deletion) {
            delete_until(curve,
                         limn_map_pixels_deleted(curve->n, curve->options->steps, step));
        } else {
            // The last point is the whole picture.
            insert_until(curve, i + 1 == n_points
                                    ? curve->n
                                    : limn_map_pixels_inserted(
                                          curve->n, curve->options->steps, step));
        }
        if (!measure(curve, &points[i], error)) {
            return FALSE;
        }
    }
    return TRUE;
}

static gboolean
prepare_and_run(Curve *curve, LimnImage *image, const float *map, gboolean deletion,
                LimnCurvePoint *points, GError **error)
{
    g_autoptr(LimnImage) original =
        limn_image_to_rgb8(image, limn_image_default_range(image), error);
    if (original == NULL) {
        return FALSE;
    }
    curve->n = (gint64) image->width * image->height;
    g_autofree gint64 *order = limn_map_order(map, curve->n, error);
    g_autoptr(LimnImage) canvas =
        order != NULL ? limn_image_new(image->width, image->height, LIMN_PIXELS_RGB,
                                       LIMN_DEPTH_U8, error)
                      : NULL;
    if (canvas == NULL) {
        return FALSE;
    }
    if (deletion) {
        memcpy(canvas->data, original->data, (gsize) curve->n * 3);
    }
    curve->original = original;
    curve->canvas = canvas;
    curve->order = order;
    return run_curve(curve, deletion, points, error);
}

gboolean
limn_map_deletion_curve(LimnClip *clip, const LimnStudyClasses *classes, guint target,
                        LimnImage *image, const float *map,
                        const LimnCurveOptions *options, LimnCurvePoint *points,
                        LimnJob *job, GError **error)
{
    Curve curve = {.clip = clip,
                   .classes = classes,
                   .target = target,
                   .options = options,
                   .job = job};
    return prepare_and_run(&curve, image, map, TRUE, points, error);
}

gboolean
limn_map_insertion_curve(LimnClip *clip, const LimnStudyClasses *classes, guint target,
                         LimnImage *image, const float *map,
                         const LimnCurveOptions *options, LimnCurvePoint *points,
                         LimnJob *job, GError **error)
{
    Curve curve = {.clip = clip,
                   .classes = classes,
                   .target = target,
                   .options = options,
                   .job = job};
    return prepare_and_run(&curve, image, map, FALSE, points, error);
}
