// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/study-explain.h"

#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "engine/model/study-inputs.h"
#include "engine/model/study-words.h"

#include <math.h>
#include <string.h>

// Bytes that the maps of a study may take at picture size.
#define MAX_DISPLAY_BYTES ((gint64) 4 << 30)
// Of a folder the pictures are kept for figures, small, and only of that many.
#define MOST_PICTURES_KEPT 256
#define KEPT_PICTURE_SIDE 512

typedef struct {
    LimnRun *run;
    LimnJob *job;
    const LimnExplainOptions *options;
    LimnExplainer *explainer;
    LimnSentences *sentences;
    LimnPictureItems *items;
    LimnSide side;
    gboolean wants_display;
    guint n_maps; // per item: one per sentence
    // Collected over the items.
    GPtrArray *maps, *signed_maps, *displays; // LimnArray, item by item
    LimnArtifact *words;
    GArray *done;        // guint64: items that worked
    GPtrArray *pictures; // LimnImage, of the items that worked; NULL for pixels
    GArray *rects;       // LimnRect
} Explaining;

// ---- parameters

static const LimnParameter *
find_parameter(LimnRun *run, const char *name)
{
    return limn_operation_find_parameter(limn_run_get_study(run)->operation, name);
}

static void
read_int(LimnRun *run, const char *name, int *value)
{
    if (find_parameter(run, name) != NULL) {
        *value = (int) limn_run_get_int(run, name);
    }
}

static void
read_double(LimnRun *run, const char *name, double *value)
{
    if (find_parameter(run, name) != NULL) {
        *value = limn_run_get_float(run, name);
    }
}

// The choices are declared in the order of the enumeration.
static int
read_choice(LimnRun *run, const char *name, int value)
{
    return find_parameter(run, name) != NULL ? limn_run_get_choice(run, name) : value;
}

void
limn_study_read_explain_options(LimnRun *run, LimnExplainOptions *options)
{
    options->mode = (LimnExplainMode) read_choice(run, "mode", (int) options->mode);
    options->similarity =
        (LimnSimilarity) read_choice(run, "similarity", (int) options->similarity);
    options->padding = (LimnPadding) read_choice(run, "padding", (int) options->padding);
    options->surgery_token_norm =
        read_choice(run, "surgery-norm", !options->surgery_token_norm) == 0;
    read_int(run, "layers", &options->layers);
    read_int(run, "text-layers", &options->text_layers);
    read_int(run, "surgery-depth", &options->surgery_depth);
    read_int(run, "rise-masks", &options->rise_masks);
    read_double(run, "rise-keep", &options->rise_keep);
    read_int(run, "m2ib-layer", &options->m2ib_layer);
    read_int(run, "m2ib-steps", &options->m2ib_steps);
    read_double(run, "m2ib-beta", &options->m2ib_beta);
    options->seed = limn_run_get_seed(run);
}

static gboolean
check_blocks(LimnRun *run, LimnClip *clip, const char *name, int blocks, GError **error)
{
    const LimnParameter *parameter = find_parameter(run, name);
    if (parameter == NULL || limn_run_get_int(run, name) <= blocks) {
        return TRUE;
    }
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "%s=%" G_GINT64_FORMAT ": the value is out of range (expected an integer "
                "from %d to %d, the blocks of %s)",
                name, limn_run_get_int(run, name), (int) parameter->min, blocks,
                limn_clip_get_name(clip));
    return FALSE;
}

gboolean
limn_study_check_layers(LimnRun *run, LimnClip *clip, GError **error)
{
    const LimnClipConfig *config = limn_clip_get_config(clip);
    return check_blocks(run, clip, "layers", config->vision.layers, error) &&
           (!config->has_text || // then the sentence says what is missing
            check_blocks(run, clip, "text-layers", config->text.layers, error));
}

// ---- one item

static LimnArray *
pixels_of_item(const LimnPictureItems *items, guint64 index, GError **error)
{
    const gint64 *shape = items->pixels->shape;
    LimnArray *one = limn_array_new_f32_3d(shape[1], shape[2], shape[3], error);
    if (one != NULL) {
        gsize size = (gsize) one->length;
        memcpy(one->data, limn_array_f32(items->pixels) + index * size,
               size * sizeof(float));
    }
    return one;
}

static void
add_seconds(LimnJob *job, const char *stage, gint64 start)
{
    limn_job_add_time(job, stage, (double) (g_get_monotonic_time() - start) * 1e-6);
}

static LimnPreprocessMode
preprocess_mode(LimnRun *run)
{
    return read_choice(run, "preprocess", 0) == 0 ? LIMN_PREPROCESS_CLIP
                                                  : LIMN_PREPROCESS_KEEP;
}

// Decodes and encodes. *image is NULL for pixels.
static gboolean
set_item(Explaining *e, guint64 index, LimnImage **image, GError **error)
{
    gint64 start = g_get_monotonic_time();
    if (e->items->pixels != NULL) {
        g_autoptr(LimnArray) pixels = pixels_of_item(e->items, index, error);
        if (pixels == NULL ||
            !limn_explainer_set_pixels(e->explainer, pixels, e->job, error)) {
            return FALSE;
        }
        add_seconds(e->job, "encode", start);
        return TRUE;
    }
    limn_job_report(e->job, "decode", 0, "%s", e->items->names[index]);
    *image = limn_picture_load(e->items->paths[index], e->job, error);
    add_seconds(e->job, "decode", start);
    start = g_get_monotonic_time();
    int limit = 0;
    read_int(e->run, "keep-limit", &limit);
    if (*image == NULL ||
        !limn_explainer_set_image(e->explainer, *image, preprocess_mode(e->run), limit,
                                  e->job, error)) {
        return FALSE;
    }
    add_seconds(e->job, "encode", start);
    return TRUE;
}

// (element-type LimnExplanation), one per sentence.
static GPtrArray *
explain_sentences(Explaining *e, GError **error)
{
    const LimnSentences *sentences = e->sentences;
    if (sentences->ids == NULL && sentences->n > 0) {
        return limn_explainer_explain_all(e->explainer, e->options, e->side,
                                          (const char *const *) sentences->texts, e->job,
                                          error);
    }
    g_autoptr(GPtrArray) explanations =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_explanation_free);
    if (sentences->n == 0) {
        LimnExplanation *explanation =
            limn_explainer_explain_picture(e->explainer, e->options, e->job, error);
        if (explanation == NULL) {
            return NULL;
        }
        g_ptr_array_add(explanations, explanation);
    }
    for (guint i = 0; i < sentences->n; i++) {
        LimnExplanation *explanation = limn_explainer_explain_ids(
            e->explainer, e->options, e->side,
            sentences->ids + (gsize) i * (gsize) sentences->n_ids, sentences->n_ids,
            e->job, error);
        if (explanation == NULL) {
            return NULL;
        }
        g_ptr_array_add(explanations, explanation);
    }
    return g_steal_pointer(&explanations);
}

// "a dog", or "photo.png: a dog" among many pictures.
static char *
item_label(const Explaining *e, guint64 index, guint sentence)
{
    const char *label = e->sentences->labels[sentence];
    return e->items->many ? g_strdup_printf("%s: %s", e->items->names[index], label)
                          : g_strdup(label);
}

static void
diagnose(Explaining *e, guint64 index, guint i, const LimnExplanation *explanation)
{
    g_autofree char *label =
        e->sentences->n > 0 ? item_label(e, index, i) : g_strdup(e->items->names[index]);
    if (explanation->constant && explanation->map != NULL) {
        gboolean zero =
            explanation->map->length > 0 && limn_array_f32(explanation->map)[0] == 0;
        limn_job_diagnose(e->job, LIMN_DIAGNOSTIC_WARNING, label,
                          zero ? "the map is zero everywhere: nothing in the picture "
                                 "speaks for the sentence"
                               : "the map is constant: all parts of the picture count "
                                 "the same");
    }
    if (explanation->no_positive_token) {
        limn_job_diagnose(e->job, LIMN_DIAGNOSTIC_WARNING, label,
                          "no token has positive influence: the word weights are zero");
    }
}

// Softmax over the sentences of one picture.
static void
add_scalars(Explaining *e, guint64 index, GPtrArray *explanations)
{
    double largest = -INFINITY, sum = 0;
    for (guint i = 0; i < explanations->len; i++) {
        const LimnExplanation *explanation = g_ptr_array_index(explanations, i);
        largest = MAX(largest, explanation->logit);
    }
    for (guint i = 0; i < explanations->len; i++) {
        const LimnExplanation *explanation = g_ptr_array_index(explanations, i);
        sum += exp(explanation->logit - largest);
    }
    for (guint i = 0; i < explanations->len; i++) {
        const LimnExplanation *explanation = g_ptr_array_index(explanations, i);
        g_autofree char *label = item_label(e, index, i);
        double probability = exp(explanation->logit - largest) / sum;
        limn_run_add_item_scalar(e->run, "cosine", label, explanation->cosine);
        limn_run_add_item_scalar(e->run, "logit", label, explanation->logit);
        limn_run_add_item_scalar(e->run, "probability", label, probability);
        if (e->options->mode == LIMN_MODE_AUTHORS) {
            limn_run_add_item_scalar(e->run, "mode_score", label,
                                     explanation->mode_score);
        }
    }
}

// ---- words

static void
add_words(Explaining *e, GPtrArray *explanations)
{
    LimnClip *clip = limn_explainer_get_clip(e->explainer);
    const LimnSentences *sentences = e->sentences;
    for (guint i = 0; i < explanations->len; i++) {
        const gint32 *ids = sentences->ids != NULL
                                ? sentences->ids + (gsize) i * (gsize) sentences->n_ids
                                : NULL;
        g_ptr_array_add(e->words->texts,
                        limn_study_make_words(clip, sentences->texts[i], ids,
                                              sentences->n_ids,
                                              g_ptr_array_index(explanations, i)));
    }
}

// ---- maps

static void
frame_size(Explaining *e, LimnImage *image, int *height, int *width)
{
    if (image != NULL) {
        *height = image->height;
        *width = image->width;
    } else {
        *height = (int) e->items->pixels->shape[2];
        *width = (int) e->items->pixels->shape[3];
    }
}

// Maps of one item at picture size.
static gboolean
add_displays(Explaining *e, LimnImage *image, GPtrArray *explanations, GError **error)
{
    int height, width, gh, gw;
    LimnRect rect;
    frame_size(e, image, &height, &width);
    limn_explainer_get_grid(e->explainer, &gh, &gw, &rect);
    for (guint i = 0; i < explanations->len; i++) {
        const LimnExplanation *explanation = g_ptr_array_index(explanations, i);
        LimnArray *display = limn_array_new_f32_2d(height, width, error);
        if (display == NULL) {
            return FALSE;
        }
        g_ptr_array_add(e->displays, display);
        (void) limn_display_map(limn_array_f32(explanation->map), gh, gw, &rect,
                                limn_array_f32(display), height, width);
    }
    return TRUE;
}

static gboolean
check_display_size(Explaining *e, LimnImage *image, GError **error)
{
    int height, width;
    frame_size(e, image, &height, &width);
    gint64 pixels = (gint64) height * width;
    gint64 n = (gint64) MAX(e->n_maps, 1) * (gint64) MAX(e->items->n, 1);
    if (pixels <= MAX_DISPLAY_BYTES / 4 / n) {
        return TRUE;
    }
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                "display=yes: %" G_GINT64_FORMAT " maps of %d x %d need more than %d GiB "
                "(expected fewer sentences, or display=no)",
                n, width, height, (int) (MAX_DISPLAY_BYTES >> 30));
    return FALSE;
}

// A folder's picture for the figures: at most KEPT_PICTURE_SIDE pixels on a side.
static LimnImage *
shrink_picture(Explaining *e, LimnImage *image, LimnRect *rect, GError **error)
{
    int side = MAX(image->width, image->height);
    if (!e->items->folder || side <= KEPT_PICTURE_SIDE) {
        return limn_image_ref(image);
    }
    double factor = (double) KEPT_PICTURE_SIDE / side;
    int width = MAX((int) (image->width * factor + 0.5), 1);
    int height = MAX((int) (image->height * factor + 0.5), 1);
    g_autoptr(LimnImage) rgb =
        limn_image_to_rgb8(image, limn_image_default_range(image), error);
    if (rgb == NULL) {
        return NULL;
    }
    double sx = (double) width / image->width, sy = (double) height / image->height;
    *rect = (LimnRect){rect->x * sx, rect->y * sy, rect->width * sx, rect->height * sy};
    return limn_resize_area(rgb, width, height, e->job, error);
}

static gboolean
keep_picture(Explaining *e, LimnImage *image, LimnRect *rect, GError **error)
{
    if (image == NULL || (e->items->folder && e->items->n > MOST_PICTURES_KEPT)) {
        return TRUE;
    }
    LimnImage *kept = shrink_picture(e, image, rect, error);
    if (kept != NULL) {
        g_ptr_array_add(e->pictures, kept);
    }
    return kept != NULL;
}

static gboolean
collect_maps(Explaining *e, LimnImage *image, GPtrArray *explanations, GError **error)
{
    if (e->wants_display && (!check_display_size(e, image, error) ||
                             !add_displays(e, image, explanations, error))) {
        return FALSE;
    }
    LimnRect rect;
    int gh, gw;
    limn_explainer_get_grid(e->explainer, &gh, &gw, &rect);
    if (!keep_picture(e, image, &rect, error)) {
        return FALSE;
    }
    for (guint i = 0; i < explanations->len; i++) {
        const LimnExplanation *explanation = g_ptr_array_index(explanations, i);
        g_ptr_array_add(e->maps, limn_array_ref(explanation->map));
        if (explanation->signed_map != NULL) {
            g_ptr_array_add(e->signed_maps, limn_array_ref(explanation->signed_map));
        }
    }
    g_array_append_val(e->rects, rect);
    return TRUE;
}

static gboolean
explain_item(Explaining *e, guint64 index, GError **error)
{
    g_autoptr(LimnImage) image = NULL;
    if (!set_item(e, index, &image, error)) {
        return FALSE;
    }
    gint64 start = g_get_monotonic_time();
    limn_job_report(e->job, "explain", 0.5, "%s", e->items->names[index]);
    g_autoptr(GPtrArray) explanations = explain_sentences(e, error);
    add_seconds(e->job, "explain", start);
    if (explanations == NULL) {
        return FALSE;
    }
    guint n_maps = e->displays->len;
    if (e->side != LIMN_SIDE_TEXT && !collect_maps(e, image, explanations, error)) {
        g_ptr_array_set_size(e->displays, (int) n_maps); // nothing else was added
        return FALSE;
    }
    for (guint i = 0; i < explanations->len; i++) {
        diagnose(e, index, i, g_ptr_array_index(explanations, i));
    }
    if (e->sentences->n > 0) {
        add_scalars(e, index, explanations);
    }
    if (e->words != NULL) {
        add_words(e, explanations);
    }
    g_array_append_val(e->done, index);
    return TRUE;
}

static gboolean
explain_items(Explaining *e, GError **error)
{
    double n = (double) e->items->n;
    for (guint64 i = 0; i < e->items->n; i++) {
        if (!limn_run_owns_item(e->run, i)) {
            continue;
        }
        if (!limn_run_begin_item(e->run, i, e->items->names[i], error)) {
            return FALSE;
        }
        GError *local = NULL;
        limn_job_push_range(e->job, (double) i / n, (double) (i + 1) / n);
        gboolean good = explain_item(e, i, &local);
        limn_job_pop_range(e->job);
        if (!good && !limn_study_item_failed(e->run, e->items, i, local, error)) {
            return FALSE;
        }
    }
    return limn_study_check_any_item(e->run, e->items, error);
}

// ---- artifacts

// Joins [h,w] arrays to [T,h,w], or [B,T,h,w] for many items.
static LimnArray *
join_maps(Explaining *e, GPtrArray *maps, GError **error)
{
    const LimnArray *first = g_ptr_array_index(maps, 0);
    gint64 shape[4] = {e->done->len, e->n_maps, first->shape[0], first->shape[1]};
    LimnArray *joined = e->items->many
                            ? limn_array_new(LIMN_DTYPE_F32, 4, shape, error)
                            : limn_array_new(LIMN_DTYPE_F32, 3, shape + 1, error);
    if (joined == NULL) {
        return NULL;
    }
    float *out = limn_array_f32(joined);
    for (guint i = 0; i < maps->len; i++) {
        const LimnArray *map = g_ptr_array_index(maps, i);
        memcpy(out, map->data, (gsize) map->length * sizeof(float));
        out += map->length;
    }
    return joined;
}

static void
add_labels(Explaining *e, LimnArtifact *artifact)
{
    for (guint k = 0; k < e->done->len; k++) {
        guint64 index = g_array_index(e->done, guint64, k);
        for (guint i = 0; i < e->n_maps; i++) {
            g_autofree char *label =
                e->sentences->n > 0
                    ? item_label(e, index, i)
                    : g_strdup(limn_explain_method_title(e->options->method));
            limn_artifact_add_label(artifact, label);
        }
        if (e->items->many) {
            limn_artifact_tag_item(artifact, index, 1);
        }
    }
}

static void
add_pictures(Explaining *e, LimnArtifact *artifact, gboolean whole)
{
    for (guint i = 0; i < e->pictures->len; i++) {
        LimnImage *picture = g_ptr_array_index(e->pictures, i);
        const LimnRect *rect = whole ? NULL : &g_array_index(e->rects, LimnRect, i);
        if (e->items->many) {
            limn_artifact_add_picture(artifact, picture, rect);
        } else {
            limn_artifact_set_picture(artifact, picture, rect);
        }
    }
}

static gboolean
add_heatmap(Explaining *e, const char *name, GPtrArray *maps, const char *title,
            GError **error)
{
    if (maps->len == 0) {
        return TRUE;
    }
    g_autoptr(LimnArray) field = join_maps(e, maps, error);
    if (field == NULL) {
        return FALSE;
    }
    LimnArtifact *artifact = limn_artifact_new_heatmap(name, field);
    artifact->title = g_strdup(title);
    artifact->is_signed = maps == e->signed_maps;
    if (maps == e->displays) {
        artifact->has_range = TRUE;
        artifact->range[1] = 1;
    }
    add_labels(e, artifact);
    add_pictures(e, artifact, maps == e->displays);
    limn_run_add_artifact(e->run, artifact);
    return TRUE;
}

static gboolean
add_artifacts(Explaining *e, GError **error)
{
    const char *title = limn_explain_method_title(e->options->method);
    if (!add_heatmap(e, "map", e->maps, title, error) ||
        !add_heatmap(e, "signed", e->signed_maps, title, error) ||
        !add_heatmap(e, "display", e->displays, title, error)) {
        return FALSE;
    }
    if (e->words == NULL || e->words->texts->len == 0) {
        return TRUE;
    }
    for (guint k = 0; e->items->many && k < e->done->len; k++) {
        limn_artifact_tag_item(e->words, g_array_index(e->done, guint64, k),
                               e->sentences->n);
    }
    limn_run_add_artifact(e->run, g_steal_pointer(&e->words));
    return TRUE;
}

// ---- all of it

static gboolean
check_combination(Explaining *e, GError **error)
{
    LimnExplainMethod method = e->options->method;
    const char *id = limn_explain_method_id(method);
    if (e->sentences->n == 0 &&
        (limn_explain_method_is_text_dependent(method) || e->side == LIMN_SIDE_TEXT)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: a sentence is missing (expected one of text=, texts=, tokens=)",
                    id);
        return FALSE;
    }
    if (e->side == LIMN_SIDE_TEXT && !limn_explain_method_has_words(method)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "side=text: %s explains pictures only (expected side=image)", id);
        return FALSE;
    }
    if (method == LIMN_EXPLAIN_CLIP_SURGERY && e->sentences->ids != NULL &&
        e->sentences->n > 1) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "tokens=: %s compares the sentences and needs their text when there "
                    "are several (expected text= or texts=)",
                    id);
        return FALSE;
    }
    if (e->items->folder && preprocess_mode(e->run) == LIMN_PREPROCESS_KEEP) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "preprocess=keep: the maps of a folder's pictures would have "
                    "different sizes (expected preprocess=clip, or one picture)");
        return FALSE;
    }
    if (e->items->folder && e->wants_display) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "display=yes: the pictures of a folder have different sizes "
                    "(expected display=no, or one picture)");
        return FALSE;
    }
    return TRUE;
}

static void
explaining_init(Explaining *e)
{
    e->maps = g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    e->signed_maps = g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    e->displays = g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    e->pictures = g_ptr_array_new_with_free_func((GDestroyNotify) limn_image_unref);
    e->done = g_array_new(FALSE, FALSE, sizeof(guint64));
    e->rects = g_array_new(FALSE, FALSE, sizeof(LimnRect));
    e->side = (LimnSide) read_choice(e->run, "side", LIMN_SIDE_IMAGE);
    e->wants_display =
        find_parameter(e->run, "display") != NULL && limn_run_get_bool(e->run, "display");
}

static void
explaining_clear(Explaining *e)
{
    g_clear_pointer(&e->explainer, limn_explainer_free);
    g_clear_pointer(&e->sentences, limn_sentences_free);
    g_clear_pointer(&e->items, limn_picture_items_free);
    g_clear_pointer(&e->words, limn_artifact_unref);
    g_ptr_array_unref(e->maps);
    g_ptr_array_unref(e->signed_maps);
    g_ptr_array_unref(e->displays);
    g_ptr_array_unref(e->pictures);
    g_array_unref(e->done);
    g_array_unref(e->rects);
}

static gboolean
explain_with(Explaining *e, LimnClip *clip, GError **error)
{
    e->sentences = limn_study_load_sentences(e->run, clip, error);
    e->items = e->sentences != NULL ? limn_study_load_items(e->run, error) : NULL;
    if (e->items == NULL || !limn_study_check_layers(e->run, clip, error) ||
        !check_combination(e, error)) {
        return FALSE;
    }
    if (e->items->folder && e->items->n > MOST_PICTURES_KEPT) {
        limn_job_diagnose(
            e->job, LIMN_DIAGNOSTIC_NOTE, NULL,
            "the pictures are not copied into the study (found %" G_GUINT64_FORMAT
            ", copied up to %d)",
            e->items->n, MOST_PICTURES_KEPT);
    }
    e->n_maps = MAX(e->sentences->n, 1);
    e->explainer = limn_explainer_new(clip);
    if (e->side != LIMN_SIDE_IMAGE && e->sentences->n > 0 &&
        limn_explain_method_has_words(e->options->method)) {
        e->words = limn_artifact_new_text("words");
        e->words->title = g_strdup(limn_explain_method_title(e->options->method));
    }
    return explain_items(e, error) && add_artifacts(e, error);
}

gboolean
limn_study_explain(LimnRun *run, const LimnExplainOptions *options, GError **error)
{
    g_autoptr(LimnClip) clip = limn_study_open_clip(run, error);
    if (clip == NULL) {
        return FALSE;
    }
    Explaining e = {.run = run, .job = limn_run_get_job(run), .options = options};
    explaining_init(&e);
    gboolean good = explain_with(&e, clip, error);
    explaining_clear(&e);
    return good;
}
