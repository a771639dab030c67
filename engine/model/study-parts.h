// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Arrays that come from files, and single artifacts out of study folders.

#include "engine/study/run.h"

// A .npy file as f32 of that rank; LIMN_ERROR_MISMATCH naming it, unless its first size
// is n (n < 0: any).
LimnArray *limn_study_load_floats(const char *path, int rank, gint64 n, const char *what,
                                  GError **error);
// One artifact of a study folder without reading the others. *artifact stays NULL when
// there is none of that name.
gboolean limn_study_load_artifact(const char *folder, const char *name,
                                  LimnArtifact **artifact, LimnJob *job, GError **error);
