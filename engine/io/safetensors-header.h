// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The header of a safetensors file, read and validated (private to safetensors*.c):
//
//   offset  size  meaning                                   refused when
//   0       8     n, little-endian                          above 128 MiB or the file's
//   end 8       n     {"NAME": {"dtype": "F32", "shape": [..],  malformed JSON; a key
//   twice; a
//                 "data_offsets": [begin, end]}, ...,       key missing; an unknown
//                 dtype;
//                 "__metadata__": {"key": "value"}}         shape and bytes that
//                 disagree; then blanks only                          begin > end
//   8 + n   ...   data                                      tensors overlap, leave a
//   hole,
//                                                           end before or behind the data
//
// Offsets are relative to byte 8 + n. Time and memory are linear in the header (sorting
// the offsets apart); nothing is allocated from a length that the file merely claims.

#include "engine/io/safetensors.h"
#include "engine/text/string-index.h"

#define LIMN_SAFETENSORS_MAX_HEADER (128 * 1024 * 1024)

typedef struct {
    LimnTensorInfo info;
    guint64 begin, end; // of the data, relative to data_offset
} LimnTensorRecord;

typedef struct {
    GArray *records;     // LimnTensorRecord, in the order of the header
    GStringChunk *names; // holds the names
    LimnStringIndex *index;
    GHashTable *metadata; // char * -> char *
    gsize data_offset;
} LimnSafetensorsHeader;

// `name` is the file in messages; `display` what LimnTensorInfo.file points to
// (borrowed).
LimnSafetensorsHeader *limn_safetensors_header_read(const guint8 *data, gsize size,
                                                    const char *name, const char *display,
                                                    GError **error);
void limn_safetensors_header_free(LimnSafetensorsHeader *header);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnSafetensorsHeader, limn_safetensors_header_free)

// "F32" and so on; NULL when safetensors has no such type.
const char *limn_safetensors_dtype_name(LimnDType dtype);
