// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The tables of a report (see neuron-report.h), row by row.

#include "engine/model/neuron-report.h"

#define LIMN_NEURON_N_STRIPS 4
#define LIMN_NEURON_N_EXAMPLES 4

// Pictures of a range of ranks.
typedef struct {
    gsize first, size; // ranks first .. first + size - 1
    double low, high;  // their activations
    guint32 pictures[LIMN_NEURON_N_EXAMPLES];
    double activations[LIMN_NEURON_N_EXAMPLES];
    gsize n_pictures;
} LimnNeuronStrip;

// All about one neuron.
typedef struct {
    LimnNeuronExplanation explanation;
    guint32 columns[LIMN_NEURON_MAX_LENGTH]; // of its concepts in the matrix
    double test_correlation;
    double alone[LIMN_NEURON_MAX_LENGTH];
    gint64 baseline; // column, -1: none
    double baseline_score, baseline_correlation;
    LimnAblation ablation;
    double impact[LIMN_NEURON_N_FRACTIONS];
    LimnNeuronBin bins[LIMN_NEURON_N_BINS];
    double percent[LIMN_NEURON_N_BINS * LIMN_NEURON_MAX_LENGTH];
    LimnNeuronStrip strips[LIMN_NEURON_N_STRIPS];
} LimnNeuronResult;

extern const double limn_neuron_fractions[LIMN_NEURON_N_FRACTIONS];

typedef struct LimnNeuronTables LimnNeuronTables;
// `options` is borrowed.
LimnNeuronTables *limn_neuron_tables_new(const LimnNeuronReportOptions *options);
void limn_neuron_tables_free(LimnNeuronTables *tables);
void limn_neuron_tables_add(LimnNeuronTables *tables, guint32 neuron,
                            const LimnNeuronResult *result);
// Gives the artifacts to the run; predictions (transfer full) may be NULL.
void limn_neuron_tables_finish(LimnNeuronTables *tables, LimnRun *run,
                               LimnArtifact *predictions);
