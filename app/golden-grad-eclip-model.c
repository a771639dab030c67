// SPDX-License-Identifier: GPL-3.0-or-later

// case_NAME/: a model in two layouts, its inputs, and for every key of
// expected.safetensors the value that the engine computes (golden layout, section
// grad_eclip). The key says what is wanted: it is taken apart and computed on its own.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/json.h"
#include "engine/io/safetensors.h"
#include "golden-clip-case.h"
#include "golden-grad-eclip.h"

#define TOLERANCE LIMN_MAX(1e-5)
#define SCALAR_TOLERANCE LIMN_ABS(1e-5)

static gboolean
is_known_file(const char *path, gpointer data)
{
    static const char *const known[] = {
        "hf/config.json",
        "hf/preprocessor_config.json",
        "hf/model.safetensors",
        "hf/model_f16.safetensors",
        "openclip/open_clip_config.json",
        "openclip/open_clip_model.safetensors",
        "inputs.safetensors",
        "expected.safetensors",
        "expected.json",
        NULL,
    };
    return g_strv_contains(known, path);
}

// Compares one key and remembers that it was seen.
static void
compare_key(LimnClipCase *c, const char *key)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) expected = limn_safetensors_get(c->expected, key, &error);
    if (expected == NULL) {
        limn_golden_fail_error(c->golden, key, &error);
        return;
    }
    if (strcmp(key, "rise.masks") == 0) { // an input, used by the other two
        return;
    }
    if (expected->dtype != LIMN_DTYPE_F32 && expected->dtype != LIMN_DTYPE_F64) {
        limn_golden_fail(c->golden, key, "wrong type (found %s, expected f32)",
                         limn_dtype_name(expected->dtype));
        return;
    }
    g_autoptr(LimnArray) x = limn_clip_case_compute(c, key, &error);
    if (x == NULL) {
        limn_golden_fail_error(c->golden, key, &error);
        return;
    }
    limn_golden_compare(c->golden, key, expected, x, TOLERANCE);
}

static void
compare_keys(LimnClipCase *c)
{
    for (guint i = 0; i < limn_safetensors_n_tensors(c->expected); i++) {
        compare_key(c, limn_safetensors_get_info(c->expected, i)->name);
    }
}

// FAIL for every key that the layout asks for and the file does not have.
static void need_key(LimnClipCase *c, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void
need_key(LimnClipCase *c, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    g_autofree char *key = g_strdup_vprintf(format, args);
    va_end(args);
    if (limn_safetensors_find(c->expected, key) == NULL) {
        limn_golden_fail(c->golden, key, "missing key");
    }
}

static void
need_keys(LimnClipCase *c, const char *prefix, const char *const *keys)
{
    for (; *keys != NULL; keys++) {
        need_key(c, "%s%s", prefix, *keys);
    }
}

static void
need_model_keys(LimnClipCase *c)
{
    static const char *const always[] = {
        "image_features",
        "text_features",
        "image_embeds",
        "text_embeds",
        "cosine",
        "logits_per_image",
        "probs_per_image",
        "keep.positional_embedding",
        "keep.image_features",
        "rise.masks",
        "rise.cosine",
        "rise.map",
        NULL,
    };
    static const char *const surgery[] = {
        "features_raw",
        "toknorm.similarity",
        "toknorm.maps_norm",
        "toknorm.single_minus_redundant",
        "chnorm.similarity",
        "chnorm.maps_norm",
        "chnorm.single_minus_redundant",
        NULL,
    };
    need_keys(c, "", always);
    g_autofree char *prefix = g_strdup_printf("surgery.img%d.", c->surgery_image);
    need_keys(c, prefix, surgery);
    const LimnClipConfig *config = limn_clip_get_config(c->clip);
    for (int l = 0; l <= config->vision.layers; l++) {
        need_key(c, "vision.hidden.%d", l);
        if (l < config->vision.layers) {
            need_key(c, "vision.attn.%d", l);
        }
    }
    for (int l = 0; l <= config->text.layers; l++) {
        need_key(c, "text%d.hidden.%d", c->hidden_text, l);
        if (l < config->text.layers) {
            need_key(c, "text%d.attn.%d", c->hidden_text, l);
        }
    }
    if (c->has_f16) {
        need_key(c, "f16.image_features");
        need_key(c, "f16.text_features");
    }
}

static void
need_group_keys(LimnClipCase *c, const char *group)
{
    static const char *const image_all[] = {"raw.map", "out.map", NULL};
    static const char *const image_one[] = {
        "raw.cos_qk",    "raw.w_spatial", "raw.signed", "out.cos_qk",
        "out.w_spatial", "out.signed",    "grad_cls",   "noksim.map",
        "gradcam.map",   "selfattn.map",  NULL,
    };
    static const char *const image_sh[] = {"maskclip.map", NULL};
    static const char *const image_mh[] = {"game_last.map", "game_all.map",
                                           "rollout_last.map", "rollout_all.map", NULL};
    static const char *const text_all[] = {"raw.token_map", "out.token_map", NULL};
    static const char *const text_one[] = {
        "raw.cos_qk", "raw.w_spatial",      "raw.signed",
        "out.cos_qk", "out.w_spatial",      "out.signed",
        "grad_eos",   "selfattn.token_map", NULL,
    };
    static const char *const text_mh[] = {"game_last.row", "game_all.row", NULL};
    static const char *const padded[] = {"raw.token_map", NULL};
    g_autofree char *prefix = g_strconcat(group, ".", NULL);
    gboolean image = g_str_has_prefix(group, "image."),
             one = g_str_has_suffix(group, ".n1");
    gboolean single = strstr(group, ".sh.") != NULL;
    if (!image && !g_str_has_prefix(group, "text.")) {
        need_keys(c, prefix, padded);
        return;
    }
    need_keys(c, prefix, image ? image_all : text_all);
    if (one) {
        need_keys(c, prefix, image ? image_one : text_one);
        if (image) {
            need_keys(c, prefix, single ? image_sh : image_mh);
        } else if (!single) {
            need_keys(c, prefix, text_mh);
        }
    }
    // norm and resized may be missing where the map is all zero.
    for (int i = 0; image && one && i < 2; i++) {
        g_autofree char *key = g_strconcat(prefix, i == 0 ? "raw.map" : "out.map", NULL);
        if (!limn_clip_case_is_zero(c, key)) {
            need_key(c, "%s%s", prefix, i == 0 ? "raw.norm" : "out.norm");
            need_key(c, "%s%s", prefix, i == 0 ? "raw.resized" : "out.resized");
        }
    }
}

// "image.img0.t1.mh.n2" of "image.img0.t1.mh.n2.raw.map"; NULL when the key is no such.
static char *
group_of(const char *key)
{
    if (!g_str_has_prefix(key, "image.") && !g_str_has_prefix(key, "text.") &&
        !g_str_has_prefix(key, "text_eotpad.") &&
        !g_str_has_prefix(key, "text_validonly.")) {
        return NULL;
    }
    g_auto(GStrv) parts = g_strsplit(key, ".", 6);
    return g_strv_length(parts) == 6
               ? g_strjoin(".", parts[0], parts[1], parts[2], parts[3], parts[4], NULL)
               : NULL;
}

static void
need_scalar(LimnClipCase *c, const char *group, const char *name)
{
    g_autofree char *key = g_strconcat(group, name, NULL);
    if (json_object_get(c->scalars, key) == NULL) {
        g_autofree char *shown = g_strconcat("scalars.", key, NULL);
        limn_golden_fail(c->golden, shown, "missing key");
    }
}

static void
need_groups(LimnClipCase *c)
{
    g_autoptr(GHashTable) groups =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint i = 0; i < limn_safetensors_n_tensors(c->expected); i++) {
        char *group = group_of(limn_safetensors_get_info(c->expected, i)->name);
        if (group != NULL) {
            g_hash_table_add(groups, group);
        }
    }
    g_autoptr(GList) names = g_hash_table_get_keys(groups);
    names = g_list_sort(names, (GCompareFunc) strcmp);
    for (GList *l = names; l != NULL; l = l->next) {
        const char *group = l->data;
        need_group_keys(c, group);
        if (g_str_has_prefix(group, "image.") || g_str_has_prefix(group, "text.")) {
            need_scalar(c, group, ".score");
        }
        if (g_str_has_prefix(group, "text.")) {
            need_scalar(c, group, ".raw.sum");
            need_scalar(c, group, ".out.sum");
        }
    }
}

static void
compare_scalars(LimnClipCase *c)
{
    const char *key;
    json_t *value;
    json_object_foreach(c->scalars, key, value)
    {
        g_autoptr(GError) error = NULL;
        g_autofree char *shown = g_strconcat("scalars.", key, NULL);
        double x = 0;
        if (!json_is_number(value)) {
            limn_golden_fail(c->golden, shown, "wrong type (expected a number)");
        } else if (!limn_clip_case_compute_scalar(c, key, &x, &error)) {
            limn_golden_fail_error(c->golden, shown, &error);
        } else {
            limn_golden_compare_number(c->golden, shown, json_number_value(value), x,
                                       SCALAR_TOLERANCE);
        }
    }
}

static void
compare_end_rows(LimnClipCase *c)
{
    gsize n = json_array_size(c->end_rows);
    if (!json_is_array(c->end_rows) || n != c->n_texts) {
        limn_golden_fail(c->golden, "eot_index",
                         "wrong size (found %" G_GSIZE_FORMAT
                         " entries, expected %" G_GSIZE_FORMAT ")",
                         n, c->n_texts);
        return;
    }
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) e =
        limn_array_new(LIMN_DTYPE_I64, 1, (gint64[]){(gint64) n}, &error);
    g_autoptr(LimnArray) x =
        limn_array_new(LIMN_DTYPE_I64, 1, (gint64[]){(gint64) n}, &error);
    for (gsize i = 0; i < n && e != NULL && x != NULL; i++) {
        json_t *value = json_array_get(c->end_rows, i);
        limn_array_i64(e)[i] = json_is_integer(value) ? json_integer_value(value) : -1;
        limn_array_i64(x)[i] = (gint64) limn_clip_case_end_row(c, i);
    }
    limn_golden_compare(c->golden, "eot_index", e, x, LIMN_EXACT);
}

void
limn_golden_clip_model(LimnGolden *golden, const char *folder, const char *name)
{
    g_autoptr(GError) error = NULL;
    limn_golden_skip_unknown(golden, folder, name, is_known_file, NULL);
    limn_golden_begin(golden, name);
    LimnClipCase *c = limn_clip_case_open(golden, folder, &error);
    if (c == NULL) {
        limn_golden_fail_error(golden, "case", &error);
        return;
    }
    limn_clip_case_compare_layouts(c);
    need_model_keys(c);
    need_groups(c);
    compare_keys(c);
    compare_end_rows(c);
    compare_scalars(c);
    limn_clip_case_free(c);
}
