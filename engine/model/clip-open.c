// SPDX-License-Identifier: GPL-3.0-or-later

// Opening a checkpoint: find its files, its layout and its sizes, and bring together what
// the tensors' shapes and the configuration say. Shapes decide; a configuration that says
// otherwise is an error that names both.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/foreign-weights.h"
#include "engine/model/clip-config.h"
#include "engine/model/clip-load.h"

#define INDEX_SUFFIX ".safetensors.index.json"

static guint64 check_limit = (guint64) 64 << 20;

static const char *const WEIGHT_FILES[] = {
    "model.safetensors",
    "model" INDEX_SUFFIX,
    "open_clip_model.safetensors",
    "open_clip_model" INDEX_SUFFIX,
};

static const char *const FOREIGN_SUFFIXES[] = {
    ".bin", ".pt", ".pth", ".ckpt", ".onnx", ".gguf", ".ggml", ".h5", ".msgpack", ".zip",
};

static gboolean
has_suffix_of(const char *name, const char *const *suffixes, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        if (g_str_has_suffix(name, suffixes[i])) {
            return TRUE;
        }
    }
    return FALSE;
}

static gint
compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static GPtrArray *
list_folder(const char *folder, GError **error)
{
    GError *problem = NULL;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, &problem);
    if (dir == NULL) {
        limn_error_set_file(error, LIMN_ERROR_IO, folder, "cannot be read: %s",
                            problem->message);
        g_error_free(problem);
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    for (const char *name; (name = g_dir_read_name(dir)) != NULL;) {
        g_ptr_array_add(names, g_strdup(name));
    }
    g_ptr_array_sort(names, compare_names);
    return names;
}

// No weights in a folder: says what was found in their place.
static void
no_weights(const char *folder, GPtrArray *names, GError **error)
{
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (has_suffix_of(name, FOREIGN_SUFFIXES, G_N_ELEMENTS(FOREIGN_SUFFIXES))) {
            g_autofree char *path = g_build_filename(folder, name, NULL);
            if (!limn_weights_refuse_foreign(path, NULL, error)) {
                return;
            }
        }
    }
    limn_error_set_file(error, LIMN_ERROR_IO, folder,
                        "no weights were found (expected model.safetensors, "
                        "model.safetensors.index.json or open_clip_model.safetensors)");
}

// The only file of a folder that ends in `suffix`; *n their number.
static char *
only_file(const char *folder, GPtrArray *names, const char *suffix, guint *n)
{
    char *path = NULL;
    *n = 0;
    for (guint i = 0; i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (g_str_has_suffix(name, suffix) && (*n)++ == 0) {
            path = g_build_filename(folder, name, NULL);
        }
    }
    if (*n > 1) {
        g_clear_pointer(&path, g_free);
    }
    return path;
}

static char *
find_weights(const char *folder, GError **error)
{
    g_autoptr(GPtrArray) names = list_folder(folder, error);
    if (names == NULL) {
        return NULL;
    }
    for (gsize i = 0; i < G_N_ELEMENTS(WEIGHT_FILES); i++) {
        g_autofree char *path = g_build_filename(folder, WEIGHT_FILES[i], NULL);
        if (limn_file_is_there(path)) {
            return g_steal_pointer(&path);
        }
    }
    guint n_indices, n_files;
    char *path = only_file(folder, names, INDEX_SUFFIX, &n_indices);
    if (path == NULL && n_indices == 0) {
        path = only_file(folder, names, ".safetensors", &n_files);
        if (path == NULL && n_files > 1) {
            limn_error_set_file(error, LIMN_ERROR_ARGUMENT, folder,
                                "%u files of weights were found and no index that joins "
                                "them; give one of them",
                                n_files);
            return NULL;
        }
    }
    if (path == NULL) {
        no_weights(folder, names, error);
    }
    return path;
}

// What is being opened.
typedef struct {
    LimnClip *clip;
    LimnClipLoader loader;
    LimnClipSettings settings;
    int heads; // as given by the caller
} Opening;

static char *
existing_file(const char *folder, const char *name)
{
    char *path = g_build_filename(folder, name, NULL);
    if (limn_file_is_there(path)) {
        return path;
    }
    g_free(path);
    return NULL;
}

static gboolean
read_hf_settings(Opening *opening, GError **error)
{
    g_autofree char *config = existing_file(opening->clip->folder, "config.json");
    g_autofree char *pre =
        existing_file(opening->clip->folder, "preprocessor_config.json");
    if (config != NULL &&
        !limn_clip_settings_read_hf(&opening->settings, config, error)) {
        return FALSE;
    }
    return pre == NULL ||
           limn_clip_settings_read_preprocessor(&opening->settings, pre, error);
}

static gboolean
read_settings(Opening *opening, GError **error)
{
    g_autofree char *open = existing_file(opening->clip->folder, "open_clip_config.json");
    if (!opening->loader.hf && open != NULL) {
        return limn_clip_settings_read_open_clip(&opening->settings, open, error);
    }
    return read_hf_settings(opening, error);
}

static gboolean
disagree(const Opening *opening, const char *what, gint64 said, const char *prefix,
         const char *name, const LimnTensorInfo *info, GError **error)
{
    g_autofree char *shape = limn_shape_describe(info->rank, info->shape);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                "%s: %s is %" G_GINT64_FORMAT " in %s, which tensor %s%s of shape %s "
                "contradicts",
                opening->loader.file, what, said, opening->settings.file, prefix, name,
                shape);
    return FALSE;
}

// A tensor that gives sizes: must be there and have that rank.
static const LimnTensorInfo *
need_info(Opening *opening, const char *prefix, const char *name, int rank,
          GError **error)
{
    LimnClipLoader *loader = &opening->loader;
    const LimnTensorInfo *info = limn_clip_loader_find(loader, prefix, name);
    if (info == NULL) {
        g_ptr_array_add(opening->clip->report.missing, g_strconcat(prefix, name, NULL));
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: 1 of the model's tensors is missing (%s%s)", loader->file,
                    prefix, name);
        return NULL;
    }
    gboolean sizes_fit = info->rank == rank;
    for (int i = 0; i < info->rank && sizes_fit; i++) {
        sizes_fit = info->shape[i] >= 1 && info->shape[i] <= 1 << 24;
    }
    if (!sizes_fit) {
        g_autofree char *shape = limn_shape_describe(info->rank, info->shape);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: tensor %s has the wrong shape (found %s, expected %d sizes)",
                    info->file, info->name, shape, rank);
        return NULL;
    }
    return info;
}

static gboolean
derive_grid(Opening *opening, GError **error)
{
    LimnClipConfig *config = &opening->clip->config;
    const char *prefix = opening->loader.vision;
    const char *name = opening->loader.hf ? "embeddings.position_embedding.weight"
                                          : "positional_embedding";
    const LimnTensorInfo *info = need_info(opening, prefix, name, 2, error);
    if (info == NULL) {
        return FALSE;
    }
    gint64 patches = info->shape[0] - 1;
    config->grid = (int) lround(sqrt((double) MAX(patches, 0)));
    if (config->grid < 1 || (gint64) config->grid * config->grid != patches) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: tensor %s has the wrong shape (found %" G_GINT64_FORMAT
                    " rows, expected 1 and a square)",
                    info->file, info->name, info->shape[0]);
        return FALSE;
    }
    config->image_size = config->grid * config->patch;
    gint64 said = opening->settings.image_size;
    if (said > 0 && said / config->patch != config->grid) {
        return disagree(opening, "image_size", said, prefix, name, info, error);
    }
    return TRUE;
}

// mlp comes from the first block; the blocks are counted unless the file says how many.
static gboolean
derive_blocks(Opening *opening, gboolean text, const LimnTowerSettings *said,
              LimnTowerConfig *config, GError **error)
{
    LimnClipLoader *loader = &opening->loader;
    int layers = limn_clip_loader_count_blocks(loader, text);
    config->layers = said->layers > 0 ? (int) said->layers : layers;
    g_autofree char *prefix = g_strconcat(
        text ? loader->text : loader->vision,
        loader->hf ? "encoder.layers.0.mlp." : "transformer.resblocks.0.mlp.", NULL);
    const LimnTensorInfo *info =
        need_info(opening, prefix, loader->hf ? "fc1.weight" : "c_fc.weight", 2, error);
    if (info == NULL) {
        return FALSE;
    }
    config->mlp = (int) info->shape[0];
    config->activation = said->activation;
    config->eps = (float) said->eps;
    return TRUE;
}

static gboolean
derive_vision(Opening *opening, GError **error)
{
    LimnClipConfig *config = &opening->clip->config;
    const LimnClipSettings *settings = &opening->settings;
    const char *prefix = opening->loader.vision;
    const char *name =
        opening->loader.hf ? "embeddings.patch_embedding.weight" : "conv1.weight";
    const LimnTensorInfo *info = need_info(opening, prefix, name, 4, error);
    if (info == NULL) {
        return FALSE;
    }
    if (info->shape[1] != 3 || info->shape[2] != info->shape[3] ||
        info->shape[2] > 4096) {
        g_autofree char *shape = limn_shape_describe(info->rank, info->shape);
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: tensor %s has the wrong shape (found %s, expected [width, 3, "
                    "patch, patch])",
                    info->file, info->name, shape);
        return FALSE;
    }
    config->vision.width = (int) info->shape[0];
    config->patch = (int) info->shape[3];
    if (settings->vision.width > 0 && settings->vision.width != info->shape[0]) {
        return disagree(opening, "width", settings->vision.width, prefix, name, info,
                        error);
    }
    if (settings->patch > 0 && settings->patch != info->shape[3]) {
        return disagree(opening, "patch size", settings->patch, prefix, name, info,
                        error);
    }
    return derive_grid(opening, error) &&
           derive_blocks(opening, FALSE, &settings->vision, &config->vision, error);
}

static gboolean
derive_text(Opening *opening, GError **error)
{
    LimnClipConfig *config = &opening->clip->config;
    const LimnClipSettings *settings = &opening->settings;
    const char *prefix = opening->loader.text;
    gboolean hf = opening->loader.hf;
    const char *table =
        hf ? "embeddings.token_embedding.weight" : "token_embedding.weight";
    const char *positions =
        hf ? "embeddings.position_embedding.weight" : "positional_embedding";
    const LimnTensorInfo *ids = need_info(opening, prefix, table, 2, error);
    const LimnTensorInfo *rows =
        ids != NULL ? need_info(opening, prefix, positions, 2, error) : NULL;
    if (rows == NULL) {
        return FALSE;
    }
    config->vocab = (int) ids->shape[0];
    config->text.width = (int) ids->shape[1];
    config->context = (int) rows->shape[0];
    if (settings->text.width > 0 && settings->text.width != ids->shape[1]) {
        return disagree(opening, "text width", settings->text.width, prefix, table, ids,
                        error);
    }
    if (settings->vocab > 0 && settings->vocab != ids->shape[0]) {
        return disagree(opening, "vocabulary size", settings->vocab, prefix, table, ids,
                        error);
    }
    if (settings->context > 0 && settings->context != rows->shape[0]) {
        return disagree(opening, "context length", settings->context, prefix, positions,
                        rows, error);
    }
    config->pool_first_end = settings->end >= 0 && settings->end < config->vocab;
    config->end = config->pool_first_end ? (int) settings->end : -1;
    return derive_blocks(opening, TRUE, &settings->text, &config->text, error);
}

static gboolean
derive_projection(Opening *opening, GError **error)
{
    LimnClipLoader *loader = &opening->loader;
    const char *prefix = loader->hf ? loader->root : loader->vision;
    const char *name = loader->hf ? "visual_projection.weight" : "proj";
    const LimnTensorInfo *info = need_info(opening, prefix, name, 2, error);
    if (info == NULL) {
        return FALSE;
    }
    gint64 size = info->shape[loader->hf ? 0 : 1];
    opening->clip->config.projection = (int) size;
    if (opening->settings.projection > 0 && opening->settings.projection != size) {
        return disagree(opening, "projection size", opening->settings.projection, prefix,
                        name, info, error);
    }
    return TRUE;
}

static gboolean
check_heads(const Opening *opening, const char *tower, int width, gint64 heads,
            GError **error)
{
    if (heads >= 1 && heads <= width && width % heads == 0) {
        return TRUE;
    }
    gboolean given = opening->heads > 0;
    g_set_error(error, LIMN_ERROR, given ? LIMN_ERROR_ARGUMENT : LIMN_ERROR_MISMATCH,
                "%s: the %s tower cannot have %" G_GINT64_FORMAT
                " attention heads (found width %d, expected a multiple of the number of "
                "heads)%s",
                opening->loader.file, tower, heads, width,
                given ? "" : "; give heads= if the configuration is wrong");
    return FALSE;
}

// The rule of OpenAI's models is 64 columns per head.
static gboolean
assume_heads(Opening *opening, GError **error)
{
    LimnClipConfig *config = &opening->clip->config;
    int width = config->vision.width, text_width = config->text.width;
    if (opening->heads == 0 &&
        (width % 64 != 0 || (config->has_text && text_width % 64 != 0))) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "%s: the number of attention heads cannot be derived (found width "
                    "%d and no configuration, expected a multiple of 64); give heads=",
                    opening->loader.file, width % 64 != 0 ? width : config->text.width);
        return FALSE;
    }
    int heads = opening->heads > 0 ? opening->heads : width / 64;
    if (!check_heads(opening, "vision", width, heads, error)) {
        return FALSE;
    }
    config->vision.heads = heads;
    int columns = width / heads;
    config->text.heads =
        config->has_text && text_width % columns == 0 ? text_width / columns : heads;
    opening->clip->report.heads_assumed = TRUE;
    return !config->has_text ||
           check_heads(opening, "text", text_width, config->text.heads, error);
}

// What the configuration says of the vision tower's heads; 0: nothing.
static gboolean
configured_heads(const Opening *opening, gint64 *heads, GError **error)
{
    const LimnTowerSettings *said = &opening->settings.vision;
    int width = opening->clip->config.vision.width;
    *heads = said->heads;
    if (said->head_width == 0) {
        return TRUE;
    }
    *heads = width % said->head_width == 0 ? width / said->head_width : 0;
    if (*heads == 0 && opening->heads == 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: head_width is %" G_GINT64_FORMAT
                    " in %s (found width %d, expected a multiple of it); give heads=",
                    opening->loader.file, said->head_width, opening->settings.file,
                    width);
        return FALSE;
    }
    return TRUE;
}

// The configuration decides; a number given by the caller fills in where it says nothing
// or something impossible.
static gboolean
choose_heads(Opening *opening, GError **error)
{
    LimnClipConfig *config = &opening->clip->config;
    gint64 heads = 0, text_heads = opening->settings.text.heads;
    if (!configured_heads(opening, &heads, error)) {
        return FALSE;
    }
    if (opening->settings.file == NULL) {
        return assume_heads(opening, error);
    }
    gboolean possible = heads > 0 && config->vision.width % heads == 0;
    if (opening->heads > 0 && possible && opening->settings.heads_said &&
        opening->heads != heads) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_ARGUMENT,
                    "heads=%d contradicts %s (found %" G_GINT64_FORMAT
                    " attention heads there)",
                    opening->heads, opening->settings.file, heads);
        return FALSE;
    }
    heads = opening->heads > 0 ? opening->heads : heads;
    config->vision.heads = (int) heads;
    config->text.heads = (int) text_heads;
    return check_heads(opening, "vision", config->vision.width, heads, error) &&
           (!config->has_text ||
            check_heads(opening, "text", config->text.width, text_heads, error));
}

static gboolean
want_vision(Opening *opening, GError **error)
{
    LimnClip *clip = opening->clip;
    LimnClipLoader *loader = &opening->loader;
    const LimnClipConfig *config = &clip->config;
    gint64 width = config->vision.width, p = config->patch;
    gint64 rows = 1 + (gint64) config->grid * config->grid;
    const char *prefix = loader->vision;
    gboolean hf = loader->hf;
    loader->text_now = FALSE;
    clip->vision.config = config->vision;
    return limn_clip_loader_want(loader, prefix,
                                 hf ? "embeddings.class_embedding" : "class_embedding", 1,
                                 &width, &clip->class_token, error) &&
           limn_clip_loader_want(
               loader, prefix, hf ? "embeddings.patch_embedding.weight" : "conv1.weight",
               4, (gint64[]){width, 3, p, p}, &clip->patches, error) &&
           limn_clip_loader_want(
               loader, prefix,
               hf ? "embeddings.position_embedding.weight" : "positional_embedding", 2,
               (gint64[]){rows, width}, &clip->vision_positions, error) &&
           limn_clip_loader_want(loader, prefix,
                                 hf ? "pre_layrnorm.weight" : "ln_pre.weight", 1, &width,
                                 &clip->vision_start.gain, error) &&
           limn_clip_loader_want(loader, prefix, hf ? "pre_layrnorm.bias" : "ln_pre.bias",
                                 1, &width, &clip->vision_start.offset, error) &&
           limn_clip_loader_want(loader, prefix,
                                 hf ? "post_layernorm.weight" : "ln_post.weight", 1,
                                 &width, &clip->vision.final.gain, error) &&
           limn_clip_loader_want(loader, prefix,
                                 hf ? "post_layernorm.bias" : "ln_post.bias", 1, &width,
                                 &clip->vision.final.offset, error) &&
           limn_clip_loader_want_blocks(loader, FALSE, &clip->vision, error);
}

static gboolean
want_projection(Opening *opening, gboolean text, LimnTower *tower, GError **error)
{
    LimnClipLoader *loader = &opening->loader;
    gint64 width = tower->config.width, size = opening->clip->config.projection;
    tower->embedding = (int) size;
    tower->projection_by_row = loader->hf;
    if (loader->hf) {
        return limn_clip_loader_want(
            loader, loader->root,
            text ? "text_projection.weight" : "visual_projection.weight", 2,
            (gint64[]){size, width}, &tower->projection, error);
    }
    return limn_clip_loader_want(loader, text ? loader->text : loader->vision,
                                 text ? "text_projection" : "proj", 2,
                                 (gint64[]){width, size}, &tower->projection, error);
}

static gboolean
want_text(Opening *opening, GError **error)
{
    LimnClip *clip = opening->clip;
    LimnClipLoader *loader = &opening->loader;
    const LimnClipConfig *config = &clip->config;
    gint64 width = config->text.width;
    const char *prefix = loader->text;
    gboolean hf = loader->hf;
    loader->text_now = TRUE;
    clip->text.config = config->text;
    return limn_clip_loader_want(
               loader, prefix,
               hf ? "embeddings.token_embedding.weight" : "token_embedding.weight", 2,
               (gint64[]){config->vocab, width}, &clip->token_table, error) &&
           limn_clip_loader_want(
               loader, prefix,
               hf ? "embeddings.position_embedding.weight" : "positional_embedding", 2,
               (gint64[]){config->context, width}, &clip->text_positions, error) &&
           limn_clip_loader_want(loader, prefix,
                                 hf ? "final_layer_norm.weight" : "ln_final.weight", 1,
                                 &width, &clip->text.final.gain, error) &&
           limn_clip_loader_want(loader, prefix,
                                 hf ? "final_layer_norm.bias" : "ln_final.bias", 1,
                                 &width, &clip->text.final.offset, error) &&
           limn_clip_loader_want_blocks(loader, TRUE, &clip->text, error) &&
           want_projection(opening, TRUE, &clip->text, error);
}

static gboolean
finish_scale(Opening *opening, const float *scale, const float *bias, GError **error)
{
    LimnClip *clip = opening->clip;
    clip->logit_scale = scale != NULL ? expf(*scale) : 1;
    clip->logit_bias = bias != NULL ? *bias : 0;
    clip->config.has_logit_bias = bias != NULL;
    if (!isfinite(clip->logit_scale) || !isfinite(clip->logit_bias)) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_FORMAT,
                    "%s: tensor %s is not finite (found %g, expected the logarithm of a "
                    "factor)",
                    opening->loader.file,
                    isfinite(clip->logit_scale) ? "logit_bias" : "logit_scale",
                    isfinite(clip->logit_scale) ? (double) *bias : (double) *scale);
        return FALSE;
    }
    return TRUE;
}

static gboolean
load_weights(Opening *opening, LimnJob *job, GError **error)
{
    LimnClip *clip = opening->clip;
    LimnClipLoader *loader = &opening->loader;
    const float *scale = NULL, *bias = NULL;
    if (!want_vision(opening, error) ||
        !want_projection(opening, FALSE, &clip->vision, error) ||
        (clip->config.has_text && !want_text(opening, error))) {
        return FALSE;
    }
    loader->text_now = TRUE;
    if (clip->config.has_text &&
        !limn_clip_loader_want(loader, loader->root, "logit_scale", 0, NULL, &scale,
                               error)) {
        return FALSE;
    }
    if (limn_clip_loader_find(loader, loader->root, "logit_bias") != NULL &&
        !limn_clip_loader_want(loader, loader->root, "logit_bias", 0, NULL, &bias,
                               error)) {
        return FALSE;
    }
    if (!limn_clip_loader_load(loader, job, error) ||
        !finish_scale(opening, scale, bias, error)) {
        return FALSE;
    }
    limn_clip_loader_finish(loader, job);
    return TRUE;
}

static gboolean
set_preprocess(Opening *opening, LimnJob *job, GError **error)
{
    LimnClip *clip = opening->clip;
    const LimnClipSettings *settings = &opening->settings;
    LimnPreprocess *preprocess = &clip->preprocess;
    preprocess->mode = LIMN_PREPROCESS_CLIP;
    preprocess->size =
        settings->size > 0 ? (int) settings->size : clip->config.image_size;
    preprocess->patch = clip->config.patch;
    preprocess->bilinear = settings->bilinear;
    preprocess->squash = settings->squash;
    for (int i = 0; i < 3; i++) {
        preprocess->mean[i] = (float) settings->mean[i];
        preprocess->std[i] = (float) settings->std[i];
    }
    if (preprocess->size % clip->config.patch != 0) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                    "%s: pictures of %d pixels do not fit the patches (found size %d, "
                    "expected a multiple of %d)",
                    settings->preprocess_file != NULL ? settings->preprocess_file
                                                      : opening->loader.file,
                    preprocess->size, preprocess->size, clip->config.patch);
        return FALSE;
    }
    if (preprocess->size != clip->config.image_size) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, clip->name,
                          "pictures have %d pixels, the model was trained with %d: "
                          "positions are resampled (bicubic)",
                          preprocess->size, clip->config.image_size);
    }
    return TRUE;
}

// A tower that is not there is told from one of which some tensors are missing.
static void
note_text(Opening *opening)
{
    LimnClip *clip = opening->clip;
    clip->config.has_text = opening->loader.text != NULL;
    clip->config.layout = opening->loader.layout;
    if (!clip->config.has_text) {
        clip->missing_text = g_strdup_printf(
            "%s: there is no text tower (found no %s, expected it for sentences)",
            opening->loader.file,
            opening->loader.hf ? "text_model.embeddings.token_embedding.weight"
                               : "token_embedding.weight");
    }
}

static gboolean
has_tokenizer(const char *folder)
{
    static const char *const names[] = {"tokenizer.json", "vocab.json",
                                        "bpe_simple_vocab_16e6.txt.gz"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = existing_file(folder, names[i]);
        if (path != NULL) {
            return TRUE;
        }
    }
    return FALSE;
}

static void
note_assumptions(Opening *opening, LimnJob *job)
{
    LimnClip *clip = opening->clip;
    clip->config.activation_assumed = opening->settings.file == NULL;
    clip->report.builtin_tokenizer = !has_tokenizer(clip->folder);
    if (opening->settings.file == NULL) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_NOTE, clip->name,
                          "no configuration beside the weights: activation quick GELU, "
                          "%d attention heads (of %d columns)",
                          clip->config.vision.heads,
                          clip->config.vision.width / clip->config.vision.heads);
    }
    if (!clip->config.has_text) {
        limn_job_diagnose(job, LIMN_DIAGNOSTIC_WARNING, clip->name,
                          "the checkpoint has no text tower: pictures can be encoded, "
                          "sentences cannot");
    }
}

void
limn_clip_set_check_limit(guint64 bytes)
{
    check_limit = bytes;
}

// Small models are searched for NaN at once; of large ones the weights are read only when
// they are used, and results show it (limn_clip_check_finite).
static gboolean
check_small(LimnClip *clip, LimnJob *job, GError **error)
{
    if (clip->report.mapped_bytes + clip->report.owned_bytes > check_limit) {
        return TRUE;
    }
    clip->tables_checked = TRUE;
    return limn_clip_check_weights(clip, job, error);
}

static gboolean
open_checkpoint(Opening *opening, LimnJob *job, GError **error)
{
    LimnClip *clip = opening->clip;
    LimnClipConfig *config = &clip->config;
    g_autoptr(LimnSafetensors) weights = limn_safetensors_open(clip->path, error);
    if (weights == NULL || !limn_job_check(job, error)) {
        return FALSE;
    }
    g_autofree char *file = limn_display_path(clip->path);
    if (!limn_clip_loader_init(&opening->loader, weights, file, clip, error) ||
        !read_settings(opening, error)) {
        return FALSE;
    }
    note_text(opening);
    return derive_vision(opening, error) &&
           (!config->has_text || derive_text(opening, error)) &&
           derive_projection(opening, error) && choose_heads(opening, error) &&
           load_weights(opening, job, error) && set_preprocess(opening, job, error) &&
           check_small(clip, job, error) && (note_assumptions(opening, job), TRUE);
}

LimnClip *
limn_clip_open(const char *path, int heads, LimnJob *job, GError **error)
{
    g_autofree char *given =
        path != NULL ? g_strdup(path) : limn_data_path("models/emoji-clip", error);
    if (given == NULL) {
        return NULL;
    }
    gboolean is_folder = g_file_test(given, G_FILE_TEST_IS_DIR);
    g_autofree char *file = is_folder ? find_weights(given, error) : g_strdup(given);
    if (file == NULL) {
        return NULL;
    }
    g_autoptr(LimnClip) clip = limn_clip_new(file, is_folder ? given : file);
    Opening opening = {.clip = clip, .heads = heads};
    limn_clip_settings_init(&opening.settings);
    gboolean done = open_checkpoint(&opening, job, error);
    limn_clip_loader_clear(&opening.loader);
    limn_clip_settings_clear(&opening.settings);
    return done ? g_steal_pointer(&clip) : NULL;
}
