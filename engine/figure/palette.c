// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/palette.h"

#include <math.h>

#define RGB(r, g, b)                                                                     \
    {                                                                                    \
        (r) / 255.0, (g) / 255.0, (b) / 255.0, 1                                         \
    }

static const LimnTheme paper = {
    .page = RGB(255, 255, 255),
    .ink = RGB(26, 26, 26),
    .muted = RGB(92, 92, 92),
    .rule = RGB(140, 140, 140),
    .grid = RGB(226, 226, 226),
    .veil = {1, 1, 1, 0.62},
    .word = RGB(76, 181, 118),
    .against = RGB(205, 130, 196),
};

static const LimnTheme dark = {
    .page = RGB(30, 30, 32),
    .ink = RGB(236, 236, 236),
    .muted = RGB(170, 170, 174),
    .rule = RGB(120, 120, 124),
    .grid = RGB(62, 62, 66),
    .veil = {0.08, 0.08, 0.09, 0.66},
    .word = RGB(26, 115, 62),
    .against = RGB(136, 62, 130),
};

const LimnTheme *
limn_theme_get(gboolean is_dark)
{
    return is_dark ? &dark : &paper;
}

LimnColor
limn_color_from_rgb(const guint8 rgb[3])
{
    return (LimnColor) RGB(rgb[0], rgb[1], rgb[2]);
}

LimnColor
limn_color_mix(LimnColor a, LimnColor b, double t)
{
    return (LimnColor){
        a.red + t * (b.red - a.red),
        a.green + t * (b.green - a.green),
        a.blue + t * (b.blue - a.blue),
        a.alpha + t * (b.alpha - a.alpha),
    };
}

static double
to_linear(double value)
{
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

double
limn_color_luminance(LimnColor color)
{
    return 0.2126 * to_linear(color.red) + 0.7152 * to_linear(color.green) +
           0.0722 * to_linear(color.blue);
}

double
limn_color_contrast(LimnColor a, LimnColor b)
{
    double la = limn_color_luminance(a) + 0.05;
    double lb = limn_color_luminance(b) + 0.05;
    return la > lb ? la / lb : lb / la;
}

LimnColor
limn_color_readable_on(LimnColor background)
{
    LimnColor black = {0, 0, 0, 1};
    LimnColor white = {1, 1, 1, 1};
    gboolean dark_text =
        limn_color_contrast(background, black) >= limn_color_contrast(background, white);
    return dark_text ? black : white;
}

LimnColor
limn_palette_color(guint i, gboolean is_dark)
{
    static const LimnColor colors[LIMN_PALETTE_SIZE] = {
        RGB(0, 114, 178),   // blue
        RGB(230, 159, 0),   // orange
        RGB(0, 158, 115),   // bluish green
        RGB(204, 121, 167), // reddish purple
        RGB(213, 94, 0),    // vermilion
        RGB(86, 180, 233),  // sky blue
        RGB(0, 0, 0),       // black
        RGB(240, 228, 66),  // yellow
    };
    LimnColor white = {1, 1, 1, 1};
    i %= LIMN_PALETTE_SIZE;
    return is_dark && i == 6 ? white : colors[i];
}

const double *
limn_palette_dash(guint i, int *n)
{
    static const double dashes[][6] = {
        {0},          {5, 2.2},       {1.2, 1.8},
        {7, 2, 2, 2}, {3, 1.5, 3, 4}, {8, 1.8, 1.2, 1.8, 1.2, 1.8},
    };
    static const int lengths[] = {0, 2, 2, 4, 4, 6};
    i %= G_N_ELEMENTS(lengths);
    *n = lengths[i];
    return dashes[i];
}

LimnHatch
limn_palette_hatch(guint i)
{
    return (LimnHatch) ((i + i / LIMN_N_HATCHES) % LIMN_N_HATCHES);
}
