// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// NumPy's .npy (versions 1 to 3; C and Fortran order; both byte orders; f2 f4 f8, signed
// and unsigned integers of 1 to 8 bytes, bool) and .npz (zip of them: stored, deflated,
// zip64). Object arrays are refused and never unpickled.

#include "engine/base/array.h"
#include "engine/base/job.h"

// The array in C order and native byte order. Maps the file when it can be used as it is.
// Bytes after the data, and bools other than 0 and 1, are refused.
LimnArray *limn_npy_load(const char *path, GError **error);
LimnArray *limn_npy_load_bytes(GBytes *bytes, const char *name, GError **error);
GBytes *limn_npy_encode(const LimnArray *array, GError **error);
gboolean limn_npy_save(const LimnArray *array, const char *path, GError **error);

typedef struct LimnNpz LimnNpz;
// Members that are not named *.npy are left out; two of one name are refused. An open
// archive may be used by one thread at a time.
LimnNpz *limn_npz_open(const char *path, GError **error);
LimnNpz *limn_npz_open_bytes(GBytes *bytes, const char *name, GError **error);
void limn_npz_free(LimnNpz *npz);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnNpz, limn_npz_free)
const char *const *limn_npz_get_names(LimnNpz *npz); // without ".npy", in file order
// NULL with LIMN_ERROR_FORMAT naming file and key when there is none.
LimnArray *limn_npz_get(LimnNpz *npz, const char *name, GError **error);
gboolean limn_npz_has(LimnNpz *npz, const char *name);
