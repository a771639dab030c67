// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The download of one file of a checkpoint (see fetch.h for the rules). Used by fetch.c
// only.

#include <libsoup/soup.h>

#include "engine/base/job.h"

typedef struct {
    SoupSession *session;
    GCancellable *cancellable; // follows the job
    LimnJob *job;
    const char *directory; // exists
    char *prefix;          // "BASE/NAME/resolve/REVISION/"
    GUri *base;
    char *token; // NULL: none
    guint timeout;
} LimnFetcher;

typedef enum {
    LIMN_FETCH_FAILED, // error is set
    LIMN_FETCH_DONE,   // the file is complete under its name
    LIMN_FETCH_ABSENT, // the server has no such file (404, 410)
} LimnFetchResult;

// `name` is a plain file name. A file larger than max_size is refused (0: no bound).
// Reports progress 0..1 of this file.
LimnFetchResult limn_fetch_file(LimnFetcher *fetcher, const char *name, guint64 max_size,
                                GError **error);
