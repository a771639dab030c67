// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Byte-pair encoding with end-of-word marks (Sennrich et al. 2016; the byte symbols are
// those of GPT-2, the "</w>" mark that of CLIP). A vocabulary of strings with numbers,
// and a list of merges in order of rank. Private to the tokenizer.
//
// Building: add every string, then the merges, then finish. Encoding a piece of n bytes
// costs O(n log n); results are cached under a lock, so a finished vocabulary may be used
// by several threads.

#include "engine/base/types.h"

#define LIMN_BPE_WORD_END "</w>"

typedef struct LimnBpe LimnBpe;

typedef struct {
    gint32 id;
    guint32 bytes; // of the piece
} LimnBpeToken;

LimnBpe *limn_bpe_new(void);
void limn_bpe_free(LimnBpe *bpe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnBpe, limn_bpe_free)

// The character that stands for a byte in the vocabulary.
gunichar limn_bpe_byte_symbol(guint8 byte);
// The byte that a character stands for; FALSE when it stands for none.
gboolean limn_bpe_symbol_byte(gunichar symbol, guint8 *byte);

// Numbers may come in any order; holes stay empty. A number that is taken is refused, a
// string that is there already gets the new number as well. FALSE with *other the string
// that has the number.
gboolean limn_bpe_add(LimnBpe *bpe, const char *text, gsize length, guint32 id,
                      const char **other);
// The 256 byte symbols and the same with "</w>", numbered from 0.
void limn_bpe_add_bytes(LimnBpe *bpe);
// The next merge: "left right" (one space). NULL when good, else what is wrong with it.
// Returns: (transfer full)
char *limn_bpe_add_merge(LimnBpe *bpe, const char *left, gsize left_length,
                         const char *right, gsize right_length);
// Number of what is taken for a byte without a symbol in the vocabulary.
void limn_bpe_set_unknown(LimnBpe *bpe, gint32 id);

// Largest number + 1.
guint32 limn_bpe_get_size(const LimnBpe *bpe);
guint32 limn_bpe_n_merges(const LimnBpe *bpe);
// -1 when there is none.
gint32 limn_bpe_find(const LimnBpe *bpe, const char *text, gsize length);
// NULL for a number without a string. Borrowed.
const char *limn_bpe_get_text(const LimnBpe *bpe, gint32 id);

// Appends the tokens (LimnBpeToken) of a piece of UTF-8 (size >= 1).
void limn_bpe_encode(LimnBpe *bpe, const char *piece, gsize size, GArray *tokens);
