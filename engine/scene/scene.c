// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/scene/scene.h"

#include "engine/base/error.h"
#include "engine/scene/background.h"
#include "engine/scene/object.h"

#include <string.h>

#define PLACEMENT_TRIES 12
#define OVERLAP_ALLOWED 4
#define NAME_TRIES 64
#define ONE_NAMED_CHANCE 0.35f
#define STREAM_SCENES ((guint64) 0x5c << 40)

static const char *const frames[] = {
    "a %s",
    "a photo of a %s",
    "the %s",
    "a picture of a %s",
    "%s",
    "there is a %s in the scene",
    "a drawing of a %s",
};

void
limn_scene_options_init(LimnSceneOptions *options, int size)
{
    *options = (LimnSceneOptions){.size = size, .chance = {0.3, 0.35, 0.25, 0.1}};
    const double low[] = {0.25, 0.23, 0.21, 0.2}, high[] = {0.75, 0.54, 0.41, 0.36};
    for (int i = 0; i < LIMN_SCENE_MAX_OBJECTS; i++) {
        options->min_size[i] = MAX(1, (int) (low[i] * size + 0.5));
        options->max_size[i] = MAX(1, (int) (high[i] * size + 0.5));
    }
}

guint
limn_scene_n_frames(void)
{
    return G_N_ELEMENTS(frames);
}

char *
limn_scene_caption(guint frame, const char *const *names, guint n_names)
{
    g_autoptr(GString) joined = g_string_new(NULL);
    for (guint i = 0; i < n_names; i++)
        g_string_append_printf(joined, "%s%s", i ? " and a " : "", names[i]);
    g_auto(GStrv) parts = g_strsplit(frames[frame], "%s", 2);
    return g_strconcat(parts[0], joined->str, parts[1], NULL);
}

static int
draw_count(const LimnSceneOptions *o, LimnRng *rng)
{
    double total = 0, at = 0, u = limn_rng_uniform(rng);
    for (int i = 0; i < LIMN_SCENE_MAX_OBJECTS; i++)
        total += MAX(o->chance[i], 0);
    for (int i = 0; i < LIMN_SCENE_MAX_OBJECTS; i++) {
        at += MAX(o->chance[i], 0);
        if (u * total < at)
            return i + 1;
    }
    return 1;
}

// A style that has the drawing, rendered; -1 when there is none.
static int
draw_style(LimnDrawings *d, const LimnSceneOptions *o, guint name, LimnRng *rng)
{
    int usable[64], n = 0;
    for (guint s = 0; s < limn_drawings_n_styles(d); s++)
        if ((!o->styles || o->styles >> s & 1) && limn_drawings_get_pixels(d, name, s))
            usable[n++] = (int) s;
    guint32 pick = limn_rng_below(rng, (guint32) MAX(n, 1));
    return n ? usable[pick] : -1;
}

// A name that differs from those chosen so far: some are drawn, then all are tried from
// the last one drawn on, so that a style with few drawings finds them.
static gboolean
draw_name(LimnDrawings *d, const LimnSceneOptions *o, LimnScene *scene, LimnRng *rng)
{
    guint n = o->names ? o->n_names : limn_drawings_n_names(d);
    LimnSceneObject *object = &scene->objects[scene->n_objects];
    guint32 pick = 0;
    for (guint tries = 0; n && tries < NAME_TRIES + n; tries++) {
        pick = tries < NAME_TRIES ? limn_rng_below(rng, n) : (pick + 1) % n;
        object->name = o->names ? o->names[pick] : pick;
        gboolean twice = FALSE;
        for (int i = 0; i < scene->n_objects; i++)
            twice = twice || scene->objects[i].name == object->name;
        int style = twice ? -1 : draw_style(d, o, object->name, rng);
        if (style >= 0) {
            object->style = (guint) style;
            return TRUE;
        }
    }
    return FALSE;
}

typedef struct {
    int x, y, size;
} Place;

static gboolean
collides(const Place *places, int n, Place p)
{
    for (int i = 0; i < n; i++) {
        int overlap_x =
            MIN(p.x + p.size, places[i].x + places[i].size) - MAX(p.x, places[i].x);
        int overlap_y =
            MIN(p.y + p.size, places[i].y + places[i].size) - MAX(p.y, places[i].y);
        if (overlap_x > OVERLAP_ALLOWED && overlap_y > OVERLAP_ALLOWED)
            return TRUE;
    }
    return FALSE;
}

static Place
draw_place(const LimnSceneOptions *o, int count, const Place *places, int n, LimnRng *rng)
{
    int low = CLAMP(o->min_size[count - 1], 1, o->size);
    int high = CLAMP(o->max_size[count - 1], low, o->size);
    Place p = {0, 0, low + (int) limn_rng_below(rng, (guint32) (high - low + 1))};
    for (int tries = 0; tries < PLACEMENT_TRIES; tries++) {
        p.x = (int) limn_rng_below(rng, (guint32) (o->size - p.size + 1));
        p.y = (int) limn_rng_below(rng, (guint32) (o->size - p.size + 1));
        if (!collides(places, n, p))
            break;
    }
    return p;
}

// Alpha-blends the object and marks its mask (alpha > 0.5).
static void
paste(LimnScene *scene, const guint8 *rgba, Place p, guint8 value)
{
    int n = scene->picture->width;
    guint8 *rgb = scene->picture->data, *labels = scene->labels->data;
    for (int y = 0; y < p.size; y++)
        for (int x = 0; x < p.size; x++) {
            const guint8 *from = rgba + 4 * (y * p.size + x);
            gsize at = (gsize) (p.y + y) * (gsize) n + (gsize) (p.x + x);
            for (int c = 0; c < 3; c++)
                rgb[3 * at + c] = (guint8) ((from[c] * from[3] +
                                             rgb[3 * at + c] * (255 - from[3]) + 127) /
                                            255);
            if (from[3] > 127)
                labels[at] = value;
        }
}

// Boxes of what is left visible of each object.
static void
measure_boxes(LimnScene *scene)
{
    int n = scene->labels->width;
    const guint8 *labels = scene->labels->data;
    for (int i = 0; i < scene->n_objects; i++) {
        LimnSceneObject *o = &scene->objects[i];
        int left = n, top = n, right = -1, bottom = -1;
        for (int y = 0; y < n; y++)
            for (int x = 0; x < n; x++)
                if (labels[y * n + x] == o->value) {
                    left = MIN(left, x), right = MAX(right, x);
                    top = MIN(top, y), bottom = MAX(bottom, y);
                }
        o->x = right < 0 ? 0 : left;
        o->y = right < 0 ? 0 : top;
        o->width = right < 0 ? 0 : right - left + 1;
        o->height = right < 0 ? 0 : bottom - top + 1;
    }
}

static void
make_caption(LimnDrawings *d, LimnScene *scene, LimnRng *rng)
{
    guint32 order[LIMN_SCENE_MAX_OBJECTS];
    for (int i = 0; i < scene->n_objects; i++)
        order[i] = (guint32) i;
    for (int i = 0; i + 1 < scene->n_objects; i++) {
        guint32 j = (guint32) i + limn_rng_below(rng, (guint32) (scene->n_objects - i));
        guint32 swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    gboolean one = limn_rng_uniform(rng) < ONE_NAMED_CHANCE;
    guint32 frame = limn_rng_below(rng, limn_scene_n_frames());
    const char *names[LIMN_SCENE_MAX_OBJECTS];
    scene->n_caption_objects = one ? 1 : scene->n_objects;
    for (int i = 0; i < scene->n_caption_objects; i++) {
        scene->caption_objects[i] = (int) order[i];
        names[i] = limn_drawings_get_name(d, scene->objects[order[i]].name);
    }
    scene->caption = limn_scene_caption(frame, names, (guint) scene->n_caption_objects);
}

LimnScene *
limn_scene_compose(LimnDrawings *drawings, const LimnSceneOptions *options, guint64 seed,
                   guint64 number, GError **error)
{
    LimnRng rng = limn_rng_make(seed, STREAM_SCENES + number);
    g_autoptr(LimnScene) scene = g_new0(LimnScene, 1);
    int n = options->size;
    scene->picture = limn_image_new(n, n, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, error);
    scene->labels = scene->picture
                        ? limn_image_new(n, n, LIMN_PIXELS_GREY, LIMN_DEPTH_U8, error)
                        : NULL;
    if (!scene->labels)
        return NULL;
    limn_background_paint(options->background, &rng, n, scene->picture->data);
    int count = draw_count(options, &rng);
    Place places[LIMN_SCENE_MAX_OBJECTS];
    for (int i = 0; i < count; i++) {
        if (!draw_name(drawings, options, scene, &rng))
            break;
        LimnSceneObject *object = &scene->objects[i];
        places[i] = draw_place(options, count, places, i, &rng);
        object->value = (guint8) (i + 1);
        const guint32 *pixels =
            limn_drawings_get_pixels(drawings, object->name, object->style);
        g_autofree guint8 *rgba =
            limn_object_render(pixels, places[i].size, &rng, options->augment);
        paste(scene, rgba, places[i], object->value);
        scene->n_objects++;
    }
    if (scene->n_objects == 0) {
        g_set_error(
            error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
            "no drawing could be placed: the chosen styles have none of the names");
        return NULL;
    }
    measure_boxes(scene);
    make_caption(drawings, scene, &rng);
    return g_steal_pointer(&scene);
}

void
limn_scene_free(LimnScene *scene)
{
    if (!scene)
        return;
    g_clear_pointer(&scene->picture, limn_image_unref);
    g_clear_pointer(&scene->labels, limn_image_unref);
    g_free(scene->caption);
    g_free(scene);
}
