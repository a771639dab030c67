// SPDX-License-Identifier: GPL-3.0-or-later

// Float maps and position tables: few inputs, many outputs, no antialias
// (specification of Grad-ECLIP, sections 3.3 and 6.1).

#include <math.h>
#include <string.h>

#include "engine/image/resample.h"

// The two neighbours of a place on an axis and the weight of the second.
typedef struct {
    int low, high;
    float weight;
} Place;

// s in units of inputs, measured between their centres, clamped at both ends.
static Place
place_at(double s, int n)
{
    s = CLAMP(s, 0.0, (double) (n - 1));
    int low = (int) s;
    return (Place){low, MIN(low + 1, n - 1), (float) (s - low)};
}

static Place *
places_new(int in, int out)
{
    Place *places = g_new(Place, (gsize) out);
    for (int o = 0; o < out; o++) {
        places[o] = place_at((o + 0.5) * in / out - 0.5, in);
    }
    return places;
}

static inline float
bilinear(const float *map, int gw, Place y, Place x)
{
    const float *top = map + (gsize) y.low * (gsize) gw;
    const float *bottom = map + (gsize) y.high * (gsize) gw;
    float a = top[x.low] * (1 - x.weight) + top[x.high] * x.weight;
    float b = bottom[x.low] * (1 - x.weight) + bottom[x.high] * x.weight;
    return a * (1 - y.weight) + b * y.weight;
}

void
limn_resize_map(const float *map, int gh, int gw, float *out, int height, int width)
{
    g_return_if_fail(gh > 0 && gw > 0 && height > 0 && width > 0);
    g_autofree Place *columns = places_new(gw, width);
    for (int y = 0; y < height; y++) {
        Place row = place_at((y + 0.5) * gh / height - 0.5, gh);
        float *to = out + (gsize) y * (gsize) width;
        for (int x = 0; x < width; x++) {
            to[x] = bilinear(map, gw, row, columns[x]);
        }
    }
}

// Copies the map scaled to [0, 1]: the least finite value subtracted, then divided by the
// largest. Returns TRUE when all finite values are equal (the copy is 0 there).
static gboolean
normalise(const float *map, gsize n, float *out)
{
    float least = INFINITY, most = -INFINITY;
    for (gsize i = 0; i < n; i++) {
        if (isfinite(map[i])) {
            least = MIN(least, map[i]);
            most = MAX(most, map[i]);
        }
    }
    float span = most - least;
    gboolean constant = !(span > 0);
    for (gsize i = 0; i < n; i++) {
        if (!isfinite(map[i])) {
            out[i] = isnan(map[i]) ? NAN : (map[i] > 0 ? 1.0f : 0.0f);
        } else {
            out[i] = constant ? 0 : (map[i] - least) / span;
        }
    }
    return constant;
}

// The pixels whose centres lie in [start, start + length).
static void
covered(double start, double length, int n, int *begin, int *end)
{
    *begin = (int) CLAMP(ceil(start - 0.5), 0, n);
    *end = (int) CLAMP(ceil(start + length - 0.5), *begin, n);
}

gboolean
limn_display_map(const float *map, int gh, int gw, const LimnRect *rect, float *out,
                 int height, int width)
{
    g_return_val_if_fail(gh > 0 && gw > 0 && height > 0 && width > 0, TRUE);
    gsize n = (gsize) gh * (gsize) gw;
    g_autofree float *scaled = g_new(float, n);
    gboolean constant = normalise(map, n, scaled);
    for (gsize i = 0; i < (gsize) height * (gsize) width; i++) {
        out[i] = NAN;
    }
    if (!(rect->width > 0) || !(rect->height > 0)) {
        return constant;
    }
    int x0, x1, y0, y1;
    covered(rect->x, rect->width, width, &x0, &x1);
    covered(rect->y, rect->height, height, &y0, &y1);
    g_autofree Place *columns = g_new(Place, (gsize) (x1 - x0) + 1);
    for (int x = x0; x < x1; x++) {
        columns[x - x0] = place_at((x + 0.5 - rect->x) * gw / rect->width - 0.5, gw);
    }
    for (int y = y0; y < y1; y++) {
        Place row = place_at((y + 0.5 - rect->y) * gh / rect->height - 0.5, gh);
        float *to = out + (gsize) y * (gsize) width;
        for (int x = x0; x < x1; x++) {
            to[x] = bilinear(scaled, gw, row, columns[x - x0]);
        }
    }
    return constant;
}

// Four neighbours and their weights.
typedef struct {
    int index[4];
    double weight[4];
} Cubic;

static double
cubic_kernel(double t)
{
    const double a = -0.75;
    t = fabs(t);
    if (t <= 1) {
        return (a + 2) * t * t * t - (a + 3) * t * t + 1;
    }
    if (t < 2) {
        return a * t * t * t - 5 * a * t * t + 8 * a * t - 4 * a;
    }
    return 0;
}

static Cubic
cubic_at(int o, int in, int out)
{
    double s = (o + 0.5) * in / out - 0.5;
    int base = (int) floor(s);
    Cubic cubic;
    for (int i = 0; i < 4; i++) {
        cubic.index[i] = CLAMP(base - 1 + i, 0, in - 1);
        cubic.weight[i] = cubic_kernel(s - (base - 1 + i));
    }
    return cubic;
}

static Cubic
linear_at(int o, int in, int out)
{
    Place place = place_at((o + 0.5) * in / out - 0.5, in);
    double weight = (double) place.weight;
    return (Cubic){{place.low, place.high, 0, 0}, {1 - weight, weight, 0, 0}};
}

void
limn_resize_positions(const float *in, int g, int width, float *out, int gh, int gw,
                      gboolean bilinear)
{
    g_return_if_fail(g > 0 && width > 0 && gh > 0 && gw > 0);
    if (gh == g && gw == g) {
        memcpy(out, in, (gsize) g * (gsize) g * (gsize) width * sizeof *out);
        return;
    }
    g_autofree double *sum = g_new(double, (gsize) width);
    for (int p = 0; p < gh * gw; p++) {
        Cubic row = bilinear ? linear_at(p / gw, g, gh) : cubic_at(p / gw, g, gh);
        Cubic column = bilinear ? linear_at(p % gw, g, gw) : cubic_at(p % gw, g, gw);
        memset(sum, 0, (gsize) width * sizeof *sum);
        for (int i = 0; i < 16; i++) {
            double weight = row.weight[i / 4] * column.weight[i % 4];
            gsize from =
                (gsize) row.index[i / 4] * (gsize) g + (gsize) column.index[i % 4];
            const float *vector = in + from * (gsize) width;
            for (int c = 0; c < width && weight != 0; c++) {
                sum[c] += weight * (double) vector[c];
            }
        }
        for (int c = 0; c < width; c++) {
            out[(gsize) p * (gsize) width + (gsize) c] = (float) sum[c];
        }
    }
}
