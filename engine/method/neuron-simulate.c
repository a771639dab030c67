// SPDX-License-Identifier: GPL-3.0-or-later

// Predicts the activations of neurons from their explanations alone, on pictures of the
// user's choice, and compares them with the real ones. The computing is in engine/model
// (neuron-score.h); what the study holds is described in neuron-report.h.

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/io/study-folder.h"
#include "engine/model/neuron-csv.h"
#include "engine/model/neuron-score.h"
#include "engine/model/study-inputs.h"
#include "engine/model/study-neurons.h"
#include "engine/model/study-parts.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

#define BLOCK ((gsize) 64)
#define MAX_BYTES ((gint64) 8 << 30)
#define AUTHORS_SLOTS 10

static const LimnInput inputs[] = {
    {.name = "explanations",
     .type = LIMN_INPUT_PATH,
     .required = TRUE,
     .accepts = N_("CSV in the authors' layout, or the folder of a study of neuron "
                   "explanations"),
     .summary = N_("Explanations to judge: weights and concepts, or one description per "
                   "neuron")},
    {.name = "activations",
     .type = LIMN_INPUT_PATH,
     .required = TRUE,
     .accepts = N_(".npy [n,m], or the folder of a study of activations"),
     .summary = N_("The real activations; column = unit of the explanations")},
    {.name = "matrix",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [n,K]"),
     .summary = N_("Concept matrix as it is, values from 0 to 1")},
    {.name = "labels",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [n] classes or [n,C] 0/1, or JSON with one entry per picture"),
     .summary = N_("Labels of the pictures")},
    {.name = "superclasses",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("JSON {\"name\": [classes]}"),
     .summary = N_("Further concepts: unions of classes")},
    {.name = "similarity",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [n,K]"),
     .summary = N_("Cosines of pictures and concepts, computed elsewhere")},
    {.name = "image-embeddings",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [n,d]"),
     .summary = N_("Embeddings of the pictures")},
    {.name = "text-embeddings",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [K,d]"),
     .summary = N_("Embeddings of the concepts (none: by the model)")},
    {.name = "image",
     .type = LIMN_INPUT_FOLDER,
     .accepts = N_("folder of the n pictures, in the order of their names"),
     .summary = N_("Pictures that the model compares with the concepts")},
    {.name = "model",
     .type = LIMN_INPUT_PATH,
     .accepts = N_("model folder or .safetensors file"),
     .summary = N_("CLIP that plays the simulator; better not the one that explained"),
     .builtin = "models/emoji-clip"},
    {.name = "concepts",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("text file with a name per line, or a table with groups"),
     .summary = N_("Names of the columns of matrix, labels or similarity")},
    {.name = "head-weight",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [classes,m]"),
     .summary = N_("Classifier behind the layer, for ablation scores")},
    {.name = "head-bias",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [classes]"),
     .summary = N_("Its offsets")},
    {.name = "head-labels",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [n]"),
     .summary = N_("The right class of every picture for it")},
    {.name = NULL},
};

static const char *const variants[] = {"auto", "labels", "similarity", NULL};
static const char *const variant_summaries[] = {
    N_("from labels where there are any, else from similarity"),
    N_("0 or 1 by the labels, with superclasses"),
    N_("sigmoid of the cosine of picture and name"),
};
static const char *const parts[] = {"all", "test", NULL};
static const char *const part_summaries[] = {
    N_("all pictures of the activations"),
    N_("the test pictures of the explanations' study, on the same activations"),
};
static const char *const calibrations[] = {"fixed", "grid", "newton", NULL};

static const LimnParameter parameters[] = {
    {.name = "pictures",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = parts,
     .choice_summaries = part_summaries,
     .summary = N_("Pictures that are compared")},
    {.name = "layer",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Only explanations of this layer (unset: all)")},
    {.name = "variant",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = variants,
     .choice_summaries = variant_summaries,
     .summary = N_("Where the concept matrix comes from")},
    {.name = "slope",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 58,
     .min = 0,
     .max = 100000,
     .summary = N_("a of sigmoid(a (cosine + b)); 58 is for ViT-L-14-336")},
    {.name = "offset",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = -0.25,
     .min = -100,
     .max = 100,
     .summary = N_("b of sigmoid(a (cosine + b))")},
    {.name = "calibration",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = calibrations,
     .summary = N_("How slope and offset of the similarity are found")},
    {.name = "template",
     .type = LIMN_PARAMETER_TEXT,
     .text_default = "{}",
     .summary = N_("Sentence around a concept's name for the model"),
     .advanced = TRUE},
    {.name = "most-members",
     .type = LIMN_PARAMETER_INT,
     .int_default = 300,
     .min = 0,
     .max = 1000000,
     .unit = N_("classes"),
     .summary = N_("Superclasses of more classes are left out of the calibration (0: "
                   "none)"),
     .advanced = TRUE},
    {.name = "temperature",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 1.1,
     .min = 0.001,
     .max = 1000,
     .summary = N_("Temperature of the classifier's loss"),
     .advanced = TRUE},
    {.name = "predictions",
     .type = LIMN_PARAMETER_BOOL,
     .summary = N_("Keep the predicted activations of all pictures")},
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
    {"scores", "table", "r rows", N_("formula and correlations of every explanation")},
    {"explanations", "table", "r rows",
     N_("the explanations in the authors' columns, "
        "with the scores measured here")},
    {"predictions", "array", "[r,n]", N_("predicted activations (predictions=yes)")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "scores",
    .layout = "table",
    .caption = N_("Simulation scores"),
};

// ---- one study

typedef struct {
    LimnNeuronRow *row; // borrowed
    char *name;         // unique, "unit 136"
    guint64 index;      // among all rows
    guint32 *columns;   // of its concepts
    char *missing;      // a concept that is not there, or why it cannot be judged
    double correlation;
    LimnAblation ablation;
} Trial;

typedef struct {
    LimnRun *run;
    LimnJob *job;
    LimnNeuronInputs in;
    GPtrArray *rows; // LimnNeuronRow, those of the layer
    GStrv names;
    guint32 *test, *val; // [n_test], [n_val] pictures
    gsize n_test, n_val;
    LimnNeuronHead *head;
    LimnArray *predictions; // f32 [rows of this process, n]
    LimnTable *table;
    LimnArtifact *scores;
    GPtrArray *scored; // LimnNeuronRow, borrowed
    GArray *done;      // guint64
    Trial block[BLOCK];
    gsize n_block, n_done;
} Simulating;

static void
clear_block(Simulating *s)
{
    for (gsize i = 0; i < s->n_block; i++) {
        g_free(s->block[i].name);
        g_free(s->block[i].columns);
        g_free(s->block[i].missing);
    }
    s->n_block = 0;
}

static void
simulating_clear(Simulating *s)
{
    clear_block(s);
    limn_neuron_head_free(s->head);
    g_clear_pointer(&s->predictions, limn_array_unref);
    g_clear_pointer(&s->scores, limn_artifact_unref);
    g_clear_pointer(&s->scored, g_ptr_array_unref);
    g_clear_pointer(&s->done, g_array_unref);
    g_clear_pointer(&s->rows, g_ptr_array_unref);
    g_strfreev(s->names);
    g_free(s->test);
    g_free(s->val);
    limn_neuron_inputs_clear(&s->in);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Simulating, simulating_clear)

// ---- explanations

static gboolean
load_rows(Simulating *s, GError **error)
{
    const char *path = limn_run_get_input(s->run, "explanations");
    const char *layer = limn_run_get_text(s->run, "layer");
    g_autofree char *inside = NULL;
    if (g_file_test(path, G_FILE_TEST_IS_DIR)) {
        inside = g_build_filename(path, "explanations.csv", NULL);
    }
    s->rows = limn_neuron_rows_load(inside != NULL ? inside : path, error);
    if (s->rows == NULL) {
        return FALSE;
    }
    for (guint i = 0; layer != NULL && *layer != '\0' && i < s->rows->len;) {
        const LimnNeuronRow *row = g_ptr_array_index(s->rows, i);
        if (strcmp(row->layer, layer) != 0) {
            g_ptr_array_remove_index(s->rows, i);
        } else {
            i++;
        }
    }
    if (s->rows->len == 0) {
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, path, "there is no explanation in it%s%s",
            layer != NULL && *layer ? " of layer " : "", layer != NULL ? layer : "");
    }
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (guint i = 0; i < s->rows->len; i++) {
        const LimnNeuronRow *row = g_ptr_array_index(s->rows, i);
        g_autofree char *name = g_strdup_printf("unit %" G_GINT64_FORMAT, row->unit);
        g_strv_builder_add(builder, name);
    }
    g_auto(GStrv) names = g_strv_builder_end(builder);
    s->names = limn_study_make_unique((const char *const *) names);
    return TRUE;
}

// Every concept once, in order of appearance.
static GStrv
list_wanted(const Simulating *s)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GStrvBuilder) builder = g_strv_builder_new();
    for (guint i = 0; i < s->rows->len; i++) {
        const LimnNeuronRow *row = g_ptr_array_index(s->rows, i);
        for (guint c = 0; c < row->concepts->len; c++) {
            char *name = g_ptr_array_index(row->concepts, c);
            if (!g_hash_table_contains(seen, name)) {
                g_hash_table_add(seen, name);
                g_strv_builder_add(builder, name);
            }
        }
    }
    return g_strv_builder_end(builder);
}

static gboolean
check_units(const Simulating *s, GError **error)
{
    gint64 m = s->in.activations->shape[1];
    for (guint i = 0; i < s->rows->len; i++) {
        const LimnNeuronRow *row = g_ptr_array_index(s->rows, i);
        if (row->unit >= m) {
            return limn_error_set_file(
                error, LIMN_ERROR_MISMATCH, limn_run_get_input(s->run, "explanations"),
                "unit %" G_GINT64_FORMAT " is explained, but %s has %" G_GINT64_FORMAT
                " neurons",
                row->unit, s->in.shown, m);
        }
    }
    return TRUE;
}

// ---- pictures

static guint32 *
collect(const guint8 *split, gsize n, int part, gsize *count)
{
    guint32 *list = g_new(guint32, MAX(n, 1));
    *count = 0;
    for (guint32 i = 0; i < n; i++) {
        if (split == NULL || split[i] == part) {
            list[(*count)++] = i;
        }
    }
    return list;
}

static gboolean
choose_pictures(Simulating *s, GError **error)
{
    gsize n = (gsize) s->in.activations->shape[0];
    const char *path = limn_run_get_input(s->run, "explanations");
    g_autoptr(LimnArtifact) split = NULL;
    if (limn_run_get_choice(s->run, "pictures") == 0) {
        s->test = collect(NULL, n, 0, &s->n_test);
        s->val = collect(NULL, n, 0, &s->n_val);
        return TRUE;
    }
    if (!limn_study_folder_is(path)) {
        return limn_error_set_file(error, LIMN_ERROR_ARGUMENT, path,
                                   "pictures=test needs the folder of a study of neuron "
                                   "explanations, which knows its test pictures");
    }
    if (!limn_study_load_artifact(path, "split", &split, s->job, error)) {
        return FALSE;
    }
    if (split == NULL || split->array == NULL || split->array->dtype != LIMN_DTYPE_U8 ||
        split->array->length != (gint64) n) {
        return limn_error_set_file(
            error, LIMN_ERROR_MISMATCH, path,
            "the split of the explanations is of %" G_GINT64_FORMAT
            " pictures (expected %" G_GSIZE_FORMAT ", those of %s)",
            split != NULL && split->array != NULL ? split->array->length : 0, n,
            s->in.shown);
    }
    s->test = collect(limn_array_u8(split->array), n, 2, &s->n_test);
    s->val = collect(limn_array_u8(split->array), n, 1, &s->n_val);
    return TRUE;
}

// ---- one explanation

static void
find_concepts(Simulating *s, Trial *j, GHashTable *index)
{
    const LimnNeuronRow *row = j->row;
    j->columns = g_new0(guint32, row->concepts->len + 1);
    for (guint c = 0; c < row->concepts->len; c++) {
        const char *name = g_ptr_array_index(row->concepts, c);
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(index, name));
        if (at == 0) {
            j->missing = g_strdup_printf("there is no concept '%s' (expected one of the "
                                         "%u given)",
                                         name, s->in.concepts->names->len);
            return;
        }
        j->columns[c] = at - 1;
    }
    gint64 bad = limn_study_find_not_finite(&s->in, (gsize) row->unit);
    if (bad >= 0) {
        g_autofree char *picture = limn_study_dup_picture_name(&s->in, bad);
        j->missing = g_strdup_printf("the activation for %s is not finite", picture);
    }
}

static void
simulate_one(gsize i, gpointer data)
{
    Simulating *s = data;
    Trial *j = &s->block[i];
    const LimnArray *a = s->in.activations;
    gsize n = (gsize) a->shape[0], m = (gsize) a->shape[1];
    LimnNeuronFormula formula = {j->columns,
                                 (const double *) (gpointer) j->row->weights->data,
                                 j->row->weights->len, j->row->bias};
    if (j->missing != NULL) {
        return;
    }
    g_autofree double *actual = g_new(double, n), *predicted = g_new(double, n);
    for (gsize p = 0; p < n; p++) {
        actual[p] = limn_array_f32(a)[p * m + (gsize) j->row->unit];
    }
    limn_neuron_predict(&formula, s->in.concepts->values, predicted);
    j->correlation = limn_neuron_simulate(predicted, actual, s->test, s->n_test);
    j->ablation = (LimnAblation){NAN, NAN, NAN, NAN};
    if (s->head != NULL && formula.length > 0) {
        LimnAblationOptions options = {.rate = 0.01, .steps = 100};
        double rho = j->row->val_correlation;
        if (!isfinite(rho)) {
            rho = limn_neuron_simulate(predicted, actual, s->val, s->n_val);
        }
        limn_neuron_ablate(s->head, (gsize) j->row->unit, actual, predicted, rho, s->val,
                           s->n_val, s->test, s->n_test, &options, &j->ablation, s->job);
    }
    for (gsize p = 0; s->predictions != NULL && p < n; p++) {
        limn_array_f32(s->predictions)[(s->n_done + i) * n + p] = (float) predicted[p];
    }
}

static LimnColumn *
column(const Simulating *s, guint i)
{
    return g_ptr_array_index(s->table->columns, i);
}

static void
add_row(Simulating *s, Trial *j)
{
    LimnNeuronRow *row = j->row;
    g_autofree char *formula = limn_neuron_row_dup_formula(row, NULL);
    guint at = 0;
    limn_column_add_string(column(s, at++), row->layer);
    limn_column_add_number(column(s, at++), (double) row->unit);
    limn_column_add_string(column(s, at++), formula);
    limn_column_add_number(column(s, at++), row->concepts->len);
    limn_column_add_number(column(s, at++), row->val_correlation);
    limn_column_add_number(column(s, at++), j->correlation);
    limn_column_add_number(column(s, at++), (double) s->n_test);
    row->sim_correlation = j->correlation;
    if (s->head != NULL) {
        limn_column_add_number(column(s, at++), j->ablation.optim);
        limn_column_add_number(column(s, at++), j->ablation.norm);
        row->ablation_optim = j->ablation.optim;
        row->ablation_norm = j->ablation.norm;
    }
    g_ptr_array_add(s->scored, row);
    g_array_append_val(s->done, j->index);
}

static gboolean
finish_block(Simulating *s, GError **error)
{
    gsize n = (gsize) s->in.activations->shape[0];
    limn_parallel_for(s->job, s->n_block, simulate_one, s);
    if (!limn_job_check(s->job, error)) {
        return FALSE;
    }
    gsize first = s->n_done;
    for (gsize i = 0; i < s->n_block; i++) {
        Trial *j = &s->block[i];
        if (!limn_run_begin_item(s->run, j->index, j->name, error)) {
            return FALSE;
        }
        if (j->missing != NULL) {
            g_autoptr(GError) reason =
                g_error_new(LIMN_ERROR, LIMN_ERROR_MISMATCH, "%s", j->missing);
            limn_run_skip_item(s->run, j->name, reason);
            continue;
        }
        if (s->predictions != NULL && s->n_done != first + i) { // close the gap
            memmove(limn_array_f32(s->predictions) + s->n_done * n,
                    limn_array_f32(s->predictions) + (first + i) * n, n * sizeof(float));
        }
        add_row(s, j);
        s->n_done++;
    }
    clear_block(s);
    return TRUE;
}

static gboolean
simulate_all(Simulating *s, GError **error)
{
    g_autoptr(GHashTable) index = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = 0; i < s->in.concepts->names->len; i++) {
        g_hash_table_insert(index, g_ptr_array_index(s->in.concepts->names, i),
                            GUINT_TO_POINTER(i + 1));
    }
    for (guint i = 0; i < s->rows->len; i++) {
        if (limn_run_owns_item(s->run, i)) {
            Trial *j = &s->block[s->n_block++];
            *j = (Trial){.row = g_ptr_array_index(s->rows, i),
                         .name = g_strdup(s->names[i]),
                         .index = i};
            find_concepts(s, j, index);
        }
        limn_job_report(s->job, "simulate", (double) i / s->rows->len,
                        "%u of %u explanations", i, s->rows->len);
        if ((s->n_block == BLOCK || i + 1 == s->rows->len) && s->n_block > 0 &&
            !finish_block(s, error)) {
            return FALSE;
        }
    }
    return TRUE;
}

// ---- results

static void
make_table(Simulating *s)
{
    static const struct {
        const char *name;
        gboolean numeric, head;
    } columns[] = {
        {"layer", FALSE, FALSE},          {"unit", TRUE, FALSE},
        {"formula", FALSE, FALSE},        {"length", TRUE, FALSE},
        {"val correlation", TRUE, FALSE}, {"sim correlation", TRUE, FALSE},
        {"pictures", TRUE, FALSE},        {"ablation optim", TRUE, TRUE},
        {"ablation norm", TRUE, TRUE},
    };
    s->table = limn_table_new();
    for (gsize i = 0; i < G_N_ELEMENTS(columns); i++) {
        if (!columns[i].head || s->head != NULL) {
            (void) limn_table_add_column(s->table, columns[i].name, columns[i].numeric);
        }
    }
    s->scores = limn_artifact_new_table("scores", s->table);
    s->scored = g_ptr_array_new();
    s->done = g_array_new(FALSE, FALSE, sizeof(guint64));
}

static gboolean
make_predictions(Simulating *s, GError **error)
{
    gint64 n = s->in.activations->shape[0], count = 0;
    for (guint i = 0; i < s->rows->len; i++) {
        count += limn_run_owns_item(s->run, i);
    }
    if (!limn_run_get_bool(s->run, "predictions")) {
        return TRUE;
    }
    if (count > MAX_BYTES / 4 / MAX(n, 1)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "predictions=yes: %" G_GINT64_FORMAT " explanations times "
                    "%" G_GINT64_FORMAT " pictures need more than %d GiB (expected "
                    "predictions=no)",
                    count, n, (int) (MAX_BYTES >> 30));
        return FALSE;
    }
    s->predictions = limn_array_new_f32_2d(count, n, error);
    return s->predictions != NULL;
}

static void
add_artifact(Simulating *s, LimnArtifact *artifact)
{
    for (guint i = 0; i < s->done->len; i++) {
        limn_artifact_tag_item(artifact, g_array_index(s->done, guint64, i), 1);
    }
    limn_run_add_artifact(s->run, artifact);
}

static void
add_results(Simulating *s)
{
    guint slots = AUTHORS_SLOTS; // the same in every shard
    for (guint i = 0; i < s->rows->len; i++) {
        const LimnNeuronRow *row = g_ptr_array_index(s->rows, i);
        slots = MAX(slots, row->concepts->len);
    }
    add_artifact(s, g_steal_pointer(&s->scores));
    add_artifact(s, limn_artifact_new_table("explanations",
                                            limn_neuron_rows_to_table(s->scored, slots)));
    if (s->predictions != NULL) {
        s->predictions->shape[0] = (gint64) s->n_done;
        s->predictions->length = s->predictions->shape[0] * s->predictions->shape[1];
        add_artifact(s, limn_artifact_new_array("predictions", s->predictions));
    }
}

static gboolean
check_any(Simulating *s, GError **error)
{
    guint index, count;
    limn_run_get_shard(s->run, &index, &count);
    GPtrArray *skipped = limn_run_get_skipped(s->run);
    if (s->n_done > 0 || count > 1 || skipped->len == 0) {
        return TRUE;
    }
    const LimnSkipped *first = g_ptr_array_index(skipped, 0);
    return limn_error_set_file(error, LIMN_ERROR_MISMATCH,
                               limn_run_get_input(s->run, "explanations"),
                               "none of the %u explanations could be simulated; the "
                               "first, %s: %s",
                               skipped->len, first->item, first->reason);
}

static gboolean
run_neuron_simulate(LimnRun *run, GError **error)
{
    g_auto(Simulating) s = {.run = run, .job = limn_run_get_job(run)};
    if (!load_rows(&s, error)) {
        return FALSE;
    }
    g_auto(GStrv) wanted = list_wanted(&s);
    if (!limn_study_load_neurons(run, (const char *const *) wanted, &s.in, error) ||
        !check_units(&s, error) || !choose_pictures(&s, error) ||
        !limn_study_load_head(run, &s.in, &s.head, error) ||
        !make_predictions(&s, error)) {
        return FALSE;
    }
    make_table(&s);
    if (s.in.from_similarity) {
        limn_run_add_scalar(run, "slope", s.in.calibration.a);
        limn_run_add_scalar(run, "offset", s.in.calibration.b);
    }
    limn_run_set_n_items(run, s.rows->len);
    gint64 start = g_get_monotonic_time();
    if (!simulate_all(&s, error) || !check_any(&s, error)) {
        return FALSE;
    }
    limn_job_add_time(s.job, "simulate",
                      (double) (g_get_monotonic_time() - start) * 1e-6);
    add_results(&s);
    return TRUE;
}

static gboolean
finish_neuron_simulate(LimnRun *run, GError **error)
{
    LimnArtifact *artifact = limn_run_find_artifact(run, "scores");
    if (artifact == NULL || artifact->table == NULL) {
        return TRUE;
    }
    guint n = limn_table_n_rows(artifact->table);
    limn_run_add_scalar(run, "explanations", n);
    guint known = limn_study_add_mean(run, artifact->table, "sim correlation", TRUE);
    limn_run_add_scalar(run, "missing correlation", n - known);
    (void) limn_study_add_mean(run, artifact->table, "ablation optim", TRUE);
    (void) limn_study_add_mean(run, artifact->table, "ablation norm", TRUE);
    return TRUE;
}

const LimnOperation limn_operation_neuron_simulate = {
    .id = "neuron-simulate",
    .title = N_("Simulate neurons"),
    .family = LIMN_FAMILY_EXPLAIN,
    .summary = N_("Judge explanations of neurons: predict the activations on unseen "
                  "pictures from the words alone and compare."),
    .description = N_(
        "Every concept of an explanation is looked up in the pictures (by labels, by a "
        "given matrix, or by a CLIP that compares picture and name), the weighted sum is "
        "the prediction, its correlation with the real activations the score. Reads the "
        "authors' CSV files and those of methods that give one phrase per neuron, so "
        "that methods can be compared on the same pictures. The simulator should be "
        "another model than the one that explained."),
    .paper = {.title = "Linear Explanations for Individual Neurons",
              .authors = "Oikarinen, Weng",
              .venue = "ICML 2024"},
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .shardable = TRUE,
    .run = run_neuron_simulate,
    .finish = finish_neuron_simulate,
};
