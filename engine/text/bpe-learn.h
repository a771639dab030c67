// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Learns a byte-pair vocabulary from texts as CLIP's was made (Sennrich et al. 2016, on
// byte symbols with an end-of-word mark): the most frequent adjacent pair is merged,
// again and again. Ties go to the pair whose strings come first in byte order, so that
// the result depends on nothing but the texts. Splitting, repair and lower case are those
// of the tokenizer that will read the files.

#include "engine/base/types.h"

typedef struct {
    GBytes *vocab;  // vocab.json: 256 byte symbols, 256 with "</w>", merges, two specials
    GBytes *merges; // merges.txt
    guint n_merges; // fewer than asked for when the texts hold no more pairs
} LimnLearnedVocabulary;

// Each text counts once per entry; texts may repeat. LIMN_ERROR_ARGUMENT when the texts
// hold no word. The pair must occur at least twice to be merged.
LimnLearnedVocabulary *limn_bpe_learn(const char *const *texts, guint max_merges,
                                      LimnJob *job, GError **error);
void limn_learned_vocabulary_free(LimnLearnedVocabulary *learned);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnLearnedVocabulary, limn_learned_vocabulary_free)
