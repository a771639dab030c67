// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Annotations of composed scenes in formats of others: captions as JSON lines, COCO (with
// boxes, areas, run-length masks and captions), Pascal VOC (one XML file a picture).

#include "engine/scene/scene.h"

typedef struct LimnAnnotations LimnAnnotations;

// `drawings` is borrowed and must outlive the object.
LimnAnnotations *limn_annotations_new(LimnDrawings *drawings);
void limn_annotations_free(LimnAnnotations *annotations);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnAnnotations, limn_annotations_free)

// Scenes in order. `picture` and `labels` are the files' names; class_value(name) is the
// value of a drawing's name in label maps: its number among the drawings plus one.
void limn_annotations_add(LimnAnnotations *annotations, const LimnScene *scene,
                          const char *picture, const char *labels);

// One object per line: {"file", "labels", "caption", "objects": [{"name", "style",
// "value", "box": [x, y, width, height], "in_caption"}]}.
GBytes *limn_annotations_to_jsonl(LimnAnnotations *annotations);
// COCO: images, categories, annotations with uncompressed run lengths (columns first).
GBytes *limn_annotations_to_coco(LimnAnnotations *annotations);
// Pascal VOC XML of one scene.
GBytes *limn_scene_to_voc(const LimnScene *scene, LimnDrawings *drawings,
                          const char *picture);
