// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/captioned.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/base/rng.h"
#include "engine/image/resample.h"
#include "engine/io/json.h"
#include "engine/io/picture.h"
#include "engine/text/json.h"

#include <string.h>

#define MAX_BYTES ((guint64) 4 << 30)
#define MAX_TEXT ((guint64) 1 << 20) // a STEM.txt
#define UNREADABLE G_MAXUINT
#define STREAM_PICTURES ((guint64) 0xc4 << 40)

typedef struct {
    char *text;
    GArray *pictures; // guint, indices
} Caption;

struct LimnCaptioned {
    int size;
    GPtrArray *pictures; // LimnImage, size x size RGB U8
    GArray *captions;    // Caption
    GHashTable *by_text; // text -> index + 1
};

static void
clear_caption(gpointer data)
{
    Caption *caption = data;
    g_free(caption->text);
    g_array_unref(caption->pictures);
}

void
limn_captioned_free(LimnCaptioned *c)
{
    if (!c)
        return;
    g_ptr_array_unref(c->pictures);
    g_hash_table_unref(c->by_text);
    g_array_unref(c->captions);
    g_free(c);
}

// ---- which picture has which caption: a list of (file, caption) pairs

typedef struct {
    GPtrArray *files, *texts;
    LimnJob *job;
} Pairs;

static gboolean
leads_out(const char *file)
{
    g_auto(GStrv) parts = g_strsplit(file, "/", -1);
    return g_path_is_absolute(file) || g_strv_contains((const char *const *) parts, "..");
}

static void
add_pair(Pairs *pairs, const char *file, const char *text)
{
    if (!file || !text || !*file || !*text)
        return;
    if (leads_out(file)) {
        limn_job_diagnose(pairs->job, LIMN_DIAGNOSTIC_WARNING, file,
                          "the name leads out of the folder; it was left out");
        return;
    }
    g_ptr_array_add(pairs->files, g_strdup(file));
    g_ptr_array_add(pairs->texts, g_strdup(text));
}

// The string under the first of two keys that is there.
static const char *
either(const json_t *object, const char *key, const char *other)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : json_string_value(json_object_get(object, other));
}

static gboolean
read_lines(const char *path, Pairs *pairs, GError **error)
{
    g_autoptr(GBytes) bytes = limn_file_map(path, 0, error);
    if (!bytes)
        return FALSE;
    g_autofree char *shown = limn_display_path(path);
    gsize size;
    const char *at = g_bytes_get_data(bytes, &size), *end = at + size;
    for (guint line = 1; at < end; line++) {
        const char *stop = memchr(at, '\n', (gsize) (end - at));
        gsize length = (gsize) ((stop ? stop : end) - at);
        g_autofree char *where = g_strdup_printf("%s line %u", shown, line);
        g_autofree char *text = g_strstrip(g_strndup(at, length));
        if (*text) {
            g_autoptr(json_t) root = limn_json_parse(text, strlen(text), where, error);
            if (!root)
                return FALSE;
            add_pair(pairs, either(root, "file", "file_name"),
                     either(root, "caption", "text"));
        }
        at += length + (stop != NULL);
    }
    return TRUE;
}

static void
add_coco_captions(const json_t *list, GHashTable *files, Pairs *pairs)
{
    for (gsize i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        gint64 id = json_integer_value(json_object_get(entry, "image_id"));
        add_pair(pairs, g_hash_table_lookup(files, &id),
                 json_string_value(json_object_get(entry, "caption")));
    }
}

static gboolean
read_coco(const char *path, Pairs *pairs, GError **error)
{
    g_autoptr(json_t) root = limn_json_load(path, error);
    if (!root)
        return FALSE;
    g_autoptr(GHashTable) files =
        g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    const json_t *images = json_object_get(root, "images");
    for (gsize i = 0; i < json_array_size(images); i++) {
        const json_t *image = json_array_get(images, i);
        const char *file = json_string_value(json_object_get(image, "file_name"));
        gint64 id = json_integer_value(json_object_get(image, "id"));
        if (file)
            g_hash_table_insert(files, g_memdup2(&id, sizeof id),
                                (gpointer) (gsize) file);
    }
    add_coco_captions(json_object_get(root, "captions"), files, pairs);
    add_coco_captions(json_object_get(root, "annotations"), files, pairs);
    return TRUE;
}

static gboolean
read_text_files(const char *folder, Pairs *pairs, GError **error)
{
    g_auto(GStrv) list = limn_picture_list_folder(folder, error);
    for (guint i = 0; list && list[i]; i++) {
        g_autofree char *base = g_path_get_basename(list[i]);
        char *dot = strrchr(list[i], '.');
        if (!dot)
            continue;
        *dot = '\0';
        g_autofree char *path = g_strconcat(list[i], ".txt", NULL);
        if (!limn_file_is_there(path))
            continue;
        g_autoptr(GError) problem = NULL;
        g_autoptr(GBytes) bytes = limn_file_read(path, MAX_TEXT, &problem);
        gsize size = 0;
        const char *data = bytes ? g_bytes_get_data(bytes, &size) : NULL;
        g_autofree char *text = g_strndup(data ? data : "", size);
        if (!bytes || !g_utf8_validate(text, -1, NULL))
            limn_job_diagnose(pairs->job, LIMN_DIAGNOSTIC_WARNING, base, "%s",
                              problem ? problem->message
                                      : "its caption is not valid UTF-8");
        else
            add_pair(pairs, base, g_strstrip(text));
    }
    return list != NULL;
}

static gboolean
find_pairs(const char *folder, Pairs *pairs, GError **error)
{
    static const char *const names[] = {"captions.jsonl", "metadata.jsonl", "coco.json",
                                        "captions.json", "annotations.json"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        if (limn_file_is_there(path))
            return g_str_has_suffix(path, ".jsonl") ? read_lines(path, pairs, error)
                                                    : read_coco(path, pairs, error);
    }
    return read_text_files(folder, pairs, error);
}

// ---- pictures

static LimnImage *
load_picture(const char *path, int size, LimnJob *job, GError **error)
{
    g_autoptr(LimnImage) image = limn_picture_load(path, job, error);
    if (!image)
        return NULL;
    LimnPreprocess clip = {.mode = LIMN_PREPROCESS_CLIP, .size = size, .std = {1, 1, 1}};
    g_autoptr(LimnPreprocessed) done = limn_preprocess(image, &clip, job, error);
    return done ? limn_image_ref(done->image) : NULL;
}

static void
add_caption(LimnCaptioned *c, const char *text, guint picture)
{
    guint index = GPOINTER_TO_UINT(g_hash_table_lookup(c->by_text, text));
    if (!index) {
        Caption caption = {g_strdup(text), g_array_new(FALSE, FALSE, sizeof(guint))};
        g_array_append_val(c->captions, caption);
        index = c->captions->len;
        g_hash_table_insert(c->by_text, caption.text, GUINT_TO_POINTER(index));
    }
    g_array_append_val(g_array_index(c->captions, Caption, index - 1).pictures, picture);
}

static gboolean
load_pairs(LimnCaptioned *c, const char *folder, const Pairs *pairs, LimnJob *job,
           GError **error)
{
    g_autoptr(GHashTable) loaded = g_hash_table_new(g_str_hash, g_str_equal);
    guint64 bytes = (guint64) c->size * (guint64) c->size * 3;
    for (guint i = 0; i < pairs->files->len; i++) {
        const char *file = pairs->files->pdata[i];
        guint picture = GPOINTER_TO_UINT(g_hash_table_lookup(loaded, file));
        limn_job_report(job, "pictures", (double) i / pairs->files->len, "%s", file);
        if (!limn_job_check(job, error))
            return FALSE;
        if (!picture) {
            if ((c->pictures->len + 1) * bytes > MAX_BYTES)
                return limn_error_set_file(error, LIMN_ERROR_MEMORY, folder,
                                           "holds more than %u pictures of %d pixels (%u "
                                           "GiB)",
                                           c->pictures->len, c->size,
                                           (guint) (MAX_BYTES >> 30));
            g_autofree char *path = g_build_filename(folder, file, NULL);
            g_autoptr(GError) problem = NULL;
            LimnImage *image = load_picture(path, c->size, job, &problem);
            if (!image) {
                if (!limn_job_check(job, error))
                    return FALSE;
                limn_job_diagnose(job, LIMN_DIAGNOSTIC_WARNING, file, "%s",
                                  problem->message);
                g_hash_table_insert(loaded, (gpointer) (gsize) file,
                                    GUINT_TO_POINTER(UNREADABLE));
                continue;
            }
            g_ptr_array_add(c->pictures, image);
            picture = c->pictures->len;
            g_hash_table_insert(loaded, (gpointer) (gsize) file,
                                GUINT_TO_POINTER(picture));
        }
        if (picture != UNREADABLE) // said once, however many captions it has
            add_caption(c, pairs->texts->pdata[i], picture - 1);
    }
    return TRUE;
}

LimnCaptioned *
limn_captioned_load(const char *folder, int size, LimnJob *job, GError **error)
{
    g_autoptr(LimnCaptioned) c = g_new0(LimnCaptioned, 1);
    c->size = size;
    c->pictures = g_ptr_array_new_with_free_func((GDestroyNotify) limn_image_unref);
    c->captions = g_array_new(FALSE, FALSE, sizeof(Caption));
    g_array_set_clear_func(c->captions, clear_caption);
    c->by_text = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    Pairs pairs = {files, texts, job};
    if (!find_pairs(folder, &pairs, error) || !load_pairs(c, folder, &pairs, job, error))
        return NULL;
    if (c->captions->len < 2) {
        limn_error_set_file(
            error, LIMN_ERROR_FORMAT, folder,
            "holds too few captioned pictures (found %u captions, expected "
            "at least 2 in captions.jsonl, coco.json or STEM.txt files)",
            c->captions->len);
        return NULL;
    }
    return g_steal_pointer(&c);
}

guint
limn_captioned_n_pictures(LimnCaptioned *captioned)
{
    return captioned->pictures->len;
}

guint
limn_captioned_n_captions(LimnCaptioned *captioned)
{
    return captioned->captions->len;
}

const char *
limn_captioned_get_caption(LimnCaptioned *captioned, guint caption)
{
    return g_array_index(captioned->captions, Caption, caption).text;
}

// ---- source

static char *
source_caption(gpointer data, guint32 name, guint frame)
{
    return g_strdup(limn_captioned_get_caption(data, name));
}

// One of the allowed captions, one of its pictures, mirrored half of the time.
static LimnScene *
source_compose(gpointer data, const LimnSceneOptions *options, guint64 seed,
               guint64 number, GError **error)
{
    LimnCaptioned *c = data;
    LimnRng rng = limn_rng_make(seed, STREAM_PICTURES + number);
    guint32 name = options->names[limn_rng_below(&rng, options->n_names)];
    const Caption *caption = &g_array_index(c->captions, Caption, name);
    guint32 which = limn_rng_below(&rng, caption->pictures->len);
    gboolean mirror = limn_rng_uniform(&rng) < 0.5f;
    LimnImage *picture =
        c->pictures->pdata[g_array_index(caption->pictures, guint, which)];
    g_autoptr(LimnScene) scene = g_new0(LimnScene, 1);
    // Orientation 2 of EXIF is the mirrored picture.
    scene->picture =
        mirror ? limn_image_orient(picture, 2, error) : limn_image_ref(picture);
    if (!scene->picture)
        return NULL;
    scene->n_objects = 1;
    scene->objects[0] = (LimnSceneObject){.name = name, .value = 1};
    scene->n_caption_objects = 1;
    scene->caption = g_strdup(caption->text);
    return g_steal_pointer(&scene);
}

LimnClipSource
limn_captioned_get_source(LimnCaptioned *captioned)
{
    return (LimnClipSource){captioned, captioned->captions->len, 1, source_caption,
                            source_compose};
}
