// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The parameters of a model: named tensors in one contiguous block, with twin blocks for
// gradients and for the optimiser's moments, so that zeroing, clipping, averaging, saving
// and stepping are single loops.

#include "engine/base/array.h"
#include "engine/nn/tensor.h"

typedef struct {
    char *name; // as the model's file names it:
                // "vision_model.encoder.layers.0.mlp.fc1.bias"
    int rank;
    gint64 dim[LIMN_TENSOR_MAX_RANK];
    gint64 offset, length; // elements in the block
    gboolean decay;        // weight decay applies
    gboolean frozen;       // no gradient, never stepped
} LimnParameterInfo;

typedef struct LimnParameters LimnParameters;

LimnParameters *limn_parameters_new(void);
void limn_parameters_free(LimnParameters *parameters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnParameters, limn_parameters_free)

// Declare every parameter, then allocate the blocks (zeroed; LIMN_ERROR_MEMORY when they
// are too large or cannot be had). Returns the index. Weight
// decay is on for matrices and off for vectors and for names with "position"; both may be
// changed afterwards.
int limn_parameters_add(LimnParameters *parameters, const char *name, int rank,
                        const gint64 *dim);
gboolean limn_parameters_allocate(LimnParameters *parameters, GError **error);
void limn_parameters_set_decay(LimnParameters *parameters, int index, gboolean decay);
void limn_parameters_set_frozen(LimnParameters *parameters, int index, gboolean frozen);

guint limn_parameters_get_n(LimnParameters *parameters);
gint64 limn_parameters_get_length(LimnParameters *parameters); // elements of the block
const LimnParameterInfo *limn_parameters_get_info(LimnParameters *parameters, int index);
int limn_parameters_find(LimnParameters *parameters, const char *name); // -1: none
LimnReal *limn_parameters_get_values(LimnParameters *parameters, int index);
LimnReal *limn_parameters_get_gradient(LimnParameters *parameters, int index);
LimnReal *limn_parameters_get_block(LimnParameters *parameters);
LimnReal *limn_parameters_get_gradient_block(LimnParameters *parameters);
// A further block of that length, zeroed (an optimiser's state); NULL without memory.
// Freed with free().
LimnReal *limn_parameters_new_block(LimnParameters *parameters);

// A leaf of the tape for this step.
LimnTensor *limn_parameters_leaf(LimnParameters *parameters, int index, LimnTape *tape);
void limn_parameters_zero_gradients(LimnParameters *parameters);

// Normal with that deviation, from stream `stream` of the seed.
void limn_parameters_fill_normal(LimnParameters *parameters, int index, guint64 seed,
                                 guint64 stream, double deviation);
void limn_parameters_fill(LimnParameters *parameters, int index, double value);
