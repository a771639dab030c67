// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The sample scenes that come with the program: a picture, its label map, and sentences
// that the built-in model understands, one per object. A scene is described by
// NAME.json: {"picture", "labels", "objects": [{"name", ...}]}.

#include "engine/base/types.h"

typedef struct {
    char *title;   // "Dog and car"
    char *picture; // paths
    char *labels;  // NULL: none
    GStrv prompts; // "a dog", "an automobile"
} LimnSample;

void limn_sample_free(LimnSample *sample);
// Those of a folder, by name; files that are no description are left out.
// Returns: (transfer full) (element-type LimnSample), empty when there is none.
GPtrArray *limn_samples_list(const char *folder);
// The description that lies beside a picture (STEM.json that names it); NULL: none.
LimnSample *limn_sample_of_picture(const char *path);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnSample, limn_sample_free)
