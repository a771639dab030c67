// SPDX-License-Identifier: GPL-3.0-or-later

// Composed scenes: what is drawn, what the masks, boxes, captions and annotations say.

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/scene/annotations.h"
#include "engine/scene/scene.h"

#include <jansson.h>
#include <string.h>

enum { SIZE = 48, SCENES = 24 };

static LimnScene *
compose(LimnDrawings *drawings, const LimnSceneOptions *options, guint64 number)
{
    g_autoptr(GError) error = NULL;
    LimnScene *scene = limn_scene_compose(drawings, options, 11, number, &error);
    g_assert_no_error(error);
    return scene;
}

static void
assert_same(const LimnScene *a, const LimnScene *b)
{
    gsize n = (gsize) a->labels->width * (gsize) a->labels->height;
    g_assert_cmpmem(a->picture->data, 3 * n, b->picture->data, 3 * n);
    g_assert_cmpmem(a->labels->data, n, b->labels->data, n);
    g_assert_cmpstr(a->caption, ==, b->caption);
    g_assert_cmpint(a->n_objects, ==, b->n_objects);
}

// ---- the same scene whenever and wherever it is composed

typedef struct {
    LimnDrawings *drawings;
    const LimnSceneOptions *options;
    LimnScene *scenes[SCENES];
} Batch;

static gboolean
compose_chunk(gsize chunk, gpointer data, GError **error)
{
    Batch *batch = data;
    batch->scenes[chunk] =
        limn_scene_compose(batch->drawings, batch->options, 11, chunk, error);
    return batch->scenes[chunk] != NULL;
}

static void
test_deterministic(void)
{
    g_autoptr(LimnDrawings) drawings = limn_drawings_new_shapes(NULL);
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(GError) error = NULL;
    LimnSceneOptions options;
    limn_scene_options_init(&options, SIZE);
    options.augment = 1;
    Batch batch = {.drawings = drawings, .options = &options};
    limn_job_set_threads(job, 3);
    g_assert_true(limn_parallel_try(job, SCENES, compose_chunk, &batch, &error));
    guint different = 0;
    for (guint i = SCENES; i-- > 0;) { // in another order
        g_autoptr(LimnScene) again = compose(drawings, &options, i);
        g_autoptr(LimnScene) other = compose(drawings, &options, i + SCENES);
        assert_same(batch.scenes[i], again);
        different +=
            memcmp(again->picture->data, other->picture->data, 3 * SIZE * SIZE) != 0;
        limn_scene_free(batch.scenes[i]);
    }
    g_assert_cmpuint(different, ==, SCENES);
}

// ---- masks

static guint8
label_at(const LimnScene *scene, int x, int y)
{
    if (x < 0 || y < 0 || x >= SIZE || y >= SIZE)
        return 0;
    return ((const guint8 *) scene->labels->data)[y * SIZE + x];
}

static gboolean
near_object(const LimnScene *scene, int x, int y)
{
    for (int i = 0; i < 25; i++)
        if (label_at(scene, x + i % 5 - 2, y + i / 5 - 2))
            return TRUE;
    return FALSE;
}

// Over one colour: away from every mask there is nothing but that colour, and what is
// masked is not the background.
static void
test_masks_are_what_is_seen(void)
{
    g_autoptr(LimnDrawings) drawings = limn_drawings_new_shapes(NULL);
    LimnSceneOptions options;
    limn_scene_options_init(&options, SIZE);
    options.background = LIMN_BACKGROUND_PLAIN;
    guint masked = 0, drawn = 0, around = 0;
    for (guint i = 0; i < SCENES; i++) {
        g_autoptr(LimnScene) scene = compose(drawings, &options, i);
        const guint8 *rgb = scene->picture->data, *plain = NULL;
        for (int p = 0; p < SIZE * SIZE; p++) {
            if (near_object(scene, p % SIZE, p / SIZE))
                continue;
            plain = plain ? plain : rgb + 3 * p;
            g_assert_cmpmem(rgb + 3 * p, 3, plain, 3);
            around++;
        }
        for (int p = 0; plain && p < SIZE * SIZE; p++)
            if (label_at(scene, p % SIZE, p / SIZE)) {
                masked++;
                drawn += memcmp(rgb + 3 * p, plain, 3) != 0;
            }
    }
    g_assert_cmpuint(around, >, SCENES * 100);
    g_assert_cmpuint(masked, >, SCENES * 100);
    g_assert_cmpuint(drawn, >, masked / 100 * 98);
}

// Boxes are tight around what is left visible; values are those of the objects.
static void
test_boxes(void)
{
    g_autoptr(LimnDrawings) drawings = limn_drawings_new_shapes(NULL);
    LimnSceneOptions options;
    limn_scene_options_init(&options, SIZE);
    for (guint i = 0; i < SCENES; i++) {
        g_autoptr(LimnScene) scene = compose(drawings, &options, i);
        int left[5], top[5], right[5], bottom[5];
        for (int v = 0; v < 5; v++)
            left[v] = top[v] = SIZE, right[v] = bottom[v] = -1;
        for (int p = 0; p < SIZE * SIZE; p++) {
            int x = p % SIZE, y = p / SIZE;
            guint8 v = label_at(scene, x, y);
            g_assert_cmpint(v, <=, scene->n_objects);
            left[v] = MIN(left[v], x), right[v] = MAX(right[v], x);
            top[v] = MIN(top[v], y), bottom[v] = MAX(bottom[v], y);
        }
        for (int k = 0; k < scene->n_objects; k++) {
            const LimnSceneObject *o = &scene->objects[k];
            g_assert_cmpint(o->value, ==, k + 1);
            if (o->width == 0)
                continue;
            g_assert_cmpint(o->x, ==, left[o->value]);
            g_assert_cmpint(o->y, ==, top[o->value]);
            g_assert_cmpint(o->x + o->width - 1, ==, right[o->value]);
            g_assert_cmpint(o->y + o->height - 1, ==, bottom[o->value]);
        }
    }
}

// ---- names and captions

static void
test_captions(void)
{
    g_autoptr(LimnDrawings) drawings = limn_drawings_new_shapes(NULL);
    LimnSceneOptions options;
    limn_scene_options_init(&options, SIZE);
    guint partial = 0, complete = 0;
    for (guint i = 0; i < 4 * SCENES; i++) {
        g_autoptr(LimnScene) scene = compose(drawings, &options, i);
        const char *names[LIMN_SCENE_MAX_OBJECTS];
        gboolean seen[LIMN_SCENE_MAX_OBJECTS] = {FALSE};
        for (int k = 0; k < scene->n_caption_objects; k++) {
            int object = scene->caption_objects[k];
            g_assert_cmpint(object, <, scene->n_objects);
            g_assert_false(seen[object]);
            seen[object] = TRUE;
            names[k] = limn_drawings_get_name(drawings, scene->objects[object].name);
        }
        gboolean found = FALSE;
        for (guint f = 0; f < limn_scene_n_frames(); f++) {
            g_autofree char *text =
                limn_scene_caption(f, names, (guint) scene->n_caption_objects);
            found = found || strcmp(text, scene->caption) == 0;
        }
        g_assert_true(found);
        if (scene->n_objects > 1) {
            gboolean one = scene->n_caption_objects == 1;
            g_assert_true(one || scene->n_caption_objects == scene->n_objects);
            partial += one;
            complete += !one;
        }
    }
    g_assert_cmpuint(partial, >, 0);
    g_assert_cmpuint(complete, >, partial);
}

static void
test_names(void)
{
    g_autoptr(LimnDrawings) drawings = limn_drawings_new_shapes(NULL);
    const guint32 allowed[] = {3, 17, 40};
    LimnSceneOptions options;
    limn_scene_options_init(&options, SIZE);
    for (int k = 0; k < LIMN_SCENE_MAX_OBJECTS; k++)
        options.chance[k] = k == 3;
    options.names = allowed;
    options.n_names = G_N_ELEMENTS(allowed);
    for (guint i = 0; i < SCENES; i++) {
        g_autoptr(LimnScene) scene = compose(drawings, &options, i);
        g_assert_cmpint(scene->n_objects, ==, 3); // four were asked for, there are three
        guint sum = 0;
        for (int k = 0; k < 3; k++)
            sum += scene->objects[k].name;
        g_assert_cmpuint(sum, ==, 3 + 17 + 40); // each once
    }
}

static void
test_nothing_to_draw(void)
{
    g_autoptr(LimnDrawings) drawings = limn_drawings_new_shapes(NULL);
    g_autoptr(GError) error = NULL;
    LimnSceneOptions options;
    limn_scene_options_init(&options, SIZE);
    options.styles = 2; // there is only style 0
    g_assert_null(limn_scene_compose(drawings, &options, 1, 1, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH);
}

static void
test_backgrounds(void)
{
    g_autoptr(LimnDrawings) drawings = limn_drawings_new_shapes(NULL);
    LimnSceneOptions options;
    limn_scene_options_init(&options, SIZE);
    for (int k = 0; k < LIMN_SCENE_MAX_OBJECTS; k++)
        options.max_size[k] = options.min_size[k] = 4;
    for (int b = LIMN_BACKGROUND_MIXED; b <= LIMN_BACKGROUND_BLOCKS; b++) {
        options.background = (LimnBackground) b;
        g_autoptr(LimnScene) scene = compose(drawings, &options, 5);
        g_autoptr(GHashTable) colours = g_hash_table_new(NULL, NULL);
        const guint8 *rgb = scene->picture->data;
        guint dark = 0;
        for (int p = 0; p < SIZE * SIZE; p++, rgb += 3) {
            if (near_object(scene, p % SIZE, p / SIZE))
                continue;
            g_hash_table_add(
                colours, GUINT_TO_POINTER(1u + rgb[0] + 256u * rgb[1] + 65536u * rgb[2]));
            dark += MIN(MIN(rgb[0], rgb[1]), rgb[2]) < 232;
        }
        guint n = g_hash_table_size(colours);
        if (b == LIMN_BACKGROUND_PLAIN || b == LIMN_BACKGROUND_LIGHT)
            g_assert_cmpuint(n, ==, 1);
        if (b == LIMN_BACKGROUND_LIGHT)
            g_assert_cmpuint(dark, ==, 0);
        if (b == LIMN_BACKGROUND_GRADIENT || b == LIMN_BACKGROUND_SMOOTH)
            g_assert_cmpuint(n, >, 20);
        if (b == LIMN_BACKGROUND_BLOCKS)
            g_assert_true(n >= 9 && n <= 15 * 15);
    }
}

// ---- annotations

static json_t *
parse(GBytes *bytes)
{
    gsize size;
    const char *data = g_bytes_get_data(bytes, &size);
    json_error_t error;
    json_t *root = json_loadb(data, size, JSON_REJECT_DUPLICATES, &error);
    g_assert_nonnull(root);
    return root;
}

// The run lengths, columns first, give back the mask.
static void
check_runs(const json_t *annotation, const LimnScene *scene)
{
    const json_t *counts =
        json_object_get(json_object_get(annotation, "segmentation"), "counts");
    json_int_t image = json_integer_value(json_object_get(annotation, "image_id"));
    g_assert_cmpint(image, ==, 1);
    guint name = (guint) json_integer_value(json_object_get(annotation, "category_id"));
    guint8 value = 0;
    for (int k = 0; k < scene->n_objects; k++)
        if (scene->objects[k].name + 1 == name)
            value = scene->objects[k].value;
    g_assert_cmpuint(value, >, 0);
    gint64 at = 0, area = 0;
    for (gsize i = 0; i < json_array_size(counts); i++)
        for (json_int_t run = json_integer_value(json_array_get(counts, i)); run > 0;
             run--, at++) {
            gboolean here =
                label_at(scene, (int) (at / SIZE), (int) (at % SIZE)) == value;
            g_assert_cmpint(here, ==, i % 2);
            area += here;
        }
    g_assert_cmpint(at, ==, SIZE * SIZE);
    g_assert_cmpint(area, ==, json_integer_value(json_object_get(annotation, "area")));
}

static void
test_annotations(void)
{
    g_autoptr(LimnDrawings) drawings = limn_drawings_new_shapes(NULL);
    g_autoptr(LimnAnnotations) annotations = limn_annotations_new(drawings);
    LimnSceneOptions options;
    limn_scene_options_init(&options, SIZE);
    g_autoptr(LimnScene) scene = compose(drawings, &options, 2);
    limn_annotations_add(annotations, scene, "a \"b\".png", "l.png");
    g_autoptr(GBytes) lines = limn_annotations_to_jsonl(annotations);
    g_autoptr(GBytes) coco = limn_annotations_to_coco(annotations);
    json_t *line = parse(lines), *root = parse(coco);
    g_assert_cmpstr(json_string_value(json_object_get(line, "file")), ==, "a \"b\".png");
    g_assert_cmpstr(json_string_value(json_object_get(line, "caption")), ==,
                    scene->caption);
    g_assert_cmpuint(json_array_size(json_object_get(line, "objects")), ==,
                     scene->n_objects);
    const json_t *list = json_object_get(root, "annotations");
    g_assert_cmpuint(json_array_size(list), >, 0);
    for (gsize i = 0; i < json_array_size(list); i++)
        check_runs(json_array_get(list, i), scene);
    json_decref(line);
    json_decref(root);
    g_autoptr(GBytes) xml = limn_scene_to_voc(scene, drawings, "a<b>&.png");
    g_autofree char *text = g_strndup(g_bytes_get_data(xml, NULL), g_bytes_get_size(xml));
    g_assert_nonnull(strstr(text, "<filename>a&lt;b&gt;&amp;.png</filename>"));
    g_autofree char *box = g_strdup_printf(
        "<xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax>", scene->objects[0].x + 1,
        scene->objects[0].y + 1, scene->objects[0].x + scene->objects[0].width);
    g_assert_nonnull(strstr(text, box));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/scene/deterministic", test_deterministic);
    g_test_add_func("/scene/masks-are-what-is-seen", test_masks_are_what_is_seen);
    g_test_add_func("/scene/boxes", test_boxes);
    g_test_add_func("/scene/captions", test_captions);
    g_test_add_func("/scene/names", test_names);
    g_test_add_func("/scene/nothing-to-draw", test_nothing_to_draw);
    g_test_add_func("/scene/backgrounds", test_backgrounds);
    g_test_add_func("/scene/annotations", test_annotations);
    return g_test_run();
}
