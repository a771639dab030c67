// SPDX-License-Identifier: GPL-3.0-or-later
// Texts for CLIP's tokenizer: what was cleaned once stays as it is.
#include <string.h>

#include "tests/fuzz/tokens.h"

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    static LimnTokenizer *tokenizer;
    g_autoptr(GError) error = NULL;
    if (tokenizer == NULL)
        tokenizer = limn_tokenizer_new_clip(NULL);
    int context = size > 0 ? data[0] % 40 : 0;
    g_autoptr(LimnTokens) tokens = limn_tokenizer_encode_bytes(
        tokenizer, (const char *) data, size, context, &error);
    if (tokens == NULL) {
        fuzz_check_error(&error);
        return 0;
    }
    check_tokens(tokenizer, tokens, context);
    g_autofree gint32 *ids = g_new(gint32, tokens->tokens->len);
    for (guint i = 0; i < tokens->tokens->len; i++)
        ids[i] = g_array_index(tokens->tokens, LimnToken, i).id;
    g_autofree char *text = limn_tokenizer_decode(tokenizer, ids, tokens->tokens->len);
    fuzz_check(g_utf8_validate(text, -1, NULL));
    return 0;
}
