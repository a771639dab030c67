// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Explanations of neurons as a table, in the layout of the authors' CSV files:
//
//     layer, unit, val correlation, weight0, concept0, ..., weight9, concept9, bias,
//     sim correlation, sim ablation(optim), sim ablation(norm)
//
// Unused slots hold 0 in both fields; a weight of 0 with the name "0" ends the list.
// Methods with one phrase per neuron (Network Dissection, MILAN, CLIP-Dissect) have
// `layer, unit, description`. Columns may come in any order, further ones are ignored,
// the scores may be missing.

#include "engine/study/artifact.h"

typedef struct {
    char *layer; // "" when the file has none
    gint64 unit;
    GPtrArray *concepts; // char *
    GArray *weights;     // double, as many
    double bias;
    gboolean phrase;                         // a description: one concept of weight 1
    double val_correlation, sim_correlation; // NaN: not known
    double ablation_optim, ablation_norm;
} LimnNeuronRow;

LimnNeuronRow *limn_neuron_row_new(const char *layer, gint64 unit);
void limn_neuron_row_free(LimnNeuronRow *row);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnNeuronRow, limn_neuron_row_free)
void limn_neuron_row_add(LimnNeuronRow *row, const char *concept, double weight);

// Returns: (transfer full) (element-type LimnNeuronRow). LIMN_ERROR_FORMAT naming the row
// and column.
GPtrArray *limn_neuron_rows_load(const char *path, GError **error);
// The authors' columns with at least `slots` pairs of weight and concept (10).
LimnTable *limn_neuron_rows_to_table(GPtrArray *rows, guint slots);

// "2.78 snowmobile + 2.60 ski - 0.30 dog + 0.32", two decimals or so many that the
// largest weight shows three digits; the places of the concept names in the text are
// appended to `words` (LimnTextWord, weight = the concept's) unless NULL. Returns:
// (transfer full)
char *limn_neuron_row_dup_formula(const LimnNeuronRow *row, GArray *words);
