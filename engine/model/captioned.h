// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A folder of captioned pictures as a source of training: captions.jsonl (one object a
// line: "file", "caption", as the operation `scenes` writes it, or "file_name", "text",
// as metadata.jsonl of many data sets has it), a COCO file with "images" and "captions"
// (or captions as annotations), or a text file STEM.txt beside every picture. Pictures
// are brought to the model's size by its own preprocessing and kept in memory as bytes.

#include "engine/model/clip-trainer.h"

typedef struct LimnCaptioned LimnCaptioned;

// Pictures that cannot be read, and names that lead out of the folder, are diagnostics of
// the job. LIMN_ERROR_FORMAT when nothing
// captioned is found; LIMN_ERROR_MEMORY beyond 4 GiB.
LimnCaptioned *limn_captioned_load(const char *folder, int size, LimnJob *job,
                                   GError **error);
void limn_captioned_free(LimnCaptioned *captioned);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnCaptioned, limn_captioned_free)

guint limn_captioned_n_pictures(LimnCaptioned *captioned);
guint limn_captioned_n_captions(LimnCaptioned *captioned); // distinct
const char *limn_captioned_get_caption(LimnCaptioned *captioned, guint caption);
LimnClipSource limn_captioned_get_source(LimnCaptioned *captioned);
