// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Embeddings of many texts by a CLIP. Thousands of them cost minutes with a large model,
// therefore they are kept in the user's cache directory, under the hash of the model, the
// texts and the template (best effort: a cache that cannot be written is no error).

#include "engine/model/clip.h"

// [n,P], not normalised. model: the path it was opened from, NULL: built in. Every "{}"
// of the template becomes the text. LIMN_ERROR_ARGUMENT for a template without "{}".
LimnArray *limn_study_encode_texts(LimnClip *clip, const char *const *texts,
                                   const char *pattern, LimnJob *job, GError **error);
