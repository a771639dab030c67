// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/colormap.h"

#include <math.h>
#include <string.h>

#define N_STEPS 256

// Control points of a uniform cubic B-spline per channel, in sixteenths of an 8-bit
// level, fitted by least squares to the published tables so that no entry is off by more
// than one level. Sources: viridis and magma by S. van der Walt and N. Smith (CC0);
// cividis by J. Nunez, C. Anderton and R. Renslow, PLoS ONE 13(7), 2018 (CC0); turbo by
// A. Mikhailov, 2019 (Apache 2.0).
typedef struct {
    int n_spans; // n_spans + 3 control points
    gint16 points[3][23];
} Spline;

static const Spline viridis = {
    16,
    {{965, 1102, 1165, 1150, 1064, 940, 813, 705, 610, 518, 458, 595, 963, 1464, 2062,
      2726, 3418, 4067, 4630},
     {-292, -3, 406, 706, 1033, 1310, 1583, 1824, 2068, 2305, 2546, 2782, 3009, 3215,
      3390, 3525, 3618, 3694, 3789},
     {931, 1354, 1717, 1988, 2154, 2233, 2266, 2278, 2278, 2255, 2190, 2066, 1866, 1593,
      1228, 812, 320, 437, 1508}}};

static const Spline magma = {16,
                             {{172, -66, 153, 435, 854, 1297, 1680, 2083, 2489, 2911,
                               3325, 3701, 3938, 4032, 4069, 4071, 4052, 4024, 4016},
                              {-7, -25, 113, 320, 234, 259, 460, 599, 742, 867, 1024,
                               1261, 1674, 2165, 2644, 3115, 3581, 4045, 4507},
                              {-174, -15, 548, 1099, 1783, 2003, 2067, 2079, 2046, 1953,
                               1798, 1580, 1426, 1523, 1788, 2150, 2576, 3055, 3551}}};

static const Spline cividis = {
    20,
    {{-4118, 840,  -744, 273,  604,  857,  1077, 1271, 1460, 1637, 1815, 1982,
      2178,  2374, 2575, 2784, 2988, 3212, 3416, 3662, 3858, 4178, 3837},
     {400,  553,  700,  823,  971,  1112, 1253, 1394, 1536, 1680, 1825, 1974,
      2125, 2279, 2437, 2599, 2767, 2938, 3118, 3298, 3497, 3668, 4079},
     {1452, 1104, 1679, 1870, 1710, 1762, 1700, 1745, 1748, 1800, 1848, 1936,
      1927, 1914, 1877, 1814, 1748, 1622, 1524, 1293, 1155, 585,  1745}}};

static const Spline turbo = {16,
                             {{440, 791, 1055, 1141, 1139, 638, 240, 668, 1756, 2653,
                               3258, 3854, 4093, 4057, 3801, 3391, 2783, 1990, 997},
                              {-493, 304, 1033, 1724, 2352, 3010, 3559, 3886, 4089, 4085,
                               3824, 3340, 2817, 2050, 1273, 766, 342, 52, -167},
                              {-1091, 1024, 2691, 3711, 4230, 3819, 3113, 2513, 1538, 873,
                               783, 970, 889, 532, 206, 65, 4, 28, 144}}};

static const LimnColormapInfo infos[] = {
    {"viridis", "Viridis", LIMN_COLORMAP_SEQUENTIAL},
    {"magma", "Magma", LIMN_COLORMAP_SEQUENTIAL},
    {"cividis", "Cividis", LIMN_COLORMAP_SEQUENTIAL},
    {"grey", "Grey", LIMN_COLORMAP_SEQUENTIAL},
    {"blue-red", "Blue to red", LIMN_COLORMAP_DIVERGING},
    {"purple-green", "Purple to green", LIMN_COLORMAP_DIVERGING},
    {"turbo", "Turbo (rainbow)", LIMN_COLORMAP_RAINBOW},
    {"jet", "Jet (for reproduction)", LIMN_COLORMAP_RAINBOW},
};

static guint8 tables[G_N_ELEMENTS(infos)][N_STEPS][3];

static guint8
to_level(double value)
{
    return (guint8) CLAMP(floor(value + 0.5), 0.0, 255.0);
}

static void
fill_spline(guint8 table[N_STEPS][3], const Spline *spline)
{
    for (int i = 0; i < N_STEPS; i++) {
        double x = i / 255.0 * spline->n_spans;
        int span = MIN((int) x, spline->n_spans - 1);
        double t = x - span;
        double basis[4] = {(1 - t) * (1 - t) * (1 - t) / 6,
                           (3 * t * t * t - 6 * t * t + 4) / 6,
                           (-3 * t * t * t + 3 * t * t + 3 * t + 1) / 6, t * t * t / 6};
        for (int c = 0; c < 3; c++) {
            double sum = 0;
            for (int k = 0; k < 4; k++)
                sum += basis[k] * spline->points[c][span + k];
            table[i][c] = to_level(sum / 16);
        }
    }
}

static void
fill_grey(guint8 table[N_STEPS][3])
{
    for (int i = 0; i < N_STEPS; i++)
        memset(table[i], i, 3);
}

// The common jet: r = 1.5 - |4x - 3|, g = 1.5 - |4x - 2|, b = 1.5 - |4x - 1|, clamped.
static void
fill_jet(guint8 table[N_STEPS][3])
{
    for (int i = 0; i < N_STEPS; i++) {
        double x = i / 255.0;
        for (int c = 0; c < 3; c++) {
            double value = 1.5 - fabs(4 * x - (3 - c));
            table[i][c] = to_level(255 * CLAMP(value, 0.0, 1.0));
        }
    }
}

static double
encode_srgb(double linear)
{
    linear = CLAMP(linear, 0.0, 1.0);
    if (linear <= 0.0031308)
        return 12.92 * linear;
    return 1.055 * pow(linear, 1 / 2.4) - 0.055;
}

// OKLab (B. Ottosson, 2020) to sRGB levels.
static void
from_oklab(double lightness, double a, double b, guint8 rgb[3])
{
    double l = lightness + 0.3963377774 * a + 0.2158037573 * b;
    double m = lightness - 0.1055613458 * a - 0.0638541728 * b;
    double s = lightness - 0.0894841775 * a - 1.2914855480 * b;
    l = l * l * l;
    m = m * m * m;
    s = s * s * s;
    double linear[3] = {4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
                        -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
                        -0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s};
    for (int c = 0; c < 3; c++)
        rgb[c] = to_level(255 * encode_srgb(linear[c]));
}

typedef struct {
    double hue_low, hue_high;       // degrees
    double chroma_low, chroma_high; // at three quarters of an arm, where it peaks
    double dark;                    // lightness at both ends
} Diverging;

// Own design: both arms have the same lightness at the same distance from the centre
// (OKLab, falling linearly from 0.975), a constant hue, and a chroma that rises and eases
// off towards the dark ends, so that it stays inside the gamut. Entry 128, to which the
// value zero of a symmetric range belongs, is neutral.
static void
fill_diverging(guint8 table[N_STEPS][3], const Diverging *design)
{
    for (int i = 0; i < N_STEPS; i++) {
        double t = i < 128 ? (128 - i) / 128.0 : (i - 128) / 127.0;
        double hue = (i < 128 ? design->hue_low : design->hue_high) * G_PI / 180;
        double peak = i < 128 ? design->chroma_low : design->chroma_high;
        double chroma = peak * sin(MIN(t / 0.75, 1.0) * G_PI / 2);
        if (t > 0.75)
            chroma *= 1 - 0.25 * (t - 0.75) / 0.25;
        double lightness = 0.975 + (design->dark - 0.975) * t;
        from_oklab(lightness, chroma * cos(hue), chroma * sin(hue), table[i]);
    }
}

static int
find_index(const char *name)
{
    for (gsize i = 0; name && i < G_N_ELEMENTS(infos); i++) {
        if (strcmp(infos[i].name, name) == 0)
            return (int) i;
    }
    return -1;
}

static gpointer
fill_tables(gpointer data)
{
    static const Diverging blue_red = {255, 27, 0.150, 0.175, 0.36};
    static const Diverging purple_green = {312, 148, 0.150, 0.130, 0.38};
    fill_spline(tables[find_index("viridis")], &viridis);
    fill_spline(tables[find_index("magma")], &magma);
    fill_spline(tables[find_index("cividis")], &cividis);
    fill_spline(tables[find_index("turbo")], &turbo);
    fill_grey(tables[find_index("grey")]);
    fill_jet(tables[find_index("jet")]);
    fill_diverging(tables[find_index("blue-red")], &blue_red);
    fill_diverging(tables[find_index("purple-green")], &purple_green);
    return tables;
}

const LimnColormapInfo *
limn_colormap_list(gsize *n)
{
    if (n)
        *n = G_N_ELEMENTS(infos);
    return infos;
}

const LimnColormapInfo *
limn_colormap_find(const char *name)
{
    int i = find_index(name);
    return i < 0 ? NULL : &infos[i];
}

const char *
limn_colormap_default(gboolean is_signed)
{
    return is_signed ? "blue-red" : "viridis";
}

const guint8 (*limn_colormap_table(const char *name))[3]
{
    static GOnce once = G_ONCE_INIT;
    int i = find_index(name);
    if (i < 0)
        return NULL;
    g_once(&once, fill_tables, NULL);
    return (const guint8(*)[3]) tables[i];
}

void
limn_colormap_nan(guint8 rgb[3])
{
    memset(rgb, 178, 3);
}

int
limn_colormap_index(double value, double min, double max)
{
    if (isnan(value))
        return -1;
    double t = (value - min) / (max - min);
    if (!(max > min) || isnan(t))
        t = value > max ? 1 : 0;
    return (int) floor(CLAMP(t, 0.0, 1.0) * 255 + 0.5);
}
