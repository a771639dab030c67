// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the operations on explanations of neurons share: activations and the concept
// matrix that belongs to the same pictures. Names of the declaration:
//
//   activations       .npy [n,m], or the folder of a study of the operation `activations`
//   matrix            .npy [n,K]: the concept matrix as it is
//   labels            .npy [n] classes or [n,C] 0/1, or JSON with one entry per picture
//   superclasses      JSON {name: [classes]}
//   similarity        .npy [n,K] cosines of pictures and concepts
//   image-embeddings  .npy [n,d]; text-embeddings .npy [K,d] (none: by the model)
//   image             folder of the n pictures, for the model
//   model, concepts   CLIP; names (text, table), see concept-list.h
//   parameters        variant, template, slope, offset, calibration, most-members, heads
//
// What is not given is taken from the folder of activations: its labels (presence.npy,
// concepts.csv), its embeddings, the model it was recorded with.

#include "engine/model/neuron-calibration.h"
#include "engine/model/neuron-concepts.h"
#include "engine/model/neuron-score.h"
#include "engine/study/run.h"

typedef struct {
    LimnArray *activations; // f32 [n,m]
    char *layer;            // name for tables
    char *shown;            // of the activations, for messages
    LimnConcepts *concepts;
    LimnArray *similarities; // cosines f32 [n,K] behind the matrix, or NULL
    gboolean from_labels, from_similarity;
    LimnCalibration calibration; // used with from_similarity
    GStrv pictures;              // names of the rows, or NULL
} LimnNeuronInputs;

// wanted: names of the concepts that are needed (simulation), or NULL for all; where the
// text tower makes the columns only those are made. Errors name both files and sizes.
gboolean limn_study_load_neurons(LimnRun *run, const char *const *wanted,
                                 LimnNeuronInputs *inputs, GError **error);
void limn_neuron_inputs_clear(LimnNeuronInputs *inputs);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimnNeuronInputs, limn_neuron_inputs_clear)

// FALSE with LIMN_ERROR_FORMAT naming file, picture and neuron when an activation is not
// finite.
gboolean limn_study_check_activations(const LimnNeuronInputs *inputs, GError **error);
// The first picture for which neuron `unit` is not finite, or -1.
gint64 limn_study_find_not_finite(const LimnNeuronInputs *inputs, gsize unit);
// "picture 12", or "picture 12 (dog.png)".
char *limn_study_dup_picture_name(const LimnNeuronInputs *inputs, gint64 picture);

// The classifier behind the layer (inputs head-weight, head-bias, head-labels, parameter
// temperature); *head stays NULL when none is given.
gboolean limn_study_load_head(LimnRun *run, const LimnNeuronInputs *inputs,
                              LimnNeuronHead **head, GError **error);
