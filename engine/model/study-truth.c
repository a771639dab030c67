// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/study-truth.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/image/image-mask.h"
#include "engine/image/map-metrics.h"
#include "engine/io/json.h"
#include "engine/io/picture.h"

#include <string.h>

void
limn_truth_free(LimnTruth *truth)
{
    if (truth == NULL) {
        return;
    }
    g_free(truth->path);
    g_clear_pointer(&truth->mask, limn_image_unref);
    g_clear_pointer(&truth->values, g_array_unref);
    g_strfreev(truth->names);
    g_free(truth);
}

// ---- finding the label map

static char *
stem_of(const char *path)
{
    g_autofree char *base = g_path_get_basename(path);
    char *dot = strrchr(base, '.');
    return dot != NULL && dot != base ? g_strndup(base, (gsize) (dot - base))
                                      : g_steal_pointer(&base);
}

static char *
find_in_folder(const char *folder, const char *stem, gboolean plain_name)
{
    static const char *const endings[] = {"_labels", "_mask", ""};
    static const char *const extensions[] = {"png", "tif",  "tiff", "webp",
                                             "jpg", "jpeg", "PNG"};
    guint n = plain_name ? G_N_ELEMENTS(endings) : G_N_ELEMENTS(endings) - 1;
    for (guint i = 0; i < n; i++) {
        for (guint k = 0; k < G_N_ELEMENTS(extensions); k++) {
            g_autofree char *name =
                g_strdup_printf("%s%s.%s", stem, endings[i], extensions[k]);
            char *path = g_build_filename(folder, name, NULL);
            if (limn_file_is_there(path)) {
                return path;
            }
            g_free(path);
        }
    }
    return NULL;
}

// ---- NAME.json

static gboolean
read_object(LimnTruth *truth, GStrvBuilder *names, const LimnJson *root, gsize i,
            GError **error)
{
    LimnJson entry;
    gint64 value = 0;
    const char *name = NULL;
    if (!limn_json_need_element(root, "objects", i, &entry, error) ||
        !limn_json_need_int(&entry, "value", 0, G_MAXUINT32, &value, error) ||
        !limn_json_need_string(&entry, "name", &name, error)) {
        return FALSE;
    }
    g_array_append_val(truth->values, value);
    g_strv_builder_add(names, name);
    return TRUE;
}

// A JSON file of another kind says nothing.
static gboolean
read_names(LimnTruth *truth, const char *path, const char *folder, GError **error)
{
    if (!limn_file_is_there(path)) {
        return TRUE;
    }
    g_autoptr(json_t) value = limn_json_load(path, error);
    if (value == NULL) {
        return FALSE;
    }
    json_t *objects = json_object_get(value, "objects");
    LimnJson root;
    const char *labels = NULL;
    if (!json_is_array(objects) || !limn_json_root(value, path, &root, NULL)) {
        return TRUE;
    }
    g_autoptr(GStrvBuilder) names = g_strv_builder_new();
    for (gsize i = 0; i < json_array_size(objects); i++) {
        if (!read_object(truth, names, &root, i, error)) {
            return FALSE;
        }
    }
    g_strfreev(truth->names);
    truth->names = g_strv_builder_end(names);
    if (!limn_json_read_string(&root, "labels", &labels, error)) {
        return FALSE;
    }
    if (labels != NULL && strchr(labels, '/') == NULL && truth->path == NULL) {
        truth->path = g_build_filename(folder, labels, NULL);
    }
    return TRUE;
}

// ---- the label map

static gboolean
load_mask(LimnTruth *truth, const char *picture_path, LimnImage *picture, LimnJob *job,
          GError **error)
{
    truth->mask = limn_picture_load(truth->path, job, error);
    if (truth->mask == NULL) {
        return FALSE;
    }
    LimnImage *mask = truth->mask;
    if ((mask->pixels != LIMN_PIXELS_GREY && mask->pixels != LIMN_PIXELS_INDEXED) ||
        mask->depth == LIMN_DEPTH_F32) {
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, truth->path,
                                   "is no label map (found colours, expected a palette "
                                   "or grey picture of label numbers)");
    }
    LimnMaskReport report;
    if (limn_image_looks_like_lossy_mask(mask, &report)) {
        g_autofree char *text = limn_mask_report_describe(&report);
        return limn_error_set_file(error, LIMN_ERROR_FORMAT, truth->path,
                                   "looks like a label map that was compressed with "
                                   "loss (%s)",
                                   text);
    }
    return limn_mask_check_size(truth->path, mask->width, mask->height, picture_path,
                                picture->width, picture->height, error);
}

LimnTruth *
limn_truth_load(const char *picture_path, LimnImage *picture, const char *mask,
                LimnJob *job, GError **error)
{
    g_autoptr(LimnTruth) truth = g_new0(LimnTruth, 1);
    truth->values = g_array_new(FALSE, FALSE, sizeof(gint64));
    truth->names = g_new0(char *, 1);
    g_autofree char *folder = g_path_get_dirname(picture_path);
    g_autofree char *stem = stem_of(picture_path);
    g_autofree char *json_name = g_strconcat(stem, ".json", NULL);
    g_autofree char *json_path = g_build_filename(folder, json_name, NULL);
    if (mask != NULL && g_file_test(mask, G_FILE_TEST_IS_DIR)) {
        truth->path = find_in_folder(mask, stem, TRUE);
        if (truth->path == NULL) {
            limn_error_set_file(error, LIMN_ERROR_IO, mask,
                                "has no label map for %s (expected %s.png, "
                                "%s_labels.png or %s_mask.png)",
                                stem, stem, stem, stem);
            return NULL;
        }
    } else {
        truth->path = g_strdup(mask);
    }
    if (!read_names(truth, json_path, folder, error)) {
        return NULL;
    }
    if (truth->path == NULL) {
        truth->path = find_in_folder(folder, stem, FALSE);
    }
    if (truth->path != NULL && !load_mask(truth, picture_path, picture, job, error)) {
        return NULL;
    }
    return g_steal_pointer(&truth);
}

// ---- pixels

static guint32
sample(const LimnImage *mask, gsize i)
{
    switch (mask->depth) {
    case LIMN_DEPTH_U8:
        return ((const guint8 *) mask->data)[i];
    case LIMN_DEPTH_U16:
        return ((const guint16 *) mask->data)[i];
    default:
        return ((const guint32 *) mask->data)[i];
    }
}

static gsize
n_pixels(const LimnImage *mask)
{
    return (gsize) mask->width * (gsize) mask->height;
}

gboolean
limn_truth_has_value(const LimnTruth *truth, gint64 value)
{
    for (gsize i = 0; truth->mask != NULL && i < n_pixels(truth->mask); i++) {
        if (sample(truth->mask, i) == value) {
            return TRUE;
        }
    }
    return FALSE;
}

// Nothing but 0 and `ignore`.
static gboolean
is_binary(const LimnImage *mask, gint64 ignore)
{
    for (gsize i = 0; i < n_pixels(mask); i++) {
        guint32 value = sample(mask, i);
        if (value != 0 && value != ignore) {
            return FALSE;
        }
    }
    return TRUE;
}

guint8 *
limn_truth_select(const LimnTruth *truth, gint64 value, gint64 ignore, gboolean *binary,
                  GError **error)
{
    const LimnImage *mask = truth->mask;
    gsize n = n_pixels(mask);
    guint8 *out = g_try_malloc(n);
    if (out == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory for a mask of %" G_GSIZE_FORMAT " pixels", n);
        return NULL;
    }
    *binary = ignore > 0 && is_binary(mask, ignore);
    for (gsize i = 0; i < n; i++) {
        gint64 found = sample(mask, i);
        if (found == ignore && !*binary && value != ignore) {
            out[i] = LIMN_MASK_LEFT_OUT;
        } else {
            gboolean object = value < 0 ? found != 0 : found == value;
            out[i] = object ? LIMN_MASK_OBJECT : LIMN_MASK_BACKGROUND;
        }
    }
    return out;
}
