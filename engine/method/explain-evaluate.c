// SPDX-License-Identifier: GPL-3.0-or-later

// How well do maps point at what the sentence names (pointing game, energy, IoU, average
// precision against a mask), and how much does the model's answer hang on the pixels that
// they rank highest (deletion and insertion). For a picture or a folder of them.

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/io/picture.h"
#include "engine/method/explain-evaluate.h"
#include "engine/model/study-explain.h"
#include "engine/model/study-inputs.h"
#include "engine/model/study-truth.h"
#include "engine/study/item-journal.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

// ---- declaration

static const LimnInput inputs[] = {
    {.name = "model",
     .type = LIMN_INPUT_PATH,
     .accepts = N_("model folder or .safetensors file"),
     .summary = N_("CLIP checkpoint in the layout of Hugging Face, OpenCLIP or OpenAI"),
     .builtin = "models/emoji-clip"},
    {.name = "image",
     .type = LIMN_INPUT_PATH,
     .required = TRUE,
     .accepts = N_("PNG, JPEG, TIFF, WebP, or a folder of them"),
     .summary = N_("Picture or pictures whose maps are evaluated")},
    {.name = "mask",
     .type = LIMN_INPUT_PATH,
     .accepts = N_("label map, or a folder of them"),
     .summary = N_("Label map of the picture, or folder with NAME.png, NAME_labels.png "
                   "or NAME_mask.png for each (default: beside the picture)")},
    {.name = "text",
     .type = LIMN_INPUT_TEXT,
     .list = TRUE,
     .one_of = "targets",
     .optional_group = TRUE,
     .accepts = N_("a sentence"),
     .summary = N_("Sentence whose map is evaluated; two or more are classes for the "
                   "curves")},
    {.name = "texts",
     .type = LIMN_INPUT_FILE,
     .one_of = "targets",
     .optional_group = TRUE,
     .accepts = N_("text file"),
     .summary = N_("Sentences, one per line")},
    {.name = "classes",
     .type = LIMN_INPUT_FILE,
     .one_of = "targets",
     .optional_group = TRUE,
     .accepts = N_("text file"),
     .summary = N_("Names of the labels, one per line, from 1 on, or VALUE, tab, NAME; "
                   "every class in a picture's label map is a target (default: the "
                   "names in NAME.json beside the picture)")},
    {.name = "templates",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("text file"),
     .summary = N_("Templates, one per line, with {} where the name goes")},
    {.name = NULL},
};

// In the order of LimnExplainMethod.
static const char *const methods[] = {
    "grad-eclip",         "self-attention", "rollout",      "game",
    "grad-cam",           "maskclip",       "patch-cosine", "clip-surgery",
    "attention-gradient", "rise",           "m2ib",         NULL,
};
static const char *const measures[] = {"all", "localisation", "curves", NULL};
static const char *const measure_summaries[] = {
    N_("whatever the inputs allow"),
    N_("only against the masks"),
    N_("only deletion and insertion"),
};
static const char *const modes[] = {"faithful", "authors", NULL};
static const char *const similarities[] = {"raw", "out", "none", NULL};
static const char *const preprocessing[] = {"clip", "keep", NULL};
static const char *const template_sets[] = {"single", "neutral", NULL};

static const LimnParameter parameters[] = {
    {.name = "method",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = methods,
     .summary = N_("Method whose maps are evaluated")},
    {.name = "measures",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = measures,
     .choice_summaries = measure_summaries,
     .summary = N_("What is measured")},
    {.name = "mode",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = modes,
     .summary = N_("Which forward pass is explained")},
    {.name = "similarity",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = similarities,
     .summary = N_("grad-eclip: loosened weight of a patch")},
    {.name = "layers",
     .type = LIMN_PARAMETER_INT,
     .int_default = 1,
     .min = 0,
     .max = 1000,
     .unit = N_("blocks"),
     .summary = N_("Last blocks of the picture's tower (rollout, game: 0 for all)")},
    {.name = "preprocess",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = preprocessing,
     .summary = N_("How the picture is brought to the model for the map")},
    {.name = "keep-limit",
     .type = LIMN_PARAMETER_INT,
     .int_default = 640,
     .min = 0,
     .max = 100000,
     .unit = N_("pixels"),
     .summary = N_("preprocess=keep: pictures whose short side is larger are shrunk to "
                   "it first (0: never)"),
     .advanced = TRUE},
    {.name = "value",
     .type = LIMN_PARAMETER_INT,
     .int_default = -1,
     .min = -1,
     .max = 4294967295.0,
     .summary = N_("Label that the sentences name (-1: everything but label 0)")},
    {.name = "ignore",
     .type = LIMN_PARAMETER_INT,
     .int_default = 255,
     .min = -1,
     .max = 4294967295.0,
     .summary = N_("Label of pixels that count for nothing (-1: none); in a mask of 0 "
                   "and this label alone it is the object")},
    {.name = "threshold",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 0.5,
     .min = 0,
     .max = 1,
     .summary = N_("IoU and pixel accuracy: from which value on the map covers a pixel")},
    {.name = "steps",
     .type = LIMN_PARAMETER_INT,
     .int_default = 100,
     .min = 1,
     .max = 10000,
     .unit = N_("steps"),
     .summary = N_("Curves: steps that change half of the picture together")},
    {.name = "every",
     .type = LIMN_PARAMETER_INT,
     .int_default = 10,
     .min = 1,
     .max = 10000,
     .unit = N_("steps"),
     .summary = N_("Curves: distance of the points that are measured")},
    {.name = "template-set",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = template_sets,
     .summary = N_("Templates for class names when no file of them is given: one, or "
                   "the program's neutral ones")},
    {.name = "rise-masks",
     .type = LIMN_PARAMETER_INT,
     .int_default = 2000,
     .min = 1,
     .max = 1000000,
     .unit = N_("masks"),
     .summary = N_("rise: number of random masks"),
     .advanced = TRUE},
    {.name = "heads",
     .type = LIMN_PARAMETER_INT,
     .int_default = 0,
     .min = 0,
     .max = 1024,
     .summary = N_("Attention heads, where the checkpoint does not tell (0: it does)"),
     .advanced = TRUE},
    {.name = NULL},
};

static const LimnOutput outputs[] = {
    {"scores", "table", NULL,
     N_("for every picture and target: pointing hit, energy, IoU at the threshold and at "
        "the mean, pixel accuracy, average precision, areas of the curves")},
    {"curves", "table", NULL,
     N_("every point of every curve: cosine, probability, and whether the target is "
        "among the best 1, 5, 10 classes")},
    {"deletion", "series", NULL, N_("mean curve while the top pixels turn random")},
    {"insertion", "series", NULL, N_("mean curve while the top pixels appear on black")},
    {"map", "heatmap", "[T,gh,gw]",
     N_("the maps, with the mask; only for a single picture")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "deletion",
    .layout = "curve",
    .caption = N_("Deletion, {method} ({mode})"),
};

// ---- the run

enum { MEASURE_ALL, MEASURE_LOCALISATION, MEASURE_CURVES };

typedef struct {
    LimnRun *run;
    LimnJob *job;
    LimnExplainOptions options;
    LimnExplainer *explainer;
    LimnPictureItems *items;
    LimnStudyClasses *classes; // the same for all pictures; NULL: from each NAME.json
    gboolean sentences;        // `classes` are the sentences given
    int measures;
    gint64 value, ignore;
    double threshold;
    LimnCurveOptions curve;
    LimnEvaluateScores scores;
    LimnEvaluateCurves curves;
    LimnItemJournal *journal;
    LimnArtifact *scores_out, *curves_out;
    guint64 n_done;
    gboolean no_mask_told, no_classes_told;
} Evaluating;

// What is evaluated in one picture.
typedef struct {
    LimnImage *image;
    LimnTruth *truth;
    const LimnStudyClasses *classes;
    LimnStudyClasses *own; // classes of this picture alone
    GArray *targets;       // guint, into classes
    GPtrArray *maps;       // LimnArray [gh,gw], of a single picture
} Picture;

static void
picture_clear(Picture *picture)
{
    g_clear_pointer(&picture->image, limn_image_unref);
    g_clear_pointer(&picture->truth, limn_truth_free);
    g_clear_pointer(&picture->own, limn_study_classes_free);
    g_clear_pointer(&picture->targets, g_array_unref);
    g_clear_pointer(&picture->maps, g_ptr_array_unref);
}

// ---- targets

static gboolean
no_targets(Evaluating *e, guint64 index, const char *what, GError **error)
{
    return limn_error_set_file(error, LIMN_ERROR_MISMATCH, e->items->paths[index],
                               "%s (expected text=, classes=, or names in a .json "
                               "beside the picture)",
                               what);
}

// Every class of the list whose label is in the mask.
static gboolean
targets_of_classes(Evaluating *e, guint64 index, Picture *picture, GError **error)
{
    const LimnStudyClasses *classes = picture->classes;
    if (picture->truth->mask == NULL) {
        return no_targets(e, index,
                          "there is no label map, so that no class is known to be in "
                          "the picture",
                          error);
    }
    for (guint i = 0; i < classes->n; i++) {
        if (classes->values[i] >= 0 &&
            limn_truth_has_value(picture->truth, classes->values[i])) {
            g_array_append_val(picture->targets, i);
        }
    }
    return picture->targets->len > 0 ||
           no_targets(e, index, "its label map holds none of the classes", error);
}

static gboolean
choose_targets(Evaluating *e, guint64 index, Picture *picture, GError **error)
{
    picture->targets = g_array_new(FALSE, FALSE, sizeof(guint));
    picture->classes = e->classes;
    if (e->classes == NULL) {
        if (picture->truth->names[0] == NULL) {
            return no_targets(e, index, "nothing says what is in the picture", error);
        }
        picture->own = limn_study_make_classes(
            e->run, limn_explainer_get_clip(e->explainer),
            (const char *const *) picture->truth->names,
            (const gint64 *) (gpointer) picture->truth->values->data, error);
        picture->classes = picture->own;
        if (picture->own == NULL) {
            return FALSE;
        }
    }
    if (!e->sentences) {
        return targets_of_classes(e, index, picture, error);
    }
    for (guint i = 0; i < e->classes->n; i++) {
        g_array_append_val(picture->targets, i);
    }
    return TRUE;
}

// ---- one target

// Against the mask. *measured is FALSE when there is none.
static gboolean
localise(Evaluating *e, guint64 index, Picture *picture, gint64 value,
         const LimnArray *display, LimnMapScores *scores, gboolean *measured,
         GError **error)
{
    *measured = e->measures != MEASURE_CURVES && picture->truth->mask != NULL;
    if (!*measured) {
        return TRUE;
    }
    gboolean binary = FALSE;
    g_autofree guint8 *mask =
        limn_truth_select(picture->truth, value, e->ignore, &binary, error);
    if (mask == NULL || !limn_map_score(limn_array_f32(display), mask, display->length,
                                        e->threshold, scores, error)) {
        return FALSE;
    }
    if (binary) {
        limn_job_diagnose(e->job, LIMN_DIAGNOSTIC_NOTE, e->items->names[index],
                          "the mask holds only 0 and %" G_GINT64_FORMAT
                          ": that label was taken for the object, not ignored",
                          e->ignore);
    }
    if (scores->n_object == 0) {
        limn_job_diagnose(e->job, LIMN_DIAGNOSTIC_WARNING, e->items->names[index],
                          "label %" G_GINT64_FORMAT
                          " is not in the part of the picture that the model saw",
                          value);
    }
    return TRUE;
}

static gboolean
draw_curves(Evaluating *e, guint64 index, Picture *picture, guint target,
            const LimnArray *display, double *deletion, double *insertion, GError **error)
{
    int n = limn_map_n_measured(e->curve.steps, e->curve.gap);
    g_autofree LimnCurvePoint *points = g_new0(LimnCurvePoint, (gsize) n);
    g_autofree double *values = g_new0(double, (gsize) n);
    LimnClip *clip = limn_explainer_get_clip(e->explainer);
    const char *label = picture->classes->labels[target];
    double *areas[2] = {deletion, insertion};
    static const char *const names[2] = {"deletion", "insertion"};
    for (int k = 0; k < 2; k++) {
        LimnCurveOptions options = e->curve;
        options.stream = index;
        gboolean good =
            k == 0 ? limn_map_deletion_curve(clip, picture->classes, target,
                                             picture->image, limn_array_f32(display),
                                             &options, points, e->job, error)
                   : limn_map_insertion_curve(clip, picture->classes, target,
                                              picture->image, limn_array_f32(display),
                                              &options, points, e->job, error);
        if (!good) {
            return FALSE;
        }
        for (int i = 0; i < n; i++) {
            values[i] = points[i].probability;
        }
        *areas[k] = limn_curve_area(values, (gsize) n);
        limn_evaluate_curves_add(&e->curves, e->items->names[index], label, names[k],
                                 points, n);
    }
    return TRUE;
}

static gboolean
wants_curves(Evaluating *e, const Picture *picture)
{
    if (e->measures == MEASURE_LOCALISATION) {
        return FALSE;
    }
    if (picture->classes->n < 2 && !e->no_classes_told) {
        e->no_classes_told = TRUE;
        limn_job_diagnose(e->job, LIMN_DIAGNOSTIC_NOTE, NULL,
                          "deletion and insertion need at least two classes to choose "
                          "from (found %u)",
                          picture->classes->n);
    }
    return picture->classes->n >= 2;
}

static LimnArray *
make_display(Evaluating *e, const Picture *picture, const LimnExplanation *explanation,
             const char *label, GError **error)
{
    int gh, gw;
    LimnRect rect;
    limn_explainer_get_grid(e->explainer, &gh, &gw, &rect);
    LimnArray *display =
        limn_array_new_f32_2d(picture->image->height, picture->image->width, error);
    if (display != NULL &&
        limn_display_map(limn_array_f32(explanation->map), gh, gw, &rect,
                         limn_array_f32(display), picture->image->height,
                         picture->image->width)) {
        limn_job_diagnose(e->job, LIMN_DIAGNOSTIC_WARNING, label,
                          "the map is constant: its scores say nothing");
    }
    return display;
}

static gboolean
evaluate_target(Evaluating *e, guint64 index, Picture *picture, guint target,
                const LimnExplanation *explanation, GError **error)
{
    const LimnStudyClasses *classes = picture->classes;
    const char *name = e->items->names[index];
    g_autofree char *label =
        e->items->many ? g_strdup_printf("%s: %s", name, classes->labels[target])
                       : g_strdup(classes->labels[target]);
    g_autoptr(LimnArray) display = make_display(e, picture, explanation, label, error);
    if (display == NULL) {
        return FALSE;
    }
    gint64 value = e->sentences ? e->value : classes->values[target];
    LimnMapScores scores;
    gboolean measured;
    double deletion = NAN, insertion = NAN;
    if (!localise(e, index, picture, value, display, &scores, &measured, error) ||
        (wants_curves(e, picture) && !draw_curves(e, index, picture, target, display,
                                                  &deletion, &insertion, error))) {
        return FALSE;
    }
    limn_evaluate_scores_add(&e->scores, name, classes->labels[target], value,
                             explanation->cosine, measured ? &scores : NULL, deletion,
                             insertion);
    if (picture->maps != NULL) {
        g_ptr_array_add(picture->maps, limn_array_ref(explanation->map));
    }
    return TRUE;
}

// ---- one picture

static gboolean
check_mask(Evaluating *e, guint64 index, const Picture *picture, GError **error)
{
    if (picture->truth->mask != NULL || e->measures == MEASURE_CURVES) {
        return TRUE;
    }
    if (e->measures == MEASURE_LOCALISATION) {
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, e->items->paths[index],
                                   "there is no label map to compare with (expected "
                                   "mask=, or NAME_labels.png beside the picture)");
    }
    if (!e->no_mask_told) {
        e->no_mask_told = TRUE;
        limn_job_diagnose(e->job, LIMN_DIAGNOSTIC_NOTE, NULL,
                          "without a label map there is nothing to compare the maps "
                          "with: only the curves were drawn");
    }
    return TRUE;
}

// The map of a single picture, with the mask for its outlines.
static gboolean
add_map(Evaluating *e, Picture *picture, GError **error)
{
    const LimnArray *first = g_ptr_array_index(picture->maps, 0);
    g_autoptr(LimnArray) field = limn_array_new_f32_3d(
        picture->maps->len, first->shape[0], first->shape[1], error);
    if (field == NULL) {
        return FALSE;
    }
    for (guint i = 0; i < picture->maps->len; i++) {
        const LimnArray *map = g_ptr_array_index(picture->maps, i);
        memcpy(limn_array_f32(field) + (gint64) i * map->length, map->data,
               (gsize) map->length * sizeof(float));
    }
    LimnArtifact *artifact = limn_artifact_new_heatmap("map", field);
    LimnRect rect;
    int gh, gw;
    limn_explainer_get_grid(e->explainer, &gh, &gw, &rect);
    artifact->title = g_strdup(limn_explain_method_title(e->options.method));
    for (guint i = 0; i < picture->targets->len; i++) {
        limn_artifact_add_label(
            artifact,
            picture->classes->labels[g_array_index(picture->targets, guint, i)]);
    }
    limn_artifact_set_picture(artifact, picture->image, &rect);
    if (picture->truth->mask != NULL) {
        artifact->mask = limn_image_ref(picture->truth->mask);
    }
    limn_run_add_artifact(e->run, artifact);
    return TRUE;
}

static gboolean
explain_targets(Evaluating *e, guint64 index, Picture *picture, GError **error)
{
    g_autoptr(GPtrArray) prompts = g_ptr_array_new();
    for (guint i = 0; i < picture->targets->len; i++) {
        guint target = g_array_index(picture->targets, guint, i);
        g_ptr_array_add(prompts, picture->classes->prompts[target]);
    }
    g_ptr_array_add(prompts, NULL);
    LimnPreprocessMode mode = limn_run_get_choice(e->run, "preprocess") == 0
                                  ? LIMN_PREPROCESS_CLIP
                                  : LIMN_PREPROCESS_KEEP;
    if (!limn_explainer_set_image(e->explainer, picture->image, mode,
                                  (int) limn_run_get_int(e->run, "keep-limit"), e->job,
                                  error)) {
        return FALSE;
    }
    limn_job_report(e->job, "explain", 0.1, "%s", e->items->names[index]);
    g_autoptr(GPtrArray) explanations =
        limn_explainer_explain_all(e->explainer, &e->options, LIMN_SIDE_IMAGE,
                                   (const char *const *) prompts->pdata, e->job, error);
    for (guint i = 0; explanations != NULL && i < explanations->len; i++) {
        double n = explanations->len;
        limn_job_push_range(e->job, 0.2 + 0.8 * i / n, 0.2 + 0.8 * (i + 1) / n);
        gboolean good =
            evaluate_target(e, index, picture, g_array_index(picture->targets, guint, i),
                            g_ptr_array_index(explanations, i), error);
        limn_job_pop_range(e->job);
        if (!good) {
            return FALSE;
        }
    }
    return explanations != NULL;
}

static gboolean
evaluate_picture(Evaluating *e, guint64 index, Picture *picture, GError **error)
{
    const char *path = e->items->paths[index];
    limn_job_report(e->job, "decode", 0, "%s", e->items->names[index]);
    picture->image = limn_picture_load(path, e->job, error);
    if (picture->image == NULL) {
        return FALSE;
    }
    picture->truth = limn_truth_load(path, picture->image,
                                     limn_run_get_input(e->run, "mask"), e->job, error);
    if (picture->truth == NULL || !check_mask(e, index, picture, error) ||
        !choose_targets(e, index, picture, error)) {
        return FALSE;
    }
    if (!e->items->many) {
        picture->maps = g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    }
    return explain_targets(e, index, picture, error) &&
           (picture->maps == NULL || add_map(e, picture, error));
}

// ---- all pictures

// A picture that failed half way leaves no rows behind.
static void
truncate_table(LimnTable *table, guint n)
{
    for (guint c = 0; c < table->columns->len; c++) {
        LimnColumn *column = g_ptr_array_index(table->columns, c);
        if (column->numeric) {
            g_array_set_size(column->numbers, n);
        } else {
            g_ptr_array_set_size(column->strings, (int) n);
        }
    }
}

static gboolean
evaluate_item(Evaluating *e, guint64 index, guint counts[2], GError **error)
{
    if (limn_item_journal_restore(e->journal, index, counts)) {
        return TRUE;
    }
    guint n_scores = limn_table_n_rows(e->scores.table);
    guint n_curves = limn_table_n_rows(e->curves.table);
    gint64 start = g_get_monotonic_time();
    Picture picture = {NULL};
    gboolean good = evaluate_picture(e, index, &picture, error);
    picture_clear(&picture);
    limn_job_add_time(e->job, "evaluate",
                      (double) (g_get_monotonic_time() - start) * 1e-6);
    if (!good) {
        truncate_table(e->scores.table, n_scores);
        truncate_table(e->curves.table, n_curves);
        return FALSE;
    }
    counts[0] = limn_table_n_rows(e->scores.table) - n_scores;
    counts[1] = limn_table_n_rows(e->curves.table) - n_curves;
    return limn_item_journal_add(e->journal, index, counts, error);
}

static gboolean
evaluate_items(Evaluating *e, GError **error)
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
        guint counts[2] = {0, 0};
        limn_job_push_range(e->job, (double) i / n, (double) (i + 1) / n);
        gboolean good = evaluate_item(e, i, counts, &local);
        limn_job_pop_range(e->job);
        if (!good) {
            if (!limn_study_item_failed(e->run, e->items, i, local, error)) {
                return FALSE;
            }
            continue;
        }
        e->n_done++;
        if (e->items->many) {
            limn_artifact_tag_item(e->scores_out, i, counts[0]);
            limn_artifact_tag_item(e->curves_out, i, counts[1]);
        }
    }
    return limn_study_check_any_item(e->run, e->items, error);
}

static void
add_tables(Evaluating *e)
{
    if (e->n_done == 0) {
        return;
    }
    limn_run_add_artifact(e->run, g_steal_pointer(&e->scores_out));
    if (limn_table_n_rows(e->curves.table) > 0) {
        limn_run_add_artifact(e->run, g_steal_pointer(&e->curves_out));
    }
}

// ---- preparing

static gboolean
load_classes(Evaluating *e, LimnClip *clip, GError **error)
{
    e->sentences = limn_run_get_input(e->run, "text") != NULL ||
                   limn_run_get_input(e->run, "texts") != NULL;
    if (!e->sentences && limn_run_get_input(e->run, "classes") == NULL) {
        return TRUE;
    }
    e->classes = limn_study_load_classes(e->run, clip, error);
    if (e->classes == NULL) {
        return FALSE;
    }
    // Names without values are the labels 1, 2, ...
    for (guint i = 0; !e->sentences && i < e->classes->n; i++) {
        if (e->classes->values[i] < 0) {
            e->classes->values[i] = i + 1;
        }
    }
    return TRUE;
}

static gboolean
check_inputs(Evaluating *e, GError **error)
{
    const char *mask = limn_run_get_input(e->run, "mask");
    if (e->items->many && mask != NULL && !g_file_test(mask, G_FILE_TEST_IS_DIR)) {
        return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, mask,
                                   "one label map was given for a folder of pictures "
                                   "(expected a folder of label maps)");
    }
    if (e->curve.gap > e->curve.steps) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "every=%d: the value is out of range (expected at most steps=%d)",
                    e->curve.gap, e->curve.steps);
        return FALSE;
    }
    if (e->options.method == LIMN_EXPLAIN_GRAD_ECLIP && e->options.layers < 1) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "layers=0: the value is out of range (expected at least 1 for "
                    "grad-eclip)");
        return FALSE;
    }
    if (e->sentences && limn_run_get_input(e->run, "templates") != NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "templates=: sentences are taken as they are (expected classes= or "
                    "names beside the pictures with templates)");
        return FALSE;
    }
    return TRUE;
}

static void
read_parameters(Evaluating *e)
{
    limn_explain_options_init(&e->options);
    limn_study_read_explain_options(e->run, &e->options);
    e->options.method = (LimnExplainMethod) limn_run_get_choice(e->run, "method");
    e->measures = limn_run_get_choice(e->run, "measures");
    e->value = limn_run_get_int(e->run, "value");
    e->ignore = limn_run_get_int(e->run, "ignore");
    e->threshold = limn_run_get_float(e->run, "threshold");
    e->curve = (LimnCurveOptions){
        .steps = (int) limn_run_get_int(e->run, "steps"),
        .gap = (int) limn_run_get_int(e->run, "every"),
        .seed = limn_run_get_seed(e->run),
    };
}

static gboolean
evaluate(Evaluating *e, LimnClip *clip, GError **error)
{
    e->explainer = limn_explainer_new(clip);
    e->items = limn_study_load_items(e->run, error);
    if (e->items == NULL || !load_classes(e, clip, error) || !check_inputs(e, error) ||
        !limn_study_check_layers(e->run, clip, error)) {
        return FALSE;
    }
    LimnTable *const tables[] = {e->scores.table, e->curves.table};
    if (!e->items->many) {
        limn_run_set_work_directory(e->run, NULL, FALSE); // its map is not kept
    }
    e->journal = limn_item_journal_open(e->run, tables, 2, error);
    if (e->journal == NULL || !evaluate_items(e, error)) {
        return FALSE;
    }
    add_tables(e);
    return TRUE;
}

static gboolean
run_explain_evaluate(LimnRun *run, GError **error)
{
    g_autoptr(LimnClip) clip = limn_study_open_clip(run, error);
    if (clip == NULL) {
        return FALSE;
    }
    Evaluating e = {.run = run, .job = limn_run_get_job(run)};
    read_parameters(&e);
    limn_evaluate_scores_init(&e.scores);
    limn_evaluate_curves_init(&e.curves);
    e.scores_out = limn_artifact_new_table("scores", e.scores.table);
    e.curves_out = limn_artifact_new_table("curves", e.curves.table);
    gboolean good = evaluate(&e, clip, error);
    g_clear_pointer(&e.journal, limn_item_journal_free);
    g_clear_pointer(&e.explainer, limn_explainer_free);
    g_clear_pointer(&e.items, limn_picture_items_free);
    g_clear_pointer(&e.classes, limn_study_classes_free);
    g_clear_pointer(&e.scores_out, limn_artifact_unref);
    g_clear_pointer(&e.curves_out, limn_artifact_unref);
    return good;
}

const LimnOperation limn_operation_explain_evaluate = {
    .id = "explain-evaluate",
    .title = N_("Evaluation of maps"),
    .family = LIMN_FAMILY_EXPLAIN,
    .summary = N_("Measure how well maps find what the sentence names, and how much the "
                  "model's answer hangs on what they show."),
    .description =
        N_("Against a mask: the pointing game (is the map's maximum on the object), the "
           "share of its energy inside, IoU at a threshold and at the map's mean, pixel "
           "accuracy and average precision. Without a mask: while the pixels that the "
           "map ranks highest are replaced by random colours (deletion), or appear on "
           "black (insertion), the picture is classified again and again; areas are by "
           "the trapezoid rule with the first point at 0 and the last at 1. Pixels "
           "outside the model's crop are left out of the scores and come last in the "
           "curves."),
    .paper = {.title = "Gradient-based Visual Explanation for Transformer-based CLIP",
              .authors = "Zhao, Wang, Zeng, Zhao, Chan",
              .venue = "ICML 2024"},
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .shardable = TRUE,
    .resumable = TRUE,
    .run = run_explain_evaluate,
    .finish = limn_evaluate_summarise,
};
