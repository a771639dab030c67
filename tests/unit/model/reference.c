// SPDX-License-Identifier: GPL-3.0-or-later

#include "reference.h"

#include <math.h>
#include <string.h>

static void
layer_norm(const LimnNorm *norm, float eps, const double *x, gsize n, double *y)
{
    double mean = 0, variance = 0;
    for (gsize i = 0; i < n; i++) {
        mean += x[i] / (double) n;
    }
    for (gsize i = 0; i < n; i++) {
        variance += (x[i] - mean) * (x[i] - mean) / (double) n;
    }
    for (gsize i = 0; i < n; i++) {
        y[i] = (x[i] - mean) / sqrt(variance + (double) eps) * (double) norm->gain[i] +
               (double) norm->offset[i];
    }
}

static void
affine(const LimnAffine *map, const double *x, gsize in, gsize out, double *y)
{
    for (gsize o = 0; o < out; o++) {
        y[o] = (double) map->bias[o];
        for (gsize i = 0; i < in; i++) {
            y[o] += (double) map->weight[o * in + i] * x[i];
        }
    }
}

static double
activate(LimnActivation kind, double z)
{
    return kind == LIMN_ACTIVATION_GELU ? 0.5 * z * erfc(-z / sqrt(2))
                                        : z / (1 + exp(-1.702 * z));
}

// o [rows, C] of one head, columns [begin, begin + d).
static void
attend(const Reference *r, const double *q, const double *k, const double *v, gsize width,
       gsize begin, gsize d, double *o)
{
    g_autofree double *p = g_new(double, r->rows);
    for (gsize i = 0; i < r->rows; i++) {
        double sum = 0;
        gsize seen = r->causal ? i + 1 : r->rows;
        for (gsize j = 0; j < seen; j++) {
            double score = 0;
            for (gsize c = begin; c < begin + d; c++) {
                score += q[i * width + c] * k[j * width + c];
            }
            sum += p[j] = exp(score / sqrt((double) d));
        }
        for (gsize c = begin; c < begin + d; c++) {
            o[i * width + c] = 0;
            for (gsize j = 0; j < seen; j++) {
                o[i * width + c] += p[j] / sum * v[j * width + c];
            }
        }
    }
}

static void
run_block(const Reference *r, int layer, double *x)
{
    const LimnTower *tower = r->tower;
    const LimnBlock *block = &tower->blocks[layer];
    gsize width = (gsize) tower->config.width, mlp = (gsize) tower->config.mlp;
    gsize n = r->rows * width, heads = r->authors ? 1 : (gsize) tower->config.heads;
    g_autofree double *memory = g_new(double, 5 * n + mlp);
    double *a = memory, *q = a + n, *k = q + n, *v = k + n, *o = v + n, *z = o + n;
    for (gsize i = 0; i < r->rows; i++) {
        layer_norm(&block->norm1, tower->config.eps, x + i * width, width, a);
        affine(&block->q, a, width, width, q + i * width);
        affine(&block->k, a, width, width, k + i * width);
        affine(&block->v, a, width, width, v + i * width);
    }
    for (gsize h = 0; h < heads; h++) {
        attend(r, q, k, v, width, h * (width / heads), width / heads, o);
    }
    if (layer == r->layer) {
        o[r->pool * width + r->channel] += r->step;
    }
    for (gsize i = 0; i < r->rows; i++) {
        double *row = x + i * width;
        affine(&block->out, o + i * width, width, width, a);
        for (gsize c = 0; c < width; c++) {
            row[c] += a[c];
        }
        layer_norm(&block->norm2, tower->config.eps, row, width, a);
        affine(&block->fc1, a, width, mlp, z);
        for (gsize c = 0; c < mlp; c++) {
            z[c] = activate(tower->config.activation, z[c]);
        }
        affine(&block->fc2, z, mlp, width, a);
        for (gsize c = 0; c < width; c++) {
            row[c] += a[c];
        }
    }
}

double
reference_score(const Reference *r, const double *x)
{
    const LimnTower *tower = r->tower;
    gsize width = (gsize) tower->config.width, p = (gsize) tower->embedding;
    g_autofree double *h = g_memdup2(x, r->rows * width * sizeof *x);
    g_autofree double *y = g_new(double, width);
    double dot = 0, squares = 0;
    for (int layer = r->first; layer < tower->config.layers; layer++) {
        run_block(r, layer, h);
    }
    layer_norm(&tower->final, tower->config.eps, h + r->pool * width, width, y);
    for (gsize i = 0; i < p; i++) {
        double f = 0;
        for (gsize c = 0; c < width; c++) {
            f += y[c] * (double) (tower->projection_by_row
                                      ? tower->projection[i * width + c]
                                      : tower->projection[c * p + i]);
        }
        dot += f * r->target[i];
        squares += f * f;
    }
    return dot / sqrt(squares);
}
