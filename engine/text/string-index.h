// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// From strings to numbers: an open-addressing table that keeps only a hash and a number
// per string, so that a million tensor names or a vocabulary is indexed in one pass. The
// hash has a random key per process; files cannot be made to collide on purpose. The
// strings themselves stay with the caller, who says where string number i is.

#include "engine/base/types.h"

typedef struct LimnStringIndex LimnStringIndex;

#define LIMN_STRING_NOT_FOUND G_MAXUINT32

// String number i; *length in bytes.
typedef const char *(*LimnStringAt)(guint32 i, gsize *length, gconstpointer data);

LimnStringIndex *limn_string_index_new(LimnStringAt at, gconstpointer data,
                                       guint expected);
void limn_string_index_free(LimnStringIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnStringIndex, limn_string_index_free)

// Enters string number `value` under its text. Returns the number that has this text
// already (nothing is changed then), else LIMN_STRING_NOT_FOUND.
guint32 limn_string_index_add(LimnStringIndex *index, const char *text, gsize length,
                              guint32 value);
// The same, but a text that is there already gets the new number.
void limn_string_index_set(LimnStringIndex *index, const char *text, gsize length,
                           guint32 value);
// The number of a text, or LIMN_STRING_NOT_FOUND.
guint32 limn_string_index_find(const LimnStringIndex *index, const char *text,
                               gsize length);

// The keyed hash alone.
guint64 limn_string_hash(const char *text, gsize length);
