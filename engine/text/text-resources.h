// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Data that are compiled into the program: "html5_entities.json" and
// "bpe_simple_vocab_16e6.txt.gz" (resources/text).

#include "engine/base/types.h"

// The bytes of a compiled-in file, which must exist. Returns: (transfer full)
GBytes *limn_text_resource(const char *name);
