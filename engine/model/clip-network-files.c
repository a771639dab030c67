// SPDX-License-Identifier: GPL-3.0-or-later

// A trained CLIP as a folder in the Hugging Face layout, and back.

#include "engine/model/clip-network.h"

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/image/resample.h"
#include "engine/io/safetensors.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

// ---- loading

// FALSE when the table is not that of a square grid of the same width.
static gboolean
resize_positions(const LimnParameterInfo *info, LimnArray *stored, float *target)
{
    gint64 rows = stored->rank == 2 ? stored->shape[0] : 0;
    int from = (int) lround(sqrt((double) MAX(rows - 1, 0)));
    int to = (int) lround(sqrt((double) (info->dim[0] - 1)));
    if (rows < 2 || (gint64) from * from != rows - 1 || stored->shape[1] != info->dim[1])
        return FALSE;
    memcpy(target, limn_array_f32(stored), (gsize) info->dim[1] * sizeof(float));
    limn_resize_positions(limn_array_f32(stored) + info->dim[1], from, (int) info->dim[1],
                          target + info->dim[1], to, to, FALSE);
    return TRUE;
}

static gboolean
load_parameter(LimnClipNetwork *network, LimnSafetensors *st, const char *path, int index,
               GError **error)
{
    LimnParameters *parameters = limn_clip_network_get_parameters(network);
    const LimnParameterInfo *info = limn_parameters_get_info(parameters, index);
    g_autoptr(LimnArray) raw = limn_safetensors_get(st, info->name, error);
    g_autoptr(LimnArray) stored = raw ? limn_array_to_f32(raw, error) : NULL;
    if (!stored)
        return FALSE;
    float *target = limn_parameters_get_values(parameters, index);
    if (limn_array_has_shape(stored, info->rank, info->dim)) {
        memcpy(target, limn_array_f32(stored), (gsize) info->length * sizeof(float));
        return TRUE;
    }
    if (strstr(info->name, "vision_model.embeddings.position_embedding") &&
        resize_positions(info, stored, target))
        return TRUE;
    g_autofree char *found = limn_array_describe_shape(stored);
    g_autofree char *expected = limn_shape_describe(info->rank, info->dim);
    return limn_error_set_file(error, LIMN_ERROR_MISMATCH, path,
                               "tensor '%s' has another shape (found %s, expected %s)",
                               info->name, found, expected);
}

gboolean
limn_clip_network_load(LimnClipNetwork *network, const char *folder, LimnJob *job,
                       GError **error)
{
    g_autofree char *path = g_build_filename(folder, "model.safetensors", NULL);
    g_autoptr(LimnSafetensors) st = limn_safetensors_open(path, error);
    if (!st)
        return FALSE;
    guint n = limn_parameters_get_n(limn_clip_network_get_parameters(network));
    for (guint i = 0; i < n; i++)
        if (!limn_job_check(job, error) ||
            !load_parameter(network, st, path, (int) i, error))
            return FALSE;
    return TRUE;
}

// ---- saving

// Matrices as float16 when asked for; vectors stay float32.
static LimnArray *
parameter_array(LimnParameters *parameters, int index, gboolean half, GError **error)
{
    const LimnParameterInfo *info = limn_parameters_get_info(parameters, index);
    const float *values = limn_parameters_get_values(parameters, index);
    gboolean narrow = half && info->rank >= 2;
    LimnArray *array = limn_array_new(narrow ? LIMN_DTYPE_F16 : LIMN_DTYPE_F32,
                                      info->rank, info->dim, error);
    for (gint64 i = 0; array && i < info->length; i++)
        if (narrow)
            ((guint16 *) array->data)[i] = limn_float_to_half(values[i]);
        else
            limn_array_f32(array)[i] = values[i];
    return array;
}

static gboolean
save_weights(LimnClipNetwork *network, gboolean half, const char *path, GError **error)
{
    LimnParameters *parameters = limn_clip_network_get_parameters(network);
    guint n = limn_parameters_get_n(parameters);
    g_autoptr(GPtrArray) arrays =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    g_autofree LimnTensorEntry *entries = g_new0(LimnTensorEntry, n);
    for (guint i = 0; i < n; i++) {
        LimnArray *array = parameter_array(parameters, (int) i, half, error);
        if (!array)
            return FALSE;
        g_ptr_array_add(arrays, array);
        entries[i] =
            (LimnTensorEntry){limn_parameters_get_info(parameters, (int) i)->name, array};
    }
    const char *metadata[] = {"format", "pt", NULL};
    return limn_safetensors_save(path, entries, n, metadata, error);
}

static gboolean
save_json(json_t *value, const char *folder, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    char *text =
        value ? json_dumps(value, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) : NULL;
    json_decref(value);
    if (!text) // a number that is not finite
        return limn_error_set_file(error, LIMN_ERROR_OUTPUT, path,
                                   "the settings cannot be written as JSON");
    gboolean ok = limn_file_write(path, text, strlen(text), error);
    free(text);
    return ok;
}

static json_t *
tower_config(const char *type, int width, int layers, int heads, int mlp, int projection)
{
    return json_pack("{s:s, s:s, s:f, s:i, s:i, s:i, s:i, s:i}", "model_type", type,
                     "hidden_act", "quick_gelu", "layer_norm_eps", 1e-5,
                     "num_attention_heads", heads, "hidden_size", width,
                     "intermediate_size", mlp, "num_hidden_layers", layers,
                     "projection_dim", projection);
}

static json_t *
model_config(const LimnClipShape *s)
{
    json_t *vision = tower_config("clip_vision_model", s->vision_width, s->vision_layers,
                                  s->vision_heads, s->vision_mlp, s->projection);
    json_object_set_new(vision, "image_size", json_integer(s->image_size));
    json_object_set_new(vision, "patch_size", json_integer(s->patch));
    json_object_set_new(vision, "num_channels", json_integer(3));
    json_t *text = tower_config("clip_text_model", s->text_width, s->text_layers,
                                s->text_heads, s->text_mlp, s->projection);
    json_object_set_new(text, "vocab_size", json_integer(s->vocab));
    json_object_set_new(text, "max_position_embeddings", json_integer(s->context));
    json_object_set_new(text, "bos_token_id", json_integer(s->vocab - 2));
    json_object_set_new(text, "eos_token_id", json_integer(s->vocab - 1));
    json_object_set_new(text, "pad_token_id", json_integer(s->vocab - 1));
    return json_pack("{s:[s], s:s, s:i, s:f, s:o, s:o}", "architectures", "CLIPModel",
                     "model_type", "clip", "projection_dim", s->projection,
                     "logit_scale_init_value", 2.6592, "vision_config", vision,
                     "text_config", text);
}

static json_t *
preprocessor_config(const LimnClipShape *s, const LimnClipFiles *files)
{
    return json_pack("{s:b, s:{s:i}, s:b, s:{s:i, s:i}, s:b, s:f, s:b, s:[f,f,f], "
                     "s:[f,f,f], s:i, s:b}",
                     "do_resize", 1, "size", "shortest_edge", s->image_size,
                     "do_center_crop", 1, "crop_size", "height", s->image_size, "width",
                     s->image_size, "do_rescale", 1, "rescale_factor", 1.0 / 255,
                     "do_normalize", 1, "image_mean", (double) files->mean[0],
                     (double) files->mean[1], (double) files->mean[2], "image_std",
                     (double) files->std[0], (double) files->std[1],
                     (double) files->std[2], "resample", 3, "do_convert_rgb", 1);
}

static json_t *
tokenizer_config(const LimnClipShape *s)
{
    return json_pack("{s:i, s:s, s:s, s:s, s:s, s:b, s:s}", "model_max_length",
                     s->context, "bos_token", "<|startoftext|>", "eos_token",
                     "<|endoftext|>", "pad_token", "<|endoftext|>", "unk_token",
                     "<|endoftext|>", "do_lower_case", 1, "tokenizer_class",
                     "CLIPTokenizer");
}

static gboolean
save_bytes(GBytes *bytes, const char *folder, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    gsize size;
    const void *data = g_bytes_get_data(bytes, &size);
    return limn_file_write(path, data, size, error);
}

gboolean
limn_clip_network_save(LimnClipNetwork *network, const LimnClipFiles *files,
                       const char *folder, GError **error)
{
    const LimnClipShape *shape = limn_clip_network_get_shape(network);
    g_autofree char *weights = g_build_filename(folder, "model.safetensors", NULL);
    return limn_make_directory(folder, error) &&
           save_bytes(files->vocab, folder, "vocab.json", error) &&
           save_bytes(files->merges, folder, "merges.txt", error) &&
           save_json(tokenizer_config(shape), folder, "tokenizer_config.json", error) &&
           save_json(preprocessor_config(shape, files), folder,
                     "preprocessor_config.json", error) &&
           save_json(model_config(shape), folder, "config.json", error) &&
           save_weights(network, files->half, weights, error);
}
