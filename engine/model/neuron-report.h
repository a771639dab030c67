// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Everything that a study of the operation `neuron-explanations` holds about each neuron,
// and the artifacts it becomes. n pictures, m neurons, K concepts.
//
// | artifact     | kind         | rows, columns (units) |
// |--------------|--------------|---------------------------------------------------------|
// | explanations | table        | per neuron, the authors' columns (neuron-csv.h); the |
// |              |              | file explanations.csv is their layout | | neurons |
// table        | per neuron: unit, status (explained, dead, undefined,   | | | | not
// finite), formula, length, val correlation,          | |              |              |
// test correlation, mean, std, min, max, nonzero          | |              | |
// (pictures), baseline (one concept by CLIP-Dissect),     | |              | | baseline
// score, baseline correlation (of its column on  | |              |              | test);
// with a classifier: ablation optim, ablation      | |              |              |
// norm, c, d, impact top 0.03% ... 50% (parts of 1)       | | terms        | table | per
// neuron and concept, falling weight: unit, rank      | |              |              |
// (from 1), concept, column (row of `concepts`), weight,  | |              | | alone
// (correlation of the column with the activations   | |              |              | on
// test)                                                | | ranges       | table        |
// composition: per neuron and bin of (0, max]: unit, bin  | |              | | (from 0),
// low, high (activation, low excluded), count   | |              |              |
// (pictures), rank, concept, percent (mean of the column  | |              | | times
// 100); rank 0 without a concept: "other"           | | examples     | table        |
// pictures at each range of ranks: unit, strip (0 to 3:   | |              | | the most
// active 0.01 %, to 0.1 %, to 1 %, to 10 %),     | |              |              | first,
// last (ranks from 0, both included), low, high    | |              |              |
// (activation), picture (row of activations), activation. | |              | | Up to 4 of
// each, drawn from the seed, falling           | | concepts     | table        | per
// column of the matrix: concept, kept (1: passed the  | |              |              |
// filter), top mean, std                                  | | cards        | text | per
// neuron: the formula; words are its concepts with    | |              |              |
// their weights, score is the correlation on test         | | split        | array u8 [n]
// | 0 train, 1 val, 2 test                                  | | predictions  | array f32
// | [m,n] simulated activations (predictions=yes)           | | matrix       | array f32
// | [n,K] the concept matrix (matrix-out=yes)               |
//
// Neurons that are not explained have no terms and no ranges. Missing numbers are empty
// cells. `unit` is the column of the activations. Every table but concepts is tagged by
// neuron, so that shards over neurons can be joined.
//
// A study of `neuron-simulate` holds, for r explanations on n pictures: the table
// `scores` (layer, unit, formula, length, val correlation of the file, sim correlation
// measured, pictures used; with a classifier ablation optim, ablation norm), the table
// `explanations` (the authors' columns, scores filled in) and on request the array
// `predictions` f32 [r,n].

#include "engine/model/neuron-dissect.h"
#include "engine/model/neuron-fit.h"
#include "engine/model/neuron-score.h"
#include "engine/model/study-neurons.h"

#define LIMN_NEURON_N_FRACTIONS 6
#define LIMN_NEURON_N_BINS 8

typedef struct {
    const LimnNeuronInputs *inputs;
    const LimnNeuronProblem *problem;
    const LimnNeuronOptions *options;
    const LimnNeuronHead *head; // NULL: no classifier
    LimnAblationOptions ablation;
    const LimnArray *dissection; // f64 [m,K], NULL: no baseline
    guint64 seed;                // of the examples
    gboolean wants_predictions;
} LimnNeuronReportOptions;

typedef struct LimnNeuronReport LimnNeuronReport;

// n_neurons: how many will be added (memory of the predictions).
LimnNeuronReport *limn_neuron_report_new(const LimnNeuronReportOptions *options,
                                         gsize n_neurons, GError **error);
void limn_neuron_report_free(LimnNeuronReport *report);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnNeuronReport, limn_neuron_report_free)

// Explains and scores the neurons [count] on the job's threads.
gboolean limn_neuron_report_compute(LimnNeuronReport *report, const guint32 *neurons,
                                    gsize count, LimnJob *job, GError **error);
// Adds the i-th of the neurons computed last to the tables; says what is wrong with it.
void limn_neuron_report_add(LimnNeuronReport *report, gsize i, LimnJob *job);
// The artifacts, but concepts, split and matrix. Once.
void limn_neuron_report_finish(LimnNeuronReport *report, LimnRun *run);

// Scalars over all neurons from the table `neurons` of a run: mean test correlation and
// its standard error, counts, the baseline's; diagnostics of neurons that have none.
void limn_neuron_report_summarise(LimnRun *run);
