// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-calibration.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"
#include "engine/base/parallel.h"

#define BINS 8192
// Rows of one chunk of a sum over pairs; chunks are few enough to keep a histogram each.
#define MOST_CHUNKS ((gsize) 64)
#define NEWTON_STEPS 60
// Beyond this slope the labels separate the cosines.
#define LARGEST_SLOPE 1e5

const LimnCalibrationKnown limn_calibrations_known[] = {
    {"ViT-SO400M-14-SigLIP-384", 58, -0.13},
    {"ViT-L-16-SigLIP-384", 60, -0.09},
    {"ViT-L-14-336", 58, -0.25},
    {NULL, 0, 0},
};

// log(1 + exp(x))
static double
softplus(double x)
{
    return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

// ---- sums over pairs

typedef struct {
    double weight[2], cosine[2]; // by truth: number of pairs, sum of their cosines
} Bin;

// Loss, gradient and second derivatives in slope and intercept.
typedef struct {
    double loss, g[2], h[3], n;
} Moments;

typedef struct {
    const LimnArray *cosines, *truth;
    const guint8 *skipped;
    gsize rows; // per chunk
    double slope, intercept;
    Bin *bins;        // [chunks, BINS], or NULL
    Moments *moments; // [chunks], or NULL
} Pairs;

static void
add_to_bin(Bin *bins, double cosine, int truth)
{
    double at = (CLAMP(cosine, -1, 1) + 1) / 2 * BINS;
    Bin *bin = bins + MIN((gsize) at, BINS - 1);
    bin->weight[truth] += 1;
    bin->cosine[truth] += cosine;
}

static void
add_to_moments(const Pairs *p, Moments *m, double cosine, int truth)
{
    double z = p->slope * cosine + p->intercept;
    double probability = 1 / (1 + exp(-z)), rest = probability - truth;
    double curve = probability * (1 - probability);
    m->loss += softplus(truth ? -z : z);
    m->g[0] += rest * cosine;
    m->g[1] += rest;
    m->h[0] += curve * cosine * cosine;
    m->h[1] += curve * cosine;
    m->h[2] += curve;
    m->n += 1;
}

static void
pairs_chunk(gsize chunk, gpointer data)
{
    const Pairs *p = data;
    gsize n = (gsize) p->cosines->shape[0], k = (gsize) p->cosines->shape[1];
    for (gsize i = chunk * p->rows; i < MIN((chunk + 1) * p->rows, n); i++) {
        const float *cosines = limn_array_f32(p->cosines) + i * k;
        const float *truth = limn_array_f32(p->truth) + i * k;
        for (gsize j = 0; j < k; j++) {
            if (p->skipped != NULL && p->skipped[j]) {
                continue;
            }
            if (p->bins != NULL) {
                add_to_bin(p->bins + chunk * BINS, cosines[j], truth[j] > 0.5f);
            } else {
                add_to_moments(p, p->moments + chunk, cosines[j], truth[j] > 0.5f);
            }
        }
    }
}

static gsize
n_chunks(Pairs *p)
{
    gsize n = (gsize) p->cosines->shape[0];
    p->rows = MAX((n + MOST_CHUNKS - 1) / MOST_CHUNKS, 1);
    return (n + p->rows - 1) / p->rows;
}

static Moments
sum_moments(Pairs *p, LimnJob *job)
{
    gsize chunks = n_chunks(p);
    g_autofree Moments *parts = g_new0(Moments, chunks + 1);
    Moments sum = {0};
    p->moments = parts;
    limn_parallel_for(job, chunks, pairs_chunk, p);
    for (gsize c = 0; c < chunks; c++) {
        sum.loss += parts[c].loss;
        sum.n += parts[c].n;
        for (int i = 0; i < 3; i++) {
            sum.h[i] += parts[c].h[i];
            sum.g[i % 2] += i < 2 ? parts[c].g[i] : 0;
        }
    }
    p->moments = NULL;
    double scale = sum.n > 0 ? 1 / sum.n : 0;
    sum.loss *= scale;
    for (int i = 0; i < 3; i++) {
        sum.h[i] *= scale;
        sum.g[i % 2] *= i < 2 ? scale : 1;
    }
    return sum;
}

static gboolean
check_pairs(const LimnArray *cosines, const LimnArray *truth, GError **error)
{
    if (limn_array_has_shape(truth, cosines->rank, cosines->shape) &&
        cosines->length > 0) {
        return TRUE;
    }
    g_autofree char *one = limn_array_describe_shape(cosines);
    g_autofree char *two = limn_array_describe_shape(truth);
    g_set_error(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                "calibration: similarities and labels do not fit together (found %s and "
                "%s, expected the same pictures and concepts)",
                one, two);
    return FALSE;
}

// ---- grid

typedef struct {
    Bin *bins; // those that are not empty
    gsize n_bins;
    double n;
    double *a;    // [n_a]
    double *loss; // [n_a] best over b
    double *b;    // [n_a]
} Grid;

static void
grid_chunk(gsize chunk, gpointer data)
{
    const Grid *g = data;
    double a = g->a[chunk];
    g->loss[chunk] = INFINITY;
    for (int step = -100; step <= 100; step++) {
        double b = step / 100.0, sum = 0;
        for (gsize i = 0; i < g->n_bins; i++) {
            for (int t = 0; t < 2; t++) {
                double weight = g->bins[i].weight[t];
                if (weight > 0) {
                    double z = a * (g->bins[i].cosine[t] / weight + b);
                    sum += weight * softplus(t == 1 ? -z : z);
                }
            }
        }
        if (sum / g->n < g->loss[chunk]) {
            g->loss[chunk] = sum / g->n;
            g->b[chunk] = b;
        }
    }
}

static gsize
grid_slopes(double *a)
{
    static const double small[] = {0.1, 0.25, 0.5, 0.75, 1};
    gsize n = 0;
    for (gsize i = 0; i < G_N_ELEMENTS(small); i++) {
        a[n++] = small[i];
    }
    for (int slope = 0; slope <= 150; slope += 2) {
        a[n++] = slope;
    }
    return n;
}

// Sums the histograms of the chunks; keeps the bins that are not empty.
static void
fill_grid(Grid *grid, Pairs *pairs, LimnJob *job)
{
    gsize chunks = n_chunks(pairs), size = chunks * BINS;
    g_autofree Bin *parts = g_new0(Bin, size);
    pairs->bins = parts;
    limn_parallel_for(job, chunks, pairs_chunk, pairs);
    pairs->bins = NULL;
    grid->bins = g_new0(Bin, BINS);
    for (gsize i = 0; i < BINS; i++) {
        Bin *sum = grid->bins + grid->n_bins;
        for (gsize c = 0; c < chunks; c++) {
            for (int t = 0; t < 2; t++) {
                sum->weight[t] += parts[c * BINS + i].weight[t];
                sum->cosine[t] += parts[c * BINS + i].cosine[t];
            }
        }
        grid->n += sum->weight[0] + sum->weight[1];
        grid->n_bins += sum->weight[0] + sum->weight[1] > 0;
    }
}

gboolean
limn_calibrate_grid(const LimnArray *cosines, const LimnArray *truth,
                    const guint8 *skipped, LimnCalibration *calibration, LimnJob *job,
                    GError **error)
{
    if (!check_pairs(cosines, truth, error)) {
        return FALSE;
    }
    Pairs pairs = {.cosines = cosines, .truth = truth, .skipped = skipped};
    double a[128], b[128], loss[128];
    gsize n = grid_slopes(a), best = 0;
    Grid grid = {.a = a, .b = b, .loss = loss};
    fill_grid(&grid, &pairs, job);
    if (grid.n == 0) {
        g_free(grid.bins);
        g_set_error_literal(error, LIMN_ERROR, LIMN_ERROR_MISMATCH,
                            "calibration: no pair of picture and concept is left");
        return FALSE;
    }
    limn_parallel_for(job, n, grid_chunk, &grid);
    g_free(grid.bins);
    if (!limn_job_check(job, error)) {
        return FALSE;
    }
    for (gsize i = 1; i < n; i++) {
        best = loss[i] < loss[best] ? i : best;
    }
    *calibration = (LimnCalibration){a[best], b[best], loss[best], TRUE};
    return TRUE;
}

// ---- Newton

double
limn_calibration_loss(const LimnArray *cosines, const LimnArray *truth,
                      const guint8 *skipped, double a, double b, LimnJob *job)
{
    Pairs pairs = {.cosines = cosines,
                   .truth = truth,
                   .skipped = skipped,
                   .slope = a,
                   .intercept = a * b};
    return sum_moments(&pairs, job).loss;
}

// Goes along the step, halved until the loss does not grow. FALSE at the end of the way.
static gboolean
search_line(Pairs *p, Moments *now, double slope_step, double intercept_step,
            LimnJob *job)
{
    double slope = p->slope, intercept = p->intercept;
    for (int halving = 0; halving < 30; halving++) {
        double part = ldexp(1, -halving);
        p->slope = slope + part * slope_step;
        p->intercept = intercept + part * intercept_step;
        Moments next = sum_moments(p, job);
        if (next.loss <= now->loss) {
            *now = next;
            return TRUE;
        }
    }
    p->slope = slope;
    p->intercept = intercept;
    return FALSE;
}

gboolean
limn_calibrate_newton(const LimnArray *cosines, const LimnArray *truth,
                      const guint8 *skipped, LimnCalibration *calibration, LimnJob *job,
                      GError **error)
{
    if (!check_pairs(cosines, truth, error)) {
        return FALSE;
    }
    Pairs pairs = {.cosines = cosines,
                   .truth = truth,
                   .skipped = skipped,
                   .slope = calibration->a,
                   .intercept = calibration->a * calibration->b};
    Moments now = sum_moments(&pairs, job);
    gboolean converged = FALSE;
    for (int step = 0; step < NEWTON_STEPS && !converged; step++) {
        double determinant = now.h[0] * now.h[2] - now.h[1] * now.h[1];
        if (!limn_job_check(job, error)) {
            return FALSE;
        }
        if (!(determinant > 0) || fabs(pairs.slope) > LARGEST_SLOPE) {
            break;
        }
        double ds = -(now.h[2] * now.g[0] - now.h[1] * now.g[1]) / determinant;
        double di = -(now.h[0] * now.g[1] - now.h[1] * now.g[0]) / determinant;
        converged = fabs(ds) <= 1e-9 * (1 + fabs(pairs.slope)) &&
                    fabs(di) <= 1e-9 * (1 + fabs(pairs.intercept));
        if (!search_line(&pairs, &now, ds, di, job)) {
            converged = TRUE; // no smaller loss in double
        }
    }
    if (pairs.slope != 0 && now.loss <= calibration->loss + 1e-6) {
        calibration->a = pairs.slope;
        calibration->b = pairs.intercept / pairs.slope;
        calibration->loss = now.loss;
    }
    calibration->converged = converged;
    return TRUE;
}
