// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/probe-pictures.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "engine/io/picture.h"
#include "engine/model/study-scenes.h"
#include "engine/text/json.h"
#include "engine/text/prompts.h"

#define CAPTIONS_FILE "captions.jsonl"
#define MAX_CAPTIONS_FILE ((guint64) 1 << 30)

struct LimnProbe {
    LimnRun *run;
    LimnPictureItems *items;
    GPtrArray *captions; // char *, may hold NULL; NULL: none
    LimnConceptList *concepts;
    LimnArray *presence;
    gboolean composed, sentences;
    LimnStudyScenes scenes;
    GHashTable *prepared; // item + 1 -> LimnScene
};

void
limn_probe_free(LimnProbe *probe)
{
    if (probe == NULL) {
        return;
    }
    limn_picture_items_free(probe->items);
    g_clear_pointer(&probe->captions, g_ptr_array_unref);
    limn_concept_list_free(probe->concepts);
    g_clear_pointer(&probe->presence, limn_array_unref);
    limn_study_scenes_clear(&probe->scenes);
    g_clear_pointer(&probe->prepared, g_hash_table_unref);
    g_free(probe);
}

const LimnPictureItems *
limn_probe_get_items(LimnProbe *probe)
{
    return probe->items;
}

gboolean
limn_probe_is_composed(LimnProbe *probe)
{
    return probe->composed;
}

const LimnConceptList *
limn_probe_get_concepts(LimnProbe *probe)
{
    return probe->concepts;
}

const char *
limn_probe_get_caption(LimnProbe *probe, guint64 item)
{
    return probe->captions != NULL ? g_ptr_array_index(probe->captions, item) : NULL;
}

const guint8 *
limn_probe_get_presence(LimnProbe *probe, guint64 item)
{
    return limn_array_u8(probe->presence) + item * (guint64) probe->presence->shape[1];
}

static gboolean
make_presence(LimnProbe *probe, GError **error)
{
    gint64 shape[2] = {(gint64) probe->items->n, probe->concepts->names->len};
    probe->presence = limn_array_new(LIMN_DTYPE_U8, 2, shape, error);
    return probe->presence != NULL;
}

static void
set_present(LimnProbe *probe, guint64 item, guint concept)
{
    limn_array_u8(probe->presence)[item * (guint64) probe->presence->shape[1] + concept] =
        1;
}

// Groups of a name: from the table of the input `concepts`, or the built-in one.
static LimnConceptList *
load_groups(LimnRun *run, GError **error)
{
    return limn_concept_list_load(limn_run_get_input(run, "concepts"),
                                  limn_run_get_job(run), error);
}

// ---- a folder with captions.jsonl

typedef struct {
    LimnProbe *probe;
    const char *folder, *path;
    GPtrArray *paths, *names; // char *
    GHashTable *files;        // names seen
    GHashTable *concepts;     // name -> index + 1
    GArray *objects;          // guint pairs: item, concept
    LimnConceptList *groups;
} Listing;

static guint
concept_number(Listing *l, const char *name)
{
    guint number = GPOINTER_TO_UINT(g_hash_table_lookup(l->concepts, name));
    if (number > 0) {
        return number - 1;
    }
    LimnConceptList *list = l->probe->concepts;
    const LimnConceptName *known = limn_concept_list_find(l->groups, name);
    limn_concept_list_add(list, name, known != NULL ? known->group : "",
                          known != NULL ? known->subgroup : "");
    const LimnConceptName *added = g_ptr_array_index(list->names, list->names->len - 1);
    g_hash_table_insert(l->concepts, added->name, GUINT_TO_POINTER(list->names->len));
    return list->names->len - 1;
}

static void
add_objects(Listing *l, guint item, json_t *objects)
{
    for (gsize i = 0; i < json_array_size(objects); i++) {
        const char *name =
            json_string_value(json_object_get(json_array_get(objects, i), "name"));
        if (name != NULL && *name != '\0') {
            guint pair[2] = {item, concept_number(l, name)};
            g_array_append_vals(l->objects, pair, 2);
        }
    }
}

static const char *
string_of(const LimnJson *json, const char *key, const char *other)
{
    const char *text = json_string_value(json_object_get(json->value, key));
    return text != NULL ? text : json_string_value(json_object_get(json->value, other));
}

// One object: {"file", "caption", "objects": [{"name"}]}.
static gboolean
read_line(Listing *l, const char *text, guint line, GError **error)
{
    g_autofree char *shown = limn_display_path(l->path);
    g_autofree char *where = g_strdup_printf("%s line %u", shown, line);
    g_autoptr(json_t) root = limn_json_parse(text, strlen(text), where, error);
    LimnJson json;
    if (root == NULL || !limn_json_root(root, where, &json, error)) {
        return FALSE;
    }
    const char *file = string_of(&json, "file", "file_name");
    if (file == NULL || !limn_companion_name_is_safe(file)) {
        return limn_json_fail(&json, "file", error,
                              "is %s (expected the name of a picture in this folder)",
                              file != NULL ? file : "missing");
    }
    if (!g_hash_table_add(l->files, g_strdup(file))) {
        return TRUE; // a further caption of the same picture
    }
    add_objects(l, l->paths->len, json_object_get(root, "objects"));
    g_ptr_array_add(l->paths, g_build_filename(l->folder, file, NULL));
    g_ptr_array_add(l->names, g_strdup(file));
    g_ptr_array_add(l->probe->captions, g_strdup(string_of(&json, "caption", "text")));
    return TRUE;
}

static gboolean
read_lines(Listing *l, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_read(l->path, MAX_CAPTIONS_FILE, error);
    if (bytes == NULL) {
        return FALSE;
    }
    gsize size;
    const char *at = g_bytes_get_data(bytes, &size), *end = at + size;
    for (guint line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (gsize) (end - at));
        gsize length = (gsize) ((stop != NULL ? stop : end) - at);
        g_autofree char *text = g_strstrip(g_strndup(at, length));
        if (*text != '\0' && !read_line(l, text, line, error)) {
            return FALSE;
        }
        at += length + (stop != NULL);
    }
    return TRUE;
}

static GStrv
steal_strings(GPtrArray *list)
{
    g_ptr_array_add(list, NULL);
    return (GStrv) g_ptr_array_free(list, FALSE);
}

static gboolean
finish_listing(Listing *l, GError **error)
{
    LimnProbe *probe = l->probe;
    if (l->paths->len == 0) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, l->path,
                                   "lists no picture (expected lines with \"file\")");
    }
    probe->items = g_new0(LimnPictureItems, 1);
    probe->items->n = l->paths->len;
    probe->items->many = probe->items->folder = TRUE;
    probe->items->paths = steal_strings(g_steal_pointer(&l->paths));
    probe->items->names = steal_strings(g_steal_pointer(&l->names));
    if (probe->concepts->names->len == 0) {
        g_clear_pointer(&probe->concepts, limn_concept_list_free);
        return TRUE;
    }
    if (!make_presence(probe, error)) {
        return FALSE;
    }
    for (guint i = 0; i < l->objects->len; i += 2) {
        set_present(probe, g_array_index(l->objects, guint, i),
                    g_array_index(l->objects, guint, i + 1));
    }
    return TRUE;
}

static gboolean
open_listing(LimnProbe *probe, const char *folder, const char *path, GError **error)
{
    g_autoptr(LimnConceptList) groups = load_groups(probe->run, error);
    if (groups == NULL) {
        return FALSE;
    }
    Listing l = {.probe = probe,
                 .folder = folder,
                 .path = path,
                 .paths = g_ptr_array_new_with_free_func(g_free),
                 .names = g_ptr_array_new_with_free_func(g_free),
                 .files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                 .concepts = g_hash_table_new(g_str_hash, g_str_equal),
                 .objects = g_array_new(FALSE, FALSE, sizeof(guint)),
                 .groups = groups};
    probe->captions = g_ptr_array_new_with_free_func(g_free);
    probe->concepts = limn_concept_list_new();
    gboolean good = read_lines(&l, error) && finish_listing(&l, error);
    g_clear_pointer(&l.paths, g_ptr_array_unref);
    g_clear_pointer(&l.names, g_ptr_array_unref);
    g_hash_table_unref(l.files);
    g_hash_table_unref(l.concepts);
    g_array_unref(l.objects);
    if (good) {
        limn_run_set_n_items(probe->run, probe->items->n);
    }
    return good;
}

// ---- scenes

// Shapes are their own groups: "red circle" is red, and a circle.
static LimnConceptList *
list_drawn(LimnProbe *probe, GError **error)
{
    const char *const *icons = limn_run_get_input_list(probe->run, "icons");
    gboolean shapes = icons == NULL || icons[0] == NULL;
    g_autoptr(LimnConceptList) groups =
        shapes ? limn_concept_list_new() : load_groups(probe->run, error);
    if (groups == NULL) {
        return NULL;
    }
    LimnConceptList *list = limn_concept_list_new();
    LimnDrawings *drawings = probe->scenes.drawings;
    for (guint i = 0; i < limn_drawings_n_names(drawings); i++) {
        const char *name = limn_drawings_get_name(drawings, i);
        const LimnConceptName *known = limn_concept_list_find(groups, name);
        const char *space = shapes ? strchr(name, ' ') : NULL;
        if (space != NULL) {
            g_autofree char *colour = g_strndup(name, (gsize) (space - name));
            limn_concept_list_add(list, name, colour, space + 1);
        } else {
            limn_concept_list_add(list, name, known != NULL ? known->group : "",
                                  known != NULL ? known->subgroup : "");
        }
    }
    return list;
}

static gboolean
open_scenes(LimnProbe *probe, GError **error)
{
    guint64 n = (guint64) limn_run_get_int(probe->run, "count");
    if (!limn_study_scenes_read(probe->run, &probe->scenes, error)) {
        return FALSE;
    }
    probe->composed = TRUE;
    probe->concepts = list_drawn(probe, error);
    if (probe->concepts == NULL) {
        return FALSE;
    }
    probe->items = g_new0(LimnPictureItems, 1);
    probe->items->n = n;
    probe->items->many = TRUE;
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    probe->captions = g_ptr_array_new_with_free_func(g_free);
    for (guint64 i = 0; i < n; i++) {
        g_autofree char *name = g_strdup_printf("scene %" G_GUINT64_FORMAT, i + 1);
        g_strv_builder_add(names, name);
        g_ptr_array_add(probe->captions, NULL);
    }
    probe->items->names = g_strv_builder_end(names);
    probe->prepared =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify) limn_scene_free);
    limn_run_set_n_items(probe->run, n);
    return make_presence(probe, error);
}

typedef struct {
    LimnProbe *probe;
    const guint64 *items;
    LimnScene **scenes;
} Composition;

static gboolean
compose_one(gsize i, gpointer data, GError **error)
{
    const Composition *c = data;
    LimnProbe *probe = c->probe;
    c->scenes[i] = limn_scene_compose(probe->scenes.drawings, &probe->scenes.options,
                                      limn_run_get_seed(probe->run), c->items[i], error);
    return c->scenes[i] != NULL;
}

static void
keep_scene(LimnProbe *probe, guint64 item, LimnScene *scene)
{
    for (int i = 0; i < scene->n_objects; i++) {
        set_present(probe, item, scene->objects[i].name);
    }
    g_free(g_ptr_array_index(probe->captions, item));
    g_ptr_array_index(probe->captions, item) = g_strdup(scene->caption);
    g_hash_table_insert(probe->prepared, GUINT_TO_POINTER(item + 1), scene);
}

gboolean
limn_probe_prepare(LimnProbe *probe, const guint64 *items, gsize n, LimnJob *job,
                   GError **error)
{
    if (!probe->composed) {
        return TRUE;
    }
    g_autofree LimnScene **scenes = g_new0(LimnScene *, n + 1);
    Composition c = {probe, items, scenes};
    gboolean good = limn_parallel_try(job, n, compose_one, &c, error);
    for (gsize i = 0; i < n; i++) {
        if (scenes[i] != NULL) {
            keep_scene(probe, items[i], scenes[i]);
        }
    }
    return good;
}

void
limn_probe_release(LimnProbe *probe)
{
    if (probe->prepared != NULL) {
        g_hash_table_remove_all(probe->prepared);
    }
}

LimnImage *
limn_probe_load(LimnProbe *probe, guint64 item, LimnJob *job, GError **error)
{
    if (!probe->composed) {
        return limn_picture_load(probe->items->paths[item], job, error);
    }
    const LimnScene *scene =
        g_hash_table_lookup(probe->prepared, GUINT_TO_POINTER(item + 1));
    g_return_val_if_fail(scene != NULL, NULL);
    return limn_image_ref(scene->picture);
}

// ---- sentences

static gboolean
open_sentences(LimnProbe *probe, const char *path, GError **error)
{
    g_auto(GStrv) texts = limn_prompts_load(path, error);
    if (texts == NULL) {
        return FALSE;
    }
    probe->items = g_new0(LimnPictureItems, 1);
    probe->items->n = g_strv_length(texts);
    probe->items->many = TRUE;
    probe->items->names = limn_study_make_unique((const char *const *) texts);
    probe->captions = g_ptr_array_new_with_free_func(g_free);
    for (guint64 i = 0; i < probe->items->n; i++) {
        g_ptr_array_add(probe->captions, g_strdup(texts[i]));
    }
    limn_run_set_n_items(probe->run, probe->items->n);
    return TRUE;
}

static gboolean
open_folder(LimnProbe *probe, const char *path, GError **error)
{
    g_autofree char *captions = g_build_filename(path, CAPTIONS_FILE, NULL);
    if (g_file_test(path, G_FILE_TEST_IS_DIR) &&
        g_file_test(captions, G_FILE_TEST_EXISTS)) {
        return open_listing(probe, path, captions, error);
    }
    probe->items = limn_study_load_items(probe->run, error);
    return probe->items != NULL;
}

static gboolean
check_captions(LimnProbe *probe, GError **error)
{
    if (!probe->sentences || probe->captions != NULL) {
        return TRUE;
    }
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                "layer=%s: a layer of the text tower needs sentences (expected texts=, a "
                "folder with captions.jsonl, or composed scenes)",
                limn_run_get_text(probe->run, "layer"));
    return FALSE;
}

LimnProbe *
limn_probe_open(LimnRun *run, gboolean sentences, GError **error)
{
    g_autoptr(LimnProbe) probe = g_new0(LimnProbe, 1);
    const char *image = limn_run_get_input(run, "image");
    const char *texts = limn_run_get_input(run, "texts");
    probe->run = run;
    probe->sentences = sentences;
    if (texts != NULL && !sentences) {
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                            "texts=: sentences are for layers of the text tower "
                            "(expected layer=text.BLOCK.PART)");
        return NULL;
    }
    gboolean good = texts != NULL   ? open_sentences(probe, texts, error)
                    : image != NULL ? open_folder(probe, image, error)
                                    : open_scenes(probe, error);
    return good && check_captions(probe, error) ? g_steal_pointer(&probe) : NULL;
}
