// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-report-tables.h"

#include <math.h>
#include <string.h>

#include "engine/base/number.h"
#include "engine/model/neuron-csv.h"
#include "engine/model/study-parts.h"

#define AUTHORS_SLOTS 10
#define MOST_NAMED 20

// A table that grows: columns in the order of the names, values row by row.
typedef struct {
    LimnArtifact *artifact;
    guint at; // next column of the row
} Rows;

struct LimnNeuronTables {
    const LimnNeuronReportOptions *options;
    Rows neurons, terms, ranges, examples;
    GPtrArray *rows; // LimnNeuronRow, of the authors' table
    LimnArtifact *cards;
    GArray *units; // guint32
};

// names: "unit", "$status" ($: text), ..., NULL
static void
rows_init(Rows *rows, const char *name, const char *const *names)
{
    LimnTable *table = limn_table_new();
    for (guint i = 0; names[i] != NULL; i++) {
        gboolean text = names[i][0] == '$';
        (void) limn_table_add_column(table, names[i] + text, !text);
    }
    rows->artifact = limn_artifact_new_table(name, table);
    rows->at = 0;
}

static LimnColumn *
next_column(Rows *rows)
{
    GPtrArray *columns = rows->artifact->table->columns;
    LimnColumn *column = g_ptr_array_index(columns, rows->at);
    rows->at = (rows->at + 1) % columns->len;
    return column;
}

static void
number(Rows *rows, double value)
{
    limn_column_add_number(next_column(rows), value);
}

static void
text(Rows *rows, const char *value)
{
    limn_column_add_string(next_column(rows), value);
}

static void
set_unit(Rows *rows, const char *column, const char *unit)
{
    GPtrArray *columns = rows->artifact->table->columns;
    for (guint i = 0; i < columns->len; i++) {
        LimnColumn *c = g_ptr_array_index(columns, i);
        if (strcmp(c->name, column) == 0) {
            c->unit = g_strdup(unit);
        }
    }
}

static void
free_row(gpointer row)
{
    limn_neuron_row_free(row);
}

// Columns of the tables; $: of text. With a classifier neurons have scores more.
static const char *const neuron_columns[] = {"unit",
                                             "$status",
                                             "$formula",
                                             "length",
                                             "val correlation",
                                             "test correlation",
                                             "mean",
                                             "std",
                                             "min",
                                             "max",
                                             "nonzero",
                                             "$baseline",
                                             "baseline score",
                                             "baseline correlation",
                                             NULL};
static const char *const scored_columns[] = {"unit",
                                             "$status",
                                             "$formula",
                                             "length",
                                             "val correlation",
                                             "test correlation",
                                             "mean",
                                             "std",
                                             "min",
                                             "max",
                                             "nonzero",
                                             "$baseline",
                                             "baseline score",
                                             "baseline correlation",
                                             "ablation optim",
                                             "ablation norm",
                                             "c",
                                             "d",
                                             "impact top 0.03%",
                                             "impact top 0.2%",
                                             "impact top 0.5%",
                                             "impact top 2%",
                                             "impact top 10%",
                                             "impact top 50%",
                                             NULL};
static const char *const term_columns[] = {"unit",   "rank",  "$concept", "column",
                                           "weight", "alone", NULL};
static const char *const range_columns[] = {
    "unit", "bin", "low", "high", "count", "rank", "$concept", "percent", NULL};
static const char *const example_columns[] = {
    "unit", "strip", "first", "last", "low", "high", "picture", "activation", NULL};

LimnNeuronTables *
limn_neuron_tables_new(const LimnNeuronReportOptions *options)
{
    LimnNeuronTables *t = g_new0(LimnNeuronTables, 1);
    t->options = options;
    rows_init(&t->neurons, "neurons",
              options->head != NULL ? scored_columns : neuron_columns);
    rows_init(&t->terms, "terms", term_columns);
    rows_init(&t->ranges, "ranges", range_columns);
    rows_init(&t->examples, "examples", example_columns);
    set_unit(&t->neurons, "nonzero", "pictures");
    set_unit(&t->ranges, "count", "pictures");
    set_unit(&t->ranges, "percent", "%");
    t->rows = g_ptr_array_new_with_free_func(free_row);
    t->cards = limn_artifact_new_text("cards");
    t->cards->title = g_strdup(options->inputs->layer);
    t->units = g_array_new(FALSE, FALSE, sizeof(guint32));
    return t;
}

void
limn_neuron_tables_free(LimnNeuronTables *t)
{
    if (t == NULL) {
        return;
    }
    Rows *all[] = {&t->neurons, &t->terms, &t->ranges, &t->examples};
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        g_clear_pointer(&all[i]->artifact, limn_artifact_unref);
    }
    g_clear_pointer(&t->cards, limn_artifact_unref);
    g_ptr_array_unref(t->rows);
    g_array_unref(t->units);
    g_free(t);
}

// ---- rows of one neuron

static const char *
name_of(const LimnNeuronTables *t, gint64 column)
{
    return column >= 0 ? g_ptr_array_index(t->options->inputs->concepts->names, column)
                       : NULL;
}

static LimnNeuronRow *
add_authors_row(LimnNeuronTables *t, guint32 neuron, const LimnNeuronResult *result)
{
    const LimnNeuronExplanation *e = &result->explanation;
    LimnNeuronRow *row = limn_neuron_row_new(t->options->inputs->layer, neuron);
    gboolean finite = e->status != LIMN_NEURON_NOT_FINITE;
    for (gsize i = 0; i < e->length; i++) {
        limn_neuron_row_add(row, name_of(t, result->columns[i]), e->weights[i]);
    }
    row->bias = finite ? e->bias : NAN;
    row->val_correlation = finite ? e->val_correlation : NAN;
    row->sim_correlation = result->test_correlation;
    gboolean scored = t->options->head != NULL && e->length > 0;
    row->ablation_optim = scored ? result->ablation.optim : NAN;
    row->ablation_norm = scored ? result->ablation.norm : NAN;
    g_ptr_array_add(t->rows, row);
    return row;
}

static void
add_card(LimnNeuronTables *t, const LimnNeuronRow *row, const LimnNeuronResult *result)
{
    g_autoptr(GArray) words = g_array_new(FALSE, FALSE, sizeof(LimnTextWord));
    g_autofree char *formula = limn_neuron_row_dup_formula(row, words);
    LimnTextItem *item =
        limn_text_item_new(result->explanation.status == LIMN_NEURON_NOT_FINITE
                               ? limn_neuron_status_name(LIMN_NEURON_NOT_FINITE)
                               : formula);
    item->score = result->test_correlation;
    g_array_append_vals(item->words, words->data, words->len);
    g_ptr_array_add(t->cards->texts, item);
    g_autofree char *label = g_strdup_printf("unit %" G_GINT64_FORMAT, row->unit);
    limn_artifact_add_label(t->cards, label);
    limn_artifact_tag_item(t->cards, (guint64) row->unit, 1);
}

static void
add_head_scores(Rows *rows, const LimnNeuronResult *result, gboolean finite)
{
    const LimnAblation *a = &result->ablation;
    gboolean scored = result->explanation.length > 0;
    number(rows, scored ? a->optim : NAN);
    number(rows, scored ? a->norm : NAN);
    number(rows, scored ? a->c : NAN);
    number(rows, scored ? a->d : NAN);
    for (gsize f = 0; f < LIMN_NEURON_N_FRACTIONS; f++) {
        number(rows, finite ? result->impact[f] : NAN);
    }
}

static void
add_neuron(LimnNeuronTables *t, const LimnNeuronRow *row, const LimnNeuronResult *result)
{
    const LimnNeuronExplanation *e = &result->explanation;
    const LimnDescription *d = &e->activations;
    Rows *rows = &t->neurons;
    gboolean finite = e->status != LIMN_NEURON_NOT_FINITE;
    g_autofree char *formula = finite ? limn_neuron_row_dup_formula(row, NULL) : NULL;
    number(rows, (double) row->unit);
    text(rows, limn_neuron_status_name(e->status));
    text(rows, formula);
    number(rows, (double) e->length);
    number(rows, row->val_correlation);
    number(rows, result->test_correlation);
    number(rows, finite ? d->mean : NAN);
    number(rows, finite ? d->std : NAN);
    number(rows, finite ? d->min : NAN);
    number(rows, finite ? d->max : NAN);
    number(rows, finite ? (double) d->n_nonzero : NAN);
    text(rows, name_of(t, result->baseline));
    number(rows, result->baseline_score);
    number(rows, result->baseline_correlation);
    if (t->options->head != NULL) {
        add_head_scores(rows, result, finite);
    }
    limn_artifact_tag_item(rows->artifact, (guint64) row->unit, 1);
}

static void
add_terms(LimnNeuronTables *t, guint32 neuron, const LimnNeuronResult *result)
{
    const LimnNeuronExplanation *e = &result->explanation;
    Rows *rows = &t->terms;
    for (gsize i = 0; i < e->length; i++) {
        number(rows, neuron);
        number(rows, (double) (i + 1));
        text(rows, name_of(t, result->columns[i]));
        number(rows, result->columns[i]);
        number(rows, e->weights[i]);
        number(rows, result->alone[i]);
    }
    limn_artifact_tag_item(rows->artifact, neuron, e->length);
}

static void
add_ranges(LimnNeuronTables *t, guint32 neuron, const LimnNeuronResult *result)
{
    gsize length = result->explanation.length, added = 0;
    Rows *rows = &t->ranges;
    for (gsize b = 0; b < LIMN_NEURON_N_BINS && length > 0; b++) {
        const LimnNeuronBin *bin = &result->bins[b];
        for (gsize i = 0; i <= length; i++) {
            number(rows, neuron);
            number(rows, (double) b);
            number(rows, bin->low);
            number(rows, bin->high);
            number(rows, (double) bin->count);
            number(rows, (double) i);
            text(rows, i > 0 ? name_of(t, result->columns[i - 1]) : NULL);
            number(rows, i > 0 ? result->percent[b * length + i - 1] : bin->other);
            added++;
        }
    }
    limn_artifact_tag_item(rows->artifact, neuron, added);
}

static void
add_examples(LimnNeuronTables *t, guint32 neuron, const LimnNeuronResult *result)
{
    gsize added = 0;
    Rows *rows = &t->examples;
    for (gsize s = 0; s < LIMN_NEURON_N_STRIPS; s++) {
        const LimnNeuronStrip *strip = &result->strips[s];
        for (gsize i = 0; i < strip->n_pictures; i++) {
            number(rows, neuron);
            number(rows, (double) s);
            number(rows, (double) strip->first);
            number(rows, (double) (strip->first + strip->size - 1));
            number(rows, strip->low);
            number(rows, strip->high);
            number(rows, strip->pictures[i]);
            number(rows, strip->activations[i]);
            added++;
        }
    }
    limn_artifact_tag_item(rows->artifact, neuron, added);
}

void
limn_neuron_tables_add(LimnNeuronTables *t, guint32 neuron,
                       const LimnNeuronResult *result)
{
    const LimnNeuronRow *row = add_authors_row(t, neuron, result);
    add_neuron(t, row, result);
    add_terms(t, neuron, result);
    add_ranges(t, neuron, result);
    add_examples(t, neuron, result);
    add_card(t, row, result);
    g_array_append_val(t->units, neuron);
}

// ---- artifacts

static void
tag_units(const LimnNeuronTables *t, LimnArtifact *artifact)
{
    for (guint i = 0; i < t->units->len; i++) {
        limn_artifact_tag_item(artifact, g_array_index(t->units, guint32, i), 1);
    }
}

void
limn_neuron_tables_finish(LimnNeuronTables *t, LimnRun *run, LimnArtifact *predictions)
{
    guint slots = MAX(AUTHORS_SLOTS, (guint) t->options->options->length);
    slots = MAX(slots, (guint) t->options->options->short_length);
    LimnArtifact *explanations = limn_artifact_new_table(
        "explanations", limn_neuron_rows_to_table(t->rows, slots));
    explanations->title = g_strdup(t->options->inputs->layer);
    tag_units(t, explanations);
    limn_run_add_artifact(run, explanations);
    Rows *all[] = {&t->neurons, &t->terms, &t->ranges, &t->examples};
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        limn_run_add_artifact(run, g_steal_pointer(&all[i]->artifact));
    }
    limn_run_add_artifact(run, g_steal_pointer(&t->cards));
    if (predictions != NULL) {
        tag_units(t, predictions);
        limn_run_add_artifact(run, predictions);
    }
}

// ---- summary

static double
value_at(const LimnColumn *column, guint i)
{
    return g_array_index(column->numbers, double, i);
}

// Counts neurons of a status; says which they are.
static void
add_count(LimnRun *run, const LimnTable *table, LimnNeuronStatus status, const char *what)
{
    const LimnColumn *statuses = limn_study_find_column(table, "status");
    const LimnColumn *units = limn_study_find_column(table, "unit");
    const char *wanted = limn_neuron_status_name(status);
    g_autoptr(GString) list = g_string_new(NULL);
    guint n = 0;
    for (guint i = 0; i < statuses->strings->len; i++) {
        if (g_strcmp0(g_ptr_array_index(statuses->strings, i), wanted) == 0) {
            char buffer[LIMN_NUMBER_BUFFER];
            double unit = value_at(units, i);
            if (n++ < MOST_NAMED) {
                g_string_append_printf(list, "%s%s", n > 1 ? ", " : "",
                                       limn_number_format(buffer, unit));
            }
        }
    }
    limn_run_add_scalar(run, wanted, n);
    if (n > 0 && what != NULL) {
        limn_job_diagnose(limn_run_get_job(run), LIMN_DIAGNOSTIC_NOTE, NULL,
                          "%u neurons have no explanation: %s (units %s%s)", n, what,
                          list->str, n > MOST_NAMED ? ", ..." : "");
    }
}

// How much better the explanations are than the baseline, where both have a correlation.
static void
add_gain(LimnRun *run, const LimnTable *table)
{
    const LimnColumn *own = limn_study_find_column(table, "test correlation");
    const LimnColumn *other = limn_study_find_column(table, "baseline correlation");
    double gain = 0;
    guint n = 0, n_better = 0;
    for (guint i = 0; i < own->numbers->len; i++) {
        double difference = value_at(own, i) - value_at(other, i);
        if (isfinite(difference)) {
            n++;
            gain += difference;
            n_better += difference > 0;
        }
    }
    if (n > 0) {
        limn_run_add_scalar(run, "gain over baseline", gain / n);
        limn_run_add_scalar(run, "better than baseline", (double) n_better / n);
    }
}

static void
add_length(LimnRun *run, const LimnTable *table)
{
    const LimnColumn *length = limn_study_find_column(table, "length");
    double sum = 0;
    guint n = 0;
    for (guint i = 0; i < length->numbers->len; i++) {
        sum += value_at(length, i);
        n += value_at(length, i) > 0;
    }
    limn_run_add_scalar(run, "length", n > 0 ? sum / n : NAN);
}

void
limn_neuron_report_summarise(LimnRun *run)
{
    LimnArtifact *artifact = limn_run_find_artifact(run, "neurons");
    if (artifact == NULL || artifact->table == NULL) {
        return;
    }
    const LimnTable *table = artifact->table;
    guint n = limn_table_n_rows(table);
    limn_run_add_scalar(run, "neurons", n);
    guint known = limn_study_add_mean(run, table, "test correlation", TRUE);
    limn_run_add_scalar(run, "missing correlation", n - known);
    (void) limn_study_add_mean(run, table, "val correlation", FALSE);
    (void) limn_study_add_mean(run, table, "baseline correlation", TRUE);
    add_gain(run, table);
    add_length(run, table);
    if (limn_study_find_column(table, "ablation norm") != NULL) {
        (void) limn_study_add_mean(run, table, "ablation optim", TRUE);
        (void) limn_study_add_mean(run, table, "ablation norm", TRUE);
    }
    add_count(run, table, LIMN_NEURON_EXPLAINED, NULL);
    add_count(run, table, LIMN_NEURON_DEAD,
              "their activation is the same for all pictures");
    add_count(run, table, LIMN_NEURON_UNDEFINED,
              "no concept correlates positively on the pictures for selection");
    add_count(run, table, LIMN_NEURON_NOT_FINITE, NULL);
}
