// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/clip-config.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/io/json.h"

#define MAX_SIZE 65536
#define MAX_VOCAB (1 << 24)

static const double CLIP_MEAN[3] = {0.48145466, 0.4578275, 0.40821073};
static const double CLIP_STD[3] = {0.26862954, 0.26130258, 0.27577711};

void
limn_clip_settings_init(LimnClipSettings *settings)
{
    memset(settings, 0, sizeof *settings);
    settings->vision.eps = settings->text.eps = 1e-5;
    settings->vision.activation = settings->text.activation = LIMN_ACTIVATION_QUICK_GELU;
    settings->end = -1;
    memcpy(settings->mean, CLIP_MEAN, sizeof CLIP_MEAN);
    memcpy(settings->std, CLIP_STD, sizeof CLIP_STD);
}

void
limn_clip_settings_clear(LimnClipSettings *settings)
{
    g_clear_pointer(&settings->file, g_free);
    g_clear_pointer(&settings->preprocess_file, g_free);
}

static gboolean
unsupported(GError **error, const char *file, const char *what)
{
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                "%s: %s (expected a CLIP with two transformer towers)", file, what);
    return FALSE;
}

static gboolean
read_activation(const LimnJson *json, LimnTowerSettings *tower, GError **error)
{
    const char *name = "quick_gelu";
    if (!limn_json_read_string(json, "hidden_act", &name, error)) {
        return FALSE;
    }
    if (strcmp(name, "quick_gelu") == 0) {
        tower->activation = LIMN_ACTIVATION_QUICK_GELU;
    } else if (strcmp(name, "gelu") == 0) {
        tower->activation = LIMN_ACTIVATION_GELU;
    } else {
        g_autofree char *what = g_strdup_printf(
            "activation \"%s\" is not supported (quick_gelu and gelu are)", name);
        return unsupported(error, json->file, what);
    }
    return TRUE;
}

static gboolean
read_hf_tower(const LimnJson *json, LimnTowerSettings *tower, GError **error)
{
    return limn_json_read_int(json, "hidden_size", 1, MAX_SIZE, &tower->width, error) &&
           limn_json_read_int(json, "num_hidden_layers", 1, 1024, &tower->layers,
                              error) &&
           limn_json_read_int(json, "intermediate_size", 1, 1 << 20, &tower->mlp,
                              error) &&
           limn_json_read_int(json, "num_attention_heads", 1, MAX_SIZE, &tower->heads,
                              error) &&
           limn_json_read_double(json, "layer_norm_eps", 1e-12, 1, &tower->eps, error) &&
           read_activation(json, tower, error);
}

static gboolean
read_hf_vision(const LimnJson *json, LimnClipSettings *settings, GError **error)
{
    gint64 channels = 3;
    settings->heads_said = limn_json_has(json, "num_attention_heads");
    if (!read_hf_tower(json, &settings->vision, error) ||
        !limn_json_read_int(json, "image_size", 1, MAX_SIZE, &settings->image_size,
                            error) ||
        !limn_json_read_int(json, "patch_size", 1, MAX_SIZE, &settings->patch, error) ||
        !limn_json_read_int(json, "num_channels", 1, MAX_SIZE, &channels, error)) {
        return FALSE;
    }
    if (channels != 3) {
        g_autofree char *what =
            g_strdup_printf("pictures of %" G_GINT64_FORMAT
                            " channels are not supported (found num_channels)",
                            channels);
        return unsupported(error, json->file, what);
    }
    return TRUE;
}

// Old configurations say 2, whatever the token table holds; the library then takes the
// row of the highest id.
static gboolean
read_hf_text(const LimnJson *json, LimnClipSettings *settings, GError **error)
{
    gint64 end = 49407;
    if (!read_hf_tower(json, &settings->text, error) ||
        !limn_json_read_int(json, "vocab_size", 1, MAX_VOCAB, &settings->vocab, error) ||
        !limn_json_read_int(json, "max_position_embeddings", 1, MAX_SIZE,
                            &settings->context, error) ||
        !limn_json_read_int(json, "eos_token_id", -1, MAX_VOCAB, &end, error)) {
        return FALSE;
    }
    settings->end = end == 2 ? -1 : end;
    return TRUE;
}

// Towers of a Hugging Face configuration stand under `key`, in old files also or only
// under `key`_dict, which then wins.
static gboolean
read_hf_part(const LimnJson *root, const char *key, LimnClipSettings *settings,
             gboolean (*read)(const LimnJson *, LimnClipSettings *, GError **),
             GError **error)
{
    g_autofree char *old = g_strconcat(key, "_dict", NULL);
    const char *names[] = {key, old};
    for (int i = 0; i < 2; i++) {
        LimnJson part;
        if (limn_json_has(root, names[i]) &&
            (!limn_json_need_object(root, names[i], &part, error) ||
             !read(&part, settings, error))) {
            return FALSE;
        }
    }
    return TRUE;
}

// Defaults of CLIPVisionConfig and CLIPTextConfig for what no tensor tells.
static void
set_hf_defaults(LimnClipSettings *settings)
{
    settings->vision.heads = 12;
    settings->text.heads = 8;
    settings->end = 49407;
}

static gboolean
check_model_type(const char *type, const char *file, GError **error)
{
    static const char *const known[] = {"clip", "clip_vision_model", "clip_text_model",
                                        "clip_model", NULL};
    if (g_strv_contains(known, type)) {
        return TRUE;
    }
    g_autofree char *what =
        g_strdup_printf("models of type \"%s\" are not supported", type);
    return unsupported(error, file, what);
}

gboolean
limn_clip_settings_read_hf(LimnClipSettings *settings, const char *path, GError **error)
{
    g_autoptr(json_t) root = limn_json_load_object(path, error);
    g_autofree char *file = limn_display_path(path);
    LimnJson json;
    const char *type = NULL;
    if (root == NULL || !limn_json_root(root, file, &json, error) ||
        !limn_json_read_string(&json, "model_type", &type, error)) {
        return FALSE;
    }
    gboolean has_parts = limn_json_has(&json, "vision_config") ||
                         limn_json_has(&json, "text_config") ||
                         limn_json_has(&json, "vision_config_dict");
    if (type == NULL && !has_parts) {
        return TRUE; // something else that is called config.json
    }
    if (type != NULL && !check_model_type(type, file, error)) {
        return FALSE;
    }
    set_hf_defaults(settings);
    if (g_strcmp0(type, "clip_vision_model") == 0 && !has_parts &&
        !read_hf_vision(&json, settings, error)) {
        return FALSE;
    }
    if (!limn_json_read_int(&json, "projection_dim", 1, MAX_SIZE, &settings->projection,
                            error) ||
        !read_hf_part(&json, "vision_config", settings, read_hf_vision, error) ||
        !read_hf_part(&json, "text_config", settings, read_hf_text, error)) {
        return FALSE;
    }
    settings->file = g_steal_pointer(&file);
    return TRUE;
}

// A size is a number or an object with shortest_edge or with height and width.
// *both: both sides are given, so that the picture is squashed.
static gboolean
read_size(const LimnJson *json, const char *key, gint64 *size, gboolean *both,
          GError **error)
{
    json_t *value = json_object_get(json->value, key);
    *both = FALSE;
    if (value == NULL || json_is_null(value)) {
        return TRUE;
    }
    if (!json_is_object(value)) {
        return limn_json_read_int(json, key, 1, MAX_SIZE, size, error);
    }
    LimnJson part;
    if (!limn_json_need_object(json, key, &part, error)) {
        return FALSE;
    }
    if (limn_json_has(&part, "shortest_edge")) {
        return limn_json_need_int(&part, "shortest_edge", 1, MAX_SIZE, size, error);
    }
    gint64 height = 0, width = 0;
    if (!limn_json_need_int(&part, "height", 1, MAX_SIZE, &height, error) ||
        !limn_json_need_int(&part, "width", 1, MAX_SIZE, &width, error)) {
        return FALSE;
    }
    if (height != width) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: %s is %" G_GINT64_FORMAT " x %" G_GINT64_FORMAT
                    " (expected a square)",
                    json->file, key, width, height);
        return FALSE;
    }
    *size = width;
    *both = TRUE;
    return TRUE;
}

static gboolean
read_sizes(const LimnJson *json, LimnClipSettings *settings, GError **error)
{
    gint64 size = 0, crop = 0;
    gboolean both, crop_both, resizes = TRUE, crops = TRUE;
    if (!read_size(json, "size", &size, &both, error) ||
        !read_size(json, "crop_size", &crop, &crop_both, error) ||
        !limn_json_read_bool(json, "do_resize", &resizes, error) ||
        !limn_json_read_bool(json, "do_center_crop", &crops, error)) {
        return FALSE;
    }
    if (!crops) {
        crop = both ? size : 0;
    }
    if (!resizes || (!crops && !both)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: pictures are not %s (expected do_resize and do_center_crop)",
                    json->file, resizes ? "cropped" : "resized");
        return FALSE;
    }
    if (size > 0 && crop > 0 && size != crop) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: resizing to %" G_GINT64_FORMAT
                    " and cropping to another size is not supported (found crop_size "
                    "%" G_GINT64_FORMAT ", expected %" G_GINT64_FORMAT ")",
                    json->file, size, crop, size);
        return FALSE;
    }
    settings->size = MAX(size, crop);
    settings->squash = both;
    return TRUE;
}

static gboolean
read_channel_values(const LimnJson *json, const char *mean, const char *std,
                    LimnClipSettings *settings, GError **error)
{
    if (!limn_json_read_doubles(json, mean, settings->mean, 3, error) ||
        !limn_json_read_doubles(json, std, settings->std, 3, error)) {
        return FALSE;
    }
    for (int i = 0; i < 3; i++) {
        if (!(settings->std[i] > 0) || !isfinite(settings->mean[i])) {
            return limn_json_fail(json, std, error,
                                  "is not positive in channel %d (found %g)", i,
                                  settings->std[i]);
        }
    }
    return TRUE;
}

gboolean
limn_clip_settings_read_preprocessor(LimnClipSettings *settings, const char *path,
                                     GError **error)
{
    g_autoptr(json_t) root = limn_json_load_object(path, error);
    g_autofree char *file = limn_display_path(path);
    LimnJson json;
    gint64 resample = 3;
    double factor = 1 / 255.0;
    if (root == NULL || !limn_json_root(root, file, &json, error) ||
        !read_sizes(&json, settings, error) ||
        !limn_json_read_int(&json, "resample", 0, 100, &resample, error) ||
        !limn_json_read_double(&json, "rescale_factor", 0, 1e6, &factor, error) ||
        !read_channel_values(&json, "image_mean", "image_std", settings, error)) {
        return FALSE;
    }
    if (resample != 2 && resample != 3) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: resampling filter %" G_GINT64_FORMAT
                    " is not supported (expected 2, bilinear, or 3, bicubic)",
                    file, resample);
        return FALSE;
    }
    if (fabs(factor * 255 - 1) > 1e-6) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: rescale_factor %g is not supported (expected 1/255)", file,
                    factor);
        return FALSE;
    }
    settings->bilinear = resample == 2;
    settings->preprocess_file = g_steal_pointer(&file);
    return TRUE;
}

// Members that change the computation in a way that is not supported.
static gboolean
refuse_members(const LimnJson *json, const char *const *names, GError **error)
{
    for (; *names != NULL; names++) {
        json_t *value = json_object_get(json->value, *names);
        if (value == NULL || json_is_null(value) || json_is_false(value) ||
            (json_is_number(value) && json_number_value(value) == 0)) {
            continue;
        }
        g_autofree char *what =
            g_strdup_printf("%s.%s is not supported", json->path, *names);
        return unsupported(error, json->file, what);
    }
    return TRUE;
}

// norm_kwargs.eps and act_kwargs of a tower.
static gboolean
read_open_clip_tower(const LimnJson *json, LimnTowerSettings *tower, GError **error)
{
    static const char *const refused[] = {"ls_init_value", "act_kwargs",  "qk_norm",
                                          "scaled_cosine", "scale_heads", NULL};
    LimnJson norm;
    return refuse_members(json, refused, error) &&
           limn_json_read_int(json, "width", 1, MAX_SIZE, &tower->width, error) &&
           limn_json_read_int(json, "layers", 1, 1024, &tower->layers, error) &&
           (!limn_json_has(json, "norm_kwargs") ||
            (limn_json_need_object(json, "norm_kwargs", &norm, error) &&
             limn_json_read_double(&norm, "eps", 1e-12, 1, &tower->eps, error)));
}

// image_size and patch_size may be pairs.
static gboolean
read_square(const LimnJson *json, const char *key, gint64 *size, GError **error)
{
    json_t *value = json_object_get(json->value, key);
    if (!json_is_array(value)) {
        return limn_json_read_int(json, key, 1, MAX_SIZE, size, error);
    }
    double pair[2] = {0, 0};
    if (!limn_json_read_doubles(json, key, pair, 2, error)) {
        return FALSE;
    }
    if (pair[0] != pair[1] || !(pair[0] >= 1 && pair[0] <= MAX_SIZE)) {
        return limn_json_fail(json, key, error, "is no square (found %g x %g)", pair[1],
                              pair[0]);
    }
    *size = (gint64) pair[0];
    return TRUE;
}

static gboolean
read_open_clip_vision(const LimnJson *model, LimnClipSettings *settings, GError **error)
{
    static const char *const refused[] = {"attentional_pool",    "global_average_pool",
                                          "no_ln_pre",           "input_patchnorm",
                                          "final_ln_after_pool", NULL};
    LimnJson json;
    const char *pool = "tok";
    if (!limn_json_need_object(model, "vision_cfg", &json, error)) {
        return FALSE;
    }
    if (limn_json_has(&json, "timm_model_name")) {
        return unsupported(error, json.file, "timm vision towers are not supported");
    }
    if (json_is_array(json_object_get(json.value, "layers"))) {
        return unsupported(error, json.file, "ResNet vision towers are not supported");
    }
    settings->vision.head_width = 64;
    settings->heads_said = limn_json_has(&json, "head_width");
    if (!refuse_members(&json, refused, error) ||
        !read_open_clip_tower(&json, &settings->vision, error) ||
        !limn_json_read_int(&json, "head_width", 1, MAX_SIZE,
                            &settings->vision.head_width, error) ||
        !read_square(&json, "image_size", &settings->image_size, error) ||
        !read_square(&json, "patch_size", &settings->patch, error) ||
        !limn_json_read_string(&json, "pool_type", &pool, error)) {
        return FALSE;
    }
    if (strcmp(pool, "tok") != 0) {
        return unsupported(error, json.file,
                           "vision_cfg.pool_type other than \"tok\" is not supported");
    }
    return TRUE;
}

static gboolean
read_open_clip_text(const LimnJson *model, LimnClipSettings *settings, GError **error)
{
    static const char *const refused[] = {"embed_cls", "no_causal_mask", "proj_bias",
                                          NULL};
    LimnJson json;
    const char *pool = "argmax";
    if (!limn_json_need_object(model, "text_cfg", &json, error)) {
        return FALSE;
    }
    if (limn_json_has(&json, "hf_model_name")) {
        return unsupported(error, json.file,
                           "text towers of other libraries are not supported "
                           "(found text_cfg.hf_model_name)");
    }
    settings->text.heads = 8;
    gint64 end = 49407;
    if (!refuse_members(&json, refused, error) ||
        !read_open_clip_tower(&json, &settings->text, error) ||
        !limn_json_read_int(&json, "heads", 1, MAX_SIZE, &settings->text.heads, error) ||
        !limn_json_read_int(&json, "vocab_size", 1, MAX_VOCAB, &settings->vocab, error) ||
        !limn_json_read_int(&json, "context_length", 1, MAX_SIZE, &settings->context,
                            error) ||
        !limn_json_read_int(&json, "eos_id", 0, MAX_VOCAB, &end, error) ||
        !limn_json_read_string(&json, "pool_type", &pool, error)) {
        return FALSE;
    }
    if (strcmp(pool, "eos") == 0) {
        settings->end = end;
    } else if (strcmp(pool, "argmax") != 0) {
        return unsupported(
            error, json.file,
            "text_cfg.pool_type other than \"argmax\" and \"eos\" is not supported");
    }
    return TRUE;
}

static gboolean
read_open_clip_preprocess(const LimnJson *root, LimnClipSettings *settings,
                          GError **error)
{
    LimnJson json;
    const char *filter = "bicubic", *mode = "shortest";
    if (!limn_json_has(root, "preprocess_cfg")) {
        return TRUE;
    }
    if (!limn_json_need_object(root, "preprocess_cfg", &json, error) ||
        !read_square(&json, "size", &settings->size, error) ||
        !limn_json_read_string(&json, "interpolation", &filter, error) ||
        !limn_json_read_string(&json, "resize_mode", &mode, error) ||
        !read_channel_values(&json, "mean", "std", settings, error)) {
        return FALSE;
    }
    gboolean cubic = strcmp(filter, "bicubic") == 0 || strcmp(filter, "random") == 0;
    if (!cubic && strcmp(filter, "bilinear") != 0) {
        return limn_json_fail(&json, "interpolation", error,
                              "is \"%s\" (expected bicubic or bilinear)", filter);
    }
    if (strcmp(mode, "shortest") != 0 && strcmp(mode, "squash") != 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "%s: preprocess_cfg.resize_mode \"%s\" is not supported (expected "
                    "shortest or squash)",
                    json.file, mode);
        return FALSE;
    }
    settings->bilinear = !cubic;
    settings->squash = strcmp(mode, "squash") == 0;
    settings->preprocess_file = g_strdup(json.file);
    return TRUE;
}

gboolean
limn_clip_settings_read_open_clip(LimnClipSettings *settings, const char *path,
                                  GError **error)
{
    g_autoptr(json_t) root = limn_json_load_object(path, error);
    g_autofree char *file = limn_display_path(path);
    LimnJson json, model;
    gboolean quick = FALSE;
    if (root == NULL || !limn_json_root(root, file, &json, error) ||
        !limn_json_need_object(&json, "model_cfg", &model, error)) {
        return FALSE;
    }
    if (limn_json_has(&model, "multimodal_cfg")) {
        return unsupported(error, file, "CoCa models are not supported");
    }
    if (!limn_json_read_bool(&model, "quick_gelu", &quick, error) ||
        !limn_json_read_int(&model, "embed_dim", 1, MAX_SIZE, &settings->projection,
                            error) ||
        !read_open_clip_vision(&model, settings, error) ||
        !read_open_clip_text(&model, settings, error) ||
        !read_open_clip_preprocess(&json, settings, error)) {
        return FALSE;
    }
    settings->vision.activation = settings->text.activation =
        quick ? LIMN_ACTIVATION_QUICK_GELU : LIMN_ACTIVATION_GELU;
    settings->file = g_steal_pointer(&file);
    return TRUE;
}
