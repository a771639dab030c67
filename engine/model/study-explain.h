// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The body of the operations that explain pictures and sentences: reads the inputs, runs
// one method over all items and sentences, and makes the artifacts `map`, `signed`,
// `display` and `words` and the scalars `cosine`, `logit` and `probability`.

#include "engine/model/explainer.h"
#include "engine/study/run.h"

// Fills what the operation has parameters for (mode, similarity, layers, text-layers,
// padding, surgery-depth, ...) and the seed; the rest keeps its default.
void limn_study_read_explain_options(LimnRun *run, LimnExplainOptions *options);
// `layers` and `text-layers` against the blocks of the model; LIMN_ERROR_ARGUMENT.
gboolean limn_study_check_layers(LimnRun *run, LimnClip *clip, GError **error);
// Everything. `options` decides the method.
gboolean limn_study_explain(LimnRun *run, const LimnExplainOptions *options,
                            GError **error);
