// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-csv.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/number.h"
#include "engine/io/artifact-files.h"

#define MOST_SLOTS 1000

LimnNeuronRow *
limn_neuron_row_new(const char *layer, gint64 unit)
{
    LimnNeuronRow *row = g_new0(LimnNeuronRow, 1);
    row->layer = g_strdup(layer);
    row->unit = unit;
    row->concepts = g_ptr_array_new_with_free_func(g_free);
    row->weights = g_array_new(FALSE, FALSE, sizeof(double));
    row->val_correlation = row->sim_correlation = NAN;
    row->ablation_optim = row->ablation_norm = NAN;
    return row;
}

void
limn_neuron_row_free(LimnNeuronRow *row)
{
    if (row != NULL) {
        g_free(row->layer);
        g_ptr_array_unref(row->concepts);
        g_array_unref(row->weights);
        g_free(row);
    }
}

void
limn_neuron_row_add(LimnNeuronRow *row, const char *concept, double weight)
{
    g_ptr_array_add(row->concepts, g_strdup(concept));
    g_array_append_val(row->weights, weight);
}

// ---- reading

typedef struct {
    const char *path;
    GPtrArray *header;
    int layer, unit, description, bias, val, sim, optim, norm;
    GArray *slots; // int pairs: weight column, concept column
} Columns;

static int
find(const Columns *c, const char *name)
{
    for (guint i = 0; i < c->header->len; i++) {
        g_autofree char *title = g_strstrip(g_strdup(g_ptr_array_index(c->header, i)));
        if (strcmp(title, name) == 0) {
            return (int) i;
        }
    }
    return -1;
}

static gboolean
find_columns(Columns *c, GError **error)
{
    c->layer = find(c, "layer");
    c->unit = find(c, "unit");
    c->description = find(c, "description");
    c->bias = find(c, "bias");
    c->val = find(c, "val correlation");
    c->sim = find(c, "sim correlation");
    c->optim = find(c, "sim ablation(optim)");
    c->norm = find(c, "sim ablation(norm)");
    for (int i = 0; i < MOST_SLOTS; i++) {
        g_autofree char *weight = g_strdup_printf("weight%d", i);
        g_autofree char *concept = g_strdup_printf("concept%d", i);
        int pair[2] = {find(c, weight), find(c, concept)};
        if (pair[0] < 0 || pair[1] < 0) {
            break;
        }
        g_array_append_vals(c->slots, pair, 2);
    }
    if (c->unit < 0 || (c->slots->len == 0 && c->description < 0)) {
        return limn_error_set_file(
            error, LIMN_ERROR_FORMAT, c->path,
            "this is no table of explanations: there is no column '%s' (expected unit "
            "with weight0, concept0, ..., or with description)",
            c->unit < 0 ? "unit" : "weight0");
    }
    return TRUE;
}

static const char *
cell(GPtrArray *row, int column)
{
    return column >= 0 && column < (int) row->len ? g_ptr_array_index(row, column) : "";
}

// An empty cell leaves *value as it is.
static gboolean
read_number(const Columns *c, GPtrArray *row, guint line, int column, double *value,
            GError **error)
{
    const char *text = cell(row, column);
    double number;
    if (*text == '\0') {
        return TRUE;
    }
    if (!limn_number_parse(text, &number)) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, c->path,
                                   "row %u: column '%s' is '%s' (expected a number)",
                                   line, (char *) g_ptr_array_index(c->header, column),
                                   text);
    }
    *value = number;
    return TRUE;
}

static gboolean
read_slots(const Columns *c, GPtrArray *cells, guint line, LimnNeuronRow *row,
           GError **error)
{
    for (guint i = 0; i < c->slots->len; i += 2) {
        double weight = 0;
        const char *concept = cell(cells, g_array_index(c->slots, int, i + 1));
        if (!read_number(c, cells, line, g_array_index(c->slots, int, i), &weight,
                         error)) {
            return FALSE;
        }
        if (!isfinite(weight)) {
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, c->path,
                                       "row %u: weight%u is not finite", line, i / 2);
        }
        if (weight == 0 && (strcmp(concept, "0") == 0 || *concept == '\0')) {
            break;
        }
        if (*concept == '\0') {
            return limn_error_set_file(error, LIMN_ERROR_FORMAT, c->path,
                                       "row %u: weight%u belongs to no concept", line,
                                       i / 2);
        }
        limn_neuron_row_add(row, concept, weight);
    }
    return TRUE;
}

static LimnNeuronRow *
read_row(const Columns *c, GPtrArray *cells, guint line, GError **error)
{
    double unit = NAN;
    if (!read_number(c, cells, line, c->unit, &unit, error)) {
        return NULL;
    }
    if (!(unit >= 0 && unit < 1e9) || unit != floor(unit)) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, c->path,
                            "row %u: column 'unit' is '%s' (expected the number of a "
                            "neuron)",
                            line, cell(cells, c->unit));
        return NULL;
    }
    g_autoptr(LimnNeuronRow) row =
        limn_neuron_row_new(cell(cells, c->layer), (gint64) unit);
    if (!read_number(c, cells, line, c->bias, &row->bias, error) ||
        !read_number(c, cells, line, c->val, &row->val_correlation, error) ||
        !read_number(c, cells, line, c->sim, &row->sim_correlation, error) ||
        !read_number(c, cells, line, c->optim, &row->ablation_optim, error) ||
        !read_number(c, cells, line, c->norm, &row->ablation_norm, error)) {
        return NULL;
    }
    if (c->slots->len == 0) {
        const char *phrase = cell(cells, c->description);
        row->phrase = TRUE;
        if (*phrase != '\0') {
            limn_neuron_row_add(row, phrase, 1);
        }
    } else if (!read_slots(c, cells, line, row, error)) {
        return NULL;
    }
    return g_steal_pointer(&row);
}

static void
free_row(gpointer row)
{
    limn_neuron_row_free(row);
}

GPtrArray *
limn_neuron_rows_load(const char *path, GError **error)
{
    g_autoptr(GPtrArray) cells = limn_csv_load(path, error);
    if (cells == NULL) {
        return NULL;
    }
    if (cells->len == 0) {
        limn_error_set_file(error, LIMN_ERROR_FORMAT, path, "the file is empty");
        return NULL;
    }
    g_autoptr(GArray) slots = g_array_new(FALSE, FALSE, sizeof(int));
    Columns c = {.path = path, .header = g_ptr_array_index(cells, 0), .slots = slots};
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    if (!find_columns(&c, error)) {
        return NULL;
    }
    for (guint i = 1; i < cells->len; i++) {
        GPtrArray *line = g_ptr_array_index(cells, i);
        if (line->len == 1 && *cell(line, 0) == '\0') {
            continue; // a blank line
        }
        LimnNeuronRow *row = read_row(&c, line, i + 1, error);
        if (row == NULL) {
            return NULL;
        }
        g_ptr_array_add(rows, row);
    }
    return g_steal_pointer(&rows);
}

// ---- writing

LimnTable *
limn_neuron_rows_to_table(GPtrArray *rows, guint slots)
{
    for (guint i = 0; i < rows->len; i++) {
        const LimnNeuronRow *row = g_ptr_array_index(rows, i);
        slots = MAX(slots, row->concepts->len);
    }
    LimnTable *table = limn_table_new();
    LimnColumn *layer = limn_table_add_column(table, "layer", FALSE);
    LimnColumn *unit = limn_table_add_column(table, "unit", TRUE);
    LimnColumn *val = limn_table_add_column(table, "val correlation", TRUE);
    for (guint s = 0; s < slots; s++) {
        g_autofree char *weight_title = g_strdup_printf("weight%u", s);
        g_autofree char *concept_title = g_strdup_printf("concept%u", s);
        LimnColumn *weight = limn_table_add_column(table, weight_title, TRUE);
        LimnColumn *concept = limn_table_add_column(table, concept_title, FALSE);
        for (guint i = 0; i < rows->len; i++) {
            const LimnNeuronRow *row = g_ptr_array_index(rows, i);
            gboolean used = s < row->concepts->len;
            limn_column_add_number(weight,
                                   used ? g_array_index(row->weights, double, s) : 0);
            limn_column_add_string(
                concept, used ? (char *) g_ptr_array_index(row->concepts, s) : "0");
        }
    }
    LimnColumn *bias = limn_table_add_column(table, "bias", TRUE);
    LimnColumn *sim = limn_table_add_column(table, "sim correlation", TRUE);
    LimnColumn *optim = limn_table_add_column(table, "sim ablation(optim)", TRUE);
    LimnColumn *norm = limn_table_add_column(table, "sim ablation(norm)", TRUE);
    for (guint i = 0; i < rows->len; i++) {
        const LimnNeuronRow *row = g_ptr_array_index(rows, i);
        limn_column_add_string(layer, row->layer);
        limn_column_add_number(unit, (double) row->unit);
        limn_column_add_number(val, row->val_correlation);
        limn_column_add_number(bias, row->bias);
        limn_column_add_number(sim, row->sim_correlation);
        limn_column_add_number(optim, row->ablation_optim);
        limn_column_add_number(norm, row->ablation_norm);
    }
    return table;
}

// ---- formula

// Two decimals, more where the largest weight would not show three digits.
static int
count_decimals(const LimnNeuronRow *row)
{
    double largest = 0;
    for (guint i = 0; i < row->weights->len; i++) {
        largest = fmax(largest, fabs(g_array_index(row->weights, double, i)));
    }
    int decimals = 2;
    for (double value = largest; value > 0 && value < 1 && decimals < 8; value *= 10) {
        decimals++;
    }
    return decimals;
}

static void
append_number(GString *text, double value, int decimals, gboolean first)
{
    char number[LIMN_NUMBER_BUFFER];
    const char *sign = first ? value < 0 ? "-" : "" : value < 0 ? " - " : " + ";
    g_string_append(text, sign);
    g_string_append(text, limn_number_format_fixed(number, fabs(value), decimals));
}

char *
limn_neuron_row_dup_formula(const LimnNeuronRow *row, GArray *words)
{
    GString *text = g_string_new(NULL);
    int decimals = count_decimals(row);
    for (guint i = 0; i < row->concepts->len; i++) {
        double weight = g_array_index(row->weights, double, i);
        const char *concept = g_ptr_array_index(row->concepts, i);
        if (!row->phrase) {
            append_number(text, weight, decimals, i == 0);
            g_string_append_c(text, ' ');
        }
        LimnTextWord word = {text->len, text->len + strlen(concept), weight};
        if (words != NULL) {
            g_array_append_val(words, word);
        }
        g_string_append(text, concept);
    }
    if (!row->phrase) {
        append_number(text, row->bias, decimals, row->concepts->len == 0);
    }
    return g_string_free(text, FALSE);
}
