// SPDX-License-Identifier: GPL-3.0-or-later

#include "neuron-testing.h"

#include "engine/method/operations.h"

// ---- running

LimnRun *
new_run_list(const char *id, int threads, const char *key, va_list args)
{
    limn_registry_set(limn_operations);
    g_autoptr(LimnStudy) study = limn_study_new(limn_registry_find(id));
    for (; key != NULL; key = va_arg(args, const char *)) {
        g_autoptr(GError) error = NULL;
        limn_study_set(study, key, va_arg(args, const char *), &error);
        g_assert_no_error(error);
    }
    g_autoptr(LimnJob) job = limn_job_new();
    limn_job_set_threads(job, threads);
    return limn_run_new(study, job);
}

LimnRun *
new_run(const char *id, const char *key, ...)
{
    va_list args;
    va_start(args, key);
    LimnRun *run = new_run_list(id, 2, key, args);
    va_end(args);
    return run;
}

void
execute(LimnRun *run)
{
    g_autoptr(GError) error = NULL;
    limn_run_execute(run, &error);
    g_assert_no_error(error);
}

LimnRun *
run_now(const char *id, const char *key, ...)
{
    va_list args;
    va_start(args, key);
    LimnRun *run = new_run_list(id, 2, key, args);
    va_end(args);
    execute(run);
    return run;
}

void
expect_failure(LimnRun *run, LimnErrorCode code, const char *one, const char *two)
{
    g_autoptr(GError) error = NULL;
    g_assert_false(limn_run_execute(run, &error));
    assert_refused(&error, code, one, two, NULL);
    limn_run_free(run);
}

void
write_study(LimnRun *run, const char *path)
{
    g_autoptr(GError) error = NULL;
    limn_study_folder_write(run, path, FALSE, &error);
    g_assert_no_error(error);
}

LimnTable *
table_of(LimnRun *run, const char *name)
{
    LimnArtifact *artifact = limn_run_find_artifact(run, name);
    g_assert_nonnull(artifact);
    return artifact->table;
}

static LimnColumn *
column_of(LimnRun *run, const char *table, const char *name)
{
    LimnTable *t = table_of(run, table);
    for (guint i = 0; i < t->columns->len; i++) {
        LimnColumn *column = g_ptr_array_index(t->columns, i);
        if (strcmp(column->name, name) == 0) {
            return column;
        }
    }
    g_error("%s has no column %s", table, name);
}

double
number(LimnRun *run, const char *table, const char *column, guint row)
{
    return g_array_index(column_of(run, table, column)->numbers, double, row);
}

const char *
word(LimnRun *run, const char *table, const char *column, guint row)
{
    return g_ptr_array_index(column_of(run, table, column)->strings, row);
}

double
scalar(LimnRun *run, const char *name)
{
    GPtrArray *scalars = limn_run_get_scalars(run);
    for (guint i = 0; i < scalars->len; i++) {
        const LimnScalar *entry = g_ptr_array_index(scalars, i);
        if (strcmp(entry->name, name) == 0) {
            return entry->value;
        }
    }
    g_error("there is no scalar %s", name);
}

gboolean
is_said(LimnRun *run, const char *part)
{
    g_autoptr(GPtrArray) list = limn_job_dup_diagnostics(limn_run_get_job(run));
    for (guint i = 0; i < list->len; i++) {
        const LimnDiagnostic *diagnostic = g_ptr_array_index(list, i);
        if (strstr(diagnostic->message, part) != NULL) {
            return TRUE;
        }
    }
    return FALSE;
}

// ---- data

void
data_clear(Data *d)
{
    char **all[] = {&d->activations, &d->matrix,  &d->names,  &d->images, &d->texts,
                    &d->labels,      &d->cosines, &d->weight, &d->bias,   &d->right};
    for (gsize i = 0; i < G_N_ELEMENTS(all); i++) {
        g_free(*all[i]);
    }
    remove_folder(d->folder);
    g_free(d->folder);
}

char *
save(const Data *d, const char *name, const LimnArray *array)
{
    g_autoptr(GError) error = NULL;
    char *path = g_build_filename(d->folder, name, NULL);
    limn_npy_save(array, path, &error);
    g_assert_no_error(error);
    return path;
}

LimnArray *
new_array(LimnDType dtype, gint64 rows, gint64 columns)
{
    gint64 shape[2] = {rows, columns};
    LimnArray *array = limn_array_new(dtype, columns > 0 ? 2 : 1, shape, NULL);
    g_assert_nonnull(array);
    return array;
}

static void
normal(LimnArray *array, LimnRng *rng)
{
    for (gint64 i = 0; i < array->length; i++) {
        limn_array_f32(array)[i] = limn_rng_normal(rng);
    }
}

static void
make_similarities(const LimnArray *images, const LimnArray *texts, LimnArray *cosines,
                  LimnArray *matrix)
{
    for (gsize i = 0; i < N; i++) {
        for (gsize j = 0; j < K; j++) {
            double dot = 0, aa = 0, bb = 0;
            for (gsize d = 0; d < D; d++) {
                double a = limn_array_f32(images)[i * D + d];
                double b = limn_array_f32(texts)[j * D + d];
                dot += a * b;
                aa += a * a;
                bb += b * b;
            }
            double cosine = dot / sqrt(aa * bb);
            limn_array_f32(cosines)[i * K + j] = (float) cosine;
            limn_array_f32(matrix)[i * K + j] =
                (float) (1 / (1 + exp(-12 * (cosine - 0.25))));
        }
    }
}

static LimnArray *
make_activations(const LimnArray *matrix, LimnRng *rng)
{
    LimnArray *a = new_array(LIMN_DTYPE_F32, N, M);
    for (gsize i = 0; i < N; i++) {
        for (gsize m = 0; m < M; m++) {
            const float *p = limn_array_f32(matrix) + i * K + 2 * m;
            double sum = 2 * p[0] + p[1] + 0.05 * limn_rng_normal(rng);
            limn_array_f32(a)[i * M + m] = (float) fmax(sum, 0);
        }
    }
    return a;
}

Data
make_data(void)
{
    Data d = {.folder = make_folder()};
    LimnRng rng = limn_rng_make(12, 3);
    g_autoptr(LimnArray) images = new_array(LIMN_DTYPE_F32, N, D);
    g_autoptr(LimnArray) texts = new_array(LIMN_DTYPE_F32, K, D);
    g_autoptr(LimnArray) cosines = new_array(LIMN_DTYPE_F32, N, K);
    g_autoptr(LimnArray) matrix = new_array(LIMN_DTYPE_F32, N, K);
    g_autoptr(LimnArray) labels = new_array(LIMN_DTYPE_U8, N, K);
    g_autoptr(LimnArray) weight = new_array(LIMN_DTYPE_F32, 4, M);
    g_autoptr(LimnArray) bias = new_array(LIMN_DTYPE_F32, 4, 0);
    g_autoptr(LimnArray) right = new_array(LIMN_DTYPE_I64, N, 0);
    normal(images, &rng);
    normal(texts, &rng);
    normal(weight, &rng);
    make_similarities(images, texts, cosines, matrix);
    g_autoptr(LimnArray) activations = make_activations(matrix, &rng);
    for (gint64 i = 0; i < labels->length; i++) {
        limn_array_u8(labels)[i] = limn_rng_uniform(&rng) < limn_array_f32(matrix)[i];
    }
    for (gsize i = 0; i < N; i++) {
        limn_array_i64(right)[i] = limn_rng_below(&rng, 4);
    }
    d.activations = save(&d, "a.npy", activations);
    d.matrix = save(&d, "p.npy", matrix);
    d.images = save(&d, "images.npy", images);
    d.texts = save(&d, "texts.npy", texts);
    d.cosines = save(&d, "cosines.npy", cosines);
    d.labels = save(&d, "labels.npy", labels);
    d.weight = save(&d, "weight.npy", weight);
    d.bias = save(&d, "bias.npy", bias);
    d.right = save(&d, "right.npy", right);
    g_autoptr(GString) names = g_string_new(NULL);
    for (int j = 0; j < K; j++) {
        g_string_append_printf(names, "thing_%d\n", j);
    }
    d.names = write_file(d.folder, "names.txt", names->str, names->len);
    return d;
}
