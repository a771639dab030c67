// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/figure/scale.h"

#include "engine/base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void
count_values(LimnScale *scale, const float *values, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        double v = values[i];
        if (isnan(v)) {
            scale->n_missing++;
        } else if (isinf(v)) {
            scale->n_infinite++;
        } else {
            if (scale->n_finite == 0 || v < scale->data_min)
                scale->data_min = v;
            if (scale->n_finite == 0 || v > scale->data_max)
                scale->data_max = v;
            scale->n_finite++;
        }
    }
}

static int
compare_floats(gconstpointer a, gconstpointer b)
{
    float x = *(const float *) a, y = *(const float *) b;
    return (x > y) - (x < y);
}

// Linear interpolation between order statistics.
static double
percentile(const float *sorted, gsize n, double fraction)
{
    double position = fraction * (double) (n - 1);
    gsize i = (gsize) position;
    double t = position - (double) i;
    double next = i + 1 < n ? sorted[i + 1] : sorted[i];
    return sorted[i] + t * (next - sorted[i]);
}

// FALSE when there is no memory for the copy (the full range is used then).
static gboolean
percentile_range(const float *const *arrays, const gsize *lengths, gsize n_arrays,
                 gint64 n_finite, double *low, double *high)
{
    float *copy = g_try_new(float, (gsize) n_finite);
    if (!copy)
        return FALSE;
    gsize n = 0;
    for (gsize a = 0; a < n_arrays; a++) {
        for (gsize i = 0; i < lengths[a]; i++) {
            if (isfinite(arrays[a][i]))
                copy[n++] = arrays[a][i];
        }
    }
    qsort(copy, n, sizeof(float), compare_floats);
    *low = percentile(copy, n, 0.02);
    *high = percentile(copy, n, 0.98);
    g_free(copy);
    return *low < *high;
}

static void
count_outside(LimnScale *scale, const float *values, gsize n)
{
    for (gsize i = 0; i < n; i++) {
        scale->n_below += values[i] < scale->min;
        scale->n_above += values[i] > scale->max;
    }
}

// A range that is empty is widened upwards, so that the one value has the lowest colour
// (signed: zero keeps the neutral one).
static void
widen_empty_range(LimnScale *scale)
{
    if (scale->min < scale->max)
        return;
    double size = MAX(fabs(scale->min), 1e-30);
    if (scale->min == 0)
        size = 1;
    if (scale->is_signed) {
        scale->min = -size;
        scale->max = size;
    } else {
        scale->max = scale->min + size;
    }
}

void
limn_scale_compute(LimnScale *scale, const LimnScaleRule *rule,
                   const float *const *arrays, const gsize *lengths, gsize n_arrays)
{
    memset(scale, 0, sizeof *scale);
    scale->is_signed = rule->is_signed;
    for (gsize a = 0; a < n_arrays; a++)
        count_values(scale, arrays[a], lengths[a]);
    scale->empty = scale->n_finite == 0;
    scale->constant = !scale->empty && scale->data_min == scale->data_max;
    scale->min = scale->data_min;
    scale->max = scale->data_max;
    if (rule->percentile && scale->n_finite > 1 && !scale->constant && !rule->has_range) {
        double low, high;
        if (percentile_range(arrays, lengths, n_arrays, scale->n_finite, &low, &high)) {
            scale->min = low;
            scale->max = high;
        }
    }
    if (rule->is_signed) {
        double size = MAX(fabs(scale->min), fabs(scale->max));
        scale->min = -size;
        scale->max = size;
    }
    if (rule->has_range) {
        scale->min = rule->range[0];
        scale->max = rule->range[1];
        scale->chosen = TRUE;
    }
    widen_empty_range(scale);
    for (gsize a = 0; a < n_arrays; a++)
        count_outside(scale, arrays[a], lengths[a]);
}

// ---- ticks

static double
nice_step(double rough)
{
    static const double nice[] = {1, 2, 2.5, 5, 10};
    double power = pow(10, floor(log10(rough)));
    for (gsize i = 0; i < G_N_ELEMENTS(nice); i++) {
        if (nice[i] * power >= rough * (1 - 1e-9))
            return nice[i] * power;
    }
    return 10 * power;
}

static void
set_ticks(LimnTicks *ticks, double min, double max, double step)
{
    double slack = 1e-5; // of a step: ends that rounding has moved keep their tick
    double first = ceil(min / step - slack);
    double last = floor(max / step + slack);
    ticks->step = step;
    ticks->first = first * step;
    ticks->n = (int) CLAMP(last - first + 1, 0, LIMN_MAX_TICKS);
}

// Digits after the mark that show `step` exactly (2.5 needs one more than 2).
static int
digits_of_step(double step)
{
    for (int digits = 0; digits < 12; digits++) {
        double scaled = step * pow(10, digits);
        if (fabs(scaled - floor(scaled + 0.5)) < 1e-6 * scaled)
            return digits;
    }
    return 12;
}

void
limn_ticks_compute(LimnTicks *ticks, double min, double max, int target)
{
    memset(ticks, 0, sizeof *ticks);
    double range = max - min;
    if (!isfinite(range) || !(range > 0) || range < 1e-300) {
        ticks->first = isfinite(min) ? min : 0;
        ticks->n = 1;
        return;
    }
    target = CLAMP(target, 2, LIMN_MAX_TICKS);
    double step = nice_step(range / target);
    set_ticks(ticks, min, max, step);
    while (ticks->n > target) {
        step = nice_step(step * 1.01);
        set_ticks(ticks, min, max, step);
    }
    for (int k = 0; ticks->n < 2 && k < 4; k++) {
        step = nice_step(step * 0.45);
        set_ticks(ticks, min, max, step);
    }
    double largest = MAX(fabs(min), fabs(max));
    int magnitude = (int) floor(log10(largest) + 1e-9);
    if (magnitude >= 5 || magnitude <= -3)
        ticks->exponent = magnitude;
    ticks->digits = digits_of_step(ticks->step / pow(10, ticks->exponent));
}

static char *
with_true_minus(const char *number)
{
    return number[0] == '-' ? g_strconcat("\u2212", number + 1, NULL) : g_strdup(number);
}

char *
limn_ticks_label(const LimnTicks *ticks, int i)
{
    char buffer[LIMN_NUMBER_BUFFER];
    double value = (ticks->first + i * ticks->step) / pow(10, ticks->exponent);
    if (fabs(value) * pow(10, ticks->digits) < 0.5)
        value = 0; // never "-0.0"
    if (ticks->step == 0)
        return limn_number_display(ticks->first, 3);
    return with_true_minus(limn_number_format_fixed(buffer, value, ticks->digits));
}

static void
append_power(GString *out, int exponent)
{
    static const char *const digits[] = {"\u2070", "\u00b9", "\u00b2", "\u00b3",
                                         "\u2074", "\u2075", "\u2076", "\u2077",
                                         "\u2078", "\u2079"};
    char text[16];
    g_snprintf(text, sizeof text, "%d", exponent);
    g_string_append(out, "\u00d710");
    for (const char *p = text; *p; p++)
        g_string_append(out, *p == '-' ? "\u207b" : digits[*p - '0']);
}

char *
limn_ticks_factor(const LimnTicks *ticks)
{
    if (ticks->exponent == 0)
        return NULL;
    GString *out = g_string_new(NULL);
    append_power(out, ticks->exponent);
    return g_string_free(out, FALSE);
}

static void
strip_zeros(char *number)
{
    if (!strchr(number, '.'))
        return;
    char *end = number + strlen(number);
    while (end[-1] == '0')
        *--end = '\0';
    if (end[-1] == '.')
        end[-1] = '\0';
}

// Narrow no-break spaces between groups of three digits, from five digits on.
static char *
group_digits(const char *number)
{
    gsize length = strlen(number);
    gsize sign = number[0] == '-';
    if (strchr(number, '.') || length - sign < 5)
        return with_true_minus(number);
    GString *out = g_string_new(sign ? "\u2212" : "");
    for (gsize i = sign; i < length; i++) {
        if (i > sign && (length - i) % 3 == 0)
            g_string_append(out, "\u202f");
        g_string_append_c(out, number[i]);
    }
    return g_string_free(out, FALSE);
}

char *
limn_number_display(double value, int digits)
{
    if (isnan(value))
        return g_strdup("NaN");
    if (isinf(value))
        return g_strdup(value < 0 ? "\u2212\u221e" : "\u221e");
    char buffer[LIMN_NUMBER_BUFFER];
    if (value == 0)
        return g_strdup("0");
    int magnitude = (int) floor(log10(fabs(value)) + 1e-12);
    if (magnitude >= 7 || magnitude < -4) {
        limn_number_format_fixed(buffer, value / pow(10, magnitude), digits - 1);
        strip_zeros(buffer);
        g_autofree char *mantissa = with_true_minus(buffer);
        GString *out = g_string_new(mantissa);
        append_power(out, magnitude);
        return g_string_free(out, FALSE);
    }
    limn_number_format_fixed(buffer, value, MAX(0, digits - 1 - magnitude));
    strip_zeros(buffer);
    return group_digits(buffer);
}
