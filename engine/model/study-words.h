// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The word weights of an explanation as an entry of a text artifact.

#include "engine/model/explainer.h"
#include "engine/study/artifact.h"

// Tokens 1 to E-1 with their weights, and the words that they make up. `ids` [n_ids] is
// NULL unless the sentence was given as token ids: then `text` is the decoded sentence,
// and the byte offsets refer to it. Returns: (transfer full)
LimnTextItem *limn_study_make_words(LimnClip *clip, const char *text, const gint32 *ids,
                                    int n_ids, const LimnExplanation *explanation);
