// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/scene/annotations.h"

#include "engine/study/json-writer.h"

#include <string.h>

struct LimnAnnotations {
    LimnDrawings *drawings;
    GString *lines;
    LimnJsonWriter *images, *objects, *captions; // arrays of the COCO file, still open
    guint n_scenes, n_objects;
    gboolean *used; // names that appear
};

LimnAnnotations *
limn_annotations_new(LimnDrawings *drawings)
{
    LimnAnnotations *a = g_new0(LimnAnnotations, 1);
    a->drawings = drawings;
    a->lines = g_string_new(NULL);
    a->used = g_new0(gboolean, limn_drawings_n_names(drawings));
    a->images = limn_json_writer_new();
    a->objects = limn_json_writer_new();
    a->captions = limn_json_writer_new();
    limn_json_writer_begin_array(a->images, NULL);
    limn_json_writer_begin_array(a->objects, NULL);
    limn_json_writer_begin_array(a->captions, NULL);
    return a;
}

void
limn_annotations_free(LimnAnnotations *a)
{
    if (!a)
        return;
    g_string_free(a->lines, TRUE);
    limn_json_writer_free(a->images);
    limn_json_writer_free(a->objects);
    limn_json_writer_free(a->captions);
    g_free(a->used);
    g_free(a);
}

static gboolean
in_caption(const LimnScene *scene, int object)
{
    for (int i = 0; i < scene->n_caption_objects; i++)
        if (scene->caption_objects[i] == object)
            return TRUE;
    return FALSE;
}

static void
write_box(LimnJsonWriter *json, const char *key, const LimnSceneObject *o)
{
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, key);
    limn_json_writer_int(json, NULL, o->x);
    limn_json_writer_int(json, NULL, o->y);
    limn_json_writer_int(json, NULL, o->width);
    limn_json_writer_int(json, NULL, o->height);
    limn_json_writer_end_array(json);
}

static void
add_line(LimnAnnotations *a, const LimnScene *scene, const char *picture,
         const char *labels)
{
    g_autoptr(LimnJsonWriter) json = limn_json_writer_new();
    limn_json_writer_inline(json);
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_string(json, "file", picture);
    limn_json_writer_string(json, "labels", labels);
    limn_json_writer_string(json, "caption", scene->caption);
    limn_json_writer_begin_array(json, "objects");
    for (int i = 0; i < scene->n_objects; i++) {
        const LimnSceneObject *o = &scene->objects[i];
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_string(json, "name",
                                limn_drawings_get_name(a->drawings, o->name));
        limn_json_writer_string(json, "style",
                                limn_drawings_get_style(a->drawings, o->style));
        limn_json_writer_uint(json, "value", o->name + 1);
        write_box(json, "box", o);
        limn_json_writer_bool(json, "in_caption", in_caption(scene, i));
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    limn_json_writer_end_object(json);
    g_autofree char *text = limn_json_writer_finish(json);
    g_string_append(a->lines, text);
}

// Run lengths of one object's mask, column after column, zeros first.
static void
write_run_lengths(LimnJsonWriter *json, const LimnScene *scene, guint8 value)
{
    int n = scene->labels->width;
    const guint8 *labels = scene->labels->data;
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, "counts");
    gboolean inside = FALSE;
    guint run = 0;
    for (int x = 0; x < n; x++)
        for (int y = 0; y < n; y++) {
            gboolean here = labels[y * n + x] == value;
            if (here != inside) {
                limn_json_writer_uint(json, NULL, run);
                run = 0;
                inside = here;
            }
            run++;
        }
    limn_json_writer_uint(json, NULL, run);
    limn_json_writer_end_array(json);
}

static guint
mask_area(const LimnScene *scene, guint8 value)
{
    const guint8 *labels = scene->labels->data;
    guint area = 0;
    for (int i = 0; i < scene->labels->width * scene->labels->height; i++)
        area += labels[i] == value;
    return area;
}

static void
add_object(LimnAnnotations *a, const LimnScene *scene, const LimnSceneObject *o)
{
    LimnJsonWriter *json = a->objects;
    a->used[o->name] = TRUE;
    limn_json_writer_begin_object(json, NULL);
    limn_json_writer_uint(json, "id", ++a->n_objects);
    limn_json_writer_uint(json, "image_id", a->n_scenes);
    limn_json_writer_uint(json, "category_id", o->name + 1);
    limn_json_writer_int(json, "iscrowd", 0);
    limn_json_writer_uint(json, "area", mask_area(scene, o->value));
    write_box(json, "bbox", o);
    limn_json_writer_begin_object(json, "segmentation");
    write_run_lengths(json, scene, o->value);
    limn_json_writer_inline(json);
    limn_json_writer_begin_array(json, "size");
    limn_json_writer_int(json, NULL, scene->labels->height);
    limn_json_writer_int(json, NULL, scene->labels->width);
    limn_json_writer_end_array(json);
    limn_json_writer_end_object(json);
    limn_json_writer_end_object(json);
}

void
limn_annotations_add(LimnAnnotations *a, const LimnScene *scene, const char *picture,
                     const char *labels)
{
    a->n_scenes++;
    add_line(a, scene, picture, labels);
    limn_json_writer_begin_object(a->images, NULL);
    limn_json_writer_uint(a->images, "id", a->n_scenes);
    limn_json_writer_string(a->images, "file_name", picture);
    limn_json_writer_int(a->images, "width", scene->picture->width);
    limn_json_writer_int(a->images, "height", scene->picture->height);
    limn_json_writer_end_object(a->images);
    limn_json_writer_begin_object(a->captions, NULL);
    limn_json_writer_uint(a->captions, "id", a->n_scenes);
    limn_json_writer_uint(a->captions, "image_id", a->n_scenes);
    limn_json_writer_string(a->captions, "caption", scene->caption);
    limn_json_writer_end_object(a->captions);
    for (int i = 0; i < scene->n_objects; i++)
        if (scene->objects[i].width > 0)
            add_object(a, scene, &scene->objects[i]);
}

GBytes *
limn_annotations_to_jsonl(LimnAnnotations *a)
{
    return g_bytes_new(a->lines->str, a->lines->len);
}

static char *
category_list(LimnAnnotations *a)
{
    LimnJsonWriter *json = limn_json_writer_new();
    limn_json_writer_begin_array(json, NULL);
    for (guint i = 0; i < limn_drawings_n_names(a->drawings); i++) {
        if (!a->used[i])
            continue;
        limn_json_writer_begin_object(json, NULL);
        limn_json_writer_uint(json, "id", i + 1);
        limn_json_writer_string(json, "name", limn_drawings_get_name(a->drawings, i));
        limn_json_writer_string(json, "supercategory",
                                limn_drawings_get_group(a->drawings, i));
        limn_json_writer_end_object(json);
    }
    limn_json_writer_end_array(json);
    char *text = limn_json_writer_finish(json);
    limn_json_writer_free(json);
    return text;
}

static char *
finish_array(LimnJsonWriter *json)
{
    limn_json_writer_end_array(json);
    char *text = limn_json_writer_finish(json);
    return g_strchomp(text);
}

GBytes *
limn_annotations_to_coco(LimnAnnotations *a)
{
    g_autofree char *images = finish_array(a->images);
    g_autofree char *objects = finish_array(a->objects);
    g_autofree char *captions = finish_array(a->captions);
    g_autofree char *categories = category_list(a);
    char *text = g_strdup_printf("{\"images\": %s,\n\"categories\": %s,\n"
                                 "\"annotations\": %s,\n\"captions\": %s}\n",
                                 images, g_strchomp(categories), objects, captions);
    return g_bytes_new_take(text, strlen(text));
}

GBytes *
limn_scene_to_voc(const LimnScene *scene, LimnDrawings *drawings, const char *picture)
{
    g_autoptr(GString) xml = g_string_new("<annotation>\n");
    g_autofree char *file = g_markup_escape_text(picture, -1);
    g_string_append_printf(xml,
                           "  <folder>JPEGImages</folder>\n  <filename>%s</filename>\n"
                           "  <size><width>%d</width><height>%d</height>"
                           "<depth>3</depth></size>\n  <segmented>1</segmented>\n",
                           file, scene->picture->width, scene->picture->height);
    for (int i = 0; i < scene->n_objects; i++) {
        const LimnSceneObject *o = &scene->objects[i];
        if (o->width == 0)
            continue;
        g_autofree char *name =
            g_markup_escape_text(limn_drawings_get_name(drawings, o->name), -1);
        // VOC counts pixels from 1 and includes the last one.
        g_string_append_printf(xml,
                               "  <object>\n    <name>%s</name>\n    <pose>Unspecified"
                               "</pose>\n    <truncated>0</truncated>\n    <difficult>0"
                               "</difficult>\n    <bndbox><xmin>%d</xmin><ymin>%d</ymin>"
                               "<xmax>%d</xmax><ymax>%d</ymax></bndbox>\n  </object>\n",
                               name, o->x + 1, o->y + 1, o->x + o->width,
                               o->y + o->height);
    }
    g_string_append(xml, "</annotation>\n");
    return g_string_free_to_bytes(g_steal_pointer(&xml));
}
