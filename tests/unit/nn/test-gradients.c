// SPDX-License-Identifier: GPL-3.0-or-later

// Numerical gradient check of every operation: the engine's sources compiled in double,
// central differences on every input element of every golden case (their inputs only; the
// expected values are computed here). Further properties of the tape that need exactness.

#include "app/golden-autodiff-ops.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/io/npy.h"
#include "engine/nn/ops.h"

#include <math.h>
#include <string.h>

#define STEP 1e-6

typedef struct {
    const char *names[16];
    LimnArray *arrays[16];
    double *values[16]; // float inputs as doubles, perturbed by the check
    LimnTensor *tensors[16];
    int n;
} Inputs;

static LimnTensor *
find_input(const char *name, gpointer data)
{
    Inputs *inputs = data;
    for (int i = 0; i < inputs->n; i++)
        if (strcmp(inputs->names[i], name) == 0)
            return inputs->tensors[i];
    return NULL;
}

static void
place_inputs(LimnTape *tape, Inputs *inputs)
{
    for (int i = 0; i < inputs->n; i++) {
        LimnArray *a = inputs->arrays[i];
        if (a->dtype == LIMN_DTYPE_I32)
            inputs->tensors[i] =
                limn_tape_input_int(tape, a->rank, a->shape, limn_array_i32(a));
        else
            inputs->tensors[i] =
                limn_tape_variable(tape, a->rank, a->shape, inputs->values[i]);
    }
}

// sum of seed * output, in double
static double
objective(LimnTape *tape, const json_t *entry, Inputs *inputs, const double *seed)
{
    limn_tape_reset(tape);
    limn_tape_no_grad_begin(tape);
    place_inputs(tape, inputs);
    LimnTensor *out =
        limn_golden_apply(tape, json_string_value(json_object_get(entry, "op")),
                          json_object_get(entry, "attrs"), find_input, inputs);
    limn_tape_no_grad_end(tape);
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_tape_check(tape, &error));
    gint64 n = limn_tensor_length(out);
    g_autofree double *values = g_new(double, MAX(n, 1));
    limn_tensor_copy_values(out, values);
    double sum = 0;
    for (gint64 i = 0; i < n; i++)
        sum += seed[i] * values[i];
    return sum;
}

static gboolean
wants_gradient(const json_t *entry, const char *name)
{
    const json_t *nograd = json_object_get(entry, "nograd");
    for (gsize i = 0; i < json_array_size(nograd); i++)
        if (strcmp(json_string_value(json_array_get(nograd, i)), name) == 0)
            return FALSE;
    return TRUE;
}

static double *
analytic_gradients(LimnTape *tape, const json_t *entry, Inputs *inputs, double **grads)
{
    limn_tape_reset(tape);
    place_inputs(tape, inputs);
    LimnTensor *out =
        limn_golden_apply(tape, json_string_value(json_object_get(entry, "op")),
                          json_object_get(entry, "attrs"), find_input, inputs);
    g_assert_nonnull(out);
    gint64 n = limn_tensor_length(out);
    double *seed = g_new(double, MAX(n, 1));
    LimnRng rng = limn_rng_make(7, 1);
    for (gint64 i = 0; i < n; i++)
        seed[i] = limn_rng_normal(&rng);
    g_autoptr(GError) error = NULL;
    limn_tape_backward(tape, out, seed, &error);
    g_assert_no_error(error);
    for (int i = 0; i < inputs->n; i++) {
        gint64 length = inputs->arrays[i]->length;
        grads[i] = g_new0(double, MAX(length, 1));
        if (inputs->tensors[i]->grad && !(inputs->tensors[i]->flags & LIMN_TENSOR_INT32))
            memcpy(grads[i], inputs->tensors[i]->grad, (gsize) length * sizeof(double));
    }
    return seed;
}

// The straight-through estimator is not the derivative of its forward pass.
static gboolean
has_derivative(const json_t *entry)
{
    const json_t *attributes = json_object_get(entry, "attrs");
    return !json_is_true(json_object_get(attributes, "straight_through"));
}

static guint
check_case(LimnTape *tape, const json_t *entry, Inputs *inputs)
{
    double *grads[16];
    g_autofree double *seed = analytic_gradients(tape, entry, inputs, grads);
    guint checked = 0;
    for (int i = 0; i < inputs->n; i++) {
        if (inputs->arrays[i]->dtype != LIMN_DTYPE_I32 &&
            wants_gradient(entry, inputs->names[i]))
            for (gint64 j = 0; j < inputs->arrays[i]->length; j++) {
                double *x = &inputs->values[i][j], kept = *x;
                double h = STEP * (1 + fabs(kept));
                *x = kept + h;
                double up = objective(tape, entry, inputs, seed);
                *x = kept - h;
                double down = objective(tape, entry, inputs, seed);
                *x = kept;
                double numeric = (up - down) / (2 * h);
                if (fabs(numeric - grads[i][j]) > 1e-6 * (1 + fabs(numeric))) {
                    g_test_message("%s: %s[%d]: numeric %.9g, analytic %.9g",
                                   json_string_value(json_object_get(entry, "name")),
                                   inputs->names[i], (int) j, numeric, grads[i][j]);
                    g_test_fail();
                }
                checked++;
            }
        g_free(grads[i]);
    }
    return checked;
}

static char *
data_path(const char *file)
{
    return g_build_filename(g_getenv("LIMN_TEST_DATA"), "golden", "autodiff", file, NULL);
}

static void
load_inputs(const json_t *entry, Inputs *inputs)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *path = data_path(json_string_value(json_object_get(entry, "file")));
    g_autoptr(LimnNpz) npz = limn_npz_open(path, &error);
    g_assert_no_error(error);
    const json_t *names = json_object_get(entry, "inputs");
    *inputs = (Inputs){.n = (int) json_array_size(names)};
    for (int i = 0; i < inputs->n; i++) {
        inputs->names[i] = json_string_value(json_array_get(names, (gsize) i));
        g_autofree char *key = g_strconcat("in_", inputs->names[i], NULL);
        inputs->arrays[i] = limn_npz_get(npz, key, &error);
        g_assert_no_error(error);
        if (inputs->arrays[i]->dtype == LIMN_DTYPE_I32)
            continue;
        g_autoptr(LimnArray) wide = limn_array_to_f64(inputs->arrays[i], &error);
        g_assert_no_error(error);
        inputs->values[i] = g_memdup2(limn_array_f64(wide),
                                      (gsize) MAX(wide->length, 1) * sizeof(double));
    }
}

static void
free_inputs(Inputs *inputs)
{
    for (int i = 0; i < inputs->n; i++) {
        limn_array_unref(inputs->arrays[i]);
        g_free(inputs->values[i]);
    }
}

static void
test_numeric(void)
{
    g_autofree char *path = data_path("manifest.json");
    json_t *manifest = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
    g_assert_nonnull(manifest);
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    guint checked = 0, cases = 0;
    for (gsize i = 0; i < json_array_size(manifest); i++) {
        const json_t *entry = json_array_get(manifest, i);
        if (strcmp(json_string_value(json_object_get(entry, "kind")), "op") != 0 ||
            !has_derivative(entry))
            continue;
        Inputs inputs;
        load_inputs(entry, &inputs);
        checked += check_case(tape, entry, &inputs);
        free_inputs(&inputs);
        cases++;
    }
    g_test_message("%u gradients of %u cases", checked, cases);
    g_assert_cmpuint(cases, >=, 100);
    g_assert_cmpuint(checked, >=, 2000);
    json_decref(manifest);
}

// ---- properties of the tape

typedef struct {
    double *w1, *b1, *w2;
} Mlp;

enum { BATCH = 6, IN = 5, HIDDEN = 7 };

static LimnTensor *
hidden_layer(LimnTape *tape, LimnTensor *const *in, gsize n, gpointer data)
{
    LimnTensor *h = limn_nn_linear(tape, in[0], in[1], in[2]);
    return limn_nn_contiguous(tape, limn_nn_tanh(tape, limn_nn_gelu_erf(tape, h)));
}

static double *
random_values(guint64 stream, gsize n)
{
    double *values = g_new(double, n);
    LimnRng rng = limn_rng_make(11, stream);
    for (gsize i = 0; i < n; i++)
        values[i] = limn_rng_normal(&rng);
    return values;
}

// Loss of a small network and the gradients of its parameters, with or without keeping
// only the inputs of the hidden layer.
static double
network(LimnTape *tape, gboolean checkpoint, double *gw1, double *gb1, double *gw2)
{
    g_autofree double *x = random_values(1, BATCH * IN);
    g_autofree double *w1 = random_values(2, HIDDEN * IN);
    g_autofree double *b1 = random_values(3, HIDDEN);
    g_autofree double *w2 = random_values(4, HIDDEN);
    LimnTensor *in[] = {
        limn_tape_variable(tape, 2, (gint64[]){BATCH, IN}, x),
        limn_tape_leaf(tape, 2, (gint64[]){HIDDEN, IN}, w1, gw1),
        limn_tape_leaf(tape, 1, (gint64[]){HIDDEN}, b1, gb1),
    };
    LimnTensor *h = checkpoint ? limn_nn_checkpoint(tape, hidden_layer, NULL, in, 3)
                               : hidden_layer(tape, in, 3, NULL);
    LimnTensor *w = limn_tape_leaf(tape, 2, (gint64[]){1, HIDDEN}, w2, gw2);
    LimnTensor *y = limn_nn_linear(tape, h, w, NULL);
    LimnTensor *loss = limn_nn_mean(tape, limn_nn_square(tape, y), NULL, 0, FALSE);
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_tape_backward(tape, loss, NULL, &error));
    return limn_tensor_item(loss);
}

static void
test_checkpoint(void)
{
    double a[HIDDEN * IN + 2 * HIDDEN] = {0}, b[HIDDEN * IN + 2 * HIDDEN] = {0};
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    double plain = network(tape, FALSE, a, a + HIDDEN * IN, a + HIDDEN * IN + HIDDEN);
    limn_tape_reset(tape);
    double kept = network(tape, TRUE, b, b + HIDDEN * IN, b + HIDDEN * IN + HIDDEN);
    g_assert_cmpfloat(plain, ==, kept);
    g_assert_cmpmem(a, sizeof a, b, sizeof b);
    g_assert_true(a[0] != 0);
}

static void
test_two_sweeps(void)
{
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    g_autofree double *values = random_values(5, 12);
    g_autofree double *weights = random_values(6, 4);
    double gradient[4] = {0};
    LimnTensor *x = limn_tape_variable(tape, 2, (gint64[]){3, 4}, values);
    LimnTensor *w = limn_tape_leaf(tape, 1, (gint64[]){4}, weights, gradient);
    LimnTensor *y =
        limn_nn_sum(tape, limn_nn_exp(tape, limn_nn_mul(tape, x, w)), NULL, 0, FALSE);
    g_autoptr(GError) error = NULL;
    g_assert_true(limn_tape_backward(tape, y, NULL, &error));
    double first[12], once[4];
    memcpy(first, x->grad, sizeof first);
    memcpy(once, gradient, sizeof once);
    g_assert_true(limn_tape_backward(tape, y, NULL, &error));
    g_assert_cmpmem(first, sizeof first, x->grad, sizeof first);
    for (int i = 0; i < 4; i++) // leaves accumulate
        g_assert_cmpfloat(gradient[i], ==, 2 * once[i]);
    // Only what is asked for: the parameter's gradient stays as it is.
    g_assert_true(limn_tape_grad_of(tape, y, NULL, (LimnTensor *const[]){x}, 1, &error));
    g_assert_cmpmem(first, sizeof first, x->grad, sizeof first);
    for (int i = 0; i < 4; i++)
        g_assert_cmpfloat(gradient[i], ==, 2 * once[i]);
}

static void
test_errors(void)
{
    g_autoptr(LimnTape) tape = limn_tape_new(NULL);
    LimnTensor *a = limn_tape_input(tape, 2, (gint64[]){2, 3}, NULL);
    LimnTensor *b = limn_tape_input(tape, 1, (gint64[]){4}, NULL);
    LimnTensor *c = limn_nn_relu(tape, limn_nn_add(tape, a, b));
    g_assert_true(c->flags & LIMN_TENSOR_POISONED);
    g_autoptr(GError) error = NULL;
    g_assert_false(limn_tape_check(tape, &error));
    g_assert_nonnull(strstr(error->message, "add"));
    g_assert_nonnull(strstr(error->message, "[2, 3]"));
    g_assert_nonnull(strstr(error->message, "[4]"));
    limn_tape_reset(tape);
    g_assert_true(limn_tape_check(tape, NULL));
    // A tensor of an earlier step is refused.
    g_assert_true(limn_nn_relu(tape, a)->flags & LIMN_TENSOR_POISONED);
    limn_tape_reset(tape);
    // Memory is bounded.
    limn_tape_set_limit(tape, 1 << 20);
    g_assert_true(limn_tape_input(tape, 1, (gint64[]){1 << 20}, NULL)->flags &
                  LIMN_TENSOR_POISONED);
    g_clear_error(&error);
    g_assert_false(limn_tape_check(tape, &error));
    g_assert_nonnull(strstr(error->message, "bytes"));
}

int
main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/nn/gradients/numeric", test_numeric);
    g_test_add_func("/nn/gradients/checkpoint", test_checkpoint);
    g_test_add_func("/nn/gradients/two-sweeps", test_two_sweeps);
    g_test_add_func("/nn/gradients/errors", test_errors);
    return g_test_run();
}
