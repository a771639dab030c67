// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The kinds of cases of METHOD grad_eclip, one file each. `folder` is the case's folder,
// `name` its name below FOLDER.

#include "golden.h"

void limn_golden_clip_model(LimnGolden *golden, const char *folder, const char *name);
void limn_golden_clip_preprocess(LimnGolden *golden, const char *folder,
                                 const char *name);
void limn_golden_clip_tokenizer(LimnGolden *golden, const char *folder, const char *name);
void limn_golden_clip_metrics(LimnGolden *golden, const char *folder, const char *name);
