// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/scene/background.h"

#include <math.h>

#define MAX_CELLS 16

static void
random_colour(LimnRng *rng, float rgb[3])
{
    for (int c = 0; c < 3; c++)
        rgb[c] = 255 * limn_rng_uniform(rng);
}

static guint8
to_byte(double value)
{
    return (guint8) CLAMP(value + 0.5, 0, 255);
}

static void
paint_plain(LimnRng *rng, int n, guint8 *out, gboolean light)
{
    float rgb[3];
    random_colour(rng, rgb);
    for (int c = 0; c < 3; c++)
        if (light)
            rgb[c] = 232 + rgb[c] * 23 / 255;
    for (int i = 0; i < n * n; i++)
        for (int c = 0; c < 3; c++)
            out[3 * i + c] = to_byte(rgb[c]);
}

static void
paint_gradient(LimnRng *rng, int n, guint8 *out)
{
    float from[3], to[3];
    random_colour(rng, from);
    random_colour(rng, to);
    double angle = 2 * G_PI * limn_rng_uniform(rng), dx = cos(angle), dy = sin(angle);
    double reach = (fabs(dx) + fabs(dy)) / 2;
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            double along = ((x + 0.5) / n - 0.5) * dx + ((y + 0.5) / n - 0.5) * dy;
            double t = (along / reach + 1) / 2;
            for (int c = 0; c < 3; c++)
                out[3 * (y * n + x) + c] = to_byte(from[c] + (to[c] - from[c]) * t);
        }
}

// Cubic convolution (a = -0.5) around position s of a grid with clamped borders.
static void
cubic_taps(double s, int cells, int index[4], double weight[4])
{
    int base = (int) floor(s);
    for (int i = 0; i < 4; i++) {
        double t = fabs(s - (base - 1 + i));
        index[i] = CLAMP(base - 1 + i, 0, cells - 1);
        weight[i] =
            t < 1 ? (1.5 * t - 2.5) * t * t + 1 : ((-0.5 * t + 2.5) * t - 4) * t + 2;
    }
}

static void
paint_noise(LimnRng *rng, int n, guint8 *out, gboolean smooth)
{
    int cells = 3 + (int) limn_rng_below(rng, 13);
    float grid[MAX_CELLS * MAX_CELLS][3];
    for (int i = 0; i < cells * cells; i++)
        random_colour(rng, grid[i]);
    for (int y = 0; y < n; y++)
        for (int x = 0; x < n; x++) {
            guint8 *pixel = out + 3 * (y * n + x);
            double sx = (x + 0.5) * cells / n - 0.5, sy = (y + 0.5) * cells / n - 0.5;
            if (!smooth) {
                int cell =
                    (int) ((y + 0.5) * cells / n) * cells + (int) ((x + 0.5) * cells / n);
                for (int c = 0; c < 3; c++)
                    pixel[c] = to_byte(grid[cell][c]);
                continue;
            }
            int ix[4], iy[4];
            double wx[4], wy[4], sum[3] = {0, 0, 0};
            cubic_taps(sx, cells, ix, wx);
            cubic_taps(sy, cells, iy, wy);
            for (int i = 0; i < 16; i++)
                for (int c = 0; c < 3; c++)
                    sum[c] +=
                        wy[i / 4] * wx[i % 4] * grid[iy[i / 4] * cells + ix[i % 4]][c];
            for (int c = 0; c < 3; c++)
                pixel[c] = to_byte(sum[c]);
        }
}

void
limn_background_paint(LimnBackground kind, LimnRng *rng, int n, guint8 *rgb)
{
    if (kind == LIMN_BACKGROUND_MIXED)
        kind = (LimnBackground) (LIMN_BACKGROUND_PLAIN + limn_rng_below(rng, 5));
    switch (kind) {
    case LIMN_BACKGROUND_GRADIENT:
        paint_gradient(rng, n, rgb);
        break;
    case LIMN_BACKGROUND_SMOOTH:
        paint_noise(rng, n, rgb, TRUE);
        break;
    case LIMN_BACKGROUND_BLOCKS:
        paint_noise(rng, n, rgb, FALSE);
        break;
    default:
        paint_plain(rng, n, rgb, kind == LIMN_BACKGROUND_LIGHT);
    }
}
