// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the operations on CLIP models share in reading their inputs: the model, the
// sentences (`text`, `texts`, `tokens`) and the pictures (`image` as a file or folder,
// `pixels`), which are the items of the study.

#include "engine/model/clip.h"
#include "engine/study/run.h"

// Inputs `model` (default: built-in) and parameter `heads` (0: derived), with a note of
// what was assumed or ignored.
LimnClip *limn_study_open_clip(LimnRun *run, GError **error);

typedef struct {
    guint n;
    GStrv texts;  // as given; of tokens: decoded
    GStrv labels; // the same, made unique: "a dog", "a dog (2)"
    gint32 *ids;  // [n, n_ids] when tokens were given, else NULL
    int n_ids;
} LimnSentences;

// NULL with an error; n = 0 when the study has none (and need not have any). An empty
// sentence is a warning among the diagnostics.
LimnSentences *limn_study_load_sentences(LimnRun *run, LimnClip *clip, GError **error);
void limn_sentences_free(LimnSentences *sentences);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnSentences, limn_sentences_free)

// Makes the strings of a list unique by " (2)", " (3)" ... Returns: (transfer full)
GStrv limn_study_make_unique(const char *const *names);

typedef struct {
    guint64 n;
    gboolean many;     // a folder, or more than one pixel tensor
    gboolean folder;   // of pictures
    GStrv paths;       // of pictures; NULL for pixels
    GStrv names;       // unique, for people: "dog.png"
    LimnArray *pixels; // f32 [n,3,h,w]; NULL for pictures
} LimnPictureItems;

// LIMN_ERROR_FORMAT for a folder without pictures. Label maps that lie beside their
// pictures (NAME_labels.png, NAME_mask.png) are no pictures of their own. Tells the run
// how many items there are.
LimnPictureItems *limn_study_load_items(LimnRun *run, GError **error);
void limn_picture_items_free(LimnPictureItems *items);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnPictureItems, limn_picture_items_free)

// An item's work failed with `local`. A single picture's failure is the study's (FALSE,
// *error set), as is one that has nothing to do with the item (cancelled, output, no
// memory for results); else the item is skipped. Takes `local`.
gboolean limn_study_item_failed(LimnRun *run, const LimnPictureItems *items,
                                guint64 index, GError *local, GError **error);
// After all items: FALSE when every item of an unsharded run was skipped.
gboolean limn_study_check_any_item(LimnRun *run, const LimnPictureItems *items,
                                   GError **error);
