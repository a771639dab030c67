// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/study-neurons.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/npy.h"
#include "engine/io/study-folder.h"
#include "engine/model/concept-list.h"
#include "engine/model/neuron-problem.h"
#include "engine/model/probe-pictures.h"
#include "engine/model/study-parts.h"
#include "engine/model/study-texts.h"
#include "engine/text/prompts.h"

void
limn_neuron_inputs_clear(LimnNeuronInputs *inputs)
{
    g_clear_pointer(&inputs->activations, limn_array_unref);
    g_clear_pointer(&inputs->layer, g_free);
    g_clear_pointer(&inputs->shown, g_free);
    g_clear_pointer(&inputs->concepts, limn_concepts_free);
    g_clear_pointer(&inputs->similarities, limn_array_unref);
    g_clear_pointer(&inputs->pictures, g_strfreev);
}

// ---- one reading

typedef struct {
    LimnRun *run;
    LimnJob *job;
    LimnNeuronInputs *in;
    const char *const *wanted;
    const char *activations; // path
    gboolean is_study;       // the folder of a study
    gint64 n;
    LimnClip *clip;
    char *model; // path of the model, NULL: built in
    LimnProbe *probe;
    // what the labels say
    LimnArray *presence;
    LimnConceptList *present; // names of presence, with groups; or
    GStrv classes;            // only names
    char *labels_shown;
    LimnConcepts *labels;
} Reading;

static void
reading_clear(Reading *r)
{
    g_clear_pointer(&r->clip, limn_clip_unref);
    g_free(r->model);
    limn_probe_free(r->probe);
    g_clear_pointer(&r->presence, limn_array_unref);
    limn_concept_list_free(r->present);
    g_strfreev(r->classes);
    g_free(r->labels_shown);
    limn_concepts_free(r->labels);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reading, reading_clear)

static gboolean
load_part(Reading *r, const char *name, LimnArtifact **artifact, GError **error)
{
    return !r->is_study ||
           limn_study_load_artifact(r->activations, name, artifact, r->job, error);
}

// ---- activations

static gboolean
take_activations(Reading *r, LimnArray *raw, GError **error)
{
    if (raw->rank != 2 || raw->shape[0] < 1 || raw->shape[1] < 1 ||
        raw->shape[0] > LIMN_NEURON_MOST || raw->shape[1] > LIMN_NEURON_MOST) {
        g_autofree char *shape = limn_array_describe_shape(raw);
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, r->activations,
                                   "the activations have the wrong shape (found %s, "
                                   "expected [pictures, neurons])",
                                   shape);
    }
    r->in->activations = limn_array_to_f32(raw, error);
    r->n = raw->shape[0];
    return r->in->activations != NULL;
}

static gboolean
load_index(Reading *r, GError **error)
{
    g_autoptr(LimnArtifact) index = NULL;
    if (!load_part(r, "index", &index, error)) {
        return FALSE;
    }
    if (index == NULL || index->table == NULL) {
        return TRUE;
    }
    for (guint c = 0; c < index->table->columns->len; c++) {
        const LimnColumn *column = g_ptr_array_index(index->table->columns, c);
        if (strcmp(column->name, "name") != 0 || column->numeric ||
            column->strings->len != r->n) {
            continue;
        }
        g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
        for (guint i = 0; i < column->strings->len; i++) {
            const char *name = g_ptr_array_index(column->strings, i);
            g_strv_builder_add(builder, name != NULL ? name : "");
        }
        r->in->pictures = g_strv_builder_end(builder);
    }
    return TRUE;
}

static gboolean
load_activations(Reading *r, GError **error)
{
    r->activations = limn_run_get_input(r->run, "activations");
    r->in->shown = limn_display_path(r->activations);
    limn_job_report(r->job, "read", 0, "%s", r->in->shown);
    if (!g_file_test(r->activations, G_FILE_TEST_IS_DIR)) {
        g_autoptr(LimnArray) raw = limn_npy_load(r->activations, error);
        g_autofree char *base = g_path_get_basename(r->activations);
        char *dot = strrchr(base, '.');
        r->in->layer = g_strndup(base, dot != NULL ? (gsize) (dot - base) : strlen(base));
        return raw != NULL && take_activations(r, raw, error);
    }
    if (!limn_study_folder_is(r->activations)) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, r->activations,
                                   "the folder is no study (expected a .npy file, or the "
                                   "folder of a study of activations)");
    }
    r->is_study = TRUE;
    g_autoptr(LimnArtifact) artifact = NULL;
    if (!load_part(r, "activations", &artifact, error)) {
        return FALSE;
    }
    if (artifact == NULL || artifact->array == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, r->activations,
                                   "the study holds no activations (expected one that "
                                   "`limn-cli run activations` wrote)");
    }
    r->in->layer = g_strdup(artifact->title != NULL ? artifact->title : "activations");
    return take_activations(r, artifact->array, error) && load_index(r, error);
}

gint64
limn_study_find_not_finite(const LimnNeuronInputs *inputs, gsize unit)
{
    const float *x = limn_array_f32(inputs->activations);
    gint64 m = inputs->activations->shape[1];
    for (gint64 i = 0; i < inputs->activations->shape[0]; i++) {
        if (!isfinite(x[i * m + (gint64) unit])) {
            return i;
        }
    }
    return -1;
}

char *
limn_study_dup_picture_name(const LimnNeuronInputs *inputs, gint64 picture)
{
    return inputs->pictures != NULL
               ? g_strdup_printf("picture %" G_GINT64_FORMAT " (%s)", picture,
                                 inputs->pictures[picture])
               : g_strdup_printf("picture %" G_GINT64_FORMAT, picture);
}

gboolean
limn_study_check_activations(const LimnNeuronInputs *inputs, GError **error)
{
    const float *x = limn_array_f32(inputs->activations);
    gint64 m = inputs->activations->shape[1];
    for (gint64 i = 0; i < inputs->activations->length; i++) {
        if (!isfinite(x[i])) {
            g_autofree char *picture = limn_study_dup_picture_name(inputs, i / m);
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, inputs->shown,
                                       "the activation of unit %" G_GINT64_FORMAT
                                       " for %s is %s (the classifier "
                                       "needs numbers)",
                                       i % m, picture, isnan(x[i]) ? "NaN" : "infinite");
        }
    }
    return TRUE;
}

// ---- names

// One name per line, underscores as spaces, nothing dropped: they belong to columns.
static GPtrArray *
load_lines(const char *path, GError **error)
{
    g_auto(GStrv) lines = limn_prompts_load(path, error);
    if (lines == NULL) {
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; lines[i] != NULL; i++) {
        g_strdelimit(lines[i], "_", ' ');
        g_ptr_array_add(names, g_strdup(lines[i]));
    }
    return names;
}

static GPtrArray *
strings_to_array(const char *const *strings)
{
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; strings[i] != NULL; i++) {
        g_ptr_array_add(names, g_strdup(strings[i]));
    }
    return names;
}

// Names for k columns of `path`: lines of a text file; names of a table, with its groups
// where that is the number; numbers when no file is given.
static GPtrArray *
names_for_columns(Reading *r, gint64 k, GError **error)
{
    const char *file = limn_run_get_input(r->run, "concepts");
    if (file == NULL) {
        GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
        for (gint64 i = 0; i < k; i++) {
            g_ptr_array_add(names, g_strdup_printf("concept %" G_GINT64_FORMAT, i));
        }
        return names;
    }
    if (!g_str_has_suffix(file, ".tsv") && !g_str_has_suffix(file, ".csv")) {
        return load_lines(file, error);
    }
    g_autoptr(LimnConceptList) list = limn_concept_list_load(file, r->job, error);
    if (list == NULL) {
        return NULL;
    }
    g_auto(GStrv) names = k == (gint64) list->names->len
                              ? limn_concept_list_dup_names(list)
                              : limn_concept_list_dup_all(list);
    return strings_to_array((const char *const *) names);
}

static const char *
names_file(Reading *r)
{
    const char *file = limn_run_get_input(r->run, "concepts");
    return file != NULL ? file : "concepts";
}

// ---- the probing pictures

static gboolean
open_probe(Reading *r, GError **error)
{
    if (limn_run_get_input(r->run, "image") == NULL || r->probe != NULL) {
        return TRUE;
    }
    r->probe = limn_probe_open(r->run, FALSE, error);
    if (r->probe == NULL) {
        return FALSE;
    }
    guint64 n = limn_probe_get_items(r->probe)->n;
    if ((gint64) n != r->n) {
        return limn_error_set_file(
            error, LIMN_ERROR_MISMATCH, limn_run_get_input(r->run, "image"),
            "there are %" G_GUINT64_FORMAT " pictures for %" G_GINT64_FORMAT
            " rows of activations in %s",
            n, r->n, r->in->shown);
    }
    return TRUE;
}

// ---- labels

static LimnConceptList *
copy_list(const LimnConceptList *from)
{
    LimnConceptList *list = limn_concept_list_new();
    for (guint i = 0; i < from->names->len; i++) {
        const LimnConceptName *name = g_ptr_array_index(from->names, i);
        limn_concept_list_add(list, name->name, name->group, name->subgroup);
    }
    return list;
}

static gboolean
presence_from_probe(Reading *r, GError **error)
{
    const LimnConceptList *list = limn_probe_get_concepts(r->probe);
    gint64 shape[2] = {r->n, list->names->len};
    r->present = copy_list(list);
    r->presence = limn_array_new(LIMN_DTYPE_U8, 2, shape, error);
    for (gint64 i = 0; r->presence != NULL && i < r->n; i++) {
        memcpy(limn_array_u8(r->presence) + i * shape[1],
               limn_probe_get_presence(r->probe, (guint64) i), (gsize) shape[1]);
    }
    r->labels_shown = limn_display_path(limn_run_get_input(r->run, "image"));
    return r->presence != NULL;
}

static gboolean
presence_from_study(Reading *r, GError **error)
{
    g_autoptr(LimnArtifact) presence = NULL;
    if (!load_part(r, "presence", &presence, error)) {
        return FALSE;
    }
    if (presence == NULL || presence->array == NULL) {
        return TRUE; // no labels
    }
    g_autofree char *table = g_build_filename(r->activations, "concepts.csv", NULL);
    g_autoptr(LimnConceptList) list = limn_concept_list_load(table, r->job, error);
    if (list == NULL) {
        return FALSE;
    }
    r->labels_shown = g_build_filename(r->in->shown, "presence.npy", NULL);
    if (presence->array->rank != 2 || presence->array->shape[0] != r->n ||
        presence->array->shape[1] != (gint64) list->names->len) {
        g_autofree char *shape = limn_array_describe_shape(presence->array);
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, r->labels_shown,
                                   "the labels are %s (expected [%" G_GINT64_FORMAT
                                   ", %u], the activations and "
                                   "concepts.csv)",
                                   shape, r->n, list->names->len);
    }
    r->present = g_steal_pointer(&list);
    r->presence = limn_presence_from_array(presence->array, r->present->names->len,
                                           r->labels_shown, error);
    return r->presence != NULL;
}

static gint64
count_classes(const LimnArray *labels)
{
    double largest = -1;
    if (labels->rank == 2) {
        return labels->shape[1];
    }
    for (gint64 i = 0; i < labels->length; i++) {
        largest = fmax(largest, limn_array_get_double(labels, i));
    }
    return largest < 1e6 ? (gint64) largest + 1 : 0;
}

static gboolean
load_classes(Reading *r, const LimnArray *labels, GError **error)
{
    const char *file = limn_run_get_input(r->run, "concepts");
    if (file == NULL && labels == NULL) {
        return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, r->labels_shown,
                                   "the classes have no names (expected concepts=)");
    }
    gint64 k = file == NULL ? count_classes(labels) : 0;
    g_autoptr(GPtrArray) names = NULL;
    if (file != NULL &&
        (g_str_has_suffix(file, ".tsv") || g_str_has_suffix(file, ".csv"))) {
        r->present = limn_concept_list_load(file, r->job, error);
        r->classes = r->present != NULL ? limn_concept_list_dup_names(r->present) : NULL;
        return r->classes != NULL;
    }
    names = names_for_columns(r, k, error);
    if (names == NULL) {
        return FALSE;
    }
    g_ptr_array_add(names, NULL);
    r->classes = (GStrv) g_ptr_array_free(g_steal_pointer(&names), FALSE);
    return TRUE;
}

static gboolean
presence_from_file(Reading *r, const char *path, GError **error)
{
    r->labels_shown = limn_display_path(path);
    if (g_str_has_suffix(path, ".json")) {
        if (!load_classes(r, NULL, error)) {
            return FALSE;
        }
        r->presence =
            limn_presence_load_json(path, (const char *const *) r->classes, error);
    } else {
        g_autoptr(LimnArray) raw = limn_npy_load(path, error);
        if (raw == NULL || !load_classes(r, raw, error)) {
            return FALSE;
        }
        r->presence =
            limn_presence_from_array(raw, g_strv_length(r->classes), path, error);
    }
    if (r->presence != NULL && r->presence->shape[0] != r->n) {
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                                   "there are labels of %" G_GINT64_FORMAT
                                   " pictures for %" G_GINT64_FORMAT
                                   " rows of activations in %s",
                                   r->presence->shape[0], r->n, r->in->shown);
    }
    return r->presence != NULL;
}

// r->labels, when there are labels anywhere.
static gboolean
load_labels(Reading *r, GError **error)
{
    const char *path = limn_run_get_input(r->run, "labels");
    const char *super = limn_run_get_input(r->run, "superclasses");
    gboolean good = path != NULL ? presence_from_file(r, path, error)
                    : r->probe != NULL && limn_probe_get_concepts(r->probe) != NULL
                        ? presence_from_probe(r, error)
                        : presence_from_study(r, error);
    if (!good || r->presence == NULL) {
        return good;
    }
    if (r->classes == NULL) {
        r->classes = limn_concept_list_dup_names(r->present);
    }
    const char *const *classes = (const char *const *) r->classes;
    g_autoptr(GPtrArray) superclasses =
        super != NULL        ? limn_superclasses_load(super, classes, r->job, error)
        : r->present != NULL ? limn_concept_list_make_superclasses(r->present)
                             : limn_superclasses_new();
    if (superclasses == NULL) {
        return FALSE;
    }
    r->labels = limn_concepts_from_labels(
        r->presence, classes, superclasses,
        (guint) limn_run_get_int(r->run, "most-members"), r->labels_shown, r->job, error);
    return r->labels != NULL;
}

// ---- similarity

// The model asked for, or the one the activations were recorded with.
static gboolean
open_model(Reading *r, GError **error)
{
    const char *given = limn_run_get_input(r->run, "model");
    if (r->clip != NULL) {
        return TRUE;
    }
    r->model = g_strdup(given);
    if (given == NULL && r->is_study) {
        g_autofree char *path = g_build_filename(r->activations, "study.json", NULL);
        g_autoptr(LimnStudy) study = limn_study_load(path, FALSE, r->job, NULL);
        const char *recorded =
            study != NULL ? limn_study_get_input(study, "model") : NULL;
        r->model = g_strdup(recorded);
    }
    limn_job_report(r->job, "open", 0, "model");
    r->clip =
        limn_clip_open(r->model, (int) limn_run_get_int(r->run, "heads"), r->job, error);
    return r->clip != NULL;
}

static LimnArray *
encode_pictures(Reading *r, GError **error)
{
    if (!open_model(r, error)) {
        return NULL;
    }
    gint64 width = limn_clip_get_config(r->clip)->projection;
    g_autoptr(LimnArray) all = limn_array_new_f32_2d(r->n, width, error);
    for (gint64 i = 0; all != NULL && i < r->n; i++) {
        limn_job_report(r->job, "encode", (double) i / (double) r->n,
                        "picture %" G_GINT64_FORMAT " of %" G_GINT64_FORMAT, i + 1, r->n);
        g_autoptr(LimnImage) image =
            limn_job_check(r->job, error)
                ? limn_probe_load(r->probe, (guint64) i, r->job, error)
                : NULL;
        g_autoptr(LimnArray) one =
            image != NULL ? limn_clip_encode_image(r->clip, image, r->job, error) : NULL;
        if (one == NULL) {
            return NULL;
        }
        memcpy(limn_array_f32(all) + i * width, one->data, (gsize) width * sizeof(float));
    }
    return g_steal_pointer(&all);
}

// Embeddings [n,d]: given, by the model, or recorded with the activations.
static gboolean
load_image_embeddings(Reading *r, LimnArray **embeddings, GError **error)
{
    const char *path = limn_run_get_input(r->run, "image-embeddings");
    if (path != NULL) {
        *embeddings = limn_study_load_floats(path, 2, r->n, "embeddings", error);
        return *embeddings != NULL &&
               limn_concepts_check_finite(*embeddings, NULL, path, error);
    }
    if (r->probe != NULL) {
        *embeddings = encode_pictures(r, error);
        return *embeddings != NULL;
    }
    g_autoptr(LimnArtifact) artifact = NULL;
    if (!load_part(r, "embeddings", &artifact, error)) {
        return FALSE;
    }
    if (artifact == NULL || artifact->array == NULL) {
        return TRUE;
    }
    if (artifact->array->rank != 2 || artifact->array->shape[0] != r->n) {
        g_autofree char *shape = limn_array_describe_shape(artifact->array);
        return limn_error_set_file(
            error, LIMN_ERROR_MISMATCH, r->activations,
            "the embeddings are %s (expected [%" G_GINT64_FORMAT ", ...])", shape, r->n);
    }
    *embeddings = limn_array_to_f32(artifact->array, error);
    return *embeddings != NULL;
}

// Names of the concepts that the text tower embeds.
static GStrv
names_for_texts(Reading *r, GError **error)
{
    const char *file = limn_run_get_input(r->run, "concepts");
    if (r->wanted != NULL) {
        return g_strdupv((char **) (gintptr) r->wanted);
    }
    if (file == NULL && r->present != NULL) {
        return limn_concept_list_dup_all(r->present);
    }
    g_autoptr(LimnConceptList) list = limn_concept_list_load(file, r->job, error);
    return list != NULL ? limn_concept_list_dup_all(list) : NULL;
}

static LimnArray *
load_text_embeddings(Reading *r, GPtrArray **names, GError **error)
{
    const char *path = limn_run_get_input(r->run, "text-embeddings");
    if (path != NULL) {
        g_autoptr(LimnArray) texts =
            limn_study_load_floats(path, 2, -1, "embeddings", error);
        if (texts == NULL || !limn_concepts_check_finite(texts, NULL, path, error)) {
            return NULL;
        }
        *names = names_for_columns(r, texts->shape[0], error);
        return *names != NULL ? g_steal_pointer(&texts) : NULL;
    }
    g_auto(GStrv) list = names_for_texts(r, error);
    if (list == NULL || !open_model(r, error)) {
        return NULL;
    }
    *names = strings_to_array((const char *const *) list);
    return limn_study_encode_texts(r->clip, (const char *const *) list,
                                   limn_run_get_text(r->run, "template"), r->job, error);
}

static gboolean
cosines_from_file(Reading *r, const char *path, GPtrArray **names, GError **error)
{
    r->in->similarities = limn_study_load_floats(path, 2, r->n, "similarities", error);
    if (r->in->similarities == NULL) {
        return FALSE;
    }
    *names = names_for_columns(r, r->in->similarities->shape[1], error);
    return *names != NULL &&
           limn_concepts_check_finite(
               r->in->similarities,
               (gint64) (*names)->len == r->in->similarities->shape[1] ? *names : NULL,
               path, error);
}

static gboolean
cosines_from_embeddings(Reading *r, LimnArray *images, GPtrArray **names, GError **error)
{
    g_autoptr(LimnArray) texts = load_text_embeddings(r, names, error);
    if (texts == NULL) {
        return FALSE;
    }
    if (images->shape[1] != texts->shape[1]) {
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, r->in->shown,
                                   "the embeddings of the pictures have %" G_GINT64_FORMAT
                                   " numbers, those of the concepts %" G_GINT64_FORMAT
                                   " (expected embeddings of one model)",
                                   images->shape[1], texts->shape[1]);
    }
    r->in->similarities = limn_concepts_cosines(images, texts, r->job, error);
    return r->in->similarities != NULL;
}

// ---- calibration

// The columns of the labels that have the names of the similarities' columns: truth
// [n,k], and which of them count; *matched: how many do.
static LimnArray *
match_labels(Reading *r, GPtrArray *names, guint8 *skipped, gsize *matched,
             GError **error)
{
    gsize n = (gsize) r->n, k = names->len, kl = r->labels->names->len;
    g_autoptr(GHashTable) index = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint j = 0; j < kl; j++) {
        g_hash_table_insert(index, g_ptr_array_index(r->labels->names, j),
                            GUINT_TO_POINTER(j + 1));
    }
    g_autoptr(LimnArray) truth = limn_array_new_f32_2d(r->n, (gint64) k, error);
    for (gsize j = 0; truth != NULL && j < k; j++) {
        guint at =
            GPOINTER_TO_UINT(g_hash_table_lookup(index, g_ptr_array_index(names, j)));
        skipped[j] = at == 0 || (r->labels->wide != NULL && r->labels->wide[at - 1]);
        *matched += !skipped[j];
        for (gsize i = 0; at > 0 && i < n; i++) {
            limn_array_f32(truth)[i * k + j] =
                limn_array_f32(r->labels->values)[i * kl + at - 1];
        }
    }
    return g_steal_pointer(&truth);
}

static gboolean
calibrate(Reading *r, GPtrArray *names, GError **error)
{
    static const char *const ways[] = {"fixed", "grid", "newton"};
    int way = limn_run_get_choice(r->run, "calibration");
    LimnCalibration *c = &r->in->calibration;
    if (r->labels == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "calibration=%s: there are no labels to calibrate on (expected "
                    "labels=, or a study of activations with labels)",
                    ways[way]);
        return FALSE;
    }
    gsize matched = 0;
    g_autofree guint8 *skipped = g_new0(guint8, names->len + 1);
    g_autoptr(LimnArray) truth = match_labels(r, names, skipped, &matched, error);
    if (truth == NULL) {
        return FALSE;
    }
    if (matched == 0) {
        return limn_error_set_file(error, LIMN_ERROR_MISMATCH, r->labels_shown,
                                   "no concept of the similarities has the name of a "
                                   "label: there is nothing to calibrate on");
    }
    const LimnArray *cosines = r->in->similarities;
    if (!limn_calibrate_grid(cosines, truth, skipped, c, r->job, error) ||
        (way == 2 && !limn_calibrate_newton(cosines, truth, skipped, c, r->job, error))) {
        return FALSE;
    }
    if (!c->converged) {
        limn_job_diagnose(r->job, LIMN_DIAGNOSTIC_WARNING, "calibration",
                          "the labels separate the similarities: slope %.3g is as far as "
                          "the search went",
                          c->a);
    }
    limn_job_diagnose(r->job, LIMN_DIAGNOSTIC_NOTE, "calibration",
                      "sigmoid(%.4g (cosine %+.4g)) on %" G_GSIZE_FORMAT
                      " labelled concepts, cross-entropy %.4g",
                      c->a, c->b, matched, c->loss);
    return TRUE;
}

static gboolean
concepts_from_similarity(Reading *r, GPtrArray *names, GError **error)
{
    g_autoptr(GPtrArray) owned = names;
    LimnCalibration *c = &r->in->calibration;
    *c = (LimnCalibration){limn_run_get_float(r->run, "slope"),
                           limn_run_get_float(r->run, "offset"), NAN, TRUE};
    if ((gint64) names->len == r->in->similarities->shape[1] &&
        limn_run_get_choice(r->run, "calibration") != 0 && !calibrate(r, names, error)) {
        return FALSE;
    }
    g_autoptr(LimnArray) values =
        limn_concepts_sigmoid(r->in->similarities, c->a, c->b, r->job, error);
    if (values == NULL) {
        return FALSE;
    }
    r->in->from_similarity = TRUE;
    r->in->concepts =
        limn_concepts_new(values, g_steal_pointer(&owned), names_file(r), r->job, error);
    return r->in->concepts != NULL;
}

// ---- which source

static gboolean
concepts_from_matrix(Reading *r, const char *path, GError **error)
{
    g_autoptr(LimnArray) values =
        limn_study_load_floats(path, 2, r->n, "values of the concept matrix", error);
    GPtrArray *names =
        values != NULL ? names_for_columns(r, values->shape[1], error) : NULL;
    if (names == NULL) {
        return FALSE;
    }
    r->in->concepts = limn_concepts_new(values, names, names_file(r), r->job, error);
    if (r->in->concepts == NULL ||
        !limn_concepts_check_finite(values, r->in->concepts->names, path, error)) {
        return FALSE;
    }
    for (gint64 i = 0; i < values->length; i++) {
        if (limn_array_f32(values)[i] < 0 || limn_array_f32(values)[i] > 1) {
            g_autofree char *shown = limn_display_path(path);
            limn_job_diagnose(r->job, LIMN_DIAGNOSTIC_WARNING, shown,
                              "the concept matrix holds values outside 0 to 1, for "
                              "example %g: the filter and the weights are meant for "
                              "probabilities",
                              (double) limn_array_f32(values)[i]);
            break;
        }
    }
    return TRUE;
}

static gboolean
set_no_source(const char *variant, GError **error)
{
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "variant=%s: nothing says which concepts are in the pictures (expected "
                "matrix=, labels=, similarity=, image-embeddings= or image=, or a study "
                "of activations that holds labels or embeddings)",
                variant);
    return FALSE;
}

static gboolean
concepts_from_cosines(Reading *r, const char *variant, GError **error)
{
    const char *path = limn_run_get_input(r->run, "similarity");
    GPtrArray *names = NULL;
    g_autoptr(LimnArray) images = NULL;
    gboolean good;
    if (path != NULL) {
        good = cosines_from_file(r, path, &names, error);
    } else {
        good = load_image_embeddings(r, &images, error);
        if (good && images == NULL) {
            return set_no_source(variant, error);
        }
        good = good && cosines_from_embeddings(r, images, &names, error);
    }
    if (!good) {
        g_clear_pointer(&names, g_ptr_array_unref);
        return FALSE;
    }
    return concepts_from_similarity(r, names, error);
}

static gboolean
load_concepts(Reading *r, GError **error)
{
    static const char *const variants[] = {"auto", "labels", "similarity"};
    const char *matrix = limn_run_get_input(r->run, "matrix");
    int variant = limn_run_get_choice(r->run, "variant");
    gboolean named = limn_run_get_input(r->run, "similarity") != NULL ||
                     limn_run_get_input(r->run, "image-embeddings") != NULL;
    if (matrix != NULL) {
        return concepts_from_matrix(r, matrix, error);
    }
    if (!open_probe(r, error) || !load_labels(r, error)) {
        return FALSE;
    }
    if (variant == 1 || (variant == 0 && !named && r->labels != NULL)) {
        if (r->labels == NULL) {
            return set_no_source(variants[variant], error);
        }
        r->in->from_labels = TRUE;
        r->in->concepts = g_steal_pointer(&r->labels);
        return TRUE;
    }
    return concepts_from_cosines(r, variants[variant], error);
}

gboolean
limn_study_load_neurons(LimnRun *run, const char *const *wanted, LimnNeuronInputs *inputs,
                        GError **error)
{
    g_auto(Reading)
        r = {.run = run, .job = limn_run_get_job(run), .in = inputs, .wanted = wanted};
    gint64 start = g_get_monotonic_time();
    gboolean good = load_activations(&r, error) && load_concepts(&r, error);
    limn_job_add_time(r.job, "concepts",
                      (double) (g_get_monotonic_time() - start) * 1e-6);
    return good;
}
