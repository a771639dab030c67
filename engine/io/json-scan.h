// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A pull parser for JSON in memory, for files with a million entries where a tree of
// values would be too much: the caller asks for what it expects next. Strict: UTF-8,
// escapes and numbers as in RFC 8259; strings may not contain NUL; values that are
// skipped may be nested to depth 64. Nothing is allocated but the caller's buffer.

#include "engine/base/types.h"

typedef struct {
    const char *begin, *at, *end;
    const char *name; // of the file, for messages
    const char *item; // tensor that is being read, for messages; may be NULL
} LimnJsonScan;

LimnJsonScan limn_json_scan(const char *data, gsize size, const char *name);

// The next byte that is no blank, not consumed; 0 at the end.
char limn_json_scan_peek(LimnJsonScan *scan);
// Consumes c (after blanks) when it comes next.
gboolean limn_json_scan_accept(LimnJsonScan *scan, char c);
// The same, but anything else is an error.
gboolean limn_json_scan_expect(LimnJsonScan *scan, char c, GError **error);
// A string, unescaped into `text`.
gboolean limn_json_scan_string(LimnJsonScan *scan, GString *text, GError **error);
// An integer >= 0 that fits.
gboolean limn_json_scan_size(LimnJsonScan *scan, gint64 *value, GError **error);
// Any value, checked and dropped.
gboolean limn_json_scan_skip(LimnJsonScan *scan, GError **error);
// Only blanks follow.
gboolean limn_json_scan_finish(LimnJsonScan *scan, GError **error);

// Walking objects and arrays:
//     gboolean first = TRUE;
//     while (limn_json_scan_more(scan, '}', &first, error)) { key, ':', value }
// after '{' was consumed. FALSE at the end (consumed) or with *error set; `error` must
// not be NULL.
gboolean limn_json_scan_more(LimnJsonScan *scan, char close, gboolean *first,
                             GError **error);

// "FILE: malformed JSON at byte N (found ..., expected EXPECTED)". Returns FALSE.
gboolean limn_json_scan_fail(LimnJsonScan *scan, GError **error, const char *expected);
