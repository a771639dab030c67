// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What the operations that compose scenes share: the drawings and the scene options from
// a run's inputs and parameters. Names of the declaration: inputs `icons` (list of icon
// sets, none: built-in shapes) and `concepts`; parameters `size`, `objects`, `sizes`,
// `background`, `names`, `styles`, `held-out-styles`, `held-out-names`, `augment`.

#include "engine/scene/scene.h"
#include "engine/study/run.h"

typedef struct {
    LimnDrawings *drawings;   // rendered
    LimnSceneOptions options; // options.names points to `names`
    guint32 *names;           // allowed and not held out, common ones first
    guint n_names, n_common;
    guint32 *held_names; // held out
    guint n_held_names;
    guint64 styles, held_styles; // bits
} LimnStudyScenes;

gboolean limn_study_scenes_read(LimnRun *run, LimnStudyScenes *scenes, GError **error);
void limn_study_scenes_clear(LimnStudyScenes *scenes);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LimnStudyScenes, limn_study_scenes_clear)

// Numbers separated by commas into `out`; returns how many, -1 with LIMN_ERROR_ARGUMENT
// naming the parameter.
int limn_study_read_numbers(LimnRun *run, const char *parameter, double *out, int max,
                            GError **error);
