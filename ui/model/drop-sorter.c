// SPDX-License-Identifier: GPL-3.0-or-later
#include "limn-config.h"

#include "ui/model/drop-sorter.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/image/image-mask.h"
#include "engine/io/foreign-weights.h"
#include "engine/io/picture.h"
#include "engine/io/study-folder.h"
#include "engine/text/prompts.h"

#include <errno.h>
#include <glib/gi18n-lib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_MASK_VALUES 64
#define MAX_MASK_PIXELS ((gint64) 1 << 28)

void
limn_drop_free(LimnDrop *drop)
{
    if (!drop)
        return;
    g_free(drop->path);
    g_free(drop->reason);
    g_clear_pointer(&drop->prompts, g_ptr_array_unref);
    g_free(drop);
}

static const char *const mask_endings[] = {"_labels", "-labels", "_label",
                                           "_mask",   "-mask",   "_masks",
                                           "_seg",    "_gt",     "_segmentation"};

static gboolean
strip_mask_ending(char *stem)
{
    for (gsize i = 0; i < G_N_ELEMENTS(mask_endings); i++) {
        gsize n = strlen(stem), k = strlen(mask_endings[i]);

        if (n > k && g_ascii_strcasecmp(stem + n - k, mask_endings[i]) == 0) {
            stem[n - k] = 0;
            return TRUE;
        }
    }
    return FALSE;
}

static char *
name_without_extension(const char *path)
{
    char *name = g_path_get_basename(path);
    char *dot = strrchr(name, '.');

    if (dot && dot != name)
        *dot = 0;
    return name;
}

char *
limn_drop_stem(const char *path)
{
    char *stem = name_without_extension(path);

    strip_mask_ending(stem);
    return stem;
}

static void
unknown(LimnDrop *drop, const char *reason)
{
    drop->kind = LIMN_DROP_UNKNOWN;
    g_free(drop->reason);
    drop->reason = g_strdup(reason);
}

static gboolean
has_file(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);

    return g_file_test(path, G_FILE_TEST_EXISTS);
}

static gboolean
has_weights(const char *folder)
{
    g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
    const char *name;

    while (dir && (name = g_dir_read_name(dir)))
        if (g_str_has_suffix(name, ".safetensors") ||
            g_str_has_suffix(name, ".safetensors.index.json"))
            return TRUE;
    return FALSE;
}

static void
sort_folder(LimnDrop *drop)
{
    g_autoptr(GError) error = NULL;
    g_auto(GStrv) pictures = NULL;

    if (limn_study_folder_is(drop->path))
        drop->kind = LIMN_DROP_STUDY;
    else if (has_file(drop->path, "study.json"))
        drop->kind = LIMN_DROP_RECIPE;
    else if (has_weights(drop->path) || has_file(drop->path, "open_clip_config.json") ||
             (has_file(drop->path, "config.json") &&
              has_file(drop->path, "preprocessor_config.json")))
        drop->kind = LIMN_DROP_MODEL;
    else {
        drop->kind = LIMN_DROP_FOLDER;
        pictures = limn_picture_list_folder(drop->path, &error);
        if (!pictures)
            unknown(drop, error->message);
    }
}

// A label map has one sample per pixel and few values, and was stored without loss.
static gboolean
is_label_map(const char *path, const LimnPictureInfo *info)
{
    g_autoptr(LimnImage) image = NULL;
    LimnMaskReport report;

    if ((g_strcmp0(info->format, "PNG") != 0 && g_strcmp0(info->format, "TIFF") != 0) ||
        (gint64) info->width * info->height > MAX_MASK_PIXELS)
        return FALSE;
    image = limn_picture_load(path, NULL, NULL);
    if (!image || image->depth == LIMN_DEPTH_F32 ||
        (image->pixels != LIMN_PIXELS_INDEXED && image->pixels != LIMN_PIXELS_GREY))
        return FALSE;
    if (limn_image_looks_like_lossy_mask(image, &report))
        return FALSE;
    return report.n_values <= MAX_MASK_VALUES;
}

static gboolean
sort_picture(LimnDrop *drop, GError **error)
{
    LimnPictureInfo info;

    if (!limn_picture_probe(drop->path, &info, error))
        return FALSE;
    drop->width = info.width;
    drop->height = info.height;
    drop->kind = is_label_map(drop->path, &info) ? LIMN_DROP_MASK : LIMN_DROP_PICTURE;
    return TRUE;
}

static gboolean
sort_prompts(LimnDrop *drop, GError **error)
{
    g_auto(GStrv) prompts = limn_prompts_load(drop->path, error);

    if (!prompts)
        return FALSE;
    drop->kind = LIMN_DROP_PROMPTS;
    drop->prompts = g_ptr_array_new_with_free_func(g_free);
    for (char **prompt = prompts; *prompt; prompt++)
        g_ptr_array_add(drop->prompts, g_strdup(*prompt));
    return TRUE;
}

static void
sort_file(LimnDrop *drop)
{
    g_autofree char *name = g_path_get_basename(drop->path);
    g_autoptr(GError) error = NULL;

    if (g_str_has_suffix(name, ".safetensors") ||
        g_str_has_suffix(name, ".safetensors.index.json")) {
        drop->kind = LIMN_DROP_MODEL;
        if (!limn_weights_refuse_foreign(drop->path, NULL, &error))
            unknown(drop, error->message);
    } else if (g_str_equal(name, "study.json") || g_str_equal(name, "result.json")) {
        char *folder = g_path_get_dirname(drop->path);

        g_free(drop->path);
        drop->path = folder;
        sort_folder(drop);
    } else if (g_str_has_suffix(name, ".txt")) {
        if (!sort_prompts(drop, &error))
            unknown(drop, error->message);
    } else if (limn_picture_has_extension(name)) {
        if (!sort_picture(drop, &error))
            unknown(drop, error->message);
    } else if (!sort_picture(drop, NULL)) { // the name may say nothing or lie
        g_autofree char *shown = limn_display_path(drop->path);
        g_autofree char *reason = g_strdup_printf(
            _("%s: this is no picture, mask, checkpoint, study or list of sentences"),
            shown);

        unknown(drop, limn_weights_refuse_foreign(drop->path, NULL, &error)
                          ? reason
                          : error->message);
    }
}

LimnDrop *
limn_drop_sort(const char *path)
{
    LimnDrop *drop = g_new0(LimnDrop, 1);
    g_autofree char *stem = name_without_extension(path);
    struct stat info;

    drop->path = limn_absolute_path(path);
    drop->named_like_mask = strip_mask_ending(stem);
    if (stat(path, &info) != 0) {
        g_autoptr(GError) error = NULL;

        limn_error_set_errno(&error, LIMN_ERROR_IO, path, "cannot be opened", errno);
        unknown(drop, error->message);
    } else if (S_ISDIR(info.st_mode)) {
        sort_folder(drop);
    } else if (S_ISREG(info.st_mode)) {
        sort_file(drop);
    } else {
        g_autofree char *shown = limn_display_path(path);
        g_autofree char *reason =
            g_strdup_printf(_("%s: this is neither a file nor a folder"), shown);

        unknown(drop, reason);
    }
    return drop;
}
