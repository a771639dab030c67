// SPDX-License-Identifier: GPL-3.0-or-later
// vocab.json, NUL, merges.txt.
#include "tests/fuzz/tokens.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    const guint8 *rest;
    gsize rest_size, first = fuzz_split(data, size, &rest, &rest_size);
    g_autoptr(GBytes) vocab = g_bytes_new_static(data, first);
    g_autoptr(GBytes) merges = g_bytes_new_static(rest, rest_size);
    g_autoptr(LimnTokenizer) tokenizer =
        limn_tokenizer_new_from_vocab(vocab, "vocab.json", merges, "merges.txt", &error);
    if (tokenizer == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    g_autoptr(LimnTokens) tokens =
        limn_tokenizer_encode(tokenizer, "abc aab bca \u00e9 <|endoftext|>", 0, &error);
    fuzz_check(tokens != NULL);
    check_tokens(tokenizer, tokens, 0);
    return 0;
}
