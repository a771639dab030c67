// SPDX-License-Identifier: GPL-3.0-or-later

// Optimisers, checkpoints and properties of training in float32.

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/nn/checkpoint.h"
#include "engine/nn/ops.h"

#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

enum { POINTS = 64, FEATURES = 8, HIDDEN = 32, CLASSES = 3 };

typedef struct {
    LimnParameters *parameters;
    LimnOptimizer *optimizer;
    LimnTape *tape;
    float x[POINTS * FEATURES];
    gint32 y[POINTS];
    int w1, b1, w2, b2;
} Mlp;

static void
mlp_setup(Mlp *m, LimnJob *job)
{
    memset(m, 0, sizeof *m);
    m->parameters = limn_parameters_new();
    m->w1 = limn_parameters_add(m->parameters, "w1", 2, (gint64[]){HIDDEN, FEATURES});
    m->b1 = limn_parameters_add(m->parameters, "b1", 1, (gint64[]){HIDDEN});
    m->w2 = limn_parameters_add(m->parameters, "w2", 2, (gint64[]){CLASSES, HIDDEN});
    m->b2 = limn_parameters_add(m->parameters, "b2", 1, (gint64[]){CLASSES});
    g_assert_true(limn_parameters_allocate(m->parameters, NULL));
    limn_parameters_fill_normal(m->parameters, m->w1, 1, 1, 0.3);
    limn_parameters_fill_normal(m->parameters, m->w2, 1, 2, 0.2);
    LimnOptimizerOptions options;
    limn_optimizer_options_init(&options, LIMN_OPTIMIZER_ADAMW);
    options.schedule.lr = 0.01;
    options.weight_decay = 0.001;
    options.clip_norm = 1;
    m->optimizer = limn_optimizer_new(m->parameters, &options, NULL);
    m->tape = limn_tape_new(job);
    LimnRng rng = limn_rng_make(5, 5);
    for (int i = 0; i < POINTS * FEATURES; i++)
        m->x[i] = limn_rng_normal(&rng);
    for (int i = 0; i < POINTS; i++)
        m->y[i] = (gint32) limn_rng_below(&rng, CLASSES);
}

static void
mlp_clear(Mlp *m)
{
    limn_optimizer_free(m->optimizer);
    limn_parameters_free(m->parameters);
    limn_tape_free(m->tape);
}

static LimnTensor *
mlp_logits(Mlp *m)
{
    LimnTape *t = m->tape;
    LimnTensor *x = limn_tape_input(t, 2, (gint64[]){POINTS, FEATURES}, m->x);
    LimnTensor *h = limn_nn_linear(t, x, limn_parameters_leaf(m->parameters, m->w1, t),
                                   limn_parameters_leaf(m->parameters, m->b1, t));
    return limn_nn_linear(t, limn_nn_relu(t, h),
                          limn_parameters_leaf(m->parameters, m->w2, t),
                          limn_parameters_leaf(m->parameters, m->b2, t));
}

static float
mlp_step(Mlp *m)
{
    g_autoptr(GError) error = NULL;
    limn_tape_reset(m->tape);
    limn_parameters_zero_gradients(m->parameters);
    LimnTensor *y = limn_tape_input_int(m->tape, 1, (gint64[]){POINTS}, m->y);
    LimnTensor *loss = limn_nn_cross_entropy(m->tape, mlp_logits(m), y, NULL);
    limn_tape_backward(m->tape, loss, NULL, &error);
    g_assert_no_error(error);
    float value = limn_tensor_item(loss);
    limn_optimizer_step(m->optimizer, NULL, &error);
    g_assert_no_error(error);
    return value;
}

static gsize
block_bytes(Mlp *m)
{
    return (gsize) limn_parameters_get_length(m->parameters) * sizeof(float);
}

static void
test_overfit(void)
{
    Mlp m;
    mlp_setup(&m, NULL);
    for (int i = 0; i < 500; i++)
        mlp_step(&m);
    limn_tape_reset(m.tape);
    LimnTensor *best = limn_nn_argmax(m.tape, mlp_logits(&m), 1);
    for (int i = 0; i < POINTS; i++)
        g_assert_cmpint(limn_tensor_i32(best)[i], ==, m.y[i]);
    mlp_clear(&m);
}

static void
test_threads(void)
{
    Mlp one, three;
    g_autoptr(LimnJob) many = limn_job_new();
    limn_job_set_threads(many, 3);
    mlp_setup(&one, NULL);
    mlp_setup(&three, many);
    for (int i = 0; i < 5; i++) {
        mlp_step(&one);
        mlp_step(&three);
    }
    g_assert_cmpmem(limn_parameters_get_block(one.parameters), block_bytes(&one),
                    limn_parameters_get_block(three.parameters), block_bytes(&three));
    mlp_clear(&one);
    mlp_clear(&three);
}

static void
test_no_allocation(void)
{
    Mlp m;
    mlp_setup(&m, NULL);
    mlp_step(&m);
    mlp_step(&m);
    guint before = limn_tape_get_n_allocations(m.tape);
    for (int i = 0; i < 20; i++)
        mlp_step(&m);
    g_assert_cmpuint(limn_tape_get_n_allocations(m.tape), ==, before);
    mlp_clear(&m);
}

static void
test_resume(void)
{
    g_autofree char *folder = g_dir_make_tmp("limn-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "half.safetensors", NULL);
    g_autoptr(GError) error = NULL;
    LimnCheckpointState state = {"test", "{}", 42, {1, 2, 3}},
                        back = {"test", "{}", 0, {0}};
    Mlp whole, first, second;
    mlp_setup(&whole, NULL);
    for (int i = 0; i < 20; i++)
        mlp_step(&whole);
    mlp_setup(&first, NULL);
    for (int i = 0; i < 10; i++)
        mlp_step(&first);
    limn_checkpoint_save(path, first.parameters, first.optimizer, &state, &error);
    g_assert_no_error(error);
    mlp_setup(&second, NULL);
    limn_checkpoint_load(path, second.parameters, second.optimizer, &back, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(back.seed, ==, 42);
    g_assert_cmpint(back.counters[2], ==, 3);
    for (int i = 0; i < 10; i++)
        mlp_step(&second);
    g_assert_cmpmem(limn_parameters_get_block(whole.parameters), block_bytes(&whole),
                    limn_parameters_get_block(second.parameters), block_bytes(&second));
    // Another kind, another configuration: refused by name.
    LimnCheckpointState other = {"other", "{}", 0, {0}};
    g_assert_false(
        limn_checkpoint_load(path, second.parameters, second.optimizer, &other, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH);
    g_clear_error(&error);
    LimnCheckpointState changed = {"test", "{\"width\": 3}", 0, {0}};
    g_assert_false(limn_checkpoint_load(path, second.parameters, second.optimizer,
                                        &changed, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH);
    g_unlink(path);
    g_rmdir(folder);
    mlp_clear(&whole);
    mlp_clear(&first);
    mlp_clear(&second);
}

static void
test_divergence(void)
{
    Mlp m;
    mlp_setup(&m, NULL);
    g_autoptr(GError) error = NULL;
    LimnStepInfo info;
    g_autofree float *before =
        g_memdup2(limn_parameters_get_block(m.parameters), block_bytes(&m));
    limn_parameters_get_gradient_block(m.parameters)[0] = NAN;
    g_assert_true(limn_optimizer_step(m.optimizer, &info, &error));
    g_assert_true(info.skipped);
    g_assert_true(limn_optimizer_step(m.optimizer, &info, &error));
    g_assert_false(limn_optimizer_step(m.optimizer, &info, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_FAILED);
    g_assert_cmpmem(before, block_bytes(&m), limn_parameters_get_block(m.parameters),
                    block_bytes(&m));
    mlp_clear(&m);
}

static void
test_cancel(void)
{
    g_autoptr(LimnJob) job = limn_job_new();
    Mlp m;
    mlp_setup(&m, job);
    limn_job_cancel(job);
    LimnTensor *out = mlp_logits(&m);
    g_assert_true(out->flags & LIMN_TENSOR_POISONED);
    g_autoptr(GError) error = NULL;
    g_assert_false(limn_tape_check(m.tape, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    mlp_clear(&m);
}

static void
test_schedules(void)
{
    LimnSchedule s = {.kind = LIMN_SCHEDULE_WARMUP_COSINE,
                      .lr = 1,
                      .warmup = 4,
                      .warmup_first = 1,
                      .total = 12};
    g_assert_cmpfloat_with_epsilon(limn_schedule_rate(&s, 0), 0.25, 1e-12);
    g_assert_cmpfloat_with_epsilon(limn_schedule_rate(&s, 3), 1, 1e-12);
    g_assert_cmpfloat_with_epsilon(limn_schedule_rate(&s, 8), 0.5, 1e-12);
    g_assert_cmpfloat_with_epsilon(limn_schedule_rate(&s, 12), 0, 1e-12);
    s.kind = LIMN_SCHEDULE_WARMUP_LINEAR;
    g_assert_cmpfloat_with_epsilon(limn_schedule_rate(&s, 10), 0.25, 1e-12);
    LimnSchedule steps = {
        .kind = LIMN_SCHEDULE_STEPS, .lr = 2, .period = 3, .factor = 0.5};
    g_assert_cmpfloat_with_epsilon(limn_schedule_rate(&steps, 7), 0.5, 1e-12);
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nn/training/overfit", test_overfit);
    g_test_add_func("/nn/training/threads", test_threads);
    g_test_add_func("/nn/training/no-allocation", test_no_allocation);
    g_test_add_func("/nn/training/resume", test_resume);
    g_test_add_func("/nn/training/divergence", test_divergence);
    g_test_add_func("/nn/training/cancel", test_cancel);
    g_test_add_func("/nn/training/schedules", test_schedules);
    return g_test_run();
}
