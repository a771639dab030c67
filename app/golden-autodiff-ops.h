// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Operations of the training engine by the names and attributes of the golden data
// (golden layout, "autodiff"). Used by limn-golden and by the numerical gradient check.

#include "engine/nn/tensor.h"

#include <jansson.h>

// The tensor of that name, or NULL.
typedef LimnTensor *(*LimnInputFunc)(const char *name, gpointer user_data);

// Applies `op`; NULL when there is no operation of that name.
LimnTensor *limn_golden_apply(LimnTape *tape, const char *op, const json_t *attributes,
                              LimnInputFunc input, gpointer user_data);
