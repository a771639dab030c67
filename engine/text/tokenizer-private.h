// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Shared by tokenizer.c (encoding) and tokenizer-load.c (files).

#include "engine/text/bpe.h"
#include "engine/text/tokenizer.h"

#define LIMN_START_TEXT "<|startoftext|>"
#define LIMN_END_TEXT "<|endoftext|>"

struct LimnTokenizer {
    gatomicrefcount refs;
    LimnBpe *bpe;
    gint32 start, end;
};

// Takes the vocabulary.
LimnTokenizer *limn_tokenizer_new_take(LimnBpe *bpe, gint32 start, gint32 end);
