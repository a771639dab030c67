// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A case of METHOD neuron_explanations: its inputs and options, checked, and what is
// computed from them.

#include "app/golden.h"
#include "engine/io/json.h"
#include "engine/io/safetensors.h"
#include "engine/model/neuron-concepts.h"
#include "engine/model/neuron-dissect.h"
#include "engine/model/neuron-fit.h"
#include "engine/model/neuron-score.h"

// Names of the three files of a case; ends with NULL.
extern const char *const limn_neuron_case_files[];

typedef struct {
    LimnGolden *golden;
    LimnJob *job;
    LimnSafetensors *inputs, *expected;
    json_t *json;
    LimnJson root, options;
    // inputs
    LimnArray *p, *a; // f32 [n,K], [n,m]
    LimnNeuronSplit *split;
    gsize n, m;
    // options
    LimnNeuronOptions fit;
    LimnConceptFilter filter;
    double temperature;
    LimnAblationOptions ablation;
    LimnDissectOptions dissect;
    gint64 adam_neuron, bins_neuron, n_bins;
    // computed
    LimnConceptChoice *choice;
    LimnNeuronProblem *problem;
    LimnNeuronWork *work;
    double *columns;                      // [m,n] activations, neuron by neuron
    double *q;                            // [m,k]
    LimnNeuronExplanation *greedy;        // [m] ols
    LimnArray *weight, *bias, *objective; // stage 1
    LimnArray *order;                     // i64 [m,k]
    LimnArray *target_mean, *target_std;  // f64 [m]
} LimnNeuronCase;

// Inputs and options of the folder. FALSE with an error that names file and key.
gboolean limn_neuron_case_open(LimnNeuronCase *c, const char *folder, GError **error);
void limn_neuron_case_clear(LimnNeuronCase *c);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimnNeuronCase, limn_neuron_case_clear)
// A tensor of that type and rank; `file` for messages.
LimnArray *limn_neuron_case_read(LimnSafetensors *tensors, const char *file,
                                 const char *name, LimnDType dtype, int rank,
                                 GError **error);
LimnArray *limn_neuron_case_read_input(LimnNeuronCase *c, const char *name,
                                       LimnDType dtype, int rank, GError **error);
