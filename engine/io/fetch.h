// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Downloads the files of a checkpoint from a hub laid out as
//   BASE/NAME/resolve/REVISION/FILE
// The weights are model.safetensors, or else model.safetensors.index.json and the shards
// that it names, or else open_clip_model.safetensors; beside them the configuration,
// preprocessing and tokenizer files, of which a hub may lack any (404).
//
// A file is written as FILE.part and renamed when it is complete and its size and
// SHA-256 are those that the server states (X-Linked-Size, Content-Length; X-Linked-ETag
// or ETag with 64 hex digits). A part left by an earlier attempt is continued by Range
// with If-Range when the server gave a strong ETag; it is kept when a download breaks off
// and removed when its content turns out wrong. Files that are there are not fetched
// again when their size is the stated one.
//
// A token is taken from the environment (LIMN_HUB_TOKEN, else HF_TOKEN) and sent to the
// host of BASE only, never to one that it redirects to. This is the only part of the
// program that uses the network; nothing is uploaded.

#include "engine/base/job.h"

#define LIMN_FETCH_DEFAULT_BASE "https://huggingface.co"

typedef struct {
    const char *name;      // "OWNER/NAME" or "NAME": letters, digits, "-", "_" and "."
    const char *directory; // where the files go; made when it is missing
    const char *base;      // http or https URL; NULL: LIMN_FETCH_DEFAULT_BASE
    const char *revision;  // branch, tag or commit; NULL: "main"
    guint timeout;         // seconds without an answer or a byte; 0: 30
} LimnFetchOptions;

// Blocks; runs its own main context, so that it may be called on any thread. Errors:
//   ARGUMENT   name, revision or base are not of the form above
//   FAILED     the server's answer (404 of a needed file, 401, 403, 429, 5xx), no
//              connection, timeout, broken off, wrong size or hash
//   UNSUPPORTED the checkpoint has no safetensors weights
//   FORMAT     the index of the shards is malformed or names files outside the folder
//   OUTPUT     the folder is not writable or the disk is full
//   CANCELLED
// Each names the URL or the file. Progress runs over the bytes of all files.
gboolean limn_fetch_checkpoint(const LimnFetchOptions *options, LimnJob *job,
                               GError **error);

// Where checkpoints go when the user names no folder: DATA/limn/models/OWNER--NAME below
// the user's data directory. Returns: (transfer full), or NULL with LIMN_ERROR_ARGUMENT.
char *limn_fetch_default_directory(const char *name, GError **error);
