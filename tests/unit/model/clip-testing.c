// SPDX-License-Identifier: GPL-3.0-or-later

#include "clip-testing.h"

#include <math.h>
#include <string.h>

#include "engine/base/rng.h"
#include "engine/io/safetensors.h"
#include "tests/unit/loader-test.h"

const TestClipSizes TEST_CLIP_SIZES = {
    .width = 32,
    .layers = 3,
    .heads = 4,
    .mlp = 80,
    .patch = 4,
    .grid = 4,
    .text_width = 24,
    .text_layers = 2,
    .text_heads = 3,
    .text_mlp = 60,
    .vocab = 40,
    .context = 12,
    .projection = 16,
};

static guint64
hash_name(const char *name)
{
    guint64 hash = 1469598103934665603u;
    for (; *name != '\0'; name++) {
        hash = (hash ^ (guint8) *name) * 1099511628211u;
    }
    return hash;
}

// Values depend on the tensor's meaning alone, so that layouts get the same.
static void
fill(LimnArray *array, const char *meaning, float centre, float spread)
{
    LimnRng rng = limn_rng_make(3, hash_name(meaning));
    for (gint64 i = 0; i < array->length; i++) {
        limn_array_f32(array)[i] = centre + spread * limn_rng_normal(&rng);
    }
}

static LimnArray *
add(TestCheckpoint *c, const char *name, const char *meaning, int rank,
    const gint64 *shape, float centre, float spread)
{
    g_autoptr(GError) error = NULL;
    LimnArray *array = limn_array_new(LIMN_DTYPE_F32, rank, shape, &error);
    g_assert_no_error(error);
    fill(array, meaning, centre, spread);
    g_ptr_array_add(c->names, g_strdup(name));
    g_ptr_array_add(c->arrays, array);
    return array;
}

static void
add_pair(TestCheckpoint *c, const char *prefix, const char *name, const char *meaning,
         gint64 out, gint64 in)
{
    g_autofree char *weight = g_strconcat(prefix, name, ".weight", NULL);
    g_autofree char *bias = g_strconcat(prefix, name, ".bias", NULL);
    g_autofree char *weight_meaning = g_strconcat(meaning, ".w", NULL);
    g_autofree char *bias_meaning = g_strconcat(meaning, ".b", NULL);
    if (in == 0) { // norm
        add(c, weight, weight_meaning, 1, &out, 1, 0.2f);
    } else {
        add(c, weight, weight_meaning, 2, (gint64[]){out, in}, 0,
            1.2f / sqrtf((float) in));
    }
    add(c, bias, bias_meaning, 1, &out, 0, 0.1f);
}

// q, k and v one below the other, as OpenCLIP stores them.
static void
add_fused(TestCheckpoint *c, const char *prefix, const char *meaning, gint64 width)
{
    g_autofree char *weight = g_strconcat(prefix, "attn.in_proj_weight", NULL);
    g_autofree char *bias = g_strconcat(prefix, "attn.in_proj_bias", NULL);
    LimnArray *w = add(c, weight, "", 2, (gint64[]){3 * width, width}, 0, 0);
    LimnArray *b = add(c, bias, "", 1, (gint64[]){3 * width}, 0, 0);
    static const char *const parts[] = {".q", ".k", ".v"};
    for (int i = 0; i < 3; i++) {
        TestCheckpoint part = {
            .names = g_ptr_array_new_with_free_func(g_free),
            .arrays = g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref),
        };
        g_autofree char *name = g_strconcat(meaning, parts[i], NULL);
        add_pair(&part, "", "x", name, width, width);
        gsize n = (gsize) (width * width);
        memcpy(limn_array_f32(w) + (gsize) i * n,
               ((LimnArray *) part.arrays->pdata[0])->data, n * sizeof(float));
        memcpy(limn_array_f32(b) + i * width, ((LimnArray *) part.arrays->pdata[1])->data,
               (gsize) width * sizeof(float));
        g_ptr_array_unref(part.names);
        g_ptr_array_unref(part.arrays);
    }
}

static void
add_blocks(TestCheckpoint *c, const char *prefix, const char *tower, gboolean hf,
           int layers, gint64 width, gint64 mlp)
{
    for (int l = 0; l < layers; l++) {
        g_autofree char *at = g_strdup_printf(
            "%s%s%d.", prefix, hf ? "encoder.layers." : "transformer.resblocks.", l);
        g_autofree char *m = g_strdup_printf("%s%d", tower, l);
        g_autofree char *mq = g_strconcat(m, ".q", NULL);
        g_autofree char *mk = g_strconcat(m, ".k", NULL);
        g_autofree char *mv = g_strconcat(m, ".v", NULL);
        g_autofree char *mo = g_strconcat(m, ".o", NULL);
        g_autofree char *m1 = g_strconcat(m, ".fc1", NULL);
        g_autofree char *m2 = g_strconcat(m, ".fc2", NULL);
        g_autofree char *n1 = g_strconcat(m, ".n1", NULL);
        g_autofree char *n2 = g_strconcat(m, ".n2", NULL);
        add_pair(c, at, hf ? "layer_norm1" : "ln_1", n1, width, 0);
        if (hf) {
            add_pair(c, at, "self_attn.q_proj", mq, width, width);
            add_pair(c, at, "self_attn.k_proj", mk, width, width);
            add_pair(c, at, "self_attn.v_proj", mv, width, width);
        } else {
            add_fused(c, at, m, width);
        }
        add_pair(c, at, hf ? "self_attn.out_proj" : "attn.out_proj", mo, width, width);
        add_pair(c, at, hf ? "layer_norm2" : "ln_2", n2, width, 0);
        add_pair(c, at, hf ? "mlp.fc1" : "mlp.c_fc", m1, mlp, width);
        add_pair(c, at, hf ? "mlp.fc2" : "mlp.c_proj", m2, width, mlp);
    }
}

// [P,C] in the layout of Hugging Face, [C,P] else.
static void
add_projection(TestCheckpoint *c, const char *name, const char *meaning, gboolean hf,
               gint64 width, gint64 p)
{
    LimnArray *rows =
        add(c, name, meaning, 2, (gint64[]){p, width}, 0, 1 / sqrtf((float) width));
    if (hf) {
        return;
    }
    g_autoptr(LimnArray) copy = limn_array_new_f32_2d(p, width, NULL);
    memcpy(copy->data, rows->data, (gsize) rows->length * sizeof(float));
    rows->shape[0] = width;
    rows->shape[1] = p;
    for (gint64 i = 0; i < p; i++) {
        for (gint64 j = 0; j < width; j++) {
            limn_array_f32(rows)[j * p + i] = limn_array_f32(copy)[i * width + j];
        }
    }
}

static void
add_vision(TestCheckpoint *c, gboolean hf)
{
    const TestClipSizes *s = &c->sizes;
    gint64 width = s->width, p = s->patch, rows = 1 + (gint64) s->grid * s->grid;
    const char *prefix = hf ? "vision_model." : "visual.";
    add(c, hf ? "vision_model.embeddings.class_embedding" : "visual.class_embedding",
        "class", 1, &width, 0, 0.5f);
    add(c, hf ? "vision_model.embeddings.patch_embedding.weight" : "visual.conv1.weight",
        "patch", 4, (gint64[]){width, 3, p, p}, 0, 1 / sqrtf(3 * (float) (p * p)));
    add(c,
        hf ? "vision_model.embeddings.position_embedding.weight"
           : "visual.positional_embedding",
        "positions", 2, (gint64[]){rows, width}, 0, 0.5f);
    add_pair(c, prefix, hf ? "pre_layrnorm" : "ln_pre", "pre", width, 0);
    add_blocks(c, prefix, "vision", hf, s->layers, width, s->mlp);
    add_pair(c, prefix, hf ? "post_layernorm" : "ln_post", "post", width, 0);
    add_projection(c, hf ? "visual_projection.weight" : "visual.proj", "vision proj", hf,
                   width, s->projection);
}

static void
add_text(TestCheckpoint *c, gboolean hf)
{
    const TestClipSizes *s = &c->sizes;
    gint64 width = s->text_width;
    const char *prefix = hf ? "text_model." : "";
    add(c, hf ? "text_model.embeddings.token_embedding.weight" : "token_embedding.weight",
        "tokens", 2, (gint64[]){s->vocab, width}, 0, 0.5f);
    add(c,
        hf ? "text_model.embeddings.position_embedding.weight" : "positional_embedding",
        "text positions", 2, (gint64[]){s->context, width}, 0, 0.5f);
    add_blocks(c, prefix, "text", hf, s->text_layers, width, s->text_mlp);
    add_pair(c, prefix, hf ? "final_layer_norm" : "ln_final", "final", width, 0);
    add_projection(c, hf ? "text_projection.weight" : "text_projection", "text proj", hf,
                   width, s->projection);
    add(c, "logit_scale", "scale", 0, NULL, 2.5f, 0);
}

TestCheckpoint *
test_checkpoint_new(const TestClipSizes *sizes, TestLayout layout)
{
    TestCheckpoint *c = g_new0(TestCheckpoint, 1);
    c->sizes = *sizes;
    c->names = g_ptr_array_new_with_free_func(g_free);
    c->arrays = g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    add_vision(c, layout == TEST_LAYOUT_HF);
    add_text(c, layout == TEST_LAYOUT_HF);
    return c;
}

void
test_checkpoint_free(TestCheckpoint *c)
{
    g_ptr_array_unref(c->names);
    g_ptr_array_unref(c->arrays);
    g_free(c);
}

static guint
find(TestCheckpoint *c, const char *name)
{
    for (guint i = 0; i < c->names->len; i++) {
        if (strcmp(c->names->pdata[i], name) == 0) {
            return i;
        }
    }
    g_error("there is no tensor %s", name);
}

LimnArray *
test_checkpoint_get(TestCheckpoint *c, const char *name)
{
    return c->arrays->pdata[find(c, name)];
}

void
test_checkpoint_add(TestCheckpoint *c, const char *name, LimnDType dtype, int rank,
                    const gint64 *shape)
{
    LimnArray *array = limn_array_new(dtype, rank, shape, NULL);
    g_assert_nonnull(array);
    g_ptr_array_add(c->names, g_strdup(name));
    g_ptr_array_add(c->arrays, array);
}

void
test_checkpoint_drop(TestCheckpoint *c, const char *name)
{
    guint i = find(c, name);
    g_ptr_array_remove_index(c->names, i);
    g_ptr_array_remove_index(c->arrays, i);
}

void
test_checkpoint_drop_all(TestCheckpoint *c, const char *prefix)
{
    for (guint i = c->names->len; i-- > 0;) {
        if (g_str_has_prefix(c->names->pdata[i], prefix)) {
            g_ptr_array_remove_index(c->names, i);
            g_ptr_array_remove_index(c->arrays, i);
        }
    }
}

void
test_checkpoint_rename(TestCheckpoint *c, const char *from, const char *to)
{
    for (guint i = 0; i < c->names->len; i++) {
        char *name = c->names->pdata[i];
        if (g_str_has_prefix(name, from)) {
            c->names->pdata[i] = g_strconcat(to, name + strlen(from), NULL);
            g_free(name);
        }
    }
}

static LimnArray *
converted(const LimnArray *array, LimnDType dtype)
{
    LimnArray *out = limn_array_new(dtype, array->rank, array->shape, NULL);
    for (gint64 i = 0; i < array->length; i++) {
        float value = limn_array_f32(array)[i];
        if (dtype == LIMN_DTYPE_F64) {
            limn_array_f64(out)[i] = (double) value;
        } else {
            ((guint16 *) out->data)[i] = dtype == LIMN_DTYPE_F16
                                             ? limn_float_to_half(value)
                                             : limn_float_to_bfloat16(value);
        }
    }
    return out;
}

void
test_checkpoint_convert(TestCheckpoint *c, LimnDType dtype)
{
    for (guint i = 0; i < c->arrays->len; i++) {
        LimnArray *array = c->arrays->pdata[i];
        if (array->dtype == LIMN_DTYPE_F32) {
            c->arrays->pdata[i] = converted(array, dtype);
            limn_array_unref(array);
        }
    }
}

void
test_checkpoint_save_part(TestCheckpoint *c, const char *folder, const char *name,
                          guint first, guint end)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_autofree LimnTensorEntry *entries = g_new0(LimnTensorEntry, c->names->len + 1);
    for (guint i = first; i < end; i++) {
        entries[i - first].name = c->names->pdata[i];
        entries[i - first].array = c->arrays->pdata[i];
    }
    limn_safetensors_save(path, entries, end - first, NULL, &error);
    g_assert_no_error(error);
}

void
test_checkpoint_save(TestCheckpoint *c, const char *folder, const char *name)
{
    test_checkpoint_save_part(c, folder, name, 0, c->names->len);
}

void
test_write_bytes(const char *folder, const char *name, const void *data, gsize size)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(folder, name, NULL);
    g_file_set_contents(path, data, (gssize) size, &error);
    g_assert_no_error(error);
}

void
test_write(const char *folder, const char *name, const char *text)
{
    test_write_bytes(folder, name, text, strlen(text));
}

void
test_write_config(const TestClipSizes *s, TestLayout layout, const char *folder)
{
    const char *act = s->gelu ? "gelu" : "quick_gelu";
    g_autofree char *hf = g_strdup_printf(
        "{\"model_type\":\"clip\",\"projection_dim\":%d,\"vision_config\":{\"hidden_"
        "size\":"
        "%d,\"num_hidden_layers\":%d,\"num_attention_heads\":%d,\"intermediate_size\":%d,"
        "\"image_size\":%d,\"patch_size\":%d,\"hidden_act\":\"%s\"},\"text_config\":{"
        "\"hidden_size\":%d,\"num_hidden_layers\":%d,\"num_attention_heads\":%d,"
        "\"intermediate_size\":%d,\"vocab_size\":%d,\"max_position_embeddings\":%d,"
        "\"hidden_act\":\"%s\",\"eos_token_id\":%d}}",
        s->projection, s->width, s->layers, s->heads, s->mlp, s->grid * s->patch,
        s->patch, act, s->text_width, s->text_layers, s->text_heads, s->text_mlp,
        s->vocab, s->context, act, s->vocab - 1);
    g_autofree char *open =
        g_strdup_printf("{\"model_cfg\":{\"embed_dim\":%d,\"quick_gelu\":%s,\"vision_"
                        "cfg\":{\"image_size\":"
                        "%d,\"layers\":%d,\"width\":%d,\"head_width\":%d,\"patch_size\":%"
                        "d},\"text_cfg\":{"
                        "\"context_length\":%d,\"vocab_size\":%d,\"width\":%d,\"heads\":%"
                        "d,\"layers\":%d}},"
                        "\"preprocess_cfg\":{\"interpolation\":\"bicubic\",\"resize_"
                        "mode\":\"shortest\"}}",
                        s->projection, s->gelu ? "false" : "true", s->grid * s->patch,
                        s->layers, s->width, s->width / s->heads, s->patch, s->context,
                        s->vocab, s->text_width, s->text_heads, s->text_layers);
    if (layout == TEST_LAYOUT_HF) {
        test_write(folder, "config.json", hf);
    } else {
        test_write(folder, "open_clip_config.json", open);
    }
}

char *
test_make_model(const TestClipSizes *sizes, TestLayout layout)
{
    char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(sizes, layout);
    test_checkpoint_save(c, folder,
                         layout == TEST_LAYOUT_HF ? "model.safetensors"
                                                  : "open_clip_model.safetensors");
    test_write_config(sizes, layout, folder);
    return folder;
}

LimnClip *
test_open(const char *path)
{
    g_autoptr(GError) error = NULL;
    LimnClip *clip = limn_clip_open(path, 0, NULL, &error);
    g_assert_no_error(error);
    return clip;
}

LimnArray *
test_pixels(int n, int height, int width, guint64 seed)
{
    LimnRng rng = limn_rng_make(seed, 1);
    LimnArray *pixels =
        limn_array_new(LIMN_DTYPE_F32, 4, (gint64[]){n, 3, height, width}, NULL);
    for (gint64 i = 0; i < pixels->length; i++) {
        limn_array_f32(pixels)[i] = limn_rng_normal(&rng);
    }
    return pixels;
}

LimnArray *
test_ids(const TestClipSizes *s, int n, guint64 seed)
{
    LimnRng rng = limn_rng_make(seed, 2);
    LimnArray *ids = limn_array_new(LIMN_DTYPE_I64, 2, (gint64[]){n, s->context}, NULL);
    for (int i = 0; i < n; i++) {
        gint64 *row = limn_array_i64(ids) + i * s->context;
        int words = 1 + (int) limn_rng_below(&rng, (guint32) s->context - 2);
        row[0] = s->vocab - 2;
        for (int j = 1; j <= words; j++) {
            row[j] = limn_rng_below(&rng, (guint32) s->vocab - 2);
        }
        row[words + 1] = s->vocab - 1;
    }
    return ids;
}

double
test_difference(const LimnArray *a, const LimnArray *b)
{
    double worst = 0, largest = 1e-30;
    g_assert_cmpint(a->length, ==, b->length);
    for (gint64 i = 0; i < a->length; i++) {
        largest = MAX(largest, fabs(limn_array_get_double(b, i)));
        worst =
            MAX(worst, fabs(limn_array_get_double(a, i) - limn_array_get_double(b, i)));
    }
    return worst / largest;
}
