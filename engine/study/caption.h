// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Captions of default figures: "{method}, {text}" with the values of the study put in.

#include "engine/study/run.h"

// {NAME} becomes the value of the parameter, input (the file's name for a path; several
// values with commas) or scalar of that name; the first item's value for a scalar per
// item. A name that says nothing in this study is left out with its braces.
// `scalars` (LimnScalar) may be NULL. Returns: (transfer full)
char *limn_study_expand_caption(const LimnStudy *study, GPtrArray *scalars,
                                const char *template);
