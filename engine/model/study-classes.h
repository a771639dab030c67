// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Classes that pictures are scored against: prompts as they are (`text`, `texts`), or
// class names (`class`, `classes`) put into templates (`templates`, `template-set`), with
// their embeddings; and the scores of a picture.

#include "engine/model/clip.h"
#include "engine/study/run.h"

typedef struct {
    guint n;
    GStrv labels;          // unique: the prompt, or the name of the class
    GStrv prompts;         // the prompt, or the name in the first template
    gint64 *values;        // [n] value of the class in label maps; -1: not given
    LimnArray *embeddings; // f32 [n,P], unit length
} LimnStudyClasses;

// What the study's inputs say. LIMN_ERROR_FORMAT for a template without "{}" and for a
// malformed list of classes.
//     classes: one per line, "NAME", or "VALUE<tab>NAME" with the value in label maps
LimnStudyClasses *limn_study_load_classes(LimnRun *run, LimnClip *clip, GError **error);
// Classes of the given names in the study's templates; values [n] may be NULL.
LimnStudyClasses *limn_study_make_classes(LimnRun *run, LimnClip *clip,
                                          const char *const *names, const gint64 *values,
                                          GError **error);
// Sentences as they are, given as texts.
LimnStudyClasses *limn_study_make_prompts(LimnRun *run, LimnClip *clip,
                                          const char *const *texts, GError **error);
void limn_study_classes_free(LimnStudyClasses *classes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnStudyClasses, limn_study_classes_free)

typedef struct {
    double cosine, logit, probability;
    guint rank; // 0: best; equal scores by their order
} LimnClassScore;

// Scores of one picture's embedding [P] (any length); scores: n entries.
void limn_study_score(const LimnStudyClasses *classes, LimnClip *clip,
                      const LimnArray *embedding, LimnClassScore *scores);
