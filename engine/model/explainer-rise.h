// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// RISE (Petsiuk et al. 2018): the score of masked pictures, spread over what the masks
// left visible. Masks multiply the normalised pixels, so that what they hide is the mean
// colour.

#include "engine/model/clip.h"

// Mask number `index` [height, width] in [0,1]: 8x8 cells kept with probability `keep`,
// enlarged bilinearly, shifted at random by less than a cell. Any mask can be made alone.
gboolean limn_rise_mask(guint64 seed, int index, double keep, int height, int width,
                        float *mask, GError **error);

// Unit embeddings [n, P] of pixels [3, height, width] times each of n masks.
typedef gboolean (*LimnRiseMaskFunc)(int index, int height, int width, float *mask,
                                     gpointer data, GError **error);
gboolean limn_rise_encode(LimnClip *clip, const LimnArray *pixels, int n,
                          LimnRiseMaskFunc masks, gpointer data, float *embeddings,
                          LimnJob *job, GError **error);
// map[height, width] = sum over masks of score * mask / (n keep)
gboolean limn_rise_map(const double *scores, int n, double keep, LimnRiseMaskFunc masks,
                       gpointer data, int height, int width, float *map, LimnJob *job,
                       GError **error);
