// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The explanation methods as drop-downs show them, in the order of LimnExplainMethod.

#include "engine/model/explainer.h"

const char *const *limn_method_titles(void);           // NULL-terminated, static
LimnExplainMethod limn_method_from_id(const char *id); // Grad-ECLIP for NULL or unknown
