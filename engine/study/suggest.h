// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// "Did you mean ...?": the word of a list that is nearest to a mistyped one.

#include <glib.h>

// The nearest candidate (insertions, deletions, replacements and swaps of neighbours
// each cost one), or NULL when none is within a third of the word's length + 1.
// `candidates` ends with NULL; the result is borrowed from it.
const char *limn_suggest(const char *word, const char *const *candidates);

// "a, b, c". Returns: (transfer full)
char *limn_join(const char *const *words, const char *separator);
// The part of a message in parentheses: "did you mean 'layers'? allowed: mode, layers",
// without the question when nothing is near. Returns: (transfer full)
char *limn_describe_allowed(const char *word, const char *const *candidates);
