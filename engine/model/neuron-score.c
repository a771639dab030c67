// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/model/neuron-score.h"

#include <math.h>
#include <string.h>

#include "engine/math/statistics.h"

void
limn_neuron_predict(const LimnNeuronFormula *formula, const LimnArray *values,
                    double *predicted)
{
    gsize n = (gsize) values->shape[0], k = (gsize) values->shape[1];
    for (gsize i = 0; i < n; i++) {
        const float *row = limn_array_f32(values) + i * k;
        double sum = formula->bias;
        for (gsize j = 0; j < formula->length; j++) {
            sum += formula->weights[j] * row[formula->columns[j]];
        }
        predicted[i] = sum;
    }
}

double
limn_neuron_simulate(const double *predicted, const double *actual, const guint32 *rows,
                     gsize n)
{
    if (rows == NULL) {
        return limn_pearson(predicted, actual, n);
    }
    g_autofree double *x = g_new(double, MAX(n, 1)), *y = g_new(double, MAX(n, 1));
    for (gsize i = 0; i < n; i++) {
        x[i] = predicted[rows[i]];
        y[i] = actual[rows[i]];
    }
    return limn_pearson(x, y, n);
}

// ---- composition

static void
sum_bin(const LimnNeuronFormula *formula, const float *row, LimnNeuronBin *bin,
        double *percent)
{
    double covered = 0;
    for (gsize j = 0; j < formula->length; j++) {
        double value = row[formula->columns[j]];
        percent[j] += value;
        covered += value;
    }
    bin->count++;
    bin->other += fmax(0, 1 - covered);
}

void
limn_neuron_bins(const LimnNeuronFormula *formula, const LimnArray *values,
                 const double *actual, gsize n_bins, LimnNeuronBin *bins, double *percent)
{
    gsize n = (gsize) values->shape[0], k = (gsize) values->shape[1];
    gsize length = formula->length;
    double largest = 0;
    for (gsize i = 0; i < n; i++) {
        largest = fmax(largest, actual[i]);
    }
    for (gsize b = 0; b < n_bins; b++) {
        double width = largest / (double) n_bins;
        bins[b] =
            (LimnNeuronBin){.low = (double) b * width,
                            .high = b + 1 < n_bins ? (double) (b + 1) * width : largest};
    }
    memset(percent, 0, n_bins * length * sizeof *percent);
    for (gsize i = 0; i < n; i++) {
        if (!(actual[i] > 0)) {
            continue;
        }
        gsize b = 0;
        while (b + 1 < n_bins && actual[i] > bins[b].high) {
            b++;
        }
        sum_bin(formula, limn_array_f32(values) + i * k, &bins[b], percent + b * length);
    }
    for (gsize b = 0; b < n_bins; b++) {
        double scale = bins[b].count > 0 ? 100 / (double) bins[b].count : NAN;
        bins[b].other *= scale;
        for (gsize j = 0; j < length; j++) {
            percent[b * length + j] *= scale;
        }
    }
}
