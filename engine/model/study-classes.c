// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/study-classes.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/number.h"
#include "engine/model/study-inputs.h"
#include "engine/text/prompts.h"

#include <math.h>
#include <string.h>

#define DEFAULT_TEMPLATE "a photo of a {}"
#define NEUTRAL_TEMPLATES "text/templates.txt"

void
limn_study_classes_free(LimnStudyClasses *classes)
{
    if (classes == NULL) {
        return;
    }
    g_strfreev(classes->labels);
    g_strfreev(classes->prompts);
    g_free(classes->values);
    g_clear_pointer(&classes->embeddings, limn_array_unref);
    g_free(classes);
}

static const char *
get_input(LimnRun *run, const char *name)
{
    const LimnOperation *operation = limn_run_get_study(run)->operation;
    return limn_operation_find_input(operation, name) != NULL
               ? limn_run_get_input(run, name)
               : NULL;
}

// ---- templates

static GStrv
load_templates(LimnRun *run, GError **error)
{
    const char *path = get_input(run, "templates");
    g_autofree char *shipped = NULL;
    if (path == NULL && limn_run_get_choice(run, "template-set") == 0) {
        const char *const one[] = {DEFAULT_TEMPLATE, NULL};
        return g_strdupv((char **) (gintptr) one);
    }
    if (path == NULL) {
        shipped = limn_data_path(NEUTRAL_TEMPLATES, error);
        path = shipped;
    }
    g_auto(GStrv) templates = path != NULL ? limn_prompts_load(path, error) : NULL;
    for (guint i = 0; templates != NULL && templates[i] != NULL; i++) {
        if (strstr(templates[i], "{}") == NULL) {
            limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                "template %u has no place for the name (found \"%s\", "
                                "expected {} in it)",
                                i + 1, templates[i]);
            return NULL;
        }
    }
    return g_steal_pointer(&templates);
}

static char *
fill_template(const char *template, const char *name)
{
    GString *text = g_string_new(template);
    g_string_replace(text, "{}", name, 0);
    return g_string_free(text, FALSE);
}

// ---- embeddings

static void
normalise_rows(LimnArray *array)
{
    gint64 p = array->shape[1];
    for (gint64 i = 0; i < array->shape[0]; i++) {
        float *row = limn_array_f32(array) + i * p;
        double sum = 0;
        for (gint64 c = 0; c < p; c++) {
            sum += (double) row[c] * (double) row[c];
        }
        double length = sqrt(sum);
        for (gint64 c = 0; c < p && length > 0; c++) {
            row[c] = (float) ((double) row[c] / length);
        }
    }
}

static LimnStudyClasses *
classes_new(const char *const *names)
{
    LimnStudyClasses *classes = g_new0(LimnStudyClasses, 1);
    classes->labels = limn_study_make_unique(names);
    classes->n = g_strv_length(classes->labels);
    classes->values = g_new(gint64, MAX(classes->n, 1));
    for (guint i = 0; i < classes->n; i++) {
        classes->values[i] = -1;
    }
    return classes;
}

LimnStudyClasses *
limn_study_make_prompts(LimnRun *run, LimnClip *clip, const char *const *texts,
                        GError **error)
{
    g_autoptr(LimnStudyClasses) classes = classes_new(texts);
    classes->prompts = g_strdupv((char **) (gintptr) texts);
    classes->embeddings =
        limn_clip_encode_texts(clip, texts, limn_run_get_job(run), error);
    if (classes->embeddings == NULL) {
        return NULL;
    }
    normalise_rows(classes->embeddings);
    return g_steal_pointer(&classes);
}

LimnStudyClasses *
limn_study_make_classes(LimnRun *run, LimnClip *clip, const char *const *names,
                        const gint64 *values, GError **error)
{
    g_auto(GStrv) templates = load_templates(run, error);
    if (templates == NULL) {
        return NULL;
    }
    g_autoptr(LimnStudyClasses) classes = classes_new(names);
    g_autoptr(GStrvBuilder) prompts = g_strv_builder_new();
    for (guint i = 0; i < classes->n; i++) {
        g_autofree char *prompt = fill_template(templates[0], names[i]);
        g_strv_builder_add(prompts, prompt);
        if (values != NULL) {
            classes->values[i] = values[i];
        }
    }
    classes->prompts = g_strv_builder_end(prompts);
    classes->embeddings = limn_clip_encode_classes(
        clip, names, (const char *const *) templates, limn_run_get_job(run), error);
    return classes->embeddings != NULL ? g_steal_pointer(&classes) : NULL;
}

// ---- lists of classes

// "NAME" or "VALUE<tab>NAME"; the same form in all lines.
static gboolean
split_lines(const char *path, GStrv lines, GStrv *names, gint64 **values, GError **error)
{
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    guint n = g_strv_length(lines);
    gboolean with_values = strchr(lines[0], '\t') != NULL;
    g_autofree gint64 *numbers = g_new(gint64, n);
    for (guint i = 0; i < n; i++) {
        char *tab = strchr(lines[i], '\t');
        numbers[i] = -1;
        if (tab != NULL) {
            *tab = '\0';
        }
        if ((tab != NULL) != with_values ||
            (tab != NULL &&
             (!limn_integer_parse(lines[i], &numbers[i]) || numbers[i] < 0 ||
              numbers[i] > G_MAXUINT32 || g_strstrip(tab + 1)[0] == '\0'))) {
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, path,
                                       "class %u is malformed (expected NAME, or a value "
                                       "of the label map, a tab and NAME, in all lines)",
                                       i + 1);
        }
        g_strv_builder_add(builder, tab != NULL ? g_strstrip(tab + 1) : lines[i]);
    }
    *names = g_strv_builder_end(builder);
    *values = g_steal_pointer(&numbers);
    return TRUE;
}

static LimnStudyClasses *
load_class_file(LimnRun *run, LimnClip *clip, const char *path, GError **error)
{
    g_auto(GStrv) lines = limn_prompts_load(path, error);
    g_auto(GStrv) names = NULL;
    g_autofree gint64 *values = NULL;
    if (lines == NULL || !split_lines(path, lines, &names, &values, error)) {
        return NULL;
    }
    return limn_study_make_classes(run, clip, (const char *const *) names, values, error);
}

LimnStudyClasses *
limn_study_load_classes(LimnRun *run, LimnClip *clip, GError **error)
{
    const char *path = get_input(run, "classes");
    if (path != NULL) {
        return load_class_file(run, clip, path, error);
    }
    if (get_input(run, "class") != NULL) {
        return limn_study_make_classes(run, clip, limn_run_get_input_list(run, "class"),
                                       NULL, error);
    }
    g_autoptr(LimnSentences) sentences = limn_study_load_sentences(run, clip, error);
    if (sentences == NULL) {
        return NULL;
    }
    return limn_study_make_prompts(run, clip, (const char *const *) sentences->texts,
                                   error);
}

// ---- scores

static void
rank_scores(LimnClassScore *scores, guint n)
{
    g_autofree guint *order = g_new(guint, MAX(n, 1));
    for (guint i = 0; i < n; i++) {
        order[i] = i;
    }
    // Insertion by binary search keeps equal scores in their order.
    for (guint i = 1; i < n; i++) {
        guint low = 0, high = i, entry = order[i];
        while (low < high) {
            guint middle = (low + high) / 2;
            if (scores[order[middle]].cosine >= scores[entry].cosine) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        memmove(order + low + 1, order + low, (i - low) * sizeof *order);
        order[low] = entry;
    }
    for (guint i = 0; i < n; i++) {
        scores[order[i]].rank = i;
    }
}

void
limn_study_score(const LimnStudyClasses *classes, LimnClip *clip,
                 const LimnArray *embedding, LimnClassScore *scores)
{
    const float *f = limn_array_f32(embedding);
    gint64 p = embedding->length;
    double sum = 0, largest = -INFINITY, total = 0;
    for (gint64 c = 0; c < p; c++) {
        sum += (double) f[c] * (double) f[c];
    }
    double length = sqrt(sum);
    for (guint i = 0; i < classes->n; i++) {
        const float *row = limn_array_f32(classes->embeddings) + (gint64) i * p;
        double dot = 0;
        for (gint64 c = 0; c < p; c++) {
            dot += (double) f[c] * (double) row[c];
        }
        scores[i].cosine = length > 0 ? dot / length : 0;
        scores[i].logit = (double) limn_clip_get_logit_scale(clip) * scores[i].cosine +
                          (double) limn_clip_get_logit_bias(clip);
        largest = MAX(largest, scores[i].logit);
    }
    for (guint i = 0; i < classes->n; i++) {
        scores[i].probability = exp(scores[i].logit - largest);
        total += scores[i].probability;
    }
    for (guint i = 0; i < classes->n; i++) {
        scores[i].probability /= total;
    }
    rank_scores(scores, classes->n);
}
