// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// safetensors: u64 little-endian header length n, n bytes of JSON, then data. The file is
// memory-mapped; tensors are views into it. A streaming reader parses the header (up to
// 128 MiB). Everything is validated before use: lengths, offsets, shapes against byte
// counts, overlaps, holes, duplicate keys.

#include "engine/base/array.h"
#include "engine/base/job.h"

typedef struct LimnSafetensors LimnSafetensors;

typedef struct {
    const char *name;
    LimnDType dtype;
    int rank;
    gint64 shape[LIMN_ARRAY_MAX_RANK];
    const char *file; // display path of the file that holds it
} LimnTensorInfo;

// One file, or a sharded index ("*.safetensors.index.json": shards named by weight_map,
// beside the index, no path may leave the folder).
LimnSafetensors *limn_safetensors_open(const char *path, GError **error);
LimnSafetensors *limn_safetensors_open_bytes(GBytes *bytes, const char *name,
                                             GError **error);
LimnSafetensors *limn_safetensors_ref(LimnSafetensors *st);
void limn_safetensors_unref(LimnSafetensors *st);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnSafetensors, limn_safetensors_unref)

guint limn_safetensors_n_tensors(LimnSafetensors *st);
const LimnTensorInfo *limn_safetensors_get_info(LimnSafetensors *st, guint i);
const LimnTensorInfo *limn_safetensors_find(LimnSafetensors *st, const char *name);
// A view (refs the mapping). FORMAT error naming file and tensor when it is missing.
LimnArray *limn_safetensors_get(LimnSafetensors *st, const char *name, GError **error);
const char *limn_safetensors_get_metadata(LimnSafetensors *st, const char *key);

// Writing: tensors in the order given, header padded to a multiple of 8, atomic rename.
typedef struct {
    const char *name;
    const LimnArray *array; // F32 F64 F16 BF16 I64 I32 U8 BOOL
} LimnTensorEntry;
gboolean limn_safetensors_save(const char *path, const LimnTensorEntry *entries, gsize n,
                               const char *const *metadata /* key, value, ..., NULL */,
                               GError **error);
