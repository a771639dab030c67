// SPDX-License-Identifier: GPL-3.0-or-later

// Opening checkpoints: every layout and variant gives the same features, every spoilt
// one a message that names what is wrong.

#include <math.h>
#include <string.h>

#include "clip-testing.h"
#include "engine/io/safetensors.h"
#include "engine/model/clip-private.h"
#include "tests/unit/loader-test.h"

typedef struct {
    LimnArray *images, *texts;
} Features;

static Features
features_of(LimnClip *clip)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) pixels = test_pixels(3, 16, 16, 5);
    g_autoptr(LimnArray) ids = test_ids(&TEST_CLIP_SIZES, 4, 6);
    Features f;
    f.images = limn_clip_encode_pixels(clip, pixels, NULL, &error);
    g_assert_no_error(error);
    f.texts = limn_clip_encode_ids(clip, ids, NULL, &error);
    g_assert_no_error(error);
    return f;
}

static void
features_clear(Features *f)
{
    limn_array_unref(f->images);
    limn_array_unref(f->texts);
}

static void
assert_features(LimnClip *clip, const Features *expected, double tolerance)
{
    Features f = features_of(clip);
    g_assert_cmpfloat(test_difference(f.images, expected->images), <=, tolerance);
    g_assert_cmpfloat(test_difference(f.texts, expected->texts), <=, tolerance);
    features_clear(&f);
}

static Features
reference_features(void)
{
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autoptr(LimnClip) clip = test_open(folder);
    Features f = features_of(clip);
    remove_folder(folder);
    return f;
}

// Opens `folder` and expects a refusal that contains the texts; the folder is removed.
static void
assert_open_refused(char *folder, const char *name, int heads, LimnErrorCode code,
                    const char *first, const char *second)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path =
        name != NULL ? g_build_filename(folder, name, NULL) : g_strdup(folder);
    LimnClip *clip = limn_clip_open(path, heads, NULL, &error);
    g_assert_null(clip);
    assert_refused(&error, code, first, second, NULL);
    remove_folder(folder);
    g_free(folder);
}

static void
save_model(TestCheckpoint *c, const char *folder)
{
    test_checkpoint_save(c, folder, "model.safetensors");
    test_write_config(&c->sizes, TEST_LAYOUT_HF, folder);
}

static void
test_layouts(void)
{
    Features expected = reference_features();
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_OPEN_CLIP);
    g_autoptr(LimnClip) clip = test_open(folder);
    g_assert_cmpstr(limn_clip_get_config(clip)->layout, ==, "OpenCLIP");
    assert_features(clip, &expected, 0);
    const LimnLoadReport *report = limn_clip_get_report(clip);
    g_assert_cmpuint(report->missing->len, ==, 0);
    g_assert_cmpuint(report->ignored->len, ==, 0);
    g_assert_false(report->heads_assumed);
    g_assert_true(report->builtin_tokenizer);
    remove_folder(folder);
    features_clear(&expected);
}

typedef struct {
    TestLayout layout;
    const char *from, *to;
} Renaming;

// B44: prefixes come and go.
static void
test_prefixes(void)
{
    static const Renaming renamings[] = {
        {TEST_LAYOUT_HF, "", "model."},        {TEST_LAYOUT_HF, "", "module."},
        {TEST_LAYOUT_HF, "", "module.model."}, {TEST_LAYOUT_HF, "vision_model.", ""},
        {TEST_LAYOUT_HF, "text_model.", ""},   {TEST_LAYOUT_OPEN_CLIP, "", "module."},
        {TEST_LAYOUT_OPEN_CLIP, "", "model."},
    };
    Features expected = reference_features();
    for (gsize i = 0; i < G_N_ELEMENTS(renamings); i++) {
        const Renaming *r = &renamings[i];
        g_autofree char *folder = make_folder();
        g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, r->layout);
        test_checkpoint_rename(c, r->from, r->to);
        test_checkpoint_save(c, folder, "weights.safetensors");
        test_write_config(&c->sizes, r->layout, folder);
        g_autoptr(LimnClip) clip = test_open(folder);
        assert_features(clip, &expected, 0);
        remove_folder(folder);
    }
    features_clear(&expected);
}

// OpenCLIP's "custom text" models put text. before the text tower's tensors.
static void
test_custom_text(void)
{
    static const char *const parts[] = {"token_embedding", "positional_embedding",
                                        "transformer.", "ln_final", "text_projection"};
    Features expected = reference_features();
    g_autofree char *folder = make_folder();
    g_autoptr(TestCheckpoint) c =
        test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_OPEN_CLIP);
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++) {
        g_autofree char *to = g_strconcat("text.", parts[i], NULL);
        test_checkpoint_rename(c, parts[i], to);
    }
    test_checkpoint_save(c, folder, "open_clip_model.safetensors");
    test_write_config(&c->sizes, TEST_LAYOUT_OPEN_CLIP, folder);
    g_autoptr(LimnClip) clip = test_open(folder);
    assert_features(clip, &expected, 0);
    remove_folder(folder);
    features_clear(&expected);
}

// B44: what the model does not use is reported, not refused.
static void
test_extra_keys(void)
{
    Features expected = reference_features();
    g_autofree char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    test_checkpoint_add(c, "text_model.embeddings.position_ids", LIMN_DTYPE_I64, 2,
                        (gint64[]){1, 12});
    test_checkpoint_add(c, "optimizer.step", LIMN_DTYPE_F32, 1, (gint64[]){3});
    save_model(c, folder);
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(folder, 0, job, &error);
    g_assert_no_error(error);
    const LimnLoadReport *report = limn_clip_get_report(clip);
    g_assert_cmpuint(report->ignored->len, ==, 2);
    g_assert_cmpuint(report->used->len + 2, ==, c->names->len);
    g_autoptr(GPtrArray) found = limn_job_dup_diagnostics(job);
    gboolean told = FALSE;
    for (guint i = 0; i < found->len; i++) {
        const LimnDiagnostic *d = found->pdata[i];
        told = told || strstr(d->message, "optimizer.step") != NULL;
    }
    g_assert_true(told);
    assert_features(clip, &expected, 0);
    remove_folder(folder);
    features_clear(&expected);
}

// B44: only the vision tower is there: pictures can be encoded, sentences cannot.
static void
test_vision_only(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    test_checkpoint_drop_all(c, "text_");
    test_checkpoint_drop(c, "logit_scale");
    test_checkpoint_rename(c, "vision_model.", "");
    save_model(c, folder);
    g_autoptr(LimnClip) clip = test_open(folder);
    g_assert_false(limn_clip_get_config(clip)->has_text);
    Features expected = reference_features();
    g_autoptr(LimnArray) pixels = test_pixels(3, 16, 16, 5);
    g_autoptr(LimnArray) f = limn_clip_encode_pixels(clip, pixels, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(test_difference(f, expected.images), ==, 0);
    const char *texts[] = {"a dog", NULL};
    g_assert_null(limn_clip_encode_texts(clip, texts, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "no text tower", NULL);
    g_autoptr(LimnArray) ids = test_ids(&TEST_CLIP_SIZES, 1, 6);
    g_assert_null(limn_clip_encode_ids(clip, ids, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "no text tower", NULL);
    g_assert_null(limn_clip_get_tokenizer(clip));
    remove_folder(folder);
    features_clear(&expected);
}

// B42: other floating types are widened exactly.
static void
test_types(void)
{
    static const LimnDType types[] = {LIMN_DTYPE_F64, LIMN_DTYPE_F16, LIMN_DTYPE_BF16};
    static const double tolerances[] = {0, 5e-3, 5e-2};
    Features expected = reference_features();
    for (gsize i = 0; i < G_N_ELEMENTS(types); i++) {
        g_autofree char *folder = make_folder();
        g_autoptr(TestCheckpoint) c =
            test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
        test_checkpoint_convert(c, types[i]);
        save_model(c, folder);
        g_autoptr(LimnClip) clip = test_open(folder);
        assert_features(clip, &expected, tolerances[i]);
        g_assert_cmpuint(limn_clip_get_report(clip)->mapped_bytes, ==, 0);
        remove_folder(folder);
    }
    features_clear(&expected);
}

static void
test_wrong_type(void)
{
    char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    test_checkpoint_drop(c, "text_model.final_layer_norm.bias");
    test_checkpoint_add(c, "text_model.final_layer_norm.bias", LIMN_DTYPE_I64, 1,
                        (gint64[]){24});
    save_model(c, folder);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_UNSUPPORTED,
                        "text_model.final_layer_norm.bias", "i64");
}

// B43: shards are found through the index, whatever they are called.
static void
test_shards(void)
{
    Features expected = reference_features();
    char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autoptr(GString) index = g_string_new("{\"metadata\":{},\"weight_map\":{");
    static const char *const shards[] = {"model-00001-of-00003.safetensors",
                                         "model.safetensors-00001-of-00002.safetensors",
                                         "rest.safetensors"};
    guint n = c->names->len;
    for (guint i = 0; i < n; i++) {
        g_string_append_printf(index, "%s\"%s\":\"%s\"", i > 0 ? "," : "",
                               (char *) c->names->pdata[i], shards[i * 3 / n]);
    }
    g_string_append(index, "}}");
    test_write(folder, "model.safetensors.index.json", index->str);
    test_write_config(&c->sizes, TEST_LAYOUT_HF, folder);
    for (guint s = 0; s < 3; s++) {
        test_checkpoint_save_part(c, folder, shards[s], (s * n + 2) / 3,
                                  ((s + 1) * n + 2) / 3);
    }
    g_autoptr(LimnClip) clip = test_open(folder);
    assert_features(clip, &expected, 0);
    features_clear(&expected);
    g_autofree char *gone = g_build_filename(folder, shards[1], NULL);
    g_assert_cmpint(g_unlink(gone), ==, 0);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_IO, shards[1], NULL);
}

static void
test_missing(void)
{
    char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    test_checkpoint_drop(c, "vision_model.encoder.layers.1.self_attn.k_proj.bias");
    test_checkpoint_drop(c, "text_projection.weight");
    save_model(c, folder);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_MISMATCH,
                        "vision_model.encoder.layers.1.self_attn.k_proj.bias",
                        "text_projection.weight");
    // A whole block less than the configuration says.
    folder = make_folder();
    test_checkpoint_add(c, "text_projection.weight", LIMN_DTYPE_F32, 2,
                        (gint64[]){16, 24});
    test_checkpoint_drop_all(c, "vision_model.encoder.layers.2.");
    save_model(c, folder);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_MISMATCH, "missing",
                        "vision_model.encoder.layers.1.self_attn.k_proj.bias");
}

static void
test_wrong_shape(void)
{
    char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    test_checkpoint_drop(c, "vision_model.encoder.layers.1.mlp.fc2.weight");
    test_checkpoint_add(c, "vision_model.encoder.layers.1.mlp.fc2.weight", LIMN_DTYPE_F32,
                        2, (gint64[]){80, 32});
    save_model(c, folder);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_MISMATCH,
                        "fc2.weight has the wrong shape", "[80, 32], expected [32, 80]");
}

static void
test_contradiction(void)
{
    static const struct {
        const char *from, *to, *message;
    } changes[] = {
        {"\"hidden_size\":32", "\"hidden_size\":48", "width is 48"},
        {"\"patch_size\":4", "\"patch_size\":8", "patch size is 8"},
        {"\"image_size\":16", "\"image_size\":32", "image_size is 32"},
        {"\"vocab_size\":40", "\"vocab_size\":50", "vocabulary size is 50"},
        {"_embeddings\":12", "_embeddings\":77", "context length is 77"},
        {"projection_dim\":16", "projection_dim\":8", "projection size is 8"},
        {"_heads\":4", "_heads\":5", "5 attention heads"},
        {"\"num_hidden_layers\":3", "\"num_hidden_layers\":4", "layers.3."},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(changes); i++) {
        char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
        g_autofree char *path = g_build_filename(folder, "config.json", NULL);
        g_autofree char *text = NULL;
        g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
        g_auto(GStrv) parts = g_strsplit(text, changes[i].from, 2);
        g_assert_cmpuint(g_strv_length(parts), ==, 2);
        g_autofree char *changed = g_strjoinv(changes[i].to, parts);
        test_write(folder, "config.json", changed);
        assert_open_refused(folder, NULL, 0, LIMN_ERROR_MISMATCH, changes[i].message,
                            NULL);
    }
}

// What is refused by name, from a tensor that only it has.
static void
test_foreign(void)
{
    static const struct {
        const char *tensor, *message;
    } foreign[] = {
        {"visual.layer1.0.conv1.weight", "ResNet"},
        {"visual.attnpool.positional_embedding", "ResNet"},
        {"visual.trunk.blocks.0.norm1.weight", "timm"},
        {"vision_model.head.probe", "SigLIP"},
        {"text_decoder.ln_final.weight", "CoCa"},
        {"visual.blocks.0.attn.q_proj.weight", "EVA"},
        {"text.transformer.embeddings.word_embeddings.weight", "other libraries"},
        {"vit.embeddings.cls_token", "classifiers"},
        {"visual.transformer.resblocks.0.ls_1.gamma", "layer scale"},
        {"vision_model.encoder.layers.0.self_attn.q_proj.lora_A.weight", "LoRA"},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(foreign); i++) {
        char *folder = make_folder();
        g_autoptr(TestCheckpoint) c =
            test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_OPEN_CLIP);
        test_checkpoint_add(c, foreign[i].tensor, LIMN_DTYPE_F32, 1, (gint64[]){4});
        test_checkpoint_save(c, folder, "model.safetensors");
        assert_open_refused(folder, NULL, 0, LIMN_ERROR_UNSUPPORTED, foreign[i].message,
                            foreign[i].tensor);
    }
}

static void
test_no_clip(void)
{
    // Only a text tower.
    char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    test_checkpoint_drop_all(c, "vis");
    test_checkpoint_save(c, folder, "model.safetensors");
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_UNSUPPORTED, "only a text tower",
                        NULL);
    // Something else.
    folder = make_folder();
    test_checkpoint_drop_all(c, "");
    test_checkpoint_add(c, "bert.encoder.weight", LIMN_DTYPE_F32, 1, (gint64[]){4});
    test_checkpoint_save(c, folder, "model.safetensors");
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_UNSUPPORTED, "no CLIP",
                        "bert.encoder.weight");
}

// B38: a header without tensors is a good file, but no model.
static void
test_header_only(void)
{
    char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    test_checkpoint_drop_all(c, "");
    test_checkpoint_save(c, folder, "model.safetensors");
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_UNSUPPORTED, "no tensors", NULL);
}

// B36: pointers and cut files.
static void
test_cut(void)
{
    char *folder = make_folder();
    test_write(folder, "model.safetensors",
               "version https://git-lfs.github.com/spec/v1\noid "
               "sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
               "size 605157884\n");
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_FORMAT, "Git LFS pointer", NULL);
    folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autofree char *path = g_build_filename(folder, "model.safetensors", NULL);
    g_autofree char *data = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &data, &size, NULL));
    test_write_bytes(folder, "model.safetensors", data, size - 1000);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_FORMAT, "1000 bytes", NULL);
    folder = make_folder();
    test_write_bytes(folder, "model.safetensors", data, 500);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_FORMAT, "model.safetensors", NULL);
}

// B39: data that no float may be read from directly.
static void
test_unaligned(void)
{
    Features expected = reference_features();
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autofree char *path = g_build_filename(folder, "model.safetensors", NULL);
    g_autofree char *data = NULL;
    gsize size;
    g_assert_true(g_file_get_contents(path, &data, &size, NULL));
    guint64 length;
    memcpy(&length, data, sizeof length);
    g_autofree char *moved = g_malloc(size + 2);
    memcpy(moved, data, 8 + length);
    memset(moved + 8 + length, ' ', 2);
    memcpy(moved + 8 + length + 2, data + 8 + length, size - 8 - length);
    length += 2;
    memcpy(moved, &length, sizeof length);
    test_write_bytes(folder, "model.safetensors", moved, size + 2);
    g_autoptr(LimnClip) clip = test_open(folder);
    assert_features(clip, &expected, 0);
    remove_folder(folder);
    features_clear(&expected);
}

// B37: the error names the tensor that is there twice.
static void
test_duplicate(void)
{
    char *folder = make_folder();
    static const char header[] =
        "{\"visual.proj\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
        "\"visual.proj\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}";
    guint64 length = sizeof header - 1;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    g_byte_array_append(bytes, (const guint8 *) &length, 8);
    g_byte_array_append(bytes, (const guint8 *) header, (guint) length);
    g_byte_array_append(bytes, (const guint8 *) "\0\0\0\0\0\0\0\0", 8);
    test_write_bytes(folder, "model.safetensors", bytes->data, bytes->len);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_FORMAT, "visual.proj", NULL);
}

static void
test_folders(void)
{
    char *folder = make_folder();
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_IO, "no weights were found", NULL);
    // A pickle in place of weights.
    folder = make_folder();
    test_write_bytes(folder, "pytorch_model.bin", "\x80\x02}q\x01(X\x05\0\0\0ab.", 15);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_UNSUPPORTED, "pytorch_model.bin",
                        "safetensors");
    folder = make_folder();
    test_write_bytes(folder, "model.gguf", "GGUF\3\0\0\0\0\0\0\0", 12);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_UNSUPPORTED, "GGUF", NULL);
    // Two files and nothing that joins them.
    folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autofree char *from = g_build_filename(folder, "model.safetensors", NULL);
    g_autofree char *a = g_build_filename(folder, "a.safetensors", NULL);
    g_assert_cmpint(g_rename(from, a), ==, 0);
    test_write(folder, "b.safetensors", "x");
    limn_clip_unref(test_open(a)); // by name it opens
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_ARGUMENT, "2 files of weights", NULL);
    // Nothing there.
    folder = make_folder();
    assert_open_refused(folder, "nothing", 0, LIMN_ERROR_IO, "nothing", NULL);
}

static char *
make_without_config(int width, int heads)
{
    TestClipSizes sizes = TEST_CLIP_SIZES;
    sizes.width = width;
    sizes.heads = heads;
    char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&sizes, TEST_LAYOUT_OPEN_CLIP);
    test_checkpoint_save(c, folder, "model.safetensors");
    return folder;
}

// Without a configuration the heads are asked for, unless the rule of 64 gives them.
static void
test_heads(void)
{
    g_autoptr(GError) error = NULL;
    assert_open_refused(make_without_config(32, 4), NULL, 0, LIMN_ERROR_ARGUMENT,
                        "heads=", "width 32");
    assert_open_refused(make_without_config(32, 4), NULL, 5, LIMN_ERROR_ARGUMENT,
                        "5 attention heads", NULL);
    Features expected = reference_features();
    g_autofree char *folder = make_without_config(32, 4);
    g_autoptr(LimnClip) clip = limn_clip_open(folder, 4, NULL, &error);
    g_assert_no_error(error);
    g_assert_true(limn_clip_get_report(clip)->heads_assumed);
    g_assert_true(limn_clip_get_config(clip)->activation_assumed);
    g_assert_cmpint(limn_clip_get_config(clip)->text.heads, ==, 3); // heads of 8 columns
    assert_features(clip, &expected, 0);
    remove_folder(folder);
    features_clear(&expected);
    // A configuration is not overruled; what it gets wrong is put right.
    g_autofree char *good = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_assert_null(limn_clip_open(good, 8, NULL, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "heads=8", "4", NULL);
    g_autoptr(LimnClip) same = limn_clip_open(good, 4, NULL, &error);
    g_assert_no_error(error);
    g_assert_false(limn_clip_get_report(same)->heads_assumed);
    remove_folder(good);
}

static void
test_rule_of_64(void)
{
    TestClipSizes sizes = TEST_CLIP_SIZES;
    sizes.width = 128;
    sizes.text_width = 64;
    g_autofree char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&sizes, TEST_LAYOUT_OPEN_CLIP);
    test_checkpoint_add(c, "input_resolution", LIMN_DTYPE_I64, 0, NULL);
    test_checkpoint_save(c, folder, "ViT.safetensors");
    g_autoptr(LimnClip) clip = test_open(folder);
    const LimnClipConfig *config = limn_clip_get_config(clip);
    g_assert_cmpstr(config->layout, ==, "OpenAI");
    g_assert_cmpint(config->vision.heads, ==, 2);
    g_assert_cmpint(config->text.heads, ==, 1);
    g_assert_cmpint(config->vision.layers, ==, 3);
    g_assert_cmpint(config->image_size, ==, 16);
    g_assert_cmpint(config->vision.activation, ==, LIMN_ACTIVATION_QUICK_GELU);
    remove_folder(folder);
}

// Keys that a Hugging Face configuration leaves out have the library's defaults.
static void
test_defaults(void)
{
    TestClipSizes sizes = TEST_CLIP_SIZES;
    sizes.width = 48;      // 12 heads
    sizes.text_width = 40; // 8 heads
    g_autofree char *folder = make_folder();
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&sizes, TEST_LAYOUT_HF);
    test_checkpoint_save(c, folder, "model.safetensors");
    test_write(folder, "config.json",
               "{\"model_type\":\"clip\",\"vision_config\":{\"hidden_act\":\"gelu\"},"
               "\"text_config\":null,\"text_config_dict\":{\"layer_norm_eps\":1e-6}}");
    g_autoptr(LimnClip) clip = test_open(folder);
    const LimnClipConfig *config = limn_clip_get_config(clip);
    g_assert_cmpint(config->vision.heads, ==, 12);
    g_assert_cmpint(config->text.heads, ==, 8);
    g_assert_cmpint(config->vision.activation, ==, LIMN_ACTIVATION_GELU);
    g_assert_cmpint(config->text.activation, ==, LIMN_ACTIVATION_QUICK_GELU);
    g_assert_cmpfloat(config->text.eps, ==, 1e-6f);
    g_assert_false(config->pool_first_end); // 49407 is not in this table
    remove_folder(folder);
}

static void
check_not_finite(LimnArray *tensor, gint64 i, float value, const char *name,
                 TestCheckpoint *c)
{
    float kept = limn_array_f32(tensor)[i];
    limn_array_f32(tensor)[i] = value;
    char *folder = make_folder();
    save_model(c, folder);
    assert_open_refused(folder, NULL, 0, LIMN_ERROR_FORMAT, name,
                        isnan(value) ? "NaN" : "Inf");
    limn_array_f32(tensor)[i] = kept;
}

// NaN and Inf in the weights name the tensor. Small models are searched at once ...
static void
test_not_finite(void)
{
    static const char *const names[] = {
        "vision_model.encoder.layers.2.mlp.fc2.weight",
        "text_model.embeddings.token_embedding.weight",
        "vision_model.embeddings.class_embedding",
        "logit_scale",
    };
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        LimnArray *tensor = test_checkpoint_get(c, names[i]);
        if (strcmp(names[i], "logit_scale") == 0) {
            limn_array_f32(tensor)[0] = NAN;
            char *folder = make_folder();
            save_model(c, folder);
            assert_open_refused(folder, NULL, 0, LIMN_ERROR_FORMAT, names[i], NULL);
            continue;
        }
        check_not_finite(tensor, tensor->length - 1, NAN, names[i], c);
        check_not_finite(tensor, 0, -INFINITY, names[i], c);
    }
}

// ... large ones when they are used.
static void
test_not_finite_late(void)
{
    static const char *const vision[] = {
        "vision_model.encoder.layers.2.mlp.fc2.weight",
        "vision_model.encoder.layers.0.self_attn.k_proj.weight",
        "vision_model.encoder.layers.1.layer_norm2.bias",
        "vision_model.embeddings.position_embedding.weight",
        "visual_projection.weight",
    };
    static const char *const text[] = {
        "text_model.encoder.layers.1.self_attn.v_proj.weight",
        "text_model.embeddings.token_embedding.weight",
        "text_projection.weight",
    };
    limn_clip_set_check_limit(0);
    for (gsize i = 0; i < G_N_ELEMENTS(vision) + G_N_ELEMENTS(text); i++) {
        g_autoptr(GError) error = NULL;
        gboolean is_text = i >= G_N_ELEMENTS(vision);
        const char *name = is_text ? text[i - G_N_ELEMENTS(vision)] : vision[i];
        g_autofree char *folder = make_folder();
        g_autoptr(TestCheckpoint) c =
            test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
        LimnArray *tensor = test_checkpoint_get(c, name);
        limn_array_f32(tensor)[tensor->length - 1] = i % 2 == 0 ? NAN : INFINITY;
        save_model(c, folder);
        g_autoptr(LimnClip) clip = test_open(folder);
        g_autoptr(LimnArray) pixels = test_pixels(1, 16, 16, 5);
        g_autoptr(LimnArray) ids = test_ids(&TEST_CLIP_SIZES, 1, 6);
        LimnArray *f = is_text ? limn_clip_encode_ids(clip, ids, NULL, &error)
                               : limn_clip_encode_pixels(clip, pixels, NULL, &error);
        g_assert_null(f);
        assert_refused(&error, LIMN_ERROR_FORMAT, name, "not finite", NULL);
        remove_folder(folder);
    }
    // Pixels that are not finite are no fault of the weights.
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autoptr(LimnClip) clip = test_open(folder);
    g_autoptr(LimnArray) pixels = test_pixels(1, 16, 16, 5);
    limn_array_f32(pixels)[77] = NAN;
    g_assert_null(limn_clip_encode_pixels(clip, pixels, NULL, &error));
    assert_refused(&error, LIMN_ERROR_FORMAT, "pixels", NULL);
    remove_folder(folder);
    limn_clip_set_check_limit((guint64) 64 << 20);
}

// The tokenizer does not fit the token table: both numbers, when a sentence comes.
static void
test_tokenizer(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    const char *texts[] = {"a dog", NULL};
    g_autoptr(LimnClip) clip = test_open(folder);
    g_assert_null(limn_clip_encode_texts(clip, texts, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "49408", "40", NULL);
    g_assert_null(limn_clip_get_tokenizer(clip));
    g_assert_null(limn_clip_encode_classes(clip, texts, NULL, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "49408", "40", NULL);
    remove_folder(folder);
}

static void
test_ids_range(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autoptr(LimnClip) clip = test_open(folder);
    g_autoptr(LimnArray) ids = test_ids(&TEST_CLIP_SIZES, 2, 6);
    limn_array_i64(ids)[13] = 40;
    g_assert_null(limn_clip_encode_ids(clip, ids, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "40", "0 to 39", NULL);
    limn_array_i64(ids)[13] = G_MAXINT64;
    g_assert_null(limn_clip_encode_ids(clip, ids, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "outside the token table", NULL);
    g_autoptr(LimnArray) wide =
        limn_array_new(LIMN_DTYPE_I64, 2, (gint64[]){1, 13}, NULL);
    g_assert_null(limn_clip_encode_ids(clip, wide, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "13 tokens", "1 to 12", NULL);
    g_autoptr(LimnArray) none = limn_array_new(LIMN_DTYPE_I64, 2, (gint64[]){1, 3}, NULL);
    g_assert_null(limn_clip_encode_ids(clip, none, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "no end token", "39", NULL);
    g_autoptr(LimnArray) odd = test_pixels(1, 16, 18, 1);
    g_assert_null(limn_clip_encode_pixels(clip, odd, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "18 x 16", "multiples", NULL);
    remove_folder(folder);
}

// Rows behind the end token and the company in a batch change nothing.
static void
test_batches(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autoptr(LimnClip) clip = test_open(folder);
    g_autoptr(LimnArray) ids = test_ids(&TEST_CLIP_SIZES, 50, 8);
    g_autoptr(LimnArray) all = limn_clip_encode_ids(clip, ids, NULL, &error);
    g_assert_no_error(error);
    for (int i = 0; i < 50; i += 7) {
        g_autoptr(LimnArray) one =
            limn_array_new(LIMN_DTYPE_I64, 2, (gint64[]){1, 12}, NULL);
        memcpy(one->data, limn_array_i64(ids) + i * 12, 12 * sizeof(gint64));
        gint64 *row = limn_array_i64(one);
        int end = 0;
        while (row[end] != 39) {
            end++;
        }
        for (int j = end + 1; j < 12; j++) {
            row[j] = j; // other padding
        }
        g_autoptr(LimnArray) f = limn_clip_encode_ids(clip, one, NULL, &error);
        g_assert_no_error(error);
        g_autoptr(LimnArray) e = limn_array_new_f32_2d(1, 16, NULL);
        memcpy(e->data, limn_array_f32(all) + i * 16, 16 * sizeof(float));
        g_assert_cmpfloat(test_difference(f, e), <=, 1e-6);
    }
    remove_folder(folder);
}

static void
test_cancel(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = test_make_model(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    g_autoptr(LimnClip) clip = test_open(folder);
    g_autoptr(LimnArray) pixels = test_pixels(1, 16, 16, 5);
    g_autoptr(LimnArray) ids = test_ids(&TEST_CLIP_SIZES, 1, 6);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_cancel(job);
    g_assert_null(limn_clip_open(folder, 0, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    g_clear_error(&error);
    g_assert_null(limn_clip_encode_pixels(clip, pixels, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    g_clear_error(&error);
    g_assert_null(limn_clip_encode_ids(clip, ids, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    remove_folder(folder);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/clip-open/layouts", test_layouts);
    g_test_add_func("/hard/B44-prefixes", test_prefixes);
    g_test_add_func("/hard/B44-extra-keys", test_extra_keys);
    g_test_add_func("/hard/B44-vision-only", test_vision_only);
    g_test_add_func("/model/clip-open/custom-text", test_custom_text);
    g_test_add_func("/hard/B42-types", test_types);
    g_test_add_func("/model/clip-open/wrong-type", test_wrong_type);
    g_test_add_func("/hard/B43-shards", test_shards);
    g_test_add_func("/model/clip-open/missing", test_missing);
    g_test_add_func("/model/clip-open/wrong-shape", test_wrong_shape);
    g_test_add_func("/model/clip-open/contradiction", test_contradiction);
    g_test_add_func("/model/clip-open/foreign", test_foreign);
    g_test_add_func("/model/clip-open/no-clip", test_no_clip);
    g_test_add_func("/hard/B38-header-only", test_header_only);
    g_test_add_func("/hard/B36-cut", test_cut);
    g_test_add_func("/hard/B39-unaligned", test_unaligned);
    g_test_add_func("/hard/B37-duplicate", test_duplicate);
    g_test_add_func("/model/clip-open/folders", test_folders);
    g_test_add_func("/model/clip-open/heads", test_heads);
    g_test_add_func("/model/clip-open/rule-of-64", test_rule_of_64);
    g_test_add_func("/model/clip-open/defaults", test_defaults);
    g_test_add_func("/model/clip-open/not-finite", test_not_finite);
    g_test_add_func("/model/clip-open/not-finite-late", test_not_finite_late);
    g_test_add_func("/model/clip-open/tokenizer", test_tokenizer);
    g_test_add_func("/model/clip-open/ids", test_ids_range);
    g_test_add_func("/model/clip-open/batches", test_batches);
    g_test_add_func("/model/clip-open/cancel", test_cancel);
    return g_test_run();
}
