// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What a path is that somebody dropped: looked at by its content, never opened further.

#include <glib.h>

typedef enum {
    LIMN_DROP_PICTURE,
    LIMN_DROP_MASK,   // a label map: indexed or grey with few values
    LIMN_DROP_FOLDER, // of pictures (may be empty)
    LIMN_DROP_MODEL,
    LIMN_DROP_STUDY,  // a study folder with results
    LIMN_DROP_RECIPE, // a study.json that was not run
    LIMN_DROP_PROMPTS,
    LIMN_DROP_UNKNOWN,
} LimnDropKind;

typedef struct {
    char *path; // absolute; of a study the folder
    LimnDropKind kind;
    int width, height;        // pictures and masks
    gboolean named_like_mask; // "..._labels.png"
    char *reason;             // UNKNOWN: why
    GPtrArray *prompts;       // PROMPTS: char *
} LimnDrop;

void limn_drop_free(LimnDrop *drop);
// Blocks: reads heads, and whole pictures where a label map is possible.
LimnDrop *limn_drop_sort(const char *path);
// "dog" of "dog_labels.png" and of "dog.png": what a mask and its picture share.
char *limn_drop_stem(const char *path);
