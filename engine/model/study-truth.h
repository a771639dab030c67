// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What is known to be in a picture: its label map and the names of the labels.
//
// The label map is the file given; or of a folder given NAME.EXT, NAME_labels.EXT or
// NAME_mask.EXT for the picture NAME.*; or, when nothing is given, the one that the
// picture's NAME.json names under "labels", or NAME_labels.png, NAME_mask.png beside the
// picture. NAME.json beside the picture may hold names:
//     {"labels": "FILE.png", "objects": [{"value": 1, "name": "dog face"}, ...]}

#include "engine/base/job.h"
#include "engine/image/image.h"

typedef struct {
    char *path;      // of the label map, NULL: none was found
    LimnImage *mask; // of the picture's size; grey or indexed
    GArray *values;  // gint64, of the names
    GStrv names;     // of labels, from NAME.json; may be empty
} LimnTruth;

// `mask`: file, folder or NULL. LIMN_ERROR_MISMATCH when the sizes differ (both named),
// LIMN_ERROR_FORMAT for a map that went through a lossy format or codes its labels as
// colours.
LimnTruth *limn_truth_load(const char *picture_path, LimnImage *picture, const char *mask,
                           LimnJob *job, GError **error);
void limn_truth_free(LimnTruth *truth);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnTruth, limn_truth_free)

// TRUE when a pixel of the label map has that value.
gboolean limn_truth_has_value(const LimnTruth *truth, gint64 value);
// The map as LimnMaskValue per pixel [h*w]: object where it is `value` (-1: anything but
// 0), left out where it is `ignore` (-1: nothing is). In a map of 0 and `ignore` alone
// `ignore` is the object: *binary tells. Returns: (transfer full), NULL without memory.
guint8 *limn_truth_select(const LimnTruth *truth, gint64 value, gint64 ignore,
                          gboolean *binary, GError **error);
