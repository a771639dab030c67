// SPDX-License-Identifier: GPL-3.0-or-later

// Composed scenes with exact masks, as data to train and to test on.

#include "limn-config.h"

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/io/picture.h"
#include "engine/model/study-scenes.h"
#include "engine/scene/annotations.h"

#include <glib/gi18n-lib.h>
#include <string.h>

static const LimnInput inputs[] = {
    {.name = "icons",
     .type = LIMN_INPUT_FILE,
     .list = TRUE,
     .accepts = N_("icons.json of Iconify icon sets"),
     .summary = N_("Drawings, one style a file (none: built-in shapes)")},
    {.name = "concepts",
     .type = LIMN_INPUT_FILE,
     .accepts = N_("tab-separated table: name, key, group, ..."),
     .summary = N_("Names and their keys in the icon sets (none: the built-in table)")},
    {.name = NULL},
};

static const char *const backgrounds[] = {"mixed",  "plain",  "light", "gradient",
                                          "smooth", "blocks", NULL};
static const char *const background_summaries[] = {
    N_("one of the others, equal chance"), N_("one colour"),   N_("near white"),
    N_("two colours, any direction"),      N_("smooth noise"), N_("blocky noise"),
};
static const char *const name_choices[] = {"all", "common", NULL};
static const char *const name_summaries[] = {
    N_("every name that is drawn"),
    N_("common things only (marked in the table)"),
};
static const char *const layouts[] = {"plain", "voc", NULL};
static const char *const layout_summaries[] = {
    N_("pictures, label maps, captions.jsonl and coco.json"),
    N_("the same, and a Pascal VOC tree beside them"),
};

static const LimnParameter parameters[] = {
    {.name = "count",
     .type = LIMN_PARAMETER_INT,
     .int_default = 100,
     .min = 1,
     .max = 1000000,
     .unit = N_("scenes"),
     .summary = N_("How many scenes")},
    {.name = "size",
     .type = LIMN_PARAMETER_INT,
     .int_default = 112,
     .min = 8,
     .max = 2048,
     .unit = N_("pixels"),
     .summary = N_("Side of the canvas")},
    {.name = "objects",
     .type = LIMN_PARAMETER_TEXT,
     .text_default = "0.3,0.35,0.25,0.1",
     .summary = N_("Chance of one, two, three and four objects")},
    {.name = "sizes",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Smallest and largest side for one, two, ... objects, in pixels "
                   "(unset: in proportion to the canvas)"),
     .advanced = TRUE},
    {.name = "background",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = backgrounds,
     .choice_summaries = background_summaries,
     .summary = N_("What is behind the objects")},
    {.name = "names",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = name_choices,
     .choice_summaries = name_summaries,
     .summary = N_("Which names appear")},
    {.name = "styles",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Styles to draw, separated by commas (unset: all)")},
    {.name = "held-out-styles",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Styles that never appear")},
    {.name = "held-out-names",
     .type = LIMN_PARAMETER_TEXT,
     .summary = N_("Names that never appear")},
    {.name = "augment",
     .type = LIMN_PARAMETER_FLOAT,
     .float_default = 0,
     .min = 0,
     .max = 1,
     .summary = N_("How often hue, rotation, outlines, grey and blur are changed"),
     .advanced = TRUE},
    {.name = "layout",
     .type = LIMN_PARAMETER_CHOICE,
     .choices = layouts,
     .choice_summaries = layout_summaries,
     .summary = N_("Files that are written")},
    {.name = NULL},
};

static const LimnOutput outputs[] = {
    {"pictures", "pictures", "count pictures",
     N_("the scenes; each label is its caption")},
    {"labels", "labelmap", "count label maps",
     N_("class of every pixel: 0 background, else the number of the name plus one")},
    {"scenes", "table", "count rows", N_("caption, objects, styles and boxes")},
    {NULL, NULL, NULL, NULL},
};

static const LimnFigureDefault figure = {
    .artifact = "pictures",
    .layout = "stack",
    .caption = N_("Composed scenes"),
};

typedef struct {
    LimnRun *run;
    const LimnStudyScenes *scenes;
    LimnScene **out;
} Composition;

static gboolean
compose_one(gsize chunk, gpointer data, GError **error)
{
    const Composition *c = data;
    c->out[chunk] = limn_scene_compose(c->scenes->drawings, &c->scenes->options,
                                       limn_run_get_seed(c->run), (guint64) chunk, error);
    return c->out[chunk] != NULL;
}

// Label map of classes: object values become the numbers of their names plus one.
static LimnImage *
class_map(const LimnScene *scene, guint n_names, GError **error)
{
    LimnDepth depth = n_names > 254 ? LIMN_DEPTH_U16 : LIMN_DEPTH_U8;
    int n = scene->labels->width;
    LimnImage *map = limn_image_new(n, n, LIMN_PIXELS_GREY, depth, error);
    const guint8 *values = scene->labels->data;
    for (int i = 0; map != NULL && i < n * n; i++) {
        guint class = values[i] ? scene->objects[values[i] - 1].name + 1 : 0;
        if (depth == LIMN_DEPTH_U16) {
            ((guint16 *) map->data)[i] = (guint16) class;
        } else {
            ((guint8 *) map->data)[i] = (guint8) class;
        }
    }
    return map;
}

// Colours far apart around the circle of hues, by the golden angle.
static void
class_colour(guint i, guint8 rgb[3])
{
    double hue = (i * 0.6180339887498949) - (guint) (i * 0.6180339887498949);
    double x = hue * 6;
    const double level[3] = {ABS(x - 3) - 1, 2 - ABS(x - 2), 2 - ABS(x - 4)};
    for (int c = 0; c < 3; c++) {
        rgb[c] = (guint8) (60 + 180 * CLAMP(level[c], 0, 1));
    }
}

static LimnClassTable *
class_table(LimnDrawings *drawings)
{
    LimnClassTable *table = limn_class_table_new();
    const guint8 black[3] = {0, 0, 0};
    limn_class_table_add(table, 0, "background", black);
    for (guint i = 0; i < limn_drawings_n_names(drawings); i++) {
        guint8 rgb[3];
        class_colour(i, rgb);
        limn_class_table_add(table, i + 1, limn_drawings_get_name(drawings, i), rgb);
    }
    return table;
}

typedef struct {
    LimnArtifact *pictures, *labels;
    LimnAnnotations *annotations;
    LimnColumn *caption, *objects;
    GString *list; // ImageSets
    gboolean voc;
} Collection;

static gboolean
add_voc(Collection *c, LimnDrawings *drawings, const LimnScene *scene, LimnImage *map,
        guint number, GError **error)
{
    g_autofree char *file = g_strdup_printf("%06u.png", number);
    g_autoptr(GBytes) picture = limn_png_encode(scene->picture, error);
    g_autoptr(GBytes) labels = picture ? limn_png_encode(map, error) : NULL;
    if (labels == NULL) {
        return FALSE;
    }
    g_autoptr(GBytes) xml = limn_scene_to_voc(scene, drawings, file);
    g_autofree char *one = g_strdup_printf("JPEGImages/%s", file);
    g_autofree char *two = g_strdup_printf("SegmentationClass/%s", file);
    g_autofree char *three = g_strdup_printf("Annotations/%06u.xml", number);
    limn_artifact_add_companion(c->pictures, one, picture);
    limn_artifact_add_companion(c->pictures, two, labels);
    limn_artifact_add_companion(c->pictures, three, xml);
    g_string_append_printf(c->list, "%06u\n", number);
    return TRUE;
}

static gboolean
collect(Collection *c, LimnDrawings *drawings, const LimnScene *scene, guint number,
        guint count, GError **error)
{
    g_autoptr(LimnImage) map = class_map(scene, limn_drawings_n_names(drawings), error);
    if (map == NULL) {
        return FALSE;
    }
    limn_artifact_add_picture(c->pictures, scene->picture, NULL);
    limn_artifact_add_label(c->pictures, scene->caption);
    limn_artifact_add_picture(c->labels, map, NULL);
    limn_artifact_add_label(c->labels, scene->caption);
    g_autofree char *suffix = count > 1 ? g_strdup_printf("-%04u", number) : g_strdup("");
    g_autofree char *picture = g_strdup_printf("pictures%s.png", suffix);
    g_autofree char *labels = g_strdup_printf("labels%s.png", suffix);
    limn_annotations_add(c->annotations, scene, picture, labels);
    g_autoptr(GString) objects = g_string_new(NULL);
    for (int i = 0; i < scene->n_objects; i++) {
        const LimnSceneObject *o = &scene->objects[i];
        g_string_append_printf(objects, "%s%s (%s) %d,%d %dx%d", i ? "; " : "",
                               limn_drawings_get_name(drawings, o->name),
                               limn_drawings_get_style(drawings, o->style), o->x, o->y,
                               o->width, o->height);
    }
    limn_column_add_string(c->caption, scene->caption);
    limn_column_add_string(c->objects, objects->str);
    return !c->voc || add_voc(c, drawings, scene, map, number, error);
}

static void
add_text_companion(LimnArtifact *artifact, const char *file, GBytes *bytes)
{
    limn_artifact_add_companion(artifact, file, bytes);
    g_bytes_unref(bytes);
}

static gboolean
make_artifacts(LimnRun *run, const LimnStudyScenes *scenes, LimnScene *const *list,
               guint count, GError **error)
{
    LimnTable *table = limn_table_new();
    g_autoptr(LimnArtifact) pictures =
        limn_artifact_new(LIMN_ARTIFACT_PICTURES, "pictures");
    g_autoptr(LimnArtifact) labels = limn_artifact_new(LIMN_ARTIFACT_LABELMAP, "labels");
    g_autoptr(LimnArtifact) rows = limn_artifact_new_table("scenes", table);
    g_autoptr(LimnAnnotations) annotations = limn_annotations_new(scenes->drawings);
    g_autoptr(GString) names = g_string_new(NULL);
    labels->classes = class_table(scenes->drawings);
    Collection c = {.pictures = pictures,
                    .labels = labels,
                    .annotations = annotations,
                    .list = names,
                    .voc = limn_run_get_choice(run, "layout") == 1};
    c.caption = limn_table_add_column(table, "caption", FALSE);
    c.objects = limn_table_add_column(table, "objects", FALSE);
    for (guint i = 0; i < count; i++) {
        if (!limn_job_check(limn_run_get_job(run), error) ||
            !collect(&c, scenes->drawings, list[i], i + 1, count, error)) {
            return FALSE;
        }
    }
    add_text_companion(pictures, "captions.jsonl",
                       limn_annotations_to_jsonl(annotations));
    add_text_companion(pictures, "coco.json", limn_annotations_to_coco(annotations));
    if (c.voc) {
        add_text_companion(pictures, "ImageSets/Segmentation/all.txt",
                           g_bytes_new(names->str, names->len));
    }
    limn_run_add_artifact(run, g_steal_pointer(&pictures));
    limn_run_add_artifact(run, g_steal_pointer(&labels));
    limn_run_add_artifact(run, g_steal_pointer(&rows));
    return TRUE;
}

static gboolean
run_scenes(LimnRun *run, GError **error)
{
    LimnJob *job = limn_run_get_job(run);
    g_auto(LimnStudyScenes) scenes = {0};
    guint count = (guint) limn_run_get_int(run, "count");
    gint64 pixels = limn_run_get_int(run, "size") * limn_run_get_int(run, "size");
    if ((gint64) count * pixels > (gint64) 1 << 30) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "count=%u scenes of %" G_GINT64_FORMAT " pixels are more than one "
                    "study holds (expected at most %" G_GINT64_FORMAT " of them)",
                    count, pixels, ((gint64) 1 << 30) / pixels);
        return FALSE;
    }
    if (!limn_study_scenes_read(run, &scenes, error)) {
        return FALSE;
    }
    g_autofree LimnScene **list = g_new0(LimnScene *, count);
    Composition c = {run, &scenes, list};
    limn_job_report(job, "compose", 0, "%u scenes", count);
    gboolean good = limn_parallel_try(job, count, compose_one, &c, error) &&
                    make_artifacts(run, &scenes, list, count, error);
    for (guint i = 0; i < count; i++) {
        limn_scene_free(list[i]);
    }
    return good;
}

const LimnOperation limn_operation_scenes = {
    .id = "scenes",
    .title = N_("Scenes"),
    .family = LIMN_FAMILY_LEARNING,
    .summary = N_("Compose captioned scenes whose objects are known to the pixel."),
    .description = N_(
        "Drawings of named things are placed over plain, graded or noisy backgrounds. "
        "Every object has an exact mask and every scene a caption. The drawings are "
        "built-in shapes, or icon sets in the JSON of Iconify (several open emoji sets "
        "share names, so that one style can be held out to ask whether a model knows "
        "the thing or the drawing)."),
    .inputs = inputs,
    .parameters = parameters,
    .outputs = outputs,
    .figure = &figure,
    .run = run_scenes,
};
