// SPDX-License-Identifier: GPL-3.0-or-later

// The picture as CLIP sees it (specification of Grad-ECLIP, section 4): sizes and crops
// as torchvision computes them, pixels by the fixed-point resampler.

#include <math.h>

#include "engine/base/array.h"
#include "engine/base/error.h"
#include "engine/base/job.h"
#include "engine/base/number.h"
#include "engine/image/resample-private.h"

// What is computed: the picture resized to width x height, and the window of it.
typedef struct {
    int width, height;
    int left, top, window_width, window_height;
} Plan;

static gboolean
plan_error(const LimnImage *image, GError **error)
{
    g_set_error(
        error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
        "a picture of %d x %d pixels is too elongated to be resized for the model",
        image->width, image->height);
    return FALSE;
}

// excess / 2 rounded to the nearest whole number, halves to even.
static int
half_even(int excess)
{
    int half = excess / 2;
    return excess % 2 != 0 && half % 2 != 0 ? half + 1 : half;
}

static gboolean
plan_clip(const LimnImage *image, const LimnPreprocess *options, Plan *plan,
          GError **error)
{
    int n = options->size;
    double width = n, height = n;
    if (!options->squash && image->width <= image->height) {
        height = trunc((double) n * image->height / image->width);
    } else if (!options->squash) {
        width = trunc((double) n * image->width / image->height);
    }
    if (width > G_MAXINT || height > G_MAXINT) {
        return plan_error(image, error);
    }
    *plan = (Plan){
        .width = (int) width,
        .height = (int) height,
        .left = half_even((int) width - n),
        .top = half_even((int) height - n),
        .window_width = n,
        .window_height = n,
    };
    return TRUE;
}

// Whole multiples of the patch, at least one.
static int
round_to_patch(int side, int patch)
{
    int patches = (int) ((double) side / patch + 0.5);
    return MAX(patches, 1) * patch;
}

static gboolean
plan_keep(const LimnImage *image, const LimnPreprocess *options, Plan *plan,
          GError **error)
{
    if (MAX(image->width, image->height) > G_MAXINT - options->patch) {
        return plan_error(image, error);
    }
    int width = round_to_patch(image->width, options->patch);
    int height = round_to_patch(image->height, options->patch);
    *plan = (Plan){width, height, 0, 0, width, height};
    return TRUE;
}

// KEEP mode: a picture whose short side exceeds the limit is shrunk to it first.
static LimnImage *
apply_limit(LimnImage *image, const LimnPreprocess *options, LimnJob *job, GError **error)
{
    int side = MIN(image->width, image->height);
    if (options->keep_limit <= 0 || side <= options->keep_limit) {
        return limn_image_ref(image);
    }
    double factor = (double) side / options->keep_limit;
    int width = MAX((int) (image->width / factor), 1);
    int height = MAX((int) (image->height / factor), 1);
    return limn_resize_bicubic(image, width, height, job, error);
}

// Says what a reader of the score must know about pictures of more than 8 bits.
static void
diagnose_range(const LimnImage *image, LimnRangeRule rule, LimnJob *job)
{
    double min, max, type_min, type_max;
    if (image->pixels == LIMN_PIXELS_INDEXED || image->depth == LIMN_DEPTH_U8 ||
        !limn_image_range(image, &min, &max)) {
        return;
    }
    limn_image_type_range(image, &type_min, &type_max);
    char low[LIMN_NUMBER_BUFFER], high[LIMN_NUMBER_BUFFER], top[LIMN_NUMBER_BUFFER];
    limn_number_format(low, min);
    limn_number_format(high, max);
    limn_number_format(top, type_max);
    if (rule == LIMN_RANGE_DATA) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, NULL,
                          "the range of the picture's samples, %s to %s, was mapped to "
                          "black and white for the model",
                          low, high);
    } else if (max < type_max / 8) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_WARNING, NULL,
                          "the picture uses only %s to %s of its range of 0 to %s: the "
                          "model sees a dark picture (choose the range of the data)",
                          low, high, top);
    }
}

// A picture whose resized bytes become those of the resized RGB picture by dropping alpha
// or repeating grey: itself where it can be, else as RGB.
static LimnImage *
prepare_colours(LimnImage *image, const LimnPreprocess *options, LimnJob *job,
                GError **error)
{
    LimnRangeRule rule =
        options->data_range ? LIMN_RANGE_DATA : limn_image_default_range(image);
    diagnose_range(image, rule, job);
    gboolean plain =
        image->depth == LIMN_DEPTH_U8 && image->bits == 8 && rule == LIMN_RANGE_TYPE &&
        (image->pixels == LIMN_PIXELS_GREY || image->pixels == LIMN_PIXELS_RGBA);
    return plain ? limn_image_ref(image) : limn_image_to_rgb8(image, rule, error);
}

// [h, w, 3] bytes to [3, h, w] floats: (v / 255 - mean) / std, each step in float32.
static LimnArray *
normalise(const LimnImage *image, const LimnPreprocess *options, GError **error)
{
    LimnArray *tensor = limn_array_new_f32_3d(3, image->height, image->width, error);
    if (tensor == NULL) {
        return NULL;
    }
    gsize n = (gsize) image->height * (gsize) image->width;
    const guint8 *from = image->data;
    for (gsize channel = 0; channel < 3; channel++) {
        float table[256];
        for (int value = 0; value < 256; value++) {
            float unit = (float) value / 255.0f;
            table[value] = (unit - options->mean[channel]) / options->std[channel];
        }
        float *to = limn_array_f32(tensor) + channel * n;
        for (gsize i = 0; i < n; i++) {
            to[i] = table[from[3 * i + channel]];
        }
    }
    return tensor;
}

static gboolean
check_options(const LimnPreprocess *options, GError **error)
{
    gboolean clip = options->mode == LIMN_PREPROCESS_CLIP;
    int side = clip ? options->size : options->patch;
    if (side < 1 || side > 1 << 15) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s of %d pixels (expected 1 to 32768)",
                    clip ? "model picture size" : "patch size", side);
        return FALSE;
    }
    for (int channel = 0; channel < 3; channel++) {
        float std = options->std[channel];
        if (!isfinite(options->mean[channel]) || !isfinite(std) || !(std > 0)) {
            char a[LIMN_NUMBER_BUFFER], b[LIMN_NUMBER_BUFFER];
            g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                        "picture normalisation with mean %s and deviation %s (expected "
                        "finite numbers and a deviation above 0)",
                        limn_number_format_float(a, options->mean[channel]),
                        limn_number_format_float(b, std));
            return FALSE;
        }
    }
    return TRUE;
}

// Fills everything but the tensor. `colours` is what the plan applies to, `source` the
// picture whose pixels the rectangle is measured in.
static gboolean
apply_plan(LimnPreprocessed *result, LimnImage *colours, const LimnImage *source,
           const Plan *plan, const LimnPreprocess *options, LimnJob *job, GError **error)
{
    LimnFilter filter = options->bilinear ? LIMN_FILTER_TRIANGLE : LIMN_FILTER_BICUBIC;
    double width = source->width, height = source->height;
    result->resized_width = plan->width;
    result->resized_height = plan->height;
    result->crop_left = plan->left;
    result->crop_top = plan->top;
    result->rect = (LimnRect){
        // Multiplied first: a window that is the whole picture covers it exactly.
        .x = plan->left * width / plan->width,
        .y = plan->top * height / plan->height,
        .width = plan->window_width * width / plan->width,
        .height = plan->window_height * height / plan->height,
    };
    g_autoptr(LimnImage) window = limn_resample_window(
        colours, filter, plan->width, plan->height, plan->left, plan->top,
        plan->window_width, plan->window_height, job, error);
    result->image =
        window != NULL ? limn_image_to_rgb8(window, LIMN_RANGE_TYPE, error) : NULL;
    return result->image != NULL;
}

LimnPreprocessed *
limn_preprocess(LimnImage *image, const LimnPreprocess *options, LimnJob *job,
                GError **error)
{
    if (!check_options(options, error)) {
        return NULL;
    }
    g_autoptr(LimnImage) colours = prepare_colours(image, options, job, error);
    if (colours == NULL) {
        return NULL;
    }
    Plan plan;
    if (options->mode == LIMN_PREPROCESS_CLIP) {
        if (!plan_clip(colours, options, &plan, error)) {
            return NULL;
        }
    } else {
        LimnImage *limited = apply_limit(colours, options, job, error);
        limn_image_unref(colours);
        colours = limited;
        if (colours == NULL || !plan_keep(colours, options, &plan, error)) {
            return NULL;
        }
    }
    g_autoptr(LimnPreprocessed) result = g_new0(LimnPreprocessed, 1);
    if (!apply_plan(result, colours, image, &plan, options, job, error)) {
        return NULL;
    }
    result->tensor = normalise(result->image, options, error);
    if (result->tensor == NULL) {
        return NULL;
    }
    return g_steal_pointer(&result);
}

void
limn_preprocessed_free(LimnPreprocessed *preprocessed)
{
    if (preprocessed != NULL) {
        limn_image_unref(preprocessed->image);
        limn_array_unref(preprocessed->tensor);
        g_free(preprocessed);
    }
}
