// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// JSON out: members in the order in which they are written, numbers shortest and with a
// dot, one space of indentation. The same calls give the same bytes everywhere. Strings
// are made valid UTF-8; numbers that are not finite become null (JSON has none).

#include <glib.h>

typedef struct LimnJsonWriter LimnJsonWriter;

LimnJsonWriter *limn_json_writer_new(void);
void limn_json_writer_free(LimnJsonWriter *writer);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnJsonWriter, limn_json_writer_free)

// `key` is the member's name inside an object and NULL inside an array and at the top.
void limn_json_writer_begin_object(LimnJsonWriter *writer, const char *key);
void limn_json_writer_end_object(LimnJsonWriter *writer);
void limn_json_writer_begin_array(LimnJsonWriter *writer, const char *key);
void limn_json_writer_end_array(LimnJsonWriter *writer);
// What is opened next, with everything inside, is written on one line.
void limn_json_writer_inline(LimnJsonWriter *writer);
// A NULL value is written as null.
void limn_json_writer_string(LimnJsonWriter *writer, const char *key, const char *value);
void limn_json_writer_double(LimnJsonWriter *writer, const char *key, double value);
void limn_json_writer_int(LimnJsonWriter *writer, const char *key, gint64 value);
void limn_json_writer_uint(LimnJsonWriter *writer, const char *key, guint64 value);
void limn_json_writer_bool(LimnJsonWriter *writer, const char *key, gboolean value);
void limn_json_writer_null(LimnJsonWriter *writer, const char *key);
// The finished text with a newline at its end; everything opened must be closed.
// Returns: (transfer full)
char *limn_json_writer_finish(LimnJsonWriter *writer);
