// SPDX-License-Identifier: GPL-3.0-or-later

// Training of a very small CLIP on shapes: resumed, with threads, spoilt.

#include "engine/base/error.h"
#include "engine/base/file.h"
#include "engine/model/clip-trainer.h"
#include "engine/text/bpe-learn.h"

#include <math.h>
#include <string.h>

enum { SIZE = 16, STEPS = 8 };

// What every training here shares.
typedef struct {
    LimnDrawings *drawings;
    LimnLearnedVocabulary *vocabulary;
    LimnTokenizer *tokenizer;
    guint32 names[12];
    char *folder;
} World;

static void
world_set_up(World *w, gconstpointer data)
{
    g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
    w->drawings = limn_drawings_new_shapes(NULL);
    LimnClipSource source = limn_clip_source_of_drawings(w->drawings);
    for (guint i = 0; i < source.n_names; i++)
        for (guint f = 0; f < source.n_frames; f++)
            g_ptr_array_add(texts, source.caption(source.data, i, f));
    g_ptr_array_add(texts, NULL);
    w->vocabulary = limn_bpe_learn((const char *const *) texts->pdata, 100, NULL, NULL);
    w->tokenizer = limn_tokenizer_new_from_vocab(w->vocabulary->vocab, "v",
                                                 w->vocabulary->merges, "m", NULL);
    for (guint i = 0; i < G_N_ELEMENTS(w->names); i++)
        w->names[i] = 4 * i;
    w->folder = g_dir_make_tmp("limn-trainer-XXXXXX", NULL);
}

static void
world_tear_down(World *w, gconstpointer data)
{
    limn_drawings_unref(w->drawings);
    limn_learned_vocabulary_free(w->vocabulary);
    limn_tokenizer_unref(w->tokenizer);
    g_assert_true(limn_remove_tree(w->folder, NULL));
    g_free(w->folder);
}

static LimnClipShape
small_shape(const World *w)
{
    return (LimnClipShape){.image_size = SIZE,
                           .patch = 8,
                           .vision_width = 16,
                           .vision_layers = 2,
                           .vision_heads = 2,
                           .vision_mlp = 24,
                           .vocab = limn_tokenizer_get_size(w->tokenizer),
                           .context = 16,
                           .text_width = 12,
                           .text_layers = 1,
                           .text_heads = 2,
                           .text_mlp = 20,
                           .projection = 8};
}

typedef struct {
    LimnClipNetwork *network;
    LimnClipTrainer *trainer;
    LimnParameters *parameters;
} Training;

static Training
training_new(World *w, LimnJob *job)
{
    g_autoptr(GError) error = NULL;
    LimnClipShape shape = small_shape(w);
    Training t = {.network = limn_clip_network_new(&shape, 3, &error)};
    g_assert_no_error(error);
    t.parameters = limn_clip_network_get_parameters(t.network);
    LimnClipTrainerOptions options;
    limn_clip_trainer_options_init(&options, SIZE);
    options.batch = 6;
    options.steps = STEPS;
    options.warmup = 2;
    options.rate = 1e-2;
    options.sampled_names = 8;
    options.pool_start = 3;
    options.scale_frozen = 0.3;
    options.scenes.augment = 1;
    options.seed = 5;
    LimnClipSource source = limn_clip_source_of_drawings(w->drawings);
    t.trainer = limn_clip_trainer_new(t.network, w->tokenizer, &source, w->names,
                                      G_N_ELEMENTS(w->names), &options, job, &error);
    g_assert_no_error(error);
    return t;
}

static void
training_clear(Training *t)
{
    limn_clip_trainer_free(t->trainer);
    limn_clip_network_free(t->network);
}

static void
run_steps(Training *t, int n)
{
    g_autoptr(GError) error = NULL;
    for (int i = 0; i < n; i++) {
        LimnClipTrainerStep info;
        limn_clip_trainer_step(t->trainer, &info, &error);
        g_assert_no_error(error);
        g_assert_true(isfinite(info.loss));
        g_assert_false(info.skipped);
    }
}

static void
assert_same_weights(const Training *a, const Training *b)
{
    gsize n = (gsize) limn_parameters_get_length(a->parameters) * sizeof(float);
    g_assert_cmpmem(limn_parameters_get_block(a->parameters), n,
                    limn_parameters_get_block(b->parameters), n);
}

static void
test_resume(World *w, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(w->folder, "half.safetensors", NULL);
    Training whole = training_new(w, NULL), first = training_new(w, NULL),
             second = training_new(w, NULL);
    LimnCheckpointState state = {"clip-train", "{}", 5, {0}};
    run_steps(&whole, STEPS);
    run_steps(&first, 3);
    g_assert_true(limn_checkpoint_save(path, first.parameters,
                                       limn_clip_trainer_get_optimizer(first.trainer),
                                       &state, &error));
    LimnClipAccuracy accuracy; // looking at it between changes nothing
    g_assert_true(limn_clip_trainer_evaluate(second.trainer, w->names, 12, 0, 7, 1,
                                             &accuracy, &error));
    g_assert_true(limn_checkpoint_load(path, second.parameters,
                                       limn_clip_trainer_get_optimizer(second.trainer),
                                       &state, &error));
    g_assert_cmpint(limn_clip_trainer_get_step(second.trainer), ==, 3);
    run_steps(&second, STEPS - 3);
    assert_same_weights(&whole, &second);
    training_clear(&whole);
    training_clear(&first);
    training_clear(&second);
}

static void
test_threads(World *w, gconstpointer data)
{
    g_autoptr(LimnJob) one = limn_job_new(), three = limn_job_new();
    limn_job_set_threads(one, 1);
    limn_job_set_threads(three, 3);
    Training a = training_new(w, one), b = training_new(w, three);
    run_steps(&a, STEPS);
    run_steps(&b, STEPS);
    assert_same_weights(&a, &b);
    training_clear(&a);
    training_clear(&b);
}

static void
test_learns(World *w, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    Training t = training_new(w, NULL);
    g_autofree float *before =
        g_memdup2(limn_parameters_get_block(t.parameters),
                  (gsize) limn_parameters_get_length(t.parameters) * sizeof(float));
    LimnClipTrainerStep first, last = {0};
    g_assert_true(limn_clip_trainer_step(t.trainer, &first, &error));
    for (int i = 1; i < STEPS; i++)
        g_assert_true(limn_clip_trainer_step(t.trainer, &last, &error));
    g_assert_cmpint(last.step, ==, STEPS - 1);
    g_assert_cmpuint(first.pool, ==, 3);
    g_assert_cmpuint(last.pool, ==, 12); // all names are in after half of the steps
    // Every parameter has moved: nothing is cut off from the loss.
    for (guint p = 0; p < limn_parameters_get_n(t.parameters); p++) {
        const LimnParameterInfo *info = limn_parameters_get_info(t.parameters, (int) p);
        g_assert_cmpint(memcmp(before + info->offset,
                               limn_parameters_get_values(t.parameters, (int) p),
                               (gsize) info->length * sizeof(float)),
                        !=, 0);
    }
    training_clear(&t);
}

// ---- spoilt

static void
test_other_shape(World *w, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = g_build_filename(w->folder, "other.safetensors", NULL);
    LimnClipShape shape = small_shape(w);
    shape.projection = 10;
    g_autoptr(LimnClipNetwork) other = limn_clip_network_new(&shape, 1, &error);
    LimnCheckpointState state = {"clip-train", "{}", 5, {0}};
    g_assert_true(limn_checkpoint_save(path, limn_clip_network_get_parameters(other),
                                       NULL, &state, &error));
    Training t = training_new(w, NULL);
    g_assert_false(limn_checkpoint_load(path, t.parameters, NULL, &state, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH);
    g_assert_nonnull(strstr(error->message, "other.safetensors"));
    g_assert_nonnull(strstr(error->message, "projection.weight"));
    g_assert_nonnull(strstr(error->message, "[10, 16]"));
    g_assert_nonnull(strstr(error->message, "[8, 16]"));
    training_clear(&t);
}

static void
test_exploding(World *w, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    Training t = training_new(w, NULL);
    run_steps(&t, 2);
    int index = limn_parameters_find(t.parameters, "vision_model.post_layernorm.weight");
    g_assert_cmpint(index, >=, 0);
    limn_parameters_get_values(t.parameters, index)[0] = NAN;
    LimnClipTrainerStep info;
    for (int i = 0; i < 2; i++) { // tolerated, and said
        g_assert_true(limn_clip_trainer_step(t.trainer, &info, &error));
        g_assert_true(info.skipped);
    }
    g_assert_false(limn_clip_trainer_step(t.trainer, &info, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FAILED);
    g_assert_nonnull(strstr(error->message, "step 4"));
    training_clear(&t);
}

// A model that tells nothing apart, or gives no numbers, knows nothing.
static void
test_accuracy_of_nothing(World *w, gconstpointer data)
{
    const float spoilt[] = {0, NAN};
    for (gsize k = 0; k < G_N_ELEMENTS(spoilt); k++) {
        g_autoptr(GError) error = NULL;
        LimnClipAccuracy accuracy;
        Training t = training_new(w, NULL);
        int index = limn_parameters_find(t.parameters, "text_projection.weight");
        limn_parameters_fill(t.parameters, index, spoilt[k]);
        g_assert_true(limn_clip_trainer_evaluate(t.trainer, w->names, 12, 0, 60, 1,
                                                 &accuracy, &error));
        g_assert_cmpint(accuracy.n, ==, 60);
        g_assert_cmpfloat(accuracy.top1, ==, 0);
        g_assert_cmpfloat(accuracy.top5, ==, 0);
        training_clear(&t);
    }
}

static void
test_cancel(World *w, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnJob) job = limn_job_new();
    Training t = training_new(w, job), untouched = training_new(w, NULL);
    LimnClipTrainerStep info;
    LimnClipAccuracy accuracy;
    limn_job_cancel(job);
    g_assert_false(limn_clip_trainer_step(t.trainer, &info, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    g_clear_error(&error);
    g_assert_false(
        limn_clip_trainer_evaluate(t.trainer, w->names, 12, 0, 5, 1, &accuracy, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    assert_same_weights(&t, &untouched);
    training_clear(&t);
    training_clear(&untouched);
}

static void
expect_shape(const LimnClipShape *shape, LimnErrorCode code)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(limn_clip_network_new(shape, 1, &error));
    g_assert_error(error, LIMN_ERROR, (gint) code);
}

static void
test_shapes(World *w, gconstpointer data)
{
    LimnClipShape shape = small_shape(w);
    shape.patch = 5;
    expect_shape(&shape, LIMN_ERROR_ARGUMENT);
    shape = small_shape(w);
    shape.text_heads = 5;
    expect_shape(&shape, LIMN_ERROR_ARGUMENT);
    shape = small_shape(w);
    shape.vision_width = shape.vision_heads = 0;
    expect_shape(&shape, LIMN_ERROR_ARGUMENT);
    shape = small_shape(w);
    shape.vision_layers = 65;
    expect_shape(&shape, LIMN_ERROR_ARGUMENT);
    shape = small_shape(w); // refused before memory is touched
    shape.vision_width = shape.vision_mlp = 1 << 20;
    expect_shape(&shape, LIMN_ERROR_MEMORY);
    shape.vision_width = shape.vision_mlp = 1 << 30;
    expect_shape(&shape, LIMN_ERROR_MEMORY);
}

static void
test_misfit(World *w, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    LimnClipShape shape = small_shape(w);
    shape.vocab++;
    g_autoptr(LimnClipNetwork) network = limn_clip_network_new(&shape, 1, &error);
    LimnClipTrainerOptions options;
    limn_clip_trainer_options_init(&options, SIZE);
    LimnClipSource source = limn_clip_source_of_drawings(w->drawings);
    g_assert_null(limn_clip_trainer_new(network, w->tokenizer, &source, w->names, 12,
                                        &options, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH);
}

// ---- saved and opened again; a finer grid takes the positions of a coarser one

static void
test_save_and_load(World *w, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    Training t = training_new(w, NULL);
    run_steps(&t, 2);
    LimnClipFiles files = {
        .std = {1, 1, 1}, .vocab = w->vocabulary->vocab, .merges = w->vocabulary->merges};
    g_assert_true(limn_clip_network_save(t.network, &files, w->folder, &error));
    LimnClipShape shape = small_shape(w);
    g_autoptr(LimnClipNetwork) same = limn_clip_network_new(&shape, 99, &error);
    g_assert_true(limn_clip_network_load(same, w->folder, NULL, &error));
    Training back = {.network = same,
                     .parameters = limn_clip_network_get_parameters(same)};
    assert_same_weights(&t, &back);
    shape.image_size = 32;
    g_autoptr(LimnClipNetwork) finer = limn_clip_network_new(&shape, 99, &error);
    g_assert_true(limn_clip_network_load(finer, w->folder, NULL, &error));
    shape.text_width = 14;
    g_autoptr(LimnClipNetwork) other = limn_clip_network_new(&shape, 99, &error);
    g_assert_false(limn_clip_network_load(other, w->folder, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH);
    g_clear_error(&error);
    files.std[1] = INFINITY; // no number that JSON has
    g_assert_false(limn_clip_network_save(t.network, &files, w->folder, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_OUTPUT);
    training_clear(&t);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
#define TEST(name, function)                                                             \
    g_test_add("/clip-trainer/" name, World, NULL, world_set_up, function,               \
               world_tear_down)
    TEST("resume", test_resume);
    TEST("threads", test_threads);
    TEST("learns", test_learns);
    TEST("other-shape", test_other_shape);
    TEST("exploding", test_exploding);
    TEST("accuracy-of-nothing", test_accuracy_of_nothing);
    TEST("cancel", test_cancel);
    TEST("shapes", test_shapes);
    TEST("misfit", test_misfit);
    TEST("save-and-load", test_save_and_load);
    return g_test_run();
}
