// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/scene/object.h"

#include "engine/scene/drawings.h"

#include <cairo.h>
#include <math.h>
#include <string.h>

static double
between(LimnRng *rng, double low, double high)
{
    return low + (high - low) * limn_rng_uniform(rng);
}

static gboolean
chance(LimnRng *rng, double p)
{
    return limn_rng_uniform(rng) < p;
}

// Scaled to fit the square, mirrored and turned; premultiplied.
static guint32 *
transform(const guint32 *drawing, int size, gboolean mirror, double angle)
{
    guint32 *out = g_new0(guint32, (gsize) size * (gsize) size);
    guint32 *copy = g_memdup2(drawing, 4 * LIMN_DRAWING_SIZE * LIMN_DRAWING_SIZE);
    cairo_surface_t *from = cairo_image_surface_create_for_data(
        (guchar *) copy, CAIRO_FORMAT_ARGB32, LIMN_DRAWING_SIZE, LIMN_DRAWING_SIZE,
        4 * LIMN_DRAWING_SIZE);
    cairo_surface_t *to = cairo_image_surface_create_for_data(
        (guchar *) out, CAIRO_FORMAT_ARGB32, size, size, 4 * size);
    cairo_t *cr = cairo_create(to);
    double shrink = 1 / (fabs(cos(angle)) + fabs(sin(angle)));
    double scale =
        (double) size / LIMN_DRAWING_SIZE * (angle == 0 ? 1 : MAX(shrink, 0.8));
    cairo_translate(cr, size / 2.0, size / 2.0);
    cairo_rotate(cr, angle);
    cairo_scale(cr, mirror ? -scale : scale, scale);
    cairo_set_source_surface(cr, from, -LIMN_DRAWING_SIZE / 2.0,
                             -LIMN_DRAWING_SIZE / 2.0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_GOOD);
    cairo_paint(cr);
    cairo_destroy(cr);
    cairo_surface_destroy(from);
    cairo_surface_destroy(to);
    g_free(copy);
    return out;
}

static guint8 *
unpremultiply(const guint32 *in, int n)
{
    guint8 *out = g_malloc((gsize) n * 4);
    for (int i = 0; i < n; i++) {
        guint alpha = in[i] >> 24;
        for (int c = 0; c < 3; c++) {
            guint value = in[i] >> (16 - 8 * c) & 255;
            out[4 * i + c] =
                alpha ? (guint8) MIN((value * 255 + alpha / 2) / alpha, 255) : 0;
        }
        out[4 * i + 3] = (guint8) alpha;
    }
    return out;
}

static guint8
to_byte(double value)
{
    return (guint8) CLAMP(value + 0.5, 0, 255);
}

// A colour matrix: turn of hue, saturation, then contrast and brightness.
static void
recolour(guint8 *rgba, int n, double turn, double saturation, double contrast,
         double brightness)
{
    double c = cos(turn) * saturation, s = sin(turn) * saturation;
    const double grey[3] = {0.299, 0.587, 0.114};
    // Rotation around the grey axis (Rodrigues' formula), grey part kept.
    double matrix[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double cross = i == j ? 0 : (j == (i + 1) % 3 ? -1 : 1) / sqrt(3.0);
            double around = (1 - cos(turn)) / 3 * saturation;
            matrix[i][j] = (i == j ? c : 0) + around + s * cross;
            matrix[i][j] += (1 - saturation) * grey[j];
        }
    for (int p = 0; p < n; p++) {
        double rgb[3];
        for (int i = 0; i < 3; i++)
            rgb[i] = matrix[i][0] * rgba[4 * p] + matrix[i][1] * rgba[4 * p + 1] +
                     matrix[i][2] * rgba[4 * p + 2];
        for (int i = 0; i < 3; i++)
            rgba[4 * p + i] =
                to_byte((rgb[i] - 127.5) * contrast + 127.5 + 255 * brightness);
    }
}

static double
luminance(const guint8 *pixel)
{
    return 0.299 * pixel[0] + 0.587 * pixel[1] + 0.114 * pixel[2];
}

// Dark lines where colours or the border change, as drawings with outlines have.
static void
add_outlines(guint8 *rgba, int size, double strength)
{
    g_autofree guint8 *from = g_memdup2(rgba, (gsize) size * (gsize) size * 4);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            const guint8 *here = from + 4 * (y * size + x);
            double change = 0;
            for (int i = 0; i < 9; i++) {
                int ny = CLAMP(y + i / 3 - 1, 0, size - 1);
                int nx = CLAMP(x + i % 3 - 1, 0, size - 1);
                const guint8 *there = from + 4 * (ny * size + nx);
                change = MAX(change, fabs((double) here[3] - there[3]) * 0.6);
                if (here[3] > 64 && there[3] > 64)
                    change = MAX(change, fabs(luminance(here) - luminance(there)));
            }
            double dark = CLAMP((change - 24) / 60, 0, 1) * strength;
            guint8 *out = rgba + 4 * (y * size + x);
            for (int c = 0; c < 3; c++)
                out[c] = to_byte(out[c] * (1 - dark));
            out[3] = (guint8) MAX(out[3], (int) (dark * 255 * (change > 60)));
        }
}

// Mean over 3 x 3 of colour (weighted by alpha) and alpha.
static void
blur(guint8 *rgba, int size)
{
    g_autofree guint8 *from = g_memdup2(rgba, (gsize) size * (gsize) size * 4);
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++) {
            int sum[4] = {0, 0, 0, 0}, n = 0;
            for (int i = 0; i < 9; i++, n++) {
                int ny = CLAMP(y + i / 3 - 1, 0, size - 1);
                int nx = CLAMP(x + i % 3 - 1, 0, size - 1);
                const guint8 *there = from + 4 * (ny * size + nx);
                for (int c = 0; c < 3; c++)
                    sum[c] += there[c] * there[3];
                sum[3] += there[3];
            }
            guint8 *out = rgba + 4 * (y * size + x);
            for (int c = 0; c < 3; c++)
                out[c] = sum[3] ? (guint8) (sum[c] / sum[3]) : 0;
            out[3] = (guint8) (sum[3] / n);
        }
}

guint8 *
limn_object_render(const guint32 *drawing, int size, LimnRng *rng, double augment)
{
    // Every draw happens whatever is chosen, so that streams stay aligned.
    gboolean mirror = chance(rng, 0.5);
    double contrast = between(rng, 0.75, 1.25), brightness = between(rng, -0.1, 0.1);
    gboolean turn_it = chance(rng, 0.4 * augment), hue_it = chance(rng, 0.5 * augment);
    gboolean grey_it = chance(rng, 0.12 * augment), line_it = chance(rng, 0.35 * augment);
    gboolean blur_it = chance(rng, 0.12 * augment);
    double angle = between(rng, -0.4, 0.4), hue = between(rng, -0.5, 0.5);
    double saturation = between(rng, 0.5, 1.5), strength = between(rng, 0.5, 1);
    g_autofree guint32 *scaled = transform(drawing, size, mirror, turn_it ? angle : 0);
    guint8 *rgba = unpremultiply(scaled, size * size);
    recolour(rgba, size * size, hue_it ? hue : 0,
             grey_it  ? 0
             : hue_it ? saturation
                      : 1,
             contrast, brightness);
    if (line_it)
        add_outlines(rgba, size, strength);
    if (blur_it)
        blur(rgba, size);
    return rgba;
}
