// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// A fuzz target is one file with LLVMFuzzerTestOneInput, listed in meson.build, with a
// folder of examples (tests/data/fuzz/NAME). It is built two ways:
//
//   always            with driver.c: a test that runs the target over its examples and
//                     over seeded mutations of them, the same on every machine
//   -Dfuzz=enabled    with libFuzzer and sanitizers (clang): tests/fuzz/run
//
// A target must return 0, must not leak, and may abort only for a fault: use fuzz_check
// for what must hold. Critical warnings of GLib abort.

#include <glib.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size);

// Called once before the first input.
int LLVMFuzzerInitialize(int *argc, char ***argv);

// Reads every byte, so that a sanitizer sees a range that is not there.
void fuzz_touch(const void *data, gsize size);
// Aborts with the text of the condition.
#define fuzz_check(condition) fuzz_check_that((condition) != 0, #condition, __LINE__)
void fuzz_check_that(gboolean holds, const char *condition, int line);
// An error of LIMN_ERROR must have a message of valid UTF-8. Frees it.
void fuzz_check_error(GError **error);
// A path in a folder of this process, for targets that need files. Borrowed.
const char *fuzz_folder(void);
// The rest of a text that begins with "FIRST\0": splits inputs that have two parts.
// Returns the length of the first part; *rest and *rest_size are what follows.
gsize fuzz_split(const guint8 *data, gsize size, const guint8 **rest, gsize *rest_size);
