// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Captioned scenes with exact truth (specification: small worlds, section 2): drawings
// composed over a background, a pixel-exact mask per object, a caption that names them.
// A scene depends on nothing but its options, the drawings, the seed and its number.

#include "engine/scene/drawings.h"

#define LIMN_SCENE_MAX_OBJECTS 4

typedef enum {
    LIMN_BACKGROUND_MIXED, // one of the others, equal chance
    LIMN_BACKGROUND_PLAIN,
    LIMN_BACKGROUND_LIGHT,
    LIMN_BACKGROUND_GRADIENT,
    LIMN_BACKGROUND_SMOOTH,
    LIMN_BACKGROUND_BLOCKS,
} LimnBackground;

typedef struct {
    int size;                              // canvas, pixels
    double chance[LIMN_SCENE_MAX_OBJECTS]; // of 1, 2, 3, 4 objects
    int min_size[LIMN_SCENE_MAX_OBJECTS];  // of an object, by their number
    int max_size[LIMN_SCENE_MAX_OBJECTS];
    LimnBackground background;
    guint64 styles;       // bit i: style i may be drawn; 0: all
    const guint32 *names; // names that may appear, n_names of them; NULL: all
    guint n_names;
    // Beyond the specification's jitter (contrast, brightness, mirror): changes of hue,
    // rotation, outlines, grey and blur that hide an artist's hand. 0 = off, 1 = full.
    double augment;
} LimnSceneOptions;
void limn_scene_options_init(LimnSceneOptions *options, int size);

typedef struct {
    guint name, style;
    int x, y, width, height; // of the mask
    guint8 value;            // in the label map, from 1
} LimnSceneObject;

typedef struct {
    LimnImage *picture; // RGB U8
    LimnImage *labels; // GREY U8: 0 background, i + 1 = object i; later objects lie above
    LimnSceneObject objects[LIMN_SCENE_MAX_OBJECTS];
    int n_objects;
    int caption_objects[LIMN_SCENE_MAX_OBJECTS]; // indices named by the caption, in order
    int n_caption_objects;
    char *caption;
} LimnScene;

// Thread-safe. `number` chooses the stream: scene i of a set, or step * batch + i.
LimnScene *limn_scene_compose(LimnDrawings *drawings, const LimnSceneOptions *options,
                              guint64 seed, guint64 number, GError **error);
void limn_scene_free(LimnScene *scene);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LimnScene, limn_scene_free)

// "a photo of a dog and a cat": frame `frame` (0 .. n - 1) around the joined names.
guint limn_scene_n_frames(void);
char *limn_scene_caption(guint frame, const char *const *names, guint n_names);
