// SPDX-License-Identifier: GPL-3.0-or-later

// Picture to embedding beside the bare products of the same shapes on the same weights:
// one cblas_sgemm per thread on its share of the columns (on two processors that is as
// fast as OpenBLAS's own threads are), heads shared out among the threads.

#include <cblas.h>

#include "app/bench-checkpoint.h"
#include "app/bench.h"
#include "engine/base/file.h"
#include "engine/base/parallel.h"
#include "engine/io/safetensors.h"
#include "engine/model/clip.h"
#include "engine/nn/buffer.h"

typedef struct {
    LimnJob *job;
    const LimnBenchModel *model;
    LimnClip *clip;
    LimnImage *image;
    GPtrArray *weights; // LimnArray, matrices of the picture tower in order of use
    float *in, *out;    // [tokens, inputs of the widest product]
    float *scores;      // [heads, tokens, tokens]
} Bench;

static void
bench_clear(Bench *bench)
{
    g_clear_pointer(&bench->clip, limn_clip_unref);
    g_clear_pointer(&bench->image, limn_image_unref);
    g_clear_pointer(&bench->weights, g_ptr_array_unref);
    g_clear_pointer(&bench->in, free);
    g_clear_pointer(&bench->out, free);
    g_clear_pointer(&bench->scores, free);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Bench, bench_clear)

static gboolean
encode(gpointer data, GError **error)
{
    Bench *bench = data;
    g_autoptr(LimnArray) f =
        limn_clip_encode_image(bench->clip, bench->image, bench->job, error);
    return f != NULL;
}

static int
n_patches(const LimnBenchModel *m)
{
    return (m->image / m->patch) * (m->image / m->patch);
}

// The products of one head: scores and weighted values.
static void
attend_head(gsize head, gpointer data)
{
    const Bench *bench = data;
    const LimnBenchModel *m = bench->model;
    int n = n_patches(m) + 1, dim = m->width / m->heads;
    const float *q = bench->in + head * (gsize) dim;
    float *scores = bench->scores + head * (gsize) n * (gsize) n;
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, n, dim, 1, q, m->width, q,
                m->width, 0, scores, n);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, dim, n, 1, scores, n, q,
                m->width, 0, bench->out + head * (gsize) dim, m->width);
}

typedef struct {
    const Bench *bench;
    const LimnArray *w;
    int rows, in, out, parts;
} Product;

static void
multiply_part(gsize part, gpointer data)
{
    const Product *p = data;
    int begin = (int) ((gint64) p->out * (gint64) part / p->parts);
    int end = (int) ((gint64) p->out * (gint64) (part + 1) / p->parts);
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, p->rows, end - begin, p->in, 1,
                p->bench->in, p->in, limn_array_f32(p->w) + (gsize) begin * (gsize) p->in,
                p->in, 0, p->bench->out + begin, p->out);
}

static void
multiply_weight(const Bench *bench, guint i, int rows)
{
    const LimnArray *w = g_ptr_array_index(bench->weights, i);
    gint64 columns = w->shape[0];
    Product product = {bench,         w,
                       rows,          (int) (w->length / columns),
                       (int) columns, limn_job_get_threads(bench->job)};
    limn_parallel_for(bench->job, (gsize) product.parts, multiply_part, &product);
}

// Patches, then per block k, v, q, output and the two of the MLP. Of the last block only
// one row is wanted, which leaves its k and v as products.
static gboolean
multiply(gpointer data, GError **error)
{
    Bench *bench = data;
    const LimnBenchModel *m = bench->model;
    int tokens = n_patches(m) + 1;
    multiply_weight(bench, 0, n_patches(m));
    for (int layer = 0; layer < m->layers; layer++) {
        gboolean last = layer + 1 == m->layers;
        for (int i = 0; i < (last ? 2 : 6); i++) {
            multiply_weight(bench, (guint) (1 + layer * 6 + i), tokens);
        }
        if (!last) {
            limn_parallel_for(bench->job, (gsize) m->heads, attend_head, bench);
        }
    }
    return TRUE;
}

static gboolean
take_weights(Bench *bench, const char *folder, GError **error)
{
    static const char *const maps[] = {"self_attn.k_proj", "self_attn.v_proj",
                                       "self_attn.q_proj", "self_attn.out_proj",
                                       "mlp.fc1",          "mlp.fc2"};
    g_autofree char *path = g_build_filename(folder, "model.safetensors", NULL);
    g_autoptr(LimnSafetensors) st = limn_safetensors_open(path, error);
    if (st == NULL) {
        return FALSE;
    }
    bench->weights = g_ptr_array_new_with_free_func((GDestroyNotify) limn_array_unref);
    LimnArray *patches =
        limn_safetensors_get(st, "vision_model.embeddings.patch_embedding.weight", error);
    if (patches == NULL) {
        return FALSE;
    }
    g_ptr_array_add(bench->weights, patches);
    for (int layer = 0; layer < bench->model->layers; layer++) {
        for (guint i = 0; i < G_N_ELEMENTS(maps); i++) {
            g_autofree char *name = g_strdup_printf(
                "vision_model.encoder.layers.%d.%s.weight", layer, maps[i]);
            LimnArray *w = limn_safetensors_get(st, name, error);
            if (w == NULL) {
                return FALSE;
            }
            g_ptr_array_add(bench->weights, w);
        }
    }
    return TRUE;
}

static gboolean
prepare(Bench *bench, const char *folder, GError **error)
{
    const LimnBenchModel *m = bench->model;
    gsize tokens = (gsize) n_patches(m) + 1;
    gsize inputs = (gsize) MAX(4 * m->width, 3 * m->patch * m->patch);
    bench->clip = limn_clip_open(folder, 0, bench->job, error);
    bench->image = bench->clip != NULL ? limn_bench_make_picture(640, 480, error) : NULL;
    if (bench->image == NULL || !take_weights(bench, folder, error)) {
        return FALSE;
    }
    bench->in = limn_floats_new(tokens, inputs, error);
    bench->out = bench->in != NULL ? limn_floats_new(tokens, inputs, error) : NULL;
    bench->scores = bench->out != NULL
                        ? limn_floats_new((gsize) m->heads, tokens * tokens, error)
                        : NULL;
    if (bench->scores == NULL) {
        return FALSE;
    }
    for (gsize i = 0; i < tokens * inputs; i++) {
        bench->in[i] = (float) (i % 251) * 0.01f - 1.25f;
        bench->out[i] = 0;
    }
    return TRUE;
}

// Floating-point operations of all products of `multiply`.
static double
operations(const LimnBenchModel *m)
{
    double tokens = n_patches(m) + 1, width = m->width;
    double patches = 2.0 * n_patches(m) * width * 3 * m->patch * m->patch;
    double block = 24 * tokens * width * width + 4 * tokens * tokens * width;
    return patches + (m->layers - 1) * block + 4 * tokens * width * width;
}

static gboolean
measure(LimnBenchRun *run, const LimnBenchModel *model, const char *folder,
        GError **error)
{
    g_auto(Bench) bench = {.job = run->job, .model = model};
    g_autofree char *name =
        g_strdup_printf("%s, picture of 640x480 in memory to embedding", model->name);
    if (!prepare(&bench, folder, error)) {
        return FALSE;
    }
    LimnBenchResult *result =
        limn_bench_add(run, name, "ms", "bare sgemm of the same shapes");
    result->ratio_name = "share of the sgemm rate";
    result->goal = LIMN_BENCH_AT_LEAST;
    result->goal_value = 0.75;
    if (!limn_bench_compare(run, result, encode, multiply, &bench, error)) {
        return FALSE;
    }
    double per_ms = operations(model) * 1e-6;
    result->note =
        g_strdup_printf("%.0f GFLOP/s, bare %.0f GFLOP/s", per_ms / result->stat.median,
                        per_ms / result->compared.median);
    return TRUE;
}

static gboolean
run_clip_image(LimnBenchRun *run, GError **error)
{
    gboolean ok = TRUE;
    for (int i = 0; i < LIMN_BENCH_N_MODELS && ok; i++) {
        const LimnBenchModel *model = &limn_bench_models[i];
        g_autofree char *folder = limn_bench_write_checkpoint(model, run->job, error);
        ok = folder != NULL && measure(run, model, folder, error);
        if (folder != NULL) {
            limn_remove_tree(folder, NULL);
        }
    }
    return ok;
}

const LimnBenchmark limn_bench_clip_image = {
    .id = "clip-image",
    .title = "picture to CLIP embedding",
    .run = run_clip_image,
};
