// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Files that people take for weights and that Limn does not load: pickles (which can run
// code when they are loaded), other formats, Git LFS pointers, web pages saved in place
// of a download. They are known by their first bytes, never by their name.

#include "engine/base/types.h"

// TRUE when nothing foreign was recognised. Otherwise FALSE with a sentence that says
// what the file is and what to do instead: LIMN_ERROR_UNSUPPORTED for another format,
// LIMN_ERROR_FORMAT for what is no weights at all. `bytes` are the file's (from its
// beginning); NULL: the file is mapped here.
gboolean limn_weights_refuse_foreign(const char *path, GBytes *bytes, GError **error);
