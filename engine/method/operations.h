// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The list of all operations, NULL-terminated: what both programs hand to
// limn_registry_set() at start-up. A new operation is added to operations.c.

#include "engine/study/operation.h"

extern const LimnOperation *const limn_operations[];
