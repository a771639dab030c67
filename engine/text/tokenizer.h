// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CLIP's byte-pair tokenizer (specification: Grad-ECLIP, section 5). Merge tables come
// from the program's own copy of bpe_simple_vocab_16e6.txt.gz or from a checkpoint's
// vocab.json + merges.txt or tokenizer.json. Immutable after loading apart from an
// internal cache that is locked: usable from several threads.

#include "engine/base/types.h"

typedef struct LimnTokenizer LimnTokenizer;

// Longest text that is encoded.
#define LIMN_TOKENIZER_MAX_TEXT (1024 * 1024)

// Ranges are byte ranges in the text as given and never cut a character: tokens that
// share one (its bytes are split over them) have the same range.
typedef struct {
    gint32 id;
    gsize begin, end; // empty for the start and end tokens that were added
} LimnToken;

typedef struct {
    gsize begin, end; // byte range in the text as given
    int first, last;  // token indices (into the sequence with the start token at 0)
} LimnTokenWord;

typedef struct {
    char *text;      // as given
    gsize text_size; // its bytes (it may contain NUL)
    char *cleaned;   // after repair, unescaping, white space, lower case
    GArray *tokens;  // LimnToken, start and end included, never padded
    GArray *words;   // LimnTokenWord
    gboolean truncated;
    gsize used_bytes; // how much of the text reached the model
    int end_index;    // index of the (first) end token = pooling row
} LimnTokens;

// The built-in 49408-entry vocabulary; loaded once, shared by all.
LimnTokenizer *limn_tokenizer_new_clip(GError **error);
// From files' contents: vocab.json + merges.txt; tokenizer.json of CLIP's kind
// (byte-level BPE with "</w>"); other kinds are refused by name.
LimnTokenizer *limn_tokenizer_new_from_vocab(GBytes *vocab, const char *vocab_name,
                                             GBytes *merges, const char *merges_name,
                                             GError **error);
LimnTokenizer *limn_tokenizer_new_from_json(GBytes *json, const char *name,
                                            GError **error);
LimnTokenizer *limn_tokenizer_new_from_bpe_gz(GBytes *gz, const char *name,
                                              GError **error);
// Looks in a model folder: tokenizer.json, vocab.json + merges.txt,
// bpe_simple_vocab_16e6.txt.gz; falls back to the built-in one (*builtin TRUE).
LimnTokenizer *limn_tokenizer_new_for_folder(const char *folder, gboolean *builtin,
                                             GError **error);
LimnTokenizer *limn_tokenizer_ref(LimnTokenizer *tokenizer);
void limn_tokenizer_unref(LimnTokenizer *tokenizer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnTokenizer, limn_tokenizer_unref)

int limn_tokenizer_get_size(LimnTokenizer *tokenizer);
gint32 limn_tokenizer_get_start(LimnTokenizer *tokenizer);
gint32 limn_tokenizer_get_end(LimnTokenizer *tokenizer);
// "dog</w>"; NULL for an unknown id. Borrowed.
const char *limn_tokenizer_get_piece(LimnTokenizer *tokenizer, gint32 id);

// Strings are cleaned as CLIP's own tokenizer does (repair, HTML references, white space,
// lower case), whatever file the vocabulary came from.
// `text` must be valid UTF-8 (LIMN_ERROR_ARGUMENT naming the byte otherwise). context 0:
// no limit; else truncated to it with the end token last.
LimnTokens *limn_tokenizer_encode(LimnTokenizer *tokenizer, const char *text, int context,
                                  GError **error);
// The same for a text of `size` bytes that may contain NUL.
LimnTokens *limn_tokenizer_encode_bytes(LimnTokenizer *tokenizer, const char *text,
                                        gsize size, int context, GError **error);
void limn_tokens_free(LimnTokens *tokens);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnTokens, limn_tokens_free)
// Returns: (transfer full) UTF-8 of the pieces, words separated by spaces, without start
// tokens and up to the first end token; bytes that are no UTF-8 become U+FFFD.
char *limn_tokenizer_decode(LimnTokenizer *tokenizer, const gint32 *ids, gsize n);
