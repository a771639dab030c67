// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/method/operations.h"

extern const LimnOperation limn_operation_grad_eclip;
extern const LimnOperation limn_operation_attention_maps;
extern const LimnOperation limn_operation_clip_classify;

const LimnOperation *const limn_operations[] = {
    &limn_operation_grad_eclip,
    &limn_operation_attention_maps,
    &limn_operation_clip_classify,
    NULL,
};
