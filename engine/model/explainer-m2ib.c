// SPDX-License-Identifier: GPL-3.0-or-later

// M2IB (Wang et al. 2023), picture side: noise replaces the hidden state h of a layer
// where the score does not suffer. lambda = sigmoid(alpha) [rows, C], h' = lambda h + (1
// - lambda) noise; loss = beta mean(KL) - mean cosine over the noise copies; Adam with
// rate 1. The map is the information that is left, KL summed over channels:
//
//     KL = -(1 + ln s2 - mu^2 - s2) / 2,  mu = lambda h,  s2 = (1 - lambda)^2
//     dKL/dlambda = 1 / (1 - lambda) + lambda h^2 - (1 - lambda)

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"
#include "engine/base/rng.h"
#include "engine/model/explainer-private.h"

#define STREAM ((guint64) 0x4d << 40)
#define COPIES 10
#define INITIAL 5.0
#define RATE 1.0
#define BETA1 0.9
#define BETA2 0.999
#define EPSILON 1e-8
#define CHUNK ((gsize) 1 << 14)

typedef struct {
    const LimnExplainContext *context;
    LimnPass *pass;
    int n;          // blocks behind the layer
    gsize size;     // rows * C
    const float *h; // [rows, C]
    float *alpha, *moment1, *moment2;
    float *g; // dLoss/dlambda of the copies' mean, [rows, C]
    float *noise;
    float *mixed; // h' of the copy at hand
    int step;
    double beta;
} Bottleneck;

static double
logistic(double x)
{
    return 1 / (1 + exp(-x));
}

static gboolean
ignore_block(LimnJob *job, const LimnBackStep *step, gpointer data, GError **error)
{
    return TRUE;
}

typedef struct {
    Bottleneck *b;
    const float *gx;
} Copy;

static void
mix_chunk(gsize chunk, gpointer data)
{
    Bottleneck *b = data;
    gsize end = MIN((chunk + 1) * CHUNK, b->size);
    for (gsize i = chunk * CHUNK; i < end; i++) {
        double lambda = logistic((double) b->alpha[i]);
        double rest = logistic(-(double) b->alpha[i]);
        b->mixed[i] = (float) (lambda * (double) b->h[i] + rest * (double) b->noise[i]);
    }
}

static void
collect_chunk(gsize chunk, gpointer data)
{
    const Copy *copy = data;
    Bottleneck *b = copy->b;
    gsize end = MIN((chunk + 1) * CHUNK, b->size);
    for (gsize i = chunk * CHUNK; i < end; i++) {
        b->g[i] -= copy->gx[i] * (b->h[i] - b->noise[i]) / COPIES;
    }
}

static void
adam_chunk(gsize chunk, gpointer data)
{
    Bottleneck *b = data;
    gsize end = MIN((chunk + 1) * CHUNK, b->size);
    double correct1 = 1 - pow(BETA1, b->step), correct2 = 1 - pow(BETA2, b->step);
    for (gsize i = chunk * CHUNK; i < end; i++) {
        double lambda = logistic((double) b->alpha[i]);
        double rest = logistic(-(double) b->alpha[i]), h = (double) b->h[i];
        double kl = 1 / MAX(rest, 1e-30) + lambda * h * h - rest;
        double g = (double) b->g[i] + b->beta / (double) b->size * kl;
        g *= lambda * rest;
        double m1 = BETA1 * (double) b->moment1[i] + (1 - BETA1) * g;
        double m2 = BETA2 * (double) b->moment2[i] + (1 - BETA2) * g * g;
        b->moment1[i] = (float) m1;
        b->moment2[i] = (float) m2;
        b->alpha[i] -= (float) (RATE * (m1 / correct1) / (sqrt(m2 / correct2) + EPSILON));
    }
}

static void
run_chunks(Bottleneck *b, LimnChunkFunc func, gpointer data)
{
    limn_parallel_for(b->context->job, (b->size + CHUNK - 1) / CHUNK, func, data);
}

typedef struct {
    Bottleneck *b;
    LimnRng rng;
} Noise;

static void
noise_chunk(gsize chunk, gpointer data)
{
    const Noise *noise = data;
    gsize end = MIN((chunk + 1) * CHUNK, noise->b->size);
    for (gsize i = chunk * CHUNK; i < end; i++) {
        noise->b->noise[i] = limn_rng_normal_at(&noise->rng, i);
    }
}

static void
draw_noise(Bottleneck *b, int copy)
{
    guint64 number = (guint64) b->step * COPIES + (guint64) copy;
    Noise noise = {b, limn_rng_make(b->context->options->seed, STREAM | number << 8)};
    run_chunks(b, noise_chunk, &noise);
}

// One noise copy forward and backward; its share of the gradient is added to b->g.
static gboolean
run_copy(Bottleneck *b, int copy, GError **error)
{
    LimnJob *job = b->context->job;
    gsize p = (gsize) b->pass->tower->embedding;
    draw_noise(b, copy);
    run_chunks(b, mix_chunk, b);
    g_autoptr(LimnFloats) x = limn_floats_new(b->size, 1, error);
    g_autoptr(LimnFloats) gx = x != NULL ? limn_floats_new(b->size, 1, error) : NULL;
    g_autoptr(LimnFloats) gf = gx != NULL ? limn_floats_new(p, 1, error) : NULL;
    if (gf == NULL) {
        return FALSE;
    }
    memcpy(x, b->mixed, b->size * sizeof *x);
    g_autoptr(LimnChain) chain =
        limn_chain_new_on(job, b->pass, b->n, g_steal_pointer(&x), error);
    if (chain == NULL) {
        return FALSE;
    }
    limn_cosine_gradient(chain->f, b->context->text, p, gf);
    if (!limn_chain_backward(job, chain, gf, ignore_block, NULL, gx, error)) {
        return FALSE;
    }
    Copy collected = {b, gx};
    run_chunks(b, collect_chunk, &collected);
    return limn_job_check(job, error);
}

static gboolean
optimise(Bottleneck *b, int steps, GError **error)
{
    for (b->step = 1; b->step <= steps; b->step++) {
        memset(b->g, 0, b->size * sizeof *b->g);
        for (int copy = 0; copy < COPIES; copy++) {
            limn_job_report(b->context->job, "m2ib",
                            ((b->step - 1) * COPIES + copy) / (double) (steps * COPIES),
                            "step %d of %d", b->step, steps);
            if (!run_copy(b, copy, error)) {
                return FALSE;
            }
        }
        run_chunks(b, adam_chunk, b);
    }
    return limn_job_check(b->context->job, error);
}

// KL summed over the channels of each row.
static void
information(const Bottleneck *b, float *out)
{
    gsize width = (gsize) b->pass->tower->config.width;
    for (gsize row = 0; row < b->pass->rows; row++) {
        double sum = 0;
        for (gsize i = row * width; i < (row + 1) * width; i++) {
            double rest = MAX(logistic(-(double) b->alpha[i]), 1e-30);
            double mu = logistic((double) b->alpha[i]) * (double) b->h[i];
            sum -= 0.5 * (1 + 2 * log(rest) - mu * mu - rest * rest);
        }
        out[row] = (float) sum;
    }
}

static gboolean
init(Bottleneck *b, float **memory, GError **error)
{
    *memory = limn_floats_new(6, b->size, error);
    if (*memory == NULL) {
        return FALSE;
    }
    b->alpha = *memory;
    b->moment1 = b->alpha + b->size;
    b->moment2 = b->moment1 + b->size;
    b->g = b->moment2 + b->size;
    b->noise = b->g + b->size;
    b->mixed = b->noise + b->size;
    memset(b->moment1, 0, 2 * b->size * sizeof(float));
    for (gsize i = 0; i < b->size; i++) {
        b->alpha[i] = (float) INITIAL;
    }
    return TRUE;
}

gboolean
limn_explain_m2ib(const LimnExplainContext *context, LimnExplanation *explanation,
                  GError **error)
{
    LimnPass *pass = context->explainer->pass;
    const LimnExplainOptions *options = context->options;
    int layers = pass->tower->config.layers;
    if (layers < 2) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_UNSUPPORTED,
                    "M2IB needs a vision tower of at least 2 blocks (%s has %d)",
                    context->explainer->clip->name, layers);
        return FALSE;
    }
    int layer = options->m2ib_layer >= 0 ? options->m2ib_layer : MAX(layers - 3, 0);
    layer = MIN(layer, layers - 2);
    g_autoptr(LimnFloats) temporary = NULL;
    g_autoptr(LimnFloats) memory = NULL;
    g_autoptr(LimnFloats) map = limn_floats_new(pass->rows, 1, error);
    Bottleneck b = {
        .context = context,
        .pass = pass,
        .n = layers - 1 - layer,
        .size = pass->rows * (gsize) pass->tower->config.width,
        .beta = options->m2ib_beta,
    };
    b.h = map != NULL
              ? limn_pass_get_input(context->job, pass, layer + 1, &temporary, error)
              : NULL;
    if (b.h == NULL || !init(&b, &memory, error) ||
        !optimise(&b, MAX(options->m2ib_steps, 1), error)) {
        return FALSE;
    }
    information(&b, map);
    return limn_explanation_set_map(context, explanation, map + 1, FALSE, error);
}
