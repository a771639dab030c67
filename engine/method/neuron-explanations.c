// SPDX-License-Identifier: GPL-3.0-or-later

// Linear explanations of the neurons of a layer. The computing is in engine/model
// (neuron-fit.h and its neighbours), the artifacts are described in neuron-report.h.

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/model/neuron-report.h"
#include "engine/model/study-parts.h"

#include <glib/gi18n-lib.h>
#include <math.h>
#include <string.h>

// Neurons that are computed together.
#define BLOCK ((gsize) 256)
#define BLOCK_WITH_HEAD ((gsize) 32) // scores take their time
#define MOST_SUBSETS 200000

static const LimnInput inputs[] = {
    {.name = "activations",
     .type = LIMN_INPUT_PATH,
     .required = TRUE,
     .accepts = N_(".npy [n,m], or the folder of a study of activations"),
     .summary = N_("One number per picture and neuron")},
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
     .summary = N_("CLIP that compares pictures and concepts (none: the one the "
                   "activations were recorded with)"),
     .builtin = "models/emoji-clip"},
    {.name = "concepts",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("text file with a name per line, or a table with groups"),
     .summary = N_("Names of the concepts, or of the classes of labels"),
     .builtin = "text/concepts.tsv"},
    {.name = "head-weight",
     .type = LIMN_INPUT_FILE,
     .accepts = N_(".npy [classes,m]"),
     .summary = N_("Classifier behind the layer, for ablation scores and impact")},
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
static const char *const selections[] = {"greedy", "exact", "top", NULL};
static const char *const selection_summaries[] = {
    N_("one concept after another, as published"),
    N_("the best of all subsets of the first concepts of the ranking"),
    N_("the first concepts of the ranking"),
};
static const char *const fits[] = {"ols", "adam", NULL};
static const char *const fit_summaries[] = {
    N_("least squares, exactly"),
    N_("100 steps of Adam from zero, as the authors' code without its random start"),
};
static const char *const targets[] = {"all", "train", NULL};
static const char *const target_summaries[] = {
    N_("mean and deviation of all pictures, as published"),
    N_("of the pictures for fitting only"),
};
static const char *const calibrations[] = {"fixed", "grid", "newton", NULL};
static const char *const calibration_summaries[] = {
    N_("slope and offset as given"),
    N_("the authors' grid on the labels"),
    N_("the grid, then refined"),
};
static const char *const baselines[] = {"soft-wpmi", "wpmi", "cosine-cubed",
                                        "cosine",    "none", NULL};

#define INTEGER(key, value, low, high, text)                                             \
    {                                                                                    \
        .name = key, .type = LIMN_PARAMETER_INT, .int_default = value, .min = low,       \
        .max = high, .summary = text                                                     \
    }
#define REAL(key, value, low, high, text)                                                \
    {                                                                                    \
        .name = key, .type = LIMN_PARAMETER_FLOAT, .float_default = value, .min = low,   \
        .max = high, .summary = text                                                     \
    }

static const LimnParameter parameters[] = {
    {.name = "variant",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = variants,
     .choice_summaries = variant_summaries,
     .summary = N_("Where the concept matrix comes from")},
    {.name = "selection",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = selections,
     .choice_summaries = selection_summaries,
     .summary = N_("How concepts are chosen from the ranking")},
    {.name = "fit",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = fits,
     .choice_summaries = fit_summaries,
     .summary = N_("How weights are fitted")},
    INTEGER("length", 10, 1, LIMN_NEURON_MAX_LENGTH,
            N_("Most concepts of a greedy explanation")),
    REAL("tolerance", 0.02, 0, 1,
         N_("Gain of correlation that a further concept must bring")),
    INTEGER("width", 10, 1, 1000, N_("Candidates per round of the greedy search")),
    INTEGER("short-length", 4, 1, 8,
            N_("Most concepts of selection=exact, number of "
               "selection=top")),
    INTEGER("pool", 20, 1, 60, N_("First concepts that selection=exact combines")),
    REAL("l1", 0.05, 0, 100, N_("Penalty of the elastic net (smaller: longer ranking)")),
    {.name = "alpha",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 0.99,
     .min = 0.01,
     .max = 1,
     .summary = N_("Share of l1 in the whole penalty; l2 = l1 / alpha * (1 - alpha)"),
     .advanced = TRUE},
    {.name = "target",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = targets,
     .choice_summaries = target_summaries,
     .summary = N_("Statistics by which activations are standardised"),
     .advanced = TRUE},
    {.name = "calibration",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = calibrations,
     .choice_summaries = calibration_summaries,
     .summary = N_("How slope and offset of the similarity are found")},
    REAL("slope", 58, 0, 100000,
         N_("a of sigmoid(a (cosine + b)); 58 is for ViT-L-14-336")),
    REAL("offset", -0.25, -100, 100, N_("b of sigmoid(a (cosine + b))")),
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
    {.name = "filter-mean",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 0.5,
     .min = 0,
     .max = 1,
     .summary = N_("Least mean of the largest values of a concept"),
     .advanced = TRUE},
    {.name = "filter-top",
     .type = LIMN_PARAMETER_INT,
     .int_default = 5,
     .min = 1,
     .max = 1000000,
     .unit = N_("pictures"),
     .summary = N_("How many of the largest values that is"),
     .advanced = TRUE},
    {.name = "units",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Neurons to explain, for example 0-99,136 (unset: all)")},
    {.name = "baseline",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = baselines,
     .summary = N_("CLIP-Dissect's measure for the one concept beside it")},
    {.name = "temperature",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 1.1,
     .min = 0.001,
     .max = 1000,
     .summary = N_("Temperature of the classifier's loss"),
     .advanced = TRUE},
    {.name = "predictions",
     .type = LIMN_PARAMETER_BOOL,
     .summary = N_("Keep the simulated activations of all pictures")},
    {.name = "matrix-out",
     .type = LIMN_PARAMETER_BOOL,
     .summary = N_("Keep the concept matrix")},
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
    {"explanations", "table", "m rows",
     N_("the authors' columns: unit, correlation, "
        "weights and concepts, bias, scores")},
    {"neurons", "table", "m rows",
     N_("status, formula, correlations, statistics, "
        "baseline, ablation and impact of every neuron")},
    {"terms", "table", "rows", N_("one row per concept of an explanation")},
    {"ranges", "table", "rows", N_("composition of eight ranges of activation")},
    {"examples", "table", "rows", N_("pictures at four ranges of ranks")},
    {"concepts", "table", "K rows", N_("the concepts, and which passed the filter")},
    {"cards", "text", "m texts", N_("the formulas, their concepts weighted")},
    {"split", "array", "[n]", N_("0 fitting, 1 selection, 2 test")},
    {"predictions", "array", "[m,n]", N_("simulated activations (predictions=yes)")},
    {"matrix", "array", "[n,K]", N_("the concept matrix (matrix-out=yes)")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "cards",
    .layout = "words",
    .caption = N_("Linear explanations ({selection}, {fit})"),
};

// ---- one study

typedef struct {
    LimnRun *run;
    LimnJob *job;
    LimnNeuronInputs in;
    LimnNeuronOptions options;
    LimnConceptChoice *choice;
    LimnNeuronSplit *split;
    LimnNeuronProblem *problem;
    LimnNeuronHead *head;
    LimnArray *dissection;
    LimnNeuronReport *report;
    GArray *units; // guint32, all that were asked for
} Explaining;

static void
explaining_clear(Explaining *e)
{
    limn_neuron_report_free(e->report);
    limn_neuron_head_free(e->head);
    limn_neuron_problem_free(e->problem);
    limn_neuron_split_free(e->split);
    limn_concept_choice_free(e->choice);
    g_clear_pointer(&e->dissection, limn_array_unref);
    g_clear_pointer(&e->units, g_array_unref);
    limn_neuron_inputs_clear(&e->in);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Explaining, explaining_clear)

static gboolean
read_options(Explaining *e, GError **error)
{
    LimnRun *run = e->run;
    LimnNeuronOptions *o = &e->options;
    limn_neuron_options_init(o);
    o->selection = (LimnNeuronSelection) limn_run_get_choice(run, "selection");
    o->fit = (LimnNeuronFitKind) limn_run_get_choice(run, "fit");
    o->length = (int) limn_run_get_int(run, "length");
    o->width = (int) limn_run_get_int(run, "width");
    o->short_length = (int) limn_run_get_int(run, "short-length");
    o->pool = (int) limn_run_get_int(run, "pool");
    o->tolerance = limn_run_get_float(run, "tolerance");
    o->l1 = limn_run_get_float(run, "l1");
    o->l2 = limn_neuron_l2(o->l1, limn_run_get_float(run, "alpha"));
    o->train_only = limn_run_get_choice(run, "target") == 1;
    double subsets = limn_neuron_n_subsets(o, G_MAXSIZE);
    if (o->selection == LIMN_NEURON_EXACT && subsets > MOST_SUBSETS) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "selection=exact: pool=%d and short-length=%d make %.0f subsets a "
                    "neuron (expected at most %d)",
                    o->pool, o->short_length, subsets, MOST_SUBSETS);
        return FALSE;
    }
    return TRUE;
}

// ---- which neurons

static gboolean
set_bad_units(const char *text, gint64 m, GError **error)
{
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "units=%s: not a list of neurons (expected numbers and ranges from 0 to "
                "%" G_GINT64_FORMAT ", separated by commas)",
                text, m - 1);
    return FALSE;
}

static gboolean
read_number(const char **at, gint64 *value)
{
    char *end;
    if (!g_ascii_isdigit(**at)) {
        return FALSE;
    }
    *value = (gint64) MIN(g_ascii_strtoull(*at, &end, 10), (guint64) G_MAXINT32);
    *at = end;
    return TRUE;
}

// "0-99,136" into rising numbers, each once.
static gboolean
read_units(Explaining *e, GError **error)
{
    const char *list = limn_run_get_text(e->run, "units"), *at = list;
    gint64 m = e->in.activations->shape[1];
    g_autofree guint8 *wanted = g_new0(guint8, m);
    memset(wanted, list == NULL || *list == '\0', (gsize) m);
    while (at != NULL && *at != '\0') {
        gint64 first, last;
        if (!read_number(&at, &first)) {
            return set_bad_units(list, m, error);
        }
        last = first;
        if (*at == '-' && (at++, !read_number(&at, &last))) {
            return set_bad_units(list, m, error);
        }
        if (first > last || last >= m || (*at != '\0' && *at != ',') ||
            (*at == ',' && at[1] == '\0')) {
            return set_bad_units(list, m, error);
        }
        memset(wanted + first, TRUE, (gsize) (last - first + 1));
        at += *at == ',';
    }
    e->units = g_array_new(FALSE, FALSE, sizeof(guint32));
    for (guint32 i = 0; i < m; i++) {
        if (wanted[i]) {
            g_array_append_val(e->units, i);
        }
    }
    return TRUE;
}

// ---- what all neurons share

static gboolean
set_nothing_kept(const Explaining *e, const LimnConceptFilter *filter, GError **error)
{
    gsize all = (gsize) e->in.concepts->values->shape[1], best = 0;
    for (gsize j = 1; j < all; j++) {
        best = e->choice->top_mean[j] > e->choice->top_mean[best] ? j : best;
    }
    g_autofree char *sigmoid =
        e->in.from_similarity
            ? g_strdup_printf("; the similarities went through sigmoid(%.4g (cosine "
                              "%+.4g))",
                              e->in.calibration.a, e->in.calibration.b)
            : g_strdup("");
    g_set_error(
        error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
        "none of the %" G_GSIZE_FORMAT " concepts passes the filter: the mean of "
        "the %d largest values is at most %.3g (for '%s'; expected filter-mean=%g "
        "or more%s)",
        all, filter->top, e->choice->top_mean[best],
        (char *) g_ptr_array_index(e->in.concepts->names, best), filter->mean, sigmoid);
    return FALSE;
}

static gboolean
choose_concepts(Explaining *e, GError **error)
{
    LimnConceptFilter filter;
    limn_concept_filter_init(&filter);
    filter.mean = limn_run_get_float(e->run, "filter-mean");
    filter.top = (int) limn_run_get_int(e->run, "filter-top");
    e->choice = limn_concepts_filter(e->in.concepts->values, &filter, e->job);
    if (!limn_job_check(e->job, error)) {
        return FALSE;
    }
    gsize all = (gsize) e->in.concepts->values->shape[1];
    limn_run_add_scalar(e->run, "concepts", (double) all);
    limn_run_add_scalar(e->run, "concepts kept", (double) e->choice->n_kept);
    if (e->choice->n_kept == 0) {
        return set_nothing_kept(e, &filter, error);
    }
    return TRUE;
}

static gboolean
prepare_problem(Explaining *e, GError **error)
{
    gsize n = (gsize) e->in.activations->shape[0];
    if (n < LIMN_NEURON_FEWEST_PICTURES) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: there are %" G_GSIZE_FORMAT " pictures (expected at least %d to "
                    "split into fitting, selection and test)",
                    e->in.shown, n, LIMN_NEURON_FEWEST_PICTURES);
        return FALSE;
    }
    gint64 start = g_get_monotonic_time();
    e->split = limn_neuron_split_new(n, limn_run_get_seed(e->run));
    limn_job_report(e->job, "moments", 0, "%" G_GSIZE_FORMAT " concepts",
                    e->choice->n_kept);
    e->problem = limn_neuron_problem_new(e->in.concepts->values, e->choice->kept,
                                         e->choice->n_kept, e->split, e->job, error);
    limn_job_add_time(e->job, "moments",
                      (double) (g_get_monotonic_time() - start) * 1e-6);
    return e->problem != NULL;
}

// The baseline looks at cosines where there are any, as CLIP-Dissect does.
static gboolean
dissect(Explaining *e, GError **error)
{
    int kind = limn_run_get_choice(e->run, "baseline");
    if (kind == 4) {
        return TRUE;
    }
    gint64 start = g_get_monotonic_time();
    LimnDissectOptions options;
    limn_dissect_options_init(&options, (LimnDissectKind) kind);
    limn_job_report(e->job, "baseline", 0, "%s", baselines[kind]);
    const LimnArray *similarities =
        e->in.similarities != NULL ? e->in.similarities : e->in.concepts->values;
    e->dissection =
        limn_dissect(similarities, e->in.activations, &options, e->job, error);
    limn_job_add_time(e->job, "baseline",
                      (double) (g_get_monotonic_time() - start) * 1e-6);
    return e->dissection != NULL;
}

// ---- results that belong to no neuron

static void
add_concepts(Explaining *e)
{
    LimnTable *table = limn_table_new();
    LimnColumn *name = limn_table_add_column(table, "concept", FALSE);
    LimnColumn *kept = limn_table_add_column(table, "kept", TRUE);
    LimnColumn *top = limn_table_add_column(table, "top mean", TRUE);
    LimnColumn *std = limn_table_add_column(table, "std", TRUE);
    for (guint j = 0; j < e->in.concepts->names->len; j++) {
        limn_column_add_string(name, g_ptr_array_index(e->in.concepts->names, j));
        limn_column_add_number(kept, e->choice->mask[j]);
        limn_column_add_number(top, e->choice->top_mean[j]);
        limn_column_add_number(std, e->choice->std[j]);
    }
    limn_run_add_artifact(e->run, limn_artifact_new_table("concepts", table));
}

static gboolean
add_split(Explaining *e, GError **error)
{
    gint64 n = (gint64) e->split->n;
    g_autoptr(LimnArray) split = limn_array_new(LIMN_DTYPE_U8, 1, &n, error);
    if (split == NULL) {
        return FALSE;
    }
    for (gsize i = 0; i < e->split->n_val; i++) {
        limn_array_u8(split)[e->split->val[i]] = 1;
    }
    for (gsize i = 0; i < e->split->n_test; i++) {
        limn_array_u8(split)[e->split->test[i]] = 2;
    }
    limn_run_add_artifact(e->run, limn_artifact_new_array("split", split));
    if (limn_run_get_bool(e->run, "matrix-out")) {
        limn_run_add_artifact(e->run,
                              limn_artifact_new_array("matrix", e->in.concepts->values));
    }
    return TRUE;
}

// ---- the neurons

static gboolean
explain_block(Explaining *e, const guint32 *neurons, gsize count, GError **error)
{
    if (!limn_neuron_report_compute(e->report, neurons, count, e->job, error)) {
        return FALSE;
    }
    for (gsize i = 0; i < count; i++) {
        g_autofree char *name = g_strdup_printf("unit %u", neurons[i]);
        if (!limn_run_begin_item(e->run, neurons[i], name, error)) {
            return FALSE;
        }
        limn_neuron_report_add(e->report, i, e->job);
    }
    return TRUE;
}

static gsize
count_own_units(Explaining *e)
{
    gsize n = 0;
    for (guint i = 0; i < e->units->len; i++) {
        n += limn_run_owns_item(e->run, g_array_index(e->units, guint32, i));
    }
    return n;
}

static gboolean
explain_neurons(Explaining *e, GError **error)
{
    guint32 block[BLOCK];
    gsize n = 0, done = 0, all = count_own_units(e);
    gsize size = e->head != NULL ? BLOCK_WITH_HEAD : BLOCK;
    gint64 start = g_get_monotonic_time();
    for (guint i = 0; i < e->units->len; i++) {
        guint32 unit = g_array_index(e->units, guint32, i);
        if (limn_run_owns_item(e->run, unit)) {
            block[n++] = unit;
        }
        if (n == 0 || (n < size && i + 1 < e->units->len)) {
            continue;
        }
        limn_job_report(e->job, "explain", (double) done / (double) all,
                        "%" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " neurons", done, all);
        if (!explain_block(e, block, n, error)) {
            return FALSE;
        }
        done += n;
        n = 0;
    }
    limn_job_add_time(e->job, "explain",
                      (double) (g_get_monotonic_time() - start) * 1e-6);
    return TRUE;
}

static gboolean
make_report(Explaining *e, GError **error)
{
    LimnNeuronReportOptions options = {
        .inputs = &e->in,
        .problem = e->problem,
        .options = &e->options,
        .head = e->head,
        .ablation = {.rate = 0.01, .steps = 100},
        .dissection = e->dissection,
        .seed = limn_run_get_seed(e->run),
        .wants_predictions = limn_run_get_bool(e->run, "predictions"),
    };
    e->report = limn_neuron_report_new(&options, count_own_units(e), error);
    return e->report != NULL;
}

static gboolean
run_neuron_explanations(LimnRun *run, GError **error)
{
    g_auto(Explaining) e = {.run = run, .job = limn_run_get_job(run)};
    if (!read_options(&e, error) || !limn_study_load_neurons(run, NULL, &e.in, error) ||
        !read_units(&e, error) || !limn_study_load_head(run, &e.in, &e.head, error) ||
        !choose_concepts(&e, error) || !prepare_problem(&e, error) ||
        !dissect(&e, error) || !make_report(&e, error)) {
        return FALSE;
    }
    if (e.in.from_similarity) {
        limn_run_add_scalar(run, "slope", e.in.calibration.a);
        limn_run_add_scalar(run, "offset", e.in.calibration.b);
    }
    limn_run_set_n_items(run, (guint64) e.in.activations->shape[1]);
    if (!explain_neurons(&e, error)) {
        return FALSE;
    }
    limn_neuron_report_finish(e.report, run);
    add_concepts(&e);
    return add_split(&e, error);
}

static gboolean
finish_neuron_explanations(LimnRun *run, GError **error)
{
    limn_neuron_report_summarise(run);
    return TRUE;
}

const LimnOperation limn_operation_neuron_explanations = {
    .id = "neuron-explanations",
    .title = N_("Neuron explanations"),
    .family = LIMN_FAMILY_EXPLAIN,
    .summary = N_("Explain every neuron of a layer as a short linear combination of "
                  "named concepts, and measure how well that predicts it."),
    .description = N_(
        "A neuron's activation is written as an offset plus weights times concepts: an "
        "elastic net ranks all concepts on 70 % of the pictures, a greedy search keeps "
        "those that raise the correlation on 10 %, and the last 20 % tell how well the "
        "explanation predicts the neuron (simulation score). Concepts come from labels "
        "and their superclasses, or from the similarity of picture and name in a CLIP. "
        "Beside it stands CLIP-Dissect's single concept. With the classifier behind the "
        "layer, ablation scores and the impact of the most active pictures are added."),
    .paper = {.title = "Linear Explanations for Individual Neurons",
              .authors = "Oikarinen, Weng",
              .venue = "ICML 2024"},
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .shardable = TRUE,
    .run = run_neuron_explanations,
    .finish = finish_neuron_explanations,
};
