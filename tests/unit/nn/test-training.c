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

// Cancelled while the last operation runs: what it left out must not pass for a result.
static void
test_cancel_late(void)
{
    g_autoptr(LimnJob) job = limn_job_new();
    g_autoptr(GError) error = NULL;
    Mlp m;
    mlp_setup(&m, job);
    LimnTensor *loss = limn_nn_mean(m.tape, mlp_logits(&m), NULL, 0, FALSE);
    g_assert_true(limn_tape_check(m.tape, NULL));
    limn_job_cancel(job);
    g_assert_false(limn_tape_check(m.tape, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    g_clear_error(&error);
    g_assert_false(limn_tape_backward(m.tape, loss, NULL, &error));
    g_assert_error(error, LIMN_ERROR, LIMN_ERROR_CANCELLED);
    mlp_clear(&m);
}

// ---- recomputed segments

// tanh(x w) + x, twice
static LimnTensor *
residual(LimnTape *tape, LimnTensor *const *in, gsize n_in, gpointer user_data)
{
    LimnTensor *x = in[0];
    for (int i = 0; i < 2; i++) {
        LimnTensor *h = limn_nn_matmul(tape, x, in[1], FALSE, FALSE);
        x = limn_nn_add(tape, limn_nn_tanh(tape, h), x);
    }
    return x;
}

enum { SEGMENTS = 4, WIDTH = 6 };

// Several segments between ordinary operations of the same sizes, so that each finds
// buffers that others gave back. Gradient of the weights in `gradient`.
static void
run_segments(gboolean recompute, gboolean input_only, float *gradient)
{
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    g_autoptr(GError) error = NULL;
    float x[WIDTH * WIDTH], w[WIDTH * WIDTH];
    LimnRng rng = limn_rng_make(3, 3);
    for (int i = 0; i < WIDTH * WIDTH; i++) {
        x[i] = limn_rng_normal(&rng);
        w[i] = 0.3f * limn_rng_normal(&rng);
    }
    const gint64 dim[] = {WIDTH, WIDTH};
    memset(gradient, 0, sizeof x);
    LimnTensor *start = limn_tape_variable(tape, 2, dim, x);
    LimnTensor *weights = limn_tape_leaf(tape, 2, dim, w, input_only ? NULL : gradient);
    LimnTensor *y = start;
    for (int s = 0; s < SEGMENTS; s++) {
        LimnTensor *in[] = {y, weights};
        y = recompute ? limn_nn_checkpoint(tape, residual, NULL, in, 2)
                      : residual(tape, in, 2, NULL);
        // Many gradients at a time, which are given back together.
        LimnTensor *branches[8], *sum = y;
        for (int i = 0; i < 8; i++)
            branches[i] = limn_nn_sin(tape, limn_nn_scale_add(tape, y, 0.1 * i, 0.1));
        for (int i = 0; i < 8; i++)
            sum = limn_nn_add(tape, sum, branches[i]);
        y = limn_nn_scale_add(tape, sum, 0.25, 0);
    }
    LimnTensor *loss = limn_nn_mean(tape, limn_nn_square(tape, y), NULL, 0, FALSE);
    if (input_only) {
        g_assert_true(limn_tape_grad_of(tape, loss, NULL, &start, 1, &error));
        memcpy(gradient, start->grad, sizeof x);
    } else {
        g_assert_true(limn_tape_backward(tape, loss, NULL, &error));
    }
    g_assert_no_error(error);
}

static void
test_segments(void)
{
    float plain[WIDTH * WIDTH], again[WIDTH * WIDTH];
    for (int input_only = 0; input_only < 2; input_only++) {
        run_segments(FALSE, input_only, plain);
        run_segments(TRUE, input_only, again);
        g_assert_cmpfloat(plain[0], !=, 0);
        g_assert_cmpmem(plain, sizeof plain, again, sizeof again);
    }
}

// ---- memory

// Every place where the room may end gives LIMN_ERROR_MEMORY and nothing worse.
static LimnTensor *
all_sorts(LimnTape *t)
{
    static const gint32 rows[] = {0, 2, 1, 2};
    const gint64 dim[] = {4, 8}, turned[] = {8, 4};
    LimnTensor *x = limn_tape_variable(t, 2, dim, NULL);
    LimnTensor *w = limn_tape_variable(t, 2, turned, NULL);
    LimnTensor *b = limn_tape_variable(t, 1, dim, NULL);
    w = limn_nn_permute(t, w, (const int[]){1, 0}); // not contiguous from here on
    LimnTensor *y =
        limn_nn_add(t, limn_nn_linear(t, w, w, b), limn_nn_linear(t, x, w, b));
    LimnTensor *index = limn_tape_input_int(t, 2, (const gint64[]){2, 2}, rows);
    index = limn_nn_permute(t, index, (const int[]){1, 0});
    LimnTensor *picked = limn_nn_gather_rows(t, w, index);
    LimnTensor *norm = limn_nn_layer_norm(t, w, NULL, NULL, 1e-5);
    LimnTensor *turn = limn_nn_rope(t, w, LIMN_ROPE_HALF, 100, 0);
    LimnTensor *seen = limn_nn_sdpa(t, w, w, w, NULL, TRUE, 0);
    LimnTensor *all[] = {y, picked, norm, turn, seen};
    LimnTensor *sum = limn_nn_sum(t, all[0], NULL, 0, FALSE);
    for (gsize i = 1; i < G_N_ELEMENTS(all); i++)
        sum = limn_nn_add(t, sum, limn_nn_sum(t, all[i], NULL, 0, FALSE));
    return sum;
}

static void
test_memory_ends(void)
{
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    LimnTensor *whole = all_sorts(tape);
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_tape_backward(tape, whole, NULL, &error));
    gsize needed = limn_tape_get_high_water(tape);
    for (gsize limit = 64; limit < needed; limit += 64) {
        limn_tape_reset(tape);
        limn_tape_set_limit(tape, limit);
        LimnTensor *loss = all_sorts(tape);
        g_assert_false(limn_tape_backward(tape, loss, NULL, &error));
        g_assert_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY);
        g_clear_error(&error);
    }
    limn_tape_reset(tape);
    limn_tape_set_limit(tape, needed);
    g_assert_true(limn_tape_backward(tape, all_sorts(tape), NULL, &error));
}

// The probabilities of one block of queries are scratch: they are given back.
static void
test_attention_gives_back(void)
{
    enum { HEADS = 8, N = 96, D = 4 };
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    const gint64 dim[] = {HEADS, N, D};
    LimnTensor *x = limn_tape_variable(tape, 3, dim, NULL);
    gsize before = limn_tape_get_bytes(tape);
    limn_nn_sdpa(tape, x, x, x, NULL, FALSE, 0);
    g_assert_cmpuint(limn_tape_get_bytes(tape) - before, <,
                     2 * HEADS * N * D * sizeof(float) + 1024);
}

// ---- operands that are no rows of memory

// A gain that is one number seen many times, and one that is every second number.
static void
test_strided_gain(void)
{
    enum { ROWS = 3, N = 4 };
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    g_autoptr(GError) error = NULL;
    float x[ROWS * N], gain[2 * N], plain[N], one = 1.5f;
    for (int i = 0; i < ROWS * N; i++)
        x[i] = (float) (i * i % 7);
    for (int i = 0; i < 2 * N; i++)
        gain[i] = (float) (i + 1);
    for (int i = 0; i < N; i++)
        plain[i] = gain[2 * i];
    LimnTensor *in = limn_tape_input(tape, 2, (const gint64[]){ROWS, N}, x);
    LimnTensor *wide = limn_tape_variable(tape, 1, (const gint64[]){2 * N}, gain);
    LimnTensor *every = limn_nn_slice(tape, wide, (const gint64[]){0},
                                      (const gint64[]){2 * N}, (const gint64[]){2});
    LimnTensor *same = limn_tape_input(tape, 1, (const gint64[]){N}, plain);
    LimnTensor *a = limn_nn_layer_norm(tape, in, every, every, 1e-5);
    LimnTensor *b = limn_nn_layer_norm(tape, in, same, same, 1e-5);
    float left[ROWS * N], right[ROWS * N];
    limn_tensor_copy_values(a, left);
    limn_tensor_copy_values(b, right);
    g_assert_cmpmem(left, sizeof left, right, sizeof right);
    LimnTensor *number = limn_tape_variable(tape, 1, (const gint64[]){1}, &one);
    LimnTensor *spread = limn_nn_broadcast_to(tape, number, 1, (const gint64[]){N});
    LimnTensor *c =
        limn_nn_batch_norm(tape, in, spread, NULL, NULL, NULL, TRUE, 0.1, 1e-5);
    LimnTensor *d = limn_nn_scale_add(
        tape, limn_nn_batch_norm(tape, in, NULL, NULL, NULL, NULL, TRUE, 0.1, 1e-5), one,
        0);
    limn_tensor_copy_values(c, left);
    limn_tensor_copy_values(d, right);
    g_assert_cmpmem(left, sizeof left, right, sizeof right);
    g_assert_true(
        limn_tape_backward(tape, limn_nn_sum(tape, a, NULL, 0, FALSE), NULL, &error));
    for (int i = 0; i < N; i++)
        g_assert_cmpfloat(wide->grad[2 * i + 1], ==, 0);
}

// Many small terms beside a large one: the sum over the rows is carried in double.
static void
test_broadcast_sums(void)
{
    enum { ROWS = 20000 };
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    g_autoptr(GError) error = NULL;
    g_autofree float *seed = g_new(float, 2 * ROWS);
    for (int i = 0; i < 2 * ROWS; i++)
        seed[i] = i < 2 ? 16777216.0f : 1.0f;
    const gint64 wide[] = {ROWS, 2}, one[] = {2};
    LimnTensor *x = limn_tape_input(tape, 2, wide, NULL);
    LimnTensor *bias = limn_tape_variable(tape, 1, one, NULL);
    LimnTensor *shown = limn_tape_variable(tape, 1, one, NULL);
    LimnTensor *y = limn_nn_add(tape, limn_nn_add(tape, x, bias),
                                limn_nn_broadcast_to(tape, shown, 2, wide));
    g_assert_true(limn_tape_backward(tape, y, seed, &error));
    for (int i = 0; i < 2; i++) {
        g_assert_cmpfloat(bias->grad[i], ==, (float) (16777216.0 + ROWS - 1));
        g_assert_cmpfloat(shown->grad[i], ==, (float) (16777216.0 + ROWS - 1));
    }
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
    g_test_add_func("/nn/training/cancel-late", test_cancel_late);
    g_test_add_func("/nn/training/segments", test_segments);
    g_test_add_func("/nn/training/memory-ends", test_memory_ends);
    g_test_add_func("/nn/training/attention-gives-back", test_attention_gives_back);
    g_test_add_func("/nn/training/strided-gain", test_strided_gain);
    g_test_add_func("/nn/training/broadcast-sums", test_broadcast_sums);
    g_test_add_func("/nn/training/schedules", test_schedules);
    return g_test_run();
}
