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

// A column of a table by name, or NULL.
const LimnColumn *limn_study_find_column(const LimnTable *table, const char *name);
// Scalars NAME (mean of the finite values of the column NAME) and, with_error, "NAME sem"
// (standard deviation / sqrt(count)). Returns how many values there are; 0 and no scalar
// without such a column.
guint limn_study_add_mean(LimnRun *run, const LimnTable *table, const char *name,
                          gboolean with_error);
