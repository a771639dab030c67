// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/session/samples.h"

#include <jansson.h>
#include <string.h>

void
limn_sample_free(LimnSample *sample)
{
    if (!sample)
        return;
    g_free(sample->title);
    g_free(sample->picture);
    g_free(sample->labels);
    g_strfreev(sample->prompts);
    g_free(sample);
}

// "dog-and-car.json" -> "Dog and car"
static char *
title_from_name(const char *name)
{
    char *title = g_strndup(name, strlen(name) - strlen(".json"));

    g_strdelimit(title, "-_", ' ');
    title[0] = g_ascii_toupper(title[0]);
    return title;
}

// "a dog", "an automobile"
static char *
prompt_for(const char *name)
{
    const char *article = strchr("aeiou", g_ascii_tolower(name[0])) ? "an" : "a";

    return g_strdup_printf("%s %s", article, name);
}

static char *
member_path(const json_t *root, const char *key, const char *folder)
{
    const char *name = json_string_value(json_object_get(root, key));

    return name && !strchr(name, '/') ? g_build_filename(folder, name, NULL) : NULL;
}

static GStrv
read_prompts(const json_t *root)
{
    const json_t *objects = json_object_get(root, "objects");
    g_autoptr(GStrvBuilder) prompts = g_strv_builder_new();

    for (gsize i = 0; i < json_array_size(objects); i++) {
        const json_t *object = json_array_get(objects, i);
        const char *name = json_string_value(json_object_get(object, "name"));

        if (name && *name) {
            g_autofree char *prompt = prompt_for(name);

            g_strv_builder_add(prompts, prompt);
        }
    }
    return g_strv_builder_end(prompts);
}

static LimnSample *
read_sample(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    json_t *root = json_load_file(path, 0, NULL);
    LimnSample *sample = NULL;
    g_autofree char *picture = root ? member_path(root, "picture", folder) : NULL;

    if (picture) {
        sample = g_new0(LimnSample, 1);
        sample->title = title_from_name(name);
        sample->picture = g_steal_pointer(&picture);
        sample->labels = member_path(root, "labels", folder);
        sample->prompts = read_prompts(root);
    }
    json_decref(root);
    return sample;
}

LimnSample *
limn_sample_of_picture(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *file = g_path_get_basename(path);
    const char *dot = strrchr(file, '.');
    g_autofree char *stem = g_strndup(file, dot ? (gsize) (dot - file) : strlen(file));
    g_autofree char *name = g_strconcat(stem, ".json", NULL);
    g_autofree char *description = g_build_filename(folder, name, NULL);
    if (!g_file_test(description, G_FILE_TEST_IS_REGULAR))
        return NULL;

    g_autoptr(LimnSample) sample = read_sample(folder, name);
    g_autofree char *described = sample ? g_path_get_basename(sample->picture) : NULL;
    if (g_strcmp0(described, file) != 0 || !sample->prompts[0])
        return NULL;
    return g_steal_pointer(&sample);
}

static int
compare_titles(gconstpointer a, gconstpointer b)
{
    const LimnSample *p = *(LimnSample *const *) a, *q = *(LimnSample *const *) b;

    return strcmp(p->title, q->title);
}

GPtrArray *
limn_samples_list(const char *folder)
{
    GPtrArray *samples =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_sample_free);
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir))) {
        LimnSample *sample =
            g_str_has_suffix(name, ".json") ? read_sample(folder, name) : NULL;

        if (sample)
            g_ptr_array_add(samples, sample);
    }
    g_ptr_array_sort(samples, compare_titles);
    return samples;
}
