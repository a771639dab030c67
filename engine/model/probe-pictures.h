// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// The pictures (or sentences) with which neurons are probed, as items of a study:
//
//   a folder     of pictures (input `image`); with a captions.jsonl in it, as the
//                operation `scenes` writes it, the pictures listed there, with their
//                captions and objects
//   scenes       composed on the fly when no folder is given (parameter `count` and those
//                of study-scenes.h); object names are exact labels
//   sentences    for layers of the text tower: input `texts`, or the captions of the
//                pictures
//
// Pictures with known objects bring labels: presence u8 [n,C], 1 where the concept is in
// the picture, with names, groups and subgroups of the C concepts.

#include "engine/model/concept-list.h"
#include "engine/model/study-inputs.h"

typedef struct LimnProbe LimnProbe;

LimnProbe *limn_probe_open(LimnRun *run, gboolean sentences, GError **error);
void limn_probe_free(LimnProbe *probe);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnProbe, limn_probe_free)

// Number and names of the items (many, a folder), for limn_study_item_failed. Borrowed.
const LimnPictureItems *limn_probe_get_items(LimnProbe *probe);
gboolean limn_probe_is_composed(LimnProbe *probe);

// Composes the scenes items [n] on the job's threads; nothing to do for folders.
gboolean limn_probe_prepare(LimnProbe *probe, const guint64 *items, gsize n, LimnJob *job,
                            GError **error);
// Picture of an item; a composed one must have been prepared. Returns: (transfer full)
LimnImage *limn_probe_load(LimnProbe *probe, guint64 item, LimnJob *job, GError **error);
// The caption or sentence of an item, or NULL. A scene's must have been prepared.
const char *limn_probe_get_caption(LimnProbe *probe, guint64 item);
// Forgets the pictures that were prepared; captions and labels stay.
void limn_probe_release(LimnProbe *probe);

// Concepts whose presence is known, or NULL. Borrowed.
const LimnConceptList *limn_probe_get_concepts(LimnProbe *probe);
// Row [C] of an item (scenes: prepared).
const guint8 *limn_probe_get_presence(LimnProbe *probe, guint64 item);
