// SPDX-License-Identifier: GPL-3.0-or-later

// The explainer: what it encodes, invariances of its maps, every method's shape and
// determinism, its messages.

#include <math.h>
#include <string.h>

#include "clip-testing.h"
#include "engine/io/json.h"
#include "engine/io/npy.h"
#include "engine/io/picture.h"
#include "engine/model/explainer-attention.h"
#include "engine/model/explainer-grad-eclip.h"
#include "engine/model/explainer-private.h"
#include "engine/model/explainer-rise.h"
#include "tests/unit/loader-test.h"

typedef struct {
    LimnClip *clip;
    LimnExplainer *explainer;
    LimnExplainOptions options;
    LimnArray *pixels; // [3,h,w]
    LimnArray *ids;
} Fixture;

static LimnArray *
first_picture(const LimnArray *batch)
{
    LimnArray *pixels = limn_array_new(LIMN_DTYPE_F32, 3, &batch->shape[1], NULL);
    memcpy(pixels->data, batch->data, (gsize) pixels->length * sizeof(float));
    return pixels;
}

static void
fixture_init_with(Fixture *f, TestCheckpoint *c, int height, int width)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = make_folder();
    test_checkpoint_save(c, folder, "model.safetensors");
    test_write_config(&c->sizes, TEST_LAYOUT_HF, folder);
    f->clip = test_open(folder);
    remove_folder(folder);
    f->explainer = limn_explainer_new(f->clip);
    limn_explain_options_init(&f->options);
    g_autoptr(LimnArray) batch = test_pixels(1, height, width, 4);
    f->pixels = first_picture(batch);
    f->ids = test_ids(&TEST_CLIP_SIZES, 3, 6);
    limn_explainer_set_pixels(f->explainer, f->pixels, NULL, &error);
    g_assert_no_error(error);
}

static void
fixture_init(Fixture *f, int height, int width)
{
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    fixture_init_with(f, c, height, width);
}

static void
fixture_clear(Fixture *f)
{
    limn_explainer_free(f->explainer);
    limn_clip_unref(f->clip);
    limn_array_unref(f->pixels);
    limn_array_unref(f->ids);
}

static LimnExplanation *
explain(Fixture *f, LimnSide side, int text, LimnJob *job, GError **error)
{
    gint32 ids[12];
    for (int i = 0; i < 12; i++) {
        ids[i] = (gint32) limn_array_i64(f->ids)[text * 12 + i];
    }
    return limn_explainer_explain_ids(f->explainer, &f->options, side, ids, 12, job,
                                      error);
}

static LimnExplanation *
explain_well(Fixture *f, LimnSide side, int text)
{
    g_autoptr(GError) error = NULL;
    LimnExplanation *e = explain(f, side, text, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(e);
    return e;
}

static void
cheap_options(LimnExplainOptions *options)
{
    options->rise_masks = 20;
    options->m2ib_steps = 3;
    options->surgery_depth = 2;
}

// The built-in model, from the picture file to the map.
static void
check_builtin_case(LimnExplainer *explainer, const char *folder, json_t *value, int i)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *base =
        g_path_get_basename(json_string_value(json_object_get(value, "picture")));
    g_autofree char *relative = g_build_filename("samples", base, NULL);
    g_autofree char *path = limn_data_path(relative, &error);
    g_autoptr(LimnImage) image = limn_picture_load(path, NULL, &error);
    g_assert_no_error(error);
    limn_explainer_set_image(explainer, image, LIMN_PREPROCESS_CLIP, 0, NULL, &error);
    g_assert_no_error(error);
    LimnExplainOptions options;
    limn_explain_options_init(&options);
    const char *text = json_string_value(json_object_get(value, "text"));
    g_autoptr(LimnExplanation) e =
        limn_explainer_explain(explainer, &options, LIMN_SIDE_BOTH, text, NULL, &error);
    g_assert_no_error(error);
    double cosine = json_number_value(json_object_get(value, "cosine"));
    g_assert_cmpfloat(fabs(e->cosine - cosine), <=, 1e-5);
    json_t *ids = json_object_get(value, "ids");
    g_assert_cmpuint(e->tokens->tokens->len, ==, json_array_size(ids));
    for (guint t = 0; t < e->tokens->tokens->len; t++) {
        g_assert_cmpint(g_array_index(e->tokens->tokens, LimnToken, t).id, ==,
                        (int) json_integer_value(json_array_get(ids, t)));
    }
    g_autofree char *name = g_strdup_printf("map%d.npy", i);
    g_autofree char *map_path = g_build_filename(folder, name, NULL);
    g_autoptr(LimnArray) map = limn_npy_load(map_path, &error);
    g_assert_no_error(error);
    g_assert_true(limn_array_has_shape(e->map, 2, map->shape));
    g_assert_cmpfloat(test_difference(e->map, map), <=, 1e-4);
}

static void
test_builtin(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = data_path("models/emoji-clip/expected");
    g_autofree char *path = g_build_filename(folder, "cases.json", NULL);
    g_autoptr(json_t) root = limn_json_load_object(path, &error);
    g_assert_no_error(error);
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_assert_no_error(error);
    g_assert_false(limn_clip_get_report(clip)->builtin_tokenizer);
    g_autoptr(LimnExplainer) explainer = limn_explainer_new(clip);
    json_t *cases = json_object_get(root, "cases");
    g_assert_cmpuint(json_array_size(cases), >, 0);
    for (gsize i = 0; i < json_array_size(cases); i++) {
        check_builtin_case(explainer, folder, json_array_get(cases, i), (int) i);
    }
}

static LimnImage *
load_sample(const char *name)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *relative = g_strconcat("samples/", name, NULL);
    g_autofree char *path = limn_data_path(relative, &error);
    LimnImage *image = limn_picture_load(path, NULL, &error);
    g_assert_no_error(error);
    return image;
}

// A picture is encoded once; typing never encodes it again.
static void
test_encodings(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_autoptr(LimnExplainer) x = limn_explainer_new(clip);
    g_autoptr(LimnImage) image = load_sample("dog-and-car.png");
    LimnExplainOptions options;
    limn_explain_options_init(&options);
    g_assert_false(limn_explainer_has_image(x));
    g_assert_true(
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_CLIP, 0, NULL, &error));
    g_assert_cmpuint(limn_explainer_get_n_encodings(x), ==, 1);
    g_assert_true(
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_CLIP, 640, NULL, &error));
    g_assert_cmpuint(limn_explainer_get_n_encodings(x), ==, 1);
    static const char *const texts[] = {"a", "a d", "a do", "a dog", "a dog and a car"};
    double cosine = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
        options.layers = 1 + (int) i % 3;
        options.mode = i % 2 == 0 ? LIMN_MODE_FAITHFUL : LIMN_MODE_AUTHORS;
        g_autoptr(LimnExplanation) e =
            limn_explainer_explain(x, &options, LIMN_SIDE_BOTH, texts[i], NULL, &error);
        g_assert_no_error(error);
        cosine = e->cosine;
    }
    g_assert_cmpuint(limn_explainer_get_n_encodings(x), ==, 1);
    // Another size of the same picture: the true score stays, its encoding too.
    g_assert_true(
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_KEEP, 150, NULL, &error));
    g_assert_cmpuint(limn_explainer_get_n_encodings(x), ==, 2);
    options.mode = LIMN_MODE_FAITHFUL;
    g_autoptr(LimnExplanation) kept =
        limn_explainer_explain(x, &options, LIMN_SIDE_IMAGE, texts[4], NULL, &error);
    g_assert_cmpfloat(kept->cosine, ==, cosine);
    g_assert_cmpfloat(kept->mode_score, !=, cosine);
    int gh, gw;
    LimnRect rect;
    limn_explainer_get_grid(x, &gh, &gw, &rect);
    g_assert_true(limn_array_has_shape(kept->map, 2, (gint64[]){gh, gw}));
    g_assert_cmpfloat(rect.width, ==, image->width);
    // Another picture.
    g_autoptr(LimnImage) other = load_sample("music.png");
    g_assert_true(
        limn_explainer_set_image(x, other, LIMN_PREPROCESS_KEEP, 150, NULL, &error));
    g_assert_cmpuint(limn_explainer_get_n_encodings(x), ==, 4);
}

// Shapes, finiteness and repeatability of every method on a picture that is not square.
static void
test_methods(void)
{
    Fixture f;
    fixture_init(&f, 12, 20);
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_threads(job, 2);
    cheap_options(&f.options);
    for (int method = 0; method < LIMN_EXPLAIN_N_METHODS; method++) {
        for (int mode = 0; mode < 2; mode++) {
            f.options.method = method;
            f.options.mode = mode;
            g_autoptr(GError) error = NULL;
            gboolean words = limn_explain_method_has_words(method);
            g_autoptr(LimnExplanation) e = explain_well(&f, LIMN_SIDE_BOTH, 1);
            g_assert_true(limn_array_has_shape(e->map, 2, (gint64[]){3, 5}));
            g_assert_true(limn_kernel_is_finite(limn_array_f32(e->map), 15));
            g_assert_false(e->constant);
            g_assert_true((e->token_weights != NULL) == words);
            g_assert_cmpfloat(fabs(e->mode_score), <=, 1);
            // From scratch, with two threads: the same bytes.
            g_autoptr(LimnExplainer) fresh = limn_explainer_new(f.clip);
            g_assert_true(limn_explainer_set_pixels(fresh, f.pixels, job, &error));
            LimnExplainer *kept = f.explainer;
            f.explainer = fresh;
            g_autoptr(LimnExplanation) again =
                explain(&f, LIMN_SIDE_BOTH, 1, job, &error);
            f.explainer = kept;
            g_assert_no_error(error);
            g_assert_cmpmem(e->map->data, 15 * sizeof(float), again->map->data,
                            15 * sizeof(float));
            g_assert_cmpfloat(e->mode_score, ==, again->mode_score);
            if (words) {
                g_assert_cmpmem(e->token_weights->data,
                                (gsize) e->token_weights->length * sizeof(float),
                                again->token_weights->data,
                                (gsize) again->token_weights->length * sizeof(float));
            }
        }
    }
    fixture_clear(&f);
}

// What depends on the sentence changes with it, what does not stays.
static void
test_dependence(void)
{
    Fixture f;
    fixture_init(&f, 16, 16);
    cheap_options(&f.options);
    for (int method = 0; method < LIMN_EXPLAIN_N_METHODS; method++) {
        f.options.method = method;
        g_autoptr(LimnExplanation) a = explain_well(&f, LIMN_SIDE_IMAGE, 0);
        g_autoptr(LimnExplanation) b = explain_well(&f, LIMN_SIDE_IMAGE, 1);
        gboolean same = test_difference(a->map, b->map) == 0;
        g_assert_cmpint(same, ==, !limn_explain_method_is_text_dependent(method));
        g_assert_cmpfloat(a->cosine, !=, b->cosine);
        g_assert_nonnull(limn_explain_method_id(method));
        g_assert_nonnull(limn_explain_method_title(method));
    }
    fixture_clear(&f);
}

// Seeds matter to the methods that draw, and only to them.
static void
test_seeds(void)
{
    Fixture f;
    fixture_init(&f, 16, 16);
    cheap_options(&f.options);
    for (int method = 0; method < LIMN_EXPLAIN_N_METHODS; method++) {
        f.options.method = method;
        f.options.seed = 1;
        g_autoptr(LimnExplanation) a = explain_well(&f, LIMN_SIDE_IMAGE, 0);
        f.options.seed = 2;
        g_autoptr(LimnExplanation) b = explain_well(&f, LIMN_SIDE_IMAGE, 0);
        gboolean same = test_difference(a->map, b->map) == 0;
        g_assert_cmpint(same, ==, !limn_explain_method_is_slow(method));
    }
    fixture_clear(&f);
}

static void
test_rise_mask(void)
{
    g_autoptr(GError) error = NULL;
    float mask[40 * 23], other[40 * 23];
    double mean = 0;
    for (int i = 0; i < 50; i++) {
        g_assert_true(limn_rise_mask(9, i, 0.5, 40, 23, mask, &error));
        for (int j = 0; j < 40 * 23; j++) {
            g_assert_true(mask[j] >= 0 && mask[j] <= 1);
            mean += (double) mask[j] / (50.0 * 40 * 23);
        }
    }
    g_assert_cmpfloat(fabs(mean - 0.5), <=, 0.06);
    g_assert_true(limn_rise_mask(9, 49, 0.5, 40, 23, other, &error));
    g_assert_cmpmem(mask, sizeof mask, other, sizeof other);
}

// A longer sentence vector points the same way: nothing changes but the embedding.
static void
test_scaled_text(void)
{
    Fixture f, g;
    fixture_init(&f, 16, 16);
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    LimnArray *projection = test_checkpoint_get(c, "text_projection.weight");
    for (gint64 i = 0; i < projection->length; i++) {
        limn_array_f32(projection)[i] *= 4;
    }
    fixture_init_with(&g, c, 16, 16);
    for (int n = 1; n <= 3; n++) {
        f.options.layers = g.options.layers = n;
        g_autoptr(LimnExplanation) a = explain_well(&f, LIMN_SIDE_BOTH, 2);
        g_autoptr(LimnExplanation) b = explain_well(&g, LIMN_SIDE_BOTH, 2);
        g_assert_cmpfloat(test_difference(b->map, a->map), <=, 1e-6);
        g_assert_cmpfloat(test_difference(b->token_weights, a->token_weights), <=, 1e-6);
        g_assert_cmpfloat(fabs(a->cosine - b->cosine), <=, 1e-7);
    }
    fixture_clear(&f);
    fixture_clear(&g);
}

// Swaps patches (1,0) and (2,3) of 4 x 4 in the picture and their rows in the table.
static void
swap_patches(LimnArray *pixels, LimnArray *table)
{
    for (int channel = 0; channel < 3; channel++) {
        for (int y = 0; y < 4; y++) {
            float *a = limn_array_f32(pixels) + channel * 256 + (4 + y) * 16;
            float *b = limn_array_f32(pixels) + channel * 256 + (8 + y) * 16 + 12;
            for (int x = 0; x < 4; x++) {
                float kept = a[x];
                a[x] = b[x];
                b[x] = kept;
            }
        }
    }
    for (int c = 0; c < 32; c++) {
        float *a = limn_array_f32(table) + (1 + 4) * 32 + c;
        float *b = limn_array_f32(table) + (1 + 11) * 32 + c;
        float kept = *a;
        *a = *b;
        *b = kept;
    }
}

static void
test_permutation(void)
{
    g_autoptr(GError) error = NULL;
    Fixture f, g;
    fixture_init(&f, 16, 16);
    g_autoptr(TestCheckpoint) c = test_checkpoint_new(&TEST_CLIP_SIZES, TEST_LAYOUT_HF);
    LimnArray *table =
        test_checkpoint_get(c, "vision_model.embeddings.position_embedding.weight");
    g_autoptr(LimnArray) moved = limn_array_new(LIMN_DTYPE_F32, 3, f.pixels->shape, NULL);
    memcpy(moved->data, f.pixels->data, (gsize) moved->length * sizeof(float));
    swap_patches(moved, table);
    fixture_init_with(&g, c, 16, 16);
    g_assert_true(limn_explainer_set_pixels(g.explainer, moved, NULL, &error));
    for (int method = 0; method < LIMN_EXPLAIN_RISE; method++) {
        f.options.method = g.options.method = method;
        f.options.layers = g.options.layers = 2;
        cheap_options(&f.options);
        cheap_options(&g.options);
        g_autoptr(LimnExplanation) a = explain_well(&f, LIMN_SIDE_IMAGE, 2);
        g_autoptr(LimnExplanation) b = explain_well(&g, LIMN_SIDE_IMAGE, 2);
        float *map = limn_array_f32(a->map);
        float kept = map[4];
        map[4] = map[11];
        map[11] = kept;
        g_assert_cmpfloat(test_difference(b->map, a->map), <=, 5e-6);
    }
    fixture_clear(&f);
    fixture_clear(&g);
}

// Attention times gradient, over all rows, adds up to the gradient times the attention
// output, in both modes.
static void
test_first_order(void)
{
    g_autoptr(GError) error = NULL;
    Fixture f;
    fixture_init(&f, 16, 16);
    LimnPass *pass = f.explainer->pass;
    float target[16] = {0.6f, 0, 0.8f};
    for (int authors = 0; authors < 2; authors++) {
        LimnChain *chain = limn_pass_get_chain(NULL, pass, authors, 1, &error);
        const LimnBlockTrace *trace = chain->traces[0];
        LimnAttention shape = limn_pass_get_shape(pass, authors, TRUE);
        float product[17], o[32];
        double sum = 0;
        g_assert_true(limn_attention_gradient(NULL, chain, target, product, &error));
        for (int i = 0; i < 17; i++) {
            sum += (double) product[i];
        }
        g_auto(LimnGradEclip) result = {0};
        g_assert_true(limn_grad_eclip(NULL, chain, target, LIMN_SIMILARITY_NONE, 1,
                                      &result, &error));
        limn_attention_forward(NULL, &shape, trace->q, trace->k, trace->v, o);
        double whole = limn_kernel_dot(result.gradient, o, 32);
        g_assert_cmpfloat(fabs(sum - whole), <=, 1e-6);
    }
    fixture_clear(&f);
}

// Dear information leaves less of it.
static void
test_bottleneck(void)
{
    Fixture f;
    fixture_init(&f, 16, 16);
    f.options.method = LIMN_EXPLAIN_M2IB;
    f.options.m2ib_steps = 8;
    double left[2] = {0, 0};
    for (int dear = 0; dear < 2; dear++) {
        f.options.m2ib_beta = dear ? 100 : 0.0001;
        g_autoptr(LimnExplanation) e = explain_well(&f, LIMN_SIDE_IMAGE, 0);
        for (int i = 0; i < 16; i++) {
            g_assert_cmpfloat(limn_array_f32(e->map)[i], >=, 0);
            left[dear] += (double) limn_array_f32(e->map)[i];
        }
    }
    g_assert_cmpfloat(left[1], <, 0.7 * left[0]);
    fixture_clear(&f);
}

// Words of the text side: they sum to one, padding only changes them where it may.
static void
test_words(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_autoptr(LimnExplainer) x = limn_explainer_new(clip);
    g_autoptr(LimnImage) image = load_sample("dog-and-car.png");
    g_assert_true(
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_CLIP, 0, NULL, &error));
    LimnExplainOptions options;
    limn_explain_options_init(&options);
    options.text_layers = 3;
    for (int padding = 0; padding < 3; padding++) {
        options.padding = padding;
        g_autoptr(LimnExplanation) e = limn_explainer_explain(
            x, &options, LIMN_SIDE_TEXT, "a photo of a dog and a broccoli", NULL, &error);
        g_assert_no_error(error);
        g_assert_null(e->map);
        g_assert_cmpint((int) e->token_weights->length, ==, e->tokens->end_index - 1);
        g_assert_cmpuint(e->word_weights->len, ==, e->tokens->words->len);
        double tokens = 0, words = 0;
        for (gint64 i = 0; i < e->token_weights->length; i++) {
            tokens += (double) limn_array_f32(e->token_weights)[i];
        }
        for (guint i = 0; i < e->word_weights->len; i++) {
            words += g_array_index(e->word_weights, double, i);
        }
        g_assert_cmpfloat(fabs(tokens - 1), <=, 1e-5);
        g_assert_cmpfloat(fabs(words - 1), <=, 1e-5);
    }
}

static void
assert_word_weights_zero(const LimnExplanation *e)
{
    for (guint i = 0; i < e->word_weights->len; i++) {
        g_assert_cmpfloat(g_array_index(e->word_weights, double, i), ==, 0);
    }
}

// B46: too long, empty, and nothing that raises the score.
static void
test_odd_sentences(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_autoptr(LimnExplainer) x = limn_explainer_new(clip);
    g_autoptr(LimnImage) image = load_sample("dog-and-car.png");
    g_autoptr(LimnJob) job = limn_job_new();
    g_assert_true(
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_CLIP, 0, job, &error));
    LimnExplainOptions options;
    limn_explain_options_init(&options);
    g_autoptr(LimnExplanation) empty =
        limn_explainer_explain(x, &options, LIMN_SIDE_BOTH, "", job, &error);
    g_assert_no_error(error);
    g_assert_cmpint((int) empty->token_weights->length, ==, 0);
    g_assert_true(empty->no_positive_token);
    g_autoptr(GString) text = g_string_new("numbers");
    for (int i = 100; i < 144; i++) {
        g_string_append_printf(text, " %d", i);
    }
    g_autoptr(LimnExplanation) cut =
        limn_explainer_explain(x, &options, LIMN_SIDE_BOTH, text->str, job, &error);
    g_assert_no_error(error);
    g_assert_true(cut->tokens->truncated);
    g_assert_cmpuint(cut->tokens->used_bytes, <, text->len);
    g_autoptr(GPtrArray) told = limn_job_dup_diagnostics(job);
    g_assert_cmpuint(told->len, ==, 1);
    g_assert_nonnull(strstr(((LimnDiagnostic *) told->pdata[0])->message, "32 tokens"));
    g_assert_null(
        limn_explainer_explain(x, &options, LIMN_SIDE_BOTH, "a \xff dog", job, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, NULL, NULL);
    // Known to have no positive token with one block.
    g_autoptr(LimnExplanation) none =
        limn_explainer_explain(x, &options, LIMN_SIDE_BOTH, "an automobile", job, &error);
    g_assert_no_error(error);
    g_assert_true(none->no_positive_token);
    assert_word_weights_zero(none);
}

static LimnImage *
make_picture(int width, int height)
{
    LimnImage *image =
        limn_image_new(width, height, LIMN_PIXELS_RGB, LIMN_DEPTH_U8, NULL);
    for (int i = 0; i < 3 * width * height; i++) {
        ((guint8 *) image->data)[i] = (guint8) (i * 7 % 251);
    }
    return image;
}

// B48: pictures that are not square, in both preprocessing modes.
static void
test_sizes(void)
{
    static const struct {
        int width, height, limit, gw, gh;
    } cases[] = {
        {640, 480, 0, 80, 60},   {224, 223, 0, 28, 28}, {17, 900, 0, 2, 113},
        {640, 480, 120, 20, 15}, {3, 5, 0, 1, 1},
    };
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_autoptr(LimnExplainer) x = limn_explainer_new(clip);
    LimnExplainOptions options;
    limn_explain_options_init(&options);
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(LimnImage) image = make_picture(cases[i].width, cases[i].height);
        int gh, gw;
        LimnRect rect;
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_KEEP, cases[i].limit, NULL,
                                 &error);
        g_assert_no_error(error);
        limn_explainer_get_grid(x, &gh, &gw, &rect);
        g_assert_cmpint(gh, ==, cases[i].gh);
        g_assert_cmpint(gw, ==, cases[i].gw);
        g_assert_true(rect.x == 0 && rect.y == 0 && rect.width == cases[i].width &&
                      rect.height == cases[i].height);
        g_autoptr(LimnExplanation) kept =
            limn_explainer_explain(x, &options, LIMN_SIDE_IMAGE, "a dog", NULL, &error);
        g_assert_no_error(error);
        g_assert_true(limn_array_has_shape(kept->map, 2, (gint64[]){gh, gw}));
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_CLIP, 0, NULL, &error);
        g_assert_no_error(error);
        limn_explainer_get_grid(x, &gh, &gw, &rect);
        g_assert_true(gh == 14 && gw == 14);
        int side = MIN(cases[i].width, cases[i].height);
        g_assert_cmpfloat(fabs(rect.width - side), <=, 0.02 * side);
        g_autoptr(LimnExplanation) cropped =
            limn_explainer_explain(x, &options, LIMN_SIDE_IMAGE, "a dog", NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpfloat(fabs(kept->cosine - cropped->cosine), <=, 1e-6);
    }
    // More patches than attention can hold.
    g_autoptr(LimnImage) huge = make_picture(3000, 2000);
    g_assert_false(
        limn_explainer_set_image(x, huge, LIMN_PREPROCESS_KEEP, 0, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MEMORY, "375 x 250 patches", "keep-limit", NULL);
}

static void
test_classes(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    const char *names[] = {"dog", "car", NULL};
    const char *templates[] = {"a photo of a {}.", "{} and {}", NULL};
    const char *texts[] = {"a photo of a dog.", "dog and dog", NULL};
    g_autoptr(LimnArray) classes =
        limn_clip_encode_classes(clip, names, templates, NULL, &error);
    g_assert_no_error(error);
    g_autoptr(LimnArray) f = limn_clip_encode_texts(clip, texts, NULL, &error);
    g_assert_no_error(error);
    gsize p = (gsize) f->shape[1];
    float *a = limn_array_f32(f), *b = a + p, mean[512];
    limn_unit_vector(a, p, a);
    limn_unit_vector(b, p, b);
    for (gsize i = 0; i < p; i++) {
        mean[i] = a[i] + b[i];
    }
    limn_unit_vector(mean, p, mean);
    for (gsize i = 0; i < p; i++) {
        g_assert_cmpfloat(fabsf(mean[i] - limn_array_f32(classes)[i]), <=, 1e-6f);
    }
    g_autoptr(LimnArray) plain =
        limn_clip_encode_classes(clip, names, NULL, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpfloat(
        fabs(limn_kernel_dot(limn_array_f32(plain), limn_array_f32(plain), p) - 1), <=,
        1e-6);
}

// All prompts at once: CLIP Surgery removes what they share.
static void
test_all(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_autoptr(LimnExplainer) x = limn_explainer_new(clip);
    g_autoptr(LimnImage) image = load_sample("dog-and-car.png");
    g_assert_true(
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_CLIP, 0, NULL, &error));
    LimnExplainOptions options;
    limn_explain_options_init(&options);
    const char *texts[] = {"a dog", "a car", "a tree", NULL};
    g_autoptr(GPtrArray) list =
        limn_explainer_explain_all(x, &options, LIMN_SIDE_BOTH, texts, NULL, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(list->len, ==, 3);
    g_autoptr(LimnExplanation) one =
        limn_explainer_explain(x, &options, LIMN_SIDE_BOTH, "a car", NULL, &error);
    const LimnExplanation *second = list->pdata[1];
    g_assert_cmpmem(one->map->data, (gsize) one->map->length * 4, second->map->data,
                    (gsize) one->map->length * 4);
    options.method = LIMN_EXPLAIN_CLIP_SURGERY;
    for (int norm = 0; norm < 2; norm++) {
        options.surgery_token_norm = norm;
        g_autoptr(GPtrArray) maps =
            limn_explainer_explain_all(x, &options, LIMN_SIDE_BOTH, texts, NULL, &error);
        g_assert_no_error(error);
        for (gint64 i = 0; i < one->map->length; i++) {
            double sum = 0, size = 1e-9;
            for (guint j = 0; j < 3; j++) {
                const LimnExplanation *e = maps->pdata[j];
                sum += (double) limn_array_f32(e->map)[i];
                size = MAX(size, fabs((double) limn_array_f32(e->map)[i]));
            }
            g_assert_cmpfloat(fabs(sum), <=, 1e-5 * size + 1e-7); // the mean is removed
        }
        g_autoptr(LimnExplanation) alone =
            limn_explainer_explain(x, &options, LIMN_SIDE_IMAGE, "a car", NULL, &error);
        g_assert_no_error(error);
        g_assert_cmpfloat(
            test_difference(alone->map, ((LimnExplanation *) maps->pdata[1])->map), >,
            1e-3);
    }
}

static void
test_patch_query(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_autoptr(LimnExplainer) x = limn_explainer_new(clip);
    g_autoptr(LimnImage) image = load_sample("dog-and-car.png");
    LimnExplainOptions options;
    LimnPatchInfo info;
    limn_explain_options_init(&options);
    g_assert_false(limn_explainer_query_patch(x, &options, "a dog", 0, 0, &info, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "no picture", NULL);
    g_assert_true(
        limn_explainer_set_image(x, image, LIMN_PREPROCESS_CLIP, 0, NULL, &error));
    for (int similarity = 0; similarity < 3; similarity++) {
        options.similarity = similarity;
        options.layers = 1 + similarity;
        g_autoptr(LimnExplanation) e =
            limn_explainer_explain(x, &options, LIMN_SIDE_IMAGE, "a dog", NULL, &error);
        double attention = 0;
        for (int i = 0; i < 14 * 14; i++) {
            g_assert_true(limn_explainer_query_patch(x, &options, "a dog", i / 14, i % 14,
                                                     &info, &error));
            g_assert_cmpfloat(info.contribution, ==,
                              (double) limn_array_f32(e->signed_map)[i]);
            g_assert_true(info.weight >= 0 && info.weight <= 1);
            g_assert_cmpfloat(fabs(info.cosine), <=, 1);
            attention += info.attention;
        }
        g_assert_true(attention > 0 && attention < 1);
    }
    g_assert_cmpuint(limn_explainer_get_n_encodings(x), ==, 1);
    g_assert_false(
        limn_explainer_query_patch(x, &options, "a dog", 14, 0, &info, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "row 14", NULL);
}

// One patch: min and max of the weights are equal, which is told instead of divided.
static void
test_constant(void)
{
    Fixture f;
    fixture_init(&f, 4, 4);
    g_autoptr(LimnExplanation) e = explain_well(&f, LIMN_SIDE_IMAGE, 0);
    g_assert_true(e->constant);
    g_assert_cmpfloat(limn_array_f32(e->map)[0], ==, 0);
    fixture_clear(&f);
}

static void
test_refusals(void)
{
    g_autoptr(GError) error = NULL;
    Fixture f;
    fixture_init(&f, 16, 16);
    g_autoptr(LimnExplainer) bare = limn_explainer_new(f.clip);
    g_assert_null(
        limn_explainer_explain(bare, &f.options, LIMN_SIDE_BOTH, "x", NULL, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "no picture", NULL);
    f.options.layers = 4;
    g_assert_null(explain(&f, LIMN_SIDE_IMAGE, 0, NULL, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "4 blocks", "1 to 3", NULL);
    f.options.layers = 1;
    f.options.text_layers = 3;
    g_assert_null(explain(&f, LIMN_SIDE_TEXT, 0, NULL, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "3 blocks", "1 to 2", NULL);
    f.options.method = LIMN_EXPLAIN_ROLLOUT;
    g_assert_null(explain(&f, LIMN_SIDE_TEXT, 0, NULL, &error));
    assert_refused(&error, LIMN_ERROR_ARGUMENT, "Rollout", "no text side", NULL);
    g_autoptr(LimnArray) flat = limn_array_new_f32_2d(4, 4, NULL);
    g_assert_false(limn_explainer_set_pixels(f.explainer, flat, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "[4, 4]", NULL);
    // The picture that was there still is.
    g_assert_true(limn_explainer_has_image(f.explainer));
    f.options.method = LIMN_EXPLAIN_GRAD_ECLIP;
    limn_explanation_free(explain_well(&f, LIMN_SIDE_IMAGE, 0));
    fixture_clear(&f);
}

// Cancelling leaves an explainer that works.
static void
test_cancel(void)
{
    Fixture f;
    fixture_init(&f, 16, 16);
    cheap_options(&f.options);
    for (int method = 0; method < LIMN_EXPLAIN_N_METHODS; method++) {
        g_autoptr(GError) error = NULL;
        g_autoptr(LimnJob) job = limn_job_new();
        f.options.method = method;
        limn_job_cancel(job);
        g_assert_null(explain(&f, LIMN_SIDE_IMAGE, 2, job, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
        g_autoptr(LimnExplanation) e = explain_well(&f, LIMN_SIDE_IMAGE, 2);
        g_assert_nonnull(e->map);
    }
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(GError) error = NULL;
    limn_job_cancel(job);
    g_assert_false(limn_explainer_set_pixels(f.explainer, f.pixels, job, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    g_assert_true(limn_explainer_has_image(f.explainer));
    fixture_clear(&f);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/model/explainer/built-in", test_builtin);
    g_test_add_func("/model/explainer/encodings", test_encodings);
    g_test_add_func("/model/explainer/methods", test_methods);
    g_test_add_func("/model/explainer/dependence", test_dependence);
    g_test_add_func("/model/explainer/seeds", test_seeds);
    g_test_add_func("/model/explainer/rise-mask", test_rise_mask);
    g_test_add_func("/model/explainer/scaled-text", test_scaled_text);
    g_test_add_func("/model/explainer/permutation", test_permutation);
    g_test_add_func("/model/explainer/first-order", test_first_order);
    g_test_add_func("/model/explainer/bottleneck", test_bottleneck);
    g_test_add_func("/model/explainer/words", test_words);
    g_test_add_func("/hard/B46-odd-sentences", test_odd_sentences);
    g_test_add_func("/hard/B48-sizes", test_sizes);
    g_test_add_func("/model/clip/classes", test_classes);
    g_test_add_func("/model/explainer/all", test_all);
    g_test_add_func("/model/explainer/patch", test_patch_query);
    g_test_add_func("/model/explainer/constant", test_constant);
    g_test_add_func("/model/explainer/refusals", test_refusals);
    g_test_add_func("/model/explainer/cancel", test_cancel);
    return g_test_run();
}
