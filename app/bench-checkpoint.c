// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/bench-checkpoint.h"

#include <string.h>

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/io/safetensors.h"

#define VOCAB 49408
#define CONTEXT 77

const LimnBenchModel limn_bench_models[LIMN_BENCH_N_MODELS] = {
    {"ViT-B/32", 224, 32, 768, 12, 12, 512, 12, 8, 512},
    {"ViT-B/16", 224, 16, 768, 12, 12, 512, 12, 8, 512},
    {"ViT-L/14", 224, 14, 1024, 24, 16, 768, 12, 12, 768},
};

// Every tensor is a window onto the same numbers, so that writing needs the memory of the
// largest only. Windows begin at different places.
typedef struct {
    GBytes *noise, *ones;
    gsize n_noise; // floats
    guint n_windows;
    GPtrArray *names; // char *
    GPtrArray *arrays;
    GError *error;
} Content;

static GBytes *
make_noise(gsize n, float scale)
{
    float *noise = g_try_new(float, n);
    guint64 state = 0x9e3779b97f4a7c15;
    for (gsize i = 0; noise != NULL && i < n; i++) {
        state = state * 6364136223846793005 + 1442695040888963407;
        noise[i] = ((float) (guint32) (state >> 32) * 0x1p-31f - 1) * scale;
    }
    return noise != NULL ? g_bytes_new_take(noise, n * sizeof *noise) : NULL;
}

static void
content_init(Content *content, gsize largest)
{
    float one[8192];
    for (guint i = 0; i < G_N_ELEMENTS(one); i++) {
        one[i] = 1;
    }
    content->n_noise = largest + 65536;
    content->noise = make_noise(content->n_noise, 0.035f); // deviation 0.02
    content->ones = g_bytes_new(one, sizeof one);
    content->names = g_ptr_array_new_with_free_func(g_free);
    content->arrays = g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
}

static void
content_clear(Content *content)
{
    g_clear_pointer(&content->noise, g_bytes_unref);
    g_clear_pointer(&content->ones, g_bytes_unref);
    g_clear_pointer(&content->names, g_ptr_array_unref);
    g_clear_pointer(&content->arrays, g_ptr_array_unref);
    g_clear_error(&content->error);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Content, content_clear)

static void
add(Content *content, gboolean ones, int rank, const gint64 *shape, char *name)
{
    gsize offset = ones ? 0 : (gsize) (content->n_windows++ * 7919 % 65536) / 16 * 64;
    LimnArray *array =
        content->error == NULL
            ? limn_array_new_from_bytes(LIMN_DTYPE_F32, rank, shape,
                                        ones ? content->ones : content->noise, offset,
                                        &content->error)
            : NULL;
    if (array != NULL) {
        g_ptr_array_add(content->names, g_steal_pointer(&name));
        g_ptr_array_add(content->arrays, array);
    }
    g_free(name);
}

static void
add_norm(Content *content, const char *prefix, const char *name, gint64 width)
{
    add(content, TRUE, 1, &width, g_strconcat(prefix, name, ".weight", NULL));
    add(content, FALSE, 1, &width, g_strconcat(prefix, name, ".bias", NULL));
}

static void
add_affine(Content *content, const char *prefix, const char *name, gint64 in, gint64 out)
{
    const gint64 shape[] = {out, in};
    add(content, FALSE, 2, shape, g_strconcat(prefix, name, ".weight", NULL));
    add(content, FALSE, 1, &out, g_strconcat(prefix, name, ".bias", NULL));
}

static void
add_blocks(Content *content, const char *tower, int layers, gint64 width)
{
    const char *const maps[] = {"self_attn.q_proj", "self_attn.k_proj",
                                "self_attn.v_proj", "self_attn.out_proj"};
    for (int layer = 0; layer < layers; layer++) {
        g_autofree char *prefix = g_strdup_printf("%s.encoder.layers.%d.", tower, layer);
        add_norm(content, prefix, "layer_norm1", width);
        for (guint i = 0; i < G_N_ELEMENTS(maps); i++) {
            add_affine(content, prefix, maps[i], width, width);
        }
        add_norm(content, prefix, "layer_norm2", width);
        add_affine(content, prefix, "mlp.fc1", width, 4 * width);
        add_affine(content, prefix, "mlp.fc2", 4 * width, width);
    }
}

static void
add_matrix(Content *content, const char *name, gint64 rows, gint64 columns)
{
    const gint64 shape[] = {rows, columns};
    add(content, FALSE, 2, shape, g_strdup(name));
}

static void
add_tensors(Content *content, const LimnBenchModel *m)
{
    const gint64 width = m->width, grid = m->image / m->patch;
    const gint64 patches[] = {width, 3, m->patch, m->patch};
    add(content, TRUE, 0, NULL, g_strdup("logit_scale"));
    add(content, FALSE, 1, &width, g_strdup("vision_model.embeddings.class_embedding"));
    add(content, FALSE, 4, patches,
        g_strdup("vision_model.embeddings.patch_embedding.weight"));
    add_matrix(content, "vision_model.embeddings.position_embedding.weight",
               1 + grid * grid, width);
    add_norm(content, "vision_model.", "pre_layrnorm", width);
    add_blocks(content, "vision_model", m->layers, width);
    add_norm(content, "vision_model.", "post_layernorm", width);
    add_matrix(content, "visual_projection.weight", m->projection, width);
    add_matrix(content, "text_model.embeddings.token_embedding.weight", VOCAB,
               m->text_width);
    add_matrix(content, "text_model.embeddings.position_embedding.weight", CONTEXT,
               m->text_width);
    add_blocks(content, "text_model", m->text_layers, m->text_width);
    add_norm(content, "text_model.", "final_layer_norm", m->text_width);
    add_matrix(content, "text_projection.weight", m->projection, m->text_width);
}

static gboolean
save_config(const LimnBenchModel *m, const char *folder, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "config.json", NULL);
    g_autofree char *text = g_strdup_printf(
        "{\"model_type\": \"clip\", \"projection_dim\": %d,\n"
        " \"text_config\": {\"hidden_size\": %d, \"num_hidden_layers\": %d,"
        " \"num_attention_heads\": %d, \"intermediate_size\": %d, \"vocab_size\": %d,"
        " \"max_position_embeddings\": %d, \"hidden_act\": \"quick_gelu\"},\n"
        " \"vision_config\": {\"hidden_size\": %d, \"num_hidden_layers\": %d,"
        " \"num_attention_heads\": %d, \"intermediate_size\": %d, \"image_size\": %d,"
        " \"patch_size\": %d, \"hidden_act\": \"quick_gelu\"}}\n",
        m->projection, m->text_width, m->text_layers, m->text_heads, 4 * m->text_width,
        VOCAB, CONTEXT, m->width, m->layers, m->heads, 4 * m->width, m->image, m->patch);
    return limn_file_write(path, text, strlen(text), error);
}

static gboolean
save_weights(const Content *content, const char *folder, GError **error)
{
    g_autofree char *path = g_build_filename(folder, "model.safetensors", NULL);
    g_autofree LimnTensorEntry *entries = g_new(LimnTensorEntry, content->names->len);
    for (guint i = 0; i < content->names->len; i++) {
        entries[i] = (LimnTensorEntry){g_ptr_array_index(content->names, i),
                                       g_ptr_array_index(content->arrays, i)};
    }
    return limn_safetensors_save(path, entries, content->names->len, NULL, error);
}

static gboolean
fill_content(Content *content, const LimnBenchModel *model, GError **error)
{
    content_init(content, (gsize) VOCAB * (gsize) model->text_width);
    if (content->noise == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory to make a checkpoint of %s", model->name);
        return FALSE;
    }
    add_tensors(content, model);
    if (content->error != NULL) {
        g_propagate_error(error, g_steal_pointer(&content->error));
        return FALSE;
    }
    return TRUE;
}

char *
limn_bench_write_checkpoint(const LimnBenchModel *model, LimnJob *job, GError **error)
{
    g_auto(Content) content = {0};
    g_autoptr(GError) cause = NULL;
    if (!limn_job_check(job, error) || !fill_content(&content, model, error)) {
        return NULL;
    }
    g_autofree char *folder = g_dir_make_tmp("limn-bench-XXXXXX", &cause);
    if (folder == NULL) {
        limn_error_set_file(error, LIMN_ERROR_OUTPUT, g_get_tmp_dir(), "%s",
                            cause->message);
        return NULL;
    }
    if (!save_config(model, folder, error) || !save_weights(&content, folder, error)) {
        limn_remove_tree(folder, NULL);
        return NULL;
    }
    return g_steal_pointer(&folder);
}

LimnImage *
limn_bench_make_picture(int width, int height, GError **error)
{
    LimnImage *image =
        limn_image_new(width, height, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, error);
    if (image == NULL) {
        return NULL;
    }
    guint8 *at = image->data;
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++, at += 3) {
            int wave = (x % 128 - 64) * (y % 202 - 101) / 64;
            at[0] = (guint8) (128 + wave);
            at[1] = (guint8) (x * 255 / width);
            at[2] = (guint8) ((x ^ y) & 255);
        }
    }
    return image;
}
