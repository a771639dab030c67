// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/tokens.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) json = g_bytes_new_static(data, size);
    g_autoptr(LimnTokenizer) tokenizer =
        limn_tokenizer_new_from_json(json, "tokenizer.json", &error);
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
