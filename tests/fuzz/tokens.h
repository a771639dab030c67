// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What holds for every text that a tokenizer encodes.

#include "engine/text/tokenizer.h"
#include "tests/fuzz/fuzz.h"

static inline void
check_tokens(LimnTokenizer *tokenizer, const LimnTokens *tokens, int context)
{
    gsize n = tokens->tokens->len;
    fuzz_check(n >= 2 && (context == 0 || n <= (gsize) context));
    fuzz_check(tokens->used_bytes <= tokens->text_size);
    fuzz_check(tokens->truncated || tokens->used_bytes == tokens->text_size);
    fuzz_check(g_utf8_validate(tokens->cleaned, -1, NULL));
    gsize begin = 0;
    for (gsize i = 0; i < n; i++) {
        const LimnToken *token = &g_array_index(tokens->tokens, LimnToken, i);
        fuzz_check(token->id >= 0 && token->id < limn_tokenizer_get_size(tokenizer));
        fuzz_check(limn_tokenizer_get_piece(tokenizer, token->id) != NULL);
        fuzz_check(token->begin <= token->end && token->end <= tokens->text_size);
        fuzz_check(token->begin >= begin);
        begin = token->begin;
    }
    for (guint i = 0; i < tokens->words->len; i++) {
        const LimnTokenWord *word = &g_array_index(tokens->words, LimnTokenWord, i);
        fuzz_check(word->first >= 1 && word->first <= word->last &&
                   (gsize) word->last + 1 < n);
        fuzz_check(word->begin < word->end && word->end <= tokens->used_bytes);
    }
    fuzz_check(tokens->end_index >= 1 && (gsize) tokens->end_index < n);
}
