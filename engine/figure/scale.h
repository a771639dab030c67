// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Which values the colours of a map cover. One rule for figures and views: the range
// comes from the finite values; signed values have a symmetric range, so that zero is the
// neutral colour; a constant map and a map without any finite value are said to be so;
// values that a chosen or a percentile range leaves out are counted and never hidden.

#include <glib.h>

typedef struct {
    gboolean is_signed;
    gboolean has_range; // use `range` as it is, asymmetric too
    double range[2];
    gboolean percentile; // 2 % to 98 % of the finite values
} LimnScaleRule;

typedef struct {
    double min, max;            // what the colours cover; min < max
    double data_min, data_max;  // of the finite values; 0 when there are none
    gint64 n_finite, n_missing; // missing: NaN
    gint64 n_infinite;
    gint64 n_below, n_above; // outside of the range, infinite ones included
    gboolean is_signed;
    gboolean constant; // all finite values are equal
    gboolean empty;    // no finite value
    gboolean chosen;   // the range was given, not taken from the values
} LimnScale;

// Over several arrays of float values (a shared scale). Cost: a copy of the finite
// values only when percentiles are asked for.
void limn_scale_compute(LimnScale *scale, const LimnScaleRule *rule,
                        const float *const *arrays, const gsize *lengths, gsize n_arrays);

// ---- nice numbers on an axis
typedef struct {
    double first, step; // ticks are first + i * step
    int n;              // at most LIMN_MAX_TICKS
    int digits;         // after the decimal mark, of value / 10^exponent
    int exponent;       // 0, or the power of ten that is written once, at the title
} LimnTicks;

#define LIMN_MAX_TICKS 24

// At most `target` (>= 2) ticks at multiples of 1, 2, 2.5 or 5 times a power of ten in
// [min, max]; at least two unless the range is empty or not finite.
void limn_ticks_compute(LimnTicks *ticks, double min, double max, int target);
// The label of tick i with a true minus sign. Returns: (transfer full)
char *limn_ticks_label(const LimnTicks *ticks, int i);
// "×10⁻³", or NULL when the exponent is 0. Returns: (transfer full)
char *limn_ticks_factor(const LimnTicks *ticks);
// A number for reading: at most `digits` significant digits, true minus sign, powers of
// ten as such ("−1.5", "10 000", "3.2×10⁻⁷"). Returns: (transfer full)
char *limn_number_display(double value, int digits);
