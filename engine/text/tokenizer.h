// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// CLIP's byte-pair tokenizer (specification: Grad-ECLIP, section 5). Merge tables come
// from the program's own copy of bpe_simple_vocab_16e6.txt.gz or from a checkpoint's
// vocab.json + merges.txt or tokenizer.json. Immutable after loading apart from an
// internal cache that is locked: usable from several threads.

#include "engine/base/types.h"

typedef struct LimnTokenizer LimnTokenizer;

typedef struct {
    gint32 id;
    gsize begin, end; // byte range in the text as given; empty for start and end tokens
} LimnToken;

typedef struct {
    gsize begin, end; // byte range in the text as given
    int first, last;  // token indices (into the sequence with the start token at 0)
} LimnTokenWord;

typedef struct {
    char *text;     // as given
    char *cleaned;  // after repair, unescaping, white space, lower case
    GArray *tokens; // LimnToken, start and end included, never padded
    GArray *words;  // LimnTokenWord
    gboolean truncated;
    gsize used_bytes; // how much of the text reached the model
    int end_index;    // index of the (first) end token = pooling row
} LimnTokens;

// The built-in 49408-entry vocabulary.
LimnTokenizer *limn_tokenizer_new_clip(GError **error);
// From files' contents: vocab.json + merges.txt; any Hugging Face tokenizer.json of BPE
// kind.
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

// `text` must be valid UTF-8 (LIMN_ERROR_ARGUMENT naming the byte otherwise). context 0:
// no limit; else truncated to it with the end token last.
LimnTokens *limn_tokenizer_encode(LimnTokenizer *tokenizer, const char *text, int context,
                                  GError **error);
void limn_tokens_free(LimnTokens *tokens);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnTokens, limn_tokens_free)
// Returns: (transfer full) UTF-8 of the pieces, words separated by spaces.
char *limn_tokenizer_decode(LimnTokenizer *tokenizer, const gint32 *ids, gsize n);
