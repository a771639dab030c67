// SPDX-License-Identifier: GPL-3.0-or-later

// limn-golden autodiff: operations, optimisers, random numbers and checkpoints of the
// training engine (golden layout, "autodiff").

#include <math.h>
#include <string.h>

#include "app/golden-autodiff-ops.h"
#include "app/golden.h"
#include "engine/base/rng.h"
#include "engine/io/json.h"
#include "engine/io/npy.h"
#include "engine/io/safetensors.h"
#include "engine/nn/optimizer.h"

#include <glib/gstdio.h>
#include <unistd.h>

#define MAX_INPUTS 16

// ---- an operation

typedef struct {
    const char *names[MAX_INPUTS];
    LimnArray *arrays[MAX_INPUTS];
    LimnTensor *tensors[MAX_INPUTS];
    gboolean wanted[MAX_INPUTS];
    int n;
} Inputs;

static LimnTensor *
find_input(const char *name, gpointer data)
{
    Inputs *inputs = data;
    for (int i = 0; i < inputs->n; i++) {
        if (strcmp(inputs->names[i], name) == 0) {
            return inputs->tensors[i];
        }
    }
    return NULL;
}

static gboolean
list_has(const json_t *list, const char *name)
{
    for (gsize i = 0; i < json_array_size(list); i++) {
        if (g_strcmp0(json_string_value(json_array_get(list, i)), name) == 0) {
            return TRUE;
        }
    }
    return FALSE;
}

static gboolean
load_inputs(LimnGolden *golden, const json_t *entry, LimnNpz *npz, Inputs *inputs)
{
    const json_t *names = json_object_get(entry, "inputs");
    gsize n = json_array_size(names);
    if (n > MAX_INPUTS) {
        limn_golden_fail(golden, "inputs", "more than %d inputs", MAX_INPUTS);
        return FALSE;
    }
    for (gsize i = 0; i < n; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        g_autofree char *key = g_strconcat("in_", name ? name : "", NULL);
        g_autoptr(GError) error = NULL;
        LimnArray *array = limn_npz_get(npz, key, &error);
        if (array == NULL) {
            limn_golden_fail_error(golden, key, &error);
            return FALSE;
        }
        inputs->names[inputs->n] = name;
        inputs->wanted[inputs->n] = !list_has(json_object_get(entry, "nograd"), name);
        inputs->arrays[inputs->n++] = array;
        if (array->rank > LIMN_TENSOR_MAX_RANK ||
            (array->dtype != LIMN_DTYPE_F32 && array->dtype != LIMN_DTYPE_I32)) {
            limn_golden_fail(golden, key, "not a float32 or int32 array of rank 0 to 4");
            return FALSE;
        }
    }
    return TRUE;
}

static void
place_inputs(LimnTape *tape, Inputs *inputs)
{
    for (int i = 0; i < inputs->n; i++) {
        LimnArray *a = inputs->arrays[i];
        if (a->dtype == LIMN_DTYPE_I32) {
            inputs->tensors[i] =
                limn_tape_input_int(tape, a->rank, a->shape, limn_array_i32(a));
        } else if (inputs->wanted[i]) {
            inputs->tensors[i] =
                limn_tape_variable(tape, a->rank, a->shape, limn_array_f32(a));
        } else {
            inputs->tensors[i] =
                limn_tape_input(tape, a->rank, a->shape, limn_array_f32(a));
        }
    }
}

static LimnArray *
need(LimnGolden *golden, LimnNpz *npz, const char *key)
{
    g_autoptr(GError) error = NULL;
    LimnArray *array = limn_npz_get(npz, key, &error);
    if (array == NULL) {
        limn_golden_fail_error(golden, key, &error);
    }
    return array;
}

static void
compare_gradients(LimnGolden *golden, LimnNpz *npz, const Inputs *inputs,
                  LimnTolerance tolerance)
{
    for (int i = 0; i < inputs->n; i++) {
        if (!inputs->wanted[i]) {
            continue;
        }
        g_autofree char *key = g_strconcat("g_", inputs->names[i], NULL);
        g_autoptr(LimnArray) expected = need(golden, npz, key);
        const LimnTensor *t = inputs->tensors[i];
        if (expected == NULL) {
            continue;
        }
        if (t->grad == NULL) {
            limn_golden_fail(golden, key, "no gradient arrived");
        } else {
            limn_golden_compare_floats(golden, key, expected, t->grad, t->rank, t->dim,
                                       tolerance);
        }
    }
}

static void
run_tape(LimnGolden *golden, const json_t *entry, LimnNpz *npz, Inputs *inputs,
         LimnTolerance tolerance)
{
    g_autoptr(LimnTape) tape = limn_tape_new(limn_golden_get_job(golden));
    g_autoptr(GError) error = NULL;
    const char *op = json_string_value(json_object_get(entry, "op"));
    place_inputs(tape, inputs);
    LimnTensor *out = limn_golden_apply(
        tape, op ? op : "", json_object_get(entry, "attrs"), find_input, inputs);
    if (out == NULL) {
        limn_golden_fail(golden, "out", "there is no operation '%s'", op ? op : "");
        return;
    }
    if (!limn_tape_check(tape, &error)) {
        limn_golden_fail_error(golden, "out", &error);
        return;
    }
    g_autofree float *values = g_new(float, MAX(limn_tensor_length(out), 1));
    limn_tensor_copy_values(out, values);
    g_autoptr(LimnArray) expected = need(golden, npz, "out");
    g_autoptr(LimnArray) seed = need(golden, npz, "gout");
    if (expected == NULL || seed == NULL) {
        return;
    }
    limn_golden_compare_floats(golden, "out", expected, values, out->rank, out->dim,
                               tolerance);
    if (seed->dtype != LIMN_DTYPE_F32 || seed->length != limn_tensor_length(out)) {
        limn_golden_fail(golden, "gout", "not a float32 array of the output's size");
        return;
    }
    if (!limn_tape_backward(tape, out, limn_array_f32(seed), &error)) {
        limn_golden_fail_error(golden, "gradients", &error);
        return;
    }
    compare_gradients(golden, npz, inputs, tolerance);
}

static void
run_op(LimnGolden *golden, const json_t *entry, LimnNpz *npz, LimnTolerance tolerance)
{
    Inputs inputs = {.n = 0};
    if (load_inputs(golden, entry, npz, &inputs)) {
        run_tape(golden, entry, npz, &inputs, tolerance);
    }
    for (int i = 0; i < inputs.n; i++) {
        limn_array_unref(inputs.arrays[i]);
    }
}

// ---- an optimiser

static double
number(const json_t *attributes, const char *key, double fallback)
{
    const json_t *value = json_object_get(attributes, key);
    return json_is_number(value) ? json_number_value(value) : fallback;
}

static gboolean
read_optimizer(const json_t *entry, LimnOptimizerOptions *options)
{
    static const char *const kinds[] = {"sgd", "adam", "adamw"};
    const json_t *a = json_object_get(entry, "attrs");
    const char *op = json_string_value(json_object_get(entry, "op"));
    const char *schedule = json_string_value(json_object_get(a, "schedule"));
    int kind = 0;
    while (kind < 3 && g_strcmp0(op, kinds[kind]) != 0) {
        kind++;
    }
    if (kind == 3) {
        return FALSE;
    }
    limn_optimizer_options_init(options, (LimnOptimizerKind) kind);
    options->momentum = number(a, "momentum", 0);
    options->nesterov = json_is_true(json_object_get(a, "nesterov"));
    options->beta1 = number(a, "b1", options->beta1);
    options->beta2 = number(a, "b2", options->beta2);
    options->eps = number(a, "eps", options->eps);
    options->weight_decay = number(a, "weight_decay", 0);
    options->clip_norm = number(a, "clip_norm", 0);
    LimnSchedule *s = &options->schedule;
    *s = (LimnSchedule){.lr = number(a, "lr", 0),
                        .warmup = (gint64) number(a, "warmup", 0),
                        .warmup_first = (gint64) number(a, "warmup_first", 1),
                        .total = (gint64) number(a, "total", 0)};
    if (g_strcmp0(schedule, "warmup_cosine") == 0) {
        s->kind = LIMN_SCHEDULE_WARMUP_COSINE;
    } else if (g_strcmp0(schedule, "warmup_linear") == 0) {
        s->kind = LIMN_SCHEDULE_WARMUP_LINEAR;
    } else if (g_strcmp0(schedule, "constant") != 0) {
        return FALSE;
    }
    return TRUE;
}

typedef struct {
    LimnArray *w0, *grads, *traj, *lrs, *norms;
} Trajectory;

static void
clear_trajectory(Trajectory *t)
{
    g_clear_pointer(&t->w0, limn_array_unref);
    g_clear_pointer(&t->grads, limn_array_unref);
    g_clear_pointer(&t->traj, limn_array_unref);
    g_clear_pointer(&t->lrs, limn_array_unref);
    g_clear_pointer(&t->norms, limn_array_unref);
}

static gboolean
load_trajectory(LimnGolden *golden, LimnNpz *npz, Trajectory *t)
{
    *t = (Trajectory){need(golden, npz, "w0"), need(golden, npz, "grads"),
                      need(golden, npz, "traj"), need(golden, npz, "lrs"),
                      need(golden, npz, "grad_norms")};
    if (!t->w0 || !t->grads || !t->traj || !t->lrs || !t->norms) {
        return FALSE;
    }
    gboolean fits = t->w0->dtype == LIMN_DTYPE_F32 && t->grads->dtype == LIMN_DTYPE_F32 &&
                    t->w0->rank <= LIMN_TENSOR_MAX_RANK &&
                    t->grads->rank == t->w0->rank + 1;
    for (int i = 0; fits && i < t->w0->rank; i++) {
        fits = t->grads->shape[i + 1] == t->w0->shape[i];
    }
    if (!fits) {
        limn_golden_fail(golden, "grads", "not [steps] times the shape of w0, float32");
    }
    return fits;
}

// Steps through all gradients; fills weights, rates and norms per step.
static gboolean
follow(const Trajectory *t, const LimnOptimizerOptions *options, float *weights,
       double *rates, float *norms, GError **error)
{
    g_autoptr(LimnParameters) parameters = limn_parameters_new();
    limn_parameters_add(parameters, "w", t->w0->rank, t->w0->shape);
    if (!limn_parameters_allocate(parameters, error)) {
        return FALSE;
    }
    limn_parameters_set_decay(parameters, 0, TRUE);
    gsize bytes = (gsize) t->w0->length * sizeof(float);
    memcpy(limn_parameters_get_values(parameters, 0), t->w0->data, bytes);
    g_autoptr(LimnOptimizer) optimizer = limn_optimizer_new(parameters, options, error);
    if (optimizer == NULL) {
        return FALSE;
    }
    for (gint64 s = 0; s < t->grads->shape[0]; s++) {
        LimnStepInfo info;
        memcpy(limn_parameters_get_gradient(parameters, 0),
               limn_array_f32(t->grads) + s * t->w0->length, bytes);
        if (!limn_optimizer_step(optimizer, &info, error)) {
            return FALSE;
        }
        memcpy(weights + s * t->w0->length, limn_parameters_get_values(parameters, 0),
               bytes);
        rates[s] = info.rate;
        norms[s] = (float) info.norm;
    }
    return TRUE;
}

static void
compare_rates(LimnGolden *golden, const LimnArray *expected, const double *rates,
              gint64 n)
{
    if (expected->rank != 1 || expected->length != n) {
        limn_golden_fail(golden, "lrs", "not one rate a step");
        return;
    }
    double worst = 0, want = 0, got = 0;
    for (gint64 i = 0; i < n; i++) {
        double difference = fabs(limn_array_get_double(expected, i) - rates[i]);
        if (i == 0 || difference > worst) {
            worst = difference;
            want = limn_array_get_double(expected, i);
            got = rates[i];
        }
    }
    limn_golden_compare_number(golden, "lrs", want, got, LIMN_ABS(1e-15));
}

static void
run_optimizer(LimnGolden *golden, const json_t *entry, LimnNpz *npz,
              LimnTolerance tolerance)
{
    LimnOptimizerOptions options;
    Trajectory t = {0};
    g_autoptr(GError) error = NULL;
    if (!read_optimizer(entry, &options)) {
        limn_golden_fail(golden, "op", "there is no such optimiser or schedule");
        return;
    }
    if (load_trajectory(golden, npz, &t)) {
        gint64 steps = t.grads->shape[0];
        g_autofree float *weights = g_new(float, MAX(t.grads->length, 1));
        g_autofree double *rates = g_new(double, MAX(steps, 1));
        g_autofree float *norms = g_new(float, MAX(steps, 1));
        if (!follow(&t, &options, weights, rates, norms, &error)) {
            limn_golden_fail_error(golden, "traj", &error);
        } else {
            limn_golden_compare_floats(golden, "traj", t.traj, weights, t.grads->rank,
                                       t.grads->shape, tolerance);
            compare_rates(golden, t.lrs, rates, steps);
            gint64 n_norms = options.clip_norm > 0 ? steps : 0;
            limn_golden_compare_floats(golden, "grad_norms", t.norms, norms, 1, &n_norms,
                                       tolerance);
        }
    }
    clear_trajectory(&t);
}

// ---- cases of the manifest

static void
run_entry(LimnGolden *golden, const char *folder, const json_t *entry)
{
    const char *name = json_string_value(json_object_get(entry, "name"));
    const char *file = json_string_value(json_object_get(entry, "file"));
    const char *kind = json_string_value(json_object_get(entry, "kind"));
    limn_golden_begin(golden, name ? name : "case");
    if (name == NULL || file == NULL || strchr(file, '/') != NULL || kind == NULL) {
        limn_golden_fail(golden, "manifest", "an entry needs name, file and kind");
        return;
    }
    g_autofree char *path = g_build_filename(folder, file, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(LimnNpz) npz = limn_npz_open(path, &error);
    if (npz == NULL) {
        limn_golden_fail_error(golden, file, &error);
        return;
    }
    LimnTolerance tolerance =
        LIMN_ABS_REL(number(entry, "atol", 0), number(entry, "rtol", 0));
    if (strcmp(kind, "op") == 0) {
        run_op(golden, entry, npz, tolerance);
    } else if (strcmp(kind, "optimizer") == 0) {
        run_optimizer(golden, entry, npz, tolerance);
    } else {
        limn_golden_fail(golden, "kind", "there is no kind '%s'", kind);
    }
}

static json_t *
load_manifest(LimnGolden *golden, const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "manifest.json", NULL);
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        return NULL;
    }
    g_autoptr(GError) error = NULL;
    json_t *manifest = limn_json_load(path, &error);
    limn_golden_begin(golden, NULL);
    if (manifest == NULL) {
        limn_golden_fail_error(golden, "manifest.json", &error);
    } else if (!json_is_array(manifest)) {
        limn_golden_fail(golden, "manifest.json", "not a list");
    }
    return manifest;
}

// ---- random numbers

static gboolean
read_words(const json_t *list, guint32 *out, gsize n)
{
    if (json_array_size(list) != n) {
        return FALSE;
    }
    for (gsize i = 0; i < n; i++) {
        out[i] = (guint32) json_integer_value(json_array_get(list, i));
    }
    return TRUE;
}

static void
check_known_answers(LimnGolden *golden, const json_t *list)
{
    for (gsize i = 0; i < json_array_size(list); i++) {
        const json_t *entry = json_array_get(list, i);
        guint32 counter[4], key[2], expected[4], out[4];
        g_autofree char *name = g_strdup_printf("philox_kat.%u", (guint) i);
        if (!read_words(json_object_get(entry, "ctr"), counter, 4) ||
            !read_words(json_object_get(entry, "key"), key, 2) ||
            !read_words(json_object_get(entry, "out"), expected, 4)) {
            limn_golden_fail(golden, name, "needs ctr, key and out");
            continue;
        }
        limn_philox4x32(counter, key, out);
        limn_golden_check(golden, name, memcmp(out, expected, sizeof out) == 0);
    }
}

static double
draw(const char *dist, LimnRng *rng, double lambda)
{
    if (strcmp(dist, "uint32") == 0) {
        return limn_rng_uint32(rng);
    }
    if (strcmp(dist, "uniform") == 0) {
        return limn_rng_uniform(rng);
    }
    if (strcmp(dist, "normal") == 0) {
        return limn_rng_normal(rng);
    }
    if (strcmp(dist, "exponential") == 0) {
        return limn_rng_exponential(rng);
    }
    if (strcmp(dist, "poisson") == 0) {
        return limn_rng_poisson(rng, lambda);
    }
    return NAN;
}

static gboolean
is_integer_dist(const char *dist)
{
    return strcmp(dist, "uint32") == 0 || strcmp(dist, "poisson") == 0 ||
           strcmp(dist, "permutation") == 0;
}

static void
check_stream(LimnGolden *golden, const json_t *entry, guint64 seed, guint number_of)
{
    const char *dist = json_string_value(json_object_get(entry, "dist"));
    const json_t *values = json_object_get(entry, "values");
    g_autofree char *name = g_strdup_printf("streams.%u.%s", number_of, dist ? dist : "");
    gsize n = json_array_size(values);
    gint64 shape[] = {(gint64) n};
    g_autoptr(LimnArray) expected = limn_array_new(LIMN_DTYPE_F64, 1, shape, NULL);
    g_autoptr(LimnArray) x = limn_array_new(LIMN_DTYPE_F64, 1, shape, NULL);
    if (dist == NULL || n == 0 || expected == NULL || x == NULL) {
        limn_golden_fail(golden, name, "needs dist and values");
        return;
    }
    LimnRng rng = limn_rng_make(
        seed, (guint64) json_integer_value(json_object_get(entry, "stream")));
    g_autofree guint32 *order = g_new0(guint32, n);
    gboolean permutation = strcmp(dist, "permutation") == 0;
    if (permutation) {
        limn_rng_permutation(&rng, (guint32) n, order);
    }
    for (gsize i = 0; i < n; i++) {
        limn_array_f64(expected)[i] = json_number_value(json_array_get(values, i));
        limn_array_f64(x)[i] =
            permutation ? order[i] : draw(dist, &rng, number(entry, "lambda", 1));
    }
    limn_golden_compare(golden, name, expected, x,
                        is_integer_dist(dist) ? LIMN_EXACT : LIMN_ABS(1e-6));
}

static void
run_rng(LimnGolden *golden, const char *folder)
{
    g_autofree char *path = g_build_filename(folder, "rng.json", NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(json_t) root = limn_json_load(path, &error);
    limn_golden_begin(golden, "rng");
    if (root == NULL) {
        limn_golden_fail_error(golden, "rng.json", &error);
        return;
    }
    const json_t *seed = json_object_get(json_object_get(root, "options"), "seed");
    const json_t *streams = json_object_get(root, "streams");
    if (!json_is_integer(seed) || json_array_size(streams) == 0) {
        limn_golden_fail(golden, "rng.json", "needs options.seed and streams");
        return;
    }
    check_known_answers(golden, json_object_get(root, "philox_kat"));
    for (gsize i = 0; i < json_array_size(streams); i++) {
        check_stream(golden, json_array_get(streams, i),
                     (guint64) json_integer_value(seed), (guint) i);
    }
}

// ---- checkpoint

static LimnArray *
stored_values(const json_t *entry)
{
    const json_t *values = json_object_get(entry, "values");
    const json_t *shape = json_object_get(entry, "shape");
    gint64 dim[LIMN_ARRAY_MAX_RANK];
    gsize rank = json_array_size(shape);
    if (rank > LIMN_ARRAY_MAX_RANK) {
        return NULL;
    }
    for (gsize i = 0; i < rank; i++) {
        dim[i] = json_integer_value(json_array_get(shape, i));
    }
    LimnArray *array = limn_array_new(LIMN_DTYPE_F64, (int) rank, dim, NULL);
    if (array == NULL || (gsize) array->length != json_array_size(values)) {
        g_clear_pointer(&array, limn_array_unref);
        return NULL;
    }
    for (gsize i = 0; i < json_array_size(values); i++) {
        limn_array_f64(array)[i] = json_number_value(json_array_get(values, i));
    }
    return array;
}

static gboolean
same_dtype(const json_t *entry, const LimnArray *array)
{
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    return dtype != NULL && g_ascii_strcasecmp(dtype, limn_dtype_name(array->dtype)) == 0;
}

static void
compare_tensors(LimnGolden *golden, LimnSafetensors *st, json_t *tensors,
                const char *prefix)
{
    const char *name;
    json_t *entry;
    json_object_foreach(tensors, name, entry)
    {
        g_autoptr(GError) error = NULL;
        g_autofree char *shown = g_strconcat(prefix, name, NULL);
        g_autoptr(LimnArray) x = limn_safetensors_get(st, name, &error);
        g_autoptr(LimnArray) expected = stored_values(entry);
        if (x == NULL) {
            limn_golden_fail_error(golden, shown, &error);
        } else if (expected == NULL || !same_dtype(entry, x)) {
            limn_golden_fail(golden, shown,
                             "dtype, shape and values do not fit the file");
        } else {
            limn_golden_compare(golden, shown, expected, x, LIMN_EXACT);
        }
    }
}

static void
compare_metadata(LimnGolden *golden, LimnSafetensors *st, json_t *metadata,
                 const char *prefix)
{
    const char *key;
    json_t *value;
    json_object_foreach(metadata, key, value)
    {
        g_autofree char *shown = g_strconcat(prefix, "metadata.", key, NULL);
        limn_golden_compare_text(golden, shown, json_string_value(value),
                                 limn_safetensors_get_metadata(st, key));
    }
}

// Writes what was read to a file of its own and reads that back.
static void
write_again(LimnGolden *golden, LimnSafetensors *st, json_t *root)
{
    g_autoptr(GError) error = NULL;
    guint n = limn_safetensors_n_tensors(st);
    g_autofree LimnTensorEntry *entries = g_new0(LimnTensorEntry, n + 1);
    g_autoptr(GPtrArray) arrays =
        g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    for (guint i = 0; i < n; i++) {
        const char *name = limn_safetensors_get_info(st, i)->name;
        LimnArray *array = limn_safetensors_get(st, name, &error);
        if (array == NULL) {
            limn_golden_fail_error(golden, name, &error);
            return;
        }
        g_ptr_array_add(arrays, array);
        entries[i] = (LimnTensorEntry){name, array};
    }
    g_autoptr(GPtrArray) metadata = g_ptr_array_new();
    const char *key;
    json_t *value;
    json_object_foreach(json_object_get(root, "metadata"), key, value)
    {
        g_ptr_array_add(metadata, (gpointer) (gsize) key);
        g_ptr_array_add(metadata, (gpointer) (gsize) json_string_value(value));
    }
    g_ptr_array_add(metadata, NULL);
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("limn-golden-XXXXXX.safetensors", &path, &error);
    if (fd < 0) {
        limn_golden_fail_error(golden, "written", &error);
        return;
    }
    close(fd);
    g_autoptr(LimnSafetensors) back = NULL;
    if (limn_safetensors_save(path, entries, n, (const char *const *) metadata->pdata,
                              &error)) {
        back = limn_safetensors_open(path, &error);
    }
    if (back == NULL) {
        limn_golden_fail_error(golden, "written", &error);
    } else {
        compare_tensors(golden, back, json_object_get(root, "tensors"), "written.");
        compare_metadata(golden, back, json_object_get(root, "metadata"), "written.");
    }
    g_unlink(path);
}

static void
run_checkpoint(LimnGolden *golden, const char *folder)
{
    g_autofree char *file = g_build_filename(folder, "checkpoint.safetensors", NULL);
    g_autofree char *sidecar = g_build_filename(folder, "checkpoint.json", NULL);
    g_autoptr(GError) error = NULL;
    limn_golden_begin(golden, "checkpoint");
    g_autoptr(json_t) root = limn_json_load(sidecar, &error);
    if (root == NULL) {
        limn_golden_fail_error(golden, "checkpoint.json", &error);
        return;
    }
    g_autoptr(LimnSafetensors) st = limn_safetensors_open(file, &error);
    if (st == NULL) {
        limn_golden_fail_error(golden, "checkpoint.safetensors", &error);
        return;
    }
    json_t *tensors = json_object_get(root, "tensors");
    limn_golden_check(golden, "number of tensors",
                      json_object_size(tensors) == limn_safetensors_n_tensors(st));
    compare_tensors(golden, st, tensors, "");
    compare_metadata(golden, st, json_object_get(root, "metadata"), "");
    write_again(golden, st, root);
}

// ---- the folder

static gboolean
is_known(const char *path, gpointer data)
{
    static const char *const fixed[] = {"manifest.json", "rng.json", "checkpoint.json",
                                        "checkpoint.safetensors"};
    const json_t *manifest = data;
    for (gsize i = 0; i < G_N_ELEMENTS(fixed); i++) {
        if (strcmp(path, fixed[i]) == 0) {
            return TRUE;
        }
    }
    for (gsize i = 0; i < json_array_size(manifest); i++) {
        const json_t *entry = json_array_get(manifest, i);
        if (g_strcmp0(path, json_string_value(json_object_get(entry, "file"))) == 0) {
            return TRUE;
        }
    }
    return limn_golden_is_note(path);
}

static gboolean
folder_has(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    return g_file_test(path, G_FILE_TEST_EXISTS);
}

void
limn_golden_autodiff(LimnGolden *golden, const char *folder)
{
    g_autoptr(json_t) manifest = load_manifest(golden, folder);
    for (gsize i = 0; i < json_array_size(manifest); i++) {
        run_entry(golden, folder, json_array_get(manifest, i));
    }
    if (folder_has(folder, "rng.json")) {
        run_rng(golden, folder);
    }
    if (folder_has(folder, "checkpoint.safetensors") ||
        folder_has(folder, "checkpoint.json")) {
        run_checkpoint(golden, folder);
    }
    limn_golden_skip_unknown(golden, folder, "", is_known, manifest);
}
