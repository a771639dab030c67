// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/method/operations.h"

extern const LimnOperation limn_operation_grad_eclip;
extern const LimnOperation limn_operation_attention_maps;
extern const LimnOperation limn_operation_explain_evaluate;
extern const LimnOperation limn_operation_clip_classify;
extern const LimnOperation limn_operation_scenes;
extern const LimnOperation limn_operation_activations;
extern const LimnOperation limn_operation_neuron_explanations;
extern const LimnOperation limn_operation_neuron_simulate;
extern const LimnOperation limn_operation_clip_train;
extern const LimnOperation limn_operation_clip_evaluate;

const LimnOperation *const limn_operations[] = {
    &limn_operation_grad_eclip,
    &limn_operation_attention_maps,
    &limn_operation_explain_evaluate,
    &limn_operation_clip_classify,
    &limn_operation_scenes,
    &limn_operation_activations,
    &limn_operation_neuron_explanations,
    &limn_operation_neuron_simulate,
    &limn_operation_clip_train,
    &limn_operation_clip_evaluate,
    NULL,
};
