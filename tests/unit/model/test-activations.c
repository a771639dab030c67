// SPDX-License-Identifier: GPL-3.0-or-later

// Recorded layers against the pass through the tower that explanations use.

#include <math.h>
#include <string.h>

#include "clip-testing.h"
#include "engine/model/activations.h"
#include "engine/model/clip-private.h"
#include "engine/model/pass.h"
#include "tests/unit/loader-test.h"

typedef struct {
    char *path;
    LimnClip *clip;
    LimnArray *pixels; // [3,3,16,16]
} World;

static World
make_world(gboolean gelu)
{
    TestClipSizes sizes = TEST_CLIP_SIZES;
    sizes.gelu = gelu;
    World w = {test_make_model(&sizes, TEST_LAYOUT_HF), NULL, NULL};
    w.clip = test_open(w.path);
    w.pixels = test_pixels(3, 16, 16, 5);
    return w;
}

static void
world_clear(World *w)
{
    limn_clip_unref(w->clip);
    limn_array_unref(w->pixels);
    remove_folder(w->path);
    g_free(w->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(World, world_clear)

static LimnPass *
pass_of(const World *w, gsize i)
{
    g_autoptr(GError) error = NULL;
    gsize rows = 17, width = (gsize) w->clip->config.vision.width;
    float *x = limn_floats_new(rows, width, &error);
    g_assert_true(limn_clip_embed_pixels(w->clip, limn_array_f32(w->pixels) + i * 3 * 256,
                                         16, 16, FALSE, x, NULL, &error));
    LimnPass *pass = limn_pass_new(NULL, &w->clip->vision, rows, 0, FALSE, x, &error);
    g_assert_no_error(error);
    return pass;
}

static float *
record(const World *w, const char *name, LimnPooling pooling, LimnRecord *record,
       LimnJob *job)
{
    g_autoptr(GError) error = NULL;
    LimnLayer layer;
    g_assert_true(limn_layer_parse(w->clip, "layer", name, &layer, &error));
    gsize size = 3 * (gsize) limn_layer_width(w->clip, &layer);
    float *pooled = g_new(float, size);
    record->pooled = pooled;
    g_assert_true(limn_layer_record_pixels(w->clip, &layer, pooling, w->pixels, record,
                                           job, &error));
    g_assert_no_error(error);
    return pooled;
}

// rows [17,width] pooled.
static double
pool(const float *rows, gsize width, gsize unit, LimnPooling pooling)
{
    double sum = 0, largest = -INFINITY;
    for (gsize r = 0; r < 17; r++) {
        sum += rows[r * width + unit];
        largest = fmax(largest, rows[r * width + unit]);
    }
    return pooling == LIMN_POOL_FIRST ? rows[unit]
           : pooling == LIMN_POOL_AVG ? sum / 17
                                      : largest;
}

// What block 1 computed, by the pass: its output, the attention's part, act(z).
static void
test_parts(void)
{
    static const char *const names[] = {"vision.1.residual", "vision.1.attention",
                                        "vision.1.mlp"};
    for (int gelu = 0; gelu < 2; gelu++) {
        g_auto(World) w = make_world(gelu);
        gsize width = 32, mlp = 80, widths[] = {width, width, mlp};
        for (int part = 0; part < 3; part++) {
            for (int p = 0; p < 3; p++) {
                LimnRecord r = {0};
                g_autofree float *got =
                    record(&w, names[part], (LimnPooling) p, &r, NULL);
                for (gsize i = 0; i < 3; i++) {
                    g_autoptr(GError) error = NULL;
                    g_autoptr(LimnPass) pass = pass_of(&w, i);
                    LimnChain *chain = limn_pass_get_chain(NULL, pass, FALSE, 2, &error);
                    g_autoptr(LimnBlockTrace) temporary = NULL;
                    const LimnBlockTrace *t =
                        limn_chain_get_trace(NULL, chain, 0, &temporary, &error);
                    float *none = NULL;
                    const float *y = limn_pass_get_input(NULL, pass, 2, &none, &error);
                    g_autofree float *rows = g_new(float, 17 * 80);
                    if (part == 0) {
                        memcpy(rows, y, 17 * width * sizeof *rows);
                    } else if (part == 1) {
                        for (gsize k = 0; k < 17 * width; k++) {
                            rows[k] = t->u[k] - t->x[k];
                        }
                    } else {
                        limn_kernel_activation(NULL, w.clip->config.vision.activation,
                                               17 * mlp, t->z, rows);
                    }
                    for (gsize u = 0; u < widths[part]; u++) {
                        g_assert_cmpfloat_with_epsilon(
                            got[i * widths[part] + u],
                            pool(rows, widths[part], u, (LimnPooling) p), 2e-5);
                    }
                }
            }
        }
    }
}

static void
test_embeddings(void)
{
    g_auto(World) w = make_world(FALSE);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnArray) expected =
        limn_clip_encode_pixels(w.clip, w.pixels, NULL, &error);
    static const char *const names[] = {"vision.0.mlp", "vision.2.residual"};
    for (int l = 0; l < 2; l++) {
        float embeddings[3 * 16];
        LimnRecord r = {.embeddings = embeddings};
        g_autofree float *pooled = record(&w, names[l], LIMN_POOL_FIRST, &r, NULL);
        for (gsize i = 0; i < 48; i++) {
            g_assert_cmpfloat_with_epsilon(embeddings[i], limn_array_f32(expected)[i],
                                           1e-5);
        }
        // The stream of the class token behind the last block is what is projected.
        if (l == 1) {
            float f[3 * 16];
            g_assert_true(
                limn_tower_project(NULL, &w.clip->vision, 3, pooled, f, &error));
            for (gsize i = 0; i < 48; i++) {
                g_assert_cmpfloat_with_epsilon(f[i], embeddings[i], 1e-5);
            }
        }
    }
}

static void
test_maps(void)
{
    g_auto(World) w = make_world(FALSE);
    float map[3 * 16];
    LimnRecord r = {.map = map, .map_unit = 7};
    g_autofree float *largest = record(&w, "vision.1.mlp", LIMN_POOL_MAX, &r, NULL);
    LimnRecord plain = {0};
    g_autofree float *first = record(&w, "vision.1.mlp", LIMN_POOL_FIRST, &plain, NULL);
    for (gsize i = 0; i < 3; i++) { // the maximum is of the map and the class token
        float most = first[i * 80 + 7];
        for (gsize c = 0; c < 16; c++) {
            most = MAX(most, map[i * 16 + c]);
        }
        g_assert_cmpfloat(most, ==, largest[i * 80 + 7]);
    }
}

static void
test_threads(void)
{
    g_auto(World) w = make_world(FALSE);
    g_autoptr(LimnJob) one = limn_job_new(), many = limn_job_new();
    LimnRecord r = {0};
    limn_job_set_threads(many, 4);
    g_autofree float *a = record(&w, "vision.2.attention", LIMN_POOL_AVG, &r, one);
    g_autofree float *b = record(&w, "vision.2.attention", LIMN_POOL_AVG, &r, many);
    g_assert_cmpmem(a, 96 * sizeof *a, b, 96 * sizeof *b);
}

static void
test_names(void)
{
    g_auto(World) w = make_world(FALSE);
    g_autoptr(GError) error = NULL;
    g_autoptr(GArray) layers = limn_clip_list_layers(w.clip);
    g_assert_cmpuint(layers->len, ==, 3 * 3 + 2 * 3);
    for (guint i = 0; i < layers->len; i++) {
        const LimnLayer *layer = &g_array_index(layers, LimnLayer, i);
        g_autofree char *name = limn_layer_dup_name(layer);
        LimnLayer again;
        g_assert_true(limn_layer_parse(w.clip, "layer", name, &again, &error));
        g_assert_cmpint(again.text, ==, layer->text);
        g_assert_cmpint(again.block, ==, layer->block);
        g_assert_cmpint(again.part, ==, layer->part);
    }
    LimnLayer last;
    g_assert_true(limn_layer_parse(w.clip, "layer", NULL, &last, &error));
    g_assert_true(!last.text && last.block == 2 && last.part == LIMN_LAYER_MLP);
    g_assert_cmpint(limn_layer_width(w.clip, &last), ==, 80);
    static const char *const bad[] = {"vision.3.mlp", "vision.-1.mlp", "text.2.mlp",
                                      "vision.1",     "vision.1.head", "mlp",
                                      "vision.x.mlp", "vision.1.mlp.2"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_assert_false(limn_layer_parse(w.clip, "layer", bad[i], &last, &error));
        assert_refused(&error, LIMN_ERROR_ARGUMENT, "layer=", bad[i],
                       "vision.0 to vision.2", "text.0 to text.1", NULL);
    }
}

// The built-in model brings a vocabulary.
static void
test_texts(void)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnClip) clip = limn_clip_open(NULL, 0, NULL, &error);
    g_assert_no_error(error);
    const char *const texts[] = {"a photo of a dog", "cat", "a red heart and a bus",
                                 NULL};
    g_autoptr(LimnArray) expected = limn_clip_encode_texts(clip, texts, NULL, &error);
    LimnLayer layer;
    g_assert_true(limn_layer_parse(clip, "layer", "text.1.residual", &layer, &error));
    gsize width = (gsize) limn_layer_width(clip, &layer);
    gsize embedding = (gsize) limn_clip_get_config(clip)->projection;
    g_autofree float *pooled = g_new(float, 3 * width), *alone = g_new(float, width);
    g_autofree float *embeddings = g_new(float, 3 * embedding);
    LimnRecord r = {.pooled = pooled, .embeddings = embeddings};
    g_assert_true(
        limn_layer_record_texts(clip, &layer, LIMN_POOL_AVG, texts, 3, &r, NULL, &error));
    for (gsize i = 0; i < 3 * embedding; i++) {
        g_assert_cmpfloat_with_epsilon(embeddings[i], limn_array_f32(expected)[i], 1e-4);
    }
    LimnRecord one = {.pooled = alone}; // together as alone
    g_assert_true(limn_layer_record_texts(clip, &layer, LIMN_POOL_AVG, texts + 1, 1, &one,
                                          NULL, &error));
    for (gsize i = 0; i < width; i++) {
        g_assert_cmpfloat_with_epsilon(alone[i], pooled[width + i], 1e-4);
    }
}

static void
test_bad_pixels(void)
{
    g_auto(World) w = make_world(FALSE);
    g_autoptr(LimnArray) odd = test_pixels(1, 15, 16, 1);
    g_autoptr(GError) error = NULL;
    float pooled[80];
    LimnRecord r = {.pooled = pooled};
    LimnLayer layer = {FALSE, 0, LIMN_LAYER_MLP};
    g_assert_false(
        limn_layer_record_pixels(w.clip, &layer, LIMN_POOL_FIRST, odd, &r, NULL, &error));
    assert_refused(&error, LIMN_ERROR_MISMATCH, "15", NULL);
    g_autoptr(LimnArray) broken = test_pixels(1, 16, 16, 1);
    limn_array_f32(broken)[4] = NAN;
    g_assert_false(limn_layer_record_pixels(w.clip, &layer, LIMN_POOL_MAX, broken, &r,
                                            NULL, &error));
    g_assert_nonnull(error);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/activations/parts", test_parts);
    g_test_add_func("/activations/embeddings", test_embeddings);
    g_test_add_func("/activations/maps", test_maps);
    g_test_add_func("/activations/threads", test_threads);
    g_test_add_func("/activations/names", test_names);
    g_test_add_func("/activations/texts", test_texts);
    g_test_add_func("/activations/bad-pixels", test_bad_pixels);
    return g_test_run();
}
