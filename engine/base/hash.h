// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// SHA-256 for provenance. Hashes of files are cached by device, inode, size and time
// in the user's cache directory (best effort: a read-only cache is no error).

#include "engine/base/types.h"

// Lower-case hex digest of memory. Returns: (transfer full)
char *limn_sha256_bytes(const void *data, gsize size);
// Of a file. Cancellable through the job. *size may be NULL.
char *limn_sha256_file(const char *path, guint64 *size, LimnJob *job, GError **error);
// Of a folder: the digest over "relative path NUL digest LF" of every regular file in
// byte order of the paths, without hidden names and without the folders of studies below
// it (those with a study.json); *size = sum of sizes. A file that cannot be read has the
// digest "unreadable", a folder below that cannot be listed is the path "FOLDER/" with
// it.
char *limn_sha256_tree(const char *path, guint64 *size, LimnJob *job, GError **error);
