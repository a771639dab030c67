// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// An operation made for the tests, and folders that vanish at the end of a test.

#include "engine/base/error.h"
#include "engine/study/run.h"

// Inputs: model (path, built-in data "text/concepts.tsv"), image | pixels (one of),
// text (list) | texts (one of, optional), notes (file).
// Parameters: mode (a|b|c), count (1..10, 3), ratio (0..1, 0.25), flag (no|yes), words.
extern const LimnOperation test_operation;
extern const LimnOperation test_items_operation; // over six items, see the .c
void test_register(void);

char *test_folder(void);             // new; (transfer full)
void test_folder_remove(char *path); // takes it
char *test_write(const char *folder, const char *name, const char *text);
char *test_read_text(const char *folder, const char *name);
// The error has this code and its message holds every one of the parts (NULL ends them).
void test_expect(GError **error, LimnErrorCode code, ...) G_GNUC_NULL_TERMINATED;
// Every file but timing.json is the same in both folders.
void test_same_folders(const char *a, const char *b);
