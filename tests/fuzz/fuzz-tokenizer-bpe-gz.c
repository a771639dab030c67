// SPDX-License-Identifier: GPL-3.0-or-later
// The list of merges, packed here: gzip has a target of its own.
#include <zlib.h>

#include "tests/fuzz/tokens.h"

static GBytes *
pack(const guint8 *data, gsize size)
{
    gsize capacity = size + size / 100 + 1024;
    guint8 *out = g_malloc(capacity);
    z_stream stream = {.next_in = (Bytef *) (guintptr) data,
                       .avail_in = (uInt) size,
                       .next_out = out,
                       .avail_out = (uInt) capacity};
    fuzz_check(deflateInit2(&stream, 1, Z_DEFLATED, 16 + MAX_WBITS, 8,
                            Z_DEFAULT_STRATEGY) == Z_OK);
    fuzz_check(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    gsize written = stream.total_out;
    deflateEnd(&stream);
    return g_bytes_new_take(out, written);
}

int
LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) gz = pack(data, size);
    g_autoptr(LimnTokenizer) tokenizer =
        limn_tokenizer_new_from_bpe_gz(gz, "bpe.gz", &error);
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
