// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The numbers behind a figure: fields and pictures as .npy (format version 1.0, C order,
// the machine's byte order), words, tables and curves as CSV (RFC 4180, LF, numbers with
// a dot; missing values are empty cells, empty texts "").

#include "engine/study/artifact.h"

// Writes STEM.npy or STEM.csv, by the kind. item -1: all.
gboolean limn_figure_data_write(const LimnArtifact *artifact, gint64 item,
                                const char *stem, GError **error);
