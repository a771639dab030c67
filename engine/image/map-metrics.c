// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/image/map-metrics.h"

#include <math.h>
#include <string.h>

#include "engine/base/error.h"

#define DIGIT_BITS 11
#define DIGIT_VALUES (1 << DIGIT_BITS)

// A key that grows as the value falls; NaN has the largest. Works on the bits, so that
// it is the same when subnormal numbers are flushed.
static guint32
falling_key(float value)
{
    guint32 bits;
    memcpy(&bits, &value, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) {
        return G_MAXUINT32;
    }
    if (bits == 0x80000000) { // -0 ties with 0
        bits = 0;
    }
    guint32 rising = bits & 0x80000000 ? ~bits : bits | 0x80000000;
    return ~rising;
}

// One stable pass of a radix sort over the digit at `shift`.
static void
sort_by_digit(const float *map, gint64 n, int shift, const gint64 *from, gint64 *to)
{
    gint64 starts[DIGIT_VALUES] = {0};
    for (gint64 i = 0; i < n; i++) {
        starts[falling_key(map[i]) >> shift & (DIGIT_VALUES - 1)]++;
    }
    gint64 sum = 0;
    for (int d = 0; d < DIGIT_VALUES; d++) {
        gint64 count = starts[d];
        starts[d] = sum;
        sum += count;
    }
    for (gint64 i = 0; i < n; i++) {
        gint64 index = from != NULL ? from[i] : i;
        to[starts[falling_key(map[index]) >> shift & (DIGIT_VALUES - 1)]++] = index;
    }
}

gint64 *
limn_map_order(const float *map, gint64 n, GError **error)
{
    g_autofree gint64 *order = g_try_new(gint64, MAX(n, 1));
    g_autofree gint64 *scratch = g_try_new(gint64, MAX(n, 1));
    if (order == NULL || scratch == NULL) {
        g_set_error(error, LIMN_ERROR, LIMN_ERROR_MEMORY,
                    "no memory to sort %" G_GINT64_FORMAT " pixels", n);
        return NULL;
    }
    sort_by_digit(map, n, 0, NULL, order);
    sort_by_digit(map, n, DIGIT_BITS, order, scratch);
    sort_by_digit(map, n, 2 * DIGIT_BITS, scratch, order);
    return g_steal_pointer(&order);
}

static gboolean
counts(const float *map, const guint8 *mask, gint64 i)
{
    return !isnan(map[i]) && mask[i] != LIMN_MASK_LEFT_OUT;
}

static double
ratio(double part, double whole)
{
    return whole != 0 ? part / whole : NAN;
}

// Sums and the place of the largest value.
static void
score_sums(const float *map, const guint8 *mask, gint64 n, LimnMapScores *scores)
{
    double sum = 0, inside = 0;
    scores->argmax = -1;
    for (gint64 i = 0; i < n; i++) {
        if (!isnan(map[i]) && (scores->argmax < 0 || map[i] > map[scores->argmax])) {
            scores->argmax = i;
        }
        if (counts(map, mask, i)) {
            gboolean object = mask[i] == LIMN_MASK_OBJECT;
            scores->n_counted++;
            scores->n_object += object;
            sum += (double) map[i];
            inside += object ? (double) map[i] : 0;
        }
    }
    scores->pointing_hit =
        scores->argmax >= 0 && mask[scores->argmax] == LIMN_MASK_OBJECT;
    scores->energy = ratio(inside, sum);
    scores->mean = ratio(sum, (double) scores->n_counted);
}

// Regions cut out by the threshold and by the mean against the mask.
static void
score_regions(const float *map, const guint8 *mask, gint64 n, double threshold,
              LimnMapScores *scores)
{
    gint64 agree = 0, both = 0, either = 0, both_mean = 0, either_mean = 0;
    for (gint64 i = 0; i < n; i++) {
        if (counts(map, mask, i)) {
            gboolean object = mask[i] == LIMN_MASK_OBJECT;
            gboolean high = (double) map[i] >= threshold;
            gboolean above = (double) map[i] > scores->mean;
            agree += high == object;
            both += high && object;
            either += high || object;
            both_mean += above && object;
            either_mean += above || object;
        }
    }
    scores->pixel_accuracy = ratio((double) agree, (double) scores->n_counted);
    scores->iou_threshold = ratio((double) both, (double) either);
    scores->iou_mean = ratio((double) both_mean, (double) either_mean);
}

// Precision at each distinct value times the recall that it adds.
static double
average_precision(const float *map, const guint8 *mask, gint64 n, const gint64 *order,
                  gint64 n_object)
{
    gint64 taken = 0, found = 0, found_before = 0;
    double sum = 0;
    for (gint64 k = 0; k < n; k++) {
        gint64 i = order[k];
        if (counts(map, mask, i)) {
            taken++;
            found += mask[i] == LIMN_MASK_OBJECT;
        }
        gboolean last_of_value = k + 1 == n || map[order[k + 1]] != map[i];
        if (last_of_value && found > found_before) {
            sum += (double) (found - found_before) * ((double) found / (double) taken);
            found_before = found;
        }
    }
    return ratio(sum, (double) n_object);
}

gboolean
limn_map_score(const float *map, const guint8 *mask, gint64 n, double threshold,
               LimnMapScores *scores, GError **error)
{
    *scores = (LimnMapScores){.n_counted = 0};
    g_autofree gint64 *order = limn_map_order(map, n, error);
    if (order == NULL) {
        return FALSE;
    }
    score_sums(map, mask, n, scores);
    score_regions(map, mask, n, threshold, scores);
    scores->average_precision = average_precision(map, mask, n, order, scores->n_object);
    return TRUE;
}

gint64
limn_map_pixels_per_step(gint64 n, int steps)
{
    g_return_val_if_fail(steps > 0, 1);
    return MAX(n / (2 * (gint64) steps), 1);
}

gint64
limn_map_pixels_deleted(gint64 n, int steps, int step)
{
    return MIN(limn_map_pixels_per_step(n, steps) * CLAMP(step, 0, steps), n);
}

gint64
limn_map_pixels_inserted(gint64 n, int steps, int step)
{
    return step >= steps ? n : limn_map_pixels_deleted(n, steps, step);
}

int
limn_map_n_measured(int steps, int gap)
{
    g_return_val_if_fail(steps > 0 && gap > 0, 0);
    return steps / gap + 1;
}

double
limn_curve_area(const double *y, gsize n)
{
    if (n < 2) {
        return n == 1 ? y[0] : NAN;
    }
    double sum = 0;
    for (gsize i = 0; i + 1 < n; i++) {
        sum += (y[i] + y[i + 1]) / 2;
    }
    return sum / (double) (n - 1);
}

double
limn_curve_mean(const double *y, gsize n)
{
    double sum = 0;
    for (gsize i = 0; i < n; i++) {
        sum += y[i];
    }
    return ratio(sum, (double) n);
}
